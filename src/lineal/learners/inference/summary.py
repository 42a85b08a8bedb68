"""What is said about a least-squares fit."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.deferred import stats
from lineal.errors import InputError, ParameterError
from lineal.learners.inference.design import Design
from lineal.objective.losses import FloatArray


def checked_level(level: Any) -> float:
    """A share between 0 and 1."""
    if not (isinstance(level, numbers.Real) and 0 < float(level) < 1):
        raise ParameterError(f"level must be a number between 0 and 1, such as 0.95, got {level!r}.")
    return float(level)


@dataclass(frozen=True)
class Band:
    """Fitted values for rows, with an interval for each: ``fit``, ``lower``, ``upper``, all (n,)."""

    fit: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, eq=False)
class LeastSquaresSummary:
    """Coefficients with their uncertainty; ``print`` shows a table, ``table()`` gives its columns.

    Attributes
    ----------
    names : list of str
        "intercept" first, if there is one.
    coefficients, standard_errors : arrays
        NaN where collinear columns leave a coefficient free; ``unidentified`` lists those.
    sigma : float
        The deviation of the noise, of a row of weight 1.
    degrees_of_freedom : float
        Rows less coefficients that the data determine.
    r_squared, adjusted_r_squared : float
        Of the variation around the mean, or around 0 without an intercept.
    f : float
        That all slopes are 0, with ``n_slopes`` and ``degrees_of_freedom``.
    n_rows : float
        By weight if weights are counts.
    residuals : array
        Of the rows with weight.
    level, errors : as asked for
    """

    names: list[str]
    coefficients: FloatArray
    standard_errors: FloatArray
    sigma: float
    degrees_of_freedom: float
    r_squared: float
    adjusted_r_squared: float
    f: float
    n_slopes: int
    n_rows: float
    residuals: FloatArray
    level: float
    errors: str
    _design: Design = field(repr=False)
    _theta: FloatArray = field(repr=False)
    _level_of_y: float = field(repr=False)
    _covariance: FloatArray = field(repr=False)

    @property
    def t(self) -> FloatArray:
        """Coefficients in standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.coefficients / self.standard_errors

    @property
    def p(self) -> FloatArray:
        """How often noise alone would give a t as large in size."""
        return np.asarray(2 * stats.t.sf(np.abs(self.t), self.degrees_of_freedom))

    @property
    def f_p(self) -> float:
        """How often noise alone would give an F as large."""
        return float(stats.f.sf(self.f, self.n_slopes, self.degrees_of_freedom))

    @property
    def intervals(self) -> FloatArray:
        """(p, 2) the lower and the upper end for each coefficient."""
        reach = self._reach(self.level) * self.standard_errors
        return np.column_stack([self.coefficients - reach, self.coefficients + reach])

    @property
    def unidentified(self) -> list[str]:
        """Coefficients that the data leave free: other values of them fit as well."""
        return [name for name, value in zip(self.names, self.coefficients, strict=True) if np.isnan(value)]

    def _reach(self, level: float) -> float:
        return float(stats.t.ppf(0.5 + level / 2, self.degrees_of_freedom))

    def predict(self, X: ArrayLike, *, of: str = "mean", level: float | None = None) -> Band:
        """Fitted values at other rows, with intervals.

        Parameters
        ----------
        X : (n, d) numbers
        of : "mean" or "new"
            The interval of the line itself, or of a new observation of weight 1, whose noise comes on top.
        level : float, optional
            That of the summary if not given.

        Returns
        -------
        Band
            NaN for rows in directions that the data did not see.
        """
        if of not in ("mean", "new"):
            raise ParameterError(f"of must be 'mean' or 'new', got {of!r}.")
        level = self.level if level is None else checked_level(level)
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self._design.n_columns or not np.isfinite(rows).all():
            raise InputError(
                f"X must be finite numbers in {self._design.n_columns} columns, got shape {rows.shape}."
            )
        T = self._design.coordinates(rows)
        fit = self._level_of_y + T @ self._theta
        if self._design.has_intercept:
            T = np.column_stack([T, np.full(len(T), self._design.s.sum() ** -0.5)])
        variance = np.einsum("ij,jk,ik->i", T, self._covariance, T) + (self.sigma**2 if of == "new" else 0.0)
        is_seen = self._design.is_seen(rows)
        fit = np.where(is_seen, fit, np.nan)
        reach = self._reach(level) * np.sqrt(np.maximum(variance, 0.0))
        return Band(fit, fit - reach, fit + reach)

    def table(self) -> dict[str, list[Any]]:
        """Columns by name, a number for each coefficient: what a data frame can be made from."""
        lower, upper = self.intervals.T.tolist()
        return {
            "name": list(self.names),
            "coefficient": self.coefficients.tolist(),
            "standard_error": self.standard_errors.tolist(),
            "t": self.t.tolist(),
            "p": self.p.tolist(),
            "lower": lower,
            "upper": upper,
        }

    def __str__(self) -> str:
        width = max(12, *(len(name) for name in self.names))
        interval = f"{100 * self.level:g} % interval"
        lines = [f"{'':{width}} coefficient  std. error        t         p  {interval:>16}"]
        table = self.table()
        for name, value, error, t, p, low, high in zip(*table.values(), strict=True):
            if np.isnan(value):
                lines.append(f"{name:{width}} not identified: collinear columns leave it free")
                continue
            ends = f"{low:10.4g} .. {high:<.4g}"
            lines.append(f"{name:{width}} {value:11.4g}  {error:10.4g}  {t:7.2f}  {p:8.3g}  {ends}")
        return "\n".join([*lines, "", self._closing()])

    def _closing(self) -> str:
        robust = ", HC3 standard errors" if self.errors == "HC3" else ""
        return (
            f"{self.n_rows:g} rows, {self.degrees_of_freedom:g} degrees of freedom, sigma {self.sigma:.4g}, "
            f"R² {self.r_squared:.4g} (adjusted {self.adjusted_r_squared:.4g}), "
            f"F {self.f:.4g} (p {self.f_p:.3g}){robust}"
        )
