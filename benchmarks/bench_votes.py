"""The boosters that vote: beside scikit-learn, at a fixed setting, and with dear mistakes.

- SAMME on Letter, beside AdaBoostClassifier with trees of as many leaves: at most 0.2 of its time.
- The same on Vowel, 528 rows, a fifth of whose labels are exchanged: most nodes have few rows.
- AdaBoost.MH with one tree per class on Pendigits, beside the same loop over scikit-learn's trees:
  at most 0.03 of its time.
- A factorised stump on Letter, n d K additions: at least 0.4 of the additions a second that a plain
  streaming addition over as many bytes reaches, both on one thread.
- AdaBoost.MH with Hamming trees, 1000 rounds: at most 2.6 % on Letter, 2.5 % on Pendigits.
- Soft-max boosting on Satimage with one confusion ten times as dear: ten random splits, what the
  cost matrix saves of the expected test cost, and its 95 % interval.
"""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from . import report
from .datasets import load
from .measure import interleaved

NAME = "votes"
QUICK = {"parts": ["samme", "one_vs_all", "stump"], "rounds": 2, "repeats": 1}
PARTS = ["samme", "small", "one_vs_all", "stump", "hamming", "cost"]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--rounds", type=int, default=100, help="of SAMME; MH has a fifth of them")
    parser.set_defaults(repeats=3)


def run(args: Namespace) -> None:
    """One line per part."""
    results: dict[str, Any] = {}
    for part in args.parts:
        results[part] = MEASURES[part](args)
        print(f"{part}: " + ", ".join(f"{k} {_shown(v)}" for k, v in results[part].items()))
    report.save(NAME, vars(args), results, quick=args.quick)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _ratio(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int) -> dict[str, Any]:
    tasks = {"ours": lambda: _seconds(ours), "theirs": lambda: _seconds(theirs)}
    taken = {name: median(times) for name, times in interleaved(tasks, repeats).items()}
    return taken | {"ratio": taken["ours"] / taken["theirs"]}


def _samme(args: Namespace) -> dict[str, Any]:
    X, y, *_ = load("letter")
    return _beside_sklearn(X, y, args)


def _small(args: Namespace) -> dict[str, Any]:
    from edgewise.experiments._geist import exchanged

    X, y, *_ = load("vowel")
    return _beside_sklearn(X, exchanged(y, 0), args)


def _beside_sklearn(X: Any, y: Any, args: Namespace) -> dict[str, Any]:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    from edgewise import SAMMEClassifier

    leaves = 12 * int(y.max())
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves)
    ours = SAMMEClassifier(
        n_estimators=args.rounds, max_leaf_nodes=leaves, n_jobs=args.threads, random_state=0
    )
    theirs = AdaBoostClassifier(tree, n_estimators=args.rounds, random_state=0)
    return _ratio(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), args.repeats)


def _one_vs_all(args: Namespace) -> dict[str, Any]:
    from edgewise import AdaBoostMHClassifier

    X, y, *_ = load("pendigits")
    rounds = max(1, args.rounds // 5)
    ours = AdaBoostMHClassifier(
        base="one_vs_all",
        n_estimators=rounds,
        max_leaf_nodes=12,
        initial_weights="uniform",
        n_jobs=args.threads,
    )
    return _ratio(lambda: ours.fit(X, y), lambda: _loop(X, y, rounds), args.repeats)


def _loop(X: Any, y: Any, rounds: int) -> None:
    """AdaBoost.MH (Geist 2015, algorithm 3) over scikit-learn's trees."""
    from sklearn.tree import DecisionTreeClassifier

    signs = np.where(y[:, None] == np.unique(y), 1, -1)
    weights = np.full(signs.shape, 1 / signs.size)
    for _ in range(rounds):
        outputs = np.empty(signs.shape)
        for k in range(signs.shape[1]):
            tree = DecisionTreeClassifier(max_leaf_nodes=12)
            tree.fit(X, signs[:, k], sample_weight=weights[:, k])
            outputs[:, k] = tree.predict(X)
        edge = (weights * outputs * signs).sum()
        alpha = 0.5 * np.log((1 + edge) / (1 - edge))
        weights *= np.exp(-alpha * outputs * signs)
        weights /= weights.sum()


def _stump(args: Namespace) -> dict[str, Any]:
    from edgewise import _core

    X, y, *_ = load("letter")
    n, d, K = len(X), X.shape[1], int(y.max()) + 1
    signs = np.where(y[:, None] == np.arange(K), np.int8(1), np.int8(-1))
    share = np.full(n, 0.5 / n)
    weights = _core.LabelWeights(signs, share, share / (K - 1), 1).signed_weights
    data, limits = _core.BinnedData(X, None, 255, 1), _core.GrowLimits(2, 0, 1, 0.0)
    total, added = np.zeros(n * d * K, dtype=np.int32), np.ones(n * d * K, dtype=np.int32)
    times = _ratio(
        lambda: _core.grow_hamming_tree(data, weights, limits, 1),
        lambda: np.add(total, added, out=total),
        max(7, args.repeats),
    )
    return {
        "stump_additions_per_s": n * d * K / times["ours"],
        "streaming_additions_per_s": n * d * K / times["theirs"],
        "share": 1 / times["ratio"],
    }


def _hamming(args: Namespace) -> dict[str, Any]:
    from edgewise import AdaBoostMHClassifier

    errors = {}
    for name in ("letter", "pendigits"):
        X, y, X_test, y_test = load(name)
        model = AdaBoostMHClassifier(n_estimators=1000, n_jobs=args.threads)
        seconds = _seconds(lambda model=model, X=X, y=y: model.fit(X, y))
        errors[f"{name}_percent"] = 100 * float((model.predict(X_test) != y_test).mean())
        errors[f"{name}_seconds"] = seconds
    return errors


def _cost(args: Namespace) -> dict[str, Any]:
    from sklearn.model_selection import train_test_split

    from edgewise import SoftmaxBoostClassifier, expected_cost

    parts = load("satimage")
    X, y = np.concatenate(parts[0::2]), np.concatenate(parts[1::2])
    K = int(y.max()) + 1
    cost = 1.0 - np.eye(K)
    cost[3, 2] = 10.0  # "damp grey soil" called "grey soil"
    paid: dict[str, list[float]] = {"with": [], "without": []}
    for seed in range(10):
        X_fit, X_test, y_fit, y_test = train_test_split(
            X, y, test_size=2000, stratify=y, random_state=seed
        )
        for name, matrix in (("with", cost), ("without", None)):
            model = SoftmaxBoostClassifier(
                n_estimators=500, cost=matrix, random_state=seed, n_jobs=args.threads
            ).fit(X_fit, y_fit)
            paid[name].append(expected_cost(y_test, model.predict(X_test), cost))
    saved = np.array(paid["without"]) - np.array(paid["with"])
    half = 2.262 * saved.std(ddof=1) / np.sqrt(len(saved))  # Student's t, 9 degrees of freedom
    return {
        "cost_without": float(np.mean(paid["without"])),
        "cost_with": float(np.mean(paid["with"])),
        "saved": float(saved.mean()),
        "half_interval": float(half),
        "splits_won": int((saved > 0).sum()),
    }


MEASURES: dict[str, Callable[[Namespace], dict[str, Any]]] = {
    "samme": _samme,
    "small": _small,
    "one_vs_all": _one_vs_all,
    "stump": _stump,
    "hamming": _hamming,
    "cost": _cost,
}
