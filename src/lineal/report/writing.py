"""A report on the disk."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from lineal.report.content import Report
from lineal.report.render import render


def write_report(report: Report, path: str | os.PathLike[str]) -> Path:
    """Renders ``report`` into a file, whole or not at all, and returns where it is.

    Parameters
    ----------
    report : Report
    path : str or path
        An existing file is replaced in one step, after the page was written beside it.
    """
    target = Path(path)
    page = render(report).encode("utf-8")
    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(page)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(beside, 0o666 & ~umask)  # mkstemp's files are their owner's alone
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    return target
