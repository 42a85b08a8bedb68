"""Which solver for which problem, as a table, with the reason in a sentence."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lineal.errors import CombinationError, NoMinimumError, ParameterError
from lineal.objective.problem import Problem
from lineal.solvers.base import Solver, takes
from lineal.solvers.catalogue import SOLVERS
from lineal.solvers.costs import Cost
from lineal.solvers.dual_cd import DualCD
from lineal.solvers.newton import Newton, is_direct
from lineal.solvers.ranking_newton import RankingNewton

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
    wanted = _with_a_last_road(problem, _prefer(problem))
    able = tuple(solver for solver in wanted.solvers if solver.refusal(problem) is None)
    if not able:
        raise CombinationError(
            f"no solver takes {problem.losses.names} with {problem.penalty}: {_refusal(problem, wanted)}."
        )
    return Plan(able, wanted.reason + _remark(problem)).priced(problem)


def _with_a_last_road(problem: Problem, wanted: Plan) -> Plan:
    """The interior point at the end, where losses have kinks: its few steps do not mind units or strengths.

    It is last because its dual points lie inside their domain, so that no row has a dual variable of 0; and
    left out under L1, where its weights come near 0 and are not 0.
    """
    interior = SOLVERS["interior"]()
    if problem.losses.is_smooth or problem.penalty.has_corners or not takes(interior, problem):
        return wanted
    return replace(wanted, solvers=(*wanted.solvers, interior))


def _remark(problem: Problem) -> str:
    """What a loss that the core does not know costs."""
    rows = problem.losses.rows
    if rows is None or rows.has_dual_step or not rows.is_by_score:
        return ""
    if rows.loss.native is None:
        return "; a custom loss has no dual step, and in Python it is slower than a compiled one"
    return "; a custom loss has no dual step"


def _refusal(problem: Problem, wanted: Plan) -> str:
    return "; ".join(filter(None, (solver.refusal(problem) for solver in wanted.solvers)))


def _is_factorised_sooner(problem: Problem) -> bool:
    """Whether a Gram matrix and its factors take less time than the passes of other solvers."""
    n, d = problem.X.n_rows, problem.X.n_columns
    size = min(n, d)
    n_stored = problem.X.n_stored
    # Eigenvectors, which sparse columns without a penalty need, take ten times a triangular factor.
    cubes = 10 if problem.X.is_sparse and problem.penalty.is_zero else 1
    factorising = n_stored * n_stored / n + cubes * size**3
    return size <= _SMALL or factorising <= _PASSES * n_stored


def _prefer(problem: Problem) -> Plan:
    n, d, K = problem.X.n_rows, problem.X.n_columns, problem.n_outputs
    losses, penalty = problem.losses, problem.penalty
    size = f"{n:,} rows, {d:,} columns" + (f", {K} outputs" if K > 1 else "")
    if losses.is_quadratic and takes(SOLVERS["closed_form"](), problem) and _is_factorised_sooner(problem):
        return Plan((SOLVERS["closed_form"](),), f"least squares of this size ({size}) has a closed form")
    if losses.ranking is not None and takes(ranking := RankingNewton(), problem):
        return Plan((ranking,), f"pairs of a ranking ({size}): a walk over sorted scores for each product")
    if penalty.has_groups:
        if takes(SOLVERS["prox_cd"](), problem):
            how = "sets whole groups to 0, which working sets exploit"
            return Plan((SOLVERS["prox_cd"](),), f"{penalty} {how} ({size})")
        return Plan((SOLVERS["nesterov"](),), f"{penalty} has a proximal step ({size})")
    has_corners, is_shared = penalty.has_corners, problem.has_shared_weights
    if not (losses.is_by_score or losses.is_smooth) and (has_corners or is_shared):
        how = ", orthant by orthant" if has_corners else ""
        return Plan(
            (SOLVERS["lbfgs"](),), f"the joint hinge under {penalty} is smoothed in stages{how} ({size})"
        )
    if has_corners and is_shared:
        return Plan(
            (SOLVERS["lbfgs"](),), f"{penalty} on shared weights is linear orthant by orthant ({size})"
        )
    if has_corners and not takes(SOLVERS["prox_cd"](), problem):
        return Plan((SOLVERS["lbfgs"](),), f"{penalty} is linear orthant by orthant ({size})")
    if has_corners:
        return Plan(
            (SOLVERS["prox_cd"](),), f"{penalty} sets weights to 0, which working sets exploit ({size})"
        )
    if penalty.is_ridge and takes(DualCD(), problem):
        if is_direct(problem) and n > d and (losses.is_smooth or losses.is_by_score):
            how = "a small Hessian" if losses.is_smooth else "a small Hessian, the kinks smoothed in stages"
            return Plan(
                (Newton(), DualCD()), f"few columns and many rows ({size}): {how} converges in a few steps"
            )
        return Plan(
            (DualCD(), Newton()), f"many columns ({size}): the dual needs only a few passes over the rows"
        )
    if is_direct(problem):
        return Plan(
            (Newton(), SOLVERS["lbfgs"]()), f"few columns ({size}): a small Hessian converges in a few steps"
        )
    return Plan(
        (SOLVERS["lbfgs"](), Newton()), f"{penalty} is differentiable and the columns are many ({size})"
    )
