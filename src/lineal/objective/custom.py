"""A loss of the user's own: value and derivative are enough."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from lineal.objective.loss_check import check_loss
from lineal.objective.losses import FloatArray, Loss, Targets
from lineal.objective.tangents import Brackets, conjugate_bound, proximal, slope_range

# The step of a central difference, relative to 1 + |z|: the cube root of the unit of rounding.
_DIFFERENCE = float(np.finfo(float).eps) ** (1 / 3)


class CustomLoss(Loss):
    """A convex loss of one score, stated by a subclass in NumPy: ``value`` and ``derivative``.

    Both take float arrays y and z of one shape and return a float array of that shape, entry by entry.
    Classifiers pass y in {-1, +1}, one column per class with more than two; regressors pass any numbers.
    What else a fit and its certificate need is found from these two:

    - the conjugate, by an upper bound that is tight to rounding, so that dual values stay true lower bounds;
    - the second derivative, by central differences, unless the subclass states it;
    - for a loss with kinks, its Moreau envelope, by a root in one unknown for each row.

    Before a fit the two are checked on a sample of scores: one must be the slope of the other, the slopes
    must rise, and the loss must be bounded below. All of it runs in NumPy, so it is slower than a loss of
    the library; see :class:`~lineal.objective.compiled.CompiledLoss` for native speed.

    Attributes
    ----------
    is_margin : bool
        Whether y in {-1, +1} alone makes sense, so that regressors refuse the loss. False unless stated.
    has_kinks : bool
        Whether the derivative jumps. False unless stated; a jump that is not stated is refused.
    curvature : float or None
        The Lipschitz constant of the derivative, if there is one and it is known. First-order solvers take
        their steps from it; without, from the second derivatives at score 0.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import LinearRegressor
    >>> from lineal.objective import CustomLoss
    >>> class LogCosh(CustomLoss):
    ...     def value(self, y, z):
    ...         return np.logaddexp(z - y, y - z) - np.log(2)
    ...     def derivative(self, y, z):
    ...         return np.tanh(z - y)
    >>> LinearRegressor(loss=LogCosh()).fit([[0.0], [1.0], [2.0], [3.0]], [1, 2, 3, 9]).certificate_.converged
    True
    """

    has_kinks: ClassVar[bool] = False
    curvature: float | None = None

    @abstractmethod
    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        """loss(y, z), entry by entry."""

    @abstractmethod
    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        """The slope in z, entry by entry; at a kink any number between the slopes on either side."""

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        """The slope of the derivative; by central differences unless a subclass states it."""
        step = _DIFFERENCE * (1 + np.abs(z))
        rise = self.derivative(y, z + step) - self.derivative(y, z - step)
        return np.maximum(rise / (2 * step), 0.0)

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        """An upper bound of max_z u z - loss(y, z), tight to rounding; +inf outside the domain."""
        y, u = np.broadcast_arrays(np.asarray(y, dtype=float), np.asarray(u, dtype=float))
        flat = np.ravel(y)
        bound = conjugate_bound(self.value, self.derivative, flat, np.ravel(u), self._ends(flat))
        return bound.reshape(u.shape)

    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        """The slopes between very large scores on either side."""
        y = np.asarray(y, dtype=float)
        ends = self._ends(np.ravel(y))
        return ends.fa.reshape(y.shape), ends.fb.reshape(y.shape)

    def _ends(self, y: FloatArray) -> Brackets:
        return slope_range(self.derivative, y)

    def smoothed(self, width: float) -> Loss:
        """The Moreau envelope; a loss without kinks is its own."""
        return SmoothedCustom(self, width) if self.has_kinks else self

    @property
    def is_smooth(self) -> bool:
        """Whether the derivative is continuous."""
        return not self.has_kinks

    @property
    def has_dual_step(self) -> bool:
        """No: value and derivative do not tell one."""
        return False

    def check(self, y: Targets) -> None:
        """Raises ParameterError where value and derivative are not those of a convex loss; says where."""
        check_loss(self, y)

    # A subclass need not be a dataclass; if it is, its own words take the place of these.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        stated = (f"{name}={value!r}" for name, value in vars(self).items() if not name.startswith("_"))
        return f"{type(self).__name__}({', '.join(stated)})"


class SmoothedCustom(CustomLoss):
    """loss_mu(z) = min_x loss(x) + (x - z)^2 / (2 mu): a custom loss with its kinks rounded over a width."""

    is_rounded: ClassVar[bool] = True

    def __init__(self, loss: CustomLoss, width: float) -> None:
        self.loss = loss
        self.width = width
        self.curvature = 1 / width
        self._latest: tuple[Targets, FloatArray, FloatArray] | None = None

    def _proximal(self, y: Targets, z: FloatArray) -> FloatArray:
        """The minimisers x; the latest are kept, for value and derivative are mostly asked for together."""
        latest = self._latest
        if latest is not None and np.array_equal(latest[1], z) and np.array_equal(latest[0], y):
            return latest[2]
        x = proximal(self.loss.derivative, np.ravel(y), np.ravel(z), self.width).reshape(z.shape)
        self._latest = (y, z.copy(), x)
        return x

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        x = self._proximal(y, z)
        return self.loss.value(y, x) + (x - z) ** 2 / (2 * self.width)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return (z - self._proximal(y, z)) / self.width

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        x, step = self._proximal(y, z), 1e-3 * self.width
        bend = (self.loss.derivative(y, x + step) - self.loss.derivative(y, x - step)) / (2 * step)
        return np.maximum(bend, 0.0) / (1 + self.width * np.maximum(bend, 0.0))

    def conjugate(self, y: Targets, u: FloatArray) -> FloatArray:
        return self.loss.conjugate(y, u) + self.width * u * u / 2

    def domain(self, y: Targets) -> tuple[FloatArray, FloatArray]:
        return self.loss.domain(y)
