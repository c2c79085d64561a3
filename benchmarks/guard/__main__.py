"""Instructions of small fits against the committed baseline: no case may take 5 % more.

    make guard                                  # counts and compares
    make guard-renew REASON="why it changed"    # writes the baseline anew
    make guard GUARD_ARGS="--cases 'aoso, bytes'"

A count depends on the compiler, the libraries and the generation of processor that kernels are
compiled for; the baseline names them, and elsewhere nothing is compared.
"""

import json
import platform
import re
import subprocess
import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from edgewise import _core

from . import callgrind
from .cases import CASES

BASELINE = Path(__file__).with_name("baseline.json")
MOST = 1.05  # of the baseline's count
FEWER = 0.95  # below it, the baseline is worth renewing
WORTH_NAMING = 0.02  # share of a case from which the baseline names a function
NOISE = re.compile(r"std::_Function_handler<.*?\), |edgewise::|\(anonymous namespace\)::")
V3 = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}  # x86-64-v3, see clones.hpp


def main(argv: list[str]) -> int:
    """0 if nothing is slower, or nothing can be compared; then the reason is printed."""
    parser = ArgumentParser(prog="python -m benchmarks.guard", description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--renew", metavar="REASON", help="write the baseline, and why")
    args = parser.parse_args(argv)
    if args.renew is not None and (not args.renew.strip() or len(args.cases) < len(CASES)):
        parser.error("a new baseline needs a reason and all cases")
    baseline = json.loads(BASELINE.read_text()) if BASELINE.is_file() else None
    try:
        callgrind.need_tools()
        here = environment()
        if args.renew is None and (why := _differs(baseline, here)):
            raise callgrind.CannotCountError(why)
        counts = callgrind.count(args.cases)
    except callgrind.CannotCountError as reason:
        print(f"guard: skipped, {reason}")
        return 0 if args.renew is None else 1
    if args.renew is None:
        return compared(baseline["counts"], counts)
    return renewed(args.renew, here, counts)


def environment() -> dict[str, str]:
    """What a count depends on beside the sources."""
    valgrind = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True)
    return {
        "architecture": platform.machine(),
        "clones": "x86-64-v3" if _cpu_flags() >= V3 else "default",
        "compiler": _compiler(Path(_core.__file__)),
        "libc": " ".join(platform.libc_ver()),
        "valgrind": valgrind.stdout.strip(),
    }


def compared(then: dict[str, dict[str, Any]], now: dict[str, Counter[str]]) -> int:
    """Prints a line per case; 1 if one takes more than it may."""
    slower = []
    for name, counts in now.items():
        if name not in then:
            print(f"{name:34} {counts.total() / 1e6:8.1f} M  not in the baseline: renew it")
            slower.append(name)
            continue
        ratio = counts.total() / then[name]["instructions"]
        verdict = "SLOWER" if ratio > MOST else "fewer: renew the baseline" if ratio < FEWER else ""
        print(f"{name:34} {counts.total() / 1e6:8.1f} M  {ratio:6.3f}  {verdict}".rstrip())
        if ratio > MOST:
            slower.append(name)
            _print_growth(then[name], counts)
    if slower:
        print(f"guard: {len(slower)} of {len(now)} cases FAILED; they may take {MOST - 1:.0%} more")
        print('if that is meant: make guard-renew REASON="..."')
        return 1
    print(f"guard: {len(now)} cases within {MOST - 1:.0%} of the baseline")
    return 0


def renewed(reason: str, here: dict[str, str], counts: dict[str, Counter[str]]) -> int:
    """Writes the baseline."""
    record = {
        "reason": reason.strip(),
        "environment": here,
        "counts": {name: _record(counts[name]) for name in CASES},
    }
    BASELINE.write_text(json.dumps(record, indent=1) + "\n")
    print(f"guard: {len(counts)} cases written to {BASELINE.name}: {reason.strip()}")
    return 0


def _record(counts: Counter[str]) -> dict[str, Any]:
    total = counts.total()
    named = {f: n for f, n in counts.most_common() if n > WORTH_NAMING * total}
    return {"instructions": total, "functions": named}


def _print_growth(then: dict[str, Any], now: Counter[str]) -> None:
    """The three functions that grew most; one that the baseline does not name had little."""
    little = int(WORTH_NAMING * then["instructions"])
    growth = Counter({f: n - then["functions"].get(f, little) for f, n in now.items()})
    for function, more in growth.most_common(3):
        if more > 0:
            print(f"    {more / 1e6:+8.1f} M  {NOISE.sub('', function)[:100]}")


def _differs(baseline: dict[str, Any] | None, here: dict[str, str]) -> str:
    """Why the baseline says nothing here."""
    if baseline is None:
        return "there is no baseline"
    there = baseline["environment"]
    differing = [f"{key} {here[key]}, not {there[key]}" for key in here if here[key] != there[key]]
    return differing and "the baseline is of another environment: " + "; ".join(differing) or ""


def _compiler(module: Path) -> str:
    """What the module says it was compiled by."""
    command = ["readelf", "--string-dump=.comment", str(module)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return "; ".join(re.findall(r"^ +\[ *\w+\] +(.+)$", text, re.MULTILINE))


def _cpu_flags() -> set[str]:
    """Of the first processor, where Linux lists them."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    flags = (line.partition(":")[2] for line in lines if line.startswith("flags"))
    return set(next(flags, "").split())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
