"""Where results may be written."""

from __future__ import annotations

import os
from pathlib import Path

from lineal.errors import ParameterError


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
