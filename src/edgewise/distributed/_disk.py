"""Rows on a disk: parts are read from Parquet files, and blocks keep their bins in a mapped file.

The parts of the fit that hold rows are those of a cluster, one after the other in this process, and
all threads work on one. Most of what grows with the rows is in a mapped file: bins, probabilities
and the rows of nodes. The system reads its pages when they are needed and drops them when memory is
short. Labels and leaves of rows are in memory.
"""

import errno
import mmap
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .._data.parquet import Pieces
from .._ground.errors import EdgewiseError
from ._backend import Function
from ._block import Bins, Block, joined
from ._facts import Raw

# Bins of a block: a part of the values that is read at a time makes a small block, each of which
# has a copy of the cuts. And glibc maps arrays of more than 32 MB apart from its heap, which thus
# keeps no holes.
BLOCK_BYTES = 36 << 20


class DiskFullError(EdgewiseError, OSError):
    """There is no room for the bins of the rows."""


class Parts:
    """Raw parts, made whenever they are iterated over."""

    def __init__(self, n: int, make: Callable[[], Iterable[Any]]) -> None:
        self._n = n
        self._make = make

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[Any]:
        return iter(self._make())


class PieceParts(Parts):
    """The pieces of Parquet files as raw parts."""

    def __init__(self, pieces: Pieces) -> None:
        super().__init__(len(pieces), lambda: (Raw(*piece) for piece in pieces))
        self._pieces = pieces

    def reading(self, columns: Iterable[int]) -> "PieceParts":
        """The same parts with zeros in all columns but these, which alone are read."""
        return PieceParts(self._pieces.reading(columns))


class DiskBackend:
    """One part after the other, each with all threads."""

    n_workers = 1

    def __init__(self, n_threads: int, folder: str | os.PathLike[str] | None) -> None:
        self.n_threads = n_threads
        self._bins = BinFile(folder)

    def derived(self, function: Function, parts: Any, each: Sequence[Any]) -> Any:
        return Parts(len(parts), lambda: map(function, parts, each))

    def map(self, function: Function, parts: Any, *args: Any) -> list[Any]:
        made = (function(part, *args) for part in parts)
        return [self._settled(blocks) for blocks in _together(made)]

    def _settled(self, blocks: list["Bins"]) -> Block:
        """One block of several parts, whose arrays are in lent room."""
        block = joined(blocks, self.n_threads)
        block.lend = self._bins.room
        block.settle(block.data)
        return block

    def sum(self, function: Function, parts: Any, *args: Any, add: Function) -> Any:
        total, first = None, True
        for part in parts:
            answer = function(part, *args)
            total, first = (answer if first else add(total, answer)), False
        return total

    def lead(self, asks: Function, parts: Any, task: Any, answer: Function, add: Function) -> Any:
        """Return None: no place is nearer to the blocks than this process."""
        return None

    def cancel(self, handles: Sequence[Any]) -> None:
        """Do nothing: parts live as long as their handles."""

    def close(self) -> None:
        self._bins.close()


def _together(made: Iterable[Block]) -> Iterator[list[Bins]]:
    """The bins of blocks, as many at a time as one block is to have."""
    some: list[Bins] = []
    for block in made:
        some.append(Bins.of(block))
        if sum(len(bins.columns) for bins in some) >= BLOCK_BYTES:
            yield some
            some = []
    if some:
        yield some


class BinFile:
    """Room in files without names: they vanish when no process uses them, even after a crash."""

    FIRST, LARGEST = 1 << 24, 1 << 30  # bytes of a file
    ALIGNED = 64

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._folder = tempfile.gettempdir() if folder is None else os.fspath(folder)
        self._next = self.FIRST
        self._free: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self._file().close()  # is there a folder to write to?

    def room(self, n_bytes: int) -> NDArray[np.uint8]:
        """Return a number of bytes of a mapped file."""
        n_bytes = -(-n_bytes // self.ALIGNED) * self.ALIGNED
        if n_bytes > len(self._free):
            self._free = self._mapped(max(n_bytes, self._next))
            self._next = min(2 * self._next, self.LARGEST)
        room, self._free = self._free[:n_bytes], self._free[n_bytes:]
        return room

    def close(self) -> None:
        """The files stay until the last room is left."""
        self._free = np.empty(0, dtype=np.uint8)

    def _file(self) -> IO[bytes]:
        try:
            return tempfile.TemporaryFile(prefix="edgewise-", dir=self._folder)
        except OSError as error:
            raise self._error(error) from None

    def _mapped(self, n_bytes: int) -> NDArray[np.uint8]:
        with self._file() as file:
            try:
                _reserve(file, n_bytes)
                mapped = mmap.mmap(file.fileno(), n_bytes)
            except OSError as error:
                raise self._error(error, n_bytes) from None
        return np.frombuffer(mapped, dtype=np.uint8)

    def _error(self, error: OSError, n_bytes: int = 0) -> DiskFullError:
        code = error.errno or errno.EIO
        more = f", {n_bytes >> 20} MB more" if n_bytes else ""
        return DiskFullError(
            code,
            f"The bins of the rows need room in the folder {self._folder}{more}: "
            f"{os.strerror(code)}. Choose another folder with parquet(..., folder=...).",
        )


def _reserve(file: IO[bytes], n_bytes: int) -> None:
    """Allocate the room now: writing a page without room would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, n_bytes)
        return
    zeros = bytes(1 << 20)
    for _ in range(0, n_bytes, len(zeros)):
        file.write(zeros)
    file.flush()
    file.truncate(n_bytes)
