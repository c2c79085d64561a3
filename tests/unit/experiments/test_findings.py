"""Judging: made-up outcomes that agree, and others that must not pass."""

from dataclasses import replace

import numpy as np
import pytest

from edgewise.experiments import (
    EXPERIMENTS,
    Record,
    _geist,
    _li,
    abc_covertype,
    abc_grid,
    abc_poker,
    abc_summary,
    adaboost_dynamics,
    differences,
    softmax_curves,
    softmax_synthetic,
    softmax_tables,
    softmax_toy,
    truth_tables,
    vote_mass,
)
from edgewise.experiments._library import Library
from edgewise.experiments._runner import Job, run_cell


def record(experiment, cell, outcome, data="as asked"):
    return Record(
        experiment.kept_as,
        "paper",
        cell.name,
        cell.seed,
        dict(cell.params),
        cell.data if data == "as asked" else data,
        "hash",
        experiment.version,
        outcome,
        1.0,
    )


def records(experiment, outcome_of, scale="paper", only=lambda cell: True):
    cells = [cell for cell in experiment.cells(scale) if only(cell)]
    return {cell.name: record(experiment, cell, outcome_of(cell)) for cell in cells}


def verdict_of(findings, text):
    (found,) = [finding for finding in findings if text in finding.what]
    return found.verdict


def grid_outcome(cell, change=0):
    p = cell.params
    data = cell.name.split("/")[0]
    paper = _li.printed(data, p["algorithm"], p["leaves"], p["shrinkage"])
    return {"errors": (paper or 50) + change, "test_rows": 4000, "rounds": 100}


def test_a_grid_like_the_paper_s_agrees_and_one_with_more_errors_does_not():
    letter = EXPERIMENTS["abc-grid-letter"]
    same = letter.findings("paper", records(letter, grid_outcome))
    assert len(same) == 72 + 2 + 1
    assert {finding.verdict for finding in same} == {"agrees", "holds"}
    worse = letter.findings("paper", records(letter, lambda cell: grid_outcome(cell, 40)))
    assert {finding.verdict for finding in worse[:74]} == {"more errors"}
    table = letter.tables("paper", records(letter, grid_outcome))[1]
    assert table.rows[-1][-1] == "102 (102)"


def test_a_grid_with_holes_says_so():
    letter = EXPERIMENTS["abc-grid-letter"]
    some = records(letter, grid_outcome, only=lambda cell: cell.params["leaves"] == 20)
    found = letter.findings("paper", some)
    assert verdict_of(found, "abc-mart, best of the grid") == "not run"
    assert sum(finding.verdict == "agrees" for finding in found) == 8


def test_abc_mart_that_is_no_better_fails_the_claim():
    letter = EXPERIMENTS["abc-grid-letter"]
    equal = records(letter, lambda cell: {"errors": 120, "test_rows": 4000, "rounds": 9})
    assert letter.findings("paper", equal)[-1].verdict == "fails"


def test_a_stand_in_is_never_judged():
    cell = abc_grid.cell("pendigits", "mart", 20, 0.1)
    outcome = {"errors": 3, "test_rows": 450, "rounds": 9}
    held = {cell.name: record(EXPERIMENTS["abc-grid-pendigits"], cell, outcome, data="digits")}
    assert abc_grid.beside_paper("pendigits", cell, held).verdict == "not judged"
    own = {cell.name: record(EXPERIMENTS["abc-grid-pendigits"], cell, outcome | {"errors": 130})}
    assert abc_grid.beside_paper("pendigits", cell, own).verdict == "agrees"


def summary_outcome(mart, abc):
    def outcome(cell):
        errors = abc if cell.params["algorithm"] == "abc-mart" else mart
        rows = _li.DATA_SETS[cell.name.split("/")[0]].test_rows
        return {"errors": errors, "test_rows": rows, "rounds": 9, "errors_at": {}}

    return outcome


def test_summary_needs_the_paper_s_significance():
    def only_letter(cell):
        return cell.name.startswith("letter/")

    summary = abc_summary.EXPERIMENT
    clear = summary.findings("paper", records(summary, summary_outcome(136, 102), only=only_letter))
    assert verdict_of(clear, "Letter: ABC-MART has fewer errors") == "holds"
    near = summary.findings("paper", records(summary, summary_outcome(125, 110), only=only_letter))
    assert verdict_of(near, "Letter: ABC-MART has fewer errors") == "fails"
    assert verdict_of(near, "Letter, mart") == verdict_of(near, "Letter, abc-mart") == "agrees"


