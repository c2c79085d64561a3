"""Fits on blocks give the model of a local fit, bit for bit; here by the reference backend."""

import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from support import assert_same_model, nominal_table, table, uneven_weights
from support_blocks import PARTITIONINGS, assert_same_fit, fit_blocks, parts_of

import edgewise
from edgewise import InvalidDataError, InvalidParameterError, _core
from edgewise.distributed._backend import LocalBackend
from edgewise.distributed._block import ask
from edgewise.distributed._checks import need_supported
from edgewise.distributed._exact import exact_sum, rounded
from edgewise.distributed._facts import first_look

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


def test_sparse_layout(estimator, digits):
    assert_same_fit(fit_blocks(estimator, *digits), clone(estimator).fit(*digits))


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


class Forgetful(LocalBackend):
    """Blocks lose their state now and then, as if they had been computed again elsewhere."""

    def __init__(self, seed):
        super().__init__(2)
        self._rng = np.random.default_rng(seed)
        self.n_lost = 0

    def sum(self, function, parts, *args, add):
        if function is ask:
            for i in range(len(parts)):
                if self._rng.random() < 0.05:
                    parts[i] = pickle.loads(pickle.dumps(parts[i]))
                    self.n_lost += 1
        return super().sum(function, parts, *args, add=add)


def test_lost_state_is_replayed(estimator, gaps):
    backend = Forgetful(0)
    remote = fit_blocks(estimator, *gaps, backend=backend)
    assert backend.n_lost > 3
    assert_same_fit(remote, clone(estimator).fit(*gaps))


def test_checkpoint_and_resume(estimator, gaps, tmp_path):
    file = tmp_path / "rounds.npz"
    half = clone(estimator).set_params(n_estimators=5)
    fit_blocks(half, *gaps, checkpoint=file, checkpoint_every=2)
    resumed = fit_blocks(estimator, *gaps, partitioning="two", resume_from=file)
    assert_same_fit(resumed, clone(estimator).fit(*gaps))


def test_resuming_another_estimator_is_refused(gaps, tmp_path):
    file = tmp_path / "rounds.npz"
    fit_blocks(ESTIMATORS["mart"], *gaps, checkpoint=file)
    with pytest.raises(InvalidDataError, match="same estimator"):
        fit_blocks(ESTIMATORS["logitboost"], *gaps, resume_from=file)
    file.write_bytes(b"something else")
    with pytest.raises(InvalidDataError, match="must name a checkpoint"):
        fit_blocks(ESTIMATORS["mart"], *gaps, resume_from=file)


def test_resuming_on_other_data_is_refused(gaps, tmp_path):
    file = tmp_path / "rounds.npz"
    X, y = gaps
    fit_blocks(ESTIMATORS["mart"], X, y, checkpoint=file)
    with pytest.raises(ValueError, match="other data"):
        fit_blocks(ESTIMATORS["mart"], X * np.pi, y, resume_from=file)


def test_bad_input_is_refused_with_words(gaps):
    X, y = gaps
    boost = ESTIMATORS["mart"]
    with pytest.raises(InvalidDataError, match="not negative"):
        fit_blocks(boost, X, y, np.full(len(y), -1.0))
    with pytest.raises(InvalidDataError, match="at least one positive weight"):
        fit_blocks(boost, X, y, np.zeros(len(y)))
    with pytest.raises(InvalidDataError, match="two classes"):
        fit_blocks(boost, X, np.zeros(len(y)))
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
    summary = first_look(parts_of(X, y, None, "one")[0], True).summary
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
    with pytest.raises(InvalidParameterError, match="X_val"):
        need_supported(edgewise.MARTClassifier(early_stopping=True))


@pytest.mark.parametrize(
    ("estimator", "given"),
    [
        (edgewise.AdaBoostMHClassifier, {"base": "one_vs_all"}),
        (edgewise.AdaBoostMHClassifier, {"splitter": "random"}),
        (edgewise.AdaBoostMHClassifier, {"max_features": 2}),
        (edgewise.AOSOLogitBoostClassifier, {"subsample": 0.5}),
        (edgewise.AOSOLogitBoostClassifier, {"splitter": "random"}),
        (edgewise.LogitBoostClassifier, {"l2_regularization": 1.0}),
        (edgewise.MARTClassifier, {"min_gain": 0.1}),
        (edgewise.MARTClassifier, {"monotonic_cst": {0: 1}}),
    ],
    ids=str,
)
def test_parameters_that_blocks_do_not_know_are_refused(estimator, given):
    (name, value) = next(iter(given.items()))
    with pytest.raises(InvalidParameterError, match=f"{name!r}.*must be .* on Dask") as caught:
        need_supported(estimator(**given))
    assert f"Got {value!r}." in str(caught.value)
    need_supported(estimator())
