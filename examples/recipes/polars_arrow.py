"""Polars and Arrow tables go in as they are.

Needs polars and pyarrow.
"""

import polars as pl
from sklearn.datasets import load_iris

from edgewise import AutoBoostClassifier

iris = load_iris(as_frame=True)
table = pl.from_pandas(iris.data).with_columns(
    pl.when(pl.col("sepal width (cm)") > 3)
    .then(pl.lit("wide"))
    .otherwise(pl.lit("narrow"))
    .alias("sepal")
)
labels = pl.Series(iris.target_names[iris.target])  # names of the classes

model = AutoBoostClassifier().fit(table, labels)  # the column of strings is one of categories
same = (model.predict(table.to_arrow()) == model.predict(table)).all()
print(f"Polars and Arrow give the same predictions: {same}")
