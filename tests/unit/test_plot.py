"""Displays draw the figures of the metrics, and keep what they have drawn."""

import sys

import numpy as np
import pytest
from sklearn.metrics import zero_one_loss
from support import VARIANTS, table

import edgewise
from edgewise import InvalidDataError, InvalidParameterError, metrics
from edgewise.plot import (
    ConfusionDisplay,
    HistoryDisplay,
    MarginDisplay,
    ReliabilityDisplay,
    RoundsDisplay,
    TreeDisplay,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fitted():
    X, y = table(0, n=200)
    y = np.array(["low", "middle", "high"])[y]
    model = edgewise.LogitBoostClassifier(n_estimators=12, learning_rate=0.3)
    return model.fit(X[:120], y[:120]), X, y


def test_rounds(fitted):
    model, X, y = fitted
    display = RoundsDisplay.from_estimator(
        model, X[120:], y[120:], X_train=X[:120], y_train=y[:120], measure="error"
    )
    rounds, errors = display.lines_["held-out rows"].get_data()
    np.testing.assert_array_equal(rounds, np.arange(1, 13))
    expected = [zero_one_loss(y[120:], said) for said in model.staged_predict(X[120:])]
    np.testing.assert_allclose(errors, expected)
    assert display.best_round == np.argmin(expected) + 1
    np.testing.assert_allclose(display.best_.get_ydata(), min(expected))
    assert len(display.lines_["training rows"].get_xdata()) == 12
    again = RoundsDisplay.from_predictions(y[120:], model.staged_predict(X[120:]))
    np.testing.assert_array_equal(again.lines_["held-out rows"].get_ydata(), errors)


def test_with_early_stopping_the_round_of_the_fit_is_marked():
    X, y = table(1, n=300)
    model = edgewise.MARTClassifier(n_estimators=60, learning_rate=1.0, n_iter_no_change=5)
    model.fit(X[:150], y[:150], X_val=X[150:220], y_val=y[150:220])
    display = RoundsDisplay.from_estimator(model, X[220:], y[220:], measure="log_loss")
    assert display.best_round == model.n_iter_ < len(model.history_["loss"])


def test_margins(fitted):
    model, X, y = fitted
    display = MarginDisplay.from_estimator(model, X, y, rounds=[1, 12])
    assert len(display.lines_) == 2
    margins, shares = display.lines_[-1].get_data()
    assert np.interp(0.0, margins, shares) == pytest.approx(1 - model.score(X, y), abs=0.01)
    assert shares[-1] == 1.0
    final = MarginDisplay.from_predictions(
        y, model.decision_function(X), classes=model.classes_
    ).lines_[0]
    np.testing.assert_array_equal(final.get_xdata(), margins)


def test_reliability(fitted):
    model, X, y = fitted
    display = ReliabilityDisplay.from_estimator(model, X, y, n_bins=6)
    curve = metrics.reliability_curve(y, model.predict_proba(X), n_bins=6)
    np.testing.assert_array_equal(display.lines_["predicted class"].get_xdata(), curve.forecast)
    assert len(display.bars_) == len(curve.count)
    title = display.ax_.get_title(loc="left")
    assert title == f"predicted class: calibration error {curve.error:.4f}"
    each = ReliabilityDisplay.from_estimator(model, X, y, kind="classwise")
    assert list(each.lines_) == ["high", "low", "middle"]
    low = metrics.reliability_curve(y, model.predict_proba(X), label="low")
    told = [text.get_text() for text in each.ax_.get_legend().get_texts()]
    assert told[1] == f"low: {low.error:.4f}"
    one = ReliabilityDisplay.from_predictions(
        y, model.predict_proba(X), kind="classwise", labels=["low"]
    )
    assert list(one.lines_) == ["low"]


def test_confusions(fitted):
    model, X, y = fitted
    said = model.predict(X)
    counts, classes = metrics.confusion_matrix(y, said)
    display = ConfusionDisplay.from_estimator(model, X, y, n_worst=2)
    np.testing.assert_array_equal(display.image_.get_array(), counts)
    assert display.text_[0, 0].get_text() == f"{counts[0, 0]:g}"
    worst = metrics.worst_confusions(y, said, n=2)
    assert len(display.frames_) == 2
    assert f"{worst[0].true} taken for {worst[0].predicted}" in display.ax_.get_title(loc="left")
    x, low = (int(np.flatnonzero(classes == c)[0]) for c in (worst[0].predicted, worst[0].true))
    assert display.frames_[0].get_xy() == (x - 0.5, low - 0.5)


def test_confusions_as_rates_and_costs(fitted):
    model, X, y = fitted
    rates = ConfusionDisplay.from_estimator(model, X, y, values="rate").matrix
    np.testing.assert_allclose(rates.sum(axis=1), 1.0)
    cost = np.array([[0, 1, 1], [50, 0, 1], [1, 1, 0]])
    dear = ConfusionDisplay.from_estimator(model, X, y, values="cost", cost=cost, n_worst=1)
    counts, _ = metrics.confusion_matrix(y, model.predict(X))
    np.testing.assert_array_equal(dear.matrix, counts * cost)
    assert "cost" in dear.ax_.get_title(loc="left")


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
def test_history(make):
    model = make().fit(*table(0))
    display = HistoryDisplay.from_estimator(model)
    assert set(display.artists_) == set(model.history_) - {"seconds"}
    np.testing.assert_array_equal(display.artists_["loss"].get_ydata(), model.history_["loss"])
    one = HistoryDisplay.from_estimator(model, names=["loss"])
    assert len(one.axes_) == 1


def test_displays_take_axes_and_draw_again(fitted):
    model, X, y = fitted
    figure, axes = plt.subplots(2, 2)
    displays = [
        RoundsDisplay.from_estimator(model, X, y, ax=axes[0, 0]),
        MarginDisplay.from_estimator(model, X, y, ax=axes[0, 1]),
        ReliabilityDisplay.from_estimator(model, X, y, ax=axes[1, 0]),
        ConfusionDisplay.from_estimator(model, X, y, ax=axes[1, 1]),
    ]
    for display, ax in zip(displays, axes.ravel(), strict=True):
        assert display.ax_ is ax
        assert display.figure_ is figure
        assert display.plot() is display
        assert display.ax_ is not ax
    figure.canvas.draw()


def test_several_labels():
    X, y = table(2)
    Y = np.eye(3, dtype=int)[y]
    Y[:, 0] |= X[:, 1] > 0
    model = edgewise.AdaBoostMHClassifier(n_estimators=5).fit(X, Y)
    assert len(ReliabilityDisplay.from_estimator(model, X, Y, kind="classwise").lines_) == 3
    errors = RoundsDisplay.from_estimator(model, X, Y).curves["held-out rows"]
    assert errors[-1] == pytest.approx(np.mean(model.predict(X) != Y))
    MarginDisplay.from_estimator(model, X, Y)
    with pytest.raises(InvalidDataError, match="indicator"):
        ConfusionDisplay.from_estimator(model, X, Y)


def test_bad_input_is_refused(fitted):
    model, X, y = fitted
    with pytest.raises(InvalidParameterError, match="measure"):
        RoundsDisplay.from_estimator(model, X, y, measure="accuracy")
    with pytest.raises(InvalidParameterError, match="staged"):
        RoundsDisplay.from_estimator(edgewise.MartiBoostClassifier(), X, y)
    with pytest.raises(InvalidDataError, match="no predictions"):
        RoundsDisplay.from_predictions(y, [])
    with pytest.raises(InvalidParameterError, match="kind"):
        ReliabilityDisplay.from_estimator(model, X, y, kind="all")
    with pytest.raises(InvalidParameterError, match="values"):
        ConfusionDisplay.from_estimator(model, X, y, values="share")
    with pytest.raises(InvalidDataError, match="axes"):
        HistoryDisplay.from_estimator(model, names=["loss"], ax=plt.subplots(2)[1])
    with pytest.raises(InvalidParameterError, match="history_ holds"):
        HistoryDisplay.from_estimator(model, names=["edge"])


def test_without_matplotlib_the_extra_is_named(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="extra 'plot'"):
        MarginDisplay.from_estimator(*fitted)


# --- trees --------------------------------------------------------------------------------------


def drawn_within(display):
    """Whether all words are inside the figure."""
    display.figure_.canvas.draw()
    frame = display.figure_.bbox
    boxes = [text.get_window_extent() for text in display.texts_.values()]
    return all(frame.x0 <= b.x0 and b.x1 <= frame.x1 and b.y1 <= frame.y1 for b in boxes)


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
def test_tree(make):
    X, y = table(0, n=200)
    model = make(max_leaf_nodes=8).fit(X, np.array(["low", "middle", "high"])[y])
    m = model.model_
    last = m.n_trees - 1
    display = TreeDisplay.from_estimator(model, tree=last)
    n_nodes = int(m.node_start[-1] - m.node_start[-2])
    assert sorted(display.texts_) == list(range(n_nodes))
    assert sorted(display.ways_) == list(range(1, n_nodes))
    root = display.texts_[0].get_text()
    first = m.node_start[-2]
    assert root == f"x{m.feature[first]} <= {m.threshold[first]:.6g}?"
    assert display.ax_.get_title(loc="left").startswith(f"tree {last} (round {m.n_rounds - 1})")
    widths = {i: way.get_linewidth() for i, way in display.ways_.items()}
    heavier = max(widths, key=widths.get)
    assert m.cover[first + heavier] == m.cover[first + 1 : first + n_nodes].max()
    assert drawn_within(display)


def test_tree_says_yes_above_no_and_colours_leaves(fitted):
    model, _, _ = fitted
    display = TreeDisplay.from_estimator(model, tree=1)
    for node in display.nodes:
        if not node.is_leaf:
            ys = [display.ways_[child].get_ydata()[-1] for child in (node.left, node.right)]
            assert ys[0] > ys[1]
        else:
            raises = node.values.max() > 0
            assert (display.texts_[node.number].get_color() != "#222222") == raises


def test_tree_to_a_depth_on_given_axes(fitted):
    model, _, _ = fitted
    ax = plt.subplots()[1]
    display = TreeDisplay.from_estimator(model, max_depth=1, ax=ax)
    assert display.ax_ is ax
    assert len(display.texts_) == 3
    assert "..." in {text.get_text() for text in display.texts_.values()}


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_a_tree_of_one_leaf():
    X, y = np.ones((30, 1)), np.arange(30) % 3 == 0
    model = edgewise.LogitBoostClassifier(n_estimators=1, init="zero").fit(X, y)
    display = TreeDisplay.from_estimator(model)
    assert list(display.texts_) == [0]
    assert display.ways_ == {}


def test_trees_that_are_not_there(fitted):
    model, X, y = fitted
    with pytest.raises(InvalidParameterError, match="tree must be from 0 to 35. Got 36"):
        TreeDisplay.from_estimator(model, tree=36)
    marti = edgewise.MartiBoostClassifier(n_layers=2).fit(X, y == "low")
    with pytest.raises(InvalidParameterError, match="whose scores are sums of trees"):
        TreeDisplay.from_estimator(marti)
