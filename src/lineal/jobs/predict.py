"""The rows of a file, labelled by a stored model, piece by piece in constant memory.

Texts are read by the core itself; only files of columns for models of tables, Parquet, and columns that are
to be carried along need pyarrow. So a line of text is labelled before a larger library could be imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lineal.errors import InputError, ParameterError
from lineal.jobs.answers import Answers, answers_of
from lineal.jobs.places import told_of_file
from lineal.model.model import Model

N_BYTES = 1 << 22


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
        if hasattr(self.X, "to_pylist"):
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
        with told_of_file(path, reading, first.__add__):
            answers = answers_of(model, X)
        yield Predicted(first, X, answers, carried)
        first += len(answers.labels)


def _pieces(
    model: Model, path: str, text: str | None, carry: Sequence[str], reading: dict[str, Any], n_bytes: int
) -> Iterator[tuple[Any, dict[str, list[Any]]]]:
    if text is not None and model.inputs != "texts":
        reads = "columns by their own names" if model.inputs == "table" else "rows of numbers"
        raise ParameterError(f"the model reads {reads}, so --text says nothing: leave it out.")
    usual = (model.about.columns or {}).get("text")
    if model.inputs == "texts" and not carry:
        from lineal.data.unlabelled import stream_unlabelled

        for documents in stream_unlabelled(path, text=text, usual=usual, n_bytes=n_bytes, **reading):
            yield documents, {}
        return
    yield from _records(model, path, text, usual, carry, reading, n_bytes)


def _records(
    model: Model,
    path: str,
    text: str | None,
    usual: str | None,
    carry: Sequence[str],
    reading: dict[str, Any],
    n_bytes: int,
) -> Iterator[tuple[Any, dict[str, list[Any]]]]:
    from lineal.data.unlabelled import TextColumn
    from lineal.jobs.dataset import inputs_of, stream_for

    column = TextColumn(text, usual)
    for records in stream_for(model, path, n_bytes, reading):
        carried = {}
        for name in carry:
            if records.table is None or name not in records.table.column_names:
                there = [] if records.table is None else records.table.column_names
                raise InputError(
                    f"{path} has no column {name!r} to carry. It has {', '.join(map(repr, there))}."
                )
            carried[name] = records.table.column(name).to_pylist()
        yield inputs_of(records, model, column), carried
