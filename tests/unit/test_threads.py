"""The thread pool: from several Python threads, after a fork, and how many threads are taken."""

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support import VARIANTS, assert_same_model, table

from edgewise import MARTClassifier, _core
from edgewise._boosting.threads import n_threads

X, Y = table(0, n=3000, K=5, d=6, missing=0.1)


def threads_of_this_process():
    return len(os.listdir("/proc/self/task"))


def threads_after_a_fit():
    before = threads_of_this_process()
    fit("mart", 3)
    return before, threads_of_this_process()


def fit(name, n_jobs):
    return VARIANTS[name](n_jobs=n_jobs, n_estimators=4, max_leaf_nodes=12).fit(X, Y).model_


@pytest.fixture(scope="module")
def serial():
    return {name: fit(name, 1) for name in VARIANTS}


def test_four_python_threads_fit_at_once(serial):
    names = [*VARIANTS, *VARIANTS]
    names += names[: -len(names) % 4]  # the barrier opens for four at a time
    start = threading.Barrier(4)

    def together(name):
        start.wait(timeout=60)
        return fit(name, 2)

    with ThreadPoolExecutor(4) as pool:
        for name, model in zip(names, pool.map(together, names), strict=True):
            assert_same_model(model, serial[name])


def test_python_threads_predict_from_one_model_at_once():
    model = MARTClassifier(n_estimators=20, n_jobs=2).fit(X, Y)
    expected = model.predict_proba(X)
    fresh = MARTClassifier(n_estimators=20, n_jobs=2).fit(X, Y)  # its forest is not built yet
    with ThreadPoolExecutor(4) as pool:
        for proba in pool.map(lambda _: fresh.predict_proba(X), range(8)):
            np.testing.assert_array_equal(proba, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12: threads and fork
class TestFork:
    """A child of fork has none of its parent's threads and starts its own."""

    def in_children(self, names):
        fork = multiprocessing.get_context("fork")
        with fork.Pool(2) as pool:
            return pool.starmap_async(fit, [(name, 3) for name in names]).get(timeout=120)

    def test_fit_in_the_child_after_a_fit_in_the_parent(self, serial):
        fit("mart", 4)  # the parent's pool is running
        names = ["mart", "abc_logitboost", "aoso_pair"]
        for name, model in zip(names, self.in_children(names), strict=True):
            assert_same_model(model, serial[name])
        assert_same_model(fit("mart", 4), serial["mart"])  # the parent's pool still works

    @pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads in /proc")
    def test_child_starts_threads_of_its_own(self):
        fit("mart", 3)
        with multiprocessing.get_context("fork").Pool(1) as pool:
            before, after = pool.apply_async(threads_after_a_fit).get(timeout=120)
        assert before == 1
        assert after == 3

    def test_fork_while_another_thread_is_fitting(self, serial):
        stop = threading.Event()

        def keep_fitting():
            while not stop.is_set():
                fit("aoso_vector", 4)

        busy = threading.Thread(target=keep_fitting)
        busy.start()
        try:
            for _ in range(3):
                (model,) = self.in_children(["logitboost"])
                assert_same_model(model, serial["logitboost"])
        finally:
            stop.set()
            busy.join(timeout=60)
        assert not busy.is_alive()


@pytest.fixture
def eight_cpus(monkeypatch):
    monkeypatch.setattr(_core, "available_cpus", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)


LARGE = 10**12


@pytest.mark.usefixtures("eight_cpus")
class TestNumberOfThreads:
    @pytest.mark.parametrize(
        ("n_jobs", "threads"),
        [(1, 1), (2, 2), (12, 12), (None, 8), (-1, 8), (-2, 7), (-8, 1), (-20, 1)],
    )
    def test_n_jobs_counts_as_in_joblib(self, n_jobs, threads):
        assert n_threads(n_jobs, LARGE) == threads

    def test_small_work_is_serial_unless_asked_for(self):
        assert n_threads(None, 0) == n_threads(None, 150 * 4 * 3) == 1
        assert n_threads(2, 0) == 2

    def test_threads_grow_with_the_work(self):
        counts = [n_threads(None, work) for work in np.logspace(2, 12, 50).astype(int)]
        assert counts == sorted(counts)
        assert set(counts) >= {1, 2, 8}

    @pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT"])
    def test_environment_limits_what_is_not_asked_for(self, name, monkeypatch):
        monkeypatch.setenv(name, "3")
        assert n_threads(None, LARGE) == n_threads(-1, LARGE) == 3
        assert n_threads(5, LARGE) == 5

    @pytest.mark.parametrize("value", ["", "0", "many", "-2", "4,2"])
    def test_unusable_limits_are_ignored(self, value, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert n_threads(None, LARGE) == 8


def test_small_fits_start_no_thread():
    """On small data everything stays on the calling thread."""
    code = """
import threading, os, numpy as np, edgewise
before = len(os.listdir("/proc/self/task"))
X = np.random.default_rng(0).normal(size=(150, 4))
model = edgewise.AOSOLogitBoostClassifier(n_estimators=3).fit(X, np.arange(150) % 3)
model.predict_proba(X)
print(len(os.listdir("/proc/self/task")) - before)
"""
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("needs /proc to count threads")
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert run.stdout.strip() == "0"


def test_available_cpus_respect_the_affinity():
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("needs sched_getaffinity")
    assert 1 <= _core.available_cpus() <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize("n_jobs", [3, 40])
def test_more_threads_than_work(n_jobs, make):
    few, labels = X[:7], np.array([0, 1, 0, 1, 2, 2, 0])
    assert_same_model(
        make(n_jobs=n_jobs).fit(few, labels).model_, make(n_jobs=1).fit(few, labels).model_
    )
