"""How it is minimised: one file per algorithm, a driver that certifies, a planner that chooses."""

from typing import TYPE_CHECKING

from lineal.deferred import names_from

if TYPE_CHECKING:
    from lineal.solvers.base import Iterate, Progress, Solution, Solver, Start
    from lineal.solvers.catalogue import SOLVERS
    from lineal.solvers.checkpoint import Checkpoint
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
    from lineal.solvers.planner import Plan, plan
    from lineal.solvers.prox_cd import ProxCD
    from lineal.solvers.separation import Separation
    from lineal.solvers.stochastic import SGD, SVRG

# Where names live that are loaded when they are first used.
_HOMES = {
    "base": "Iterate Progress Solution Solver Start",
    "checkpoint": "Checkpoint",
    "closed_form": "ClosedForm",
    "conjugate_gradient": "CG",
    "descent": "GD Adadelta Adagrad Adam Annealed Backtracking Constant Momentum Nesterov RMSprop",
    "driver": "Budget minimise",
    "dual_cd": "DualCD",
    "iterative_scaling": "IterativeScaling",
    "lbfgs": "LBFGS",
    "newton": "Newton",
    "catalogue": "SOLVERS",
    "planner": "Plan plan",
    "prox_cd": "ProxCD",
    "separation": "Separation",
    "stochastic": "SGD SVRG",
}

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
    "Checkpoint",
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
    "Separation",
    "Solution",
    "Solver",
    "Start",
    "minimise",
    "plan",
]

__getattr__, __dir__ = names_from(__name__, _HOMES)
