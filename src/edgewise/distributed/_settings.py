"""Settings of fits on a cluster; results do not depend on them."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from .._ground import params as p
from .._ground.errors import EdgewiseError


class WorkersLostError(EdgewiseError, RuntimeError):
    """All workers of the cluster are gone, and no new one has come for a while."""


@dataclass(frozen=True)
class Settings:
    checkpoint: Path | None = None
    checkpoint_every: int = 20
    resume_from: Path | None = None
    patience: float = 30.0
    statistics: dict[str, float] | None = None


_CURRENT: ContextVar[Settings | None] = ContextVar("edgewise.distributed.settings", default=None)
_RULES = {"checkpoint_every": p.integer(1), "patience": p.real(0.0)}


@contextmanager
def settings(
    *,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 20,
    resume_from: str | PathLike[str] | None = None,
    patience: float = 30.0,
    statistics: dict[str, float] | None = None,
) -> Iterator[None]:
    """Settings of the fits on clusters that begin inside the ``with`` block.

    Parameters
    ----------
    checkpoint : path or None
        A model file, written every `checkpoint_every` rounds and when the fit ends, even if it
        fails. `fit` checks first that it can be written.
    checkpoint_every : int
        Rounds between two checkpoints.
    resume_from : path or None
        A checkpoint of the same estimator on the same data, to resume from.
    patience : float
        Seconds to wait for a worker if there is none, before the fit ends with an error.
    statistics : dict or None
        Receives the costs of a fit: trips to the blocks, seconds of waiting for them and, of these,
        seconds of work, and bytes of results.
    """
    p.check("settings", {"checkpoint_every": checkpoint_every, "patience": patience}, _RULES)
    chosen = Settings(
        None if checkpoint is None else Path(checkpoint),
        checkpoint_every,
        None if resume_from is None else Path(resume_from),
        patience,
        statistics,
    )
    token = _CURRENT.set(chosen)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> Settings:
    return _CURRENT.get() or Settings()
