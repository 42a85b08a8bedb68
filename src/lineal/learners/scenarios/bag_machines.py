"""Machines of bags: which rows of positive bags are positive is chosen together with the machine.

::

    MI   M(f, b) = |f|^2 / 2 + sum_B cost_B max(0, 1 - Y_B max_{i in B} z_i)
    mi   F(f, b, y) = |f|^2 / 2 + sum_i cost_{B(i)} max(0, 1 - y_i z_i),    y_i = -1 in negative bags,
                                                                     some y_i = +1 in every positive bag

(Andrews, Tsochantaridis and Hofmann 2003). With a row of each positive bag as its witness, or with signs of
all rows, what is left is convex. The witness with the highest score, and the signs of the scores with the
highest at least +1, are the best for a given machine: the two steps in turn never go uphill.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError
from lineal.learners.scenarios.bags import Bags
from lineal.learners.scenarios.machines import Clock, Fit, improved
from lineal.learners.scenarios.space import ScenarioEngine
from lineal.objective.certificate import Stop
from lineal.objective.losses import FloatArray
from lineal.solvers.group_smo import Groups, best_intercept, solve

# A choice changes when it lowers the objective by more than rounding.
_ROUNDING = 1e-12
# The most rounds in which rows of negative bags are added to a machine; far fewer are needed.
_MOST_CUTS = 200
# Rows whose kernel matrix is held: 800 MB.
GRAM_LIMIT = 10_000


@dataclass(frozen=True)
class BagRound:
    """One machine on the way.

    Attributes
    ----------
    start : which start it belongs to, from 0 on
    changed : how many bags (MI) or rows (mi) changed before it
    objective : never rises from round to round of a start
    relative_gap : how close the machine is proved to be to the best for its witnesses or signs
    """

    start: int
    changed: int
    objective: float
    relative_gap: float


@dataclass(frozen=True, eq=False)
class BagResult:
    """A machine, signs of all rows, the way there and why it ended."""

    fit: Fit
    signs: FloatArray
    objective: float
    rounds: list[BagRound]
    stopped: str
    stop: Stop | None  # where the search was cut short


@dataclass(frozen=True, eq=False)
class BagTask:
    """Bags with signs and costs.

    Attributes
    ----------
    engine : rows that machines are solved on
    bags : Bags
    sign : (B,) -1.0 or +1.0
    cost : (B,) what a unit of slack costs; bags of cost 0 take no part
    tol : float
        The relative gap of machines.
    """

    engine: ScenarioEngine
    bags: Bags
    sign: FloatArray
    cost: FloatArray
    tol: float

    @property
    def positive(self) -> NDArray[np.intp]:
        """The positive bags that take part."""
        return np.flatnonzero((self.sign > 0) & (self.cost > 0))

    @property
    def negative(self) -> NDArray[np.intp]:
        """The negative bags that take part."""
        return np.flatnonzero((self.sign < 0) & (self.cost > 0))

    @property
    def has_choice(self) -> bool:
        """Whether a positive bag has more than one row."""
        return bool((self.bags.sizes[self.positive] > 1).any())

    def begin(self, rng: np.random.Generator | None, clock: Clock) -> FloatArray:
        """Scores by the plain machine in which the rows of a bag, all with its sign, share its cost.

        They share it alike, or as is drawn: some rows are believed more than others, and which depends on
        the draw. Witnesses drawn one by one would mostly contradict each other.
        """
        bag, shares = self.bags.bag, np.ones(len(self.bags.bag))
        if rng is not None:
            shares = rng.exponential(size=len(bag)) ** 2
        total = np.bincount(bag, weights=shares, minlength=self.bags.n_bags)
        cost = self.cost[bag] * shares / total[bag]
        return self.engine.solve(self.sign[bag], cost, None, clock.left).z

    def bag_objective(self, fit: Fit) -> float:
        """M, the hinge of the highest score of each bag."""
        slack = np.maximum(0.0, 1 - self.sign * self.bags.highest(fit.z))
        return fit.half_norm + float(self.cost @ slack)

    # ---- MI: a witness for each positive bag ----------------------------------------------------

    def by_witnesses(self, witness: NDArray[np.intp], start: int, clock: Clock) -> BagResult:
        """Machine and witnesses in turn, from these witnesses on."""
        rounds: list[BagRound] = []
        fit, changed = self._machine(witness, None, clock), 0
        while True:
            objective = self._witness_objective(fit, witness)
            rounds.append(BagRound(start, changed, objective, fit.certificate.relative_gap))
            stop = clock.stop
            if stop or not objective - self.bag_objective(fit) > _ROUNDING * objective:
                break
            better = self.bags.witnesses(fit.z)
            changed = int(np.count_nonzero(better[self.positive] != witness[self.positive]))
            witness = better
            found = self._machine(witness, fit, clock)
            fit = self._never_worse(found, fit, witness)
        signs = self.best_signs(fit.z)
        why = clock.words(stop, "no witness lowers the objective")
        return BagResult(fit, signs, objective, rounds, why, stop)

    def _witness_objective(self, fit: Fit, witness: NDArray[np.intp]) -> float:
        """What is minimised for these witnesses; at the best ones it is M."""
        highest = self.bags.highest(fit.z)
        score = np.where(self.sign > 0, fit.z[witness], highest)
        return fit.half_norm + float(self.cost @ np.maximum(0.0, 1 - self.sign * score))

    def _never_worse(self, found: Fit, before: Fit, witness: NDArray[np.intp]) -> Fit:
        """The machine before, where the tolerance let the new one end above it."""
        old = self._witness_objective(before, witness)
        if self._witness_objective(found, witness) <= old:
            return found
        proof = found.certificate
        tol = proof.relative_gap if proof.converged else -np.inf  # below what was certified
        kept = proof.proved_again(old, proof.dual, size=max(old, 1e-300), tol=tol)
        return replace(before, certificate=kept)

    def _machine(self, witness: NDArray[np.intp], before: Fit | None, clock: Clock) -> Fit:
        """The best machine for these witnesses, by rows of negative bags that are added as they matter.

        The loss of a negative bag is the largest over its rows. With few of them the problem is smaller and
        its dual is a lower bound of the whole; rows whose score is the highest of their bag are added until
        the bound meets the objective (Kelley 1960; Joachims, Finley and Yu 2009).
        """
        a = self._duals(witness, before)
        z = np.zeros(len(a)) if before is None else before.z
        is_in = a > 0
        is_in[witness[self.positive]] = is_in[self.bags.witnesses(z)[self.negative]] = True
        tol = self.tol / 2
        for _ in range(_MOST_CUTS):
            fit = self._restricted(np.flatnonzero(is_in), witness, a, tol, clock)
            if fit.certificate.relative_gap <= self.tol or clock.stop:
                break
            a = self._duals(witness, fit)
            news = self.bags.witnesses(fit.z)[self.negative]
            if is_in[news].all():
                tol /= 4
                if tol < 1e-3 * self.tol:
                    break
            is_in[news] = True
        return fit

    def _duals(self, witness: NDArray[np.intp], fit: Fit | None) -> FloatArray:
        """(n,) dual variables to begin with: a positive bag's go to its witness."""
        a = np.zeros(len(self.bags.bag))
        if fit is not None:
            a = self.cost[self.bags.bag] * np.abs(fit.u)
            total = np.bincount(self.bags.bag, weights=a, minlength=self.bags.n_bags)
            a[self.sign[self.bags.bag] > 0] = 0.0
            a[witness[self.positive]] = total[self.positive]
        return a

    def _restricted(
        self, rows: NDArray[np.intp], witness: NDArray[np.intp], a: FloatArray, tol: float, clock: Clock
    ) -> Fit:
        """The machine of some rows, judged on all of them."""
        if len(rows) > GRAM_LIMIT:
            raise InputError(
                f"variant='MI' holds the kernel matrix of the {len(rows):,} rows that matter, possible up to "
                f"{GRAM_LIMIT:,}. Use variant='mi' with kernel='linear', or fewer bags."
            )
        rows = rows[np.argsort(self.bags.bag[rows], kind="stable")]
        bag = self.bags.bag[rows]
        first = np.flatnonzero(np.append(True, bag[1:] != bag[:-1]))
        groups = Groups(first, self.sign[bag[first]], self.cost[bag[first]], len(rows))
        found = solve(self.engine.block(rows), groups, tol=tol, start=a[rows], max_seconds=clock.left)
        beta = found.a * self.sign[bag]
        f, weights = self.engine.expanded(rows, beta)
        half = float(beta @ f[rows]) / 2
        score = np.where(self.sign > 0, f[witness], self.bags.highest(f))
        b = best_intercept(self.sign * score, self.sign, self.cost)
        slack = np.maximum(0.0, 1 - self.sign * (score + b))
        primal, dual = half + float(self.cost @ slack), found.certificate.dual
        proof = found.certificate.proved_again(primal, dual, size=groups.yardstick(primal), tol=self.tol)
        u = np.zeros(len(f))
        u[rows] = -beta / self.cost[bag]
        return Fit(f + b, half, weights, b, u, proof)

    # ---- mi: a sign for each row ----------------------------------------------------------------

    def by_signs(self, signs: FloatArray, start: int, clock: Clock) -> BagResult:
        """Machine and signs in turn, from these signs on."""
        cost, y = self.cost[self.bags.bag], signs
        rounds: list[BagRound] = []
        fit, changed = self.engine.solve(y, cost, None, clock.left), 0
        while True:
            objective = fit.objective(y, cost)
            rounds.append(BagRound(start, changed, objective, fit.certificate.relative_gap))
            better = self.best_signs(fit.z)
            stop = clock.stop
            if stop or not objective - fit.objective(better, cost) > _ROUNDING * objective:
                break
            changed, y = int(np.count_nonzero(better != y)), better
            fit = improved(self.engine, y, cost, fit, clock.left)
        return BagResult(fit, y, objective, rounds, clock.words(stop, "no sign lowers the objective"), stop)

    def best_signs(self, z: FloatArray) -> FloatArray:
        """(n,) those of the scores; -1 in negative bags, and +1 for the highest of a positive bag."""
        signs = np.where((z >= 0) & (self.sign[self.bags.bag] > 0), 1.0, -1.0)
        signs[self.bags.witnesses(z)[self.sign > 0]] = 1.0
        return signs


def best_of_starts(task: BagTask, variant: str, n_starts: int, seed: int, clock: Clock) -> list[BagResult]:
    """What each start led to, the best first: one believes all rows alike, the others as is drawn."""
    rng = np.random.default_rng(seed)
    results = []
    for start in range(n_starts if task.has_choice else 1):
        if start and clock.stop:
            break
        is_drawn = start > 0
        if variant == "MI":
            witness = task.bags.witnesses(task.begin(rng if is_drawn else None, clock))
            results.append(task.by_witnesses(witness, start, clock))
        else:
            signs = task.best_signs(task.begin(rng, clock)) if is_drawn else task.sign[task.bags.bag]
            results.append(task.by_signs(signs, start, clock))
    return sorted(results, key=lambda result: result.objective)
