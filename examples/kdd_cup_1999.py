"""KDD Cup 1999: answers of least cost for a test whose classes are distributed otherwise.

EDGEWISE_DATA names a folder with costs/kddcup99_train.parquet, costs/kddcup99_test.parquet and
costs/kddcup99_cost.csv. The winner's average cost per test row was 0.2331.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

from edgewise import AOSOLogitBoostClassifier
from edgewise.decide import DecisionClassifier, cost_interval

folder = Path(os.environ["EDGEWISE_DATA"]) / "costs"
train = pd.read_parquet(folder / "kddcup99_train.parquet").drop_duplicates()
test = pd.read_parquet(folder / "kddcup99_test.parquet")
cost = pd.read_csv(folder / "kddcup99_cost.csv", index_col=0).sort_index().sort_index(axis=1)
y, y_test = train.pop("target"), test.pop("target")

# All that is known of the test is that its class frequencies are others: assume equal ones.
equal = np.full(len(cost), 1 / len(cost))
models = [
    DecisionClassifier(
        AOSOLogitBoostClassifier(n_estimators=rounds, early_stopping=False),
        cost=cost.to_numpy(dtype=float),
        priors=equal,
        cv=3,
    ).fit(train, y)
    for rounds in (30, 60, 100, 200)
]
# The out-of-fold cost, with every class counted as often as every other, chooses the rounds.
best = min(models, key=lambda model: model.expected_cost_.mean)
said = best.predict(test)
paid = cost.to_numpy()[cost.index.get_indexer(y_test), cost.columns.get_indexer(said)]
print(best.estimator_.n_estimators, "rounds:", cost_interval(paid))
