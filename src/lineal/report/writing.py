"""A report on the disk."""

from __future__ import annotations

import os
from pathlib import Path

from lineal.data.atomic import atomic_file
from lineal.report.content import Report
from lineal.report.rendering import render


def write_report(report: Report, path: str | os.PathLike[str]) -> Path:
    """Renders ``report`` into a file, whole or not at all, and returns where it is.

    Parameters
    ----------
    report : Report
    path : str or path
        An existing file is replaced in one step, after the page was written beside it.

    Raises
    ------
    FileWriteError
        The folder is missing or closed, the disk is full, the path is a folder.
    """
    page = render(report)
    with atomic_file(path, "w") as file:
        file.write(page)
    return Path(path)
