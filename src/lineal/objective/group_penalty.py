"""The group lasso: norms of groups of weights, which are 0 together or not at all."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lineal.errors import ParameterError
from lineal.objective.grouping import Grouping
from lineal.objective.losses import FloatArray, as_number
from lineal.objective.penalties import Penalty, _positive

_SHOWN = 5
# Steps to a root, which take about five.
_ROOT_STEPS = 60


@dataclass(frozen=True)
class GroupL2(Penalty):
    """strength * sum_g weight_g |W_g|, with W_g the weights of the columns of group g, over all outputs.

    Whole groups of columns are 0 or in play. With a column a group and several outputs it is the multi-task
    lasso: a column is in play for all outputs or for none. With one output and a column a group it is L1.

    Parameters
    ----------
    groups : sequence, optional
        A label for each column (any hashable but a tuple: columns with equal labels are a group), or a list
        of lists of columns, which together name every column once. None: every column is a group of its own.
    strength : float
    weights : sequence or mapping, optional
        A number > 0 for each group, in the order of the lists or in that in which labels first appear, or by
        label; the square root of the number of its columns if not given.

    Notes
    -----
    The intercepts of all outputs, where they are penalised, are one group of weight 1.

    Examples
    --------
    >>> from lineal.objective import GroupL2
    >>> GroupL2(["age", "town", "town"], weights={"age": 1.0, "town": 2.0})([3.0, 3.0, 4.0])
    13.0
    >>> GroupL2([[0], [1, 2]], strength=0.5, weights=[1.0, 2.0])([3.0, 3.0, 4.0])
    6.5
    """

    groups: Any = None
    strength: float = 1.0
    weights: Any = None
    is_bounded: ClassVar[bool] = True
    is_uniform: ClassVar[bool] = False
    is_by_weight: ClassVar[bool] = False
    has_groups: ClassVar[bool] = True
    has_bounded_curvature: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _positive("GroupL2(strength)", self.strength)
        if self.groups is None and self.weights is None:
            return
        groups, codes, names = _read(self.groups)
        weights = None if self.weights is None else _weights(self.weights, names)
        if codes is None:
            assert weights is not None
            codes, names = np.arange(len(weights)), None
        n_groups = len(weights) if names is None and weights is not None else len(names or ())
        sizes = np.bincount(codes, minlength=n_groups)
        found = np.sqrt(sizes) if weights is None else np.array(weights, dtype=np.float64)
        for name, value in (("groups", groups), ("weights", weights), ("_own", Grouping(codes, found))):
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        own = self._given
        what = "a group for each column" if own is None else f"{own.n_groups:,} groups"
        return f"GroupL2({what}, strength={self.strength})"

    # ---- columns ------------------------------------------------------------------------------

    @property
    def _given(self) -> Grouping | None:
        """The groups of the columns that are spoken of; None where any number will do."""
        own: Grouping | None = self.__dict__.get("_own")
        return own

    def for_columns(self, n_columns: int, names: Sequence[str] | None = None) -> Penalty:
        own = self._given
        if own is not None and own.n_columns != n_columns:
            raise ParameterError(
                f"GroupL2 has groups of {own.n_columns:,} columns, and there are {n_columns:,}: give "
                "every column of X a label, or name it in one of the lists."
            )
        return self

    def for_constants(self, n_outputs: int) -> Penalty:
        return GroupL2((0,) * n_outputs, self.strength, (1.0,))

    def grouping(self, n_columns: int) -> Grouping:
        own = self._given
        if own is not None:
            self.for_columns(n_columns)
            return own
        latest: Grouping | None = self.__dict__.get("_latest")
        if latest is None or latest.n_columns != n_columns:
            latest = Grouping(np.arange(n_columns), np.ones(n_columns))
            object.__setattr__(self, "_latest", latest)
        return latest

    def take(self, columns: NDArray[np.int64] | slice) -> Penalty:
        """The penalty of those columns alone; of a group that is taken in part, the others count as 0."""
        own = self._given
        if own is None:
            return self
        kept, first, codes = np.unique(own.codes[columns], return_index=True, return_inverse=True)
        if len(kept) == 0:
            return GroupL2(None, self.strength)
        # Weights belong to labels in the order in which these appear.
        appearing = np.argsort(first)
        rank = np.argsort(appearing)
        grouping = Grouping(rank[codes], own.weights[kept[appearing]])
        groups, weights = (tuple(each.tolist()) for each in (grouping.codes, grouping.weights))
        return _sound(groups, self.strength, weights, grouping)

    # ---- the function -------------------------------------------------------------------------

    def terms(self, w: FloatArray) -> FloatArray:
        grouping = self.grouping(len(w))
        return self.strength * grouping.weights * grouping.norms(w)

    def conjugate_terms(self, v: FloatArray) -> FloatArray:
        grouping = self.grouping(len(v))
        # The last bits of a sum may carry v over the edge that scaling() put it on.
        edge = self.strength * grouping.weights * (1 + 1e-12)
        return np.where(grouping.norms(v) <= edge, 0.0, np.inf)

    def residuals(self, w: FloatArray, v: FloatArray) -> FloatArray:
        return self.terms(w) + self.conjugate_terms(-v) + self.grouping(len(w)).sums(w * v)

    def prox(self, w: FloatArray, step: float | FloatArray) -> FloatArray:
        """Block soft thresholding; with a step for each weight, the root of a scalar equation a group."""
        grouping, edge = self.grouping(len(w)), self.slopes_at_0(len(w))
        if np.ndim(step) == 0:
            norms = grouping.norms(w)
            return w * grouping.spread(_divided(np.maximum(norms - step * edge, 0.0), norms), w)
        # With x_j = w_j t / (t + pull_j), where pull_j = edge step_j, the norm t of a group's x is the root
        # of 1 / |w / (t + pull)| = 1: concave in t, so that Newton's steps from the left never pass it.
        pull = grouping.spread(edge, w) * np.broadcast_to(step, w.shape)
        excess = grouping.norms(_divided(w, pull)) - 1  # in units of edge
        has_left = excess > 0
        t = least = np.where(has_left, excess * grouping.least(pull), 0.0)
        for _ in range(_ROOT_STEPS):
            below = 1 / (grouping.spread(t, w) + pull)
            squares = np.square(w * below)
            sums, slopes = grouping.sums(squares), grouping.sums(squares * below)
            following = np.maximum(least, t + _divided(sums * (np.sqrt(sums) - 1), slopes) * has_left)
            is_there = np.all(np.abs(following - t) <= 1e-14 * following)
            t = following
            if is_there:
                break
        return w * grouping.spread(t, w) / (grouping.spread(t, w) + pull)

    def derivative(self, w: FloatArray) -> FloatArray:
        return self.grouping(len(w)).spread(self.slopes_at_0(len(w)), w) * self._units(w)

    def second_derivative(self, w: FloatArray) -> FloatArray:
        """The diagonal of the Hessian lam (I - ww'/|w|^2) / |w| of each group that is not 0."""
        return self._bends(w) * (1 - np.square(self._units(w)))

    def hessian_product(self, w: FloatArray, m: FloatArray) -> FloatArray:
        grouping, units = self.grouping(len(w)), self._units(w)
        return self._bends(w) * (m - units * grouping.spread(grouping.sums(units * m), w))

    def add_hessian(self, H: FloatArray, w: FloatArray) -> None:
        w = w[:, None] if w.ndim == 1 else w
        grouping, bends, units, width = self.grouping(len(w)), self._bends(w), self._units(w), w.shape[1]
        for g in np.flatnonzero(grouping.norms(w)):
            columns = grouping.order[grouping.start[g] : grouping.start[g + 1]]
            places = (columns[:, None] * width + np.arange(width)).ravel()
            unit = units[columns].ravel()
            H[np.ix_(places, places)] += bends[columns[0], 0] * (np.eye(len(unit)) - np.outer(unit, unit))

    def _units(self, w: FloatArray) -> FloatArray:
        """w_g / |w_g|; 0 where a group is 0."""
        grouping = self.grouping(len(w))
        return _divided(w, np.broadcast_to(grouping.spread(grouping.norms(w), w), w.shape))

    def _bends(self, w: FloatArray) -> FloatArray:
        """lam_g / |w_g| beside each weight; 0 where a group is 0."""
        grouping = self.grouping(len(w))
        return grouping.spread(_divided(self.slopes_at_0(len(w)), grouping.norms(w)), w)

    # ---- what solvers ask ---------------------------------------------------------------------

    def scaling(self, v: FloatArray) -> float:
        grouping = self.grouping(len(v))
        largest = float((grouping.norms(v) / grouping.weights).max(initial=0.0))
        return 1.0 if largest <= self.strength else self.strength / largest

    def are_off_kinks(self, w: FloatArray) -> NDArray[np.bool_]:
        """The weights of groups that are not 0."""
        grouping = self.grouping(len(w))
        return np.broadcast_to(grouping.spread(grouping.norms(w) > 0, w), w.shape)

    def violations(self, w: FloatArray, gradient: FloatArray) -> FloatArray:
        """How far each group's condition is from holding."""
        grouping = self.grouping(len(w))
        inside = grouping.norms(gradient) - self.strength * grouping.weights
        return np.where(
            grouping.norms(w) > 0,
            grouping.norms(gradient + self.derivative(w)),
            np.maximum(inside, 0.0),
        )

    def slopes_at_0(self, n_columns: int) -> FloatArray:
        return self.strength * self.grouping(n_columns).weights

    def largest_strength(self, V: FloatArray, loss: float) -> float:
        grouping = self.grouping(len(V))
        return float((grouping.norms(V) / grouping.weights).max(initial=0.0))

    def at_strength(self, strength: float) -> Penalty:
        own = self._given
        if own is None:
            return replace(self, strength=strength)
        _positive("GroupL2(strength)", strength)
        return _sound(self.groups, strength, self.weights, own)


def _sound(groups: Any, strength: float, weights: Any, grouping: Grouping) -> GroupL2:
    """A penalty whose groups were read before: solvers and paths ask for many."""
    made = object.__new__(GroupL2)
    fields = (("groups", groups), ("strength", strength), ("weights", weights), ("_own", grouping))
    for name, value in fields:
        object.__setattr__(made, name, value)
    return made


def _divided(above: FloatArray, below: FloatArray) -> FloatArray:
    """A quotient that is 0 where nothing is below."""
    return np.divide(above, below, out=np.zeros_like(below), where=below > 0)


# ---- reading ------------------------------------------------------------------------------------


def _read(groups: Any) -> tuple[Any, NDArray[np.int64] | None, list[Hashable] | None]:
    """Groups as a tuple, the group of each column, and the groups' names."""
    if groups is None:
        return None, None, None
    values = groups.tolist() if hasattr(groups, "tolist") else groups
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ParameterError(
            f"GroupL2(groups) must be a label for each column or a list of lists of columns, got {groups!r}."
        )
    values = tuple(values)
    if not values:
        raise ParameterError("GroupL2(groups) names no columns: give a label for each column, or None.")
    are_lists = [hasattr(each, "tolist") or isinstance(each, (list, tuple, range, set)) for each in values]
    if not any(are_lists):
        return values, *_by_label(values)
    if not all(are_lists):
        odd = values[are_lists.index(False)]
        raise ParameterError(f"GroupL2(groups) mixes lists of columns with {odd!r}: give one or the other.")
    lists = tuple(tuple(each.tolist() if hasattr(each, "tolist") else each) for each in values)
    return lists, _by_list(lists), list(range(len(lists)))


def _by_label(labels: tuple[Any, ...]) -> tuple[NDArray[np.int64], list[Hashable]]:
    places: dict[Hashable, int] = {}
    try:
        codes = np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int64)
    except TypeError as error:
        raise ParameterError(f"GroupL2(groups) has a label that cannot be one: {error}.") from error
    return codes, list(places)


