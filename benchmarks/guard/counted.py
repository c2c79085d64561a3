"""Runs cases between two marks; callgrind writes down what happens between them.

valgrind --tool=callgrind --instr-atstart=no ... python -m benchmarks.guard.counted MARKS NAME ...
"""

import ctypes
import gc
import sys

from .cases import CASES


def main(marks: str, *names: str) -> None:
    """`marks` is marks.c, compiled."""
    library = ctypes.CDLL(marks)
    for name in names:
        work = CASES[name].prepare()
        gc.collect()
        gc.disable()
        library.begin()
        work()
        library.end(name.encode())
        gc.enable()


if __name__ == "__main__":
    main(*sys.argv[1:])
