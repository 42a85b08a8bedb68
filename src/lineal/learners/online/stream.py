"""What is known of a stream: a record for each column, one for the intercept, and a tally.

The loop is native (``native/include/lineal/epoch/online.h`` states the steps and their cost); this module
holds its arrays and gives them room. A record holds the weights of a column and its metric: 8 bytes for each
score and 8 for a metric, or one metric for each score where scores have their own; another 8 for each score
where weights are averaged. Records come into being when a column or a score does, so that memory is that of
the columns and labels met so far, and of nothing else: of hashed columns it does not grow at all.

The arrays are all there is: a stream that is saved after any row and taken up again goes on bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal import _core
from lineal.cancellation import raise_if_over
from lineal.learners.online.recipe import PRIOR_ROWS, WHOLE_PRIOR_ROWS, Recipe, Strengths
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray

# The numbers of a tally, in their order.
_TALLY = ("rows", "weight", "right", "loss", "slope", "distance", "refused", "scores", "places")


class Stream:
    """The arrays of a stream.

    Attributes
    ----------
    recipe : Recipe
    strengths : Strengths
        Of the penalty that is still to be counted.
    records : (capacity, stride)
        A record for each column, and room for more.
    n_columns : int
        How many columns there have been.
    intercept : (stride,)
    places, factors : of the whole metric, which a few columns have
    tally : (9,)
    """

    def __init__(self, recipe: Recipe, n_scores: int = 1) -> None:
        self.recipe = recipe
        self.strengths = recipe.strengths
        self.n_before = 0.0
        self.n_columns = 0
        self.room = n_scores
        self.records = _core.large_zeros(0, self.settings.stride)
        self.intercept = np.zeros(self.settings.stride)
        self.places = np.zeros(_core.WHOLE_COLUMNS, dtype=np.int32)
        self.factors = self._new_factors(self.settings)
        self.tally = np.zeros(len(_TALLY))

    @classmethod
    def from_fit(cls, recipe: Recipe, W: FloatArray, b: FloatArray, n_rows: float) -> Stream:
        """Goes on from (n_scores, n_columns) weights that were fitted to so many rows.

        The penalty was counted in the fit. A column counts as having been met in every row of it.
        """
        stream = cls(recipe, len(W))
        stream.strengths, stream.n_before = Strengths(), float(n_rows)
        stream.factors = stream._new_factors(stream.settings)
        stream.make_room(W.shape[1], len(W))
        stream.records[:, : len(W)] = W.T
        stream.intercept[: len(W)] = b
        stream.tally[_TALLY.index("scores")] = len(W)
        return stream

    # ---- what was met -------------------------------------------------------------------------

    def total(self, name: str) -> float:
        """A number of the tally."""
        return float(self.tally[_TALLY.index(name)])

    @property
    def n_met(self) -> int:
        """How many rows there were, those that were left out included."""
        return int(self.total("rows") + self.total("refused"))

    @property
    def n_scores(self) -> int:
        """How many scores a row has by now."""
        return int(self.total("scores"))

    @property
    def settings(self) -> Any:
        """What the native loop is told."""
        return self._settings(self.room)

    def _settings(self, room: int) -> Any:
        strengths, steps = self.strengths, self.recipe.steps
        is_counted = strengths.l2 > 0  # a penalty that is there from the start is prior enough
        is_intercept_counted = is_counted and strengths.is_for_intercept
        return _core.OnlineSettings(
            room=room,
            is_shared=bool(self.recipe.joint),
            is_averaged=steps.is_averaged,
            is_pulled=strengths.needs_pulls,
            has_intercept=self.recipe.has_intercept,
            is_intercept_penalized=strengths.is_for_intercept,
            rate=steps.rate,
            power=steps.power,
            l1=strengths.l1,
            l2=strengths.l2,
            l1_growth=strengths.l1_growth,
            l2_growth=strengths.l2_growth,
            prior=self.n_before + (0.0 if is_counted else PRIOR_ROWS),
            intercept_prior=self.n_before + (0.0 if is_intercept_counted else PRIOR_ROWS),
            whole_prior=self.n_before + (0.0 if is_counted else WHOLE_PRIOR_ROWS),
            whole_intercept_prior=self.n_before + (0.0 if is_intercept_counted else WHOLE_PRIOR_ROWS),
        )

    def _new_factors(self, settings: Any) -> FloatArray:
        has_whole = self.recipe.steps.rate == 0 and not self.strengths.needs_pulls
        return np.zeros((settings.n_metrics if has_whole else 0, _core.WHOLE_FACTOR))

    @property
    def arrays(self) -> Any:
        """The same arrays as the core sees them."""
        records = self.records[: self.n_columns]
        return _core.OnlineArrays(records, self.intercept, self.places, self.factors, self.tally)

    # ---- room ---------------------------------------------------------------------------------

    def make_room(self, n_columns: int, n_scores: int) -> None:
        """Room for so many columns and scores; what is new starts at 0."""
        if n_scores > self.room:
            self._widen(max(n_scores, 3 * self.room // 2))
        if n_columns > len(self.records):
            # The first size is taken at its word, later ones grow by a half: many small ones cost little.
            capacity = n_columns if not len(self.records) else max(n_columns, 3 * len(self.records) // 2)
            records = _core.large_zeros(capacity, self.records.shape[1])
            records[: self.n_columns] = self.records[: self.n_columns]
            self.records = records
        self.n_columns = max(self.n_columns, n_columns)

    def _widen(self, room: int) -> None:
        """Records with room for more scores."""
        old, new = self.settings, self._settings(room)
        records, intercept = _core.large_zeros(len(self.records), new.stride), np.zeros(new.stride)
        n_metrics = old.late - self.room
        for before, after in ((self.records, records), (self.intercept, intercept)):
            after[..., : self.room] = before[..., : self.room]
            after[..., room : room + n_metrics] = before[..., self.room : old.late]
            if self.recipe.steps.is_averaged:
                after[..., new.late : new.late + self.room] = before[..., old.late :]
        factors = self._new_factors(new)
        factors[: len(self.factors)] = self.factors
        self.records, self.intercept, self.factors, self.room = records, intercept, factors, room

    # ---- learning and reading -----------------------------------------------------------------

    def learn(
        self, rows: NativeRows, steps: Any, s: FloatArray, order: NDArray[np.int64] | None = None
    ) -> None:
        """Meets rows, for whose columns and scores there is room, in the order of steps and s."""
        _core.online_learn(rows.given, steps, s, self.settings, self.arrays, order)
        raise_if_over()

    def learn_texts(self, texts: _core.HashedTexts, steps: Any, s: FloatArray) -> None:
        """Meets texts as they are hashed; any number of threads gives the same bits."""
        _core.online_learn_texts(texts, steps, s, self.settings, self.arrays)
        raise_if_over()

    def scores(self, rows: NativeRows) -> FloatArray:
        """(n, n_scores); columns that were never met count nothing."""
        Z = np.empty((rows.n_rows, self.n_scores))
        _core.online_scores(rows.given, self.settings, self.arrays, Z)
        return Z

    def weights(self) -> tuple[FloatArray, FloatArray]:
        """(n_scores, n_columns) weights and (n_scores,) intercepts, as predictions are made with them."""
        strengths = self.strengths
        W = self._kept(self.records[: self.n_columns], is_penalized=True)
        return W.T, self._kept(self.intercept, is_penalized=strengths.is_for_intercept)

    def _kept(self, records: FloatArray, *, is_penalized: bool) -> FloatArray:
        n, strengths, weight = self.n_scores, self.strengths, self.total("weight")
        w: FloatArray = records[..., :n].copy()
        if strengths.needs_pulls:
            l1 = (strengths.l1 + strengths.l1_growth * weight) if is_penalized else 0.0
            l2 = (strengths.l2 + strengths.l2_growth * weight) if is_penalized else 0.0
            metric = records[..., self.room : self.room + (1 if self.recipe.joint else n)] + l2
            w = np.sign(w) * np.maximum(np.abs(w) - l1, 0.0)
            w = np.divide(w, metric, out=np.zeros_like(w), where=metric > 0)
        if self.recipe.steps.is_averaged and self.total("rows") > 0:
            late = self.settings.late
            w -= records[..., late : late + n] / self.total("rows")
        return w

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"records": self.records[: self.n_columns]}  # without the room for more

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays may come as read-only maps of a file.
        for name, value in state.items():
            is_fixed = isinstance(value, np.ndarray) and not value.flags.writeable
            self.__dict__[name] = np.array(value) if is_fixed else value
