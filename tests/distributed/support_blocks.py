"""Fits on parts of the data by the reference backend, and comparisons of models."""

import importlib
import os
import signal
import time

import numpy as np
from sklearn.base import clone

from edgewise._data import features
from edgewise.distributed._backend import LocalBackend
from edgewise.distributed._facts import Raw
from edgewise.distributed._fit import fit_parts
from edgewise.distributed._settings import Settings

# Where the rows are cut, as shares; equal numbers are empty parts.
PARTITIONINGS = {
    "one": (),
    "two": (0.4,),
    "three": (0.2, 0.7),
    "empty": (0.0, 0.1, 0.1, 0.6, 1.0),
    "nine": None,
}


def places(n, partitioning):
    cuts = PARTITIONINGS[partitioning]
    inner = np.linspace(0, n, 10)[1:-1] if cuts is None else np.array(cuts) * n
    return [0, *(int(c) for c in inner), n]


def parts_of(X, y, weights, partitioning):
    at = places(X.shape[0], partitioning)
    return [
        Raw(X[a:b], y[a:b], None if weights is None else weights[a:b])
        for a, b in zip(at[:-1], at[1:], strict=True)
    ]


def fit_blocks(
    estimator,
    X,
    y,
    sample_weight=None,
    *,
    partitioning="empty",
    backend=None,
    X_val=None,
    y_val=None,
    **settings,
):
    """A clone of the estimator, fitted on parts by threads of this process."""
    estimator = clone(estimator)
    estimator.n_features_in_ = X.shape[1]
    estimator.is_categorical_ = features.declared(estimator)
    estimator.categories_ = {}
    backend = backend or LocalBackend(2)
    fit_parts(
        estimator,
        backend,
        parts_of(X, y, sample_weight, partitioning),
        weighted=sample_weight is not None,
        validation=(X_val, y_val, None),
        begin=time.perf_counter(),
        chosen=Settings(**settings),
    )
    backend.close()
    return estimator


def fit_inside(estimator, X, y):
    """To be run as a task of a worker."""
    da = importlib.import_module("dask.array")
    return clone(estimator).fit(da.from_array(X, chunks=(300, -1)), da.from_array(y, chunks=300))


def added_up(part, n):
    """Leads: asks for n sums and returns all of them."""
    sums = []
    for i in range(n):
        sums.append((yield i))
    return sums


def killed_at(part, i, last):
    """Ends the process of the worker that holds the number `last`, on the third question."""
    if i == 2 and part == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return part + i


def pretend(found):
    """Let this process say that it has another edgewise, or none."""
    metadata = importlib.import_module("importlib.metadata")
    own = metadata.version

    def version(name):
        if found is None:
            raise metadata.PackageNotFoundError(name)
        return found

    version.__module__, version.__qualname__ = own.__module__, own.__qualname__
    metadata.version, version.own = version, own


def tell_the_truth():
    metadata = importlib.import_module("importlib.metadata")
    metadata.version = metadata.version.own


def fit_locally(estimator, X, y, weights=None):
    """The local fit that one on blocks equals: rows held out for early stopping stay held out,
    as they do for a warm start."""
    own = clone(estimator).set_params(warm_start=estimator.early_stopping is True)
    return own.fit(X, y, sample_weight=weights)


def assert_same_fit(one, other):
    """All that a fit leaves, bit for bit, but the clock."""
    theirs = other.model_.arrays()
    for name, array in one.model_.arrays().items():
        assert array.dtype == theirs[name].dtype, name
        assert array.tobytes() == theirs[name].tobytes(), name
    np.testing.assert_array_equal(one.classes_, other.classes_)
    assert one.n_iter_ == other.n_iter_
    assert one.stop_reason_ == other.stop_reason_
    assert one.history_.keys() == other.history_.keys()
    for name, figures in one.history_.items():
        if name != "seconds":
            np.testing.assert_array_equal(figures, other.history_[name], err_msg=name)
