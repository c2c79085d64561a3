"""All commands: a group of them is a module with a `group`, and is added here."""

from typing import Annotated

import typer

from .. import __version__
from . import lab
from .reproduce import reproduce

commands = typer.Typer(
    name="edgewise",
    help="Multi-class boosting, and the laboratory of its theory.\n\nExample: edgewise lab serve",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
commands.add_typer(lab.group, name="lab")
commands.command(
    epilog="Examples:  edgewise reproduce --list   |   edgewise reproduce abc-summary --scale paper"
)(reproduce)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"edgewise {__version__}")
        raise typer.Exit


@commands.callback()
def edgewise(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass
