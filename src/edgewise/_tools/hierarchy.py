"""A hierarchy of classes: probabilities of groups, and distances of mistakes from the true class.

It works with any classifier and needs only its probabilities: the probability of a group is the sum
of its classes', and labels minimise the expected distance in the tree.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._ground.checks import Array, check_length, check_proba, label_vector, places
from .._ground.errors import InvalidDataError, InvalidParameterError
from .cost import expected_cost, minimum_cost_labels

FAR = 1.0  # a larger distance leaves the parent group of the class


class ClassHierarchy:
    """A tree whose leaves are the classes of a classifier.

    Parameters
    ----------
    parents : dict
        The parent of every class and of every group of classes. Groups without an entry, or with
        the parent None, are at the top; there may be several.
    classes : array-like of shape (n_classes,)
        The classes, in the order of the columns of probabilities: `classes_` of a classifier.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    nodes : list
        The groups; each comes after the groups within it.
    distances : ndarray of shape (n_classes, n_classes)
        Number of steps from a class up to the lowest group that contains both classes, averaged
        over the two: 0 for the class itself, 1 for classes with the same parent.

    Examples
    --------
    >>> from edgewise import ClassHierarchy
    >>> parents = {"cat": "animal", "dog": "animal", "car": "thing"}
    >>> tree = ClassHierarchy(parents, ["car", "cat", "dog"])
    >>> tree.labels([[0.4, 0.35, 0.25]])
    array(['cat'], dtype='<U3')
    """

    def __init__(self, parents: Mapping[Any, Any], classes: ArrayLike) -> None:
        self.classes: NDArray[Any] = _distinct(classes)
        _need_names(parents)
        leaves = self.classes.tolist()
        self._above = {name: above for name, above in parents.items() if above is not None}
        ways = [self._way(leaf, parents) for leaf in leaves]
        self._need_classes_as_leaves(leaves, parents)
        by_depth = {node: depth for way in ways for depth, node in enumerate(way[::-1])}
        self.nodes: list[Hashable] = sorted(by_depth, key=lambda node: -by_depth[node])
        number = {node: j for j, node in enumerate(self.nodes)}
        self._parent_of_class = np.array([number[way[0]] if way else -1 for way in ways])
        self._parent_of_node = np.array(
            [number.get(self._above.get(node), -1) for node in self.nodes], dtype=np.int64
        )
        self.distances: Array = _distances([[number[node] for node in way] for way in ways])

    @classmethod
    def from_paths(cls, paths: Sequence[Sequence[Any]], classes: ArrayLike) -> Self:
        """Make a hierarchy from the path of every class.

        Parameters
        ----------
        paths : sequence of sequences
            For each class, the groups from the top down, followed by the class itself. Groups of
            the same name under different parents are different groups.
        classes : array-like of shape (n_classes,)
            The classes, in the order of the columns of probabilities.

        Returns
        -------
        ClassHierarchy
        """
        parents: dict[Any, Any] = {}
        for path in paths:
            if isinstance(path, str) or not isinstance(path, Sequence) or len(path) == 0:
                raise InvalidParameterError(
                    f"Each of paths must be a list of groups that ends with a class. Got {path!r}."
                )
            _need_names({"path": tuple(path)})
            groups = [tuple(path[: depth + 1]) for depth in range(len(path) - 1)]
            if path[-1] in parents:
                raise InvalidParameterError(
                    f"paths must name every class once. Got {path[-1]!r} twice."
                )
            parents[path[-1]] = groups[-1] if groups else None
            parents |= {group: group[:-1] or None for group in groups}
        return cls(parents, classes)

    @classmethod
    def learned(
        cls, proba: ArrayLike, y: ArrayLike, classes: ArrayLike, n_groups: int | None = None
    ) -> Self:
        """Make groups of classes that a classifier confuses with each other.

        Parameters
        ----------
        proba : array-like of shape (n_rows, n_classes)
            Probabilities of rows that the classifier did not learn from.
        y : array-like of shape (n_rows,)
            Their labels.
        classes : array-like of shape (n_classes,)
            The classes, in the order of the columns.
        n_groups : int, default=None
            Number of groups. None takes the square root of the number of classes.

        Returns
        -------
        ClassHierarchy
        """
        # imported here because SciPy's clustering is slow to import
        from scipy.cluster.hierarchy import fcluster, linkage  # noqa: PLC0415
        from scipy.spatial.distance import squareform  # noqa: PLC0415

        labels, chances = _distinct(classes), check_proba(proba)
        n_classes = len(labels)
        wanted = round(n_classes**0.5) if n_groups is None else n_groups
        if not isinstance(wanted, int | np.integer) or not 1 <= wanted <= n_classes:
            raise InvalidParameterError(
                f"n_groups must be an integer from 1 to {n_classes}, the number of classes. Got "
                f"{n_groups!r}."
            )
        codes = places(labels, label_vector(y, "y"), "y", "the hierarchy")
        check_length(codes, len(chances), "y")
        taken = np.zeros((n_classes, n_classes))
        for k in range(n_classes):
            if (codes == k).any():
                taken[k] = chances[codes == k].mean(axis=0)
        unlike = 1.0 - (taken + taken.T) / 2
        np.fill_diagonal(unlike, 0.0)
        tree = linkage(squareform(np.maximum(unlike, 0.0), checks=False), "average")
        group = fcluster(tree, wanted, "maxclust")
        names = [("group", int(number)) for number in group]
        return cls(dict(zip(labels.tolist(), names, strict=True)), classes)

    def _way(self, leaf: Any, parents: Mapping[Any, Any]) -> list[Any]:
        """The groups above a class, the lowest first."""
        if leaf not in parents:
            raise InvalidParameterError(
                f"The hierarchy must hold every class. Class {leaf!r} is missing."
            )
        way: dict[Any, None] = {}  # in order
        at = self._above.get(leaf)
        while at is not None:
            if at in way or at == leaf:
                raise InvalidParameterError(
                    f"A hierarchy must not have a cycle. {at!r} is above itself."
                )
            way[at] = None
            at = self._above.get(at)
        return list(way)

    def _need_classes_as_leaves(self, leaves: list[Any], parents: Mapping[Any, Any]) -> None:
        inner = set(self._above.values())
        for leaf in leaves:
            if leaf in inner:
                raise InvalidParameterError(
                    f"A class must not have children in the hierarchy. Class {leaf!r} has."
                )
        known = set(leaves)
        for name in parents:
            if name not in inner and name not in known:
                raise InvalidParameterError(
                    f"The leaves of the hierarchy must be the classes. {name!r} is none of them."
                )

    def probabilities(self, proba: ArrayLike) -> Array:
        """Compute the probabilities of the groups, each the sum over its classes.

        Parameters
        ----------
        proba : array-like of shape (n_rows, n_classes)
            Probabilities of the classes.

        Returns
        -------
        ndarray of shape (n_rows, n_nodes)
            A column for each of `nodes`.
        """
        chances = self._checked(proba)
        of_nodes = np.zeros((len(chances), len(self.nodes)))
        for k, parent in enumerate(self._parent_of_class):
            if parent >= 0:
                of_nodes[:, parent] += chances[:, k]
        for j, parent in enumerate(self._parent_of_node):
            if parent >= 0:
                of_nodes[:, parent] += of_nodes[:, j]
        return of_nodes

    def labels(self, proba: ArrayLike) -> NDArray[Any]:
        """Choose for each row the class of least expected distance to the true one.

        Parameters
        ----------
        proba : array-like of shape (n_rows, n_classes)
            Probabilities of the classes.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        return minimum_cost_labels(self._checked(proba), self.distances, self.classes)

    def mean_distance(
        self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Compute the mean distance of predictions from the truth; see `distances`.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels.
        y_pred : array-like of shape (n_rows,)
            Predicted labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        float
        """
        return expected_cost(
            y_true, y_pred, self.distances, labels=self.classes, sample_weight=sample_weight
        )

    def far_mistakes(
        self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Compute the share of predictions outside the parent group of the true class.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            True labels.
        y_pred : array-like of shape (n_rows,)
            Predicted labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows.

        Returns
        -------
        float
        """
        far = (self.distances > FAR).astype(float)
        return expected_cost(y_true, y_pred, far, labels=self.classes, sample_weight=sample_weight)

    def _checked(self, proba: ArrayLike) -> Array:
        chances = check_proba(proba)
        if chances.shape[1] != len(self.classes):
            raise InvalidDataError(
                f"proba must have a column for each of the {len(self.classes)} classes of the "
                f"hierarchy. Got {chances.shape[1]}."
            )
        return chances


def _need_names(parents: Any) -> None:
    """Check that parents are a mapping to what can be a key."""
    if not isinstance(parents, Mapping):
        raise InvalidParameterError(
            "parents must be a dict with the parent of every class and group. Got "
            f"{type(parents).__name__}."
        )
    try:
        set(parents.values())
    except TypeError as error:
        raise InvalidParameterError(
            f"The names of groups must be strings, numbers or tuples of these: {error}."
        ) from None


def _distinct(classes: ArrayLike) -> NDArray[Any]:
    labels = label_vector(classes, "classes")
    if len(np.unique(labels)) < len(labels):
        raise InvalidParameterError("classes must be different from each other.")
    return labels


def _distances(ways: list[list[int]]) -> Array:
    """(K, K), from the groups above every class, the lowest first."""
    depth = max(map(len, ways), default=0)
    from_top = np.full((len(ways), depth), -1)
    for k, way in enumerate(ways):
        from_top[k, : len(way)] = way[::-1]
    length = np.array([len(way) + 1 for way in ways])
    shared = np.zeros((len(ways), len(ways)), dtype=np.int64)  # groups that contain both
    for level in from_top.T:
        shared += (level[:, np.newaxis] == level) & (level >= 0)
    distances: Array = np.add.outer(length, length) / 2.0 - shared
    np.fill_diagonal(distances, 0.0)
    return distances
