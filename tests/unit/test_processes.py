"""Fits in processes that end early, may start no threads, or have little memory."""

import resource
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from edgewise import AOSOLogitBoostClassifier, LogitBoostClassifier

DAEMON = """
import threading, time
import numpy as np
from edgewise import LogitBoostClassifier
rng = np.random.default_rng(0)
X, y = rng.random((20000, 20)), rng.integers(0, 5, 20000)
fit = LogitBoostClassifier(n_estimators=100000, n_jobs=2).fit
threading.Thread(target=fit, args=(X, y), daemon=True).start()
time.sleep(1.0)
"""

FEW_THREADS = """
import resource
import numpy as np
from edgewise import LogitBoostClassifier
rng = np.random.default_rng(0)
X, y = rng.random((20000, 20)), rng.integers(0, 5, 20000)
LogitBoostClassifier(n_estimators=1, n_jobs=1).fit(X, y)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_STACK, (2**36, 2**36))  # of every thread that is started
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, used + 2**30))
model = LogitBoostClassifier(n_estimators=3, n_jobs=4).fit(X, y)
print(model.n_iter_)
"""


NO_THREADS = """
import threading
import numpy as np
from edgewise import AutoBoostClassifier
rng = np.random.default_rng(0)
X = rng.random((200, 3))
y = (X[:, 0] * 3).astype(int)
model = AutoBoostClassifier(effort="fast", n_jobs=1).fit(X, y)
begin, begun = threading._start_new_thread, []
def limited(*work):
    if len(begun) == {n}:
        raise RuntimeError("can't start new thread")
    begun.append(work)
    return begin(*work)
threading._start_new_thread = limited
again = AutoBoostClassifier(effort="fast", n_jobs=8).fit(X, y)
print(len(begun), again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes())
"""


def run(program):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )


def test_a_daemon_thread_in_fit_does_not_abort_the_exit():
    ended = run(DAEMON)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_fit_continues_with_fewer_threads_if_none_can_be_started():
    ended = run(FEW_THREADS)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["3"]


@pytest.mark.parametrize("n", [0, 2])
def test_members_go_on_with_fewer_threads_where_none_can_be_started(n):
    ended = run(NO_THREADS.replace("{n}", str(n)))
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == [str(n), "True"]


def test_a_sparse_row_of_many_columns_takes_little_memory():
    rng = np.random.default_rng(0)
    n, d = 200, 2**27
    columns = np.array([5, 1000, d - 1])
    values = rng.random((n, 3))
    place = (np.repeat(np.arange(n), 3), np.tile(columns, n))
    X = sparse.csr_matrix((values.ravel(), place), shape=(n, d))
    y = (values[:, 2] * 3).astype(int)
    narrow = AOSOLogitBoostClassifier(n_estimators=5).fit(values, y)
    model = narrow.__class__(n_estimators=5).fit(values, y)
    model.model_ = _spread(model.model_, columns, d)
    model.n_features_in_ = d
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    proba = model.predict_proba(X[:1])
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # kilobytes on Linux
    np.testing.assert_array_equal(proba, narrow.predict_proba(values[:1]))
    assert grown < 64 * 1024


def _spread(model, columns, n_features):
    """The model with its features at other columns of a wider matrix."""
    feature = np.where(model.feature >= 0, columns[model.feature], -1).astype(np.int32)
    arrays = model.arrays() | {"feature": feature}
    return type(model).from_arrays(arrays, n_features)


def test_predictions_from_wide_matrices_do_not_depend_on_how_rows_are_kept():
    rng = np.random.default_rng(1)
    X = np.where(rng.random((300, 6000)) < 0.01, rng.random((300, 6000)), 0.0)
    X[:, 5999] = rng.random(300)
    y = (X[:, 5999] * 3).astype(int)
    model = LogitBoostClassifier(n_estimators=5).fit(X, y)
    dense = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(sparse.csr_matrix(X)), dense)
    by_row = np.concatenate([model.predict_proba(row) for row in X[:, np.newaxis]])
    np.testing.assert_array_equal(by_row, dense)
