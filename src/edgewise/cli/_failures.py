"""Exit codes: 0 done, 1 bad input, 2 wrong usage (typer's), 130 interrupted.

An error or a warning is one line on stderr, never a traceback. A traceback is a bug of edgewise.
"""

import functools
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import typer

from .._ground.errors import EdgewiseError
from ._words import visible

BAD_INPUT = 1
INTERRUPTED = 130

Command = TypeVar("Command", bound=Callable[..., Any])


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    typer.echo(visible(re.sub(r"\s+", " ", message).strip()), err=True)
    raise typer.Exit(code)


def guarded(command: Command) -> Command:
    """Show the warnings of a command, and the errors that a user can correct, in one line each."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> Any:
        if sys.stdout is None:  # closed before Python began
            fail("Cannot write: standard output is closed.")
        try:
            with _plain_warnings():
                command(*args, **options)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_output()  # the reader has closed its end, as `head` does
            raise typer.Exit(BAD_INPUT) from None
        except OSError as error:
            _forget_output()
            fail(_of_system(error))
        except (EdgewiseError, ValueError, ModuleNotFoundError) as error:
            fail(str(error))
        except MemoryError as error:
            fail(f"There is not enough memory. {error}")
        except KeyboardInterrupt:
            fail("Interrupted.", INTERRUPTED)

    return run  # type: ignore[return-value]


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show a warning once and without the place in the sources that issued it."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = visible(re.sub(r"\s+", " ", f"warning: {message}"))
        if text not in shown:
            shown.add(text)
            typer.echo(text, err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _of_system(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else f"Cannot write: {reason}"


def _forget_output() -> None:
    """Drop output that could not be written, so that the interpreter does not retry at exit."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):  # not a file, as in tests
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
