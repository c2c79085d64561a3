"""ONNX: TreeEnsemble of the domain ai.onnx.ml, version 5, in double precision.

It is the first operator there whose thresholds and values are doubles, so that decisions are those
of the estimator for every input. A leaf has one value there: a tree whose leaves move several
classes is written once for each. The membership of categories in sets is looked up before the trees
(``_onnx_trees`` says why).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import ModelFormatError
from .._ground.version import __version__
from ._contents import Contents, contents_of, missing_extra, need_a_sum_of_trees
from ._onnx_trees import TENSORS, Part, Sets, parts
from ._verified import Verification

OPSET, ML_OPSET, IR_VERSION = 21, 5, 10


def to_onnx(estimator: Any) -> Any:
    """Convert a fitted estimator to an ONNX model.

    Its input X has shape (n_rows, n_features) and holds doubles; its outputs are "label" and
    "probabilities". Needs the extra ``export``.

    Parameters
    ----------
    estimator : fitted estimator
        Estimator of this library.

    Returns
    -------
    onnx.ModelProto
        The model. Runtimes load its ``SerializeToString()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.export import to_onnx
    >>> model = to_onnx(MARTClassifier(n_estimators=2).fit(*load_iris(return_X_y=True)))
    >>> [output.name for output in model.graph.output]
    ['label', 'probabilities']
    """
    try:
        import onnx  # noqa: PLC0415  optional
    except ModuleNotFoundError:
        raise missing_extra("onnx") from None
    contents = contents_of(estimator)
    need_a_sum_of_trees(contents, "ONNX")
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
    _verify(estimator, contents, model)
    return model


def _verify(estimator: Any, contents: Contents, model: Any) -> None:
    """Runs the model in onnxruntime, where that is installed."""
    try:
        import onnxruntime  # noqa: PLC0415  optional
    except ModuleNotFoundError:
        return
    check = Verification(estimator, contents, f"onnxruntime {onnxruntime.__version__}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    X = check.rows(fractions=True)
    for rows in (X, X[:1]):  # one row is computed in another way than many
        labels, proba = session.run(["label", "probabilities"], {"X": rows})
        check.need_agreement(rows, labels, proba, rtol=1e-12)


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
        return self._onnx.numpy_helper.from_array(np.asarray(array, order="C"), name)

    def _trees(self) -> None:
        """Scores: the sum over the parts."""
        sets = Sets(self._contents)
        places = self._places(sets)
        sums = [
            self._part(number, part, places)
            for number, part in enumerate(parts(self._contents, sets))
        ]
        total = sums[0]
        for number, further in enumerate(sums[1:], start=1):
            total = self._add("Add", [total, further], f"sum_{number}")
        self._add("Identity", [total], "scores")

    def _places(self, sets: Sets) -> dict[int, str]:
        """By feature: the place of every row's category among all that are in a set."""
        names = {}
        for j, categories in sets.categories().items():
            at = self._constant(f"feature_{j}", np.array(j))
            self._add("Gather", ["X", at], f"categories_{j}", axis=1)
            names[j] = self._add(
                "LabelEncoder",
                [f"categories_{j}"],
                f"places_{j}",
                domain="ai.onnx.ml",
                keys_tensor=self._tensor("keys", categories),
                values_tensor=self._tensor("values", np.arange(float(len(categories)))),
                default_tensor=self._tensor("default", np.array([float(len(categories))])),
            )
            names[j] = self._add(
                "Cast", [names[j]], f"numbers_{j}", to=self._onnx.TensorProto.INT64
            )
        return names

    def _part(self, number: int, part: Part, places: dict[int, str]) -> str:
        attributes = {
            name: self._tensor(name, array) if name in TENSORS else array.tolist()
            for name, array in part.fields.items()
        }
        return self._add(
            "TreeEnsemble",
            [self._rows(number, part, places)],
            f"part_{number}",
            domain="ai.onnx.ml",
            n_targets=self._contents.n_classes,
            aggregate_function=1,  # the sum
            post_transform=0,  # none
            **attributes,
        )

    def _rows(self, number: int, part: Part, places: dict[int, str]) -> str:
        """X with a column for each set: 0 for the rows in it."""
        if not part.columns:
            return "X"
        found = []
        for j, outside in part.columns:
            table = self._constant(f"sets_{number}_{j}", outside)
            name = f"outside_{number}_{j}"
            found.append(self._add("Gather", [table, places[j]], name, axis=0))
        self._add("Concat", found, f"outside_{number}", axis=1)
        double = self._onnx.TensorProto.DOUBLE
        self._add("Cast", [f"outside_{number}"], f"columns_{number}", to=double)
        return self._add("Concat", ["X", f"columns_{number}"], f"rows_{number}", axis=1)

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
