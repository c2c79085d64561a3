"""Trees, cuts and summaries travel as pickles: a damaged state is an error, never a crash."""

import pickle
import random

import numpy as np
import pytest

from edgewise import _core

N, K = 60, 3
X = np.column_stack([np.arange(N) % 7.0, np.arange(N) * 1.0])
X[::9] = np.nan
LABELS = (np.arange(N) % K).astype(np.int32)
SUMMARY = _core.Summary(X, None, 1.0, 1)
CUTS = _core.Cuts(SUMMARY, 255, [0])
DATA = _core.bin_rows(X, CUTS, 1)


def grown():
    posterior = _core.Posterior(LABELS, None, np.zeros(K), "by_class")
    limits = _core.GrowLimits(6, 0, 1)
    tree = _core.grow_class_trees(DATA, posterior, [(0, -1)], "newton", limits, 1.0, 0.5, 1)[0]
    _core.find_covers([tree], None, 1)
    return tree


TREE = grown()
FIELDS = "feature left threshold bin missing_left gain cover sets width classes values sums".split()


def restored(cls, state):
    made = cls.__new__(cls)
    made.__setstate__(state)
    return made


def used(tree):
    """Everything that is done with a tree that came from elsewhere."""
    _core.route(DATA, tree, 1)
    _core.add_tree_scores([tree], X, np.zeros((N, K)), 1)
    _core.Posterior(LABELS, None, np.zeros(K), "by_class").add([tree], 1)
    _core.ForestStore().append([tree])


def with_field(name, change):
    state = TREE.__getstate__()
    value = state[name]
    return state | {name: change(value.copy() if isinstance(value, np.ndarray) else value)}


def put(at, value):
    def change(array):
        array[at] = value
        return array

    return change


def shorter(array):
    return array[:-1]


def another_set(bins, values):
    return lambda sets: [(bins, values), *sets[1:]]


TREES = {
    "no nodes": ("feature", lambda a: a[:0]),
    "a feature below -1": ("feature", put(0, -7)),
    "a leaf more": ("feature", put(0, -1)),
    "a leaf less": ("feature", put(-1, 0)),
    "a child far away": ("left", put(0, 10**8)),
    "a child that is its parent": ("left", put(0, 0)),
    "a negative child": ("left", put(0, -5)),
    "a child at the end": ("left", put(0, len(TREE.left) - 1)),
    "a leaf number far away": ("left", put(-1, 10**8)),
    "a leaf number twice": ("left", put(-1, int(TREE.left[-2]))),
    "too few thresholds": ("threshold", shorter),
    "a threshold that wants a set": ("threshold", put(slice(None), np.nan)),
    "too few bins": ("bin", shorter),
    "too few sides": ("missing_left", shorter),
    "a side of two": ("missing_left", put(0, 2)),
    "too few gains": ("gain", shorter),
    "a gain of NaN": ("gain", put(0, np.nan)),
    "too few covers": ("cover", shorter),
    "no sets": ("sets", lambda sets: []),
    "a set of bins far away": ("sets", another_set([10**6], [1.0])),
    "a set of negative bins": ("sets", another_set([-(10**6)], [1.0])),
    "a set that falls": ("sets", another_set([1, 2], [2.0, 1.0])),
    "sets of words": ("sets", lambda sets: ["a", "b"]),
    "no width": ("width", lambda width: 0),
    "a negative width": ("width", lambda width: -3),
    "a great width": ("width", lambda width: 2**31 - 1),
    "a width of words": ("width", lambda width: "one"),
    "too few classes": ("classes", shorter),
    "a negative class": ("classes", put(0, -1)),
    "too few values": ("values", shorter),
    "a value of NaN": ("values", put(0, np.nan)),
    "an infinite value": ("values", put(0, np.inf)),
    "values of words": ("values", lambda a: "values"),
}


def test_the_state_is_what_the_cases_expect():
    state = TREE.__getstate__()
    assert set(state) == set(FIELDS)
    assert len(state["sets"]) > 0
    assert (TREE.feature >= 0).sum() > 2
    used(pickle.loads(pickle.dumps(TREE)))


@pytest.mark.parametrize("name", TREES)
def test_wrong_trees_are_refused(name):
    with pytest.raises(ValueError, match="not the state of a tree"):
        restored(_core.Tree, with_field(*TREES[name]))


def test_a_state_without_an_array_or_with_an_unknown_one_is_refused():
    state = TREE.__getstate__()
    for field in FIELDS:
        less = {name: value for name, value in state.items() if name != field}
        with pytest.raises(ValueError, match="not the state of a tree"):
            restored(_core.Tree, less)
        with pytest.raises(ValueError, match="not the state of a tree"):
            restored(_core.Tree, less | {"another": state[field]})


@pytest.mark.parametrize("field", ["feature", "classes"])
def test_what_only_the_data_can_tell_is_refused_where_it_is_used(field):
    tree = restored(_core.Tree, with_field(field, put(0, 10**8)))
    with pytest.raises(ValueError, match="not there|labels"):
        used(tree)


def test_a_tree_that_has_not_seen_the_rows_does_not_move_them():
    tree = pickle.loads(pickle.dumps(TREE))
    posterior = _core.Posterior(LABELS, None, np.zeros(K), "by_class")
    with pytest.raises(ValueError, match="these rows"):
        posterior.add([tree], 1)


