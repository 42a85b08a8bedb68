"""Quadratic models of a problem on a working set, and their minimisers: what a proximal Newton step asks.

A part is some outputs of a problem on some columns; its weights are one flat vector. ``ElasticPart`` meets
penalties with corners weight by weight, ``GroupPart`` norms of groups of columns block by block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.cancellation import is_over
from lineal.deferred import linalg
from lineal.objective.dual_points import DIRECT_LIMIT, joint_hessian
from lineal.objective.linear_maps import DenseColumns, NativeRows
from lineal.objective.losses import FloatArray
from lineal.objective.penalties import Penalty
from lineal.objective.problem import Intercept, Problem

# The quadratic model has an explicit Gram matrix up to so many columns: 128 megabytes, and where rows hold on
# average so many of them at most, a matrix is made in the time of the sweeps over columns that it saves.
GRAM_LIMIT, _GRAM_FILL = 4000, 1500
# Sweeps of coordinate descent on a Gram matrix before the active set takes over, fewer where it will be kept
# for the next model, and its events per column.
_SWEEPS, _SWEEPS_BEFORE, _EVENTS = 50, 10, 10
# Sweeps over groups before Newton's method takes the groups in play, its steps, and how often they alternate.
_GROUP_SWEEPS, _FACE_STEPS, _TURNS = 20, 4, 15
# A model is minimised in about so many sweeps. One over columns meets a stored number four times, one over a
# matrix each number once; in these units a multiplication of a Gram matrix costs so much, dense and sparse.
# Where sweeps over columns creep, they have cost as much as the matrix when it is made after all; one that is
# too large is never made, and they go on for so many.
_USUAL_SWEEPS, _DENSE_PRODUCT, _SPARSE_PRODUCT, _MOST_SWEEPS = 30, 0.1, 4.0, 300
# The same for single weights: sweeps over columns that cost as much as their matrix, for each column; fewer
# than these are not worth a try, and where there can be no matrix they end after so many.
_SWEEPS_A_COLUMN, _FEWEST_TRIED, _MOST_COLUMN_SWEEPS = 1 / 16, 8, 100
# Curvatures whose differences sum up to at most this share of them, none so many times the other, are near;
# around rounded kinks they must be nearer.
_NEAR, _NEAR_KINKS, _BENT = 1.0, 0.2, 8.0
# A step on the face is halved up to so many times.
_HALVES = 10
# What is added to the diagonal of a softmax model, relative to it.
_SHIFT = 1e-8
# A curvature below this share of the largest of its group counts as so much.
_FLAT = 1e-12


@dataclass
class Model:
    """The quadratic model on a working set: its Gram matrix, or the columns themselves.

    ``h`` are its curvatures, score by score; ``Z`` the scores it was made at. Under groups ``G`` may be the
    matrices of all outputs, one below the other, and ``blocks`` has the factors of its diagonal.
    """

    h: FloatArray
    Z: FloatArray
    G: NDArray[Any] | None
    columns: NativeRows | None = None
    blocks: _Blocks | None = None
    is_kept: bool = False  # its matrix is one that grows along a path
    scale: float = 1.0  # the model's matrix is so many times G
    age: int = 0


@dataclass(frozen=True)
class Part(ABC):
    """Some outputs of a problem on some columns.

    The weights are one flat vector: the columns' weights, row by row, then the intercepts if there are any.
    """

    problem: Problem
    X: NativeRows | DenseColumns
    own: Penalty  # of these columns
    outputs: slice

    @abstractmethod
    def model(self, h: FloatArray, Z: FloatArray, *, is_fresh: bool = True, is_narrow: bool = False) -> Model:
        """The model of these curvatures at these scores, or where it need not be fresh of some near them.

        ``is_narrow``: its steps are looked at where they end, and may be off by roundings of float32.
        """

    @abstractmethod
    def minimise(
        self, model: Model, w: FloatArray, gradient: FloatArray, u: FloatArray, tol: float
    ) -> FloatArray:
        """The weights that minimise the model and the penalty, up to violations of ``tol``."""

    @abstractmethod
    def held(self, origin: FloatArray, end: FloatArray) -> FloatArray:
        """The end of a long step, with what would pass 0 on the way held there."""

    @property
    def width(self) -> int:
        return self.outputs.stop - self.outputs.start

    @property
    def has_constant(self) -> bool:
        return self.problem.intercept is not Intercept.NONE

    @property
    def n_free(self) -> int:
        return self.width if self.problem.intercept is Intercept.FREE else 0

    def penalty(self, w: FloatArray) -> float:
        inner, constants = self.split(w)
        value = self.own.value(inner)
        return value if self.n_free else value + self.problem.constants_penalty.value(constants)

    def split(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        size = self.X.n_columns * self.width
        return w[:size].reshape(-1, self.width), w[size:]

    def flat(self, inner: FloatArray, constants: FloatArray) -> FloatArray:
        return np.append(inner.ravel(), constants) if self.has_constant else inner.ravel()

    def gradient(self, u: FloatArray) -> FloatArray:
        su = self.problem.losses.weighted(u)
        return self.flat(self.X.adjoint(su), su.sum(axis=0))

    def scores(self, w: FloatArray) -> FloatArray:
        inner, constants = self.split(w)
        Z = self.X.dot(inner)
        return Z + constants if self.has_constant else Z

    def worst(self, w: FloatArray, gradient: FloatArray) -> float:
        (inner, constants), (v, sums) = self.split(w), self.split(gradient)
        worst = float(self.own.violations(inner, v).max(initial=0.0))
        own = self.problem.constants_penalty
        return max(worst, float(own.violations(constants, sums).max())) if self.has_constant else worst

    @property
    def is_by_score(self) -> bool:
        """Whether a score's curvature is all that the model knows of it."""
        return self.width == 1 or self.problem.losses.is_by_score

    def curvatures(self, Z: FloatArray) -> FloatArray:
        """Those of the model; between classes that share one there is more, which ``bent`` knows."""
        losses = self.problem.losses
        H = losses.floored_curvatures(Z) if self.is_by_score else losses.curvatures(Z)
        return H[:, self.outputs]

    def bent(self, model: Model, moved: FloatArray) -> FloatArray:
        """How the model's slopes change when the scores move."""
        if self.is_by_score:
            return model.h * moved
        return self.problem.losses.curvature_product(model.Z, moved)

    def joint_gram(self, Z: FloatArray) -> FloatArray:
        """Softmax, all classes together."""
        G = joint_hessian(self.problem, self.X, Z, self.has_constant)
        # A shift of all classes changes no probability: without a little more the model is singular.
        G.ravel()[:: len(G) + 1] *= 1 + _SHIFT
        return G


