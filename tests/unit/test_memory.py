"""What `estimate_memory` promises is kept: peaks of real fits, each in a process of its own."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import edgewise
from edgewise import InvalidParameterError, estimate_memory

MAKE = {
    "aoso": lambda: edgewise.AOSOLogitBoostClassifier(n_estimators=2),
    "logitboost": lambda: edgewise.LogitBoostClassifier(n_estimators=2),
    "finer": lambda: edgewise.LogitBoostClassifier(n_estimators=2, max_bins=1020),
    "mart": lambda: edgewise.MARTClassifier(n_estimators=2, min_samples_leaf=1),
    "adaboost_mh": lambda: edgewise.AdaBoostMHClassifier(n_estimators=2),
    "samme": lambda: edgewise.SAMMEClassifier(n_estimators=2, random_state=0),
    "newton": lambda: edgewise.NewtonBoostClassifier(n_estimators=2),
    "softmax": lambda: edgewise.SoftmaxBoostClassifier(n_estimators=2, random_state=0),
}
# rows, features, classes, density
SIZES = {
    "long": (150_000, 10, 3, 1.0),
    "wide": (20_000, 150, 3, 1.0),
    "many classes": (80_000, 8, 20, 1.0),
    "sparse": (100_000, 2_000, 3, 0.01),
}

# Every fit is that of a forked child, whose peak begins at what the parent has already.
SCRIPT = """
import json, os, sys
import numpy as np
import scipy.sparse as sp
sys.path.insert(0, {tests!r})
from test_memory import MAKE

def status(key):
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(key)).split()[1])

n, d, K, density = {size!r}
rng = np.random.default_rng(0)
if density < 1:
    X = sp.random_array((n, d), density=density, format="csr", rng=rng)
    y = (10 * np.asarray(X[:, [0]].toarray())[:, 0] + rng.random(n) * K / 2).astype(int) % K
else:
    X = rng.normal(size=(n, d))
    y = (X[:, 0] * 2 + rng.random(n) * K / 2).astype(int) % K
MAKE["aoso"]().fit(X[:200], y[:200])  # whatever is loaded when first needed
for name in {names!r}:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        before = status("VmRSS")
        open("/proc/self/clear_refs", "w").write("5")
        MAKE[name]().set_params(n_jobs=2).fit(X, y)
        os.write(write, str(status("VmHWM") - before).encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
    print(json.dumps([name, int(os.read(read, 100))]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_the_bound_is_kept_and_not_far_off(size):
    n, d, K, density = size
    names = list(MAKE) if size == SIZES["long"] else ["aoso", "logitboost", "adaboost_mh", "samme"]
    script = SCRIPT.format(tests=str(__file__).rpartition("/")[0], size=size, names=names)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    measured = dict(map(json.loads, done.stdout.splitlines()))
    bounds = {
        name: estimate_memory(n, d, K, estimator=MAKE[name]().set_params(n_jobs=2), density=density)
        for name in names
    }
    ratios = {name: round(bounds[name] / measured[name], 2) for name in names}
    assert all(1.0 <= ratio <= 3.0 for ratio in ratios.values()), ratios


def test_more_of_anything_takes_more():
    base = estimate_memory(10_000, 20, 5)
    assert isinstance(base, int)
    for more in ((20_000, 20, 5), (10_000, 40, 5), (10_000, 20, 10)):
        assert estimate_memory(*more) > base
    assert estimate_memory(10_000, 2000, 5, density=0.01) < estimate_memory(10_000, 2000, 5)
    some, many = (edgewise.AOSOLogitBoostClassifier(n_estimators=n) for n in (500, 5000))
    fixed = estimate_memory(10_000, 20, 5, estimator=some)
    assert base > fixed  # rows are held out to find the number of rounds
    assert estimate_memory(10_000, 20, 5, estimator=many) > fixed
    held = edgewise.AOSOLogitBoostClassifier(n_estimators=500, early_stopping=True)
    assert estimate_memory(10_000, 20, 5, estimator=held) > fixed


@pytest.mark.parametrize("estimator", [*MAKE.values(), edgewise.MartiBoostClassifier])
def test_every_booster_has_an_estimate(estimator):
    assert estimate_memory(1000, 10, 2, estimator=estimator()) > 4 * 2**20


def test_soft_labels_are_copies():
    assert estimate_memory(3 * 1000, 10, 3) > estimate_memory(1000, 10, 3)


WRONG = [
    ((0, 10, 3), {}, "'n_rows'.*at least 1.*Got 0"),
    ((10, 0, 3), {}, "'n_features'.*at least 1.*Got 0"),
    ((10, 10, 1), {}, "'n_classes'.*at least 2.*Got 1"),
    ((10, 10, 3), {"density": 1.5}, "'density'.*at most 1.*Got 1.5"),
    ((10, 10, 3), {"density": 0.0}, "'density'.*above 0"),
    ((10, 10, 3), {"estimator": LogisticRegression()}, "booster of edgewise.*LogisticRegression"),
]


@pytest.mark.parametrize(("args", "kwargs", "words"), WRONG, ids=str)
def test_nonsense_is_refused(args, kwargs, words):
    with pytest.raises(InvalidParameterError, match=words):
        estimate_memory(*args, **kwargs)


def test_types_of_numbers():
    samme = edgewise.SAMMEClassifier()  # copies rows
    single = estimate_memory(100_000, 50, 3, estimator=samme, dtype=np.float32)
    assert single < estimate_memory(100_000, 50, 3, estimator=samme)
