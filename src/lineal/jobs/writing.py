"""Predictions as CSV or JSON lines, as they come, packed as the name ends."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from lineal.data.atomic import atomic_file
from lineal.data.compression import SUFFIXES, packing
from lineal.data.formats import suffix_format
from lineal.errors import ParameterError
from lineal.jobs.predict import Predicted
from lineal.model.model import Model


def kind_for(output: str) -> str:
    """``"csv"`` or ``"jsonl"``: what a name says, under any suffix of compression; CSV if it says nothing."""
    said = suffix_format(Path(output))
    if said in ("csv", "jsonl", "lines", None):
        return "jsonl" if said == "jsonl" else "csv"
    raise ParameterError(
        f"{output}: predictions are written as they come, as CSV or JSON lines, not as {said}. Let the name "
        "end in .csv or .jsonl; lineal convert makes other formats of that."
    )


def write_predictions(
    model: Model,
    pieces: Iterable[Predicted],
    output: str,
    *,
    kind: str = "csv",
    with_probabilities: bool = False,
    n_terms: int = 0,
    carry: Sequence[str] = (),
) -> int:
    """Writes piece by piece; a file is there when it is whole, ``"-"`` is the standard output.

    Returns how many rows were written.
    """
    if n_terms and not model.is_explained:
        raise ParameterError(
            f"the scores of {model.about.learner} are no sums of weights, so they cannot be explained. Leave "
            "out --explain."
        )
    lines = _csv_lines if kind == "csv" else _json_lines
    if output == "-":
        return _written(sys.stdout, model, pieces, lines, with_probabilities, n_terms, carry)
    with atomic_file(output) as raw:
        packed = packing(raw, SUFFIXES.get(Path(output).suffix.lower()))
        file = io.TextIOWrapper(packed, encoding="utf-8", errors="backslashreplace", newline="")
        try:
            return _written(file, model, pieces, lines, with_probabilities, n_terms, carry)
        finally:
            file.detach()
            if packed is not raw:
                packed.close()


def _written(
    file: TextIO,
    model: Model,
    pieces: Iterable[Predicted],
    lines: Callable[..., None],
    with_probabilities: bool,
    n_terms: int,
    carry: Sequence[str],
) -> int:
    n, is_first = 0, True
    for piece in pieces:
        lines(file, model, piece, with_probabilities, n_terms, carry, is_first)
        file.flush()  # whoever reads along sees each piece at once
        n, is_first = n + len(piece), False
    return n


def _csv_lines(
    file: TextIO,
    model: Model,
    piece: Predicted,
    with_probabilities: bool,
    n_terms: int,
    carry: Sequence[str],
    is_first: bool,
) -> None:
    writer = csv.writer(file, lineterminator="\n")
    answers, p = piece.answers, piece.answers.probabilities
    labels = [] if answers.classes_ is None else answers.classes_.tolist()
    if is_first:
        header = [*carry, "prediction"]
        header += (
            []
            if p is None
            else [f"probability of {label}" for label in labels]
            if with_probabilities
            else ["probability"]
        )
        writer.writerow([*header, *(["because"] if n_terms else [])])
    columns: list[Sequence[Any]] = [piece.carried[name] for name in carry]
    columns.append(answers.labels.tolist())
    if p is not None and with_probabilities:
        columns += [[f"{value:.6g}" for value in column] for column in p.T.tolist()]
    elif p is not None:
        columns.append([f"{value:.6g}" for value in p.max(axis=1).tolist()])
    if n_terms:
        columns.append(
            [
                "; ".join(f"{name} {share:+.3g}" for name, share in _because(model, piece, row, n_terms))
                for row in range(len(piece))
            ]
        )
    writer.writerows(zip(*columns, strict=True))


def _json_lines(
    file: TextIO,
    model: Model,
    piece: Predicted,
    with_probabilities: bool,
    n_terms: int,
    carry: Sequence[str],
    is_first: bool,
) -> None:
    answers, p = piece.answers, piece.answers.probabilities
    names = [] if answers.classes_ is None else [str(label) for label in answers.classes_.tolist()]
    for row, label in enumerate(answers.labels.tolist()):
        line: dict[str, Any] = {name: piece.carried[name][row] for name in carry}
        line["prediction"] = label
        if p is not None and with_probabilities:
            line["probabilities"] = dict(zip(names, p[row].tolist(), strict=True))
        elif p is not None:
            line["probability"] = float(p[row].max())
        if n_terms:
            line["because"] = [
                {"feature": name, "contribution": share}
                for name, share in _because(model, piece, row, n_terms)
            ]
        file.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")


def _because(model: Model, piece: Predicted, row: int, n_terms: int) -> list[tuple[str, float]]:
    explained = model.explain(piece.one(row))
    return [(term.name, term.contribution) for term in explained.terms[:n_terms]]
