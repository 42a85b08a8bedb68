"""One column under Gaussian naive Bayes: the densities of the classes, their posteriors, where they meet."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from lineal.errors import InputError, ParameterError
from lineal.learners.bayes.gaussian import GaussianNB
from lineal.objective.losses import FloatArray
from lineal.plot.choice import whole
from lineal.plot.densities_picture import draw

_WIDTH = 3.5  # standard deviations to either side of the outermost means


def posteriors(model: GaussianNB, column: int | str = 0, *, n_points: int = 400) -> Posteriors:
    """What one column says about the class, as the model believes it.

    Columns are independent within a class, so what one of them says by itself is p(C_k) times its own normal
    density, and the others need not be known.

    Parameters
    ----------
    model : GaussianNB
        Fitted.
    column : int or str
        By place, or by name if the model was fitted on a frame.
    n_points : int
        How many values of x, evenly spread to 3.5 deviations beyond the outermost classes.

    Returns
    -------
    Posteriors

    Examples
    --------
    >>> from lineal import GaussianNB
    >>> from lineal.plot import posteriors
    >>> model = GaussianNB().fit([[1.0], [3.0], [7.0], [9.0]], ["low", "low", "high", "high"])
    >>> print(posteriors(model))
    x0: 'low' below 5, then 'high'
    """
    if not isinstance(model, GaussianNB):
        raise ParameterError(f"posteriors shows a GaussianNB, got {type(model).__name__}.")
    check_is_fitted(model)
    place, name = _place(model, column)
    n_points = whole("posteriors", "n_points", n_points)
    mean, variance = model.theta_[:, place], model.var_[:, place]
    if not (np.isfinite(mean) & np.isfinite(variance) & (variance > 0)).all():
        raise InputError(f"column {name} has a spread beyond float64: scale it first, as ColumnScaler does.")
    deviation = np.sqrt(variance)
    x = np.linspace((mean - _WIDTH * deviation).min(), (mean + _WIDTH * deviation).max(), max(n_points, 2))
    densities = Densities(model.class_log_prior_, mean, variance)
    log_joint = densities(x)
    posterior = np.exp(log_joint - logsumexp(log_joint, axis=0))
    return Posteriors(name, model.classes_, x, np.exp(log_joint), posterior, densities.meetings(), densities)


def _place(model: GaussianNB, column: int | str) -> tuple[int, str]:
    names = getattr(model, "feature_names_in_", np.array([f"x{j}" for j in range(model.n_features_in_)]))
    if isinstance(column, str):
        found = np.flatnonzero(names == column)
        if not len(found):
            raise ParameterError(f"there is no column {column!r}; the model has {', '.join(names[:8])}.")
        return int(found[0]), column
    if not isinstance(column, (int, np.integer)) or not 0 <= column < len(names):
        raise ParameterError(f"column must be a name or a place below {len(names)}, got {column!r}.")
    return int(column), str(names[column])


@dataclass(frozen=True, eq=False)
class Densities:
    """ln p(C_k) p(x | C_k) of normal classes in one column."""

    log_prior: FloatArray
    mean: FloatArray
    variance: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        """(K, n) for n values of x."""
        far = (np.asarray(x)[None, :] - self.mean[:, None]) ** 2 / self.variance[:, None]
        return self.log_prior[:, None] - 0.5 * (far + np.log(2 * np.pi * self.variance)[:, None])

    def meetings(self) -> FloatArray:
        """Where the likeliest class changes, in order: roots of quadratics, those on the upper envelope."""
        roots = [root for k, l in combinations(range(len(self.mean)), 2) for root in self._roots(k, l)]
        x = np.unique(roots)
        winner = self.winners(x)
        return x[winner[1:] != winner[:-1]]

    def winners(self, x: FloatArray) -> NDArray[np.intp]:
        """The likeliest class before, between and behind points between which none changes places."""
        if not len(x):
            return np.asarray(self(self.mean[:1]).argmax(axis=0))
        beyond = x[-1] - x[0] + np.sqrt(self.variance.max())
        among = np.concatenate([[x[0] - beyond], (x[1:] + x[:-1]) / 2, [x[-1] + beyond]])
        return np.asarray(self(among).argmax(axis=0))

    def _roots(self, k: int, l: int) -> list[float]:
        """Both solutions of ln p_k(x) = ln p_l(x), seen from the middle of the means."""
        if not np.isfinite(self.log_prior[[k, l]]).all():
            return []
        middle = (self.mean[k] + self.mean[l]) / 2
        m, v = self.mean[[k, l]] - middle, self.variance[[k, l]]
        a = (1 / v[1] - 1 / v[0]) / 2
        b = m[0] / v[0] - m[1] / v[1]
        c = self.log_prior[k] - self.log_prior[l]
        c += (m[1] ** 2 / v[1] - m[0] ** 2 / v[0] + np.log(v[1] / v[0])) / 2
        if abs(a) * v.max() <= 1e-12:  # equal variances: one root, or none
            return [middle - c / b] if b else []
        return [float(middle + root.real) for root in np.roots([a, b, c]) if abs(root.imag) == 0]


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Densities and posteriors of the classes along one column; ``print`` says which class wins where.

    Attributes
    ----------
    name : str
        The column.
    classes : (K,) labels
    x : (n,) array
    joint : (K, n) array
        p(C_k) p(x | C_k); their sum is the evidence p(x).
    posterior : (K, n) array
        p(C_k | x).
    boundaries : (m,) array
        Where the likeliest class changes, exactly; two classes of unequal variances have two.
    """

    name: str
    classes: NDArray[Any]
    x: FloatArray
    joint: FloatArray
    posterior: FloatArray
    boundaries: FloatArray
    densities: Densities

    def winners(self) -> list[Any]:
        """The likeliest class before, between and behind the boundaries."""
        return [self.classes.tolist()[k] for k in self.densities.winners(self.boundaries)]

    def __repr__(self) -> str:
        return f"<Posteriors of {self.name}: {len(self.classes)} classes>"

    def __str__(self) -> str:
        winners = self.winners()
        if not len(self.boundaries):
            return f"{self.name}: {winners[0]!r} everywhere"
        parts = [f"{who!r} below {x:.4g}" for who, x in zip(winners, self.boundaries, strict=False)]
        return f"{self.name}: {', '.join(parts)}, then {winners[-1]!r}"

    def plot(self, ax: Any = None) -> list[Any]:
        """Densities above, posteriors below, and the boundaries through both.

        Parameters
        ----------
        ax : matplotlib Axes, or a sequence of two, optional
            One takes the densities. Not given: a new figure with both.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)
