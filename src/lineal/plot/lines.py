"""Regressions of one column side by side: which lines outliers pull."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_regressor

from lineal.errors import InputError, ParameterError
from lineal.learners.targets import numbers_of_rows
from lineal.objective.losses import FloatArray
from lineal.plot.lines_picture import draw


def compare_lines(
    learners: Mapping[str, Any], x: ArrayLike, y: ArrayLike, *, truth: tuple[float, float] | None = None
) -> LineComparison:
    """Fits several regressions of one column to the same points.

    Parameters
    ----------
    learners : dict of label to LinearRegressor or preset
        They are copied, not changed.
    x, y : n numbers each
    truth : (slope, intercept), optional
        The line the points come from.

    Returns
    -------
    LineComparison

    Examples
    --------
    >>> from lineal import LinearRegression, LinearRegressor
    >>> from lineal.objective import Absolute, NoPenalty
    >>> from lineal.plot import compare_lines
    >>> learners = {"squares": LinearRegression(), "absolute": LinearRegressor(Absolute(), NoPenalty())}
    >>> result = compare_lines(learners, range(6), [0.0, 1.0, 2.0, 3.0, 4.0, 50.0], truth=(1.0, 0.0))
    >>> result.nearest()
    'absolute'
    """
    if not learners or not all(is_regressor(learner) for learner in learners.values()):
        raise ParameterError(f"compare_lines needs a dict of labels to regressors, got {learners!r}.")
    column = np.asarray(x, dtype=np.float64)
    if column.ndim != 1 or len(column) < 2 or not np.isfinite(column).all():
        raise InputError(f"compare_lines needs x as two or more finite numbers, got shape {column.shape}.")
    targets = numbers_of_rows(y, len(column), "compare_lines")
    fitted = {label: clone(learner).fit(column[:, None], targets) for label, learner in learners.items()}
    lines = {label: (float(m.coef_[0]), float(m.intercept_)) for label, m in fitted.items()}
    return LineComparison(column, targets, lines, truth)


@dataclass(frozen=True, eq=False)
class LineComparison:
    """Lines through the same points; ``print`` shows how far each is from the truth and from the points.

    Attributes
    ----------
    x, y : arrays
    lines : dict of label to (slope, intercept)
    truth : (slope, intercept) or None
    """

    x: FloatArray
    y: FloatArray
    lines: dict[str, tuple[float, float]]
    truth: tuple[float, float] | None

    def distance(self, label: str) -> float:
        """The root of the mean squared distance from the true line, over the points' x."""
        if self.truth is None:
            raise ParameterError("distances need the true line: pass truth=(slope, intercept).")
        slope, intercept = np.subtract(self.lines[label], self.truth)
        return float(np.sqrt(np.mean((slope * self.x + intercept) ** 2)))

    def nearest(self) -> str:
        """Whose line is nearest to the truth."""
        return min(self.lines, key=self.distance)

    def median_error(self, label: str) -> float:
        """Half of the points are nearer to the line than this."""
        slope, intercept = self.lines[label]
        return float(np.median(np.abs(self.y - slope * self.x - intercept)))

    def __repr__(self) -> str:
        return f"<LineComparison: {', '.join(self.lines)}>"

    def __str__(self) -> str:
        width = max(12, *(len(label) for label in self.lines))
        far = "  from the truth" if self.truth is not None else ""
        rows = [f"{'':{width}}     slope  intercept  median error{far}"]
        for label, (slope, intercept) in self.lines.items():
            end = f"  {self.distance(label):14.4g}" if self.truth is not None else ""
            rows.append(
                f"{label:{width}}  {slope:8.4g}  {intercept:9.4g}  {self.median_error(label):12.4g}{end}"
            )
        if self.truth is not None:
            rows.append(f"{'truth':{width}}  {self.truth[0]:8.4g}  {self.truth[1]:9.4g}")
        return "\n".join(rows)

    def plot(self, ax: Any = None) -> list[Any]:
        """Draws the points and the lines, each with its name.

        Parameters
        ----------
        ax : axes, optional

        Returns
        -------
        list of axes
        """
        return draw(self, ax)
