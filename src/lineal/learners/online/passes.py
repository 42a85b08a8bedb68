"""Options of online learners, and ``fit`` as passes over rows that are all there."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data import checked_rows
from lineal.errors import ParameterError
from lineal.learners.online.model import ONLINE, StreamedModel
from lineal.learners.online.recipe import Recipe, Steps, Strengths
from lineal.learners.reading import SHAPE, read_matrix
from lineal.objective import Loss, NoPenalty, Penalty
from lineal.objective.linear_maps import NativeRows

STEPS = ("adaptive", "constant", "decaying")


class OnlinePasses(StreamedModel):
    """What online learners share beside ``partial_fit``."""

    steps: str = "adaptive"
    rate: float | None = None
    average: bool = False
    epochs: int = 1
    shuffle: bool = True
    fit_intercept: bool = True
    penalize_intercept: bool = False

    def _objective(self) -> tuple[Loss, Penalty]:
        """The loss and the penalty."""
        raise NotImplementedError

    def _joint_name(self, loss: Loss) -> str:
        return ""

    def _recipe(self) -> Recipe:
        _ = self._seed()
        if not (isinstance(self.epochs, numbers.Integral) and self.epochs >= 1):
            raise ParameterError(f"epochs must be a whole number >= 1, got {self.epochs!r}.")
        loss, penalty = self._objective()
        if not isinstance(loss, Loss) or loss.is_joint:
            raise ParameterError(f"loss must be a loss of one score such as Log(), got {loss!r}.")
        if not isinstance(penalty, Penalty):
            raise ParameterError(f"penalty must be a Penalty such as NoPenalty(), got {penalty!r}.")
        penalizes = self.fit_intercept and self.penalize_intercept and not isinstance(penalty, NoPenalty)
        strengths = Strengths.of(penalty, penalty, is_for_intercept=bool(penalizes))
        return Recipe(loss, self._joint_name(loss), strengths, self._steps(), bool(self.fit_intercept))

    def _steps(self) -> Steps:
        if self.steps not in STEPS:
            raise ParameterError(f"steps must be one of {', '.join(STEPS)}, got {self.steps!r}.")
        if self.steps == "adaptive":
            if self.rate is not None:
                raise ParameterError("steps='adaptive' need no rate: leave rate=None, or take other steps.")
            return Steps(is_averaged=bool(self.average))
        rate = 1.0 if self.rate is None else self.rate
        if not isinstance(rate, numbers.Real) or isinstance(rate, bool) or not 0 < rate < np.inf:
            raise ParameterError(f"rate must be a number > 0, got {self.rate!r}.")
        return Steps(float(rate), 0.5 if self.steps == "decaying" else 0.0, bool(self.average))

    def _passes(
        self,
        X: Any,
        learn: Callable[[NativeRows, dict[str, Any], NDArray[np.int64], NDArray[np.int64] | None], object],
    ) -> None:
        """Calls learn(rows, shape, places, order) for every epoch, from nothing on.

        ``places`` are those of the rows that are met, one by one. Rows stay where they are and need not be
        copied: ``order`` is the one that they are to be met in, if it is another.

        Only the first of them tells how well rows are predicted that are new.
        """
        array = read_matrix(self, X, reset=True)
        given = checked_rows(array, 1, getattr(self, "feature_names_in_", None), as_stored=True)
        shape = {name: self.__dict__[name] for name in SHAPE if name in self.__dict__}
        self._forget_stream()
        rng = np.random.default_rng(self._seed())
        honest: dict[str, Any] = {}
        for _ in range(int(self.epochs)):
            places = rng.permutation(given.n_rows) if self.shuffle else np.arange(given.n_rows)
            learn(given, shape, places, places if self.shuffle else None)
            honest = honest or {name: self.__dict__[name] for name in ONLINE if name in self.__dict__}
        self.__dict__.update(honest)
        self.n_iter_ = int(self.epochs)
