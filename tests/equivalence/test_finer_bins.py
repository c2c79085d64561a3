"""More than 255 bins: a feature of many values has several columns of bins, and is still one."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import log_loss
from support import table, uneven_weights

import edgewise
from edgewise import InvalidParameterError, _core, reference

ABC = {"search": "exhaustive", "gap": 0, "warmup": 0}
PAIRS = {
    "mart": (edgewise.MARTClassifier, reference.mart, {}),
    "abc_logitboost": (edgewise.ABCLogitBoostClassifier, reference.abc_logitboost, ABC),
    "aoso": (edgewise.AOSOLogitBoostClassifier, reference.aoso_logitboost, {"leaf": "pair"}),
}
OPTIONS = {"n_estimators": 3, "learning_rate": 0.3, "max_leaf_nodes": 8, "min_samples_leaf": 2}


@pytest.fixture(scope="module")
def many():
    """700 rows: every feature has as many values; some are missing in the last one."""
    X, y = table(3, n=700, K=3, d=3)
    X[::9, 2] = np.nan
    return X, y


@pytest.mark.usefixtures("nothing_is_negligible")
@pytest.mark.parametrize("algorithm", PAIRS)
def test_all_splits_are_searched(algorithm, many):
    """As the references search: the same features, gains and scores."""
    X, y = many
    w = uneven_weights(0, len(y))
    fast, slow, own = PAIRS[algorithm]
    exact = slow(X, y, sample_weight=w, **OPTIONS | own)
    a, b = (
        fast(early_stopping=False, max_bins=max_bins, **OPTIONS | own).fit(X, y, sample_weight=w)
        for max_bins in (1020, 255)
    )
    nodes = [node for trees in exact.rounds for tree in trees for node in tree.nodes]
    features = [node.split.feature if node.split else -1 for node in nodes]
    assert a.model_.feature.tolist() == features
    np.testing.assert_allclose(a.model_.scores(X, 1), exact.scores, atol=1e-6)
    assert not np.allclose(b.model_.scores(X, 1), exact.scores, atol=1e-3)


def test_columns(many):
    X, _ = many
    X = np.column_stack([X, np.arange(700) % 5, np.arange(700) % 255])
    for max_bins, n_columns in ((255, 5), (256, 8), (509, 8), (600, 11), (1020, 11)):
        data = _core.BinnedData(X, None, max_bins, 1)
        sizes = [len(data.cuts(f)) for f in range(data.n_features)]
        assert len(sizes) == n_columns
        assert max(sizes) <= 254
        present = np.array([700, 700, 622])  # distinct values
        assert sum(sizes) == (np.minimum(max_bins, present) - 1).sum() + 4 + 254
    values = np.unique(X[:, 0])
    of_first = np.sort(np.concatenate([data.cuts(0), data.cuts(5), data.cuts(6)]))
    np.testing.assert_allclose(of_first, (values[1:] + values[:-1]) / 2)


ESTIMATORS = {
    "logitboost": edgewise.LogitBoostClassifier(),
    "aoso": edgewise.AOSOLogitBoostClassifier(max_features=0.7),
    "mh": edgewise.AdaBoostMHClassifier(),
    "one_vs_all": edgewise.AdaBoostMHClassifier(base="one_vs_all"),
    "product": edgewise.AdaBoostMHClassifier(base="product"),
    "samme": edgewise.SAMMEClassifier(),
    "softmax": edgewise.SoftmaxBoostClassifier(),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_models_name_features(name, many):
    """What rows get while a model is fitted is what it predicts for them; order and threads do not
    matter."""
    X, y = many
    settings = {"n_estimators": 6, "max_leaf_nodes": 9, "early_stopping": False, "random_state": 0}
    settings |= {"max_bins": 1020}
    if name == "product":
        del settings["max_leaf_nodes"]
    plain = clone(ESTIMATORS[name]).set_params(**settings)
    boost = clone(plain).set_params(n_jobs=1).fit(X, y)
    assert boost.model_.feature.max() <= 2
    order = np.random.default_rng(0).permutation(len(y))
    other = clone(plain).set_params(n_jobs=2).fit(X[order], y[order])
    assert other.model_.values.tobytes() == boost.model_.values.tobytes()
    assert other.model_.threshold.tobytes() == boost.model_.threshold.tobytes()
    if name in ("logitboost", "aoso"):
        loss = log_loss(y, boost.predict_proba(X))
        assert boost.history_["loss"][-1] == pytest.approx(loss, abs=1e-9)
    more = clone(plain).set_params(warm_start=True, n_estimators=3).fit(X, y)
    more.set_params(n_estimators=6).fit(X, y)
    assert more.model_.values.tobytes() == boost.model_.values.tobytes()


def test_directions_are_kept(many):
    X, y = many
    boost = edgewise.LogitBoostClassifier(
        n_estimators=20, max_bins=1020, monotonic_cst=[1, 0, 0], early_stopping=False
    )
    boost.fit(X, (y == 2).astype(int))
    grid = np.repeat(X[:40], 50, axis=0)
    grid[:, 0] = np.tile(np.linspace(X[:, 0].min(), X[:, 0].max(), 50), 40)
    odds = boost.decision_function(grid).reshape(40, 50)
    assert (np.diff(odds, axis=1) >= 0).all()
    assert (np.diff(odds, axis=1) > 0).any()


def test_refusals_have_words(many):
    X, y = many
    with pytest.raises(InvalidParameterError, match="at most 255 for sparse matrices. Got 300"):
        edgewise.MARTClassifier(max_bins=300).fit(scipy.sparse.csr_array(np.nan_to_num(X)), y)
    with pytest.raises(InvalidParameterError, match="max_bins"):
        edgewise.MARTClassifier(max_bins=1021).fit(X, y)
