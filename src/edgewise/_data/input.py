"""Input: the user's X, y and weights become arrays the core can read, or one clear error.

X keeps its own type and layout wherever the core can read it, so nothing is copied. Missing values
are NaN; infinite values are allowed and fall into the outer bins.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from .._ground.errors import InvalidDataError, InvalidParameterError
from . import frames
from .soft import SoftLabels, soft_labels
from .sparse import Matrix, SparseRows

Labels = NDArray[np.int32]
Weights = NDArray[np.float64]
Relevant = NDArray[np.bool_]

_PLAIN = (np.dtype(np.float64), np.dtype(np.float32))
LARGEST_UNIT = 500  # of weights, as the exponent of two
_READABLE = frozenset(["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])


class Group(NamedTuple):
    """Groups of the categories of a column that has many; see ``groups``."""

    feature: int
    own: Weights  # categories with a bin of their own, ascending
    values: Weights  # all categories, ascending
    group: NDArray[np.uint8]  # their groups
    codes: NDArray[np.uint8]  # (n): groups of the training rows, n_groups where missing
    stand_in: Weights  # (n_groups): a category of each that has no bin of its own


class Rows(NamedTuple):
    """Rows to learn from or to validate on."""

    X: Matrix  # (n, d)
    codes: Labels  # (n): place of the label among the classes; zeros if there may be several
    weights: Weights | None  # (n), or None where all rows weigh the same
    relevant: Relevant | None = None  # (n, n_labels): the labels, if several are allowed
    costs: Weights | None = None  # (n, n_classes): what each answer costs, if given row by row
    soft: Weights | None = None  # (n, n_classes): probabilities of the label, until `expanded`
    copies: float = 1.0  # rows for each row that was given, by `expanded`
    groups: tuple[Group, ...] = ()
    weight_unit: float = 1.0  # what a weight of one is in the user's weights

    def take(self, which: NDArray[Any]) -> "Rows":
        """Some rows; groups, which depend on all rows, are not taken over."""
        parts = (None if part is None else part[which] for part in self[:6])
        return Rows(*parts)._replace(  # type: ignore[arg-type]
            copies=self.copies, weight_unit=self.weight_unit
        )

    @property
    def n_given(self) -> int:
        """Rows, copies not counted."""
        return round(len(self.codes) / self.copies)

    def leaf_size(self, min_samples_leaf: int) -> int:
        """Rows of a leaf, if it must hold so many that were given."""
        return 1 if min_samples_leaf == 1 else round(min_samples_leaf * self.copies)

    def expanded(self) -> "Rows":
        """With soft labels a copy of the row for each class of positive probability."""
        if self.soft is None:
            return self
        row, code = np.nonzero(self.soft > 0)
        times = self.soft[row, code]
        weights = times if self.weights is None else self.weights[row] * times
        once = len(row) == len(self.codes)  # every row has one label
        rows = (self if once else self.take(row))._replace(
            codes=code.astype(np.int32), soft=None, copies=len(row) / len(self.codes)
        )
        if once and (weights == 1.0).all():
            return rows._replace(weights=None)
        weights, unit = _scaled(weights)
        return rows._replace(weights=weights, weight_unit=self.weight_unit * unit)

    def signs(self, n_classes: int) -> NDArray[np.int8]:
        """y_il = +1 if row i has label l, else -1: (n, n_classes)"""
        relevant = self.relevant
        if relevant is None:
            relevant = self.codes[:, np.newaxis] == np.arange(n_classes)
        return np.where(relevant, np.int8(1), np.int8(-1))

    def engine(self, estimator: Any, start: Weights) -> Any:
        """The state of a fit on these rows, with scores `start`."""
        return estimator._engine(self, start)

    def watchers(self) -> list[Any]:
        """Those who look at every round because the rows are what they are: none here."""
        return []

    def without_negligible(self) -> "Rows":
        """Drops rows lighter than 2^-23 of the heaviest: the resolution of the statistics."""
        if self.weights is None:
            return self
        heavy = self.weights >= self.weights.max() * 2.0**-23
        return self if heavy.all() else self.take(heavy)

    def split(self, fraction: float, random_state: Any) -> tuple["Rows", "Rows"]:
        """Training and validation rows, drawn class by class."""
        train, held = stratified_split(self.codes, fraction, random_state)
        if len(held) == 0:
            raise InvalidDataError(
                "early_stopping=True needs a class with two rows or more to hold some out for "
                "validation. Every class has one row: give X_val and y_val."
            )
        return self.take(train), self.take(held)

    def class_weights(self, n_classes: int) -> Weights:
        """Total weight of each class, exactly rounded: the order of the rows does not matter."""
        w, codes = self.weights, self.codes
        if w is None:
            return np.bincount(codes, minlength=n_classes).astype(np.float64)
        return np.array([math.fsum(w[codes == k]) for k in range(n_classes)])

    def shares(self) -> Weights:
        """Each row's share of the total weight."""
        if self.weights is None:
            return np.full(len(self.X), 1.0 / len(self.X))
        return self.weights / math.fsum(self.weights)


