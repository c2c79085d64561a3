"""What the page is told: the library's own answers, and regions that are what they claim."""

import itertools
import json

import numpy as np
import pytest
from support_page import Client, running_page

from edgewise.lab import dynamics as lab
from edgewise.lab.page import _triangle
from edgewise.lab.truth_table import TruthTable

GOLDEN = (np.sqrt(5) - 1) / 2
THREE = lab.one_error_each(3)
V = np.array([[1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, -1]])
CELLS = np.stack([V, -V], axis=1)  # (4, 2, 3)
RULES = [
    ({"name": "optimal"}, lab.Optimal()),
    ({"name": "arc-gv"}, lab.ArcGV()),
    ({"name": "ascent"}, lab.CoordinateAscent()),
    ({"name": "adaboost-star", "nu": 0.05}, lab.AdaBoostStar(0.05)),
    ({"name": "threshold"}, lab.Threshold()),
    (
        {"name": "threshold", "at_least": 0.01, "choose": "weakest", "columns": [0, 2, 3]},
        lab.Threshold(0.01, "weakest", (0, 2, 3)),
    ),
]


@pytest.fixture(scope="module")
def page():
    """Asks the page; the answer must be a good one."""
    with running_page() as listening:
        client = Client(listening)

        def ask(path, question):
            status, answer = client.ask(path, question)
            assert status == 200, answer
            return answer

        yield ask


@pytest.fixture(scope="module")
def examples():
    with running_page() as listening:
        status, _, body = Client(listening).get("/api/examples")
        assert status == 200
        return json.loads(body)


# --- walks ---------------------------------------------------------------------------------------


def test_three_by_three(page):
    answer = page("/api/walk", {"matrix": THREE.tolist(), "n_steps": 200})
    cycle = answer["cycle"]
    assert cycle["length"] == 3
    np.testing.assert_allclose(cycle["edges"], GOLDEN, atol=1e-12)
    weights = [(3 - np.sqrt(5)) / 4, (np.sqrt(5) - 1) / 4, 0.5]
    np.testing.assert_allclose(np.sort(cycle["weights"], axis=1), [weights] * 3, atol=1e-12)
    assert cycle["support"] == [0, 1, 2]
    assert cycle["is_stable"] is True
    assert cycle["margin"] == pytest.approx(1 / 3, abs=1e-12)
    assert answer["max_margin"]["value"] == pytest.approx(1 / 3, abs=1e-12)
    np.testing.assert_allclose(answer["edges"][-3:], GOLDEN, atol=1e-9)


@pytest.mark.parametrize(("given", "rule"), RULES, ids=lambda r: getattr(r, "name", ""))
def test_a_walk_is_that_of_the_library(page, given, rule):
    M = lab.random_matrix(6, 5, error_rate=0.35, random_state=1)
    start = lab.random_weights(6, random_state=4)
    question = {"matrix": M.tolist(), "start": start.tolist(), "rule": given, "ties": "highest"}
    answer = page("/api/walk", question | {"n_steps": 50, "n_skipped": 7})
    orbit = lab.iterate(M, start, n_steps=50, rule=rule, ties="highest", n_transient=7)
    assert answer["first"] == 7
    assert len(answer["choices"]) == 50
    assert answer["choices"] == orbit.choices.tolist()
    np.testing.assert_array_equal(answer["edges"], orbit.edges)
    np.testing.assert_array_equal(answer["margins"], orbit.margins())
    np.testing.assert_array_equal(answer["smooth_margins"], orbit.smooth_margins())
    expected = np.vstack([orbit.weights, orbit.final_weights])
    np.testing.assert_allclose(answer["weights"], expected, atol=5.1e-8)
    np.testing.assert_array_equal(answer["start"], orbit.start)
    assert answer["max_margin"]["value"] == lab.max_margin(M).value
    assert answer["triangle"] is None


def test_every_example_is_offered_and_can_be_walked(page, examples):
    assert [e["name"] for e in examples["matrices"]] == list(lab.EXAMPLES)
    for given in examples["matrices"]:
        example = lab.example(given["name"])
        np.testing.assert_array_equal(given["matrix"], example.matrix)
        answer = page("/api/walk", {key: given[key] for key in ("matrix", "start", "rule")})
        assert len(answer["choices"]) == 60
        assert answer["max_margin"]["value"] == pytest.approx(float(example.max_margin), abs=1e-9)


