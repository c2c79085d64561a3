"""A bug for every target: a check taken out. `python -m fuzz.planted TARGET RUNS` must find it.

In a process of its own, since some of these bugs end it.
"""

import csv
import io
import json
import random
import sys

import numpy as np

from edgewise._data import sparse
from edgewise._ground import params
from edgewise._model import plain
from edgewise.cli import _options, fit
from edgewise.comparison import _results
from edgewise.experiments import _store as cells
from edgewise.lab.page import _asked
from edgewise.tables import _csv, _source


def shapes():
    plain._is_shape = lambda shape, size: True


def types():
    _results.typed = cells.typed = lambda record: record


def objects():
    fit.read_params = lambda path: json.loads(path.read_text())["params"]


def values():
    _options._value = eval


def first_row():
    reader = csv.reader
    _csv._first_row = lambda sample, delimiter, path: next(reader(io.StringIO(sample)))


def places_of_files():
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415

    _source.read_svmlight = lambda path: load_svmlight_file(str(path), zero_based=True)


def places():
    sparse._in_range = lambda places, n, name: places.astype(np.int32)


def numbers():
    params._n_dimensions = np.ndim


def matrices():
    _asked._matrix = np.array


PLANTED = {
    "model_files": shapes,
    "checkpoints": shapes,
    "journals": types,
    "parameter_files": objects,
    "parameter_texts": values,
    "csv_files": first_row,
    "svmlight_files": places_of_files,
    "csr_triples": places,
    "constructor_parameters": numbers,
    "questions_of_the_page": matrices,
}

if __name__ == "__main__":
    name, runs = sys.argv[1:]
    PLANTED[name]()
    from fuzz.targets import TARGETS

    for number in range(int(runs)):
        TARGETS[name](random.Random(number).randrange)
    print("not found")
