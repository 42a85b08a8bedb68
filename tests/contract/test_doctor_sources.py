"""The doctor reads every source: packed files, Parquet, folders, standard input, two files at once."""

import gzip
import io
import lzma
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contract.small_files import CSV, changed, column, reviews, sentence, write
from lineal.data import diagnose
from lineal.errors import InputError, ParameterError


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_packed_files_are_read(tmp_path, pack):
    """Compression changes neither lines nor columns; commands say that the file must be unpacked first."""
    plain = diagnose(write(tmp_path, "a.csv", changed(CSV, 9, "pos,well\n")))
    packed = diagnose(write(tmp_path, "a.csv.gz", pack(changed(CSV, 9, "pos,well\n").encode())))
    assert [(f.code, f.lines, f.column) for f in plain.findings] == [
        (f.code, f.lines, f.column) for f in packed.findings
    ]
    assert "sed" not in packed.of("too-few-fields")[0].fix


def test_parquet_has_rows_in_place_of_lines(tmp_path):
    """What is wrong in a Parquet file has its row, counted from 0, and nested columns are named."""
    rows = reviews()
    table = pa.table(
        {
            "label": [row[0] for row in rows[:-1]] + [None],
            "text": [row[1] for row in rows],
            "size": [float(row[2]) for row in rows[:-2]] + [float("inf"), 3.0],
            "tags": [[1, 2]] * len(rows),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    found = diagnose(tmp_path / "a.parquet")
    assert (found.format, found.n_rows) == ("parquet", len(rows))
    assert (found.of("label-missing")[0].row, found.of("label-missing")[0].line) == (23, None)
    assert (found.of("not-finite")[0].row, found.of("not-finite")[0].column) == (22, "size")
    assert found.of("nested-value")[0].column == "tags"


def test_a_broken_parquet_file(tmp_path):
    """A Parquet file that is cut off is unreadable, and said so."""
    found = diagnose(write(tmp_path, "a.parquet", b"PAR1 and nothing more"))
    assert found.of("unreadable")
    assert found.has_errors


def test_folders_have_files_and_lines(tmp_path):
    """In a folder of classes a finding names the file, and the line in it where there is one."""
    for label in ("ham", "spam"):
        (tmp_path / "mail" / label).mkdir(parents=True)
    for k in range(24):
        label = "ham" if k % 2 else "spam"
        (tmp_path / "mail" / label / f"{k:02d}.txt").write_text(f"{sentence(k)}\nsecond line\n")
    write(tmp_path, "mail/ham/01.txt", b"first\ncaf\xe9\n")
    write(tmp_path, "mail/spam/02.txt", b"")
    write(tmp_path, "mail/spam/04.txt", (tmp_path / "mail/ham/03.txt").read_bytes())
    write(tmp_path, "mail/notes.txt", b"no class")
    found = diagnose(tmp_path / "mail")
    assert (found.format, found.n_rows, found.label, found.text) == ("folder", 24, "label", ("text",))
    assert (found.of("not-utf-8")[0].file, found.of("not-utf-8")[0].line) == (
        str(tmp_path / "mail/ham/01.txt"),
        2,
    )
    assert found.of("text-empty")[0].file == str(tmp_path / "mail/spam/02.txt")
    assert found.of("file-without-class")[0].file == str(tmp_path / "mail/notes.txt")
    assert found.of("contradiction")[0].file == str(tmp_path / "mail/spam/04.txt")


def test_a_column_that_nearly_decides(tmp_path):
    """A column with the label in all but a few of many rows is worth a note."""
    values = ["a" if k % 3 else "b" for k in range(600)]
    values[100] = "b"
    found = diagnose(write(tmp_path, "a.csv", column("status", values)))
    assert not found.of("decides-label")
    assert found.of("nearly-decides-label")[0].column == "status"


def test_train_and_test_files(tmp_path):
    """Texts in both files, labels and columns in one, and values that moved are found in the test file."""
    rng = np.random.default_rng(0)
    train = "".join(
        f"{a},{b},{rng.normal():.3f},{'xy'[k % 2]},1\n" for k, (a, b, _) in enumerate(reviews(120))
    )
    test = "".join(
        f"{a},new {b},{2 + rng.normal():.3f},{'xz'[k % 2]}\n" for k, (a, b, _) in enumerate(reviews(80))
    )
    first = write(tmp_path, "train.csv", "label,text,a,b,c\n" + train)
    content = "label,text,a,b\n" + test + f"pos,{sentence(5).upper()},2,x\nPOS,quite new,2,x\n"
    second = write(tmp_path, "test.csv", content)
    found = diagnose(first, test=second)
    (overlap,) = found.of("test-overlap")
    assert (overlap.file, overlap.line, overlap.column) == (str(second), 82, "text")
    assert "train.csv, line 7" in overlap.message
    (label,) = found.of("test-label")
    assert (label.file, label.line, label.column) == (str(second), 83, "label")
    assert "to 'pos'" in label.fix
    assert [finding.column for finding in found.of("test-columns")] == ["c"]
    assert {finding.column for finding in found.of("test-drift")} == {"a", "b"}
    assert not diagnose(first, test=first).of("test-drift")
    assert diagnose(first, test=first).of("test-overlap")[0].count == 120


def test_rows_in_both_files_without_texts(tmp_path):
    """Tables of numbers are compared row by row."""
    rng = np.random.default_rng(1)
    rows = [f"{a:.4f},{b:.4f},{k % 2}\n" for k, (a, b) in enumerate(rng.normal(size=(80, 2)))]
    first = write(tmp_path, "train.csv", "a,b,label\n" + "".join(rows[:60]))
    second = write(tmp_path, "test.csv", "a,b,label\n" + "".join(rows[59:]))
    (overlap,) = diagnose(first, test=second).of("test-overlap")
    assert (overlap.line, overlap.count) == (2, 1)
    assert "line 61" in overlap.message


def test_the_standard_input(monkeypatch):
    """A file may come through a pipe."""
    monkeypatch.setattr(
        sys, "stdin", SimpleNamespace(buffer=io.BytesIO(changed(CSV, 9, "pos,well\n").encode()))
    )
    found = diagnose("-")
    assert (found.file, found.of("too-few-fields")[0].line) == ("-", 9)


def test_options_that_cannot_be(tmp_path):
    """A file that is not there, a column that is not there and impossible options are refused by name."""
    path = write(tmp_path, "a.csv", "".join(CSV))
    with pytest.raises(InputError, match=r"no file or folder .*nothing\.csv"):
        diagnose(tmp_path / "nothing.csv")
    with pytest.raises(ParameterError, match=r"no column 'target'.*'label', 'text', 'size'"):
        diagnose(path, label="target")
    with pytest.raises(ParameterError, match="encoding"):
        diagnose(path, encoding="klingon")
    with pytest.raises(ParameterError, match="format 'xls'"):
        diagnose(path, format="xls")
    with pytest.raises(ParameterError, match="task"):
        diagnose(path, task="ranking")
    with pytest.raises(ParameterError, match="max_findings_per_kind"):
        diagnose(path, max_findings_per_kind=0)


def test_dropped_columns_are_not_looked_at(tmp_path):
    """What is left out is not complained about."""
    path = write(tmp_path, "a.csv", column("source", ["web" if k % 3 else "app" for k in range(60)]))
    assert diagnose(path).of("decides-label")
    assert not diagnose(path, drop=["source"]).findings
