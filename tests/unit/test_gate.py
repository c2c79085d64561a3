"""Numbers that are not finite, and tables without rows, never get into the core.

The estimators refuse them with words; the core's own types refuse them once more.
"""

import warnings
from functools import partial

import numpy as np
import pytest
from support import VARIANTS, table

import edgewise
from edgewise import InvalidDataError, InvalidParameterError, _core

MARTI = partial(edgewise.MartiBoostClassifier, n_layers=4, random_state=0)
EVERY = VARIANTS | {"martiboost": MARTI}
BAD = [np.nan, np.inf, -np.inf]


@pytest.fixture(params=EVERY)
def make(request):
    return EVERY[request.param]


@pytest.fixture
def data():
    return table(0, K=2)


class TestWeights:
    @pytest.mark.parametrize("weight", [*BAD, -1.0, "1", None])
    def test_class_weights_are_finite(self, make, data, weight):
        with pytest.raises(InvalidParameterError, match="class_weight.*finite and not negative"):
            make(class_weight={0: weight}).fit(*data)

    def test_class_weights_are_those_of_classes(self, make, data):
        with pytest.raises(InvalidParameterError, match="class_weight must name classes of y"):
            make(class_weight={9: 1.0}).fit(*data)

    def test_products_of_weights_are_finite(self, make, data):
        X, y = data
        weights = np.full(len(y), 1e300)
        with pytest.raises(InvalidDataError, match=r"times class_weight must be finite.*inf"):
            make(class_weight={0: 1e300}).fit(X, y, weights)

    def test_products_that_vanish_leave_no_rows(self, make, data):
        X, y = data
        weights = np.full(len(y), 1e-300)
        with pytest.raises(InvalidDataError, match="at least one positive weight"):
            make(class_weight={0: 1e-300, 1: 1e-300}).fit(X, y, weights)

    @pytest.mark.parametrize("weight", BAD)
    def test_sample_weights_are_finite(self, make, data, weight):
        X, y = data
        weights = np.ones(len(y))
        weights[7] = weight
        with pytest.raises(ValueError, match="NaN|infinity"):
            make().fit(X, y, weights)

    @pytest.mark.parametrize("name", VARIANTS)
    def test_products_of_validation_weights_are_finite(self, name, data):
        X, y = data
        boost = VARIANTS[name](class_weight={0: 1e300}, early_stopping="auto")
        with pytest.raises(InvalidDataError, match=r"sample_weight_val times class_weight"):
            boost.fit(X, y, None, X, y, np.full(len(y), 1e300))

    def test_the_largest_weights_there_are_can_be_learned_from(self, make, data):
        X, y = data
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sums of the weights in scikit-learn
            boost = make(class_weight={0: 1e150, 1: 1.0}).fit(X, y, np.full(len(y), 1e150))
        assert np.isfinite(boost.predict_proba(X)).all()


