"""Random numbers that belong to rows: the generator, and that order does not matter."""

import numpy as np
import pytest
from scipy.stats import kstest

from edgewise._data.chance import distinct, row_keys, uniforms

MASK = 2**64 - 1


def split_mix(x):
    """SplitMix64 in whole numbers: one step of the counter, then its finaliser."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def rows(seed=0, n=200, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_generator_is_splitmix64():
    assert split_mix(0) == 0xE220A8397B1DCDAF  # the published first output of seed 0
    bits = [int(np.float64(v).view(np.uint64)) for v in (1.5, -2.0)]
    entries = [split_mix(bit ^ split_mix(column)) for column, bit in enumerate(bits)]
    key = split_mix(sum(entries) & MASK)
    assert int(row_keys(np.array([[1.5, -2.0]]))[0]) == key
    expected = (split_mix(key ^ split_mix(7 ^ split_mix(3))) >> 11) * 2.0**-53
    assert uniforms(np.array([key], dtype=np.uint64), 7, 3)[0] == expected


def test_numbers_follow_their_rows():
    X, y = rows(), np.arange(200) % 3
    order = np.random.default_rng(1).permutation(200)
    u = uniforms(row_keys(X, y), 5, 2)
    np.testing.assert_array_equal(uniforms(row_keys(X[order], y[order]), 5, 2), u[order])


@pytest.mark.parametrize("change", ["value", "label", "column order"])
def test_keys_depend_on_every_value(change):
    X, y = rows(n=1), np.zeros(1, dtype=np.int32)
    key = row_keys(X, y)
    if change == "value":
        X = np.nextafter(X, 9)
    elif change == "label":
        y = y + 1
    else:
        X = X[:, ::-1]
    assert row_keys(X, y) != key


def test_equal_values_have_equal_keys():
    assert row_keys(np.array([[0.0]])) == row_keys(np.array([[-0.0]]))
    other_nan = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)
    assert row_keys(np.array([[np.nan]])) == row_keys(other_nan[:, None])
    assert row_keys(np.array([[3]], dtype=np.int8)) == row_keys(np.array([[3.0]]))


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 2])
def test_numbers_are_uniform(seed):
    X = np.arange(20_000.0)[:, None]  # keys of rows that hardly differ
    u = np.array([uniforms(row_keys(X), seed, m) for m in range(3)])
    assert (u >= 0).all()
    assert (u < 1).all()
    for of_round in u:
        assert kstest(of_round, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(u) - np.eye(3)).max() < 0.03
    assert abs(np.corrcoef(u[:, 1:], u[:, :-1])[:3, 3:]).max() < 0.03  # neighbours in a round


def test_rounds_and_seeds_differ():
    keys = row_keys(rows())
    numbers = [uniforms(keys, seed, m) for seed in range(3) for m in range(3)]
    assert len({tuple(u) for u in numbers}) == 9


def test_equal_rows_get_distinct_keys():
    X = np.repeat(rows(n=20), np.arange(1, 21), axis=0)
    keys = distinct(row_keys(X))
    assert len(np.unique(keys)) == len(X)
    order = np.random.default_rng(0).permutation(len(X))
    again = distinct(row_keys(X[order]))
    assert set(again) == set(keys)  # of alike rows it does not matter which is which
    for row in np.unique(X, axis=0):
        mine, theirs = keys[(row == X).all(axis=1)], again[(X[order] == row).all(axis=1)]
        assert set(mine) == set(theirs)
