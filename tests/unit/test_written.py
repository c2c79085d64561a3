"""Text that is numbers: currency signs, thousands separators, decimal commas."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise
from edgewise import InvalidDataError, ModelFormatError
from edgewise._data.written import notation_of, numbers_of
from edgewise._model import file
from edgewise.tables import read

READ = {
    "dollars": (["$1,234", "$5"], [1234, 5]),
    "euros": (["1.234,50 €", "2 €"], [1234.5, 2]),
    "thousands with a point": (["1.234 €", "12.345.678 €"], [1234, 12345678]),
    "shares": (["12 %", "3.5%", "-1%"], [12, 3.5, -1]),
    "brackets": (["(1,234)", "7"], [-1234, 7]),
    "signs": (["-$3", "$-4", "+5", "−6"], [-3, -4, 5, -6]),
    "decimal commas": (["12,34", "0,500"], [12.34, 0.5]),
    "no thousands begin with zero": (["0,125", "0,250"], [0.125, 0.25]),
    "spaces": (["1 234", "1 234 567,5"], [1234, 1234567.5]),
    "Swiss": (["1'234.50", "CHF 3"], [1234.5, 3]),
    "no break": (["1\u202f234,5"], [1234.5]),
}


@pytest.mark.parametrize(("words", "numbers"), READ.values(), ids=READ)
@pytest.mark.parametrize("preferred", [".", ","])
def test_what_is_read(words, numbers, preferred):
    notation = notation_of(words, preferred)
    assert numbers_of(words, notation, "x").tolist() == numbers


STAYS = {
    "two currencies": ["$5", "€3"],
    "two separators": ["1,5", "1.5"],
    "two thousands": ["1,234", "1 234.5"],
    "words": ["$5", "on request"],
    "dates": ["2020.01.02"],
    "addresses": ["10.0.0.1"],
    "units": ["5 kg"],
    "ranges": ["5-10"],
    "two signs": ["--5"],
    "half a bracket": ["(5"],
    "two units": ["$5 %"],
    "other digits": ["٣"],
    "nothing": [],
    "empty": [""],
}


@pytest.mark.parametrize("words", STAYS.values(), ids=STAYS)
def test_what_stays_text(words):
    assert notation_of(words, ".") is None


def test_without_a_separator_the_given_one_counts():
    assert notation_of(["$5"], ".") == "."
    assert notation_of(["$5"], ",") == ","


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1), st.integers(0, 3))
def test_numbers_come_back(whole, digits):
    words = [f"{n:,.{digits}f} %" for n in whole]
    assert numbers_of(words, ".", "x").tolist() == whole
    german = [word.translate(str.maketrans(",.", ".,")) for word in words]
    assert numbers_of(german, ",", "x").tolist() == whole


# --- tables and models ----------------------------------------------------------------------------


DOLLARS = "\n".join(["price,kind", *(f'"${1000 * i:,}",{"ab"[i > 5]}' for i in range(12))])


def prices(path, text=DOLLARS):
    path.write_text(text + "\n")
    return path


def test_tables_read_them_and_say_so(tmp_path):
    table = read(prices(tmp_path / "t.csv"))
    assert table.columns[0].kind == "number"
    assert table.X.column("price").to_pylist() == [1000.0 * i for i in range(12)]
    assert table.notations == {"price": "."}
    assert any("'price' is text of numbers" in note and "'$1,000' is 1000" in note
               for note in table.notes)  # fmt: skip
    kept = read(prices(tmp_path / "t.csv"), categories=("price",))
    assert (kept.columns[0].kind, kept.notations) == ("category", {})


def test_labels_stay_words(tmp_path):
    text = "a,share\n" + "\n".join(f"{i},{10 * (i % 2)} %" for i in range(12))
    assert set(read(prices(tmp_path / "t.csv", text)).y) == {"0 %", "10 %"}


def test_missing_values_stay_missing(tmp_path):
    table = read(prices(tmp_path / "t.csv", 'x,y\n"$1,000",a\n?,b\n$2,a\n'))
    assert table.X.column("x").to_pylist() == [1000.0, None, 2.0]
    assert table.columns[0].missing == 1


def fitted(notations):
    X = pd.DataFrame({"a": np.arange(40.0), "price": np.arange(40.0) % 7 * 1000})
    model = edgewise.MARTClassifier(n_estimators=5, min_samples_leaf=2).fit(X, X["price"] > 2500)
    model.notations_ = notations
    return model, X


def test_models_read_text_in_the_columns_that_had_it(tmp_path):
    model, X = fitted({1: ","})
    model.save(tmp_path / "m.edgewise")
    loaded = edgewise.load(tmp_path / "m.edgewise")
    assert loaded.notations_ == {1: ","}
    words = X.assign(price=[f"{v / 1000:g}.000,00 €" if v else "0 €" for v in X["price"]])
    for given_rows in (words, X):
        found = loaded.predict_proba(given_rows)
        np.testing.assert_array_equal(found, model.predict_proba(X))
    gap = words.assign(price=words["price"].where(words.index != 3))
    missing = model.predict_proba(X.assign(price=X["price"].where(X.index != 3)))
    np.testing.assert_array_equal(loaded.predict_proba(gap), missing)
    with pytest.raises(InvalidDataError, match="'price' was text of numbers in fit.*Got '1,5.0'"):
        loaded.predict(X.assign(price="1,5.0"))
    with pytest.raises(InvalidDataError, match="'a' held numbers in fit"):
        loaded.predict(words.assign(a="$5"))


def test_a_new_fit_forgets_them():
    model, X = fitted({1: ","})
    assert model.fit(X, X["a"] > 3).notations_ == {}
    frame = X.assign(price=[f"${v}" for v in X["price"]])
    assert list(model.fit(frame, X["a"] > 3).categories_) == [1]  # strings stay categories


@pytest.mark.parametrize("given", [[], {"7": "."}, {"01": "."}, {"1": ";"}, {"1": 5}, {"1": []}])
def test_bad_notations_in_a_file(tmp_path, given):
    model, _ = fitted({1: ","})
    path = tmp_path / "m.edgewise"
    model.save(path)
    header, arrays = file.unpack(path.read_bytes())
    path.write_bytes(file.pack({**header, "notations": given}, arrays))
    with pytest.raises(ModelFormatError, match="^Not a valid model"):
        edgewise.load(path)
