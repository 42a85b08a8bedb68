"""Whether a likelihood without a penalty has a minimiser: a linear programme from the inside, and a proof.

A score z_i = a_i . v has a margin m_i: y_i z_i for two classes, z_iy - z_ik for each wrong class k of a row with
more. With M the map from weights (and constants) v to the margins of all rows that have weight, exactly one
holds (Stiemke 1915; Albert and Anderson 1984 say it of likelihoods):

    there is a v with M v >= 0 and some margin > 0:   P falls for ever along v, and no minimiser exists;
    there are shares alpha > 0, every one of them, with M'alpha = 0:   P has a minimiser.

Classes are separated completely where all margins of such a v are > 0, else quasi-completely. Both sides are
one self-dual programme. From v = 0, m = alpha = 1 one follows, as nu falls from 1 to 0,

    M v + nu 1 = m > 0,      M'alpha = nu M'1,  alpha > 0,      m_i alpha_i = nu,

on which sum m + sum alpha = N (1 + nu): the path is bounded and exists whatever the data are, and for each i
just one of m_i and alpha_i stays away from 0. Steps are Mehrotra's; units of columns do not matter to them.

What the path says is believed of neither side: the margins of v are computed again, with all that rounding can
have added. Those that are to be 0 are made so exactly: v is put into the null space of their rows, as rational
combinations where it has a basis of such (dummies, constants, equal weights of two classes), and the sums are
then taken without any rounding. Where data are such that only rounding tells a margin from 0 (0.1 + 0.2 beside
0.3) the witness says so: ``is_exact`` is False.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
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
from lineal.objective.problem import Intercept, Problem
from lineal.solvers.newton import solve_positive
from lineal.solvers.primal import Objective

Mask = NDArray[np.bool_]

# Unknowns that a system may have, and steps; steps go this far to the edge, and end at such products.
LIMIT = 2000
_MOST_STEPS, _REACH, _LEAST = 80, 0.995, 1e-13
# So many steps in a row that bring the least product down by less than that are at the floor of the arithmetic.
_PATIENCE, _GAIN = 4, 0.9
# From such a product on the two sides are looked at; again each time that it has fallen by this factor.
_CLEAR, _FALLEN = 1e-2, 1e-2
# Twice the largest relative error of one operation; and numbers whose products it is told of.
_UNIT, _LARGE = 2.0**-52, 1e140
# Pivots of a matrix with a unit diagonal that are rounding; a number this near to a fraction is that fraction;
# largest denominators, of one and of all; numbers that are looked at; bits that the free ones of a direction keep.
_NOTHING, _SAME, _DENOMINATORS, _COMMON, _VALUES, _BITS = (1e-11, 1e-14), 1e-8, 1000, 2**20, 2000, 24


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
    """

    W: FloatArray
    b: FloatArray
    margins: FloatArray
    is_complete: bool
    is_exact: bool = True

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
    found = None
    due, path = _CLEAR, _Path(margins)
    while True:
        break_off_if_over()
        is_end = not path.step()
        if path.product <= due or is_end:
            due = _FALLEN * path.product
            found = path.decided() or found
            if found is not None and (isinstance(found, Overlap) or found.is_exact or is_end):
                return found
        if is_end:
            return None


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
    v = margins.objective.flat(W * apart, b * apart) if len(apart) > 1 else margins.objective.flat(W, b)
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

    # ---- proofs -------------------------------------------------------------------------------

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
        sizes = np.asarray(abs(array) @ np.abs(W)).reshape(X.n_rows, -1) + np.abs(b)
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


