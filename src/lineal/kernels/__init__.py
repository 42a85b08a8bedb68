"""Kernels: similarities that are dot products in some space, and the algebra that keeps them so.

Of vectors ``Linear``, ``Quadratic``, ``Polynomial``, ``Gaussian``, ``Laplacian``; given as values
``Precomputed``, or as a function ``FunctionKernel``. ``c * k``, ``k1 + k2``, ``k1 * k2``, ``k**n``,
``k.polynomial``, ``exp(k)``, ``k.scaled_by``, ``k.map``, ``k.quadratic_form``, ``k.on`` and ``k.normalized``
make kernels of kernels.
"""

from lineal.kernels.base import Kernel, Profile, exp
from lineal.kernels.definiteness import Definiteness, Symmetry
from lineal.kernels.given import FunctionKernel, Precomputed
from lineal.kernels.naming import resolved
from lineal.kernels.vectors import Gaussian, Laplacian, Linear, Polynomial, Quadratic

__all__ = [
    "Definiteness",
    "FunctionKernel",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Profile",
    "Quadratic",
    "Symmetry",
    "exp",
    "resolved",
]
