"""A bar that shows how many of several fits are done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress


class FitBar:
    """Counts fits; silent off a terminal, and when it is not wanted."""

    def __init__(self, total: int, is_wanted: bool) -> None:
        self._bar: Progress | None = None
        if not is_wanted:
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(file=sys.stderr)
        if console.is_terminal:
            columns = (TextColumn("{task.completed:.0f} of {task.total:.0f} fits"), BarColumn())
            label = TextColumn("{task.description}")
            self._bar = Progress(*columns, TimeElapsedColumn(), label, console=console, transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=total)

    def done(self, label: str) -> None:
        """One more."""
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=label)

    def close(self) -> None:
        """Takes the bar off the screen."""
        if self._bar is not None:
            self._bar.stop()
