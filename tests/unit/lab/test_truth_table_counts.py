"""The table itself: what is counted, whatever the labels, weights, threads and parts."""

import math
from collections import Counter

import numpy as np
import pytest

from edgewise import InvalidDataError, InvalidParameterError, _core
from edgewise.lab.truth_table import TruthTable


def answers(seed, n, M):
    """Labels (n,) and predictions (n, M), -1 and +1 as int8, right in two cases of three."""
    rng = np.random.default_rng(seed)
    y = rng.choice(np.array([-1, 1], dtype=np.int8), size=n)
    right = rng.random((n, M)) < 2 / 3
    return y, np.where(right, y[:, None], -y[:, None]).astype(np.int8)


def counted(y, H, weights=None):
    """The oracle: a dict from patterns to the weights of their examples."""
    cells = Counter() if weights is None else {}
    for i, (label, row) in enumerate(zip(y, H, strict=True)):
        key = tuple(1 if h == label else -1 for h in row)
        if weights is None:
            cells[key] += 1
        else:
            cells.setdefault(key, []).append(weights[i])
    return cells


def as_dict(table):
    return {tuple(s): c for s, c in zip(table.patterns.tolist(), table.counts, strict=True)}


@pytest.mark.parametrize("M", [1, 2, 3, 7, 8, 9, 12, 16, 17, 23, 24, 31, 40, 59, 60])
def test_every_pattern_is_counted(M, seed):
    y, H = answers(seed, 500, M)
    table = TruthTable.from_predictions(y, H)
    assert as_dict(table) == counted(y, H)
    assert table.counts.dtype == np.int64
    assert (np.diff(table.codes.astype(object)) > 0).all()
    assert table.total == 500


@pytest.mark.parametrize("M", [3, 11, 21, 60])
def test_weights_are_summed_as_if_exactly(M, seed):
    y, H = answers(seed, 800, M)
    weights = np.random.default_rng(seed).exponential(size=800) * 1e-3
    table = TruthTable.from_predictions(y, H, weights)
    expected = {key: math.fsum(parts) for key, parts in counted(y, H, weights).items()}
    assert as_dict(table) == expected  # rounded once, like fsum


def test_weights_far_apart():
    """A weight is rounded to 2^-86 of the heaviest; what is left of the least ones is nothing."""
    H = np.array([[1, 1], [1, 1], [1, 1], [1, -1], [-1, -1]], dtype=np.int8)
    weights = [1.0, 2.0**-52, 2.0**-53, 5e-324, 2.0**-80 * 1.5]
    table = TruthTable.from_predictions(np.ones(5, dtype=np.int8), H, weights)
    assert as_dict(table) == {(1, 1): 1.0 + 2.0**-51, (-1, -1): 2.0**-80 * 1.5}  # to even
    tiny = TruthTable.from_predictions([1, 1], [[1], [-1]], [5e-324, 1e-323])
    assert as_dict(tiny) == {(1,): 5e-324, (-1,): 1e-323}
    huge = TruthTable.from_predictions([1, 1], [[1], [-1]], [1e308, 3e-300])
    assert as_dict(huge) == {(1,): 1e308}


@pytest.mark.parametrize("M", [2, 10, 18, 60])
def test_tables_do_not_depend_on_threads_or_order(M, seed):
    y, H = answers(seed, 300_000 if M == 2 else 20_000, M)
    weights = np.random.default_rng(seed).random(len(y)) ** 9  # over many magnitudes
    order = np.random.default_rng(seed).permutation(len(y))
    one, other = _core.tabulate(H, y, 1), _core.tabulate(H[order], y[order], 3)
    np.testing.assert_array_equal(one, other)
    one = _core.tabulate_weighted(H, y, weights, 1)
    other = _core.tabulate_weighted(H[order], y[order], weights[order], 3)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def test_counters_and_sorting_agree():
    """2^20 counters are used from 2^18 examples on; fewer examples are sorted."""
    y, H = answers(0, 2**18 + 5, 20)
    codes, counts = _core.tabulate(H, y, 1)
    halves = [
        TruthTable.from_predictions(y[part], H[part])
        for part in (slice(0, None, 2), slice(1, None, 2))
    ]
    added = halves[0] + halves[1]
    np.testing.assert_array_equal(added.codes, codes)
    np.testing.assert_array_equal(added.counts, counts)


