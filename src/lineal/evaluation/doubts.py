"""Which intervals hang on too few rows to be trusted, and why.

Simulations (docs/comparing.md) have intervals too short where a sample lacks its share of a few large rows:
then one of those that it has is most of the variance. Where a class, or the groups, are a handful, there is
little to take a variance from; where nothing varies there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lineal.evaluation.metrics import METRICS
from lineal.evaluation.predictions import Classified, Predictions
from lineal.evaluation.records import Score
from lineal.evaluation.wording import counted
from lineal.objective.losses import FloatArray

# A row, or a group, that is so much of a variance; classes below so many rows, if they are so large a part of
# all classes; fewer groups or queries.
_MOST, _FEW_OF_CLASS, _PART_OF_CLASSES, FEW_GROUPS = 0.5, 5, 0.25, 10
_MEANS = ("log_loss", "mse", "rmse", "mae", "mape", "mean_error")
_BY_CLASS = ("balanced_accuracy", "recall_macro", "f1_macro", "mcc", "roc_auc")


def doubts_of(scores: dict[str, Score], p: Predictions, groups: Any = None) -> dict[str, str]:
    """A reason for each score whose interval is not to be trusted."""
    what = "row" if groups is None else "group"
    codes = np.arange(len(p.truth)) if groups is None else np.unique(groups, return_inverse=True)[1]
    found: dict[str, str] = {}
    n_units = int(codes.max()) + 1
    if groups is not None and n_units < FEW_GROUPS:
        found = dict.fromkeys(scores, f"only {counted(n_units, 'group')}")
    else:
        if isinstance(p, Classified) and (reason := _rare_classes(p, codes, what)):
            found |= {name: reason for name in _BY_CLASS if name in scores}
        for name in (*_MEANS, "r2"):
            if name in scores and (largest := _largest(_moves(name, p), codes)) >= _MOST:
                found[name] = f"one {what} is {100 * largest:.0f} % of the variance"
    for name, score in scores.items():
        if not (np.isfinite(score.low) and np.isfinite(score.high)):
            found[name] = f"{counted(len(p.truth), 'row')} cannot tell"
        elif score.low == score.high:
            found[name] = "nothing varies"
    return found


def _moves(name: str, p: Predictions) -> FloatArray:
    """(n,) what each row adds to the deviation of a mean, or of the ratio that R² is."""
    s, parts = p.weights.s, METRICS[name].sums()[0](p)
    if name == "r2":
        return np.asarray(s * (parts[:, 3] - float(s @ parts[:, 3]) / float(s @ parts[:, 2]) * parts[:, 2]))
    return np.asarray(s * (parts[:, 1] - np.average(parts[:, 1], weights=s)))


def _largest(moves: FloatArray, codes: Any) -> float:
    """The part of the variance that one row, or one group, is."""
    sums = np.bincount(codes, weights=moves).astype(np.float64)
    squares = (sums / max(float(np.abs(sums).max(initial=0.0)), 1e-300)) ** 2
    total = float(squares.sum())
    return float(squares.max()) / total if total > 0 else 0.0


def _rare_classes(p: Classified, codes: Any, what: str) -> str:
    """Whether a good part of the classes have a handful of rows, or of groups."""
    pairs = np.unique(np.column_stack([p.truth, codes]), axis=0)
    sizes = np.bincount(pairs[:, 0], minlength=len(p.classes))
    there, rare = np.flatnonzero(sizes), np.flatnonzero((sizes > 0) & (sizes < _FEW_OF_CLASS))
    if len(there) < 2 or len(rare) < _PART_OF_CLASSES * len(there):
        return ""
    if len(rare) == 1:
        return f"class {p.classes.tolist()[rare[0]]!r} has {counted(int(sizes[rare[0]]), what)}"
    return f"{len(rare)} of {len(there)} classes have fewer than {_FEW_OF_CLASS} {what}s"


def sentence(doubts: dict[str, str], titles: dict[str, str], names: Sequence[str]) -> str:
    """All doubts in a line; nothing where there are none."""
    by_reason: dict[str, list[str]] = {}
    for name in names:
        if name in doubts and name in titles:
            by_reason.setdefault(doubts[name], []).append(titles[name])
    if not by_reason:
        return ""
    n_shown = sum(name in titles for name in names)
    told = [
        f"{'all' if len(shown) == n_shown else ', '.join(shown)} ({reason})"
        for reason, shown in by_reason.items()
    ]
    return f"intervals not to be trusted: {'; '.join(told)}"
