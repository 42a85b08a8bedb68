"""Records that take two roads are the same: other libraries' readers, other formats, parts of any size."""

import csv
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from lineal.data import read_records, stream_records, write_records
from lineal.errors import InputError

DATA = Path(os.environ.get("LINEAL_DATA", "~/.cache/lineal-data")).expanduser()

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
# Characters that formats treat in their own ways, and a few that they do not.
TEXTS = st.text(alphabet='ab ,;"\n\r\t\\|:^#é😀0.', max_size=8)


def parts_of(path, n_bytes, **options):
    return list(stream_records(path, n_bytes=n_bytes, **options))


@given(cells=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6), n_bytes=st.integers(1, 50))
def test_csv_is_what_pythons_csv_writes(tmp_path_factory, cells, n_bytes):
    """Every cell comes back as it was, blank ones as null, whole and in parts."""
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["one", "two"])
    writer.writerows(cells)
    path.write_bytes(out.getvalue().encode())

    def blank(text):
        return None if not text or text.isspace() else text

    expected = [{"one": blank(one), "two": blank(two)} for one, two in cells]
    assert read_records(path, as_text=True).table.to_pylist() == expected
    found = parts_of(path, n_bytes, as_text=True)
    assert [row for part in found for row in part.table.to_pylist()] == expected


VALUES = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), NUMBERS, TEXTS)


@given(objects=st.lists(st.dictionaries(st.sampled_from("abc"), VALUES), min_size=1, max_size=6))
def test_json_is_what_pythons_json_reads(tmp_path_factory, objects):
    """Whatever the kinds are, a column of one kind has its values, and one of several their spelling."""
    path = tmp_path_factory.mktemp("json") / "a.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in objects))
    keys = list(dict.fromkeys(key for value in objects for key in value))
    if not keys:
        with pytest.raises(InputError, match="no keys"):
            read_records(path)
        return
    table = read_records(path, as_text=True).table
    assert sorted(table.column_names) == sorted(keys)
    for key in keys:
        values = [value.get(key) for value in objects]
        kinds = {type(value) for value in values if value is not None}
        found = table[key].to_pylist()
        if kinds <= {int, float}:
            assert found == [None if value is None else pytest.approx(value, rel=1e-15) for value in values]
        elif len(kinds) == 1:
            assert found == values
        else:
            spelled = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
            assert found == spelled


CELLS = {
    "whole": st.integers(-(2**62), 2**62),
    "number": NUMBERS,
    "truth": st.booleans(),
    # Text that is none of the others, and not blank: CSV could not tell.
    "text": TEXTS.map(lambda text: "x" + text + "x"),
}


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.jsonl.zst"])
def test_what_is_written_is_read(tmp_path, name):
    """Columns of every type come back with their values and types, whole and from parts."""

    @given(
        rows=st.lists(
            st.fixed_dictionaries({key: st.one_of(st.none(), cell) for key, cell in CELLS.items()}),
            min_size=1,
            max_size=5,
        )
    )
    def check(rows):
        if name == "a.tsv":
            rows = [{**row, "text": row["text"] and re.sub(r"[\t\n\r]", "_", row["text"])} for row in rows]
        first = {"whole": 1, "number": 0.5, "truth": True, "text": "x"}  # a column has a type
        schema = pa.schema(
            [("whole", pa.int64()), ("number", pa.float64()), ("truth", pa.bool_()), ("text", pa.string())]
        )
        table = pa.Table.from_pylist([first, *rows], schema)
        assert write_records(table, tmp_path / name) == len(table)
        found = read_records(tmp_path / name)
        assert found.table.schema.equals(schema)
        assert found.table.to_pylist() == table.to_pylist()
        copy = tmp_path / f"copy-{name}"
        write_records(stream_records(tmp_path / name, n_bytes=1 << 20), copy)
        assert read_records(copy).table.equals(found.table)

    check()


def sparse_equal(found, X, y):
    np.testing.assert_array_equal(found.labels, y)
    np.testing.assert_array_equal(found.to_scipy().toarray(), X)


MATRICES = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, -2.5, 1e-7, 1 / 3]), min_size=3, max_size=3), min_size=1
)


@given(rows=MATRICES, zero_based=st.booleans(), n_bytes=st.integers(1, 40))
def test_libsvm_is_what_scikit_learn_writes(tmp_path_factory, rows, zero_based, n_bytes):
    """Rows and labels come back to the bit, and scikit-learn reads what we write."""
    folder = tmp_path_factory.mktemp("libsvm")
    X = np.array(rows)
    y = np.arange(len(X)) - 1.0
    dump_svmlight_file(X, y, str(folder / "a.libsvm"), zero_based=zero_based)
    options = {"n_columns": 3, "first_index": 0 if zero_based else 1}
    whole = read_records(folder / "a.libsvm", **options).rows
    # scikit-learn writes 16 digits, which are one too few for some numbers.
    np.testing.assert_allclose(whole.to_scipy().toarray(), X, rtol=1e-15)
    parts = [part.rows.to_scipy() for part in parts_of(folder / "a.libsvm", n_bytes, **options)]
    np.testing.assert_array_equal(np.vstack([part.toarray() for part in parts]), whole.to_scipy().toarray())
    write_records(read_records(folder / "a.libsvm", **options), folder / "b.libsvm")
    theirs = load_svmlight_file(str(folder / "b.libsvm"), n_features=3, zero_based=False)
    sparse_equal(whole, theirs[0].toarray(), theirs[1])