class TestSoftLabels:
    LOGISTIC = staticmethod(VARIANTS["logitboost"])

    def soft(self, y):
        return np.where(y[:, np.newaxis] == np.arange(2), 0.9, 0.1)

    @pytest.mark.parametrize("weight", BAD)
    def test_class_weights_are_finite(self, data, weight):
        X, y = data
        with pytest.raises(InvalidParameterError, match="finite and not negative"):
            self.LOGISTIC(class_weight={0: weight}).fit(X, self.soft(y))

    def test_rows_that_vanish_are_refused(self, data):
        X, y = data
        half = np.full((len(y), 2), 0.5)
        with pytest.raises(InvalidDataError, match="positive"):
            self.LOGISTIC(class_weight={0: 5e-324, 1: 5e-324}).fit(X, half)

    def test_classes_that_vanish_beside_others_are_refused(self, data):
        X, y = data
        with pytest.raises(InvalidDataError, match="class 0 is so small beside the largest"):
            self.LOGISTIC(class_weight={0: 5e-324, 1: 1.0}).fit(X, np.eye(2)[y])

    def test_a_row_of_two_copies_does_not_make_up_for_one_of_none(self):
        """Half of the smallest number is zero: as many copies as rows, and yet not one of each."""
        X = np.arange(40.0)[:, np.newaxis]
        soft = np.eye(4)[np.arange(40) // 10]
        soft[5], soft[25] = (0.5, 0.0, 0.0, 0.5), (0.0, 0.5, 0.5, 0.0)
        tiny = {0: 5e-324, 1: 0.75, 2: 0.75, 3: 5e-324}
        present = np.arange(40) != 5
        boost = self.LOGISTIC(class_weight=tiny).fit(X, soft)
        alone = self.LOGISTIC(class_weight=tiny).fit(X[present], soft[present])
        np.testing.assert_array_equal(boost.predict_proba(X), alone.predict_proba(X))


class TestCore:
    X = np.arange(12.0).reshape(6, 2)
    LABELS = np.array([0, 1, 2, 0, 1, 2], dtype=np.int32)
    SIGNS = np.where(LABELS[:, np.newaxis] == np.arange(3), 1, -1).astype(np.int8)
    ONES = np.ones(6)

    def with_one(self, bad):
        numbers = self.ONES.copy()
        numbers[3] = bad
        return numbers

    @pytest.mark.parametrize("bad", [*BAD, -1.0])
    def test_binned_data_needs_finite_weights(self, bad):
        with pytest.raises(ValueError, match="finite numbers that are not negative"):
            _core.BinnedData(self.X, self.with_one(bad), 255, 1)

    def test_binned_data_needs_weights_of_all_rows(self):
        with pytest.raises(ValueError, match="one weight per row"):
            _core.BinnedData(self.X, self.ONES[:5], 255, 1)
        with pytest.raises(ValueError, match="one positive weight"):
            _core.BinnedData(self.X, 0 * self.ONES, 255, 1)

    @pytest.mark.parametrize("shape", [(0, 2), (2, 0)])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_binned_data_needs_rows_and_columns(self, shape, weighted):
        X = np.empty(shape)
        with pytest.raises(ValueError, match="at least one"):
            _core.BinnedData(X, np.ones(len(X)) if weighted else None, 255, 1)

    @pytest.mark.parametrize("bad", [*BAD, -1.0])
    @pytest.mark.parametrize("layout", ["by_row", "by_class", "lists"])
    def test_posterior_needs_finite_weights(self, bad, layout):
        with pytest.raises(ValueError, match="finite numbers that are not negative"):
            _core.Posterior(self.LABELS, self.with_one(bad), np.zeros(3), layout)

    @pytest.mark.parametrize("bad", BAD)
    def test_posterior_needs_finite_scores(self, bad):
        with pytest.raises(ValueError, match="initial scores must hold finite"):
            _core.Posterior(self.LABELS, None, np.array([0.0, bad, 0.0]), "by_row")

    @pytest.mark.parametrize("label", [-1, 3, 2**31 - 1, -(2**31)])
    def test_posterior_needs_labels_that_exist(self, label):
        labels = self.LABELS.copy()
        labels[5] = label
        with pytest.raises(ValueError, match="labels"):
            _core.Posterior(labels, None, np.zeros(3), "by_row")

    def test_posterior_needs_rows_unless_it_is_a_part(self):
        none = self.LABELS[:0]
        with pytest.raises(ValueError, match="at least one row"):
            _core.Posterior(none, None, np.zeros(3), "by_row")
        assert _core.Posterior(none, None, np.zeros(3), "by_row", part=True).n_classes == 3
        with pytest.raises(ValueError, match="at least one"):
            _core.Posterior(none, None, np.zeros(0), "by_row", part=True)

    @pytest.mark.parametrize("bad", [*BAD, 0.0, -1.0])
    def test_label_weights_are_finite_and_positive(self, bad):
        with pytest.raises(ValueError, match="finite|positive"):
            _core.LabelWeights(self.SIGNS, self.with_one(bad), self.ONES, 1)
        with pytest.raises(ValueError, match="finite|positive"):
            _core.LabelWeights(self.SIGNS, self.ONES, self.with_one(bad), 1)

    @pytest.mark.parametrize("sign", [0, 2, -2])
    def test_label_weights_need_signs(self, sign):
        signs = self.SIGNS.copy()
        signs[2, 1] = sign
        with pytest.raises(ValueError, match="signs must be"):
            _core.LabelWeights(signs, self.ONES, self.ONES, 1)

    def test_label_weights_need_rows(self):
        with pytest.raises(ValueError, match="at least one row"):
            _core.LabelWeights(self.SIGNS[:0], self.ONES[:0], self.ONES[:0], 1)
        with pytest.raises(ValueError, match="two weights per row"):
            _core.LabelWeights(self.SIGNS, self.ONES, self.ONES[:5], 1)

    @pytest.mark.parametrize("bad", BAD)
    def test_outputs_of_base_classifiers_are_finite(self, bad):
        weights = _core.LabelWeights(self.SIGNS, self.ONES, self.ONES, 1)
        outputs = np.zeros((6, 3))
        outputs[1, 2] = bad
        with pytest.raises(ValueError, match="outputs of base classifiers"):
            weights.add_outputs(outputs, 1)
        with pytest.raises(ValueError, match="every row and label"):
            weights.add_outputs(outputs[:5], 1)

    @pytest.mark.parametrize("max_bins", [-1, 0, 1])
    def test_binned_data_needs_two_bins(self, max_bins):
        with pytest.raises(ValueError, match="two bins"):
            _core.BinnedData(self.X, None, max_bins, 1)

    @pytest.mark.parametrize("categorical", [[], [0]])
    def test_missing_values_that_the_cuts_do_not_know_fall_into_a_bin(self, categorical):
        """X was changed by others after the cuts were made."""
        X = np.resize([0.0, 1.0, 2.0], (30, 1))
        cuts = _core.Cuts(_core.Summary(X, None, 1.0, 1), 255, categorical)
        X[::4] = np.nan
        data = _core.bin_rows(X, cuts, 1)
        assert data.offset[1] == 3
        assert max(data.code(row, 0) for row in range(30)) == 2


NO_WEIGHTS = {
    "larger than any": [10**400] + [1] * 119,
    "dates": np.ones(120, dtype="M8[D]"),
    "durations": np.ones(120, dtype="m8[s]"),
    "one NaN for all": float("nan"),
}


@pytest.mark.parametrize("kind", NO_WEIGHTS)
def test_weights_are_finite_numbers(kind):
    X, y = table(3, n=120)
    boost = edgewise.MARTClassifier(n_estimators=1)
    with pytest.raises(InvalidDataError, match="^sample_weight must (be finite|hold numbers)"):
        boost.fit(X, y, sample_weight=NO_WEIGHTS[kind])
