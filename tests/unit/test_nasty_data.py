"""Data as bad as it comes, through every estimator: a sound model or one clear error, no crash.

Every table of `TABLES` must be learned from; every one of `REFUSED` must be refused by name.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from joblib import Parallel, delayed
from support import VARIANTS, assert_same_model, table

import edgewise

MARTI = partial(edgewise.MartiBoostClassifier, n_layers=4, random_state=0)
EVERY = VARIANTS | {"martiboost": MARTI}
RNG = np.random.default_rng(0)
N = 60
LABELS = np.arange(N) % 2
SIGNAL = LABELS + 0.3 * np.random.default_rng(1).normal(size=N)


def beside(column, dtype=np.float64):
    """A nasty column beside one that says something."""
    return np.column_stack([np.asarray(column, dtype=dtype), SIGNAL.astype(dtype)])


def memory_map(folder):
    path = folder / "table.npy"
    np.save(path, beside(RNG.normal(size=N)))
    return np.load(path, mmap_mode="r")


def constant(value):
    return lambda _: beside(np.full(N, value))


TABLES = {
    "one column": lambda _: SIGNAL[:, np.newaxis],
    "a column all NaN": constant(np.nan),
    "a constant column": constant(3.0),
    "all columns constant": lambda _: np.ones((N, 3)),
    "all values NaN": lambda _: np.full((N, 2), np.nan),
    "a column all infinite": constant(np.inf),
    "both infinities and NaN": lambda _: beside(np.resize([np.inf, -np.inf, np.nan, 0.0], N)),
    "denormals": lambda _: beside(np.resize([5e-324, 1e-310, 0.0, -5e-324], N)),
    "huge numbers": lambda _: beside(np.resize([1e308, -1e308, 1.7e308, 0.0], N)),
    "neighbouring doubles": lambda _: beside(np.resize([1.0, np.nextafter(1.0, 2), 1.0], N)),
    "both zeros": lambda _: beside(np.resize([0.0, -0.0], N)),
    "columns twice": lambda _: np.column_stack([SIGNAL] * 4),
    "Fortran order": lambda _: np.asfortranarray(beside(RNG.normal(size=N))),
    "every second row and column": lambda _: np.repeat(
        np.repeat(beside(RNG.normal(size=N)), 2, axis=0), 2, axis=1
    )[::2, ::2],
    "backwards": lambda _: beside(RNG.normal(size=N))[:, ::-1],
    "a read-only memory map": memory_map,
    "float16": lambda _: beside(RNG.normal(size=N), np.float16),
    "float32": lambda _: beside(RNG.normal(size=N), np.float32),
    "long double": lambda _: beside(RNG.normal(size=N), np.longdouble),
    "big-endian": lambda _: beside(RNG.normal(size=N), ">f8"),
    "big-endian integers": lambda _: beside(RNG.integers(9, size=N), ">i4"),
    "integers beyond 2^53": lambda _: np.column_stack(
        [2**53 + np.arange(N, dtype=np.int64), LABELS]
    ),
    "the smallest and largest integers": lambda _: np.column_stack(
        [np.resize([np.iinfo(np.int64).min, np.iinfo(np.int64).max], N), LABELS]
    ),
    "unsigned 64-bit integers": lambda _: np.column_stack(
        [np.full(N, 2**64 - 1, dtype=np.uint64), LABELS.astype(np.uint64)]
    ),
    "booleans": lambda _: np.column_stack([LABELS == 1, np.ones(N, dtype=bool)]),
    "numbers as objects": lambda _: beside(np.arange(N)).astype(object),
    "lists of lists": lambda _: beside(np.arange(N)).tolist(),
    "more columns than rows": lambda _: np.column_stack([SIGNAL, RNG.normal(size=(N, 300))]),
}

CATEGORIES = {
    "negative ids": lambda: -np.resize([1, 5, 2**31], N),
    "ids beyond 2^31": lambda: 2**31 + np.arange(N) % 7,
    "one id per row": lambda: np.arange(N),
    "fractions, infinities, NaN": lambda: np.resize([0.5, np.inf, -np.inf, np.nan], N),
    "both zeros": lambda: np.resize([0.0, -0.0, 1.0], N),
}

every = pytest.mark.parametrize("name", EVERY)


def assert_sound(model, X, n_classes=2):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proba = model.predict_proba(X)
        labels = model.predict(X)
    assert proba.shape == (len(X), n_classes)
    assert np.all(np.isfinite(proba))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)
    assert set(labels) <= set(model.classes_)


@every
@pytest.mark.parametrize("case", TABLES)
@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")  # some hold nothing to learn
def test_every_table_is_learned_from(name, case, tmp_path):
    X = TABLES[case](tmp_path)
    model = EVERY[name]().fit(X, LABELS)
    assert_sound(model, X)
    assert_same_model(model.model_, EVERY[name](n_jobs=3).fit(X, LABELS).model_)


@every
@pytest.mark.parametrize("case", CATEGORIES)
def test_every_kind_of_category(name, case):
    X = beside(CATEGORIES[case]())
    model = EVERY[name](categorical_features=[0]).fit(X, LABELS)
    assert_sound(model, X)
    unseen = X.copy()
    unseen[:, 0] = 12345.0
    missing = X.copy()
    missing[:, 0] = np.nan
    np.testing.assert_array_equal(model.predict_proba(unseen), model.predict_proba(missing))


@pytest.mark.parametrize("name", ["aoso_pair", "mart", "mh_tree", "samme"])
def test_sixty_five_thousand_categories(name):
    n = 65_537 + 500
    column = np.arange(n) % 65_537
    X = np.column_stack([column, column % 3 + 0.1 * np.random.default_rng(0).normal(size=n)])
    model = VARIANTS[name](categorical_features=[0], n_estimators=2).fit(X, column % 3)
    assert_sound(model, X[:500], n_classes=3)
    assert np.mean(model.predict(X[:500]) == column[:500] % 3) > 0.9


@pytest.mark.parametrize("name", VARIANTS)
def test_as_many_classes_as_rows(name):
    X = np.arange(12.0)[:, np.newaxis]
    model = VARIANTS[name]().fit(X, np.arange(12))
    assert_sound(model, X, n_classes=12)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_class_of_one_row(name):
    X, y = table(0, n=80, K=3)
    y[0] = 7
    assert_sound(VARIANTS[name]().fit(X, y), X, n_classes=len(set(y)))


@every
@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.empty((0, 3)), np.empty(0), "0 sample"),
        (np.empty((5, 0)), np.arange(5) % 2, r"0 feature|0 column"),
        (np.ones((1, 2)), [1], "one class|at least two classes"),
        (np.ones((4, 2)), [1, 1, 1, 1], "at least two classes"),
        (np.ones((4, 2)), [0, 1, np.nan, 1], "NaN|missing"),
        (np.ones((4, 2), dtype=complex), [0, 1, 0, 1], "[Cc]omplex"),
        (np.ones((4, 2, 2)), [0, 1, 0, 1], "dim"),
        (np.ones(4), [0, 1, 0, 1], "2D|two-dim|1D"),
        ([[1, 2], [3]], [0, 1], "inhomogeneous|lengths|2D|shape"),
        (np.ones((4, 2)), [0, 1, 0], "inconsistent|the same number of rows"),
    ],
    ids=["no rows", "no columns", "one row", "one class", "NaN label", "complex", "3-D", "1-D",
         "ragged", "lengths"],
)  # fmt: skip
def test_unlearnable_data_is_refused(name, X, y, words):
    with pytest.raises(ValueError, match=words):
        EVERY[name]().fit(X, y)


@every
def test_rows_at_predict_may_be_few_and_odd(name):
    X, y = table(0, n=80, K=2)
    model = EVERY[name]().fit(X, y)
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
    for odd in (np.nan, np.inf, -np.inf, 1e308, 5e-324):
        assert_sound(model, np.full((1, X.shape[1]), odd))


# --- under load ----------------------------------------------------------------------------------


@every
def test_eight_threads_predict_while_another_fits(name):
    X, y = table(0, n=400, K=2)
    model = EVERY[name](n_jobs=2).fit(X, y)
    expected = model.predict_proba(X)

    def predict(_):
        return [model.predict_proba(X) for _ in range(5)]

    with ThreadPoolExecutor(9) as pool:
        fits = pool.submit(lambda: [EVERY[name](n_jobs=2).fit(X, y).model_ for _ in range(3)])
        for answers in pool.map(predict, range(8)):
            for proba in answers:
                np.testing.assert_array_equal(proba, expected)
        for fitted in fits.result(timeout=120):
            assert_same_model(fitted, model.model_)


def threads_taken(seed):
    """Fits where joblib has its workers; how many threads a fit would take there."""
    from edgewise._boosting.threads import n_threads  # noqa: PLC0415 - runs in a worker

    X, y = table(seed, n=300, K=3)
    model = edgewise.AOSOLogitBoostClassifier(n_estimators=3).fit(X, y)
    return n_threads(None, 10**12), model.model_


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_gets_the_same_models(backend):
    answers = Parallel(n_jobs=2, backend=backend)(delayed(threads_taken)(s) for s in range(4))
    for seed, (_, model) in enumerate(answers):
        assert_same_model(model, threads_taken(seed)[1])


def test_workers_of_loky_share_the_cores():
    """joblib tells its workers how many threads each may take; we obey."""
    alone = threads_taken(0)[0]
    answers = Parallel(n_jobs=2, backend="loky")(delayed(threads_taken)(s) for s in range(2))
    assert all(threads <= max(1, alone // 2) for threads, _ in answers)
