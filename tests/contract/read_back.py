"""Files that are written, read whole and in parts, and compared."""

import pytest

from lineal.data import read_records, stream_records
from lineal.errors import InputError

SIZES = (1, 7, 64, 1 << 20)


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def rows(path, **options):
    """The rows of the whole file, after they were found to be the same in parts of every size."""
    whole = read_records(path, **options)
    as_text = read_records(path, as_text=True, **options).table.to_pylist()
    for n_bytes in SIZES:
        parts = list(stream_records(path, n_bytes=n_bytes, as_text=True, **options))
        assert [row for part in parts for row in part.table.to_pylist()] == as_text
        assert sum(part.n_rows for part in parts) == whole.n_rows
    return whole.table.to_pylist()


def types(path, **options):
    table = read_records(path, **options).table
    return {field.name: str(field.type) for field in table.schema}


def refuses(path, words, **options):
    with pytest.raises(InputError, match=words):
        read_records(path, **options)
    with pytest.raises(InputError, match=words):
        list(stream_records(path, n_bytes=16, as_text=True, **options))
