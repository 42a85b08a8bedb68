"""What classifiers of two columns learnt: which class they give to every place of the plane."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.data.targets import plain_array
from lineal.objective.losses import FloatArray
from lineal.plot.choice import whole
from lineal.plot.learned import Learners, fitted, plane, spanned
from lineal.plot.margins import CurvedMargin, Margin, margin_of
from lineal.plot.regions_picture import draw


def decision_regions(
    learners: Learners,
    X: Any,
    y: ArrayLike,
    *,
    n_points: int = 401,
    sample_weight: ArrayLike | None = None,
    margins: bool = False,
) -> DecisionRegions:
    """Fits classifiers to two columns and asks them for the class of every place around the points.

    Parameters
    ----------
    learners : a classifier, or a dict of names to classifiers
        Copies of them are fitted.
    X, y, sample_weight
        The training data: two columns, labels.
    n_points : int
        Places along each axis.
    margins : bool
        Also where the score is -1, 0 and 1, and which points are support vectors. It takes linear classifiers
        and machines with kernels, of two classes.

    Returns
    -------
    DecisionRegions

    Examples
    --------
    >>> from lineal import KNeighborsClassifier
    >>> from lineal.plot import decision_regions
    >>> corners = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> print(decision_regions(KNeighborsClassifier(1), corners, ["a", "a", "a", "b"], n_points=101))
    4 points, classes a, b
    regions               right on the points  share of a  share of b
    KNeighborsClassifier               100.0%       74.5%       25.5%
    """
    n_points = max(whole("decision_regions", "n_points", n_points), 2)
    points = plane("decision_regions", X, 2)
    models = fitted("decision_regions", learners, points, y, sample_weight)
    axes = [spanned(points[:, j], n_points, 0.08) for j in (0, 1)]
    places = np.stack([each.ravel() for each in np.meshgrid(*axes)], axis=1)
    classes = next(iter(models.values())).classes_
    labels = plain_array(y)
    codes = np.array([classes.tolist().index(label) for label in labels.tolist()])
    margin = (
        {name: margin_of(name, model, points, codes, places) for name, model in models.items()}
        if margins
        else {}
    )
    regions, right = {}, {}
    for name, model in models.items():
        place = {label: code for code, label in enumerate(classes.tolist())}
        found = np.array([place[label] for label in model.predict(places).tolist()])
        regions[name] = found.reshape(n_points, n_points)
        right[name] = float(np.mean(model.predict(points) == labels))
    return DecisionRegions(axes[0], axes[1], regions, classes, points, codes, right, margin)


@dataclass(frozen=True, eq=False)
class DecisionRegions:
    """Classes over a grid of places; ``print`` says how much of it each class has.

    Attributes
    ----------
    x, y : (n_points,) places along the axes
    regions : dict of names to (n_points, n_points) places in ``classes``, a row for each y
    classes : the labels
    points, codes : the training points and the places of their labels in ``classes``
    right : dict of names to the share of training points that get their own label
    margins : dict of names to Margin, or CurvedMargin of a machine with a kernel
        Empty unless they were asked for.
    """

    x: FloatArray
    y: FloatArray
    regions: dict[str, NDArray[np.intp]]
    classes: NDArray[Any]
    points: FloatArray
    codes: NDArray[np.intp]
    right: dict[str, float]
    margins: dict[str, Margin | CurvedMargin] = field(default_factory=dict)

    def shares(self, name: str) -> FloatArray:
        """The share of the places that each class has."""
        return np.bincount(self.regions[name].ravel(), minlength=len(self.classes)) / self.regions[name].size

    def __str__(self) -> str:
        width = max(7, *(len(name) for name in self.regions))
        titles = [f"share of {label}" for label in self.classes.tolist()]
        lines = [
            f"{len(self.points)} points, classes {', '.join(str(label) for label in self.classes.tolist())}"
        ]
        lines.append("  ".join([f"{'regions':<{width}}", "right on the points", *titles]))
        for name in self.regions:
            shares = [f"{share:>{len(t)}.1%}" for t, share in zip(titles, self.shares(name), strict=True)]
            lines.append("  ".join([f"{name:<{width}}", f"{self.right[name]:>19.1%}", *shares]))
        lines += [f"{name}: {margin}" for name, margin in self.margins.items()]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> list[Any]:
        """Draws a panel for each classifier, on new axes or on those given; returns the axes."""
        return draw(self, ax)