def test_summary_table_has_the_columns_of_the_slides():
    summary = abc_summary.EXPERIMENT
    held = records(summary, summary_outcome(136, 102))
    rows = {row[0]: row[1:] for row in summary.tables("paper", held)[0].rows}
    assert rows["Letter"][:4] == ["136 (136)", "102 (102)", "25.0", "0.013"]
    assert rows["Letter"][4:] == ["136", "136 (89*)", "136 (92*)"]
    assert rows["Optdigits"][:2] == ["136 (55)", "102 (43)"]


def test_mnist10k_is_shown_and_not_judged():
    summary = abc_summary.EXPERIMENT
    found = summary.findings("paper", records(summary, summary_outcome(2800, 2400)))
    assert verdict_of(found, "Mnist10k, mart") == "not judged"


def test_covertype_is_judged_at_every_stage():
    covertype = abc_covertype.EXPERIMENT

    def outcome(cell, more=0):
        printed = _li.COVERTYPE[cell.params["algorithm"], cell.params["leaves"]]
        return {"errors_at": {str(m): n + more for m, n in printed.items()}}

    assert {f.verdict for f in covertype.findings("paper", records(covertype, outcome))} == {
        "agrees"
    }
    worse = records(covertype, lambda cell: outcome(cell, 1000))
    found = covertype.findings("paper", worse)
    assert len(found) == 16 + 2  # at every stage, and with finer bins
    assert {f.verdict for f in found} == {"more errors"}


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        ((86000, 87000, 86400), "agrees"),
        ((80000, 80100, 80050), "fewer errors"),
        ((95000, 95100, 95050), "more errors"),
    ],
)
def test_poker_asks_whether_the_paper_s_could_be_one_more_draw(errors, verdict):
    poker = abc_poker.EXPERIMENT

    def outcome(cell):
        return {"errors": errors[cell.seed] - 1000 * (cell.params["algorithm"] == "abc-mart")}

    found = poker.findings("paper", records(poker, outcome))
    assert found[0].verdict == verdict
    assert found[-1].verdict == "holds"


def table_outcome(paper, factor=1.0):
    def outcome(cell):
        rates = paper[cell.params["set"]][cell.params["algorithm"]]
        rows = _geist.DATA_SETS[cell.params["set"]].test_rows
        counts = [round(factor * rate * rows / 100) for rate in rates]
        stages = map(str, _geist.STAGES)
        return {"errors": dict(zip(stages, counts, strict=True)), "test_rows": rows, "rounds": 1000}

    return outcome


@pytest.mark.parametrize("number", [2, 3])
def test_geist_s_tables_agree_with_themselves_and_claims_with_the_text(number):
    experiment = softmax_tables.EXPERIMENTS[number - 2]
    paper = {2: _geist.TABLE_2, 3: _geist.TABLE_3}
    same = experiment.findings("paper", records(experiment, table_outcome(paper[number])))
    assert {finding.verdict for finding in same[:-1]} == {"agrees"}
    assert same[-1].verdict == "holds"
    other = experiment.findings("paper", records(experiment, table_outcome(paper[5 - number])))
    assert other[-1].verdict == "fails"  # the claim about clean labels is false of noisy ones
    worse = experiment.findings("paper", records(experiment, table_outcome(paper[number], 2.0)))
    assert {finding.verdict for finding in worse[:-1]} == {"more errors"}


def test_random_cuts_are_drawn_for_every_algorithm():
    with_best, with_random = softmax_tables.EXPERIMENTS[0], softmax_tables.EXPERIMENTS[2]
    cells = {cell.name: cell for cell in with_random.cells("paper")}
    assert {cell.name for cell in with_best.cells("paper")} < set(cells)
    assert {cell.params["own"]["splitter"] for cell in cells.values()} == {"random"}
    assert "dna/SAMME/draw=2" in cells
    found = with_random.findings("paper", records(with_random, table_outcome(_geist.TABLE_2)))
    assert {finding.verdict for finding in found[:-1]} == {"agrees"}


def test_a_missing_draw_leaves_the_mean_open():
    experiment = softmax_tables.EXPERIMENTS[1]
    held = records(experiment, table_outcome(_geist.TABLE_3), only=lambda cell: cell.seed < 2)
    assert {finding.verdict for finding in experiment.findings("paper", held)} == {"not run"}


def toy_errors(samme=0.2, marti=0.02, softmax=0.0):
    def outcome(cell):
        p = cell.params["noise"]
        error = {"SAMME": samme, "MartiBoost": marti}.get(cell.params["algorithm"], softmax)
        return {"error": 0.0 if p == 0 else error}

    return outcome


