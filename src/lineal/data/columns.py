"""Tables from outside as columns of few types: every container of the same table gives the same columns."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Complex, Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.data.matrices import is_sparse
from lineal.errors import InputError, InputTypeError

_CATEGORICAL = ("CategoricalDtype", "Categorical", "Enum")  # types of pandas and of polars


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
    values : array of bool, whole numbers, float64, datetime64[us] (the clock on the wall) or objects
        What stands at a missing place means nothing.
    missing : array of bool
    is_category : bool
        Whether its container calls it categorical.
    """

    name: str
    values: NDArray[Any]
    missing: NDArray[np.bool_]
    is_category: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def present(self) -> NDArray[Any]:
        """The values that are there."""
        return self.values[~self.missing]


@dataclass(frozen=True)
class Table:
    """Columns by name. Without names of its own a table calls them x0, x1 ..."""

    columns: dict[str, Column]
    n_rows: int
    has_names: bool
    is_complete: bool = True  # False for records, where an absent key is a missing value


def read_table(X: Any) -> Table:
    """A table from pandas, polars, Arrow, a dict of columns, a list of dicts, an array or a list of rows.

    Raises
    ------
    InputError
        For other shapes, names that occur twice, and columns of several lengths.
    """
    if is_sparse(X):
        raise InputTypeError(
            "a table has columns of several kinds, but a sparse matrix came, which holds numbers only. "
            "Give it to the learner as it is, or use X.toarray()."
        )
    named = _named_columns(X)
    if named is not None:
        return _table(named)
    if isinstance(X, (list, tuple)) and X and all(isinstance(row, Mapping) for row in X):
        names = list(dict.fromkeys(name for row in X for name in row))
        _need_text(names)
        table = _table([(name, [row.get(name) for row in X]) for name in names], n_rows=len(X))
        return replace(table, has_names=table.has_names or not names, is_complete=False)
    if isinstance(X, (list, tuple)) and X and all(_is_row(row) for row in X):
        if len({len(row) for row in X}) > 1:
            raise InputError(
                f"rows must have equally many cells, got from {_spread(X)}. Fill the short ones."
            )
        return _table([(None, list(cells)) for cells in zip(*X, strict=True)], n_rows=len(X))
    array = _array(X)
    if array.ndim != 2:
        raise InputError(
            f"Expected a table or a 2D array, got {type(X).__name__} of {array.ndim} dimensions. "
            "Reshape your data: array.reshape(-1, 1) for one column, array.reshape(1, -1) for one row."
        )
    return _table([(None, array[:, j]) for j in range(array.shape[1])], n_rows=len(array))


