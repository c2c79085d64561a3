"""A hierarchy of classes: consistent probabilities, distances, decisions, and bad input."""

import numpy as np
import pytest

from edgewise import (
    AOSOLogitBoostClassifier,
    ClassHierarchy,
    InvalidDataError,
    InvalidParameterError,
)

PARENTS = {
    "cat": "feline",
    "lion": "feline",
    "dog": "canine",
    "feline": "animal",
    "canine": "animal",
    "car": "thing",
    "animal": None,
}
CLASSES = np.array(["car", "cat", "dog", "lion"])
TREE = ClassHierarchy(PARENTS, CLASSES)


def species(seed, n, noise=1.0):
    """Rows of nine classes in three families; within them it is hard to tell classes apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(9, size=n)
    family = np.array([[0, 0], [2, 0], [1, 2]])[y // 3]
    own = 0.6 * np.array([[0, 0], [1, 0], [0, 1]])[y % 3]
    return family + own + noise * rng.normal(size=(n, 2)), y


FAMILIES = ClassHierarchy({k: f"family {k // 3}" for k in range(9)}, range(9))


def test_distances_are_steps_to_the_lowest_group_of_both():
    expected = {("cat", "lion"): 1, ("cat", "dog"): 2, ("cat", "car"): 2.5, ("cat", "cat"): 0}
    for (a, b), distance in expected.items():
        i, j = (CLASSES.tolist().index(name) for name in (a, b))
        assert TREE.distances[i, j] == TREE.distances[j, i] == distance


def test_a_parent_is_the_sum_of_its_children():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(4), size=200)
    of = dict(zip(TREE.nodes, TREE.probabilities(proba).T, strict=True))
    car, cat, dog, lion = proba.T
    np.testing.assert_allclose(of["feline"], cat + lion, atol=1e-12)
    np.testing.assert_allclose(of["canine"], dog, atol=1e-12)
    np.testing.assert_allclose(of["animal"], of["feline"] + of["canine"], atol=1e-12)
    np.testing.assert_allclose(of["animal"] + of["thing"], 1.0, atol=1e-12)
    np.testing.assert_allclose(of["thing"], car, atol=1e-12)


def test_paths_say_the_same_as_parents():
    paths = [
        ["thing", "car"],
        ["animal", "feline", "cat"],
        ["animal", "canine", "dog"],
        ["animal", "feline", "lion"],
    ]
    np.testing.assert_array_equal(
        ClassHierarchy.from_paths(paths, CLASSES).distances, TREE.distances
    )


def test_decisions_by_the_hierarchy_make_fewer_far_mistakes():
    """A large family whose classes are alike, and one class alone, which takes most flat labels."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(4000) < 0.3, 0, rng.integers(1, 9, size=4000))
    X = np.column_stack([1.5 * (y > 0) + rng.normal(size=4000), 0.3 * y + rng.normal(size=4000)])
    tree = ClassHierarchy({0: "alone"} | dict.fromkeys(range(1, 9), "large"), range(9))
    model = AOSOLogitBoostClassifier(n_estimators=40).fit(X[:1500], y[:1500])
    true, new = y[1500:], X[1500:]
    flat, near = model.predict(new), tree.labels(model.predict_proba(new))
    assert tree.far_mistakes(true, near) < 0.8 * tree.far_mistakes(true, flat)
    assert tree.mean_distance(true, near) < tree.mean_distance(true, flat)


def test_metrics():
    y = ["cat", "cat", "dog", "car"]
    said = ["cat", "lion", "cat", "dog"]
    assert TREE.mean_distance(y, said) == (0 + 1 + 2 + 2.5 - 0.5 * 0) / 4
    assert TREE.far_mistakes(y, said) == 0.5
    assert TREE.far_mistakes(y, said, [1, 1, 0, 2]) == 0.5


def test_groups_are_learned_from_confusions():
    X, y = species(2, 2000, noise=0.4)
    model = AOSOLogitBoostClassifier(n_estimators=40).fit(X[:1000], y[:1000])
    tree = ClassHierarchy.learned(model.predict_proba(X[1000:]), y[1000:], model.classes_)
    assert len(tree.nodes) == 3
    np.testing.assert_array_equal(tree.distances, FAMILIES.distances)


def test_equal_names_on_different_paths_are_different_groups():
    tree = ClassHierarchy.from_paths([["a", "x", 0], ["b", "x", 1]], [0, 1])
    assert tree.distances[0, 1] == 3
    assert len(tree.nodes) == 4


@pytest.mark.parametrize(
    ("parents", "words"),
    [
        ({"a": "p", "b": "q", "p": "q", "q": "p"}, "must not have a cycle. 'p' is above itself"),
        ({"a": "a", "b": None}, "must not have a cycle. 'a' is above itself"),
        ({"a": "p"}, "must hold every class. Class 'b' is missing"),
        ({"a": "p", "b": "p", "c": "p"}, "'c' is none of them"),
        ({"a": "b", "b": None}, "Class 'b' has"),
        (["a", "b"], "must be a dict with the parent of every class and group. Got list"),
        ({"a": ["p"], "b": "p"}, "names of groups must be strings, numbers or tuples"),
    ],
)
def test_bad_hierarchies(parents, words):
    with pytest.raises(InvalidParameterError, match=words):
        ClassHierarchy(parents, ["a", "b"])


def test_long_paths_take_time_in_proportion():
    parents = {"a": 0, "b": None} | {i: i + 1 for i in range(100_000)}
    assert ClassHierarchy(parents, ["a", "b"]).distances[0, 1] == 50_001.5


def test_bad_input():
    with pytest.raises(InvalidParameterError, match="different from each other"):
        ClassHierarchy({"a": None}, ["a", "a"])
    with pytest.raises(InvalidDataError, match="each of the 4 classes of the hierarchy. Got 3"):
        TREE.labels(np.full((2, 3), 1 / 3))
    with pytest.raises(InvalidParameterError, match="name every class once. Got 'a' twice"):
        ClassHierarchy.from_paths([["a"], ["p", "a"]], ["a"])
    for path in ("ab", None, []):
        with pytest.raises(InvalidParameterError, match="list of groups that ends with a class"):
            ClassHierarchy.from_paths([path], ["b"])
    with pytest.raises(InvalidParameterError, match="names of groups must be strings, numbers"):
        ClassHierarchy.from_paths([[["p"], "b"]], ["b"])
    with pytest.raises(InvalidParameterError, match="n_groups must be an integer from 1 to 2"):
        ClassHierarchy.learned(np.eye(2), [0, 1], [0, 1], n_groups=3)