@pytest.mark.parametrize(
    ("errors", "failing"),
    [
        ({}, set()),
        ({"samme": 0.04}, {"SAMME errs more than the labels at 5 %"}),
        (
            {"marti": 0.06},
            {"MartiBoost stays below the noise level"},
        ),
        (
            {"softmax": 0.03},
            {
                "sm-boost is perfect up to 30 %",
                "MartiBoost is between the two from 5 to 30 %",
            },
        ),
    ],
)
def test_claims_about_the_toy_problem(errors, failing):
    toy = softmax_toy.EXPERIMENT
    held = records(toy, toy_errors(**errors), only=lambda cell: cell.seed == 0)
    found = toy.findings("paper", held)
    assert {finding.what for finding in found if finding.verdict == "fails"} == failing
    assert len(found) == 10  # the five claims, and those of our variants beside them


def synthetic_errors(train, test):
    """sm-boost's errors minus those of the others."""

    def outcome(cell):
        stages = ("10", "100", "1000")
        other = {"train": dict.fromkeys(stages, 0.1), "test": dict.fromkeys(stages, 0.2)}
        of = {_geist.MH: other, _geist.SAMME: other}
        of[_geist.SOFTMAX] = {
            "train": dict.fromkeys(stages, 0.1 + train),
            "test": dict.fromkeys(stages, 0.2 + test),
        }
        return {"errors": of, "problem": {"flipped": 0.01 * cell.seed}}

    return outcome


@pytest.mark.parametrize(
    ("train", "test", "verdicts"),
    [(0.05, -0.05, ["holds", "holds"]), (-0.05, 0.05, ["fails", "fails"])],
)
def test_claims_about_the_synthetic_problems(train, test, verdicts):
    synthetic = softmax_synthetic.EXPERIMENT
    some = records(synthetic, synthetic_errors(train, test), only=lambda cell: cell.seed < 6)
    assert [f.verdict for f in synthetic.findings("paper", some)] == verdicts * 2
    few = records(synthetic, synthetic_errors(train, test), only=lambda cell: cell.seed < 5)
    found = [f.verdict for f in synthetic.findings("paper", few)]
    assert found == [verdicts[0], "not judged"] * 2  # five of five may be chance: P = 1/16
    by_noise = synthetic.tables("paper", some)[1].rows
    lower = int(test < 0)
    assert [row[1:3] for row in by_noise[:3]] == [[5, 5 * lower], [1, lower], [0, "-"]]


PART = {"segment/AdaBoost.MH/shuffle=0"}


def test_claims_about_learning_curves():
    clean, noisy = softmax_curves.EXPERIMENTS

    def outcome(cell):
        softmax = cell.params["algorithm"] == _geist.SOFTMAX
        return {"train": [0.1 if softmax else 0.0], "test": [0.3 if softmax else 0.2]}

    def first(cell):
        return cell.seed < 2

    assert [f.verdict for f in clean.findings("paper", records(clean, outcome, only=first))] == [
        "holds",
        "holds",
    ]
    (table,) = clean.tables("paper", records(clean, outcome, only=first))
    assert table.rows[0] == ["segment", "2", "20.00 ± 0.00", "20.00 ± 0.00", "30.00 ± 0.00"]
    one = records(clean, outcome, only=lambda cell: cell.name in PART)
    assert clean.tables("paper", one)[0].rows == [["segment", "0 to 1", "20.00", "-", "-"]]
    assert [f.verdict for f in noisy.findings("paper", records(noisy, outcome, only=first))] == [
        "holds",
        "fails",
    ]


def run_small(experiment, only):
    """Really run some cells at small scale."""
    library = Library("small")
    found = {}
    for cell in experiment.cells("small"):
        if only(cell):
            data = library.find(cell.data)
            job = Job(experiment, cell, data.name, ("", "", "", 0, data.hash, 1))
            found[cell.name] = run_cell(job, "small", library, 1)
    return found


def test_dynamics_hold_and_wrong_numbers_do_not():
    pytest.importorskip("mpmath")
    dynamics = adaboost_dynamics.EXPERIMENT
    held = run_small(dynamics, lambda cell: not cell.name.startswith(("one-error-each/m=5",)))
    found = dynamics.findings("small", held)
    assert {f.verdict for f in found} == {"agrees", "holds", "not run"}
    assert sum(f.verdict == "not run" for f in found) == 1
    eight = held["misses/8x8"]
    held["misses/8x8"] = replace(eight, outcome=eight.outcome | {"max_margin": 0.374})
    assert verdict_of(dynamics.findings("small", held), "8x8: the maximum margin") == "differs"
    never = held["never/20x8"]
    held["never/20x8"] = replace(never, outcome={"bursts": "LRRLR" * 40})
    assert verdict_of(dynamics.findings("small", held), "have no period") == "fails"


