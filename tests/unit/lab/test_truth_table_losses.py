"""Losses: derivatives, links, bounds of remainders, and the hypotheses on a user's phi."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from edgewise import InvalidParameterError
from edgewise.lab.truth_table import CustomLoss, ExponentialLoss, LogisticLoss, TruthTable

LOG2 = np.log(2.0)


def mixture(x):
    """Half exponential, half logistic: it meets all hypotheses."""
    return 0.5 * np.exp(-x) + 0.5 * np.logaddexp(0.0, -x) / LOG2


LOSSES = {
    "exponential": ExponentialLoss(),
    "logistic": LogisticLoss(),
    "phi alone": CustomLoss(mixture),
    "phi and slope": CustomLoss(
        mixture, lambda x: -0.5 * np.exp(-x) - 0.5 / (1 + np.exp(x)) / LOG2
    ),
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
MARGINS = np.linspace(-6, 6, 49)


@every_loss
def test_derivatives(loss):
    h = 1e-5
    slope = (loss.value(MARGINS + h) - loss.value(MARGINS - h)) / (2 * h)
    np.testing.assert_allclose(loss.slope(MARGINS), slope, rtol=1e-8, atol=1e-9)
    bend = (loss.slope(MARGINS + h) - loss.slope(MARGINS - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(MARGINS), bend, rtol=1e-7, atol=1e-7)


def test_differences_are_as_good_as_promised():
    loss = CustomLoss(lambda x: np.exp(-x))
    x = np.linspace(-5, 5, 101)
    np.testing.assert_allclose(loss.slope(x), -np.exp(-x), rtol=1e-12)
    np.testing.assert_allclose(loss.curvature(x), np.exp(-x), rtol=1e-9)


@every_loss
@pytest.mark.parametrize("eta", [0.03, 0.4, 0.5, 0.9])
def test_the_link_inverts_the_best_score(loss, eta):
    def cost(f):
        f = np.array([f])
        return float(eta * loss.value(f)[0] + (1 - eta) * loss.value(-f)[0])

    score = minimize_scalar(cost, bracket=(-1, 1), tol=1e-12).x
    assert loss.link(np.array([score]))[0] == pytest.approx(eta, abs=1e-6)


@every_loss
def test_remainders_stay_within_their_bounds(loss):
    rng = np.random.default_rng(0)
    x, down, up = rng.normal(size=200) * 2, rng.exponential(size=200), rng.exponential(size=200)
    low, high = loss.remainder(x, down, up)
    t = np.linspace(-down, up, 1001)
    values = loss.slope(x + t) - loss.slope(x) - loss.curvature(x) * t
    swing = abs(loss.slope(x - down)) + abs(loss.curvature(x)) * (down + up)
    rounding = 1e-12 * (swing + 1)
    assert (low <= values.min(axis=0) + rounding).all()
    assert (high >= values.max(axis=0) - rounding).all()
    # and are not idle: within a fiftieth of all that phi' does
    assert ((values.min(axis=0) - low) <= 0.02 * swing).all()
    assert ((high - values.max(axis=0)) <= 0.02 * swing).all()


@every_loss
def test_a_single_step_is_the_best(loss):
    rng = np.random.default_rng(1)
    x, sign, count = rng.normal(size=30), rng.choice([-1.0, 1.0], size=30), rng.random(30)
    step = loss.relaxation_step(x, sign, count)
    best = minimize_scalar(lambda b: count @ loss.value(x + sign * b), bracket=(-1, 1), tol=1e-12)
    assert step == pytest.approx(best.x, abs=1e-6)
    assert abs(count @ (sign * loss.slope(x + sign * step))) < 1e-11


# case: (phi, the hypothesis that is named, where)
VIOLATIONS = {
    "hinge": (lambda x: np.maximum(0.0, 1.0 - x), "positive", "x = 1."),
    "negative": (lambda x: 1.5 * np.exp(-x) - 0.5, "positive", "x = 1.1."),
    "square": (lambda x: (1.0 - x) ** 2, "positive", "x = 1."),
    "growing again": (lambda x: np.exp(-x) * 0.5 + 0.5 * np.cosh(x / 4), "decreasing", "x = 2."),
    "constant ends": (lambda x: np.exp(-np.minimum(x, 3.0)), "decreasing", "x = 3."),
    "sigmoid": (lambda x: 2.0 / (1.0 + np.exp(x)), "strictly convex", "x = 0."),
    "straight": (
        lambda x: np.where(x < -1, np.e * -x, np.exp(-np.maximum(x, -1))),
        "strictly convex",
        "x = -1.1.",
    ),
    "not one at zero": (lambda x: np.exp(-x) * 2, "phi(0) = 1", "x = 0."),
    "NaN": (lambda x: np.exp(-x) / (np.abs(x - 2) > 1e-9), "finite", "x = 1.9."),
}


@pytest.mark.parametrize("case", VIOLATIONS)
def test_a_violated_hypothesis_is_named_with_its_place(case):
    phi, hypothesis, place = VIOLATIONS[case]
    with pytest.raises(InvalidParameterError, match="loss 'mine' must be") as error:
        CustomLoss(phi, name="mine")
    allowed, _, came = str(error.value).partition("Got ")
    assert hypothesis in allowed.partition("(phi is to be")[0]
    assert came.endswith(f"at {place}")


def test_flat_at_zero():
    """phi'(0) < 0 can only fail alone where phi is not convex: say so by the slope."""
    with pytest.raises(InvalidParameterError, match=r"phi'\(0\) < 0"):
        CustomLoss(lambda x: np.exp(-x), lambda x: -np.exp(-x) * (x != 0))


def test_a_wrong_slope_is_refused():
    with pytest.raises(InvalidParameterError, match="integral of the slope"):
        CustomLoss(lambda x: np.exp(-x), lambda x: -1.1 * np.exp(-x))


def test_phi_must_keep_the_shape():
    with pytest.raises(InvalidParameterError, match=r"one number for each margin.*shape \(\)"):
        CustomLoss(lambda x: 1.0)


def test_a_plain_callable_is_a_loss():
    table = TruthTable.from_cells([[1, 1], [-1, 1], [1, -1], [-1, -1]], [5, 2, 3, 1])
    plain, exact = table.minimise(lambda x: np.exp(-x)), table.minimise()
    np.testing.assert_allclose(plain.beta, exact.beta, atol=1e-11)
    assert table.minimise(mixture).loss == "mixture"
