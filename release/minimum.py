"""Prints the lowest versions that pyproject.toml allows, as constraints for pip.

`make test-minimum` installs them and runs the tests, so that a lower bound is a version that works.
"""

import re
import tomllib
from pathlib import Path

EXTRAS = ("cli", "dask", "lab", "parquet", "plot", "report", "test")
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*\])?(?:>=|~=)([\d.]+)")
PROJECT = Path(__file__).parent.parent


def lowest(project):
    """Returns the lowest allowed version of each requirement, the highest of several bounds."""
    optional = project["optional-dependencies"]
    bounds = {}
    for requirement in project["dependencies"] + [r for extra in EXTRAS for r in optional[extra]]:
        name, version = REQUIREMENT.fullmatch(requirement).groups()
        bounds.setdefault(name, []).append(version)
    return {name: max(all_of, key=numbers) for name, all_of in sorted(bounds.items())}


def numbers(version):
    return [int(part) for part in version.split(".")]


if __name__ == "__main__":
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    for name, version in lowest(project).items():
        print(f"{name}=={version}")
