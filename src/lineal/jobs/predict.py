"""The rows of a file, labelled by a stored model, piece by piece in constant memory.

Texts are read by the core itself; only files of columns for models of tables, Parquet, and columns that are
to be carried along need pyarrow. So a line of text is labelled before a larger library could be imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineal.data.corpus import Name
from lineal.errors import InputError
from lineal.jobs.answers import Answers, answers_of
from lineal.model.model import Model

N_BYTES = 1 << 22
_NATIVE = ("csv", "tsv", "jsonl", "lines", "folder")


@dataclass(frozen=True, eq=False)
class Predicted:
    """A piece of a file and what the model says of it.

    Attributes
    ----------
    first_row : int
        The number of its first row in the file, from 0.
    X : what the model was given
    answers : Answers
    carried : dict of column to list
        Columns that were asked for beside the predictions.
    """

    first_row: int
    X: Any
    answers: Answers
    carried: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(self.answers.labels)

    def one(self, row: int) -> Any:
        """A row as ``Model.explain`` takes it."""
        if hasattr(self.X, "slice"):
            return self.X.slice(row, 1).to_pylist()[0]
        return self.X[row]


def predict(
    model: Model,
    path: str,
    *,
    text: str | None = None,
    carry: Sequence[str] = (),
    reading: dict[str, Any] | None = None,
    n_bytes: int = N_BYTES,
) -> Iterator[Predicted]:
    """Labels a file, about ``n_bytes`` of it at a time.

    Parameters
    ----------
    model : Model
    path : str
        A file or folder; ``"-"`` is the standard input.
    text : str, optional
        The column of texts, for a model of texts; the one it was trained with if not given.
    carry : sequence of str
        Columns of the file to hand on.
    reading : dict, optional
        Options of ``lineal.data.stream_records``.
    """
    first = 0
    for X, carried in _pieces(model, path, text, carry, reading or {}, n_bytes):
        answers = answers_of(model, X)
        yield Predicted(first, X, answers, carried)
        first += len(answers.labels)


def _pieces(
    model: Model, path: str, text: str | None, carry: Sequence[str], reading: dict[str, Any], n_bytes: int
) -> Iterator[tuple[Any, dict[str, list[Any]]]]:
    from lineal.data.formats import format_of

    wanted = text or (model.about.columns or {}).get("text")
    if model.inputs == "texts" and not carry:
        source, format = format_of(path, reading.get("format"))
        if format in _NATIVE:
            yield from _texts(source, format, wanted, text is not None, reading, n_bytes)
            return
    yield from _records(model, path, wanted, carry, reading, n_bytes)


def _texts(
    source: Path, format: str, wanted: str | None, is_asked: bool, reading: dict[str, Any], n_bytes: int
) -> Iterator[tuple[Any, dict[str, list[Any]]]]:
    from lineal.data.files import stream_texts

    options = {**reading, "format": format}
    has_columns = format in ("csv", "tsv", "jsonl")
    name: Name | None = wanted if has_columns else None
    try:
        for part in stream_texts(source, n_bytes=n_bytes, text=name, label=False, missing="empty", **options):
            yield part.documents, {}
    except InputError as flaw:
        if is_asked or not has_columns or "there is no column" not in str(flaw):
            raise
        # Another file may call its texts by another name that is a usual one.
        for part in stream_texts(source, n_bytes=n_bytes, label=False, missing="empty", **options):
            yield part.documents, {}


def _records(
    model: Model, path: str, wanted: str | None, carry: Sequence[str], reading: dict[str, Any], n_bytes: int
) -> Iterator[tuple[Any, dict[str, list[Any]]]]:
    from lineal.data.records import stream_records
    from lineal.jobs.dataset import inputs_of

    names = model.row_names() if model.inputs == "rows" else None
    more = {"names": names} if names is not None else {}
    for records in stream_records(path, n_bytes=n_bytes, as_text=True, **more, **reading):
        carried = {}
        for name in carry:
            if records.table is None or name not in records.table.column_names:
                there = [] if records.table is None else records.table.column_names
                raise InputError(
                    f"{path} has no column {name!r} to carry. It has {', '.join(map(repr, there))}."
                )
            carried[name] = records.table.column(name).to_pylist()
        yield inputs_of(records, model, {"text": wanted}), carried
