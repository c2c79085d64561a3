"""The number of threads of a fit or a prediction."""

import os

from .. import _core

_WORK_PER_THREAD = 50_000  # row-feature-class products below which a second thread is not worth it
_MOST = 513  # the pool never has more helpers than 512


def n_threads(n_jobs: int | None, work: int) -> int:
    """Threads for `n_jobs` as joblib counts them; None means all CPUs this process may use.

    Small work stays on one thread. The model does not depend on the number.
    """
    if n_jobs is None and work < 2 * _WORK_PER_THREAD:
        return 1  # without querying the available CPUs, which takes longer than one row
    cpus = _limit(_core.available_cpus())
    if n_jobs is None:
        return max(1, min(cpus, work // _WORK_PER_THREAD))
    return max(1, cpus + 1 + n_jobs) if n_jobs < 0 else min(n_jobs, _MOST)


def _limit(cpus: int) -> int:
    """The limit that joblib sets for the inner threads of its workers."""
    for name in ("LOKY_MAX_CPU_COUNT", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > 0:
            cpus = min(cpus, int(value))
    return cpus
