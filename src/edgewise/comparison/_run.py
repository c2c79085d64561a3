"""The run: every method on every split; each result is stored at once."""

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
    "seed": p.seed(),
    "threads": p.integer(1, none=True),
    "rounds": p.integer(1, none=True),
}


class Watcher(Protocol):
    """Interface of an object that `compare` tells about its progress."""

    def begin(self, n_steps: int, methods: Sequence[str], notes: Sequence[str]) -> None:
        """Called once, before the first step.

        Parameters
        ----------
        n_steps : int
            Number of steps, one for each method and split.
        methods : sequence of str
            Names of the methods.
        notes : sequence of str
            Remarks about the data.
        """

    def step(self, method: str, split: Split) -> None:
        """Called when a step begins.

        Parameters
        ----------
        method : str
            Name of the method.
        split : Split
            Fold and repeat.
        """

    def done(self, method: str, result: Result | None, *, fresh: bool) -> None:
        """Called when a step has ended.

        Parameters
        ----------
        method : str
            Name of the method.
        result : Result or None
            Its result; None if it failed.
        fresh : bool
            False if the result was found in the folder of an earlier run.
        """


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
    """Compare methods on one data set.

    Every method is fitted to rows X with labels y, and its predictions for other rows are judged.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
        Rows.
    y : array-like of shape (n_rows,)
        Labels.
    methods : sequence of str, default=None
        Names from ``METHODS``. None runs all methods of this library that suit the data.
    peers : bool, default=None
        Whether to add the methods of other libraries that are installed. None adds them if no
        methods are named.
    test : tuple of X and y, default=None
        Rows to test on. None uses repeated stratified cross-validation.
    folds : int, default=5
        Number of folds.
    repeats : int, default=3
        Number of repeats of the cross-validation.
    seed : int, default=0
        Seed of the folds and of the methods.
    threads : int, default=None
        Number of threads of a fit. None uses all CPUs.
    rounds : int, default=None
        Number of rounds of all methods. None uses the default of each.
    params : mapping, default=None
        Further parameters by method.
    name : str, default='data'
        Name of the data in the results.
    out : str or Path, default=None
        Folder for the results. A later run with the same data, settings and versions resumes there.
    watcher : Watcher, default=None
        Object that is told about every step.

    Returns
    -------
    Comparison
        The results.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise.comparison import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(X, y, methods=["mart", "samme"], folds=2, repeats=1, rounds=10)
    >>> sorted(row.method for row in found.rows())
    ['mart', 'samme']
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
    """Run split by split, so that unfinished results can already be compared."""
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
    """Measure a result; None if the method fails, which does not stop the others."""
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
