"""The compiled module with the names of its functions.

What is installed is stripped; the build folder that `make` keeps beside it has the same code with
names. A profile reads them off there.
"""

import subprocess
import sys
from pathlib import Path

import edgewise
from edgewise import _core


def site_with_symbols(folder: Path) -> Path:
    """A folder for PYTHONPATH: the installed package, its compiled module the one with names.

    Without a build folder of the same build it is just the installed package.
    """
    installed = Path(_core.__file__)
    package = folder / "edgewise"
    package.mkdir(parents=True)
    for path in Path(edgewise.__file__).parent.iterdir():
        if path.name not in (installed.name, "__pycache__"):
            (package / path.name).symlink_to(path)
    built = Path(sys.prefix) / "build" / installed.name
    same = built.is_file() and _build_id(built) == _build_id(installed)
    (package / installed.name).symlink_to(built if same else installed)
    return folder


def _build_id(module: Path) -> str:
    """The linker's hash of the code, which stripping leaves alone."""
    notes = subprocess.run(
        ["readelf", "-n", str(module)], capture_output=True, text=True, check=True
    )
    return next(line for line in notes.stdout.splitlines() if "Build ID" in line)
