"""From things to features: x -> phi."""

from lineal.features.joint import block_map

__all__ = ["block_map"]
