"""Fits on blocks give the model of a local fit, bit for bit; here by the reference backend."""

import math
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from support import assert_same_model, nominal_table, table, uneven_weights
from support_blocks import PARTITIONINGS, assert_same_fit, fit_blocks, fit_locally, parts_of

import edgewise
from edgewise import InvalidDataError, InvalidParameterError, _core
from edgewise.distributed._backend import LocalBackend
from edgewise.distributed._block import ask
from edgewise.distributed._checks import need_supported
from edgewise.distributed._exact import exact_sum, rounded
from edgewise.distributed._facts import Recipe, bin_part, part_facts

FEW = {"n_estimators": 8, "learning_rate": 0.3}
ESTIMATORS = {
    "mart": edgewise.MARTClassifier(**FEW),
    "mart_small_leaves": edgewise.MARTClassifier(min_samples_leaf=1, **FEW),
    "abc_mart": edgewise.ABCMARTClassifier(search="exhaustive", gap=1, **FEW),
    "logitboost": edgewise.LogitBoostClassifier(**FEW),
    "logitboost_depth": edgewise.LogitBoostClassifier(max_depth=3, max_leaf_nodes=None, **FEW),
    "logitboost_stumps": edgewise.LogitBoostClassifier(max_leaf_nodes=2, **FEW),
    "abc_logitboost": edgewise.ABCLogitBoostClassifier(gap=2, warmup=1, **FEW),
    "aoso_pair": edgewise.AOSOLogitBoostClassifier(**FEW),
    "aoso_vector": edgewise.AOSOLogitBoostClassifier(leaf="vector", **FEW),
    "aoso_small_leaves": edgewise.AOSOLogitBoostClassifier(
        min_samples_leaf=1, max_leaf_nodes=40, **FEW
    ),
    "mh_tree": edgewise.AdaBoostMHClassifier(n_estimators=8),
    "mh_stump": edgewise.AdaBoostMHClassifier(
        base="stump", votes="ternary", initial_weights="uniform", n_estimators=8
    ),
}


@pytest.fixture(params=ESTIMATORS.values(), ids=ESTIMATORS.keys())
def estimator(request):
    return request.param


@pytest.fixture(scope="module")
def gaps():
    """Continuous values and whole numbers, a tenth missing; four classes."""
    X, y = table(3, n=900, K=4, d=5, missing=0.1)
    X[:, 2] = np.round(X[:, 2] * 2)
    return X, y


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_partitioning_does_not_matter(estimator, gaps, partitioning):
    local = clone(estimator).fit(*gaps)
    assert_same_fit(fit_blocks(estimator, *gaps, partitioning=partitioning), local)


@pytest.mark.parametrize("K", [2, 13])
def test_any_number_of_classes(estimator, K):
    X, y = table(5, n=600, K=K, d=4)
    assert_same_fit(fit_blocks(estimator, X, y), clone(estimator).fit(X, y))


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # in one block
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("leaf", ["pair", "vector"])
def test_lists_of_classes(leaf, weighted, rng):
    """Rows have lists of the classes that matter where classes are many."""
    X, y = table(6, n=3000, K=300, d=4)
    y[: y.max() + 1] = np.arange(y.max() + 1)
    weights = rng.exponential(size=len(y)) + 0.01 if weighted else None
    estimator = edgewise.AOSOLogitBoostClassifier(leaf=leaf, **FEW)
    assert estimator._layout(len(np.unique(y))) == "lists"
    local = clone(estimator).fit(X, y, sample_weight=weights)
    assert_same_fit(fit_blocks(estimator, X, y, weights), local)


def test_weights_and_class_weights(estimator, gaps, rng):
    X, y = gaps
    weights = rng.exponential(size=len(y))
    weights[:40] = 0.0
    weights[40:50] = 1e-9  # too light to count
    weighted = clone(estimator).set_params(class_weight="balanced")
    local = clone(weighted).fit(X, y, sample_weight=weights)
    assert_same_fit(fit_blocks(weighted, X, y, weights), local)


def test_categories(estimator):
    X, y = nominal_table(1, n=700, levels=9, missing=0.05)
    named = clone(estimator).set_params(categorical_features=[0, 1])
    assert_same_fit(fit_blocks(named, X, y), clone(named).fit(X, y))