def _by_list(lists: tuple[tuple[Any, ...], ...]) -> NDArray[np.int64]:
    if any(len(each) == 0 for each in lists):
        raise ParameterError("GroupL2(groups) has a group without columns: leave it out.")
    for each in lists:
        for column in each:
            if not isinstance(column, numbers.Integral) or isinstance(column, bool) or column < 0:
                raise ParameterError(
                    f"GroupL2(groups) counts columns from 0 and has {column!r} among them: columns are "
                    "positions, not names."
                )
    columns = np.concatenate([np.asarray(each, dtype=np.int64) for each in lists])
    counts = np.bincount(columns)
    if np.any(counts > 1):
        raise ParameterError(
            f"GroupL2(groups) must not overlap, and {_some(counts > 1)} in several places: a column "
            "belongs to one group."
        )
    if np.any(counts == 0):
        raise ParameterError(
            f"GroupL2(groups) must name every column, and {_some(counts == 0)} left out: give a column "
            "that has no company a group of its own."
        )
    codes = np.empty(len(columns), dtype=np.int64)
    codes[columns] = np.repeat(np.arange(len(lists)), [len(each) for each in lists])
    return codes


def _some(which: NDArray[np.bool_]) -> str:
    places = np.flatnonzero(which).tolist()
    shown = ", ".join(map(str, places[:_SHOWN])) + (" ..." if len(places) > _SHOWN else "")
    return f"column {shown} is" if len(places) == 1 else f"columns {shown} are"


def _weights(given: Any, names: Sequence[Hashable] | None) -> tuple[float, ...]:
    if isinstance(given, Mapping):
        lacking = [name for name in names or () if name not in given]
        if names is None or lacking or len(given) != len(names):
            raise ParameterError(
                "GroupL2(weights) as a mapping must have the labels of the groups as its keys"
                + (f": {lacking[0]!r} is missing." if lacking else ".")
            )
        given = [given[name] for name in names]
    values = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ParameterError(f"GroupL2(weights) must be a number for each group, got {given!r}.")
    weights = tuple(as_number(value) for value in values)
    for weight in weights:
        if not 0 < weight < np.inf:
            raise ParameterError(
                f"GroupL2(weights) must be positive finite numbers, got {weight!r}: a group without a "
                "penalty would need one of its own."
            )
    if names is not None and len(weights) != len(names):
        raise ParameterError(
            f"GroupL2(weights) has {len(weights):,} numbers for {len(names):,} groups: give one for each."
        )
    return weights
