"""Time of exact Shapley values, over LightGBM's `pred_contrib`.

LightGBM trains a forest. Its own values are compared with ours of the very same trees (read from
its dump: thresholds, leaf values, and counts of rows as covers), and with ours of LogitBoost and
AOSO fitted to the same data with the same number of rounds (AOSO: of trees) and leaves. Stated,
too: by how much the two libraries' values of the same forest differ, and by how much ours fail to
add up to the scores.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import report
from .contenders import contender
from .datasets import Split, load
from .measure import interleaved

NAME = "shap"
TARGET = 1.0
QUICK = {"rounds": 5, "rows": 100, "repeats": 1}
SETS = ["optdigits", "pendigits", "letter"]

Array = NDArray[np.float64]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--shrinkage", type=float, default=0.1)
    parser.add_argument("--rows", type=int, default=1000, help="rows to explain")


def run(args: Namespace) -> None:
    """All contenders on each data set."""
    title = f"seconds to explain {args.rows} rows (wanted on the same forest: at most {TARGET})"
    report.print_lines(NAME, title, args, args.data_sets or SETS, _lines)


def _lines(name: str, args: Namespace) -> list[dict[str, Any]]:
    split = load(name, max_rows=args.max_rows)
    X = np.resize(split.X_test, (args.rows, split.X_test.shape[1])).astype(np.float64)
    theirs, ours = _fitted(split, args)
    booster = theirs.booster_
    models = {"the same forest": same_forest(booster)}
    models |= {name: model.model_ for name, model in ours.items()}
    taken = interleaved(_tasks(booster, models, X, args.threads), args.repeats)
    before = median(taken["lightgbm"])
    lines = []
    for contender_name, seconds in taken.items():
        model = models.get(contender_name)
        line: dict[str, Any] = {"data": name, "contender": contender_name}
        line["trees"] = booster.num_trees() if model is None else model.n_trees
        line["seconds"] = median(seconds)
        line["ratio"] = line["seconds"] / before
        line["adds up to"] = None if model is None else _gap(model, X)
        same = contender_name == "the same forest"
        line["differs by"] = _difference(booster, model, X) if same else None
        line["verdict"] = report.verdict(line["ratio"], TARGET if same and args.judged else None)
        lines.append(line)
    return lines


def _fitted(split: Split, args: Namespace) -> tuple[Any, dict[str, Any]]:
    def fit(name: str, rounds: int) -> Any:
        setting = {"leaves": args.leaves, "shrinkage": args.shrinkage, "threads": args.threads}
        chosen = contender(name, **(args.param if name == "edgewise-aoso" else {}))
        return chosen.fit(split.X_train, split.y_train, rounds=rounds, **setting).model

    n_classes = len(np.unique(split.y_train))
    ours = {"edgewise-logitboost": args.rounds, "edgewise-aoso": args.rounds * n_classes}
    return fit("lightgbm", args.rounds), {name: fit(name, n) for name, n in ours.items()}


def _tasks(
    booster: Any, models: dict[str, Any], X: Array, threads: int
) -> dict[str, Callable[[], float]]:
    def timed(explain: Callable[[], Any]) -> Callable[[], float]:
        def task() -> float:
            start = perf_counter()
            explain()
            return perf_counter() - start

        return task

    tasks = {"lightgbm": timed(lambda: booster.predict(X, pred_contrib=True, num_threads=threads))}
    for name, model in models.items():
        tasks[name] = timed(lambda model=model: model.shapley_values(X, threads))
    return tasks


def _gap(model: Any, X: Array) -> float:
    phi = model.shapley_values(X, 1).sum(axis=1) + model.expected_scores()
    return float(np.abs(phi - model.scores(X, 1)).max())


def _difference(booster: Any, model: Any, X: Array) -> float:
    n_classes = model.n_classes
    theirs = booster.predict(X[:100], pred_contrib=True).reshape(-1, n_classes, X.shape[1] + 1)
    ours = model.shapley_values(X[:100], 1).transpose(0, 2, 1)
    start = np.abs(theirs[:, :, -1] - model.expected_scores()).max()
    return float(max(start, np.abs(theirs[:, :, :-1] - ours).max()))


def same_forest(booster: Any) -> Any:
    """LightGBM's trees (splits of numbers, no missing values) as a model of ours."""
    from edgewise._model.model import Model

    dump = booster.dump_model()
    n_classes = dump["num_tree_per_iteration"]
    trees = [_nodes(tree["tree_structure"]) for tree in dump["tree_info"]]
    nodes = [node for tree in trees for node in tree]
    n_nodes = np.array([len(tree) for tree in trees])
    n_leaves = (n_nodes + 1) // 2
    leaf_class = np.repeat(np.arange(len(trees)) % n_classes, n_leaves)
    return Model(
        start=np.zeros(n_classes),
        n_features=booster.num_feature(),
        round_start=np.arange(0, len(trees) + 1, n_classes, dtype=np.int64),
        node_start=_starts(n_nodes),
        value_start=_starts(n_leaves),
        width=np.ones(len(trees), dtype=np.int32),
        feature=np.array([node[0] for node in nodes], dtype=np.int32),
        left=np.array([node[1] for node in nodes], dtype=np.int32),
        threshold=np.array([node[2] for node in nodes]),
        missing_left=np.zeros(len(nodes), dtype=np.uint8),
        gain=np.zeros(len(nodes)),
        cover=np.array([node[3] / tree[0][3] for tree in trees for node in tree]),
        classes=leaf_class.astype(np.int32),
        values=np.array([node[4] for node in nodes if node[0] < 0]),
    )


def _starts(lengths: NDArray[np.intp]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _nodes(root: dict[str, Any]) -> list[tuple[int, int, float, float, float]]:
    """(feature, left child or number of the leaf, threshold, rows, value), parents first."""
    order, n_leaves = [root], 0
    nodes = []
    for at in order:  # grows while it is read
        if "leaf_value" in at:
            nodes.append((-1, n_leaves, 0.0, float(at.get("leaf_count", 1)), at["leaf_value"]))
            n_leaves += 1
            continue
        rows = float(at["internal_count"])
        nodes.append((at["split_feature"], len(order), at["threshold"], rows, 0.0))
        order += [at["left_child"], at["right_child"]]
    return nodes