class Labelled(NamedTuple):
    """Checked input with the user's labels."""

    X: Matrix
    y: Any  # (n) labels, (n, n_labels) booleans, or soft labels
    weights: Weights | None
    costs: Weights | None = None
    weight_unit: float = 1.0

    def with_costs(self, costs: Any) -> "Labelled":
        return self._replace(costs=row_costs(costs, len(self.X)))

    def without_weightless(self) -> "Labelled":
        """Drops rows of weight zero."""
        if self.weights is None or self.weights.all():
            return self
        present = self.weights > 0
        return Labelled(*(_taken(part, present) for part in self))

    def encoded(self, classes: NDArray[Any], name: str) -> Rows:
        if isinstance(self.y, SoftLabels):
            soft = self.y.among(classes, name)
            likeliest = soft.argmax(axis=1).astype(np.int32)
            rows = Rows(self.X, likeliest, self.weights, None, self.costs, soft)
            return rows._replace(weight_unit=self.weight_unit)
        if self.y.ndim == 1:
            codes = encode(classes, self.y, name)
            rows = Rows(self.X, codes, self.weights, None, self.costs)
            return rows._replace(weight_unit=self.weight_unit)
        if self.y.shape[1] != len(classes):
            raise InvalidDataError(
                f"{name} must have one column for each of the {len(classes)} labels. Got "
                f"{self.y.shape[1]} columns."
            )
        nothing = np.zeros(len(self.y), dtype=np.int32)
        rows = Rows(self.X, nothing, self.weights, self.y, self.costs)
        return rows._replace(weight_unit=self.weight_unit)


def _taken(part: Any, which: NDArray[Any]) -> Any:
    """Rows of what has a row for each example; what has none stays as it is."""
    return part if part is None or isinstance(part, float) else part[which]


def is_dask(X: Any) -> bool:
    """Whether X is a collection of Dask, which is not imported for that."""
    if type(X) is np.ndarray:  # the usual case, and single rows are to be quick
        return False
    kinds = {kind.__module__.split(".")[0] for kind in type(X).__mro__}
    return not kinds.isdisjoint(("dask", "dask_expr"))


def labelled(
    estimator: BaseEstimator,
    given: tuple[Any, Any, Any],
    class_weight: Any,
    *,
    names: tuple[str, str, str],
    reset: bool,
    multi_label: bool = False,
    soft: bool = False,
    learn: bool = False,
) -> Labelled:
    """X, y and weights, checked; `names` are what the user calls them. For `learn` see `matrix`."""
    X = matrix(estimator, given[0], reset=reset, learn=learn)
    y: Any = soft_labels(given[1], names[1]) if soft else None
    if y is None and multi_label and _is_matrix(given[1]):
        y = indicators(given[1], names[1])
        if class_weight is not None:
            raise InvalidParameterError(
                "The 'class_weight' parameter is for labels that exclude each other; with an "
                f"indicator matrix as y it must be None. Got {class_weight!r}."
            )
    if y is None:
        y = labels(given[1], names[1])
    if len(y) != len(X):
        raise InvalidDataError(
            f"{names[0]} and {names[1]} must have one row each per example. Got {names[0]} with "
            f"{len(X)} rows and {names[1]} with {len(y)}: inconsistent numbers of samples."
        )
    if isinstance(y, SoftLabels):
        y, class_weight = y.weighted(class_weight), None
    w, unit = weights(given[2], X, y, class_weight, names[2])
    return Labelled(X, y, w, weight_unit=unit)


def matrix(estimator: BaseEstimator, X: Any, *, reset: bool, learn: bool = False) -> Matrix:
    """X as a two-dimensional array of real numbers, in a type the core reads.

    With `learn`, which a fit wants, the estimator is told which columns are categories (its
    `is_categorical_`) and what values those have that are not numbers (`categories_`, by column).
    """
    if not learn and _is_plain(estimator, X):
        return X  # type: ignore[no-any-return]
    if sparse.issparse(X):
        return _of_sparse(estimator, X, reset=reset, learn=learn)
    if frames.is_frame(X):
        return _of_frame(estimator, X, reset=reset, learn=learn)
    if not learn and isinstance(X, np.ndarray) and X.dtype.kind == "O" and _tables(estimator):
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return _by_tables(estimator, X)
    try:
        checked = validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite=False)
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise InvalidDataError(
            "X must hold numbers only if it is no data frame; put text and categories into one, or "
            f"encode them as numbers. {error}"
        ) from None
    if learn:
        _declare(estimator, reset=reset)
    if _tables(estimator):
        return _by_tables(estimator, np.asarray(checked))
    return readable(np.asarray(checked))