def test_shortest_period():
    assert adaboost_dynamics.shortest_period("LRRLR" * 40) == 5
    assert adaboost_dynamics.shortest_period("R" * 12 + "LR" * 20) == 2
    word = "".join("LR"[int((k + 1) * 0.618034) - int(k * 0.618034)] for k in range(200))
    assert adaboost_dynamics.shortest_period(word) is None


def test_truth_tables_hold_and_a_wrong_relaxation_does_not():
    tables = truth_tables.EXPERIMENT
    held = run_small(tables, lambda cell: cell.name in ("example", "stumps"))
    assert {f.verdict for f in tables.findings("small", held)} == {"holds"}
    assert held["example"].outcome["newton"] == pytest.approx([0.5644, 0.3202, 0.1850], abs=5e-5)
    assert held["example"].outcome["adaboost"] == pytest.approx([0.6777, 0.3409, 0.1541], abs=5e-5)
    moved = held["example"].outcome | {"relaxation": [0.5, 0.3, 0.2]}
    held["example"] = replace(held["example"], outcome=moved)
    assert verdict_of(tables.findings("small", held), "relaxation converges to it") == "fails"


def test_drawn_truth_tables_are_counted():
    held = run_small(truth_tables.EXPERIMENT, lambda cell: cell.name in ("example", "tables/00"))
    of_cell = held["tables/00"].outcome
    assert set(of_cell) == set(truth_tables.KEYS)
    assert of_cell["tables"] == of_cell["falls"] == truth_tables.PER_CELL
    assert len(of_cell["kappa"]) == of_cell["unique"] > 0
    in_all = next(f.ours for f in truth_tables.EXPERIMENT.findings("small", held))
    assert in_all == f"{of_cell['unique'] + 1} of {of_cell['full'] + 1}"


def test_vote_mass_holds_and_a_broken_bound_does_not():
    mass = vote_mass.EXPERIMENT
    held = run_small(mass, lambda cell: cell.name.startswith("wine"))
    judged = [f for f in mass.findings("small", held) if f.verdict != "not run"]
    assert {f.verdict for f in judged} == {"holds"}
    stump = held["wine/stump"]
    assert len(stump.outcome["edge"]) == len(stump.outcome["rounds"]) > 10
    held["wine/stump"] = replace(stump, outcome=stump.outcome | {"best_mass": [0.4]})
    assert verdict_of(mass.findings("small", held), "wine, stump: the best votes") == "fails"


def guess_outcome(splice=1.0, score=1.0, subsets=(2400, 2450, 2500, 2550, 2600)):
    def outcome(cell):
        kind, which = cell.name.split("/")
        if kind == "flipped":
            rates = _geist.TABLE_3["splice"][which]
            counts = [round(splice * rate * 21.75) for rate in rates]
            return {"errors": dict(zip(("10", "100", "1000"), counts, strict=True)),
                    "test_rows": 2175}  # fmt: skip
        if kind == "signs":
            paper = _geist.TABLE_2[which][_geist.MH][0]
            return {"score": score * paper, "sign": paper}
        return {"errors": subsets[cell.seed]}

    return outcome


@pytest.mark.parametrize(
    ("changes", "bad"),
    [
        ({}, 0),
        ({"splice": 0.6}, 0),  # fewer errors: no agreement, but not worse
        ({"splice": 1.5}, 9),
        ({"score": 1.5}, 3),
        ({"subsets": (2800, 2810, 2805, 2820, 2790)}, 1),
    ],
)
def test_guesses_are_judged(changes, bad):
    guesses = differences.EXPERIMENT
    found = guesses.findings("paper", records(guesses, guess_outcome(**changes)))
    assert len(found) == 9 + 6 + 1
    assert sum(f.verdict in ("more errors", "fails") for f in found) == bad
    if not changes:
        assert {f.verdict for f in found} == {"agrees", "holds"}


def test_noisy_labels_are_a_permutation_of_a_fifth():
    y = np.arange(1000) % 7
    noisy = _geist.exchanged(y, 0)
    assert (np.bincount(noisy) == np.bincount(y)).all()
    assert 0.13 < np.mean(noisy != y) <= 0.2
    assert (_geist.exchanged(y, 1) != noisy).any()


def test_shuffled_data_keep_their_sizes_and_rows():
    split = Library("small").split("wine")
    mixed = softmax_curves.shuffled(split, 3)
    assert len(mixed.y_train) == len(split.y_train)
    together = [np.sort(np.concatenate([s.y_train, s.y_test])) for s in (split, mixed)]
    assert (together[0] == together[1]).all()
    assert (softmax_curves.shuffled(split, 3).y_train == mixed.y_train).all()
