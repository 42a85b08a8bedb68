"""Arrow to NumPy without pandas, which pyarrow's own conversions import where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def one_chunk(values: Any) -> Any:
    """The values as one array."""
    if isinstance(values, pa.ChunkedArray):
        return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    return values


def valid(array: Any) -> NDArray[np.bool_]:
    """(n,) where an array is not null."""
    mask = array.buffers()[0]
    if mask is None or array.null_count == 0:
        return np.ones(len(array), dtype=bool)
    return _bits(mask, array)


def _bits(buffer: Any, array: Any) -> NDArray[np.bool_]:
    n_bits = array.offset + len(array)
    packed = np.frombuffer(buffer, dtype=np.uint8, count=(n_bits + 7) // 8)
    return np.unpackbits(packed, count=n_bits, bitorder="little")[array.offset :].astype(bool)


def whole_numbers(values: Any, missing: int) -> NDArray[np.int64]:
    """(n,) integers, with ``missing`` where they are null."""
    array = one_chunk(one_chunk(values).cast(pa.int64()))
    return np.where(valid(array), _fixed(array, np.int64), missing)


def floats(values: Any) -> NDArray[np.float64]:
    """(n,) numbers, NaN where they are null."""
    array = one_chunk(values)
    if array.type != pa.float64():
        array = one_chunk(array.cast(pa.float64(), safe=False))
    if array.null_count == 0:
        return _fixed(array, np.float64).copy()
    return np.where(valid(array), _fixed(array, np.float64), np.nan)


def _fixed(array: Any, dtype: Any) -> NDArray[Any]:
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return np.zeros(len(array), dtype=dtype)
    start = array.offset * np.dtype(dtype).itemsize
    return np.frombuffer(buffer, dtype=dtype, count=len(array), offset=start)


def null(kind: Any) -> Any:
    """The null of a type."""
    return pa.nulls(1, kind)[0]


def row_numbers(rows: Any) -> Any:
    """Row numbers, as ``take`` wants them."""
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows)])
