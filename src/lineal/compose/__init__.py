"""Learners made of learners: strategies for many classes, votes, bags, stacks, unlabelled rows."""

from typing import TYPE_CHECKING

from lineal.deferred import names_from

if TYPE_CHECKING:
    from lineal.compose.confidence import Margin, Proposals, Threshold, TopK
    from lineal.compose.pool import Added

# Where names live that are loaded when they are first used.
_HOMES = {"confidence": "Margin Proposals Threshold TopK", "pool": "Added"}

__all__ = ["Added", "Margin", "Proposals", "Threshold", "TopK"]

__getattr__, __dir__ = names_from(__name__, _HOMES)
