"""Requests of the page: JSON of bounded size, checked before use.

Sizes are bounded here; what the numbers mean is checked by the laboratory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._ground.errors import InvalidDataError, InvalidParameterError
from ..._ground.params import boolean, check, integer, one_of
from ..dynamics import AdaBoostStar, ArcGV, CoordinateAscent, Optimal, Threshold

Rule = Optimal | Threshold | ArcGV | CoordinateAscent | AdaBoostStar

MOST_ROWS = MOST_COLUMNS = 60
MOST_STEPS = 20_000  # that are shown
MOST_WEIGHTS = 200_000  # that are shown: steps times examples
MOST_SKIPPED = 1_000_000
MOST_ROUNDS = 200
MOST_EXAMPLES = 1_000_000_000  # in a cell of a truth table

_OPTIMAL = {"name": "optimal"}
_RULES: dict[str, type[Rule]] = {
    kind.name: kind for kind in (Optimal, Threshold, ArcGV, CoordinateAscent, AdaBoostStar)
}


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk of the weights."""

    matrix: NDArray[np.float64]  # (m, n)
    start: list[float] | None  # (m,); None means equal weights
    rule: Rule
    ties: str
    n_steps: int
    n_skipped: int  # steps before those that are shown


@dataclass(frozen=True, eq=False)
class Table:
    """A truth table of three classifiers, and how to learn from it."""

    counts: NDArray[np.int64]  # (4, 2): of the cells V_l and -V_l
    loss: str
    rule: str
    n_rounds: int
    reuse: bool
    negations: bool


def walk(given: Any) -> Walk:
    """A walk from {"matrix", "start", "rule", "ties", "n_steps", "n_skipped"}."""
    defaults = {"start": None, "rule": _OPTIMAL, "ties": "lowest", "n_steps": 60, "n_skipped": 0}
    asked = _object(given, "a walk", required=("matrix",), defaults=defaults)
    matrix = _matrix(asked["matrix"])
    most = min(MOST_STEPS, MOST_WEIGHTS // len(matrix))
    rules = {
        "ties": one_of("lowest", "highest"),
        "n_steps": integer(1, most),
        "n_skipped": integer(0, MOST_SKIPPED),
    }
    check(f"a walk on {len(matrix)} examples", asked, rules)
    checked = {"matrix": matrix, "start": _start(asked["start"]), "rule": _rule(asked["rule"])}
    return Walk(**asked | checked)


def random_matrix(given: Any) -> dict[str, Any]:
    """The parameters of a random matrix."""
    asked = _object(given, "a random matrix", required=("m", "n", "error_rate", "random_state"))
    rules = {"m": integer(1, MOST_ROWS), "n": integer(1, MOST_COLUMNS), "random_state": _seed()}
    check("a random matrix", asked, rules)
    return asked


def random_start(given: Any) -> dict[str, Any]:
    """The parameters of random weights."""
    asked = _object(given, "random weights", required=("m", "random_state"))
    rules = {"m": integer(1, MOST_ROWS), "random_state": _seed()}
    check("random weights", asked, rules)
    return asked


def table(given: Any) -> Table:
    """A table from {"counts", "loss", "rule", "n_rounds", "reuse", "negations"}."""
    defaults = {
        "loss": "exponential",
        "rule": "greedy",
        "n_rounds": 3,
        "reuse": True,
        "negations": False,
    }
    asked = _object(given, "a truth table", required=("counts",), defaults=defaults)
    rules = {
        "loss": one_of("exponential", "logistic"),
        "rule": one_of("greedy", "historical"),
        "n_rounds": integer(1, MOST_ROUNDS),
        "reuse": boolean(),
        "negations": boolean(),
    }
    check("a truth table", asked, rules)
    return Table(**asked | {"counts": _counts(asked["counts"])})


def _object(
    given: Any, name: str, *, required: Sequence[str], defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A JSON object with the required and, where it has no others, the default entries."""
    if not isinstance(given, dict):
        raise InvalidDataError(
            f"The question for {name} must be a JSON object. Got a {type(given).__name__}."
        )
    known = [*required, *(defaults or {})]
    if unknown := sorted(set(given) - set(known)):
        raise InvalidParameterError(
            f"The question for {name} may have the entries {', '.join(known)}. "
            f"Got {', '.join(map(repr, unknown))} too."
        )
    if missing := [entry for entry in required if entry not in given]:
        raise InvalidParameterError(
            f"The question for {name} must have the entries {', '.join(required)}. "
            f"{', '.join(missing)} is missing."
        )
    return dict(defaults or {}) | given


def _matrix(given: Any) -> NDArray[np.float64]:
    """A list of lists of numbers; whether they are signs is for the laboratory to say."""
    rows = given if isinstance(given, list) else []
    lengths = {len(row) if isinstance(row, list) else 0 for row in rows}
    sound = len(lengths) == 1 and lengths <= set(range(1, MOST_COLUMNS + 1))
    if not sound or len(rows) > MOST_ROWS:
        raise InvalidDataError(
            f"A matrix on this page must be a list of 1 to {MOST_ROWS} rows, all with the same "
            f"number of 1 to {MOST_COLUMNS} entries. Got {_shape(given)}."
        )
    return np.array([_numbers(row, "A row of the matrix") for row in rows])


def _shape(given: Any) -> str:
    if not isinstance(given, list):
        return f"a {type(given).__name__}"
    lengths = [str(len(row)) if isinstance(row, list) else "no" for row in given]
    several = ", ".join(sorted(set(lengths))) or "no"
    return f"{len(lengths)} rows with {several} entries"


def _numbers(given: Any, name: str) -> list[float]:
    numbers = isinstance(given, list) and all(
        isinstance(x, int | float) and not isinstance(x, bool) and abs(x) < 1e18 for x in given
    )
    if not numbers:
        raise InvalidDataError(f"{name} must be a list of numbers. Got {given!r}.")
    return [float(x) for x in given]


def _start(given: Any) -> list[float] | None:
    return None if given is None else _numbers(given, "The start of a walk")


def _rule(given: Any) -> Rule:
    """A step rule from {"name": ...} and its parameters."""
    name: Any = given.get("name") if isinstance(given, dict) else given
    check("a walk", {"rule": name}, {"rule": one_of(*_RULES)})
    kind = _RULES[name]
    own = {field.name: field.default for field in fields(kind)}
    settings = _object(given, f"the rule {name!r}", required=("name",), defaults=own)
    columns = settings.get("columns")
    if not (columns is None or isinstance(columns, list)):
        raise InvalidParameterError(
            f"The columns of a rule must be a list, or null for all. Got {columns!r}."
        )
    del settings["name"]
    return kind(**settings)


def _counts(given: Any) -> NDArray[np.int64]:
    allowed = integer(0, MOST_EXAMPLES)[0]
    pairs = given if isinstance(given, list) else []
    if len(pairs) != 4 or not all(
        isinstance(pair, list) and len(pair) == 2 and all(map(allowed, pair)) for pair in pairs
    ):
        raise InvalidDataError(
            f"The counts must be four pairs of integers from 0 to {MOST_EXAMPLES}. Got {given!r}."
        )
    return np.array(pairs, dtype=np.int64)


def _seed() -> tuple[Any, str]:
    return integer(0, 2**32 - 1)
