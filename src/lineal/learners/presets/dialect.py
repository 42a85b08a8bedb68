"""What the presets share: scikit-learn's names for solvers and budgets, checks, common penalties."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lineal.errors import ParameterError
from lineal.objective import penalties
from lineal.objective.losses import as_number
from lineal.objective.penalties import L1, L2, NoPenalty, Penalty
from lineal.solvers import SOLVERS, Solver

# scikit-learn's solver names and what does their work here.
_DIALECT = {
    "lbfgs": "lbfgs",
    "liblinear": "auto",
    "newton-cg": "newton",
    "newton-cholesky": "newton",
    "sag": "auto",
    "saga": "auto",
    "svd": "closed_form",
    "cholesky": "closed_form",
    "lsqr": "auto",
    "sparse_cg": "auto",
    "highs": "auto",
    "highs-ds": "auto",
    "highs-ipm": "auto",
}


def known_solver(name: str | Solver) -> str | Solver:
    """A solver of ours for a name of ours or theirs."""
    if isinstance(name, Solver) or (isinstance(name, str) and (name == "auto" or name in SOLVERS)):
        return name
    if not isinstance(name, str) or name not in _DIALECT:
        raise ParameterError(f"solver={name!r} is not known; choose 'auto' or one of {sorted(SOLVERS)}.")
    return _DIALECT[name]


def positive(owner: str, name: str, value: float) -> float:
    """The option, which must be positive."""
    if not as_number(value) > 0:
        raise ParameterError(f"{owner} needs {name} > 0, got {value!r}.")
    return float(value)


def not_negative(owner: str, name: str, value: float) -> float:
    """The option, which must be finite and at least 0."""
    if not 0 <= as_number(value) < np.inf:
        raise ParameterError(f"{owner} needs a finite {name} >= 0, got {value!r}.")
    return float(value)


def share(owner: str, value: float | None) -> float:
    """``l1_ratio``, from 0 to 1."""
    if not 0 <= (number := as_number(value)) <= 1:
        raise ParameterError(f"{owner} needs 0 <= l1_ratio <= 1, got {value!r}.")
    return number


class Dialect:
    """Reads scikit-learn's names for budgets and solvers where the shared code asks for Lineal's."""

    solver: str | Solver = "auto"
    max_iter: int | None = None
    _averages_losses: ClassVar[bool] = False

    def _strength_option(self, strength: float, total_weight: float) -> dict[str, Any]:
        if hasattr(self, "C"):
            return {"C": 1.0 / strength}
        return {"alpha": strength / total_weight if self._averages_losses else strength}

    def _epoch_limit(self) -> int | None:
        return None if self.max_iter == -1 else self.max_iter  # LIBSVM's word for no limit

    def _chosen_solver(self) -> str | Solver:
        return known_solver(self.solver)


def mixed(strength: float, l1_ratio: float) -> Penalty:
    """The elastic net of a share of L1, or what is left of it at the ends."""
    if l1_ratio == 0:
        return L2(strength)
    if l1_ratio == 1:
        return L1(strength)
    return penalties.ElasticNet(strength * l1_ratio, strength * (1 - l1_ratio))


def ridge_penalty(owner: Any) -> Penalty:
    """L2 of an ``alpha`` beside a sum of losses."""
    alpha = not_negative(type(owner).__name__, "alpha", owner.alpha)
    return NoPenalty() if alpha == 0 else L2(alpha)


def penalty_of_c(owner: Any, penalty: str | None, C: float, l1_ratio: float | None) -> Penalty:
    """The penalty of a ``C`` beside a sum of losses."""
    name = type(owner).__name__
    strength = 1.0 / positive(name, "C", C)
    if penalty is None or penalty == "none" or strength == 0.0:
        return NoPenalty()
    if penalty == "l2" and not l1_ratio:
        return L2(strength)
    if penalty == "l1":
        return L1(strength)
    # scikit-learn 1.8 chooses by l1_ratio alone: given beside the default penalty, it decides.
    if penalty in ("elasticnet", "l2"):
        return mixed(strength, share(f"{name} with penalty='elasticnet'", l1_ratio))
    raise ParameterError(f"{name} knows penalty='l2', 'l1', 'elasticnet' and None, got {penalty!r}.")


def refuse_positive(owner: Any) -> None:
    """Signs of weights cannot be asked for."""
    if owner.positive:
        raise ParameterError(
            f"{type(owner).__name__} does not constrain the signs of weights: positive=False."
        )