class _Path:
    """Where steps stand: v, the margins m and the shares alpha, and how near to 0 their products are."""

    def __init__(self, margins: Margins) -> None:
        self._M, used = margins, margins.used
        self._v = np.zeros(margins.objective.n_parameters)
        self._m, self._alpha = used.astype(np.float64), used.astype(np.float64)
        self._count = max(int(np.count_nonzero(used)), 1)
        self.product = self._least = 1.0
        self._n_steps = self._n_idle = 0

    def step(self) -> bool:
        """One step of predictor and corrector; False where none is left."""
        M, used, m, alpha = self._M, self._M.used, self._m, self._alpha
        self._n_steps += 1
        if self.product <= _LEAST or self._n_steps > _MOST_STEPS or M.size > LIMIT:
            return False
        with np.errstate(all="ignore"):
            apart, pull = m - M.dot(self._v), M.adjoint(alpha)
            H = np.where(used, alpha / m, 0.0)
            solve = _Solver(M, H)

            def aim(centre: FloatArray, share: float) -> tuple[FloatArray, FloatArray, FloatArray]:
                """Changes that leave ``share`` of what keeps m and alpha from the limit."""
                left = 1.0 - share
                towards = np.where(used, centre / m, 0.0) + left * H * apart
                dv = solve(M.adjoint(towards) + left * pull)
                dm = M.dot(dv) - left * apart
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

    def decided(self) -> Separation | Overlap | None:
        """What the larger of each m and alpha says, if it is proved."""
        M, used = self._M, self._M.used
        zero = used & (self._m <= self._alpha)
        if not zero.any():
            return M.witness(self._v, zero)
        if np.array_equal(zero, used):
            return Overlap(self._alpha) if self.product <= _CLEAR * _FALLEN else None
        found, G = None, M.gram(zero.astype(np.float64))
        for v in _null_directions(G, self._v, np.diag(M.gram(used.astype(np.float64)))):
            for each in (v, M.nearer_zero(v, G, zero)):
                proof = M.witness(each, zero)
                if proof is not None and proof.is_exact:
                    return proof
                found = found or proof
        return found


class _Solver:
    """Systems with the same matrix, one after another."""

    def __init__(self, M: Margins, H: FloatArray) -> None:
        self._M, self._H = M, H
        self._G = None if M.objective.problem.is_by_output and H.shape[1] > 1 else M.gram(H)

    def __call__(self, right: FloatArray) -> FloatArray:
        if self._G is None:
            return self._M.solve(self._H, right)
        return solve_positive(self._G, np.zeros(len(right)), right)


def _null_directions(G: FloatArray, v: FloatArray, squares: FloatArray) -> Iterator[FloatArray]:
    """Directions near v with G v = 0, exactly so where the null space has a basis of simple fractions.

    G is reduced to echelon form with the largest pivots first. A column without a pivot is a free number of the
    direction; those with one follow from these. ``squares`` are of the columns of M: their units do not count.
    Columns that nearly depend on each other leave a pivot that may be rounding, or not: both are tried.
    """
    scale = 2.0 ** np.round(np.log2(np.where(squares > 0, squares, 1.0)) / 2)  # which rounds nothing
    R = G / scale / scale[:, None]
    left = np.ones(len(R), dtype=bool)
    for nothing in _NOTHING:
        n_before = np.count_nonzero(left)
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
        if not len(free) or (len(free) == n_before and nothing != _NOTHING[0]):
            return
        F, factor = _as_fractions(R[np.ix_(bound, free)] / scale[bound][:, None] * scale[free])
        c = v[free] * scale[free]
        unit = 2.0 ** (np.ceil(np.log2(max(float(np.abs(c).max(initial=0.0)), 1e-300))) - _BITS)
        c = np.round(c / unit) * unit / scale[free]
        out = np.zeros(len(v))
        out[free], out[bound] = factor * c, -(F @ c)
        yield out


def _as_fractions(F: FloatArray) -> tuple[FloatArray, float]:
    """(F times a denominator, the denominator), in whole numbers where F is made of simple fractions."""
    size = float(np.abs(F).max(initial=0.0))
    values, places = np.unique(np.where(np.abs(F) > _SAME * min(size, 1.0), F, 0.0), return_inverse=True)
    if len(values) > _VALUES:
        return F, 1.0
    near = [Fraction(value).limit_denominator(_DENOMINATORS) for value in values.tolist()]
    common = math.lcm(*(each.denominator for each in near))
    if common > _COMMON or any(
        abs(f - x) > _SAME * max(abs(x), _SAME) for f, x in zip(near, values, strict=True)
    ):
        return F, 1.0
    whole = np.array([float(each * common) for each in near])
    return whole[places].reshape(F.shape), float(common)
