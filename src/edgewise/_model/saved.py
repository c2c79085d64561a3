"""Estimators in model files: the parts of a fitted estimator, stored and restored.

A file contains the parameters, the model's arrays, the history, and the attributes that a class
names in `_fitted`. Reading checks everything before it makes an estimator, so a malicious file is
an error like any other; `save` reads its own bytes before it writes them, so every file can be
read.
"""

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._data.dates import owners
from .._ground import atomic
from .._ground import params as p
from .._ground.errors import ModelFormatError
from .._ground.version import __version__
from ..losses import GeneralizedCrossEntropy, LogLoss, TransitionLoss
from . import column_kinds, file, plain, value_lists
from .check import TYPES, need
from .ensemble import EnsembleModel
from .model import Model
from .narrow import narrowed, widened

FORMAT = "edgewise model"
VERSION = 2  # 1 had no narrow arrays

_FIELDS = frozenset(
    "format version edgewise algorithm parameters classes n_features feature_names categories "
    "fitted".split()
)
_OPTIONAL = frozenset(["dates", "notations"])  # absent where there are none
_KEPT = frozenset(
    "n_features_in_ feature_names_in_ is_categorical_ categories_ dates_ notations_ classes_ "
    "model_ history_".split()
)
# Metadata routing and callbacks belong to scikit-learn; figures of training rows are too large.
_NOT_KEPT = frozenset(["_metadata_request", "_skl_callbacks", "oof_proba_"])
_MODEL, _HISTORY, _CATEGORIES = "model.", "history.", "categories."
_CATEGORICAL = "is_categorical"
_LOSSES: dict[type[Any], tuple[str, ...]] = {
    GeneralizedCrossEntropy: ("q",),
    LogLoss: ("smoothing",),
    TransitionLoss: ("noise",),
}


class Saved:
    """Adds `save`."""

    _short_name: ClassVar[str | None] = None  # on the command line and in comparisons
    _rules: ClassVar[dict[str, p.Rule]]
    _fitted: ClassVar[dict[str, p.Rule]] = {}  # fitted attributes besides model and history

    is_categorical_: NDArray[np.bool_] | None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file that `edgewise.load` reads.

        The file contains data only, no code. It is written completely or not at all.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        need_savable(self)
        check_is_fitted(self)
        data = file.pack(_header_of(self), _arrays_of(self))
        restored(type(self), *file.unpack(data))
        atomic.write_bytes(os.fspath(path), data)

    def _why_not_saved(self) -> str | None:
        if not type(self).__module__.startswith("edgewise."):
            return "its class is not one of edgewise's own"
        if isinstance(getattr(self, "model_", None), EnsembleModel):
            return "its base classifiers are another library's"
        return None

    def _restored(self, name: str, value: Any) -> Any:
        """A fitted attribute, restored from its plain form."""
        return value

    @staticmethod
    def _model_from(
        arrays: Mapping[str, NDArray[Any]], n_features: int, n_classes: int
    ) -> tuple[Any, int]:
        """The model of checked arrays, and the number of its rounds."""
        model = Model.from_arrays(arrays, n_features)
        need(len(model.start) == n_classes, f"'start' must have {n_classes} entries, one per class")
        return model, model.n_rounds


# --- writing --------------------------------------------------------------------------------------


def need_savable(estimator: Any) -> None:
    """Check that a model file can hold the estimator, once it is fitted, with its parameters."""
    reason = estimator._why_not_saved()
    if reason is not None:
        raise ModelFormatError(
            f"{type(estimator).__name__} cannot be saved as a model file: {reason}. Use pickle or "
            "skops, and load such files only from sources that you trust."
        )
    encoded_parameters(estimator)


def encoded_parameters(estimator: Any) -> dict[str, Any]:
    """The constructor's parameters by name, as a model file has them."""
    owner = type(estimator).__name__
    return {
        name: _encoded(value, f"the parameter {name!r} of {owner}")
        for name, value in estimator.get_params(deep=False).items()
    }


def kept(estimator: Any) -> dict[str, Any]:
    """The attributes that a model file contains, if the fit has set them."""
    names = _KEPT.union(estimator._fitted)
    return {name: value for name, value in vars(estimator).items() if name in names}


