"""Everything that is read, as targets of a fuzzer: each is given `draw` and makes up one input.

A target returns whether the input was taken. An input that is not valid is an EdgewiseError; any
other error is a bug, and so is whatever ends the process.
"""

import json
import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from fuzz.mutation import REAL, WHOLE, WORDS, Draw, check, mutated, with_other_bytes
from sklearn.base import clone

import edgewise
from edgewise import EdgewiseError
from edgewise._ground import params as p
from edgewise._ground.journal import journal
from edgewise.cli import _options, fit
from edgewise.comparison import _store, need_parameters
from edgewise.experiments import _store as _cells
from edgewise.lab.page import server
from edgewise.tables import open_table

sys.path.append(str(Path(__file__).parents[1] / "distributed"))
FOLDER = Path(tempfile.mkdtemp(prefix="edgewise-fuzz-"))
RNG = np.random.default_rng(0)
X = RNG.random((40, 3))
Y = (X[:, 0] * 3).astype(int)
FAST = {"n_estimators": 2, "max_leaf_nodes": 4, "min_samples_leaf": 1, "n_jobs": 1}


def value(draw: Draw, depth: int = 3):
    """Anything that JSON can hold, and some that it cannot."""
    kinds = [
        lambda: WHOLE[draw(len(WHOLE))],
        lambda: 10 ** draw(500),
        lambda: REAL[draw(len(REAL))],
        lambda: WORDS[draw(len(WORDS))],
        lambda: [None, True, False][draw(3)],
        lambda: [value(draw, depth - 1) for _ in range(draw(5))],
        lambda: {WORDS[draw(len(WORDS))]: value(draw, depth - 1) for _ in range(draw(4))},
    ]
    return kinds[draw(len(kinds) if depth else 5)]()


def changed(document, draw: Draw):
    """A document with a part of it replaced."""
    if isinstance(document, dict) and document and draw(4):
        key = sorted(document)[draw(len(document))]
        if draw(8) == 0:
            return {k: v for k, v in document.items() if k != key}
        return document | {key: changed(document[key], draw)}
    if isinstance(document, list) and document and draw(3):
        at = draw(len(document))
        return [*document[:at], changed(document[at], draw), *document[at + draw(3) :]]
    return value(draw)


def text(document, draw: Draw) -> bytes:
    """JSON of a changed document, or such JSON with other bytes."""
    content = json.dumps(changed(document, draw)).encode()
    if draw(6) == 0:
        content = b"[" * (10 ** draw(6)) + content
    return content if draw(3) else with_other_bytes(bytearray(content), draw)


def taken(work: Callable[[], object]) -> bool:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            work()
    except EdgewiseError:
        return False
    return True


# --- files ----------------------------------------------------------------------------------------


def model_files(draw: Draw) -> bool:
    return check(mutated(draw))


def checkpoints(draw: Draw) -> bool:
    fit_blocks = import_module("support_blocks").fit_blocks  # needs Dask
    path = FOLDER / "rounds"
    boost = edgewise.MARTClassifier(**FAST)
    if not checkpoints.written:
        fit_blocks(boost, X, Y, checkpoint=path)
        checkpoints.written = path.read_bytes()
    path.write_bytes(mutated(draw, [checkpoints.written]))
    longer = clone(boost).set_params(n_estimators=3)
    return taken(lambda: fit_blocks(longer, X, Y, resume_from=path))


checkpoints.written = b""

LINES = {
    "result": {
        "key": "0a", "method": "mart", "repeat": 0, "fold": 0, "n_train": 5, "n_test": 5,
        "wrong": 1, "log_loss": 0.5, "brier": 0.1, "calibration": 0.1, "top_calibration": 0.1,
        "fit_seconds": 0.1, "predict_seconds": 0.1, "model_bytes": 100, "curve": [0.5, 0.25],
        "warnings": ["one"],
    },
    "cell": {
        "experiment": "e", "scale": "small", "cell": "c", "seed": 0, "params": {"a": 1},
        "data": None, "data_hash": "", "version": 1, "outcome": {"error": 1}, "seconds": 0.5,
    },
}  # fmt: skip


def journals(draw: Draw) -> bool:
    name = sorted(LINES)[draw(2)]
    path = FOLDER / "journal"
    path.write_bytes(text(LINES[name], draw) + b"\n" + json.dumps(LINES[name]).encode() + b"\n")

    def work():
        with journal(path) as lines:
            if name == "cell":
                return [record.key()[2] + record.cell for record in _entries(lines, _cells)]
            found = _entries(lines, _store)
            return [(key + r.method, r.error + r.log_loss, sum(r.curve)) for key, r in found]

    return taken(work)


def _entries(lines, module):
    return lines.read(module._record if module is _cells else module._keyed, "an entry")


def _given(parameters) -> None:
    """What the command line does with parameters before it fits."""
    need_parameters(edgewise.MARTClassifier, parameters)
    boost = edgewise.MARTClassifier(**parameters)
    p.check("MARTClassifier", boost.get_params(deep=False), boost._rules)


def parameter_files(draw: Draw) -> bool:
    path = FOLDER / "params.json"
    path.write_bytes(text({"params": {"n_estimators": 2, "class_weight": {"0": 1.0}}}, draw))
    return taken(lambda: _given(fit.read_params(path)[1]))


