"""The margin of a classifier of two columns: three lines or curves, and the points that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import ParameterError
from lineal.objective.losses import FloatArray

# A fit is exact to its tolerance: a point this near the line, in units of the score, is on it.
_ON_THE_LINE = 1e-3


@dataclass(frozen=True, eq=False)
class Margin:
    """Where w . x + b is -level, 0 and level.

    Attributes
    ----------
    w : (2,) array
    b : float
    level : float
        1, or the ``margin`` of the model's loss.
    is_support : (n,) array
        Which points are support vectors: those whose dual variable is not 0 where the model keeps them, else
        those on the lines or on the wrong side of theirs, y z <= level.
    """

    w: FloatArray
    b: float
    level: float
    is_support: NDArray[np.bool_]

    @property
    def width(self) -> float:
        """The distance of the two lines, 2 level / ||w||; infinite where w is 0."""
        size = float(np.linalg.norm(self.w))
        return 2 * self.level / size if size > 0 else np.inf

    def line(self, score: float, x: tuple[float, float], y: tuple[float, float]) -> FloatArray:
        """(2, 2) the two ends of the line w . x + b = score within a window, or (0, 2) where it misses it."""
        if not self.w.any():
            return np.empty((0, 2))
        # Along the line from its point nearest the origin: each side of the window bounds how far.
        nearest = (score - self.b) * self.w / (self.w @ self.w)
        along = np.array([-self.w[1], self.w[0]]) / np.linalg.norm(self.w)
        low, high = -np.inf, np.inf
        for start, step, (least, most) in zip(nearest, along, (x, y), strict=True):
            if step == 0:
                if not least <= start <= most:
                    return np.empty((0, 2))
                continue
            bounds = sorted(((least - start) / step, (most - start) / step))
            low, high = max(low, bounds[0]), min(high, bounds[1])
        return nearest + np.outer([low, high], along) if low < high else np.empty((0, 2))

    def __str__(self) -> str:
        n = len(self.is_support)
        return f"{int(self.is_support.sum())} of {n} points are support vectors, margin {self.width:.4g} wide"


@dataclass(frozen=True, eq=False)
class CurvedMargin:
    """Where the score of a machine with a kernel is -level, 0 and level.

    Attributes
    ----------
    scores : (n_points, n_points) array
        Over the places of the picture, a row for each y.
    level : float
    is_support : (n,) array
        Which points are support vectors: those whose coefficient is not 0.
    """

    scores: FloatArray
    level: float
    is_support: NDArray[np.bool_]

    def __str__(self) -> str:
        return f"{int(self.is_support.sum())} of {len(self.is_support)} points are support vectors"


def margin_of(
    name: str, model: Any, points: FloatArray, codes: NDArray[np.intp], places: FloatArray
) -> Margin | CurvedMargin:
    """The margin of a fitted model; of one with a kernel over a square of places."""
    classes = getattr(model, "classes_", ())
    support = getattr(model, "support_", None)
    if len(classes) == 2 and support is not None and hasattr(model, "decision_function"):
        n = round(np.sqrt(len(places)))
        is_support = np.zeros(len(points), dtype=np.bool_)
        is_support[np.asarray(support)] = True
        return CurvedMargin(np.asarray(model.decision_function(places)).reshape(n, n), 1.0, is_support)
    coef = np.asarray(getattr(model, "coef_", np.empty(0)), dtype=np.float64).ravel()
    if len(classes) != 2 or len(coef) != 2:
        raise ParameterError(
            "margins=True needs linear classifiers of two classes, whose score is w . x + b, or machines "
            f"with support vectors; {name!r} has "
            f"{len(classes)} classes and {len(coef)} weights. Leave margins=False."
        )
    b = float(np.ravel(model.intercept_)[0])
    level = float(getattr(getattr(model, "loss", None), "margin", 1.0))
    dual = getattr(model, "dual_", None)
    if dual is not None and np.shape(dual)[:1] == (len(points),):
        is_support = np.any(np.reshape(dual, (len(points), -1)) != 0, axis=1)
    else:
        slack = np.where(codes == 1, 1.0, -1.0) * (points @ coef + b) - level
        is_support = slack <= _ON_THE_LINE
    return Margin(coef, b, level, np.asarray(is_support))
