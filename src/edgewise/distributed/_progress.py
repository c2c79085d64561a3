"""Progress of a fit on a cluster beyond rounds and loss."""

import sys
import time
from dataclasses import asdict
from typing import Any

from .._boosting.loop import Builder, History, Watcher
from ._asker import Traffic
from ._backend import Backend
from ._settings import Settings


class TrafficWatcher(Watcher):
    """With ``verbose=1``, a line now and then: workers and bytes moved. Fills the statistics."""

    PAUSE = 5.0  # seconds between two lines

    def __init__(self, estimator: Any, backend: Backend, chosen: Settings) -> None:
        self.traffic = Traffic()
        self._shown = estimator.verbose > 0
        self._backend = backend
        self._statistics = chosen.statistics
        self._last = 0.0

    def watch(self, builder: Builder, items: list[Any], history: History) -> str | None:
        now = time.perf_counter()
        if self._shown and now - self._last >= self.PAUSE:
            self._last = now
            sys.stderr.write(f"\n{self._line(builder.n_rounds, history.last('loss'))}\n")
            sys.stderr.flush()
        if self._statistics is not None:
            self._statistics.update(asdict(self.traffic))
        return None

    def _line(self, n_rounds: int, loss: float) -> str:
        t = self.traffic
        return (
            f"  round {n_rounds}, loss {loss:.5f}, {self._backend.n_workers} workers, {t.trips} "
            f"trips, {t.bytes / 1e6:.1f} MB of results, waited {t.seconds:.1f} s, of which "
            f"{t.working:.1f} s were work"
        )
