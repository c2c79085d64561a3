"""A progress bar of one line on stderr, for ``verbose=1``."""

import sys
import time


class Progress:
    """Shows rounds done, time left, and a figure; writes at most ten times a second."""

    def __init__(self, total: int, label: str, *, shown: bool) -> None:
        self._total = total
        self._label = label
        self._shown = shown
        self._start = time.perf_counter()
        self._last = 0.0

    def update(self, done: int, figure: str) -> None:
        now = time.perf_counter()
        if not self._shown or (done < self._total and now - self._last < 0.1):
            return
        self._last = now
        left = (now - self._start) / done * (self._total - done)
        filled = 24 * done // self._total
        bar = "█" * filled + "·" * (24 - filled)
        text = f"{self._label} {bar} {done}/{self._total} {figure} {left:.0f} s left"
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()

    def close(self) -> None:
        if self._shown and self._last:
            sys.stderr.write("\n")
            sys.stderr.flush()
