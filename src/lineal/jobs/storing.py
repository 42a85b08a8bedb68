"""A training's files: the model and the report."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lineal.errors import ParameterError
from lineal.jobs.reporting import report_of
from lineal.jobs.train import Training
from lineal.model.loading import load
from lineal.report import write_report


def check_places(*paths: str | None) -> None:
    """Refuses places where nothing can be written, before any work is done."""
    for path in paths:
        if path is None:
            continue
        folder = Path(path).parent
        if not folder.is_dir():
            raise ParameterError(f"{path} cannot be written: there is no folder {folder}. Make it first.")
        if not os.access(folder, os.W_OK):
            raise ParameterError(f"{path} cannot be written: the folder {folder} is not yours to write to.")
        if Path(path).is_dir():
            raise ParameterError(f"{path} cannot be written: it is a folder.")


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
        tell(f"writing {report_path}")
        title = Path(str(training.records.path)).name
        write_report(report_of(stored, title=title, created=created, command=command), report_path)
    return stored
