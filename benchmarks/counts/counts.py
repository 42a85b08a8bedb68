"""Instructions of the inner loops on fixed inputs, by callgrind: a measure that other work does not disturb.

    python benchmarks/counts/counts.py           count, keep results/counts.json, write docs/performance.md
    python benchmarks/counts/counts.py --check   count, keep nothing, fail where one grew by more than 3 %

The C++ program kernels.cpp is compiled with fixed flags against native/include; it has one thread and fixed
seeds, so that a count is the same from run to run. Counts depend on the compiler: they are compared with
those of the same one. Without valgrind it says so and ends well.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS, PAGE, BUILD = (
    HERE / "results" / "counts.json",
    ROOT / "docs" / "performance.md",
    ROOT / "build" / "counts",
)
FLAGS = (
    "-std=c++20",
    "-O3",
    "-march=x86-64-v3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fopenmp-simd",
    "-Wno-psabi",
)
ROOM = 0.03
UNITS = {
    "tf-idf": "byte of text",
    "hashing": "byte of text",
    "kernel dual": "value of a block",
    "prox_cd on a Gram": "number of the matrix and sweep",
}


def main() -> None:
    """Count, then keep or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare with what is kept; keep nothing")
    options = parser.parse_args()
    compiler = os.environ.get("CXX", "g++")
    for tool in ("valgrind", compiler):
        if shutil.which(tool) is None:
            print(
                f"skipped: {tool} is not there, and instructions are counted with it (apt-get install {tool})"
            )
            return
    found = counted(compiler)
    print(table(found))
    if not options.check:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        sys.path.append(str(ROOT / "benchmarks" / "bars"))
        from tables import between

        PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), "counts", table(found)), encoding="utf-8")
        return
    kept = json.loads(RESULTS.read_text())
    if kept["compiler"] != found["compiler"]:
        print(f"not compared: kept counts are of {kept['compiler']}, these of {found['compiler']}")
        return
    if worse := grown(kept["kernels"], found["kernels"]):
        print("\n".join(worse))
        sys.exit(1)
    print(f"no count grew by more than {ROOM:.0%}")


def grown(kept: dict[str, Any], found: dict[str, Any], room: float = ROOM) -> list[str]:
    """A line for each kernel that takes more instructions than it did, or that is gone."""
    said = []
    for name, before in kept.items():
        if name not in found:
            said.append(f"{name}: is no longer counted")
            continue
        old, new = rate(before), rate(found[name])
        if new > old * (1.0 + room):
            said.append(
                f"{name}: {old:.3f} -> {new:.3f} instructions, {new / old - 1.0:+.1%}, more than {room:.0%}"
            )
    return said


def rate(one: dict[str, int]) -> float:
    """Instructions for each unit of work."""
    return one["instructions"] / one["units"]


def counted(compiler: str) -> dict[str, Any]:
    """Compile, and run every kernel under callgrind, one on each core."""
    program = compiled(compiler)
    names = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(names, pool.map(lambda name: count(program, name), names), strict=True))
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    return {
        "compiler": version.stdout.splitlines()[0],
        "flags": " ".join(FLAGS),
        "date": datetime.now(UTC).date().isoformat(),
        "kernels": counts,
    }


def compiled(compiler: str) -> Path:
    """The program, made anew when a header or it has changed since."""
    program, source = BUILD / "kernels", HERE / "kernels.cpp"
    BUILD.mkdir(parents=True, exist_ok=True)
    sources = [source, *(ROOT / "native" / "include").rglob("*.h")]
    if not program.exists() or program.stat().st_mtime < max(path.stat().st_mtime for path in sources):
        command = [
            compiler,
            *FLAGS,
            "-pthread",
            "-I",
            str(ROOT / "native" / "include"),
            str(source),
            "-o",
            str(program),
        ]
        subprocess.run(command, check=True)
    return program


def count(program: Path, name: str) -> dict[str, int]:
    """What is executed inside measured(), and by how much it is divided."""
    command = [
        "valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=measured",
        "--callgrind-out-file=/dev/null", str(program), name,
    ]  # fmt: skip
    answer = subprocess.run(command, capture_output=True, text=True)
    instructions = re.search(r"Collected\s*:\s*(\d+)", answer.stderr)
    units = re.search(r"units (\d+)", answer.stdout)
    if answer.returncode or instructions is None or units is None:
        raise RuntimeError(f"{name}: {answer.stderr[-1000:]}")
    if not int(instructions[1]):
        raise RuntimeError(f"{name}: measured() was not met, so nothing was counted")
    return {"instructions": int(instructions[1]), "units": int(units[1])}


def unit_of(name: str) -> str:
    """What a kernel's instructions are divided by."""
    return next((unit for begin, unit in UNITS.items() if name.startswith(begin)), "non-zero met")


def table(found: dict[str, Any]) -> str:
    """The Markdown table."""
    lines = ["| kernel, one thread | instructions | for each |", "|---|---:|---|"]
    lines += [f"| {name} | {rate(one):.2f} | {unit_of(name)} |" for name, one in found["kernels"].items()]
    return "\n".join(lines) + (
        f"\n\nCounted by `make counts` with {found['compiler']} (`{found['flags']}`), {found['date']}; "
        f"raw counts in "
        "[counts.json](../benchmarks/counts/results/counts.json)."
    )


if __name__ == "__main__":
    main()
