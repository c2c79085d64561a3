"""MART and ABC-MART beside the counts that Li's ABC-Boost paper prints.

J = 20 leaves, shrinkage 0.1, scores from zero, all base classes tried in every round. Letter
and Pendigits run to convergence: at most 10 000 rounds, or until the mean training loss is
below --stop-loss, or until no tree moves anything any more. Covertype runs 1000 rounds. A count
agrees with the paper's if it is not above the binomial 95 % band around it.
"""

from argparse import ArgumentParser, Namespace
from time import perf_counter
from typing import Any

from edgewise.experiments._li import printed
from edgewise.experiments._verdict import band as band_around

from . import datasets, report
from .contenders import Edgewise, Fitted, Setting, contender

NAME = "paper"
DATA_SETS = ["letter", "pendigits", "covertype"]
ALGORITHMS = ["edgewise-mart", "edgewise-abc-mart"]
COVERTYPE = {"edgewise-mart": 19190, "edgewise-abc-mart": 15362}  # after 1000 rounds
ABC = {"search": "exhaustive", "gap": 0}  # every base class is tried in every round
FIXED_ROUNDS = {"covertype": 1000}  # not run to convergence in this comparison
QUICK = {"rounds": 20, "step": 10, "max_rows": 500}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--contenders", nargs="+", default=ALGORITHMS, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=10_000, help="at most")
    parser.add_argument("--leaves", type=int, default=20)
    parser.add_argument("--shrinkage", type=float, default=0.1)
    parser.add_argument(
        "--stop-loss",
        type=float,
        default=1e-10,
        help="converged: the mean training loss is below this (0: run all rounds)",
    )
    parser.add_argument("--step", type=int, default=500, help="rounds between looks at the loss")


def run(args: Namespace) -> None:
    """One line per data set and algorithm, written as soon as it is there."""
    results: list[dict[str, Any]] = []
    names = args.data_sets or datasets.available(DATA_SETS, quick=args.quick)
    for data_name in names:
        data = datasets.load(data_name, max_rows=args.max_rows)
        for name in args.contenders:
            print(f"  {name} on {data_name} ...", flush=True)
            results.append(_line(name, data_name, data, args))
            report.save(NAME, vars(args), results, quick=args.quick)
    columns = ["data", "algorithm", "rounds", "errors", "best", "paper", "band", "verdict", "s"]
    report.print_table(
        "test errors after the last round, beside the paper's",
        columns,
        [[result[column] for column in columns] for result in results],
    )


def _line(name: str, data_name: str, data: datasets.Split, args: Namespace) -> dict[str, Any]:
    as_in_paper = {"init": "zero"} | (ABC if "-abc-" in name else {})
    chosen = contender(name, **as_in_paper | args.param)
    fitted = _train(chosen, data, data_name, args)
    errors = chosen.errors_by_round(fitted, data.X_test, data.y_test)
    paper = _paper(data_name, name) if args.judged else None
    band = None if paper is None else band_around(paper, len(data.y_test))
    return {
        "data": data_name,
        "algorithm": name,
        "rounds": len(errors),
        "errors": int(errors[-1]),
        "best": int(errors.min()),
        "paper": paper,
        "band": "" if band is None else f"{band[0]} to {band[1]}",
        "verdict": "" if band is None else report.verdict(int(errors[-1]), band[1]),
        "s": fitted.seconds,
    }


def _paper(data_name: str, name: str) -> int | None:
    if data_name in FIXED_ROUNDS:
        return COVERTYPE.get(name)
    return printed(data_name, name.removeprefix("edgewise-"), 20, 0.1)


def _train(chosen: Edgewise, data: datasets.Split, data_name: str, args: Namespace) -> Fitted:
    """Some rounds at a time by warm start, until the loss is small enough or the rounds are up."""
    rounds = min(args.rounds, FIXED_ROUNDS.get(data_name, args.rounds))
    watch = args.stop_loss > 0 and data_name not in FIXED_ROUNDS
    step = min(args.step, rounds) if watch else rounds
    model = chosen.build(Setting(step, args.leaves, args.shrinkage, args.threads))
    model.set_params(warm_start=watch)
    start = perf_counter()
    model.fit(data.X_train, data.y_train)
    while step < rounds and model.n_iter_ == step and model.history_["loss"][-1] > args.stop_loss:
        step = min(step + args.step, rounds)
        model.set_params(n_estimators=step).fit(data.X_train, data.y_train)
    setting = Setting(step, args.leaves, args.shrinkage, args.threads)
    return Fitted(model, setting, perf_counter() - start, [])
