"""A training, an evaluation, a comparison as people read them on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lineal.cli.printing import console, escaped, table
from lineal.model.explanation import shown

_SCORES = (
    *("accuracy", "balanced_accuracy", "f1_macro", "mcc", "roc_auc", "log_loss", "brier"),
    *("calibration_error", "r2", "rmse", "mae"),
)
_LABELS, _WORDS = 12, 7


def show_training(training: Any, model_path: str, report_path: str | None) -> None:
    """What was taken for what, what is wrong, what was learned, how good it is, and where it is."""
    out = console()
    show_roles(training, out)
    show_findings(training.findings, out)
    out.print()
    show_scores(training, out)
    out.print()
    if training.model.is_explained:
        show_features(training.model, out)
        out.print()
    plan = training.model.about.plan
    if plan:
        out.print(f"[bold]plan[/bold]         {escaped(plan)}")
    certificate = training.model.certificate_
    out.print(
        f"[bold]certificate[/bold]  {escaped(str(certificate)) if certificate else 'this learner has none'}"
    )
    seconds = training.seconds
    spent = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items() if value >= 0.05)
    out.print(f"[bold]time[/bold]         {sum(seconds.values()):.1f} s{': ' + spent if spent else ''}")
    out.print(f"[bold]model[/bold]        {escaped(model_path)} ({size_text(training.model.size)})")
    if report_path is not None:
        out.print(f"[bold]report[/bold]       {escaped(report_path)}")
    if training.interrupted:
        out.print(f"[yellow]interrupted[/yellow]  {escaped(training.interrupted)}")


def show_roles(training: Any, out: Any) -> None:
    """What each column was taken for."""
    records = training.records
    out.print(
        f"[bold]{escaped(str(records.path))}[/bold]: {records.n_rows:,} rows; {escaped(training.split)}"
    )
    if training.roles is None:
        return
    rows = [
        [escaped(role.column), f"[dim]{role.role}[/dim]" if role.role == "dropped" else role.role,
         escaped(role.reason)]
        for role in training.roles.roles[:30]
    ]  # fmt: skip
    if len(training.roles.roles) > 30:
        rows.append(["...", "", f"{len(training.roles.roles) - 30} more"])
    out.print(table(["column", "taken for", "because"], rows))
    out.print(f"task: {training.roles.task}, {escaped(training.roles.task_reason)}")


def show_findings(findings: Sequence[Any], out: Any, *, most: int = 8) -> None:
    """Problems of the data, the worst first."""
    colours = {"error": "red", "warning": "yellow", "note": "dim"}
    order = sorted(findings, key=lambda found: list(colours).index(found.severity))
    for found in order[:most]:
        place = f"{_short(found.place)}: " if found.place else ""
        colour = colours[found.severity]
        out.print(f"[{colour}]{found.severity}[/{colour}]  {escaped(place + found.message)}{_extent(found)}")
        if found.fix:
            out.print(f"         [dim]fix:[/dim] {escaped(found.fix)}")
    if any(found.rows and not found.lines for found in order[:most]):
        out.print("         [dim]rows are counted from 0[/dim]")
    if len(findings) > most:
        out.print(f"         [dim]and {len(findings) - most} more: lineal doctor shows all[/dim]")


def _extent(found: Any) -> str:
    """How many places a finding has in all, and the first of them."""
    return f" {escaped(found.others)}" if found.others else ""


def show_scores(training: Any, out: Any) -> None:
    """Scores with intervals, the baseline beside them, and whether the difference is real."""
    from lineal.evaluation.doubts import sentence
    from lineal.evaluation.wording import brief, counted, percent

    evaluation, pair = training.evaluation, training.comparison.pairs[0]
    level = percent(evaluation.confidence)
    baseline = training.comparison.scores[training.baseline_name]
    rows = []
    for name in _SCORES:
        score = evaluation.scores.get(name)
        if score is not None:
            beside = brief(baseline.value) if name == training.comparison.metric else ""
            rows.append([evaluation.titles.get(name, name), brief(score.value),
                         f"{brief(score.low)} .. {brief(score.high)}", beside])  # fmt: skip
    header = [
        f"{counted(len(training.test), 'row')} not seen",
        "model",
        f"{level} interval",
        escaped(training.baseline_name),
    ]
    out.print(table(header, rows, right=(1, 2, 3)))
    if doubt := sentence(evaluation.doubts, evaluation.titles, [n for n in _SCORES if n in evaluation]):
        out.print(f"[yellow]{escaped(doubt)}[/yellow]")
    colour = "green" if pair.better == "model" else "yellow" if pair.better is None else "red"
    out.print(f"[{colour}]{escaped(pair.verdict)}[/{colour}]")


def show_features(model: Any, out: Any) -> None:
    """The heaviest features of each label."""
    found = model.top_features(_WORDS)
    rows = []
    for label, features in list(found.items())[:_LABELS]:
        words = ", ".join(escaped(shown(feature.name)) for feature in features)
        rows.append([escaped(str(label)), words])
    if len(found) > _LABELS:
        rows.append(["...", f"{len(found) - _LABELS} more labels: see the report"])
    out.print(table(["label" if model.task == "classification" else "", "known by"], rows))


def training_document(training: Any, model_path: str, report_path: str | None) -> dict[str, Any]:
    """The same for machines."""
    certificate = training.model.certificate_
    return {
        "file": str(training.records.path),
        "n_rows": training.records.n_rows,
        "n_train": len(training.train),
        "n_test": len(training.test),
        "split": training.split,
        "task": training.model.task,
        "columns": [] if training.roles is None else [vars(role) for role in training.roles.roles],
        "findings": [found.to_dict() for found in training.findings],
        "evaluation": training.evaluation.to_dict(),
        "comparison": training.comparison.to_dict(),
        "plan": training.model.about.plan,
        "learner": training.model.about.learner,
        "certificate": None if certificate is None else vars(certificate),
        "seconds": training.seconds,
        "interrupted": training.interrupted or None,
        "model": model_path,
        "report": report_path,
    }


def _short(place: str) -> str:
    """A place without the folders of its file."""
    head, comma, rest = place.partition(", ")
    return head.rsplit("/", 1)[-1] + comma + rest


def size_text(n_bytes: float) -> str:
    """A number of bytes in a unit that people read."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"
