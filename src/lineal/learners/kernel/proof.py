"""verify for kernel machines: their certificates again, from coefficients and data, in NumPy and float64."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.deferred import sparse as sp
from lineal.errors import InputError
from lineal.kernels import Kernel, Precomputed
from lineal.kernels.products import Differences
from lineal.learners.kernel.problems import Conditions, MachineProblem
from lineal.objective.certificate import Certificate
from lineal.objective.losses import FloatArray

IntArray = NDArray[np.int64]

# Kernel values that are held at once: so many numbers.
_PIECE = 4_000_000
_FEW_COLUMNS = 1024
# gamma |x|^2 from which on distances are not taken from dot products; and -log of what is 0 in float64.
_FAR, _NOTHING = 1e4, 800.0


@dataclass(frozen=True)
class VerifiedMachine(Certificate):
    """A certificate that was proved again, and what holds of the rows.

    Attributes
    ----------
    kkt : Conditions
        Counts are summed over machines where there are several; of what is missed the worst is told.
    """

    kkt: Conditions | None = None

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.kkt}"


@dataclass(frozen=True, eq=False)
class Claim:
    """A machine to be checked.

    Attributes
    ----------
    problem : what it was to solve
    rows : (n,) where its rows are in the data
    beta : (n,) their coefficients
    unit : what P and D are multiplied by to be the objective as it is written
    floor : below which sizes of P and D no gap is compared with them
    """

    problem: MachineProblem
    rows: IntArray
    beta: FloatArray
    unit: float
    floor: float = 0.0


def proved(
    kernel: Kernel, items: Any, support: IntArray, claims: Sequence[Claim], tol: float
) -> VerifiedMachine:
    """The certificate of machines on one set of items, whose coefficients are 0 but on the support."""
    began = time.perf_counter()
    repaired = [claim.problem.feasible(claim.beta) for claim in claims]
    n = kernel.size(items)
    coefficients = np.zeros((2 * len(claims), n))
    for k, claim in enumerate(claims):
        coefficients[2 * k, claim.rows] = claim.beta
        coefficients[2 * k + 1, claim.rows] = repaired[k]
    used = np.union1d(support, np.flatnonzero(coefficients.any(axis=0)))
    F = _sums(kernel, items, used, coefficients[:, used])
    found = [
        _checked(claim, repaired[k], F[claim.rows, 2 * k], F[claim.rows, 2 * k + 1])
        for k, claim in enumerate(claims)
    ]
    primal, dual = sum(each[0] for each in found), sum(each[1] for each in found)
    gaps = [each[2] for each in found]
    relative = gaps[0] if len(gaps) == 1 else (primal - dual) / max(abs(primal), abs(dual), 1e-300)
    kkt = _together([each[3] for each in found])
    verified = VerifiedMachine.of_proof(
        primal, dual, size=max(abs(primal), abs(dual), 1e-300), tol=tol, worst=kkt.worst, solver="verify",
        seconds=time.perf_counter() - began, stop=None, reason="recomputed from the coefficients", kkt=kkt,
    )  # fmt: skip
    return replace(verified, relative_gap=relative, converged=bool(max(gaps) <= tol))


def _checked(
    claim: Claim, repaired: FloatArray, f: FloatArray, f_repaired: FloatArray
) -> tuple[float, float, float, Conditions]:
    """P, D, the relative gap and the conditions of one machine."""
    primal = claim.problem.primal(max(float(claim.beta @ f), 0.0), f)
    dual = claim.problem.dual(repaired, max(float(repaired @ f_repaired), 0.0))
    size = max(abs(primal), abs(dual), claim.floor)
    relative = (primal - dual) / size if 0 < size < np.inf else float(not primal <= dual)
    return claim.unit * primal, claim.unit * dual, relative, claim.problem.conditions(claim.beta, f)


def _together(reports: Sequence[Conditions]) -> Conditions:
    counts = (sum(getattr(r, name) for r in reports) for name in ("at_zero", "on_margin", "at_bound"))
    worst = ("worst_at_zero", "worst_on_margin", "worst_at_bound", "outside", "imbalance")
    return Conditions(*counts, *(max(getattr(r, name) for r in reports) for name in worst))


def require_training_data(kernel: Kernel, items: Any, support: IntArray, known: Any) -> None:
    """Refuses items whose support vectors are not those that the model keeps."""
    message = "these are not the rows that the model was fitted on: verify on the training data."
    if len(support) and int(support.max()) >= kernel.size(items):
        raise InputError(message)
    mine = kernel.take(items, support)
    if isinstance(kernel, Precomputed):
        mine, known = mine.values, known.values
    if sp.issparse(mine):
        is_same = mine.shape == known.shape and (mine != known).nnz == 0
    elif isinstance(mine, np.ndarray):
        is_same = np.array_equal(mine, known)
    else:
        is_same = True  # strings, trees and other things: scores will tell
    if not is_same:
        raise InputError(message)


def _sums(kernel: Kernel, items: Any, used: IntArray, coefficients: FloatArray) -> FloatArray:
    """(n, n_machines) K coefficients', for a part of the rows after another."""
    n = kernel.size(items)
    support = kernel.take(items, used)
    out = np.empty((n, len(coefficients)))
    step = max(1, _PIECE // max(len(used), 1))
    for start in range(0, n, step):
        piece = np.arange(start, min(start + step, n))
        out[piece] = _values(kernel, kernel.take(items, piece), support) @ coefficients.T
    return out


def _values(kernel: Kernel, items: Any, support: Any) -> FloatArray:
    """Kernel values from dot products of NumPy's and SciPy's; as the kernel computes them where it is no
    function of those.
    """
    profile = kernel.profile
    if profile is None:
        return kernel.compute(items, support, 1)
    if profile.kind == "gaussian" and not sp.issparse(items) and len(support):
        centre = support.mean(axis=0)  # distances stay, and squares lose fewer digits
        items, support = items - centre, support - centre
    products = _products(items, support)
    if profile.kind == "linear":
        return products
    if profile.kind == "polynomial":
        return np.asarray((profile.gamma * products + profile.c) ** profile.degree)
    total = _squared_lengths(items)[:, None] + _squared_lengths(support)
    squares = total - 2.0 * products
    if profile.gamma * float(total.max(initial=0.0)) > _FAR:
        # What is left of such sums says nothing about rows that are near each other: differences do.
        i, j = np.nonzero(profile.gamma * (squares - 1e-12 * total) < _NOTHING)
        squares[i, j] = Differences(items, support, 1.0)(i, j)
    return np.asarray(np.exp(-profile.gamma * np.maximum(squares, 0.0)))


def _products(items: Any, support: Any) -> FloatArray:
    """Dot products of all with all; sparse rows of few columns are quickest as dense ones."""
    if sp.issparse(items) and items.shape[1] <= _FEW_COLUMNS:
        items, support = items.toarray(), support.toarray()
    products = items @ support.T
    return products.toarray() if sp.issparse(products) else np.asarray(products)


def _squared_lengths(items: Any) -> FloatArray:
    squares = items.multiply(items).sum(axis=1) if sp.issparse(items) else np.square(items).sum(axis=1)
    return np.asarray(squares).ravel()
