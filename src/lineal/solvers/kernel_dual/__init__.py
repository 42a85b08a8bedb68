"""Machines with kernels: one dual problem for classification, regression and one class, solved block by
block.

What is solved is in :mod:`~lineal.solvers.kernel_dual.duals`, how in
:mod:`~lineal.solvers.kernel_dual.machine`, where kernel values come from in
:mod:`~lineal.solvers.kernel_dual.values`, and many small machines at once are in
:mod:`~lineal.solvers.kernel_dual.pairs`. docs/svm.md has the formulas.
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
from lineal.solvers.kernel_dual.pairs import PairSolutions, solved_pairs
from lineal.solvers.kernel_dual.values import KernelValues, ProductTable, expanded, summed, voted

__all__ = [
    "Dual",
    "KernelMachine",
    "KernelSolution",
    "KernelValues",
    "PairSolutions",
    "ProductTable",
    "classification",
    "dealt",
    "expanded",
    "one_class",
    "regression",
    "solved_pairs",
    "summed",
    "tube_regression",
    "voted",
]
