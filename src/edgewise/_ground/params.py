"""Checks of constructor parameters: one table, consulted on the first line of ``fit``.

A rule is a pair: a test of the value, and a text that says what is allowed.
"""

import math
import reprlib
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.metrics import get_scorer_names

from .errors import InvalidParameterError

Rule = tuple[Callable[[Any], bool], str]

LARGEST = 2**31 - 1  # the core uses integers of 32 bits
WHOLE = 2**53 - 1  # up to which doubles represent all integers
_POWERS = {LARGEST: "2**31", WHOLE: "2**53"}

_brief = reprlib.Repr()
_brief.maxlevel = 4
_brief.maxdict = _brief.maxlist = _brief.maxtuple = _brief.maxset = _brief.maxfrozenset = 20
_brief.maxlong = _brief.maxstring = _brief.maxother = 200


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def integer(low: int, high: int = LARGEST, *, none: bool = False) -> Rule:
    words = f"an integer from {low} to {high}"
    if high in _POWERS:
        words = f"an integer of at least {low} and below {_POWERS[high]}"
    return (
        lambda v: (none and v is None) or (_is_integer(v) and low <= v <= high),
        words + (" or None" if none else ""),
    )


def seed() -> Rule:
    return integer(0, 2**32 - 1)


def real(
    low: float, high: float = math.inf, *, high_open: bool = False, none: bool = False
) -> Rule:
    """A number above `low` and at most (or below) `high`."""
    words = f"a number above {low:g}" + (
        "" if high == math.inf else f" and {'below' if high_open else 'at most'} {high:g}"
    )
    words += " or None" if none else ""

    def test(v: Any) -> bool:
        if v is None:
            return none
        if isinstance(v, bool | np.bool_) or not isinstance(v, Real):
            return False
        try:
            number = float(v)
        except OverflowError:  # of an integer
            return False
        within = number < high if high_open else number <= high
        return math.isfinite(number) and low < number and within

    return test, words


def none() -> Rule:
    return lambda v: v is None, "None"


def not_negative() -> Rule:
    test, _ = real(-math.inf)
    return lambda v: test(v) and v >= 0, "a number of at least 0"


def share() -> Rule:
    """A float above 0 and at most 1; the integer 1 is a count, not a share."""
    return lambda v: isinstance(v, float) and 0.0 < v <= 1.0, "a float above 0 and at most 1"


def one_of(*allowed: Any) -> Rule:
    return (
        lambda v: any(isinstance(v, type(a)) and v == a for a in allowed),
        ("one of " if len(allowed) > 1 else "") + ", ".join(map(repr, allowed)),
    )


def number() -> Rule:
    return lambda v: isinstance(v, float) and math.isfinite(v), "a finite float"


def text() -> Rule:
    return lambda v: isinstance(v, str) and len(v) <= 1000, "a string of at most 1000 characters"


def boolean() -> Rule:
    return lambda v: isinstance(v, bool | np.bool_), "True or False"


def either(*rules: Rule) -> Rule:
    return (
        lambda v: any(test(v) for test, _ in rules),
        ", or ".join(words for _, words in rules),
    )


def classifier() -> Rule:
    return (
        lambda v: isinstance(v, BaseEstimator) and is_classifier(v),
        "a classifier of scikit-learn's kind",
    )


def _n_dimensions(v: Any) -> int:
    try:
        return np.ndim(v)
    except ValueError:  # rows of different lengths
        return -1


def matrix_or_none() -> Rule:
    """A matrix of numbers; shape and values are checked when the classes are known."""
    return (
        lambda v: v is None or _n_dimensions(v) == 2,
        "None or a matrix, one row and column per class",
    )


def columns() -> Rule:
    """Columns of X; `fit` checks whether they exist."""

    def test(v: Any) -> bool:
        if v is None or (isinstance(v, str) and v == "from_dtype"):
            return True
        if isinstance(v, str) or _n_dimensions(v) != 1:
            return False
        of_kind = (
            _is_integer,
            lambda c: isinstance(c, str),
            lambda c: isinstance(c, bool | np.bool_),
        )
        return any(all(is_kind(c) for c in v) for is_kind in of_kind)

    return test, (
        "'from_dtype', None or a list of column numbers, of column names, or of one bool per column"
    )


def interactions() -> Rule:
    """Sets of columns of X; `fit` checks whether they exist."""

    def test(v: Any) -> bool:
        if v is None or isinstance(v, str):
            return v in (None, "pairwise", "no_interactions")
        return isinstance(v, list | tuple) and all(
            isinstance(s, list | tuple | set | frozenset | range) and len(s) > 0 for s in v
        )

    return test, "None, 'pairwise', 'no_interactions' or a list of sets of columns, none empty"


def directions() -> Rule:
    """Directions for columns of X; they are checked when X and the classes are known."""

    def test(v: Any) -> bool:
        return v is None or isinstance(v, Mapping | list | tuple | np.ndarray)

    return test, (
        "None, a list with an entry for each column, or a dict {column: entry}; an entry is -1, 0 "
        "or 1, or a dict {class: -1, 0 or 1}"
    )


def n_jobs() -> Rule:
    return lambda v: v is None or (_is_integer(v) and v != 0), "None or an integer other than 0"


def scoring() -> Rule:
    return (
        lambda v: callable(v) or (isinstance(v, str) and (v == "loss" or v in get_scorer_names())),
        "'loss', the name of a scikit-learn scorer, or a callable",
    )


def random_state() -> Rule:
    is_seed, _ = seed()
    return (
        lambda v: v is None or isinstance(v, np.random.RandomState) or is_seed(v),
        "None, an integer of at least 0 and below 2**32, or a numpy RandomState",
    )


def class_weight() -> Rule:
    is_weight, _ = not_negative()

    def test(v: Any) -> bool:
        if isinstance(v, Mapping):
            return all(map(is_weight, v.values()))
        return v is None or (isinstance(v, str) and v == "balanced")

    return test, (
        "None, 'balanced' or a dict {class: weight}, with weights that are finite and not negative"
    )


def check(owner: str, values: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise an error for the first parameter whose value is not allowed."""
    for name, (test, words) in rules.items():
        if not test(values[name]):
            raise InvalidParameterError(
                f"The {name!r} parameter of {owner} must be {words}. Got {shown(values[name])} "
                "instead."
            )


def shown(value: Any) -> str:
    """Return a value as error messages show it, in at most a few hundred characters."""
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return _brief.repr(value)
    except ValueError:  # Python does not print integers of more than some thousand digits
        return f"a value of type {type(value).__name__} that is too large to show"
