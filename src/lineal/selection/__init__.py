"""Choosing: columns by measures and by what learners make of them, options by held-out data."""

from lineal.selection.history import History, Step
from lineal.selection.ranking import Ranking
from lineal.selection.search.record import OuterFold, Trial, Tuning
from lineal.selection.search.space import libsvm_grid, strengths

__all__ = ["History", "OuterFold", "Ranking", "Step", "Trial", "Tuning", "libsvm_grid", "strengths"]
