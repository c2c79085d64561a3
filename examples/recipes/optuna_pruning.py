"""Optuna chooses parameters, and a callback ends the trials that fall behind.

Needs optuna.
"""

import optuna
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from edgewise import AOSOLogitBoostClassifier


class Pruning:
    """Reports the validation loss of every round; prunes the trial if the pruner says so."""

    def __init__(self, trial):
        self.trial = trial

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name != "round":
            return False
        loss = -fitted_estimator.history_["validation_score"][-1]
        self.trial.report(loss, context.task_id)
        return self.trial.should_prune()


X, y = load_digits(return_X_y=True)
X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0, stratify=y)


def objective(trial):
    model = AOSOLogitBoostClassifier(
        n_estimators=60,
        learning_rate=trial.suggest_float("learning_rate", 0.02, 0.5, log=True),
        max_leaf_nodes=trial.suggest_int("max_leaf_nodes", 4, 64, log=True),
    ).set_callbacks(Pruning(trial))
    model.fit(X_train, y_train, X_val=X_val, y_val=y_val)
    if model.stop_reason_ == "a callback":
        raise optuna.TrialPruned
    return -model.history_["validation_score"].max()


study = optuna.create_study(
    sampler=optuna.samplers.TPESampler(seed=0),
    pruner=optuna.pruners.MedianPruner(n_startup_trials=4, n_warmup_steps=10),
)
study.optimize(objective, n_trials=12)
pruned = sum(trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials)
print(f"validation loss {study.best_value:.3f} with {study.best_params}; {pruned} trials pruned")