def _header_of(estimator: Any) -> dict[str, Any]:
    _need_nothing_unknown(estimator, estimator.get_params(deep=False))
    names = getattr(estimator, "feature_names_in_", None)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "edgewise": __version__,
        "algorithm": type(estimator).__name__,
        "parameters": encoded_parameters(estimator),
        "classes": plain.encode_array(estimator.classes_, "the class labels"),
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "categories": {
            str(column): value_lists.kind_of(values, "a category")
            for column, values in estimator.categories_.items()
        },
        "fitted": {
            name: plain.encode(getattr(estimator, name), name) for name in estimator._fitted
        },
    }
    optional = {
        "dates": column_kinds.encoded_dates(getattr(estimator, "dates_", {})),
        "notations": {str(j): d for j, d in getattr(estimator, "notations_", {}).items()},
    }
    return header | {name: found for name, found in optional.items() if found}


def _encoded(value: Any, what: str) -> Any:
    """Encode a parameter: a plain value, or a loss of edgewise by its name and its numbers."""
    fields = _LOSSES.get(type(value))
    if fields is None:
        return plain.encode(value, what)
    of_loss = {field: plain.encode(getattr(value, field), what) for field in fields}
    return {"loss": {type(value).__name__: of_loss}}


def _need_nothing_unknown(estimator: Any, parameters: Mapping[str, Any]) -> None:
    """Check that all attributes of the fit are stored."""
    known = {*parameters, *_KEPT, *_NOT_KEPT, *estimator._fitted}
    unknown = [
        name
        for name in vars(estimator)
        if (name.startswith("_") or name.endswith("_")) and name not in known
    ]
    if unknown:
        raise ModelFormatError(
            f"A model file cannot hold the attribute {unknown[0]!r} of {type(estimator).__name__}."
        )


def _arrays_of(estimator: Any) -> dict[str, NDArray[Any]]:
    trees = narrowed(estimator.model_.arrays(), TYPES)
    arrays = {_MODEL + name: array for name, array in trees.items()}
    for name, column in estimator.history_.items():
        whole = column.dtype.kind in "iu"
        arrays[_HISTORY + name] = column.astype(np.int64 if whole else np.float64)
    if estimator.is_categorical_ is not None:
        arrays[_CATEGORICAL] = estimator.is_categorical_.astype(np.uint8)
    for column, values in estimator.categories_.items():
        arrays |= value_lists.to_arrays(f"{_CATEGORIES}{column}", values)
    return arrays


# --- reading --------------------------------------------------------------------------------------


def check_version(header: Mapping[str, Any]) -> None:
    """Check that the file is a model file of a version that this release knows."""
    need(header.get("format") == FORMAT, "it does not say that it is a model of edgewise")
    version, writer = header.get("version"), header.get("edgewise")
    need(type(version) is int and version >= 1, "it has no version")
    need(isinstance(writer, str) and len(writer) <= 100, "it does not say which edgewise wrote it")
    if version > VERSION:  # type: ignore[operator]  # an integer
        raise ModelFormatError(
            f"This model file has version {version} of the format and was written by edgewise "
            f"{writer}. This is edgewise {__version__}, which reads versions up to {VERSION}: "
            "install a newer release."
        )
    unknown = sorted((header.keys() - _OPTIONAL) ^ _FIELDS)
    need(not unknown, f"the field {''.join(unknown[:1])[:80]!r} is missing or unknown")


