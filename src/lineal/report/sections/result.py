"""Sections about the result: scores, comparisons, labels, confusions."""

from __future__ import annotations

from lineal.report.bars import axis_of, score_strip
from lineal.report.content import Report
from lineal.report.markup import Child, Markup, name, tag
from lineal.report.numerals import count, counted, interval, number, p_value, points
from lineal.report.result_content import Confusion, Score
from lineal.report.sections.section import Section
from lineal.report.tables import scrolling, table
from lineal.report.wording import meaning

MOST_CLASSES = 100
MOST_CELLS = 40  # labels of a confusion table; the worst pairs are listed for more
MOST_PAIRS = 12
MOST_MODELS = 50
N_SHADES = 9
_WORDS = {
    "better": "▲ Better than the baseline",
    "worse": "▼ Worse than the baseline",
    "undecided": "◆ Undecided",
}


def result(report: Report) -> Section | None:
    """Scores with intervals beside the baseline's, and the verdict."""
    scores = report.scores
    if scores is None:
        return None
    level = number(scores.confidence, "%").replace(".0", "")
    has_baseline = any(score.baseline is not None for score in scores.rows)
    axes = {axis_of([score]) for score in scores.rows}
    header: list[Child] = ["score", "model", ends(*axes.pop()) if len(axes) == 1 else "drawn"]
    rows: list[list[Child]] = []
    for score in scores.rows:
        row: list[Child] = [_named(score), valued(score.value, score.low, score.high, score.unit)]
        row.append(score_strip(score, *axis_of([score])))
        if has_baseline:
            row.append(
                valued(score.baseline, score.baseline_low, score.baseline_high, score.unit)
                if score.baseline is not None
                else None
            )
        rows.append(row)
    if has_baseline:
        header.append("baseline")
    caption = f"Scores with {level} intervals"
    if scores.n_rows is not None:
        caption += f", measured on {counted(scores.n_rows, 'row')}"
    key = _key(has_baseline, scores.baseline_name)
    body = [
        _verdict(report),
        table(caption, header, rows, numbers={1, 3}, marked={0}, class_="scores stacked"),
        key,
        [tag("p", note, class_="note") for note in scores.notes],
    ]
    return Section("result", "The result", body)


def _verdict(report: Report) -> Markup | None:
    scores = report.scores
    if scores is None or not (scores.verdict or scores.outcome or scores.p_value is not None):
        return None
    evidence = [p_value(scores.p_value)] if scores.p_value is not None else []
    evidence += [scores.test] if scores.test else []
    badge = _WORDS.get(scores.outcome)
    return tag(
        "p",
        tag("strong", badge, class_=scores.outcome) if badge else None,
        ". " if badge and scores.verdict else None,
        scores.verdict,
        tag("span", f" ({', '.join(evidence)})", class_="muted") if evidence else None,
        class_="verdict",
    )


def _key(has_baseline: bool, baseline_name: str) -> Markup:
    model = tag("span", _sample("model"), " model")
    if not has_baseline:
        return tag(
            "p", model, ", with its interval; the line is the range of possible values.", class_="legend"
        )
    base = tag("span", _sample("base"), " baseline: ", baseline_name)
    return tag(
        "p",
        model,
        " · ",
        base,
        " · the grey line reaches from 0 to 1, or to the largest value.",
        class_="legend",
    )


def _sample(style: str) -> Markup:
    band = tag("line", class_=style, x1="0", x2="26", y1="6", y2="6")
    tick = tag("line", class_=f"{style} tick", x1="13", x2="13", y1="1", y2="11")
    return tag("svg", band, tick, class_="strip sample", viewBox="0 0 26 12", aria_hidden="true")


def _named(score: Score) -> list[Child]:
    direction = {True: None, False: "less is better", None: "0 is best"}[score.greater_is_better]
    words = [part for part in (score.meaning or meaning(score.name), direction) if part]
    return [score.name, tag("small", "; ".join(words)) if words else None]


def valued(value: float | None, low: float | None, high: float | None, unit: str) -> list[Child]:
    """A number, and its interval below it."""
    between = interval(low, high, unit)
    return [number(value, unit), tag("small", between) if between else None]


def ends(low: float, high: float, unit: str = "") -> Markup:
    """The ends of an axis, as the head of a column with drawings."""
    return tag("span", tag("span", number(low, unit)), tag("span", number(high, unit)), class_="ends")


def comparison(report: Report) -> Section | None:
    """Several models by one score, and who beats whom."""
    compared = report.comparison
    if compared is None:
        return None
    models = compared.models[:MOST_MODELS]
    low, high = axis_of([model.score for model in models], with_zero=False)
    unit = models[0].score.unit if models else ""
    others = [score.name for score in models[0].others] if models else []
    has_seconds = any(model.seconds is not None for model in models)
    header: list[Child] = [
        "model",
        models[0].score.name if models else "score",
        ends(low, high, unit),
        *others,
    ]
    header += ["fit"] if has_seconds else []
    rows: list[list[Child]] = []
    for model in models:
        score = model.score
        row: list[Child] = [[name(model.name), tag("small", "best") if model.is_best else None]]
        row += [valued(score.value, score.low, score.high, score.unit), score_strip(score, low, high)]
        found = {other.name: other for other in model.others}
        row += [_other(found.get(other)) for other in others]
        row += [number(model.seconds, "s")] if has_seconds else []
        rows.append(row)
    best = {place for place, model in enumerate(models) if model.is_best}
    level = number(compared.confidence, "%").replace(".0", "")
    caption = f"{counted(len(compared.models), 'model')} with {level} intervals"
    numbers = {1, *range(3, len(header))}
    body: list[Child] = [
        tag("p", compared.sentence, class_="verdict") if compared.sentence else None,
        table(caption, header, rows, numbers=numbers, marked=best, class_="scores"),
        _pairs(report, unit) if compared.pairs else None,
    ]
    return Section("comparison", "The models compared", body)


