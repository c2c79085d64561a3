"""The search.

All trials are compared by their log loss or another metric on a held-out fifth of the rows, drawn
class by class; early stopping always watches the log loss. Trial 0 has the defaults. Then settings
are drawn in groups of nine: all nine learn from a ninth of the
training rows, the best three from a third, the best one from all (successive halving: Jamieson and
Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016).
On small tables all trials learn from all rows. Only trials on all rows can win.

The time determines only the number of trials: a trial that is cut off does not count. The same
number of trials with the same seed therefore finds the same setting.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._data.rows import stratified_split
from .._ground import params as p
from .._ground.errors import InvalidDataError, InvalidParameterError
from .._tools.scorers import named_scorer, score_of
from ..comparison._features import Features, features_of
from ..metrics import log_loss
from ._space import drawn

HELD_OUT = 0.2  # share of the rows that judges
MOST_ROUNDS = 5000
GROUP, KEPT = 9, 3  # settings of a group; one in KEPT continues
LEAST_ROWS = 1000  # to learn from, for a group to begin with a part of the rows

_RULES = {"budget": p.real(0.0), "trials": p.integer(1, none=True), "seed": p.integer(0)}

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Trial:
    """One fit of the search.

    Attributes
    ----------
    number : int
        Number of the trial.
    setting : int
        Number of the setting drawn; 0 is the defaults.
    params : dict[str, Any]
        Parameters that differ from the defaults.
    rows : int
        Number of rows the trial learned from.
    share : float
        Share of the available rows it learned from.
    rounds : int
        Rounds kept by early stopping.
    log_loss : float
        Log loss of the held-out rows.
    error : float
        Error rate of the held-out rows.
    score : float
        The metric that trials are compared by, or minus the log loss: greater is better.
    seconds : float
        Duration of the fit.
    """

    number: int
    setting: int
    params: dict[str, Any]
    rows: int
    share: float
    rounds: int
    log_loss: float
    error: float
    score: float
    seconds: float


@dataclass(frozen=True)
class Tuning:
    """The results of a search.

    Attributes
    ----------
    trials : tuple[Trial, ...]
        All fits of the search.
    best : Trial
        The best of them.
    params : dict[str, Any]
        Parameters of the best trial with its number of rounds, for a fit to all rows.
    held_out : int
        Number of held-out rows that the trials are compared on.
    stopped : str
        Why the search ended: "time" or "trials".
    model : Any
        The best setting, fitted to all rows, if `refit` was set.
    """

    trials: tuple[Trial, ...]
    best: Trial
    params: dict[str, Any]
    held_out: int
    stopped: str
    model: Any = None


class Watcher(Protocol):
    """Interface of an object that `tune` tells about its progress."""

    def begin(self, number: int) -> None:
        """Called when a trial begins.

        Parameters
        ----------
        number : int
            Number of the trial.
        """

    def done(self, trial: Trial) -> None:
        """Called when a trial has ended and counts.

        Parameters
        ----------
        trial : Trial
            Its result.
        """


@dataclass
class _Search:
    """The state of a search."""

    estimator: type[Any]
    fixed: dict[str, Any]
    X: Features
    y: NDArray[Any]
    train: Rows
    held: Rows
    seed: int
    end: float  # on the clock
    refit: bool
    watcher: Watcher | None
    metric: str | None
    trials: list[Trial] = field(default_factory=list)

    def best(self) -> Trial | None:
        whole = [trial for trial in self.trials if trial.share == 1.0]
        return min(whole, key=lambda t: (-t.score, t.log_loss, t.error, t.number), default=None)

    def left(self) -> float:
        """Return the seconds for trials, without those reserved for the final fit."""
        best = self.best()
        reserve = 1.5 * best.seconds / (1.0 - HELD_OUT) if self.refit and best else 0.0
        return self.end - time.perf_counter() - reserve


def tune(  # noqa: PLR0913 - options, each by its name
    estimator: type[Any],
    X: Any,
    y: ArrayLike,
    *,
    budget: float,
    trials: int | None = None,
    seed: int = 0,
    params: Mapping[str, Any] | None = None,
    metric: str | None = None,
    refit: bool = True,
    watcher: Watcher | None = None,
) -> Tuning:
    """Search for the parameters of a booster within a time budget.

    Random search with successive halving; early stopping chooses the number of rounds of each
    trial.

    Parameters
    ----------
    estimator : type
        Class of the estimator, one with rounds.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
        Rows.
    y : array-like of shape (n_rows,)
        Labels.
    budget : float
        Seconds the search may take.
    trials : int, default=None
        Largest number of trials. None sets no limit.
    seed : int, default=0
        Seed of the settings and of the held-out rows.
    params : mapping, default=None
        Parameters of every trial, which are not searched.
    metric : str, default=None
        Metric that trials are compared by, such as "macro-f1": any name that `edgewise evaluate
        --metric` takes. None compares log losses.
    refit : bool, default=True
        Whether to fit the best setting to all rows, within the same time.
    watcher : Watcher, default=None
        Object that is told about every trial.

    Returns
    -------
    Tuning
        The trials, the best parameters and the model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.tuning import tune
    >>> X, y = load_iris(return_X_y=True)
    >>> found = tune(MARTClassifier, X, y, budget=30, trials=2)
    >>> found.model.predict(X[:2])
    array([0, 0])
    """
    begin = time.perf_counter()
    p.check("tune", {"budget": budget, "trials": trials, "seed": seed}, _RULES)
    if metric is not None:
        named_scorer(metric)
    fixed = _fixed(estimator, seed, params or {})
    labels = np.asarray(y)
    train, held = _split(labels, seed)
    features = features_of([X])[0]
    search = _Search(
        estimator,
        fixed,
        features,
        labels,
        train,
        held,
        seed,
        begin + budget,
        refit,
        watcher,
        metric,
    )
    stopped = _carry_out(search, trials)
    best = search.best()
    assert best is not None  # the first trial counts always
    found = {**best.params, **(params or {}), "n_estimators": best.rounds}
    model = _refitted(search, found) if refit else None
    return Tuning(tuple(search.trials), best, found, len(held), stopped, model)


def _fixed(estimator: type[Any], seed: int, params: Mapping[str, Any]) -> dict[str, Any]:
    known = estimator().get_params(deep=False)
    if "n_estimators" not in known:
        raise InvalidParameterError(
            f"{estimator.__name__} has no parameters to tune. Use fit; AutoBoostClassifier has "
            "time_limit and effort='best'."
        )
    taken = {"n_estimators", "early_stopping", "time_limit", "warm_start"}
    wrong = [name for name in params if name not in known or name in taken]
    if wrong:
        free = ", ".join(name for name in known if name not in taken)
        raise InvalidParameterError(
            f"{wrong[0]!r} cannot be fixed in a search with {estimator.__name__}; these can: "
            f"{free}."
        )
    return {"random_state": seed, **params}


def _split(labels: NDArray[Any], seed: int) -> tuple[Rows, Rows]:
    """Rows to learn from and rows that judge."""
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InvalidDataError(f"y must hold at least two classes. Got {classes[0]} in every row.")
    train, held = stratified_split(codes.astype(np.int32), HELD_OUT, seed)
    if len(held) == 0:
        raise InvalidDataError(
            "Every class has one row only: nothing can be held out to judge by. Give more rows."
        )
    return train, held


def _carry_out(search: _Search, most: int | None) -> str:
    """Runs trials until there is a reason to stop."""
    if not _try(search, 0, 1.0, always=True):
        return "time"
    for setting, share in _schedule(search):
        if most is not None and len(search.trials) >= most:
            return "trials"
        if not _try(search, setting, share):
            return "time"
    raise AssertionError("the schedule never ends")


def _schedule(search: _Search) -> Iterator[tuple[int, float]]:
    """Yield settings and shares of the rows, by the results of the trials so far."""
    first = 1
    shares = [s for s in (1 / 9, 1 / 3) if len(search.train) * s >= LEAST_ROWS] + [1.0]
    while True:
        survivors = list(range(first, first + GROUP))
        for share in shares:
            done = len(search.trials)
            for setting in survivors:
                yield setting, share
            ranked = sorted(search.trials[done:], key=lambda t: (-t.score, t.log_loss, t.number))
            survivors = [trial.setting for trial in ranked[: max(1, len(ranked) // KEPT)]]
        first += GROUP


def _try(search: _Search, setting: int, share: float, *, always: bool = False) -> bool:
    """Run a trial; False if the time cuts it off and it does not `always` count."""
    number, left = len(search.trials), search.left()
    if left <= 0 and not always:
        return False
    if search.watcher:
        search.watcher.begin(number)
    params = drawn(search.estimator, search.seed, setting, search.fixed)
    rows = _some(search.y, search.train, share, search.seed)
    judge = search.X.take(search.held).native
    model = search.estimator(
        **params, **search.fixed, n_estimators=MOST_ROUNDS, time_limit=max(left, 1e-3)
    )
    begin = time.perf_counter()
    model.fit(search.X.take(rows).native, search.y[rows], X_val=judge, y_val=search.y[search.held])
    seconds = time.perf_counter() - begin
    in_time = bool(model.stop_reason_ != "time limit")
    if in_time or always:
        loss, error = _judged(model, judge, search.y[search.held])
        score = -loss
        if search.metric is not None:
            score = score_of(search.metric, model, judge, search.y[search.held])
        facts = (len(rows), share, model.n_iter_, loss, error, score, seconds)
        trial = Trial(number, setting, params, *facts)
        search.trials.append(trial)
        if search.watcher:
            search.watcher.done(trial)
    return in_time


def _some(labels: NDArray[Any], rows: Rows, share: float, seed: int) -> Rows:
    """A share of the rows, of every class at least one."""
    if share == 1.0:
        return rows
    _, codes = np.unique(labels[rows], return_inverse=True)
    _, part = stratified_split(codes.astype(np.int32), share, seed)
    single = np.flatnonzero(np.bincount(codes)[codes] == 1)
    chosen: Rows = rows[np.sort(np.concatenate([part, single]))]
    return chosen


def _judged(model: Any, X: Any, y: NDArray[Any]) -> tuple[float, float]:
    proba = model.predict_proba(X)
    said = model.classes_[proba.argmax(axis=1)]
    return log_loss(y, proba, classes=model.classes_), float(np.mean(said != y))


def _refitted(search: _Search, params: Mapping[str, Any]) -> Any:
    """The setting, fitted to all rows in the time that is left."""
    left = max(search.end - time.perf_counter(), 1e-3)
    given = {**search.fixed, **params, "n_estimators": max(1, params["n_estimators"])}
    model = search.estimator(**given, early_stopping=False, time_limit=left)
    model.fit(search.X.native, search.y)
    return model.set_params(time_limit=None)
