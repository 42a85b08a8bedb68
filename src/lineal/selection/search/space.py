"""Spaces of settings: what may be searched, and spaces ready made."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.pipeline import Pipeline

from lineal.errors import ParameterError
from lineal.learners.model import LinearModel
from lineal.learners.searched.model import SearchedModel
from lineal.objective import NoPenalty
from lineal.protocol import BaseEstimator, clone
from lineal.selection.search.record import Setting

Space = Mapping[str, Any]
_DRAWS = 32  # settings that are drawn unless max_trials says how many


# ---- checked --------------------------------------------------------------------------------------


def checked_space(space: Any, method: str) -> list[Space]:
    """A list of dicts from parameters to lists of values or distributions; what cannot be is refused."""
    parts = [space] if isinstance(space, Mapping) else space
    is_list = isinstance(parts, Sequence) and not isinstance(parts, str) and len(parts) > 0
    if not is_list or not all(isinstance(part, Mapping) and part for part in parts):
        raise ParameterError(
            "space must be a dict from parameters to lists of values or distributions, such as "
            f"{{'C': [0.1, 1, 10]}}, or a list of such dicts, got {space!r}."
        )
    for part in parts:
        for name, values in part.items():
            _check_values(name, values, method)
    return list(parts)


def _check_values(name: Any, values: Any, method: str) -> None:
    if not isinstance(name, str):
        raise ParameterError(f"space names parameters by text, got {name!r}.")
    if is_distribution(values):
        if method == "grid":
            raise ParameterError(
                f"space[{name!r}] is a distribution, which a grid cannot enumerate: list its values, or use "
                "method='random'."
            )
        if method != "optuna" and not hasattr(values, "rvs"):
            raise ParameterError(
                f"space[{name!r}] is a distribution of optuna's, for method='optuna' alone; use one of "
                "SciPy's, such as loguniform(0.01, 100)."
            )
        return
    is_listed = isinstance(values, (list, tuple, range, np.ndarray))
    if not is_listed or getattr(values, "ndim", 1) != 1 or len(values) == 0:
        raise ParameterError(
            f"space[{name!r}] must be a list of at least one value, or a distribution with rvs, got "
            f"{values!r}."
        )


def is_distribution(values: Any) -> bool:
    """Whether values are drawn: SciPy's frozen distributions, optuna's, and anything else with ``rvs``."""
    return hasattr(values, "rvs") or type(values).__module__.startswith("optuna.")


def settings_of(
    space: list[Space], method: str, max_trials: int | None, seed: int
) -> tuple[list[Setting], str]:
    """The settings to try, in order, and what was left out of a grid."""
    has_draws = any(is_distribution(values) for part in space for values in part.values())
    if method == "random" or has_draws or (method == "halving" and max_trials is not None):
        size = np.inf if has_draws else len(ParameterGrid(space))
        wanted = int(min(_DRAWS if max_trials is None else max_trials, size))
        return list(ParameterSampler(space, wanted, random_state=seed)), ""
    grid = list(ParameterGrid(space))
    if max_trials is not None and len(grid) > max_trials:
        return grid[:max_trials], f"max_trials={max_trials} of a grid of {len(grid)}"
    return grid, ""


def with_setting(model: Any, setting: Setting) -> Any:
    """A clone of the model that has the setting; values of a space are never changed themselves."""
    values = {name: clone(value, safe=False) for name, value in setting.items()}
    try:
        return clone(model).set_params(**values)
    except (ValueError, AttributeError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(
            f"space has a setting that {type(model).__name__} cannot have: {error}"
        ) from error


# ---- ready made -----------------------------------------------------------------------------------


def strengths(
    model: Any, low: float = 2.0**-15, high: float = 2.0**5, n: int = 11, *, n_rows: int | None = None
) -> dict[str, list[Any]]:
    """A space of n strengths of a model's penalty, evenly on a logarithmic scale, the strongest first.

    Parameters
    ----------
    model : a linear learner, a pipeline that ends in one, a text learner, or a model with one as ``learner``
    low, high : numbers > 0
        Strengths as :class:`lineal.objective.Problem` states them, whatever the learner's dialect. The
        defaults are those of the LIBSVM guide's C = 2^-5, 2^-3 ... 2^15, with strength = 1 / C.
    n : int
    n_rows : int
        How many rows there are, for learners that average their losses (``Lasso``, ``SGDClassifier`` ...).

    Returns
    -------
    dict
        The name of the parameter, with its prefix, and its values.

    Examples
    --------
    >>> from lineal import LogisticRegression, Lasso
    >>> from lineal.selection import strengths
    >>> strengths(LogisticRegression(), 1 / 4, 4, n=3)
    {'C': [0.25, 1.0, 4.0]}
    >>> strengths(Lasso(), 1, 64, n=3, n_rows=128)
    {'alpha': [0.5, 0.0625, 0.0078125]}
    """
    if not all(isinstance(each, numbers.Real) and 0 < float(each) < np.inf for each in (low, high)):
        raise ParameterError(f"strengths needs low and high > 0, got {low!r} and {high!r}.")
    if isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 1:
        raise ParameterError(f"strengths needs a whole number n >= 1, got {n!r}.")
    values = np.exp2(np.linspace(np.log2(high), np.log2(low), int(n))).tolist()
    prefix, learner = _strong_part(model)
    if isinstance(learner, SearchedModel):
        return {f"{prefix}strengths": values}
    if getattr(learner, "_averages_losses", False) and n_rows is None:
        raise ParameterError(f"{type(learner).__name__} averages its losses: say n_rows=len(y).")
    options = [learner._strength_option(value, float(n_rows or 1)) for value in values]
    (name,) = options[0]
    return {f"{prefix}{name}": [option[name] for option in options]}


def libsvm_grid(model: Any, *, n_rows: int | None = None) -> dict[str, list[Any]]:
    """The grid of the LIBSVM guide: C in 2^-5, 2^-3 ... 2^15 and, for kernels, gamma in 2^-15, 2^-13 ... 2^3.

    For learners without a C, its strengths 1 / C, with ``n_rows`` as in :func:`strengths`.

    Examples
    --------
    >>> from lineal import LinearSVC
    >>> from lineal.selection import libsvm_grid
    >>> libsvm_grid(LinearSVC())["C"][:3]
    [0.03125, 0.125, 0.5]
    """
    grid = _grid_of_c(model, n_rows)
    gammas = [name for name in model.get_params(deep=True) if name.rpartition("__")[2] == "gamma"]
    return grid | {name: np.exp2(np.arange(-15, 4, 2)).tolist() for name in gammas[:1]}


def _grid_of_c(model: Any, n_rows: int | None) -> dict[str, list[Any]]:
    names = [name for name in model.get_params(deep=True) if name.rpartition("__")[2] == "C"]
    return {names[0]: np.exp2(np.arange(-5, 16, 2)).tolist()} if names else strengths(model, n_rows=n_rows)


def _strong_part(model: Any, prefix: str = "") -> tuple[str, Any]:
    """The learner inside whose penalty has a strength, and how its parameters are reached."""
    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        return _strong_part(last, f"{prefix}{name}__")
    if isinstance(model, SearchedModel) and model.learner is None:
        return prefix, model
    if isinstance(model, LinearModel):
        if isinstance(model._objective(1.0, 2)[1], NoPenalty):
            raise ParameterError(f"{model!r} has no penalty whose strength could vary.")
        return prefix, model
    for name in ("learner", "estimator"):
        inner = getattr(model, name, None)
        if isinstance(inner, BaseEstimator):
            return _strong_part(inner, f"{prefix}{name}__")
    raise ParameterError(
        f"{model!r} is no linear learner with a penalty: write the space yourself, such as {{'C': [0.1, 1]}}."
    )
