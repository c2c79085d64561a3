"""Checkpoints: the rounds so far in one file, and going on from it."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._boosting.loop import Builder, History, Watcher
from .._ground.errors import InvalidDataError
from .._model.model import Model
from ._settings import Settings

_KIND = "edgewise checkpoint 1"


class Checkpoints(Watcher):
    """Writes a file every so many rounds, and once more at the end, however the fit ends."""

    def __init__(self, estimator: Any, chosen: Settings) -> None:
        self._estimator = estimator
        self._path = chosen.checkpoint
        self._every = chosen.checkpoint_every
        self._before = getattr(estimator, "model_", None)
        self._history_before = getattr(estimator, "history_", {})
        if not (chosen.resume_from or estimator.warm_start):
            self._before, self._history_before = None, {}
        self._last: tuple[Builder, History] | None = None
        self._n_written = 0

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
        n = history.n_rounds
        model: Model = builder.model().first_rounds(n)
        figures = history.arrays()
        if self._before is not None:
            model = self._before.followed_by(model)
            done = self._before.n_rounds
            figures = {
                name: np.concatenate([self._history_before[name][:done], figures[name]])
                for name in figures.keys() & self._history_before.keys()
            }
        write(self._path, self._estimator, model, figures)
        self._n_written = n


def write(path: Path, estimator: Any, model: Model, history: dict[str, NDArray[Any]]) -> None:
    """Writes beside the file and moves into its place: a reader never sees half of it."""
    header = {"kind": _KIND, "estimator": type(estimator).__name__, "features": model.n_features}
    arrays: dict[str, Any] = {f"model/{name}": a for name, a in model.arrays().items()}
    arrays |= {f"history/{name}": figures for name, figures in history.items()}
    labels = estimator.classes_  # strings may come as objects, which would need pickle
    arrays["classes"] = labels.astype(str) if labels.dtype.kind == "O" else labels
    new = path.with_name(path.name + ".new")
    with open(new, "wb") as file:
        np.savez(file, header=np.array(json.dumps(header)), **arrays)
    os.replace(new, path)


def resumed(estimator: Any, path: Path | None) -> None:
    """Puts an estimator to where a checkpoint left it, if there is one."""
    if path is None:
        return
    try:
        with np.load(path, allow_pickle=False) as stored:
            header = json.loads(str(stored["header"]))
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, KeyError) as error:
        raise InvalidDataError(f"resume_from must name a checkpoint. {path}: {error}") from None
    wanted = {"kind": _KIND, "estimator": type(estimator).__name__}
    wanted["features"] = estimator.n_features_in_
    if header != wanted:
        raise InvalidDataError(
            f"resume_from must name a checkpoint of the same estimator and columns, {wanted}. Got "
            f"{header}."
        )
    estimator.model_ = Model(n_features=header["features"], **_of("model/", arrays))
    estimator.history_ = _of("history/", arrays)
    estimator.n_iter_ = estimator.model_.n_rounds
    estimator.classes_ = arrays["classes"]


def _of(prefix: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
