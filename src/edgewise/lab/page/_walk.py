"""The answers about a margin matrix: the walk of its weights, the cycle, the maximum margin."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._ground.errors import InvalidDataError
from .. import dynamics as lab
from . import _asked
from ._triangle import best_columns, zero_edges

_CYCLE_STEPS = 300_000  # of a search for a cycle: about a second for the largest matrix
_DIGITS = 7  # of the weights along an orbit, which are drawn
_PROOF_DIGITS = 30
_MOST_PROVED = 30_000  # steps of the cycle times the square of its support: some seconds


def examples() -> list[dict[str, Any]]:
    """The matrices of the literature, each with its start and rule."""
    known = (lab.example(name) for name in lab.EXAMPLES)
    return [
        {
            "name": example.name,
            "matrix": example.matrix,
            "start": None if example.start is None else [float(d) for d in example.start],
            "rule": {"name": example.rule.name} | vars(example.rule),
            "max_margin": str(example.max_margin),
            "story": example.story,
        }
        for example in known
    ]


def random_matrix(given: Any) -> dict[str, Any]:
    """A random matrix."""
    return {"matrix": lab.random_matrix(**_asked.random_matrix(given))}


def random_start(given: Any) -> dict[str, Any]:
    """Random weights."""
    return {"start": lab.random_weights(**_asked.random_start(given))}


def walk(given: Any) -> dict[str, Any]:
    """The walk of the weights under a rule, and what is known about where it leads."""
    asked = _asked.walk(given)
    orbit = lab.iterate(
        asked.matrix,
        asked.start,
        n_steps=asked.n_steps,
        rule=asked.rule,
        ties=asked.ties,  # type: ignore[arg-type]  # one of two words: checked
        n_transient=asked.n_skipped,
    )
    best = lab.max_margin(orbit.matrix)
    return {
        "first": orbit.n_steps - len(orbit.choices),
        "weights": np.vstack([orbit.weights, orbit.final_weights]).round(_DIGITS),
        "choices": orbit.choices,
        "edges": orbit.edges,
        "margins": orbit.margins(),
        "smooth_margins": orbit.smooth_margins(),
        "stopped": orbit.stopped,
        "start": orbit.start,
        "max_margin": best._asdict(),
        "cycle": _cycle(asked),
        "triangle": _triangle(orbit.matrix, asked.rule) if len(orbit.matrix) == 3 else None,
    }


def proof(given: Any) -> dict[str, Any]:
    """A proof, in interval arithmetic, that the cycle of a walk exists."""
    cycle = _find(_asked.walk(given))
    if not isinstance(cycle, lab.Cycle):
        raise InvalidDataError(f"There is no cycle to prove: {_reason(cycle)}.")
    work = cycle.length * len(cycle.support) ** 2
    if work > _MOST_PROVED:
        raise InvalidDataError(
            "A proof on this page is for cycles whose length times the square of the support is at "
            f"most {_MOST_PROVED}. Got {cycle.length} steps on {len(cycle.support)} examples; in "
            "Python, Cycle.certify has no such limit."
        )
    found = cycle.certify(_PROOF_DIGITS)
    return {
        "proved": found.proved,
        "reason": found.reason,
        "digits": found.digits,
        "stable": found.stable,
        "edges": [str(edge) for edge in found.edges],
    }


def _find(asked: _asked.Walk) -> lab.Cycle | lab.NoCycle | None:
    """The cycle, the reason why none was found, or None where the rule cannot have one."""
    if not isinstance(asked.rule, lab.Optimal | lab.Threshold):
        return None
    return lab.find_cycle(
        asked.matrix,
        asked.start,
        rule=asked.rule,
        ties=asked.ties,  # type: ignore[arg-type]  # one of two words: checked
        max_steps=_CYCLE_STEPS,
    )


def _reason(found: lab.NoCycle | None) -> str:
    if found is not None:
        return found.reason
    return "under this rule a step depends on all votes so far, not on the weights alone"


def _cycle(asked: _asked.Walk) -> dict[str, Any]:
    cycle = _find(asked)
    if not isinstance(cycle, lab.Cycle):
        return {"found": False, "reason": _reason(cycle)}
    return {
        "found": True,
        "length": cycle.length,
        "choices": cycle.choices,
        "edges": cycle.edges,
        "weights": cycle.weights,
        "support": cycle.support,
        "residual": cycle.residual,
        "spectral_radius": cycle.spectral_radius,
        "manifold_dimension": cycle.manifold_dimension,
        "is_stable": cycle.is_stable,
        "gap": cycle.gap,
        "margin": cycle.margin,
        "n_steps": cycle.n_steps,
    }


def _triangle(M: NDArray[np.int8], rule: _asked.Rule) -> dict[str, Any]:
    """The lines of edge 0 and, where the rule takes the largest edge, who has it where."""
    columns: list[int] = list(range(M.shape[1]))
    if isinstance(rule, lab.Threshold):
        taken = columns if rule.columns is None else sorted(set(rule.columns))
        columns = taken if rule.choose == "best" else []
    regions = best_columns(M, columns) if columns else []
    return {"regions": [r._asdict() for r in regions], "lines": zero_edges(M)}
