"""Losses to look at: what classifiers minimise beside the 0/1 loss that is meant, and what regressors do."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import lineal.objective
from lineal.errors import ParameterError
from lineal.objective.losses import FloatArray, Loss, Squared, ZeroOne
from lineal.plot.choice import whole
from lineal.plot.losses_picture import draw


def surrogate_losses(losses: Mapping[str, Loss] | None = None, *, n_points: int = 601) -> LossShapes:
    """Every loss of the library over its margin or its residual, with the 0/1 loss beside.

    Parameters
    ----------
    losses : dict of names to losses of one score, optional
        Not given: those of ``lineal.objective`` with their defaults.
    n_points : int
        Places along each axis.

    Returns
    -------
    LossShapes

    Notes
    -----
    A margin is m = y z with y in {-1, +1}: above 0 where the score z has the right sign. A residual is
    r = z - y. ``Squared`` is in both lists, since labels are numbers to it: (z - y)^2 / 2 = (1 - m)^2 / 2.

    Examples
    --------
    >>> from lineal.objective import Hinge, Log, Perceptron
    >>> from lineal.plot import surrogate_losses
    >>> print(surrogate_losses({"hinge": Hinge(), "log": Log(), "perceptron": Perceptron()}))
    by margin    m = -1  m = 0  m = 1
    0/1 loss      1.000  0.000  0.000
    hinge         2.000  1.000  0.000  never below 0/1
    log           1.313  0.693  0.313
    perceptron    1.000  0.000  0.000
    """
    n_points = max(whole("surrogate_losses", "n_points", n_points), 2)
    if losses is None:
        losses = dict(_members())
    if not losses or not all(isinstance(loss, Loss) and not loss.is_joint for loss in losses.values()):
        raise ParameterError(
            "surrogate_losses needs a dict of names to losses of one score, such as {'hinge': Hinge()}; "
            f"got {losses!r}."
        )
    margins, residuals = np.linspace(-2.5, 2.5, n_points), np.linspace(-2.5, 2.5, n_points)
    ones = np.ones(n_points)
    return LossShapes(
        dict(losses),
        margins,
        {name: loss(ones, margins) for name, loss in losses.items() if _reads_margins(loss)},
        ZeroOne().value(ones, margins),
        residuals,
        {name: loss(0 * ones, residuals) for name, loss in losses.items() if not loss.is_margin},
    )


def _reads_margins(loss: Loss) -> bool:
    return loss.is_margin or isinstance(loss, Squared)


def _members() -> Iterator[tuple[str, Loss]]:
    """The public losses of one score that need no arguments."""
    for name in lineal.objective.__all__:
        kind = getattr(lineal.objective, name)
        if not (isinstance(kind, type) and issubclass(kind, Loss)) or kind.is_joint:
            continue
        needed = [p for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
        if not needed and not inspect.isabstract(kind):
            yield name, kind()


@dataclass(frozen=True, eq=False)
class LossShapes:
    """Losses as functions of one number; ``print`` shows three places of each.

    Attributes
    ----------
    losses : dict of names to losses
    margins : (n,) array
    by_margin : dict of names to (n,) arrays
    zero_one : (n,) array
        1 where the label would be wrong; a score of 0 counts as +1.
    residuals : (n,) array
    by_residual : dict of names to (n,) arrays
    """

    losses: dict[str, Loss]
    margins: FloatArray
    by_margin: dict[str, FloatArray]
    zero_one: FloatArray
    residuals: FloatArray
    by_residual: dict[str, FloatArray]

    def bounds_zero_one(self, name: str) -> bool:
        """Whether a loss is never below the 0/1 loss at these margins: then a small sum means few errors."""
        return bool((self.by_margin[name] >= self.zero_one).all())

    def __str__(self) -> str:
        lines = []
        width = max(map(len, (*self.losses, "by residual")))
        if self.by_margin:
            lines.append(f"{'by margin':<{width}}  m = -1  m = 0  m = 1")
            lines.append(f"{'0/1 loss':<{width}}  {_row(ZeroOne(), 1.0)}")
            for name in self.by_margin:
                note = "  never below 0/1" if self.bounds_zero_one(name) else ""
                lines.append(f"{name:<{width}}  {_row(self.losses[name], 1.0)}{note}")
        if self.by_residual:
            lines.append(f"{'by residual':<{width}}  r = -1  r = 0  r = 1")
            lines += [f"{name:<{width}}  {_row(self.losses[name], 0.0)}" for name in self.by_residual]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> list[Any]:
        """A panel of the margin losses with the 0/1 loss, and a panel of the regression losses.

        Parameters
        ----------
        ax : matplotlib Axes, or a pair of them, optional
            One is for the first panel alone.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)


def _row(loss: Any, y: float) -> str:
    at = np.abs(loss.value(np.full(3, y), np.array([-1.0, 0.0, 1.0])))  # no zero is negative
    return f"{at[0]:6.3f}  {at[1]:5.3f}  {at[2]:5.3f}"
