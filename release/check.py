"""Checks what a release would publish: `python release/check.py`, after `make wheels`.

Each wheel for this machine is installed into an empty environment for every Python that it serves,
with no compiler on the PATH and away from the sources. README's example, the smoke test and the
golden tests run there. The sdist is built and tested in the same way. Without a compiler, or for a
big-endian processor, its build must say what is needed. Finally everything is built again and must
have the same bytes.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from wheels import DIST, PROJECT, RELEASE, TOOLS, environment, python_of, run

SERVED = {"cp311": ("3.11",), "cp312": ("3.12", "3.13")}  # Pythons by the tag of a wheel
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BIG_ENDIAN = "edgewise needs a little-endian processor"
NO_COMPILER = "which needs a C++20 compiler (GCC 12 or later, or Clang), and none was found"


class Environment:
    """An empty virtual environment; the PATH has only its programs, unless it needs a compiler."""

    def __init__(self, version, folder, compiler=False):
        self.folder = Path(folder)
        self.python = self.folder / "env/bin/python"
        subprocess.run([python_of(version), "-m", "venv", self.folder / "env"], check=True)
        hidden = {"PYTHONPATH"} if compiler else {"PYTHONPATH", "CC", "CXX"}
        self.variables = {name: v for name, v in os.environ.items() if name not in hidden}
        path = [str(self.python.parent), *([os.environ["PATH"]] if compiler else [])]
        self.variables["PATH"] = ":".join(path)

    def run(self, *arguments):
        command = [str(self.python), *map(str, arguments)]
        options = {"cwd": self.folder, "env": self.variables, "capture_output": True, "text": True}
        return subprocess.run(command, check=False, **options)

    def need(self, *arguments):
        """Runs Python and returns what it prints; ends the check if it fails."""
        result = self.run(*arguments)
        if result.returncode:
            sys.exit(f"{arguments} failed:\n{result.stdout[-4000:]}\n{result.stderr[-4000:]}")
        return result.stdout

    def install(self, *what):
        return self.run("-m", "pip", "--disable-pip-version-check", "install", *what)

    def need_install(self, *what):
        self.need("-m", "pip", "--disable-pip-version-check", "install", *what)


def golden(env):
    """Runs the golden tests, which compare digests of models, on the installed package."""
    env.need_install("--only-binary=:all:", "pandas", "pytest")
    shutil.copytree(PROJECT / "tests/golden", env.folder / "tests/golden")
    for name in ("tests/support.py", "tests/conftest.py", "pyproject.toml"):
        shutil.copy(PROJECT / name, env.folder / name)
    return env.need("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/golden").splitlines()[-1]


def check_installed(env, what):
    """Runs all that must work where edgewise is installed; returns the smoke test's digest."""
    example = EXAMPLE.search((PROJECT / "README.md").read_text(encoding="utf-8")).group(1)
    env.need("-c", example)
    shutil.copy(RELEASE / "smoke.py", env.folder)
    digest = env.need("smoke.py").splitlines()[-1]
    print(f"{what}: README's example; {digest}; golden tests: {golden(env)}", flush=True)
    return digest


def check_wheel(wheel):
    """Installs a wheel with every Python that it serves; returns the digests."""
    digests = set()
    for version in SERVED[wheel.name.split("-")[2]]:
        with tempfile.TemporaryDirectory() as folder:
            env = Environment(version, folder)
            env.need_install("--only-binary=:all:", wheel)
            digests.add(check_installed(env, f"Python {version}, {wheel.name}"))
    return digests


def check_sdist(sdist):
    """Installs the sdist with a compiler; without one, the error must be one clear sentence."""
    with tempfile.TemporaryDirectory() as folder:
        result = Environment("3.11", folder).install(sdist)
        if not result.returncode or NO_COMPILER not in " ".join(result.stdout.split()):
            said = f"{result.stdout[-2000:]}\n{result.stderr[-4000:]}"
            sys.exit(f"Without a compiler pip must say {NO_COMPILER!r}; it said:\n{said}")
        print(f"{sdist.name} without a compiler: {NO_COMPILER}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        env = Environment("3.11", folder, compiler=True)
        env.need_install(sdist)
        return check_installed(env, f"Python 3.11, {sdist.name}")


def check_big_endian(tools):
    """Compiles for a big-endian processor, whose users must read why that cannot be."""
    compiler = (
        tools / "python",
        "-m",
        "ziglang",
        "c++",
        "-target",
        "s390x-linux-gnu",
        "-std=c++20",
    )
    command = [*compiler, "-c", PROJECT / "cpp/core/checks.cpp", "-o", os.devnull]
    said = subprocess.run(command, check=False, capture_output=True, text=True).stderr
    if BIG_ENDIAN not in said:
        sys.exit(f"The compiler must say {BIG_ENDIAN!r}; it said:\n{said[-4000:]}")
    print(f"Big-endian: {BIG_ENDIAN}", flush=True)


def check_same_bytes(built):
    """Builds everything again, without a compiler cache."""
    with tempfile.TemporaryDirectory() as folder:
        again = (sys.executable, RELEASE / "wheels.py", "--dist", folder)
        run(*again, CCACHE_RECACHE="1")
        for path in built:
            if path.read_bytes() != (Path(folder) / path.name).read_bytes():
                sys.exit(f"A second build of {path.name} has other bytes.")
            print(f"The second build has the same bytes: {path.name}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--once", action="store_true", help="do not build a second time")
    arguments = parser.parse_args()
    wheels, sdists = (
        sorted(DIST.glob(f"*manylinux*{platform.machine()}.whl")),
        sorted(DIST.glob("*.tar.gz")),
    )
    if len(wheels) != len(SERVED) or len(sdists) != 1:
        sys.exit("dist/ must hold the wheels and the sdist of one release: `make wheels` first.")
    tools = environment(sys.executable, "tools", TOOLS)
    run(tools / "twine", "check", "--strict", *sdists, *wheels)
    check_big_endian(tools)
    digests = set().union(*map(check_wheel, wheels)) | {check_sdist(sdists[0])}
    if len(digests) != 1:
        sys.exit(f"The smoke test must have one digest everywhere; it has {digests}.")
    if not arguments.once:
        check_same_bytes([*wheels, *sdists])


if __name__ == "__main__":
    main()
