"""Files that are whole or not there: they are written beside, then renamed."""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` when the block ends without an error.

    After an error nothing is left of it, and a file that stood there before is as it was; an error
    of the system names `path`. What cannot be renamed over (a pipe, a terminal, a device) is
    written to directly.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if _is_special(target):
        with target.open("wb") as stream:
            yield stream
        return
    beside = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        with open(beside, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(beside)):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def write_bytes(path: str | Path, content: bytes) -> None:
    with replacing(path) as stream:
        stream.write(content)


def write_text(path: str | Path, text: str) -> None:
    write_bytes(path, text.encode())


def _is_special(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
