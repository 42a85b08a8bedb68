"""The online regressor."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from lineal.errors import ParameterError
from lineal.learners.online.passes import OnlinePasses
from lineal.learners.online.recipe import Recipe
from lineal.learners.online.streamed_regressor import StreamedRegressor
from lineal.learners.targets import numbers_of_rows, require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective import Loss, NoPenalty, Penalty, Squared
from lineal.objective.linear_maps import NativeRows
from lineal.protocol import RegressorMixin


class BaseOnlineRegressor(RegressorMixin, StreamedRegressor, OnlinePasses):
    """Shared by the online regressor and its presets."""

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from nothing on: ``epochs`` passes over the rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : (n_rows,) numbers, or (n_rows, K) for K regressions at once
        sample_weight : sequence of n_rows numbers >= 0, optional
            How often a row's loss counts; rows of weight 0 are not met.

        Returns
        -------
        self
        """
        require_targets(self, y)
        _ = self._recipe()

        def learn(rows: NativeRows, shape: dict[str, Any], places: Any, order: Any) -> None:
            targets = numbers_of_rows(y, len(places), type(self).__name__)
            s = weights_of_rows(sample_weight, len(places))
            self._learn_from(self._begun(), rows, shape, targets[places], s[places], order)

        self._passes(X, learn)
        return self

    def _recipe(self) -> Recipe:
        recipe = super()._recipe()
        if recipe.loss.is_margin:
            raise ParameterError(
                f"{type(self).__name__} needs a regression loss such as Squared(), got {recipe.loss!r}."
            )
        return recipe

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class OnlineRegressor(BaseOnlineRegressor):
    """A linear regressor that learns from a stream: each row is predicted, judged, and learned from.

    The units of the columns do not matter, nor do those of y. Parameters, attributes and costs are those of
    :class:`OnlineClassifier`, with ``Squared()`` as the default loss.

    Examples
    --------
    >>> from lineal import OnlineRegressor
    >>> model = OnlineRegressor()
    >>> for hour in range(500):
    ...     model = model.partial_fit([[hour % 7]], [3.0 * (hour % 7) - 2.0])
    >>> model.coef_.round(2), round(model.intercept_, 2)
    (array([3.]), -2.0)
    """

    def __init__(
        self,
        loss: Loss = Squared(),
        penalty: Penalty = NoPenalty(),
        *,
        steps: str = "adaptive",
        rate: float | None = None,
        average: bool = False,
        epochs: int = 1,
        shuffle: bool = True,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.steps = steps
        self.rate = rate
        self.average = average
        self.epochs = epochs
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.random_state = random_state

    def _objective(self) -> tuple[Loss, Penalty]:
        return self.loss, self.penalty
