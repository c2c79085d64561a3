"""Every call of the system that a save makes fails once: the old file stays, and nothing else."""

import builtins
import errno
import io
import os
from pathlib import Path

import numpy as np
import pytest

import edgewise
from edgewise._ground import atomic
from edgewise._ground.journal import journal

CALLS = ["open", "close", "write", "fsync", "replace", "fchmod", "fchown", "ftruncate", "lseek"]
MOST = 40  # calls of one save


class Fault:
    """Counts calls of the system, and fails in one of them."""

    def __init__(self, monkeypatch, at, error):
        self.n_calls = 0
        self._at = at
        self._error = error
        for name in CALLS:
            monkeypatch.setattr(os, name, self._failing(getattr(os, name)))
        monkeypatch.setattr(builtins, "open", self._opening(builtins.open))

    def tick(self):
        self.n_calls += 1
        if self.n_calls == self._at:
            raise self._error

    def _failing(self, call):
        def counted(*args, **named):
            self.tick()
            return call(*args, **named)

        return counted

    def _opening(self, call):
        """Streams whose writing, too, is counted."""

        def counted(*args, **named):
            self.tick()
            stream = call(*args, **named)
            return Stream(stream, self) if "b" in str(args[1:2]) else stream

        return counted


class Stream(io.BufferedIOBase):
    def __init__(self, stream, fault):
        self._stream = stream
        self._fault = fault

    def write(self, data):
        half = len(data) // 2
        self._stream.write(data[:half])
        self._fault.tick()
        return half + self._stream.write(data[half:])

    def flush(self):
        if not self._stream.closed:
            self._stream.flush()

    def fileno(self):
        return self._stream.fileno()

    def close(self):
        self._stream.close()
        super().close()


ERRORS = [OSError(errno.ENOSPC, "No space left on device"), MemoryError(), KeyboardInterrupt()]


@pytest.fixture(scope="module")
def models():
    X = np.random.default_rng(0).random((60, 2))
    y = (X[:, 0] * 3).astype(int)
    return [edgewise.MARTClassifier(n_estimators=n).fit(X, y) for n in (1, 2)]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("existed", [True, False])
def test_a_save_that_fails_leaves_the_old_file(models, error, existed, tmp_path, monkeypatch):
    path = tmp_path / "model.edgewise"
    old, new = models
    failed = 0
    for at in range(1, MOST):
        if existed:
            old.save(path)
        with monkeypatch.context() as patched:
            fault = Fault(patched, at, error)
            try:
                new.save(path)
            except type(error):
                failed += 1
        if fault.n_calls < at:  # none is left to fail
            break
        assert os.listdir(tmp_path) == (["model.edgewise"] if existed else [])
        if existed:
            assert edgewise.load(path).n_iter_ == 1
    else:
        pytest.fail(f"more than {MOST} calls")
    assert failed == at - 1 >= 4
    assert edgewise.load(path).n_iter_ == 2


def test_every_call_of_a_journal_fails_once(tmp_path, monkeypatch):
    path = tmp_path / "j.jsonl"
    failed = 0
    for at in range(1, MOST):
        path.write_bytes(b'{"a": 1}\n')
        with journal(path) as book:
            with monkeypatch.context() as patched:
                fault = Fault(patched, at, OSError(errno.EIO, "Input/output error"))
                try:
                    book.append({"b": 2})
                except OSError:
                    failed += 1
            if fault.n_calls < at:
                break
            assert path.read_bytes() == b'{"a": 1}\n'
            assert book.read(dict, "an entry") == [{"a": 1}]
    assert failed == at - 1 >= 3
    assert path.read_bytes() == b'{"a": 1}\n{"b": 2}\n'


def test_the_reports_of_failed_writes_name_the_file(models, tmp_path, monkeypatch):
    path = tmp_path / "model.edgewise"
    monkeypatch.setattr(atomic.os, "fsync", _full)
    with pytest.raises(OSError, match="No space left") as failed:
        models[0].save(path)
    assert Path(failed.value.filename) == path


def _full(descriptor):
    raise OSError(errno.ENOSPC, "No space left on device")
