"""Random configurations of all that fits may be given: the model is always the same, bit for bit.

What may differ is the order of the rows, the number of threads, the memory layout, and whether a
fit was made in one part or in two.
"""

import time

from determinism import outcome
from support_configurations import random_configuration

from edgewise import martiboost
from edgewise._data import soft
from edgewise._data.chance import row_keys
from edgewise._data.rows import Rows

SECONDS = 30.0
LEAST = 30  # configurations, however slow the machine: three of each estimator


def test_random_configurations():
    """Everything that may be combined, a few at a time; `make determinism` tries thousands."""
    end, number = time.monotonic() + SECONDS, 0
    while number < LEAST or time.monotonic() < end:
        said = outcome(seed=0, number=number)
        assert not said, said
        number += 1


def first_break(is_concerned):
    """What is said of the first configuration that breaks, among those concerned."""
    for number in range(2000):
        if is_concerned(random_configuration(0, number)):
            said = outcome(0, number)
            if said:
                return said
    return ""


def test_a_float_sum_over_rows_is_found(monkeypatch):
    monkeypatch.setattr(soft, "exact_sums", lambda matrix: matrix.sum(axis=0))
    said = first_break(lambda c: c.what["y"] == "soft" and c.params["class_weight"] == "balanced")
    assert "shuffled: model_." in said


def test_an_unsorted_tie_is_found(monkeypatch):
    """Rows that are alike and weigh differently go different ways by the order they came in."""
    monkeypatch.setattr(martiboost, "row_keys", lambda X, codes, shares: row_keys(X, codes))
    said = first_break(
        lambda c: c.params.get("routing") == "random" and c.what["weights"] != "none"
    )
    assert "shuffled: model_." in said


def test_validation_rows_as_they_come_are_found(monkeypatch):
    monkeypatch.setattr(Rows, "in_own_order", lambda self: self)
    said = first_break(lambda c: c.validation is not None)
    assert "history_['validation_score'] differ" in said
