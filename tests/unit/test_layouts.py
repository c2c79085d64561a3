"""Arrays in any layout and type give the model of the plain array, bit for bit."""

from decimal import Decimal
from functools import partial

import numpy as np
import pytest
from support import VARIANTS, assert_same_model, table

import edgewise
from edgewise._data.features import readable

fast = partial(edgewise.LogitBoostClassifier, n_estimators=3, min_samples_leaf=1)
X, Y = table(0, n=120, K=3, d=4)
WHOLE, _ = table(1, n=120, K=3, d=4, levels=50)  # whole numbers, exact in every type


def strided(array):
    """The same numbers, every second row and every third column of a larger array."""
    large = np.zeros((2 * len(array), 3 * array.shape[1]), dtype=array.dtype)
    large[::2, ::3] = array
    return large[::2, ::3]


def unaligned(array):
    """The same numbers at addresses that are no multiples of their size."""
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(array.dtype).reshape(array.shape)
    view[:] = array
    return view


def in_records(array):
    """Rows with something else between them, so that strides are no multiples of the size."""
    records = np.zeros(len(array), dtype=[("tag", "u1"), ("x", array.dtype, array.shape[1])])
    records["x"] = array
    return records["x"]


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "columns backwards": lambda a: a[:, ::-1].copy()[:, ::-1],
    "rows backwards": lambda a: a[::-1].copy()[::-1],
    "unaligned": unaligned,
    "in records": in_records,
    "broadcast": lambda a: np.broadcast_to(a[np.newaxis], (1, *a.shape))[0],
    "list of lists": np.ndarray.tolist,
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("name", ["mart", "aoso_pair", "mh_tree", "samme"])
def test_layouts(name, layout):
    make = VARIANTS[name]
    expected = make().fit(X, Y)
    model = make().fit(layout(X), Y)
    assert_same_model(model.model_, expected.model_)
    np.testing.assert_array_equal(model.predict_proba(layout(X)), expected.predict_proba(X))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_core_reads_numbers_at_their_own_addresses(layout):
    assert readable(np.asarray(layout(X))).flags.aligned


def test_read_only_memory_maps(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    model, expected = fast().fit(mapped, Y), fast().fit(X, Y)
    assert_same_model(model.model_, expected.model_)
    np.testing.assert_array_equal(model.predict(mapped), expected.predict(X))


TYPES = "f2 f4 f8 >f4 >f8 >f2 i1 i2 i4 i8 u1 u2 u4 u8 >i2 >i4 >i8 >u4 g O".split()


@pytest.mark.parametrize("dtype", TYPES)
def test_types_of_whole_numbers(dtype):
    expected = fast().fit(WHOLE, Y)
    model = fast().fit(WHOLE.astype(dtype), Y)
    assert_same_model(model.model_, expected.model_)
    np.testing.assert_array_equal(model.predict(WHOLE.astype(dtype)), expected.predict(WHOLE))


def test_half_precision():
    half = X.astype(np.float16)
    assert_same_model(fast().fit(half, Y).model_, fast().fit(half.astype(float), Y).model_)


def test_booleans():
    truth = X > 0
    assert_same_model(fast().fit(truth, Y).model_, fast().fit(truth.astype(float), Y).model_)
    objects = truth.astype(object)
    assert_same_model(fast().fit(objects, Y).model_, fast().fit(truth.astype(float), Y).model_)


def test_numbers_as_objects():
    objects = np.array([[Decimal(str(v)) for v in row] for row in X.tolist()], dtype=object)
    objects[0, 0] = None
    expected = X.copy()
    expected[0, 0] = np.nan
    assert_same_model(fast().fit(objects, Y).model_, fast().fit(expected, Y).model_)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_beyond_2_to_the_53_are_compared_as_doubles(dtype):
    base = 2**53
    x = np.array([base, base + 1, base + 2, base + 4] * 30, dtype=dtype).reshape(-1, 1)
    data = edgewise._core.BinnedData(x, None, 255, 1)
    # base + 1 is no double: it falls together with base.
    assert data.cuts(0) == [base + 1.0, base + 3.0] or len(data.cuts(0)) == 2
    model = fast().fit(x, [0, 0, 1, 1] * 30)
    assert model.predict(x[:4]).tolist() == [0, 0, 1, 1]


def test_plain_arrays_are_not_copied(monkeypatch):
    seen = []
    binned = edgewise._core.BinnedData
    monkeypatch.setattr(
        edgewise._core, "BinnedData", lambda x, *rest: seen.append(x) or binned(x, *rest)
    )
    for array in (X, X.astype(np.float32), np.asfortranarray(X), strided(X), WHOLE.astype(int)):
        fast().fit(array, Y)
        assert np.shares_memory(seen.pop(), array)
