"""Bags of rows and columns, and models of them."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.compose.base import Composite, Lesson
from lineal.compose.fitting import Job, fit_parts, require_weights
from lineal.compose.inputs import take, take_columns
from lineal.compose.seeds import generator_of, require_seed
from lineal.compose.threads import are_few, in_threads
from lineal.data import thread_count
from lineal.errors import InputError, ParameterError
from lineal.learners.weighting import weight_argument
from lineal.objective.losses import FloatArray
from lineal.protocol import clone

# So often are rows drawn again where all of them are of one class.
_DRAWS = 100
# So many rows are drawn at most: places of more would not fit into memory.
_MOST_ROWS = 10**8


@dataclass(frozen=True)
class Bag:
    """What one model learns from.

    Attributes
    ----------
    rows : the rows of the fit that were drawn, each once, in order
    times : how often each of them was drawn, or its weight
    columns : the columns that were drawn, in order; None: all
    seed : for every ``random_state`` in the learner that was left open
    """

    rows: NDArray[np.intp]
    times: FloatArray
    columns: NDArray[np.intp] | None
    seed: int


class Bags(Composite):
    """What bags of classifiers and of regressors share: drawing, fitting, asking those who did not see."""

    _passes_weights_on = False  # rows are drawn by their weights
    bags_: list[Bag]
    parts_: list[Any]

    def __init__(
        self,
        learner: Any = None,
        n_models: int = 10,
        *,
        rows: float = 1.0,
        columns: float = 1.0,
        replace: bool = True,
        n_threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.learner = learner
        self.n_models = n_models
        self.rows = rows
        self.columns = columns
        self.replace = replace
        self.n_threads = n_threads
        self.random_state = random_state

    # ---- options ------------------------------------------------------------------------------

    def _check_options(self) -> None:
        super()._check_options()
        if not _is_count(self.n_models):
            raise ParameterError(f"n_models must be a whole number from 1 on, got {self.n_models!r}.")
        for name in ("rows", "columns"):
            asked = getattr(self, name)
            is_share = isinstance(asked, numbers.Real) and not _is_whole(asked) and 0 < float(asked) <= 1
            if not (_is_count(asked) or is_share):
                raise ParameterError(
                    f"{name} must be a share in (0, 1] or a whole number from 1 on, got {asked!r}; all of "
                    "them are 1.0, one of them is 1."
                )
        require_seed(self.random_state)

    # ---- drawing ------------------------------------------------------------------------------

    def _drawn(self, lesson: Lesson) -> list[Bag]:
        seeds = generator_of(self.random_state).spawn(int(self.n_models))
        width = lesson.X.shape[1] if hasattr(lesson.X, "shape") and len(lesson.X.shape) == 2 else 0
        n_columns = self._count("columns", width) if width else 0
        if not width and self.columns != 1.0:
            raise ParameterError("columns can only be drawn from a matrix or a frame; leave columns=1.0.")
        return [self._suiting(lesson, rng, width, n_columns) for rng in seeds]

    def _suiting(self, lesson: Lesson, rng: np.random.Generator, width: int, n_columns: int) -> Bag:
        """A bag that can be learnt from: a few draws of rows are tried."""
        bag = self._bag(lesson, rng, width, n_columns)
        for _ in range(_DRAWS):
            if self._suffice(lesson.targets[bag.rows]):
                break
            bag = self._bag(lesson, rng, width, n_columns)
        return bag

    def _suffice(self, targets: NDArray[Any]) -> bool:
        """Whether something can be learnt from these targets."""
        return True

    def _bag(self, lesson: Lesson, rng: np.random.Generator, width: int, n_columns: int) -> Bag:
        if self.replace:
            times = self._times(lesson, rng)
            drawn = np.flatnonzero(times)
            weights = times[drawn].astype(np.float64)
        else:
            n = self._count("rows", lesson.n_rows)
            drawn = np.sort(rng.choice(lesson.n_rows, size=n, replace=False))
            weights = np.ones(n) if lesson.s is None else lesson.s[drawn]
        columns = None
        if width and n_columns < width:
            columns = np.sort(rng.choice(width, size=n_columns, replace=False))
        return Bag(drawn, weights, columns, int(rng.integers(2**31 - 1)))

    def _times(self, lesson: Lesson, rng: np.random.Generator) -> NDArray[np.intp]:
        """(n,) how often each row is drawn, with replacement.

        Rows lie side by side on a line, each as long as its weight, and points of it are drawn: a row of
        weight 2 and the row twice in a row are drawn alike, bit for bit.
        """
        if lesson.s is None:  # each as long as 1
            n = self._count("rows", round(_drawable(lesson.n_rows, lesson.n_rows)))
            met = (rng.random(n) * lesson.n_rows).astype(np.intp)
            return np.bincount(np.minimum(met, lesson.n_rows - 1), minlength=lesson.n_rows)
        ends = np.cumsum(lesson.counts)
        n = self._count("rows", round(_drawable(float(ends[-1]), lesson.n_rows)))
        before = np.searchsorted(np.sort(rng.random(n) * ends[-1]), ends[:-1])
        return np.diff(before, prepend=0, append=n)

    def _count(self, name: str, available: int) -> int:
        asked = getattr(self, name)
        if not _is_whole(asked):
            return max(1, round(float(asked) * available))
        if int(asked) > available and not (name == "rows" and self.replace):
            raise ParameterError(f"{name}={asked} were asked for, but there are {available}.")
        return int(asked)

    # ---- fitting ------------------------------------------------------------------------------

    def _fit_bags(self, lesson: Lesson) -> None:
        (learner,) = self._made_of()
        if lesson.s is not None and not self.replace:
            require_weights(self, [learner])
        self.bags_ = self._drawn(lesson)
        jobs = [self._job(lesson, learner, bag) for bag in self.bags_]
        self.parts_ = fit_parts(lesson.X, jobs, self.n_threads)

    def _job(self, lesson: Lesson, learner: Any, bag: Bag) -> Job:
        rows, s = bag.rows, None if (bag.times == 1).all() else bag.times
        if s is not None and weight_argument(learner) is None:
            rows, s = np.repeat(rows, s.astype(np.intp)), None
        params = learner.get_params(deep=True).items()
        seeds = {k: bag.seed for k, v in params if v is None and k.rpartition("__")[2] == "random_state"}
        seeded = clone(learner).set_params(**seeds) if seeds else learner
        advice = (
            f"(This model was given {len(bag.rows)} of {lesson.n_rows} rows: draw more of them by rows=, or "
            f"have what holds rows out around {type(self).__name__}, not inside it.)"
        )
        return Job(seeded, lesson.targets[rows], rows, s, columns=bag.columns, advice=advice)

    # ---- answers ------------------------------------------------------------------------------

    def _answers(self, X: Any, ask: Callable[[Any, Any], Any]) -> list[Any]:
        """What each part says about rows."""
        calls = [partial(self._answer, X, ask, k) for k in range(len(self.parts_))]
        return in_threads(calls, thread_count(self.n_threads), are_short=are_few(X))

    def _answer(self, X: Any, ask: Callable[[Any, Any], Any], k: int) -> Any:
        columns = self.bags_[k].columns
        return ask(self.parts_[k], X if columns is None else take_columns(X, columns))

    def _unseen(self, n_rows: int) -> list[NDArray[np.intp]]:
        """The rows that each part has not learnt from."""
        found = []
        for bag in self.bags_:
            is_unseen = np.ones(n_rows, dtype=bool)
            is_unseen[bag.rows] = False
            found.append(np.flatnonzero(is_unseen))
        return found

    def _out_of_bag(
        self, lesson: Lesson, ask: Callable[[Any, Any], FloatArray], shape: tuple[int, ...]
    ) -> FloatArray:
        """The mean answer to each row of those who have not seen it; NaN where all have.

        Bags are told in the numbers of the rows that came from then on.
        """
        total, judges = np.zeros(shape), np.zeros(lesson.n_rows)
        unseen = self._unseen(lesson.n_rows)
        calls = [
            partial(self._answer, take(lesson.X, rows), ask, k) if len(rows) else None
            for k, rows in enumerate(unseen)
        ]
        asked = [call for call in calls if call is not None]
        answers = iter(in_threads(asked, thread_count(self.n_threads), are_short=are_few(lesson.X)))
        for rows, call in zip(unseen, calls, strict=True):
            if call is not None:
                total[rows] += next(answers)
                judges[rows] += 1
        self.bags_ = [replace(bag, rows=lesson.as_given(bag.rows)) for bag in self.bags_]
        with np.errstate(invalid="ignore"):
            return np.asarray(total / judges.reshape(-1, *(1,) * (total.ndim - 1)))


def _drawable(total: float, n_rows: int) -> float:
    """What the weights sum to, if so many rows can be drawn."""
    if total > _MOST_ROWS:
        raise InputError(
            f"sample_weight sums to {total:.3g}, and so many rows would be drawn. Divide the weights by "
            f"{total / n_rows:.3g}, their mean."
        )
    return total


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value >= 1
