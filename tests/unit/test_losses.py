"""Newton boosting: losses there are, losses of one's own, and the check that finds wrong ones."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from support import assert_same_model, table, trees_of, uneven_weights

import edgewise
from edgewise import NewtonBoostClassifier, reference
from edgewise.losses import (
    FocalLoss,
    GeneralizedCrossEntropy,
    LogitAdjustedLoss,
    LogLoss,
    TransitionLoss,
    check_loss,
)

SYMMETRIC = np.full((4, 4), 0.1) + 0.6 * np.eye(4)
LOSSES = {
    "log": LogLoss(),
    "smoothed": LogLoss(smoothing=0.2),
    "bounded": GeneralizedCrossEntropy(),
    "absolute": GeneralizedCrossEntropy(q=1.0),
    "transition": TransitionLoss(SYMMETRIC),
    "focal": FocalLoss(),
    "focal with little weight": FocalLoss(gamma=0.5),
    "adjusted": LogitAdjustedLoss([0.7, 0.1, 0.15, 0.05]),
}
X, Y = table(0, n=200, K=4)


class Squared:
    def value(self, Y, F):
        return 0.5 * ((F - Y) ** 2).sum(axis=1)

    def gradient(self, Y, F):
        return F - Y

    def hessian(self, Y, F):
        return np.ones_like(F)


class Broken(Squared):
    """Squared, with one method replaced."""

    def __init__(self, **methods):
        for name, method in methods.items():
            setattr(self, name, method)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_derivatives_are_those_of_the_value(loss):
    check_loss(loss)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_derivatives_hold_for_soft_targets_too(loss):
    rng = np.random.default_rng(1)
    soft, F = rng.dirichlet(np.ones(4), size=20), rng.normal(size=(20, 4))
    for k in range(4):
        step = 1e-5 * np.eye(4)[k]
        slope = (loss.value(soft, F + step) - loss.value(soft, F - step)) / 2e-5
        np.testing.assert_allclose(loss.gradient(soft, F)[:, k], slope, atol=1e-8)


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        ({"gradient": lambda Y, F: Y - F}, "gradient .* disagrees"),
        ({"gradient": lambda Y, F: 1.001 * (F - Y)}, "gradient .* disagrees"),
        ({"hessian": lambda Y, F: 2 * np.ones_like(F)}, "hessian .* disagrees"),
        ({"value": lambda Y, F: ((F - Y) ** 2).sum()}, r"value.*shape \(60,\)"),
        ({"gradient": lambda Y, F: (F - Y).ravel()}, r"gradient.*shape \(60, 4\)"),
        ({"hessian": lambda Y, F: np.full_like(F, np.nan)}, "not finite"),
        ({"gradient": lambda Y, F: np.subtract(F, Y, out=F)}, "must not change its arguments"),
        ({"hessian": lambda Y, F: -np.ones_like(F), "exact_hessian": False}, "not be negative"),
    ],
)
def test_check_finds_wrong_derivatives(methods, words):
    check_loss(Squared())
    with pytest.raises(edgewise.InvalidParameterError, match=words):
        check_loss(Broken(**methods))


@pytest.mark.parametrize("thing", [None, "log_loss", LogLoss, print])
def test_check_wants_a_loss(thing):
    with pytest.raises(edgewise.InvalidParameterError, match="value"):
        check_loss(thing)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("loss", [*LOSSES.values(), Squared()], ids=[*LOSSES, "squared"])
@pytest.mark.usefixtures("nothing_is_negligible")
def test_trees_are_those_of_the_reference(loss, seed):
    x, y = table(seed, n=150, K=4, missing=0.1)
    w = uneven_weights(seed, len(y))
    options = {"n_estimators": 5, "learning_rate": 0.3, "max_leaf_nodes": 6, "min_samples_leaf": 3}
    fast = NewtonBoostClassifier(loss=loss, **options).fit(x, y, sample_weight=w)
    slow = reference.newton_boost(
        x,
        y,
        lambda T, F: (loss.value(T, F), loss.gradient(T, F), loss.hessian(T, F)),
        sample_weight=w,
        **options,
    )
    for m, trees in enumerate(slow.rounds):
        expected = [[node.split and node.split[1:4] for node in tree.nodes] for tree in trees]
        assert list(trees_of(fast.model_, m)) == expected, f"round {m}"
    np.testing.assert_allclose(fast.model_.scores(x, 1), slow.scores, atol=1e-6)
    np.testing.assert_allclose(fast.history_["loss"], slow.history["loss"], atol=1e-6)


def test_the_log_loss_is_logitboost():
    """But for its factor (K - 1) / K."""
    settings = {"n_estimators": 8, "max_leaf_nodes": 5, "min_samples_leaf": 5}
    logit = edgewise.LogitBoostClassifier(learning_rate=0.2, **settings).fit(X, Y)
    newton = NewtonBoostClassifier(learning_rate=0.2 * 3 / 4, **settings).fit(X, Y)
    np.testing.assert_array_equal(newton.model_.feature, logit.model_.feature)
    np.testing.assert_array_equal(newton.model_.threshold, logit.model_.threshold)
    np.testing.assert_allclose(newton.predict_proba(X), logit.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("loss", ["log_loss", LOSSES["smoothed"], Squared()])
def test_rounds_lower_the_loss(loss):
    model = NewtonBoostClassifier(loss=loss, n_estimators=30, min_samples_leaf=5).fit(X, Y)
    assert np.all(np.diff(model.history_["loss"]) < 0)


def test_robust_losses_tolerate_wrong_labels():
    x, y = load_digits(return_X_y=True)
    x, x_test, y, y_test = train_test_split(x, y, random_state=0, stratify=y)
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(len(y)) < 0.4, rng.integers(10, size=len(y)), y)
    noise = np.full((10, 10), 0.04) + 0.6 * np.eye(10)
    wrong = {
        name: np.mean(
            NewtonBoostClassifier(loss=loss, n_estimators=150, max_leaf_nodes=8)
            .fit(x, noisy)
            .predict(x_test)
            != y_test
        )
        for name, loss in {
            "log": "log_loss",
            "bounded": GeneralizedCrossEntropy(),
            "transition": TransitionLoss(noise),
        }.items()
    }
    assert wrong["bounded"] < 0.9 * wrong["log"]
    assert wrong["transition"] < 0.9 * wrong["log"]


def test_threads_and_order_of_rows():
    loss = GeneralizedCrossEntropy()
    settings = {"loss": loss, "n_estimators": 6, "subsample": 0.7, "random_state": 0}
    model = NewtonBoostClassifier(n_jobs=1, **settings).fit(X, Y)
    order = np.random.default_rng(0).permutation(len(X))
    again = NewtonBoostClassifier(n_jobs=3, **settings).fit(X[order], Y[order])
    assert_same_model(model.model_, again.model_)


def test_own_probabilities():
    class Shares(Squared):
        def probabilities(self, F):
            p = np.clip(F, 0.01, None)
            return p / p.sum(axis=1, keepdims=True)

    model = NewtonBoostClassifier(loss=Shares(), init="zero", n_estimators=20).fit(X, Y)
    F = np.clip(model.decision_function(X), 0.01, None)
    np.testing.assert_allclose(model.predict_proba(X), F / F.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        ({"gradient": lambda Y, F: F[:, 0]}, "gradient of the loss"),
        ({"hessian": lambda Y, F: F * np.inf}, "hessian of the loss"),
        ({"hessian": lambda Y, F: -np.ones_like(F)}, "must not be negative"),
    ],
)
def test_a_broken_loss_is_refused_in_fit(methods, words):
    model = NewtonBoostClassifier(loss=Broken(**methods))
    with pytest.raises(edgewise.EdgewiseError, match=words), np.errstate(invalid="ignore"):
        model.fit(X, Y)
    assert not hasattr(model, "model_")


@pytest.mark.parametrize(
    "make",
    [
        lambda: LogLoss(smoothing=1.0),
        lambda: GeneralizedCrossEntropy(q=0.0),
        lambda: TransitionLoss([[0.5, 0.5]]),
        lambda: TransitionLoss([[0.5, 0.6], [0.5, 0.5]]),
        lambda: TransitionLoss([[1.5, -0.5], [0.5, 0.5]]),
        lambda: NewtonBoostClassifier(loss=TransitionLoss(np.eye(3))).fit(X, Y),
        lambda: FocalLoss(gamma=-1.0),
        lambda: FocalLoss(gamma=np.nan),
        lambda: LogitAdjustedLoss([0.5, 0.6]),
        lambda: LogitAdjustedLoss([1.0, 0.0]),
        lambda: LogitAdjustedLoss([[0.5, 0.5]]),
        lambda: LogitAdjustedLoss([0.5, 0.5], tau=np.inf),
        lambda: NewtonBoostClassifier(loss=LogitAdjustedLoss([0.5, 0.5])).fit(X, Y),
    ],
)
def test_bad_parameters_of_losses(make):
    with pytest.raises(edgewise.InvalidParameterError):
        make()


def test_the_focal_loss_without_gamma_is_the_log_loss():
    rng = np.random.default_rng(0)
    Y_, F = np.eye(4)[rng.integers(4, size=30)], rng.normal(size=(30, 4))
    focal, log = FocalLoss(gamma=0.0), LogLoss()
    for name in ("value", "gradient", "hessian"):
        np.testing.assert_allclose(getattr(focal, name)(Y_, F), getattr(log, name)(Y_, F))


def test_an_adjusted_loss_finds_the_rare_class():
    """With equal likelihoods of the classes the rare one gets its half of the decisions."""
    rng = np.random.default_rng(0)
    codes = (rng.random(4000) < 0.1).astype(int)
    x = (rng.normal(size=4000) + 1.0 * codes)[:, np.newaxis]
    priors = np.bincount(codes) / 4000
    recalls = {}
    for name, loss in {"log": LogLoss(), "adjusted": LogitAdjustedLoss(priors)}.items():
        model = NewtonBoostClassifier(
            loss=loss, n_estimators=30, max_leaf_nodes=4, min_samples_leaf=100
        ).fit(x[:2000], codes[:2000])
        said = model.predict(x[2000:])
        recalls[name] = [(said == k)[codes[2000:] == k].mean() for k in (0, 1)]
    assert recalls["log"][1] < 0.1
    # the best balanced accuracy cuts halfway between the means: Phi(1/2) = 0.69 of both classes
    assert np.mean(recalls["adjusted"]) == pytest.approx(0.69, abs=0.04)
    assert abs(recalls["adjusted"][0] - recalls["adjusted"][1]) < 0.15


def test_a_loss_of_ones_own_is_not_saved(tmp_path):
    model = NewtonBoostClassifier(loss=Squared(), n_estimators=2).fit(X, Y)
    with pytest.raises(edgewise.ModelFormatError, match="loss"):
        model.save(tmp_path / "model.edgewise")
