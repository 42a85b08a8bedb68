"""Learners made of learners: strategies for many classes, votes, bags, stacks, unlabelled rows."""

from lineal.compose.confidence import Margin, Proposals, Threshold, TopK
from lineal.compose.pool import Added

__all__ = ["Added", "Margin", "Proposals", "Threshold", "TopK"]
