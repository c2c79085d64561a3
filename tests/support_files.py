"""Model files for tests: whole ones, and ones with an entry changed."""

import json

import numpy as np
import pandas as pd
from safetensors.numpy import save as to_safetensors
from support import nominal_table

import edgewise
from edgewise._model.check import TYPES
from edgewise._model.file import unpack
from edgewise._model.narrow import widened


def save_aoso(path):
    """The file of a model of AOSO-LogitBoost with sets of categories."""
    X, y = nominal_table(0, missing=0.1)
    settings = {"n_estimators": 3, "max_leaf_nodes": 5, "min_samples_leaf": 1}
    edgewise.AOSOLogitBoostClassifier(**settings, categorical_features=[0, 1]).fit(X, y).save(path)
    return path


def frame_of_categories():
    """Columns of strings, of whole, real and true categories, and of numbers; and labels."""
    X, y = nominal_table(2, n=200, d=5)
    code = (X[:, :4] + 9) / 7
    frame = pd.DataFrame({"number": X[:, 4]})
    frame["text"] = np.array(["a", "ß", "☃", "", "a b", 'x"\n'])[code[:, 0].astype(int)]
    frame["whole"] = pd.Categorical((code[:, 1] * 2**40).astype(np.int64))
    frame["small"] = pd.Categorical((code[:, 1]).astype(np.uint8))
    frame["real"] = pd.Categorical((code[:, 2] / 3).astype(np.float32))
    frame["true"] = pd.Categorical(code[:, 3] > 2)
    frame["none"] = pd.Series([None] * len(y), dtype=str)
    return frame, y


def rewritten(path, change):
    """The bytes of the file after change(header, arrays), in a valid container.

    Arrays of the model are wide, so that any number can be put into them.
    """
    header, arrays = unpack(path.read_bytes())
    arrays = widened(arrays, {f"model.{name}": dtype for name, dtype in TYPES.items()})
    change(header, arrays)
    text = json.dumps(header)  # as lenient as JSON is written
    return to_safetensors(arrays, metadata={"edgewise": text})


def put(name, place, value):
    def change(header, arrays):
        arrays[name][place] = value

    return change


def cut(name, n=1):
    def change(header, arrays):
        arrays[name] = arrays[name][:-n]

    return change


def cast(name, dtype):
    def change(header, arrays):
        arrays[name] = arrays[name].astype(dtype)

    return change


def say(*keys, value):
    def change(header, arrays):
        for key in keys[:-1]:
            header = header[key]
        header[keys[-1]] = value

    return change


def drop(*keys):
    def change(header, arrays):
        for key in keys[:-1]:
            header = header[key]
        del header[keys[-1]]

    return change


def without(name):
    return lambda header, arrays: arrays.pop(name)


def extra(name):
    def change(header, arrays):
        arrays[name] = np.zeros(3)

    return change