# ---- weight by weight ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ElasticPart(Part):
    """Under L1 and elastic net: coordinate descent, then an active set."""

    def parts(self) -> tuple[FloatArray, FloatArray]:
        """l1 and l2 of every weight, those of a free intercept 0."""
        d, own, constants = self.X.n_columns, self.own, self.problem.constants_penalty
        l1, l2 = (np.empty((d + self.has_constant, self.width)) for _ in range(2))
        for part, inner, last in ((l1, own.l1, constants.l1), (l2, own.l2, constants.l2)):
            part[:d] = inner[:, None] if isinstance(inner, np.ndarray) else inner
            part[d:] = last
        return l1.ravel(), l2.ravel()

    def held(self, origin: FloatArray, end: FloatArray) -> FloatArray:
        n_penalised = len(end) - self.n_free
        end[:n_penalised][end[:n_penalised] * origin[:n_penalised] <= 0] = 0.0
        return end

    def model(self, h: FloatArray, Z: FloatArray, *, is_fresh: bool = True, is_narrow: bool = False) -> Model:
        if self.width > 1:
            return Model(h, Z.copy(), self.joint_gram(Z))
        fill = self.X.n_stored / max(self.X.n_rows, 1)
        if self.X.n_columns <= GRAM_LIMIT and (fill <= _GRAM_FILL or not self.X.is_sparse):
            weights = np.ascontiguousarray(self.problem.losses.weighted(h)[:, 0])
            # Where outputs curve apart, each would throw away the products of the one before.
            is_one = self.problem.n_outputs == 1 or self.problem.losses.is_quadratic
            kept = None if isinstance(self.X, NativeRows) or not is_one else self.X.kept
            scale = 1.0
            if kept is not None:
                near = _NEAR_KINKS if self.problem.losses.is_rounded else _NEAR
                scale = self._scale(weights, kept.weights)
                is_narrow = is_narrow and kept.suits_float32(weights)
                may_stay = not is_fresh and (is_narrow or not kept.is_narrow)
                if kept.weights is None or not may_stay or not _are_near(weights, scale * kept.weights, near):
                    kept.weigh(weights, is_narrow=is_narrow)
                    scale = 1.0
                else:
                    # Of least squares they are the same, elsewhere those of some strengths before.
                    weights = kept.weights
                    s = self.problem.losses.weighted(np.ones_like(h))
                    h = np.divide(scale * weights[:, None], s, out=np.zeros_like(h), where=s > 0)
            if kept is None and self._n_tried:
                return Model(h, Z, None, self.X.as_columns())
            places = None if isinstance(self.X, NativeRows) else self.X.places
            if kept is None or places is None:
                return Model(h, Z, self.X.gram(weights, self.has_constant))
            G = kept.kept_gram(places, self.has_constant)
            is_kept = self.problem.n_outputs == 1 and not G.flags.owndata
            return Model(h, Z, G, is_kept=is_kept, scale=scale)
        return Model(h, Z, None, self.X.as_columns())

    def _scale(self, weights: FloatArray, kept: FloatArray | None) -> float:
        """How many times the kept curvatures are nearest to these, which count as they curve.

        Along a path rows are told apart ever more surely, and all curvatures fall: most of that is one
        factor, which slopes and strengths can be divided by instead. A ridge would not follow.
        """
        if kept is None or np.any(self.own.l2):
            return 1.0
        common = float(kept @ weights)
        return float(weights @ weights) / common if common > 0 else 1.0

    @property
    def _n_tried(self) -> int:
        """Sweeps over dense columns that take no longer than their Gram matrix; 0 where those are too few.

        Columns that have little to do with one another need no more. Those that do are better off with it.
        """
        n_sweeps = int(_SWEEPS_A_COLUMN * self.X.n_columns)
        return n_sweeps if isinstance(self.X, DenseColumns) and n_sweeps >= _FEWEST_TRIED else 0

    def minimise(
        self, model: Model, w: FloatArray, gradient: FloatArray, u: FloatArray, tol: float
    ) -> FloatArray:
        l1, l2 = self.parts()
        w = w.copy()
        if model.scale != 1.0:  # in its units, so that its factor holds on
            gradient, l1, tol = gradient / model.scale, l1 / model.scale, tol / model.scale
        if model.G is None:
            assert model.columns is not None
            d, weighted = self.X.n_columns, self.problem.losses.weighted
            sh, residual = weighted(model.h), weighted(u).copy()
            inner, curvature = w[:d].copy(), self.X.squared_adjoint(sh)[:, 0]
            n_tried = self._n_tried
            b, _, violation = _core.column_cd(
                model.columns.matrix, sh[:, 0], self.has_constant, l1, l2, curvature, residual[:, 0],
                inner, float(w[d]) if self.has_constant else 0.0, tol, n_tried or _MOST_COLUMN_SWEEPS,
            )  # fmt: skip
            w = np.append(inner, b) if self.has_constant else inner
            if violation <= tol or not n_tried or is_over():
                return w
            gradient = self.flat(self.X.adjoint(residual), residual.sum(axis=0))
            model.G = self.X.gram(np.ascontiguousarray(sh[:, 0]), self.has_constant)
        gradient = gradient.copy()
        kept = None if isinstance(self.X, NativeRows) or not model.is_kept else self.X.kept
        active: Any = None if kept is None else kept.notes.get("active")
        violation = np.inf
        if active is None:  # an active set that is there knows nearly all of the answer
            sweeps = _SWEEPS if kept is None else _SWEEPS_BEFORE
            _, violation = _core.gram_cd(model.G, l1, l2, gradient, w, tol, sweeps)
        if violation > tol:
            exact = w.copy()
            if active is None:
                active = _core.ActiveSet() if model.G.dtype == np.float64 else _core.NarrowActiveSet()
            if kept is not None:
                kept.notes["active"] = active
            active.run(model.G, l1, l2, gradient, exact, int(self.has_constant), tol, _EVENTS * len(w))
            # A model without curvature somewhere has no exact answer.
            w = exact if np.isfinite(exact).all() else w
        return w


