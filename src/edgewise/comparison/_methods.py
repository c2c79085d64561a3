"""A method: an algorithm of edgewise or of another library, as the comparison uses it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._tools.catalogue import ALGORITHMS
from ._features import Features


@dataclass(frozen=True)
class Setting:
    """The inputs of a fit other than the rows; the same for all methods except `params`."""

    seed: int
    threads: int
    rounds: int | None = None  # None: each method's own default
    params: dict[str, Any] = field(default_factory=dict)  # of this method


class Method(ABC):
    """A classifier with a name."""

    name: str
    library: str

    @abstractmethod
    def version(self) -> str:
        """Library and version, part of the key of a result."""

    @abstractmethod
    def missing_library(self) -> str | None:
        """Return why the method cannot run here, or None."""

    @abstractmethod
    def unsuitable(self, features: Features, n_classes: int) -> str | None:
        """Return why the method cannot learn from such data, or None."""

    @abstractmethod
    def parameters(self, setting: Setting) -> dict[str, Any]:
        """Return the parameters other than the library's defaults, except seed and threads."""

    @abstractmethod
    def fit(self, features: Features, codes: NDArray[Any], setting: Setting) -> Any:
        """A fitted model; `codes` are 0..K-1 and all occur."""

    @abstractmethod
    def predict_proba(self, model: Any, features: Features, setting: Setting) -> NDArray[Any]:
        """(n, K)"""


class Ours(Method):
    """One of this library's algorithms."""

    library = "edgewise"

    def __init__(self, name: str) -> None:
        self.name = name
        self.estimator = ALGORITHMS[name]

    def version(self) -> str:
        return f"edgewise {__version__}"

    def missing_library(self) -> str | None:
        return None

    def unsuitable(self, features: Features, n_classes: int) -> str | None:
        if self.name == "martiboost" and n_classes != 2:
            return "is for two classes"
        if self.name.startswith("abc-") and n_classes == 2:
            return f"is the same as {self.name.removeprefix('abc-')} for two classes"
        return None

    def parameters(self, setting: Setting) -> dict[str, Any]:
        if setting.rounds is None or self.name == "auto":  # which finds its own rounds
            return dict(setting.params)
        name = "n_layers" if self.name == "martiboost" else "n_estimators"
        return {name: setting.rounds, **setting.params}

    def fit(self, features: Features, codes: NDArray[Any], setting: Setting) -> Any:
        model = self.estimator(
            **self.parameters(setting), random_state=setting.seed, n_jobs=setting.threads
        )
        return model.fit(features.native, codes)

    def predict_proba(self, model: Any, features: Features, setting: Setting) -> NDArray[Any]:
        return np.asarray(model.predict_proba(features.native))


OURS: dict[str, Method] = {name: Ours(name) for name in ALGORITHMS}