@pytest.mark.parametrize("unit", [1e-3, 1.0, 40.0])
def test_categories_of_rows_with_weights(unit, rng):
    """What a row weighs decides which categories stand apart, so all must agree on it."""
    X, y = nominal_table(2, n=700, levels=9, missing=0.05)
    weights = unit * rng.exponential(size=len(y))
    weights[:40] = 0.0
    for make in (edgewise.LogitBoostClassifier, edgewise.AOSOLogitBoostClassifier):
        boost = make(n_estimators=4, categorical_features=[0, 1], class_weight="balanced")
        local = clone(boost).fit(X, y, sample_weight=weights)
        assert len(local.model_.set_start) > 1
        assert_same_fit(fit_blocks(boost, X, y, weights), local)


def test_sparse_layout(estimator, digits):
    assert_same_fit(fit_blocks(estimator, *digits), clone(estimator).fit(*digits))


@pytest.fixture(scope="module")
def thin():
    """Sparse rows, wide enough for columns that list rows; one column of categories."""
    rng = np.random.default_rng(8)
    X = sparse.random_array((700, 300), density=0.02, rng=rng, format="csr")
    X.data = np.round(X.data * 4 - 1, 1)
    y = (np.asarray(X[:, :40].sum(axis=1)).ravel() + 0.1 * rng.normal(size=700) > 0.2) * 1
    return X, y + (np.asarray(X[:, 40:].sum(axis=1)).ravel() > 2)


@pytest.mark.parametrize("partitioning", ["one", "two", "three", "empty"])
@pytest.mark.parametrize("drawn", [False, True], ids=["all", "drawn"])
@pytest.mark.parametrize("name", ["mart", "logitboost", "aoso_pair", "mh_tree"])
def test_sparse_rows(name, drawn, partitioning, thin):
    boost = clone(ESTIMATORS[name]).set_params(random_state=1)
    if drawn:
        boost.set_params(splitter="random", max_features=200, early_stopping=True)
        boost.set_params(**{} if name == "mh_tree" else {"subsample": 0.6})
    local = fit_locally(boost, *thin)
    assert_same_fit(fit_blocks(boost, *thin, partitioning=partitioning), local)


@pytest.mark.parametrize("name", ["logitboost", "aoso_pair"])
def test_sparse_rows_with_weights_and_lost_state(name, thin, rng):
    X, y = thin
    boost = clone(ESTIMATORS[name]).set_params(categorical_features=[3])
    weights = rng.exponential(size=len(y))
    weights[:20] = 0.0
    backend = Forgetful(3, rate=0.2)  # few trips: the trees are small
    remote = fit_blocks(boost, X, y, weights, backend=backend, partitioning="nine")
    assert backend.n_lost > 3
    assert_same_fit(remote, clone(boost).fit(X, y, sample_weight=weights))


def test_sparse_blocks_travel_as_lists(thin):
    X, y = thin
    recipe = Recipe(np.unique(y), np.unique(y), None, 0, 1.0, keyed=False)
    raw = parts_of(X, y, None, "one")[0]
    cuts = _core.Cuts(part_facts(raw, True, 1).summary, 255, [3])
    block = bin_part(raw, recipe, cuts, 1)
    assert block.data.has_lists
    sent = pickle.dumps(block)
    assert len(sent) < X.shape[0] * X.shape[1] / 2  # a byte each, if all bins were sent
    again = pickle.loads(sent)
    assert again.data.has_lists
    np.testing.assert_array_equal(_core.columns_of(again.data), _core.columns_of(block.data))
    start, rows, codes = _core.lists_of(block.data)
    for wrong in [
        (start[:-1], rows, codes),
        (start, rows + 700, codes),
        (start, rows, codes + 250),
    ]:
        with pytest.raises(ValueError, match="must"):
            _core.binned_from_lists(*wrong, 700, cuts, 1)


GROWING = {
    "l2": {"l2_regularization": 2.0},
    "min_gain": {"min_gain": 20.0},
    "max_delta": {"max_delta": 0.3},
    "subsample": {"subsample": 0.5},
    "one_row": {"subsample": 1e-9, "min_samples_leaf": 1},
    "max_features": {"max_features": 2},
    "random": {"splitter": "random"},
    "all_drawn": {"subsample": 0.7, "max_features": 0.6, "splitter": "random"},
    "pairwise": {"interaction_cst": "pairwise"},
    "sets": {"interaction_cst": [[0, 1], [1, 2, 3]]},
    "monotonic": {"monotonic_cst": {0: {1: 1, 2: -1}, 3: {(0, 3): 1}}},
    "all": {
        "subsample": 0.8,
        "max_features": 3,
        "splitter": "random",
        "l2_regularization": 0.5,
        "interaction_cst": "pairwise",
        "monotonic_cst": {0: {1: 1}},
    },
}
THREE_WAYS = ["one", "two", "three"]


