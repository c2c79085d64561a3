"""skops stores a scikit-learn pipeline with an edgewise classifier without pickle.

For the classifier alone, `save` and `edgewise.load` need no list of trusted types. Needs skops.
"""

import skops.io
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from edgewise import AOSOLogitBoostClassifier

X, y = load_iris(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), AOSOLogitBoostClassifier(n_estimators=30)).fit(X, y)

stored = skops.io.dumps(pipeline)
untrusted = skops.io.get_untrusted_types(data=stored)
print("types to trust:", *untrusted, sep="\n  ")
assert all(name.startswith("edgewise.") for name in untrusted), untrusted  # look before you trust
loaded = skops.io.loads(stored, trusted=untrusted)
same = (loaded.predict_proba(X) == pipeline.predict_proba(X)).all()
print(f"the loaded pipeline predicts the same: {same}")