@given(rows=MATRICES)
def test_numbers_go_through_every_format(tmp_path_factory, rows):
    """CSV to LIBSVM to CSV, and CSV to VW to CSV, give the numbers back to the bit."""
    folder = tmp_path_factory.mktemp("numbers")
    X = np.array([*rows, [1.0, 2.0, 3.0]])  # the last column is there
    y = np.arange(len(X)) - 1.0
    table = pa.table({"label": y, "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    write_records(table, folder / "a.csv")
    read = read_records(folder / "a.csv")
    write_records(read, folder / "a.libsvm")
    write_records(read_records(folder / "a.libsvm"), folder / "b.csv")
    assert read_records(folder / "b.csv").table.rename_columns(table.column_names).equals(table)
    write_records(read, folder / "a.vw")
    named = read_records(folder / "a.vw").rows
    order = [named.names.index(name) for name in "abc"]
    np.testing.assert_array_equal(named.to_scipy().toarray()[:, order], X)
    write_records(read_records(folder / "a.vw"), folder / "c.csv")
    assert read_records(folder / "c.csv").table.select(table.column_names).equals(table)
    assert len({part.format for part in parts_of(folder / "a.vw", 8)}) == 1


def slow_vw(text):
    """The same by regular expressions: rows as dicts from name to value."""
    for line in filter(str.strip, text.split("\n")):
        head, *spaces = line.split("|")
        row = {}
        for space in spaces:
            name, *features = re.match(r"(\S*)(.*)", space).groups()
            name, _, scale = name.partition(":")
            for feature in features[0].split():
                key, _, value = feature.partition(":")
                key = f"{name}^{key}" if name else key
                row[key] = row.get(key, 0.0) + float(scale or 1) * float(value or 1)
        yield float(head.split()[0]), row


WORDS = st.text(alphabet="ab^é", min_size=1, max_size=3)
FEATURES = st.tuples(WORDS, st.sampled_from(["", ":2", ":-0.5", ":1e3"])).map("".join)
SPACES = st.tuples(st.sampled_from(["", "n", "m:0.25"]), st.lists(FEATURES, max_size=5)).map(
    lambda space: "|" + " ".join([space[0], *space[1]])
)
LINES = st.tuples(st.sampled_from(["1", "-1", "0.5"]), st.lists(SPACES, min_size=1, max_size=3)).map(
    lambda line: line[0] + " " + " ".join(line[1])
)


@given(lines=st.lists(LINES, min_size=1, max_size=6), n_bytes=st.integers(1, 60))
def test_vw_is_what_a_slow_reader_reads(tmp_path_factory, lines, n_bytes):
    """Names, values, sums of repeated names and the order of columns, whole and in parts."""
    path = tmp_path_factory.mktemp("vw") / "a.vw"
    text = "\n".join(lines) + "\n"
    path.write_bytes(text.encode())
    expected = list(slow_vw(text))
    whole = read_records(path).rows
    assert whole.names == list(dict.fromkeys(name for _, row in expected for name in row))

    def as_rows(rows):
        for i, label in enumerate(rows.labels):
            here = slice(rows.indptr[i], rows.indptr[i + 1])
            names = [rows.names[j] for j in rows.indices[here]]
            yield label, dict(zip(names, rows.values[here], strict=True))

    assert list(as_rows(whole)) == expected
    parts = [part.rows for part in parts_of(path, n_bytes)]
    assert [row for part in parts for row in as_rows(part)] == expected


@pytest.mark.parametrize("name", ["heart_scale.svm", "a9a.svm", "letter.scale.svm", "sector.scale.svm"])
def test_real_files_are_what_scikit_learn_reads(name):
    """Files of the LIBSVM collection, to the bit."""
    path = DATA / "libsvm" / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    found = read_records(path).rows
    X, y = load_svmlight_file(str(path))
    np.testing.assert_array_equal(found.labels, y)
    np.testing.assert_array_equal(found.indptr, X.indptr)
    np.testing.assert_array_equal(found.indices, X.indices)
    np.testing.assert_array_equal(found.values, X.data)


def test_a_real_file_of_queries_is_what_scikit_learn_reads():
    """LETOR's MQ2008, with qid and comments."""
    paths = sorted((DATA / "mq2008").rglob("test.txt"))
    if not paths:
        pytest.skip(f"MQ2008 is not in {DATA}")
    found = read_records(paths[0])
    assert found.format == "libsvm"
    X, y, queries = load_svmlight_file(str(paths[0]), query_id=True)
    np.testing.assert_array_equal(found.rows.queries, queries)
    np.testing.assert_array_equal(found.rows.labels, y)
    np.testing.assert_array_equal(found.rows.to_scipy().toarray(), X.toarray())
