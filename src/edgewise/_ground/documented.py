"""Docstrings of estimators: every parameter is described once and shown by every class that has it.

A class describes its own parameters; :func:`documented` adds those of its base classes, in the
order and with the defaults of the constructor. ``help()``, notebooks, scikit-learn's HTML
representation and the site all read the result.
"""

import inspect
import re
from functools import cache
from typing import Any, NamedTuple, TypeVar

Class = TypeVar("Class", bound=type)

_MERGED = ("Parameters", "Attributes")
_ORDER = (*_MERGED, "See Also", "Notes", "References", "Examples")
_HEADING = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<name>\w+)(?: : (?P<type>.*))?$")
_DEFAULT = re.compile(r", default=.*$")


class Entry(NamedTuple):
    """A parameter or attribute: its type, and lines that describe it."""

    type: str
    lines: list[str]


def sections(doc: str) -> dict[str, str]:
    """The sections of a numpydoc docstring by name; the text before the first has the name ""."""
    text = inspect.cleandoc(doc)
    marks = list(_HEADING.finditer(text))
    ends = [m.start() for m in marks[1:]] + [len(text)]
    found = {"": text[: marks[0].start()].strip() if marks else text}
    for mark, end in zip(marks, ends, strict=False):
        found[mark["name"]] = text[mark.end() : end].strip("\n")
    return found


def entries(section: str) -> dict[str, Entry]:
    """The entries of a section such as Parameters, by name."""
    found: dict[str, Entry] = {}
    for line in section.splitlines():
        head = _ENTRY.match(line)
        if head:
            found[head["name"]] = Entry(_DEFAULT.sub("", head["type"] or ""), [])
        elif found:
            found[next(reversed(found))].lines.append(line)
    return found


@cache  # base classes are read again for every class
def _described(doc: str) -> dict[str, dict[str, Entry]]:
    found = sections(doc)
    return {name: entries(found.get(name, "")) for name in _MERGED}


def documented(cls: Class) -> Class:
    """Complete the docstring of a class from those of its base classes."""
    if cls.__doc__ is None:  # python -OO
        return cls
    own = sections(cls.__doc__)
    merged: dict[str, dict[str, Entry]] = {name: {} for name in _MERGED}
    for base in reversed(cls.__mro__):
        if _is_ours(base):
            for name, found in _described(base.__doc__ or "").items():
                merged[name] |= found
    own["Parameters"] = _written(_signed(cls, merged["Parameters"]))
    own["Attributes"] = _written(merged["Attributes"])
    parts = [own[""]] + [
        f"{name}\n{'-' * len(name)}\n{own[name]}" for name in _ORDER if own.get(name)
    ]
    cls.__doc__ = "\n\n".join(parts) + "\n"
    return cls


def _is_ours(base: type) -> bool:
    return base.__module__.startswith("edgewise.") and bool(vars(base).get("__doc__"))


def _signed(cls: type, described: dict[str, Entry]) -> dict[str, Entry]:
    """The parameters of the constructor in its order, with its defaults; others are left out."""
    signature: Any = inspect.signature(cls)
    found = {}
    for name, parameter in signature.parameters.items():
        if name in described:
            entry = described[name]
            default = parameter.default
            shown = "" if default is parameter.empty else f", default={default!r}"
            found[name] = Entry(entry.type + shown, entry.lines)
    return found


def _written(found: dict[str, Entry]) -> str:
    return "\n".join(
        "\n".join([f"{name} : {entry.type}" if entry.type else name, *entry.lines]).rstrip()
        for name, entry in found.items()
    )
