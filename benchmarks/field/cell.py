"""One cell of the field: a contender on a split of a table, in a process of its own.

    python -m benchmarks.field.cell '{"contender": "lightgbm", "table": "dry_bean", ...}'

prints one line of JSON.
"""

import contextlib
import gc
import hashlib
import json
import os
import subprocess
import sys
import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edgewise
from edgewise.comparison._features import features_of
from edgewise.comparison._methods import Setting
from edgewise.metrics import brier_score, log_loss

from ..measure import PAUSE, busy_elsewhere
from .cells import Job
from .contenders import EDGEWISE, contender
from .tables import load_split

LEAST = 1e-15  # probability; a smaller one counts as that


def missing(name: str, python: str = sys.executable) -> str | None:
    """Why `python` cannot run a contender, or None."""
    if python == sys.executable:
        return contender(name).missing()
    ask = "print(contender(sys.argv[1]).missing() or '')"
    code = f"import sys; from benchmarks.field.contenders import contender; {ask}"
    done = subprocess.run([python, "-c", code, name], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"its interpreter says {_last_line(done)}"
    return done.stdout.strip() or None


def in_fresh_process(job: Job, timeout: float, python: str = sys.executable) -> dict[str, Any]:
    """The figures of a cell; `failed` says why there are none."""
    command = [python, "-m", "benchmarks.field.cell", json.dumps(asdict(job))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {timeout:g} s"}
    if done.returncode != 0:
        return {"failed": _last_line(done)[:300]}
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def run(job: Job) -> dict[str, Any]:
    """Fit, predict and judge."""
    split = load_split(job.table, job.seed, job.max_rows)
    train, test = features_of([split.X_train, split.X_test])
    chosen = contender(job.contender, job.params)
    setting = Setting(job.seed, job.threads, None, chosen.params)
    chosen.warm_up(job.threads)
    gc.collect()
    time.sleep(PAUSE)
    busy, begin, begin_cpu = busy_elsewhere(), time.perf_counter(), time.process_time()
    model = chosen.method.fit(train, split.y_train, setting)
    fitted, fitted_cpu = time.perf_counter(), time.process_time()
    proba = chosen.method.predict_proba(model, test, setting)
    done = time.perf_counter()
    elsewhere = (busy_elsewhere() - busy) / ((done - begin) * (os.cpu_count() or 1))
    return {
        "version": version(job.contender),
        "n_train": len(split.y_train),
        "n_test": len(split.y_test),
        "features": split.X_train.shape[1],
        "text": int(train.categorical.sum()),
        "classes": int(split.y_train.max()) + 1,
        **judged(split.y_test, proba),
        "fit_seconds": fitted - begin,
        "predict_seconds": done - fitted,
        "fit_cpu_seconds": fitted_cpu - begin_cpu,
        "others": round(max(elsewhere, 0.0), 3),  # share of the cores that other programs took
        **({"rounds": _rounds(model)} if job.contender in EDGEWISE else {}),
    }


def judged(truth: NDArray[Any], proba: NDArray[Any]) -> dict[str, float]:
    """Wrong rows and losses; probabilities are at least 1e-15 and sum to one."""
    chances = np.asarray(proba, dtype=np.float64)
    if not np.isfinite(chances).all():
        raise ValueError("probabilities that are not finite")
    chances = np.clip(chances, LEAST, None)
    chances /= chances.sum(axis=1, keepdims=True)
    classes = np.arange(chances.shape[1])
    return {
        "wrong": int(np.count_nonzero(np.asarray(proba).argmax(axis=1) != truth)),
        "log_loss": log_loss(truth, chances, classes=classes),
        "brier": brier_score(truth, chances, classes=classes),
    }


def version(name: str) -> str:
    """Library and version; ours with a hash of its files, which change between versions."""
    given = contender(name).method.version()
    return f"{given} {_build()}" if given.startswith("edgewise") else given


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]


def _build() -> str:
    digest = hashlib.sha256()
    folder = Path(edgewise.__file__).parent
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".so"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def _rounds(model: Any) -> int | None:
    return getattr(model, "n_estimators_", None)


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figures = run(Job(**json.loads(sys.argv[1])))
    print(json.dumps(figures))
