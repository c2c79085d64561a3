"""Classifiers of other libraries, where they are installed, each with its own defaults.

All get the same rows, seed and threads. Categories are passed as codes; libraries that support
categories are told the columns, and the others treat the codes as numbers.
"""

import importlib.metadata
import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from ._features import Features
from ._methods import Method, Setting

_MOST_CATEGORIES = 255  # of one column in scikit-learn's histogram boosting


class Peer(Method):
    """A classifier of another library."""

    module: str  # that must be there
    rounds_name: str  # its word for the number of rounds
    needs_dense = False
    needs_whole = False  # nothing missing

    def version(self) -> str:
        return f"{self.library} {importlib.metadata.version(self.library)}"

    def missing_library(self) -> str | None:
        there = importlib.util.find_spec(self.module) is not None
        return None if there else f"{self.library} is not installed"

    def unsuitable(self, features: Features, n_classes: int) -> str | None:
        if self.needs_dense and features.sparse:
            return "takes no sparse matrix"
        if self.needs_whole and features.has_missing:
            return "takes no missing values"
        return None

    def parameters(self, setting: Setting) -> dict[str, Any]:
        rounds = {} if setting.rounds is None else {self.rounds_name: setting.rounds}
        return {**self.own(), **rounds, **setting.params}

    def build(self, features: Features, setting: Setting) -> Any:
        """Make the classifier for rows like these, not fitted."""
        raise NotImplementedError

    def fit(self, features: Features, codes: NDArray[Any], setting: Setting) -> Any:
        return self.build(features, setting).fit(features.matrix, codes)

    def own(self) -> dict[str, Any]:
        """Return the parameters that are set, except seed, threads and verbosity."""
        return {}

    def predict_proba(self, model: Any, features: Features, setting: Setting) -> NDArray[Any]:
        return np.asarray(model.predict_proba(features.matrix))


class LightGBM(Peer):
    name, library, module, rounds_name = "lightgbm", "lightgbm", "lightgbm", "n_estimators"

    def build(self, features: Features, setting: Setting) -> Any:
        import lightgbm

        return lightgbm.LGBMClassifier(
            **self.parameters(setting),
            n_jobs=setting.threads,
            random_state=setting.seed,
            verbosity=-1,
        )

    def fit(self, features: Features, codes: NDArray[Any], setting: Setting) -> Any:
        model = self.build(features, setting)
        categories = [int(j) for j in np.flatnonzero(features.categorical)]
        return model.fit(_floats(features.matrix), codes, categorical_feature=categories or "auto")

    def predict_proba(self, model: Any, features: Features, setting: Setting) -> NDArray[Any]:
        return np.asarray(model.predict_proba(_floats(features.matrix)))


class XGBoost(Peer):
    name, library, module, rounds_name = "xgboost", "xgboost", "xgboost", "n_estimators"

    def version(self) -> str:
        import xgboost

        return f"xgboost {xgboost.__version__}"

    def build(self, features: Features, setting: Setting) -> Any:
        import xgboost

        kinds = ["c" if category else "q" for category in features.categorical]
        return xgboost.XGBClassifier(
            **self.parameters(setting),
            n_jobs=setting.threads,
            random_state=setting.seed,
            verbosity=0,
            **({"feature_types": kinds, "enable_categorical": True} if "c" in kinds else {}),
        )


class CatBoost(Peer):
    name, library, module, rounds_name = "catboost", "catboost", "catboost", "iterations"

    def build(self, features: Features, setting: Setting) -> Any:
        import catboost

        return catboost.CatBoostClassifier(
            **self.parameters(setting),
            thread_count=setting.threads,
            random_seed=setting.seed,
            verbose=False,
            allow_writing_files=False,
            cat_features=[int(j) for j in np.flatnonzero(features.categorical)] or None,
        )

    def fit(self, features: Features, codes: NDArray[Any], setting: Setting) -> Any:
        return self.build(features, setting).fit(_objects(features), codes)

    def predict_proba(self, model: Any, features: Features, setting: Setting) -> NDArray[Any]:
        return np.asarray(model.predict_proba(_objects(features), thread_count=setting.threads))


class SklearnPeer(Peer):
    library, module, rounds_name = "scikit-learn", "sklearn", "n_estimators"

    def fit(self, features: Features, codes: NDArray[Any], setting: Setting) -> Any:
        with threadpool_limits(setting.threads, user_api="openmp"):
            return self.build(features, setting).fit(features.matrix, codes)

    def predict_proba(self, model: Any, features: Features, setting: Setting) -> NDArray[Any]:
        with threadpool_limits(setting.threads, user_api="openmp"):
            return np.asarray(model.predict_proba(features.matrix))


class HistGradientBoosting(SklearnPeer):
    name, rounds_name, needs_dense = "sklearn-hgb", "max_iter", True

    def build(self, features: Features, setting: Setting) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        few = np.zeros_like(features.categorical)
        for j in np.flatnonzero(features.categorical):
            few[j] = np.nanmax(features.matrix[:, j], initial=0) < _MOST_CATEGORIES
        return HistGradientBoostingClassifier(
            **self.parameters(setting),
            random_state=setting.seed,
            categorical_features=few if few.any() else None,
        )


class RandomForest(SklearnPeer):
    name = "sklearn-rf"

    def build(self, features: Features, setting: Setting) -> Any:
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(
            **self.parameters(setting), random_state=setting.seed, n_jobs=setting.threads
        )


class AdaBoost(SklearnPeer):
    """AdaBoost with trees of depth 8, because its default, stumps, is too weak for many classes."""

    name, needs_whole = "sklearn-ada", True

    def own(self) -> dict[str, Any]:
        return {"max_depth": 8}

    def build(self, features: Features, setting: Setting) -> Any:
        from sklearn.ensemble import AdaBoostClassifier
        from sklearn.tree import DecisionTreeClassifier

        params = self.parameters(setting)
        tree = DecisionTreeClassifier(max_depth=params.pop("max_depth"))
        return AdaBoostClassifier(tree, **params, random_state=setting.seed)


def _floats(matrix: Any) -> Any:
    """Convert to floating point: LightGBM warns of other types."""
    return matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64)


def _objects(features: Features) -> Any:
    """CatBoost takes categories as text beside floats, and of SciPy's only the older matrices."""
    if features.sparse:
        return csr_matrix(features.matrix)
    if not features.categorical.any():
        return features.matrix
    mixed = features.matrix.astype(object)
    for j in np.flatnonzero(features.categorical):
        mixed[:, j] = [f"{code:g}" for code in features.matrix[:, j]]
    return mixed


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        LightGBM(),
        XGBoost(),
        CatBoost(),
        HistGradientBoosting(),
        RandomForest(),
        AdaBoost(),
    )
}
