"""Files that are complete or absent: they are written under another name, then renamed."""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, which replaces `path` when the block ends without an error.

    After an error the file is removed and an existing file is unchanged; an error of the system
    names `path`. A file without write permission is not replaced. The new file has the mode of the
    old one and, if possible, its owner. A path that renaming cannot replace (a pipe, a terminal, a
    device) is written to directly.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    before = _stat(target)
    if before is not None and _is_special(before):
        with target.open("wb") as stream:
            yield stream
        return
    beside = _beside(target)
    try:
        if before is not None:
            os.close(os.open(target, os.O_WRONLY))  # renaming checks no permission
        with open(beside, "xb", opener=_private if before is not None else None) as stream:
            if before is not None:
                _be_like(before, stream.fileno())
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        names = (None, str(beside), str(target))
        if isinstance(error, OSError) and error.filename in names:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def write_bytes(path: str | Path, content: bytes) -> None:
    with replacing(path) as stream:
        stream.write(content)


def write_text(path: str | Path, text: str) -> None:
    write_bytes(path, text.encode())


def need_writable(path: str | Path) -> None:
    """Raise the OSError that `replacing` would raise, before the work instead of after it."""
    target = Path(os.path.realpath(path))
    before = _stat(target)
    try:
        if before is not None:
            os.close(os.open(target, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0)))
        if before is None or not _is_special(before):
            beside = _beside(target)
            beside.touch(exist_ok=False)
            beside.unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.part")


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _is_special(found: os.stat_result) -> bool:
    return not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _be_like(before: os.stat_result, file: int) -> None:
    """Give a new file the owner and the mode of the old one; no other group gains access."""
    mode = stat.S_IMODE(before.st_mode) & 0o777
    if hasattr(os, "fchown"):
        now = os.fstat(file)
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            try:
                os.fchown(file, before.st_uid, before.st_gid)
            except PermissionError:
                mode &= ~0o070 if now.st_gid != before.st_gid else 0o777
        os.fchmod(file, mode)
