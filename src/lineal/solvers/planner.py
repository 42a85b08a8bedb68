"""Which solver for which problem: of those that suit its losses and penalty, by what they should cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lineal.errors import CombinationError, NoMinimumError, ParameterError
from lineal.objective.problem import Problem
from lineal.solvers.base import Solver, takes
from lineal.solvers.catalogue import SOLVERS
from lineal.solvers.costs import Cost
from lineal.solvers.newton import is_direct, is_sampled
from lineal.solvers.ranking_newton import RankingNewton
from lineal.solvers.row_space import is_in_row_space

# Seconds that nobody feels: a solver that is sure to end within them is taken before one that may be quicker.
# Nobody knows how long others take on data at hand: they are chosen where they promise to be so much quicker.
_UNFELT, _RISK = 0.02, 3.0
# Ascent on joint hinges is over soon or creeps, and nobody knows which: it is tried where steps from the
# inside, which do neither, should take more than so many seconds.
_SOON = 0.2
# The smaller of rows and columns up to which least squares is factorised without a thought; above it, where
# that takes no more multiplications than 300 passes, which are bound by memory and ten times as slow as BLAS.
_SMALL = 1000
_PASSES = 300 * 4 * 10


@dataclass(frozen=True)
class Plan:
    """The solvers to run, in turn, why, and what each is predicted to take."""

    solvers: tuple[Solver, ...]
    reason: str
    costs: tuple[Cost, ...] = ()

    def __str__(self) -> str:
        told = "; ".join(f"{s.name} {cost}" for s, cost in zip(self.solvers, self.costs, strict=False))
        return f"{' then '.join(s.name for s in self.solvers)}: {self.reason}{f' ({told})' if told else ''}"

    def priced(self, problem: Problem) -> Plan:
        """The same with its costs."""
        return replace(self, costs=tuple(solver.cost(problem) for solver in self.solvers))

    def resumed(self, problem: Problem, n_epochs: int | None) -> Plan:
        """The plan for a fit from a dual point of another one, in so many epochs at most.

        A solver that begins anew, and is not sure to end within them, would get no further fit after fit:
        where the dual can be ascended row by row, that goes on from any point.
        """
        first, ascent = self.solvers[0], SOLVERS["dual_cd"]()
        if n_epochs is None or first.goes_on(problem) or not takes(ascent, problem):
            return self
        cost = first.cost(problem)
        if cost.total is not None and n_epochs * cost.epoch > cost.total:
            return self
        return Plan((ascent,), "few epochs, from where the last fit ended: the dual goes on").priced(problem)


def plan(problem: Problem, solver: str | Solver = "auto") -> Plan:
    """The plan for a problem, or a refusal that names what to use; touches no data."""
    if not problem.losses.has_minimum:
        raise NoMinimumError(
            "Perceptron() as an objective is minimised by w = 0 under any penalty, so there is nothing "
            "to fit. Use Hinge() for a large-margin model, or run the perceptron algorithm itself."
        )
    if solver == "auto":
        return _choose(problem)
    if not isinstance(solver, (str, Solver)):
        raise ParameterError(f"solver must be 'auto', one of {sorted(SOLVERS)} or a Solver, got {solver!r}.")
    if isinstance(solver, str):
        if solver not in SOLVERS:
            raise ParameterError(
                f"solver={solver!r} is not known; choose 'auto' or one of {sorted(SOLVERS)}."
            )
        solver = SOLVERS[solver]()
    if (refusal := solver.refusal(problem)) is not None:
        raise CombinationError(f"{refusal}, or solver='auto'.")
    return Plan((solver,), "asked for").priced(problem)


def _choose(problem: Problem) -> Plan:
    """The solver that is expected to take the least time, and others to hand over to."""
    suited = candidates(problem)
    able = [(solver, solver.cost(problem)) for solver in suited if takes(solver, problem)]
    if not able:
        refusals = "; ".join(filter(None, (solver.refusal(problem) for solver in suited)))
        raise CombinationError(f"no solver takes {problem.losses.names} with {problem.penalty}: {refusals}.")
    if problem.losses.is_by_score or problem.losses.is_smooth:
        able.sort(key=lambda each: _preference(each[1]))
        if [solver.name for solver, _ in able[:2]] == ["lbfgs", "newton"] and problem.penalty.is_zero:
            # Nothing holds columns together but the losses, as badly as raw ones are; and without a penalty
            # each proof takes a system as large as one of Newton's.
            able[:2] = reversed(able[:2]) if is_direct(problem) else able[:2]
    elif [solver.name for solver, _ in able[:2]] == ["interior", "dual_cd"] and (
        able[0][1].expected > max(_SOON, able[1][1].expected)
    ):
        able[:2] = reversed(able[:2])
    chain = able[:2]
    interior = SOLVERS["interior"]()
    is_new = all(solver.name != interior.name for solver, _ in chain)
    is_exact = problem.losses.is_quadratic and not problem.penalty.has_groups
    if is_new and not is_exact and takes(interior, problem):
        # A last road, which minds neither units nor strengths.
        chain[1:] = [(interior, interior.cost(problem))]
    reason = f"{_reason(problem, chain[0][0])} ({_size(problem)}){_remark(problem)}"
    return Plan(tuple(solver for solver, _ in chain), reason, tuple(cost for _, cost in chain))


def _preference(cost: Cost) -> tuple[bool, float]:
    """What is sure to end soon comes first; then all others, by what is expected."""
    if cost.total is not None:
        return cost.total > _UNFELT, cost.expected
    return True, _RISK * cost.expected


def candidates(problem: Problem) -> list[Solver]:
    """The solvers that suit a problem's losses and penalty; costs tell which of them suits its size.

    Of joint hinges they cannot tell how ascent will do: what stands behind it takes over where it creeps.
    """
    losses, penalty = problem.losses, problem.penalty
    if losses.ranking is not None and takes(ranking := RankingNewton(), problem):
        return [ranking]
    if penalty.has_groups:
        first = ["interior"] if not losses.is_smooth and not problem.has_shared_weights else []
        sets = "prox_cd" if takes(SOLVERS["prox_cd"](), problem) else "nesterov"
        return [SOLVERS[name]() for name in [*first, sets]]
    if losses.is_quadratic and takes(SOLVERS["closed_form"](), problem) and _is_factorised_sooner(problem):
        return [SOLVERS["closed_form"]()]
    names: list[str] = []
    # With more columns than rows it may end before the weights that L1 holds at 0 are exactly 0.
    is_wide = penalty.has_corners and problem.X.n_columns > problem.X.n_rows
    if not losses.is_smooth and not problem.has_shared_weights and not is_wide:
        names.append("interior")
    if penalty.has_corners:
        # Orthant by orthant where no working set can be had.
        names.append("prox_cd" if takes(SOLVERS["prox_cd"](), problem) else "lbfgs")
    else:
        has_dual_steps = takes(SOLVERS["dual_cd"](), problem)
        # Joint hinges bend in few places at once: rounded, they leave a Hessian little to say.
        is_rounded_well = losses.is_by_score or losses.is_smooth
        names.extend(["dual_cd"] if has_dual_steps else [])
        names.extend(["newton"] if is_rounded_well else [])
        names.extend(["lbfgs"] if not (has_dual_steps and is_rounded_well) else [])
    return [SOLVERS[name]() for name in names]


_REASONS = {
    "closed_form": "least squares of this size has a closed form",
    "interior": "losses with kinks, and a small system: a few steps from the inside of the dual's domain",
    "newton": "few columns: a small Hessian converges in a few steps",
    "dual_cd": "many columns, or a strong penalty: the dual needs only a few passes over the rows",
}


def _reason(problem: Problem, solver: Solver) -> str:
    """Why this solver, in words that name what of the problem it suits."""
    losses, penalty = problem.losses, problem.penalty
    if losses.ranking is not None and takes(RankingNewton(), problem):
        return "pairs of a ranking: a walk over sorted scores for each product"
    if solver.name == "nesterov":
        return f"{penalty} has a proximal step"
    if solver.name == "prox_cd":
        what = "whole groups" if penalty.has_groups else "weights"
        return f"{penalty} sets {what} to 0, which working sets exploit"
    if solver.name == "lbfgs":
        how = "is linear orthant by orthant" if penalty.has_corners else "is differentiable"
        return f"{penalty} {how}" if losses.is_smooth else f"{penalty} {how}; kinks are smoothed in stages"
    if solver.name == "dual_cd" and not (losses.is_by_score or losses.is_smooth):
        return "a joint hinge: ascent on the dual row by row, which is left where it creeps"
    if solver.name == "interior" and not losses.is_by_score:
        return "a joint hinge, and a small system: a few steps from the inside of the dual's simplices"
    reason = _REASONS[solver.name]
    if solver.name == "newton" and is_sampled(problem):
        reason = "few columns: steps of second order, with the Hessian of a sample of rows"
    elif solver.name == "newton" and not is_direct(problem):
        reason = "many columns: steps of second order by conjugate gradients"
    elif solver.name == "newton" and is_in_row_space(problem):
        reason = "few rows: in their own coordinates a small Hessian converges in a few steps"
    if solver.name == "newton" and not losses.is_smooth:
        reason += ", the kinks smoothed in stages"
    return reason


def _is_factorised_sooner(problem: Problem) -> bool:
    """Whether a Gram matrix and its factors, which give all digits, take less time than passes would."""
    n, d = problem.X.n_rows, problem.X.n_columns
    size = min(n, d)
    n_stored = problem.X.n_stored
    # Eigenvectors, which sparse columns without a penalty need, take ten times a triangular factor.
    cubes = 10 if problem.X.is_sparse and problem.penalty.is_zero else 1
    factorising = n_stored * n_stored / n + cubes * size**3
    return size <= _SMALL or factorising <= _PASSES * n_stored


def _size(problem: Problem) -> str:
    K = problem.n_outputs
    return f"{problem.X.n_rows:,} rows, {problem.X.n_columns:,} columns" + (f", {K} outputs" if K > 1 else "")


def _remark(problem: Problem) -> str:
    """What a loss that the core does not know costs."""
    rows = problem.losses.rows
    if rows is None or rows.has_dual_step or not rows.is_by_score:
        return ""
    if rows.loss.native is None:
        return "; a custom loss has no dual step, and in Python it is slower than a compiled one"
    return "; a custom loss has no dual step"
