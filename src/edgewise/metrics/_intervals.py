"""Confidence intervals of a share measured on some rows."""

from typing import NamedTuple

from scipy.special import ndtri

from .._ground.params import check, integer, real


class Interval(NamedTuple):
    """An interval, from `low` to `high`.

    Attributes
    ----------
    low : float
        Lower end.
    high : float
        Upper end.
    """

    low: float
    high: float


def error_interval(n_wrong: int, n: int, *, level: float = 0.95) -> Interval:
    """Compute Wilson's score interval of an error rate.

    The interval stays within 0 and 1 and does not shrink to a point where no row is wrong.

    Parameters
    ----------
    n_wrong : int
        Number of rows predicted wrongly.
    n : int
        Number of independent rows.
    level : float, default=0.95
        Confidence level.

    Returns
    -------
    Interval
        Lower and upper end.

    References
    ----------
    E. B. Wilson: "Probable inference, the law of succession, and statistical inference", JASA 22
    (1927), 209-212.

    Examples
    --------
    >>> from edgewise.metrics import error_interval
    >>> low, high = error_interval(5, 100)
    >>> round(low, 3), round(high, 3)
    (0.022, 0.112)
    """
    rules = {"n": integer(1), "level": real(0.0, 1.0, high_open=True)}
    check("error_interval", {"n": n, "level": level}, rules)
    check("error_interval", {"n_wrong": n_wrong}, {"n_wrong": integer(0, n)})
    z2 = float(ndtri(0.5 + level / 2)) ** 2
    share = n_wrong / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = (z2 * (share * (1 - share) / n + z2 / (4 * n * n))) ** 0.5 / (1 + z2 / n)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))
