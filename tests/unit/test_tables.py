"""Tables from files."""

import datetime
import gzip
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import issparse
from sklearn.datasets import dump_svmlight_file, load_iris
from support_cli import cars, write_csv

from edgewise import InvalidDataError, tables


def read_text(tmp_path, text, name="t.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tables.read(path, **options)


def kinds(table):
    return {column.name: column.kind for column in table.columns}


def test_columns_are_recognised(tmp_path):
    table = tables.read(write_csv(tmp_path / "cars.csv", cars()), "origin")
    assert kinds(table) == {"power": "number", "weight": "number", "body": "category"}
    facts = table.summary()
    assert (facts["rows"], facts["features"]) == (90, 3)
    assert (facts["numbers"], facts["categories"]) == (2, 1)
    assert (facts["missing"], facts["columns_with_missing"]) == (6, 1)
    assert facts["classes"] == {
        label: int(np.sum(cars()["origin"] == label)) for label in ("europe", "japan", "usa")
    }
    assert table.X.column("power").to_pylist() == cars()["power"].tolist()
    assert table.y.tolist() == cars()["origin"].tolist()


@pytest.mark.parametrize("word", ["", "NA", "?", "nan", "NaN", " ?", "null"])
def test_missing_values(tmp_path, word):
    table = read_text(tmp_path, f"a,b,y\n1,x,0\n{word},{word},1\n3.5,z,1\n")
    assert kinds(table) == {"a": "number", "b": "category"}
    assert [column.missing for column in table.columns] == [1, 1]
    assert table.X.column("b").to_pylist() == ["x", None, "z"]


def test_a_value_far_down_decides_too(tmp_path):
    rows = "".join(f"{i},{i % 2}\n" for i in range(200_000)) + "word,1\n"
    assert kinds(read_text(tmp_path, "a,y\n" + rows)) == {"a": "category"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a;b;y\n1;2;0\n3;4;1\n", "t.csv"),
        ("a\tb\ty\n1\t2\t0\n3\t4\t1\n", "t.tsv"),
        ("\ufeffa,b,y\r\n1,2,0\r\n3,4,1\r\n", "t.csv"),
        ('a,b,"y"\n\n1,2,0\n"3",4,1\n', "t.data"),
        (gzip.compress(b"a,b,y\n1,2,0\n3,4,1\n"), "t.csv.gz"),
    ],
    ids=["semicolon", "tab", "bom and crlf", "quotes and empty lines", "gzip"],
)
def test_kinds_of_csv(tmp_path, text, name):
    table = read_text(tmp_path, text, name)
    assert table.X.to_pydict() == {"a": [1, 3], "b": [2, 4]}
    assert table.y.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("header", "name"),
    [('"a,b,c,d";y', "a,b,c,d"), ('"a;b;c;d",y', "a;b;c;d"), ("a\u2028b;y", "a\u2028b")],
)
def test_what_is_quoted_does_not_separate(tmp_path, header, name):
    sep = header[-2]
    table = read_text(tmp_path, f"{header}\n1{sep}0\n3{sep}1\n")
    assert table.X.column_names == [name]


def test_a_first_line_of_numbers_is_data(tmp_path):
    table = read_text(tmp_path, "1,2,0\n3,4,1\n")
    assert table.X.to_pydict() == {"x0": [1, 3], "x1": [2, 4]}
    assert "was taken as data" in table.notes[0]
    named = read_text(tmp_path, "1,2,0\n3,4,1\n5,6,0\n", header=True)
    assert named.X.column_names == ["1", "2"]
    assert read_text(tmp_path, "a,b\nc,d\n", header=False).y.tolist() == ["b", "d"]


@pytest.mark.parametrize(
    ("wanted", "column"), [("b", "b"), ("0", "a"), ("-1", "c"), ("-2", "b"), (None, "c")]
)
def test_target_by_name_or_position(tmp_path, wanted, column):
    table = read_text(tmp_path, "a,b,c\n1,2,3\n4,5,6\n", target=wanted)
    assert table.target == column
    assert column not in table.X.column_names
    assert bool(table.notes) == (wanted is None)


@pytest.mark.parametrize(
    ("header", "target"),
    [("y,a,b", "y"), ("a,Class,b", "Class"), ("label,a,target", "target"), ("a,b,c", "c")],
)
def test_the_likely_target_is_taken_and_named(tmp_path, header, target):
    table = read_text(tmp_path, f"{header}\n1,2,3\n4,5,6\n")
    assert table.target == target
    assert f"column {target!r}" in table.notes[0]


