"""The checks of a release know everything that is released."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

import edgewise

RELEASE = Path(__file__).parents[2] / "release"


def script(name):
    specification = importlib.util.spec_from_file_location(name, RELEASE / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    with patch.dict(sys.modules, {name: module}):  # dataclasses look there
        specification.loader.exec_module(module)
    return module


def test_the_smoke_test_fits_every_estimator():
    smoke = script("smoke")
    tested = {type(estimator).__name__ for estimator in [*smoke.ESTIMATORS, smoke.TRUTH_TABLE]}
    assert tested == {name for name in edgewise.__all__ if name.endswith("Classifier")}


@pytest.mark.skipif(sys.platform == "win32", reason="a script of the shell")
def test_arguments_that_zig_cannot_take_for_apple_are_replaced(tmp_path):
    targets = script("targets")
    targets.write_program(tmp_path / "c++", targets.for_apple("printf '%s\\n' -O3"))
    given = ["-bundle", "-s", "-Wl,@of a file", "a b.o", "-shared-of-another-kind"]
    said = subprocess.run([tmp_path / "c++", *given], capture_output=True, text=True, check=True)
    taken = ["-shared", "-Wl,-x", "-Wl,-undefined,dynamic_lookup", "a b.o", given[-1]]
    assert said.stdout.splitlines() == ["-O3", *taken]
