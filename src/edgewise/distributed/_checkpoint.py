"""Checkpoints: the rounds so far as a model file, from which a fit resumes."""

from pathlib import Path
from typing import Any

from .._boosting.loop import Builder, History, Watcher
from .._boosting.outcome import Learned, outcome
from .._ground import atomic
from .._ground.errors import InvalidDataError, ModelFormatError
from .._model import file
from .._model.saved import encoded_parameters, kept, need_savable, restored
from ._settings import Settings

# Parameters that may change from a checkpoint to the fit that resumes from it: how long the fit
# runs, and how. All others decide what the rounds are.
_FREE = frozenset(
    "n_estimators early_stopping n_iter_no_change validation_fraction scoring calibration "
    "time_limit on_interrupt warm_start n_jobs verbose".split()
)


class Checkpoints(Watcher):
    """Writes a file at regular rounds and once more at the end, however the fit ends."""

    def __init__(self, estimator: Any, chosen: Settings) -> None:
        self._estimator = estimator
        self._path = chosen.checkpoint
        self._every = chosen.checkpoint_every
        self._before: Learned | None = None
        if (chosen.resume_from or estimator.warm_start) and hasattr(estimator, "model_"):
            done = estimator.model_, estimator.history_, estimator.model_.n_rounds
            self._before = Learned(*done)
        self._last: tuple[Builder, History] | None = None
        self._n_written = 0
        if self._path is not None:
            need_savable(estimator)
            atomic.need_writable(self._path)

    def watch(self, builder: Builder, items: list[Any], history: History) -> str | None:
        self._last = builder, history
        if history.n_rounds % self._every == 0:
            self._write()
        return None

    def close(self) -> None:
        if self._last is not None and self._last[1].n_rounds > self._n_written:
            self._write()

    def _write(self) -> None:
        if self._path is None or self._last is None:
            return
        builder, history = self._last
        learned = outcome(builder, history.arrays(), history.n_rounds, self._before)
        so_far = type(self._estimator)(**self._estimator.get_params(deep=False))
        vars(so_far).update(kept(self._estimator))  # and none of what runs the fit
        vars(so_far).update(learned._asdict(), stop_reason_="checkpoint")
        so_far.save(self._path)
        self._n_written = history.n_rounds


def resumed(estimator: Any, path: Path | None) -> float | None:
    """Restore an estimator from a checkpoint, if there is one.

    Returns the training loss of the checkpoint, which the same data must have again.
    """
    if path is None:
        return None
    try:
        header, arrays = file.unpack(file.read(path))
        _need_same(path, "estimator", header.get("algorithm"), type(estimator).__name__)
        stored = restored(type(estimator), header, arrays)
    except (OSError, ModelFormatError) as error:
        raise InvalidDataError(
            f"resume_from must name a checkpoint, which is a model file. {path}: {error}"
        ) from None
    _need_same(path, "number of columns", stored.n_features_in_, estimator.n_features_in_)
    for name, value in encoded_parameters(estimator).items():
        if name not in _FREE:
            _need_same(path, name, header["parameters"].get(name), value)
    _need_same(path, "kind of y", stored.multi_label_, False)
    _need_same(path, "history of losses", "loss" in stored.history_, True)
    estimator.classes_, estimator.model_ = stored.classes_, stored.model_
    estimator.history_, estimator.n_iter_ = stored.history_, stored.n_iter_
    return float(stored.history_["loss"][stored.n_iter_ - 1]) if stored.n_iter_ else None


def _need_same(path: Path, what: str, stored: Any, wanted: Any) -> None:
    if stored != wanted:
        raise InvalidDataError(
            "resume_from must name a checkpoint of the same estimator, with the same parameters "
            f"and columns. {path} has the {what} {str(stored)[:80]}. Got {str(wanted)[:80]}."
        )
