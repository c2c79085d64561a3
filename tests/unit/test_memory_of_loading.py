"""Loading a model file takes at most 8 times its size and 64 MB, whatever the file says."""

import random
import subprocess
import sys

import numpy as np
import pytest
from fuzz.mutation import mutated
from support_files import rewritten, save_aoso, say

import edgewise
from edgewise._model.check import TYPES
from edgewise._tools.load import from_bytes

MB = 1 << 20
NARROW = {"round_start": "i4", "node_start": "i4", "value_start": "i4"}
# Every file is loaded by a child of its own, of a process that has imported all there is to import.
LOAD = """
import os, sys
from pathlib import Path
import edgewise

def figure(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(name))

def measured(path):
    before = figure("VmHWM")
    try:
        edgewise.load(path)
        said = "loaded"
    except edgewise.ModelFormatError:
        said = "refused"
    print(path.name, said, figure("VmHWM") - before, path.stat().st_size, sep="|", flush=True)

files = sorted(Path(sys.argv[1]).iterdir())
edgewise.load(files[0])
for path in files:
    if (child := os.fork()) == 0:
        measured(path)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return save_aoso(tmp_path_factory.mktemp("file") / "sound.edgewise")


@pytest.fixture(scope="module")
def peaks(sound, tmp_path_factory):
    """Of the hostile files below, by name."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / " sound").write_bytes(sound.read_bytes())
    for name, change in HOSTILE.items():
        (folder / name).write_bytes(rewritten(sound, change()))
    return measured(folder)


