"""Sparse matrices whose arrays lead outside of them, or are changed while they are read."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import edgewise
from edgewise import InvalidDataError
from edgewise._data.features import need_few_columns
from edgewise._data.folds import content_folds

N, D = 40, 6
RNG = np.random.default_rng(0)
DENSE = np.where(RNG.random((N, D)) < 0.5, RNG.normal(size=(N, D)), 0.0)
LABELS = (DENSE[:, 0] > 0).astype(int)
LABELS[:2] = 0, 1


def fast():
    return edgewise.LogitBoostClassifier(n_estimators=3, min_samples_leaf=1)


def bsr():
    return sp.bsr_array(sp.csr_array(DENSE), blocksize=(2, 2))


def edited(make, array, at, value, dtype=None):
    """A matrix with one number of one of its arrays changed."""

    def matrix():
        X = make()
        changed = np.array(getattr(X, array), dtype=dtype)
        changed[at] = value
        setattr(X, array, changed)
        return X

    return matrix


def csr():
    return sp.csr_array(DENSE)


def csc():
    return sp.csc_array(DENSE)


def with_canonical_flag():
    """SciPy remembers that a matrix was canonical."""
    X = csr()
    assert X.has_canonical_format
    X.indices[3] = 10**8
    return X


def coo(axis, value):
    X = sp.coo_array(DENSE)
    places = [np.array(c) for c in X.coords]
    places[axis][2] = value
    X.coords = tuple(places)
    return X


def lil(*, values):
    X = sp.lil_array(DENSE)
    (X.data if values else X.rows)[3] = [1] * 500
    return X


def longer(array):
    X = csr()
    setattr(X, array, np.concatenate([getattr(X, array)[:-1], [10**6, 10**9]]).astype(np.int32))
    return X


BAD = {
    "a start beyond the entries": edited(csr, "indptr", 3, 10**8),
    "a negative start": edited(csr, "indptr", 3, -(10**8)),
    "starts that fall": edited(csr, "indptr", 3, 0),
    "a first start that is not zero": edited(csr, "indptr", 0, 1),
    "a last start beyond the entries": edited(csr, "indptr", -1, 10**8),
    "starts of floats": edited(csr, "indptr", 3, 2.5, float),
    "a start of 64 bits": edited(csr, "indptr", 3, 2**40, np.int64),
    "an unsigned start": edited(csr, "indptr", 3, 2**64 - 1, np.uint64),
    "too many starts": lambda: longer("indptr"),
    "a column beyond the last": edited(csr, "indices", 3, D),
    "a column far away": edited(csr, "indices", 3, 10**8),
    "a negative column": edited(csr, "indices", 3, -1),
    "a column that is another one in 32 bits": edited(csr, "indices", 3, 2**32 + 1, np.int64),
    "an unsigned column": edited(csr, "indices", 3, 2**64 - 1, np.uint64),
    "columns of floats": edited(csr, "indices", 3, 1.5, float),
    "a column changed after SciPy looked": with_canonical_flag,
    "CSC, a start beyond the entries": edited(csc, "indptr", 3, 10**8),
    "CSC, a row beyond the last": edited(csc, "indices", 3, 10**8),
    "CSC, a row that is another one in 32 bits": edited(csc, "indices", 3, 2**32 + 1, np.int64),
    "BSR, a start beyond the entries": edited(bsr, "indptr", 3, 10**8),
    "BSR, a column beyond the last": edited(bsr, "indices", 1, 10**8),
    "COO, a row beyond the last": lambda: coo(0, 10**8),
    "COO, a negative row": lambda: coo(0, -5),
    "COO, a column beyond the last": lambda: coo(1, 10**8),
    "LIL, more values than columns": lambda: lil(values=True),
    "LIL, more columns than values": lambda: lil(values=False),
}


@pytest.fixture(params=BAD)
def bad(request):
    return BAD[request.param]()


def test_fit_refuses_them(bad):
    with pytest.raises(InvalidDataError, match="indptr rises from 0"):
        fast().fit(bad, LABELS)


def test_predict_refuses_them(bad):
    model = fast().fit(DENSE, LABELS)
    with pytest.raises(InvalidDataError, match="indptr rises from 0"):
        model.predict_proba(bad)


def test_indicator_matrices_refuse_them(bad):
    boost = edgewise.AdaBoostMHClassifier(n_estimators=3)
    with pytest.raises(InvalidDataError, match="y must be a sparse matrix"):
        boost.fit(DENSE, bad)


def test_the_unchanged_ones_are_right():
    expected = fast().fit(DENSE, LABELS).predict_proba(DENSE)
    for X in (csr(), csc(), bsr(), sp.coo_array(DENSE), sp.lil_array(DENSE), sp.dia_array(DENSE)):
        np.testing.assert_array_equal(fast().fit(X, LABELS).predict_proba(X), expected)


def test_more_columns_than_32_bits_are_refused():
    X = sp.csr_array((3, 2**31))
    with pytest.raises(InvalidDataError, match="at most 134217728 columns"):
        fast().fit(X, [0, 1, 0])


@pytest.mark.parametrize("X", [sp.csr_array((4, 2**27 + 1)), np.zeros((4, 0), dtype=np.int8)])
def test_more_columns_than_a_model_can_have_are_refused(X):
    if not sp.issparse(X):
        X = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), (4, 2**27 + 1), (0, 0))
    with pytest.raises(InvalidDataError, match="at most 134217728 columns"):
        fast().fit(X, [0, 1, 0, 1])


def test_more_columns_than_the_machine_has_room_for_are_refused():
    X = sp.csr_array((4, 2**20))
    need_few_columns(X, 2**30)
    with pytest.raises(InvalidDataError, match="for each column.*1048576 columns.*64 MB"):
        need_few_columns(X, 2**26)


def test_vectors_are_refused():
    with pytest.raises(InvalidDataError, match="two dimensions"):
        fast().fit(sp.coo_array(np.arange(3.0)), [0, 1, 0])


# --- changed while they are read ------------------------------------------------------------------

CHANGING = """
import sys, threading, warnings
import numpy as np, scipy.sparse as sp
import edgewise
warnings.simplefilter("ignore")
name, kind = sys.argv[1:]
rng = np.random.default_rng(0)
n, d = 20000, 12
X = np.where(rng.random((n, d)) < 0.5, rng.normal(size=(n, d)), 0.0)
y = rng.integers(3, size=n)
make = getattr(edgewise, name)
fast = lambda: make(n_estimators=2, max_leaf_nodes=4, n_jobs=2)
model = fast().fit(X, y)
given = sp.csr_array(X) if kind == "sparse" else X.copy()
done = False

def change():
    flip = 0
    while not done:
        flip = 1 - flip
        if kind == "sparse":
            given.indices[::7] = 10**8 * flip
            given.indptr[1:-1:5] = 10**8 * flip
        else:
            given[::7, ::2] = np.nan if flip else 3.0

changer = threading.Thread(target=change)
changer.start()
for _ in range(30):
    try:
        fast().fit(given, y)
        model.predict_proba(given)
    except edgewise.InvalidDataError:
        pass
done = True
changer.join()
print("survived")
"""


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("name", ["LogitBoostClassifier", "AOSOLogitBoostClassifier"])
def test_a_matrix_changed_by_another_thread_is_safe(name, kind):
    command = [sys.executable, "-c", CHANGING, name, kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "survived"


def test_folds_leave_the_matrix_as_it_was():
    X = csr()
    X.indices, X.data = np.array(X.indices), np.array(X.data)
    X.indices[:2], X.data[5] = X.indices[0], 0.0  # an entry twice, and a zero that is listed
    before = X.indices.copy(), X.data.copy()
    content_folds(X, LABELS, 3)
    np.testing.assert_array_equal(X.indices, before[0])
    np.testing.assert_array_equal(X.data, before[1])
