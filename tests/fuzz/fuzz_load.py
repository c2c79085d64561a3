"""Fuzzes the loader of model files with atheris: `make fuzz`.

The fuzzer's bytes decide either what is changed in a golden file, or are a file themselves. Every
file loads and predicts, or is a ModelFormatError; anything else ends the run with a report.
"""

import sys
import tempfile
from pathlib import Path

import atheris

LOADER = ["_model", "_tools.load"]
with atheris.instrument_imports(include=[f"edgewise.{name}" for name in LOADER]):
    import edgewise._tools.load  # noqa: F401

from mutation import SEEDS, check, mutated  # noqa: E402

counts = {"loaded": 0, "refused": 0}


def one_input(data: bytes) -> None:
    if data[:1] == b"\0":
        file = data[1:]
    else:
        provider = atheris.FuzzedDataProvider(data[1:])
        file = mutated(lambda n: provider.ConsumeIntInRange(0, n - 1))
    counts["loaded" if check(file) else "refused"] += 1
    if sum(counts.values()) % 100_000 == 0:
        print(counts, file=sys.stderr, flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS):
            (Path(corpus) / str(number)).write_bytes(b"\0" + seed)
            (Path(corpus) / f"m{number}").write_bytes(b"\1" + bytes([number]) * 64)
        atheris.Setup([*sys.argv, corpus], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
