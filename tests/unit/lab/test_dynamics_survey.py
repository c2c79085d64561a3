"""The survey of random matrices."""

import numpy as np
import pytest

from edgewise.lab import dynamics


@pytest.fixture(scope="module")
def survey():
    return dynamics.survey(30, 8, 9, n_starts=2, random_state=5, max_steps=20_000, n_jobs=1)


@pytest.mark.parametrize("n_jobs", [2, 3, -1, None])
def test_threads_do_not_matter(survey, n_jobs):
    again = dynamics.survey(30, 8, 9, n_starts=2, random_state=5, max_steps=20_000, n_jobs=n_jobs)
    np.testing.assert_equal(again.runs, survey.runs)  # NaN equals NaN


def test_the_runs_can_be_made_again(survey):
    assert [(run.matrix, run.start) for run in survey.runs] == [
        (k, s) for k in range(30) for s in range(2)
    ]
    for run in survey.runs[:20]:
        M, d0 = survey.matrix(run.matrix), survey.start(run.matrix, run.start)
        end = dynamics.find_cycle(M, d0, max_steps=20_000)
        assert run.max_margin == pytest.approx(dynamics.max_margin(M).value)
        assert bool(end) == (run.outcome == "cycle")
        if end:
            assert (end.length, len(end.support)) == (run.length, run.support)
            assert end.margin == run.margin
        else:
            assert end.outcome == run.outcome


def test_the_summary_adds_up(survey):
    assert sum(survey.outcomes.values()) == 60
    cycles = survey.outcomes["cycle"]
    assert sum(survey.lengths.values()) == len(survey.shortfalls) == cycles > 20
    assert min(survey.lengths) >= 3
    assert survey.shortfalls.min() > -1e-9  # no margin above the maximum
    text = str(survey)
    assert "60 runs on random 8x9 matrices" in text
    assert f"{cycles / 60:.1%}" in text.replace("  ", " ")


def test_seeds_matter():
    few = [dynamics.survey(5, 6, 6, random_state=seed, max_steps=3000).runs for seed in (0, 1)]
    assert few[0] != few[1]


def test_a_survey_without_cycles():
    survey = dynamics.survey(4, 2, 2, random_state=0, max_steps=100)
    assert survey.lengths == {}
    assert "lengths" not in str(survey)


def test_progress_goes_to_stderr(capsys):
    dynamics.survey(5, 6, 6, random_state=0, max_steps=3000, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "survey" in shown.err
    assert "5/5" in shown.err
    dynamics.survey(5, 6, 6, random_state=0, max_steps=3000)
    assert capsys.readouterr().err == ""
