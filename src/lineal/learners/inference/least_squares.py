"""What least squares can say about its own coefficients: standard errors, tests and intervals.

The model is y = b + x.w + noise, the noise of mean 0 and variance sigma^2, the same for all rows and
independent; the t and F distributions also need it to be Gaussian, or rows enough. Everything comes from the
singular values of the centred and scaled columns, never from X'X, so ill-conditioned designs keep their
digits. What the data cannot tell is said: a coefficient that collinear columns leave free has no value and no
interval. Costs n d^2 operations and a dense copy of X.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.errors import InputError, ParameterError
from lineal.learners.inference.design import SEEN, Design
from lineal.learners.inference.summary import LeastSquaresSummary, checked_level
from lineal.learners.model import Task
from lineal.learners.regressor import BaseLinearRegressor
from lineal.learners.targets import weights_of_rows
from lineal.objective import NoPenalty, Squared
from lineal.objective.losses import FloatArray
from lineal.protocol import check_is_fitted

# The sum of squares of a model, beyond the least, that is still the same model: its tolerance is on that sum.
_SAME = 1e-3


def least_squares_summary(
    model: BaseLinearRegressor,
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: str = "counts",
    errors: str = "classical",
    level: float = 0.95,
) -> LeastSquaresSummary:
    """Standard errors, t, p and intervals for the coefficients of a least-squares fit.

    Parameters
    ----------
    model : LinearRegression, or a LinearRegressor with Squared() and NoPenalty()
        Fitted to the data that follow, with one target. It says whether there is an intercept and how the
        columns are called; a penalised model is refused, because its coefficients are biased.
    X, y, sample_weight
        The training data.
    weights : "counts" or "precisions"
        What sample_weight means: how many rows one stands for, as everywhere in this library, or the inverse
        of its noise's variance, up to a factor. The coefficients are the same, the standard errors not.
    errors : "classical" or "HC3"
        HC3 (MacKinnon and White 1985) does not need the noise to have the same variance in all rows.
    level : float
        The share of intervals that hold the truth, between 0 and 1.

    Returns
    -------
    LeastSquaresSummary

    Examples
    --------
    >>> from lineal import LinearRegression, least_squares_summary
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0]], [1.1, 2.3, 2.8, 4.2, 4.9]
    >>> summary = least_squares_summary(LinearRegression().fit(X, y), X, y)
    >>> print(summary)
                 coefficient  std. error        t         p     95 % interval
    intercept           0.21      0.2322     0.90     0.432     -0.5288 .. 0.9488
    x0                  0.95        0.07    13.57  0.000865      0.7272 .. 1.173
    <BLANKLINE>
    5 rows, 3 degrees of freedom, sigma 0.2214, R² 0.984 (adjusted 0.9786), F 184.2 (p 0.000865)
    """
    if weights not in ("counts", "precisions"):
        raise ParameterError(f"weights must be 'counts' or 'precisions', got {weights!r}.")
    if errors not in ("classical", "HC3"):
        raise ParameterError(f"errors must be 'classical' or 'HC3', got {errors!r}.")
    level = checked_level(level)
    task = _posed(model, X, y, sample_weight)
    design = Design.of(task, weights, _dense(model, X))
    summary = _summary(design, _names(model, design), weights, errors, level)
    _refuse_another_model(model, design, summary)
    return summary


def _posed(model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Task:
    """The data, checked as ``fit`` checks them."""
    if not isinstance(model, BaseLinearRegressor):
        raise ParameterError(
            f"least_squares_summary needs a fitted LinearRegression, got {type(model).__name__}."
        )
    check_is_fitted(model)
    loss, penalty = model._objective(1.0, 0)
    if not isinstance(loss, Squared) or not isinstance(penalty, NoPenalty):
        raise ParameterError(
            f"least_squares_summary needs Squared() without a penalty, got {loss!r} with {penalty!r}: "
            "these formulas do not hold there. Fit a LinearRegression, or resample rows."
        )
    rows = model._rows(X, reset=False)
    targets = model._targets(y, rows.n_rows)
    if targets.ndim != 1:
        raise InputError(f"least_squares_summary takes one target at a time, got y of shape {targets.shape}.")
    s = weights_of_rows(sample_weight, rows.n_rows)
    return Task(model._pose(rows, targets[:, None], s), targets, s)


def _dense(model: BaseLinearRegressor, X: Any) -> FloatArray:
    array = model._read(X, reset=False)
    return np.asarray(array.toarray() if hasattr(array, "toarray") else array, dtype=np.float64)


def _names(model: BaseLinearRegressor, design: Design) -> list[str]:
    columns = getattr(model, "feature_names_in_", [f"x{j}" for j in range(design.n_columns)])
    return [*(["intercept"] if design.has_intercept else []), *(str(name) for name in columns)]


def _refuse_another_model(model: BaseLinearRegressor, design: Design, summary: LeastSquaresSummary) -> None:
    """The coefficients told are those of least squares; a model with others was fitted to other data."""
    fitted = design.X @ np.ravel(model.coef_) + model.intercept_
    theirs, least = float(design.s @ (design.y - fitted) ** 2), float(design.s @ summary.residuals**2)
    if theirs > least * (1 + _SAME) + 1e-9 * float(design.s @ design.y**2):
        raise InputError(
            f"the model's squared errors on these rows are {theirs:.6g}, but {least:.6g} is the least: it "
            "was fitted to other data, other weights or with a loose tol. Pass what fit was given."
        )


def _summary(
    design: Design, names: list[str], weights: str, errors: str, level: float
) -> LeastSquaresSummary:
    s, has_intercept = design.s, design.has_intercept
    freedom = design.n_counted - design.rank - has_intercept
    if not freedom > 0:
        raise InputError(
            f"{design.n_counted:g} rows for {design.rank + has_intercept} coefficients leave nothing to "
            "estimate the noise from. More rows are needed, or fewer columns."
        )
    level_of_y = float(np.average(design.y, weights=s)) if has_intercept else 0.0
    T = design.coordinates(design.X)
    theta = T.T @ (s * (design.y - level_of_y))
    residuals = design.y - level_of_y - T @ theta
    left, whole = float(s @ residuals**2), float(s @ (design.y - level_of_y) ** 2)
    sigma = np.sqrt(left / freedom)
    covariance = sigma**2 * np.eye(design.rank + has_intercept)
    if errors == "HC3":
        covariance = _hc3(np.column_stack([T, np.full(len(T), s.sum() ** -0.5)][: 1 + has_intercept]),
                          s, residuals, weights)  # fmt: skip
    return LeastSquaresSummary(
        names, *_coefficients(design, theta, level_of_y, covariance), sigma=float(sigma),
        degrees_of_freedom=float(freedom), r_squared=_share(whole - left, whole),
        adjusted_r_squared=1 - _share(left, whole) * (design.n_counted - has_intercept) / freedom,
        f=_wald(theta, covariance), n_slopes=design.rank, n_rows=design.n_counted, residuals=residuals,
        level=level, errors=errors, _design=design, _theta=theta, _level_of_y=level_of_y,
        _covariance=covariance,
    )  # fmt: skip


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")


def _wald(theta: FloatArray, covariance: FloatArray) -> float:
    """F: that all slopes are 0."""
    r = len(theta)
    if r == 0:
        return float("nan")
    with np.errstate(divide="ignore"):
        try:
            return float(theta @ np.linalg.solve(covariance[:r, :r], theta)) / r
        except np.linalg.LinAlgError:  # no noise at all
            return float("inf")


def _hc3(T: FloatArray, s: FloatArray, residuals: FloatArray, weights: str) -> FloatArray:
    """sum_i t_i t_i' r_i^2 / (1 - h_i)^2 in coordinates whose weighted Gram matrix is the identity."""
    squares = np.einsum("ij,ij->i", T, T)
    # A count of 3 is three rows with a leverage each; a precision of 3 is one row, three times as sure.
    leverage = squares if weights == "counts" else s * squares
    times = s if weights == "counts" else s * s
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = times * (residuals / np.maximum(1 - leverage, 1e-12)) ** 2
    return np.asarray((T * factor[:, None]).T @ T)


def _coefficients(
    design: Design, theta: FloatArray, level_of_y: float, covariance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coefficients and standard errors, the intercept first; NaN where the data do not tell."""
    r = design.rank
    maps = design.axes / design.size[:, None]
    slopes = maps @ theta
    rows = maps
    is_seen = np.linalg.norm(design.unseen, axis=1) <= SEEN
    if design.has_intercept:
        constant = np.append(-design.mean @ maps, design.s.sum() ** -0.5)
        slopes = np.append(level_of_y - design.mean @ slopes, slopes)
        rows = np.vstack([constant, np.column_stack([maps, np.zeros(len(maps))])])
        is_seen = np.append(design.is_seen(np.zeros((1, design.n_columns))), is_seen)
    variances = np.einsum("ij,jk,ik->i", rows[:, : r + 1], covariance, rows[:, : r + 1])
    errors = np.sqrt(np.maximum(variances, 0.0))
    return np.where(is_seen, slopes, np.nan), np.where(is_seen, errors, np.nan)
