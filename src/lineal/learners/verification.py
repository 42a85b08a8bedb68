"""Checks that owe nothing to the code they check: verify, check_gradient, empirical_risk."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from lineal.errors import InputError, ParameterError
from lineal.learners.classifier import BaseLinearClassifier
from lineal.learners.kernel.machine import KernelMachineModel
from lineal.learners.kernel.problems import Claim, Conditions
from lineal.learners.model import LinearModel
from lineal.learners.regressor import BaseLinearRegressor
from lineal.learners.scenarios.certified import CertifiedLearner
from lineal.learners.scenarios.ranking.learner import RankSVM
from lineal.learners.scenarios.space import KernelScorer
from lineal.learners.targets import codes_among, require_targets, weights_of_rows
from lineal.objective.bounds import Bound, bound_within_rounding, worst_term
from lineal.objective.certificate import Certificate, sum_certificates
from lineal.objective.dual_points import (
    best_within_rounding,
    feasible,
    gradient_point,
    kink_point,
    newton_point,
)
from lineal.objective.losses import FloatArray, Loss
from lineal.objective.problem import Problem
from lineal.protocol import check_is_fitted
from lineal.solvers.offsets import near_zero


def verify(
    model: LinearModel | CertifiedLearner | RankSVM | KernelMachineModel,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    tol: float | None = None,
    use_dual: bool = True,
    **data: Any,
) -> Certificate:
    """Proves again, from the model's weights, how far from the optimum it is.

    Everything is computed anew in NumPy and float64; no native code takes part. The bound is the best of
    several dual points: the slopes of the losses at the model's scores, the slopes one Newton step ahead,
    for losses with kinks the best subgradients of the rows that sit on one, and the dual point that the
    fit kept, which is checked like any other.

    Parameters
    ----------
    model : fitted LinearClassifier, LinearRegressor, preset, OrdinalClassifier, PUClassifier or RankSVM
        Or SVC, SVR, NuSVR and OneClassSVM, whose coefficients are the dual point.
    X, y, sample_weight
        The training data; OneClassSVM has no y.
    tol : float, optional
        What ``converged`` compares with; the model's own if not given.
    use_dual : bool
        False leaves ``model.dual_`` aside, for a proof from the weights alone.
    **data
        What else the model was fitted on: ``groups`` and ``query_weight`` of a RankSVM.

    Returns
    -------
    Certificate
        Of a kernel machine one with ``kkt``: how many rows are at 0, on the margin and at the bound, and by
        how much the conditions of optimality are missed there.

    Examples
    --------
    >>> from lineal import LogisticRegression, verify
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"]
    >>> model = LogisticRegression().fit(X, y)
    >>> verify(model, X, y).converged
    True
    """
    if data and not isinstance(model, RankSVM):
        raise ParameterError(
            f"{type(model).__name__} is fitted on X, y and weights, not on {', '.join(data)}."
        )
    if isinstance(model, KernelMachineModel):
        claims = model._claims(X, y, sample_weight)
    else:
        problem = _numpy_problem(model, X, y, sample_weight, **data)
        dual = _dual_point(model, problem.losses.shape) if use_dual else None
        claims = [Claim(problem, *_weights(model), dual)]
    limit = model._tolerance if tol is None else tol
    found = [_proved(claim, limit) for claim in claims]
    whole = sum_certificates(found)
    reports = [each.kkt for each in found if isinstance(each, VerifiedMachine) and each.kkt is not None]
    return replace(whole, kkt=reduce(add, reports)) if isinstance(whole, VerifiedMachine) else whole


@dataclass(frozen=True)
class VerifiedMachine(Certificate):
    """A certificate that was proved again, and what holds of the rows.

    Attributes
    ----------
    kkt : Conditions
        Counts are summed over machines where there are several; of what is missed the worst is told.
    """

    kkt: Conditions | None = None

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.kkt}"


def _proved(claim: Claim, limit: float) -> Certificate:
    """The certificate of one problem."""
    began = time.perf_counter()
    claim = claim if claim.settle is None else claim.settle(claim)
    problem, W, b = claim.problem, claim.W, claim.b
    moved = near_zero(problem)
    if moved is None:
        Z = problem.scores(W, b)
        primal = problem.primal(W, b, Z)
    else:
        primal = moved.primal(W, b)
        problem, b = moved.problem, moved.intercept(W, b)
        Z = problem.scores(W, b)
    bound, source = _best_bound(problem, W, b, Z, primal, claim, limit)
    kkt = None if claim.kkt is None else claim.kkt(claim.problem.X.dot(claim.W)[:, 0])
    kind = Certificate if kkt is None else VerifiedMachine
    more: dict[str, Any] = {} if kkt is None else {"kkt": kkt}
    return kind.of_proof(
        primal,
        bound.dual,
        size=problem.yardstick(primal),
        tol=limit,
        worst=worst_term(problem, W, b, Z, bound),
        solver="verify",
        seconds=time.perf_counter() - began,
        stop=None,
        reason=f"recomputed from the weights; dual point: {source}",
        is_rounding=claim.problem.is_rounding(primal, bound.dual, claim.W, claim.b),
        **more,
    )


def _best_bound(
    problem: Problem,
    W: FloatArray,
    b: FloatArray,
    Z: FloatArray,
    primal: float,
    claim: Claim,
    limit: float,
) -> tuple[Bound, str]:
    losses = problem.losses
    candidates: list[tuple[str, Callable[[], Any]]] = []
    if claim.dual is not None:
        candidates.append((claim.source, lambda: claim.dual))
    candidates.append(("slopes of the losses", lambda: gradient_point(problem, Z)))
    n_cheap = len(candidates)
    if losses.is_smooth and losses.has_array_duals:
        candidates.append(("slopes one Newton step ahead", lambda: newton_point(problem, W, b, Z)))
    best, source = Bound(losses.anchor(), np.zeros_like(W), -np.inf), "none"
    for k, (name, make) in enumerate(candidates):
        # With many columns and outputs a Newton step takes minutes: only if the proof needs it.
        is_dear = problem.X.is_dear or (k == n_cheap and W.size > 200_000)
        if is_dear and problem.relative_gap(primal, best.dual) <= limit:
            break
        U = make()
        assert U is not None
        bound = feasible(problem, U, W, b)
        if bound.dual > primal and problem.relative_gap(primal, bound.dual) == np.inf:
            # No bound is above P: V was rounded by more than is between them.
            bound = bound_within_rounding(problem, U, W, b) or bound
        if bound.dual > best.dual:
            best, source = bound, name
    if not problem.relative_gap(primal, best.dual) <= limit:
        for name, U in losses.dual_candidates(Z):
            bound = feasible(problem, U, W, b)
            if bound.dual > best.dual:
                best, source = bound, name
    if not problem.relative_gap(primal, best.dual) <= limit and not problem.X.is_dear:
        found, name = best_within_rounding(problem, W, b, Z, claim.dual)
        if found is not None and found.dual > best.dual:
            best, source = found, name
    # Choosing subgradients takes seconds where hundreds of rows sit on a kink: only if the proof needs it.
    if not (losses.is_smooth or problem.X.is_dear or problem.relative_gap(primal, best.dual) <= limit):
        for _ in range(3):
            U = kink_point(problem, W, b, Z, primal, best.dual)
            if U is None:
                break
            bound = feasible(problem, U, W, b)
            if not bound.dual > best.dual:
                break
            best, source = bound, "subgradients chosen on the kinks"
    return best, source


def _dual_point(model: LinearModel | CertifiedLearner | RankSVM, shape: tuple[int, ...]) -> Any:
    """What the fit kept, if it kept any and if these are the rows that it was fitted on."""
    kept = getattr(model, "dual_scores_" if isinstance(model, RankSVM) else "dual_", None)
    if kept is None:
        return None
    if kept.shape != shape[: kept.ndim]:
        raise InputError(
            f"the model was fitted on {kept.shape[0]} rows, not {shape[0]}: verify on the training data."
        )
    return kept if isinstance(model, LinearModel) else model._dual_point


@dataclass(frozen=True)
class GradientCheck:
    """A gradient beside its numerical twin.

    ``ratio`` is |numerical - given| / |numerical + given|; ``passed`` means ratio <= 1e-6.
    """

    ratio: float
    numerical: FloatArray
    given: FloatArray

    @property
    def passed(self) -> bool:
        """Whether the two agree."""
        return self.ratio <= 1e-6


def check_gradient(
    value: Callable[[FloatArray], float],
    gradient: Callable[[FloatArray], FloatArray],
    at: Any,
    *,
    epsilon: float = 1e-4,
) -> GradientCheck:
    """Compares a gradient with central differences of its function, coordinate by coordinate.

    Use it away from kinks and away from the optimum, where both norms are noise.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import check_gradient
    >>> check_gradient(lambda w: float(w @ w) / 2, lambda w: w, [1.0, -2.0]).passed
    True
    >>> check_gradient(lambda w: float(w @ w) / 2, lambda w: 1.001 * w, [1.0, -2.0]).passed
    False
    """
    point = np.array(at, dtype=np.float64)
    numerical = np.empty_like(point)
    for index in np.ndindex(point.shape):
        ahead, behind = point.copy(), point.copy()
        ahead[index] += epsilon
        behind[index] -= epsilon
        numerical[index] = (value(ahead) - value(behind)) / (2 * epsilon)
    given = np.asarray(gradient(point), dtype=np.float64)
    total = float(np.linalg.norm(numerical + given))
    difference = float(np.linalg.norm(numerical - given))
    return GradientCheck(
        difference / total if total > 0 else (0.0 if difference == 0 else np.inf), numerical, given
    )


def empirical_risk(
    model: LinearModel | CertifiedLearner, X: Any, y: Any, loss: Loss | None = None, sample_weight: Any = None
) -> float:
    """The average loss of a fitted model on data: the model's own loss, or another one.

    Examples
    --------
    >>> from lineal import LogisticRegression, empirical_risk
    >>> from lineal.objective import ZeroOne
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> empirical_risk(LogisticRegression().fit(X, y), X, y, loss=ZeroOne())
    0.0
    """
    if isinstance(model, CertifiedLearner) and loss is not None:
        raise ParameterError(
            f"the risk of {type(model).__name__} is told of its own loss alone: leave loss out."
        )
    problem = _numpy_problem(model, X, y, sample_weight)
    Z, losses = problem.scores(*_weights(model)), problem.losses
    if loss is None:
        return losses.value(Z) / losses.total_weight
    rows = losses.rows
    assert rows is not None
    if rows.is_by_score and Z.shape[1] == 1:
        return float(rows.s @ loss.value(rows.y, Z)[:, 0]) / rows.total_weight
    if isinstance(model, BaseLinearClassifier) and not isinstance(loss, Loss):
        gold = rows.y.argmax(axis=1) if rows.is_by_score else rows.y
        return float(rows.s @ (Z.argmax(axis=1) != gold)) / rows.total_weight
    joint = loss.joint() if not rows.is_by_score and loss.joint is not None else loss
    values = joint.value(rows.y, Z)
    return float(rows.s @ values.reshape(len(Z), -1).sum(axis=1)) / rows.total_weight


def _weights(model: LinearModel | CertifiedLearner | RankSVM) -> tuple[FloatArray, FloatArray]:
    """(W, b) as the model's problem knows them."""
    if isinstance(model, (CertifiedLearner, RankSVM)):
        return model._problem_weights()
    W, b = np.atleast_2d(model.coef_).T, np.atleast_1d(model.intercept_)
    return W.astype(np.float64), b.astype(np.float64)