@pytest.mark.parametrize("partitioning", THREE_WAYS)
@pytest.mark.parametrize("given", GROWING.values(), ids=GROWING.keys())
@pytest.mark.parametrize("name", ["mart", "abc_logitboost", "aoso_pair", "aoso_vector"])
@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")  # of one row
def test_every_parameter_of_growing(name, given, gaps, rng, partitioning):
    boost = clone(ESTIMATORS[name]).set_params(random_state=5, **given)
    weights = 3.0 * rng.exponential(size=len(gaps[1]))
    local = clone(boost).fit(*gaps, sample_weight=weights)
    assert_same_fit(fit_blocks(boost, *gaps, weights, partitioning=partitioning), local)
    plain = clone(ESTIMATORS[name]).fit(*gaps, sample_weight=weights)
    assert any(
        a.tobytes() != plain.model_.arrays()[key].tobytes()
        for key, a in local.model_.arrays().items()
    )


MH_GROWING = {
    "min_gain": {"min_gain": 0.02},
    "max_features": {"max_features": 2},
    "random": {"splitter": "random"},
    "sets": {"interaction_cst": [[0, 1], [1, 2, 3]]},
}


@pytest.mark.parametrize("partitioning", THREE_WAYS)
@pytest.mark.parametrize("given", MH_GROWING.values(), ids=MH_GROWING.keys())
@pytest.mark.parametrize("name", ["mh_tree", "mh_stump"])
def test_every_parameter_of_growing_votes(name, given, gaps, partitioning):
    boost = clone(ESTIMATORS[name]).set_params(random_state=5, **given)
    local = clone(boost).fit(*gaps)
    assert_same_fit(fit_blocks(boost, *gaps, partitioning=partitioning), local)


@pytest.mark.parametrize("given", [GROWING["all"], GROWING["all_drawn"]], ids=["all", "drawn"])
@pytest.mark.parametrize("name", ["abc_mart", "logitboost_depth", "aoso_small_leaves"])
def test_lost_state_draws_the_same(name, given, gaps):
    boost = clone(ESTIMATORS[name]).set_params(random_state=1, **given)
    backend = Forgetful(1)
    remote = fit_blocks(boost, *gaps, backend=backend)
    assert backend.n_lost > 3
    assert_same_fit(remote, clone(boost).fit(*gaps))


@pytest.mark.parametrize("name", ["logitboost", "aoso_pair", "mh_tree"])
def test_drawn_categories(name):
    X, y = nominal_table(1, n=700, levels=9, missing=0.05)
    drawn = {"splitter": "random", "max_features": 2} | (
        {} if name == "mh_tree" else {"subsample": 0.6}
    )
    named = clone(ESTIMATORS[name]).set_params(categorical_features=[0, 1], random_state=0, **drawn)
    assert_same_fit(fit_blocks(named, X, y), clone(named).fit(X, y))


@pytest.mark.parametrize("name", ["mart", "logitboost", "abc_mart", "aoso_pair", "mh_tree"])
def test_useless_features_are_drawn_without_effect(name, gaps):
    """Then a tree grows on all of them, in the same round."""
    X, y = gaps
    X = np.column_stack([X[:, 0], np.zeros((len(y), 5))])
    boost = clone(ESTIMATORS[name]).set_params(max_features=1, random_state=0)
    local = clone(boost).fit(X, y)
    assert local.model_.n_rounds > 1
    assert_same_fit(fit_blocks(boost, X, y, partitioning="three"), local)


def test_a_resumed_fit_continues_the_draws(gaps, tmp_path):
    file = tmp_path / "rounds"
    boost = clone(ESTIMATORS["aoso_pair"]).set_params(random_state=2, **GROWING["all_drawn"])
    half = clone(boost).set_params(n_estimators=5)
    fit_blocks(half, *gaps, checkpoint=file, checkpoint_every=2)
    resumed = fit_blocks(boost, *gaps, partitioning="two", resume_from=file)
    assert_same_fit(resumed, clone(boost).fit(*gaps))


