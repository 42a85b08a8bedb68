"""What regressors of one column learnt: their curves through the points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.objective.losses import FloatArray
from lineal.plot.choice import whole
from lineal.plot.learned import Learners, fitted, plane, spanned
from lineal.plot.regression_curves_picture import draw


def regression_curves(
    learners: Learners, X: Any, y: ArrayLike, *, n_points: int = 1001, sample_weight: ArrayLike | None = None
) -> RegressionCurves:
    """Fits regressors to one column and follows their predictions along it.

    Parameters
    ----------
    learners : a regressor, or a dict of names to regressors
        Copies of them are fitted.
    X, y, sample_weight
        The training data: one column, one target.
    n_points : int
        At how many places each curve is asked for, evenly from a little below the least x to a little above
        the greatest.

    Returns
    -------
    RegressionCurves

    Examples
    --------
    >>> from lineal import KNeighborsRegressor
    >>> from lineal.plot import regression_curves
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> print(regression_curves({f"k = {k}": KNeighborsRegressor(k) for k in (1, 3)}, X, y))
    4 points
    curve  jumps up to  mean squared error on the points
    k = 1            5                                 0
    k = 3            3                           5.61111
    """
    n_points = max(whole("regression_curves", "n_points", n_points), 2)
    points = plane("regression_curves", X, 1)
    models = fitted("regression_curves", learners, points, y, sample_weight)
    x = spanned(points[:, 0], n_points, 0.04)
    curves = {name: np.asarray(model.predict(x[:, None])) for name, model in models.items()}
    at_points = {name: np.asarray(model.predict(points)) for name, model in models.items()}
    targets = np.asarray(y, dtype=np.float64).reshape(-1)
    return RegressionCurves(x, curves, points[:, 0], targets, at_points)


@dataclass(frozen=True, eq=False)
class RegressionCurves:
    """Curves and the points that they were learnt from; ``print`` compares them.

    Attributes
    ----------
    x : (n_points,) places
    curves : dict of names to (n_points,) predictions
    data_x, data_y : the training points
    at_points : dict of names to predictions there
    """

    x: FloatArray
    curves: dict[str, FloatArray]
    data_x: FloatArray
    data_y: FloatArray
    at_points: dict[str, FloatArray]

    def largest_jump(self, name: str) -> float:
        """The greatest difference between neighbouring places of a curve."""
        return float(np.abs(np.diff(self.curves[name])).max())

    def error(self, name: str) -> float:
        """The mean squared error on the training points."""
        return float(np.mean((self.at_points[name] - self.data_y) ** 2))

    def __str__(self) -> str:
        width = max(5, *(len(name) for name in self.curves))
        lines = [
            f"{len(self.data_x)} points",
            f"{'curve':<{width}}  jumps up to  mean squared error on the points",
        ]
        rows = [(name, self.largest_jump(name), self.error(name)) for name in self.curves]
        lines += [f"{name:<{width}}  {jump:>11.6g}  {error:>32.6g}" for name, jump, error in rows]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> list[Any]:
        """Draws a panel for each curve, or all of them on one ``ax``; returns the axes."""
        return draw(self, ax)
