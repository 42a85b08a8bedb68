"""Exact nearest neighbours: spaces that measure distances, indexes that find the nearest, and a planner.

What counts as nearest
----------------------
Every pair of rows has one distance, computed in one way: in float64, summed over the columns in their order,
each operation rounded by itself. Neighbours are ordered by (distance, training row), so equal distances go
to the lower row. Every index returns exactly the first k in that order, with exactly those distances, bit
for bit:

- a kd-tree prunes by distances to boxes that are computed by the same operations in the same order, and
  rounding is monotone, so a box is never farther away than what is in it;
- products of matrices in single precision (|a|^2 + |b|^2 - 2 a.b) and sums over an inverted index leave out
  only rows that lie beyond the k nearest by more than a proved bound on their error; the others get their
  distance in the one way;
- threads share out queries, and a query is answered by one of them.

So the choice of an index and the number of threads change the time, never the answer, and a sparse matrix
has the neighbours of the dense array with the same numbers.

Spaces turn data into what an index holds: scaled, stretched, whitened or normalised numbers, codes, or code
points. They and the planner are Python; the searches are in ``native/include/lineal/near``.
"""

from lineal.neighbors.indexes import NeighborIndex
from lineal.neighbors.planner import ALGORITHMS, IndexPlan, chosen_index
from lineal.neighbors.spaces import METRICS, Space, space_of

__all__ = ["ALGORITHMS", "METRICS", "IndexPlan", "NeighborIndex", "Space", "chosen_index", "space_of"]
