"""The recipes run as they are and print what docs/recipes.md says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
RECIPES = PROJECT / "examples/recipes"
PAGE = (PROJECT / "docs/recipes.md").read_text()
SAID = {
    "autogluon_model": ("autogluon.tabular", "Edgewise"),
    "mlflow_tracking": ("mlflow", "the model from the run predicts the same: True"),
    "optuna_pruning": ("optuna", "trials pruned"),
    "polars_arrow": ("polars", "Polars and Arrow give the same predictions: True"),
    "shap_plots": ("shap", "class 0 depends most on proline"),
    "skops_pipeline": ("skops", "the loaded pipeline predicts the same: True"),
}


def test_every_recipe_is_on_the_page():
    assert {path.stem for path in RECIPES.glob("*.py")} == set(SAID)
    assert set(re.findall(r"examples/recipes/(\w+)\.py", PAGE)) == set(SAID)


@pytest.mark.parametrize("name", SAID)
def test_a_recipe_runs(name, tmp_path):
    library, said = SAID[name]
    pytest.importorskip(library)
    command = [sys.executable, RECIPES / f"{name}.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert said in result.stdout
