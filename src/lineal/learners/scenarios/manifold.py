"""Functions that are smooth along a graph of the rows, as functions of a deformed kernel.

With M = gamma_manifold L, L the Laplacian of the graph and G the kernel matrix of all rows::

    |f|^2 + f'M f      over f = (f(x_1) ... f(x_n))

is the squared norm of another space of functions (Sindhwani, Niyogi and Belkin 2005). Its kernel among the
labelled rows, E the columns of the identity for these, is

    E'G A,     A = (I + M G)^-1 E

and a function sum_L beta_j k~(x_j, .) of the new space is sum_i a_i k(x_i, .) of the old one, a = A beta.
What is left to solve is an ordinary machine of the labelled rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import linalg
from lineal.deferred import sparse as sp
from lineal.errors import InputError
from lineal.kernels.domains import Vectors
from lineal.neighbors import chosen_index, space_of
from lineal.objective.losses import FloatArray
from lineal.solvers.kernel_dual import KernelValues

# Rows whose kernel matrix is factorised: 0.5 GB a matrix, of which four are held.
MANIFOLD_LIMIT = 8_000


def neighbor_graph(values: KernelValues, G: FloatArray, n_neighbors: int) -> Any:
    """(n, n) sparse 0/1 matrix: an edge where either of two rows is among the nearest of the other.

    Vectors are compared by Euclidean distances; other items by distances in the kernel's space.
    """
    n = len(G)
    k = min(n_neighbors, n - 1)
    if isinstance(values.kernel.domain, Vectors):
        space = space_of("euclidean")
        space.learn(values.items, np.ones(n))
        placed = space.place(values.items)
        index, _ = chosen_index(space, placed)
        _, found = index.search(placed, k + 1, values.n_threads)
    else:
        apart = G.diagonal()[:, None] + G.diagonal()[None, :] - 2 * G
        found = np.argsort(apart, axis=1, kind="stable")[:, : k + 1]
    return symmetric_graph(without_themselves(found, k))


def without_themselves(found: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """(n, k) neighbours of rows that were found among k + 1 with themselves; copies may hide a row."""
    n = len(found)
    is_self = found == np.arange(n)[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    return found[~is_self].reshape(n, k)


def symmetric_graph(neighbors: NDArray[np.int64]) -> Any:
    """The graph with an edge between a row and each of its neighbours."""
    n, k = neighbors.shape
    rows = np.repeat(np.arange(n), k)
    graph = sp.csr_array((np.ones(n * k), (rows, neighbors.ravel())), shape=(n, n))
    return graph.maximum(graph.T).tocsr()


def checked_graph(graph: Any, n: int) -> Any:
    """A graph from outside: symmetric, its weights finite and >= 0."""
    matrix = sp.csr_array(graph, dtype=np.float64)
    if matrix.shape != (n, n):
        raise InputError(f"graph must be a matrix of {n} rows and columns, got shape {matrix.shape}.")
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise InputError("graph must have finite weights >= 0.")
    if abs(matrix - matrix.T).sum() > 1e-9 * max(abs(matrix).sum(), 1e-300):
        raise InputError("graph must be symmetric. Use graph.maximum(graph.T), or their mean.")
    return matrix


def laplacian(graph: Any) -> Any:
    """D - W: f'L f is the sum of w_ij (f_i - f_j)^2 over edges."""
    return sp.csr_array(sp.diags_array(np.asarray(graph.sum(axis=1)).ravel()) - graph)


@dataclass(frozen=True, eq=False)
class DeformedKernel:
    """The kernel of smooth functions among the labelled rows, and the way back.

    Attributes
    ----------
    G : (n, n) kernel matrix of all rows
    L : (n, n) the graph's Laplacian, sparse
    gamma : float, what f'L f costs
    labelled : (l,) rows
    A : (n, l)
    K : (l, l) the deformed kernel among the labelled rows, symmetric
    """

    G: FloatArray
    L: Any
    gamma: float
    labelled: NDArray[np.intp]
    A: FloatArray
    K: FloatArray

    def expanded(self, beta: FloatArray) -> tuple[FloatArray, FloatArray, float, float]:
        """a, f on all rows, |f|^2 and f'L f, from the old space alone."""
        a = self.A @ beta
        f = self.G @ a
        return a, f, float(a @ f), float(f @ (self.L @ f))

    def norm_bound(self, beta: FloatArray, a: FloatArray, f: FloatArray) -> float:
        """No less than beta'K beta for the exact K, whatever a rounding left of a = A beta.

        With the residue r = E beta - (I + gamma L G) a, beta'K beta = beta'E'f + f'r + r'H r for the matrix
        H = G (I + gamma L G)^-1, which is between 0 and G.
        """
        r = -a - self.gamma * (self.L @ f)
        r[self.labelled] += beta
        return float(beta @ f[self.labelled]) + float(f @ r) + float(r @ (self.G @ r))


def deformed(G: FloatArray, L: Any, gamma: float, labelled: NDArray[np.intp]) -> DeformedKernel:
    """Factorises I + gamma L G, O(n^3), and corrects the solution once by what rounding left."""
    n = len(G)
    E = np.zeros((n, len(labelled)))
    E[labelled, np.arange(len(labelled))] = 1.0
    if gamma == 0:
        return DeformedKernel(G, L, gamma, labelled, E, G[np.ix_(labelled, labelled)])
    product = gamma * np.asarray(L @ G)
    product[np.diag_indices(n)] += 1.0
    factor = linalg.lu_factor(product, overwrite_a=True)
    A = linalg.lu_solve(factor, E)
    A += linalg.lu_solve(factor, E - A - gamma * (L @ (G @ A)))
    K = G[labelled] @ A
    return DeformedKernel(G, L, gamma, labelled, A, (K + K.T) / 2)
