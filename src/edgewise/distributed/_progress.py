"""What a fit on a cluster tells besides rounds and loss."""

import sys
import time
from typing import Any

from .._loop import Builder, History, Watcher
from ._backend import Backend


class Traffic(Watcher):
    """With ``verbose=1``, a line now and then: workers, bytes moved."""

    PAUSE = 5.0  # seconds between two lines

    def __init__(self, estimator: Any, backend: Backend) -> None:
        self._shown = estimator.verbose > 0
        self._backend = backend
        self._last = 0.0

    def watch(self, builder: Builder, items: list[Any], history: History) -> str | None:
        now = time.perf_counter()
        if self._shown and now - self._last >= self.PAUSE:
            self._last = now
            sys.stderr.write(
                f"\n  round {builder.n_rounds}, loss {history.last('loss'):.5f}, "
                f"{self._backend.bytes_moved / 1e6:.1f} MB moved, {self._backend.n_workers} "
                "workers\n"
            )
            sys.stderr.flush()
        return None
