"""The contents of an export: trees, labels, and the link from scores to probabilities."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._data.dates import names_of_parts
from .._families.logistic import LogisticBooster
from .._ground.errors import ModelFormatError
from .._model.model import Model
from ..adaboost_mh import AdaBoostMHClassifier
from ..auto_boost import AutoBoostClassifier
from ..martiboost import BranchingProgram, MartiBoostClassifier
from ..multi_label_boost import MultiLabelBoostClassifier
from ..ordinal_boost import OrdinalBoostClassifier
from ..samme import SAMMEClassifier
from ..softmax_boost import SoftmaxBoostClassifier

LinkKind = Literal["softmax", "label odds", "vote shares", "walk"]


class Link(NamedTuple):
    """From scores F (n, K) to probabilities.

    "softmax": of F. "label odds": P_k = 1 / (1 + exp(number - 2 F_k)), divided by their sum unless
    labels are many. "vote shares": soft-max of number * F / sum F. "walk": of a branching program,
    whose answer is the probability itself.
    """

    kind: LinkKind
    number: float = 0.0


class Contents(NamedTuple):
    """The parts of a fitted estimator."""

    owner: str
    classes: NDArray[Any]
    names: list[str] | None  # of the model's columns: the features, then parts of dates
    tables: dict[int, NDArray[Any]]  # by column: values whose places are the model's categories
    trees: Model
    link: Link
    multi_label: bool
    one_answer: bool  # whether the answer of a multi-label model is the label of largest score
    program: BranchingProgram | None  # of MartiBoost

    @property
    def n_features(self) -> int:
        return self.trees.n_features

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def title(self) -> str:
        return (
            f"{self.owner}: {self.n_classes} classes, {self.n_features} features, "
            f"{self.trees.n_trees} trees"
        )

    def sets(self) -> list[NDArray[np.float64]]:
        """The categories of every node that has a set, in the order of the nodes."""
        return np.split(self.trees.set_values, self.trees.set_start[1:-1])

    def set_of_node(self) -> NDArray[np.int64]:
        """(n_nodes): the number of a node's set, or -1"""
        has_set = np.isnan(self.trees.threshold)
        return np.where(has_set, np.cumsum(has_set) - 1, -1)


def contents_of(estimator: Any) -> Contents:
    """The parts of a fitted estimator, or ModelFormatError where its members are not our trees."""
    owner = type(estimator).__name__
    link = _link_of(estimator)
    check_is_fitted(estimator)
    program = estimator.model_ if isinstance(estimator.model_, BranchingProgram) else None
    trees = estimator.model_ if program is None else program.trees
    if not isinstance(trees, Model):
        raise ModelFormatError(
            f"{owner} cannot be exported with base classifiers of another library: only trees of "
            "edgewise's own can."
        )
    return Contents(
        owner,
        estimator.classes_,
        _names(estimator),
        estimator.categories_,
        trees,
        link,
        getattr(estimator, "multi_label_", False),
        isinstance(estimator, SoftmaxBoostClassifier),
        program,
    )


def _names(estimator: Any) -> list[str] | None:
    given, dates = getattr(estimator, "feature_names_in_", None), getattr(estimator, "dates_", {})
    if given is None and not dates:
        return None
    numbered = [f"x{j}" for j in range(estimator.n_features_in_)]
    names = numbered if given is None else [str(name) for name in given]
    return names_of_parts(dates, names)


def _link_of(estimator: Any) -> Link:
    if hasattr(getattr(estimator, "loss", None), "probabilities"):
        raise ModelFormatError(
            f"{type(estimator).__name__} cannot be exported with a loss that has probabilities of "
            "its own, which are code."
        )
    if isinstance(estimator, OrdinalBoostClassifier):
        raise ModelFormatError(
            "OrdinalBoostClassifier cannot be exported: its probabilities are differences of "
            "sorted margins, which the exports do not know. Save it as a model file."
        )
    if isinstance(estimator, MultiLabelBoostClassifier):
        raise ModelFormatError(
            "MultiLabelBoostClassifier cannot be exported: the exports do not know its rules from "
            "probabilities to labels. Save it as a model file."
        )
    if isinstance(estimator, AutoBoostClassifier | LogisticBooster | SoftmaxBoostClassifier):
        return Link("softmax")
    if isinstance(estimator, AdaBoostMHClassifier):
        return Link("label odds", getattr(estimator, "_log_odds", 0.0))
    if isinstance(estimator, SAMMEClassifier):
        return Link("vote shares", getattr(estimator, "sharpness_", 0.0))
    if isinstance(estimator, MartiBoostClassifier):
        return Link("walk")
    raise ModelFormatError(
        "Only boosting estimators of edgewise with trees of their own can be exported. Got "
        f"{type(estimator).__name__}."
    )


def need_a_sum_of_trees(contents: Contents, target: str) -> None:
    """Raise an error for MartiBoost, whose trees are not added up."""
    if contents.program is not None:
        raise ModelFormatError(
            f"{target} cannot express {contents.owner}, whose trees are the nodes of a branching "
            "program and not a sum. Export it to C or Python, or save it as a model file."
        )


def missing_extra(library: str, extra: str = "export") -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f"This export needs {library}: pip install 'edgewise[{extra}]'.", name=library
    )
