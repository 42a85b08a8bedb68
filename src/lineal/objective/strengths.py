"""Where a regularisation path begins."""

from __future__ import annotations

import numpy as np

from lineal.objective.dual_points import repaired
from lineal.objective.problem import Intercept, Problem


def largest_strength(problem: Problem) -> float:
    r"""The strength from which on all weights are 0, or nearly so; the problem's own strength is ignored.

    Let u_i be the slopes of the losses at W = 0 with the intercept refitted, and V = X'S U. At W = 0 the
    certificate of that dual point has the gap R*(-V), which falls as the strength grows:

    - with an L1 part it is 0 exactly from ``max |v_j| / share`` on, where share is the part of the strength
      that is l1. For losses without kinks W = 0 is not optimal below that; where rows sit on a kink another
      subgradient might do with less. With groups of columns it is ``max |V_g| / weight_g``;
    - for L2 and Lp it is never 0. The strength returned makes it 1 % of the objective: no weights whatever
      gain more than that. With 1/p + 1/q = 1 it is
      ``(sum_j |v_j|^q / (q 0.01 P(0, b)))^(p-1)``, and ``|V|^2 / (0.02 P(0, b))`` for L2.

    0 means that the weights are 0 at every strength.
    """
    losses = problem.losses
    Z = np.zeros(losses.shape)
    if problem.intercept is Intercept.FREE:
        refit = losses.refit(Z)
        Z, U = Z + refit.shift, repaired(problem, refit.U)
    else:
        U = losses.slopes(Z)
    V, value = problem.pull(U), losses.value(Z)
    if problem.intercept is not Intercept.PENALIZED:
        return problem.penalty.largest_strength(V, value)
    if problem.penalty.has_groups:
        of_constants = problem.constants_penalty.largest_strength(losses.sums(U), value)
        return max(problem.penalty.largest_strength(V, value), of_constants)
    return problem.penalty.largest_strength(np.vstack([V, losses.sums(U)]), value)
