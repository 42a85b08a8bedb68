"""Classifiers at every threshold: ROC, precision and recall, calibration; one class against the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError, ParameterError
from lineal.evaluation.curves import (
    CalibrationCurve,
    PrecisionRecallCurve,
    RocCurve,
    calibration_curve,
    precision_recall_curve,
    roc_curve,
)
from lineal.evaluation.predictions import Classified, predictions_of
from lineal.evaluation.wording import aligned, brief, percent
from lineal.objective.losses import FloatArray
from lineal.plot.threshold_curves_picture import draw_calibration, draw_precision_recall, draw_roc


def roc(
    models: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> RocCurves:
    """True against false positives, of one model or of several, with intervals.

    Parameters
    ----------
    models : a fitted classifier, a ``RocCurve``, or a dict of names to them
    X, y, sample_weight
        For classifiers: rows that they have not learned from.
    positive : label, optional
        The class that is looked for. Not given: the second of two; of more, each in turn, for one model.
    confidence : float
        Of the intervals, which are pointwise.

    Returns
    -------
    RocCurves

    Examples
    --------
    >>> from lineal import GaussianNB
    >>> from lineal.plot import roc
    >>> model = GaussianNB().fit([[0.0], [1.0], [2.0], [3.0]], ["ham", "ham", "spam", "spam"])
    >>> print(roc(model, [[0.5], [1.2], [1.8], [1.4], [2.5]], ["ham", "spam", "ham", "spam", "spam"]))
    ROC           area     95 % interval
    GaussianNB  0.6667  0.1319 .. 0.9681
    """
    rows = {"positive": positive, "sample_weight": sample_weight}
    return RocCurves(_curves("roc", RocCurve, roc_curve, models, X, y, rows, {"confidence": confidence}))


def precision_recall(
    models: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> PrecisionRecallCurves:
    """Precision against recall, of one model or of several, with intervals; parameters as for ``roc``.

    Returns
    -------
    PrecisionRecallCurves
    """
    rows, options = {"positive": positive, "sample_weight": sample_weight}, {"confidence": confidence}
    record, make = PrecisionRecallCurve, precision_recall_curve
    return PrecisionRecallCurves(_curves("precision_recall", record, make, models, X, y, rows, options))


def calibration(
    models: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    positive: Any = None,
    n_bins: int = 10,
    bins: str = "quantile",
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> CalibrationCurves:
    """How often rows are positive against how likely models say they are, with intervals.

    Parameters
    ----------
    models, X, y, positive, sample_weight, confidence
        As for ``roc``, with ``CalibrationCurve`` records or classifiers that have ``predict_proba``.
    n_bins, bins
        As for ``lineal.evaluation.curves.calibration_curve``.

    Returns
    -------
    CalibrationCurves
    """
    rows = {"positive": positive, "sample_weight": sample_weight}
    options = {"confidence": confidence, "n_bins": n_bins, "bins": bins}
    record, make = CalibrationCurve, calibration_curve
    return CalibrationCurves(_curves("calibration", record, make, models, X, y, rows, options))


def _curves(
    caller: str,
    record: type,
    make: Callable[..., Any],
    models: Any,
    X: Any,
    y: Any,
    rows: dict[str, Any],
    options: dict[str, Any],
) -> dict[str, Any]:
    """A curve for each model, or for each class of the only one."""
    named = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    needs_rows = [model for model in named.values() if not isinstance(model, record)]
    is_able = all(hasattr(model, "predict") for model in needs_rows)
    if not named or not is_able or (needs_rows and (X is None or y is None)):
        raise ParameterError(
            f"{caller} needs a fitted classifier, a {record.__name__}, or a dict of names to them, and rows "
            f"for classifiers: {caller}(model, X, y); got {type(models).__name__}."
        )
    found = {}
    for name, model in named.items():
        if isinstance(model, record):
            found[str(name)] = model
            continue
        said = predictions_of(model, X, y, sample_weight=rows["sample_weight"], task="classification")
        assert isinstance(said, Classified)
        numbers = _numbers(caller, str(name), said, is_probable=record is CalibrationCurve)
        for k in _looked_for(caller, said, rows["positive"], n_models=len(named)):
            many = len(said.classes) > 2
            label = str(said.classes.tolist()[k]) if many and len(named) == 1 else str(name)
            weights = None if rows["sample_weight"] is None else said.weights.s
            is_positive = _both_kinds(caller, said, k)
            found[label] = make(is_positive, numbers[:, k], sample_weight=weights, **options)
    return found


def _both_kinds(caller: str, said: Classified, k: int) -> NDArray[np.bool_]:
    """Which rows are of class k; some must be, and some not."""
    is_positive = np.asarray(said.truth == k)
    if is_positive.all() or not is_positive.any():
        label, share = said.classes.tolist()[k], "all" if is_positive.all() else "none"
        raise InputError(
            f"{caller} needs rows of class {label!r} and rows of others, but {share} of the "
            f"{len(is_positive):,} rows in y are of it. Pass rows of both kinds, or positive=."
        )
    return is_positive


def _numbers(caller: str, name: str, said: Classified, is_probable: bool) -> FloatArray:
    """(n, K) what ranks the rows for each class."""
    if said.probabilities is not None:
        return said.probabilities
    if said.scores is None or is_probable:
        what = "predict_proba" if is_probable else "predict_proba or decision_function"
        raise ParameterError(f"{caller} needs models with {what}, which {name!r} has not.")
    return np.column_stack([-said.scores, said.scores]) if said.scores.ndim == 1 else said.scores


def _looked_for(caller: str, said: Classified, positive: Any, n_models: int) -> list[int]:
    """The places of the classes that get a curve."""
    labels = said.classes.tolist()
    if positive is not None:
        if positive not in labels:
            raise InputError(f"positive={positive!r} is not among the classes {labels[:5]}.")
        return [labels.index(positive)]
    if len(labels) <= 2:
        return [len(labels) - 1]
    if n_models > 1:
        raise ParameterError(
            f"{caller} of several models needs positive=, the class that is looked for among {len(labels)}."
        )
    return np.unique(said.truth).tolist()


@dataclass(frozen=True, eq=False)
class RocCurves:
    """ROC curves by name; ``print`` shows their areas.

    Attributes
    ----------
    curves : dict of names to RocCurve
        By model, or by class.
    """

    curves: dict[str, RocCurve]

    def __str__(self) -> str:
        return _table("ROC", "area", {name: curve.area for name, curve in self.curves.items()})

    def plot(self, ax: Any = None) -> list[Any]:
        """The curves, and the intervals of true positive rates as bands; returns the axes as a list."""
        return draw_roc(self, ax)


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurves:
    """Precision-recall curves by name; ``print`` shows their average precisions.

    Attributes
    ----------
    curves : dict of names to PrecisionRecallCurve
        By model, or by class.
    """

    curves: dict[str, PrecisionRecallCurve]

    def base_rate(self, name: str) -> float:
        """The share of positives: the precision of calling everything positive."""
        return float(self.curves[name].precision[0])

    def __str__(self) -> str:
        scores = {name: curve.average_precision for name, curve in self.curves.items()}
        return _table("precision and recall", "average precision", scores)

    def plot(self, ax: Any = None) -> list[Any]:
        """The curves, and the intervals of precision as bands; returns the axes as a list."""
        return draw_precision_recall(self, ax)


@dataclass(frozen=True, eq=False)
class CalibrationCurves:
    """Calibration curves by name; ``print`` shows their mean gaps.

    Attributes
    ----------
    curves : dict of names to CalibrationCurve
        By model, or by class.
    """

    curves: dict[str, CalibrationCurve]

    def __str__(self) -> str:
        rows = [
            [name, brief(curve.error), f"{len(curve.counts)}", brief(float(curve.counts.sum()))]
            for name, curve in self.curves.items()
        ]
        return "\n".join(aligned(["calibration", "mean gap", "bins", "rows"], rows))

    def plot(self, ax: Any = None) -> list[Any]:
        """Shares against probabilities, with their intervals as whiskers; returns the axes as a list."""
        return draw_calibration(self, ax)


def _table(title: str, what: str, scores: Mapping[str, Any]) -> str:
    level = next(iter(scores.values())).interval.confidence
    rows = [[name, brief(score.value), str(score.interval)] for name, score in scores.items()]
    return "\n".join(aligned([title, what, f"{percent(level)} interval"], rows))
