"""Choosing: columns by measures and by what learners make of them, options by held-out data."""

from lineal.selection.search.record import OuterFold, Trial, Tuning
from lineal.selection.search.space import libsvm_grid, strengths

__all__ = ["OuterFold", "Trial", "Tuning", "libsvm_grid", "strengths"]
