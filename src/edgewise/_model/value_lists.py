"""Lists of distinct values as arrays: numbers, booleans or strings.

Numbers are stored as 64-bit numbers, booleans as 0 and 1, strings one after the other as UTF-8
(`NAME.text`) with the start of each (`NAME.start`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import ModelFormatError
from .check import check_starts, check_types, need

Array = NDArray[Any]

_STORED: dict[str, np.dtype[Any]] = {  # by the kind of NumPy's type
    "b": np.dtype("u1"),
    "i": np.dtype("i8"),
    "u": np.dtype("u8"),
    "f": np.dtype("f8"),
}
_NUMBERS = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
)
_TEXT: dict[str, np.dtype[Any]] = {"start": np.dtype("i8"), "text": np.dtype("u1")}
_OF_STRING = 104  # bytes of a short string and its entry in arrays
_ALLOWANCE = 24 << 20  # bytes that categories may always take
_NONE = np.empty(0, dtype=bool)  # replaces a missing array


def kind_of(values: Array, what: str) -> str:
    """The name of the values' type, in the file's header."""
    name = "str" if values.dtype.kind in "OU" else values.dtype.name
    if name != "str" and name not in _NUMBERS:
        raise ModelFormatError(
            f"A model file cannot hold {what}: it must be a number, a string or a boolean. Got an "
            f"array of type {name}."
        )
    return name


def to_arrays(name: str, values: Array) -> dict[str, Array]:
    """The arrays that hold the values, by name."""
    if values.dtype.kind not in "OU":
        return {name: values.astype(_STORED[values.dtype.kind])}
    try:
        coded = [value.encode() for value in values.tolist()]
    except UnicodeEncodeError:
        raise ModelFormatError(
            "A model file cannot hold text with half a surrogate pair."
        ) from None
    start = np.cumsum([0, *map(len, coded)], dtype=np.int64)
    return {f"{name}.start": start, f"{name}.text": np.frombuffer(b"".join(coded), dtype="u1")}


def need_cheap(kinds: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Check that the number of strings is in proportion to the size of the file."""
    texts = [arrays.get(f"{name}.start", _NONE) for name, kind in kinds.items() if kind == "str"]
    cost = _OF_STRING * sum(map(len, texts))
    size = sum(array.nbytes for array in arrays.values())
    need(
        cost <= 5 * size + _ALLOWANCE,
        f"its categories would take {cost >> 20} MB of memory, of a file that has {size >> 20} MB "
        "of them",
    )


def take(name: str, kind: Any, arrays: dict[str, Array]) -> Array:
    """The values of a name, whose arrays are removed from `arrays`; or ModelFormatError."""
    if kind == "str":
        values = _strings(arrays.pop(f"{name}.start", _NONE), arrays.pop(f"{name}.text", _NONE))
    else:
        need(isinstance(kind, str) and kind in _NUMBERS, "categories have an unknown type")
        values = _numbers(arrays.pop(name, _NONE), np.dtype(kind))
    need(len(np.unique(values)) == len(values), "a category occurs twice")
    return values


def _strings(start: Array, text: Array) -> Array:
    check_types({"start": start, "text": text}, _TEXT)
    check_starts("start", start, len(text))
    whole = memoryview(text.data)
    values = np.empty(len(start) - 1, dtype=object)
    try:
        for i in range(len(values)):
            values[i] = str(whole[start[i] : start[i + 1]], "utf-8")
    except UnicodeDecodeError:
        raise ModelFormatError("Not a valid model: a category is not text.") from None
    return values


def _numbers(stored: Array, dtype: np.dtype[Any]) -> Array:
    """Numbers that the type represents exactly."""
    wanted = _STORED[dtype.kind]
    check_types({"values": stored}, {"values": wanted})
    with np.errstate(all="ignore"):
        values = stored.astype(dtype)
    need(np.array_equal(values.astype(wanted), stored), "a category is not of its type")
    return values
