"""Rows in Parquet files, which are read in pieces, as often as needed.

A piece is read when it is needed and then released, so the files may be larger than memory. All
passes must find the same rows: files that change in between are detected.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import InvalidDataError

PIECE_BYTES = 32 << 20  # of the values of a piece, as numbers of 8 bytes
BUFFER_BYTES = 1 << 16  # of a column: row groups, which may be large, are read bit by bit
LONGEST_LABEL = 1000  # characters that NumPy's strings, all as wide as the longest, may hold


@dataclass(frozen=True)
class ParquetRows:
    """Rows to learn from; see ``edgewise.rows.parquet``."""

    source: Any
    target: str | None
    columns: Sequence[str] | None
    sample_weight: str | None
    folder: str | os.PathLike[str] | None


class Piece(NamedTuple):
    """Some of the rows."""

    X: NDArray[Any]  # (n, d)
    y: NDArray[Any]
    weights: NDArray[np.float64] | None

    def table(self, names: Sequence[str]) -> Any:
        """X with names."""
        import pyarrow as pa  # noqa: PLC0415 - optional, and slow to load

        return pa.table({name: self.X[:, j] for j, name in enumerate(names)})


class File(NamedTuple):
    """The state of a file when it was first opened."""

    path: str
    system: Any  # of files
    row_groups: list[tuple[int, int]]  # number, and rows in it
    stamp: tuple[int, int | None]  # bytes and time of the last change


class Pieces:
    """The rows piece by piece: iterate over them as often as needed."""

    def __init__(self, rows: ParquetRows) -> None:
        dataset = _dataset(rows.source)
        fragments, schema = list(dataset.get_fragments()), dataset.schema
        if not fragments:
            raise InvalidDataError(f"There is no Parquet file in {_shown(rows.source)}.")
        self._target, self._weight = rows.target, rows.sample_weight
        try:
            names = schema.names
        except UnicodeDecodeError as error:
            raise _unreadable(_shown(rows.source), error) from None
        self.columns = _chosen(rows, names)
        self._short = all(_is_short(schema.field(name).type) for name in self.columns)
        self._n_rows_each = max(256, PIECE_BYTES // (8 * len(self.columns)))
        for name in self.columns:
            _need_numbers(name, schema.field(name).type, _shown(rows.source))
        self._files = [self._file(fragment) for fragment in fragments]
        self._read = list(enumerate(self.columns))

    def reading(self, columns: Iterable[int]) -> "Pieces":
        """The same pieces with zeros in all columns but these, which alone are read."""
        some = copy(self)
        some._read = [(j, self.columns[j]) for j in columns]
        return some

    def __len__(self) -> int:
        """The number of pieces; an empty one if there are no rows."""
        rows = [n for file in self._files for _, n in file.row_groups]
        return max(1, sum(-(-n // self._n_rows_each) for n in rows))

    def __iter__(self) -> Iterator[Piece]:
        empty = True
        for path, batch in _ahead(self._batches()):
            empty = False
            yield self._piece(batch, path)
        if empty:
            weights = None if self._weight is None else np.empty(0)
            yield Piece(np.empty((0, len(self.columns))), np.empty(0), weights)

    # ---

    def _names(self) -> list[str]:
        return [*self.columns, *self._others()]

    def _others(self) -> list[str]:
        return [name for name in (self._target, self._weight) if name is not None]

    def _file(self, fragment: Any) -> File:
        """Return the description of a file; its columns must be those of the first file."""
        path, system = fragment.path, fragment.filesystem
        stamp = _stamp(path, system)
        try:
            schema, groups = fragment.physical_schema, fragment.row_groups
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from None
        for name in self._names():
            if name not in schema.names:
                raise InvalidDataError(f"{path} has no column {name!r}, which other files have.")
            if name != self._target:
                _need_numbers(name, schema.field(name).type, path)
        return File(path, system, [(group.id, group.num_rows) for group in groups], stamp)

    def _batches(self) -> Iterator[tuple[str, Any]]:
        """Batches with the rows of a piece; the last ones of row groups may be smaller."""
        for file in self._files:
            _need_unchanged(file)
            try:
                yield from ((file.path, batch) for batch in self._batches_of(file))
            except (OSError, ValueError, KeyError) as error:
                _need_unchanged(file)
                raise _unreadable(file.path, error) from None
            _need_unchanged(file)

    def _batches_of(self, file: File) -> Iterator[Any]:
        import pyarrow.parquet as pq  # noqa: PLC0415 - optional, and slow to load

        each = self._n_rows_each
        names = [*(name for _, name in self._read), *self._others()]
        chosen: dict[str, Any] = {"columns": names, "use_threads": False}
        with (
            file.system.open_input_file(file.path) as stream,
            pq.ParquetFile(stream, buffer_size=BUFFER_BYTES, pre_buffer=False) as opened,
        ):
            for number, n_rows in file.row_groups:
                found = 0
                for batch in opened.iter_batches(each, row_groups=[number], **chosen):
                    for start in range(0, batch.num_rows, each):
                        yield batch.slice(start, each)
                    found += batch.num_rows
                if found != n_rows:
                    raise ValueError(f"a row group of {n_rows} rows has {found}")

    def _piece(self, batch: Any, path: str) -> Piece:
        kind = np.float32 if self._short else np.float64
        X = np.zeros((batch.num_rows, len(self.columns)), dtype=kind, order="F")
        for j, name in self._read:
            X[:, j] = _numbers(batch.column(name), kind)
        y = np.empty(0) if self._target is None else _labels(batch.column(self._target), path)
        if self._weight is None:
            return Piece(X, y, None)
        return Piece(X, y, _numbers(batch.column(self._weight), np.float64))


def _ahead(items: Iterator[Any]) -> Iterator[Any]:
    """The same items; each is read while the previous one is processed."""
    done = object()
    with ThreadPoolExecutor(1, "edgewise-parquet") as reader:
        coming = reader.submit(next, items, done)
        while (item := coming.result()) is not done:
            coming = reader.submit(next, items, done)
            yield item


def _dataset(source: Any) -> Any:
    try:
        import pyarrow.dataset as ds  # noqa: PLC0415 - optional, and slow to load
    except ImportError:
        raise InvalidDataError(
            "Parquet files are read by pyarrow, which is not installed: pip install "
            "'edgewise[parquet]'."
        ) from None
    if isinstance(source, ds.FileSystemDataset):
        return source
    if isinstance(source, ds.Dataset) or not isinstance(source, str | os.PathLike | list | tuple):
        raise InvalidDataError(
            "Rows come from the path of a Parquet file or of a folder of such files, a list of "
            f"paths, or a pyarrow.dataset.FileSystemDataset. Got {type(source).__name__}."
        )
    try:
        return ds.dataset(
            [os.fspath(path) for path in source]
            if isinstance(source, list | tuple)
            else os.fspath(source),
            format="parquet",
        )
    except (OSError, ValueError) as error:
        raise _unreadable(_shown(source), error) from None


def _shown(source: Any) -> str:
    return str(source) if isinstance(source, str | os.PathLike) else type(source).__name__


def _chosen(rows: ParquetRows, names: list[str]) -> list[str]:
    """The columns to learn from."""
    others = [name for name in (rows.target, rows.sample_weight) if name is not None]
    columns = [n for n in names if n not in others] if rows.columns is None else [*rows.columns]
    for name in (*columns, *others):
        if names.count(name) != 1:
            raise InvalidDataError(
                f"{_shown(rows.source)} must have one column {name!r}. It has "
                f"{', '.join(map(repr, names[:10]))}{', ...' if len(names) > 10 else ''}."
            )
    if not columns or len(set(columns)) < len(columns) or set(columns) & set(others):
        raise InvalidDataError(
            "columns must name one column or more, each once, and neither the target nor the "
            f"weights. Got {columns[:10]}."
        )
    if len(set(others)) < len(others):
        raise InvalidDataError(
            f"target and sample_weight must name different columns. Got {others[0]!r} for both."
        )
    return columns


def _need_numbers(name: str, kind: Any, path: str) -> None:
    import pyarrow as pa  # noqa: PLC0415 - optional, and slow to load

    number = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    if not (number or pa.types.is_null(kind)):
        raise InvalidDataError(
            "The columns of Parquet files must hold numbers; encode text and categories, turn "
            "dates into seconds, or leave such columns out by columns=. "
            f"Column {name!r} of {path} is of type {kind}."
        )


def _is_short(kind: Any) -> bool:
    """Return whether numbers of 4 bytes hold the values exactly."""
    import pyarrow as pa  # noqa: PLC0415 - optional, and slow to load

    small = (pa.bool_(), pa.int8(), pa.uint8(), pa.int16(), pa.uint16())
    return kind in (*small, pa.float16(), pa.float32())


def _numbers(column: Any, kind: type) -> NDArray[Any]:
    """NaN where null."""
    import pyarrow as pa  # noqa: PLC0415 - optional, and slow to load

    wanted = pa.from_numpy_dtype(kind)
    if column.type != wanted:
        column = (column.cast(pa.uint8()) if pa.types.is_boolean(column.type) else column).cast(
            wanted, safe=False
        )
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _labels(column: Any, path: str) -> NDArray[Any]:
    if column.null_count:
        raise InvalidDataError(f"The target must not have nulls. {path} has {column.null_count}.")
    values = np.asarray(column.to_numpy(zero_copy_only=False))
    if values.dtype.kind != "O":
        return values
    if not all(isinstance(value, str) for value in values):
        raise InvalidDataError(
            f"The target must hold numbers, booleans, strings or dates. That of {path} is of type "
            f"{column.type}."
        )
    # NumPy's strings drop NUL characters at the end.
    lossy = any(len(value) > LONGEST_LABEL or value.endswith("\0") for value in values)
    return values if lossy else values.astype(str)


def _stamp(path: str, system: Any) -> tuple[int, int | None]:
    info = system.get_file_info(path)
    return info.size, info.mtime_ns


def _need_unchanged(file: File) -> None:
    if _stamp(file.path, file.system) != file.stamp:
        raise InvalidDataError(
            f"{file.path} was changed while it was read. A fit reads its files several times: "
            "do not change them until it ends."
        )


def _unreadable(path: str, error: Exception) -> InvalidDataError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return InvalidDataError(f"{path} cannot be read as Parquet: {lines[0]}")