def test_columns_left_out_and_columns_that_are_categories(tmp_path):
    text = "id,zip,a,y\nr1,10,1,0\nr2,20,2,1\nr3,10,3,1\n"
    table = read_text(tmp_path, text, drop=("id",), categories=("zip",))
    assert kinds(table) == {"zip": "category", "a": "number"}
    assert table.X.column("zip").to_pylist() == ["10", "20", "10"]


def test_true_and_false(tmp_path):
    table = read_text(tmp_path, "a,y\ntrue,False\n?,true\nfalse,TRUE\n")
    assert table.X.to_pydict() == {"a": [1, None, 0]}
    assert kinds(table) == {"a": "number"}
    assert table.y.tolist() == ["false", "true", "true"]


def test_dates_stay_dates(tmp_path):
    table = read_text(tmp_path, "day,y\n1970-01-02,0\n1970-02-01,1\n")
    assert kinds(table) == {"day": "date"}
    days = table.X.column("day").to_pylist()
    assert days == [datetime.date(1970, 1, 2), datetime.date(1970, 2, 1)]


def test_dates_as_labels_are_words(tmp_path):
    table = read_text(tmp_path, "a,y\n1,1970-01-02\n2,1970-02-01\n")
    assert table.y.tolist() == ["1970-01-02", "1970-02-01"]


def test_parquet(tmp_path):
    frame = pa.table(
        {
            "n": [1.5, None, 3.0],
            "flag": [True, False, True],
            "word": pa.array(["a", "b", None]).dictionary_encode(),
            "y": ["p", "q", "q"],
        }
    )
    pq.write_table(frame, tmp_path / "t.parquet")
    table = tables.read(tmp_path / "t.parquet")
    assert kinds(table) == {"n": "number", "flag": "number", "word": "category"}
    assert table.X.to_pydict() == {
        "n": [1.5, None, 3.0], "flag": [1, 0, 1], "word": ["a", "b", None],
    }  # fmt: skip


def test_arff(tmp_path):
    text = (
        "@relation r\n@attribute n numeric\n@attribute w {red,blue}\n@attribute class {a,b}\n"
        "@data\n1.5,red,a\n?,?,b\n"
    )
    table = read_text(tmp_path, text, "t.arff")
    assert kinds(table) == {"n": "number", "w": "category"}
    assert [column.missing for column in table.columns] == [1, 1]
    assert table.y.tolist() == ["a", "b"]


def test_svmlight_stays_sparse(tmp_path):
    X, y = load_iris(return_X_y=True)
    X[X < 2] = 0
    dump_svmlight_file(X, y, str(tmp_path / "iris.svm"))
    table = tables.read(tmp_path / "iris.svm")
    assert issparse(table.X)
    assert np.array_equal(table.X.toarray(), X)
    assert np.array_equal(table.y, y)
    assert table.y.dtype.kind == "i"
    assert table.summary()["sparse"]


def test_svmlight_counts_from_one_unless_zero_occurs(tmp_path):
    (tmp_path / "one.svm").write_text("0 1:5 3:7\n1 2:6\n")
    (tmp_path / "zero.svm").write_text("0 0:5 2:7\n1 1:6\n")
    one, zero = (tables.read(tmp_path / f"{name}.svm") for name in ("one", "zero"))
    assert one.X.toarray().tolist() == zero.X.toarray().tolist() == [[5, 0, 7], [0, 6, 0]]
    (tmp_path / "rest.svm").write_text("0 1:4\n")  # from 0, but 0 does not occur
    rest = tables.open_table(tmp_path / "rest.svm", from_zero=zero.from_zero)
    assert rest.features(None, 3).toarray().tolist() == [[0, 4, 0]]
    rest = tables.open_table(tmp_path / "rest.svm", from_zero=one.from_zero)
    assert rest.features(None, 3).toarray().tolist() == [[4, 0, 0]]
    with pytest.raises(InvalidDataError, match="has 3 features; the model needs 2"):
        tables.open_table(tmp_path / "one.svm").features(None, 2)


def test_built_in_sets():
    table = tables.read("wine")
    assert (table.X.num_columns, len(table.y)) == (13, 178)
    assert table.notes == ()
    assert not tables.has_test_part("digits")


