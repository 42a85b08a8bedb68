"""A loss of the user's own, compiled: function pointers that the native core calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from lineal import _core
from lineal.errors import ParameterError
from lineal.objective.custom import CustomLoss
from lineal.objective.losses import FloatArray, Targets

_PLAIN, _WITH_DATA = "double (double, double)", "double (double, double, void *)"
# What every ctypes function is; the name is private there, the class is not.
_FUNCTION: Any = ctypes.CFUNCTYPE(None).__mro__[1]
# An address, and the pointer to pass behind y and z; None where the function takes two numbers.
_Address = tuple[int, int | None]
_Pass = Callable[[Any, FloatArray, FloatArray, FloatArray], None]


class CompiledLoss(CustomLoss):
    """A convex loss of one score, stated by compiled functions of two numbers, y and z.

    It is a :class:`~lineal.objective.custom.CustomLoss` in all but speed: the core calls the functions in its
    own loops, without Python's lock and from several threads at once. They must be pure and thread-safe.

    Parameters
    ----------
    value, derivative : scipy.LowLevelCallable, numba ``@cfunc`` or ctypes function
        ``double f(double y, double z)``; a LowLevelCallable may also be ``double f(double y, double z,
        void *user_data)``.
    second_derivative : the same, optional
        Central differences of the derivative if not given.
    curvature : float, optional
        The Lipschitz constant of the derivative, if there is one and it is known.
    has_kinks, is_margin : bool
        As for a CustomLoss. Kinks are smoothed in Python, at its speed.

    Notes
    -----
    The functions are kept alive as long as the loss is. Addresses mean nothing in another process, so the
    loss, and with it a model that holds it, cannot be pickled.
    """

    def __init__(
        self,
        value: Any,
        derivative: Any,
        second_derivative: Any = None,
        *,
        curvature: float | None = None,
        has_kinks: bool = False,
        is_margin: bool = False,
    ) -> None:
        self._functions = (value, derivative, second_derivative)
        addresses = _address("value", value), _address("derivative", derivative)
        second = None if second_derivative is None else _address("second_derivative", second_derivative)
        self._pointers = _core.PointerLoss(*addresses, second)
        self.curvature = curvature
        self.has_kinks = has_kinks  # type: ignore[misc]  # of this loss, not of its class
        self.is_margin = is_margin  # type: ignore[misc]

    def value(self, y: Targets, z: FloatArray) -> FloatArray:
        return self._each(_core.values, y, z)

    def derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return self._each(_core.slopes, y, z)

    def second_derivative(self, y: Targets, z: FloatArray) -> FloatArray:
        return self._each(_core.curvatures, y, z)

    def _each(self, evaluate: _Pass, y: Targets, z: FloatArray) -> FloatArray:
        y, z = (np.ascontiguousarray(a, dtype=np.float64) for a in np.broadcast_arrays(y, z))
        out = np.empty((1, z.size))
        evaluate(self._pointers, y.reshape(1, -1), z.reshape(1, -1), out)
        return out.reshape(z.shape)

    @property
    def native(self) -> Any:
        """The pointers; with kinks, none: the solvers meet the rounded loss, which is not compiled."""
        return None if self.has_kinks else self._pointers

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing in it can change, and the functions cannot be copied

    def __reduce__(self) -> Any:
        raise TypeError(
            "a CompiledLoss holds addresses of functions, which mean nothing in another process, so it "
            "cannot be pickled. Keep coef_ and intercept_, or build the loss anew where it is needed."
        )

    def __repr__(self) -> str:
        names = ", ".join(_name(function) for function in self._functions if function is not None)
        return f"CompiledLoss({names})"


def _address(role: str, function: Any) -> _Address:
    if _is_scipys(function):
        return _of_callable(role, function)
    function = getattr(function, "ctypes", function)  # numba's cfunc
    if not isinstance(function, _FUNCTION):
        raise ParameterError(
            f"CompiledLoss needs {role} as a scipy.LowLevelCallable, a numba cfunc or a ctypes function, got "
            f"{function!r}. For a Python function subclass CustomLoss."
        )
    takes = tuple(function.argtypes or ())
    if function.restype is not ctypes.c_double or takes != (ctypes.c_double, ctypes.c_double):
        raise ParameterError(
            f"CompiledLoss needs {role} of the signature '{_PLAIN}', got argtypes {function.argtypes} and "
            f"restype {function.restype}. Set all to ctypes.c_double; data go through scipy.LowLevelCallable."
        )
    return _checked(role, ctypes.cast(function, ctypes.c_void_p).value), None


def _is_scipys(function: Any) -> bool:
    from scipy import LowLevelCallable

    return isinstance(function, LowLevelCallable)


def _of_callable(role: str, function: Any) -> _Address:
    signature = function.signature.replace(" ", "")
    if signature not in (_PLAIN.replace(" ", ""), _WITH_DATA.replace(" ", "")):
        raise ParameterError(
            f"CompiledLoss needs {role} of the signature '{_PLAIN}' or '{_WITH_DATA}', "
            f"got '{function.signature}'."
        )
    capsule = tuple.__getitem__(function, 0)  # SciPy's own form: a capsule named by the signature
    pointer, context = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_GetContext
    pointer.restype = context.restype = ctypes.c_void_p
    pointer.argtypes, context.argtypes = [ctypes.py_object, ctypes.c_char_p], [ctypes.py_object]
    address = _checked(role, pointer(capsule, function.signature.encode()))
    return address, (context(capsule) or 0) if "void" in signature else None


def _checked(role: str, address: int | None) -> int:
    if not address:
        raise ParameterError(f"CompiledLoss needs {role} at an address, got a null pointer.")
    return address


def _name(function: Any) -> str:
    function = function.function if _is_scipys(function) else function
    return str(getattr(function, "__name__", type(function).__name__))
