"""Classes from low to high along the score of an ordinal model, and the thresholds between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import ParameterError
from lineal.learners.scenarios.ordinal import OrdinalClassifier, pooled
from lineal.learners.targets import codes_among, labels_of_rows, weights_of_rows
from lineal.objective.losses import FloatArray
from lineal.plot.choice import whole
from lineal.plot.learned import spanned
from lineal.plot.ordinal_axis_picture import draw
from lineal.protocol import check_is_fitted


def ordinal_scores(
    model: OrdinalClassifier,
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_points: int = 400,
) -> OrdinalScores:
    """Where rows of each class lie on the score's axis.

    Parameters
    ----------
    model : OrdinalClassifier
        Fitted.
    X, y, sample_weight
        Rows and their labels: the training data, or others.
    n_points : int
        How many scores the densities are told at.

    Returns
    -------
    OrdinalScores

    Examples
    --------
    >>> from lineal import OrdinalClassifier
    >>> from lineal.plot import ordinal_scores
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [1, 1, 2, 2, 3, 3]
    >>> print(ordinal_scores(OrdinalClassifier(tol=1e-9).fit(X, y), X, y))
    class  rows  median score  right
    1         2        -1.392  100.0%
    2         2         1.492  100.0%
    3         2         4.377  100.0%
    thresholds 0.000, 2.984
    """
    if not isinstance(model, OrdinalClassifier):
        raise ParameterError(f"ordinal_scores shows an OrdinalClassifier, got {type(model).__name__}.")
    check_is_fitted(model)
    z = model.decision_function(X)
    codes = codes_among(model.classes_, labels_of_rows(y, len(z)), "Only classes of the model can be placed.")
    s = weights_of_rows(sample_weight, len(z))
    n_points = max(whole("ordinal_scores", "n_points", n_points), 2)
    x = spanned(np.concatenate([z, model.thresholds_]), n_points, 0.12)
    densities = np.stack([_density(x, z[codes == k], s[codes == k]) for k in range(len(model.classes_))])
    return OrdinalScores(model.classes_, codes, z, s, pooled(model.thresholds_), x, densities / s.sum())


def _density(x: FloatArray, z: FloatArray, s: FloatArray) -> FloatArray:
    """A normal kernel of Silverman's width on each score; it sums to the weight of the class."""
    if not s.any():
        return np.zeros_like(x)
    mean = np.average(z, weights=s)
    deviation = float(np.sqrt(np.average((z - mean) ** 2, weights=s)))
    least = (x[-1] - x[0]) / 200  # scores that are all equal still have a width to be seen by
    width = max(0.9 * deviation * (s.sum() ** 2 / (s @ s)) ** -0.2, least)
    bumps = np.exp(-(((x[:, None] - z) / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi))
    return np.asarray(bumps @ s)


@dataclass(frozen=True, eq=False)
class OrdinalScores:
    """Scores of rows by class; ``print`` says where classes lie and how often they are found.

    Attributes
    ----------
    classes : (K,) labels, from the lowest to the highest
    codes : (n,) the place of each row's class
    scores : (n,)
    weights : (n,)
    thresholds : (K - 1,) where predictions change
    x : (n_points,) scores
    densities : (K, n_points)
        The share of a class times its density there; their integrals sum to 1.
    """

    classes: NDArray[Any]
    codes: NDArray[np.int32]
    scores: FloatArray
    weights: FloatArray
    thresholds: FloatArray
    x: FloatArray
    densities: FloatArray

    @property
    def right(self) -> FloatArray:
        """The share of each class that lies between its thresholds; NaN where it has no rows."""
        found = np.searchsorted(self.thresholds, self.scores, side="right") == self.codes
        with np.errstate(invalid="ignore"):
            return np.asarray(self._sums(self.weights * found) / self._sums(self.weights))

    def _sums(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(self.codes, values, len(self.classes)), dtype=np.float64)

    def __repr__(self) -> str:
        return f"<OrdinalScores of {len(self.scores)} rows in {len(self.classes)} classes>"

    def __str__(self) -> str:
        names = [str(label) for label in self.classes.tolist()]
        width = max(5, *map(len, names))
        lines = [f"{'class':<{width}}  rows  median score  right"]
        for k, (name, right) in enumerate(zip(names, self.right, strict=True)):
            mine = self.scores[self.codes == k]
            middle = f"{np.median(mine):>12.3f}" if len(mine) else f"{'-':>12}"
            lines.append(f"{name:<{width}}  {len(mine):>4}  {middle}  {right:.1%}")
        return "\n".join([*lines, "thresholds " + ", ".join(f"{t:.3f}" for t in self.thresholds)])

    def plot(self, ax: Any = None) -> list[Any]:
        """Densities of the classes along the score, with the thresholds through them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Not given: a new figure.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)
