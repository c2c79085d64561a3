"""treelite: trees with vector leaves in double precision.

Where every tree moves one class, leaves are numbers and trees belong to a class. treelite has the
soft-max but not the links of AdaBoost.MH and SAMME, whose scores it can return.
"""

from typing import Any, Literal

import numpy as np

from .._ground.errors import InvalidParameterError, ModelFormatError
from ._contents import Contents, contents_of, missing_extra, need_a_sum_of_trees
from ._verified import Verification

_MOST_CATEGORY = 2**31 - 1


def to_treelite(
    estimator: Any, *, output: Literal["probabilities", "scores"] = "probabilities"
) -> Any:
    """Convert a fitted estimator to a treelite model. Needs the extra ``export``.

    Parameters
    ----------
    estimator : fitted estimator
        Estimator of this library.
    output : {"probabilities", "scores"}, default='probabilities'
        What the model predicts.

    Returns
    -------
    treelite.Model
        The model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.export import to_treelite
    >>> model = to_treelite(MARTClassifier(n_estimators=2).fit(*load_iris(return_X_y=True)))
    >>> model.num_feature
    4
    """
    if output not in ("probabilities", "scores"):
        raise InvalidParameterError(
            f"The 'output' of to_treelite must be 'probabilities' or 'scores'. Got {output!r}."
        )
    try:
        from treelite import model_builder  # noqa: PLC0415  optional
    except ModuleNotFoundError:
        raise missing_extra("treelite") from None
    contents = contents_of(estimator)
    need_a_sum_of_trees(contents, "treelite")
    _need_known_link(contents, output)
    _need_category_numbers(contents)
    one = _class_of_trees(contents)
    builder = _builder(model_builder, contents, output, one)
    sets, set_of_node = contents.sets(), contents.set_of_node()
    for t in range(contents.trees.n_trees):
        nodes = slice(contents.trees.node_start[t], contents.trees.node_start[t + 1])
        of_nodes = [sets[s] if s >= 0 else None for s in set_of_node[nodes]]
        _add_tree(builder, contents, t, of_nodes, vectors=one is None)
    model = builder.commit()
    _verify(estimator, contents, model, output)
    return model


def _verify(estimator: Any, contents: Contents, model: Any, output: str) -> None:
    """Runs the model in treelite's own interpreter."""
    import treelite  # noqa: PLC0415  optional

    check = Verification(estimator, contents, f"treelite {treelite.__version__}")
    X = check.rows(fractions=False)
    said = treelite.gtil.predict(model, X, nthread=1).reshape(len(X), -1)
    if output == "scores":
        check.need_scores(X, said, rtol=1e-12)
    else:
        check.need_agreement(X, None, said, rtol=1e-6)  # its exponentials are in single precision


def _need_known_link(contents: Contents, output: str) -> None:
    if output == "probabilities" and contents.link.kind != "softmax":
        raise ModelFormatError(
            f"treelite cannot express the probabilities of {contents.owner}, which are not the "
            "soft-max of its scores. Give output='scores', or export to ONNX, C or Python."
        )


def _need_category_numbers(contents: Contents) -> None:
    values = contents.trees.set_values
    odd = values[(values != np.round(values)) | (values < 0) | (values > _MOST_CATEGORY)]
    if len(odd):
        raise ModelFormatError(
            "treelite can express only categories that are whole numbers from 0 to "
            f"{_MOST_CATEGORY}. Got {odd[0]}. Encode them as such before fitting, or export to C "
            "or Python."
        )


def _class_of_trees(contents: Contents) -> list[int] | None:
    """The class that each tree moves, or None where one moves several."""
    trees = contents.trees
    if not (trees.width == 1).all():
        return None
    pieces = np.split(trees.classes, trees.value_start[1:-1])
    if any((piece != piece[0]).any() for piece in pieces[: trees.n_trees]):
        return None
    return [int(piece[0]) for piece in pieces[: trees.n_trees]]


def _builder(model_builder: Any, contents: Contents, output: str, one: list[int] | None) -> Any:
    n_trees, n_classes = contents.trees.n_trees, contents.n_classes
    return model_builder.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=model_builder.Metadata(
            num_feature=contents.n_features,
            task_type="kMultiClf",
            average_tree_output=False,
            num_target=1,
            num_class=[n_classes],
            leaf_vector_shape=(1, 1) if one is not None else (1, n_classes),
        ),
        tree_annotation=model_builder.TreeAnnotation(
            num_tree=n_trees,
            target_id=[0] * n_trees,
            class_id=[-1] * n_trees if one is None else one,
        ),
        postprocessor=model_builder.PostProcessorFunc(
            name="softmax" if output == "probabilities" else "identity_multiclass"
        ),
        base_scores=contents.trees.start.tolist(),
        attributes={"edgewise": contents.title},
    )


def _add_tree(builder: Any, contents: Contents, t: int, sets: list[Any], *, vectors: bool) -> None:
    trees = contents.trees
    first, width = int(trees.value_start[t]), int(trees.width[t])
    builder.start_tree()
    for i, members in enumerate(sets):
        at = int(trees.node_start[t]) + i
        feature, left = int(trees.feature[at]), int(trees.left[at])
        builder.start_node(i)
        if feature < 0:
            moved = slice(first + left * width, first + (left + 1) * width)
            builder.leaf(_leaf(contents, moved, vectors=vectors))
        elif members is None:
            builder.numerical_test(
                feature,
                float(trees.threshold[at]),
                default_left=bool(trees.missing_left[at]),
                opname="<=",
                left_child_key=left,
                right_child_key=left + 1,
            )
        else:
            builder.categorical_test(
                feature,
                default_left=False,
                category_list=[int(value) for value in members],
                category_list_right_child=False,
                left_child_key=left,
                right_child_key=left + 1,
            )
        builder.end_node()
    builder.end_tree()


def _leaf(contents: Contents, moved: slice, *, vectors: bool) -> Any:
    trees = contents.trees
    if not vectors:
        return float(trees.values[moved][0])
    leaf = np.zeros(contents.n_classes)
    np.add.at(leaf, trees.classes[moved], trees.values[moved])
    return leaf.tolist()
