"""Texts to a matrix in a process of its own: seconds, and peak memory above what there was before it.

    python alone.py '{"set": "imdb", "work": "tf-idf", "contender": "scikit-learn"}'

Prints one JSON line. The peak is the high-water mark of resident memory, reset when the texts are there and
everything is imported, minus what was resident then. Memory that loading freed may be used again, so it is a
lower bound, in the same way for everyone.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sets import read
from works import WORKS


def main() -> None:
    """Do what the request says."""
    warnings.simplefilter("ignore")
    print(json.dumps(matrix(**json.loads(sys.argv[1]))))


def matrix(
    set: str, work: str, contender: str, fraction: float = 1.0, limit: int | None = None
) -> dict[str, Any]:
    """Texts to a matrix; a fraction is a random part, since files are sorted by class."""
    texts = read(set, limit=limit).texts
    if fraction < 1.0:
        order = np.random.default_rng(0).permutation(len(texts))
        texts = [texts[k] for k in np.sort(order[: round(fraction * len(texts))])]
    run = WORKS[work].contenders[contender]
    run([f"word number {k % 7}" for k in range(50)])  # imports and starts what is needed at first use
    gc.collect()
    before = reset_peak()
    began = time.perf_counter()
    X = run(texts)
    seconds = time.perf_counter() - began
    peak = None if before is None else memory("VmHWM") - before
    return {"seconds": seconds, "peak_bytes": peak, "n_texts": len(texts), "n_entries": int(X.nnz)}


def reset_peak() -> int | None:
    """Resident bytes now, with the high-water mark set back to them; None where it cannot be."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return memory("VmRSS")


def memory(field: str) -> int:
    """A line of this process's status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status")


if __name__ == "__main__":
    main()
