"""The systems that a release has wheels for, and how a build aims at each.

The system's g++ builds those for glibc, so that the kernels are those of `pip install .`. zig,
which brings the headers and libraries of all systems, builds the others.
"""

import platform
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PYCONFIG = Path(__file__).with_name("pyconfig.h")


@dataclass(frozen=True)
class Target:
    platform: str  # in the wheel's name
    triple: str  # processor, system and C library, as compilers name them

    @property
    def arch(self):
        return self.triple.split("-")[0]

    @property
    def system(self):
        """CMake's name of the system."""
        name = self.triple.split("-")[1].split(".")[0]
        return {"linux": "Linux", "macos": "Darwin", "windows": "Windows"}[name]

    @property
    def suffix(self):
        """The end of the name of a module for one version of Python, here {}."""
        return {
            "Linux": f".cpython-{{}}-{self.triple}.so",
            "Darwin": ".cpython-{}-darwin.so",
            "Windows": ".cp{}-win_amd64.pyd",
        }[self.system]

    @property
    def glibc(self):
        return self.triple.endswith("-linux-gnu")

    @property
    def native(self):
        return self.glibc and sys.platform == "linux" and self.arch == platform.machine()


TARGETS = {
    target.platform: target
    for target in (
        Target("manylinux_2_17_x86_64", "x86_64-linux-gnu"),
        Target("manylinux_2_17_aarch64", "aarch64-linux-gnu"),
        Target("musllinux_1_2_x86_64", "x86_64-linux-musl"),
        Target("musllinux_1_2_aarch64", "aarch64-linux-musl"),
        Target("macosx_13_0_arm64", "aarch64-macos.13.0"),
        Target("macosx_13_0_x86_64", "x86_64-macos.13.0"),
        Target("win_amd64", "x86_64-windows-gnu"),
    )
}


def variables(target, version, python, zig, folder):
    """Returns environment variables that make the build backend and CMake build for a target.

    `python` is the interpreter of this machine whose headers are used, `zig` the command of the
    compiler; programs and libraries that the build needs are written into `folder`.
    """
    chosen, defines = with_gcc(target) if target.glibc else with_zig(target, zig, folder)
    if target.system == "Windows":
        defines |= import_libraries(version, python, zig, folder)
    if not target.native:
        chosen["_PYTHON_HOST_PLATFORM"] = f"linux-{target.arch}"  # renamed later
        chosen["SETUPTOOLS_EXT_SUFFIX"] = target.suffix.format(version.replace(".", ""))
    defined = ";".join(f"{name}={value}" for name, value in defines.items())
    return chosen | {"SKBUILD_CMAKE_DEFINE": defined}


def with_gcc(target):
    prefix = "" if target.native else f"{target.triple}-"
    compiler = "c++" if target.native else f"{prefix}g++"
    if shutil.which(compiler) is None:
        sys.exit(f"{target.platform} needs the compiler {compiler}, which was not found.")
    strip = {"CMAKE_STRIP": shutil.which(f"{prefix}strip")}
    return {"CXX": compiler}, {"EDGEWISE_PORTABLE": "ON"} | strip


def with_zig(target, zig, folder):
    for name, program in (
        ("c++", f"c++ -target {target.triple}"),
        ("ar", "ar"),
        ("ranlib", "ranlib"),
    ):
        write_program(folder / name, f'exec {shlex.join(zig)} {program} "$@"')
    defines = {
        "CMAKE_SYSTEM_NAME": target.system,
        "CMAKE_SYSTEM_PROCESSOR": target.arch,
        "CMAKE_AR": folder / "ar",
        "CMAKE_RANLIB": folder / "ranlib",
    }
    if target.system == "Darwin":
        write_program(folder / "c++", for_apple(f"{shlex.join(zig)} c++ -target {target.triple}"))
        write_program(folder / "true", "exit 0")
        defines["CMAKE_INSTALL_NAME_TOOL"] = folder / "true"  # no library is renamed
    chosen = {
        "CXX": str(folder / "c++"),
        "CXXFLAGS": f"-include {PYCONFIG}",
        "LDFLAGS": "-s",
        "SKBUILD_INSTALL_STRIP": "false",
    }
    return chosen, defines


# What zig's linker cannot do for Apple, and what it does instead. A file: nanobind's list of
# Python's functions. Both kinds of library can be loaded; of bundles the linker crashes.
FOR_APPLE = {
    "-Wl,@*": "-Wl,-undefined,dynamic_lookup",
    "-bundle": "-shared",
    "-s": "-Wl,-x",
}


def for_apple(compiler):
    """Returns a command that calls the compiler with arguments that zig's linker understands."""
    cases = " ".join(f"{given}) a={taken} ;;" for given, taken in FOR_APPLE.items())
    return (
        f'for a; do shift; case "$a" in {cases} esac; set -- "$@" "$a"; done\nexec {compiler} "$@"'
    )


def write_program(path, command):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)


def import_libraries(version, python, zig, folder):
    """Writes the libraries through which a module for Windows finds Python's DLL."""
    names = exported_names(python)
    dlls = {"Python_LIBRARY": f"python{version.replace('.', '')}", "Python_SABI_LIBRARY": "python3"}
    for dll in dlls.values():
        definition = folder / f"{dll}.def"
        definition.write_text("\n".join([f"LIBRARY {dll}.dll", "EXPORTS", *names, ""]))
        made = ("-d", definition, "-l", folder / f"{dll}.lib")
        subprocess.run([*zig, "dlltool", "-m", "i386:x86-64", *made], check=True)
    return {variable: folder / f"{dll}.lib" for variable, dll in dlls.items()}


def exported_names(python):
    """Lists what this machine's Python exports, with a mark at variables.

    python3.dll exports less; abi3audit says whether a module needs more than that.
    """
    ask = "import sysconfig; print(sysconfig.get_config_var('INSTSONAME') or '')"
    library = subprocess.check_output([python, "-c", ask], text=True).strip()
    file = Path(python).parents[1] / "lib" / library if ".so" in library else python
    listed = subprocess.check_output(["nm", "-D", "--defined-only", file], text=True)
    exported = [line.split()[1:] for line in listed.splitlines()]
    return [
        f"  {name}{'' if kind in 'TW' else ' DATA'}"
        for kind, name in exported
        if name.startswith(("Py", "_Py"))
    ]
