"""P11: what ``import lineal`` adds to ``import numpy``, each time in a fresh interpreter."""

from __future__ import annotations

import subprocess
from statistics import median
from typing import Any

from verdict import Row

BAR_SECONDS = 0.1
_CLOCK = """
import time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
{statement}
print(middle - start, time.perf_counter() - middle)
"""
STATEMENTS = ("import lineal", "from lineal import LinearClassifier")


def hold(python: str, n_rounds: int) -> dict[str, Any]:
    """Alternate the statements; the second is shown to tell what laziness puts off."""
    added: dict[str, list[float]] = {statement: [] for statement in STATEMENTS}
    numpy: list[float] = []
    for _ in range(n_rounds + 1):
        for statement in STATEMENTS:
            first, second = _import(python, statement)
            numpy.append(first)
            added[statement].append(second)
    # The first round finds the files on disk; what is measured is the interpreter's work.
    rows = [_row(statement, times[1:], numpy[len(STATEMENTS) :]) for statement, times in added.items()]
    return {
        "title": "start-up",
        "rows": [row.__dict__ for row in rows],
        "numpy": numpy,
        "added": added,
    }


def _import(python: str, statement: str) -> tuple[float, float]:
    command = [python, "-c", _CLOCK.format(statement=statement)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    first, second = output.split()
    return float(first), float(second)


def _row(statement: str, times: list[float], numpy: list[float]) -> Row:
    has_bar = statement == STATEMENTS[0]
    met = "–" if not has_bar else "yes" if min(times) < BAR_SECONDS else "no"
    return Row(
        f"`{statement}`, after NumPy",
        min(times),
        "`import numpy`",
        min(numpy),
        None,
        f"< {BAR_SECONDS:g} s" if has_bar else "",
        met,
        our_spread=[min(times), median(times), max(times)],
        peer_spread=[min(numpy), median(numpy), max(numpy)],
    )
