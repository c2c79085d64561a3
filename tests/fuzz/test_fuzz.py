"""A short run of the fuzzer's changes, the same every time; `make fuzz` is the long one."""

import random

from fuzz.mutation import OPENED, SEEDS, check, mutated, packed


def test_unchanged_files_load_and_predict():
    assert all(check(seed) for seed in SEEDS)
    assert all(check(packed(header, arrays)) for header, arrays in OPENED)


def test_mutated_files_load_and_predict_or_are_refused():
    chance = random.Random(0)
    loaded = [check(mutated(chance.randrange)) for _ in range(2000)]
    assert 50 < sum(loaded) < 1500  # the core has seen changed models, too
