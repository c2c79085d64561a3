"""Figures of a fitted estimator round by round: learning curve, margins, history.

Displays and reports draw these. Estimators of other libraries may lack rounds, scores or
probabilities; their figures are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._ground.errors import InvalidParameterError
from .._ground.params import check, integer
from ..metrics import log_loss, margins
from ..metrics._forecasts import indicator, is_indicator

Array = NDArray[np.float64]


class Words(NamedTuple):
    """The name and the meaning of an entry of ``history_``."""

    title: str
    meaning: str
    logarithmic: bool = False


STORY = {
    "loss": Words("training loss", "loss that boosting minimises, on the training rows", True),
    "validation_score": Words(
        "validation score", "score that early stopping monitors; greater is better"
    ),
    "edge": Words("edge", "advantage of the round's classifier over chance"),
    "error": Words("error of the round", "weighted error of the round's classifier alone"),
    "alpha": Words("alpha", "the weight of the round's classifier"),
    "gradient_norm": Words("gradient norm", "norm of the cost's gradient before the round", True),
    "step": Words("step", "step size of the round, before the learning rate"),
    "vote_mass": Words("vote mass", "weight that the round's votes leave to its classifier"),
    "z": Words("z", "factor by which the round multiplies the risk"),
    "bound": Words("bound", "bound of the training error: the product of all z", True),
    "hamming_loss": Words("Hamming loss", "weighted share of training labels with the wrong sign"),
    "base_class": Words("base class", "class against which the round's trees move the others"),
    "frozen": Words("frozen", "share of the training weight whose walk has ended"),
}


@dataclass(frozen=True)
class HistoryFigure:
    """One of the arrays of ``history_``."""

    name: str
    words: Words
    values: Array  # (T): of rounds 1 to T
    classes: NDArray[Any] | None  # if the values are indices of these


def history_figures(estimator: Any, names: Sequence[str] | None = None) -> list[HistoryFigure]:
    """Return the entries of ``history_`` except the time, or those of `names` in this order."""
    history = getattr(estimator, "history_", {})
    told = [name for name in (*STORY, *history) if name in history and name != "seconds"]
    if names is None:
        names = list(dict.fromkeys(told))
    unknown = [name for name in names if name not in history]
    if unknown:
        raise InvalidParameterError(
            f"history_ holds {', '.join(history) or 'nothing'}. Got the name {unknown[0]!r}."
        )
    return [
        HistoryFigure(
            name,
            STORY.get(name, Words(name.replace("_", " "), "")),
            np.asarray(history[name], dtype=np.float64),
            np.asarray(estimator.classes_) if name == "base_class" else None,
        )
        for name in names
    ]


def rounds_used(estimator: Any) -> int | None:
    """The rounds that predictions use: with early stopping, the best."""
    used = getattr(estimator, "n_iter_", None)
    return int(used) if isinstance(used, int | np.integer) else None


# --- learning curve ----------------------------------------------------------------------------


@dataclass(frozen=True)
class StagedFigures:
    """Error and log loss after every round, on some rows."""

    error: Array  # (T): share of wrong rows; of an indicator matrix, of wrong labels
    log_loss: Array  # (T)

    def best_round(self, measure: str) -> int:
        """The round with the lowest figure, from 1, the first of equals; 0 if there are none."""
        figures = getattr(self, measure)
        return int(np.argmin(figures)) + 1 if len(figures) else 0


def has_rounds(estimator: Any) -> bool:
    return hasattr(estimator, "staged_predict") and hasattr(estimator, "staged_predict_proba")


def staged_figures(estimator: Any, X: Any, y: ArrayLike) -> StagedFigures:
    """The learning curve on rows X with labels y, if the estimator has one."""
    errors, losses = [], []
    stages = zip(estimator.staged_predict(X), estimator.staged_predict_proba(X), strict=True)
    for said, proba in stages:
        errors.append(share_wrong(y, said))
        losses.append(log_loss(y, proba, classes=estimator.classes_))
    return StagedFigures(np.array(errors), np.array(losses))


def share_wrong(y: ArrayLike, said: ArrayLike) -> float:
    """Share of wrong rows; of an indicator matrix, of wrong labels (Hamming loss)."""
    if is_indicator(y):
        return float(np.mean(indicator(y, "y") != indicator(said, "y_pred")))
    return float(np.mean(np.asarray(y).ravel() != np.asarray(said).ravel()))


# --- margins -----------------------------------------------------------------------------------


class RoundMargins(NamedTuple):
    """Margins after a round, of all rows (and labels), ascending."""

    round: int | None  # None: of the whole model, which has no rounds
    values: Array


def staged_margins(
    estimator: Any, X: Any, y: ArrayLike, rounds: Sequence[int] | None = None
) -> list[RoundMargins]:
    """Margins after the given rounds, or after some from the first to the last."""
    n_rounds = rounds_used(estimator)
    if not n_rounds or not hasattr(estimator, "staged_decision_function"):
        return [_margins(None, y, scores_of(estimator, X), estimator)]
    wanted = _spread(n_rounds) if rounds is None else list(rounds)
    for number in wanted:
        check("staged_margins", {"rounds": number}, {"rounds": integer(1, n_rounds)})
    stages: Iterator[tuple[int, Array]] = enumerate(estimator.staged_decision_function(X), 1)
    return [_margins(m, y, scores, estimator) for m, scores in stages if m in wanted]


def scores_of(estimator: Any, X: Any) -> Array:
    """Scores of an estimator, or its probabilities if it has no scores."""
    ask = getattr(estimator, "decision_function", None) or estimator.predict_proba
    return np.asarray(ask(X), dtype=np.float64)


def _margins(number: int | None, y: ArrayLike, scores: Array, estimator: Any) -> RoundMargins:
    of_rows = margins(y, scores, classes=estimator.classes_)
    return RoundMargins(number, np.sort(of_rows, axis=None))


def _spread(n_rounds: int) -> list[int]:
    """Some rounds from the first to the last, in a geometric sequence."""
    return sorted({max(1, round(n_rounds**share)) for share in (0.0, 0.4, 0.7, 1.0)})
