"""AdaBoost.MH with factorised stumps in plain NumPy, shaped like an AdaBoostMHClassifier.

An oracle for the laboratory: Kégl (2014), appendices B and C, by loops over all features and
thresholds, with weights of its own.
"""

from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator


class StumpMH(BaseEstimator):
    """h(x) = alpha v phi(x) with phi = +1 where x_j >= b, -1 elsewhere."""

    def __init__(self, n_estimators=10, initial_weights="balanced", ternary=False):
        self.n_estimators = n_estimators
        self.initial_weights = initial_weights
        self.ternary = ternary

    def fit(self, X, y, sample_weight=None):
        self.n_features_in_ = X.shape[1]
        multi_label = np.ndim(y) == 2
        self.classes_ = np.arange(y.shape[1]) if multi_label else np.unique(y)
        Y = 2.0 * y - 1 if multi_label else np.where(self.classes_ == y[:, None], 1.0, -1.0)
        start = W = self._start(Y, np.ones(len(Y)) if sample_weight is None else sample_weight)
        f, bound, self.rounds_, story = np.zeros_like(Y), 1.0, [], []
        for _ in range(self.n_estimators):
            v, feature, threshold = self._stump(X, Y, W)
            phi = np.where(X[:, feature] >= threshold, 1.0, -1.0)
            right = sum(W[i, k] for i, k in np.ndindex(*Y.shape) if v[k] * phi[i] * Y[i, k] == 1)
            wrong = sum(W[i, k] for i, k in np.ndindex(*Y.shape) if v[k] * phi[i] * Y[i, k] == -1)
            alpha = 0.5 * np.log(right / wrong)
            h = alpha * np.outer(phi, v)
            z = (W * np.exp(-h * Y)).sum()
            mass = sum(
                abs(sum(W[i, k] * v[k] * Y[i, k] for k in range(len(v)))) for i in range(len(Y))
            )
            W, f, bound = W * np.exp(-h * Y) / z, f + h, bound * z
            loss = start[np.sign(f) != Y].sum()
            story.append((right - wrong, alpha, z, bound, loss, mass))
            self.rounds_.append((alpha * v, feature, threshold))
        names = ("edge", "alpha", "z", "bound", "hamming_loss", "vote_mass")
        self.history_ = {
            k: np.array(a) for k, a in zip(names, zip(*story, strict=True), strict=True)
        }
        self.model_ = SimpleNamespace(
            start=np.zeros(Y.shape[1]), n_rounds=len(story), staged_scores=self._staged_scores
        )
        return self

    def _start(self, Y, sample_weight):
        n, K = Y.shape
        W = np.empty((n, K))
        for i in range(n):
            n_positive = int((Y[i] > 0).sum())
            for k in range(K):
                if self.initial_weights == "uniform" or n_positive in (0, K):
                    W[i, k] = 1 / K
                else:
                    W[i, k] = 1 / (2 * n_positive) if Y[i, k] > 0 else 1 / (2 * (K - n_positive))
            W[i] *= sample_weight[i] / sum(sample_weight)
        return W

    def _stump(self, X, Y, W):
        best, chosen = -1.0, None
        for j in range(X.shape[1]):
            values = np.unique(X[:, j])
            for b in [-np.inf, *(values[1:] + values[:-1]) / 2]:
                gamma = (W * Y * np.where(X[:, j] >= b, 1.0, -1.0)[:, None]).sum(axis=0)
                if np.abs(gamma).sum() > best:
                    best, chosen = np.abs(gamma).sum(), (gamma, j, b)
        gamma, j, b = chosen
        v = np.where(gamma > 0, 1.0, -1.0)
        if self.ternary:
            v[np.abs(gamma) < 0.3 * np.abs(gamma).max()] = 0.0
        return v, j, b

    def _staged_scores(self, X, n_threads):
        out = np.zeros((len(X), len(self.classes_)))
        for votes, feature, threshold in self.rounds_:
            out += np.outer(np.where(X[:, feature] >= threshold, 1.0, -1.0), votes)
            yield out  # the same array each time
