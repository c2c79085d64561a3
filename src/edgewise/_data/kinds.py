"""Python and NumPy objects in columns: their kinds, and which of them are missing values."""

import datetime
import math
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import InvalidDataError

TIMES = ("date", "time", "duration")


def kind_of_all(values: NDArray[Any], shown: str) -> str:
    """Return the kind of Python objects: "text", "truth", "number" or one of `TIMES`."""
    kinds = {kind_of(value) for value in values}
    if len(kinds) > 1 or "" in kinds:
        got = ", ".join(sorted({type(value).__name__ for value in values}))
        raise InvalidDataError(
            f"{shown} must hold values of one kind: numbers, booleans, strings, dates, times of "
            f"day or durations. Got {got}."
        )
    return kinds.pop() if kinds else "number"


def kind_of(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "truth"
    if (kind := time_kind_of(value)) is not None:
        return kind
    return "number" if isinstance(value, Real | Decimal) else ""


def time_kind_of(value: Any) -> str | None:
    """The kind of a Python or NumPy object."""
    if isinstance(value, datetime.date | np.datetime64):
        return "date"
    if isinstance(value, datetime.time):
        return "time"
    return "duration" if isinstance(value, datetime.timedelta | np.timedelta64) else None


def misplaced_times(shown: str, got: str) -> InvalidDataError:
    """Return the error message about dates and times that are not allowed."""
    return InvalidDataError(
        f"{shown} holds dates or times ({got}), which are neither numbers nor categories here. "
        "Give them in a column of a data frame; or as strings, if they are categories."
    )


def is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")  # pandas, not imported
