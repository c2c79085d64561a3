"""Smaller questions: line search, recomputed probabilities, testing time, falling test errors.

Li's slides: Algorithm 1 (gradient boosting with a line search), probabilities recomputed inside the
loop over classes, and "testing is faster" with K - 1 trees per round. Rudin, Daubechies and
Schapire: the test error falls after the training error has reached zero. Brossier and Lafitte: a
decision tree on the cells gives AdaBoost's path through three classifiers. Geist: a schedule of
steps.
"""

from collections import Counter
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.tree import DecisionTreeRegressor

from .. import SAMMEClassifier, SoftmaxBoostClassifier
from . import _converge, _geist, _li, _verdict, truth_tables
from ._data import Split, thin
from ._types import Cell, Experiment, Finding, Outcome, Records, Scale, Table

VARIANTS = ("once a round", "renewed for each class", "line search")
SCHEDULES = {"constant": (1.0, 1.0, 1.0), "halved": (1.0, 0.5, 0.25), "doubled": (1.0, 2.0, 4.0)}
ROUNDS = {"small": 10, "paper": 60}
ROWS = {"small": 300, "paper": 1500}


def cells(scale: Scale) -> list[Cell]:
    size = {"rounds": ROUNDS[scale], "rows": ROWS[scale]}
    many = {"rounds": 100 if scale == "small" else 1000}
    return [
        *(
            Cell(f"mart/{v}", {"variant": v, **size}, data="optdigits", effort=3.0)
            for v in VARIANTS
        ),
        Cell("testing", size, data="optdigits", effort=2.0),
        Cell("falling", many, data="pendigits", effort=3.0),
        Cell("paths", {"tables": 40 if scale == "small" else 1000}, effort=1.0),
        *(
            Cell(f"schedule/{name}", {"rates": list(rates), **many}, data="satimage", effort=5.0)
            for name, rates in SCHEDULES.items()
        ),
    ]


def run(cell: Cell, data: Split | None, threads: int | None) -> Outcome:
    kind, p = cell.name.split("/")[0], cell.params
    if kind == "paths":
        return _paths(p["tables"])
    assert data is not None
    if kind == "mart":
        return _mart(p["variant"], thin(data, p["rows"]), p["rounds"])
    if kind == "testing":
        return _testing(thin(data, p["rows"]), p["rounds"])
    return _falling(data, p["rounds"]) if kind == "falling" else _schedule(data, p)


def _mart(variant: str, data: Split, rounds: int) -> Outcome:
    """MART with trees of scikit-learn: 8 leaves, shrinkage 0.1."""
    K = int(data.y_train.max()) + 1
    truth = np.eye(K)[data.y_train]
    F, G = (np.zeros((len(X), K)) for X in (data.X_train, data.X_test))
    for _ in range(rounds):
        p, trees, residuals = softmax(F, axis=1), [], []
        for k in range(K):
            if variant == "renewed for each class":
                p = softmax(F, axis=1)
            residual = truth[:, k] - p[:, k]
            tree = DecisionTreeRegressor(max_leaf_nodes=8, min_samples_leaf=10, random_state=0)
            tree.fit(data.X_train, residual)
            trees.append(tree)
            residuals.append(residual)
            if variant == "renewed for each class":
                _newton(tree, residual, p[:, k], K, data, (F[:, k], G[:, k]))
        if variant == "once a round":
            for k, tree in enumerate(trees):
                _newton(tree, residuals[k], p[:, k], K, data, (F[:, k], G[:, k]))
        if variant == "line search":
            _line_search(trees, data, F, G)
    loss = -np.log(softmax(F, axis=1)[np.arange(len(F)), data.y_train]).mean()
    wrong = int(np.count_nonzero(G.argmax(axis=1) != data.y_test))
    return {"loss": float(loss), "errors": wrong, "test_rows": len(data.y_test)}


def _newton(  # noqa: PLR0913, PLR0917 - a tree and all it is added to
    tree: Any,
    residual: NDArray[Any],
    p: NDArray[Any],
    K: int,
    data: Split,
    scores: tuple[NDArray[Any], NDArray[Any]],
) -> None:
    """Add (K - 1) / K sum r / sum p (1 - p) of each leaf, times the shrinkage."""
    leaf = tree.apply(data.X_train)
    step = np.zeros(tree.tree_.node_count)
    top, bottom = (np.bincount(leaf, w, len(step)) for w in (residual, p * (1 - p)))
    np.divide(0.1 * (K - 1) / K * top, np.maximum(bottom, 1e-12), out=step)
    for X, score in zip((data.X_train, data.X_test), scores, strict=True):
        np.add(score, step[tree.apply(X)], out=score)


def _line_search(trees: list[Any], data: Split, F: NDArray[Any], G: NDArray[Any]) -> None:
    """Take a tenth of one step rho for all K trees, as Algorithm 1 does."""
    h, at_test = (
        np.column_stack([t.predict(X) for t in trees]) for X in (data.X_train, data.X_test)
    )
    rows = np.arange(len(F))

    def loss(rho: float) -> float:
        return float(-np.log(softmax(F + rho * h, axis=1)[rows, data.y_train] + 1e-300).mean())

    rho = minimize_scalar(loss, bounds=(0, 100), method="bounded").x
    F += 0.1 * rho * h
    G += 0.1 * rho * at_test


