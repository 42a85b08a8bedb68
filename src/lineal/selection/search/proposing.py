"""Settings proposed one after the other by optuna."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lineal.errors import ParameterError
from lineal.selection.search.bench import Bench
from lineal.selection.search.record import Setting, Trial
from lineal.selection.search.space import Space, is_distribution


def require_optuna() -> Any:
    """The package, or how to get it."""
    try:
        import optuna
    except ImportError as error:
        raise ImportError(
            "method='optuna' needs optuna: pip install optuna, or use method='random'."
        ) from error
    return optuna


def distributions(space: list[Space]) -> dict[str, Any]:
    """The space in optuna's terms; lists of values are chosen from by their place."""
    if len(space) != 1:
        raise ParameterError("method='optuna' takes one dict as its space, not a list of them.")
    return {name: _distribution(name, values) for name, values in space[0].items()}


def _distribution(name: str, values: Any) -> Any:
    kinds = require_optuna().distributions
    if isinstance(values, kinds.BaseDistribution):
        return values
    if not is_distribution(values):
        return kinds.CategoricalDistribution(list(range(len(values))))
    kind = getattr(getattr(values, "dist", None), "name", "")
    low, high = values.support() if kind else (0.0, 0.0)
    if kind == "uniform":
        return kinds.FloatDistribution(float(low), float(high))
    if kind in ("loguniform", "reciprocal"):
        return kinds.FloatDistribution(float(low), float(high), log=True)
    if kind == "randint":
        return kinds.IntDistribution(int(low), int(high))
    raise ParameterError(
        f"space[{name!r}]: of SciPy's distributions optuna is given uniform, loguniform and randint; use one "
        "of them, a list of values, or a distribution of optuna's own."
    )


def proposed(
    bench: Bench, space: list[Space], within: Mapping[str, Any], n_trials: int, seed: int
) -> list[Trial]:
    """So many proposals, each where the trials before promise most (tree-structured Parzen estimators).

    A setting that comes again is told its score and is no trial of its own.
    """
    optuna = require_optuna()
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        known: dict[str, Trial] = {}
        most = min(n_trials, _n_settings(space[0]))
        for _ in range(n_trials):
            if len(known) == most:
                break
            asked = study.ask(dict(within))
            key = str(sorted(asked.params.items()))
            if key not in known:
                found = list(bench.run([_setting(asked.params, space[0])], keep=True).values())
                if found:
                    known[key] = found[0]
                if bench.stop.reason or not found:
                    break
            is_failed = bool(known[key].error)
            state = optuna.trial.TrialState.FAIL if is_failed else None
            study.tell(asked, None if is_failed else known[key].mean, state=state)
        return list(known.values())
    finally:
        optuna.logging.set_verbosity(before)


def _n_settings(space: Space) -> float:
    """How many settings there are; infinity where one of the values is drawn."""
    return math.prod(math.inf if is_distribution(values) else len(values) for values in space.values())


def _setting(params: Mapping[str, Any], space: Space) -> Setting:
    return {
        name: value if is_distribution(space[name]) else space[name][value] for name, value in params.items()
    }
