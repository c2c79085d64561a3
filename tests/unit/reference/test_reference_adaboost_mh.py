"""AdaBoost.MH of the reference: the identities of Kégl's paper, its base learners, its ends."""

from itertools import product as every
from math import log, sqrt

import numpy as np
import pytest
from support import table, uneven_weights

from edgewise.reference import _gini_tree, _hamming_tree, adaboost_mh
from edgewise.reference._mh_bases import BaseOptions, fit_base
from edgewise.reference._mh_votes import (
    abstention,
    coefficients,
    first_weights,
    label_matrix,
    weights,
)
from edgewise.reference._tree import Table

BASES = ["stump", "hamming_tree", "product", "one_vs_all"]
every_base = pytest.mark.parametrize("base", BASES)


def several_labels(seed, n=50, K=3):
    """X (n, 4) and labels (n, K) of -1 and +1, some rows with all or none."""
    X, y = table(seed, n=n, K=K, missing=0.1)
    Y = label_matrix(y)
    Y[np.nan_to_num(X[:, 1]) > 0.5, 0] = 1.0
    Y[:2], Y[2:4] = 1.0, -1.0
    return X, Y


def classes(seed, n=50, K=3):
    X, y = table(seed, n=n, K=K, missing=0.1)
    return X, label_matrix(y)


def run(X, Y, n_estimators=6, **options):
    return adaboost_mh(X, Y, **{"n_estimators": n_estimators, "max_leaf_nodes": 5} | options)


class TestIdentities:
    """What holds in every round, whatever the base learner."""

    @every_base
    @pytest.mark.parametrize("data", [classes, several_labels])
    def test_energy_is_that_of_the_edge(self, base, data):
        told = run(*data(7), base=base, smoothing=0.0).history
        np.testing.assert_allclose(told["z"], np.sqrt(1 - told["edge"] ** 2))  # below eq. 11
        np.testing.assert_allclose(told["alpha"], np.arctanh(told["edge"]))  # eq. 11

    @every_base
    @pytest.mark.parametrize("votes", ["binary", "ternary", "real"])
    @pytest.mark.parametrize("initial_weights", ["balanced", "uniform"])
    def test_risk_is_the_product_of_the_energies(self, base, votes, initial_weights):
        X, Y = several_labels(6)
        w = uneven_weights(6, len(Y))
        fit = run(X, Y, base=base, votes=votes, initial_weights=initial_weights, sample_weight=w)
        W = first_weights(Y, w, initial_weights)
        risk = (W * np.exp(-fit.scores * Y)).sum()  # eq. 3
        assert fit.history["bound"][-1] == pytest.approx(risk)
        np.testing.assert_allclose(fit.history["bound"], np.cumprod(fit.history["z"]))
        wrong = (W * (np.where(fit.scores > 0, 1, -1) != Y)).sum()  # eq. 1
        assert fit.history["hamming_loss"][-1] == pytest.approx(wrong)
        assert (fit.history["hamming_loss"] <= fit.history["bound"]).all()

    @every_base
    def test_last_classifier_has_no_edge_left(self, seed, base):
        X, Y = classes(seed)
        fit = run(X, Y, base=base, smoothing=0.0)
        W = weights(first_weights(Y, np.ones(len(Y)), "balanced"), fit.scores * Y)
        last = fit.rounds[-1][1]
        assert (W * Y * last.predict(X)).sum() == pytest.approx(0.0, abs=1e-12)

    @pytest.mark.parametrize("base", ["stump", "product"])
    def test_edge_is_at_most_the_vote_mass(self, seed, base):
        told = run(*classes(seed), base=base).history
        assert (told["edge"] <= told["vote_mass"] + 1e-12).all()
        assert (told["vote_mass"] <= 1 + 1e-12).all()  # eq. 14

    @every_base
    def test_scores_are_those_of_the_decision_function(self, seed, base):
        X, Y = several_labels(seed)
        fit = run(X, Y, base=base, learning_rate=0.7)
        np.testing.assert_array_equal(fit.decision_function(X), fit.scores)
        assert len(fit.rounds) == len(fit.history["alpha"]) == 6

    @every_base
    def test_weight_is_repetition(self, base):
        X, Y = classes(5, n=30)
        times = np.random.default_rng(5).integers(1, 4, size=len(Y))
        weighted = run(X, Y, 4, base=base, sample_weight=times)
        repeated = run(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0), 4, base=base)
        np.testing.assert_allclose(repeated.scores, np.repeat(weighted.scores, times, axis=0))


