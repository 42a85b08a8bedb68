"""What every kernel has: Gram matrices, checks of Mercer's condition, and the algebra of kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lineal.data.threads import thread_count
from lineal.errors import InputError, ParameterError
from lineal.kernels.definiteness import Definiteness, Symmetry, definiteness, symmetry
from lineal.kernels.domains import Domain
from lineal.kernels.formulas import ATOM, enclosed
from lineal.model.kernel_profile import Profile
from lineal.objective.losses import FloatArray


class Kernel(ABC):
    """A similarity k(x, z) that is a dot product in some space: symmetric and positive semi-definite.

    Kernels are values: immutable, comparable, hashable where their parts are. ``str(k)`` is the formula,
    ``repr(k)`` evaluates back to k where no function of yours is a part of it. Sums, products, powers,
    polynomials with coefficients >= 0, ``exp`` and maps of kernels are kernels; what need not be one is
    refused.

    A kernel of your own states ``domain``, ``compute``, ``compute_diagonal`` and ``formula``; or give a
    function to :class:`FunctionKernel`.
    """

    # Whether the space is that of the data, so that weights of columns say what coefficients of rows do.
    is_linear: ClassVar[bool] = False
    # NumPy's numbers leave c * k to the kernel.
    __array_ufunc__ = None
    # What is wrong with values that are not finite, and what to do about them.
    fault: ClassVar[str] = "is beyond float64"
    remedy: ClassVar[str] = "Scale the data, for example with lineal.ColumnScaler."

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """What the kernel compares, and how it is read."""

    @abstractmethod
    def compute(self, items: Any, others: Any | None, n_threads: int) -> FloatArray:
        """The matrix of k between checked items; with None instead of others, of the items with themselves.

        The latter is exactly symmetric.
        """

    @abstractmethod
    def compute_diagonal(self, items: Any) -> FloatArray:
        """k(x, x) for each of the checked items."""

    @abstractmethod
    def formula(self, x: str = "x", z: str = "z") -> str:
        """The kernel as it is written."""

    @property
    def level(self) -> int:
        """How tightly the formula is bound (:mod:`lineal.kernels.formulas`)."""
        return ATOM

    @property
    def code_level(self) -> int:
        """How tightly ``repr`` is bound."""
        return ATOM

    @property
    def profile(self) -> Profile | None:
        """How the kernel follows from a dot product; None where it does not."""
        return None

    def __str__(self) -> str:
        return self.formula()

    def checked(self, X: Any) -> Any:
        """The items of X as this kernel understands them; raises InputError for others."""
        return self.domain.checked(X)

    def size(self, items: Any) -> int:
        """How many items there are in what ``checked`` returned."""
        return self.domain.size(items)

    def take(self, items: Any, places: ArrayLike) -> Any:
        """Some of the items that ``checked`` returned, by their places (or a mask)."""
        chosen = np.asarray(places)
        return self.domain.take(
            items, np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.int64)
        )

    def gram(self, X: Any, Z: Any = None, *, n_threads: int | None = None) -> FloatArray:
        """The Gram matrix: k(x, z) for every x of X and z of Z, or of X again, then exactly symmetric.

        Parameters
        ----------
        X, Z
            Items; a matrix has one in each row.
        n_threads
            Threads of the native core (all cores unless told otherwise); they change no bit.

        Raises
        ------
        InputError
            For items that the kernel does not understand, and for values beyond float64.
        """
        threads = thread_count(n_threads)
        items = self.checked(X)
        others = None
        if Z is not None:
            others = self.checked(Z)
            self.domain.compare(items, others)
        return self._finite(self.compute(items, others, threads))

    def diagonal(self, X: Any) -> FloatArray:
        """k(x, x) for every x of X."""
        return self._finite(self.compute_diagonal(self.checked(X)))

    def __call__(self, x: Any, z: Any) -> float:
        """k(x, z)."""
        item, other = self.domain.one(x), self.domain.one(z)
        self.domain.compare(item, other)
        return float(self._finite(self.compute(item, other, 1))[0, 0])

    def _finite(self, values: FloatArray) -> FloatArray:
        # The sum is finite as a rule where all are; only if it is not, look for the one that is not.
        with np.errstate(over="ignore", invalid="ignore"):
            total = values.sum()
        if not np.isfinite(total) and not np.isfinite(values).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
            raise InputError(
                f"{self} {self.fault}, first at {place if len(place) > 1 else place[0]}. {self.remedy}"
            )
        return values

    def is_symmetric(self, X: Any) -> Symmetry:
        """Whether k(x, z) = k(z, x) on X, and where not: both sides are computed."""
        items = self.checked(X)
        return symmetry(self._finite(self.compute(items, items, thread_count(None))))

    def is_psd(self, X: Any) -> Definiteness:
        """Whether a'Ka >= 0 for every a on X (Mercer's condition, up to rounding), and an a where not."""
        items = self.checked(X)
        return definiteness(self._finite(self.compute(items, items, thread_count(None))))

    # The algebra: Bishop (2006), rules 6.13 to 6.22. Imports are local because its classes are kernels.

    def __add__(self, other: Any) -> Kernel:
        """k1 + k2; or k + c, the polynomial t + c of k."""
        from lineal.kernels.algebra import Sum, polynomial

        if isinstance(other, Kernel):
            return Sum.of(self, other)
        if not _is_number(other):
            return NotImplemented
        return self if other == 0 else polynomial(self, (other, 1.0))

    def __radd__(self, other: Any) -> Kernel:
        return self.__add__(other)

    def __mul__(self, other: Any) -> Kernel:
        """k1 k2; or c k."""
        from lineal.kernels.algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product.of(self, other)
        return Scaled(self, other) if _is_number(other) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        return self.__mul__(other)

    def __truediv__(self, other: Any) -> Kernel:
        if not _is_number(other):
            return NotImplemented
        if not other > 0:
            raise ParameterError(f"A kernel may be divided by a number > 0, got {other!r}.")
        return self * (1.0 / other)

    def __pow__(self, exponent: Any) -> Kernel:
        """k to a whole power >= 1."""
        from lineal.kernels.algebra import Power

        return Power(self, exponent) if _is_number(exponent) else NotImplemented

    def __sub__(self, other: Any) -> Kernel:
        raise ParameterError(
            "A difference of kernels need not be positive semi-definite, so it is no kernel. If you know "
            "that yours is, give it as FunctionKernel(lambda x, z: k1(x, z) - k2(x, z)) and check it "
            "by is_psd(X)."
        )

    def __rsub__(self, other: Any) -> Kernel:
        return self.__sub__(other)

    def __neg__(self) -> Kernel:
        return self * -1.0  # which is refused with its reason

    def polynomial(self, coefficients: Sequence[float]) -> Kernel:
        """c0 + c1 k + c2 k^2 + ..., all coefficients >= 0 (rule 6.15)."""
        from lineal.kernels.algebra import polynomial

        return polynomial(self, coefficients)

    def exp(self) -> Kernel:
        """exp(k) (rule 6.16)."""
        from lineal.kernels.algebra import Exponential

        return Exponential(self)

    def scaled_by(self, function: Callable[[Any], float]) -> Kernel:
        """f(x) k(x, z) f(z) for any function f of one item (rule 6.14)."""
        from lineal.kernels.algebra import ScaledBy

        return ScaledBy(self, function)

    def normalized(self) -> Kernel:
        """k(x, z) / sqrt(k(x, x) k(z, z)): the cosine in the kernel's space, 0 where an item has length 0."""
        from lineal.kernels.algebra import Normalized

        return Normalized(self)

    def map(self, phi: Any) -> Kernel:
        """k(phi(x), phi(z)) (rule 6.19); phi is a function of one item, or has ``transform`` for many."""
        from lineal.kernels.maps import Mapped

        return Mapped(self, phi)

    def quadratic_form(self, A: ArrayLike) -> Kernel:
        """The kernel with x'Az for every x.z (rule 6.20), for a positive semi-definite matrix A.

        ``Linear().quadratic_form(A)`` is x'Az; a Gaussian kernel measures (x - z)'A(x - z).
        """
        from lineal.kernels.maps import QuadraticForm

        return QuadraticForm(self, A)

    def on(self, columns: Any) -> Kernel:
        """The kernel of some columns: numbers, names of a data frame's, or a slice (rules 6.21 and 6.22).

        A kernel of strings, trees or anything else takes one column.
        """
        from lineal.kernels.maps import OnColumns

        return OnColumns(self, columns)

    def _code(self, outer: int) -> str:
        """``repr`` as a part of an expression that binds this tightly."""
        return enclosed(repr(self), self.code_level, outer)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def exp(kernel: Kernel) -> Kernel:
    """exp(k), a kernel where k is one: a power series with coefficients >= 0 (rule 6.16).

    Examples
    --------
    >>> from lineal.kernels import Linear, exp
    >>> print(exp(2 * Linear()))
    exp(2 * x.z)
    """
    if not isinstance(kernel, Kernel):
        raise ParameterError(f"exp needs a kernel, got {kernel!r}. Use numpy.exp for numbers.")
    return kernel.exp()
