"""ONNX: TreeEnsemble of the domain ai.onnx.ml, version 5, in double precision.

It is the first operator there whose thresholds and values are doubles, so that decisions are those
of the estimator for every input, and the first with sets of categories. A leaf has one value there:
a tree whose leaves move several classes is written once for each. The initial scores are trees of
one leaf and come first, so that sums are in our own order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import ModelFormatError
from .._ground.version import __version__
from ._contents import Contents, contents_of, missing_extra, need_a_sum_of_trees

OPSET, ML_OPSET, IR_VERSION = 21, 5, 10
_LEQ, _LT, _MEMBER = 0, 1, 6  # modes of nodes
_MOST_CATEGORY = 2**31 - 1  # runtimes test sets of 32-bit integers

Ints = NDArray[np.integer[Any]]


def to_onnx(estimator: Any) -> Any:
    """An ONNX model with input X (n, d), doubles, and outputs "label" and "probabilities".

    Returns an ``onnx.ModelProto``; its SerializeToString() is what runtimes take.
    """
    try:
        import onnx  # noqa: PLC0415  optional
    except ModuleNotFoundError:
        raise missing_extra("onnx") from None
    contents = contents_of(estimator)
    need_a_sum_of_trees(contents, "ONNX")
    _need_whole_categories(contents)
    graph = _Graph(onnx, contents)
    model = onnx.helper.make_model(
        graph.made(),
        opset_imports=[
            onnx.helper.make_opsetid("", OPSET),
            onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET),
        ],
        ir_version=IR_VERSION,
        producer_name="edgewise",
        producer_version=__version__,
    )
    if contents.names is not None:
        onnx.helper.set_model_props(model, {"feature_names": "\n".join(contents.names)})
    onnx.checker.check_model(model, full_check=True)
    return model


def _need_whole_categories(contents: Contents) -> None:
    values = contents.trees.set_values
    if not np.all((values == np.round(values)) & (np.abs(values) <= _MOST_CATEGORY)):
        raise ModelFormatError(
            "ONNX can express only categories that are whole numbers of 32 bits. Got "
            f"{values[np.argmax((values != np.round(values)) | (np.abs(values) > _MOST_CATEGORY))]}"
            ". Encode them as such before fitting, or export to C or Python."
        )


class _Graph:
    """Nodes of the graph, one after the other."""

    def __init__(self, onnx: Any, contents: Contents) -> None:
        self._onnx = onnx
        self._contents = contents
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def made(self) -> Any:
        helper, kind = self._onnx.helper, self._onnx.TensorProto
        self._trees()
        self._probabilities()
        label_type, shape = self._labels()
        c = self._contents
        value = helper.make_tensor_value_info
        return helper.make_graph(
            self._nodes,
            "edgewise",
            [value("X", kind.DOUBLE, ["n", c.n_features])],
            [
                value("label", label_type, shape),
                value("probabilities", kind.DOUBLE, ["n", c.n_classes]),
            ],
            self._constants,
            doc_string=c.title,
        )

    def _add(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self._nodes.append(self._onnx.helper.make_node(op, inputs, [output], **attributes))
        return output

    def _constant(self, name: str, array: NDArray[Any]) -> str:
        self._constants.append(self._tensor(name, array))
        return name

    def _tensor(self, name: str, array: NDArray[Any]) -> Any:
        if array.dtype.kind == "U":
            array = array.astype(object)
        return self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)

    def _trees(self) -> None:
        fields = ensemble_fields(self._contents)
        attributes = {
            name: self._tensor(name, array) if name in TENSORS else array.tolist()
            for name, array in fields.items()
        }
        self._add(
            "TreeEnsemble",
            [self._rows()],
            "scores",
            domain="ai.onnx.ml",
            n_targets=self._contents.n_classes,
            aggregate_function=1,  # the sum
            post_transform=0,  # none
            **attributes,
        )

    def _rows(self) -> str:
        """X, with NaN for categories that are not whole: runtimes may cut off their fraction."""
        trees = self._contents.trees
        ordered = np.ones((1, trees.n_features), dtype=bool)
        ordered[0, trees.feature[np.isnan(trees.threshold)]] = False
        if ordered.all():
            return "X"
        self._add("Floor", ["X"], "whole_part")
        self._add("Equal", ["X", "whole_part"], "whole")
        self._add("Or", ["whole", self._constant("ordered", ordered)], "allowed")
        return self._add(
            "Where", ["allowed", "X", self._constant("missing", np.array(np.nan))], "rows"
        )

    def _probabilities(self) -> None:
        link = self._contents.link
        if link.kind == "softmax":
            self._add("Softmax", ["scores"], "probabilities", axis=1)
        elif link.kind == "vote shares":
            self._vote_shares(link.number)
        else:
            self._label_odds(link.number)

    def _vote_shares(self, sharpness: float) -> None:
        zero = self._constant("zero", np.array(0.0))
        axis = self._constant("axis", np.array([1]))
        self._add("ReduceSum", ["scores", axis], "total")
        self._add("Greater", ["total", zero], "has_votes")
        self._add("Div", ["scores", "total"], "shares_or_nan")
        self._add("Where", ["has_votes", "shares_or_nan", zero], "shares")
        self._add("Mul", ["shares", self._constant("sharpness", np.array(sharpness))], "logits")
        self._add("Softmax", ["logits"], "probabilities", axis=1)

    def _label_odds(self, log_odds: float) -> None:
        """log P_k = -log(1 + exp(z_k)) with z = log_odds - 2 F, without overflow."""
        two, one = (self._constant(*c) for c in (("two", np.array(2.0)), ("one", np.array(1.0))))
        zero = self._constant("zero", np.array(0.0))
        self._add("Mul", ["scores", two], "doubled")
        self._add("Sub", [self._constant("log_odds", np.array(log_odds)), "doubled"], "z")
        self._add("Abs", ["z"], "size")
        self._add("Neg", ["size"], "falling")
        self._add("Exp", ["falling"], "small")
        self._add("Add", ["small", one], "above_one")
        self._add("Log", ["above_one"], "rest")
        self._add("Max", ["z", zero], "positive")
        self._add("Add", ["positive", "rest"], "softplus")
        self._add("Neg", ["softplus"], "log_p")
        if self._contents.multi_label:
            self._add("Exp", ["log_p"], "probabilities")
        else:
            self._add("Softmax", ["log_p"], "probabilities", axis=1)

    def _labels(self) -> tuple[int, list[Any]]:
        """The node that gives the labels; their type and shape."""
        kind, c = self._onnx.TensorProto, self._contents
        if c.multi_label:
            self._relevant()
            return kind.INT64, ["n", c.n_classes]
        self._add("ArgMax", ["scores"], "place", axis=1, keepdims=0)
        classes = label_array(c.classes)
        self._add("Gather", [self._constant("classes", classes), "place"], "label", axis=0)
        types = {"i": kind.INT64, "f": kind.DOUBLE, "b": kind.BOOL, "U": kind.STRING}
        return types[classes.dtype.kind], ["n"]

    def _relevant(self) -> None:
        c = self._contents
        if c.one_answer:
            self._add("ArgMax", ["scores"], "place", axis=1, keepdims=1)
            places = self._constant("places", np.arange(c.n_classes)[np.newaxis])
            self._add("Equal", ["place", places], "relevant")
        else:
            zero = "zero"  # a constant of the link
            self._add("Greater", ["scores", zero], "relevant")
        self._add("Cast", ["relevant"], "label", to=self._onnx.TensorProto.INT64)


def label_array(classes: NDArray[Any]) -> NDArray[Any]:
    """Labels in a type that ONNX has."""
    kind = classes.dtype.kind
    if kind == "O" and all(isinstance(label, str) for label in classes):
        return classes.astype(str)
    if kind in "iu" and np.all(classes <= np.iinfo(np.int64).max):
        return classes.astype(np.int64)
    if kind in "fbU":
        return classes.astype(np.float64) if kind == "f" else classes
    raise ModelFormatError(
        "ONNX can express only labels that are integers of 64 bits, floats, booleans or strings. "
        f"Got an array of type {classes.dtype.name}."
    )


# --- the attributes of TreeEnsemble -----------------------------------------------------------

TENSORS = frozenset(["nodes_modes", "nodes_splits", "leaf_weights", "membership_values"])


class _Copy:
    """One tree of the operator: the entries of one place of the leaves of a tree of ours."""

    def __init__(self, contents: Contents, t: int, set_of_node: Ints) -> None:
        model = contents.trees
        begin, end = int(model.node_start[t]), int(model.node_start[t + 1])
        self.feature = model.feature[begin:end]
        self.left = model.left[begin:end].astype(np.int64)
        self.threshold = model.threshold[begin:end]
        self.missing_left = model.missing_left[begin:end]
        self.set = set_of_node[begin:end]
        values = slice(int(model.value_start[t]), int(model.value_start[t + 1]))
        width = int(model.width[t])
        self.classes = model.classes[values].reshape(-1, width)
        self.values = model.values[values].reshape(-1, width)


def ensemble_fields(contents: Contents) -> dict[str, NDArray[Any]]:
    """All arrays of the operator: trees one after the other, inner nodes and leaves apart."""
    fields = _Fields(contents.sets())
    for k, value in enumerate(contents.trees.start):
        fields.add_leaf_only(k, float(value))
    set_of_node = contents.set_of_node()
    for t in range(contents.trees.n_trees):
        tree = _Copy(contents, t, set_of_node)
        for place in range(tree.classes.shape[1]):
            fields.add(tree, tree.classes[:, place], tree.values[:, place])
    return fields.arrays()


class _Fields:
    """Collects the operator's arrays."""

    def __init__(self, sets: list[NDArray[np.float64]]) -> None:
        self._sets = sets
        self._parts: dict[str, list[Any]] = {}
        self._n_inner = self._n_leaves = 0

    def _extend(self, **parts: Any) -> None:
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(np.atleast_1d(part))

    def add_leaf_only(self, k: int, value: float) -> None:
        """A tree of one leaf: a node both of whose branches lead to it."""
        self._extend(
            tree_roots=self._n_inner,
            nodes_featureids=0,
            nodes_modes=_LEQ,
            nodes_splits=0.0,
            nodes_missing_value_tracks_true=0,
            nodes_truenodeids=self._n_leaves,
            nodes_trueleafs=1,
            nodes_falsenodeids=self._n_leaves,
            nodes_falseleafs=1,
            leaf_targetids=k,
            leaf_weights=value,
        )
        self._n_inner += 1
        self._n_leaves += 1

    def add(self, tree: _Copy, classes: Ints, values: NDArray[np.float64]) -> None:
        """A tree; its leaves have the given classes and values, by number."""
        inner = tree.feature >= 0
        if not inner.any():
            self.add_leaf_only(int(classes[0]), float(values[0]))
            return
        number = np.where(inner, np.cumsum(inner) - 1 + self._n_inner, tree.left + self._n_leaves)
        left = tree.left[inner]
        modes, splits = self._tests(tree, inner)
        self._extend(
            tree_roots=self._n_inner,
            nodes_featureids=tree.feature[inner],
            nodes_modes=modes,
            nodes_splits=splits,
            nodes_missing_value_tracks_true=np.where(modes == _LEQ, tree.missing_left[inner], 0),
            nodes_truenodeids=number[left],
            nodes_trueleafs=~inner[left],
            nodes_falsenodeids=number[left + 1],
            nodes_falseleafs=~inner[left + 1],
            leaf_targetids=classes,
            leaf_weights=values,
        )
        self._n_inner += int(inner.sum())
        self._n_leaves += len(values)

    def _tests(self, tree: _Copy, inner: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.float64]]:
        """Modes and thresholds of the inner nodes. An empty set is a test that nothing passes."""
        numbers = tree.set[inner]
        modes, splits = np.full(len(numbers), _LEQ), tree.threshold[inner].copy()
        for at in np.flatnonzero(numbers >= 0):
            members = self._sets[numbers[at]]
            modes[at] = _MEMBER if len(members) else _LT
            splits[at] = 0.0 if len(members) else -np.inf
            if len(members):
                self._extend(membership_values=np.append(members, np.nan))
        return modes, splits

    def arrays(self) -> dict[str, NDArray[Any]]:
        types = {"nodes_modes": np.uint8, "nodes_splits": np.float64, "leaf_weights": np.float64}
        types["membership_values"] = np.float64
        return {
            name: np.concatenate(parts).astype(types.get(name, np.int64))
            for name, parts in self._parts.items()
        }
