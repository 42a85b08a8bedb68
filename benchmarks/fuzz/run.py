"""Gives broken files of every kind to Lineal: each must be read or refused with a sentence, in 2 seconds.

    python benchmarks/fuzz/run.py --seconds 60 --seed 1            every kind in turn
    python benchmarks/fuzz/run.py --only container --count 1000000
    python benchmarks/fuzz/run.py --again container 1234 --seed 1  one case again, with its traceback

A case that kills the process is a crash, one that takes longer than 2 seconds twice is a hang, an exception
of another type than is promised is a bug. Their files are left in ``build/fuzz/``. The exit code is 1 if
there were any.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from child import attempt, chance_of
from targets import TARGETS

HERE = Path(__file__).parent
MAX_SECONDS = 2.0
START_SECONDS = 60.0  # of a child, for imports and seeds, which are models to train
BATCH = 20_000


@dataclass
class Tally:
    """What became of the cases of one kind."""

    kind: str
    counts: Counter[str] = field(default_factory=Counter)
    flaws: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Whether every case was read or refused."""
        return set(self.counts) <= {"accepted", "refused"}

    def __str__(self) -> str:
        others = {name: n for name, n in self.counts.items() if name not in ("accepted", "refused")}
        total = sum(self.counts.values())
        return (
            f"{self.kind:10} {total:9,} files  {self.counts['accepted']:9,} read"
            f"  {self.counts['refused']:9,} refused  {self.counts['crash']} crashes"
            f"  {self.counts['hang']} hangs  {self.seconds:6.0f} s" + (f"  {others}" if others else "")
        )


def main() -> int:
    """Run the kinds that were asked for, one after the other, and keep what broke something."""
    options = _options()
    if options.again:
        return _again(options.again[0], options.seed, int(options.again[1]))
    keep = HERE.parents[1] / "build" / "fuzz"
    keep.mkdir(parents=True, exist_ok=True)
    kinds = options.only or list(TARGETS)
    tallies = []
    for kind in kinds:
        tally = Tally(kind)
        tallies.append(tally)
        began = time.monotonic()
        seconds = options.seconds / len(kinds) if options.count is None else float("inf")
        for _ in _batches(tally, options.seed, options.count or 1 << 60):
            tally.seconds = time.monotonic() - began
            if tally.seconds > seconds:
                break
        print(tally, flush=True)
        _keep(tally, options.seed, keep)
    if options.out:
        record = [{"kind": t.kind, "seed": options.seed, "seconds": t.seconds, **t.counts} for t in tallies]
        Path(options.out).write_text(json.dumps(record, indent=1) + "\n")
    return 0 if all(tally.is_clean for tally in tallies) else 1


def _batches(tally: Tally, seed: str, count: int) -> Iterator[None]:
    """Children, each with a number of cases; the next begins after the one that broke its forerunner."""
    begin, size = 0, 500
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        while begin < count:
            began = time.monotonic()
            n_cases = min(size, count - begin)
            broken = _batch(tally, seed, begin, n_cases, Path(folder))
            begin = begin + n_cases if broken is None else broken + 1
            if broken is None and time.monotonic() - began < 10:
                size = min(2 * size, BATCH)
            yield


def _batch(tally: Tally, seed: str, begin: int, count: int, folder: Path) -> int | None:
    """None, or the case at which the child died or hung. What it had tried before it counts as tried."""
    how, broken, output = _child(tally.kind, seed, begin, count, folder)
    if how is None:
        found = json.loads(output)
        tally.counts.update(found["counts"])
        tally.flaws += found["unexpected"]
        return None
    if broken is None:
        raise SystemExit(f"The child for {tally.kind} did not start: {output}")
    if broken > begin:  # the cases before it went well enough; run them again for their counts
        _batch(tally, seed, begin, broken - begin, folder)
    if how == "hang" and _child(tally.kind, seed, broken, 1, folder)[0] is None:
        tally.counts["refused"] += 1  # the machine was busy
        return broken
    tally.counts[how] += 1
    tally.flaws.append({"case": broken, "error": how, "message": output[-500:]})
    return broken


def _child(kind: str, seed: str, begin: int, count: int, folder: Path) -> tuple[str | None, int | None, str]:
    """How it went wrong, if it did; at which case; and what the child said."""
    status = folder / "status"
    status.write_bytes(struct.pack("qq", -1, 0))
    arguments = [kind, seed, str(begin), str(count), str(status), str(folder)]
    with open(folder / "out", "w+") as out, open(folder / "err", "w+") as err, open(status, "r+b") as file:
        shared = mmap.mmap(file.fileno(), 16)
        # Files are small: threads would cost more than they save.
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, str(HERE / "child.py"), *arguments], stdout=out, stderr=err, env=environment
        )
        began, is_hung = time.monotonic(), False
        try:
            while process.poll() is None and not is_hung:
                time.sleep(0.05)
                case, since = struct.unpack("qq", shared[:16])
                if case < 0:
                    is_hung = time.monotonic() - began > START_SECONDS
                elif since:
                    is_hung = time.monotonic() - since / 1e9 > MAX_SECONDS
        finally:
            process.kill()
            process.wait()
        case = struct.unpack("qq", shared[:16])[0]
        out.seek(0)
        err.seek(0)
        said = out.read() if process.returncode == 0 else err.read()
    place = None if case < 0 else case
    if is_hung:
        return "hang", place, said
    return (None if process.returncode == 0 else "crash"), place, said


def _keep(tally: Tally, seed: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        target = TARGETS[tally.kind](Path(scratch)) if tally.flaws else None
        for flaw in tally.flaws[:50]:
            assert target is not None
            path = folder / f"{tally.kind}-{seed}-{flaw['case']}"
            path.write_bytes(target.case(chance_of(tally.kind, seed, flaw["case"])))
            print(f"  case {flaw['case']}: {flaw['error']}: {flaw['message']}  ({path})", flush=True)


def _again(kind: str, seed: str, number: int) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        target = TARGETS[kind](Path(scratch))
        chance = chance_of(kind, seed, number)
        target.use(target.case(chance), chance)
        print(attempt(target, kind, seed, number))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=list(TARGETS), metavar="KIND", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0, help="for all kinds together (60)")
    parser.add_argument("--count", type=int, help="cases of each kind, instead of seconds")
    parser.add_argument("--seed", default="1", help="where chance begins (1)")
    parser.add_argument("--again", nargs=2, metavar=("KIND", "CASE"), help="one case, with its traceback")
    parser.add_argument("--out", help="where to write the counts as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
