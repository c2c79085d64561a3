"""Tests the wheels in dist/ on processors that this machine only emulates: `make emulate`.

QEMU runs programs for ARM, and for an x86-64 processor without AVX, in its user mode; Debian's
packages for ARM are unpacked into a folder, and pip installs the dependencies' wheels for it. There
the smoke test of every estimator must print the digest that it prints here, and the golden tests,
which compare digests of models and probabilities, must pass.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

from wheels import DIST, PROJECT, TOOLS, WORK, environment, python_of, run

DEPENDENCIES = ("numpy", "scipy", "scikit-learn", "narwhals", "safetensors", "pandas", "pytest")


@dataclass(frozen=True)
class Machine:
    name: str
    python: str
    arch: str
    wheel: str  # a pattern of names in dist/
    qemu: tuple[str, ...] = ()  # the emulator's command; without one, this machine
    suite: str = ""  # of Debian, whose Python runs; without one, this machine's

    @property
    def folder(self):
        return WORK / f"machine-{self.name}"

    @property
    def missing(self):
        """The programs that are needed and not installed."""
        needed = [*self.qemu[:1], *(["mmdebstrap"] if self.suite else [])]
        return [program for program in needed if shutil.which(program) is None]

    @property
    def command(self):
        if not self.suite:
            return (*self.qemu, python_of(self.python))
        root = self.folder / "root"
        return (*self.qemu, "-L", root, root / f"usr/bin/python{self.python}")


# OpenBLAS, which NumPy loads, takes this processor for one with AVX unless it is told its name.
NO_AVX = ("qemu-x86_64-static", "-cpu", "Nehalem", "-E", "OPENBLAS_CORETYPE=Nehalem")
ARM = ("qemu-aarch64-static",)
HERE = Machine("x86-64", "3.11", "x86_64", "*cp311*manylinux*x86_64.whl")
MACHINES = (
    Machine("x86-64-without-avx", "3.11", "x86_64", HERE.wheel, NO_AVX),
    Machine("arm-3.11", "3.11", "aarch64", "*cp311*manylinux*aarch64.whl", ARM, "bookworm"),
    Machine("arm-3.13", "3.13", "aarch64", "*abi3*manylinux*aarch64.whl", ARM, "trixie"),
)


def make_root(machine):
    """Unpacks Debian's Python and what its own and NumPy's binaries load."""
    root = machine.folder / "root"
    if not machine.suite or root.exists():
        return
    packages = f"--include=python{machine.python},libstdc++6,base-files"
    options = ("--quiet", "--variant=extract", "--architectures=arm64", packages)
    run("mmdebstrap", *options, machine.suite, machine.folder / "unpacking")
    (machine.folder / "unpacking").rename(root)


def install(machine, wheel):
    """Installs the dependencies once, and the wheel, as pip would there, into a folder."""
    site = machine.folder / "site"
    tags = [f"--platform=manylinux_2_{n}_{machine.arch}" for n in (17, 27, 28)]
    where = ("--only-binary=:all:", f"--python-version={machine.python}", f"--target={site}", *tags)
    pip = (environment(sys.executable, "tools", TOOLS) / "python", "-m", "pip")
    options = ("--disable-pip-version-check", "install", "--quiet", "--no-compile", *where)
    if not (site / "pytest").exists():
        shutil.rmtree(site, ignore_errors=True)
        run(*pip, *options, *DEPENDENCIES)
    for old in site.glob("edgewise*"):
        shutil.rmtree(old)
    run(*pip, *options, "--no-deps", wheel)


def lay_out_tests(machine):
    tests = machine.folder / "tests"
    shutil.rmtree(tests, ignore_errors=True)
    shutil.copytree(PROJECT / "tests/golden", tests / "tests/golden")
    for name in ("tests/support.py", "tests/conftest.py", "pyproject.toml", "release/smoke.py"):
        (tests / name).parent.mkdir(exist_ok=True)
        shutil.copy(PROJECT / name, tests / name)
    return tests


def last_line(machine, *arguments):
    """Runs Python on the machine; returns the last line that it prints."""
    tests, site = machine.folder / "tests", machine.folder / "site"
    variables = os.environ | {"PYTHONPATH": str(site)}
    command = list(map(str, (*machine.command, *arguments)))
    options = {"cwd": tests, "env": variables, "capture_output": True, "text": True}
    result = subprocess.run(command, check=False, **options)
    if result.returncode:
        failed = f"{result.stdout[-4000:]}\n{result.stderr[-4000:]}"
        sys.exit(f"{machine.name}: {arguments} failed:\n{failed}")
    return result.stdout.splitlines()[-1]


def test(machine):
    """Installs and tests; returns the smoke test's digest, or None where it cannot run."""
    wheels = sorted(DIST.glob(machine.wheel))
    if machine.missing or len(wheels) != 1:
        why = f"needs {machine.missing}" if machine.missing else f"dist/ has no {machine.wheel}"
        print(f"{machine.name}: skipped, {why}", flush=True)
        return None
    machine.folder.mkdir(parents=True, exist_ok=True)
    make_root(machine)
    install(machine, wheels[0])
    lay_out_tests(machine)
    told = "import platform as p; print(f'Python {p.python_version()} on {p.machine()}')"
    smoke = last_line(machine, "release/smoke.py")
    golden = last_line(machine, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/golden")
    print(f"{machine.name}: {last_line(machine, '-c', told)}, {wheels[0].name}")
    print(f"  {smoke}; golden tests: {golden}", flush=True)
    return smoke


def main():
    expected = test(HERE)
    if expected is None:
        sys.exit("The wheels of this machine come first: `make wheels`.")
    other = [machine.name for machine in MACHINES if test(machine) not in (None, expected)]
    if other:
        sys.exit(f"The smoke test prints another digest on {other}.")


if __name__ == "__main__":
    main()
