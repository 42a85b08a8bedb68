"""Sections with curves: thresholds, calibration, learning, strengths, and predicted numbers."""

from __future__ import annotations

from collections.abc import Sequence

from lineal.report.content import Report
from lineal.report.curve_charts import (
    N_STYLES,
    calibration_chart,
    extremes,
    learning_chart,
    strength_chart,
    styles_of,
    threshold_chart,
)
from lineal.report.markup import Child, Markup, name, tag
from lineal.report.number_charts import error_histogram, prediction_chart, residual_chart
from lineal.report.numerals import count, interval, number
from lineal.report.result_content import Curve
from lineal.report.sections.section import Section
from lineal.report.tables import folded, table

MOST_CURVES = 40
MOST_POINTS = 60


def curves(report: Report) -> Section | None:
    """ROC and precision-recall curves."""
    found = report.curves
    if found is None or not (found.roc or found.precision_recall):
        return None
    drawn: list[Child] = []
    if found.roc:
        roc = found.roc[:MOST_CURVES]
        title, axes = "ROC", ("false alarms: share of the others", "found: share of the label's rows")
        drawn.append(threshold_chart(roc, title, axes, (0.0, 1.0), _areas(roc, "Area below the curve")))
    if found.precision_recall:
        shown = found.precision_recall[:MOST_CURVES]
        title, axes = (
            "Precision and recall",
            ("recall: share of the label's rows found", "precision: share right"),
        )
        guess = None if found.share is None else (found.share, found.share)
        drawn.append(threshold_chart(shown, title, axes, guess, _areas(shown, "Average precision")))
    looked = (
        tag("p", "The label looked for is ", tag("b", name(found.positive)), ".") if found.positive else None
    )
    return Section("curves", "Where to cut", [looked, tag("div", drawn, class_="figures")])


def _areas(curves: Sequence[Curve], measured: str) -> Child:
    """The area of each curve, as words for one, as a table for several."""
    if len(curves) == 1:
        between = interval(curves[0].low, curves[0].high)
        return f"{measured}: {number(curves[0].area)}" + (f" ({between})" if between else "") + "."
    styles = styles_of(curves)
    rows: list[list[Child]] = [
        [[_sample(style), " ", name(curve.name, 32)], number(curve.area), interval(curve.low, curve.high)]
        for style, curve in zip(styles, curves, strict=True)
    ]
    drawn = table(measured, ["curve", "area", "interval"], rows, numbers={1, 2})
    if len(curves) <= N_STYLES:
        return drawn
    best, worst = (curves[place] for place in extremes(curves))
    return [
        f"{measured}: ",
        [_sample("curve0"), " ", tag("b", name(best.name, 40)), f" is best ({number(best.area)}), "],
        [_sample("curve1"), " ", tag("b", name(worst.name, 40)), f" worst ({number(worst.area)}). "],
        "The thin lines are the others.",
        folded(f"{measured} of all {len(curves)}", drawn),
    ]


def _sample(style: str) -> Markup:
    stroke = tag("line", class_=f"line {style}", x1="0", x2="26", y1="6", y2="6")
    return tag("svg", stroke, class_="sample", viewBox="0 0 26 12", aria_hidden="true")


def calibration(report: Report) -> Section | None:
    """Whether probabilities are shares."""
    found = report.calibration
    if found is None or not found.bins:
        return None
    rows: list[list[Child]] = [
        [number(b.predicted, "%"), number(b.observed, "%"), interval(b.low, b.high, "%"), count(b.count)]
        for b in found.bins[:MOST_POINTS]
    ]
    caption: list[Child] = [found.sentence or None]
    if found.error is not None:
        between = interval(found.low, found.high)
        caption.append(
            f" Calibration error {number(found.error)}" + (f" ({between})" if between else "") + "."
        )
    header = ["predicted", "observed", "interval", "rows"]
    caption.append(folded("The numbers", table("Bins", header, rows, numbers={0, 1, 2, 3})))
    return Section("calibration", "Can its probabilities be trusted?", calibration_chart(found, caption))


def learning_curve(report: Report) -> Section | None:
    """Scores by the number of training rows."""
    found = report.learning_curve
    if found is None or not found.points:
        return None
    rows: list[list[Child]] = [
        [
            count(p.size),
            [number(p.test), tag("small", interval(p.test_low, p.test_high))],
            [number(p.train), tag("small", interval(p.train_low, p.train_high))],
        ]
        for p in sorted(found.points, key=lambda p: p.size)[:MOST_POINTS]
    ]
    header = ["training rows", "rows not seen", "rows seen"]
    numbers = table(f"{found.score} by training rows", header, rows, numbers={0, 1, 2})
    caption: list[Child] = [found.sentence or None, folded("The numbers", numbers)]
    return Section("learning", "Would more data help?", learning_chart(found, caption))


def strengths(report: Report) -> Section | None:
    """Held-out scores by penalty strength."""
    found = report.strength_path
    if found is None or not found.points:
        return None
    has_features = any(p.n_features is not None for p in found.points)
    points = sorted(found.points, key=lambda p: p.strength)[:MOST_POINTS]
    rows: list[list[Child]] = []
    for p in points:
        error = f"± {number(p.error)}" if p.error is not None else "–"
        rows.append(
            [number(p.strength), number(p.score), error, *([count(p.n_features)] if has_features else [])]
        )
    chosen = {place for place, p in enumerate(points) if p.strength == found.chosen}
    header = ["strength", found.score, "standard error", *(["features"] if has_features else [])]
    numbers = table("Strengths", header, rows, numbers=range(4), marked=chosen)
    said = found.sentence or "Whiskers are one standard error up and down."
    caption: list[Child] = [said, folded("The numbers", numbers)]
    # One strength makes no curve.
    drawn = strength_chart(found, caption) if len({p.strength for p in found.points}) > 1 else tag("p", said)
    return Section("strengths", "How strongly weights are held back", drawn)


def regression(report: Report) -> Section | None:
    """Predictions against truth, and what is left."""
    found = report.regression
    if found is None or not found.truth:
        return None
    truth, predicted, target = found.truth, found.predicted, found.target[:24]
    drawn = [
        prediction_chart(truth, predicted, target, "The dashed line is a perfect model."),
        residual_chart(truth, predicted, target, "Above the line the model was too low, below it too high."),
        error_histogram(truth, predicted, "Narrow and centred on 0 is good."),
    ]
    return Section("regression", "Predictions against truth", tag("div", drawn, class_="figures"))
