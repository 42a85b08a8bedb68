"""Penalties of their own for blocks of columns, and for the intercept.

``Blocks({"age": L2(0.1), range(10, 60): L1(1.0), ...: L2(1.0), "intercept": L2(5.0)})`` says which columns
are held how. Where the columns are known it becomes ``ColumnElasticNet``: an l1 and an l2 for each column,
which solvers take as they take those of one penalty for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal.errors import ParameterError
from lineal.objective.losses import FloatArray, _soft
from lineal.objective.penalties import Penalty, _by_row, _Elastic

INTERCEPT = "intercept"
_KEYS = "a column's name or a pattern, its number, a slice, a range, a tuple of those, or ... for the rest"


@dataclass(frozen=True, eq=False)
class ColumnElasticNet(_Elastic):
    """sum_j l1_j |w_j| + l2_j / 2 w_j^2, with an l1 and an l2 for each column, any of which may be 0.

    Attributes
    ----------
    l1, l2 : (d,) arrays, >= 0
        A column with neither is free: the data alone decide about its weight.
    """

    l1: FloatArray = field(default_factory=lambda: np.zeros(1))  # type: ignore[misc]
    l2: FloatArray = field(default_factory=lambda: np.ones(1))  # type: ignore[misc]
    is_uniform: ClassVar[bool] = False

    def __post_init__(self) -> None:
        l1, l2 = (np.asarray(part, dtype=np.float64) for part in (self.l1, self.l2))
        if l1.ndim != 1 or l1.shape != l2.shape:
            raise ParameterError("ColumnElasticNet needs l1 and l2 with one entry for each column.")
        if not (np.isfinite(l1).all() and np.isfinite(l2).all() and (l1 >= 0).all() and (l2 >= 0).all()):
            raise ParameterError("ColumnElasticNet needs parts l1 and l2 that are finite and >= 0.")
        is_free = (l1 == 0) & (l2 == 0)
        declared = {
            "l1": l1,
            "l2": l2,
            "is_smooth": not l1.any(),
            "has_corners": bool(l1.any()),
            "is_strongly_convex": bool((l2 > 0).all()),
            "is_zero": bool(is_free.all()),
            "has_free_columns": bool(is_free.any()),
            "is_bounded": bool(((l1 > 0) & (l2 == 0)).any()),
        }
        self.__dict__.update(declared)

    def terms(self, w: FloatArray) -> FloatArray:
        return _by_row(self.l1, w) * np.abs(w) + _by_row(self.l2, w) / 2 * w * w

    def conjugate_terms(self, v: FloatArray) -> FloatArray:
        l1, l2 = _by_row(self.l1, v), _by_row(self.l2, v)
        excess = _soft(v, l1)
        curved = np.divide(excess**2, 2 * l2, out=np.zeros_like(v), where=np.broadcast_to(l2 > 0, v.shape))
        # The last bits of a sum may carry v over the edge that scaling() put it on.
        is_out = (l2 == 0) & (np.abs(v) > l1 * (1 + 1e-12))
        return np.where(is_out, np.inf, curved)

    def prox(self, w: FloatArray, step: float | FloatArray) -> FloatArray:
        return _soft(w, step * _by_row(self.l1, w)) / (1 + step * _by_row(self.l2, w))

    def derivative(self, w: FloatArray) -> FloatArray:
        return _by_row(self.l1, w) * np.sign(w) + _by_row(self.l2, w) * w

    def second_derivative(self, w: FloatArray) -> FloatArray:
        return np.broadcast_to(_by_row(self.l2, w), w.shape).copy()

    def scaling(self, v: FloatArray) -> float:
        held = (self.l1 > 0) & (self.l2 == 0)
        if not held.any():
            return 1.0
        sizes = np.abs(v) if v.ndim == 1 else np.abs(v).max(axis=1)
        largest = float((sizes[held] / self.l1[held]).max(initial=0.0))
        return 1.0 if largest <= 1.0 else 1.0 / largest

    def take(self, columns: NDArray[np.int64] | slice) -> ColumnElasticNet:
        return ColumnElasticNet(self.l1[columns], self.l2[columns])

    def free_columns(self, n_columns: int) -> NDArray[np.bool_] | None:
        return (self.l1 == 0) & (self.l2 == 0) if self.has_free_columns else None

    def are_off_kinks(self, w: FloatArray) -> NDArray[np.bool_]:
        return (np.abs(w) > 0) | (_by_row(self.l1, w) == 0)

    def at_strength(self, strength: float) -> Penalty:
        """All parts in proportion, the largest l1 + l2 of a column being the strength."""
        factor = strength / float((self.l1 + self.l2).max())
        return ColumnElasticNet(self.l1 * factor, self.l2 * factor)

    def largest_strength(self, V: FloatArray, loss: float) -> float:
        raise ParameterError(
            "blocks with penalties of their own have no strength at which all weights are 0: pass strengths=."
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ColumnElasticNet):
            return False
        return np.array_equal(self.l1, other.l1) and np.array_equal(self.l2, other.l2)

    def __hash__(self) -> int:
        return hash((self.l1.tobytes(), self.l2.tobytes()))

    def __str__(self) -> str:
        return f"a penalty for each of {len(self.l1)} columns"


@dataclass(frozen=True, eq=False)
class Blocks(Penalty):
    """A penalty for each block of columns, and for the intercept: ``{block: penalty}``.

    Parameters
    ----------
    blocks : dict, or sequence of (block, penalty)
        A block is a column's name or a pattern of names (``"city=*"``), its number, a slice, a range, or a
        tuple of those; ``...`` stands for all columns that no other block names, and ``"intercept"`` for the
        intercept, which is free unless it is named. Penalties are ``L2``, ``L1``, ``ElasticNet`` and
        ``NoPenalty()``.

    Notes
    -----
    Every column belongs to one block. Which columns a block has is looked up when a model is fitted, before
    anything is computed. Learners take a plain dict for it.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import LinearRegressor
    >>> from lineal.objective import L1, L2, NoPenalty
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> y = 3 * X[:, 0] + X[:, 1] + rng.normal(size=60)
    >>> model = LinearRegressor(penalty={0: NoPenalty(), range(1, 5): L1(20.0)}).fit(X, y)
    >>> model.coef_.nonzero()[0], model.certificate_.converged
    (array([0, 1]), True)
    """

    blocks: Any = ()
    is_elastic: ClassVar[bool] = True
    is_uniform: ClassVar[bool] = False

    def __post_init__(self) -> None:
        items = list(self.blocks.items() if isinstance(self.blocks, Mapping) else self.blocks)
        if not items:
            raise ParameterError(f"Blocks needs at least one block: {_KEYS}, with a penalty for each.")
        for key, penalty in items:
            if not isinstance(penalty, Penalty) or not penalty.is_elastic or not penalty.is_uniform:
                raise ParameterError(
                    f"Blocks takes L2, L1, ElasticNet or NoPenalty() for a block, not {penalty!r} ({key!r})."
                )
        on_columns = [penalty for key, penalty in items if key != INTERCEPT]
        parts = ColumnElasticNet(*(np.array([getattr(p, name) for p in on_columns]) for name in ("l1", "l2")))
        names = (
            "is_smooth",
            "has_corners",
            "is_strongly_convex",
            "is_zero",
            "has_free_columns",
            "is_bounded",
        )
        self.__dict__.update({name: getattr(parts, name) for name in names})
        self.__dict__["_items"] = items

    @property
    def on_intercept(self) -> Penalty | None:
        """What is said of the intercept, if anything is."""
        return next((penalty for key, penalty in self._items if key == INTERCEPT), None)  # type: ignore[attr-defined]

    def for_columns(self, n_columns: int, names: Sequence[str] | None = None) -> Penalty:
        """An l1 and an l2 for each column."""
        owner = np.full(n_columns, -1)
        items: list[tuple[Any, Penalty]] = self._items  # type: ignore[attr-defined]
        for place, (key, _) in enumerate(items):
            if key in (INTERCEPT, ...):
                continue
            columns = _columns(key, n_columns, names)
            taken = columns[owner[columns] >= 0]
            if len(taken):
                column = int(taken[0])
                told = column if names is None else f"{column} ({names[column]!r})"
                raise ParameterError(
                    f"column {told} is in two blocks, {items[owner[column]][0]!r} and {key!r}: "
                    "name every column once."
                )
            owner[columns] = place
        rest = next((place for place, (key, _) in enumerate(items) if key is ...), None)
        if rest is None and (owner < 0).any():
            column = int(np.flatnonzero(owner < 0)[0])
            told = column if names is None else f"{column} ({names[column]!r})"
            raise ParameterError(
                f"column {told} is in no block: name it, or say what holds for the rest with ...: penalty."
            )
        owner[owner < 0] = -1 if rest is None else rest
        l1, l2 = (np.array([getattr(penalty, name) for _, penalty in items])[owner] for name in ("l1", "l2"))
        return ColumnElasticNet(l1, l2)

    def at_strength(self, strength: float) -> Penalty:
        raise ParameterError(
            "Blocks has no one strength to vary: fit each choice of blocks, or tune with a list of dicts."
        )

    def _unbound(self) -> ParameterError:
        return ParameterError("Blocks says which columns are held how: bind it with for_columns(n_columns).")

    def terms(self, w: FloatArray) -> FloatArray:
        raise self._unbound()

    def conjugate_terms(self, v: FloatArray) -> FloatArray:
        raise self._unbound()

    def prox(self, w: FloatArray, step: float | FloatArray) -> FloatArray:
        raise self._unbound()

    def derivative(self, w: FloatArray) -> FloatArray:
        raise self._unbound()

    def second_derivative(self, w: FloatArray) -> FloatArray:
        raise self._unbound()


def as_penalty(given: Any) -> Any:
    """A dict of blocks as a penalty; everything else as it is."""
    return Blocks(given) if isinstance(given, Mapping) else given


def _columns(key: Any, n_columns: int, names: Sequence[str] | None) -> NDArray[np.intp]:
    """The columns of a block."""
    if isinstance(key, tuple):
        parts = [_columns(each, n_columns, names) for each in key]
        return np.unique(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.intp)
    if isinstance(key, str):
        if names is None:
            raise ParameterError(
                f"block {key!r} names a column, but the data have no names: use numbers, or a data frame."
            )
        found = np.flatnonzero([fnmatchcase(name, key) or name == key for name in names])
        if not len(found):
            raise ParameterError(f"block {key!r} names no column; there are {_some(names)}.")
        return found
    if isinstance(key, (slice, range)):
        bounds = key if isinstance(key, slice) else slice(key.start, key.stop, key.step)
        if isinstance(key, range) and len(key) and max(key) >= n_columns:
            raise ParameterError(f"block {key!r} reaches beyond the {n_columns} columns of the data.")
        return np.arange(n_columns)[bounds]
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        if not -n_columns <= key < n_columns:
            raise ParameterError(f"block {key} is beyond the {n_columns} columns of the data.")
        return np.array([int(key) % n_columns])
    raise ParameterError(f"a block is {_KEYS}, got {key!r}.")


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
