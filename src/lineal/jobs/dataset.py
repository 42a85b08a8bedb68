"""Rows with labels, ready to learn from: texts, tables or sparse rows of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.corpus import named_in_errors
from lineal.data.csv_records import missing_to_null
from lineal.data.documents import documents
from lineal.data.records import Records, stream_records
from lineal.data.targets import plain_array
from lineal.data.unlabelled import TextColumn
from lineal.errors import CellError, InputError, ParameterError
from lineal.jobs.roles import Roles


@dataclass(frozen=True, eq=False)
class Dataset:
    """What a learner takes.

    Attributes
    ----------
    inputs : "texts", "table" or "rows"
    X : Documents, a pyarrow table, or a SciPy matrix
    y : (n,) labels or numbers
    rows : (n,) places in the file, from 0, since rows without a label are left out
    groups, sample_weight : (n,) arrays or None
    n_without_label : int
    names : names of the columns of sparse rows, or None
    """

    inputs: str
    X: Any
    y: NDArray[Any]
    rows: NDArray[np.int64]
    groups: NDArray[Any] | None = None
    sample_weight: NDArray[np.float64] | None = None
    n_without_label: int = 0
    names: Any = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: NDArray[Any]) -> Dataset:
        """Some of the rows, in the order given."""
        rows = np.asarray(rows, dtype=np.int64)
        picked = self.X[rows] if self.inputs == "rows" else self.X.take(rows)
        return Dataset(
            self.inputs,
            picked,
            self.y[rows],
            self.rows[rows],
            None if self.groups is None else self.groups[rows],
            None if self.sample_weight is None else self.sample_weight[rows],
            names=self.names,
        )


def dataset_of(
    records: Any, roles: Roles | None, *, task: str | None = None, may_be_empty: bool = False
) -> Dataset:
    """The records' rows that have a label; none at all are refused unless they are a piece of more."""
    if records.rows is not None:
        return _of_sparse(records.rows, task, may_be_empty)
    assert roles is not None
    table = records.table
    label = table.column(roles.label)
    has_label = np.asarray(label.is_valid())
    rows = np.flatnonzero(has_label)
    if not len(rows) and not may_be_empty:
        raise InputError(f"{records.path}: no row has a label in column {roles.label!r}.")
    if len(rows) < table.num_rows:
        table = table.take(rows)
    y = _targets(table.column(roles.label), roles.task, roles.label, rows)
    groups = None if roles.group is None else _groups(table.column(roles.group), roles.group, rows)
    weights = _weights(table, roles, rows)
    text = roles.text_alone
    X = (
        documents(table.column(text), missing="empty")
        if text is not None
        else table.select(list(roles.features))
    )
    return Dataset(
        "texts" if text is not None else "table", X, y, rows, groups, weights, int((~has_label).sum())
    )


def inputs_of(records: Any, model: Any, text: TextColumn) -> Any:
    """What a frozen model takes, from records that may have no label."""
    if model.inputs == "rows":
        if records.rows is None:
            raise InputError(
                f"{records.path}: the model was trained on sparse rows of numbers (LIBSVM or VW), but this "
                f"is a file of columns ({records.format})."
            )
        return matrix_of(records.rows, model.n_features_in_)
    if records.table is None:
        raise InputError(
            f"{records.path}: the model was trained on columns with names, but this is a file of sparse rows "
            f"({records.format})."
        )
    table = records.table
    if model.inputs == "table":
        return table
    if records.format in ("lines", "folder"):
        text.refuse_columns()
        return documents(table.column("text"), missing="empty")
    with named_in_errors("standard input" if records.path == "-" else records.path):
        return documents(table.column(text.among(table.column_names)), missing="empty")


def sparse_options(model: Any) -> dict[str, Any]:
    """Options of ``read_records`` that let rows of LIBSVM or VW come with a model's own columns."""
    if model.inputs != "rows":
        return {}
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return {"names": names.tolist()}
    return {"n_columns": model.n_features_in_, "first_index": first_index(model)}


def first_index(model: Any) -> int:
    """Where the indices of a model's rows count from: 0 or 1."""
    return 0 if (model.about.columns or {}).get("first_index") == 0 else 1


def read_for(model: Any, path: str, read: Callable[..., Records], **options: Any) -> Records:
    """Records read as a model takes them; nested columns that it has no use for are left out."""
    return _with_needed(_read(model, path, read, options), model)


def stream_for(
    model: Any, path: str, n_bytes: int, reading: dict[str, Any], *, label: str | None = None
) -> Iterator[Records]:
    """The same piece by piece, with cells of CSV as they are written: the model knows what they mean.

    Cells that say "missing" where numbers, booleans or dates were learned from are null, as in training.
    """
    unsaid = _without_words(model, label)

    def begun(path: str, **options: Any) -> tuple[Records | None, Iterator[Records]]:
        parts = iter(stream_records(path, **options))
        return next(parts, None), parts  # what cannot be is said with the first part

    head, rest = _read(model, path, begun, {"n_bytes": n_bytes, "as_text": True, **reading})
    for records in () if head is None else chain([head], rest):
        yield _nulled(_with_needed(records, model), unsaid)


