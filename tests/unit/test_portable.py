"""exp and log of our own: close to the true values, and used wherever bits decide."""

import re
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf

import edgewise
from edgewise._ground import portable

PACKAGE = Path(edgewise.__file__).parent
FITS = ("_auto", "_boosting", "_data", "_families", "_model", "distributed")
OF_THE_MACHINE = re.compile(
    r"\b(?:np|math)\.(?:exp|exp2|expm1|log|log1p|log2|log10|logaddexp|cbrt|power|pow|tanh)\("
)


def ulps(got, true):
    return abs(mpf(got) - true) / mpf(float(np.spacing(abs(float(true)))))


def test_exp_is_within_a_few_ulps():
    xs = np.concatenate([np.linspace(-740, 709.7, 997), np.linspace(-1, 1, 101)])
    with mp.workdps(40):
        worst = max(ulps(got, mp.exp(mpf(x))) for x, got in zip(xs, portable.exp(xs), strict=True))
    assert worst < 6  # squares of halves beyond 700; 2 within


def test_log_is_within_a_few_ulps():
    xs = np.concatenate([np.geomspace(5e-324, 1.7e308, 997), np.linspace(0.5, 2, 101)])
    xs = xs[xs != 1.0]
    with mp.workdps(40):
        worst = max(ulps(got, mp.log(mpf(x))) for x, got in zip(xs, portable.log(xs), strict=True))
    assert worst < 4


def test_ends_of_the_range():
    given = np.array([-np.inf, -1e300, 0.0, 1e300, np.inf, np.nan])
    np.testing.assert_array_equal(portable.exp(given), [0, 0, 1, np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(
        portable.log([0.0, -0.0, 1.0, np.inf, -1.0, np.nan]),
        [-np.inf, -np.inf, 0, np.inf, np.nan, np.nan],
    )
    assert portable.exp(0) == 1.0
    assert isinstance(portable.log(2.0), float)
    assert portable.exp(np.zeros((2, 0))).shape == (2, 0)


def test_soft_max_and_logistic():
    x = np.array([[0.0, 1.0, -1e4], [3.0, 3.0, 3.0]])
    p = portable.softmax(x)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(p[0, :2], [1 / (1 + np.e), np.e / (1 + np.e)], rtol=1e-15)
    np.testing.assert_allclose(portable.log_softmax(x)[0], x[0] - np.log(1 + np.e), rtol=1e-15)
    z = np.array([[-1e3, -2.0, 0.0, 2.0, 1e3]])
    np.testing.assert_allclose(portable.log_logistic(z), -np.logaddexp(0.0, -z), rtol=1e-14)


def test_shape_is_kept_for_any_layout():
    x = np.asfortranarray(np.arange(12.0).reshape(3, 4))[:, ::2]
    np.testing.assert_allclose(portable.exp(x), np.exp(x), rtol=1e-15)


@pytest.mark.parametrize("path", [
    *sorted(PACKAGE.glob("*.py")),
    *(path for folder in FITS for path in sorted((PACKAGE / folder).rglob("*.py"))),
    PACKAGE / "metrics/_losses.py",
], ids=lambda path: str(path.relative_to(PACKAGE)))  # fmt: skip
def test_fits_use_only_portable_functions(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if not line.endswith("# as scikit-learn")]
    assert not OF_THE_MACHINE.findall("\n".join(lines))
