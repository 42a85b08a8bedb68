"""A report as a page: a pure function of its content."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from lineal.report.content import Report
from lineal.report.markup import Child, Markup, cut, name, tag, text
from lineal.report.numerals import count, counted, duration, interval, number, power
from lineal.report.sections import SECTIONS
from lineal.report.sections.section import Section

# Nothing may be loaded and nothing may run, even if an element had slipped in.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render(report: Report) -> str:
    """One HTML page that needs nothing else: no script, no outside request.

    The same content gives the same bytes. Words are escaped, long ones cut; rows, points and labels beyond
    what can be read are left out and counted, so the size is bounded whatever the content.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        To be written as UTF-8; ``write_report`` does.
    """
    sections = [section for make in SECTIONS if (section := make(report)) is not None]
    page = tag("html", _head(report), _body(report, sections), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


@cache
def style() -> Markup:
    """The style sheet, which is part of the package."""
    return Markup(files("lineal.report").joinpath("style.css").read_text(encoding="utf-8"))


def _head(report: Report) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content="Lineal"),
        tag("title", text(report.title or "Report", 200)),
        tag("style", style()),
    )


def _body(report: Report, sections: list[Section]) -> Markup:
    entries = [tag("li", tag("a", section.title, href=f"#{section.key}")) for section in sections]
    contents = tag("nav", tag("ol", entries), aria_label="Contents")
    main = tag("main", [section.drawn() for section in sections], id="main")
    foot = tag(
        "footer", tag("p", "Made by Lineal. This page is one file: it loads nothing and runs no script.")
    )
    return tag(
        "body",
        tag("a", "Skip to the result", href="#main", class_="skip"),
        _header(report),
        tag("div", contents, main, class_="page"),
        foot,
    )


def _header(report: Report) -> Markup:
    above = " · ".join(cut(part, 80) for part in ("Lineal report", report.task, report.created) if part)
    return tag(
        "header",
        tag("p", above, class_="above"),
        tag("h1", name(report.title, 200)),
        tag("p", text(report.summary, 1000), class_="summary") if report.summary else None,
        _key_figures(report),
    )


def _key_figures(report: Report) -> Markup | None:
    """The few numbers to remember: the first score, the baseline, the rows, the proof."""
    figures: list[tuple[Child, Child, Child]] = []
    if report.scores is not None and report.scores.rows:
        first = report.scores.rows[0]
        figures.append(
            (first.name, number(first.value, first.unit), interval(first.low, first.high, first.unit))
        )
        if first.baseline is not None:
            figures.append(("baseline", number(first.baseline, first.unit), report.scores.baseline_name))
    if report.comparison is not None and report.comparison.models:
        best = report.comparison.models[0].score
        figures.append((best.name, number(best.value, best.unit), name(report.comparison.models[0].name, 40)))
    if report.data is not None and report.data.n_rows is not None:
        tested = report.data.n_test
        below = f"{count(tested)} held out to test" if tested is not None else None
        figures.append(("rows", count(report.data.n_rows), below))
    if report.findings:
        grave = sum(finding.severity == "error" for finding in report.findings)
        figures.append(
            ("findings", count(len(report.findings)), counted(grave, "error") if grave else "no errors")
        )
    if report.certificate is not None and report.certificate.relative_gap is not None:
        proved = report.certificate
        took = f"certified in {duration(proved.seconds)}" if proved.seconds is not None else "certified"
        below = took if proved.is_certified else "not certified"
        figures.append(("from the optimum", f"≤ {power(proved.relative_gap)}", below))
    if not figures:
        return None
    drawn = [
        tag("div", tag("dt", key), tag("dd", tag("b", value), tag("small", below)))
        for key, value, below in figures
    ]
    return tag("dl", drawn, class_="key")
