"""A progress bar of fits."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress


class FitBar:
    """Counts the fits of a search as they are done; silent off a terminal, or if not wanted."""

    def __init__(self, is_wanted: bool) -> None:
        self._bar: RichProgress | None = None
        console = Console(file=sys.stderr) if is_wanted else None
        if console is not None and console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
            )
            self._bar = RichProgress(*columns, console=console, transient=True)
            self._bar.start()

    def begin(self, description: str, total: int | None) -> None:
        """A new count, of ``total`` fits if that is known."""
        if self._bar is not None:
            self._task = self._bar.add_task(description, total=total)

    def __call__(self, n: int) -> None:
        """So many more fits are done."""
        if self._bar is not None:
            self._bar.advance(self._task, n)

    def close(self) -> None:
        """Takes the bar off the screen."""
        if self._bar is not None:
            self._bar.stop()