def test_sets_of_the_folder(tmp_path, monkeypatch):
    parts = {"X_train": np.eye(3), "y_train": [0, 1, 2], "X_test": np.ones((1, 3)), "y_test": [2]}
    np.savez(tmp_path / "mine.npz", **parts)
    monkeypatch.setenv("EDGEWISE_DATA", str(tmp_path))
    assert tables.has_test_part("mine")
    assert len(tables.read("mine").y) == 3
    assert tables.read("mine:test").y.tolist() == [2]


def test_the_columns_a_model_wants(tmp_path):
    path = write_csv(tmp_path / "t.csv", {"b": [1, 2], "a": [3, 4], "c": [5, 6]})
    opened = tables.open_table(path)
    assert opened.features(["a", "b"], 2).to_pydict() == {"a": [3, 4], "b": [1, 2]}
    assert opened.features(None, 2).column_names == ["b", "a"]
    with pytest.raises(InvalidDataError, match=r"lacks the column 'd' and 1 more"):
        opened.features(["a", "d", "e"], 3)
    with pytest.raises(InvalidDataError, match="has 3 columns; the model needs 4"):
        opened.features(None, 4)


BAD = {
    "empty": ("", "is empty"),
    "blank": ("\n\n", "is empty"),
    "header only": ("a,b\n", "has a header but no rows"),
    "too few cells": ("a,b,y\n1,2,0\n3,4\n", r"line 3: 2 cells where the first line has 3"),
    "too many cells": ("a,y\n1,0\n\n1,0,7\n", r"line 4: 3 cells where the first line has 2"),
    "same names": ("a,a,y\n1,2,0\n", "two columns named 'a'"),
    "bytes": (b"a,y\n\xff\xfe,0\n\xff,1\n", "not UTF-8.*encoding"),
    "zeros": (b"\x00\x01\x02", "zero bytes"),
    "wide characters": ("a,y\n1,0\n2,1\n".encode("utf-16"), "is in UTF-16. State the encoding"),
    "missing target": ("a,y\n1,0\n2,\n", r"missing in 1 of 2 rows, the first in row 2"),
    "measured target": ("a,y\n1,0.5\n2,1\n", "holds the number 0.5"),
    "one column": ("y\n1\n0\n", "no column besides the target"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_bad_csv(tmp_path, text, message):
    with pytest.raises(InvalidDataError, match=message):
        read_text(tmp_path, text)


@pytest.mark.parametrize("name", ["t.parquet", "t.arff", "t.svm"])
@pytest.mark.parametrize("content", [b"", b"nonsense ? nonsense\n"])
def test_bad_files_of_other_formats(tmp_path, name, content):
    with pytest.raises(InvalidDataError, match="cannot be read as|is empty"):
        read_text(tmp_path, content, name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "z"}, "no column 'z'. Its 2 columns are: a, y"),
        ({"target": "7"}, "no column '7'"),
        ({"drop": ("z",)}, "no column 'z'"),
        ({"categories": ("z",)}, "no column 'z'"),
        ({"format": "xls"}, "format must be one of arff, csv, parquet, svmlight"),
    ],
)
def test_bad_options(tmp_path, options, message):
    with pytest.raises(InvalidDataError, match=message):
        read_text(tmp_path, "a,y\n1,0\n2,1\n", **options)


def test_a_file_beside_the_missing_one_is_suggested(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("messy.csv").write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(InvalidDataError, match=r"no file 'messi.csv'.*Did you mean 'messy.csv'"):
        tables.read("messi.csv")
    with pytest.raises(InvalidDataError, match=r"Did you mean 'iris'"):
        tables.read("irsi")


def test_names_that_lead_nowhere(tmp_path, monkeypatch):
    monkeypatch.delenv("EDGEWISE_DATA", raising=False)
    with pytest.raises(InvalidDataError, match=r"no file 'none.csv'.*digits, iris, wine"):
        tables.read("none.csv")
    with pytest.raises(InvalidDataError, match="is a folder"):
        tables.read(tmp_path)
    with pytest.raises(InvalidDataError, match="the ending does not tell"):
        read_text(tmp_path, "a,y\n1,0\n", "t.xyz")
    with pytest.raises(InvalidDataError, match="columns have no names"):
        read_text(tmp_path, "1 1:2\n0 2:1\n", "t.svm", target="x")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = write_csv(tmp_path / "t.csv", {"a": [1], "y": [0]})
    path.chmod(0)
    with pytest.raises(InvalidDataError, match="Permission denied"):
        tables.read(path)
