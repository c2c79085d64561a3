"""AutoGluon trains AutoBoost as one of its models: a custom model class.

TabArena and AutoGluon's benchmarks take the same class. Needs autogluon.tabular.
"""

import tempfile

import pandas as pd
from autogluon.core.models import AbstractModel
from autogluon.tabular import TabularPredictor
from sklearn.datasets import load_wine

from edgewise import AutoBoostClassifier


class EdgewiseModel(AbstractModel):
    ag_key = "EDGEWISE"
    ag_name = "Edgewise"

    def _fit(self, X, y, sample_weight=None, time_limit=None, num_cpus=None, **kwargs):
        threads = None if num_cpus in (None, "auto") else num_cpus
        self.model = AutoBoostClassifier(
            time_limit=time_limit, n_jobs=threads, **self._get_model_params()
        ).fit(self.preprocess(X), y, sample_weight=sample_weight)

    def _set_default_params(self):
        self._set_default_param_value("random_state", 0)


if __name__ == "__main__":
    table = load_wine(as_frame=True).frame
    train, test = table[::2], table[1::2]
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor("target", path=folder, verbosity=0, problem_type="multiclass")
        predictor.fit(train, hyperparameters={EdgewiseModel: {}}, time_limit=60)
        board = pd.DataFrame(predictor.leaderboard(test))
        print(board[["model", "score_test"]].to_string(index=False))
