"""SAMME: scikit-learn's AdaBoostClassifier with the same trees, endings, usable probabilities."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from support import assert_same_model, table, trees_of, uneven_weights

from edgewise import FitWarning, InvalidParameterError, SAMMEClassifier
from edgewise._data.rows import Rows
from edgewise.samme import sharpness, vote_shares

# --- scikit-learn -----------------------------------------------------------------------------

TREES = {
    "stump": DecisionTreeClassifier(max_depth=1),
    "tree": DecisionTreeClassifier(max_depth=3),
    "random tree": DecisionTreeClassifier(max_depth=4, splitter="random", max_features=2),
    "deep tree": DecisionTreeClassifier(max_leaf_nodes=30),
}
every_tree = pytest.mark.parametrize("tree", TREES.values(), ids=TREES)


def assert_same_predictions(X, y, tree, *, sample_weight=None, **parameters):
    ours = SAMMEClassifier(base=tree, **parameters).fit(X, y, sample_weight=sample_weight)
    theirs = AdaBoostClassifier(tree, **parameters).fit(X, y, sample_weight=sample_weight)
    assert ours.n_iter_ == len(theirs.estimators_)
    np.testing.assert_array_equal(ours.history_["alpha"], theirs.estimator_weights_[: ours.n_iter_])
    np.testing.assert_allclose(
        ours.history_["error"], theirs.estimator_errors_[: ours.n_iter_], rtol=1e-15, atol=0
    )
    other = np.random.default_rng(0).permuted(X, axis=0)  # rows never seen
    for rows in (X, other):
        np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
        for mine, its in zip(ours.staged_predict(rows), theirs.staged_predict(rows), strict=True):
            np.testing.assert_array_equal(mine, its)


@every_tree
def test_scikit_learns_predictions(tree, dataset):
    X, y = dataset
    assert_same_predictions(np.nan_to_num(X), y, tree, n_estimators=8, random_state=len(X))


@every_tree
@pytest.mark.parametrize("learning_rate", [0.1, 1.0, 2.5])
def test_scikit_learns_predictions_with_weights(tree, learning_rate):
    seed = int(10 * learning_rate)
    X, y = table(seed, n=150, K=4)
    names = np.array(["d", "a", "c", "b"])[y]
    assert_same_predictions(
        X,
        names,
        tree,
        sample_weight=uneven_weights(seed, len(y)),
        learning_rate=learning_rate,
        n_estimators=15,
        random_state=seed,
    )


def test_scikit_learns_predictions_of_two_classes(seed):
    X, y = table(seed, n=150, K=2)
    assert_same_predictions(X, y, TREES["stump"], n_estimators=30, random_state=seed)


def test_scikit_learns_predictions_when_weights_are_at_their_floor():
    """Hundreds of rounds, until many weights are as small as scikit-learn lets them become."""
    X, y = table(3, n=60, K=3, noise=0.1)
    assert_same_predictions(X, y, TREES["tree"], n_estimators=200, random_state=0)


def test_scikit_learns_predictions_with_other_classifiers():
    X, y = table(0, n=120, K=3)
    for other in (GaussianNB(), LogisticRegression(), RandomForestClassifier(3, max_depth=2)):
        assert_same_predictions(X, y, other, n_estimators=3, random_state=1)


@every_tree
def test_members_go_on(tree):
    X, y = table(4, n=120, K=3)
    once = SAMMEClassifier(base=tree, n_estimators=9, random_state=3).fit(X, y)
    twice = SAMMEClassifier(base=tree, n_estimators=4, random_state=3, warm_start=True).fit(X, y)
    twice.set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(twice.predict_proba(X), once.predict_proba(X))
    for name in once.history_.keys() - {"seconds"}:
        np.testing.assert_array_equal(twice.history_[name], once.history_[name])


def test_other_classifiers_must_take_weights():
    with pytest.raises(InvalidParameterError) as caught:
        SAMMEClassifier(base=KNeighborsClassifier()).fit(*table(0))
    for word in ("'base'", "SAMMEClassifier", "sample_weight", "KNeighborsClassifier"):
        assert word in str(caught.value)


# --- endings ----------------------------------------------------------------------------------


def test_tree_without_errors_ends_the_fit():
    X, y = np.arange(30.0)[:, None], np.repeat([0, 1, 2], 10)
    model = SAMMEClassifier(n_estimators=50, max_leaf_nodes=3).fit(X, y)
    assert model.stop_reason_ == "a base classifier makes no errors"
    assert model.n_iter_ == 1
    assert model.history_["alpha"].tolist() == [1.0]
    assert model.history_["error"].tolist() == [0.0]
    assert (model.predict(X) == y).all()


def test_tree_without_errors_is_no_end_where_features_are_drawn():
    X, y = load_digits(return_X_y=True)
    settings = {"max_leaf_nodes": None, "max_features": 0.5, "random_state": 0}
    model = SAMMEClassifier(n_estimators=40, **settings).fit(X[:150], y[:150])
    assert model.stop_reason_ == "all rounds done"
    assert (model.history_["error"] == 0.0).all()
    np.testing.assert_allclose(model.history_["alpha"], np.log(299) + np.log(9))
    one = SAMMEClassifier(n_estimators=1, **settings).fit(X[:150], y[:150])
    assert model.score(X[150:], y[150:]) > one.score(X[150:], y[150:]) + 0.05
    half = SAMMEClassifier(n_estimators=20, warm_start=True, **settings).fit(X[:150], y[:150])
    half.set_params(n_estimators=40).fit(X[:150], y[:150])
    assert half.model_.values.tobytes() == model.model_.values.tobytes()


def test_tree_no_better_than_chance_is_not_kept():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    y = (X[:, 0] != X[:, 1]).astype(int)
    with pytest.warns(FitWarning, match="learned nothing"):
        model = SAMMEClassifier(max_leaf_nodes=2).fit(X, y)
    assert model.stop_reason_ == "the base classifier is no better than chance"
    assert model.n_iter_ == 0
    np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_rounds_run_out():
    model = SAMMEClassifier(n_estimators=3, max_leaf_nodes=3).fit(*table(5, noise=0.5))
    assert model.stop_reason_ == "all rounds done"


def test_every_round_gives_its_alpha_to_one_class():
    X, y = table(6, n=100, K=4)
    model = SAMMEClassifier(n_estimators=10, max_leaf_nodes=5).fit(X, y)
    scores = model.model_.scores(X, 1)
    np.testing.assert_allclose(scores.sum(axis=1), model.history_["alpha"].sum())
    np.testing.assert_allclose(vote_shares(scores).sum(axis=1), 1.0)


def test_long_fits_stay_finite():
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    model = SAMMEClassifier(n_estimators=2000, max_leaf_nodes=2).fit(X, y)
    assert model.n_iter_ == 2000
    assert np.isfinite(model.history_["alpha"]).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize(
    ("n", "K", "leaves"),
    [(2000, 3, 24), (2000, 5, 48), (400, 5, 10), (120, 5, 5), (4000, 2, 12)],
)
def test_automatic_leaves_need_rows(n, K, leaves):
    X = np.random.default_rng(0).normal(size=(n, 3))
    model = SAMMEClassifier(n_estimators=1).fit(X, np.arange(n) % K).model_
    assert len(next(iter(trees_of(model, 0)))) == 2 * leaves - 1


def test_small_data_does_not_end_in_the_first_round(iris, wine):
    for X, y in (iris, wine):
        assert SAMMEClassifier(n_estimators=30).fit(X, y).n_iter_ == 30


# --- probabilities ----------------------------------------------------------------------------


def test_probabilities_are_the_softmax_of_sharpened_vote_shares():
    X, y = table(7, n=100, K=3)
    model = SAMMEClassifier(n_estimators=10, max_leaf_nodes=5, random_state=0).fit(X, y)
    shares = model.decision_function(X) / model.history_["alpha"].sum()
    np.testing.assert_allclose(
        model.predict_proba(X), softmax(model.sharpness_ * shares, axis=1), rtol=1e-10
    )
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


def test_sharpness_is_that_of_the_largest_likelihood(seed):
    """Vote shares of a known sharpness, and labels drawn accordingly."""
    rng = np.random.default_rng(seed)
    psi = rng.dirichlet(np.ones(4), size=20_000)
    chances = softmax(17.0 * psi, axis=1)
    codes = (rng.random((len(psi), 1)) > chances.cumsum(axis=1)).sum(axis=1).astype(np.int32)
    found = sharpness(3.0 * psi, Rows(psi, codes, None))
    assert found == pytest.approx(17.0, rel=0.05)


def test_sharpness_of_few_rows_that_are_all_right_is_not_extreme():
    psi = np.eye(3)[[0, 1, 2, 0, 1, 2]] * 0.4 + 0.2
    found = sharpness(psi, Rows(psi, np.arange(6, dtype=np.int32) % 3, None))
    assert 10.0 < found < 40.0


@pytest.fixture(scope="module")
def halves():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    return X[:1000], y[:1000], X[1000:], y[1000:]


def test_log_loss_is_far_below_scikit_learns(halves):
    X, y, X_test, y_test = halves
    tree = DecisionTreeClassifier(max_depth=4)
    ours = SAMMEClassifier(base=tree, n_estimators=20, random_state=0).fit(X, y)
    theirs = AdaBoostClassifier(tree, n_estimators=20, random_state=0).fit(X, y)
    mine, its = (log_loss(y_test, m.predict_proba(X_test)) for m in (ours, theirs))
    assert its > 2.0  # it knows nothing better than a tenth each
    assert mine < 0.3


def calibration_error(proba, y, n_bins=8):
    """Mean difference between confidence and accuracy over equally filled bins."""
    confidence, right = proba.max(axis=1), proba.argmax(axis=1) == y
    bins = np.array_split(np.argsort(confidence), n_bins)
    return np.mean([abs(confidence[b].mean() - right[b].mean()) for b in bins])


@pytest.mark.parametrize("name", ["digits", "synthetic", "noisy"])
def test_probabilities_are_reliable(name, halves):
    X, y, X_test, y_test = halves
    if name != "digits":
        X, y = make_classification(
            3000, 12, n_informative=8, n_classes=5, flip_y=0.3 * (name == "noisy"), random_state=0
        )
        X, y, X_test, y_test = X[:1500], y[:1500], X[1500:], y[1500:]
    model = SAMMEClassifier(n_estimators=80, random_state=0).fit(X, y)
    proba = model.predict_proba(X_test)
    assert calibration_error(proba, y_test) < 0.06
    plain = softmax(model.model_.scores(X_test, 1), axis=1)  # the loss's own link
    assert calibration_error(plain, y_test) > calibration_error(proba, y_test)
    assert log_loss(y_test, plain) > 1.3 * log_loss(y_test, proba)


def test_given_validation_rows_set_the_sharpness():
    X, y = table(8, n=300, K=3)
    X_val, y_val = table(9, n=200, K=3)
    w = uneven_weights(9, len(y_val))
    model = SAMMEClassifier(n_estimators=20, max_leaf_nodes=6)
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=w)
    rows = Rows(X_val, y_val.astype(np.int32), w)
    assert model.sharpness_ == sharpness(model.model_.scores(X_val, 1), rows)


def test_held_out_rows_do_not_weaken_the_model():
    """The sharpness is found on a fit of its own: the model sees all rows."""
    X, y = table(10, n=200, K=3)
    models = [
        SAMMEClassifier(n_estimators=5, max_leaf_nodes=6, random_state=s).fit(X, y)
        for s in range(3)
    ]
    for other in models[1:]:
        assert_same_model(other.model_, models[0].model_)
    assert len({m.sharpness_ for m in models}) == 3


def test_alike_rows_are_held_out_together():
    """Else all rows of one label of a point could be held out, and all others learned from."""
    X = np.repeat(np.arange(12.0), 40)[:, None]
    rng = np.random.default_rng(0)
    y = (rng.random(480) < np.repeat(np.linspace(0.1, 0.9, 12), 40)).astype(int)
    model = SAMMEClassifier(n_estimators=20, max_leaf_nodes=3, random_state=0).fit(X, y)
    proba = model.predict_proba(np.arange(12.0)[:, None])[:, 1]
    assert proba[0] < 0.35
    assert proba[-1] > 0.65
