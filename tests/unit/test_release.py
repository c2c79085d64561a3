"""The checks of a release know everything that is released."""

import importlib.util
from pathlib import Path

import edgewise

SMOKE = Path(__file__).parents[2] / "release/smoke.py"


def test_the_smoke_test_fits_every_estimator():
    specification = importlib.util.spec_from_file_location("smoke", SMOKE)
    smoke = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(smoke)
    tested = {type(estimator).__name__ for estimator in [*smoke.ESTIMATORS, smoke.TRUTH_TABLE]}
    assert tested == {name for name in edgewise.__all__ if name.endswith("Classifier")}
