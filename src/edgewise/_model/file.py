"""The model file: safetensors with one JSON text in its metadata. docs/model_file.md has it all."""

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
_LENGTH = 8  # bytes that say how long the header is
_TYPES = {"F64": "<f8", "I64": "<i8", "I32": "<i4", "U64": "<u8", "U8": "|u1"}


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
    """Header and arrays of the bytes of a file, or ModelFormatError. Only the form is checked."""
    header = plain.loads(_text_of(data))
    if not isinstance(header, dict):
        raise ModelFormatError("Not a valid model: its header is not a JSON object.")
    try:
        tensors = deserialize(data)  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise ModelFormatError(f"Not a valid model: {error}.") from None
    return header, {name: _array(name, tensor) for name, tensor in tensors}


def _header_length(data: bytes) -> int:
    return int.from_bytes(data[:_LENGTH], "little")


def _text_of(data: bytes) -> str:
    """Our own text among the metadata of safetensors."""
    length = _header_length(data)
    if len(data) < _LENGTH or length > min(LONGEST_HEADER, len(data) - _LENGTH):
        raise ModelFormatError(
            "Not a model file of edgewise: it is shorter than it says, or something else."
        )
    try:
        outer = plain.loads(data[_LENGTH : _LENGTH + length].decode())
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
    return array.astype(array.dtype.newbyteorder("="))  # a copy that may be written to


# --- files ------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file."""
    with open(path, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ModelFormatError(f"Not a model file of edgewise: {os.fspath(path)} is no file.")
        return file.read()
