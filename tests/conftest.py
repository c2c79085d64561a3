"""Fixtures: seeds, small data sets, and every estimator with fast settings."""

import signal

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from support import DRAWLESS_VARIANTS, LOGISTIC_VARIANTS, TREE_VARIANTS, VARIANTS, table

from edgewise import _core


def pytest_configure(config):
    """Where the tests run in the background of a shell, Ctrl-C is ignored, and children inherit
    that; tests of Ctrl-C would wait for ever."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=[0, 1, 2], ids="seed{}".format)
def seed(request):
    return request.param


@pytest.fixture(params=VARIANTS.values(), ids=VARIANTS.keys())
def make(request):
    """Makes an estimator: each of them in turn, with few small rounds; takes parameters."""
    return request.param


@pytest.fixture(params=LOGISTIC_VARIANTS.values(), ids=LOGISTIC_VARIANTS.keys())
def make_logistic(request):
    """Makes an estimator of the logistic family."""
    return request.param


@pytest.fixture(params=DRAWLESS_VARIANTS.values(), ids=DRAWLESS_VARIANTS.keys())
def make_drawless(request):
    """Makes an estimator whose rounds draw nothing at random."""
    return request.param


@pytest.fixture(params=TREE_VARIANTS.values(), ids=TREE_VARIANTS.keys())
def make_trees(request):
    """Makes an estimator whose trees may have any number of leaves."""
    return request.param


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="session")
def digits():
    """300 of the digits: small integers, ten classes, many zeros."""
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


@pytest.fixture(scope="session")
def gappy():
    """Continuous values, a fifth of them missing."""
    return table(7, n=150, K=3, missing=0.2)


@pytest.fixture(scope="session")
def small_integers():
    """Whole numbers below six: ties, and every cut a midpoint."""
    return table(8, n=150, K=4, levels=6)


@pytest.fixture(params=["iris", "wine", "digits", "gappy", "small_integers"])
def dataset(request):
    X, y = request.getfixturevalue(request.param)
    return X, np.asarray(y)


@pytest.fixture
def nothing_is_negligible(monkeypatch):
    """The search for splits may round rows away that hardly count; with this it must not."""
    grow_limits = _core.GrowLimits
    monkeypatch.setattr(
        _core,
        "GrowLimits",
        lambda *args, **kwargs: grow_limits(*args, **kwargs | {"negligible": 0.0}),
    )