def parameter_texts(draw: Draw) -> bool:
    signs = ["n_estimators", "=", "[", "]", "{", "}", "(", "-", "1", "0.5", ":", ",", "'", "a", "9"]
    words = "".join(signs[draw(len(signs))] * (1 + draw(3) * draw(2000)) for _ in range(draw(8)))
    return taken(lambda: _given(_options.parsed([f"max_depth={words}"])))


CSV = b'a,b,y\n1,2.5,x\n"3",NA,y\n5,-6e3,x\n'
SVM = b"0 1:2 3:0.5\n1 2:1.5\n0 1:1 # a remark\n1 2:-3\n"


def _table(content: bytes, name: str) -> Callable[[], object]:
    path = FOLDER / name
    path.write_bytes(content)
    return lambda: open_table(path).labelled(None)


def csv_files(draw: Draw) -> bool:
    content = with_other_bytes(bytearray(CSV), draw)
    pieces = [
        b"\r",
        b"\n",
        b'"',
        b",",
        b"\0",
        b"\xff",
        b"x" * 140_000,
        b"\n" * 70_000,
        b"\xef\xbb\xbf",
    ]
    for _ in range(draw(4)):
        at = draw(len(content) + 1)
        content = content[:at] + pieces[draw(len(pieces))] + content[at:]
    return taken(_table(content.replace(b"\n", b"\r") if draw(5) == 0 else content, "t.csv"))


def svmlight_files(draw: Draw) -> bool:
    content = with_other_bytes(bytearray(SVM), draw)
    numbers = [b"4294967296", b"-1", b"99999999999999999999", b"1e999", b"nan", b"2147483647", b"0"]
    for _ in range(draw(3)):
        content = content.replace([b"1", b"2", b"3"][draw(3)], numbers[draw(len(numbers))], 1)
    return taken(_table(content, "t.svm"))


# --- arguments ------------------------------------------------------------------------------------


def csr_triples(draw: Draw) -> bool:
    matrix = sp.csr_array(np.where(X > 0.5, X, 0.0))
    for name in ("indices", "indptr"):
        array = np.array(getattr(matrix, name), dtype=[np.int32, np.int64, np.uint64][draw(3)])
        for _ in range(draw(3)):
            number = WHOLE[draw(len(WHOLE))] if draw(2) else draw(50)
            array[draw(len(array))] = number % 2**31 if array.dtype == np.int32 else number % 2**63
        setattr(matrix, name, array[: len(array) - (draw(8) == 0)])
    known = edgewise.MARTClassifier(**FAST).fit(X, Y)
    fitted = taken(lambda: edgewise.MARTClassifier(**FAST).fit(matrix, Y))
    predicted = taken(lambda: known.predict_proba(matrix))
    assert fitted == predicted
    return fitted


BOOSTERS = [
    edgewise.AOSOLogitBoostClassifier,
    edgewise.ABCMARTClassifier,
    edgewise.MARTClassifier,
    edgewise.AdaBoostMHClassifier,
    edgewise.SAMMEClassifier,
    edgewise.SoftmaxBoostClassifier,
    edgewise.MartiBoostClassifier,
]


def constructor_parameters(draw: Draw) -> bool:
    kind = BOOSTERS[draw(len(BOOSTERS))]
    boost = kind(**{k: v for k, v in FAST.items() if k in kind._get_param_names()})
    free = [name for name in kind._get_param_names() if name not in ("n_estimators", "n_layers")]
    for _ in range(1 + draw(2)):
        boost.set_params(**{free[draw(len(free))]: value(draw)})
    y = Y if kind is not edgewise.MartiBoostClassifier else (Y > 0).astype(int)
    return taken(lambda: boost.fit(X, y).predict_proba(X))


QUESTIONS = {
    "/api/walk": {"matrix": [[1, -1], [-1, 1], [1, 1]], "start": [0.5, 0.25, 0.25], "n_steps": 3,
                  "n_skipped": 2, "rule": {"name": "optimal"}, "ties": "lowest"},
    "/api/random-matrix": {"m": 3, "n": 3, "error_rate": 0.3, "random_state": 1},
    "/api/random-start": {"m": 3, "random_state": 1},
    "/api/truth-table": {"counts": [[3, 1], [2, 1], [1, 1], [2, 0]], "loss": "exponential",
                         "rule": "greedy", "n_rounds": 2, "reuse": True, "negations": False},
}  # fmt: skip


def questions_of_the_page(draw: Draw) -> bool:
    path = sorted(QUESTIONS)[draw(len(QUESTIONS))]
    question = changed(QUESTIONS[path], draw)
    return taken(lambda: server._json(server._ANSWERS[path](question)))


TARGETS: dict[str, Callable[[Draw], bool]] = {
    target.__name__: target
    for target in (
        model_files,
        checkpoints,
        journals,
        parameter_files,
        parameter_texts,
        csv_files,
        svmlight_files,
        csr_triples,
        constructor_parameters,
        questions_of_the_page,
    )
}

if __name__ == "__main__":  # python -m fuzz.targets TARGET SEED RUNS, in the folder tests
    if len(sys.argv) == 1:
        sys.exit(print(*TARGETS))
    name, seed, runs = sys.argv[1:]
    for number in range(int(seed), int(seed) + int(runs)):
        try:
            TARGETS[name](random.Random(number).randrange)
        except BaseException:
            print(f"{name}: seed {number}", file=sys.stderr)
            raise
    print(name, runs)
