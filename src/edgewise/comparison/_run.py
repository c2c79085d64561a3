"""The run: every method on every split, results kept as they come."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import ArrayLike

from .._boosting.threads import n_threads
from .._ground import params as p
from .._ground.errors import InvalidDataError
from ._comparison import Comparison
from ._methods import Setting
from ._plan import (
    Plan,
    check_params,
    chosen_methods,
    class_notes,
    facts_of,
    hash_of,
    problem_of,
    protocol_of,
    splits_of,
)
from ._results import Proba, Result, measured
from ._splits import Split
from ._store import Memory, Store, folder

_ENOUGH = 1 << 40  # work for any number of threads
_RULES = {
    "folds": p.integer(2),
    "repeats": p.integer(1),
    "seed": p.integer(0),
    "threads": p.integer(1, none=True),
    "rounds": p.integer(1, none=True),
}


class Watcher(Protocol):
    """Is told what happens."""

    def begin(self, n_steps: int, methods: Sequence[str], notes: Sequence[str]) -> None:
        """There will be so many steps, one for each method and split."""

    def step(self, method: str, split: Split) -> None:
        """A step begins."""

    def done(self, method: str, result: Result | None, *, fresh: bool) -> None:
        """It has ended; not `fresh`: found in the folder. None: it failed."""


def compare(  # noqa: PLR0913 - options, each by its name
    X: Any,
    y: ArrayLike,
    *,
    methods: Sequence[str] | None = None,
    peers: bool | None = None,
    test: tuple[Any, ArrayLike] | None = None,
    folds: int = 5,
    repeats: int = 3,
    seed: int = 0,
    threads: int | None = None,
    rounds: int | None = None,
    params: Mapping[str, dict[str, Any]] | None = None,
    name: str = "data",
    out: str | Path | None = None,
    watcher: Watcher | None = None,
) -> Comparison:
    """Fits methods to the rows X with labels y and judges their predictions for other rows.

    methods: names of `METHODS`; by default all of ours that suit the data. peers: add those of
    other libraries that are installed; by default if no methods are named. test: X and y to test
    on; without it, repeated stratified cross-validation. rounds: for all methods; by default each
    has its own. params: further parameters, by method. out: a folder for the results, which a
    later run with the same data, settings and versions takes up.
    """
    settings = {
        "folds": folds, "repeats": repeats, "seed": seed, "threads": threads, "rounds": rounds,
    }  # fmt: skip
    p.check("compare", settings, _RULES)
    setting = Setting(seed, threads or n_threads(None, _ENOUGH), rounds)
    classes, problem = problem_of(X, y, test)
    chosen, skipped = chosen_methods(methods, peers, problem)
    splits, notes = splits_of(problem, classes, settings, tested=test is not None)
    protocol = protocol_of(setting, splits, settings, tested=test is not None)
    plan = Plan(
        problem, splits, chosen, setting, dict(params or {}), hash_of(problem, classes), protocol
    )
    check_params(plan)
    notes = [*class_notes(problem, classes), *notes]
    if watcher:
        watcher.begin(len(chosen) * len(splits), list(chosen), notes)
    with contextlib.nullcontext(Memory()) if out is None else folder(Path(out)) as store:
        results, failed = _run(plan, store, watcher)
    if not results:
        reasons = "; ".join(f"{method}: {reason}" for method, reason in failed.items())
        raise InvalidDataError(f"No method could be fitted. {reasons}")
    warned = dict.fromkeys(f"{r.method}: {text}" for r in results for text in r.warnings)
    return Comparison(
        data=facts_of(name, problem, classes, plan.data_hash, tested=test is not None),
        protocol=protocol,
        versions={method: chosen[method].version() for method in chosen},
        parameters={m: chosen[m].parameters(plan.setting_of(m)) for m in chosen},
        results=tuple(results),
        skipped=skipped,
        failed=failed,
        notes=(*notes, *warned),
        classes=classes,
        truth=problem.test_codes,
        tested={(split.repeat, split.fold): split.test for split in splits},
        answers=_answers(plan, store),
    )


# --- the steps ----------------------------------------------------------------------------------


def _run(plan: Plan, store: Store, watcher: Watcher | None) -> tuple[list[Result], dict[str, str]]:
    """Split by split, so that what is there after a while can be compared."""
    results: list[Result] = []
    failed: dict[str, str] = {}
    for split in plan.splits:
        for method in plan.methods:
            if watcher:
                watcher.step(method, split)
            key = plan.key(method, split)
            found = store.get(key)
            result = found
            if result is None and method not in failed:
                result = _fresh(plan, store, method, split, failed)
            if result is not None:
                results.append(result)
            if watcher:
                watcher.done(method, result, fresh=found is None)
    return [result for result in results if result.method not in failed], failed


def _fresh(
    plan: Plan, store: Store, method: str, split: Split, failed: dict[str, str]
) -> Result | None:
    """A result measured now; None if the method fails, which does not stop the others."""
    try:
        chosen, setting = plan.methods[method], plan.setting_of(method)
        result, proba = measured(chosen, plan.problem, split, setting)
    except Exception as error:  # of any library
        failed[method] = (str(error).strip() or type(error).__name__).splitlines()[0]
        return None
    store.put(plan.key(method, split), result, proba)
    return result


def _answers(plan: Plan, store: Store) -> Any:
    places = {(split.repeat, split.fold): split for split in plan.splits}

    def answers(method: str, repeat: int, fold: int) -> Proba:
        return store.answers(plan.key(method, places[repeat, fold]))

    return answers
