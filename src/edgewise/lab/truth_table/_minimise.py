"""The minimiser of a table's risk, by relaxation and by Newton's method.

*Relaxation* (the slides' algorithm; coordinate descent) goes round and round the classifiers and
gives each the coefficient that is best while the others stay. With the exponential loss that
is beta_j += log(W+_j / W-_j) / 2, W+_j and W-_j being the weight c_s exp(-s beta) of the cells in
which classifier j is right and wrong; otherwise it is the root of an increasing function.

*Newton's method* moves all coefficients at once, damped where a full step would not lower the risk.

Both stop where the Newton step, an estimate of the distance to the minimiser, is below `tol` or
lost in rounding. Where minimisers form a flat, the shortest is returned.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ._losses import Loss
from ._pairs import Pairs, Reals

_ROUNDING = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Trace:
    """The way to the minimum.

    Attributes
    ----------
    risks : mean risk at the start and after every step: of relaxation, a single coefficient's.
    betas : coefficients at the start and after every sweep (relaxation) or step (Newton).
    """

    risks: Reals
    betas: Reals


@dataclass(frozen=True)
class Minimum:
    """A minimum of a table's mean risk.

    Attributes
    ----------
    beta : the minimiser, (n_classifiers,).
    risk : the mean risk there.
    unique : whether it is the only minimiser; if not, it is the shortest.
    loss, method : names.
    n_iter : sweeps of relaxation or steps of Newton's method.
    converged : whether the stopping rule was met.
    distance : the last Newton step's largest entry: about how far the true minimiser is.
    trace : the way there.
    """

    beta: Reals
    risk: float
    unique: bool
    loss: str
    method: str
    n_iter: int
    converged: bool
    distance: float
    trace: Trace


class Walk:
    """The state of a minimisation: where it is, how far it seems to be, what it has seen."""

    def __init__(self, pairs: Pairs, loss: Loss, rank: int, start: Reals | None = None) -> None:
        self.pairs, self.loss = pairs, loss
        self.total = float(pairs.m.sum() + pairs.n.sum())
        self.basis = row_space(pairs.V, rank)
        self.beta = np.zeros(pairs.V.shape[1]) if start is None else start.copy()
        self.risks, self.betas = [pairs.risk(self.beta, loss)], [self.beta.copy()]
        self.n_iter = 0
        self.look()

    def look(self) -> None:
        """Computes the Newton step here, and what rounding may make of it."""
        here = self.pairs.expansion(self.beta, self.loss)
        inverse = _inverse(here.hessian, self.basis)
        self.step = -inverse @ here.gradient
        self.descent = float(here.gradient @ self.step)
        # How far rounding, and differences where they stand in for slopes, may move the gradient.
        error = _ROUNDING * here.slopes + 16.0 * self.loss.noise * here.risk
        self.blur = error * float(abs(inverse).max())

    @property
    def distance(self) -> float:
        return float(abs(self.step).max())

    def arrived(self, tol: float) -> bool:
        return self.distance <= max(tol, self.blur)

    def move(self, beta: Reals) -> None:
        """Ends an iteration at `beta`."""
        self.beta = beta
        self.betas.append(beta.copy())
        self.n_iter += 1
        self.look()

    def minimum(self, method: str, *, converged: bool) -> Minimum:
        beta = self.beta if self.basis is None else self.basis @ (self.basis.T @ self.beta)
        return Minimum(
            beta=beta,
            risk=self.pairs.risk(beta, self.loss) / self.total,
            unique=self.basis is None,
            loss=self.loss.name,
            method=method,
            n_iter=self.n_iter,
            converged=converged,
            distance=self.distance,
            trace=Trace(np.array(self.risks) / self.total, np.array(self.betas)),
        )


def row_space(rows: Reals, rank: int) -> Reals | None:
    """An orthonormal basis of the row space as columns, or None where it is the whole space."""
    if rank == rows.shape[1]:
        return None
    basis: Reals = np.linalg.eigh(rows.T @ rows)[1][:, -rank:]
    return basis


def _inverse(hessian: Reals, basis: Reals | None) -> Reals:
    if basis is not None:
        return basis @ _inverse(basis.T @ hessian @ basis, None) @ basis.T
    try:
        return np.asarray(np.linalg.inv(hessian), dtype=np.float64)
    except np.linalg.LinAlgError:  # flat to rounding: a step along what is not
        return np.asarray(np.linalg.pinv(hessian), dtype=np.float64)


def relax(walk: Walk, tol: float, max_iter: int) -> bool:
    """Sweeps until the minimiser is near; whether it is."""
    patterns, counts = walk.pairs.cells()
    while not walk.arrived(tol):
        if walk.n_iter == max_iter:
            return False
        walk.move(_sweep(walk, patterns, counts))
    return True


def _sweep(walk: Walk, patterns: Reals, counts: Reals) -> Reals:
    """One step of every coefficient in turn; returns the new coefficients."""
    beta = walk.beta.copy()
    x = patterns @ beta  # (n_cells): margins
    for j in range(len(beta)):
        step = walk.loss.relaxation_step(x, patterns[:, j], counts)
        beta[j] += step
        x += patterns[:, j] * step
        walk.risks.append(float(counts @ walk.loss.value(x)))
    return beta


def newton(walk: Walk, tol: float, max_iter: int) -> bool:
    """Newton's steps until the minimiser is near, and one more; whether it is."""
    while walk.n_iter < max_iter:
        last = walk.arrived(tol)
        walk.move(_line_search(walk))
        if last:
            return True
    return walk.arrived(tol)


def _line_search(walk: Walk) -> Reals:
    """A step that lowers the risk by a tenth of what its slope promises, halved as needed.

    Once the promise is lost in rounding the step is taken as it is: Newton's method is then in its
    quadratic phase.
    """
    before, length = walk.risks[-1], 1.0
    for _ in range(60):
        beta = walk.beta + length * walk.step
        risk = walk.pairs.risk(beta, walk.loss)
        hidden = -walk.descent * length <= 1e-13 * before
        if np.isfinite(risk) and (hidden or risk <= before + 0.1 * length * walk.descent):
            walk.risks.append(risk)
            return beta
        length *= 0.5
    walk.risks.append(before)
    return walk.beta.copy()


def minimise(
    pairs: Pairs, loss: Loss, method: str, *, rank: int, tol: float, max_iter: int
) -> Minimum:
    """The minimum of a table that is known to have one, its cells being of the given rank."""
    walk = Walk(pairs, loss, rank)
    converged = (
        relax(walk, tol, max_iter) if method == "relaxation" else newton(walk, tol, max_iter)
    )
    if not converged:
        warnings.warn(
            f"The {method} method stopped after {max_iter} iterations about {walk.distance:.2g} "
            "from the minimiser; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return walk.minimum(method, converged=converged)
