"""The very bits of golden fits: the same on every processor, system and compiler.

A digest covers a whole model (what a file of it holds, but for the seconds that fits took) or its
probabilities. After an intended change of arithmetic: `python tests/golden/regenerate.py`.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from test_files import rows_for
from test_golden import DATA, ESTIMATORS, fitted
from write_files import models, without_seconds

BITS = Path(__file__).with_name("bits.json")


def digest(content):
    return hashlib.sha256(content).hexdigest()


def bits(model, X, path):
    """Digests of a model's file and of its probabilities."""
    without_seconds(model).save(path)
    proba = np.ascontiguousarray(model.predict_proba(X))
    return {"file": digest(path.read_bytes()), "proba": digest(proba.tobytes())}


def bits_of_fits(path):
    """Digests of every golden fit, by name."""
    for data in DATA:
        for name in ESTIMATORS:
            yield f"{name} on {data}", bits(fitted(data, name), DATA[data]()[0], path)


def bits_of_files(path):
    """Digests of the models that golden files hold, fitted again, by name."""
    for name, model in models():
        yield f"file {name}", bits(model, rows_for(model), path)


@pytest.mark.parametrize("bits_of", [bits_of_fits, bits_of_files])
def test_every_model_has_the_committed_bits(bits_of, tmp_path):
    expected = json.loads(BITS.read_text(encoding="utf-8"))
    got = dict(bits_of(tmp_path / "model.edgewise"))
    assert {name: expected.get(name) for name in got} == got
