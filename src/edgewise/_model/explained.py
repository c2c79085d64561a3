"""Explanations of predictions and models of trees.

A mixin of the estimators, which adds names to the numbers of the model.
"""

from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._data import dates
from .._data.sparse import Matrix, dense
from .._ground.errors import InvalidParameterError
from .described import Names, Reader, node_columns, tree_text
from .model import Model, Scores


class NoForestError(InvalidParameterError, AttributeError):
    """The model does not consist of edgewise's trees. hasattr is False for such properties."""


class Explained:
    """Shapley values and importances by class."""

    model_: Any
    classes_: NDArray[Any]
    n_features_in_: int

    def _ready(self, X: ArrayLike) -> tuple[Matrix, int]:
        raise NotImplementedError

    def shap_values(self, X: ArrayLike) -> Scores:
        """Compute exact Shapley values: the contribution of each feature to each score of each row.

        The expectation over features outside a coalition follows the training rows at the splits of
        the trees. The sum over the features, plus `shap_start_`, equals the scores. There is one
        score per class, also with two classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_features, n_classes)
            Contributions to the scores.
        """
        forest = self._forest("shap_values")
        matrix, threads = self._ready(X)
        return self._by_given_column(forest.shapley_values(matrix, threads), axis=1)

    @property
    def shap_start_(self) -> Scores:
        """The mean scores from which `shap_values` start: (n_classes)"""
        return self._forest("shap_start_").expected_scores()

    def explanation(self, X: ArrayLike) -> Any:
        """Return `shap_values` as an ``Explanation`` of the package shap, for its plots.

        Choose a class for a plot, as in ``shap.plots.beeswarm(explanation[:, :, k])``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        shap.Explanation
            Values of shape (n_rows, n_features, n_classes).
        """
        forest = self._forest("explanation")
        try:
            from shap import Explanation  # noqa: PLC0415 - optional
        except ImportError:
            raise ImportError(
                "explanation(X) needs the package shap: install it. shap_values(X) and "
                "shap_start_ return the same numbers without it."
            ) from None
        matrix, threads = self._ready(X)
        values = self._by_given_column(forest.shapley_values(matrix, threads), axis=1)
        return Explanation(
            values=values,
            base_values=np.tile(self.shap_start_, (len(values), 1)),
            data=dense(matrix)[:, : self.n_features_in_],
            feature_names=self._feature_names(),
            output_names=[str(c) for c in self.classes_],
        )

    @property
    def feature_importances_by_class_(self) -> Scores:
        """`feature_importances_`, divided among the classes: (n_classes, n_features)

        The gain of a split is divided in proportion to the variance, over the training rows at the
        node, of the steps of each class's score in the leaves below. The sum over the classes is
        `feature_importances_`.
        """
        gain = self._forest("feature_importances_by_class_").gain_by_class()
        gain = self._by_given_column(gain, axis=1)
        total = gain.sum()
        return gain / total if total > 0 else gain

    def to_text(
        self, round: int | None = None, tree: int | None = None, max_depth: int | None = None
    ) -> str:
        """Describe the model, a round or a tree in text, one line per node.

        An inner node shows its question, where missing values go, the share of the training weight
        that reaches it and its gain. A leaf shows how far it moves the score of which class.

        Parameters
        ----------
        round : int, default=None
            Number of a round, from 0. None describes all rounds.
        tree : int, default=None
            Number of a tree, from 0: within `round` if that is given, else in the whole model.
        max_depth : int, default=None
            Depth below which leaves are only counted. None shows all nodes.

        Returns
        -------
        str
            The description.
        """
        reader = self._reader("to_text")
        if max_depth is not None and max_depth < 0:
            raise InvalidParameterError(f"max_depth must be 0 or more, or None. Got {max_depth}.")
        trees = _chosen(reader.model, round, tree)
        texts = [tree_text(reader, t, max_depth) for t in trees]
        if round is None and tree is None:
            texts.insert(0, _title(type(self).__name__, reader))
        return "\n\n".join(texts)

    def to_frame(self) -> Any:
        """Return all nodes of the model as a data frame, one row per node.

        The frame is of pandas if that is installed, else of polars or pyarrow. Columns: round, tree
        (counted over the model), node, parent and depth in the tree, feature, threshold, categories
        (that go left), missing ("left" or "right"), left and right child, gain, cover (share of the
        training weight), and for every class the value a leaf adds to its score. -1 stands for no
        node.

        Returns
        -------
        data frame
            The nodes.
        """
        reader = self._reader("to_frame")
        return _frame(node_columns(reader))

    def _reader(self, what: str) -> Reader:
        forest = self._forest(what)
        classes = [str(c) for c in self.classes_]
        found = getattr(self, "dates_", {})
        kinds = {j: column.kind for j, column in found.items()}
        names = dates.names_of_parts(found, self._feature_names())
        return Reader(forest, Names(names, classes, getattr(self, "categories_", {}), kinds))

    def _by_given_column(self, values: Scores, axis: int) -> Scores:
        """Figures of the model's columns, those of parts of a date added to the date's."""
        return dates.folded(values, getattr(self, "dates_", {}), axis)

    def _forest(self, what: str) -> Model:
        check_is_fitted(self)
        if isinstance(self.model_, Model):
            return self.model_
        raise NoForestError(
            f"{what} needs a model of edgewise's own trees. This {type(self).__name__} was fitted "
            "with classifiers of another library as 'base': fit it with one of its own base "
            "learners by name, or explain it with a method for any classifier."
        )

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{j}" for j in range(self.n_features_in_)]
        return [str(name) for name in names]


def _chosen(model: Model, round: int | None, tree: int | None) -> range:
    """Numbers of the requested trees."""
    first, last = 0, model.n_trees
    if round is not None:
        _need_below("round", round, model.n_rounds)
        first, last = (int(t) for t in model.round_start[round : round + 2])
    if tree is None:
        return range(first, last)
    _need_below("tree", tree, last - first)
    return range(first + tree, first + tree + 1)


def _need_below(what: str, given: int, end: int) -> None:
    if not 0 <= given < end:
        raise InvalidParameterError(f"{what} must be from 0 to {end - 1}. Got {given}.")


def _title(name: str, reader: Reader) -> str:
    model, classes = reader.model, reader.names.classes
    start = ", ".join(f"{c} {s:+.4g}" for c, s in zip(classes, model.start, strict=True))
    return f"{name}: {model.n_rounds} rounds, {model.n_trees} trees\nscores start at: {start}"


def _frame(columns: dict[str, list[Any]]) -> Any:
    for backend in ("pandas", "polars", "pyarrow"):
        if find_spec(backend) is not None:
            return nw.from_dict(columns, backend=backend).to_native()
    raise ImportError("to_frame() needs pandas, polars or pyarrow: install one of them.")
