"""The systems that a release has wheels for, and the variables that make a build aim at one.

The system's g++ builds them, so that the kernels are those of `pip install .`.
"""

import platform
import shutil
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    platform: str  # in the wheel's name
    arch: str

    @property
    def native(self):
        return sys.platform == "linux" and self.arch == platform.machine()

    @property
    def compiler(self):
        return "c++" if self.native else f"{self.arch}-linux-gnu-g++"


TARGETS = {
    target.platform: target
    for target in (
        Target("manylinux_2_17_x86_64", "x86_64"),
        Target("manylinux_2_17_aarch64", "aarch64"),
    )
}


def variables(target, version):
    """Environment variables that make the build backend and CMake build for a target."""
    if shutil.which(target.compiler) is None:
        sys.exit(f"{target.platform} needs the compiler {target.compiler}, which was not found.")
    settings = {"CXX": target.compiler, "SKBUILD_CMAKE_DEFINE": "EDGEWISE_PORTABLE=ON"}
    if target.native:
        return settings
    strip = shutil.which(f"{target.arch}-linux-gnu-strip")
    settings["SKBUILD_CMAKE_DEFINE"] += f";CMAKE_STRIP={strip}"
    suffix = f".cpython-{version.replace('.', '')}-{target.arch}-linux-gnu.so"
    return settings | {
        "_PYTHON_HOST_PLATFORM": f"linux-{target.arch}",
        "SETUPTOOLS_EXT_SUFFIX": suffix,
    }
