"""The headline promise, tried on random configurations: the model is the same, bit for bit, for any
order of the rows, any number of threads and any memory layout.

    python tests/determinism.py --count 3000 --seed 1 --workers 2

Configuration i of a seed is always the same; `--only i` runs it alone.
"""

import argparse
import os
import sys
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from support_configurations import WITHOUT_ROUNDS, Configuration, in_layout, random_configuration

import edgewise

LARGE = 70_000  # rows, more than the 2^16 from which a partition, and 2^15 a node, is shared out
LARGE_EVERY = 199  # configurations of a long run; prime, so that every estimator gets its turn


def arrays_of(model):
    """All that a fit leaves, by name, as bytes; but for the seconds it took."""
    parts = {f"model_.{name}": array for name, array in model.model_.arrays().items()}
    parts |= {f"history_[{name!r}]": a for name, a in model.history_.items() if name != "seconds"}
    for name in ("classes_", "n_iter_", "stop_reason_", "sharpness_", "_log_odds"):
        if hasattr(model, name):
            parts[name] = np.asarray(getattr(model, name))
    if isinstance(model, edgewise.AutoBoostClassifier):
        parts |= {f"members_[{n!r}]": a for n, a in model.members_.items() if n != "seconds"}
        for name in ("expected_error_", "expected_log_loss_"):
            parts[name] = np.array(getattr(model, name) or (), dtype=float)
    return {name: (str(a.dtype), a.shape, a.tobytes()) for name, a in parts.items()}


def ways(configuration, rng):
    """Ways to do the same fit: (name, order, validation order, in another layout, threads)"""
    n = len(configuration.train)
    n_val = 0 if configuration.validation is None else len(configuration.validation)
    given, given_val = np.arange(n), np.arange(n_val)
    yield "two threads, another layout", given, given_val, True, 2
    yield "shuffled", rng.permutation(n), given_val, False, 1
    yield (
        "shuffled, three threads, another layout",
        rng.permutation(n),
        rng.permutation(n_val),
        True,
        3,
    )


def need_same(expected, got, what):
    different = [name for name in expected if expected[name] != got.get(name)]
    different += got.keys() - expected.keys()
    if different:
        raise AssertionError(f"{what}: {', '.join(different)} differ")


def sorted_rows(matrix):
    """As bytes. Equal rows may be in different folds, and which is which cannot be told."""
    return sorted(row.tobytes() for row in matrix)


def check(configuration: Configuration, rng: np.random.Generator) -> None:
    """Raises AssertionError if some way to do a fit gives another model or other answers."""
    train, validation = configuration.train, configuration.validation
    first = configuration.fit(train, validation, 1)
    expected, proba = arrays_of(first), first.predict_proba(train.X)
    out_of_fold = getattr(first, "oof_proba_", None)
    for name, order, order_val, other_layout, n_jobs in ways(configuration, rng):
        rows = train.take(order)
        rows_val = None if validation is None else validation.take(order_val)
        if other_layout:
            rows = in_layout(rows, rng)
            rows_val = None if rows_val is None else in_layout(rows_val, rng)
        model = configuration.fit(rows, rows_val, n_jobs)
        need_same(expected, arrays_of(model), name)
        if model.predict_proba(rows.X).tobytes() != proba[order].tobytes():
            raise AssertionError(f"{name}: probabilities differ")
        if out_of_fold is not None and sorted_rows(model.oof_proba_) != sorted_rows(out_of_fold):
            raise AssertionError(f"{name}: out-of-fold probabilities differ")
    if validation is None and configuration.estimator not in WITHOUT_ROUNDS:
        need_same(expected, arrays_of(continued(configuration)), "continued by a warm start")


def continued(configuration):
    """The fit in two parts."""
    train, rounds = configuration.train, configuration.params["n_estimators"]
    half = configuration.fit(train, None, 1, warm_start=True, n_estimators=(rounds + 1) // 2)
    given = {} if train.costs is None else {"costs": train.costs}
    half.set_params(n_estimators=rounds)
    return half.fit(train.X, train.y, sample_weight=train.weights, **given)


def outcome(seed: int, number: int, large_every: int = 0) -> str:
    """What went wrong with a configuration; nothing, if all is as it must be."""
    is_large = large_every > 0 and number % large_every == large_every - 1
    configuration = random_configuration(seed, number, LARGE if is_large else None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "The number of unique classes")  # of few rows
            warnings.filterwarnings("ignore", category=edgewise.FitWarning)
            check(configuration, np.random.default_rng([seed, number, 1]))
    except Exception:
        return f"configuration {number} of seed {seed}: {configuration}\n{traceback.format_exc()}"
    return ""


def outcome_of(task: tuple[int, int, int]) -> str:
    return outcome(*task)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--only", type=int, help="number of one configuration")
    args = parser.parse_args()
    numbers = range(args.count) if args.only is None else [args.only]
    begin = time.perf_counter()
    tasks = [(args.seed, number, LARGE_EVERY) for number in numbers]
    wrong = 0
    with ProcessPoolExecutor(args.workers) as pool:
        for done, said in enumerate(pool.map(outcome_of, tasks, chunksize=10), start=1):
            wrong += bool(said)
            if said or done % 500 == 0:
                seconds = time.perf_counter() - begin
                print(said or f"{done} configurations, {seconds:.0f} s", flush=True)
    print(
        f"seed {args.seed}: {len(tasks)} configurations, {len(tasks) - wrong} the same bit for "
        f"bit, {wrong} not; {time.perf_counter() - begin:.0f} seconds"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
