"""How it is minimised: one file per algorithm, a driver that certifies, a planner that chooses."""

from lineal.solvers.base import Iterate, Progress, Solution, Solver, Start
from lineal.solvers.closed_form import ClosedForm
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.dual_cd import DualCD
from lineal.solvers.iterative_scaling import IterativeScaling
from lineal.solvers.lbfgs import LBFGS
from lineal.solvers.newton import Newton
from lineal.solvers.planner import SOLVERS, Plan, plan
from lineal.solvers.prox_cd import ProxCD

__all__ = [
    "LBFGS",
    "SOLVERS",
    "Budget",
    "ClosedForm",
    "DualCD",
    "Iterate",
    "IterativeScaling",
    "Newton",
    "Plan",
    "Progress",
    "ProxCD",
    "Solution",
    "Solver",
    "Start",
    "minimise",
    "plan",
]
