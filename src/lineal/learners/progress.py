"""A progress bar that shows the gap falling to its tolerance."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from lineal.solvers import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


class GapBar:
    """Fills on a logarithmic scale from the first gap to the tolerance; silent off a terminal.

    A gap that is proved is shown as it is, a solver's estimate below it with a tilde.
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
            columns = (TextColumn("gap {task.fields[sign]}{task.fields[gap]:.1e} of {task.fields[tol]:.0e}"),
                       BarColumn(),
                       TextColumn("epoch {task.fields[epoch]}, {task.fields[seconds]:.1f} s"))  # fmt: skip
            self._bar = RichProgress(*columns, console=console, transient=True)
            self._task = self._bar.add_task(
                "", total=1.0, sign="", gap=math.inf, tol=tol, epoch=0, seconds=0.0
            )

    def __call__(self, point: Progress) -> None:
        """Draws where the fit is."""
        proved = point.gap / max(abs(point.primal), 1e-300) if math.isfinite(point.gap) else math.inf
        is_guess = not point.is_proved and point.estimate is not None and point.estimate < proved
        relative = point.estimate if is_guess and point.estimate is not None else proved
        if self._bar is None or not math.isfinite(relative):
            return
        relative = max(relative, 1e-300)
        self._first = self._first or max(relative, 2 * self._tol)
        done = math.log(self._first / relative) / math.log(self._first / self._tol)
        self._bar.start()
        self._bar.update(
            self._task,
            completed=min(max(done, 0.0), 1.0),
            sign="~" if is_guess else "",
            gap=relative,
            epoch=point.epoch,
            seconds=point.seconds,
        )

    def close(self) -> None:
        """Takes the bar off the screen."""
        if self._bar is not None:
            self._bar.stop()
