"""Machines with kernels: one dual problem for classification, regression and one class, solved block by
block.

What is solved is in :mod:`~lineal.solvers.kernel_dual.duals`, how in
:mod:`~lineal.solvers.kernel_dual.machine`, where kernel values come from in
:mod:`~lineal.solvers.kernel_dual.values`. docs/svm.md has the formulas.
"""

from lineal.solvers.kernel_dual.duals import (
    Dual,
    classification,
    dealt,
    one_class,
    regression,
    tube_regression,
)
from lineal.solvers.kernel_dual.machine import KernelMachine, KernelSolution
from lineal.solvers.kernel_dual.values import KernelValues, expanded

__all__ = [
    "Dual",
    "KernelMachine",
    "KernelSolution",
    "KernelValues",
    "classification",
    "dealt",
    "expanded",
    "one_class",
    "regression",
    "tube_regression",
]
