"""The minimiser for three classifiers, from one equation in one unknown.

The four pairs have the margins

    X_0 = b_1 + b_2 + b_3,  X_1 = -b_1 + b_2 + b_3,  X_2 = b_1 - b_2 + b_3,  X_3 = b_1 + b_2 - b_3

with X_0 = X_1 + X_2 + X_3 and b_1 = (X_2 + X_3) / 2, b_2 = (X_1 + X_3) / 2, b_3 = (X_1 + X_2) / 2
(the slides misprint b_1). Under that relation sum_l C_l(X_l) is to be minimal, with
C_l(X) = m_l phi(X) + n_l phi(-X). Hence C_l'(X_l) = -s for l = 1, 2, 3 and C_0'(X_0) = s with one
multiplier s:

    exponential   X_l = log(m_l/n_l) / 2 - asinh(s / (2 sqrt(n_l m_l))),   X_0 with +asinh
    logistic      X_l = log(m_l - s) - log(n_l + s),                       X_0 with -s   (s in nats)

X_1 + X_2 + X_3 - X_0 decreases with s, so its root is unique. Pairs with one empty cell are limits
of these: X_l = log(m_l / s), s > 0, where n_l = 0, and X_l = log(-s / n_l), s < 0, where m_l = 0,
for the exponential loss; for the logistic loss the formula holds as it is. A pair with two empty
cells costs nothing: then s = 0 and the other pairs stand alone.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from ._pairs import Pairs, Reals

V = np.array([[1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, -1]], dtype=np.float64)


def minimiser(pairs: Pairs, loss: str) -> Reals:
    """beta for a table of three classifiers that has a minimum; the shortest if there are many."""
    m, n = _all_four(pairs)
    there = m + n > 0
    if there.all():
        x = _EXACT[loss](m, n)
    else:
        x = np.log(m[there] / n[there]) * (0.5 if loss == "exponential" else 1.0)
    beta: Reals = np.linalg.pinv(V[there]) @ x
    return beta


def _all_four(pairs: Pairs) -> tuple[Reals, Reals]:
    """m and n of the four pairs, with zeros for those that do not occur."""
    m, n = np.zeros(4), np.zeros(4)
    place = (pairs.V[:, None, :] == V).all(axis=2).argmax(axis=1)
    m[place], n[place] = pairs.m, pairs.n
    return m, n


def _orient(m: Reals, n: Reals) -> tuple[Reals, Reals]:
    """Turns pair 0 round: Y_0 = -X_0 obeys the formula of the others, and sum Y_l = 0."""
    a, b = m.copy(), n.copy()
    a[0], b[0] = n[0], m[0]
    return a, b


def _exponential(m: Reals, n: Reals) -> Reals:
    """The four margins. The unknown is z with s = scale sinh(z), or +-scale exp(z) by sign of s."""
    a, b = _orient(m, n)
    scale = float(np.max(m + n))
    half_empty_up, half_empty_down = (b == 0).any(), (a == 0).any()

    def s_of(z: float) -> float:
        if half_empty_up:
            return scale * float(np.exp(z))
        return -scale * float(np.exp(-z)) if half_empty_down else scale * float(np.sinh(z))

    def margins(z: float) -> Reals:
        s = s_of(z)
        return np.array([_exponential_margin(p, q, s) for p, q in zip(a, b, strict=True)])

    return _upright(margins(_root(lambda z: float(margins(z).sum()))))


def _exponential_margin(m: float, n: float, s: float) -> float:
    """The X with n exp(X) - m exp(-X) = -s."""
    if n == 0:
        return float(np.log(m / s))
    if m == 0:
        return float(np.log(-s / n))
    return float(0.5 * np.log(m / n) - np.arcsinh(s / (2.0 * np.sqrt(n * m))))


def _logistic(m: Reals, n: Reals) -> Reals:
    """The four margins. -n_l < s < m_l for all l, so s = low + (high - low) expit(z)."""
    a, b = _orient(m, n)
    low, high = float(np.max(-b)), float(np.min(a))
    width = high - low

    def margins(z: float) -> Reals:
        # From the nearer end, so that nothing cancels where s is close to it.
        to_high, to_low = width * expit(-z), width * expit(z)
        x: Reals = np.log((a - high) + to_high) - np.log((b + low) + to_low)
        return x

    return _upright(margins(_root(lambda z: float(margins(z).sum()))))


def _upright(y: Reals) -> Reals:
    y[0] = -y[0]
    return y


def _root(decreasing: Callable[[float], float]) -> float:
    """The zero of a decreasing function on the real line."""
    low, high = -1.0, 1.0
    while decreasing(low) < 0:
        low *= 2.0
    while decreasing(high) > 0:
        high *= 2.0
    return float(brentq(decreasing, low, high, xtol=1e-15, rtol=1e-15, maxiter=500))


_EXACT: dict[str, Callable[[Reals, Reals], Reals]] = {
    "exponential": _exponential,
    "logistic": _logistic,
}
