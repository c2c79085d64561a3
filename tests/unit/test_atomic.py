"""Files that are whole or not there, and journals that only grow."""

import os
import subprocess
import sys

import pytest

from edgewise._ground.atomic import replacing, write_text
from edgewise._ground.errors import InvalidDataError
from edgewise._ground.journal import journal


def test_a_file_is_written(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "new")
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_the_mode_is_that_of_an_ordinary_file(tmp_path):
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "ours", "")
    modes = {(tmp_path / name).stat().st_mode for name in ("plain", "ours")}
    assert len(modes) == 1


def test_a_failure_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail():
        with replacing(path) as stream:
            stream.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_device_is_written_to_directly():
    with pytest.raises(OSError, match="No space left"):
        write_text("/dev/full", "x" * 100_000)
    assert os.path.exists("/dev/full")


def test_a_journal_keeps_appended_lines(tmp_path):
    path = tmp_path / "j.jsonl"
    with journal(path) as book:
        assert book.read(dict, "an entry") == []
        book.append({"a": 1})
        book.append({"b": [2.5]})
    with journal(path) as book:
        assert book.read(dict, "an entry") == [{"a": 1}, {"b": [2.5]}]


def test_a_partial_last_line_is_removed(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"a": 1}\n{"b": ')
    with journal(path) as book:
        assert book.read(dict, "an entry") == [{"a": 1}]
        book.append({"c": 3})
    assert path.read_bytes() == b'{"a": 1}\n{"c": 3}\n'


@pytest.mark.parametrize("line", [b"nonsense\n", b"[1]\n"])
def test_an_invalid_line_is_refused(tmp_path, line):
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"a": 1}\n' + line)
    with journal(path) as book, pytest.raises(InvalidDataError, match="line 2 is not an entry"):
        book.read(dict, "an entry")


def test_one_process_at_a_time(tmp_path):
    path = tmp_path / "j.jsonl"
    with journal(path), pytest.raises(InvalidDataError, match="Another run"), journal(path):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are POSIX")
def test_a_full_disk_takes_the_line_back(tmp_path):
    path = tmp_path / "j.jsonl"
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from edgewise._ground.journal import journal\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "with journal(Path(sys.argv[1])) as book:\n"
        "    book.append({'a': 1})\n"
        "    try: book.append({'b': 'x' * 5000})\n"
        "    except OSError as error: print(error.filename, error.strerror)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert out.stdout == f"{path} File too large\n"
    assert path.read_bytes() == b'{"a": 1}\n'