@pytest.mark.parametrize(
    ("low", "high"),
    [(-1, 1), (0, 1), (-1.0, 1.0), (False, True), ("no", "yes"), (3, 7)],
    ids=str,
)
def test_labels_may_be_any_two_values(low, high):
    y, H = answers(5, 60, 4)
    named = [np.where(a > 0, high, low) for a in (y, H)]
    assert as_dict(TruthTable.from_predictions(*named)) == counted(y, H)


@pytest.mark.parametrize("layout", ["fortran", "sliced", "list"])
def test_any_layout_is_read(layout):
    y, H = answers(1, 50, 5)
    given = {"fortran": np.asfortranarray(H), "sliced": np.repeat(H, 2, axis=1)[:, ::2]}
    table = TruthTable.from_predictions(y, given.get(layout, H.tolist()))
    assert as_dict(table) == counted(y, H)


def test_one_label_only():
    H = np.array([[1, -1], [1, 1]])
    assert as_dict(TruthTable.from_predictions([1, 1], H)) == {(1, -1): 1, (1, 1): 1}
    assert as_dict(TruthTable.from_predictions(["a"], [["a", "b"]])) == {(1, -1): 1}


def test_weightless_examples_leave_no_cell():
    table = TruthTable.from_predictions([1, 1], [[1, 1], [-1, 1]], [2.5, 0.0])
    assert as_dict(table) == {(1, 1): 2.5}


def test_given_cells_are_merged():
    table = TruthTable.from_cells([[1, -1], [1, 1], [1, -1], [-1, -1]], [2, 5, 3, 0])
    assert as_dict(table) == {(1, -1): 5, (1, 1): 5}
    assert table.counts.dtype == np.int64
    assert TruthTable.from_cells([[1]], [0.5]).counts.dtype == np.float64


def test_three_classifiers_have_the_slides_pairs():
    """X_0, X_1, X_2, X_3 and their m and n, in the order of the slides."""
    every = [[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)]
    counts = np.arange(1, 9)
    pairs = TruthTable.from_cells(every, counts).pairs
    np.testing.assert_array_equal(pairs.V, [[1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, -1]])
    weight = dict(zip(map(tuple, every), counts, strict=True))
    assert [weight[tuple(v)] for v in pairs.V] == pairs.m.tolist()
    assert [weight[tuple(-v)] for v in pairs.V] == pairs.n.tolist()


def test_pairs_hold_every_cell_once(seed):
    y, H = answers(seed, 200, 6)
    table = TruthTable.from_predictions(y, H)
    patterns, weights = table.pairs.cells()
    assert dict(zip(map(tuple, patterns.tolist()), weights, strict=True)) == as_dict(table)


def test_errors_and_ties():
    table = TruthTable.from_cells([[1, 1], [1, -1], [-1, -1]], [5, 3, 2])
    assert table.errors([2.0, 1.0]) == 2
    assert table.errors([1.0, 1.0]) == 5  # the tie is an error
    assert table.errors([0.0, 0.0]) == 10


def test_smoothing_fills_occupied_pairs():
    table = TruthTable.from_cells([[1, 1], [1, -1], [-1, 1]], [5, 3, 2]).smoothed(0.5)
    assert as_dict(table) == {(1, 1): 5.5, (-1, -1): 0.5, (1, -1): 3.5, (-1, 1): 2.5}
    assert table.existence.sufficient


def test_representation():
    table = TruthTable.from_cells([[1, 1], [1, -1]], [5, 3])
    assert repr(table) == "<TruthTable: 2 classifiers, 2 occupied cells, total 8>"


# --- bad input --------------------------------------------------------------------------------

Y4, H4 = np.array([1, -1, 1, 1]), np.ones((4, 2), dtype=int)
TABLE = TruthTable.from_cells([[1, 1], [-1, 1], [1, -1], [-1, -1]], [5, 2, 3, 1])


def with_entry(H, value):
    changed = H.astype(type(value)) if not isinstance(value, int) else H.copy()
    changed[2, 1] = value
    return changed