def _without_words(model: Any, label: str | None) -> list[str]:
    """Columns whose cells are numbers, booleans or dates to a model."""
    known = model.about.columns or {}
    kinds = known.get("features") or {}
    names = [name for name, kind in kinds.items() if kind in ("number", "boolean", "date")]
    has_names = model.task == "classification" and model.classes_.dtype.kind in "USO"
    return names if has_names else [*names, str(label or known.get("label"))]


def _nulled(records: Records, columns: list[str]) -> Records:
    if records.format not in ("csv", "tsv"):  # the others say null in a way of their own
        return records
    there = set(records.table.column_names)
    table = missing_to_null(records.table, [name for name in columns if name in there])
    return replace(records, table=table)


def _read(model: Any, path: str, read: Callable[..., Any], options: dict[str, Any]) -> Any:
    """What ``read`` returns; a file of another kind is refused in words."""
    try:
        return read(path, nested="skip", **sparse_options(model), **options)
    except ParameterError as flaw:
        if model.inputs == "rows" and "n_columns" in str(flaw):
            raise InputError(
                f"{path}: the model was trained on sparse rows of numbers (LIBSVM or VW), but this is a file "
                "of columns with names, or of the other of the two."
            ) from None
        raise


def _with_needed(records: Records, model: Any) -> Records:
    """The records, if no column was left out that the model learned from."""
    known = model.about.columns or {}
    needed = {known.get("text"), known.get("label"), *(known.get("features") or ())}
    for name in records.skipped:
        if name in needed:
            raise InputError(
                f"{records.path}: column {name!r} holds objects or lists, but the model needs single values."
            )
    return records


def named(estimator: Any, names: Any) -> Any:
    """A copy of a fitted estimator of matrices that calls its columns so; the same one without names."""
    if names is None:
        return estimator
    made = copy(estimator)
    made.feature_names_in_ = np.array(list(names), dtype=object)
    made._names = None
    return made


def matrix_of(rows: Any, n_columns: int | None = None) -> Any:
    """Sparse rows as a SciPy matrix; columns that a model does not know are left out."""
    import scipy.sparse as sp

    shape = (len(rows.indptr) - 1, max(rows.n_columns, n_columns or 0))
    X = sp.csr_matrix((rows.values, rows.indices, rows.indptr), shape=shape)
    X.sort_indices()
    return X if n_columns is None or shape[1] == n_columns else X[:, :n_columns]


def _of_sparse(rows: Any, task: str | None, may_be_empty: bool) -> Dataset:
    X = matrix_of(rows)
    y = np.asarray(rows.labels, dtype=np.float64)
    has_label = ~np.isnan(y)
    if not has_label.any() and not may_be_empty:
        raise InputError("no row has a label.")
    kept = np.flatnonzero(has_label)
    y = y[kept]
    if task != "regression" and (y == np.round(y)).all():
        y = y.astype(np.int64)
    groups = None if rows.queries is None else np.asarray(rows.queries)[kept]
    weights = None if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)[kept]
    n_without = int((~has_label).sum())
    return Dataset("rows", X[kept], y, kept, groups, weights, n_without, rows.names)


def _targets(column: Any, task: str, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
    import pyarrow as pa

    if task == "regression":
        try:
            return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            place = _first_that_is_no_number(column)
            before = f"column {name!r} cannot be predicted as a number: "
            after = f" has {column[place].as_py()!r}. Correct the cell, or train with --task classification."
            raise CellError(before, int(rows[place]), after) from None
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        return np.asarray(column.to_numpy())
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values = column.to_pylist()
    if pa.types.is_floating(column.type) and all(float(value).is_integer() for value in values):
        return np.array(values)  # with fractions, which learners take for numbers to predict, they are names
    return plain_array([str(value) for value in values])


def _groups(column: Any, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
    if column.null_count:
        row = int(rows[np.argmin(np.asarray(column.is_valid()))])
        raise CellError(f"column {name!r} has no group in ", row, ". Fill it, or drop the row.")
    return plain_array([str(value) for value in column.to_pylist()])


def _weights(table: Any, roles: Roles, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
    found = roles.of("weight")
    if not found:
        return None
    import pyarrow as pa

    name, column = found[0], table.column(found[0])
    try:  # numbers may come as they are written
        weights = np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
        is_good = np.isfinite(weights) & (weights >= 0)
        place = None if is_good.all() else int(np.argmin(is_good))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        place = _first_that_is_no_number(column)
    if place is not None:
        raise CellError(
            f"column {name!r} must be numbers of at least 0 in every row to be the weight, but ",
            int(rows[place]),
            f" has {column[place].as_py()!r}.",
        )
    if len(weights) and not weights.any():
        raise InputError(f"all weights in column {name!r} are 0: there is nothing to learn from or judge by.")
    return weights


def _first_that_is_no_number(column: Any) -> int:
    """The place of the first cell that cannot be read as a number."""
    for place, value in enumerate(column.to_pylist()):
        try:
            float(value)
        except (TypeError, ValueError):
            return place
    return 0