def test_the_examples_do_what_their_stories_say(page, examples):
    found = {
        e["name"]: page("/api/walk", {k: e[k] for k in ("matrix", "start", "rule")})["cycle"]
        for e in examples["matrices"]
    }
    lengths = {name: cycle.get("length") for name, cycle in found.items()}
    assert lengths == {"3x3": 3, "4x4": 4, "5x5": 5, "5x3": 3, "8x8": 3, "4x5": 3, "20x8": None}
    assert found["8x8"]["margin"] == pytest.approx(1 / 3, abs=1e-12)
    assert found["4x5"]["margin"] == pytest.approx(1 / 3, abs=1e-12)
    assert found["5x3"]["manifold_dimension"] == 2
    assert "no cycle" in found["20x8"]["reason"]


def test_a_walk_may_have_no_step(page):
    answer = page("/api/walk", {"matrix": [[1, -1], [1, 1]]})
    assert answer["choices"] == []
    assert len(answer["weights"]) == 1
    assert "right on every example" in answer["stopped"]
    assert answer["cycle"]["found"] is False


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (60, 60)])
def test_the_smallest_and_the_largest(page, shape):
    M = -np.eye(*shape)
    M[M == 0] = 1
    answer = page("/api/walk", {"matrix": M.tolist(), "n_steps": 200})
    assert answer["max_margin"]["value"] == pytest.approx(1 - 2 / shape[0], abs=1e-9)


def test_rules_that_remember_have_no_cycle(page):
    answer = page("/api/walk", {"matrix": THREE.tolist(), "rule": {"name": "arc-gv"}})
    assert answer["cycle"] == {
        "found": False,
        "reason": "under this rule a step depends on all votes so far, not on the weights alone",
    }


def test_random_matrices_and_weights_are_the_library_s(page):
    question = {"m": 7, "n": 4, "error_rate": 0.3, "random_state": 11}
    given = page("/api/random-matrix", question)["matrix"]
    np.testing.assert_array_equal(given, lab.random_matrix(7, 4, error_rate=0.3, random_state=11))
    start = page("/api/random-start", {"m": 7, "random_state": 5})["start"]
    np.testing.assert_array_equal(start, lab.random_weights(7, random_state=5))


def test_a_proof(page):
    proof = page("/api/proof", {"matrix": THREE.tolist()})
    assert proof["proved"] is True
    assert proof["stable"] is True
    assert proof["digits"] == 30
    assert proof["edges"][0].startswith("0.618033988749894848204586834365")


def test_proofs_of_large_cycles_are_left_to_python(page, monkeypatch):
    monkeypatch.setattr("edgewise.lab.page._walk._MOST_PROVED", 26)
    with pytest.raises(AssertionError, match="3 steps on 3 examples; in Python, Cycle.certify"):
        page("/api/proof", {"matrix": THREE.tolist()})


# --- the triangle of three examples --------------------------------------------------------------


def inside(polygon, rng, n=40):
    """Random points of a polygon."""
    return rng.dirichlet(np.ones(len(polygon)), size=n) @ np.asarray(polygon)


@pytest.mark.parametrize("seed", range(6))
def test_regions_are_where_a_column_has_the_largest_edge(seed):
    rng = np.random.default_rng(seed)
    M = np.where(rng.random((3, 6)) < 0.4, -1, 1).astype(np.int8)
    regions = _triangle.best_columns(M, [0, 1, 3, 5])
    assert sum(_triangle.area(r.polygon) for r in regions) == pytest.approx(0.5, abs=1e-12)
    for columns, polygon in regions:
        edges = inside(polygon, rng) @ M[:, [0, 1, 3, 5]]
        best = edges.max(axis=1)
        for j in columns:
            np.testing.assert_allclose(inside(polygon, rng) @ (M[:, j] - M[:, columns[0]]), 0)
        np.testing.assert_allclose(edges[:, [0, 1, 3, 5].index(columns[0])], best, atol=1e-12)


def test_the_inner_triangle(page):
    triangle = page("/api/walk", {"matrix": THREE.tolist()})["triangle"]
    ends = {tuple(sorted(map(tuple, line))) for line in triangle["lines"]}
    middles = [(0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0)]
    assert ends == set(itertools.combinations(middles, 2))
    assert sorted(r["columns"] for r in triangle["regions"]) == [[0], [1], [2]]
    for region in triangle["regions"]:
        assert _triangle.area(np.array(region["polygon"])) == pytest.approx(1 / 6)


