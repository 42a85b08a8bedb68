"""Fits that are done whole, or leave no trace; features have them, too."""

from lineal.protocol.whole_fits import all_or_nothing

__all__ = ["all_or_nothing"]
