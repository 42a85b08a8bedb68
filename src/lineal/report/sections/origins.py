"""Sections about where the model comes from: data, problems, trials, model, proof, how to reproduce."""

from __future__ import annotations

from lineal.report.bars import double_bar
from lineal.report.content import SEVERITIES, Data, Finding, Report, pairs
from lineal.report.curve_charts import gap_chart
from lineal.report.markup import Child, Markup, cut, join, name, tag, text
from lineal.report.number_charts import histogram
from lineal.report.numerals import aligned, count, counted, duration, number, power, size
from lineal.report.sections.section import Section
from lineal.report.tables import facts, table

MOST_COLUMNS = 60
MOST_LABELS = 30
MOST_FINDINGS = 100
MOST_TRIALS = 60
CODE_LIMIT = 20_000
_MARKS = {"error": "✖ error", "warning": "▲ warning", "note": "● note"}


def data(report: Report) -> Section | None:
    """Files, rows, columns and labels."""
    found = report.data
    if found is None:
        return None
    known: list[tuple[Child, Child]] = []
    if found.files:
        listed = join([tag("code", cut(file, 200)) for file in found.files[:12]], ", ")
        known.append(("files" if len(found.files) > 1 else "file", listed))
    if found.n_rows is not None:
        known.append(("rows", count(found.n_rows)))
    n_columns = found.n_columns if found.n_columns is not None else len(found.columns) or None
    if n_columns is not None:
        known.append(("columns", count(n_columns)))
    if found.n_train is not None:
        known.append(("trained on", counted(found.n_train, "row")))
    if found.n_test is not None:
        known.append(("tested on", counted(found.n_test, "row")))
    if found.split:
        known.append(("test part", found.split))
    body: list[Child] = [facts(known), _labels(found), _target(found), _columns(found)]
    body += [tag("p", note, class_="note") for note in found.notes]
    return Section("data", "The data", body)


def _labels(found: Data) -> Markup | None:
    if not found.labels:
        return None
    shown = found.labels[:MOST_LABELS]
    total = sum(entry.count + (entry.test_count or 0) for entry in found.labels) or 1
    has_test = any(entry.test_count is not None for entry in found.labels)
    largest = max(entry.count + (entry.test_count or 0) for entry in shown)
    rows: list[list[Child]] = []
    for entry in shown:
        rows_of = entry.count + (entry.test_count or 0)
        row: list[Child] = [name(entry.label, 40), double_bar(entry.count, entry.test_count, largest)]
        row += [
            number(rows_of / total, "%"),
            count(entry.count),
            *([count(entry.test_count)] if has_test else []),
        ]
        rows.append(row)
    left = found.labels[len(shown) :]
    caption = f"{counted(len(found.labels), 'label')}" + (
        f" in column {cut(found.target_name, 60)}" if found.target_name else ""
    )
    if left:
        missing = sum(entry.count + (entry.test_count or 0) for entry in left)
        caption += f"; {counted(len(left), 'more label')} with {counted(missing, 'row')} not shown"
    header: list[Child] = ["label", "drawn", "share", *(_split_heads() if has_test else ["rows"])]
    return table(caption, header, rows, numbers={2, 3, 4}, class_="labels")


def _split_heads() -> list[Child]:
    def head(words: str, style: str) -> list[Child]:
        return [tag("span", "■ ", class_=style, aria_hidden="true"), words]

    return [head("training", "model-dot"), head("test", "muted")]


def _target(found: Data) -> Markup | None:
    if found.target is None:
        return None
    title = f"What is predicted{': ' if found.target_name else ''}{found.target_name[:60]}"
    measured = found.target_name[:40] or "value"
    return histogram(title, found.target.edges, found.target.counts, measured, "Rows by value.")


def _columns(found: Data) -> Markup | None:
    if not found.columns:
        return None
    shown = found.columns[:MOST_COLUMNS]
    rows: list[list[Child]] = [
        [name(column.name, 60), tag("span", column.role, class_="role"), cut(column.reason, 300)]
        for column in shown
    ]
    left = len(found.columns) - len(shown)
    caption = "Columns and what they were taken for" + (
        f"; {counted(left, 'more column')} not shown" if left else ""
    )
    return table(caption, ["column", "taken for", "because"], rows)


def problems(report: Report) -> Section | None:
    """Findings, the gravest first."""
    if report.findings is None:
        return None
    if not report.findings:
        return Section(
            "problems", "Problems of the data", tag("p", "✔ No problems were found.", class_="verdict")
        )
    ordered = sorted(report.findings, key=lambda finding: SEVERITIES.index(finding.severity))
    shown = ordered[:MOST_FINDINGS]
    tally = [
        counted(n, severity)
        for severity in SEVERITIES
        if (n := sum(finding.severity == severity for finding in ordered))
    ]
    left = len(ordered) - len(shown)
    more = tag("p", f"{counted(left, 'more finding')} not shown.", class_="note") if left else None
    body = [
        tag("p", ", ".join(tally) + "."),
        tag("ul", [_finding(one) for one in shown], class_="findings"),
        more,
    ]
    return Section("problems", "Problems of the data", body)


