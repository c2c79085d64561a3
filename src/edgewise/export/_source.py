"""Common parts of the C and the Python scorer: tables of numbers as text, and the comment."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._ground.errors import ModelFormatError
from .._ground.version import __version__
from ._contents import Contents

WIDTH = 100


def wrapped(items: Iterable[str], indent: str = "  ") -> str:
    """Items, separated by commas, in lines that are not too long; no item is broken."""
    lines, line = [], indent
    for item in items:
        if len(line) > len(indent) and len(line) + len(item) + 2 > WIDTH:
            lines.append(line.rstrip())
            line = indent
        line += f"{item}, "
    return "\n".join([*lines, line.rstrip().rstrip(",")])


def tables(contents: Contents) -> dict[str, tuple[str, Any]]:
    """The arrays of the model by name, each with the kind of its numbers: "int" or "double"."""
    trees = contents.trees
    out: dict[str, tuple[str, Any]] = {
        "NODE_START": ("int", trees.node_start),
        "VALUE_START": ("int", trees.value_start),
        "FEATURE": ("int", trees.feature),
        "LEFT": ("int", trees.left),
        "THRESHOLD": ("double", np.nan_to_num(trees.threshold, posinf=np.inf, neginf=-np.inf)),
        "MISSING_LEFT": ("int", trees.missing_left),
        "VALUES": ("double", trees.values),
        "SET_OF_NODE": ("int", contents.set_of_node()),
        "SET_START": ("int", trees.set_start),
        "SET_VALUES": ("double", trees.set_values),
    }
    if contents.program is not None:
        out["FROZEN"] = ("int", contents.program.frozen)
        out["RIGHT"] = ("double", contents.program.right)
    else:
        out["START"] = ("double", trees.start)
        out["WIDTH"] = ("int", trees.width)
        out["CLASSES_MOVED"] = ("int", trees.classes)
    return out


def number(value: Any, kind: str, infinity: str) -> str:
    """A number as source code that gives the same bits."""
    if kind == "int":
        return str(int(value))
    if np.isinf(value):
        return infinity if value > 0 else f"-{infinity}"
    return repr(float(value))


def description(contents: Contents, shown: Callable[[Any], str]) -> list[str]:
    """Return lines that describe the model, its input and its output."""
    lines = [
        f"{contents.title}. Written by edgewise {__version__}.",
        "",
        "Features, in this order:",
    ]
    names = contents.names or [""] * contents.n_features
    for j, name in enumerate(names):
        said = f" {shown(name)}" if contents.names else ""
        table = contents.tables.get(j)
        listed = "" if table is None else f", categories: {', '.join(map(shown, table.tolist()))}"
        lines.append(f"  {j}{said}{listed}")
    kind = "Labels" if contents.multi_label else "Classes"
    lines += ["", f"{kind}, in this order:"]
    lines += [f"  {k} {shown(label)}" for k, label in enumerate(contents.classes.tolist())]
    return lines


def plain_value(value: Any) -> Any:
    """Return a label or a category as a built-in type: a derived type may print itself as anything,
    including code."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    raise ModelFormatError(
        "A scorer can have numbers, strings and booleans as labels and categories. Got "
        f"{type(value).__name__}: use strings instead."
    )


def quoted(value: Any) -> str:
    """A value as JSON of ASCII characters."""
    known = isinstance(value, str | bool | int | float | np.generic)
    return json.dumps(plain_value(value) if known else str(value))
