"""What is imported when something of it is first asked for: parts of SciPy, and names of packages.

Each part of SciPy takes between 0.1 and 0.9 seconds to import, and a run of the command line needs few.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any


class Deferred:
    """Stands for a module; what was asked for once is kept."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(import_module(self._name), attribute)
        setattr(self, attribute, found)
        return found


if TYPE_CHECKING:
    from scipy import linalg, optimize, sparse, special, stats
else:
    linalg = Deferred("scipy.linalg")
    optimize = Deferred("scipy.optimize")
    sparse = Deferred("scipy.sparse")
    special = Deferred("scipy.special")
    stats = Deferred("scipy.stats")


def names_from(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose names live in modules that are loaded when needed.

    ``homes`` says which names live in a module, with blanks between them. A name must not be a module's
    too: once that is loaded, it would stand in the name's place.
    """
    home_of = {name: f"{package}.{module}" for module, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name in home_of:
            return getattr(import_module(home_of[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted(home_of)


def is_sparse(thing: Any) -> bool:
    """Whether a thing is a matrix or array of SciPy's, which none is where SciPy's were never imported."""
    return "scipy.sparse" in sys.modules and bool(sparse.issparse(thing))


def is_a(thing: Any, *places: str) -> bool:
    """Whether a thing is of one of some classes, each named ``"module:Class"``.

    Nothing can be of a class whose module was never imported, so it is not imported to find out.
    """
    for place in places:
        module, _, name = place.partition(":")
        if module in sys.modules and isinstance(thing, getattr(sys.modules[module], name, ())):
            return True
    return False


__all__ = ["is_a", "is_sparse", "linalg", "names_from", "optimize", "sparse", "special", "stats"]
