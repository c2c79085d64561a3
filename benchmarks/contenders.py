"""edgewise and its peers behind one small interface: rounds and their times.

The adapters of `edgewise.comparison` make the peers' classifiers.

Every contender gets the same rounds, leaves per tree, shrinkage and threads; everything else
stays at its own default, except that early stopping and all printing are off. Multi-class
data only: with two classes the peers' raw scores have another shape.

What a round is: K trees in LightGBM, XGBoost, scikit-learn, MART and LogitBoost; one tree
that moves all classes in CatBoost; one tree in AOSO.
"""

import gc
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgewise.comparison._features import Features as Table
from edgewise.comparison._methods import Setting as Given
from edgewise.comparison._peers import PEERS as ADAPTERS

NUMBERS = Table(np.empty((0, 0)), np.empty((0, 0)), np.zeros(0, dtype=bool))  # no categories
Labels = NDArray[np.int64]
Features = NDArray[np.float32]


@dataclass(frozen=True)
class Setting:
    """What all contenders share; None leaves a value to the estimator's own default."""

    rounds: int | None
    leaves: int | None
    shrinkage: float | None
    threads: int


@dataclass(frozen=True)
class Fitted:
    """A trained model, how it was set, and how long its `fit` took."""

    model: Any
    setting: Setting
    seconds: float
    marks: list[float]


class Contender(ABC):
    """One library (or one algorithm of ours); an adapter says how to build, train, stage."""

    name: str
    exact_times = True  # False: the time of a round is the total divided evenly

    def fit(
        self,
        X: Features,
        y: Labels,
        *,
        rounds: int | None,
        leaves: int | None,
        shrinkage: float | None,
        threads: int,
    ) -> Fitted:
        """Train, and take the time of the training alone (imports are done before)."""
        setting = Setting(rounds, leaves, shrinkage, threads)
        model = self.build(setting)
        marks: list[float] = []
        gc.collect()
        start = perf_counter()
        self.train(model, X, y, lambda: marks.append(perf_counter() - start))
        return Fitted(model, setting, perf_counter() - start, marks)

    def errors_by_round(self, fitted: Fitted, X: Features, y: Labels) -> NDArray[np.int64]:
        """Number of wrong rows after each round, from one pass over the trees."""
        return np.array([np.count_nonzero(p != y) for p in self.staged_labels(fitted, X)])

    def times_by_round(self, fitted: Fitted) -> NDArray[np.float64]:
        """Seconds of training after each round, from the start of `fit`."""
        if fitted.marks:
            return np.array(fitted.marks)
        rounds = fitted.setting.rounds
        return fitted.seconds * np.arange(1, rounds + 1) / rounds

    def predict_proba(self, fitted: Fitted, X: Features) -> NDArray[np.floating]:
        """Class probabilities by the library's own scikit-learn interface."""
        return fitted.model.predict_proba(X)

    @abstractmethod
    def build(self, setting: Setting) -> Any:
        """An unfitted estimator."""

    def train(self, model: Any, X: Features, y: Labels, mark: Callable[[], None]) -> None:
        """Fit `model`; call `mark` after each round if the library lets us."""
        model.fit(X, y)

    def staged_labels(self, fitted: Fitted, X: Features) -> Iterator[Labels]:
        """Predicted labels after each round."""
        return fitted.model.staged_predict(X)


def classifier(library: str, setting: Setting, **params: Any) -> Any:
    """A peer's classifier; parameters that are None are left to its default."""
    given = {name: value for name, value in params.items() if value is not None}
    return ADAPTERS[library].build(NUMBERS, Given(0, setting.threads, setting.rounds, given))


class Edgewise(Contender):
    """One of our estimators; `params` are its further constructor arguments."""

    def __init__(self, name: str, estimator: str, **params: Any) -> None:
        self.name = name
        self.estimator = estimator
        self.params = params

    def build(self, setting: Setting) -> Any:
        import edgewise

        shared = {
            "n_estimators": setting.rounds,
            "max_leaf_nodes": setting.leaves,
            "learning_rate": setting.shrinkage,
        }
        given: dict[str, Any] = {k: v for k, v in shared.items() if v is not None}
        given |= {"early_stopping": False, "n_jobs": setting.threads, "random_state": 0}
        return getattr(edgewise, self.estimator)(**given | self.params)

    def times_by_round(self, fitted: Fitted) -> NDArray[np.float64]:
        """What `fit` does outside its loop of rounds (binning above all) counts as done before."""
        in_loop = np.asarray(fitted.model.history_["seconds"])
        return fitted.seconds - in_loop[-1] + in_loop