def _testing(data: Split, rounds: int) -> Outcome:
    """Trees and CPU time of prediction, MART beside ABC-MART, the least of nine."""
    found: Outcome = {}
    X = np.concatenate([data.X_test] * max(1, 20_000 // len(data.X_test)))
    for algorithm in ("mart", "abc-mart"):
        model = _converge.build(algorithm, leaves=20, shrinkage=0.1, threads=1)
        model.set_params(n_estimators=rounds).fit(data.X_train, data.y_train)
        seconds = []
        for _ in range(9):
            begin = process_time()
            model.predict(X)
            seconds.append(process_time() - begin)
        found[algorithm] = {"trees": int(model.model_.n_trees), "seconds": min(seconds)}
    return found


def _falling(data: Split, rounds: int) -> Outcome:
    """Test errors of SAMME with eight leaves per class after the training error is zero."""
    K = int(data.y_train.max()) + 1
    model = SAMMEClassifier(n_estimators=rounds, max_leaf_nodes=8 * K, min_samples_leaf=1)
    model.set_params(early_stopping=False).fit(data.X_train, data.y_train)
    train = _geist.wrong_by_round(model, data.X_train, data.y_train)
    test = _geist.wrong_by_round(model, data.X_test, data.y_test)
    zero = next((m for m, wrong in enumerate(train) if wrong == 0), None)
    at_zero = None if zero is None else test[zero]
    return {"zero": zero, "at_zero": at_zero, "last": test[-1], "test_rows": len(data.y_test)}


def _paths(n_tables: int) -> Outcome:
    """AdaBoost's paths on random tables of three classifiers, each used once."""
    rng = np.random.default_rng(0)
    ways: Counter[str] = Counter()
    for _ in range(n_tables):
        path = truth_tables.random_table(rng).adaboost(3, reuse=False)
        ways["".join(str(int(j) + 1) for j in path.choices)] += 1
    return {"ways": dict(sorted(ways.items()))}


def _schedule(data: Split, p: Any) -> Outcome:
    """Errors with a learning rate for each third of the rounds, by warm start."""
    model = SoftmaxBoostClassifier(warm_start=True, early_stopping=False, random_state=0)
    for part, rate in enumerate(p["rates"], start=1):
        rounds = round(part * p["rounds"] / len(p["rates"]))
        model.set_params(n_estimators=rounds, learning_rate=rate).fit(data.X_train, data.y_train)
    wrong = int(np.count_nonzero(model.predict(data.X_test) != data.y_test))
    return {
        "errors": wrong,
        "test_rows": len(data.y_test),
        "risk": float(model.history_["loss"][-1]),
    }


def findings(scale: Scale, records: Records) -> list[Finding]:
    testing, falling = records.get("testing"), records.get("falling")
    t = testing.outcome if testing else {}
    f = falling.outcome if falling else {}
    trees = {a: t[a]["trees"] for a in t}
    return [
        _verdict.claim(
            "testing is faster: ABC-MART has K - 1 trees per round, MART has K",
            trees["abc-mart"] * 10 == trees["mart"] * 9 if t else None,
            f"trees: {trees}" if t else "",
        ),
        _verdict.claim(
            "testing is faster: ABC-MART's prediction takes less CPU time than MART's",
            t["abc-mart"]["seconds"] < t["mart"]["seconds"] if t else None,
            f"{t['abc-mart']['seconds']:.4f} s for {t['mart']['seconds']:.4f} s" if t else "",
        ),
        _verdict.claim(
            "the test error falls after the training error is zero",
            None if f.get("at_zero") is None else f["last"] < f["at_zero"],
            f"zero after {f['zero'] + 1} rounds: {f['at_zero']} errors, then {f['last']}"
            if f.get("at_zero") is not None
            else "",
        ),
    ]


def tables(scale: Scale, records: Records) -> list[Table]:
    rows = [
        [
            name,
            r.outcome.get("loss", r.outcome.get("risk")),
            r.outcome["errors"],
            r.outcome["test_rows"],
        ]
        for name, r in records.items()
        if name.startswith(("mart", "schedule"))
    ]
    shown = (
        [Table("Variants", ["what", "training loss", "test errors", "of"], rows)] if rows else []
    )
    if "paths" in records:
        ways = records["paths"].outcome["ways"]
        shown.append(
            Table("AdaBoost's paths", ["first, second, third", "tables"], list(ways.items()))
        )
    return shown


EXPERIMENT = Experiment(
    name="loose-ends",
    title="Smaller questions: line search, testing time, schedules, AdaBoost's paths",
    paper=f"{_li.PAPER}; {truth_tables.PAPER}; {_geist.PAPER}",
    tolerance="The claims as stated; the tables are not judged.",
    cells=cells,
    run=run,
    findings=findings,
    tables=tables,
    remarks=(
        "CPU seconds are those of one thread, the least of nine runs, on a machine that may "
        "have been busy.",
    ),
    item="Algorithm 1, 'testing is faster' (Li); introduction (Rudin et al.)",
)
