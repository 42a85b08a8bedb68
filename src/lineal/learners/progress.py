"""A progress bar that shows the gap falling to its tolerance."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from lineal.solvers import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


class GapBar:
    """Fills on a logarithmic scale from the first certified gap to the tolerance; silent off a terminal.

    It is on the screen from the first certified point on, from where Ctrl-C leaves a model behind.
    """

    def __init__(self, tol: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._tol = tol
        self._first: float | None = None
        console = Console(file=sys.stderr)
        self._bar: RichProgress | None = None
        if console.is_terminal:
            columns = (TextColumn("gap {task.fields[gap]:.1e} of {task.fields[tol]:.0e}"), BarColumn(),
                       TextColumn("epoch {task.fields[epoch]}, {task.fields[seconds]:.1f} s"))  # fmt: skip
            self._bar = RichProgress(*columns, console=console, transient=True)
            self._task = self._bar.add_task("", total=1.0, gap=math.inf, tol=tol, epoch=0, seconds=0.0)

    def __call__(self, point: Progress) -> None:
        """Draws one certified point."""
        if self._bar is None or not math.isfinite(point.gap):
            return
        relative = max(point.gap / max(abs(point.primal), 1e-300), 1e-300)
        self._first = self._first or max(relative, 2 * self._tol)
        done = math.log(self._first / relative) / math.log(self._first / self._tol)
        self._bar.start()
        self._bar.update(
            self._task,
            completed=min(max(done, 0.0), 1.0),
            gap=relative,
            epoch=point.epoch,
            seconds=point.seconds,
        )

    def close(self) -> None:
        """Takes the bar off the screen."""
        if self._bar is not None:
            self._bar.stop()
