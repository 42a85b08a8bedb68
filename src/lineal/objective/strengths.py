"""Where a regularisation path begins."""

from __future__ import annotations

import numpy as np

from lineal.objective.dual_points import refit_intercept, repaired
from lineal.objective.penalties import L1, L2, ElasticNet, Lp
from lineal.objective.problem import Intercept, Problem

# Under a penalty without an edge, weights are nearly 0 when W = 0 is so close to the optimum.
_NEAR = 0.01


def largest_strength(problem: Problem) -> float:
    r"""The strength from which on all weights are 0, or nearly so; the problem's own strength is ignored.

    Let u_i be the slopes of the losses at W = 0 with the intercept refitted, and V = X'S U. At W = 0 the
    certificate of that dual point has the gap R*(-V), which falls as the strength grows:

    - with an L1 part it is 0 exactly from ``max |v_j| / share`` on, where share is the part of the strength
      that is l1. For losses without kinks W = 0 is not optimal below that; where rows sit on a kink another
      subgradient might do with less;
    - for L2 and Lp it is never 0. The strength returned makes it 1 % of the objective: no weights whatever
      gain more than that. With 1/p + 1/q = 1 it is
      ``(sum_j |v_j|^q / (q 0.01 P(0, b)))^(p-1)``, and ``|V|^2 / (0.02 P(0, b))`` for L2.

    0 means that the weights are 0 at every strength.
    """
    Z = np.zeros((problem.X.n_rows, problem.n_outputs))
    if problem.intercept is Intercept.FREE:
        refit = refit_intercept(problem, Z)
        Z, U = Z + refit.shift, repaired(problem, refit.U)
    else:
        U = problem.slopes(Z)
    size = np.abs(problem.pull(U))
    largest = float(size.max(initial=0.0))
    penalty = problem.penalty
    if isinstance(penalty, (L1, ElasticNet)):
        share = 1.0 if isinstance(penalty, L1) else penalty.l1 / penalty.strength
        return largest / share
    assert isinstance(penalty, (L2, Lp))
    p = penalty.p if isinstance(penalty, Lp) else 2.0
    q = p / (p - 1)
    allowed = q * _NEAR * problem.loss_sum(Z)
    if largest == 0.0 or allowed == 0.0:
        return 0.0
    # The largest entry is taken out of the sum: near p = 1 the power q overflows. (q (p - 1) = p)
    return float(largest**p * (np.sum((size / largest) ** q) / allowed) ** (p - 1))
