"""A training's files: the model and the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lineal.jobs.training import Training
from lineal.model.loading import load


def store(
    training: Training,
    model_path: str,
    report_path: str | None,
    *,
    command: str = "",
    tell: Callable[[str], None] = lambda sentence: None,
) -> Training:
    """Writes both; the training returned has the model that was written."""
    created = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    tell(f"writing {model_path}")
    training.model.with_about(created=created, command=command).save(model_path)
    stored = replace(training, model=load(model_path))  # what others will load
    if report_path is not None:
        from lineal.jobs.reporting import report_of
        from lineal.report import write_report

        tell(f"writing {report_path}")
        title = Path(str(training.records.path)).name
        # Whoever pressed Ctrl-C does not wait for the fits of a learning curve.
        made = report_of(
            stored, title=title, created=created, command=command, with_curves=not training.interrupted
        )
        write_report(made, report_path)
    return stored
