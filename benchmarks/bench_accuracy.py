"""Test errors: AOSO at one fixed setting beside every peer at its best number of rounds.

The peers are flattered: their number of rounds is chosen on the test set. AOSO is judged
after its last round, with the same setting on every data set; so is AOSO with random cuts
(edgewise-aoso-random), beside which LightGBM may draw its cuts, too (lightgbm-extra-trees).
"""

from argparse import ArgumentParser, Namespace
from typing import Any

import numpy as np

from . import datasets, report
from .contenders import RANDOM_CUTS, contender

NAME = "accuracy"
DATA_SETS = ["letter", "pendigits", "optdigits", "satimage", "usps", "isolet"]
PEERS = ["lightgbm", "xgboost", "catboost", "sklearn-hgb"]
DRAWS_CUTS = "lightgbm-extra-trees"
OURS = "edgewise-aoso"
OURS_TOO = OURS + RANDOM_CUTS
NEEDED_WINS = 5
QUICK = {"rounds": 20, "aoso_rounds": 40, "max_rows": 500}


def add_arguments(parser: ArgumentParser) -> None:
    everybody = [OURS, OURS_TOO, *PEERS, DRAWS_CUTS]
    parser.add_argument("--contenders", nargs="+", default=everybody, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=1000, help="the peers' at most")
    parser.add_argument("--leaves", type=int, default=20, help="of the peers")
    parser.add_argument("--shrinkage", type=float, default=0.1, help="of the peers")
    parser.add_argument("--aoso-rounds", type=int, help="default: the estimator's own")
    parser.add_argument("--aoso-leaves", type=int, help="default: the estimator's own")
    parser.add_argument("--aoso-shrinkage", type=float, help="default: the estimator's own")


def run(args: Namespace) -> None:
    """One row per data set, written as soon as it is there."""
    results = []
    names = args.data_sets or datasets.available(DATA_SETS, quick=args.quick)
    for name in names:
        data = datasets.load(name, max_rows=args.max_rows)
        entries = [_entry(contender_name, data, args) for contender_name in args.contenders]
        results.append({"data": name, "test_rows": len(data.y_test), "entries": entries})
        report.save(NAME, vars(args), results, quick=args.quick)
    _print(results, args.contenders)
    for ours in [name for name in (OURS, OURS_TOO) if name in args.contenders]:
        judged = args.judged and names == DATA_SETS and set(PEERS) <= set(args.contenders)
        _print_wins(results, ours, needed=NEEDED_WINS if judged else None)


def _entry(name: str, data: datasets.Split, args: Namespace) -> dict[str, Any]:
    print(f"  {name} ...", flush=True)
    is_ours = name in (OURS, OURS_TOO)
    chosen = contender(name, **(args.param if is_ours else {}))
    setting = _setting(name, args)
    fitted = chosen.fit(data.X_train, data.y_train, threads=args.threads, **setting)
    errors = chosen.errors_by_round(fitted, data.X_test, data.y_test)
    counts = len(errors) - 1 if is_ours else int(errors.argmin())
    return {
        "contender": name,
        **setting,
        "errors": int(errors[counts]),
        "round": counts + 1,
        "least_errors": int(errors.min()),
        "last_errors": int(errors[-1]),
        "fit_seconds": fitted.seconds,
        "curve": _curve(errors, chosen.times_by_round(fitted)),
    }


def _curve(errors: Any, seconds: Any) -> list[list[float]]:
    """Some points (round, seconds so far, errors) for a picture, denser at the beginning."""
    rounds = np.unique(np.geomspace(1, len(errors), 60).round().astype(int))
    return [[int(m), round(float(seconds[m - 1]), 4), int(errors[m - 1])] for m in rounds]


def _setting(name: str, args: Namespace) -> dict[str, Any]:
    keys = ("rounds", "leaves", "shrinkage")
    prefix = "aoso_" if name in (OURS, OURS_TOO) else ""
    return {key: getattr(args, prefix + key) for key in keys}


def _print(results: list[dict[str, Any]], names: list[str]) -> None:
    rows = []
    for result in results:
        entries = result["entries"]
        cells = [f"{e['errors']} @{e['round']} ({e['fit_seconds']:.1f} s)" for e in entries]
        rows.append([result["data"], result["test_rows"], *cells])
    title = "test errors @round (time of the whole fit): AOSO after its last round, others at best"
    report.print_table(title, ["data set", "test rows", *names], rows)


def _print_wins(results: list[dict[str, Any]], ours: str, needed: int | None) -> None:
    """On how many sets `ours` has fewer errors than each peer, and than all of them."""
    tables = [{e["contender"]: e["errors"] for e in result["entries"]} for result in results]
    others = [name for name in tables[0] if name not in (OURS, OURS_TOO)]
    if not others:
        return
    for other in others:
        won = sum(table[ours] < table[other] for table in tables)
        tied = sum(table[ours] == table[other] for table in tables)
        print(f"{ours} against {other}: {won} won, {tied} tied, of {len(tables)}")
    for rivals in [o for o in others if o != DRAWS_CUTS], others:
        won = sum(all(table[ours] < table[o] for o in rivals) for table in tables)
        print(f"{ours} against {', '.join(rivals)} at once: {won} won of {len(tables)}")
        if needed is not None and DRAWS_CUTS not in rivals:
            print(f"wanted: {needed}: {'met' if won >= needed else 'MISSED'}")
