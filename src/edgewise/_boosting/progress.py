"""A progress bar of one line on stderr, for ``verbose=1``."""

import sys
import time


class Progress:
    """Shows rounds done, time left, and a figure; writes at most ten times a second."""

    def __init__(self, total: int, label: str, *, shown: bool) -> None:
        self._total = total
        self._label = label
        self._shown = shown
        self._in_place = sys.stderr.isatty()  # otherwise a separate line every five seconds
        self._start = time.perf_counter()
        self._last = time.perf_counter()

    def update(self, done: int, figure: str) -> None:
        now = time.perf_counter()
        pause = 0.1 if self._in_place else 5.0
        if not self._shown or (done < self._total and now - self._last < pause):
            return
        self._last = now
        left = (now - self._start) / done * (self._total - done)
        filled = 24 * done // self._total
        bar = "█" * filled + "·" * (24 - filled)
        text = f"{self._label} {bar} {done}/{self._total} {figure} {left:.0f} s left"
        sys.stderr.write(f"\r\033[K{text}" if self._in_place else f"{text}\n")
        sys.stderr.flush()

    def close(self) -> None:
        if self._shown and self._in_place:
            sys.stderr.write("\n")
            sys.stderr.flush()