predictions, cells = TruthTable.from_predictions, TruthTable.from_cells
BAD = {
    "no examples": (lambda: predictions([], np.ones((0, 2))), ["at least one", "empty"]),
    "no classifiers": (lambda: predictions(Y4, np.ones((4, 0))), ["1 to 60", "Got 0"]),
    "61 classifiers": (lambda: predictions(Y4, np.ones((4, 61))), ["1 to 60", "Got 61"]),
    "H of one dimension": (lambda: predictions(Y4, Y4), ["matrix", "(4,)"]),
    "y of two dimensions": (lambda: predictions(H4, H4), ["vector", "(4, 2)"]),
    "lengths": (lambda: predictions(Y4[:3], H4), ["3 labels", "4 rows"]),
    "zero in H": (
        lambda: predictions(Y4, with_entry(H4, 0)),
        ["-1 and 1", "Got 0", "row 2, column 1"],
    ),
    "zero in int8 H": (
        lambda: predictions(Y4.astype(np.int8), with_entry(H4.astype(np.int8), 0)),
        ["-1 and +1", "Got 0", "row 2, column 1"],
    ),
    "2 in int8 H": (
        lambda: predictions(Y4.astype(np.int8), with_entry(H4.astype(np.int8), 2)),
        ["-1 and +1", "Got 2", "row 2, column 1"],
    ),
    "NaN in H": (lambda: predictions(Y4, with_entry(H4, np.nan)), ["Got nan", "row 2"]),
    "other names in H": (
        lambda: predictions(["a", "b", "a", "a"], with_entry(np.full((4, 2), "a"), "c")),
        ["a and b", "Got c"],
    ),
    "three labels": (lambda: predictions([0, 1, 2, 0], H4), ["two labels", "each class", "Got 3"]),
    "negative weight": (
        lambda: predictions(Y4, H4, [1, 1, -2, 1]),
        ["not negative", "-2.0", "place 2"],
    ),
    "infinite weight": (
        lambda: predictions(Y4, H4, [1, 1, 2, np.inf]),
        ["finite", "inf", "place 3"],
    ),
    "weights all zero": (lambda: predictions(Y4, H4, np.zeros(4)), ["positive", "All are zero"]),
    "number of weights": (lambda: predictions(Y4, H4, np.ones(3)), ["(4,)", "(3,)"]),
    "empty cells": (lambda: cells(np.ones((0, 3)), []), ["at least one row", "(0, 3)"]),
    "cells of zeros": (lambda: cells([[1, 0]], [1]), ["-1 and +1", "Got 0", "column 1"]),
    "no counts": (lambda: cells([[1, 1]], [0]), ["positive", "All are zero"]),
    "beta too short": (lambda: TABLE.risk([1.0]), ["2 finite numbers", "[1.0]"]),
    "beta with NaN": (lambda: TABLE.errors([1.0, np.nan]), ["finite", "nan"]),
    "adding others": (lambda: TABLE + cells([[1]], [1]), ["same classifiers", "2 and 1"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_data(case):
    make, words = BAD[case]
    with pytest.raises(InvalidDataError) as error:
        make()
    for word in words:
        assert word in str(error.value), word


BAD_PARAMETERS = {
    "loss": (lambda: TABLE.minimise("hinge"), ["'exponential', 'logistic'", "'hinge'"]),
    "method": (lambda: TABLE.minimise(method="bfgs"), ["'newton', 'relaxation'", "'bfgs'"]),
    "tol": (lambda: TABLE.minimise(tol=0), ["above 0", "Got 0"]),
    "max_iter": (lambda: TABLE.minimise(max_iter=0), ["at least 1", "Got 0"]),
    "n_jobs": (lambda: TruthTable.from_predictions(Y4, H4, n_jobs=0), ["other than 0"]),
    "pseudo_count": (lambda: TABLE.smoothed(0.0), ["above 0", "Got 0.0"]),
    "time_limit": (lambda: TABLE.zero_one_minimum(time_limit=-1), ["above 0", "or None", "-1"]),
    "rule": (lambda: TABLE.adaboost(rule="lazy"), ["'greedy', 'historical'", "'lazy'"]),
    "n_rounds": (lambda: TABLE.adaboost(0), ["at least 1", "Got 0"]),
    "cells": (lambda: TABLE.stability(cells="some"), ["'all', 'occupied'", "'some'"]),
    "closed form": (TABLE.closed_form, ["three classifiers", "Got 2"]),
}


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_bad_parameters(case):
    make, words = BAD_PARAMETERS[case]
    with pytest.raises(InvalidParameterError) as error:
        make()
    for word in words:
        assert word in str(error.value), word