def _are_near(h: FloatArray, other: FloatArray, near: float) -> bool:
    """Whether steps of a model with these curvatures serve where others are right."""
    return bool(np.abs(h - other).sum() <= near * other.sum() and np.all(h <= _BENT * other))


# ---- group by group -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    """The groups of a model's columns, as the core takes them; a last one holds the intercepts.

    Where outputs share a matrix or have one each, its columns are those of the part; where all outputs are
    in one matrix, its columns are the flat weights.
    """

    order: NDArray[np.int64]
    start: NDArray[np.int64]
    strength: FloatArray

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.start)

    @cached_property
    def first_square(self) -> NDArray[np.int64]:
        """(G + 1,) where the matrix of each group begins, all of them row by row."""
        return np.concatenate([[0], np.cumsum(self.sizes * self.sizes)])

    def diagonal_of(self, G: FloatArray) -> FloatArray:
        """The blocks of groups on the diagonal of matrices, one below the other."""
        matrices = G.reshape(-1, G.shape[1], G.shape[1])
        blocks = np.empty((len(matrices), int(self.first_square[-1])))
        for size in np.unique(self.sizes):
            groups = np.flatnonzero(self.sizes == size)
            columns = self.order[self.start[groups][:, None] + np.arange(size)]
            places = self.first_square[groups][:, None] + np.arange(size * size)
            found = matrices[:, columns[:, :, None], columns[:, None, :]]
            blocks[:, places] = found.reshape(len(matrices), len(groups), -1)
        return blocks


@dataclass(frozen=True)
class _Blocks:
    """Eigenvalues and eigenvectors of the diagonal blocks of each matrix of a model."""

    values: FloatArray
    vectors: FloatArray

    @classmethod
    def of(cls, blocks: FloatArray, layout: _Layout) -> _Blocks:
        """From the blocks of each matrix, row by row, group after group."""
        n_matrices, sizes, start = len(blocks), layout.sizes, layout.start
        values, vectors = np.empty((n_matrices, len(layout.order))), np.ones_like(blocks)
        for size in np.unique(sizes):
            groups = np.flatnonzero(sizes == size)
            places = layout.first_square[groups][:, None] + np.arange(size * size)
            found = blocks[:, places]
            if size > 1:
                found, turns = np.linalg.eigh(found.reshape(n_matrices, len(groups), size, size))
                vectors[:, places] = turns.reshape(n_matrices, len(groups), -1)
            floor = _FLAT * found.max(axis=-1, keepdims=True)
            values[:, start[groups][:, None] + np.arange(size)] = np.maximum(found, np.maximum(floor, 0.0))
        return cls(values, vectors)


@dataclass(frozen=True)
class GroupPart(Part):
    """Under norms of groups: block coordinate descent, then Newton's method on the groups in play.

    All outputs of a loss of one score share a Gram matrix if their curvatures are the same, as in least
    squares, and have one each if not; those of a joint loss meet in one.
    """

    @cached_property
    def layout(self) -> _Layout:
        grouping = self.own.grouping(self.X.n_columns)
        order, start = grouping.order, grouping.start
        strength = self.own.slopes_at_0(self.X.n_columns)
        if self.has_constant:
            own = 0.0 if self.n_free else self.problem.constants_penalty.slopes_at_0(self.width)
            order, start = np.append(order, len(order)), np.append(start, len(order) + 1)
            strength = np.append(strength, own)
        if not self.is_by_score:
            order = (order[:, None] * self.width + np.arange(self.width)).ravel()
            start = start * self.width
        return _Layout(order, start, strength)

    def model(self, h: FloatArray, Z: FloatArray, *, is_fresh: bool = True, is_narrow: bool = False) -> Model:
        if not self.is_by_score:
            G = self.joint_gram(Z)
            return Model(h, Z.copy(), G, blocks=_Blocks.of(self.layout.diagonal_of(G), self.layout))
        if not self._is_by_columns:
            return self._with_gram(Model(h, Z, None))
        weights, layout, columns = self._weights(h), self.layout, self._columns
        blocks = np.empty((len(weights), int(layout.first_square[-1])))
        for each, out in zip(weights, blocks, strict=True):
            _core.group_blocks(columns.matrix, each, layout.order, layout.start, layout.strength, out)
        return Model(h, Z, None, columns, _Blocks.of(blocks, layout))

    def _with_gram(self, model: Model) -> Model:
        """The same model with its Gram matrix, one for all outputs or one for each."""
        weights = self._weights(model.h)
        if self.problem.losses.is_quadratic and isinstance(self.X, DenseColumns) and self.X.kept is not None:
            self.X.kept.weigh(weights[0])  # the same at every point of a path
        model.G = np.concatenate([self.X.gram(each, self.has_constant) for each in weights])
        if model.blocks is None:
            model.blocks = _Blocks.of(self.layout.diagonal_of(model.G), self.layout)
        return model

    def _weights(self, h: FloatArray) -> FloatArray:
        """The curvatures of scores, a row for each output, or one where they are the same for all."""
        weights = np.ascontiguousarray(self.problem.losses.weighted(h).T)
        is_one = len(weights) > 1 and not np.any(weights != weights[0])
        return weights[:1] if is_one else weights

    @cached_property
    def _columns(self) -> NativeRows:
        """The columns as rows, dense or sparse as they are."""
        return self.X.as_columns()

    @property
    def _cost_of_gram(self) -> float:
        product = _SPARSE_PRODUCT if self.X.is_sparse else _DENSE_PRODUCT
        return product * self.X.n_stored**2 / max(self.X.n_rows, 1)

    @property
    def _is_by_columns(self) -> bool:
        """Whether sweeps over columns cost less than a Gram matrix and sweeps over it."""
        m, stored = self.X.n_columns, self.X.n_stored
        is_cheaper = 4 * _USUAL_SWEEPS * stored < self._cost_of_gram + _USUAL_SWEEPS * m * m
        return m > GRAM_LIMIT or is_cheaper

    def held(self, origin: FloatArray, end: FloatArray) -> FloatArray:
        inner, _ = self.split(end)
        grouping = self.own.grouping(self.X.n_columns)
        inner *= grouping.spread(grouping.sums(inner * self.split(origin)[0]) > 0, inner)
        return end

    def minimise(
        self, model: Model, w: FloatArray, gradient: FloatArray, u: FloatArray, tol: float
    ) -> FloatArray:
        layout, blocks = self.layout, model.blocks
        assert blocks is not None
        n = self.X.n_columns + self.has_constant if self.is_by_score else len(w)
        # In the core weights lie output by output.
        W, slopes = (each.reshape(n, -1).T.copy(order="C") for each in (w, gradient))
        if model.G is None:
            assert model.columns is not None
            weights, residual = self._weights(model.h), self.problem.losses.weighted(u).T.copy(order="C")
            may_have_gram = self.X.n_columns <= GRAM_LIMIT
            enough = self._cost_of_gram / (4 * max(self.X.n_stored, 1)) if may_have_gram else np.inf
            _, violation = _core.column_group_cd(
                model.columns.matrix, weights, layout.order, layout.start, layout.strength,
                blocks.values, blocks.vectors, residual, W, tol, int(np.clip(enough, 30, _MOST_SWEEPS)),
            )  # fmt: skip
            if violation <= tol or not may_have_gram or is_over():
                return W.T.ravel()
            slopes = self._pulled(residual)
            model = self._with_gram(model)
        assert model.G is not None
        for _ in range(_TURNS):
            _, violation = _core.gram_group_cd(
                model.G, layout.order, layout.start, layout.strength, blocks.values, blocks.vectors,
                slopes, W, tol, _GROUP_SWEEPS,
            )  # fmt: skip
            if violation <= tol or is_over() or not np.isfinite(violation):
                break
            for _ in range(_FACE_STEPS):
                if not _step_on_face(model.G, layout, slopes, W):
                    break
        return W.T.ravel()

    def _pulled(self, residual: FloatArray) -> FloatArray:
        """The gradient of weighted slopes in scores, output by output."""
        sums = residual.sum(axis=1, keepdims=True)
        inner = self.X.adjoint(residual.T).T
        return np.ascontiguousarray(np.hstack([inner, sums]) if self.has_constant else inner)


def _step_on_face(G: FloatArray, layout: _Layout, slopes: FloatArray, W: FloatArray) -> bool:
    """A Newton step of the model on the groups that are not 0, in place; whether it led anywhere.

    Where columns are nearly collinear block descent creeps; off the kinks the model is smooth.
    """
    K, m = W.shape
    matrices = G.reshape(-1, m, m)
    in_group = np.repeat(np.arange(len(layout.strength)), layout.sizes)
    norms = np.sqrt(np.add.reduceat(np.square(W[:, layout.order]).sum(axis=0), layout.start[:-1]))
    # A group without a penalty is in play at 0 too.
    kept = ((norms > 0) | (layout.strength == 0))[in_group]
    columns, groups = layout.order[kept], in_group[kept]
    size = len(columns)
    if size == 0 or size * K > DIRECT_LIMIT:
        return False
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    pull, unit = (layout.strength * inverse)[groups], W[:, columns] * inverse[groups]
    right = -(slopes[:, columns] + pull * W[:, columns])
    H = np.zeros((K, size, K, size))
    inner = matrices[:, columns[:, None], columns]
    is_same = groups[:, None] == groups
    for k in range(K):
        H[k, :, k] = inner[k % len(inner)]
        H[k, np.arange(size), k, np.arange(size)] += pull
        for l in range(K):
            H[k, :, l] -= np.where(is_same, pull * np.outer(unit[k], unit[l]), 0.0)
    try:
        factor = linalg.cho_factor(H.reshape(K * size, K * size), check_finite=False)
    except np.linalg.LinAlgError:
        return False
    move = linalg.cho_solve(factor, right.ravel(), check_finite=False).reshape(K, size)
    promised = -float(np.vdot(right, move))
    if not promised < 0:
        return False
    bent = np.stack([move[k] @ matrices[k % len(matrices)][columns] for k in range(K)])
    first, second = float(np.vdot(slopes[:, columns], move)), float(np.vdot(bent[:, columns], move))

    def of_groups(x: FloatArray) -> float:
        squares = np.bincount(groups, weights=np.square(x).sum(axis=0), minlength=len(layout.strength))
        return float(layout.strength @ np.sqrt(squares))

    before, t = of_groups(W[:, columns]), 1.0
    for _ in range(_HALVES):
        gain = t * first + t * t / 2 * second + of_groups(W[:, columns] + t * move) - before
        if gain <= 0.1 * t * promised:
            W[:, columns] += t * move
            slopes += t * bent
            return True
        t /= 2
    return False
