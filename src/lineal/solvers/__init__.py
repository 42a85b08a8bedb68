"""How it is minimised: one file per algorithm, a driver that certifies, a planner that chooses."""

from lineal.solvers.base import Iterate, Progress, Solution, Solver, Start
from lineal.solvers.closed_form import ClosedForm
from lineal.solvers.conjugate_gradient import CG
from lineal.solvers.descent import (
    GD,
    Adadelta,
    Adagrad,
    Adam,
    Annealed,
    Backtracking,
    Constant,
    Momentum,
    Nesterov,
    RMSprop,
)
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.dual_cd import DualCD
from lineal.solvers.iterative_scaling import IterativeScaling
from lineal.solvers.lbfgs import LBFGS
from lineal.solvers.newton import Newton
from lineal.solvers.planner import SOLVERS, Plan, plan
from lineal.solvers.prox_cd import ProxCD
from lineal.solvers.stochastic import SGD, SVRG

__all__ = [
    "CG",
    "GD",
    "LBFGS",
    "SGD",
    "SOLVERS",
    "SVRG",
    "Adadelta",
    "Adagrad",
    "Adam",
    "Annealed",
    "Backtracking",
    "Budget",
    "ClosedForm",
    "Constant",
    "DualCD",
    "Iterate",
    "IterativeScaling",
    "Momentum",
    "Nesterov",
    "Newton",
    "Plan",
    "Progress",
    "ProxCD",
    "RMSprop",
    "Solution",
    "Solver",
    "Start",
    "minimise",
    "plan",
]
