"""Model files gone wrong: golden files with a few changes, most of them in a valid container.

A change of any byte hardly ever gets past safetensors, so most changes are made to what is inside:
a number of an array, its length or type, an entry of the header. What decides comes from `draw`, a
function that gives an integer below its argument: random numbers, or the bytes of a fuzzer.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors.numpy import save as to_safetensors

import edgewise
from edgewise._model.file import unpack
from edgewise._tools.load import from_bytes

Draw = Callable[[int], int]

SEEDS = [
    path.read_bytes()
    for path in sorted(Path(__file__).parents[1].glob("golden/files/*/*.edgewise"))
]
OPENED = [unpack(data) for data in SEEDS]

WHOLE = [0, 1, -1, 2, 3, 7, 127, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**63 - 1]
REAL = [0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e308, -1e308, np.inf, -np.inf, np.nan]
WORDS = [
    "", "a", "auto", "balanced", "loss", "int64", "float16", "str", "object", "\ud800", "\x00",
    "MARTClassifier", "MartiBoostClassifier", "SAMMEClassifier", "os.system", "x" * 2000, "é☃",
]  # fmt: skip
KINDS = ["tuple", "set", "dict", "float", "array", "values", "shape", "dtype"]
TYPES = ["f8", "f4", "i8", "i4", "u1", "u4", "?"]


def mutated(draw: Draw, seeds: list[bytes] = SEEDS) -> bytes:
    """The bytes of a golden file, or of another, with one to four changes."""
    number = draw(len(seeds))
    if draw(8) == 0:
        return with_other_bytes(bytearray(seeds[number]), draw)
    header, arrays = OPENED[number] if seeds is SEEDS else unpack(seeds[number])
    arrays = dict(arrays)
    for _ in range(1 + draw(4)):
        if draw(2):
            _change_array(arrays, draw)
        else:
            header = _changed(header, draw)
    return packed(header, arrays)


def packed(header, arrays) -> bytes:
    text = json.dumps(header, ensure_ascii=bool(len(arrays) % 2))
    text = text.encode(errors="replace").decode()
    return to_safetensors(arrays, metadata={"edgewise": text})


def with_other_bytes(data: bytearray, draw: Draw) -> bytes:
    for _ in range(1 + draw(4)):
        at = draw(len(data) + 1)
        what = draw(4)
        if what == 0:
            data[at : at + 1] = bytes([draw(256)])
        elif what == 1:
            data[at:at] = bytes(draw(256) for _ in range(draw(8)))
        elif what == 2:
            del data[at : at + draw(16)]
        else:
            data[at:] = b""
    return bytes(data)


# --- arrays -----------------------------------------------------------------------------------


def _change_array(arrays: dict, draw: Draw) -> None:
    if not arrays:
        return
    name = sorted(arrays)[draw(len(arrays))]
    what = draw(12)
    if what == 0:
        del arrays[name]
    elif what == 1:
        arrays[name] = arrays[name][: draw(len(arrays[name]) + 1)]
    elif what == 2:
        arrays[name] = np.concatenate([arrays[name], arrays[name][: 1 + draw(4)]])
    elif what == 3:
        with np.errstate(all="ignore"):
            arrays[name] = arrays[name].astype(TYPES[draw(len(TYPES))])
    elif what == 4:
        arrays[name + WORDS[1 + draw(4)]] = arrays[name]
    elif len(arrays[name]):
        arrays[name] = arrays[name].copy()
        _change_number(arrays[name], draw)


def _change_number(array: np.ndarray, draw: Draw) -> None:
    at = draw(len(array))
    what = draw(3)
    if what == 0:
        array[at] = array[draw(len(array))]
    elif array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # of single precision
            array[at] = REAL[draw(len(REAL))]
    elif array.dtype.kind in "iu":
        value = int(array[at]) + draw(5) - 2 if what == 1 else WHOLE[draw(len(WHOLE))]
        info = np.iinfo(array.dtype)
        array[at] = min(max(value, info.min), info.max)
    else:
        array[at] = not array[at]


# --- header -----------------------------------------------------------------------------------


def _changed(value, draw: Draw):
    """The value with one place changed, found by walking down at random."""
    if isinstance(value, dict) and value and draw(8):
        key = sorted(value)[draw(len(value))]
        if draw(12) == 0:
            return {k: v for k, v in value.items() if k != key}
        if draw(12) == 0:
            return value | {KINDS[draw(len(KINDS))]: _anything(draw, 3)}
        return value | {key: _changed(value[key], draw)}
    if isinstance(value, list) and value and draw(4):
        at = draw(len(value))
        return [*value[:at], _changed(value[at], draw), *value[at + draw(3) :]]
    return _anything(draw, 3)


def _anything(draw: Draw, depth: int):
    """A value of any kind, within `depth` lists and objects."""
    kinds = [
        lambda: WHOLE[draw(len(WHOLE))],
        lambda: REAL[draw(len(REAL))],
        lambda: WORDS[draw(len(WORDS))],
        lambda: [None, True, False][draw(3)],
        lambda: OPENED[draw(len(OPENED))][0]["classes"],
        lambda: [_anything(draw, depth - 1) for _ in range(draw(4))],
        lambda: {KINDS[draw(len(KINDS))]: _anything(draw, depth - 1)},
    ]
    return kinds[draw(len(kinds) if depth else 5)]()


# --- what must hold ---------------------------------------------------------------------------


def awkward_rows(model) -> np.ndarray:
    """Rows with every kind of number, and of the model's categories, one after the other."""
    kinds = np.array([0.0, 1.0, 2.0, -3.0, np.nan, np.inf, -np.inf, 1e300, 5e-324, 0.5])
    X = kinds[(np.arange(9)[:, None] * 3 + np.arange(model.n_features_in_)) % len(kinds)]
    for column in model.dates_:  # seconds; a calendar ends
        X[:, column] = np.array([0.0, np.nan, -3.5, 1e9, 2.5e11])[np.arange(9) % 5]
    if model.categories_:
        X = X.astype(object)
        X[:, list(model.dates_)] = None
        for column, table in model.categories_.items():
            values = [None, *table.tolist()]
            X[:, column] = [values[i % len(values)] for i in range(len(X))]
    return X


def check(data: bytes) -> bool:
    """Whether the file loads and predicts. If not it is a ModelFormatError, or this raises."""
    try:
        model = from_bytes(data)
    except edgewise.ModelFormatError:
        return False
    if model.n_features_in_ <= 1000:
        X = awkward_rows(model)
        vars(model).pop("feature_names_in_", None)
        with np.errstate(all="ignore"):
            proba = model.predict_proba(X)
            model.predict(X)
            if hasattr(model.model_, "shapley_values"):
                model.model_.shapley_values(model._ready(X)[0], 1)
        assert proba.shape == (len(X), len(model.classes_))
    return True


if __name__ == "__main__":
    for file in sys.argv[1:]:
        print(file, "loads" if check(Path(file).read_bytes()) else "is refused")