def _numpy_problem(
    model: LinearModel | CertifiedLearner | RankSVM, X: Any, y: Any, sample_weight: Any = None, **data: Any
) -> Problem:
    """The problem a fitted model solved, over NumPy and SciPy alone."""
    if isinstance(model, (CertifiedLearner, RankSVM)):
        check_is_fitted(model)
        return model._numpy_problem(X, y, sample_weight, **data)
    if isinstance(model, KernelScorer):
        raise ParameterError(
            f"{type(model).__name__} is certified for choices of its own (labels, witnesses, a graph) "
            "that X and y do not state: its certificate_ is the proof there is."
        )
    if not isinstance(model, LinearModel):
        raise ParameterError(
            f"needs a model that minimises an objective, such as LinearClassifier, got {model!r}."
        )
    check_is_fitted(model)
    require_targets(model, y)
    rows = model._numpy_rows(X)
    s = weights_of_rows(sample_weight, rows.n_rows)
    if isinstance(model, BaseLinearClassifier):
        classes, codes, weight = model._weighed(model._labels(y, rows.n_rows), s)
        places = codes_among(model.classes_, classes, "Verify on the training data.")
        return model._pose(rows, places[codes], weight)
    assert isinstance(model, BaseLinearRegressor)
    return model._pose(rows, model._targets(y, rows.n_rows).reshape(rows.n_rows, -1), s)
