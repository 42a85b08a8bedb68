"""Sections about what the model goes by: features and mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lineal.report.bars import bar, diverging
from lineal.report.content import ClassFeatures, Feature, Mistake, Report, Term
from lineal.report.markup import Child, Markup, cut, feature_name, name, tag
from lineal.report.numerals import aligned, counted, probability, signed
from lineal.report.sections.section import Section
from lineal.report.tables import folded, table
from lineal.report.wording import HOW_TO_READ
from lineal.report.words import coloured, legend, level, marked

MOST_FEATURES = 20  # on a side
MOST_LABELS = 60
SEVERAL = 8  # features shown of each label where labels are many
MOST_MISTAKES = 25
OPEN_MISTAKES = 6  # the others can be opened
MOST_TERMS = 10


def features(report: Report) -> Section | None:
    """The heaviest features: two sides of one picture for two labels, a picture each for more."""
    found = report.features
    if found is None or not found.classes:
        return None
    sides = _two_sides(found.classes)
    said = tag("p", found.sentence) if found.sentence else None
    if sides is not None:
        return Section("features", "What the model looks for", [said, _butterfly(*sides)])
    labels = found.classes[:MOST_LABELS]
    largest = _largest([feature for entry in labels for feature in entry.features])
    pictures = [_of_label(entry, largest) for entry in labels]
    left = len(found.classes) - len(labels)
    more = tag("p", f"{counted(left, 'more label')} not shown.", class_="note") if left else None
    return Section(
        "features", "What the model looks for", [said, tag("div", pictures, class_="multiples"), more]
    )


def _two_sides(classes: Sequence[ClassFeatures]) -> tuple[str, list[Feature], str, list[Feature]] | None:
    """Labels and features of a left and a right side, heaviest first, or None for more than two labels."""
    if len(classes) == 2 and not any(entry.against for entry in classes):
        left, right = classes
        return left.label, list(left.features), right.label, list(right.features)
    if len(classes) > 1:
        return None
    entry = classes[0]
    ordered = sorted(entry.features, key=lambda feature: -abs(feature.weight))
    below = [Feature(name=feature.name, weight=-feature.weight) for feature in ordered if feature.weight < 0]
    above = [feature for feature in ordered if feature.weight >= 0]
    return (
        entry.against or f"less {entry.label}",
        below,
        entry.label if entry.against else f"more {entry.label}",
        above,
    )


def _butterfly(left: str, left_features: list[Feature], right: str, right_features: list[Feature]) -> Markup:
    largest = _largest([*left_features, *right_features])
    return tag(
        "div",
        _side(left, left_features[:MOST_FEATURES], largest, is_left=True),
        _side(right, right_features[:MOST_FEATURES], largest, is_left=False),
        class_="butterfly",
    )


def _side(label: str, features: Sequence[Feature], largest: float, *, is_left: bool) -> Markup:
    """One side of the picture; the left one is mirrored and has the other colour."""
    rows = []
    for feature, weight in zip(
        features, aligned([feature.weight for feature in features], 5e-3), strict=True
    ):
        # On the left, what speaks for the left label is drawn as what speaks against the right one.
        drawn = bar(-feature.weight if is_left else feature.weight, largest, is_mirrored=is_left)
        cells = [tag("td", drawn, class_="drawn"), tag("td", weight, class_="number")]
        head = tag("th", feature_name(feature.name, 40), scope="row")
        rows.append(tag("tr", [cells[1], head, cells[0]] if is_left else [cells[0], head, cells[1]]))
    caption = tag("caption", "speaks for ", tag("b", name(label, 40)))
    return tag("table", caption, tag("tbody", rows), class_="bars left" if is_left else "bars right")


def _of_label(entry: ClassFeatures, largest: float) -> Markup:
    """The heaviest features of one of many labels; those beyond the first can be opened."""
    ordered = sorted(entry.features, key=lambda feature: -abs(feature.weight))[:MOST_FEATURES]

    def drawn(some: Sequence[Feature]) -> Markup:
        return tag(
            "tbody",
            [
                tag(
                    "tr",
                    tag("th", feature_name(feature.name, 32), scope="row"),
                    tag("td", bar(feature.weight, largest), class_="drawn"),
                    tag("td", weight, class_="number"),
                )
                for feature, weight in zip(some, aligned([one.weight for one in some], 5e-3), strict=True)
            ],
        )

    first, rest = ordered[:SEVERAL], ordered[SEVERAL:]
    more = folded(f"{len(rest)} more", tag("table", drawn(rest), class_="bars")) if rest else None
    return tag("div", tag("h3", name(entry.label, 40)), tag("table", drawn(first), class_="bars"), more)


def _largest(features: Sequence[Feature]) -> float:
    return max((abs(feature.weight) for feature in features if math.isfinite(feature.weight)), default=0.0)


def mistakes(report: Report) -> Section | None:
    """The worst mistakes with their words or columns marked."""
    found = report.mistakes
    if found is None:
        return None
    said: list[str] = [found.sentence] if found.sentence else []
    if found.n_wrong is not None:
        among = f" of {counted(found.n_rows, 'test row')}" if found.n_rows is not None else ""
        said.insert(0, f"{counted(found.n_wrong, 'mistake')}{among}.")
    shown = found.examples[:MOST_MISTAKES]
    has_words = any(example.tokens for example in shown)
    body: list[Child] = [
        tag("p", " ".join(said)) if said else None,
        legend() if has_words else None,
        _list(shown[:OPEN_MISTAKES]),
        folded(f"{len(shown) - OPEN_MISTAKES} more", _list(shown[OPEN_MISTAKES:]))
        if len(shown) > OPEN_MISTAKES
        else None,
    ]
    how = HOW_TO_READ["far-off"] if report.regression is not None or report.task == "regression" else ""
    return Section("mistakes", "The worst mistakes", body, how)


def _list(examples: Sequence[Mistake]) -> Markup | None:
    return tag("ol", [_mistake(example) for example in examples], class_="mistakes") if examples else None


def _mistake(example: Mistake) -> Markup:
    sure = f" ({probability(example.probability)})" if example.probability is not None else None
    right = f" ({probability(example.true_probability)})" if example.true_probability is not None else None
    head = tag(
        "p",
        "said ",
        tag("b", name(example.predicted, 60)),
        sure,
        ", is ",
        tag("b", name(example.truth, 60)),
        right,
        tag("span", name(example.place), class_="place") if example.place else None,
        class_="said",
    )
    other = None
    if example.explained and example.explained != example.predicted:
        other = tag("p", "The shares are those of the score of ", name(example.explained), ".", class_="note")
    text = coloured(example.tokens) if example.tokens else None
    terms = sorted(example.terms, key=lambda term: -abs(term.share))[:MOST_TERMS]
    drawn = None
    if terms:
        drawn = _listed(terms) if example.tokens else _columns(terms)
    return tag("li", head, other, text, drawn)


def _listed(terms: Sequence[Term]) -> Markup:
    """The heaviest terms of a text in one line."""
    heaviest = max(abs(term.share) for term in terms)
    parts: list[Child] = ["Heaviest terms: "]
    for place, term in enumerate(terms):
        said = marked(feature_name(term.name), term.share, max(1, level(term.share, heaviest)))
        parts += [", " if place else None, said, f" {signed(term.share)}"]
    return tag("p", parts, class_="terms")


def _columns(terms: Sequence[Term]) -> Markup:
    """The columns of a row, their values, and what they added."""
    heaviest = max(abs(term.share) for term in terms)
    rows: list[list[Child]] = [
        [name(term.name, 40), cut(term.value, 60), diverging(term.share, heaviest), signed(term.share)]
        for term in terms
    ]
    header: list[Child] = ["feature", "value", "against · for", "added"]
    return table("What added most to the prediction", header, rows, numbers={3}, class_="terms")
