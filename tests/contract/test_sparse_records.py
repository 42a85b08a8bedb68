"""Rows of LIBSVM and VW are read as they are written, whole and in parts."""

import numpy as np
import pytest

from contract.read_back import SIZES, refuses, write
from lineal.data import read_records, stream_records
from lineal.errors import InputError, ParameterError


def sparse(path, **options):
    """The rows of the whole file, after they were found to be the same in parts of every size."""
    whole = read_records(path, **options).rows
    for n_bytes in SIZES:
        parts = [part.rows for part in stream_records(path, n_bytes=n_bytes, **options)]
        for name in ("labels", "indices", "values"):
            np.testing.assert_array_equal(
                np.concatenate([getattr(part, name) for part in parts]), getattr(whole, name)
            )
        counts = np.concatenate([np.diff(part.indptr) for part in parts])
        np.testing.assert_array_equal(counts, np.diff(whole.indptr))
        assert parts[-1].n_columns == whole.n_columns
        assert parts[-1].names == whole.names
        assert sum(part.n_unknown for part in parts) == whole.n_unknown
    return whole


def test_libsvm(tmp_path):
    """Labels, sorted rows counted from 0, comments and blank lines nothing."""
    rows = sparse(write(tmp_path / "a.libsvm", "+1 3:2 1:0.5 # x\n\n-1 4:-1e-3\n0\n"))
    assert rows.labels.tolist() == [1, -1, 0]
    assert rows.to_scipy().toarray().tolist() == [[0.5, 0, 2, 0], [0, 0, 0, -0.001], [0, 0, 0, 0]]
    assert (rows.indptr.dtype, rows.indices.dtype) == (np.int64, np.int32)
    assert rows.first_index == 1
    assert rows.queries is rows.weights is rows.tags is rows.names is None
    refuses(
        write(tmp_path / "a.libsvm", "1 1:1\n1 2:x\n"), "a.libsvm, line 2, byte 5: the value must be a number"
    )
    refuses(write(tmp_path / "a.libsvm", "1 1:1\n1,2 2:1\n"), "line 2, byte 1: there are several labels")
    refuses(write(tmp_path / "a.libsvm", "1 1:1\n1 2147483647:1\n"), "line 2, byte 3: index .* is larger")
    refuses(write(tmp_path / "a.libsvm", ""), "the file is empty")


def test_libsvm_counts_from_one_unless_a_zero_is_met(tmp_path):
    """A zero in the first part of a stream decides; a later one is refused, unless it was said before."""
    path = write(tmp_path / "a.libsvm", "1 1:1\n1 0:2 2:3\n")
    assert read_records(path).rows.to_scipy().toarray().tolist() == [[0, 1, 0], [2, 0, 3]]
    with pytest.raises(InputError, match=r"line 2, byte 3: index 0 is below the first, 1.*first_index=0"):
        list(stream_records(path, n_bytes=6))
    assert read_records(path).rows.first_index == 0
    assert sparse(path, first_index=0).n_columns == 3
    assert sparse(write(tmp_path / "b.libsvm", "1 1:1\n"), first_index=0).n_columns == 2
    refuses(path, "index 0 is below the first", first_index=1)


def test_libsvm_with_a_given_width(tmp_path):
    """Columns beyond those that were asked for are dropped and counted; missing ones are there."""
    path = write(tmp_path / "a.libsvm", "1 1:1 9:2\n1 2:3\n")
    cut = sparse(path, n_columns=2)
    assert cut.to_scipy().toarray().tolist() == [[1, 0], [0, 3]]
    assert cut.n_unknown == 1
    assert sparse(path, n_columns=100, first_index=1).n_columns == 100


def test_svmrank(tmp_path):
    """Queries are kept; a line without one among others is refused."""
    rows = sparse(write(tmp_path / "a.libsvm", "2 qid:1 1:1 #d1\n0 qid:1 2:1\n1 qid:7 1:2\n"))
    assert rows.queries.tolist() == [1, 1, 7]
    refuses(write(tmp_path / "b.libsvm", "2 qid:1 1:1\n0 2:1\n"), "line 2, byte 3: this line has no qid")


def test_vw(tmp_path):
    """Names have their namespace, values multiply, importances and tags are kept."""
    path = write(tmp_path / "a.vw", "1 2 'first|a x y:2 |b:0.5 x:4\n-1 |a y\n| z\n")
    rows = sparse(path)
    assert rows.names == ["a^x", "a^y", "b^x", "z"]
    assert rows.to_scipy().toarray().tolist() == [[1, 2, 2, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    np.testing.assert_array_equal(rows.labels, [1, -1, np.nan])
    assert rows.weights.tolist() == [2, 1, 1]
    assert rows.tags == ["first", "", ""]
    refuses(write(tmp_path / "b.vw", "1 |a x\n1 a\n"), "line 2, byte 4: there is no '|'")
    refuses(write(tmp_path / "b.vw", "1|a x\n"), "what touches the '|' is a tag")


def test_vw_with_given_names(tmp_path):
    """A fixed vocabulary keeps its columns; unknown names are dropped and counted."""
    path = write(tmp_path / "a.vw", "1 |a x y:2 |b x\n-1 |a q q q\n")
    rows = sparse(path, names=["unused", "a^y", "b^x"])
    assert rows.to_scipy().toarray().tolist() == [[0, 2, 1], [0, 0, 0]]
    assert rows.n_unknown == 4
    assert rows.names == ["unused", "a^y", "b^x"]
    with pytest.raises(ParameterError, match="differ"):
        read_records(path, names=["a", "a"])
    with pytest.raises(ParameterError, match="Give names="):
        read_records(path, n_columns=3)
