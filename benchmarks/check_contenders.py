"""Do the adapters tell the truth?  python -m benchmarks.check_contenders [NAME ...]

A model of many rounds, looked at after round r, must make the same test errors as a model
that was trained for r rounds only, and as its own `predict_proba` after the last round.
"""

import sys

import numpy as np

from .contenders import PEERS, Contender, contender
from .datasets import Split, load

ROUNDS = (1, 2, 10, 40)


def check(chosen: Contender, data: Split) -> None:
    """Raise AssertionError where staged and direct errors differ."""
    shared = {"leaves": 20, "shrinkage": 0.1, "threads": 2}
    X, y, X_test, y_test = data
    whole = chosen.fit(X, y, rounds=ROUNDS[-1], **shared)
    staged = chosen.errors_by_round(whole, X_test, y_test)
    times = chosen.times_by_round(whole)
    assert len(staged) == len(times) == ROUNDS[-1], (len(staged), len(times))
    assert np.all(np.diff(times) >= 0) and 0 < times[0] <= times[-1] <= whole.seconds
    for rounds in ROUNDS:
        short = chosen.fit(X, y, rounds=rounds, **shared)
        labels = chosen.predict_proba(short, X_test).argmax(axis=1)
        direct = np.count_nonzero(labels != y_test)
        assert staged[rounds - 1] == direct, (chosen.name, rounds, staged[rounds - 1], direct)


def main(names: list[str]) -> None:
    """Check the named contenders, or all peers."""
    for data in ("keel:segment", "synthetic-2000-20-12"):
        for name in names or PEERS:
            check(contender(name), load(data))
            print(f"{name} on {data}: staged errors and direct errors agree")


if __name__ == "__main__":
    main(sys.argv[1:])
