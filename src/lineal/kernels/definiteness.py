"""Whether a matrix can be a Gram matrix: symmetric, positive semi-definite, and the witness where not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lineal.objective.losses import FloatArray

_ROUNDING = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Whether a matrix of kernel values is symmetric.

    Attributes
    ----------
    holds : bool
        Whether no two values differ by more than ``tolerance``.
    difference : float
        The largest |k(x, z) - k(z, x)|.
    pair : tuple of int or None
        The rows x and z where it is, if it does not hold.
    tolerance : float
        What rounding may make of equal values.
    """

    holds: bool
    difference: float
    pair: tuple[int, int] | None
    tolerance: float

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.pair is None:
            return f"symmetric: |K - K'| <= {self.difference:.3g}"
        i, j = self.pair
        return f"not symmetric: k of rows {i}, {j} and of {j}, {i} differ by {self.difference:.6g}"


@dataclass(frozen=True, eq=False)
class Definiteness:
    """Whether a matrix of kernel values is positive semi-definite (Mercer's condition on these items).

    Attributes
    ----------
    holds : bool
        Whether it is symmetric and no eigenvalue is below ``-tolerance``.
    smallest_eigenvalue, largest_eigenvalue : float
        Of (K + K') / 2.
    witness : array or None
        A vector a of length 1 with a'Ka < 0, if there is one: the proof that k is no kernel.
    symmetry : Symmetry
        With the pair of rows where K is not symmetric.
    tolerance : float
        How far below 0 rounding may bring an eigenvalue that is 0.
    """

    holds: bool
    smallest_eigenvalue: float
    largest_eigenvalue: float
    witness: FloatArray | None
    symmetry: Symmetry
    tolerance: float

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if not self.symmetry:
            return str(self.symmetry)
        if self.holds:
            return f"positive semi-definite: smallest eigenvalue {self.smallest_eigenvalue:.6g}"
        return f"not positive semi-definite: a'Ka = {self.smallest_eigenvalue:.6g} for the witness a"


def symmetry(K: FloatArray) -> Symmetry:
    """Whether K is symmetric up to rounding."""
    largest = float(np.abs(K).max(initial=0.0))
    tolerance = 64 * _ROUNDING * largest
    apart = np.abs(K - K.T)
    difference = float(apart.max(initial=0.0))
    if difference <= tolerance:
        return Symmetry(True, difference, None, tolerance)
    i, j = np.unravel_index(int(apart.argmax()), apart.shape)
    return Symmetry(False, difference, (int(min(i, j)), int(max(i, j))), tolerance)


def definiteness(K: FloatArray) -> Definiteness:
    """Whether K is positive semi-definite up to rounding; O(n^3).

    Kernel values are right to a few units in the last place of the largest of them, which moves an
    eigenvalue by at most n times as much (Weyl); the solver's own error is of that order too.
    """
    symmetric = symmetry(K)
    n = len(K)
    if n == 0:
        return Definiteness(bool(symmetric), 0.0, 0.0, None, symmetric, 0.0)
    # Eigenvalues of a matrix near the limits of float64 are found in a unit that is a power of two.
    exponent = int(np.frexp(float(np.abs(K).max()))[1])
    scaled = np.ldexp(K, -exponent)
    values, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
    smallest, largest = (float(np.ldexp(v, exponent)) for v in (values[0], values[-1]))
    tolerance = float(np.ldexp(32 * n * _ROUNDING * float(np.abs(scaled).max()), exponent))
    witness = vectors[:, 0].copy() if smallest < -tolerance else None
    return Definiteness(bool(symmetric) and witness is None, smallest, largest, witness, symmetric, tolerance)
