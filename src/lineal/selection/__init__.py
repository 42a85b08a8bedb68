"""Choosing: columns by measures and by what learners make of them, options by held-out data."""

from typing import TYPE_CHECKING

from lineal.deferred import names_from

if TYPE_CHECKING:
    from lineal.selection.history import History, Step
    from lineal.selection.ranking import Ranking
    from lineal.selection.search.record import OuterFold, Trial, Tuning
    from lineal.selection.search.space import libsvm_grid, strengths

# Where names live that are loaded when they are first used.
_HOMES = {
    "history": "History Step",
    "ranking": "Ranking",
    "search.record": "OuterFold Trial Tuning",
    "search.space": "libsvm_grid strengths",
}

__all__ = ["History", "OuterFold", "Ranking", "Step", "Trial", "Tuning", "libsvm_grid", "strengths"]

__getattr__, __dir__ = names_from(__name__, _HOMES)