class LightGBM(Contender):
    """With `extra_trees` one cut of every feature is drawn, as with our splitter="random"."""

    def __init__(self, name: str, **params: Any) -> None:
        self.name = name
        self.params = params

    def build(self, setting: Setting) -> Any:
        shape = {"num_leaves": setting.leaves, "learning_rate": setting.shrinkage}
        return classifier("lightgbm", setting, **shape, **self.params)

    def train(self, model: Any, X: Features, y: Labels, mark: Callable[[], None]) -> None:
        model.fit(X, y, callbacks=[lambda _: mark()])

    def staged_labels(self, fitted: Fitted, X: Features) -> Iterator[Labels]:
        booster = fitted.model.booster_
        score: Any = 0.0  # the start of the scores is part of the first trees
        for i in range(booster.current_iteration()):
            one_round = {"start_iteration": i, "num_iteration": 1}
            threads = fitted.setting.threads
            score = score + booster.predict(X, raw_score=True, num_threads=threads, **one_round)
            yield score.argmax(axis=1)


class XGBoost(Contender):
    """The histogram method, grown leaf by leaf so that it has the same number of leaves."""

    name = "xgboost"

    def build(self, setting: Setting) -> Any:
        return classifier(
            "xgboost",
            setting,
            tree_method="hist",
            grow_policy="lossguide",
            max_leaves=setting.leaves,
            max_depth=0,
            learning_rate=setting.shrinkage,
        )

    def train(self, model: Any, X: Features, y: Labels, mark: Callable[[], None]) -> None:
        from xgboost.callback import TrainingCallback

        class Mark(TrainingCallback):
            def after_iteration(self, *_: Any) -> bool:
                mark()
                return False

        model.set_params(callbacks=[Mark()])
        model.fit(X, y)

    def staged_labels(self, fitted: Fitted, X: Features) -> Iterator[Labels]:
        booster = fitted.model.get_booster()
        margin = None  # the first call starts at the model's own intercept
        for i in range(booster.num_boosted_rounds()):
            margin = booster.inplace_predict(
                X, iteration_range=(i, i + 1), predict_type="margin", base_margin=margin
            )
            yield margin.argmax(axis=1)


class CatBoost(Contender):
    """Grown leaf by leaf (Lossguide), or with its default symmetric trees of depth 6 (64 leaves).

    The time of a round is taken as an equal share of the total.
    """

    exact_times = False

    def __init__(self, name: str, *, symmetric: bool) -> None:
        self.name = name
        self.symmetric = symmetric

    def build(self, setting: Setting) -> Any:
        shape = {"grow_policy": "Lossguide", "max_leaves": setting.leaves, "depth": 16}
        own = {} if self.symmetric else shape
        return classifier("catboost", setting, learning_rate=setting.shrinkage, **own)

    def staged_labels(self, fitted: Fitted, X: Features) -> Iterator[Labels]:
        stages = fitted.model.staged_predict(X, thread_count=fitted.setting.threads)
        return (labels.ravel() for labels in stages)

    def predict_proba(self, fitted: Fitted, X: Features) -> NDArray[np.floating]:
        return fitted.model.predict_proba(X, thread_count=fitted.setting.threads)


class HistGradientBoosting(Contender):
    """scikit-learn's; the time of a round is taken as an equal share of the total."""

    name = "sklearn-hgb"
    exact_times = False

    def build(self, setting: Setting) -> Any:
        from threadpoolctl import threadpool_limits

        threadpool_limits(setting.threads, user_api="openmp")  # it has no parameter for this
        return classifier(
            "sklearn-hgb",
            setting,
            max_leaf_nodes=setting.leaves,
            learning_rate=setting.shrinkage,
            early_stopping=False,
        )


OURS = {
    "edgewise-mart": "MARTClassifier",
    "edgewise-abc-mart": "ABCMARTClassifier",
    "edgewise-logitboost": "LogitBoostClassifier",
    "edgewise-abc-logitboost": "ABCLogitBoostClassifier",
    "edgewise-aoso": "AOSOLogitBoostClassifier",
}
RANDOM_CUTS = "-random"  # after the name of one of ours: one cut of a feature, drawn
PEERS: dict[str, Contender] = {
    "lightgbm": LightGBM("lightgbm"),
    "lightgbm-extra-trees": LightGBM("lightgbm-extra-trees", extra_trees=True),
    "xgboost": XGBoost(),
    "catboost": CatBoost("catboost", symmetric=False),
    "catboost-symmetric": CatBoost("catboost-symmetric", symmetric=True),
    "sklearn-hgb": HistGradientBoosting(),
}


def contender(name: str, **params: Any) -> Contender:
    """The contender called `name`; `params` go to our own estimators and to LightGBM."""
    if params and name == "lightgbm":
        return LightGBM(name, **params)
    if name in PEERS:
        return PEERS[name]
    if name in OURS:
        return Edgewise(name, OURS[name], **params)
    if name.endswith(RANDOM_CUTS) and name.removesuffix(RANDOM_CUTS) in OURS:
        estimator = OURS[name.removesuffix(RANDOM_CUTS)]
        return Edgewise(name, estimator, splitter="random", **params)
    raise LookupError(
        f"contender {name!r}: allowed are {', '.join([*OURS, *PEERS])}; "
        f"ours also with {RANDOM_CUTS!r} at the end"
    )
