"""What a search tried, chose and is worth, as records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lineal.deferred import special
from lineal.protocol import BaseEstimator

Setting = dict[str, Any]

_SHOWN = 15  # trials of a printed table


def t_interval(scores: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Mean -+ t s / sqrt(k) over k scores; without bounds where k < 2.

    Folds share training rows, so scores are not independent, and the interval is an approximation.
    """
    k = len(scores)
    if k < 2:
        return (-math.inf, math.inf)
    mean = float(np.mean(scores))
    half = float(special.stdtrit(k - 1, 0.5 + level / 2) * np.std(scores, ddof=1) / math.sqrt(k))
    return (mean - half, mean + half)


@dataclass(frozen=True)
class Trial:
    """One setting, and how it did on rows that its fits had not seen.

    Attributes
    ----------
    params : dict from parameters to values
    scores : one for each fold that was done
    share : which part of each fold's training rows was learned from: 1.0 but for rungs of halving
    is_warm : whether fits started from those of a stronger penalty
    seconds : of all its folds; of a path, its part
    error : what a failed fit said, or ""
    """

    params: Setting
    scores: tuple[float, ...]
    share: float = 1.0
    is_warm: bool = False
    seconds: float = 0.0
    error: str = ""

    @property
    def mean(self) -> float:
        """Over the folds; NaN if a fit failed or none was done."""
        return float(np.mean(self.scores)) if self.scores and not self.error else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, by t over the folds: see :func:`t_interval`."""
        return t_interval(self.scores)


@dataclass(frozen=True)
class OuterFold:
    """A search that never saw the rows it is then scored on; NaN, with the reason, where it has no score."""

    params: Setting
    score: float
    error: str = ""


def best_of(trials: Sequence[Trial]) -> int | None:
    """The place of the highest mean among the trials of most rows and folds; of equals the first."""
    able = [k for k, trial in enumerate(trials) if not math.isnan(trial.mean)]
    if not able:
        return None
    most = max((trials[k].share, len(trials[k].scores)) for k in able)
    judged = [k for k in able if (trials[k].share, len(trials[k].scores)) == most]
    return max(judged, key=lambda k: trials[k].mean)


@dataclass(frozen=True, eq=False)
class Tuning:
    """The result of :func:`lineal.tune`; ``print`` shows it as a table.

    Attributes
    ----------
    model : the model with the best setting, fitted to all rows
    params : the best setting
    trials : every setting that was tried, in order
    outer : what each outer fold chose and scored; empty unless ``outer=`` was given
    method, metric : how it was searched, and what was to be large
    n_folds : how many folds there are
    seconds : of everything
    stopped : why the search ended early, or ""
    """

    model: Any
    params: Setting
    trials: tuple[Trial, ...]
    outer: tuple[OuterFold, ...]
    method: str
    metric: str
    n_folds: int
    seconds: float
    stopped: str = ""
    _best: int = field(default=0, repr=False)

    @property
    def best(self) -> Trial:
        """The trial that was chosen."""
        return self.trials[self._best]

    @property
    def is_honest(self) -> bool:
        """Whether ``score`` comes from rows that played no part in the choice."""
        return any(not fold.error for fold in self.outer)

    @property
    def score(self) -> float:
        """The mean over outer folds; without them the best trial's, which is optimistic."""
        return float(np.mean(self._scores)) if self._scores else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """95 % for ``score``, by t over the folds that it comes from."""
        return t_interval(self._scores)

    @property
    def _scores(self) -> list[float]:
        if self.outer:
            return [fold.score for fold in self.outer if not fold.error]
        return list(self.best.scores)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each trial, for a data frame: its parameters, mean, interval, folds, rows, seconds."""
        return [
            {
                **trial.params, "mean": trial.mean, "low": trial.interval[0], "high": trial.interval[1],
                "n_folds": len(trial.scores), "share": trial.share, "seconds": trial.seconds,
                "error": trial.error,
            }
            for trial in self.trials
        ]  # fmt: skip

    # ---- for people ---------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<Tuning of {type(self.model).__name__}: {len(self.trials)} trials, score {self.score:.4g}>"

    def __str__(self) -> str:
        end = f"; {self.stopped}" if self.stopped else ""
        title = (
            f"{type(self.model).__name__} by {self.method}: {len(self.trials)} trials on {self.n_folds} "
            f"folds, {self.metric}, {self.seconds:.2g} s{end}"
        )
        return "\n".join([title, "", *self._table(), "", self._verdict()])

    def _verdict(self) -> str:
        low, high = self.interval
        span = f" ({low:.4f} to {high:.4f}, 95 % by t over folds)" if math.isfinite(low) else ""
        said = f"{self.metric} {self.score:.4f}{span}"
        if self.outer:
            failed = [fold.error for fold in self.outer if fold.error]
            if not self._scores:
                return f"no outer fold has a score: {failed[0]}"
            without = f"; {len(failed)} more have no score: {failed[0]}" if failed else ""
            return (
                f"{said}: honest, from {len(self._scores)} outer folds whose rows played no part in the "
                f"choice{without}"
            )
        return (
            f"{said}: optimistic, since it is the best of {len(self.trials)} trials on the folds that chose "
            "it; outer=5 gives an honest one"
        )

    def _table(self) -> list[str]:
        order = sorted(range(len(self.trials)), key=self._rank)
        names = list(dict.fromkeys(name for trial in self.trials for name in trial.params))
        shown = [self.trials[k] for k in order[:_SHOWN]]
        has_parts = any(trial.share < 1.0 for trial in self.trials)
        columns = [(name, [_short(trial.params.get(name, "")) for trial in shown]) for name in names]
        columns.append(("mean", ["failed" if trial.error else f"{trial.mean:.4f}" for trial in shown]))
        columns.append(("95 % over folds", [_span(trial) for trial in shown]))
        if has_parts:
            columns.append(("rows", [f"{trial.share:.0%}" for trial in shown]))
        columns.append(("seconds", [f"{trial.seconds:.3f}" for trial in shown]))
        widths = [max(len(name), *map(len, cells)) for name, cells in columns]
        header = "  ".join(name.rjust(width) for (name, _), width in zip(columns, widths, strict=True))
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in zip(*(cells for _, cells in columns), strict=True)
        ]
        marked = [f"{'→' if k == self._best else ' '} {line}" for k, line in zip(order, lines, strict=False)]
        more = [f"  ... and {len(order) - _SHOWN} more: see rows()"] if len(order) > _SHOWN else []
        return [f"  {header}", *marked, *more]

    def _rank(self, k: int) -> tuple[bool, float, int, float]:
        trial = self.trials[k]
        is_nan = math.isnan(trial.mean)
        return (is_nan, -trial.share, -len(trial.scores), 0.0 if is_nan else -trial.mean)


def _span(trial: Trial) -> str:
    low, high = trial.interval
    return f"{low:.4f} to {high:.4f}" if math.isfinite(low) and not trial.error else ""


def _short(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    text = type(value).__name__ if isinstance(value, BaseEstimator) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