def cuts(points=((0.0, 1.0), (0.5, 1.5)), missing=(1, 0), categorical=(1, 0)):
    flags = (np.array(flag, dtype=np.uint8) for flag in (missing, categorical))
    return [np.array(of_feature) for of_feature in points], *flags


CUTS_CASES = {
    "too many cuts": cuts([np.arange(2.0), np.arange(255.0)]),
    "too many categories": cuts([np.arange(255.0), np.arange(2.0)]),
    "far too many cuts": cuts([np.arange(2.0), np.arange(5000.0)]),
    "cuts that fall": cuts([np.arange(2.0), np.array([1.0, 0.5])]),
    "cuts of NaN": cuts([np.arange(2.0), np.array([0.5, np.nan])]),
    "infinite cuts": cuts([np.arange(2.0), np.array([0.5, np.inf])]),
    "too few flags": cuts(missing=[1]),
    "too many flags": cuts(categorical=[1, 0, 0]),
    "a flag of 200": cuts(missing=[200, 0]),
    "a column without bins": cuts([np.empty(0), np.arange(2.0)], missing=[0, 0]),
    "nothing": (),
    "another length": (*cuts(), 1),
    "words": (["a", "b"], "c", "d"),
}


@pytest.mark.parametrize("name", CUTS_CASES)
def test_wrong_cuts_are_refused(name):
    with pytest.raises(ValueError, match="not the state of a set of cuts"):
        restored(_core.Cuts, CUTS_CASES[name])


def test_right_cuts_are_taken():
    made = restored(_core.Cuts, cuts())
    assert _core.bin_rows(X, made, 1).n_features == 2
    with pytest.raises(ValueError, match="columns that the cuts were made for"):
        _core.bin_rows(X[:, :1], made, 1)


def feature(values, masses, *rest):
    """Keys of numbers, masses, bits that the keys have not, and flags."""
    bits = np.array(values, dtype=float).view(np.uint64)
    keys = bits ^ np.where(bits >> 63, np.uint64(2**64 - 1), np.uint64(2**63))
    return keys, np.array(masses, dtype=np.uint64), *rest


SUMMARIES = {
    "values that fall": [feature([1.0, 0.0], [1, 1], 0, False, False)],
    "values twice": [feature([1.0, 1.0], [1, 1], 0, False, False)],
    "values of NaN": [feature([np.nan], [1], 0, False, False)],
    "infinite values": [feature([np.inf], [1], 0, False, False)],
    "too few masses": [feature([0.0, 1.0], [1], 0, False, False)],
    "no mass": [feature([0.0], [0], 0, False, False)],
    "masses whose sum overflows": [feature([0.0, 1.0], [2**63, 2**63], 0, False, False)],
    "too many bits dropped": [feature([0.0], [1], 64, False, False)],
    "bits that were dropped": [feature([0.1], [1], 20, False, False)],
    "more values than it lists": [feature(np.arange(1025.0), np.ones(1025), 0, False, False)],
    "too few flags": [feature([0.0], [1], 0, False)],
    "words": ["a"],
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_wrong_summaries_are_refused(name):
    with pytest.raises(ValueError, match="not the state of a summary"):
        restored(_core.Summary, (1024, 3, SUMMARIES[name]))


def test_right_summaries_are_taken():
    state = (1024, 3, [feature([0.0, 1.0], [1, 2], 0, False, False)])
    assert restored(_core.Summary, state).n_distinct(0) == 2


def test_summaries_of_other_columns_are_not_merged():
    other = _core.Summary(X[:, :1], None, 1.0, 1)
    with pytest.raises(ValueError, match="the same columns"):
        SUMMARY.merged(other)
    with pytest.raises(ValueError, match="not the state"):
        restored(_core.Summary, ())


@pytest.mark.parametrize("max_bins", [-5, 0, 1, 256, 10**6])
def test_cuts_need_a_number_of_bins(max_bins):
    with pytest.raises(ValueError, match="from 2 to 255 bins"):
        _core.Cuts(SUMMARY, max_bins, [0])


def test_bins_that_are_not_those_of_the_cuts_are_refused():
    columns = _core.columns_of(DATA)
    _core.binned_from_columns(columns, N, CUTS, 1)
    with pytest.raises(ValueError, match="one bin per row and column"):
        _core.binned_from_columns(columns[:-1], N, CUTS, 1)
    columns[3] = 255
    with pytest.raises(ValueError, match="those of the cuts"):
        _core.binned_from_columns(columns, N, CUTS, 1)


NUMBERS = [0, 1, -1, 2, 7, 255, 2**16, 10**8, 2**31 - 1, -(2**31)]


def test_random_states_are_refused_or_can_be_used():
    chance = random.Random(0)
    n_refused = 0
    for _ in range(2000):
        state = TREE.__getstate__()
        for _ in range(chance.randrange(1, 3)):
            name = chance.choice(FIELDS)
            value = state[name]
            if isinstance(value, np.ndarray) and len(value):
                value = value.copy()
                number = chance.choice([*NUMBERS, 1e308, np.inf, np.nan])
                info = np.iinfo(value.dtype) if value.dtype.kind in "iu" else None
                if info is not None:
                    number = chance.choice(NUMBERS)
                    number = min(max(number, info.min), info.max)
                value[chance.randrange(len(value))] = number
            elif isinstance(value, int):
                value = chance.choice(NUMBERS)
            state[name] = value
        try:
            used(restored(_core.Tree, state))
        except ValueError:
            n_refused += 1
    assert 500 < n_refused < 1950
