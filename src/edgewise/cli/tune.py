"""edgewise tune: search for good parameters within a time budget."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from .._ground.atomic import write_text
from .._ground.errors import InvalidParameterError
from .._ground.wording import counted
from .._tools.scorers import SHORT, named_scorer
from ..tuning import Trial, Tuning, space, tune
from . import _options as o
from ._data import Reading, described
from ._failures import guarded
from ._models import need_place, save
from ._screen import console, on_terminal, plain, say, show_json, table, time_bar

EPILOG = o.examples(
    "edgewise tune cars.csv --target origin --budget 60",
    "edgewise tune digits --budget 30 --out best.json --model digits.edgewise",
)


Budget = Annotated[float, o.option("Time budget in seconds, including the final fit.", min=0.1)]
Trials = Annotated[int | None, o.option("Largest number of trials.", min=1)]
Param = Annotated[
    list[str] | None,
    o.option("A parameter to fix, such as max_bins=63. May be repeated."),
]
Out = Annotated[
    Path | None, o.option("Write the best parameters to this JSON file, for fit --params.")
]
Metric = Annotated[
    str | None,
    o.option(
        f"Metric that compares the trials: {', '.join(SHORT)}, or the name of a scikit-learn "
        "scorer. Default: log loss."
    ),
]
BestModel = Annotated[
    Path | None, o.option("Fit the best parameters to all rows and write the model to this file.")
]


@guarded
def tune_command(
    data: o.Data,
    budget: Budget,
    target: o.Target = None,
    method: o.Method = "aoso",
    trials: Trials = None,
    metric: Metric = None,
    param: Param = None,
    out: Out = None,
    model: BestModel = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    as_json: o.Json = False,
    format: o.Format = None,
    header: o.Header = None,
    category: o.Category = None,
    drop: o.Drop = None,
    encoding: o.Encoding = None,
    decimal: o.Decimal = None,
) -> None:
    """Search for good parameters within a time budget. Early stopping finds the rounds."""
    begin = time.perf_counter()
    need_place(out, data)
    need_place(model, data)
    if out is not None and model is not None and out.absolute() == model.absolute():
        raise InvalidParameterError("--model and --out must be different files.")
    estimator = o.algorithm(method)
    if metric is not None:
        named_scorer(metric)  # an error before the table is read
    table = Reading(format, header, category, drop, encoding, decimal).labelled(data, target)
    if not as_json:
        say("\n".join(described(table)))
    left = max(budget - (time.perf_counter() - begin), 0.1)
    threads = {} if jobs is None else {"n_jobs": jobs}
    watcher = _Bar(left, shown=on_terminal())
    with watcher.progress:
        found = tune(
            estimator,
            table.X,
            table.y,
            budget=left,
            trials=trials,
            seed=seed,
            params={**threads, **o.parsed(param)},
            metric=metric,
            refit=model is not None,
            watcher=watcher,
        )
    if model is not None:
        save(found.model, table, model)
    facts = {
        "data": table.summary(),
        "method": method,
        "metric": metric or "log-loss",
        **_facts(found),
        "searched": list(space(estimator)),
        "seed": seed,
        "seconds": time.perf_counter() - begin,
        "model": None if model is None else str(model),
    }
    if out is not None:
        write_text(out, json.dumps(plain(facts), indent=2) + "\n")
    if as_json:
        show_json(facts)
    else:
        _show(facts, found, out)


def _facts(found: Tuning) -> dict[str, Any]:
    best = found.best
    return {
        "params": found.params,
        "validation": {
            "rows": found.held_out,
            "log_loss": best.log_loss,
            "error": best.error,
            "score": best.score,
        },
        "stopped": found.stopped,
        "trials": [asdict(trial) for trial in found.trials],
    }


class _Bar:
    """A bar of the elapsed time and the best trial, on a terminal."""

    def __init__(self, budget: float, *, shown: bool) -> None:
        self.progress = time_bar(shown=shown)
        self._best: Trial | None = None
        self._task = self.progress.add_task("tuning", total=budget)

    def begin(self, number: int) -> None:
        best = "" if self._best is None else f", best log loss {self._best.log_loss:.4f}"
        self.progress.update(self._task, description=f"trial {number}{best}")

    def done(self, trial: Trial) -> None:
        better = self._best is None or trial.score > self._best.score
        if trial.share == 1.0 and better:
            self._best = trial
        self.progress.update(self._task, description=f"trial {trial.number} done")


def _show(facts: dict[str, Any], found: Tuning, out: Path | None) -> None:
    shown = console()
    searched = facts["searched"]
    names = [name.replace("_", "\n") for name in searched]
    own = [] if facts["metric"] == "log-loss" else [facts["metric"].replace("-", "\n")]
    header = ["trial", *names, "rows", "rounds", "log\nloss", "error\n%", *own, "s"]
    rows = [
        [
            str(trial.number),
            *(str(trial.params.get(name, "default")) for name in searched),
            str(trial.rows),
            str(trial.rounds),
            f"{trial.log_loss:.4f}",
            f"{100 * trial.error:.2f}",
            *(f"{trial.score:.4f}" for _ in own),
            f"{trial.seconds:.1f}",
        ]
        for trial in found.trials
    ]
    shown.print(table(header, rows, bold=found.best.number))
    reason = "the time is up" if found.stopped == "time" else "as many as requested"
    shown.print(
        f"\n{counted(len(found.trials), 'trial')} in {facts['seconds']:.1f} s: {reason}. They "
        f"are compared on {counted(found.held_out, 'held-out row')}, on which the best trial looks "
        "slightly better than it is."
    )
    best = " ".join(f"--param {name}={value}" for name, value in found.params.items())
    shown.print(f"best: trial {found.best.number}: --method {facts['method']} {best}")
    if found.model is not None:
        rounds, wanted = found.model.n_iter_, found.params["n_estimators"]
        reason = found.model.stop_reason_
        short = "" if rounds == wanted else f" ({rounds} of {wanted} rounds: {reason})"
        shown.print(f"model: {facts['model']}{short}")
    if out is not None:
        shown.print(f"parameters: {out}")
