"""edgewise lab: the laboratory."""

from typing import Annotated, NoReturn

import typer

from . import _options as o

group = typer.Typer(
    help="The laboratory: AdaBoost as a dynamical system, and truth tables.\n\n"
    "Example: edgewise lab serve",
    no_args_is_help=True,
)


@group.callback()
def lab() -> None:
    pass


@group.command(
    epilog=o.examples(
        "edgewise lab serve",
        "edgewise lab serve --port 0 --no-browser",
    )
)
def serve(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the server; 0 means any free port.")
    ] = 8765,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Serve the laboratory's page on this machine until Ctrl-C."""
    try:
        from ..lab.page import server  # noqa: PLC0415 - starlette and uvicorn are optional
    except ModuleNotFoundError as missing:
        _fail(str(missing))
    try:
        listening = server.listen(port)
    except OSError as error:
        _fail(f"Port {port} cannot be used: {error.strerror}. Try another, or 0 for any free one.")
    typer.echo(f"The laboratory is at {server.address(listening)} (Ctrl-C stops it)")
    server.serve(listening, open_browser=browser)


def _fail(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(1)