def test_blocks_sorted_by_class(estimator, gaps):
    X, y = gaps
    order = np.argsort(y, kind="stable")
    sorted_fit = fit_blocks(estimator, X[order], y[order], partitioning="nine")
    assert_same_fit(sorted_fit, clone(estimator).fit(X, y))


def test_early_stopping_with_given_rows(gaps):
    X, y = gaps
    boost = edgewise.AOSOLogitBoostClassifier(n_estimators=60, n_iter_no_change=3)
    local = clone(boost).fit(X[:600], y[:600], X_val=X[600:], y_val=y[600:])
    remote = fit_blocks(boost, X[:600], y[:600], X_val=X[600:], y_val=y[600:])
    assert local.stop_reason_ == "early stopping"
    assert_same_fit(remote, local)


@pytest.mark.parametrize("partitioning", ["one", "two", "three", "empty"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", ["mart", "aoso_pair", "mh_tree"])
def test_early_stopping_holds_the_same_rows_out(name, weighted, partitioning, gaps, rng):
    X, y = gaps
    boost = clone(ESTIMATORS[name]).set_params(
        early_stopping=True, n_iter_no_change=2, validation_fraction=0.2, random_state=3
    )
    boost.set_params(n_estimators=40, class_weight="balanced" if weighted else None)
    weights = rng.exponential(size=len(y)) if weighted else None
    if weighted:
        weights[:30] = 0.0
    local = fit_locally(boost, X, y, weights)
    remote = fit_blocks(boost, X, y, weights, partitioning=partitioning)
    assert len(local.history_["validation_score"]) > local.n_iter_
    assert_same_fit(remote, local)


@pytest.mark.parametrize("method", ["priors", "temperature", "vector"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 3: 0.5}], ids=str)
def test_calibration(method, class_weight, gaps):
    boost = clone(ESTIMATORS["aoso_pair"]).set_params(
        calibration=method, class_weight=class_weight, random_state=0
    )
    local = clone(boost).fit(*gaps)
    assert_same_fit(fit_blocks(boost, *gaps, partitioning="three"), local)


@pytest.mark.parametrize("given", [{"early_stopping": True}, {"calibration": "temperature"}])
def test_rounds_are_found_on_rows_that_stay_held_out(given, gaps):
    boost = edgewise.MARTClassifier(learning_rate=0.5, random_state=0, n_iter_no_change=5, **given)
    local, remote = fit_locally(boost, *gaps), fit_blocks(boost, *gaps, partitioning="three")
    assert boost.n_estimators == "auto"
    assert remote.stop_reason_ == "early stopping"
    assert_same_fit(remote, local)


def test_no_row_to_hold_out_is_refused():
    boost = edgewise.MARTClassifier(early_stopping=True)
    with pytest.raises(InvalidDataError, match="class with two different rows or more"):
        fit_blocks(boost, np.arange(6.0).reshape(3, 2), np.arange(3), partitioning="two")


class Forgetful(LocalBackend):
    """Blocks lose their state now and then, as if they had been computed again elsewhere."""

    def __init__(self, seed, rate=0.05):
        super().__init__(2)
        self._rate = rate
        self._rng = np.random.default_rng(seed)
        self.n_lost = 0

    def sum(self, function, parts, *args, add):
        if function is ask:
            for i in range(len(parts)):
                if self._rng.random() < self._rate:
                    parts[i] = pickle.loads(pickle.dumps(parts[i]))
                    self.n_lost += 1
        return super().sum(function, parts, *args, add=add)


def test_lost_state_is_replayed(estimator, gaps):
    backend = Forgetful(0)
    remote = fit_blocks(estimator, *gaps, backend=backend)
    assert backend.n_lost > 3
    assert_same_fit(remote, clone(estimator).fit(*gaps))


def test_checkpoint_and_resume(estimator, gaps, tmp_path):
    file = tmp_path / "rounds.edgewise"
    half = clone(estimator).set_params(n_estimators=5)
    fit_blocks(half, *gaps, checkpoint=file, checkpoint_every=2)
    resumed = fit_blocks(estimator, *gaps, partitioning="two", resume_from=file)
    assert_same_fit(resumed, clone(estimator).fit(*gaps))


def test_bad_input_is_refused_with_a_message(gaps):
    X, y = gaps
    boost = ESTIMATORS["mart"]
    with pytest.raises(InvalidDataError, match="not negative"):
        fit_blocks(boost, X, y, np.full(len(y), -1.0))
    with pytest.raises(InvalidDataError, match="at least one positive weight"):
        fit_blocks(boost, X, y, np.zeros(len(y)))
    with pytest.raises(InvalidDataError, match="two classes"):
        fit_blocks(boost, X, np.zeros(len(y)))
    heavy = clone(boost).set_params(class_weight={y[0]: 1e300})
    with pytest.raises(InvalidDataError, match="times class_weight must be finite"):
        fit_blocks(heavy, X, y, np.full(len(y), 1e300))
    with pytest.raises(InvalidDataError, match="missing labels"):
        fit_blocks(boost, X, np.where(y == 1, np.nan, y))
    with pytest.raises(InvalidDataError, match="numbers only"):
        fit_blocks(boost, X.astype(str), y)
    named = clone(boost).set_params(categorical_features=[0])
    with pytest.raises(InvalidDataError, match="at most 254 categories"):
        fit_blocks(named, X, y)
    with pytest.raises(InvalidDataError, match="0 sample"):
        fit_blocks(boost, X[:0], y[:0])


@pytest.mark.parametrize("seed", [2, 25, 89])
def test_rows_fitted_well_do_not_lose_their_category(seed):
    """Of a category all of whose rows were left out of a search, nobody would know the side."""
    X, y = nominal_table(seed, n=300, K=4)
    few = {"max_leaf_nodes": 8, "min_samples_leaf": 1, "categorical_features": [0, 1]}
    boost = edgewise.AOSOLogitBoostClassifier(n_estimators=120, learning_rate=0.3, **few)
    w = uneven_weights(seed, len(y))
    assert_same_model(fit_blocks(boost, X, y, w).model_, boost.fit(X, y, sample_weight=w).model_)


def test_blocks_travel_without_their_state(gaps):
    X, y = gaps
    summary = part_facts(parts_of(X, y, None, "one")[0], True, 1).summary
    again = pickle.loads(pickle.dumps(summary))
    cuts, cuts_again = _core.Cuts(summary, 255, []), _core.Cuts(again, 255, [])
    data, data_again = _core.bin_rows(X, cuts, 1), _core.bin_rows(X, cuts_again, 1)
    np.testing.assert_array_equal(_core.columns_of(data), _core.columns_of(data_again))


def test_cuts_of_merged_summaries_are_those_of_all_rows(gaps, rng):
    X, y = gaps
    weights = rng.exponential(size=len(y))
    parts = parts_of(X, y, weights, "nine")
    summaries = [_core.Summary(p.X, p.weights, weights.max(), 1) for p in parts]
    merged = summaries[0]
    for summary in summaries[1:]:
        merged = merged.merged(summary)
    cuts = _core.Cuts(merged, 20, [])
    whole = _core.BinnedData(X, weights, 20, 1, [])
    remote = _core.bin_rows(X, cuts, 1)
    for f in range(X.shape[1]):
        assert remote.cuts(f) == whole.cuts(f)


def test_exact_sums_are_those_of_fsum(rng):
    x = np.concatenate([rng.normal(size=500) * 10.0 ** rng.integers(-300, 300, 500), [5e-324]])
    assert rounded(exact_sum(x)) == math.fsum(x)
    assert rounded(exact_sum(x[:200]) + exact_sum(x[200:])) == math.fsum(x)


def test_those_that_cannot_say_which_can(gaps):
    with pytest.raises(InvalidParameterError, match="AOSOLogitBoostClassifier"):
        need_supported(edgewise.SAMMEClassifier())
    with pytest.raises(InvalidParameterError, match="'hamming_tree' or 'stump'.*Got 'one_vs_all'"):
        need_supported(edgewise.AdaBoostMHClassifier(base="one_vs_all"))
    with pytest.raises(InvalidParameterError, match="n_estimators='auto'.*give a number.*Got 900"):
        fit_blocks(edgewise.MARTClassifier(), *gaps)


# --- calibration ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["priors", "temperature", "vector"])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0}])
def test_calibration_undoes_class_weights(gaps, method, class_weight):
    X, y = gaps
    boost = clone(ESTIMATORS["mart"]).set_params(calibration=method, class_weight=class_weight)
    given = {} if method == "priors" else {"X_val": X[:60], "y_val": y[:60]}
    remote = fit_blocks(boost, X, y, **given)
    assert_same_fit(remote, clone(boost).fit(X, y, **given))
