"""A fit to Parquet files larger than memory, under a limit that would end it.

A folder of --gigabytes of values (as float64, uncompressed; the files are smaller) is made and, in
the end, deleted, unless --folder is given: its files are used if they are there, and stay. Nine
columns of ten have 200 values, the others are continuous.

whole   five rounds of LogitBoost on all files, in a process that may have no more than --limit
        gigabytes of memory of its own (RLIMIT_DATA: an allocation beyond it fails, which ends the
        fit). Pages of the file of bins, which the system drops when memory is short, do not count.
sample  the same on --sample rows: the model's bits are those of a fit in memory; rows per second of
        both; a run that is killed after a checkpoint resumes from it, and has the same bits, too
limit   reading the whole folder into memory fails under the limit, or the limit shows nothing
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import report

NAME = "parquet"
QUICK = {"gigabytes": 0.2, "columns": 50, "sample": 20_000, "limit": 1.0}
ROWS_OF_FILE = 100_000
ROWS_OF_GROUP = 100_000
N_CLASSES = 3
CONTINUOUS = 10  # one column of so many


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--gigabytes", type=float, default=20.0, help="of values, in all files")
    parser.add_argument("--columns", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=2.0, help="gigabytes of the process")
    parser.add_argument("--sample", type=int, default=200_000, help="rows that are also in memory")
    parser.add_argument("--folder", type=Path, help="of the files, which are kept")


def run(args: Namespace) -> None:
    settings = {key: value for key, value in vars(args).items() if key != "folder"}
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        n_rows = _n_rows(args)
        whole = (args.folder or folder).absolute() / "whole"
        begin = time.perf_counter()
        n_bytes = made(whole, n_rows, args.columns)
        made(folder / "sample", args.sample, args.columns)
        print(
            f"  {n_rows} rows of {args.columns} columns: {n_bytes / 1e9:.1f} GB of files, made in "
            f"{time.perf_counter() - begin:.0f} s",
            flush=True,
        )
        results = {"rows": n_rows, "columns": args.columns, "file_gigabytes": n_bytes / 1e9}
        for part in (_limit, _sample, _whole):
            results |= part(folder, whole, args)
            report.save(NAME, settings, results, quick=args.quick)


def _n_rows(args: Namespace) -> int:
    return round(args.gigabytes * 1e9 / 8 / args.columns)


# --- files --------------------------------------------------------------------------------------


def made(folder: Path, n_rows: int, n_columns: int) -> int:
    """Return the bytes of the files of so many rows, which are written if they are not there."""
    import pyarrow.dataset as ds

    if not folder.exists():
        make(folder, n_rows, n_columns)
    found = ds.dataset(folder, format="parquet")
    shape = (found.count_rows(), len(found.schema) - 1)
    if shape != (n_rows, n_columns):
        raise SystemExit(f"{folder} has {shape} rows and columns, not {(n_rows, n_columns)}.")
    return sum(path.stat().st_size for path in folder.iterdir())


def make(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write the files of so many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    for number, n in enumerate(_sizes(n_rows)):
        columns, y = drawn(number, n, n_columns)
        table = pa.table({f"x{j}": x for j, x in enumerate(columns)} | {"y": y})
        repeated = [f"x{j}" for j in range(n_columns) if j % CONTINUOUS] + ["y"]
        pq.write_table(
            table,
            folder / f"{number:05}.parquet",
            row_group_size=ROWS_OF_GROUP,
            compression="none",
            use_dictionary=repeated,
            write_statistics=False,
        )


def _sizes(n_rows: int) -> Iterator[int]:
    for first in range(0, n_rows, ROWS_OF_FILE):
        yield min(ROWS_OF_FILE, n_rows - first)


def drawn(seed: int, n: int, n_columns: int) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Columns and labels of a file."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.integers(0, 200, size=n, dtype=np.uint8) * 0.25
        if j % CONTINUOUS
        else rng.normal(size=n)
        for j in range(n_columns)
    ]
    score = columns[0] + 0.1 * columns[1] + rng.normal(size=n)
    return columns, np.digitize(score, [1.5, 3.5])


def in_memory(n_rows: int, n_columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rows of the files, as arrays."""
    parts = [drawn(number, n, n_columns) for number, n in enumerate(_sizes(n_rows))]
    X = np.concatenate([np.column_stack(columns) for columns, _ in parts])
    return X, np.concatenate([y for _, y in parts])


# --- parts --------------------------------------------------------------------------------------


def _limit(folder: Path, whole: Path, args: Namespace) -> dict[str, Any]:
    """In memory the whole does not fit under the limit."""
    done = _child({"in_memory": str(whole)}, args, check=False)
    refused = done.returncode != 0 and ("MemoryError" in done.stderr or "malloc" in done.stderr)
    print(f"  reading the whole into memory: {'refused' if refused else 'NOT refused'}", flush=True)
    return {"in_memory_refused": refused}