class TestTwoClasses:
    """With the columns y and -y it is AdaBoost (Kégl's remark 1)."""

    X, y = table(11, n=50, K=2)
    signs = 2.0 * y - 1

    def adaboost(self, T):
        """Discrete AdaBoost over all stumps, (n,) scores of class 1."""
        stumps = [
            s * np.where(x > (lower + upper) / 2, 1.0, -1.0)
            for x in self.X.T
            for lower, upper in zip(np.sort(x)[:-1], np.sort(x)[1:], strict=True)
            for s in (1, -1)
        ]
        d, f = np.full(len(self.y), 1 / len(self.y)), np.zeros(len(self.y))
        for _ in range(T):
            best = max(stumps, key=lambda h: d @ (h * self.signs))
            edge = d @ (best * self.signs)
            f += 0.5 * log((1 + edge) / (1 - edge)) * best
            d = np.exp(-f * self.signs)
            d /= d.sum()
        return f

    def test_scores_are_those_of_adaboost(self):
        fit = run(self.X, label_matrix(self.y), base="stump", smoothing=0.0)
        expected = self.adaboost(6)
        np.testing.assert_allclose(fit.scores, np.stack([-expected, expected], axis=1))

    def test_vote_mass_is_one(self):
        fit = run(self.X, label_matrix(self.y), base="stump")
        np.testing.assert_allclose(fit.history["vote_mass"], 1.0)


class TestFirstWeights:
    Y = np.array([[1, -1, -1, -1], [1, 1, -1, -1], [1, 1, 1, 1], [-1, -1, -1, -1]])

    def test_half_for_each_kind_of_label(self):
        W = first_weights(self.Y, np.ones(4), "balanced")
        np.testing.assert_allclose(W[0], np.array([1 / 2, 1 / 6, 1 / 6, 1 / 6]) / 4)  # eq. 2
        np.testing.assert_allclose(W[1:], 1 / 16)

    def test_uniform_and_sample_weights(self):
        np.testing.assert_allclose(first_weights(self.Y, np.ones(4), "uniform"), 1 / 16)
        W = first_weights(self.Y, np.array([3.0, 1.0, 0.0, 4.0]), "balanced")
        np.testing.assert_allclose(W.sum(axis=1), [3 / 8, 1 / 8, 0, 1 / 2])

    def test_weights_of_enormous_scores(self):
        W = weights(np.full((2, 2), 0.25), np.array([[1e5, 1e5], [1e5 - log(2), 3e5]]))
        np.testing.assert_allclose(W, [[0.25, 0.25], [0.5, 0.0]])