def _finding(finding: Finding) -> Markup:
    return tag(
        "li",
        tag("span", _MARKS[finding.severity], class_=f"severity {finding.severity}"),
        tag(
            "div",
            tag("p", text(finding.message, 600)),
            tag("p", name(finding.place, 200), class_="place") if finding.place else None,
            tag("p", tag("b", "Fix: "), text(finding.fix, 600)) if finding.fix else None,
            tag("p", "For example ", join([tag("code", cut(one, 80)) for one in finding.examples[:5]], ", "))
            if finding.examples
            else None,
        ),
    )


def trials(report: Report) -> Section | None:
    """What was tried."""
    found = report.trials
    if found is None:
        return None
    numeric = {
        place
        for place in range(len(found.columns))
        if any(isinstance(row[place], int | float) for row in found.rows)
    }
    shown = list(enumerate(found.rows))[:MOST_TRIALS]
    if found.chosen is not None and found.chosen >= MOST_TRIALS:
        shown[-1] = (found.chosen, found.rows[found.chosen])
    columns = [_cells([row[place] for _, row in shown]) for place in range(len(found.columns))]
    rows: list[list[Child]] = [list(row) for row in zip(*columns, strict=True)]
    chosen = {place for place, (at, _) in enumerate(shown) if at == found.chosen}
    left = len(found.rows) - len(shown)
    caption = counted(len(found.rows), "trial") + (f"; {count(left)} not shown" if left else "")
    if chosen:
        caption += "; the marked one was taken"
    header = [cut(column, 40) for column in found.columns]
    drawn = table(caption, header, rows, numbers=numeric - {0}, marked=chosen)
    return Section("trials", "What was tried", [tag("p", found.sentence) if found.sentence else None, drawn])


def _cells(column: list[str | float | None]) -> list[str]:
    """A column as it is shown; one of numbers alone has as many decimals everywhere."""
    numbers = [cell for cell in column if not isinstance(cell, str)]
    if len(numbers) == len(column):
        return aligned(numbers)
    return [cut(cell, 120) if isinstance(cell, str) else number(cell) for cell in column]


def model(report: Report) -> Section | None:
    """What the model is."""
    found = report.model
    if found is None:
        return None
    known: list[tuple[Child, Child]] = []
    if found.learner:
        known.append(("learner", tag("code", text(found.learner, CODE_LIMIT))))
    if found.plan:
        known.append(("plan", found.plan))
    if found.n_features is not None:
        known.append(("features", count(found.n_features)))
    if found.path:
        weight = f" ({size(found.n_bytes)})" if found.n_bytes is not None else None
        known.append(("file", [tag("code", cut(found.path, 300)), weight]))
    elif found.n_bytes is not None:
        known.append(("size", size(found.n_bytes)))
    known += list(pairs(found.facts)[:40])
    return Section("model", "The model", facts(known))


def proof(report: Report) -> Section | None:
    """What was proved about the fit."""
    found = report.certificate
    if found is None:
        return None
    badge = "✔ Certified" if found.is_certified else "✖ Not certified"
    style = "better" if found.is_certified else "worse"
    said = tag(
        "p",
        tag("strong", badge, class_=style),
        ". " if found.sentence else None,
        found.sentence,
        class_="verdict",
    )
    known: list[tuple[Child, Child]] = []
    if found.objective:
        known.append(("minimised", tag("code", found.objective)))
    numbers = (("objective reached", found.primal), ("proven lower bound", found.dual))
    known += [(key, f"{value:.10g}".replace("-", "−")) for key, value in numbers if value is not None]
    gaps = (("gap", found.gap), ("relative gap", found.relative_gap), ("asked for", found.tolerance))
    known += [(key, power(value)) for key, value in gaps if value is not None]
    if found.solver:
        known.append(("solver", found.solver))
    if found.epochs is not None:
        known.append(("epochs", count(found.epochs)))
    if found.seconds is not None:
        known.append(("time", duration(found.seconds)))
    drawn = gap_chart(found.trace, found.tolerance, "Each dot is a proof.") if len(found.trace) > 1 else None
    return Section("proof", "The proof", [said, tag("div", facts(known), drawn, class_="beside")])


def reproduce(report: Report) -> Section | None:
    """Command, versions, fingerprint, and Python to go on with."""
    found = report.reproduction
    if found is None:
        return None
    known: list[tuple[Child, Child]] = []
    if found.seed is not None:
        known.append(("seed", f"{found.seed}"))
    if found.versions:
        known.append(("versions", ", ".join(f"{key} {value}" for key, value in pairs(found.versions)[:20])))
    if found.fingerprint_bytes is not None:
        known.append(("data", size(found.fingerprint_bytes)))
    if found.fingerprint:
        known.append(("SHA-256", tag("code", found.fingerprint)))
    body: list[Child] = [_code("Command", found.command), facts(known), _code("In Python", found.snippet)]
    return Section("reproduce", "How to reproduce", body)


def _code(title: str, lines: str) -> list[Child]:
    if not lines:
        return []
    return [tag("h3", title), tag("pre", tag("code", text(lines, CODE_LIMIT)), tabindex="0")]
