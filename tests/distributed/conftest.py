"""Fixtures of the tests on blocks and clusters."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for support_blocks.py


@pytest.fixture
def rng():
    return np.random.default_rng(0)