def _named_columns(X: Any) -> list[tuple[Any, Any]] | None:
    """(name, values) of containers that have columns; None for the others."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return [(name, X.iloc[:, j]) for j, name in enumerate(X.columns)]
    if polars is not None and isinstance(X, polars.DataFrame):
        return [(column.name, column) for column in X.iter_columns()]
    if isinstance(X, Mapping):
        _need_text(X)
        return list(X.items())
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        if X.ndim != 1:
            raise InputError(f"a structured array must have one dimension, its rows; got shape {X.shape}.")
        return [(name, X[name]) for name in X.dtype.names]
    if hasattr(X, "__arrow_c_stream__") and type(X).__name__ not in ("Series", "ChunkedArray"):
        try:
            import pyarrow as pa
        except ImportError as error:
            raise InputTypeError(
                f"reading a {type(X).__name__} takes pyarrow, which is not installed. "
                "Install it, or give a dict of columns."
            ) from error
        table = pa.table(X)
        return list(zip(table.schema.names, table.columns, strict=True))
    return None


def _need_text(names: Iterable[Any]) -> None:
    """The keys of dicts have no place to go by, so they must be names."""
    for name in names:
        if not isinstance(name, str):
            raise InputTypeError(
                f"the keys of a dict must be text; {name!r} is of type {type(name).__name__}."
            )


def _is_row(row: Any) -> bool:
    is_vector = isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.names is None
    return is_vector or (isinstance(row, Sequence) and not isinstance(row, (str, bytes)))


def _spread(rows: Sequence[Any]) -> str:
    lengths = [len(row) for row in rows]
    return f"{min(lengths)} to {max(lengths)}"


def _table(named: list[tuple[Any, Any]], n_rows: int | None = None) -> Table:
    names = [name for name, _ in named]
    text = [isinstance(name, str) for name in names]
    if any(text) and not all(text):
        odd = names[text.index(False)]
        raise InputTypeError(
            f"column names must all be text, or none; {odd!r} is of type {type(odd).__name__}."
        )
    if len(set(names)) < len(names) and any(text):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"column names must differ, but these occur more than once: {twice}. Rename them.")
    if not any(text):
        names = [f"x{j}" for j in range(len(names))]
    columns = {name: read_column(name, values) for name, (_, values) in zip(names, named, strict=True)}
    lengths = {name: len(column) for name, column in columns.items()}
    if n_rows is None:
        n_rows = next(iter(lengths.values()), 0)
    for name, length in lengths.items():
        if length != n_rows:
            raise InputError(
                f"columns must be equally long, but {name!r} has {length} rows and others {n_rows}."
            )
    return Table(columns, n_rows, any(text))


def read_column(name: str, values: Any) -> Column:
    """The values of one column, from whatever holds them."""
    if hasattr(values, "to_pylist"):  # pyarrow
        return _from_arrow(name, values)
    dtype: Any = getattr(values, "dtype", None)
    is_category = type(dtype).__name__ in _CATEGORICAL
    if isinstance(dtype, np.dtype):
        array = _array(values)
    elif hasattr(values, "to_list"):  # pandas' own types, and polars
        numeric = getattr(dtype, "is_numeric", None)
        if callable(numeric) and numeric() and not dtype.is_decimal() and not values.null_count():
            array = values.to_numpy()
        else:
            array = _objects(values.to_list())
    elif isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping)):
        array = _objects(list(values))
    else:
        raise InputTypeError(
            f"a dict must hold a column of values under each name, but {name!r} is {values!r}. "
            "For one row, give a list of one dict."
        )
    if array.ndim != 1:
        raise InputError(f"column {name!r} must have one value a row, got an array of shape {array.shape}.")
    return _from_array(name, array, is_category)


def _from_arrow(name: str, values: Any) -> Column:
    import pyarrow as pa

    is_category = pa.types.is_dictionary(values.type)
    if pa.types.is_timestamp(values.type):  # nanoseconds have no Python type
        values = values.cast(pa.timestamp("us", values.type.tz), safe=False)
    plain = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    if plain and not values.null_count:
        return _from_array(name, np.asarray(values.to_numpy()), is_category)
    return _from_array(name, _objects(values.to_pylist()), is_category)


def _array(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):  # NumPy's own conversion forgets the mask
        array = np.array(values.data, dtype=object)
        array[np.ma.getmaskarray(values)] = None
        return array
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(f"a {type(values).__name__} could not be read as a table: {error}") from error


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))  # cells stay whole, also if they are lists


def _from_array(name: str, array: NDArray[Any], is_category: bool = False) -> Column:
    kind = array.dtype.kind
    if kind == "c":
        raise InputError(f"Complex data not supported: column {name!r} is of type {array.dtype}.")
    if kind == "O":
        return _from_objects(name, array, is_category)
    if kind == "f":
        array = array.astype(np.float64)
        return Column(name, array, np.isnan(array), is_category)
    if kind in "Mm":
        missing = np.isnat(array)
        if kind == "M":
            return Column(name, array.astype("datetime64[us]"), missing, is_category)
        seconds = array.astype("timedelta64[us]").astype(np.float64) / 1e6
        return Column(name, np.where(missing, np.nan, seconds), missing, is_category)
    if kind in "SUT":
        text = np.char.decode(array, "utf-8", "replace") if kind == "S" else array
        return _from_objects(name, text.astype(object), is_category)
    if kind not in "biu":
        raise InputTypeError(f"column {name!r} is of type {array.dtype}, which is not a column of values.")
    return Column(name, array, np.zeros(len(array), dtype=bool), is_category)


def _from_objects(name: str, array: NDArray[Any], is_category: bool) -> Column:
    """Python objects of one type become an array of that type; others stay as they are."""
    missing = np.fromiter(map(is_missing, array), dtype=bool, count=len(array))
    present = array[~missing]
    types = set(map(type, present))

    def all_are(*kinds: type) -> bool:
        return bool(types) and all(issubclass(t, kinds) for t in types)

    values = array
    if all_are(bool, np.bool_):
        values = _filled(array, missing, present.astype(bool))
    elif all_are(Real, Decimal, bool, np.bool_):
        values = _filled(array, missing, _numbers(present, all_are(Integral)))
    elif any(issubclass(t, Complex) and not issubclass(t, (Real, np.bool_)) for t in types):
        raise InputError(f"Complex data not supported: column {name!r} has complex numbers.")
    elif all_are(dt.timedelta, np.timedelta64):
        seconds = [
            t.total_seconds() if isinstance(t, dt.timedelta) else t / np.timedelta64(1, "s") for t in present
        ]
        values = _filled(array, missing, np.array(seconds, dtype=np.float64))
    elif all_are(dt.date, np.datetime64):
        values = _filled(array, missing, np.array([clock(one) for one in present], dtype="datetime64[us]"))
    return Column(name, values, missing, is_category)


def _filled(array: NDArray[Any], missing: NDArray[np.bool_], present: NDArray[Any]) -> NDArray[Any]:
    values = np.zeros(len(array), dtype=present.dtype)
    values[~missing] = present
    return values


def _numbers(present: NDArray[Any], are_whole: bool) -> NDArray[Any]:
    if are_whole:
        try:
            return present.astype(np.int64)
        except OverflowError:
            pass
    return np.array([_float(one) for one in present], dtype=np.float64)


def _float(one: Any) -> float:
    try:
        return float(one)
    except OverflowError:  # a whole number beyond 1e308 is as infinite as it gets
        return float("inf") if one > 0 else float("-inf")


def clock(moment: Any) -> np.datetime64:
    """What clock and calendar on the wall show; the time zone is put aside."""
    if isinstance(moment, dt.datetime):
        moment = moment.replace(tzinfo=None)
    return np.datetime64(moment, "us")


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA are missing; an empty string is not."""
    if isinstance(value, str):
        return False
    if value is None or type(value).__name__ == "NAType":
        return True
    differs = value != value  # as only NaN and NaT do
    return isinstance(differs, (bool, np.bool_)) and bool(differs)


def empty_column(name: str, n_rows: int) -> Column:
    """A column without any value."""
    return Column(name, np.full(n_rows, None, dtype=object), np.ones(n_rows, dtype=bool))


def few(names: Iterable[Any]) -> str:
    """The first of the names, quoted."""
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")
