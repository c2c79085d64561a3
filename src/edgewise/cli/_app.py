"""All commands: a group of them is a module with a `group`, and is added here."""

from typing import Annotated

import typer

from .. import __version__
from . import compare, evaluate, export, fit, inspect, lab, predict, reproduce, tune

commands = typer.Typer(
    name="edgewise",
    help="Multi-class boosting: compare algorithms on a table, fit, predict, evaluate, tune, "
    "export and inspect models; and the laboratory of the theory.\n\nExample: edgewise compare\n\n"
    "Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
commands.command("compare", epilog=compare.EPILOG)(compare.compare_command)
commands.command("fit", epilog=fit.EPILOG)(fit.fit)
commands.command("predict", epilog=predict.EPILOG)(predict.predict)
commands.command("evaluate", epilog=evaluate.EPILOG)(evaluate.evaluate)
commands.command("tune", epilog=tune.EPILOG)(tune.tune_command)
commands.command("export", epilog=export.EPILOG)(export.export)
commands.command("inspect", epilog=inspect.EPILOG)(inspect.inspect)
commands.command("reproduce", epilog=reproduce.EPILOG)(reproduce.reproduce)
commands.add_typer(lab.group, name="lab")


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
