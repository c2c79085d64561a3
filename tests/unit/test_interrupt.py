"""Ctrl-C during a fit: KeyboardInterrupt within a second, nothing fitted, nothing left running.

One child process takes fits to do, line by line, and is sent real signals. The second is one of
processor time for each thread, so that other work on the machine does not count.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

CHILD = """
import json, sys, time
import numpy as np
import edgewise

rng = np.random.default_rng(0)
for line in sys.stdin:
    name, n_rows, n_classes, parameters = json.loads(line)
    X = np.repeat(rng.normal(size=(n_rows // 2, 5)), 2, axis=0)
    y = rng.integers(n_classes, size=n_rows)
    model = getattr(edgewise, name)(n_estimators=10**6, **parameters)
    print("fitting", flush=True)
    try:
        print("kept", model.fit(X, y).n_iter_ > 0, model.stop_reason_, flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    before = time.process_time()
    print(before, flush=True)
    time.sleep(0.2)
    print(time.process_time() - before, flush=True)
    print(sorted(name for name in vars(model) if name.endswith("_")), flush=True)
    model.set_params(n_estimators=2, max_leaf_nodes=3)
    print(model.fit(X[:50], y[:50] % 3).n_iter_, flush=True)
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")


class Child:
    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.strip())

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        return self._lines.get(timeout=60)

    def processor_time(self):
        spent = psutil.Process(self.process.pid).cpu_times()
        return spent.user + spent.system


@pytest.fixture(scope="module")
def child():
    child = Child()
    yield child
    child.process.stdin.close()
    try:
        assert child.process.wait(timeout=60) == 0
        assert child.process.stderr.read() == ""
    finally:
        child.process.kill()
        child.process.stdout.close()
        child.process.stderr.close()


def interrupt(child, name, n_rows, n_classes, after, **parameters):
    """Return the processor time that a fit takes to stop; check that it stops well.

    Every row is there twice with random labels, so no fit learns them all and ends by itself.
    """
    child.ask(json.dumps([name, n_rows, n_classes, parameters]))
    assert child.answer() == "fitting"
    time.sleep(after)
    sent = child.processor_time()
    child.process.send_signal(signal.SIGINT)
    kept = parameters.get("on_interrupt") == "keep"
    assert child.answer() == ("kept True interrupted" if kept else "interrupted")
    seconds = float(child.answer()) - sent
    busy, attributes, rounds = float(child.answer()), child.answer(), child.answer()
    assert busy < 0.1  # no thread goes on working
    assert rounds == "2"  # estimator and pool are as good as new
    assert ("model_" in attributes) if kept else (attributes == "[]")  # nothing half-fitted
    return seconds


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("name", "n_rows"),
    [
        ("LogitBoostClassifier", 300),
        ("LogitBoostClassifier", 40_000),
        ("ABCMARTClassifier", 5_000),
        ("AOSOLogitBoostClassifier", 300),
        ("AOSOLogitBoostClassifier", 40_000),
        ("AdaBoostMHClassifier", 300),
        ("AdaBoostMHClassifier", 40_000),
        ("SAMMEClassifier", 40_000),
        ("SoftmaxBoostClassifier", 40_000),
    ],
)
def test_fit_of_many_short_rounds(child, name, n_rows, n_jobs):
    assert interrupt(child, name, n_rows, 6, after=0.2, n_jobs=n_jobs) < n_jobs


@pytest.mark.parametrize(
    "name", ["LogitBoostClassifier", "AOSOLogitBoostClassifier", "AdaBoostMHClassifier"]
)
def test_interrupted_rounds_can_be_kept(child, name):
    assert interrupt(child, name, 2000, 4, after=0.4, on_interrupt="keep", n_jobs=1) < 1.0


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("name", "n_rows", "n_classes", "parameters"),
    [
        ("ABCLogitBoostClassifier", 40_000, 60, {"search": "exhaustive"}),  # 1770 trees a round
        ("LogitBoostClassifier", 800_000, 4, {"max_leaf_nodes": None, "min_samples_leaf": 1}),
        ("AOSOLogitBoostClassifier", 800_000, 4, {"max_leaf_nodes": None, "min_samples_leaf": 1}),
        ("AdaBoostMHClassifier", 400_000, 20, {"max_leaf_nodes": None}),
        ("AdaBoostMHClassifier", 400_000, 20, {"max_leaf_nodes": None, "base": "one_vs_all"}),
        ("SAMMEClassifier", 800_000, 20, {"max_leaf_nodes": None}),
    ],
)
def test_round_of_several_seconds(child, name, n_rows, n_classes, parameters, n_jobs):
    """The core is asked to stop from within one call."""
    seconds = interrupt(child, name, n_rows, n_classes, after=0.9, n_jobs=n_jobs, **parameters)
    assert seconds < n_jobs
