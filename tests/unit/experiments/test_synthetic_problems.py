"""The generator of Geist's section 5.3, against the bounds it states."""

import numpy as np
import pytest

from edgewise.experiments.softmax_synthetic import (
    HIGHEST,
    LOWEST,
    Problem,
    draw_data,
    draw_problem,
)


def problems(n):
    return [draw_problem(np.random.default_rng([k, 0])) for k in range(n)]


def test_problems_fill_their_bounds_and_can_be_made():
    drawn = problems(600)
    for k, name in enumerate(Problem._fields):
        values = [problem[k] for problem in drawn]
        low, high = LOWEST[k], HIGHEST[k]
        assert low <= min(values) <= max(values) <= high
        if isinstance(low, int) and name not in {"rows", "informative"}:
            assert set(values) == set(range(low, high + 1))
    assert min(problem.rows for problem in drawn) < 230
    assert max(problem.rows for problem in drawn) > 2970
    assert all(p.n_classes * p.clusters <= 2**p.informative for p in drawn)


def test_a_problem_is_a_function_of_its_seed():
    assert problems(3) == problems(3)
    assert len(set(problems(20))) == 20


PROBLEM = Problem(4, 2, 1, 3, 3, 2, 0.25, 3000)


def test_training_labels_are_flipped_and_test_labels_are_clean():
    noisy, clean = (draw_data(PROBLEM._replace(flipped=f), 500, seed=1) for f in (0.25, 0.0))
    assert noisy.X_train.shape == (3000, 10)
    assert (noisy.X_train == clean.X_train).all()
    assert (noisy.y_test == clean.y_test).all()
    # A quarter is drawn anew, of which a third keeps its label by chance.
    assert np.mean(noisy.y_train != clean.y_train) == pytest.approx(0.25 * 2 / 3, abs=0.03)


def test_columns_are_informative_redundant_repeated_and_useless():
    """The ten columns have rank 7: four informative, three useless, the rest follows from those."""
    X = draw_data(PROBLEM, 100, seed=2).X_train.astype(np.float64)
    centred = X - X.mean(axis=0)
    scaled = centred / centred.std(axis=0)
    assert np.linalg.matrix_rank(scaled, tol=0.05) == 7
    spread = X.std(axis=0)
    assert spread.max() / spread.min() > 3  # scaled by factors from 1 to 100
