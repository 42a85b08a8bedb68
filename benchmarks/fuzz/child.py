"""The process that is given broken files; it may die or hang, and its parent sees to that.

``child.py KIND SEED BEGIN COUNT STATUS FOLDER`` tries the cases BEGIN, BEGIN + 1 ... and writes to the file
STATUS which one it is at and since when. What came of them is printed as one line of JSON. ``FOLDER`` holds
scratch files.
"""

from __future__ import annotations

import json
import mmap
import random
import resource
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from targets import TARGETS

# More than any file here needs, and little enough that a hostile size shows as a MemoryError.
MAX_EXTRA_BYTES = 2 << 30
MAX_KEPT = 5  # of one kind of error


def main() -> None:
    kind, seed, begin, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    warnings.simplefilter("ignore")
    with open(sys.argv[5], "r+b") as file:
        status = memoryview(mmap.mmap(file.fileno(), 16)).cast("q")
    target = TARGETS[kind](Path(sys.argv[6]))
    for content in target.seeds:
        target.use(content, random.Random(0))  # a seed that is refused would make every case easy
    _limit_memory()
    counts: Counter[str] = Counter()
    unexpected: list[dict[str, Any]] = []
    for number in range(begin, begin + count):
        status[0], status[1] = number, time.monotonic_ns()
        outcome, message = attempt(target, kind, seed, number)
        counts[outcome] += 1
        if outcome not in ("accepted", "refused") and counts[outcome] <= MAX_KEPT:
            unexpected.append({"case": number, "error": outcome, "message": message[:500]})
    status[1] = 0
    print(json.dumps({"counts": counts, "unexpected": unexpected}))


def chance_of(kind: str, seed: str, number: int) -> random.Random:
    """Each case has a generator of its own, so that it can be made again alone."""
    return random.Random(f"{kind}:{seed}:{number}")


def attempt(target: Any, kind: str, seed: str, number: int) -> tuple[str, str]:
    """What became of a case: accepted, refused, or the name of an exception that should not have come."""
    chance = chance_of(kind, seed, number)
    content = target.case(chance)
    try:
        target.use(content, chance)
    except target.expected as refusal:
        message = str(refusal)
        if not 10 <= len(message) <= 2000:
            return "BadMessage", message
        return "refused", ""
    except BaseException as flaw:
        return type(flaw).__name__, f"{flaw}"
    return "accepted", ""


def _limit_memory() -> None:
    n_pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = n_pages * resource.getpagesize() + MAX_EXTRA_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main()
