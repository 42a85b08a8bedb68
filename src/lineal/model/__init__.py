"""Fitted models, frozen: what predicts, and its file. Needs NumPy and the native core alone.

Public names are loaded when they are first used.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "lineal.model.about": ("About",),
    "lineal.model.container": ("Container",),
    "lineal.model.explanation": ("Explanation",),
    "lineal.model.loading": ("load",),
    "lineal.model.model": ("Model",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'lineal.model' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
