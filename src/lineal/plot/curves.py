"""Curves that fit too little, well and too much: by degree, and by the strength of a penalty."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.errors import InputError, ParameterError, PrecisionWarning
from lineal.learners.curve import PolynomialRegression
from lineal.learners.targets import numbers_of_rows
from lineal.objective.losses import FloatArray
from lineal.plot.choice import whole
from lineal.plot.curves_picture import draw

_DEGREES = (0, 1, 3, 9)
# ln strength, from nothing to everything.
_LOG_STRENGTHS = tuple(range(-40, 6, 1))


def noisy_sine(n_points: int, *, noise: float = 0.3, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """x at equal distances in [0, 1] and sin(2 pi x) with Gaussian noise: what a picture of curves wants.

    Examples
    --------
    >>> from lineal.plot import noisy_sine
    >>> x, y = noisy_sine(5, noise=0.0)
    >>> x, abs(y.round(3))
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0., 1., 0., 1., 0.]))
    """
    n = whole("noisy_sine", "n_points", n_points)
    x = np.linspace(0.0, 1.0, n)
    return x, np.sin(2 * np.pi * x) + noise * np.random.default_rng(seed).normal(size=n)


def compare_curves(
    x: ArrayLike,
    y: ArrayLike,
    x_test: ArrayLike,
    y_test: ArrayLike,
    *,
    degrees: Sequence[int] = _DEGREES,
    truth: Callable[[FloatArray], FloatArray] | None = None,
) -> CurveComparison:
    """Polynomials of several degrees, and the highest one under penalties, on training and test points.

    Parameters
    ----------
    x, y : n numbers each
        The training points.
    x_test, y_test : numbers
        Points to measure errors on that no fit has seen.
    degrees : whole numbers
        The curves to draw; errors are computed for every degree up to the largest.
    truth : function of x, optional
        Where the points come from, to be drawn too.

    Returns
    -------
    CurveComparison

    Examples
    --------
    >>> from lineal.plot import compare_curves, noisy_sine
    >>> result = compare_curves(*noisy_sine(10), *noisy_sine(100, seed=1))
    >>> result.best_degree in (3, 4, 5, 6)
    True
    >>> bool(result.train_by_degree[9] < 1e-12 < result.test_by_degree[3] < result.test_by_degree[9])
    True
    """
    for degree in degrees:
        PolynomialRegression(degree)._check_options()
    wanted = sorted({int(degree) for degree in degrees})
    if not wanted:
        raise ParameterError("compare_curves needs at least one degree.")
    train, test = _points(x, y), _points(x_test, y_test)
    if wanted[-1] >= len(np.unique(train[0])):
        raise InputError(
            f"degree {wanted[-1]} needs more than {wanted[-1]} different x, got {len(np.unique(train[0]))}."
        )
    by_degree = [_fitted(train, degree, 0.0) for degree in range(wanted[-1] + 1)]
    strengths = np.exp(np.array(_LOG_STRENGTHS, dtype=np.float64))
    by_strength = [_fitted(train, wanted[-1], float(strength)) for strength in strengths]
    return CurveComparison(
        *train,
        tuple(wanted),
        tuple(by_degree),
        strengths,
        tuple(by_strength),
        train_by_degree=_errors(by_degree, train),
        test_by_degree=_errors(by_degree, test),
        train_by_strength=_errors(by_strength, train),
        test_by_strength=_errors(by_strength, test),
        truth=truth,
    )


def _points(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    column = np.asarray(x, dtype=np.float64)
    if column.ndim != 1 or not len(column) or not np.isfinite(column).all():
        raise InputError(f"compare_curves needs x as finite numbers in one row, got shape {column.shape}.")
    return column, numbers_of_rows(y, len(column), "compare_curves")


def _fitted(points: tuple[FloatArray, FloatArray], degree: int, strength: float) -> PolynomialRegression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)  # curves are drawn, coefficients are not told
        model = PolynomialRegression(degree, strength, scaled=True)
        return model.fit(points[0][:, None], points[1])


def _errors(models: Sequence[PolynomialRegression], points: tuple[FloatArray, FloatArray]) -> FloatArray:
    """The root of each curve's mean squared error."""
    x, y = points
    return np.array([np.sqrt(np.mean((model.predict(x[:, None]) - y) ** 2)) for model in models])


@dataclass(frozen=True, eq=False)
class CurveComparison:
    """Curves by degree and by strength, with their errors; ``print`` shows them as a table.

    Attributes
    ----------
    x, y : arrays
        The training points.
    degrees : tuple of ints
        Those to draw.
    by_degree : tuple of PolynomialRegression
        Of degree 0, 1, ... without a penalty.
    strengths : array
    by_strength : tuple of PolynomialRegression
        Of the highest degree, the penalty being on coefficients of powers of x brought to [-1, 1].
    train_by_degree, test_by_degree, train_by_strength, test_by_strength : arrays
        Roots of mean squared errors.
    truth : function or None
    """

    x: FloatArray
    y: FloatArray
    degrees: tuple[int, ...]
    by_degree: tuple[PolynomialRegression, ...]
    strengths: FloatArray
    by_strength: tuple[PolynomialRegression, ...]
    train_by_degree: FloatArray
    test_by_degree: FloatArray
    train_by_strength: FloatArray
    test_by_strength: FloatArray
    truth: Callable[[FloatArray], FloatArray] | None

    @property
    def best_degree(self) -> int:
        """The degree of least test error."""
        return int(self.test_by_degree.argmin())

    @property
    def best_strength(self) -> float:
        """The strength of least test error, at the highest degree."""
        return float(self.strengths[self.test_by_strength.argmin()])

    def __repr__(self) -> str:
        return f"<CurveComparison: {len(self.x)} points, degrees 0 to {len(self.by_degree) - 1}>"

    def __str__(self) -> str:
        lines = ["degree  ln strength  training error  test error"]
        for degree, (train, test) in enumerate(zip(self.train_by_degree, self.test_by_degree, strict=True)):
            lines.append(f"{degree:6}  {'':11}  {train:14.4g}  {test:10.4g}")
        best = int(self.test_by_strength.argmin())
        lines.append(
            f"{len(self.by_degree) - 1:6}  {np.log(self.strengths[best]):11.1f}  "
            f"{self.train_by_strength[best]:14.4g}  {self.test_by_strength[best]:10.4g}"
        )
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> list[Any]:
        """Draws a panel for each degree, errors by degree, and errors by ln strength.

        Parameters
        ----------
        ax : axes, or a sequence of them, optional
            As many as there are degrees, and two more.

        Returns
        -------
        list of axes
        """
        return draw(self, ax)
