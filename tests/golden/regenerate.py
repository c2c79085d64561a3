"""Writes expected.json and bits.json anew from the installed package: one line for each fit."""

import itertools
import json
import tempfile
from pathlib import Path

from test_bits import BITS, bits_of_files, bits_of_fits
from test_golden import DATA, ESTIMATORS, EXPECTED, figures


def lines():
    yield "{"
    for data in DATA:
        yield f"{json.dumps(data)}: {{"
        yield ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(figures(data, name))}" for name in ESTIMATORS
        )
        yield "}" if data == list(DATA)[-1] else "},"
    yield "}"


def lines_of_bits():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.edgewise")
        every = itertools.chain(bits_of_fits(path), bits_of_files(path))
        yield ",\n".join(f"{json.dumps(name)}: {json.dumps(bits)}" for name, bits in every)


if __name__ == "__main__":
    EXPECTED.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    BITS.write_text("\n".join(["{", *lines_of_bits(), "}"]) + "\n", encoding="utf-8")
