"""Signs for rows without a label, chosen together with the machine that separates them.

::

    F(f, b, y_U) = |f|^2 / 2 + sum_L cost_i max(0, 1 - y_i z_i) + sum_U cost_i max(0, 1 - y_i z_i)

over f, b and signs of the rows in U of which exactly ``n_positive`` are +1 (Joachims 1999). For given signs
it is convex; for a given machine the best signs are a choice of the n_positive rows with the least
cost_i (max(0, 1 - z_i) - max(0, 1 + z_i)), which is exact. Doing the one and the other in turn lowers F with
every step, and ends: there are finitely many signs, and none comes twice.

F has many such ends. Annealing starts with costs of U so small that they decide nothing, and doubles them:
the labelled rows decide first, and the unlabelled ones bend what they decided.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lineal.learners.scenarios.machines import Clock, Engine, Fit, improved
from lineal.objective.certificate import Stop
from lineal.objective.losses import FloatArray

# Signs change when F falls by more than rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Round:
    """One machine on the way.

    Attributes
    ----------
    label : whose class is +1
    cost : what a unit of an unlabelled row's slack costs at this level of annealing
    switched : how many pairs of unlabelled rows changed sides before it
    objective : F; within a level it never rises
    relative_gap : how close F is proved to be to its minimum for these signs
    """

    label: object
    cost: float
    switched: int
    objective: float
    relative_gap: float


@dataclass(frozen=True, eq=False)
class Transduction:
    """Signs of all rows, the machine, the way there and why it ended."""

    y: FloatArray
    fit: Fit
    rounds: list[Round]
    stopped: str
    stop: Stop | None = None  # where annealing was cut short


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a transduction.

    Attributes
    ----------
    y : (n,) signs of labelled rows; anything for the others
    cost : (n,) the costs in the end
    unknown : the rows that need a sign
    n_positive : how many of them get +1
    """

    y: FloatArray
    cost: FloatArray
    unknown: NDArray[np.intp]
    n_positive: int

    def at_level(self, factor: float) -> FloatArray:
        """The costs with those of unknown rows scaled."""
        cost = self.cost.copy()
        cost[self.unknown] *= factor
        return cost

    def best_signs(self, z: FloatArray) -> FloatArray:
        """(n,) signs that make the losses least under the balance; ties go to the earlier row."""
        chosen = np.argsort(self._price(z)[self.unknown], kind="stable")[: self.n_positive]
        y = self.y.copy()
        y[self.unknown] = -1.0
        y[self.unknown[chosen]] = 1.0
        return y

    def switched(self, y: FloatArray, z: FloatArray, switches: int | None) -> FloatArray:
        """The best signs, or those after so many switches towards them, the most profitable first.

        A switch takes a row from each side. Every row that should leave the positive side has a higher price
        there than every row that should join it, so each switch by itself lowers F.
        """
        best = self.best_signs(z)
        down, up = np.flatnonzero(best < y), np.flatnonzero(best > y)
        if switches is None or len(down) <= switches:
            return best
        price, result = self._price(z), y.copy()
        result[down[np.argsort(-price[down], kind="stable")[:switches]]] = -1.0
        result[up[np.argsort(price[up], kind="stable")[:switches]]] = 1.0
        return result

    def _price(self, z: FloatArray) -> FloatArray:
        """What +1 costs more than -1: cost (max(0, 1 - z) - max(0, 1 + z)), which falls with z."""
        return self.cost * (np.maximum(0.0, 1 - z) - np.maximum(0.0, 1 + z))


def transduce(
    engine: Engine, rows: Rows, label: object, *, levels: int, switches: int | None, clock: Clock
) -> Transduction:
    """Anneals the cost of the unlabelled rows through 2^(1 - levels) ... 1/2, 1 of what it is in the end."""
    fit = engine.solve(rows.y, rows.at_level(0.0), None, clock.left)
    if not len(rows.unknown):
        return Transduction(rows.y, fit, [], "no unlabelled rows")
    y, rounds = rows.best_signs(fit.z), []
    factor, highest = 1.0, float(rows.cost[rows.unknown].max())
    for level in range(levels):
        factor = 2.0 ** (level + 1 - levels)
        cost, switched = rows.at_level(factor), 0
        while True:
            fit = improved(engine, y, cost, fit, clock.left)
            objective, gap = fit.objective(y, cost), fit.certificate.relative_gap
            rounds.append(Round(label, factor * highest, switched, objective, gap))
            if (stop := clock.stop) is not None:
                return Transduction(y, fit, rounds, clock.words(stop, ""), stop)
            wanted = rows.switched(y, fit.z, switches)
            if not objective - fit.objective(wanted, cost) > _ROUNDING * objective:
                break
            switched = int(np.count_nonzero(wanted != y)) // 2
            y = wanted
    return Transduction(y, fit, rounds, "no switch lowers the objective")