def _of_sparse(estimator: BaseEstimator, X: Any, *, reset: bool, learn: bool) -> Matrix:
    checked = validate_data(
        estimator, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite=False
    )
    if learn:
        _declare(estimator, reset=reset)
    if _tables(estimator):
        raise InvalidDataError(
            f"{type(estimator).__name__} was fitted to a data frame with categories, and needs a "
            "data frame. Got a sparse matrix."
        )
    return SparseRows.of(checked)


def _is_plain(estimator: BaseEstimator, X: Any) -> bool:
    """Whether X is rows to predict for as they should be, of which scikit-learn would say nothing.

    Its own checks take longer than the prediction of a row.
    """
    return (
        type(X) is np.ndarray
        and X.dtype in _PLAIN
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", 0) > 0
        and X.flags.c_contiguous
        and X.flags.aligned
        and not hasattr(estimator, "feature_names_in_")
        and not _tables(estimator)
    )


def _declare(estimator: BaseEstimator, *, reset: bool) -> None:
    """Tells the estimator of categorical columns where all columns hold numbers."""
    estimator.is_categorical_ = declared(estimator)
    estimator.categories_ = {} if reset else estimator.categories_


def _tables(estimator: BaseEstimator) -> frames.Tables:
    tables: frames.Tables = getattr(estimator, "categories_", {})
    return tables


def _by_tables(estimator: BaseEstimator, X: NDArray[Any]) -> Matrix:
    """An array, given to a model that was fitted to a data frame with categories."""
    labels = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    return frames.filled(frames.columns_of_array(X, labels), estimator.categories_)


def _of_frame(estimator: BaseEstimator, X: Any, *, reset: bool, learn: bool) -> Matrix:
    frames.need_distinct_names(X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)  # names and number of columns
    for place, thing in enumerate(("sample(s)", "feature(s)")):
        if X.shape[place] == 0:
            raise InvalidDataError(
                f"Found array with 0 {thing} (shape={tuple(X.shape)}) while a minimum of 1 is "
                f"required by {type(estimator).__name__}."
            )
    whole = frames.as_one_matrix(X)
    if whole is not None:
        if learn:
            _declare(estimator, reset=reset)
        if not _tables(estimator):
            return SparseRows.of(whole) if sparse.issparse(whole) else readable(whole)
    parts = frames.columns(X)
    if learn:
        _learn_categories(estimator, parts, None if reset else estimator.categories_)
    return frames.filled(parts, _tables(estimator))


def _learn_categories(
    estimator: BaseEstimator, parts: Sequence[frames.AnyColumn], known: frames.Tables | None
) -> None:
    """`known` are the tables of the fit that is continued, if any."""
    by_type = np.array([part.is_categories for part in parts])
    mask = by_type if _from_dtype(estimator) else declared(estimator)
    if mask is None:
        mask = np.zeros(len(parts), dtype=bool)
    undeclared = np.flatnonzero(by_type & ~mask)
    if len(undeclared):
        raise InvalidDataError(
            f"{parts[undeclared[0]].shown} holds text or categories, which the "
            "'categorical_features' parameter does not name. Name it there, give 'from_dtype' for "
            "all such columns, or encode it as numbers."
        )
    estimator.is_categorical_ = mask if mask.any() else None
    listed = columns_of(by_type) if known is None else list(known)
    estimator.categories_ = {
        j: frames.learned(parts[j], None if known is None else known[j]) for j in listed
    }


def _from_dtype(estimator: BaseEstimator) -> bool:
    given = estimator.categorical_features
    return isinstance(given, str) and given == "from_dtype"