def restored(cls: type[Any], header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Any:
    """The estimator that was saved, or ModelFormatError."""
    check_version(header)
    estimator = _with_parameters(cls, header["parameters"])
    facts = header["fitted"]
    several = isinstance(facts, dict) and facts.get("multi_label_") is True
    classes = _classes(header["classes"], several=several)
    parts = _parts(arrays)
    parts[_MODEL] = widened(parts[_MODEL], TYPES)
    n_features = header["n_features"]
    dates = column_kinds.decoded_dates(header.get("dates", {}), n_features)
    notations = column_kinds.decoded_notations(header.get("notations", {}), n_features)
    n_columns = n_features + len(owners(dates)) if dates else n_features
    model, n_rounds = cls._model_from(parts[_MODEL], n_columns, len(classes))
    _restore_features(estimator, header["feature_names"], n_features)
    mask = _categorical(parts[_CATEGORICAL], parts[_MODEL], n_features)
    estimator.is_categorical_ = mask
    estimator.dates_, estimator.notations_ = dates, notations
    need(
        mask is None or not any(mask[j] for j in (*dates, *notations)),
        "a column of dates or numbers is categorical",
    )
    need(not dates.keys() & notations.keys(), "a column of dates has a notation of numbers")
    estimator.categories_ = _categories(header["categories"], parts[_CATEGORIES], mask)
    _need_sets_of_tables(parts[_MODEL], estimator.categories_)
    estimator.classes_ = classes
    _restore_facts(estimator, header["fitted"], classes, n_rounds)
    estimator.model_ = model
    estimator.history_ = _history(parts[_HISTORY], n_rounds, len(classes))
    return estimator


def _with_parameters(cls: type[Any], parameters: Any) -> Any:
    need(isinstance(parameters, dict), "the parameters must be an object")
    unknown = sorted(parameters.keys() - set(cls._get_param_names()))
    need(not unknown, f"{cls.__name__} has no parameter {''.join(unknown[:1])[:80]!r}")
    values = {
        name: _decoded(value, f"the parameter {name!r}") for name, value in parameters.items()
    }
    estimator = cls(**values)
    try:
        p.check(cls.__name__, vars(estimator), cls._rules)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFormatError(f"Not a valid model: {error}") from None
    return estimator


def _decoded(encoded: Any, what: str) -> Any:
    """The value of a parameter."""
    if not isinstance(encoded, dict) or encoded.keys() != {"loss"}:
        return plain.decode(encoded, what)
    given = encoded["loss"]
    known = {loss.__name__: loss for loss in _LOSSES}
    need(
        isinstance(given, dict) and len(given) == 1 and given.keys() <= known.keys(),
        f"the loss must be one of {', '.join(known)}",
    )
    ((name, fields),) = given.items()
    loss = known[name]
    need(
        isinstance(fields, dict) and fields.keys() == set(_LOSSES[loss]),
        f"{name} must have the numbers {', '.join(_LOSSES[loss])}",
    )
    try:
        return loss(**{field: plain.decode(value, what) for field, value in fields.items()})
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"Not a valid model: {error}") from None


def _classes(encoded: Any, *, several: bool) -> NDArray[Any]:
    """The sorted labels, or the names of columns in any order if rows have `several` labels."""
    classes = plain.decode_array(encoded, "the class labels")
    need(classes.ndim == 1 and len(classes) >= 2, "there must be two class labels or more")
    if several and classes.dtype.kind == "U":
        need(len(np.unique(classes)) == len(classes), "the names of the labels must be different")
        return classes
    try:
        ascending = bool(np.all(classes[1:] > classes[:-1]))  # NaN does not
    except TypeError:
        ascending = False
    need(ascending, "the class labels must be sorted and different")
    return classes


def _parts(arrays: Mapping[str, Any]) -> dict[str, dict[str, NDArray[Any]]]:
    """The arrays by the part that they belong to, without its name."""
    parts: dict[str, dict[str, NDArray[Any]]] = {
        part: {} for part in (_MODEL, _HISTORY, _CATEGORIES, _CATEGORICAL)
    }
    for name, array in arrays.items():
        part = next((part for part in parts if name.startswith(part)), None)
        need(part is not None, f"unknown array {name[:80]!r}")
        parts[str(part)][name.removeprefix(str(part))] = array
    return parts


def _restore_features(estimator: Any, names: Any, n_features: int) -> None:
    estimator.n_features_in_ = n_features
    if names is not None:
        need(
            isinstance(names, list)
            and len(names) == n_features
            and all(isinstance(name, str) for name in names),
            "the names of the features must be one string for each",
        )
        need(len(set(names)) == len(names), "a name of a feature occurs twice")
        estimator.feature_names_in_ = np.array(names, dtype=object)