def _sample(folder: Path, whole: Path, args: Namespace) -> dict[str, Any]:
    from edgewise import load

    source, model = str(folder / "sample"), folder / "sample.edgewise"
    told = _fit(source, model, args)
    X, y = in_memory(args.sample, args.columns)
    local = estimator(args.rounds, args.threads)
    begin = time.perf_counter()
    local.fit(X, y)
    seconds = time.perf_counter() - begin
    _killed(source, folder, args)
    resumed = folder / "resumed.edgewise"
    _fit(source, resumed, args, resume=str(folder / "checkpoint.edgewise"))
    wanted = local.model_.arrays()
    same = {
        "same_bits": _same(wanted, load(model).model_.arrays()),
        "same_bits_resumed": _same(wanted, load(resumed).model_.arrays()),
    }
    rates = {
        "sample_rows_per_second": args.sample * args.rounds / told["seconds"],
        "memory_rows_per_second": args.sample * args.rounds / seconds,
    }
    print(f"  sample of {args.sample} rows: {_words(same | rates)}", flush=True)
    return {"sample": told, "memory_seconds": seconds} | same | rates


def _killed(source: str, folder: Path, args: Namespace) -> None:
    """A fit that is killed as soon as it has written a checkpoint."""
    checkpoint = folder / "checkpoint.edgewise"
    job = {"source": source, "model": str(folder / "never"), "checkpoint": str(checkpoint)}
    process = subprocess.Popen(_command(job, args), stdout=subprocess.DEVNULL, env=_environment())
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    if process.wait() != -signal.SIGKILL:
        raise RuntimeError("the fit ended before it could be killed; use more rounds")


def _whole(folder: Path, whole: Path, args: Namespace) -> dict[str, Any]:
    told = _fit(str(whole), folder / "whole.edgewise", args)
    told["rows_per_second"] = _n_rows(args) * args.rounds / told["seconds"]
    print(f"  whole: {_words(told)}", flush=True)
    return {"whole": told}


def _same(a: dict[str, NDArray[Any]], b: dict[str, NDArray[Any]]) -> bool:
    return all(a[name].tobytes() == b[name].tobytes() for name in a)


def _words(facts: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in facts.items()
    )


# --- the process under the limit ----------------------------------------------------------------


def _fit(source: str, model: Path, args: Namespace, resume: str | None = None) -> dict[str, Any]:
    done = _child({"source": source, "model": str(model), "resume": resume}, args)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def _child(
    job: dict[str, Any], args: Namespace, *, check: bool = True
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        _command(job, args), capture_output=True, text=True, check=False, env=_environment()
    )
    if check and done.returncode:
        raise RuntimeError(f"a fit under the limit ended with {done.returncode}: {done.stderr}")
    return done


def _environment() -> dict[str, str]:
    """pyarrow's usual allocator reserves a gigabyte at once, which the limit would count."""
    return {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}


def _command(job: dict[str, Any], args: Namespace) -> list[str]:
    whole = {"limit": args.limit, "rounds": args.rounds, "threads": args.threads, **job}
    return [sys.executable, "-m", f"{__package__}.bench_parquet", json.dumps(whole)]


def estimator(rounds: int, threads: int) -> Any:
    from edgewise import LogitBoostClassifier

    return LogitBoostClassifier(n_estimators=rounds, calibration=None, n_jobs=threads)


def child(job: dict[str, Any]) -> dict[str, Any]:
    """Fit under the limit, or try to read everything into memory."""
    most = int(job["limit"] * 1e9)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    if "in_memory" in job:
        import pyarrow.parquet as pq

        return {"rows": len(pq.read_table(job["in_memory"]).to_pandas().to_numpy())}
    from edgewise.distributed import settings
    from edgewise.rows import parquet

    rows = parquet(job["source"], target="y", folder=os.path.dirname(job["model"]))
    chosen = {"checkpoint": job.get("checkpoint"), "resume_from": job.get("resume")}
    peaks = Peaks()
    begin = time.perf_counter()
    with settings(checkpoint_every=2, **chosen):
        model = estimator(job["rounds"], job["threads"]).fit(rows)
    seconds = time.perf_counter() - begin
    model.save(job["model"])
    loop = float(model.history_["seconds"][-1])
    return {"seconds": seconds, "preparing_seconds": seconds - loop, **peaks.told()}


class Peaks:
    """The most memory of this process while it lives: its own, and pages of files."""

    def __init__(self) -> None:
        self._most = {"VmData": 0, "RssAnon": 0, "RssFile": 0}
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            for line in Path("/proc/self/status").read_text().splitlines():
                name, _, rest = line.partition(":")
                if name in self._most:
                    self._most[name] = max(self._most[name], int(rest.split()[0]))
            time.sleep(0.1)

    def told(self) -> dict[str, float]:
        """Gigabytes: allocated, of these touched, and touched pages of files."""
        names = {"VmData": "allocated_gb", "RssAnon": "touched_gb", "RssFile": "file_pages_gb"}
        return {names[name]: kilobytes * 1024 / 1e9 for name, kilobytes in self._most.items()}


if __name__ == "__main__":
    print(json.dumps(child(json.loads(sys.argv[1]))))