def test_the_orbit_lies_on_the_lines(page):
    question = {"matrix": THREE.tolist(), "start": [0.2, 0.7, 0.1], "n_steps": 30}
    answer = page("/api/walk", question)
    for j, after in zip(answer["choices"], answer["weights"][1:], strict=True):
        assert np.dot(after, THREE[:, j]) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("rule", "columns"),
    [
        ({"name": "threshold", "choose": "best", "columns": [2, 0]}, {0, 2}),
        ({"name": "threshold", "choose": "best"}, {0, 1, 2}),
        ({"name": "threshold", "choose": "first"}, set()),
        ({"name": "ascent"}, {0, 1, 2}),
    ],
)
def test_regions_are_those_of_the_rule(page, rule, columns):
    triangle = page("/api/walk", {"matrix": THREE.tolist(), "rule": rule})["triangle"]
    assert {j for region in triangle["regions"] for j in region["columns"]} == columns
    assert len(triangle["lines"]) == 3


def test_equal_columns_share_a_region(page):
    triangle = page("/api/walk", {"matrix": THREE[:, [0, 1, 0, 2]].tolist()})["triangle"]
    assert sorted(r["columns"] for r in triangle["regions"]) == [[0, 2], [1], [3]]
    assert len(triangle["lines"]) == 3


# --- truth tables --------------------------------------------------------------------------------


def table_of(counts):
    return TruthTable.from_cells(CELLS.reshape(8, 3), np.ravel(counts))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("rule", ["greedy", "historical"])
def test_a_table_s_answers_are_those_of_the_library(page, seed, loss, rule):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 30, size=(4, 2))
    counts[0, 0] += 30
    question = {"counts": counts.tolist(), "loss": loss, "rule": rule, "n_rounds": 9}
    answer = page("/api/truth-table", question | {"negations": seed % 2 == 0})
    table = table_of(counts)
    path = table.adaboost(9, rule=rule, negations=seed % 2 == 0)
    assert answer["adaboost"]["choices"] == path.choices.tolist()
    assert answer["adaboost"]["stopped"] == path.stopped
    np.testing.assert_array_equal(answer["adaboost"]["betas"], path.betas)
    np.testing.assert_allclose(
        answer["adaboost"]["risks"], [table.risk(b, loss) for b in path.betas]
    )
    minimum = table.minimise(loss)
    np.testing.assert_array_equal(answer["minimum"]["beta"], minimum.beta)
    np.testing.assert_allclose(answer["minimum"]["closed_form"], minimum.beta, atol=1e-9)
    assert answer["minimum"]["difference"] < 1e-9
    assert answer["zero_one"]["errors"] == table.zero_one_minimum().errors
    stability = table.stability(loss)
    assert answer["stability"]["lower"] == stability.lower
    assert answer["stability"]["upper"] == stability.upper


@pytest.mark.parametrize("seed", range(4))
def test_verdicts_are_those_of_the_votes(page, seed):
    """Cell by cell, from the predictions that belong to it."""
    counts = np.random.default_rng(seed).integers(1, 30, size=(4, 2))
    answer = page("/api/truth-table", {"counts": counts.tolist(), "n_rounds": 5})
    for name, vote in answer["votes"].items():
        wrong = 0
        for pair, side in itertools.product(range(4), range(2)):
            score = sum(b * s for b, s in zip(vote["beta"], CELLS[pair][side], strict=True))
            verdict = 0 if abs(score) < 1e-12 else 1 if score > 0 else -1
            assert vote["verdicts"][pair][side] == verdict, name
            wrong += counts[pair, side] * (verdict <= 0)
        assert vote["errors"] == wrong
        np.testing.assert_allclose(vote["margins"], V @ vote["beta"])


@pytest.mark.parametrize("seed", range(4))
def test_regions_of_votes_make_the_errors_they_say(page, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 30, size=(4, 2))
    answer = page("/api/truth-table", {"counts": counts.tolist()})
    frame = np.array(answer["frame"])
    regions = answer["regions"]
    assert sum(_triangle.area(np.array(r["polygon"])) for r in regions) == pytest.approx(
        _triangle.area(frame)
    )
    assert len({r["name"] for r in regions}) == 7
    for region in regions:
        for b in inside(region["polygon"], rng, 5):
            assert table_of(counts).errors(b) == region["errors"]