def _categorical(
    found: Mapping[str, NDArray[Any]], model: Mapping[str, NDArray[Any]], n_features: int
) -> NDArray[np.bool_] | None:
    of_sets = np.unique(model["feature"][np.isnan(model["threshold"])])
    need((of_sets < n_features).all(), "a part of a date has sets of categories")
    if not found:
        need(len(of_sets) == 0, "a feature has sets of categories but is not categorical")
        return None
    need(found.keys() == {""}, "unknown array")
    mask = found[""]
    need(
        mask.dtype == np.uint8 and len(mask) == n_features and mask.max() == 1,
        "'is_categorical' must have a 0 or 1 for every feature, and some 1",
    )
    need((mask[of_sets] == 1).all(), "a feature has sets of categories but is not categorical")
    return mask.astype(bool)


def _categories(
    kinds: Any, arrays: Mapping[str, NDArray[Any]], mask: NDArray[np.bool_] | None
) -> dict[int, NDArray[Any]]:
    """The tables of columns whose categories are values, by column."""
    need(isinstance(kinds, dict), "the categories must be an object")
    rest = dict(arrays)
    value_lists.need_cheap(kinds, rest)
    tables = {_column(j, mask): value_lists.take(j, kind, rest) for j, kind in kinds.items()}
    need(not rest, "unknown array of categories")
    return tables


def _need_sets_of_tables(model: Mapping[str, NDArray[Any]], tables: dict[int, Any]) -> None:
    """Check that the sets of a column with a table contain indices of the table."""
    feature = model["feature"][np.isnan(model["threshold"])]
    of_value, which = np.unique(
        np.repeat(feature, np.diff(model["set_start"])), return_inverse=True
    )
    ends = np.array([len(tables[j]) if j in tables else np.inf for j in of_value.tolist()])
    listed = np.isfinite(ends)
    values, end = model["set_values"][listed[which]], ends[which][listed[which]]
    need(
        ((values >= 0) & (values < end) & (values == np.floor(values))).all(),
        "a set holds a category that is not in the table of its column",
    )


def _column(name: str, mask: NDArray[np.bool_] | None) -> int:
    """The number of a categorical column, from its text."""
    j = int(name) if name.isascii() and name.isdigit() and len(name) < 20 else -1
    known = mask is not None and 0 <= j < len(mask) and str(j) == name and bool(mask[j])
    need(known, "a column with values is not categorical")
    return j


def _restore_facts(estimator: Any, facts: Any, classes: NDArray[Any], n_rounds: int) -> None:
    rules = estimator._fitted
    need(isinstance(facts, dict) and facts.keys() == rules.keys(), "'fitted' has other entries")
    for name, (test, words) in rules.items():
        value = plain.decode(facts[name], name)
        need(test(value), f"{name!r} must be {words}")
        setattr(estimator, name, estimator._restored(name, value))
    need(
        getattr(estimator, "n_iter_", n_rounds) == n_rounds, f"'n_iter_' must be {n_rounds} rounds"
    )
    if getattr(estimator, "multi_label_", False):
        need(
            classes.dtype.kind == "U"
            or (classes.dtype == np.int64 and np.array_equal(classes, np.arange(len(classes)))),
            "the labels of an indicator matrix must be names or 0, 1, ...",
        )


def _history(
    columns: Mapping[str, NDArray[Any]], n_rounds: int, n_classes: int
) -> dict[str, NDArray[Any]]:
    for name, column in columns.items():
        need(name.isidentifier() and len(name) <= 100, "a name in the history is no word")
        need(column.dtype.kind in "if" and column.dtype.itemsize == 8, f"{name!r} has a wrong type")
    lengths = {len(column) for column in columns.values()}
    need(len(lengths) == 1 and lengths.pop() >= n_rounds, "the history must tell of every round")
    base = columns.get("base_class", np.empty(0, dtype=np.int64))  # ABC-Boost resumes with it
    need(
        base.dtype == np.int64 and ((base >= -1) & (base < n_classes)).all(),
        f"a base class must be from 0 to {n_classes - 1}, or -1 for none",
    )
    return dict(columns)
