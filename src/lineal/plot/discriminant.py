"""Classes projected: onto the line that joins their means, onto Fisher's line, and into his space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from lineal.errors import InputError
from lineal.learners.fisher import FisherDiscriminant
from lineal.learners.fisher.crossing import Gaussians, crossing
from lineal.learners.targets import codes_among, labels_of_rows, weights_of_rows
from lineal.objective.losses import FloatArray
from lineal.plot.discriminant_picture import draw


def projections(
    model: FisherDiscriminant, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Projections:
    """Where a fitted discriminant puts rows, and where the line that joins the class means would.

    Parameters
    ----------
    model : FisherDiscriminant
        Fitted, with at least one direction.
    X, y, sample_weight
        Rows and their labels: the training data, or others.

    Returns
    -------
    Projections

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import FisherDiscriminant
    >>> from lineal.plot import projections
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> X = rng.normal(size=(200, 2)) @ [[2.0, 1.9], [0.0, 0.4]] + np.outer(y, [1.0, -0.5])
    >>> result = projections(FisherDiscriminant().fit(X, y), X, y)
    >>> joined, fisher = result.lines
    >>> fisher.criterion > 3 * joined.criterion
    True
    """
    check_is_fitted(model)
    if model.scalings_.shape[1] == 0:
        raise InputError("projections needs classes whose means differ: this model found no direction.")
    rows = model._read(X)
    labels = labels_of_rows(y, rows.n_rows)
    codes = codes_among(model.classes_, labels, "Only classes of the model can be placed.")
    s = weights_of_rows(sample_weight, rows.n_rows)
    if np.count_nonzero(np.bincount(codes, weights=s, minlength=len(model.classes_))) < len(model.classes_):
        raise InputError("projections needs rows of every class of the model.")
    places = rows.dot(model.scalings_) - model._centre @ model.scalings_
    lines: tuple[Line, ...] = ()
    if len(model.classes_) == 2:
        gap = model.means_[1] - model.means_[0]
        odds = float(np.log(model.priors_[1] / model.priors_[0]))
        joined = _line("the line that joins the means", gap, rows.dot(gap[:, None])[:, 0], codes, s, odds)
        w = model.direction_
        lines = joined, _line("Fisher's line", w, rows.dot(w[:, None])[:, 0], codes, s, odds)
    plane = rows.dot(np.eye(2)) if rows.n_columns == 2 else None
    return Projections(model.classes_, codes, s, places, lines, plane)


def _line(
    name: str, w: FloatArray, t: FloatArray, codes: NDArray[np.int32], s: FloatArray, odds: float
) -> Line:
    """Projections in units of the deviation within classes, so that lines can be compared."""
    counts = np.bincount(codes, weights=s)
    means = np.bincount(codes, weights=s * t) / counts
    within = float(s @ (t - means[codes]) ** 2 / s.sum())
    unit = np.sqrt(within) if within > 0 else float(np.ptp(t)) or 1.0
    t, means = t / unit, means / unit
    variances = np.bincount(codes, weights=s * (t - means[codes]) ** 2) / counts
    floor = 1e-12 * max(float(variances.max()), 1e-12)
    low, high = (float(max(v, floor)) for v in variances)
    pair = Gaussians((float(means[0]), float(means[1])), (low, high), odds)
    meet = crossing(pair, t, codes, s)
    wrong = float(s @ ((t >= meet.threshold) != (codes == 1)) / s.sum())
    criterion = float(counts.prod() / counts.sum() ** 2 * (means[1] - means[0]) ** 2) / max(
        float(np.average(variances, weights=counts)), floor
    )
    return Line(name, w / unit, t, pair, meet.threshold, meet.roots, criterion, wrong)


@dataclass(frozen=True, eq=False)
class Line:
    """Two classes on one line.

    Attributes
    ----------
    name : str
    direction : (d,) array
        w, in a length that makes the deviation within classes 1.
    values : (n,) array
        w . x of each row.
    gaussians : Gaussians
        Fitted to the values of the two classes.
    threshold, roots
        Where they meet: the one that decides, and all.
    criterion : float
        w'S_B w / w'S_W w, which Fisher's line makes largest on the data it was fitted to.
    error : float
        The share of rows on the wrong side of the threshold.
    """

    name: str
    direction: FloatArray
    values: FloatArray
    gaussians: Gaussians
    threshold: float
    roots: tuple[float, ...]
    criterion: float
    error: float


@dataclass(frozen=True, eq=False)
class Projections:
    """Rows in the discriminant space, and two classes on two lines; ``print`` compares them.

    Attributes
    ----------
    classes : the labels
    codes, weights : (n,) arrays
        Each row's place among the labels, and its weight.
    places : (n, r) array
        As ``model.transform`` gives them, all directions.
    lines : two of Line, or none with more than two classes
        The line that joins the means, and Fisher's.
    plane : (n, 2) array or None
        The rows themselves, where they have two columns.
    """

    classes: NDArray[Any]
    codes: NDArray[np.int32]
    weights: FloatArray
    places: FloatArray
    lines: tuple[Line, ...]
    plane: FloatArray | None

    def means(self) -> FloatArray:
        """(K, r) class means in the discriminant space."""
        return np.array(
            [
                np.average(self.places[self.codes == k], axis=0, weights=self.weights[self.codes == k])
                for k in range(len(self.classes))
            ]
        )

    def __repr__(self) -> str:
        return f"<Projections: {len(self.codes)} rows, {len(self.classes)} classes>"

    def __str__(self) -> str:
        if self.lines:
            table = [f"{'':30}  between / within  threshold  wrong side"]
            table += [
                f"{line.name:30}  {line.criterion:16.4g}  {line.threshold:9.4g}  {line.error:10.1%}"
                for line in self.lines
            ]
            return "\n".join(table)
        names = "  ".join(f"{f'direction {j + 1}':>11}" for j in range(self.places.shape[1]))
        table = [f"{'mean of':20}  {names}"]
        table += [
            f"{label!s:20}  " + "  ".join(f"{value:11.3f}" for value in mean)
            for label, mean in zip(self.classes.tolist(), self.means(), strict=True)
        ]
        return "\n".join(table)

    def plot(self, ax: Any = None) -> list[Any]:
        """Draws two lines with their Gaussians and thresholds, or K classes in the plane of two directions.

        Parameters
        ----------
        ax : axes, or a sequence of them, optional
            Two classes need two, or three if the rows have two columns; more classes need one.

        Returns
        -------
        list of axes
        """
        return draw(self, ax)
