"""Run the benchmarks: `python -m benchmarks speed --quick`; without a name, all of them."""

import json
import os
import sys
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
)
from types import ModuleType
from typing import Any

from . import (
    bench_accuracy,
    bench_categories,
    bench_classes,
    bench_dask,
    bench_decisions,
    bench_defaults,
    bench_dynamics,
    bench_field,
    bench_growth,
    bench_import,
    bench_label_noise,
    bench_labels,
    bench_latency,
    bench_monotone,
    bench_parquet,
    bench_roofline,
    bench_shap,
    bench_shapes,
    bench_sparse,
    bench_speed,
    bench_truth_table,
    bench_votes,
    report,
)
from .datasets import DataSetMissingError

BENCHES: dict[str, ModuleType] = {
    bench.NAME: bench
    for bench in (
        bench_import,
        bench_dynamics,
        bench_speed,
        bench_growth,
        bench_classes,
        bench_latency,
        bench_shap,
        bench_field,
        bench_defaults,
        bench_accuracy,
        bench_votes,
        bench_truth_table,
        bench_categories,
        bench_decisions,
        bench_labels,
        bench_label_noise,
        bench_dask,
        bench_parquet,
        bench_sparse,
        bench_monotone,
        bench_shapes,
        bench_roofline,
    )
}

# Options that say what is measured: with other values than the usual ones no target applies.
DEFINING = (
    "quick",
    "max_rows",
    "rounds",
    "leaves",
    "shrinkage",
    "peer_rounds",
    "peer_leaves",
    "predictions",
    "most_work",
    "table_rows",
    "set_rows",
    "student_rows",
    "cost_rows",
    "cost_rounds",
    "cost_matrices",
    "cost_seeds",
    "kdd_rounds",
    "coverage",
    "gigabytes",
    "columns",
    "limit",
    "sample",
)


def main(argv: list[str]) -> int:
    """Run what the command line asks for; 1 if a data set is missing."""
    runs = _runs(argv)
    report.print_header()
    for args in runs:
        print(f"\n{args.command}", flush=True)
        try:
            BENCHES[args.command].run(args)
        except DataSetMissingError as missing:
            print(f"error: {missing}", file=sys.stderr)
            return 1
    return 0


def _runs(argv: list[str]) -> list[Namespace]:
    """The options of each benchmark to run; `all` hands the shared ones to every benchmark."""
    if not argv or (argv[0].startswith("-") and argv[0] not in ("-h", "--help")):
        argv = ["all", *argv]
    parser = _parser(quick="--quick" in argv)
    args = parser.parse_args(argv)
    commands = list(BENCHES) if args.command == "all" else [args.command]
    runs = [parser.parse_args([command, *argv[1:]]) for command in commands]
    for run in runs:
        usual = _parser(quick=False).parse_args([run.command])
        run.judged = all(getattr(run, key, None) == getattr(usual, key, None) for key in DEFINING)
        run.param = dict(run.param)
        if run.data_dir:
            os.environ["EDGEWISE_DATA"] = run.data_dir
        del run.data_dir  # a path of this machine has no place in the results
    return runs


def _parser(*, quick: bool) -> ArgumentParser:
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    _add_shared(commands.add_parser("all", help="every benchmark below; takes hours"))
    for name, bench in BENCHES.items():
        text = bench.__doc__ or ""
        sub = commands.add_parser(
            name,
            help=text.partition("\n")[0],
            description=text,
            formatter_class=RawDescriptionHelpFormatter,
        )
        _add_shared(sub)
        bench.add_arguments(sub)
        if quick:
            sub.set_defaults(**bench.QUICK)
    return parser


def _add_shared(parser: ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="tiny: does it run at all?")
    parser.add_argument("--data-sets", nargs="+", metavar="NAME", help="instead of the usual ones")
    parser.add_argument("--data-dir", help="folder of NAME.npz; default: $EDGEWISE_DATA")
    parser.add_argument("--max-rows", type=int, help="use at most so many rows of each part")
    parser.add_argument("--threads", type=int, default=report.available_cores())
    parser.add_argument("--repeats", type=int, default=3, help="of timings")
    parser.add_argument(
        "--param",
        type=_param,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a further constructor argument of AOSO",
    )


def _param(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ArgumentTypeError(f"NAME=VALUE wanted, got {text!r}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
