"""The model file: safetensors with one JSON text in its metadata; see docs/model_file.md."""

import os
import stat
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save as to_safetensors

from .._ground.errors import ModelFormatError
from . import plain

Arrays = dict[str, NDArray[Any]]

METADATA_KEY = "edgewise"
LONGEST_HEADER = 100_000_000  # bytes; safetensors' own limit
_OF_ARRAY = 2000  # bytes of an array besides its numbers while it is read
_LENGTH = 8  # bytes of the length of the header
_TYPES = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "U64": "<u8", "U8": "|u1"},
    **{"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1"},
}


# --- bytes ------------------------------------------------------------------------------------


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Header and arrays as the bytes of a file."""
    native = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    data: bytes = to_safetensors(native, metadata={METADATA_KEY: plain.dumps(header)})
    if _header_length(data) > LONGEST_HEADER:
        raise ModelFormatError(
            f"A model file can hold at most {LONGEST_HEADER} bytes of names, labels and parameters."
        )
    return data


def unpack(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of the bytes of a file, or ModelFormatError. Checks the form only."""
    budget = plain.budget(len(data))
    header = plain.loads(_text_of(data, budget), budget)
    if not isinstance(header, dict):
        raise ModelFormatError("Not a valid model: its header is not a JSON object.")
    try:
        tensors = deserialize(data)  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise ModelFormatError(f"Not a valid model: {error}.") from None
    return header, {name: _array(name, tensor) for name, tensor in tensors}


def _header_length(data: bytes) -> int:
    return int.from_bytes(data[:_LENGTH], "little")


def _text_of(data: bytes, budget: int) -> str:
    """The text of edgewise in the metadata of safetensors."""
    length = _header_length(data)
    if len(data) < _LENGTH or length > min(LONGEST_HEADER, len(data) - _LENGTH):
        raise ModelFormatError(
            "Not a model file of edgewise: it is truncated, or another kind of file."
        )
    if _OF_ARRAY * data.count(b"data_offsets", 0, _LENGTH + length) > budget:
        raise ModelFormatError(
            f"Not a valid model: it has so many arrays that they would take more than the "
            f"{budget >> 20} MB of memory that a file of this size may take."
        )
    try:
        outer = plain.loads(data[_LENGTH : _LENGTH + length].decode(), budget)
    except UnicodeDecodeError:
        raise ModelFormatError("Not a model file of edgewise: its header is not text.") from None
    metadata = outer.get("__metadata__") if isinstance(outer, dict) else None
    if not isinstance(metadata, dict) or metadata.keys() != {METADATA_KEY}:
        raise ModelFormatError(
            f"Not a model file of edgewise: the metadata must have the key {METADATA_KEY!r} and no "
            "other."
        )
    text = metadata[METADATA_KEY]
    if not isinstance(text, str):
        raise ModelFormatError("Not a valid model: its header is not text.")
    return text


def _array(name: str, tensor: Mapping[str, Any]) -> NDArray[Any]:
    dtype = _TYPES.get(tensor["dtype"])
    if dtype is None or len(tensor["shape"]) != 1:
        raise ModelFormatError(
            f"Not a valid model: the array {name[:80]!r} must be a vector of one of the types "
            f"{', '.join(_TYPES)}."
        )
    array = np.frombuffer(tensor["data"], dtype=dtype)
    copied = not array.flags.writeable  # releases of safetensors differ
    return array.astype(array.dtype.newbyteorder("="), copy=copied)


# --- files ------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. A pipe or a device, which might never end, is an error."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # do not wait for pipes
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise ModelFormatError(
            f"A model is read from a regular file. {os.fspath(path)} is {_kind(mode)}."
        )
    with open(descriptor, "rb") as file:
        return file.read()


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
