"""Fits on rows of Parquet files: the bits of a fit in memory, little memory, and bad input."""

import os
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from support_blocks import assert_same_fit

import edgewise
from edgewise import InvalidDataError, InvalidParameterError
from edgewise.distributed._disk import BinFile, DiskFullError
from edgewise.rows import parquet

FEW = {"n_estimators": 4, "learning_rate": 0.3}
ESTIMATORS = {
    "mart": edgewise.MARTClassifier(**FEW),
    "logitboost": edgewise.LogitBoostClassifier(**FEW),
    "logitboost_draws": edgewise.LogitBoostClassifier(subsample=0.5, random_state=1, **FEW),
    "abc_logitboost": edgewise.ABCLogitBoostClassifier(gap=2, **FEW),
    "aoso": edgewise.AOSOLogitBoostClassifier(**FEW),
    "aoso_held_out": edgewise.AOSOLogitBoostClassifier(
        early_stopping=True, calibration="vector", random_state=2, **FEW
    ),
    "adaboost_mh": edgewise.AdaBoostMHClassifier(n_estimators=4),
}


@pytest.fixture(scope="module")
def frame():
    """Continuous values, counts, single precision, booleans and gaps; a text target, weights."""
    rng = np.random.default_rng(0)
    n = 90_000  # more distinct values than a summary lists
    x = rng.normal(size=(n, 3))
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1].astype(np.float32), "c": x[:, 2]})
    frame.loc[rng.random(n) < 0.1, "c"] = np.nan
    frame["count"] = rng.integers(0, 40, n)
    frame["flag"] = rng.random(n) < 0.3
    frame["kind"] = np.array(["x", "y", "z"])[(x[:, 0] > 0) * 1 + (x[:, 1] > frame["flag"])]
    frame["weight"] = rng.exponential(size=n)
    return frame


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """Three files of several row groups, one of them empty."""
    path = tmp_path_factory.mktemp("rows")
    table = pa.Table.from_pandas(frame)
    pq.write_table(table[:50_000], path / "0.parquet", row_group_size=20_000)
    with pq.ParquetWriter(path / "1.parquet", table.schema) as writer:
        writer.write_table(table[50_000:60_000])
        writer.write_table(table[:0])
        writer.write_table(table[60_000:])
    pq.write_table(table[:0], path / "2.parquet")
    return path


COLUMNS = ["a", "b", "c", "count", "flag"]


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_bits_of_a_fit_in_memory(name, weight, frame, folder, tmp_path):
    rows = parquet(
        folder, target="kind", columns=COLUMNS, sample_weight=weight, folder=tmp_path / "."
    )
    weights = None if weight is None else frame[weight]
    there = clone(ESTIMATORS[name]).fit(rows)
    local = clone(ESTIMATORS[name]).fit(frame[COLUMNS], frame["kind"], weights)
    assert_same_fit(there, local)
    for method in ("predict", "predict_proba", "decision_function"):
        answers = getattr(there, method)(parquet(folder))
        np.testing.assert_array_equal(answers, getattr(local, method)(frame[COLUMNS]))
    assert list(there.feature_names_in_) == COLUMNS
    assert list(tmp_path.iterdir()) == []


def test_small_pieces_and_all_kinds_of_sources(frame, folder, monkeypatch):
    monkeypatch.setattr("edgewise._data.parquet.PIECE_BYTES", 200_000)  # 5000 rows
    local = clone(ESTIMATORS["aoso"]).fit(frame[COLUMNS], frame["kind"])
    paths = sorted(folder.iterdir())
    for source in (folder, str(folder), paths, pyarrow.dataset.dataset(folder, format="parquet")):
        rows = parquet(source, target="kind", columns=COLUMNS)
        assert_same_fit(clone(ESTIMATORS["aoso"]).fit(rows), local)
    one = clone(ESTIMATORS["aoso"]).fit(parquet(paths[0], target="kind", columns=COLUMNS))
    assert_same_fit(one, clone(one).fit(frame[COLUMNS][:50_000], frame["kind"][:50_000]))


def test_categories_by_name(frame, folder):
    boost = edgewise.LogitBoostClassifier(categorical_features=["count"], **FEW)
    there = clone(boost).fit(parquet(folder, target="kind", columns=COLUMNS))
    assert_same_fit(there, clone(boost).fit(frame[COLUMNS], frame["kind"]))
    assert len(there.model_.set_start) > 1


def test_resumes_from_its_checkpoint(frame, folder, tmp_path):
    file = tmp_path / "rounds.edgewise"
    rows = parquet(folder, target="kind", columns=COLUMNS)
    with edgewise.distributed.settings(checkpoint=file, checkpoint_every=1):
        clone(ESTIMATORS["aoso"]).set_params(n_estimators=2).fit(rows)
    with edgewise.distributed.settings(resume_from=file):
        there = clone(ESTIMATORS["aoso"]).fit(rows)
    local = clone(ESTIMATORS["aoso"]).fit(frame[COLUMNS], frame["kind"])
    assert there.model_.arrays()["values"].tobytes() == local.model_.arrays()["values"].tobytes()


