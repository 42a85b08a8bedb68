"""Ridge regression in a kernel's space: exact, by Cholesky's factors, with its certificate.

    P(a) = 1/2 sum_i s_i (y_i - f_i)^2 + strength/2 a'K a,                            f = K a
    D(a) = strength a'y - strength^2/2 sum_i a_i^2 / s_i - strength/2 a'K a
    P(a) - D(a) = 1/2 sum_i s_i (y_i - f_i - strength a_i / s_i)^2

D is the dual of section 3 of docs/objective.md at u_i = -strength a_i / s_i, whose penalty is a norm in the
kernel's space: no function whatever has an objective below it. The gap is a sum of squares, one for each row,
so that nothing cancels in it; it is 0 where (K + strength S^-1) a = y, the system that is solved.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from lineal.cancellation import raise_if_over
from lineal.deferred import linalg
from lineal.errors import InputError
from lineal.objective.certificate import Certificate, yardstick
from lineal.objective.losses import FloatArray

_ROUNDING = float(np.finfo(np.float64).eps)
_MOST_REFINEMENTS = 5
# Up to so many rows LAPACK factorises in one call, of some 0.1 s; beyond, so many rows of the factor, or
# columns of its inverse, at a time, and their products in pieces of so many multiplications.
_AT_ONCE, _PANEL, _INVERSE_PANEL, _PIECE = 2048, 1024, 512, 1 << 30


class SymmetricMatrix:
    """K in one triangle, and the Cholesky factor of K + diag(shift) in the other: one matrix of memory.

    K must be exactly symmetric, and is taken over.
    """

    def __init__(self, K: FloatArray) -> None:
        # LAPACK works in place on this layout; of another one it would change a copy, unnoticed.
        self._matrix = np.require(K, dtype=np.float64, requirements=["C", "W"])
        self._diagonal = self._matrix.diagonal().copy()
        self._factor: FloatArray | None = None  # its diagonal

    @property
    def scale(self) -> float:
        """The greatest diagonal entry; no entry of a Gram matrix is greater."""
        return float(np.abs(self._diagonal).max(initial=0.0))

    @property
    def is_zero(self) -> bool:
        """Whether all values are 0: a kernel, of one point, that has no factors."""
        return self.scale == 0.0 and not self._matrix.any()

    def factorize(self, shift: FloatArray) -> bool:
        """Whether K + diag(shift) is positive definite, so that ``solve`` can be asked."""
        if self._factor is not None:
            self._restore()
        np.fill_diagonal(self._matrix, self._diagonal + shift)
        if len(self._matrix) > _AT_ONCE:
            is_done = self._factorize_by_panels()
        else:
            # In Fortran's order the transpose, which is the same matrix: its lower triangle is our upper one.
            _, flaw = linalg.lapack.dpotrf(self._matrix.T, lower=1, clean=0, overwrite_a=1)
            is_done = bool(flaw == 0)
        self._factor = self._matrix.diagonal().copy()
        return is_done

    def _factorize_by_panels(self) -> bool:
        """R above the diagonal, R'R = K + diag(shift), by panels of rows; left between two pieces of one."""
        R, n = self._matrix, len(self._matrix)
        for first in range(0, n, _PANEL):
            last = min(first + _PANEL, n)
            tile, above = R[first:last, first:last], np.ascontiguousarray(R[:first, first:last]).T
            if first:
                width = max(_INVERSE_PANEL, _PIECE // (first * _PANEL))
                for begin in range(last, n, width):
                    raise_if_over()
                    R[first:last, begin : begin + width] -= _product(R[:first, begin : begin + width], above)
                raise_if_over()
                corner = np.triu(tile) - linalg.blas.dsyrk(1.0, above, lower=0)
            else:
                corner = np.triu(tile)
            corner, flaw = linalg.lapack.dpotrf(corner, lower=0)
            if flaw:
                return False
            np.copyto(tile, np.triu(corner) + np.tril(tile, -1))
            for begin in range(last, n, _PANEL):
                raise_if_over()
                right = R[first:last, begin : begin + _PANEL]
                right[:] = linalg.blas.dtrsm(1.0, corner, right.T, side=1, lower=0).T
        return True

    def _restore(self) -> None:
        """K in both triangles again."""
        n, block = len(self._matrix), 512
        for first in range(0, n, block):
            last = min(first + block, n)
            tile = self._matrix[first:last, first:last]
            np.copyto(tile, np.tril(tile) + np.tril(tile, -1).T)
            self._matrix[first:last, last:] = self._matrix[last:, first:last].T

    def solve(self, B: FloatArray) -> FloatArray:
        """(K + diag(shift))^-1 B."""
        answer, _ = linalg.lapack.dpotrs(self._matrix.T, B, lower=1)
        return np.asarray(answer)

    def product(self, B: FloatArray) -> FloatArray:
        """K B, from the triangle where K is."""
        np.fill_diagonal(self._matrix, self._diagonal)
        answer = linalg.blas.dsymm(1.0, self._matrix.T, B, lower=0)
        if self._factor is not None:
            np.fill_diagonal(self._matrix, self._factor)
        return np.asarray(answer)

    def inverse_diagonal(self) -> FloatArray:
        """The diagonal of (K + diag(shift))^-1; the factor is used up."""
        if len(self._matrix) > _AT_ONCE:
            return self._inverse_diagonal_by_panels()
        linalg.lapack.dpotri(self._matrix.T, lower=1, overwrite_c=1)
        return self._matrix.diagonal().copy()

    def _inverse_diagonal_by_panels(self) -> FloatArray:
        """Squared lengths of the columns of R'^-1, panel by panel of these."""
        R, n = self._matrix, len(self._matrix)
        diagonal = np.empty(n)
        for first in range(0, n, _INVERSE_PANEL):
            last = min(first + _INVERSE_PANEL, n)
            columns = np.zeros((n - first, last - first))
            columns[: last - first] = np.eye(last - first)
            for begin in range(first, n, _INVERSE_PANEL):
                raise_if_over()
                end = min(begin + _INVERSE_PANEL, n)
                mine = columns[begin - first : end - first]
                if begin > first:
                    above = np.ascontiguousarray(R[first:begin, begin:end]).T
                    mine -= _product(columns[: begin - first], above)
                mine[:] = linalg.blas.dtrsm(1.0, R[begin:end, begin:end], mine, side=0, lower=0, trans_a=1)
            diagonal[first:last] = np.einsum("ij,ij->j", columns, columns)
        return diagonal


def _product(right: FloatArray, left: FloatArray) -> FloatArray:
    """left @ right, by the library that factorises: threads of two would wait for each other."""
    return np.asarray(linalg.blas.dgemm(1.0, np.ascontiguousarray(right).T, left, trans_b=1).T)


@dataclass(frozen=True, eq=False)
class RidgeSolution:
    """What was found for the targets of one strength.

    Attributes
    ----------
    A : (n, K) coefficients
    F : (n, K) values on the training rows, K A
    parts : (primal, dual, gap, largest term of the gap)
    jitter : what had to be added to the diagonal for the factors to exist; mostly 0
    refinements : how often the residual was solved for again
    left_out : (n, K) predictions for each row by the fit without it, if they were asked for
    """

    A: FloatArray
    F: FloatArray
    parts: tuple[float, float, float, float]
    jitter: float
    refinements: int
    left_out: FloatArray | None


def refuse_indefinite(K: SymmetricMatrix, n: int) -> None:
    """Refuses a matrix that no kernel has: for values and functions that are given from outside."""
    tolerance = 32 * n * _ROUNDING * K.scale
    if K.is_zero or K.factorize(np.full(n, max(tolerance, 1e-300))):
        return
    raise InputError(
        "The Gram matrix is not positive semi-definite, so the kernel is none and there is no least "
        "objective. kernel.is_psd(X) gives the proof; add to the diagonal if you know that it is nearly one."
    )


def solve(
    K: SymmetricMatrix,
    Y: FloatArray,
    s: FloatArray,
    strength: float,
    tol: float,
    *,
    with_left_out: bool = False,
) -> RidgeSolution:
    """The least P for the targets Y, (n, K), with weights s > 0.

    Notes
    -----
    Needs strength > 0 and K positive semi-definite. Costs n^3 / 3 multiplications, twice as many more for
    predictions of left-out rows; n^2 numbers, K included. Residuals are solved for again as long as that
    lowers a gap above ``tol``. Cancelled, there is no result, which ``raise_if_over`` says, between two
    panels of a factorisation.
    """
    shift = strength / s
    raise_if_over()
    jitter = _factorized(K, shift)
    raise_if_over()
    A = K.solve(Y)
    F = K.product(A)
    parts, refinements = objective_parts(Y, s, strength, A, F), 0
    while parts[2] > tol * parts[0] and refinements < _MOST_REFINEMENTS:
        better = A + K.solve(Y - F - shift[:, None] * A)
        values = K.product(better)
        new = objective_parts(Y, s, strength, better, values)
        refinements += 1
        if not new[2] < parts[2]:
            break
        A, F, parts = better, values, new
    raise_if_over()
    # Leaving row i out changes its prediction to y_i - a_i / [(K + strength S^-1)^-1]_ii (Allen 1974).
    left_out = Y - A / K.inverse_diagonal()[:, None] if with_left_out else None
    return RidgeSolution(A, F, parts, jitter, refinements, left_out)


def _factorized(K: SymmetricMatrix, shift: FloatArray) -> float:
    """Factorizes K + diag(shift); what had to be added where rounding made it indefinite."""
    if K.factorize(shift):
        return 0.0
    jitter = len(shift) * _ROUNDING * K.scale
    for _ in range(6):
        jitter *= 10
        if K.factorize(shift + jitter):
            return float(jitter)
    raise InputError(
        "The Gram matrix is not positive semi-definite: even with "
        f"{jitter:.3g} added to its diagonal it has no Cholesky factor. kernel.is_psd(X) gives the proof."
    )


def objective_parts(
    Y: FloatArray, s: FloatArray, strength: float, A: FloatArray, F: FloatArray
) -> tuple[float, float, float, float]:
    """P, D, their gap as a sum of squares, and the greatest of those; F = K A, (n, K)."""
    residual, pull = Y - F, strength * A / s[:, None]
    norm = strength * float((A * F).sum())
    primal = 0.5 * float(s @ (residual**2).sum(axis=1)) + 0.5 * norm
    dual = strength * float((A * Y).sum()) - 0.5 * float(s @ (pull**2).sum(axis=1)) - 0.5 * norm
    terms = 0.5 * s[:, None] * (residual - pull) ** 2
    return primal, dual, float(terms.sum()), float(terms.max(initial=0.0))


def certificate(
    solutions: list[RidgeSolution], at_zero: float, tol: float, began: float, reason: str
) -> Certificate:
    """The proof for all targets together; ``at_zero`` is P at a = 0."""
    primal, dual, gap, worst = (float(sum(found.parts[k] for found in solutions)) for k in range(4))
    return Certificate.of_proof(
        primal,
        dual,
        gap=gap,
        size=yardstick(primal, at_zero),
        tol=tol,
        worst=worst,
        solver="cholesky",
        epochs=1 + max(found.refinements for found in solutions),
        seconds=time.perf_counter() - began,
        reason=reason,
    )
