"""Plain values as JSON and back, without code.

None, booleans, integers, finite floats, strings and lists are written as such. Everything else is
an object with one key that names its kind:

    {"tuple": [...]}  {"set": [...]}  {"dict": [[key, value], ...]}
    {"float": "nan"}  {"array": {"dtype": "float64", "shape": [2, 2], "values": [...]}}

Reading is strict: duplicate keys, invalid numbers and deep nesting are errors.
"""

import json
import math
from collections.abc import Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import ModelFormatError

DEEPEST = 32  # lists within lists
_UNUSUAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NUMBERS = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
)
_ALLOWANCE = 40 << 20  # bytes that decoding may take for any file
_TEXT_ALLOWANCE = 32 << 20  # bytes of an array of strings, all as wide as the widest
# Twice the most bytes that decoding takes for a list or an object, for an item before a comma, for
# # half a string; measured in tests/unit/test_memory_of_loading.py.
_OF_CONTAINER, _OF_COMMA, _OF_QUOTE = 144, 48, 36


# --- JSON -------------------------------------------------------------------------------------


def dumps(value: Any) -> str:
    """The JSON text of an encoded value."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if not _is_unicode(text):
        raise ModelFormatError("A model file cannot hold text with half a surrogate pair.")
    return text


def budget(size: int) -> int:
    """Bytes that decoding a file of this size may take."""
    return 8 * size + _ALLOWANCE


def loads(text: str, most_bytes: int) -> Any:
    """The value of a JSON text, or ModelFormatError, also if it would take too much memory."""
    _need_cheap(text, most_bytes)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_doubles,
            parse_float=_finite,
            parse_constant=_refuse,
        )
        _check([value])
    except (RecursionError, ValueError) as error:
        if isinstance(error, ModelFormatError):
            raise
        raise ModelFormatError(f"Not a valid model: its header is not JSON ({error}).") from None
    return value


def _need_cheap(text: str, most_bytes: int) -> None:
    width = 1 if text.isascii() and "\\u" not in text else 4  # bytes of a character
    cost = (
        2 * width * len(text)
        + _OF_CONTAINER * (text.count("[") + text.count("{"))
        + _OF_COMMA * text.count(",")
        + _OF_QUOTE * text.count('"')
    )
    if cost > most_bytes:
        raise ModelFormatError(
            f"Not a valid model: its header would take {cost >> 20} MB of memory, which is more "
            f"than the {most_bytes >> 20} MB that a file of this size may take."
        )


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    together = dict(pairs)
    if len(together) < len(pairs):
        raise ModelFormatError("Not a valid model: a key of its header occurs twice.")
    return together


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse(text)
    return number


def _refuse(text: str) -> None:
    raise ModelFormatError(f"Not a valid model: its header holds the number {text[:40]}.")


def _check(value: list[Any]) -> None:
    """Check that lists and objects are not nested too deeply, and that strings are Unicode."""
    level = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for items in level:
            for item in (*items, *items.values()) if isinstance(items, dict) else items:
                if isinstance(item, dict | list):
                    inner.append(item)
                elif isinstance(item, str) and not (item.isascii() or _is_unicode(item)):
                    raise ModelFormatError(
                        "Not a valid model: its header holds half a surrogate pair."
                    )
        level = inner
        if not level:
            return
    raise ModelFormatError("Not a valid model: its header is nested too deeply.")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- encoding ---------------------------------------------------------------------------------


def encode(value: Any, what: str, depth: int = DEEPEST - 8) -> Any:
    """Encode a value as JSON; `what` names the value in errors."""
    if depth == 0:
        raise ModelFormatError(f"A model file cannot hold {what}: it is nested too deeply.")
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, int | str):  # of a derived class, such as an enumeration
        return str.__str__(value) if isinstance(value, str) else int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, np.ndarray):
        return {"array": encode_array(value, what)}
    return _encode_collection(value, what, depth - 1)


def _encode_collection(value: Any, what: str, depth: int) -> Any:
    if isinstance(value, list):
        return [encode(item, what, depth) for item in value]
    if isinstance(value, tuple | range):
        return {"tuple": [encode(item, what, depth) for item in value]}
    if isinstance(value, Set):
        items = [encode(item, what, depth) for item in value]
        return {"set": sorted(items, key=dumps)}
    if isinstance(value, Mapping):
        return {
            "dict": [[encode(k, what, depth), encode(v, what, depth)] for k, v in value.items()]
        }
    raise ModelFormatError(
        f"A model file cannot hold {what}: it must be made of numbers, strings, lists and dicts. "
        f"Got {type(value).__name__}. Set it to something plain first, or use pickle or skops."
    )


def encode_array(array: NDArray[Any], what: str) -> dict[str, Any]:
    """An array of numbers, booleans or strings."""
    dtype = {"U": "str", "O": "object"}.get(array.dtype.kind, array.dtype.name)
    items = array.ravel().tolist()
    plain = all(isinstance(item, bool | int | float | str) for item in items)
    if not plain or dtype not in {*_NUMBERS, "str", "object"}:
        raise ModelFormatError(
            f"A model file cannot hold {what}: they must be numbers, strings or booleans. Got an "
            f"array of type {array.dtype.name}."
        )
    values = [encode(item, what) for item in items]
    return {"dtype": dtype, "shape": list(array.shape), "values": values}


# --- decoding ---------------------------------------------------------------------------------


def decode(value: Any, what: str) -> Any:
    """The value of its encoded form, or ModelFormatError."""
    if isinstance(value, list):
        return [decode(item, what) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise _odd(what)
    ((kind, inner),) = value.items()
    if kind == "float" and isinstance(inner, str) and inner in _UNUSUAL:
        return _UNUSUAL[inner]
    if kind == "array":
        return decode_array(inner, what)
    return _decode_collection(kind, inner, what)


def _decode_collection(kind: str, inner: Any, what: str) -> Any:
    if kind not in ("tuple", "set", "dict") or not isinstance(inner, list):
        raise _odd(what)
    try:
        if kind == "dict":
            return {decode(k, what): decode(v, what) for k, v in inner}
        items = [decode(item, what) for item in inner]
        return tuple(items) if kind == "tuple" else set(items)
    except (TypeError, ValueError) as error:  # not pairs, or not hashable
        if isinstance(error, ModelFormatError):
            raise
        raise _odd(what) from None


def decode_array(encoded: Any, what: str) -> NDArray[Any]:
    """An array from {"dtype", "shape", "values"}; all values must have its type."""
    if not isinstance(encoded, dict) or encoded.keys() != {"dtype", "shape", "values"}:
        raise _odd(what)
    dtype, shape, values = encoded["dtype"], encoded["shape"], encoded["values"]
    if not (isinstance(dtype, str) and isinstance(values, list) and _is_shape(shape, len(values))):
        raise _odd(what)
    values = [decode(value, what) for value in values]
    return _vector(dtype, values, what).reshape(shape)


def _is_shape(shape: Any, size: int) -> bool:
    if not isinstance(shape, list) or not 1 <= len(shape) <= 8:
        return False
    return all(type(n) is int and n >= 0 for n in shape) and math.prod(shape) == size


def _vector(dtype: str, values: list[Any], what: str) -> NDArray[Any]:
    kinds = {type(value) for value in values}
    if dtype == "str" and kinds <= {str}:
        wide = 4 * max(map(len, values), default=0) * len(values)
        if wide > 8 * sum(map(len, values)) + _TEXT_ALLOWANCE:
            raise ModelFormatError(
                f"A model file cannot hold {what}: as wide as the longest, they would all together "
                f"take {wide >> 20} MB of memory. Shorten the longest, or use the type object."
            )
        return np.array(values, dtype=np.str_)
    if dtype == "object" and kinds <= {bool, int, float, str}:
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    if dtype in _NUMBERS and kinds <= {bool, int, float}:
        return _numbers(np.dtype(dtype), values, what)
    raise _odd(what)


def _numbers(dtype: np.dtype[Any], values: list[Any], what: str) -> NDArray[Any]:
    """Numbers that the type represents exactly."""
    kind = {"b": bool, "i": int, "u": int, "f": float}[dtype.kind]
    if any(type(value) is not kind for value in values):
        raise _odd(what)
    try:
        with np.errstate(over="ignore"):
            array = np.array(values, dtype=dtype)
    except OverflowError:
        raise _odd(what) from None
    exact = np.array(values, dtype=np.float64) if dtype.kind == "f" else array
    if not np.array_equal(array.astype(exact.dtype), exact, equal_nan=dtype.kind == "f"):
        raise _odd(what)
    return array


def _odd(what: str) -> ModelFormatError:
    return ModelFormatError(f"Not a valid model: {what} is not stored as a plain value.")