def test_names_of_regions_say_who_decides(page):
    """A vote decides like the classifiers that its region is named after."""
    answer = page("/api/truth-table", {"counts": [[38, 15], [19, 1], [18, 8], [19, 8]]})
    opinions = np.array(list(itertools.product([-1, 1], repeat=3)))
    signs = {
        "majority": np.sign(opinions.sum(axis=1)),
        **{f"h{j} alone": opinions[:, j] for j in range(3)},
        **{
            f"majority with not h{j}": np.sign(opinions.sum(axis=1) - 2 * opinions[:, j])
            for j in range(3)
        },
    }
    for region in answer["regions"]:
        for beta in (np.mean(region["polygon"], axis=0), region["label"]):
            np.testing.assert_array_equal(np.sign(opinions @ beta), signs[region["name"]])


def test_places_in_the_picture(page):
    counts = [[39, 9], [9, 2], [6, 13], [7, 15]]
    answer = page("/api/truth-table", {"counts": counts, "n_rounds": 20, "negations": True})
    places = answer["adaboost"]["places"]
    assert places[0] is None  # no coefficient has a share yet
    for place, beta in zip(places[1:], answer["adaboost"]["betas"][1:], strict=True):
        np.testing.assert_allclose(place["point"], np.array(beta) / np.sum(beta))
        assert place["negated"] is False
        assert min(place["point"]) > np.min(answer["frame"])
    opposite = page("/api/truth-table", {"counts": [pair[::-1] for pair in counts]})
    np.testing.assert_allclose(
        opposite["votes"]["minimiser"]["place"]["point"],
        answer["votes"]["minimiser"]["place"]["point"],
        atol=1e-9,
    )
    assert opposite["votes"]["minimiser"]["place"]["negated"] is True


def test_the_counterexample_changes_a_verdict(page):
    counts = np.array([[38, 15], [19, 1], [18, 8], [19, 8]])
    stability = page("/api/truth-table", {"counts": counts.tolist()})["stability"]
    changed = np.array(stability["counterexample"])
    assert changed.sum() == pytest.approx(1)
    assert abs(changed - counts / counts.sum()).max() == pytest.approx(stability["upper"])
    before, after = table_of(counts).minimise().beta, table_of(changed).minimise().beta
    pattern = np.array(stability["pattern"])
    assert np.sign(pattern @ before) == -np.sign(pattern @ after)


def test_tables_without_a_minimum_say_why(page):
    answer = page("/api/truth-table", {"counts": [[40, 0], [12, 0], [10, 0], [9, 0]]})
    assert answer["minimum"]["exists"] is False
    assert (np.array([[1, 1, 1], *V[1:]]) @ answer["minimum"]["direction"] > 0).all()
    assert answer["votes"]["minimiser"] is None
    assert "no minimum" in answer["stability"]["reason"]


def test_the_tables_do_what_their_stories_say(page, examples):
    tables = examples["tables"]
    early, negative, convex, perfect, twins = (
        page("/api/truth-table", {"counts": t["counts"], "n_rounds": 50}) for t in tables
    )
    errors = {name: vote["errors"] for name, vote in early["votes"].items()}
    assert errors == {"adaboost": 42, "minimiser": 32, "zero_one": 32}
    assert len(early["adaboost"]["choices"]) == 3
    assert early["votes"]["minimiser"]["verdicts"] == [[1, -1]] * 4  # the majority's
    assert np.argmin(negative["minimum"]["beta"]) == 0
    assert negative["minimum"]["beta"][0] < 0
    for j in range(3):  # better than chance, each
        right = np.array(tables[1]["counts"])[CELLS[:, :, j] > 0].sum()
        assert 2 * right > np.sum(tables[1]["counts"])
    negated = page(
        "/api/truth-table", {"counts": tables[1]["counts"], "n_rounds": 200, "negations": True}
    )
    np.testing.assert_allclose(
        negated["votes"]["adaboost"]["beta"], negative["minimum"]["beta"], atol=1e-9
    )
    assert (convex["votes"]["minimiser"]["errors"], convex["zero_one"]["errors"]) == (40, 26)
    assert perfect["minimum"]["exists"] is False
    assert perfect["zero_one"]["errors"] == 0
    assert (twins["minimum"]["exists"], twins["minimum"]["unique"]) == (True, False)
    assert twins["minimum"]["beta"][0] == pytest.approx(twins["minimum"]["beta"][1])


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_lopsided_tables_are_answered(page, loss):
    """Ones beside a milliard, in all places."""
    for place in range(8):
        counts = np.ones(8, dtype=int)
        counts[place] = 10**9
        question = {"counts": counts.reshape(4, 2).tolist(), "loss": loss, "n_rounds": 200}
        answer = page("/api/truth-table", question)
        assert answer["minimum"]["difference"] < 1e-6
