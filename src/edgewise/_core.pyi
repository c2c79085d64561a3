from collections.abc import Sequence
import enum
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray


class GrowLimits:
    def __init__(self, max_leaf_nodes: int, max_depth: int, min_samples_leaf: int, negligible: float = 0.015625) -> None: ...

class BinnedData:
    def __init__(self, x: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, max_bins: int, n_threads: int) -> None: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def sparse(self) -> bool: ...

    @property
    def n_bytes(self) -> int: ...

    @property
    def offset(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    def cuts(self, arg: int, /) -> list[float]: ...

    def code(self, row: int, feature: int) -> int: ...

class Tree:
    @property
    def feature(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def left(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def threshold(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def missing_left(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

    @property
    def gain(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def moves_nothing(self) -> bool: ...

    @property
    def width(self) -> int: ...

    @property
    def classes(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def leaf_of_row(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,))]: ...

class Posterior:
    def __init__(self, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_class: bool) -> None: ...

    @property
    def n_classes(self) -> int: ...

    def probabilities(self, arg: int, /) -> list[float]: ...

    def add(self, trees: Sequence[Tree], n_threads: int) -> None: ...

    def class_losses(self, n_threads: int) -> list[float]: ...

    def loss_after(self, trees: Sequence[Tree], n_threads: int) -> float: ...

def grow_class_trees(data: BinnedData, posterior: Posterior, targets: Sequence[tuple[int, int]], newton: bool, limits: GrowLimits, factor: float, shrinkage: float, n_threads: int) -> list[Tree]: ...

class PairTreeGrower:
    def __init__(self, data: BinnedData, posterior: Posterior, limits: GrowLimits) -> None: ...

    def grow(self, vector_leaf: bool, shrinkage: float, n_threads: int) -> Tree: ...

class ForestStore:
    def __init__(self) -> None: ...

    def append(self, trees: Sequence[Tree]) -> None: ...

    def arrays(self) -> dict[str, Any]: ...

class Forest:
    def __init__(self, node_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], missing_left: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def n_trees(self) -> int: ...

    def add_scores(self, x: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], first: int, last: int, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

    def replay(self, x: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], first: int, last: int, posterior: Posterior, n_threads: int) -> None: ...

    def apply(self, x: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], first: int, last: int, leaves: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

def add_tree_scores(trees: Sequence[Tree], x: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

def softmax(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None: ...

def available_cpus() -> int: ...

class VoteRule(enum.Enum):
    adaboost = 0

    arc_gv = 1

    ascent = 2

    adaboost_star = 3

class Choice(enum.Enum):
    best = 0

    first = 1

    weakest = 2

class Ties(enum.Enum):
    lowest = 0

    highest = 1

    stop = 2

class Stop(enum.Enum):
    none = 0

    tie = 1

    no_edge = 2

    perfect = 3

class WeightMap:
    def __init__(self, matrix: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, vote: VoteRule, choice: Choice, ties: Ties, threshold: float, tolerance: float, nu: float) -> None: ...

    def run(self, n_steps: int, *, forced: int = -1, choices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')] | None = None, edges: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, alphas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None) -> tuple[int, Stop]: ...

    @property
    def tied(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def votes(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

def follow(matrix: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], choices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], derivatives: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...
