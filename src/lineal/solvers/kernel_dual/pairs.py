"""Machines for every two of many classes, all in one call of the core."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.objective.certificate import Certificate, Stop
from lineal.objective.losses import FloatArray
from lineal.solvers.kernel_dual.duals import IntArray
from lineal.solvers.kernel_dual.machine import CLAIM, LARGEST_BLOCK, pace_of
from lineal.solvers.kernel_dual.values import KernelValues


@dataclass(frozen=True, eq=False)
class PairSolutions:
    """What was proved of each pair i < j, in order, in units in which the penalty is |w|^2 / 2.

    Attributes
    ----------
    coefficients : (K - 1, n) beta of the rows, in LIBSVM's layout
    is_certified : (n_pairs,)
        The others are left: they need more than steps until a proof, or more time. What is told of them is
        true, but wide: see ``KernelMachine``.
    b, gap, dual : (n_pairs,)
    worst : (n_pairs,) the largest term of the gap
    epochs, seconds : (n_pairs,)
    """

    coefficients: FloatArray
    is_certified: NDArray[np.bool_]
    b: FloatArray
    gap: FloatArray
    dual: FloatArray
    worst: FloatArray
    epochs: IntArray
    seconds: FloatArray

    def certificate(
        self, k: int, tol: float, unit: float, stop: Stop = Stop.CERTIFIED, detail: object = ""
    ) -> Certificate:
        """What was proved of a pair, in units of the objective as it is written; and why not
        more.
        """
        dual, gap = unit * float(self.dual[k]), unit * float(self.gap[k])
        return Certificate.of_proof(
            dual + gap, dual, gap=gap, size=abs(dual + gap), tol=tol if self.is_certified[k] else -np.inf,
            worst=unit * float(self.worst[k]), solver="kernel_dual", epochs=int(self.epochs[k]),
            seconds=float(self.seconds[k]), stop=stop, detail=detail,
        )  # fmt: skip


def solved_pairs(
    values: KernelValues,
    rows: IntArray,
    start: IntArray,
    bound: FloatArray,
    *,
    tol: float,
    n_threads: int,
) -> PairSolutions:
    """Machines of classes whose rows follow each other, class k's from ``start[k]`` on, with finite bounds.

    Equal rows of a class must be one already, and kernel values of ordinary size. At the end of the token in
    force pairs are told as they stand.
    """
    counts = np.diff(start)
    i, j = np.triu_indices(len(counts), 1)
    block, share, max_inner = zip(*(pace_of(int(m)) for m in counts[i] + counts[j]), strict=True)
    coefficients, told = values.native.solve_pairs(
        values.first_equal[rows], start, bound, tol, CLAIM, np.array(block, dtype=np.int64),
        np.array(share), np.array(max_inner, dtype=np.int64), LARGEST_BLOCK, n_threads,
    )  # fmt: skip
    is_certified, b, gap, dual, worst, epochs, seconds = told.T
    return PairSolutions(
        coefficients, is_certified > 0, b, gap, dual, worst, epochs.astype(np.int64), seconds
    )
