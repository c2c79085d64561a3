"""Learning curves, margins and histories as figures."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss, zero_one_loss
from support import VARIANTS, table

import edgewise
from edgewise import InvalidParameterError, metrics
from edgewise._tools.rounds import (
    STORY,
    history_figures,
    rounds_used,
    staged_figures,
    staged_margins,
)


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
def test_learning_curve_ends_where_the_model_is(make):
    X, y = table(0)
    model = make().fit(X, y)
    curve = staged_figures(model, X, y)
    assert len(curve.error) == len(curve.log_loss) == model.n_iter_
    assert curve.error[-1] == pytest.approx(zero_one_loss(y, model.predict(X)))
    assert curve.log_loss[-1] == pytest.approx(log_loss(y, model.predict_proba(X)))
    assert curve.error[curve.best_round("error") - 1] == curve.error.min()


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
def test_every_figure_of_a_history_has_words(make):
    model = make().fit(*table(0))
    figures = history_figures(model)
    assert {f.name for f in figures} == set(model.history_) - {"seconds"}
    assert all(f.name in STORY for f in figures)
    assert all(len(f.values) == len(model.history_["loss"]) for f in figures)
    named = [f.name for f in figures if f.classes is not None]
    assert named == (["base_class"] if "base_class" in model.history_ else [])


def test_margins_at_zero_are_the_errors():
    X, y = table(3, K=4)
    model = edgewise.LogitBoostClassifier(n_estimators=20).fit(X, y)
    told = staged_margins(model, X, y, rounds=[1, 20])
    assert [t.round for t in told] == [1, 20]
    for stage, said in zip(told, (next(model.staged_predict(X)), model.predict(X)), strict=True):
        assert np.mean(stage.values <= 0) == np.mean(said != y)
        assert (np.diff(stage.values) >= 0).all()
    assert [t.round for t in staged_margins(model, X, y)] == [1, 3, 8, 20]


def test_estimators_without_rounds():
    X, y = table(1, K=2)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    (told,) = staged_margins(forest, X, y)
    assert told.round is None
    np.testing.assert_array_equal(told.values, np.sort(metrics.margins(y, forest.predict_proba(X))))
    assert rounds_used(forest) is None
    assert history_figures(forest) == []
    walk = edgewise.MartiBoostClassifier(n_layers=4, random_state=0).fit(X, y)
    assert [f.name for f in history_figures(walk)] == ["frozen"]
    assert staged_margins(walk, X, y)[0].round is None


def test_several_labels():
    X, y = table(2)
    Y = np.eye(3, dtype=int)[y]
    Y[:, 0] |= X[:, 1] > 0
    model = edgewise.AdaBoostMHClassifier(n_estimators=5).fit(X, Y)
    curve = staged_figures(model, X, Y)
    assert curve.error[-1] == pytest.approx(np.mean(model.predict(X) != Y))
    assert staged_margins(model, X, Y)[-1].values.shape == (Y.size,)


def test_wrong_names_and_rounds_are_refused():
    X, y = table(0)
    model = edgewise.MARTClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(InvalidParameterError, match="'edges'"):
        history_figures(model, ["edges"])
    for wrong in (0, 4, "1"):
        with pytest.raises(InvalidParameterError, match="rounds"):
            staged_margins(model, X, y, rounds=[wrong])


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_a_model_without_a_single_round():
    X, y = table(0, noise=1.0)
    worse = (X, (y + 1) % 3)  # every round makes the validation rows worse
    model = edgewise.MARTClassifier(n_estimators=3, n_iter_no_change=2)
    model.fit(X, y, X_val=worse[0], y_val=worse[1])
    assert model.n_iter_ == 0
    assert staged_figures(model, X, y).best_round("error") == 0
    assert [m.round for m in staged_margins(model, X, y)] == [None]
