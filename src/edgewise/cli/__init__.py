"""The command line: `edgewise`. One file per group of commands, put together in `_app`."""

import sys


def app() -> None:
    """Run the command line."""
    try:
        from ._app import commands  # noqa: PLC0415 - typer is optional
    except ModuleNotFoundError as missing:
        library = str(missing.name).partition(".")[0]
        if library == "edgewise":
            raise
        sys.exit(
            f"The command line of edgewise needs {library}: install edgewise with the extra "
            "'cli', for instance with: pip install 'edgewise[cli]'"
        )
    commands()
