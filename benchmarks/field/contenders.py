"""Edgewise and its peers, each with its defaults: only seed, threads and silence are set.

LightGBM, XGBoost, CatBoost and scikit-learn's histogram boosting are the adapters of
`edgewise.comparison`, which tell each library the columns of categories in its own way. What only
this benchmark compares stands here.
"""

import importlib.util
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edgewise
from edgewise.comparison._features import Features
from edgewise.comparison._methods import OURS, Method, Setting
from edgewise.comparison._peers import PEERS, Peer, SklearnPeer

Codes = NDArray[Any]


class Default:
    """A contender: a method and the parameters that its name stands for."""

    def __init__(self, method: Method, **params: Any) -> None:
        self.method = method
        self.params = params

    def missing(self) -> str | None:
        """Why it cannot run here, or None."""
        return self.method.missing_library()

    def warm_up(self, threads: int) -> None:
        """What a process does once (imports, threads, compiling) is not part of a fit's time.

        Without a budget, since a fit may use up all of it.
        """
        rng = np.random.default_rng(0)
        matrix, codes = rng.normal(size=(60, 2)), np.arange(60) % 3
        features = Features(matrix, matrix, np.zeros(2, dtype=bool))
        params = {name: value for name, value in self.params.items() if name != "time_limit"}
        self.method.fit(features, codes, Setting(0, threads, 2, params))


class ExtraTrees(SklearnPeer):
    """Takes categories as codes, and missing values as they are."""

    name = "extra-trees"

    def build(self, features: Features, setting: Setting) -> Any:
        from sklearn.ensemble import ExtraTreesClassifier

        return ExtraTreesClassifier(
            **self.parameters(setting), random_state=setting.seed, n_jobs=setting.threads
        )


class ChimeraBoost(Peer):
    name, library, module, rounds_name = (
        "chimeraboost",
        "chimeraboost",
        "chimeraboost",
        "n_estimators",
    )

    def fit(self, features: Features, codes: Codes, setting: Setting) -> Any:
        import chimeraboost

        model = chimeraboost.ChimeraBoostClassifier(
            **self.parameters(setting), thread_count=setting.threads, random_state=setting.seed
        )
        categories = [int(j) for j in np.flatnonzero(features.categorical)]
        return model.fit(_words(features), codes, cat_features=categories or None)

    def predict_proba(self, model: Any, features: Features, setting: Setting) -> Codes:
        return np.asarray(model.predict_proba(_words(features)))


class Perpetual(Peer):
    name, library, module, rounds_name = "perpetual", "perpetual", "perpetual", "iteration_limit"

    def fit(self, features: Features, codes: Codes, setting: Setting) -> Any:
        import perpetual

        model = perpetual.PerpetualClassifier(
            **self.parameters(setting), num_threads=setting.threads, seed=setting.seed
        )
        return model.fit(_frame(features), codes)

    def predict_proba(self, model: Any, features: Features, setting: Setting) -> Codes:
        return np.asarray(model.predict_proba(_frame(features)))


class Budgeted(Peer):
    """A search that gets `time_limit` seconds."""

    def parameters(self, setting: Setting) -> dict[str, Any]:
        return dict(setting.params)


class AutoGluon(Budgeted):
    """Tabular, trees only, optimising log loss, with its best_quality presets."""

    name, library, module = "autogluon", "autogluon.tabular", "autogluon"
    trees = ("GBM", "XGB", "CAT", "RF", "XT")

    def missing_library(self) -> str | None:
        there = importlib.util.find_spec("autogluon") and importlib.util.find_spec(
            "autogluon.tabular"
        )
        return None if there else "autogluon.tabular is not installed"

    def fit(self, features: Features, codes: Codes, setting: Setting) -> Any:
        from autogluon.tabular import TabularPredictor
        from autogluon.tabular.configs.hyperparameter_configs import get_hyperparameter_config

        portfolio = get_hyperparameter_config("zeroshot")
        models = {name: portfolio[name] for name in self.trees if name in portfolio}
        self._folder = tempfile.TemporaryDirectory()  # kept as long as the method
        predictor = TabularPredictor(
            label="target",
            problem_type="multiclass",
            eval_metric="log_loss",
            path=self._folder.name,
            verbosity=0,
        )
        table = _frame(features).assign(target=codes)
        return predictor.fit(
            table,
            presets="best_quality",
            hyperparameters=models,
            time_limit=setting.params["time_limit"],
            num_cpus=setting.threads,
            num_gpus=0,
        )

    def predict_proba(self, model: Any, features: Features, setting: Setting) -> Codes:
        answers = model.predict_proba(_frame(features))
        return answers[sorted(answers.columns)].to_numpy()


