"""A model file as people read it."""

from __future__ import annotations

from typing import Any

from lineal.cli.printing import console, escaped, table
from lineal.cli.showing import size_text

_LONGEST = 1000  # characters of a learner's text that are shown


def show_inspection(model: Any, top: int) -> None:
    """A line for each thing to know, then the heaviest features."""
    out = console()
    rows = [[name, escaped(value)] for name, value in _facts(model) if value]
    out.print(table(["", escaped(str(model.path))], rows))
    if top and model.is_explained:
        out.print()
        features = [
            [escaped(str(label)), ", ".join(f"{escaped(name)} {weight:+.3g}" for name, weight in found)]
            for label, found in list(model.top_features(top).items())[:30]
        ]
        out.print(table(["label", "known by"], features))


def _facts(model: Any) -> list[tuple[str, str]]:
    about = model.about
    labels = ""
    if model.task == "classification":
        names = [str(label) for label in model.classes_.tolist()]
        labels = f"{len(names)}: {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"
    scores = ", ".join(
        f"{name.replace('_', ' ')} {found['value']:.4g}{_between(found)}"
        for name, found in list(about.scores.items())[:4]
    )
    origin = about.fingerprint or {}
    return [
        ("task", f"{model.task} of {model.inputs}"),
        ("labels", labels),
        ("learner", _cut(about.learner)),
        ("plan", about.plan),
        ("features", f"{model.n_columns:,}{_collisions(model.n_collisions)}"),
        ("learned from", f"{about.n_rows:,} rows" if about.n_rows else ""),
        ("judged", scores),
        ("interrupted", str(about.notes.get("interrupted", ""))),
        ("certificate", "" if model.certificate_ is None else str(model.certificate_)),
        ("size", size_text(model.size)),
        ("made", " ".join(part for part in (about.created, f"by Lineal {about.version}") if part)),
        ("command", about.command or ""),
        ("data", " ".join(f"{name} {value}" for name, value in origin.items() if value)),
        *(("updated with", _words(update)) for update in about.notes.get("updates", ())),
    ]


def _cut(learner: str) -> str:
    """The text of a learner, which may name the kinds of thousands of columns."""
    return learner if len(learner) <= _LONGEST else f"{learner[:_LONGEST]}... ({len(learner):,} characters)"


def _collisions(n: int | None) -> str:
    """What hashing costs: columns that stand for several terms."""
    return "" if n is None else f", hashed; {n:,} of those named stand for two terms or more"


def _words(update: dict[str, Any]) -> str:
    """A file that a model went on with."""
    names = ("rows", "bytes", "sha256", "file", "created")
    return " ".join(f"{name} {update[name]}" for name in names if update.get(name))


def _between(score: dict[str, float]) -> str:
    """The interval of a stored score, if it has one."""
    return f" ({score['low']:.4g} .. {score['high']:.4g})" if {"low", "high"} <= score.keys() else ""


def inspection_document(model: Any, top: int) -> dict[str, Any]:
    """The same for machines."""
    return {
        "path": str(model.path),
        "task": model.task,
        "inputs": model.inputs,
        "classes": model.classes_.tolist() if model.task == "classification" else None,
        "n_features": model.n_columns,
        "n_collisions": model.n_collisions,
        "n_bytes": model.size,
        "certificate": None if model.certificate_ is None else vars(model.certificate_),
        "about": model.about.put(),
        "top_features": {
            str(label): [{"name": name, "weight": weight} for name, weight in found]
            for label, found in (model.top_features(top) if model.is_explained else {}).items()
        },
    }
