"""Whether a likelihood without a penalty has a minimiser: a linear programme from the inside, and a proof.

A row has a margin: y_i z_i for two classes, z_iy - z_ik for each wrong class k where there are more. With M
the map from weights (and constants) v to the margins of all rows that have weight, exactly one holds (Stiemke
1915; Albert and Anderson 1984 say it of likelihoods):

    there is a v with M v >= 0 and some margin > 0:   P falls for ever along v, and no minimiser exists;
    there are shares alpha > 0, every one of them, with M'alpha = 0:   P has a minimiser.

Classes are separated completely where all margins of such a v are > 0, else quasi-completely. Both sides are
one self-dual programme. From v = 0, m = alpha = 1 one follows, as nu falls from 1 to 0,

    M v + nu 1 = m > 0,      M'alpha = nu M'1,  alpha > 0,      m_i alpha_i = nu,

on which sum m + sum alpha = N (1 + nu): the path is bounded and exists whatever the data are, and for each i
just one of m_i and alpha_i stays away from 0. Steps are Mehrotra's; units of columns do not matter to them.

What the path says is believed of neither side: margins of v are computed again, with all that rounding can
have added. Those that are to be 0 are made so exactly: v is put into the null space of their rows, by simple
fractions where it has a basis of such (dummies, constants, equal weights of two classes), and the sums are
then taken without any rounding. Where data are such that only rounding tells a margin from 0 (0.1 + 0.2
beside 0.3) the witness says so: ``is_exact`` is False.

Columns that depend on each other but for a millionth leave systems that no factor solves. Where steps end for
that, they are taken once more in orthogonal directions of the columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.cancellation import break_off_if_over
from lineal.deferred import sparse as sp
from lineal.objective.linear_maps import LinearMap, NativeRows, NumpyRows, SharedRows
from lineal.objective.loss_sums import RowLosses
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import NoPenalty
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.newton import solve_positive
from lineal.solvers.primal import Objective

Mask = NDArray[np.bool_]

# Unknowns that a system may have, and steps; steps go this far to the edge, and end at such products.
LIMIT = 2000
_MOST_STEPS, _REACH, _LEAST = 80, 0.995, 1e-13
# So many steps in a row that bring the least product down by less than that are at the arithmetic's floor.
_PATIENCE, _GAIN = 4, 0.9
# From such a product on the two sides are looked at; again each time that it has fallen by this factor.
_CLEAR, _FALLEN = 1e-2, 1e-2
# Twice the largest relative error of one operation; and numbers whose products it is told of.
_UNIT, _LARGE = 2.0**-52, 1e140
# Multiplications that turning columns may take, and the share of the largest singular value that is rounding.
_MOST_TURNED, _NO_DIRECTION = 1e9, 1e-12
# Pivots of a matrix with a unit diagonal that are rounding; how near a number is to the fraction that it is;
# largest denominators, of one and of all; bits that free numbers keep.
_NOTHING, _SAME, _DENOMINATORS, _COMMON, _BITS = (1e-11, 1e-14), 1e-8, 1000, 2**20, 24


@dataclass(frozen=True, eq=False)
class Separation:
    """Weights along which a likelihood falls for ever: the proof that it has no minimiser.

    Attributes
    ----------
    W, b : arrays
        The direction, of the shapes of the problem's weights and constants.
    margins : (n, K) array
        Of every score, or of every wrong class; 0 for a row's own class, for rows without weight, and where
        the direction leaves the scores of two classes equal.
    is_complete : bool
        Whether every margin is > 0.
    is_exact : bool
        Whether the margins that are said to be 0 are 0 in exact arithmetic, and not but for rounding.
    shares : (n, K) array or None
        Of the margins that are 0, where some are: no weights make all of those > 0, for under these shares
        they cancel, up to the rounding of their sums (Gordan 1873).
    """

    W: FloatArray
    b: FloatArray
    margins: FloatArray
    is_complete: bool
    is_exact: bool = True
    shares: FloatArray | None = None

    @property
    def coef(self) -> FloatArray:
        """(K, d), as learners have their weights."""
        return np.asarray(self.W.T)

    @property
    def intercept(self) -> FloatArray:
        """(K,)."""
        return self.b

    @property
    def n_told_apart(self) -> int:
        """How many rows have a margin > 0."""
        return int(np.count_nonzero((self.margins > 0).any(axis=1)))

    def __str__(self) -> str:
        if self.is_complete:
            return "along a separating direction (separation_) it falls towards 0"
        rounded = "" if self.is_exact else ", but for the rounding of the numbers in X"
        return (
            f"along a direction (separation_) that tells {self.n_told_apart:,} of {len(self.margins):,} rows "
            f"from a class that they do not have, and moves none towards one, it falls for ever{rounded}"
        )


@dataclass(frozen=True, eq=False)
class Overlap:
    """Shares of all margins under which they cancel, none of which is 0: the likelihood has a minimiser.

    Attributes
    ----------
    shares : (n, K) array
        Up to the rounding of their own sums.
    """

    shares: FloatArray


def decide(problem: Problem) -> Separation | Overlap | None:
    """Whether a likelihood has no minimiser for want of a penalty; None: this could not be told.

    Notes
    -----
    Cost: some ten to twenty steps, each a weighted Gram matrix and its factor, as those of Newton's method.
    """
    margins = Margins.of(problem)
    if margins is None:
        return None
    found = _followed(_Path(margins), margins)
    if found is None and (turned := _turned(margins)) is not None:
        found = _followed(_Path(turned.margins), margins, turned.back)
    return found


def work(problem: Problem) -> float:
    """How many multiplications a step towards ``decide`` takes; infinite where none is taken."""
    d, K = problem.X.n_columns + 1, problem.n_outputs
    is_apart = problem.is_by_output
    size, n_blocks = (d, K) if is_apart else (problem.n_parameters, K * (K + 1) // 2)
    if size > LIMIT:
        return np.inf
    return n_blocks * problem.X.n_stored * float(d) / 2 + (K if is_apart else 1) * size**3 / 6


def by_scores(problem: Problem, W: FloatArray, b: FloatArray, Z: FloatArray) -> Separation | None:
    """The proof that these weights separate the rows that have weight, for an output at least, if they do."""
    rows = problem.losses.rows
    if rows is None or not problem.penalty.is_zero or problem.intercept is Intercept.PENALIZED:
        return None
    apart = rows.are_separated(Z)
    if not apart.any() or (problem.has_shared_weights and not apart.all()):
        return None
    margins = Margins.of(problem)
    if margins is None:
        return None
    some = apart if problem.is_by_output else np.ones(1)
    v = margins.objective.flat(W * some, b * some)
    return margins.witness(v.astype(np.float64), margins.used & ~apart)


# ---- margins ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Margins:
    """M: from flat weights to the margins, (n, K).

    Attributes
    ----------
    objective : Objective
        Of the part of the problem that nothing penalises.
    free : array or None
        Which columns those are, where others are penalised.
    used : (n, K) array
        The margins that count: of rows with weight, and not of a row's own class.
    """

    problem: Problem
    objective: Objective
    losses: RowLosses
    free: Mask | None
    used: Mask

    @classmethod
    def of(cls, problem: Problem) -> Margins | None:
        """Those of a likelihood whose weights, some at least, are free of any penalty."""
        rows = problem.losses.rows
        free = problem.penalty.free_columns(problem.X.n_columns)
        if rows is None or not problem.losses.is_likelihood or not problem.penalty.has_free_columns:
            return None
        inner = problem
        if free is not None and not free.all():
            inner = replace(problem, X=problem.X.take_columns(np.flatnonzero(free)), intercept_penalty=None)
        if problem.intercept is Intercept.PENALIZED:
            inner = replace(inner, intercept=Intercept.NONE)
        used = np.repeat((rows.s > 0)[:, None], rows.n_outputs, axis=1)
        if not rows.is_by_score:
            used[np.arange(len(used)), rows.y] = False
        whole = free is None or bool(free.all())
        return cls(problem, Objective(inner), rows, None if whole else free, used)

    @property
    def size(self) -> int:
        """Unknowns of the largest system."""
        inner = self.objective.problem
        return self.objective.n_parameters // (inner.n_outputs if inner.is_by_output else 1)

    def of_scores(self, Z: FloatArray) -> FloatArray:
        """From scores to margins."""
        rows = self.losses
        if rows.is_by_score:
            return np.where(self.used, rows.y * Z, 0.0)
        own = Z[np.arange(len(Z)), rows.y]
        return np.where(self.used, own[:, None] - Z, 0.0)

    def row_sizes(self) -> FloatArray:
        """(n, 1) the length of each row in units of the columns: what its margins are compared with."""
        inner = self.objective.problem
        array = _array(inner.X)
        if array is None:
            return np.ones((inner.X.n_rows, 1))
        squares = array.multiply(array) if sp.issparse(array) else np.square(array)
        sums = np.asarray(squares.sum(axis=0)).ravel()
        sizes = np.asarray(squares @ np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0)).ravel()
        sizes = sizes + (1.0 / len(sizes) if self.objective.has_intercept else 0.0)
        return np.sqrt(np.where(sizes > 0, sizes, 1.0) / max(float(sizes.mean()), 1e-300))[:, None]

    def dot(self, v: FloatArray) -> FloatArray:
        """M v."""
        return self.of_scores(self.objective.scores(v))

    def adjoint(self, A: FloatArray) -> FloatArray:
        """M'alpha."""
        rows = self.losses
        if rows.is_by_score:
            return self.objective.back(rows.y * A)
        G = -A
        G[np.arange(len(G)), rows.y] += A.sum(axis=1)
        return self.objective.back(G)

    def solve(self, H: FloatArray, right: FloatArray) -> FloatArray:
        """v with M'diag(H) M v = right."""
        inner, has_constant = self.objective.problem, self.objective.has_intercept
        if not inner.is_by_output:
            G = self.gram(H)
            return solve_positive(G, np.zeros(len(G)), right)
        found, sides = (
            np.empty((len(right) // inner.n_outputs, inner.n_outputs)),
            right.reshape(-1, H.shape[1]),
        )
        for k in range(H.shape[1]):
            G = inner.X.gram(np.ascontiguousarray(H[:, k]), has_constant)
            found[:, k] = solve_positive(G, np.zeros(len(G)), sides[:, k])
        return found.ravel()

    def gram(self, H: FloatArray) -> FloatArray:
        """M'diag(H) M, of all outputs together."""
        inner, K = self.objective.problem, H.shape[1]
        rows, every = self.losses, np.arange(len(H))

        def curvature(l: int) -> FloatArray:
            if rows.is_by_score:
                return H[:, l : l + 1] * np.eye(K)[l]
            out, own = np.zeros(H.shape), rows.y == l
            out[every, rows.y] = -H[:, l]
            out[:, l] = H[:, l]
            out[own] = -H[own]
            out[own, l] = H[own].sum(axis=1)
            return out

        if K == 1 and not inner.has_shared_weights:
            return inner.X.gram(np.ascontiguousarray(H[:, 0]), self.objective.has_intercept)
        return inner.X.joint_gram(curvature, K, self.objective.has_intercept)

    def nearer_zero(self, v: FloatArray, G: FloatArray, zero: Mask) -> FloatArray:
        """v less what is left of those margins, by least squares; G is their Gram matrix."""
        for _ in range(2):
            left = self.adjoint(np.where(zero, self.dot(v), 0.0))
            v = v - solve_positive(G, np.zeros(len(G)), left)
        return v

    def cancelling(self, shares: FloatArray) -> FloatArray:
        """Shares near these, each as far from 0, under which margins cancel but for rounding."""
        for _ in range(3):
            better = shares * (1.0 - self.dot(self.solve(shares, self.adjoint(shares))))
            if not (better[shares > 0] > 0).all():
                break
            shares = better
        return shares

    # ---- proofs -------------------------------------------------------------------------------

    def witness_near(
        self,
        v: FloatArray,
        zero: Mask,
        proved: Margins | None = None,
        back: Callable[[FloatArray], FloatArray] = lambda v: v,
    ) -> Separation | None:
        """The proof by a direction near v that leaves those margins at 0; if it can be, exactly.

        ``proved`` are the margins that it is about, and ``back`` gives their weights, where these are others.
        """
        proved = self if proved is None else proved
        found, G = None, self.gram(zero.astype(np.float64))
        squares = np.diag(self.gram(self.used.astype(np.float64)))
        for space in _null_spaces(G, squares):
            for is_strict in (False, True):
                kept = np.ones(len(space.free), dtype=bool)
                if is_strict:
                    kept = np.array([proved._is_near_zero(back(each), zero) for each in space.basis.T])
                    if kept.all() or not kept.any():
                        break
                u = _combined(space, kept, v, squares)
                for each in (u, self.nearer_zero(u, G, zero)):
                    proof = proved.witness(back(each), zero)
                    if proof is not None and proof.is_exact:
                        return proof
                    found = found or proof
        return found

    def _is_near_zero(self, v: FloatArray, zero: Mask) -> bool:
        """Whether rounding can be all that those margins are."""
        return bool((np.abs(self.dot(v)) <= self._room(*self.objective.split(v)))[zero].all())

    def witness(self, v: FloatArray, zero: Mask) -> Separation | None:
        """The proof that v separates, those margins being 0 and all others > 0; None if it does not."""
        if not (np.isfinite(v).all() and v.any()):
            return None
        v = np.ldexp(v, -int(np.frexp(np.abs(v).max())[1]))  # by a power of 2, which rounds nothing
        W, b = self.objective.split(v)
        margins, room = self.of_scores(self.objective.scores(v)), self._room(W, b)
        strict = self.used & ~zero
        if not strict.any() or not (margins > room)[strict].all():
            return None
        is_exact = True
        if zero.any():
            if not (np.abs(margins) <= room)[zero].all():
                return None
            is_exact = self._are_zero(W, b, zero)
        whole = np.zeros(self.problem.weight_shape)
        whole[slice(None) if self.free is None else self.free] = W
        margins = np.where(zero, 0.0, margins)
        return Separation(whole, b.copy(), margins, bool((margins > 0)[self.used].all()), is_exact)

    def _room(self, W: FloatArray, b: FloatArray) -> FloatArray:
        """(n, K) or (n, 1): how far rounding may have moved a margin, at most."""
        X = self.objective.problem.X
        array = _array(X)
        if array is None:  # known by its products alone: far beyond what their sums are rounded by
            return np.full((X.n_rows, 1), 1e-9 * float(np.abs(self.objective.problem.scores(W, b)).max()))
        met = np.flatnonzero(W.any(axis=1))  # directions of a null space often are of few columns
        part = array if 2 * len(met) > len(W) else array[:, met]
        sizes = abs(part) @ np.abs(W if part is array else W[met])
        sizes = np.asarray(sizes).reshape(X.n_rows, -1) + np.abs(b)
        terms = 2 * (X.n_columns + 8)
        return np.asarray(terms * _UNIT * sizes.max(axis=1, keepdims=True))

    def _are_zero(self, W: FloatArray, b: FloatArray, zero: Mask) -> bool:
        """Whether those margins are 0 in exact arithmetic, whatever the order of the sums."""
        inner, rows = self.objective.problem, self.losses
        array = _array(inner.X)
        if array is None or (inner.has_shared_weights and not rows.is_by_score):
            return False
        if rows.is_by_score:
            W, b = np.broadcast_to(W, (len(W), len(b))), b
            return all(_vanish(array[zero[:, k]], W[:, k], b[k]) for k in range(len(b)) if zero[:, k].any())
        for y in range(len(b)):
            for k in range(len(b)):
                mine = zero[:, k] & (rows.y == y)
                if not mine.any():
                    continue
                delta, edge = W[:, y] - W[:, k], b[y] - b[k]
                is_sharp = (W[:, k] + delta == W[:, y]) & (W[:, y] - delta == W[:, k])
                if not is_sharp.all() or b[k] + edge != b[y] or b[y] - edge != b[k]:
                    return False
                if not _vanish(array[mine], delta, edge):
                    return False
        return True


def _array(X: LinearMap) -> Any:
    """The rows as an ndarray or a sparse matrix, one a row of data; None where there are none."""
    if isinstance(X, SharedRows):
        X = X.inner
    if isinstance(X, NativeRows):
        return X.csr() if X.dense is None else X.dense
    return X.X if isinstance(X, NumpyRows) else None


def _vanish(array: Any, w: FloatArray, b: float) -> bool:
    """Whether x . w + b is 0 for each row x, without rounding: products in two parts, sums by ``fsum``."""
    columns = np.flatnonzero(w)
    part = array[:, columns]
    X = np.asarray(part.toarray() if sp.issparse(part) else part, dtype=np.float64)
    X = np.unique(X, axis=0)
    sizes = np.abs(np.append(X.ravel(), np.append(w, b)))
    if len(sizes) and not (sizes.max() < _LARGE and sizes[sizes > 0].min(initial=1.0) > 1 / _LARGE):
        return False
    high = X * w[columns]
    x, y = _halves(X), _halves(w[columns])
    low = ((x[0] * y[0] - high) + x[0] * y[1] + x[1] * y[0]) + x[1] * y[1]  # Dekker 1971
    return all(math.fsum([*one, *two, b]) == 0.0 for one, two in zip(high, low, strict=True))


def _halves(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two numbers of 26 bits that add up to x."""
    big = x * (2.0**27 + 1)
    upper = big - (big - x)
    return upper, x - upper


# ---- the path -----------------------------------------------------------------------------------


def _followed(
    path: _Path, margins: Margins, back: Callable[[FloatArray], FloatArray] = lambda v: v
) -> Separation | Overlap | None:
    """What a path says once it is clear; ``back`` gives the weights of the margins that proofs are about."""
    found, due = None, _CLEAR
    while True:
        break_off_if_over()
        is_end = not path.step()
        if path.product <= due or is_end:
            due = _FALLEN * path.product
            found = path.decided(margins, back) or found
            if found is not None and (isinstance(found, Overlap) or found.is_exact or is_end):
                return found
        if is_end:
            return None


class _Path:
    """Where steps stand: v, the margins m and the shares alpha, and how near to 0 their products are."""

    def __init__(self, margins: Margins) -> None:
        self._M, used = margins, margins.used
        self._v = np.zeros(margins.objective.n_parameters)
        self._m, self._alpha = used.astype(np.float64), used.astype(np.float64)
        self._count = max(int(np.count_nonzero(used)), 1)
        self.product = self._least = 1.0
        self._n_steps = self._n_idle = 0
        self._r = margins.row_sizes()
        self._tried: Mask | None = None

    def step(self) -> bool:
        """One step of predictor and corrector; False where none is left."""
        M, used, m, alpha, r = self._M, self._M.used, self._m, self._alpha, self._r
        self._n_steps += 1
        if self.product <= _LEAST or self._n_steps > _MOST_STEPS or M.size > LIMIT:
            return False
        with np.errstate(all="ignore"):
            apart, pull = m - M.dot(self._v) / r, M.adjoint(alpha / r)
            H = np.where(used, alpha / m, 0.0)
            solve = _Solver(M, H / r**2)

            def aim(centre: FloatArray, share: float) -> tuple[FloatArray, FloatArray, FloatArray]:
                """Changes that leave ``share`` of what keeps m and alpha from the limit."""
                left = 1.0 - share
                towards = np.where(used, centre / m, 0.0) + left * H * apart
                dv = solve(M.adjoint(towards / r) + left * pull)
                dm = M.dot(dv) / r - left * apart
                return dv, dm, np.where(used, (centre - alpha * dm) / m, 0.0)

            dv, dm, da = aim(-m * alpha, 0.0)
            t = min(self._length(dm, da), 1.0)
            after = float(np.vdot(m + t * dm, alpha + t * da)) / self._count
            share = min(max(after / self.product, 0.0), 1.0) ** 3
            dv, dm, da = aim(np.where(used, share * self.product - m * alpha - dm * da, 0.0), share)
            t = min(_REACH * self._length(dm, da), 1.0)
        if not (np.isfinite(dv).all() and t > 1e-8):
            return False
        self._v, self._m, self._alpha = self._v + t * dv, m + t * dm, alpha + t * da
        self.product = float(np.vdot(self._m, self._alpha)) / self._count
        self._n_idle = 0 if self.product < _GAIN * self._least else self._n_idle + 1
        self._least = min(self._least, self.product)
        return self._n_idle < _PATIENCE

    def _length(self, dm: FloatArray, da: FloatArray) -> float:
        """How far m and alpha may go."""
        used, longest = self._M.used, np.inf
        for x, dx in ((self._m, dm), (self._alpha, da)):
            falls = used & (dx < 0)
            longest = min(longest, float((-x[falls] / dx[falls]).min(initial=np.inf)))
        return longest

    def decided(
        self, proved: Margins, back: Callable[[FloatArray], FloatArray]
    ) -> Separation | Overlap | None:
        """What the larger of each m and alpha says, if it is proved, and was not so before."""
        M, used = self._M, self._M.used
        zero = used & (self._m <= self._alpha)
        if not zero.any():
            return proved.witness(back(self._v), zero)
        if np.array_equal(zero, used):
            return Overlap(M.cancelling(self._alpha / self._r)) if self.product <= _CLEAR * _FALLEN else None
        if self._tried is not None and np.array_equal(zero, self._tried):
            return None  # their null space is as simple as it was
        shares = M.cancelling(np.where(zero, self._alpha / self._r, 0.0))
        found = proved.witness_near(back(self._v), zero)
        if found is None and proved is not M:  # what has no simple fractions is known better here
            found = M.witness_near(self._v, zero, proved, back)
        self._tried = self._tried if found is None else zero
        return None if found is None else replace(found, shares=shares)


@dataclass(frozen=True)
class _Turned:
    """Margins of orthogonal directions of the columns, and from their weights to those of the columns."""

    margins: Margins
    back: Callable[[FloatArray], FloatArray]


def _turned(margins: Margins) -> _Turned | None:
    """The same margins, of the left singular vectors of the rows in place of the columns."""
    inner = margins.objective.problem
    array = _array(inner.X)
    n, d = inner.X.n_rows, inner.X.n_columns
    if array is None or inner.has_shared_weights or n * d * min(n, d) > _MOST_TURNED or min(n, d) < 1:
        return None
    X = np.asarray(array.toarray() if sp.issparse(array) else array, dtype=np.float64)
    middle = X.mean(axis=0) if margins.objective.has_intercept else np.zeros(d)
    X = X - middle
    size = np.sqrt((X**2).sum(axis=0))
    unit = np.divide(1.0, size, out=np.zeros(d), where=size > 0)
    Q, values, directions = np.linalg.svd(X * unit, full_matrices=False)
    used = values > _NO_DIRECTION * values.max(initial=0.0)
    T = unit[:, None] * (directions[used].T / values[used])
    rows = NumpyRows(np.ascontiguousarray(Q[:, used]))
    problem = replace(inner, X=rows, penalty=NoPenalty(), intercept_penalty=None)

    def back(v: FloatArray) -> FloatArray:
        W, b = Objective(problem).split(v)
        W = T @ W
        return margins.objective.flat(W, b - middle @ W)

    return _Turned(replace(margins, objective=Objective(problem)), back)


class _Solver:
    """Systems with the same matrix, one after another."""

    def __init__(self, M: Margins, H: FloatArray) -> None:
        self._M, self._H = M, H
        self._G = None if M.objective.problem.is_by_output and H.shape[1] > 1 else M.gram(H)

    def __call__(self, right: FloatArray) -> FloatArray:
        if self._G is None:
            return self._M.solve(self._H, right)
        return solve_positive(self._G, np.zeros(len(right)), right)


@dataclass(frozen=True)
class _NullSpace:
    """A basis, a column each, and the place of the free number of each."""

    basis: FloatArray
    free: NDArray[np.intp]


def _null_spaces(G: FloatArray, squares: FloatArray) -> Iterator[_NullSpace]:
    """Bases of the vectors with G v = 0, a column each, in simple fractions where there are such.

    G is reduced to echelon form with the largest pivots first. A column without a pivot is a free number of
    the direction; those with one follow from these. ``squares`` are of the columns of M, whose units do not
    count. Columns that nearly depend on each other leave a pivot that may be rounding, or not: both are
    tried.
    """
    scale = 2.0 ** np.round(np.log2(np.where(squares > 0, squares, 1.0)) / 2)  # which rounds nothing
    R = G / scale / scale[:, None]
    left = np.ones(len(R), dtype=bool)
    n_before = len(R) + 1
    for nothing in _NOTHING:
        while left.any():
            pivot = int(np.argmax(np.where(left, np.diag(R), -np.inf)))
            if not R[pivot, pivot] > nothing:
                break
            R[pivot] /= R[pivot, pivot]
            column = R[:, pivot].copy()
            column[pivot] = 0.0
            R -= np.outer(column, R[pivot])
            left[pivot] = False
        free, bound = np.flatnonzero(left), np.flatnonzero(~left)
        if not len(free) or len(free) == n_before:
            return
        n_before = len(free)
        F, basis = R[np.ix_(bound, free)] / scale[bound][:, None] * scale[free], np.zeros((len(R), len(free)))
        for j, each in enumerate(free):
            basis[bound, j], basis[each, j] = _as_fractions(-F[:, j])
        yield _NullSpace(basis, free)


def _combined(space: _NullSpace, kept: Mask, v: FloatArray, squares: FloatArray) -> FloatArray:
    """The combination that has the free numbers of v, to so many bits that sums are exact."""
    free, basis = space.free[kept], space.basis[:, kept]
    size = np.sqrt(np.where(squares > 0, squares, 1.0))[free]
    c = v[free] / basis[free, np.arange(len(free))]
    largest = float(np.abs(c * size).max(initial=0.0))
    if not 0 < largest < np.inf:
        return np.zeros(len(v))
    units = 2.0 ** np.floor(np.log2(largest * 2.0**-_BITS / size))
    return np.asarray(basis @ (np.round(c / units) * units))


def _as_fractions(column: FloatArray) -> tuple[FloatArray, float]:
    """(The column times a denominator, the denominator), whole numbers where those are simple fractions."""
    size = float(np.abs(column).max(initial=0.0))
    some = np.where(np.abs(column) > _SAME * min(size, 1.0), column, 0.0)
    values, places = np.unique(some, return_inverse=True)
    near = [Fraction(value).limit_denominator(_DENOMINATORS) for value in values.tolist()]
    common = math.lcm(*(each.denominator for each in near))
    is_near = all(abs(f - x) <= _SAME * max(abs(x), _SAME) for f, x in zip(near, values, strict=True))
    if common > _COMMON or not is_near:
        return column, 1.0
    return np.array([float(each * common) for each in near])[places].reshape(column.shape), float(common)
