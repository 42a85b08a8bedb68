"""Least squares by its normal equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from lineal.cancellation import break_off_if_over
from lineal.deferred import linalg
from lineal.errors import InputError
from lineal.objective.dual_points import units
from lineal.objective.linear_maps import NativeRows
from lineal.objective.loss_sums import RowLosses
from lineal.objective.losses import FloatArray
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.base import BEYOND, LOSS_A_ROW, Iterate, Need, Solver, Start, State, Weights, state_of
from lineal.solvers.costs import Cost, factor, gram, passes
from lineal.solvers.craig import by_craig
from lineal.solvers.newton import solve_positive

# From a residual and the present weights to the change that explains the residual.
Solve = Callable[[FloatArray, FloatArray, FloatArray], Weights]
# From targets to the weights that come closest to them; from weights to shorter ones with the same scores.
Explain = Callable[[FloatArray], FloatArray]
Shorten = Callable[[FloatArray], FloatArray]

# The smaller of rows and columns that is still factorised.
LIMIT = 5000
# A number that was computed in some steps before it was stored is off by a few units in its last place.
_ROUNDINGS = 8.0
# So many multiplications take a fraction of a second: then sparse rows become dense, for singular values.
_SMALL = 1e9
# The round of wide rows after which there is none.
_LAST_ROUND = 2
# A reciprocal condition number of products of columns that leaves half of the digits.
_FAR = 1e-8

_NEEDS = (
    LOSS_A_ROW,
    Need("loss=Squared()", "loss", lambda p: p.losses.is_quadratic),
    Need("a score for each column of weights", "", lambda p: not p.has_shared_weights),
    Need("L2 or NoPenalty", "penalty", lambda p: p.penalty.is_ridge or p.penalty.is_zero),
    Need(
        "the penalty of the weights for the intercept, too", "penalty", lambda p: p.intercept_penalty is None
    ),
    Need(
        f"a penalty, or at most {LIMIT} sparse columns",
        "penalty",
        lambda p: not (p.penalty.is_zero and p.X.is_sparse and p.X.n_columns > LIMIT),
    ),
    Need(
        f"at most {LIMIT} rows or columns, whose products are factorised",
        "",
        lambda p: min(p.X.n_rows, p.X.n_columns) <= LIMIT,
    ),
)


class ClosedForm(Solver):
    """(X'S X + strength I)^-1 X'S y, or its dual form when there are fewer rows than columns.

    Notes
    -----
    Needs ``Squared`` and L2 or no penalty. Guarantees: one step, exact to rounding, or to a gap of 1e-12 by
    conjugate gradients; without a penalty and with collinear columns, the solution of least norm. Costs one
    Gram matrix and one factorisation; neither can be broken off: a fit that is cancelled or out of time ends
    between them, at its start. Wide dense rows are first met by conjugate gradients (``craig.py``), which end
    sooner where the rows are far from collinear, and else are left after a counted part of the work.
    Published: Gauss 1809; the dual form is Saunders, Gammerman and Vovk 1998.
    """

    name = "closed_form"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Least squares, and a size that can be factorised."""
        return _NEEDS

    def cost(self, problem: Problem) -> Cost:
        """A Gram matrix, its factor, and corrections."""
        size = min(problem.X.n_rows, problem.X.n_columns)
        return Cost.of_epochs((gram(problem) + factor(size)) / 3 + passes(problem, 2), 3, 3)

    def iterates(self, problem: Problem, start: Start | None, tol: float, seed: int) -> Iterator[Iterate]:
        """One solution; by columns, also corrections of it by what rounding left."""
        n, d, K = problem.X.n_rows, problem.X.n_columns, problem.n_outputs
        losses = problem.losses.rows
        assert losses is not None
        strength = float(problem.penalty.l2)
        kept = state_of(start) or {"W": np.zeros((d, K)), "b": np.zeros(K), "n_rounds": 0}
        W, b = kept["W"], kept["b"]
        if d > n and strength > 0.0 and (rows := problem.X.native_rows) is not None:
            yield from _wide_iterates(problem, losses, rows, tol, kept)
            return
        far = _by_far_columns(problem, losses) if strength == 0.0 and d <= n else None
        solve = _by_columns(problem, losses, strength) if far is None else far
        if kept["n_rounds"]:
            yield _iterate(W, b, kept["n_rounds"])
        for n_rounds in range(kept["n_rounds"], 3):
            # Each round solves for what the last one left of the residual: iterative refinement.
            residual = losses.y - problem.scores(W, b) if n_rounds else losses.y
            dW, db = solve(residual, W, b)
            W, b = W + dW, b + db
            if far is None:
                yield _iterate(W, b, n_rounds + 1)
            else:
                # Slopes of weights that are exact are the dual point that is.
                Z = problem.scores(W, b)
                yield _iterate(W, b, n_rounds + 1, Z, losses.slopes(Z))


def _wide_iterates(
    problem: Problem, losses: RowLosses, X: NativeRows, tol: float, kept: State
) -> Iterator[Iterate]:
    """What conjugate gradients find, where they are sooner; what products of rows do, where it is not enough.

    Begun again, a round is not made anew.
    """
    strength = float(problem.penalty.l2)
    if kept["n_rounds"] < _LAST_ROUND:
        found = kept["found"] if kept["n_rounds"] else by_craig(problem, losses, X, strength, tol)
        if found is not None:
            W, b, U = found
            yield replace(
                _iterate(W, b, 1, None, U),
                state=lambda: {"W": W, "b": b, "n_rounds": 1, "found": found},
            )
        kept = {"W": None, "n_rounds": 0}
    W, b = (kept["W"], kept["b"]) if kept["n_rounds"] else _by_rows(problem, losses, X, strength)
    yield _iterate(W, b, _LAST_ROUND)


def _iterate(
    W: FloatArray, b: FloatArray, n_rounds: int, Z: FloatArray | None = None, U: FloatArray | None = None
) -> Iterate:
    return Iterate(
        lambda: (W, b),
        None if U is None else lambda: U,
        state=lambda: {"W": W, "b": b, "n_rounds": n_rounds},
        scores=None if Z is None else Z.copy,
    )


def _by_columns(problem: Problem, losses: RowLosses, strength: float) -> Solve:
    """Normal equations in the columns; without a penalty, by singular values, so that least norm is exact."""
    X, s, has_constant = problem.X, losses.s, problem.intercept is not Intercept.NONE
    penalises_b = problem.intercept is Intercept.PENALIZED
    d = X.n_columns
    # Products of columns lose half of the digits that the columns themselves have.
    if strength == 0.0 and (dense := X.dense_array(_SMALL)) is not None:
        return _by_centred_columns(dense, s, has_constant)
    G = X.gram(s, has_constant)
    break_off_if_over()
    if not np.isfinite(np.diag(G)).all():
        raise InputError(BEYOND)
    bend = np.full(len(G), strength)
    if has_constant and not penalises_b:
        bend[-1] = 0.0

    def by_gram(residual: FloatArray, W: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        SR = losses.weighted(residual)
        right = X.adjoint(SR) - strength * W
        if has_constant:
            right = np.vstack([right, SR.sum(axis=0) - (strength * b if penalises_b else 0.0)])
        if strength == 0.0:
            step = _least_norm(G, right, has_constant, X.n_rows)
        else:
            step = _solved_together(G, bend, right)
        return step[:d], step[d] if has_constant else np.zeros_like(b)

    return by_gram


def _solved(G: FloatArray, bend: FloatArray, right: FloatArray) -> FloatArray:
    break_off_if_over()
    return solve_positive(G, bend, right)


def _solved_together(G: FloatArray, bend: FloatArray, right: FloatArray) -> FloatArray:
    """(G + diag(bend))^-1 right: several targets share a factor where nothing need be added to have one."""
    if right.shape[1] > 1:
        A = G + np.diag(bend)
        unit = units(np.diag(A))
        if (factor := _far_factor(A * unit[:, None] * unit, _FAR)) is not None:
            step = np.zeros_like(right)
            for _ in range(2):  # the second takes back what rounding left
                left = unit[:, None] * (right - A @ step)
                step += unit[:, None] * linalg.cho_solve(factor, left, check_finite=False)
            return step
    return np.column_stack([_solved(G, bend, column) for column in right.T])


def _by_far_columns(problem: Problem, losses: RowLosses) -> Solve | None:
    """Normal equations of columns far from collinear, and beside an intercept from constants; else None.

    A tenth of the time that singular values take, and no copy of the columns.
    """
    X, s, d = problem.X, losses.s, problem.X.n_columns
    is_free = problem.intercept is Intercept.FREE
    if X.is_sparse or problem.intercept is Intercept.PENALIZED or d == 0:
        return None
    G = X.gram(s, is_free)
    squares = np.diag(G)[:d].copy()
    if not np.isfinite(np.diag(G)).all() or not squares.all() or (is_free and not G[-1, -1] > 0):
        return None
    centre = G[:d, d] / G[d, d] if is_free else np.zeros(d)
    inner = G[:d, :d] - np.outer(centre, G[:d, d]) if is_free else G
    spread = np.diag(inner).copy()
    if not np.all(spread > 0):
        return None
    unit = units(spread)
    # So many times larger than what is left of them products were when they were rounded.
    magnified = float((squares / spread).max())
    inner = inner * unit[:, None] * unit
    factor = _far_factor(inner, _FAR * magnified)
    if factor is None:
        return None

    def step(residual: FloatArray) -> Weights:
        SR = losses.weighted(residual)
        right = X.adjoint(SR)
        mean = SR.sum(axis=0) / G[d, d] if is_free else np.zeros(residual.shape[1])
        right = right - np.outer(centre, SR.sum(axis=0)) if is_free else right
        dW = unit[:, None] * linalg.cho_solve(factor, unit[:, None] * right, check_finite=False)
        return dW, mean - centre @ dW

    def solve(residual: FloatArray, W: FloatArray, b: FloatArray) -> Weights:
        dW, db = step(residual)
        # What products lost, a second step wins back.
        more = step(residual - problem.scores(dW, db))
        return dW + more[0], db + more[1]

    return solve


def _far_factor(G: FloatArray, least: float) -> tuple[FloatArray, bool] | None:
    """The triangular factor of a matrix whose reciprocal condition number is at least so much, else None."""
    if not least < 1.0:
        return None
    length = float(np.abs(G).sum(axis=0).max())
    try:
        factor = linalg.cho_factor(G, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    closeness, _ = linalg.lapack.dpocon(factor[0], length, uplo="L")
    return factor if closeness >= least else None


def _by_far_rows(A: FloatArray, root: FloatArray, noise: FloatArray, is_centred: bool) -> Explain | None:
    """The shortest weights of fewer rows than columns, by products of rows; None where those are close.

    Centred rows add up to 0: along that one direction, which no residual has a part in, products are made up.
    """
    K = A @ A.T
    size = float(np.diag(K).mean())
    if not 0.0 < size < np.inf:
        return None
    if is_centred:
        along = root / np.linalg.norm(root)
        K += size * along * along.T
    K[np.diag_indices(len(K))] += np.where(root[:, 0] == 0.0, size, 0.0)
    # Rounded columns must not make rows look independent.
    factor = _far_factor(K, max(_FAR, len(K) * float(np.square(noise).sum()) / size))
    if factor is None:
        return None

    def explain(right: FloatArray) -> FloatArray:
        first = A.T @ linalg.cho_solve(factor, right, check_finite=False)
        more = A.T @ linalg.cho_solve(factor, right - A @ first, check_finite=False)
        return np.asarray(first + more)

    return explain


def _by_centred_columns(dense: FloatArray, s: FloatArray, has_constant: bool) -> Solve:
    """Least squares of few or dense columns: columns are centred before anything is lost in products."""
    root = np.sqrt(s)[:, None]
    centred = dense.astype(np.float64)
    size = np.sqrt(np.einsum("i,ij,ij->j", s, centred, centred))
    if not np.isfinite(size).all() or centred[np.ix_(s > 0, size == 0.0)].any():
        raise InputError(BEYOND)
    centre = np.zeros(dense.shape[1])
    for _ in range(2 if has_constant else 0):  # a mean is itself rounded: the second is that of its error
        shift = (s @ centred) / s.sum()
        centre += shift
        centred -= shift
    if np.any(s != 1.0):
        centred *= root
    spread = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    # What the numbers of a column may have been rounded by: centring does not shrink it.
    noise = _ROUNDINGS * np.finfo(float).eps * size
    is_constant = spread <= noise
    centred[:, is_constant] = noise[is_constant] = 0.0
    # With more columns than rows singular vectors are the rows' own, and the shortest weights theirs.
    is_wide = dense.shape[1] > len(s)
    unit = np.ones(len(centre)) if is_wide else units(np.where(is_constant, 0.0, np.square(spread)))
    if not is_wide:
        centred *= unit
        noise *= unit
    break_off_if_over()
    explain = _by_far_rows(centred, root, noise, has_constant) if is_wide else None
    if not is_wide and dense.size * len(centre) > _SMALL:
        explain = _by_products(centred, noise)
    shorten: Shorten = _as_they_are
    if explain is None:
        explain, silent, rounding = _by_singular_values(centred, noise)
        shorten = _as_they_are if is_wide else _shortening(unit, silent, rounding)

    def solve(residual: FloatArray, W: FloatArray, b: FloatArray) -> Weights:
        mean = (s @ residual) / s.sum() if has_constant else np.zeros(residual.shape[1])
        dW = shorten(W + unit[:, None] * explain(root * (residual - mean))) - W
        return dW, (mean - centre @ dW) if has_constant else np.zeros_like(b)

    return solve


def _by_products(A: FloatArray, noise: FloatArray) -> Explain | None:
    """Normal equations of columns of length 1 where these are far from collinear, else None.

    A tenth of the time that singular values take.
    """
    G = A.T @ A
    # What products lose, the second round below wins back; rounded columns must not look independent.
    factor = _far_factor(G, max(_FAR, len(G) * float(np.square(noise).max())))
    if factor is None:
        return None

    def explain(right: FloatArray) -> FloatArray:
        first = linalg.cho_solve(factor, A.T @ right, check_finite=False)
        return np.asarray(first + linalg.cho_solve(factor, A.T @ (right - A @ first), check_finite=False))

    return explain


def _by_singular_values(A: FloatArray, noise: FloatArray) -> tuple[Explain, FloatArray, FloatArray]:
    """Least squares of any rank, the weights without a score, and by what those are rounded."""
    left, sizes, right = linalg.svd(A, full_matrices=False, check_finite=False)
    rounding = np.linalg.norm(noise * right, axis=1)
    least = sizes.max(initial=0.0) * max(A.shape) * np.finfo(float).eps
    keep = sizes > np.maximum(least, rounding)
    inverse = np.where(keep, 1.0 / np.where(keep, sizes, 1.0), 0.0)

    def explain(target: FloatArray) -> FloatArray:
        return np.asarray(right.T @ (inverse[:, None] * (left.T @ target)))

    return explain, right[~keep].T, rounding[~keep]


def _least_norm(G: FloatArray, right: FloatArray, has_constant: bool, n_rows: int) -> FloatArray:
    """The least-norm weights of singular normal equations, the intercept eliminated first: it is free."""
    squares = np.diag(G).copy()
    if has_constant and G[-1, -1] > 0:
        edge, total = G[:-1, -1], G[-1, -1]
        inner = _shortest(
            G[:-1, :-1] - np.outer(edge, edge) / total,
            right[:-1] - np.outer(edge, right[-1]) / total,
            squares[:-1],
            n_rows,
        )
        return np.vstack([inner, (right[-1] - edge @ inner) / total])
    return _shortest(G, right, squares, n_rows)


def _shortest(G: FloatArray, right: FloatArray, squares: FloatArray, n_rows: int) -> FloatArray:
    """The least-norm solution of G W = right, where G is what centring left of columns with these squares."""
    # Sums over rows were rounded relative to the columns as they were, and errors add up like a random walk.
    noise = _ROUNDINGS * np.sqrt(n_rows) * np.finfo(float).eps * squares
    is_constant = np.diag(G) <= noise
    G = np.where(is_constant[:, None] | is_constant, 0.0, G)
    right = np.where(is_constant[:, None], 0.0, right)
    unit = units(np.diag(G))
    values, vectors = linalg.eigh(G * unit[:, None] * unit, check_finite=False)
    reach = np.where(is_constant, 0.0, np.sqrt(noise) * unit)
    rounding = np.square(np.linalg.norm(reach[:, None] * vectors, axis=0))
    keep = values > np.maximum(values.max(initial=0.0) * len(G) * np.finfo(float).eps, rounding)
    inverse = np.where(keep, 1.0 / np.where(keep, values, 1.0), 0.0)
    step = unit[:, None] * (vectors @ (inverse[:, None] * (vectors.T @ (unit[:, None] * right))))
    return _shortening(unit, vectors[:, ~keep], rounding[~keep])(step)


def _as_they_are(W: FloatArray) -> FloatArray:
    return W


def _shortening(unit: FloatArray, silent: FloatArray, rounding: FloatArray) -> Shorten:
    """From weights to the shortest with the same scores.

    The columns of ``silent`` span the weights without a score, in the columns' units, up to ``rounding``.
    """
    if silent.shape[1] == 0:
        return _as_they_are
    # What is rounding in one column's units may be much in another's.
    noise = np.maximum(8 * len(unit) * np.finfo(float).eps, rounding)
    basis, _ = np.linalg.qr(unit[:, None] * np.where(np.abs(silent) > noise, silent, 0.0))
    return lambda W: W - basis @ (basis.T @ W)


def _by_rows(problem: Problem, losses: RowLosses, X: NativeRows, strength: float) -> Weights:
    """W = X'S^(1/2) a with (S^(1/2) X X' S^(1/2) + strength I) a = S^(1/2) y, the intercept bordered on."""
    n, root = X.n_rows, np.sqrt(losses.s)
    K = X.row_products(np.ones(X.n_columns)) * root[:, None] * root[None, :]
    if problem.intercept is Intercept.PENALIZED:
        K += np.outer(root, root)
    K[np.diag_indices(n)] += strength
    break_off_if_over()
    factor = linalg.cho_factor(K, check_finite=False)
    a = linalg.cho_solve(factor, root[:, None] * losses.y, check_finite=False)
    b = np.zeros(problem.n_outputs)
    if problem.intercept is Intercept.FREE:
        lean = linalg.cho_solve(factor, root, check_finite=False)
        b = (root @ a) / float(root @ lean)
        a = a - np.outer(lean, b)
    SA = root[:, None] * a
    if problem.intercept is Intercept.PENALIZED:
        b = SA.sum(axis=0)
    return X.adjoint(SA), b
