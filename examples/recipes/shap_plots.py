"""shap plots edgewise's own exact Shapley values.

edgewise computes the values of `shap.TreeExplainer` itself, for all classes at once. Needs shap.
"""

import numpy as np
import shap
from sklearn.datasets import load_wine

from edgewise import AOSOLogitBoostClassifier

wine = load_wine(as_frame=True)
model = AOSOLogitBoostClassifier(n_estimators=50).fit(wine.data, wine.target)

explanation = model.explanation(wine.data)  # a shap.Explanation: (rows, features, classes)
assert isinstance(explanation, shap.Explanation)
total = explanation.values.sum(axis=1) + explanation.base_values
np.testing.assert_allclose(total, model.decision_function(wine.data), atol=1e-9)
of_class = np.abs(explanation[:, :, 0].values).mean(axis=0)
print("class 0 depends most on", explanation.feature_names[int(of_class.argmax())])
# shap.plots.beeswarm(explanation[:, :, 0]) draws it.
