"""How times and memory are taken.

Times of several contenders are interleaved (A B A B ...), so that a machine that slows down
slows all of them, and the median is reported. Peak memory is that of a fresh process with
nothing but one data set and one `fit`:

    python -m benchmarks.measure '{"contender": "lightgbm", "data": "letter", ...}'
"""

import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from . import report

PAUSE = 0.1  # seconds; worker threads of the library just measured come to rest
OTHERS = 0.1  # share of the cores that other programs may take before we say so


@dataclass(frozen=True)
class Job:
    """One fit, to be done in a process of its own."""

    contender: str
    data: str
    rounds: int
    leaves: int | None
    shrinkage: float | None
    threads: int
    params: dict[str, Any] = field(default_factory=dict)
    max_rows: int | None = None


@dataclass(frozen=True)
class Cost:
    """What one fit took: of the whole process `peak_mb`, of it `before_mb` before the fit."""

    seconds: float
    seconds_per_round: float
    before_mb: float
    peak_mb: float


def interleaved(tasks: dict[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """The seconds that each task returns, `repeats` times round and round."""
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            time.sleep(PAUSE)
            with noticing_others(name):
                taken[name].append(task())
    return taken


def in_fresh_process(job: Job) -> Cost:
    """Run `job` in a new interpreter and hand back what it cost."""
    command = [sys.executable, "-m", "benchmarks.measure", json.dumps(asdict(job))]
    with noticing_others(job.contender):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{job.contender} on {job.data} failed:\n{done.stderr}")
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


@contextlib.contextmanager
def noticing_others(what: str) -> Iterator[None]:
    """Print a note if other programs used the cores meanwhile: such a time is worth little."""
    start, busy = time.perf_counter(), busy_elsewhere()
    yield
    wall = time.perf_counter() - start
    share = (busy_elsewhere() - busy) / (wall * (os.cpu_count() or 1))
    if wall > 0.5 and share > OTHERS:  # the system counts in hundredths of a second
        report.note(f"other programs took {share:.0%} of the cores during {what}")


def median_cost(costs: list[Cost]) -> Cost:
    """The median of each figure."""
    rows = [asdict(cost) for cost in costs]
    return Cost(**{key: median(row[key] for row in rows) for key in rows[0]})


def run(job: Job) -> Cost:
    """Load, fit once, and look at the memory of this process."""
    from .contenders import contender
    from .datasets import load

    X, y = load(job.data, max_rows=job.max_rows)[:2]
    chosen = contender(job.contender, **job.params)
    _reset_peak()
    before = _status_mb("VmRSS")
    fitted = chosen.fit(
        X, y, rounds=job.rounds, leaves=job.leaves, shrinkage=job.shrinkage, threads=job.threads
    )
    peak = _status_mb("VmHWM")
    times = chosen.times_by_round(fitted)
    steady = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else times[0]
    return Cost(fitted.seconds, float(steady), before, peak)


def busy_elsewhere() -> float:
    """Seconds of processor time so far that neither we nor our children used; 0 if unknown."""
    try:
        fields = Path("/proc/stat").read_text().split(maxsplit=9)[1:9]
    except OSError:
        return 0.0
    user, nice, system, _idle, _waiting, irq, softirq, steal = map(int, fields)
    ticks = user + nice + system + irq + softirq + steal
    return ticks / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def _reset_peak() -> None:
    """Forget the peak of loading the data, where the system allows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _status_mb(key: str) -> float:
    """VmRSS (now) or VmHWM (peak) of this process; elsewhere than on Linux always the peak."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    line = next(line for line in lines if line.startswith(key))
    return int(line.split()[1]) / 2**10


if __name__ == "__main__":
    print(json.dumps(asdict(run(Job(**json.loads(sys.argv[1]))))))
