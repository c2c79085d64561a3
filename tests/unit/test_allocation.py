"""Buffers that the allocator keeps: page faults of a process that fills large ones in turn."""

import os
import platform
import subprocess
import sys

import pytest

FILL = """
import resource, sys
import numpy as np
from edgewise import _core
if sys.argv[1] != "leave":
    _core.keep_buffers(1 << 22)
if sys.argv[1] == "release":
    _core.release_buffers()
np.ones(100_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    np.ones(100_000)  # 800 kB, about 200 pages
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(what):
    """In a process that is told to give memory back soon, as Dask tells its workers."""
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", FILL, what]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(run.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told to keep buffers")
def test_buffers_that_are_kept_cost_no_pages():
    assert page_faults("keep") < 2_000
    assert page_faults("leave") > 10_000
    assert page_faults("release") > 10_000
