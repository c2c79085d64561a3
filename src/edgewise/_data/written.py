"""Numbers as people write them: with a currency sign, thousands separators or a decimal comma.

A column is read as numbers only if all its values are numbers, so that no value is lost. A model
stores the decimal separator of the column, because "1.234" is another number if commas are decimal.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import InvalidDataError

Array = NDArray[np.float64]
Notations = dict[int, str]  # by column: its decimal separator

SEPARATORS = (".", ",")
_UNIT = r"[$€£¥₹%‰]|USD|EUR|GBP|CHF|JPY|INR"
_MINUS = "-\N{MINUS SIGN}"
_SPACES = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"


def _pattern(decimal: str) -> re.Pattern[str]:
    thousands = ("," if decimal == "." else ".") + _SPACES + "'’"
    whole = rf"[1-9]\d{{0,2}}(?P<thousands>[{thousands}])\d{{3}}(?:(?P=thousands)\d{{3}})*|\d+"
    return re.compile(
        rf"(?P<open>\()?(?P<sign>[{_MINUS}+])?\s*(?P<before>{_UNIT})?\s*(?P<sign_after>[{_MINUS}+])?"
        rf"(?P<whole>{whole})(?:{re.escape(decimal)}(?P<rest>\d+))?\s*(?P<after>{_UNIT})?(?P<close>\))?",
        re.ASCII,
    )


_PATTERNS = {decimal: _pattern(decimal) for decimal in SEPARATORS}


class _Written(NamedTuple):
    """A number, and how it was written."""

    value: float
    unit: str | None
    thousands: str | None


def notation_of(words: Sequence[str], preferred: str) -> str | None:
    """Return the decimal separator with which all words are numbers of one unit, or None.

    If both are possible, as for "1,234", the three digits are thousands; without any separator the
    result is `preferred`.
    """
    order = (preferred, *(decimal for decimal in SEPARATORS if decimal != preferred))
    found = {d: n for d in order if words and (n := _n_thousands(words, d)) is not None}
    return max(found, key=lambda decimal: found[decimal], default=None)


def _n_thousands(words: Sequence[str], decimal: str) -> int | None:
    """Count the words with thousands separators; None if one is not a number or units differ."""
    units: set[str | None] = {None}
    separators: set[str | None] = {None}
    n = 0
    for word in words:
        read = _read(word, decimal)
        if read is None:
            return None
        n += read.thousands is not None
        units.add(read.unit)
        separators.add(read.thousands)
        if len(units) > 2 or len(separators) > 2:  # besides none
            return None
    return n


def example(words: Sequence[str], decimal: str) -> str:
    """Return a word with as many signs as possible, and its number, as an example."""
    word = max(words, key=lambda word: len(re.sub(r"\d", "", word)))
    return f"{word!r} is {_number(word, decimal, word):.15g}"


def numbers_of(words: Sequence[str], decimal: str, shown: str) -> Array:
    """The numbers of words, for a column that was text of numbers in fit; 12 % is 12."""
    return np.array([_number(word, decimal, shown) for word in words], dtype=np.float64)


def _number(word: str, decimal: str, shown: str) -> float:
    read = _read(word, decimal)
    if read is None:
        raise InvalidDataError(
            f"{shown} was text of numbers in fit, with {decimal!r} as decimal separator, and must "
            f"hold such text or numbers. Got {word!r}."
        )
    return read.value


def _read(word: str, decimal: str) -> _Written | None:
    found: Any = _PATTERNS[decimal].fullmatch(word.strip())
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    signs = [sign for sign in (found["open"], found["sign"], found["sign_after"]) if sign]
    units = [unit for unit in (found["before"], found["after"]) if unit]
    if len(signs) > 1 or len(units) > 1:
        return None
    whole = re.sub(r"\D", "", found["whole"])
    size = float(f"{whole}.{found['rest'] or 0}")
    negative = bool(signs) and signs[0] != "+"
    unit = units[0] if units else None
    return _Written(-size if negative else size, unit, found["thousands"])
