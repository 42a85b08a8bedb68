"""Least squares with its uncertainty: ``design`` reads the data, ``summary`` is the answer."""

from lineal.learners.inference.least_squares import least_squares_summary
from lineal.learners.inference.summary import Band, LeastSquaresSummary

__all__ = ["Band", "LeastSquaresSummary", "least_squares_summary"]
