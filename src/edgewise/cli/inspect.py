"""edgewise inspect: describe a model file."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .._ground.errors import InvalidParameterError
from .._ground.wording import counted
from . import _options as o
from ._failures import guarded
from ._models import feature_names, load_model
from ._screen import console, show_json, size, table

EPILOG = o.examples(
    "edgewise inspect cars.edgewise",
    "edgewise inspect cars.edgewise --tree 0",
)
_CLASSES_SHOWN = 20


@guarded
def inspect(
    model: o.ModelFile,
    tree: Annotated[
        int | None,
        typer.Option(
            min=0, help="Show the tree with this number (from 0) as text.", show_default=False
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of features to list.")] = 15,
    as_json: o.Json = False,
) -> None:
    """Describe a model file: algorithm, classes, rounds, importances, a tree."""
    fitted = load_model(model)
    facts = _facts(fitted, model)
    if tree is not None:
        facts["tree"] = _tree(fitted, tree, facts["trees"])
    if as_json:
        show_json(facts)
    else:
        _show(facts, top)


def _facts(fitted: Any, path: Path) -> dict[str, Any]:
    names = feature_names(fitted)
    defaults = type(fitted)().get_params(deep=False)
    given = fitted.get_params(deep=False)
    importances = fitted.feature_importances_
    used = np.flatnonzero(importances > 0)
    order = used[np.argsort(-importances[used], kind="stable")]
    mask = getattr(fitted, "is_categorical_", None)
    categorical: list[int] = [] if mask is None else np.flatnonzero(mask).tolist()

    def name(j: int) -> str:
        return f"x{j}" if names is None else names[j]

    return {
        "model": str(path),
        "bytes": path.stat().st_size,
        "algorithm": type(fitted).__name__,
        "classes": fitted.classes_,
        "features": fitted.n_features_in_,
        "categories": [name(j) for j in categorical],
        "dates": {name(j): column._asdict() for j, column in fitted.dates_.items()},
        "rounds": getattr(fitted, "n_iter_", None),
        "stopped": getattr(fitted, "stop_reason_", None),
        "trees": getattr(fitted.model_, "n_trees", None),
        "parameters": {key: v for key, v in given.items() if not _same(v, defaults[key])},
        "importances": {name(j): importances[j] for j in order.tolist()},
    }


def _same(value: Any, default: Any) -> bool:
    """Compare with a default, which is never an array."""
    return not isinstance(value, np.ndarray) and bool(value == default)


def _tree(fitted: Any, number: int, n_trees: int | None) -> str:
    if not hasattr(fitted, "to_text"):
        raise InvalidParameterError(f"{type(fitted).__name__} has no trees to show.")
    if n_trees is not None and number >= n_trees:
        raise InvalidParameterError(
            f"--tree must be a number from 0 to {n_trees - 1}. Got {number}."
        )
    return str(fitted.to_text(tree=number))


def _show(facts: dict[str, Any], top: int) -> None:
    shown = console()
    labels = [str(label) for label in facts["classes"]]
    listed = ", ".join(labels[:_CLASSES_SHOWN]) + (", ..." if len(labels) > _CLASSES_SHOWN else "")
    shown.print(f"{facts['model']}: {facts['algorithm']}, {size(facts['bytes'])}")
    shown.print(f"classes: {len(labels)} ({listed})")
    nouns = {"categories": ("category", "categories"), "dates": ("date", "dates")}
    kinds = [counted(len(facts[kind]), *noun) for kind, noun in nouns.items() if facts[kind]]
    text = f", including {' and '.join(kinds)}" if kinds else ""
    shown.print(f"features: {facts['features']}{text}")
    if facts["rounds"] is not None:
        trees = counted(facts["trees"], "tree")
        shown.print(f"rounds: {facts['rounds']} ({facts['stopped']}), {trees}")
    given = ", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items())
    shown.print(f"parameters: {given or 'the defaults'}\n")
    importances = list(facts["importances"].items())
    widest = importances[0][1] if importances else 1.0
    rows = [
        (name, f"{share:.4f}", "█" * max(1, round(30 * share / widest)))
        for name, share in importances[:top]
    ]
    listing = table(["feature", "share of gain", ""], rows)
    listing.columns[2].justify = "left"
    shown.print(listing)
    if len(importances) > top:
        shown.print(f"and {len(importances) - top} more (--top)")
    if "tree" in facts:
        shown.print()
        shown.print(facts["tree"])