def _other(score: Score | None) -> Child:
    return "–" if score is None else valued(score.value, score.low, score.high, score.unit)


def _pairs(report: Report, unit: str) -> Markup | None:
    compared = report.comparison
    if compared is None:
        return None
    rows: list[list[Child]] = []
    for pair in compared.pairs[: 2 * MOST_MODELS]:
        sign = {True: "●", False: "○", None: ""}[pair.is_significant]
        who: Child = [name(pair.first), " against ", name(pair.second)]
        difference, between = points(pair.difference, pair.low, pair.high, unit)
        gained: Child = [difference, tag("small", between) if between else None]
        p = p_value(pair.p_value) if pair.p_value is not None else "–"
        rows.append([who, gained, p, [tag("span", sign, aria_hidden="true"), " ", pair.verdict]])
    caption = ", ".join(part for part in ("Pairs", compared.test, compared.correction) if part)
    return table(caption, ["pair", "difference", "evidence", "verdict"], rows, numbers={1, 2})


def classes(report: Report) -> Section | None:
    """Precision, recall and the like of each label."""
    if not report.classes:
        return None
    names = [score.name for score in report.classes[0].scores]
    has_rows = any(entry.n_rows is not None for entry in report.classes)
    header: list[Child] = ["label", *(["rows"] if has_rows else []), *names]
    rows: list[list[Child]] = []
    for entry in report.classes[:MOST_CLASSES]:
        row: list[Child] = [name(entry.label, 40), *([count(entry.n_rows)] if has_rows else [])]
        row += [valued(score.value, score.low, score.high, score.unit) for score in entry.scores]
        rows.append(row)
    left = len(report.classes) - len(rows)
    caption = "Scores of each label" + (f"; {counted(left, 'more label')} not shown" if left else "")
    return Section("classes", "Label by label", table(caption, header, rows, numbers=range(1, len(header))))


def confusion(report: Report) -> Section | None:
    """What was taken for what: a table with shades, and the worst pairs where labels are many."""
    confused = report.confusion
    if confused is None:
        return None
    n = len(confused.labels)
    body: list[Child] = []
    if confused.counts and n <= MOST_CELLS:
        body.append(_heat(confused))
    if n > 4 or not confused.counts:
        body.append(_worst(confused))
    return Section("confusion", "What was taken for what", body)


def _heat(confused: Confusion) -> list[Child]:
    """The table of counts; shades are shares of the row, of one colour if right, of the other if not."""
    corner = tag("th", "true ↓ predicted →", scope="col", class_="corner")
    heads = [tag("th", tag("span", name(label, 26)), scope="col") for label in confused.labels]
    rows = []
    for place, (label, counts) in enumerate(zip(confused.labels, confused.counts, strict=True)):
        total = sum(counts)
        cells = [
            tag(
                "td",
                count(value) if value else "·" if at != place else "0",
                class_=_shade(value, total, at == place),
            )
            for at, value in enumerate(counts)
        ]
        rows.append(tag("tr", tag("th", name(label, 32), scope="row"), cells))
    caption = "Test rows by true and predicted label"
    is_crowded = len(heads) > 6 or sum(map(len, confused.labels)) > 60  # then labels stand upright
    crowd = "heat crowded" if is_crowded else "heat"
    drawn = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", corner, heads)),
        tag("tbody", rows),
        class_=crowd,
    )
    key = tag(
        "p",
        tag("span", "right", class_="swatch right6"),
        " ",
        tag("span", "wrong", class_="swatch wrong6"),
        " · the stronger the shade, the larger the share of the true label's rows.",
        class_="legend",
    )
    return [scrolling(drawn, caption), key]


def _shade(value: float, total: float, is_right: bool) -> str | None:
    if not value or not total:
        return None
    # The square root keeps rare mistakes visible beside a diagonal that holds nearly everything.
    return f"{'right' if is_right else 'wrong'}{max(1, round(N_SHADES * (value / total) ** 0.5))}"


def _worst(confused: Confusion) -> Markup:
    labels = confused.labels
    if confused.counts:
        pairs = [
            (labels[i], labels[j], value, sum(row))
            for i, row in enumerate(confused.counts)
            for j, value in enumerate(row)
            if i != j and value
        ]
    else:
        pairs = [(truth, predicted, value, 0.0) for truth, predicted, value in confused.pairs if value]
    pairs.sort(key=lambda pair: -pair[2])
    rows: list[list[Child]] = [
        [
            [name(truth, 40), " taken for ", name(predicted, 40)],
            count(value),
            number(value / total, "%") if total else "–",
        ]
        for truth, predicted, value, total in pairs[:MOST_PAIRS]
    ]
    caption = f"The {counted(len(rows), 'most frequent confusion')}" if rows else "No confusions"
    return table(caption, ["confusion", "rows", "of the true label"], rows, numbers={1, 2})
