"""Curves of classifiers at every threshold, in a square from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lineal.canvas import (
    COLOURS,
    FAINT,
    as_list,
    dashed,
    dotted,
    dress,
    legend_below,
    legend_beside,
    literal,
    look,
    new_axes,
)
from lineal.evaluation.wording import percent

if TYPE_CHECKING:
    from lineal.evaluation.records import Score
    from lineal.plot.threshold_curves import CalibrationCurves, PrecisionRecallCurves, RocCurves

# More curves than this have no bands, which would hide one another, and their legend stands outside.
_BANDS = 4


def draw_roc(found: RocCurves, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.threshold_curves.RocCurves.plot`."""
    axes = _square(ax, len(found.curves))
    panel = axes[0]
    panel.plot([0, 1], [0, 1], color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)), label="_chance")
    for place, (name, curve) in enumerate(found.curves.items()):
        style, label = dashed(place), _label(name, curve.area)
        panel.plot(curve.false_positive_rate, curve.true_positive_rate, linewidth=1.7, label=label, **style)
        if len(found.curves) <= _BANDS:
            _band(panel, curve.false_positive_rate, curve.true_low, curve.true_high, place)
    dress(panel, "ROC curve" + _s(found.curves), "false positive rate", "true positive rate")
    _explain(panel, found.curves, "area, and", is_new=ax is None)
    return axes


def draw_precision_recall(found: PrecisionRecallCurves, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.threshold_curves.PrecisionRecallCurves.plot`."""
    axes = _square(ax, len(found.curves))
    panel = axes[0]
    for place, (name, curve) in enumerate(found.curves.items()):
        style, label = dashed(place), _label(name, curve.average_precision)
        panel.step(curve.recall, curve.precision, where="post", linewidth=1.7, label=label, **style)
        if len(found.curves) <= _BANDS:
            _band(panel, curve.recall, curve.precision_low, curve.precision_high, place, step="post")
    for rate in sorted({round(found.base_rate(name), 6) for name in found.curves}):
        panel.axhline(rate, color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)), label="_base rate")
    dress(panel, "Precision and recall", "recall", "precision")
    _explain(panel, found.curves, "average precision, and", is_new=ax is None)
    return axes


def draw_calibration(found: CalibrationCurves, ax: Any = None) -> list[Any]:
    """See :meth:`lineal.plot.threshold_curves.CalibrationCurves.plot`."""
    axes = _square(ax, len(found.curves))
    panel = axes[0]
    panel.plot([0, 1], [0, 1], color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)), label="_ideal")
    for place, (name, curve) in enumerate(found.curves.items()):
        style = {**look(place), **dotted(place), "markersize": 5}
        label = f"{literal(name)}: mean gap {curve.error:.3f}"
        panel.plot(curve.predicted, curve.observed, linewidth=1.3, label=label, **style)
        if len(found.curves) <= _BANDS:
            panel.vlines(
                curve.predicted, curve.low, curve.high, color=style["color"], linewidth=1.1, alpha=0.7
            )
    dress(panel, "Calibration", "probability that was said", "share that was so")
    _explain(panel, found.curves, "", is_new=ax is None)
    return axes


def _square(ax: Any, n_curves: int) -> list[Any]:
    size = (7.8, 5.2) if n_curves > _BANDS else (5.2, 5.5 + 0.2 * n_curves)  # with room for the legend
    axes = new_axes(1, 1, figsize=size) if ax is None else as_list(ax)
    axes[0].set_xlim(-0.01, 1.01)
    axes[0].set_ylim(-0.01, 1.01)
    axes[0].set_aspect("equal", adjustable="box")
    return axes


def _label(name: str, score: Score) -> str:
    return f"{literal(name)}: {score.value:.3f} ({score.low:.3f} .. {score.high:.3f})"


def _band(ax: Any, along: Any, low: Any, high: Any, place: int, **how: Any) -> None:
    ax.fill_between(along, low, high, color=COLOURS[place % len(COLOURS)], alpha=0.15, linewidth=0, **how)


def _s(curves: Mapping[str, Any]) -> str:
    return "s" if len(curves) > 1 else ""


def _explain(ax: Any, curves: Mapping[str, Any], what: str, *, is_new: bool) -> None:
    """The legend, where it hides no curve: below the axes, or beside them where there are many curves."""
    level = percent(next(iter(curves.values())).confidence)
    title = f"{what} {level} intervals".strip()
    if len(curves) <= _BANDS:
        legend_below(ax, is_new=is_new, title=title, n_columns=1)
    else:  # without bands: intervals are told where there is something before them
        legend_beside(ax, is_new=is_new, title=title if what else "")