def declared(estimator: BaseEstimator) -> Relevant | None:
    """Which columns the estimator's parameter says are categorical, (d); None if it names none."""
    given = estimator.categorical_features
    if given is None or _from_dtype(estimator) or len(given) == 0:
        return None
    columns = np.asarray(given)
    d = estimator.n_features_in_
    mask = np.zeros(d, dtype=bool)
    if columns.dtype.kind == "b":
        if len(columns) != d:
            words = f"have one bool for each of the {d} columns of X"
            raise _wrong_columns(estimator, words, len(columns))
        mask[:] = columns
    elif columns.dtype.kind in "iu":
        outside = columns[(columns < 0) | (columns >= d)]
        if len(outside):
            raise _wrong_columns(estimator, f"hold numbers from 0 to {d - 1}", int(outside[0]))
        mask[columns] = True
    else:
        mask[_places_of_names(estimator, given)] = True
    return mask if mask.any() else None


def columns_of(mask: Relevant | None) -> list[int]:
    """The numbers of the columns of a mask."""
    return [] if mask is None else [int(j) for j in np.flatnonzero(mask)]


def _places_of_names(estimator: BaseEstimator, given: Any) -> list[int]:
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise _wrong_columns(
            estimator, "hold column numbers or bools if the columns of X have no names", given[0]
        )
    place = {name: j for j, name in enumerate(names)}
    unknown = [name for name in given if name not in place]
    if unknown:
        shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
        raise _wrong_columns(estimator, f"hold names of columns of X ({shown})", unknown[0])
    return [place[name] for name in given]


def _wrong_columns(estimator: BaseEstimator, words: str, got: Any) -> InvalidParameterError:
    return InvalidParameterError(
        f"The 'categorical_features' parameter of {type(estimator).__name__} must {words}. "
        f"Got {got!r} instead."
    )


def readable(X: NDArray[Any]) -> NDArray[Any]:
    if X.dtype.kind == "b":
        return X.view(np.uint8)
    if X.dtype.kind == "f" and X.dtype.itemsize < 4:
        return X.astype(np.float32)
    if X.dtype.kind + str(X.dtype.itemsize) not in _READABLE:
        return X.astype(np.float64)
    native = X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))
    return native if all(s % native.itemsize == 0 for s in native.strides) else native.copy()


def labels(y: ArrayLike, name: str) -> NDArray[Any]:
    """y as a vector of class labels without missing values."""
    if y is None:
        raise InvalidDataError(
            f"requires y to be passed, but the target {name} is None: give one class label per row."
        )
    vector: NDArray[Any] = column_or_1d(y, warn=True)
    missing = _missing(vector)
    if missing.any():
        raise InvalidDataError(
            f"Input {name} contains NaN, infinity or missing labels ({int(missing.sum())} of "
            f"{len(vector)}, the first in row {int(np.argmax(missing))}); every row needs a label."
        )
    check_classification_targets(vector)
    return vector


def _is_matrix(y: Any) -> bool:
    """Whether y is an indicator matrix: two-dimensional with more than one column."""
    if sparse.issparse(y):
        return True
    try:
        array = np.asarray(y)
    except ValueError:
        raise InvalidDataError(
            "y must be a vector of labels or an indicator matrix. Got rows of different lengths: "
            "make lists of labels a matrix with scikit-learn's MultiLabelBinarizer."
        ) from None
    return array.ndim == 2 and array.shape[1] > 1


def indicators(y: Any, name: str) -> Relevant:
    """An indicator matrix, dense or sparse, as booleans: row i has label l."""
    dense = y.toarray() if sparse.issparse(y) else np.asarray(y)
    odd = ~np.isin(dense, (0, 1))
    if odd.any():
        row, column = np.argwhere(odd)[0]
        raise InvalidDataError(
            f"The indicator matrix {name} must hold only 0 and 1. Got {dense[row, column]} in "
            f"row {row}, column {column}."
        )
    return np.ascontiguousarray(dense.astype(bool))