def measured(folder):
    """By name of a file: what became of it, the bytes it took at most, and its size."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD, folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = (line.split("|") for line in done.stdout.splitlines())
    return {name: (said, int(peak), int(size)) for name, said, peak, size in lines}


# --- files that ask for much ----------------------------------------------------------------------


def labels(values, dtype="str"):
    encoded = {"dtype": dtype, "shape": [len(values)], "values": values}
    return say("classes", value=encoded)


def categories(pieces):
    """A table of strings for column 0."""
    coded = [piece.encode() for piece in pieces]
    start = np.cumsum([0, *map(len, coded)], dtype=np.int64)

    def change(header, arrays):
        header["categories"] = {"0": "str"}
        arrays["categories.0.start"] = start
        arrays["categories.0.text"] = np.frombuffer(b"".join(coded), dtype=np.uint8)

    return change


def parameter(value):
    return say("parameters", "class_weight", value=value)


def many_columns(n, *, named=False):
    def change(header, arrays):
        header["n_features"] = n
        arrays["is_categorical"] = np.ones(n, dtype=np.uint8)
        header["feature_names"] = [f"c{j}" for j in range(n)] if named else None

    return change


def many_tables(n):
    def change(header, arrays):
        many_columns(n)(header, arrays)
        header["categories"] = {str(j): "str" for j in range(n)}
        for j in range(n):
            arrays[f"categories.{j}.start"] = np.zeros(1, dtype=np.int64)
            arrays[f"categories.{j}.text"] = np.zeros(0, dtype=np.uint8)

    return change


def many_arrays(n):
    return lambda header, arrays: arrays.update({f"x{i}": np.zeros(0) for i in range(n)})


def words(n, alphabet="abcdefghijklmnopqrstuvwxyz0123456789"):
    """Short strings, all different."""
    base = len(alphabet)
    digits = max(1, int(np.ceil(np.log(n) / np.log(base))))
    return sorted(
        "".join(alphabet[i // base**place % base] for place in range(digits)) for i in range(n)
    )


def many_narrow_trees(n):
    """Stumps whose arrays are as narrow as they can be: a quarter of their size in memory."""

    def change(header, arrays):
        stump = {"feature": [0, -1, -1], "left": [1, 0, 1], "missing_left": [0, 0, 0]}
        zeros = {"threshold": 3, "gain": 3, "cover": 3, "values": 2, "classes": 2}
        of_trees = {name: np.tile(values, n) for name, values in stump.items()}
        of_trees |= {name: np.zeros(length * n) for name, length in zeros.items()}
        of_trees |= {"width": np.ones(n), "round_start": np.array([0, n])}
        of_trees |= {"node_start": 3 * np.arange(n + 1), "value_start": 2 * np.arange(n + 1)}
        for name, array in of_trees.items():
            wide = TYPES[name].str[1:]
            arrays[f"model.{name}"] = array.astype(
                NARROW.get(name, {"f8": "f2", "i4": "i1"}.get(wide, wide))
            )
        arrays["model.set_start"], arrays["model.set_values"] = np.zeros(1, "i2"), np.zeros(0, "f2")
        arrays.pop("is_categorical")
        header["fitted"]["n_iter_"] = 1
        for name in [name for name in arrays if name.startswith("history.")]:
            arrays[name] = arrays[name][:1]

    return change


HOSTILE = {
    "many narrow trees": lambda: many_narrow_trees(400_000),
    "one long category of many": lambda: categories([*words(16_000), "x" * 16_000]),
    "many short categories": lambda: categories(words(900_000)),
    "many categories of wide characters": lambda: categories(words(600_000, "😀😁😂😃😄😅😆😇")),
    "equal categories": lambda: categories(["ab"] * 1_000_000),
    "one long label of many": lambda: labels([*words(16_000), "zzzz" + "x" * 16_000]),
    "many short labels": lambda: labels(words(500_000)),
    "many labels as objects": lambda: labels(words(500_000), "object"),
    "many columns": lambda: many_columns(2**23),
    "many names": lambda: many_columns(400_000, named=True),
    "columns and nothing else": lambda: say("n_features", value=2**27),
    "many tables": lambda: many_tables(40_000),
    "many arrays": lambda: many_arrays(60_000),
    "empty lists": lambda: parameter([[]] * 2_000_000),
    "empty objects": lambda: parameter([{}] * 2_000_000),
    "small objects": lambda: parameter([{"": 1}] * 700_000),
    "a set": lambda: parameter({"set": list(range(600_000))}),
    "a dict": lambda: parameter({"dict": [[i, 1] for i in range(500_000)]}),
    "short strings": lambda: parameter(words(600_000)),
    "one wide character and much text": lambda: parameter("😀" + "x" * 8_000_000),
    "half a surrogate and much text": lambda: parameter("\ud800" + "x" * 8_000_000),
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_takes_much_more_than_its_size(name, peaks):
    said, peak, size = peaks[name]
    assert peak <= 8 * size + 64 * MB, f"{said}: {peak / MB:.0f} MB of a file of {size / MB:.1f} MB"


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_no_changed_file_of_the_fuzzer_takes_much_more_than_its_size(sound, tmp_path):
    chance = random.Random(5)
    (tmp_path / " sound").write_bytes(sound.read_bytes())
    for i in range(400):
        (tmp_path / str(i)).write_bytes(mutated(chance.randrange))
    peaks = measured(tmp_path)
    assert len(peaks) == 401
    assert {said for said, _, _ in peaks.values()} == {"loaded", "refused"}
    assert all(peak <= 8 * size + 64 * MB for _, peak, size in peaks.values())


def test_wide_models_can_be_loaded(sound):
    """What is within the budget: columns with names."""
    model = from_bytes(rewritten(sound, many_columns(400_000, named=True)))
    assert model.n_features_in_ == 400_000
    assert len(model.feature_names_in_) == 400_000


def test_many_narrow_trees_are_a_sound_model(sound):
    model = from_bytes(rewritten(sound, many_narrow_trees(1000)))
    assert model.model_.n_trees == 1000
    assert model.model_.threshold.dtype == np.float64


def test_the_error_names_what_is_too_large(sound):
    for name in ("empty lists", "one long label of many"):
        with pytest.raises(edgewise.ModelFormatError, match="memory"):
            from_bytes(rewritten(sound, HOSTILE[name]()))