class TestBases:
    def test_stump_is_a_tree_of_two_leaves(self, seed):
        X, Y = classes(seed)
        stumps, trees = (
            run(X, Y, base=base, max_leaf_nodes=2) for base in ("stump", "hamming_tree")
        )
        np.testing.assert_array_equal(stumps.scores, trees.scores)

    def test_one_vs_all_is_one_gini_tree_per_class(self, seed):
        X, Y = several_labels(seed)
        W = np.random.default_rng(seed).random(Y.shape)
        trees = fit_base("one_vs_all", Table(X), W * Y, BaseOptions(5, None, 2, "stump", 1))
        for label in range(Y.shape[1]):
            stats = np.stack([W[:, label] * (Y[:, label] == s) for s in (-1, 1)], axis=1)
            alone = _gini_tree.grow(X, stats, 5, min_samples_leaf=2)
            np.testing.assert_array_equal(
                trees.predict(X)[:, label], 2 * _gini_tree.classes(alone, X) - 1
            )
        assert np.isnan(run(X, Y, base="one_vs_all").history["vote_mass"]).all()

    def test_product_is_no_worse_than_its_first_stump(self, seed):
        X, Y = classes(seed)
        edges = [run(X, Y, 1, base="product", n_factors=m).history["edge"][0] for m in (1, 2, 3)]
        stump = run(X, Y, 1, base="stump").history["edge"][0]
        assert edges[0] == pytest.approx(stump)
        assert edges[2] >= edges[1] > edges[0]

    def test_factors_that_do_not_help_are_left_out(self):
        fit = run(np.arange(20.0)[:, None], label_matrix(np.arange(20) // 10), base="product")
        assert len(fit.rounds[0][1].stumps) == 1

    def test_sweeps_continue_while_the_edge_grows(self):
        grown = []
        for seed in (0, 3, 5):
            X, y = table(seed, n=50, K=3)
            Y = label_matrix(y)
            S = first_weights(Y, np.ones(len(Y)), "balanced") * Y
            sweep = np.ones(S.shape)  # one stump after the other, none revised
            for _ in range(3):
                sweep = sweep * _hamming_tree.grow(X, S * sweep, 2).predict(X)
            found = fit_base("product", Table(X), S, BaseOptions(2, None, 1, "stump", 3))
            grown.append((S * found.predict(X)).sum() - (S * sweep).sum())
        assert min(grown) >= -1e-12
        assert max(grown) > 1e-3

    def test_product_of_two_stumps_solves_exclusive_or(self):
        X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
        Y = label_matrix([0, 1, 1, 0])
        options = {"base": "product", "n_factors": 2, "sample_weight": [5, 2, 4, 1]}
        fit = run(X, Y, **options)
        assert fit.stop_reason == "edge 1"
        assert len(fit.rounds) == 1
        np.testing.assert_array_equal(np.sign(fit.scores), Y)
        v = fit.rounds[0][1].votes
        assert fit.history["vote_mass"][0] == pytest.approx(1.0)
        assert v[0] == -v[1]

    @every_base
    def test_limits_reach_the_base_learner(self, base):
        X, Y = classes(2)
        fit = run(X, Y, 1, base=base, max_depth=1, min_samples_leaf=24, max_leaf_nodes=8)
        classifier = fit.rounds[0][1]
        trees = getattr(classifier, "trees", None) or [
            stump.tree for stump in getattr(classifier, "stumps", [classifier])
        ]
        sizes = [len(node.rows) for tree in trees for node in tree.nodes]
        assert min(sizes) >= 24


class TestVotes:
    right, wrong = np.array([0.3, 0.12, 0.1, 0.05]), np.array([0.05, 0.11, 0.11, 0.16])

    def energy(self, v):
        silent = (1 - np.abs(v)) @ (self.right + self.wrong)
        return 2 * sqrt((v @ self.right) * (v @ self.wrong)) + silent

    def test_abstention_is_the_best_of_all_here(self):
        all_votes = [np.array(v) for v in every([0, 1], repeat=4) if any(v)]
        allowed = [v for v in all_votes if v @ self.right > v @ self.wrong]
        np.testing.assert_array_equal(
            abstention(self.right, self.wrong), min(allowed, key=self.energy)
        )

    def test_abstention_never_silences_everyone(self):
        np.testing.assert_array_equal(abstention(np.array([0.5]), np.array([0.5])), [1])
        np.testing.assert_array_equal(abstention(np.array([0.3, 0.7]), np.zeros(2)), [1, 1])

    def test_abstention_leaves_an_edge(self):
        # Silencing class 0 would lower the energy more, but then the rest is mostly wrong.
        right, wrong = np.array([0.5, 0.02]), np.array([0.08, 0.4])
        np.testing.assert_array_equal(abstention(right, wrong), [1, 0])

    def test_ternary_energy(self, seed):
        told = run(*classes(seed), votes="ternary", smoothing=0.0, base="stump")
        plain = run(*classes(seed), smoothing=0.0, base="stump")
        assert told.history["z"][0] <= plain.history["z"][0]
        assert any((coefficient == 0).any() for coefficient, _ in told.rounds)

    @every_base
    def test_real_energy_is_the_sum_over_the_classes(self, seed, base):
        X, Y = classes(seed)
        fit = run(X, Y, 1, base=base, votes="real", smoothing=0.0, max_leaf_nodes=2)
        W, H = first_weights(Y, np.ones(len(Y)), "balanced"), fit.rounds[0][1].predict(X)
        right, wrong = ((W * (H * Y * s > 0)).sum(axis=0) for s in (1, -1))
        np.testing.assert_allclose(fit.history["z"], 2 * np.sqrt(right * wrong).sum())
        np.testing.assert_allclose(fit.rounds[0][0], 0.5 * np.log(right / wrong))

    @pytest.mark.parametrize("votes", ["binary", "ternary", "real"])
    def test_smoothing_keeps_coefficients_finite(self, votes):
        alpha, v = coefficients(np.array([0.5, 0.5]), np.zeros(2), votes, 0.01 / 50)
        assert np.isfinite(alpha * v).all()
        if votes != "real":
            assert alpha == pytest.approx(0.5 * log((1 + 0.0002) / 0.0002))


class TestEnds:
    @every_base
    @pytest.mark.parametrize("votes", ["binary", "ternary", "real"])
    def test_edge_of_one(self, base, votes):
        X = np.arange(20.0)[:, None]
        Y = label_matrix(np.arange(20) // 10)
        fit = run(X, Y, base=base, votes=votes)
        assert fit.stop_reason == "edge 1"
        assert len(fit.rounds) == 1
        assert fit.history["edge"][0] == pytest.approx(1.0)
        assert np.isfinite(fit.scores).all()
        np.testing.assert_array_equal(np.sign(fit.scores), Y)

    @every_base
    @pytest.mark.parametrize("votes", ["binary", "ternary", "real"])
    def test_no_edge(self, base, votes):
        fit = run(np.zeros((6, 1)), label_matrix([0, 1, 0, 1, 1, 0]), base=base, votes=votes)
        assert fit.stop_reason == "no edge"
        assert fit.rounds == []
        assert {key: len(told) for key, told in fit.history.items()} == dict.fromkeys(
            ["edge", "alpha", "z", "hamming_loss", "vote_mass", "bound"], 0
        )
        np.testing.assert_array_equal(fit.decision_function(np.zeros((2, 1))), np.zeros((2, 2)))


def test_training_error_vanishes(seed):
    X, y = table(seed, n=60, K=4, noise=0.1)
    fit = run(X, label_matrix(y), 30, max_leaf_nodes=8)
    np.testing.assert_array_equal(fit.scores.argmax(axis=1), y)
