"""What `save` leaves of a file that was there: its mode, its owner, and all of it when it may not
be written to; and what `load` does not wait for."""

import os
import subprocess
import sys

import pytest
from support import table

import edgewise
from edgewise._ground.atomic import need_writable, write_text

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes and pipes are POSIX")


@pytest.fixture(scope="module")
def model():
    return edgewise.MARTClassifier(n_estimators=2).fit(*table(0))


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_a_save_keeps_the_mode_of_the_file(model, tmp_path, mode):
    path = tmp_path / "m.edgewise"
    model.save(path)
    path.chmod(mode)
    model.save(path)
    assert path.stat().st_mode & 0o777 == mode
    edgewise.load(path)


def test_the_file_beside_is_never_readable_by_more_than_the_old_one(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o600)
    seen = []
    with edgewise._ground.atomic.replacing(path) as stream:
        seen = [(tmp_path / name).stat().st_mode & 0o777 for name in os.listdir(tmp_path)]
        stream.write(b"new")
    assert seen == [0o600, 0o600]


def as_nobody(code, *arguments):
    """Runs code in a process that is not root's: root may write to everything."""
    drop = "import os, sys, edgewise\nif os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
    return subprocess.run(
        [sys.executable, "-c", drop + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def everyones(tmp_path):
    """A folder that a process without rights reaches and may write to."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and str(folder).startswith("/tmp/"):
            folder.chmod(0o777)
    return tmp_path


def test_a_file_that_may_not_be_written_to_stays_as_it_is(everyones):
    path = everyones / "a"
    path.write_text("old")
    path.chmod(0o400)
    if os.getuid() == 0:
        os.chown(path, 65534, 65534)
    code = (
        "from edgewise._ground.atomic import write_text\n"
        "try: write_text(sys.argv[1], 'new')\n"
        "except PermissionError as error: print(error.filename, error.strerror)\n"
    )
    done = as_nobody(code, path)
    assert done.stdout == f"{path} Permission denied\n", done.stderr
    assert path.read_text() == "old"
    assert os.listdir(everyones) == ["a"]


def test_a_place_that_cannot_be_written_to_is_known_before(tmp_path):
    need_writable(tmp_path / "new")
    write_text(tmp_path / "old", "old")
    need_writable(tmp_path / "old")
    assert (tmp_path / "old").read_text() == "old"
    assert os.listdir(tmp_path) == ["old"]
    for wrong in (tmp_path / "none" / "a", tmp_path):
        with pytest.raises(OSError, match=r"No such file|Is a directory"):
            need_writable(wrong)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    code = (
        "import sys, edgewise\n"
        "try: edgewise.load(sys.argv[1])\n"
        "except edgewise.ModelFormatError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == f"A model is read from a regular file. {path} is a pipe.\n", done.stderr


@pytest.mark.parametrize(("path", "word"), [("/dev/zero", "device"), ("/", "folder")])
def test_devices_and_folders_are_refused(path, word):
    with pytest.raises(edgewise.ModelFormatError, match=word):
        edgewise.load(path)
