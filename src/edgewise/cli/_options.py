"""Options that several commands share."""

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .._ground.errors import InvalidParameterError
from .._ground.wording import did_you_mean
from .._tools.catalogue import ALGORITHMS

READING = "How the table is read"


def option(words: str, *names: str, **more: Any) -> Any:
    """Return an option whose help text states its default in words."""
    return typer.Option(*names, help=words, show_default=False, **more)


def examples(*commands: str) -> str:
    """Return the examples below a help text, each on its own line."""
    return "\n\n".join(["Examples:", *commands])  # only paragraphs keep their line breaks


Data = Annotated[
    str,
    typer.Argument(
        help="A CSV, Parquet, ARFF or svmlight file, or a built-in set such as digits.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    option(
        "Column of the labels: its name or its position; 0 is the first, -1 the last. "
        "Default: the column named target, class, label or y, otherwise the last."
    ),
]
Format = Annotated[
    str | None,
    option(
        "csv, parquet, arff or svmlight. Default: by the ending of the file name.",
        rich_help_panel=READING,
    ),
]
Header = Annotated[
    bool | None,
    option(
        "Whether the first line of a CSV file contains the column names. Default: detected.",
        "--header/--no-header",
        rich_help_panel=READING,
    ),
]
Category = Annotated[
    list[str] | None,
    option(
        "A column of numbers to treat as a category. May be repeated.",
        rich_help_panel=READING,
    ),
]
Drop = Annotated[
    list[str] | None,
    option("Columns to drop, separated by commas. May be repeated.", rich_help_panel=READING),
]
Encoding = Annotated[
    str | None,
    option("Encoding of a CSV file, such as latin-1. Default: UTF-8.", rich_help_panel=READING),
]
Decimal = Annotated[
    str | None,
    option("Decimal separator of a CSV file: . or ,  Default: a point.", rich_help_panel=READING),
]
Method = Annotated[str, typer.Option(help=f"One of {', '.join(ALGORITHMS)}.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random draws.")]
Jobs = Annotated[int | None, option("Number of threads. Default: all cores.", min=1)]
ModelFile = Annotated[
    Path, typer.Argument(help="A model file written by fit or tune.", show_default=False)
]


def algorithm(name: str) -> Any:
    """The estimator of that name."""
    if name not in ALGORITHMS:
        raise InvalidParameterError(
            f"There is no method {name!r}.{did_you_mean(name, ALGORITHMS)} There are "
            f"{', '.join(ALGORITHMS)}."
        )
    return ALGORITHMS[name]


def parsed(settings: Sequence[str] | None) -> dict[str, Any]:
    """Values by name from texts NAME=VALUE."""
    pairs = {}
    for text in settings or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise InvalidParameterError(f"--param must be NAME=VALUE. Got {text!r}.")
        pairs[name.strip()] = _value(value.strip())
    return pairs


def by_method(settings: Sequence[str] | None) -> dict[str, dict[str, Any]]:
    """Values by method and name from texts METHOD.NAME=VALUE."""
    params: dict[str, dict[str, Any]] = {}
    for key, value in parsed(settings).items():
        method, dot, name = key.partition(".")
        if not dot:
            raise InvalidParameterError(f"--param must be METHOD.NAME=VALUE. Got {key!r}.")
        params.setdefault(method, {})[name] = value
    return params


def _value(text: str) -> Any:
    """A number, true, false, none, a list or dict of such; anything else is text."""
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