BOUNDED = """
    import resource, sys
    import edgewise._data.parquet
    import pyarrow.dataset, pyarrow.parquet, edgewise.distributed  # what they take does not count
    from edgewise.rows import parquet

    edgewise._data.parquet.PIECE_BYTES = 1 << 18  # some 150 blocks
    status = open("/proc/self/status").read().split()
    most = (int(status[status.index("VmData:") + 1]) << 10) + (300 << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    boost = edgewise.LogitBoostClassifier(n_estimators=3, calibration=None, n_jobs=1)
    boost.fit(parquet(sys.argv[1], target="y"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_results_of_blocks_are_not_kept(tmp_path):
    """The answers of all blocks to one request would take 900 MB."""
    rng = np.random.default_rng(3)
    columns = {f"x{j}": rng.normal(size=240_000) for j in range(20)}
    y = np.digitize(columns["x0"] + rng.normal(size=240_000), [-0.5, 0.5])
    pq.write_table(pa.table(columns | {"y": y}), tmp_path / "rows.parquet")
    script = [sys.executable, "-c", textwrap.dedent(BOUNDED), str(tmp_path / "rows.parquet")]
    pool = {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # the usual one reserves a gigabyte at once
    done = subprocess.run(
        script, capture_output=True, text=True, check=False, env={**os.environ, **pool}
    )
    assert done.returncode == 0, done.stderr


# --- bad input ------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path):
    rng = np.random.default_rng(1)
    rows = tmp_path / "rows"
    rows.mkdir()
    for i in range(2):
        X = rng.normal(size=(300, 2))
        frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": (X[:, 0] > 0) * 1})
        frame.to_parquet(rows / f"{i}.parquet")
    return rows


def refused(source, match, **more):
    boost = edgewise.AOSOLogitBoostClassifier(n_estimators=2)
    with pytest.raises(InvalidDataError, match=match):
        boost.fit(parquet(source, **{"target": "y"} | more))
    assert not hasattr(boost, "classes_")


def test_text_where_numbers_were(small):
    frame = pd.read_parquet(small / "1.parquet")
    frame["b"] = "word"
    frame.to_parquet(small / "1.parquet")
    refused(small, r"must hold numbers.*Column 'b' of .*1.parquet is of type (large_)?string")


def test_columns_that_are_not_there(small):
    pd.read_parquet(small / "1.parquet").drop(columns="b").to_parquet(small / "1.parquet")
    refused(small, r"1.parquet has no column 'b'")
    refused(small / "1.parquet", r"must have one column 'c'. It has 'a', 'y'", columns=["c"])
    refused(small / "1.parquet", r"must have one column 'z'", target="z")
    refused(small / "1.parquet", r"neither the target nor the weights", columns=["a", "y"])
    refused(small / "1.parquet", r"each once", columns=["a", "a"])


def test_no_rows_and_no_files(small, tmp_path):
    for path in small.iterdir():
        pd.read_parquet(path)[:0].to_parquet(path)
    refused(small, "0 sample")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "no Parquet file")
    refused(tmp_path / "nowhere", "cannot be read as Parquet")
    refused(3.5, "path of a Parquet file.*Got float")
    (small / "2.parquet").write_bytes(b"no Parquet at all")
    refused(small, "2.parquet.* cannot be read as Parquet|cannot be read as Parquet.*2.parquet")


def test_gaps_in_the_target(small):
    frame = pd.read_parquet(small / "1.parquet")
    frame["y"] = frame["y"].astype("Int64")
    frame.loc[5, "y"] = pd.NA
    frame.to_parquet(small / "1.parquet")
    refused(small, "target must not have nulls.*has 1")


@pytest.mark.parametrize("odd", ["no\0", "no" * 300_000])
def test_odd_labels_stay_apart_and_take_little_memory(small, odd):
    for path in small.iterdir():
        frame = pd.read_parquet(path)
        frame["y"] = ["no" if label else odd for label in frame["y"]]
        frame.to_parquet(path)
    model = edgewise.AOSOLogitBoostClassifier(n_estimators=2).fit(parquet(small, target="y"))
    assert model.classes_.tolist() == ["no", odd]
    whole = pd.read_parquet(small)
    local = edgewise.AOSOLogitBoostClassifier(n_estimators=2).fit(whole[["a", "b"]], whole["y"])
    np.testing.assert_array_equal(
        model.predict_proba(whole[["a", "b"]]), local.predict_proba(whole[["a", "b"]])
    )


@pytest.mark.parametrize("value", [b"\xff", [1], {"k": 1}])
def test_labels_are_of_a_known_kind(small, value):
    for path in small.iterdir():
        frame = pd.read_parquet(path)
        frame["y"] = [value] * len(frame)
        frame.to_parquet(path)
    refused(small, "target must hold numbers, booleans, strings or dates")


def test_estimators_that_need_memory_say_so(small):
    with pytest.raises(InvalidParameterError, match="AutoBoostClassifier cannot be fitted on rows"):
        edgewise.AutoBoostClassifier().fit(parquet(small, target="y"))


@pytest.mark.parametrize("change", ["rewritten", "cut short", "removed"])
def test_a_file_that_changes_while_it_is_read(small, change, monkeypatch):
    """It changes after the first pass over the rows."""
    part_facts = edgewise.distributed._rows.part_facts
    path = small / "1.parquet"

    def looked(raw, *args):
        if path.exists() and len(raw.y) and looked.calls == 1:
            data = path.read_bytes()
            path.unlink()
            if change != "removed":
                path.write_bytes(data if change == "rewritten" else data[:-100])
        looked.calls += 1
        return part_facts(raw, *args)

    looked.calls = 0
    monkeypatch.setattr(edgewise.distributed._rows, "part_facts", looked)
    refused(small, r"1.parquet was changed while it was read", folder=small.parent)
    assert list(small.parent.iterdir()) == [small]


def test_labels_and_weights_are_named(small):
    boost = edgewise.AOSOLogitBoostClassifier()
    with pytest.raises(InvalidDataError, match="bring their labels and weights along"):
        boost.fit(parquet(small, target="y"), np.zeros(600))
    with pytest.raises(InvalidDataError, match="needs the column of the labels"):
        boost.fit(parquet(small))
    with pytest.raises(InvalidDataError, match="for fit as X, without y"):
        boost.fit(np.zeros((4, 2)), [0, 1, 0, 1], X_val=parquet(small), y_val=[0])
    with pytest.raises(InvalidParameterError, match="cannot be fitted on rows that are not in"):
        edgewise.SAMMEClassifier().fit(parquet(small, target="y"))


FULL = """
    import resource, sys
    import edgewise
    from edgewise.rows import parquet

    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20,) * 2)
    try:
        rows = parquet(sys.argv[1], target="y", folder=sys.argv[2])
        edgewise.MARTClassifier(n_estimators=2).fit(rows)
    except edgewise.distributed.DiskFullError as error:
        print(error)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit of file sizes")
