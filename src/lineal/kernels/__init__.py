"""Kernels: similarities that are dot products in some space, and the algebra that keeps them so.

Of vectors ``Linear``, ``Quadratic``, ``Polynomial``, ``Gaussian``, ``Laplacian``; of strings ``Subsequence``
and ``Spectrum``; of trees ``SubTree`` and ``SubsetTree``; of labels ``Equality``; of pairs (x, y) ``Pairs``;
given as values ``Precomputed``, or as a function ``FunctionKernel``.

``c * k``, ``k1 + k2``, ``k1 * k2``, ``k**n``, ``k.polynomial``, ``exp(k)``, ``k.scaled_by``, ``k.map``,
``k.quadratic_form``, ``k.on`` and ``k.normalized`` make kernels of kernels.
"""

from lineal.kernels.base import Kernel, exp
from lineal.kernels.definiteness import Definiteness, Symmetry
from lineal.kernels.given import FunctionKernel, Precomputed
from lineal.kernels.naming import resolved
from lineal.kernels.pairs import Equality, Paired, Pairs
from lineal.kernels.strings import Spectrum, Subsequence
from lineal.kernels.trees import SubsetTree, SubTree
from lineal.kernels.vectors import Gaussian, Laplacian, Linear, Polynomial, Quadratic
from lineal.model.kernel_profile import Profile

__all__ = [
    "Definiteness",
    "Equality",
    "FunctionKernel",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Paired",
    "Pairs",
    "Polynomial",
    "Precomputed",
    "Profile",
    "Quadratic",
    "Spectrum",
    "SubTree",
    "Subsequence",
    "SubsetTree",
    "Symmetry",
    "exp",
    "resolved",
]