class FLAML(Budgeted):
    """With its own choice of learners."""

    name, library, module = "flaml", "flaml", "flaml"

    def fit(self, features: Features, codes: Codes, setting: Setting) -> Any:
        from flaml import AutoML

        search = AutoML()
        search.fit(
            _frame(features),
            codes,
            task="classification",
            metric="log_loss",
            time_budget=setting.params["time_limit"],
            n_jobs=setting.threads,
            seed=setting.seed,
            verbose=0,
        )
        return search

    def predict_proba(self, model: Any, features: Features, setting: Setting) -> Codes:
        return np.asarray(model.predict_proba(_frame(features)))


class Estimator(Method):
    """An estimator of edgewise by the name of its class."""

    library = "edgewise"

    def __init__(self, name: str, estimator: str) -> None:
        self.name = name
        self.estimator = estimator

    def version(self) -> str:
        return f"edgewise {edgewise.__version__}"

    def missing_library(self) -> str | None:
        there = hasattr(edgewise, self.estimator)
        return None if there else f"the edgewise that is installed has no {self.estimator}"

    def unsuitable(self, features: Features, n_classes: int) -> str | None:
        return None

    def parameters(self, setting: Setting) -> dict[str, Any]:
        return dict(setting.params)

    def fit(self, features: Features, codes: Codes, setting: Setting) -> Any:
        build = getattr(edgewise, self.estimator)
        model = build(**setting.params, random_state=setting.seed, n_jobs=setting.threads)
        return model.fit(features.native, codes)

    def predict_proba(self, model: Any, features: Features, setting: Setting) -> Codes:
        return np.asarray(model.predict_proba(features.native))


class Searched(Default):
    """A search has nothing to warm up but its imports: a small fit would take its whole budget."""

    def warm_up(self, threads: int) -> None:
        if self.method.name == "autogluon":
            import autogluon.tabular  # noqa: F401
        else:
            import flaml  # noqa: F401


AUTO = "edgewise-auto"
REFERENCE = "catboost"
EDGEWISE: dict[str, Default] = {
    AUTO: Default(Estimator(AUTO, "AutoBoostClassifier")),
    "edgewise-aoso": Default(OURS["aoso"]),
    "edgewise-aoso-stopped": Default(OURS["aoso"], early_stopping=True),
}
DEFAULTS: dict[str, Default] = {  # the libraries that the front door is judged against
    "lightgbm": Default(PEERS["lightgbm"]),
    "xgboost": Default(PEERS["xgboost"]),
    "xgboost-vector": Default(PEERS["xgboost"], multi_strategy="multi_output_tree"),
    "sklearn-hgb": Default(PEERS["sklearn-hgb"]),
    "extra-trees": Default(ExtraTrees()),
    "catboost": Default(PEERS["catboost"]),
}
FURTHER: dict[str, Default] = {
    "chimeraboost": Default(ChimeraBoost()),
    "perpetual": Default(Perpetual()),
}
SEARCHES = {"autogluon": AutoGluon(), "flaml": FLAML()}
USUAL = [*EDGEWISE, *FURTHER, *DEFAULTS]


def contender(name: str, params: Mapping[str, Any] | None = None) -> Default:
    """The contender called `name`; `NAME@SECONDS` gives a search or edgewise-auto its time."""
    plain, at, seconds = name.partition("@")
    known = {**EDGEWISE, **FURTHER, **DEFAULTS}
    limit = {"time_limit": _seconds(name, seconds)} if at else {}
    if plain in SEARCHES:
        return Searched(SEARCHES[plain], **({"time_limit": 60.0} | limit))
    if plain not in known or (at and plain != AUTO):
        raise LookupError(
            f"contender {name!r}: allowed are {', '.join([*known, *SEARCHES])}; "
            f"{AUTO} and the searches also as NAME@SECONDS"
        )
    found = known[plain]
    further = dict(params or {}) if plain in EDGEWISE else {}
    return Default(found.method, **found.params, **limit, **further)


def _seconds(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise LookupError(f"contender {name!r}: after @ comes a number of seconds") from None


def _frame(features: Features) -> Any:
    """A frame with categories of pandas, whatever came."""
    import pandas as pd

    if isinstance(features.native, pd.DataFrame):
        return features.native
    return pd.DataFrame(features.matrix, columns=[f"x{j}" for j in range(features.matrix.shape[1])])


def _words(features: Features) -> Any:
    """Columns of categories as text, the others as numbers; a missing category is a word."""
    if not features.categorical.any():
        return features.matrix
    frame = _frame(features).copy()
    for j in np.flatnonzero(features.categorical):
        words = frame.iloc[:, j].astype(object)
        frame[frame.columns[j]] = words.where(words.notna(), "missing").astype(str)
    return frame
