"""What the tests of the command line need: running it, and small tables."""

import contextlib
import json
import resource
import subprocess
import sys

import numpy as np
from typer.testing import CliRunner

from edgewise.cli._app import commands

# A terminal of a fixed width and without colours, so that the words stay together.
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}


def run(*arguments):
    """The command line in this process."""
    return CliRunner(env=PLAIN).invoke(commands, [str(word) for word in arguments])


def done(*arguments):
    """What it prints, where it must succeed."""
    result = run(*arguments)
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def done_json(*arguments):
    """The one JSON document it prints."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, (result.stderr, result.exception)
    assert result.stderr == ""
    return json.loads(result.stdout)


def refused(*arguments, code=1):
    """The one line on stderr, where it must fail."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit), result.exception
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


def process(*arguments, **options):
    """The command line as a process of its own."""
    words = [sys.executable, "-m", "edgewise.cli", *(str(word) for word in arguments)]
    given = {"capture_output": True, "text": True, "timeout": 300, **options}
    return subprocess.run(words, check=False, **given)


@contextlib.contextmanager
def small_disk(n_bytes):
    """No file of this process may grow beyond so many bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def cars(n=90, seed=0):
    """Columns by name: numbers, a category, missing values; the class follows from them."""
    rng = np.random.default_rng(seed)
    power = rng.integers(40, 200, size=n)
    body = rng.choice(["sedan", "van", "truck"], size=n)
    origin = np.where(body == "truck", "usa", np.where(power < 110, "japan", "europe"))
    weight = np.round(power * 10 + rng.normal(0, 50, size=n), 1).astype(object)
    weight[:: n // 6] = ""
    return {"power": power, "weight": weight, "body": body, "origin": origin}


def write_csv(path, columns, delimiter=",", header=True):
    rows = list(zip(*columns.values(), strict=True))
    lines = [list(columns)] * header + rows
    path.write_text("".join(delimiter.join(map(str, line)) + "\n" for line in lines))
    return path
