"""The server of the page: it listens only on this machine and stores nothing.

A page of another site that is open in the same browser must not use it. So the Host header has to
be this machine's (a foreign name that resolves to 127.0.0.1 gets no answer), and a question has to
be declared as JSON, which a browser does not send to another site without asking. What the page
itself may load is bounded by its Content-Security-Policy: nothing but its own files.
"""

import contextlib
import json
import math
import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..._ground.errors import EdgewiseError
from . import _asked, _table, _walk

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.datastructures import MutableHeaders
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ModuleNotFoundError as missing:
    library = str(missing.name).partition(".")[0]
    raise ModuleNotFoundError(
        f"The page of the laboratory needs {library}: install edgewise with the extra 'lab', "
        "for instance with: pip install 'edgewise[cli,lab]'",
        name=library,
    ) from None

HOST = "127.0.0.1"
PORT = 8765

_STATIC = Path(__file__).parent / "static"
_LARGEST_QUESTION = 200_000  # bytes
_LONGEST_MESSAGE = 600  # characters
_HEADERS = {
    "Cache-Control": "no-store",  # the files may change with the next installation
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

Answer = Callable[[Any], dict[str, Any]]

_ANSWERS: dict[str, Answer] = {
    "/api/walk": _walk.walk,
    "/api/proof": _walk.proof,
    "/api/random-matrix": _walk.random_matrix,
    "/api/random-start": _walk.random_start,
    "/api/truth-table": _table.answer,
}


def make_app() -> Starlette:
    """The application: the files of the page, and the answers to its questions."""
    return Starlette(
        routes=[
            Route("/api/examples", _examples, methods=["GET"]),
            *(
                Route(path, _endpoint(answer), methods=["POST"])
                for path, answer in _ANSWERS.items()
            ),
            Mount("/", StaticFiles(directory=_STATIC, html=True)),
        ],
        middleware=[
            Middleware(_SafeHeaders),
            Middleware(
                TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"], www_redirect=False
            ),
        ],
        exception_handlers={
            EdgewiseError: _bad_question,
            HTTPException: _http_error,
            Exception: _own_fault,
        },
    )


def make_server() -> uvicorn.Server:
    """A server for the application; ``run(sockets=[listen(port)])`` runs it."""
    return uvicorn.Server(
        uvicorn.Config(
            make_app(),
            http="h11",
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=3,
        )
    )


def listen(port: int = PORT) -> socket.socket:
    """A listening socket on this machine; port 0 means any that is free."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def address(listening: socket.socket) -> str:
    """The address of the page that this socket serves."""
    return f"http://{HOST}:{listening.getsockname()[1]}/"


def serve(listening: socket.socket, *, open_browser: bool = True) -> None:
    """Serve the page until interrupted."""
    if open_browser:
        # In a thread: some browsers return only when they are closed.
        opener = threading.Thread(
            target=webbrowser.open, args=[address(listening)], name="edgewise-browser", daemon=True
        )
        opener.start()
    with listening, contextlib.suppress(KeyboardInterrupt):
        make_server().run(sockets=[listening])


# --- questions and answers -----------------------------------------------------------------------


async def _examples(_: Request) -> Response:
    return _json(
        {
            "matrices": _walk.examples(),
            "tables": _table.examples(),
            "limits": {
                "rows": _asked.MOST_ROWS,
                "columns": _asked.MOST_COLUMNS,
                "steps": _asked.MOST_STEPS,
                "weights": _asked.MOST_WEIGHTS,
                "skipped": _asked.MOST_SKIPPED,
                "rounds": _asked.MOST_ROUNDS,
                "count": _asked.MOST_EXAMPLES,
            },
        }
    )


def _endpoint(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        question = await _question(request)
        return await run_in_threadpool(lambda: _json(answer(question)))

    return endpoint


async def _question(request: Request) -> Any:
    """The JSON of a request, bounded in size."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, f"A question must have the type application/json. Got {kind!r}.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST_QUESTION:
            raise HTTPException(413, f"A question may have at most {_LARGEST_QUESTION} bytes.")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"The question is not JSON: {error}.") from None


def _json(value: Any, status: int = 200) -> Response:
    return JSONResponse(plain(value), status)


def plain(value: Any) -> Any:
    """Arrays, tuples and numbers as JSON has them; what is not finite becomes null."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _error(status: int, message: str) -> Response:
    return _json({"error": message[:_LONGEST_MESSAGE]}, status)


async def _bad_question(_: Request, error: Exception) -> Response:
    return _error(400, str(error))


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error(error.status_code, error.detail)


async def _own_fault(_: Request, error: Exception) -> Response:
    return _error(500, f"edgewise failed with {type(error).__name__}: {error}")


class _SafeHeaders:
    """Sends the headers that keep the page to itself with everything."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)
