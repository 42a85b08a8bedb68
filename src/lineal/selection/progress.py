"""A line that shows how far a search for columns has come."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.status import Status


class SearchLine:
    """What is being tried and the best score so far; silent off a terminal, and unless asked for."""

    def __init__(self, *, is_wanted: bool) -> None:
        console = Console(file=sys.stderr)
        self._status: Status | None = None
        if is_wanted and console.is_terminal:
            self._status = console.status("")
            self._status.start()

    def show(self, action: str, n_columns: int, trial: int, n_trials: int, score: float | None) -> None:
        """Draws one trial."""
        if self._status is not None:
            reached = "" if score is None else f", score {score:.4f}"
            self._status.update(f"{n_columns} columns{reached}; {action}: trial {trial} of {n_trials}")

    def close(self) -> None:
        """Takes the line off the screen."""
        if self._status is not None:
            self._status.stop()
