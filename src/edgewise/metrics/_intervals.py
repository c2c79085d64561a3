"""How far a share measured on some rows may be from the true one."""

from typing import NamedTuple

from scipy.special import ndtri

from .._ground.params import check, integer, real


class Interval(NamedTuple):
    low: float
    high: float


def error_interval(n_wrong: int, n: int, *, level: float = 0.95) -> Interval:
    """Interval for an error rate of which `n_wrong` of `n` independent rows were seen.

    Wilson's score interval (1927), which stays within 0 and 1 and does not shrink to nothing where
    no row is wrong.
    """
    rules = {"n": integer(1), "level": real(0.0, 1.0, high_open=True)}
    check("error_interval", {"n": n, "level": level}, rules)
    check("error_interval", {"n_wrong": n_wrong}, {"n_wrong": integer(0, n)})
    z2 = float(ndtri(0.5 + level / 2)) ** 2
    share = n_wrong / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = (z2 * (share * (1 - share) / n + z2 / (4 * n * n))) ** 0.5 / (1 + z2 / n)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))
