"""Short runs of all targets, the same every time; `make fuzz` has the long ones."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.planted import PLANTED
from fuzz.targets import TARGETS

TESTS = Path(__file__).parents[1]
RUNS = {"checkpoints": 60, "csr_triples": 150, "constructor_parameters": 150}


def test_every_target_has_a_planted_bug():
    assert PLANTED.keys() == TARGETS.keys()


@pytest.mark.parametrize("name", sorted(TARGETS.keys() - {"model_files"}))  # test_fuzz.py has them
def test_inputs_are_taken_or_refused(name):
    taken = [TARGETS[name](random.Random(seed).randrange) for seed in range(RUNS.get(name, 300))]
    assert any(taken)
    assert not all(taken)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name):
    env = os.environ | {"PYTHONPATH": str(TESTS)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "fuzz.planted", name, "3000"],
        capture_output=True,
        text=True,
        check=False,
        env=env,
        cwd=TESTS,
    )
    assert done.returncode != 0, done.stdout
    assert "not found" not in done.stdout
    if done.returncode > 0:
        assert "planted" in done.stderr or "Traceback" in done.stderr