def row_costs(costs: Any, n_rows: int) -> Weights:
    """What each answer costs, row by row: (n, n_classes), not negative."""
    try:
        matrix = np.ascontiguousarray(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidDataError(
            f"costs must hold numbers only, in rows of one length. {error}"
        ) from None
    if matrix.ndim != 2 or len(matrix) != n_rows:
        raise InvalidDataError(
            f"costs must have one row for each of the {n_rows} rows of X and one column per class. "
            f"Got an array of shape {matrix.shape}."
        )
    wrong = ~(matrix >= 0) | np.isinf(matrix)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InvalidDataError(
            "costs must be finite and not negative. Got "
            f"{matrix[row, column]:g} in row {row}, column {column}."
        )
    return matrix


def _missing(vector: NDArray[Any]) -> NDArray[np.bool_]:
    if vector.dtype.kind == "f":
        return np.asarray(~np.isfinite(vector))
    if vector.dtype.kind == "O":
        return np.array([_is_missing(v) for v in vector])
    return np.zeros(len(vector), dtype=bool)


def _is_missing(label: Any) -> bool:
    if isinstance(label, float):
        return not math.isfinite(label)
    return label is None or type(label).__name__ in ("NAType", "NaTType")  # pandas, not imported


def classes_of(y: Any) -> NDArray[Any]:
    """The distinct labels in sorted order; the numbers of the columns of an indicator matrix."""
    if isinstance(y, SoftLabels):
        return y.known_classes()
    if y.ndim == 2:
        never = np.flatnonzero(~y.any(axis=0))
        if len(never):
            raise InvalidDataError(
                "Every label of the indicator matrix y must occur in some row (rows of weight zero "
                f"do not count). Label {never[0]} never does."
            )
        return np.arange(y.shape[1])
    try:
        return np.unique(y)
    except TypeError:
        kinds = ", ".join(sorted({type(v).__name__ for v in y}))
        raise InvalidDataError(
            f"The labels in y must be all of one sortable kind. Got a mixture of {kinds}."
        ) from None


def distinct_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct labels in sorted order, and the place of every label among them."""
    labels = classes_of(y)
    return labels, np.searchsorted(labels, y)


def encode(classes: NDArray[Any], y: NDArray[Any], name: str) -> Labels:
    """The place of each label of `y` among `classes`; labels not among them are an error."""
    try:
        codes = np.searchsorted(classes, y).clip(max=len(classes) - 1)
        unknown = np.asarray(classes[codes] != y)
    except TypeError:  # labels that cannot be compared with the classes
        codes, unknown = np.zeros(len(y), dtype=int), np.ones(len(y), dtype=bool)
    if np.any(unknown):
        raise InvalidDataError(
            f"{name} holds the label {y[int(np.argmax(unknown))]}, which does not occur in the "
            f"training labels {', '.join(map(str, classes[:10]))}"
            f"{', ...' if len(classes) > 10 else ''}."
        )
    return codes.astype(np.int32)


def weights(
    sample_weight: ArrayLike | None, X: Matrix, y: Any, class_weight: Any, name: str
) -> tuple[Weights | None, float]:
    """One positive or zero weight per row, and its unit; None where all rows weigh one."""
    if sample_weight is None and class_weight is None:
        return None, 1.0
    w = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if class_weight is not None:
        w = w * compute_sample_weight(class_weight, y)
        name += " times class_weight"
    if np.any(w < 0):
        raise InvalidDataError(
            f"{name} must not be negative. Got {w.min():g} in row {int(np.argmin(w))}."
        )
    if not np.any(w > 0):
        raise InvalidDataError(
            f"{name} must hold at least one positive weight. All weights are zero."
        )
    return _scaled(w)


def _scaled(w: Weights) -> tuple[Weights, float]:
    """Weights divided by a power of two, so that nothing is rounded, and that power.

    Gains stay finite whatever the weights.
    """
    exponent = int(np.frexp(w.max())[1])
    scaled = np.ascontiguousarray(np.ldexp(w, -exponent), dtype=np.float64)
    return scaled, math.ldexp(1.0, max(-LARGEST_UNIT, min(exponent, LARGEST_UNIT)))


def class_factors(class_weight: Any, classes: NDArray[Any]) -> Weights:
    """The weight of each of the classes, from a dict, as scikit-learn reads it."""
    return np.asarray(compute_sample_weight(class_weight, classes))


def need_same_kind(y: NDArray[Any], *, multi_label: bool) -> None:
    """For a warm start: one label per row as before, or an indicator matrix as before."""
    kinds = ("a vector of labels", "an indicator matrix")
    if (y.ndim == 2) != multi_label:
        raise InvalidDataError(
            f"y must be {kinds[multi_label]}, as in the fit that warm_start=True continues. Got "
            f"{kinds[not multi_label]}."
        )


def need_two_classes(classes: NDArray[Any], owner: str) -> None:
    if len(classes) < 2:
        raise InvalidDataError(
            f"{owner} needs rows of at least two classes (rows of weight zero do not count). "
            f"Got one class only: {classes[0]}."
        )


def stratified_split(
    codes: Labels, fraction: float, random_state: Any
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers for training and validation, class by class.

    Every class with two rows or more has rows on both sides; a class of one row stays in training.
    """
    rng = check_random_state(random_state)
    train, held = [], []
    for k in range(int(codes.max()) + 1):
        rows = rng.permutation(np.flatnonzero(codes == k))
        n_held = min(len(rows) - 1, max(1, round(fraction * len(rows)))) if len(rows) else 0
        held.append(rows[:n_held])
        train.append(rows[n_held:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(held))