def test_no_room_for_the_bins(small, tmp_path):
    """Files may not grow: what happens on a full disk happens at the same place."""
    bins = tmp_path / "bins"
    bins.mkdir()
    script = [sys.executable, "-c", textwrap.dedent(FULL), str(small), str(bins)]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"need room in the folder {bins}, 16 MB more" in done.stdout
    assert "parquet(..., folder=...)" in done.stdout
    assert list(bins.iterdir()) == []


@pytest.fixture
def full_disk(tmp_path):
    """A file system of 64 kB, where one may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True).returncode:  # noqa: PLW1510
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(small, full_disk):
    boost = edgewise.MARTClassifier(n_estimators=2)
    with pytest.raises(DiskFullError, match=r"disk, 16 MB more: No space left on device"):
        boost.fit(parquet(small, target="y", folder=full_disk))
    assert not hasattr(boost, "classes_")
    assert list(full_disk.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(DiskFullError, match="No such file or directory"):
        BinFile(tmp_path / "nowhere")


def test_room_is_aligned_and_apart(tmp_path):
    bins = BinFile(tmp_path)
    rooms = [bins.room(n) for n in (1, 100, 1 << 24, 64)]
    for i, room in enumerate(rooms):
        room[:] = i
        assert room.ctypes.data % 64 == 0
    assert [int(room[0]) for room in rooms] == [0, 1, 2, 3]
    assert [int(room[-1]) for room in rooms] == [0, 1, 2, 3]
    assert list(Path(tmp_path).iterdir()) == []


def test_a_name_that_is_no_text_is_a_damaged_file(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"qqqq": [0.5, 1.5] * 20, "y": [0, 1] * 20}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"qqqq", b"\xb0\xff\xfeq"))
    with pytest.raises(InvalidDataError, match="cannot be read as Parquet"):
        edgewise.MARTClassifier(n_estimators=1).fit(parquet(path, target="y"))


def test_weights_are_not_the_target(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [0.5, 1.5] * 20, "y": [0, 1] * 20}), path)
    rows = parquet(path, target="y", sample_weight="y")
    with pytest.raises(InvalidDataError, match="different columns. Got 'y' for both"):
        edgewise.MARTClassifier(n_estimators=1).fit(rows)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"columns": 3}, r"'columns'.*a list of names of columns, or None. Got 3"),
        ({"columns": "ab"}, r"'columns'.*a list of names.*Got 'ab'"),
        ({"columns": ["a", 1]}, r"'columns'.*a list of names.*Got \['a', 1\]"),
        ({"target": ["y"]}, r"'target'.*the name of a column, or None. Got \['y'\]"),
        ({"sample_weight": np.ones(3)}, "'sample_weight'.*the name of a column, or None"),
        ({"folder": 3}, "'folder'.*a path, or None. Got 3"),
    ],
)
def test_names_and_paths_are_text(small, given, words):
    with pytest.raises(InvalidParameterError, match=words):
        parquet(small, **given)


def test_columns_may_be_an_index(small):
    boost = edgewise.MARTClassifier(n_estimators=1, min_samples_leaf=5)
    rows = parquet(small, target="y", columns=pd.Index(["b", "a"]))
    assert list(boost.fit(rows).feature_names_in_) == ["b", "a"]
