"""The outcome of a fit: the model, the figures of its rounds, and their number."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .loop import Builder


class Learned(NamedTuple):
    """The results of a fit."""

    model_: Any
    history_: dict[str, NDArray[Any]]
    n_iter_: int


def outcome(
    builder: Builder,
    story: dict[str, NDArray[Any]],
    n_rounds: int,
    before: Learned | None,
    factor: float = 1.0,
) -> Learned:
    """The first rounds of the builder, their scores times `factor`, after those before."""
    model = builder.model()
    if n_rounds < model.n_rounds:
        model = model.first_rounds(n_rounds)
    if factor != 1.0:
        model = model.rescaled(np.full(model.n_classes, factor), np.zeros(model.n_classes))
    if before is not None:
        history = {name: figures[: before.n_iter_] for name, figures in before.history_.items()}
        model = before.model_.followed_by(model)
        story = _joined(history, story)
    return Learned(model, story, model.n_rounds)


def _joined(old: dict[str, NDArray[Any]], new: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Histories one after the other; seconds continue to count."""
    if len(new["loss"]) == 0:
        return old
    joined = {}
    for name in old.keys() & new.keys():
        offset = old[name][-1] if name == "seconds" and len(old[name]) else 0
        joined[name] = np.concatenate([old[name], new[name] + offset])
    return joined
