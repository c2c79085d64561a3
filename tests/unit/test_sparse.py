"""SciPy's sparse matrices and arrays: the model of the dense array, bit for bit."""

import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from support import VARIANTS, assert_same_model, uneven_weights

import edgewise
from edgewise import InvalidDataError, _core
from edgewise._data.chance import row_keys
from edgewise._data.sparse import SparseRows

MARTI = partial(edgewise.MartiBoostClassifier, n_layers=3, routing="random", random_state=0)
EVERY = VARIANTS | {"martiboost": MARTI}
every_variant = pytest.mark.parametrize("name", EVERY)
fast = partial(edgewise.LogitBoostClassifier, n_estimators=3, min_samples_leaf=1)


def sparse_table(seed, n=200, d=30, K=3, *, density=0.1, whole=False, missing=0.02):
    """X (n, d), mostly zeros, and labels that depend on some columns."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 5, size=(n, d)).astype(float) if whole else rng.normal(size=(n, d))
    X[rng.random((n, d)) >= density] = 0.0
    X[:, 0] = rng.normal(size=n)  # a column without zeros
    X[:, 1] = np.where(rng.random(n) < 0.1, 0.0, 3.0)  # zero is not the most frequent value
    X[:, 2] = 0.0
    score = X @ rng.normal(size=(d, K)) * 2 + rng.gumbel(size=(n, K))
    y = score.argmax(axis=1)
    y[:K] = np.arange(K)
    X[rng.random((n, d)) < missing * density] = np.nan
    return X, y


# --- the same model -------------------------------------------------------------------------------


@every_variant
@pytest.mark.parametrize("density", [0.02, 0.1, 0.6])
def test_every_estimator_learns_the_model_of_the_dense_array(name, density):
    X, y = sparse_table(0, K=2 if name == "martiboost" else 3, density=density)
    dense = EVERY[name]().fit(X, y)
    model = EVERY[name]().fit(sp.csr_array(X), y)
    assert_same_model(model.model_, dense.model_)
    expected = dense.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(sp.csr_array(X)), expected)
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    np.testing.assert_array_equal(dense.predict(sp.csc_matrix(X)), dense.predict(X))


@pytest.mark.parametrize("name", ["logitboost", "aoso_pair", "mh_tree", "samme"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_wide_tables(name, n_jobs):
    """More columns than rows, so that most of them cannot be split in most nodes."""
    X, y = sparse_table(1, n=300, d=900, density=0.03)
    w = uneven_weights(0, len(y))
    make = partial(EVERY[name], n_estimators=3, min_samples_leaf=4, max_leaf_nodes=8)
    dense = make(n_jobs=1).fit(X, y, w)
    assert_same_model(make(n_jobs=n_jobs).fit(sp.csr_array(X), y, w).model_, dense.model_)


def test_many_rows_on_several_threads():
    X, y = sparse_table(2, n=40_000, d=12, density=0.05)
    make = partial(edgewise.LogitBoostClassifier, n_estimators=2, max_leaf_nodes=6)
    dense = make(n_jobs=1).fit(X, y)
    model = make(n_jobs=2).fit(sp.csr_array(X), y)
    assert_same_model(model.model_, dense.model_)
    np.testing.assert_array_equal(model.predict_proba(sp.csr_array(X)), dense.predict_proba(X))


@pytest.mark.parametrize("name", ["samme", "mh_tree"])
@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("categorical", [[], [3, 4]])
def test_nodes_of_few_rows(name, splitter, categorical):
    """Dense data: they have no histograms. Lists of rows: all nodes have. Small and large nodes."""
    X, y = sparse_table(5, n=3000, d=9, K=5, density=0.2, missing=0.1, whole=True)
    X[:, 6:9] *= np.random.default_rng(5).random((len(X), 3))  # many bins
    make = partial(EVERY[name], n_estimators=3, max_leaf_nodes=150, random_state=0)
    make = partial(make, splitter=splitter, categorical_features=categorical)
    dense = make(n_jobs=2).fit(X, y)
    assert_same_model(make(n_jobs=1).fit(sp.csr_array(X), y).model_, dense.model_)


FORMATS = [
    *(getattr(sp, f"{kind}_array") for kind in ("csr", "csc", "coo", "lil", "dok", "bsr")),
    *(getattr(sp, f"{kind}_matrix") for kind in ("csr", "csc", "coo")),
]


@pytest.mark.parametrize("make", FORMATS, ids=lambda f: f.__name__)
def test_formats(make):
    X, y = sparse_table(3, missing=0.0)
    expected = fast().fit(X, y)
    model = fast().fit(make(X), y)
    assert_same_model(model.model_, expected.model_)
    np.testing.assert_array_equal(model.predict_proba(make(X)), expected.predict_proba(X))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32, ">f8", ">i4"])
def test_types(dtype):
    X, y = sparse_table(4, whole=True, missing=0.0)
    X = X.astype(dtype)
    given = sp.csr_array(X.astype(np.dtype(dtype).newbyteorder("=")))
    if isinstance(dtype, str):
        given.data = given.data.astype(dtype)
    assert_same_model(fast().fit(given, y).model_, fast().fit(X, y).model_)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_index_types(index):
    X, y = sparse_table(5)
    given = sp.csr_array(X)
    given.indices, given.indptr = given.indices.astype(index), given.indptr.astype(index)
    assert_same_model(fast().fit(given, y).model_, fast().fit(X, y).model_)


def test_stored_zeros_equal_absent_entries():
    X, y = sparse_table(6, missing=0.0)
    listed = sp.csr_array(np.where(X == 0, 7.0, X))
    listed.data[listed.data == 7.0] = 0.0
    listed.data[::2] *= 1.0
    assert listed.nnz == X.size
    assert_same_model(fast().fit(listed, y).model_, fast().fit(X, y).model_)


def test_minus_zero_is_zero():
    X, y = sparse_table(6, missing=0.0)
    given = sp.csr_array(X)
    given.data[0] = -0.0
    X[given.nonzero()[0][0], 0] = given.toarray()[0, 0]
    assert_same_model(fast().fit(given, y).model_, fast().fit(given.toarray(), y).model_)


def test_entries_out_of_order_and_twice():
    X, y = sparse_table(7, missing=0.0)
    row, column = np.nonzero(X)
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(len(row)), 2))
    given = sp.coo_array((X[row, column][order] / 2, (row[order], column[order])), shape=X.shape)
    indptr = np.concatenate([[0], np.bincount(row[order], minlength=len(X)).cumsum()])
    by_row = np.argsort(row[order], kind="stable")
    unsorted = sp.csr_array(X.shape)
    unsorted.data, unsorted.indices = given.data[by_row], given.coords[1][by_row].astype(np.int32)
    unsorted.indptr = indptr.astype(np.int32)
    before = unsorted.indices.copy()
    expected = fast().fit(X, y)
    assert_same_model(fast().fit(given, y).model_, expected.model_)
    assert_same_model(fast().fit(unsorted, y).model_, expected.model_)
    np.testing.assert_array_equal(unsorted.indices, before)  # what was given stays as it was


def test_infinite_values_and_nan():
    X, y = sparse_table(8)
    X[:5, 3], X[5:9, 3], X[9:30, 3] = np.inf, -np.inf, np.nan
    model, dense = fast().fit(sp.csr_array(X), y), fast().fit(X, y)
    assert_same_model(model.model_, dense.model_)
    np.testing.assert_array_equal(model.predict_proba(sp.csr_array(X)), dense.predict_proba(X))


@pytest.mark.parametrize("name", ["logitboost", "aoso_vector", "samme", "mh_tree"])
def test_categories(name):
    X, y = sparse_table(9, whole=True)
    make = partial(EVERY[name], categorical_features=[3, 4, 5])
    model, dense = make().fit(sp.csr_array(X), y), make().fit(X, y)
    assert_same_model(model.model_, dense.model_)
    assert len(model.model_.set_start) > 1
    np.testing.assert_array_equal(model.predict_proba(sp.csr_array(X)), dense.predict_proba(X))


def test_many_categories():
    rng = np.random.default_rng(10)
    code = rng.integers(400, size=3000)
    X = np.column_stack([code, np.where(rng.random(3000) < 0.9, 0, rng.normal(size=3000))])
    y = (code % 2) ^ (rng.random(3000) < 0.1)
    make = partial(fast, categorical_features=[0])
    once = make(n_estimators=4).fit(X, y)
    assert_same_model(make(n_estimators=4).fit(sp.csr_array(X), y).model_, once.model_)
    assert np.diff(once.model_.set_start).max() > 30
    twice = make(n_estimators=2, warm_start=True).fit(sp.csr_array(X), y)
    assert_same_model(twice.set_params(n_estimators=4).fit(sp.csr_array(X), y).model_, once.model_)


# --- the rest of a fit ----------------------------------------------------------------------------


def test_validation_and_warm_start():
    X, y = sparse_table(11, n=300)
    S = sp.csr_array(X)
    dense = fast(n_estimators=6).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    model = fast(n_estimators=6).fit(S[:200], y[:200], X_val=S[200:], y_val=y[200:])
    assert_same_model(model.model_, dense.model_)
    np.testing.assert_array_equal(
        model.history_["validation_score"], dense.history_["validation_score"]
    )
    twice = fast(n_estimators=2, warm_start=True).fit(S, y).set_params(n_estimators=4).fit(S, y)
    assert_same_model(twice.model_, fast(n_estimators=4).fit(X, y).model_)


def test_held_out_rows_and_weightless_rows():
    X, y = sparse_table(12, n=300)
    w = uneven_weights(1, 300)
    w[::5] = 0.0
    make = partial(fast, early_stopping=True, random_state=0)
    assert_same_model(make().fit(sp.csr_array(X), y, w).model_, make().fit(X, y, w).model_)


def test_soft_labels():
    X, _ = sparse_table(13)
    q = np.random.default_rng(0).dirichlet(np.ones(3), size=len(X))
    assert_same_model(fast().fit(sp.csr_array(X), q).model_, fast().fit(X, q).model_)


def test_staged_predictions_and_suspicious_rows():
    X, y = sparse_table(14)
    S = sp.csr_array(X)
    model = fast().fit(S, y)
    for mine, dense in zip(
        model.staged_predict_proba(S), model.staged_predict_proba(X), strict=True
    ):
        np.testing.assert_array_equal(mine, dense)
    found = edgewise.suspicious_rows(model, S, y)
    np.testing.assert_array_equal(found.score, edgewise.suspicious_rows(model, X, y).score)


@pytest.mark.parametrize("make", [edgewise.AdaBoostMHClassifier, edgewise.SAMMEClassifier])
@pytest.mark.parametrize("base", [LogisticRegression(), DecisionTreeClassifier(max_depth=2)])
def test_base_learners_of_other_libraries(make, base):
    X, y = sparse_table(15, missing=0.0)
    model = make(base=base, n_estimators=3, random_state=0).fit(sp.csr_array(X), y)
    dense = make(base=base, n_estimators=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(sp.csr_array(X)), dense.predict_proba(X))


def test_frames_of_sparse_columns():
    X, y = sparse_table(16)
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X))
    frame.columns = [f"c{j}" for j in range(X.shape[1])]
    model, dense = fast().fit(frame, y), fast().fit(X, y)
    assert_same_model(model.model_, dense.model_)
    assert model.feature_names_in_[0] == "c0"
    np.testing.assert_array_equal(model.predict(frame), dense.predict(X))
    ones = {c: pd.arrays.SparseArray(X[:, j], fill_value=1.0) for j, c in enumerate(frame)}
    others = pd.DataFrame(ones)
    assert_same_model(fast().fit(others, y).model_, dense.model_)


def test_nothing_is_made_dense(monkeypatch):
    for kind in (sp.csr_array, sp.csc_array, sp.csr_matrix):
        monkeypatch.setattr(kind, "toarray", lambda self, *a, **k: pytest.fail("made dense"))
        monkeypatch.setattr(kind, "todense", lambda self, *a, **k: pytest.fail("made dense"))
    S = sp.random_array((500, 300_000), density=1e-4, format="csr", rng=np.random.default_rng(0))
    y = np.arange(500) % 3
    model = fast(n_estimators=2).fit(S, y)
    assert model.predict_proba(S).shape == (500, 3)
    data = _core.BinnedData(SparseRows.of(S), None, 255, 1)
    assert data.n_bytes < 4_000_000  # dense: 150 000 000


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("density", [0.03, 0.3, 0.9])
def test_bins_are_those_of_the_dense_array(density):
    X, _ = sparse_table(17, n=100, d=8, density=density)
    w = uneven_weights(2, 100)
    for weights in (None, w):
        dense = _core.BinnedData(X, weights, 6, 1, [3])
        data = _core.BinnedData(SparseRows.of(sp.csr_array(X)), weights, 6, 2, [3])
        assert data.sparse == dense.sparse
        for f in range(8):
            assert data.cuts(f) == dense.cuts(f)
            assert [data.code(i, f) for i in range(100)] == [dense.code(i, f) for i in range(100)]


@pytest.mark.parametrize("density", [0.03, 0.3, 0.9])
def test_histograms_are_those_of_the_dense_array(density):
    X, _ = sparse_table(18, n=100, d=8, density=density)
    rows = np.arange(0, 100, 3, dtype=np.uint32)
    stats = np.random.default_rng(0).integers(1, 1000, size=len(rows))
    dense = _core.BinnedData(X, None, 6, 1)
    data = _core.BinnedData(SparseRows.of(sp.csr_array(X)), None, 6, 1)
    expected = _core.testing.histogram(dense, rows, stats, True)
    for naive in (True, False):
        np.testing.assert_array_equal(_core.testing.histogram(data, rows, stats, naive), expected)


def test_keys_of_rows_are_those_of_the_dense_array():
    X, y = sparse_table(19)
    X[0, 3] = -0.0
    S = SparseRows.of(sp.csr_array(X))
    np.testing.assert_array_equal(row_keys(S, y), row_keys(X, y))
    np.testing.assert_array_equal(row_keys(y, S), row_keys(y, X))
    assert len(np.unique(row_keys(X))) == len(np.unique(X, axis=0))


def test_rows_can_be_taken():
    X, _ = sparse_table(20, n=20, d=5)
    S = SparseRows.of(sp.csr_array(X))
    assert len(S) == 20
    assert S.shape == (20, 5)
    for which in (np.array([3, 1, 1]), X[:, 0] > 0, slice(2, 5)):
        np.testing.assert_array_equal(S[which].scipy().toarray(), X[which])
    np.testing.assert_array_equal(S.column(3), X[:, 3])
    changed = S.with_column(3, np.arange(20.0)).scipy().toarray()
    np.testing.assert_array_equal(changed[:, 3], np.arange(20))
    np.testing.assert_array_equal(np.delete(changed, 3, axis=1), np.delete(X, 3, axis=1))


BROKEN = {
    "column too large": ([0, 5], [0, 1, 2]),
    "column negative": ([0, -1], [0, 1, 2]),
    "out of order": ([1, 0], [0, 2, 2]),
    "twice": ([1, 1], [0, 2, 2]),
    "rows backwards": ([0, 1], [0, 2, 1]),
    "too many entries": ([0, 1], [0, 1, 3]),
    "no first row": ([0, 1], [1, 1, 2]),
    "nothing": ([0, 1], []),
}


@pytest.mark.parametrize(("indices", "indptr"), BROKEN.values(), ids=BROKEN)
def test_invalid_csr_is_refused(indices, indptr):
    arrays = np.ones(2), np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int64)
    with pytest.raises(ValueError, match="canonical CSR"):
        _core.SparseMatrix(*arrays, 3)


def test_complex_numbers_are_refused():
    X, y = sparse_table(21)
    with pytest.raises(ValueError, match="[Cc]omplex"):
        fast().fit(sp.csr_array(X.astype(complex)), y)


def test_other_widths_and_models_of_frames_are_refused():
    X, y = sparse_table(22)
    with pytest.raises(ValueError, match="29 features"):
        fast().fit(sp.csr_array(X), y).predict(sp.csr_array(X[:, 1:]))
    text = fast().fit(pd.DataFrame({"c": ["a", "b"] * 10}), [0, 1] * 10)
    with (
        pytest.raises(InvalidDataError, match="data frame.*sparse"),
        pytest.warns(UserWarning, match="feature names"),
    ):
        text.predict(sp.csr_array(np.ones((2, 1))))


# --- wide matrices ----------------------------------------------------------------------------


def processor_seconds(work):
    """The least of three: other programs take turns with us."""

    def once():
        begin = time.process_time()
        work()
        return time.process_time() - begin

    return min(once() for _ in range(3))


def test_columns_without_entries_cost_little():
    """A matrix of 300 rows and 2^27 columns took minutes: 2.5 us for each column of nothing."""
    n_columns = 2**19
    words = [f"{v:.9f}" for v in np.random.default_rng(0).random(n_columns)]
    rows = SparseRows.of(sp.csr_array(([1.0, 2.0], ([0, 7], [3, 9])), shape=(300, n_columns)))
    binning = processor_seconds(lambda: _core.BinnedData(rows, None, 255, 1, [], []))
    assert binning < processor_seconds(lambda: sorted(words))  # half of it; it was twice as much


@pytest.mark.parametrize("name", ["mart", "aoso_vector", "mh_tree", "newton_boost"])
def test_columns_without_entries_change_nothing(name):
    X, y = sparse_table(23)
    wide = sp.hstack([sp.csr_array(X), sp.csr_array((len(X), 2000))], format="csr")
    one, other = (VARIANTS[name]().fit(rows, y) for rows in (sp.csr_array(X), wide))
    cuts = [model.model_.arrays()["threshold"].tobytes() for model in (one, other)]
    assert cuts[0] == cuts[1]
    assert one.predict_proba(sp.csr_array(X)).tobytes() == other.predict_proba(wide).tobytes()
