"""Trains the five algorithms on the digits of scikit-learn and compares their test errors.

scikit-learn's own histogram boosting runs beside them. Takes well under a minute; run it with
`make demo`, or with `python examples/demo.py` where edgewise is installed.
"""

import sys
import time
from typing import Any

from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import edgewise

# The same shrinkage and size of trees for all that grow one tree per class and round. AOSO grows
# one tree a round for all classes together, so it takes more rounds of fewer trees: its defaults.
SAME = {"learning_rate": 0.1, "max_leaf_nodes": 20, "min_samples_leaf": 20}
CONTENDERS = {
    "MART": edgewise.MARTClassifier(n_estimators=100, **SAME),
    "ABC-MART": edgewise.ABCMARTClassifier(n_estimators=100, **SAME),
    "LogitBoost": edgewise.LogitBoostClassifier(n_estimators=100, **SAME),
    "ABC-LogitBoost": edgewise.ABCLogitBoostClassifier(n_estimators=100, **SAME),
    "AOSO-LogitBoost": edgewise.AOSOLogitBoostClassifier(),
    "scikit-learn HGB": HistGradientBoostingClassifier(
        max_iter=100, early_stopping=False, random_state=0, **SAME
    ),
}


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.4, random_state=0, stratify=y
    )
    print(
        f"Digits: {len(X_train)} rows to learn from, {len(X_test)} to test on, "
        f"{X.shape[1]} features, 10 classes.\n",
        flush=True,
    )
    rows = []
    for number, (name, model) in enumerate(CONTENDERS.items(), start=1):
        announce(f"[{number}/{len(CONTENDERS)}] {name}", model)
        begin = time.perf_counter()
        model.fit(X_train, y_train)
        seconds = time.perf_counter() - begin
        proba = model.predict_proba(X_test)
        errors = int((model.classes_[proba.argmax(axis=1)] != y_test).sum())
        rows.append((name, model.n_iter_, n_trees(model), errors, log_loss(y_test, proba), seconds))
    print_table(rows, len(X_test))


def announce(text: str, model: Any) -> None:
    """Says what is fitted; on a terminal, edgewise's estimators then show a bar of their own."""
    print(text, file=sys.stderr, flush=True)
    if sys.stderr.isatty() and type(model).__module__.startswith("edgewise"):
        model.set_params(verbose=1)


def n_trees(model: Any) -> int:
    if isinstance(model, HistGradientBoostingClassifier):
        return model.n_iter_ * model.n_trees_per_iteration_
    return len(model.model_.width)


def print_table(rows: list[tuple[str, int, int, int, float, float]], n_test: int) -> None:
    errors = f"errors of {n_test}"
    header = f"{'algorithm':<17} {'rounds':>6} {'trees':>6} {errors:>13} {'log loss':>9} {'fit':>7}"
    print(f"\n{header}\n{'-' * len(header)}")
    for name, rounds, trees, wrong, loss, seconds in rows:
        print(f"{name:<17} {rounds:>6} {trees:>6} {wrong:>13} {loss:>9.4f} {seconds:>5.2f} s")


if __name__ == "__main__":
    main()
