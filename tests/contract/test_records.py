"""Readers of records give what is in the file, or say where and why they cannot; writers give it back."""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import signal
import subprocess
import sys
import time
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from contract.read_back import refuses, rows, write
from lineal.data import fingerprint, read_records, read_texts, stream_records, write_records
from lineal.errors import InputError, ParameterError

# Other formats


def test_parquet(tmp_path):
    """Types are the file's own; decimals are numbers, bytes of text are text, a pandas index is left out."""
    table = pa.table(
        {
            "n": pa.array([1, None], pa.int32()),
            "money": pa.array([1, 2], pa.decimal128(10, 2)),
            "raw": pa.array([b"x", b"y"], pa.binary()),
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "__index_level_0__": [5, 6],
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    assert rows(path) == [
        {"n": 1, "money": 1.0, "raw": "x", "kind": "a"},
        {"n": None, "money": 2.0, "raw": "y", "kind": "b"},
    ]
    assert rows(path, columns=["raw"]) == [{"raw": "x"}, {"raw": "y"}]
    refuses(path, "no column 'x'", columns=["x"])
    pq.write_table(pa.table({"a": [[1]]}), path)
    refuses(path, "column 'a' holds list<")
    pq.write_table(pa.table({"a": [b"\xff"]}), path)
    refuses(path, "not UTF-8 text")
    path.write_bytes(path.read_bytes()[:-7])
    refuses(path, "Is it Parquet, and complete")


def test_folders_and_lines(tmp_path):
    """A folder of class folders has text, label and file; without classes there is no label."""
    for name, text in (("spam/1.txt", "buy\n"), ("spam/2.txt", ""), ("ham/a.txt", "Grüße"), (".git/x", "no")):
        (tmp_path / "mail" / name).parent.mkdir(parents=True, exist_ok=True)
        write(tmp_path / "mail" / name, text)
    assert rows(tmp_path / "mail") == [
        {"text": "Grüße", "label": "ham", "file": "ham/a.txt"},
        {"text": "buy\n", "label": "spam", "file": "spam/1.txt"},
        {"text": "", "label": "spam", "file": "spam/2.txt"},
    ]
    assert rows(tmp_path / "mail" / "spam", columns=["file"]) == [{"file": "1.txt"}, {"file": "2.txt"}]
    refuses(tmp_path / "mail" / "spam", "no column 'label'", columns=["label"])
    write(tmp_path / "mail/ham/b.txt", b"x\n\xff")
    refuses(tmp_path / "mail", r"b.txt, line 2, byte 1: this is not UTF-8")
    assert rows(write(tmp_path / "a.txt", "x\n\ny")) == [{"text": "x"}, {"text": ""}, {"text": "y"}]


PACKERS = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_files_are_known_by_their_bytes(tmp_path, suffix):
    """Whatever the name is; several packed texts in a row are one; a cut or damaged one is refused."""
    pack, text = PACKERS[suffix], "a,b\n1,x\n" + "2,y\n" * 150
    expected = rows(write(tmp_path / "plain.csv", text))
    assert rows(write(tmp_path / f"a.csv.{suffix}", pack(text.encode()))) == expected
    assert rows(write(tmp_path / "named.csv", pack(text.encode()))) == expected
    halves = pack(text[:100].encode()) + pack(text[100:].encode())
    assert rows(write(tmp_path / "halves.csv", halves)) == expected
    assert len(read_texts(tmp_path / f"a.csv.{suffix}", text="b").documents) == 151
    packed = pack(text.encode())
    refuses(write(tmp_path / f"cut.csv.{suffix}", packed[: len(packed) // 2]), "damaged or cut off")
    refuses(write(tmp_path / f"cut.csv.{suffix}", packed[:-3]), "damaged or cut off")
    jsonl = write(tmp_path / f"a.jsonl.{suffix}", pack(b'{"a": 1}\n'))
    assert rows(jsonl) == [{"a": 1}]


def test_packed_parquet(tmp_path):
    """Parquet inside gzip is odd, but read."""
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": [1]}), sink)
    assert rows(write(tmp_path / "a.parquet.gz", gzip.compress(sink.getvalue()))) == [{"a": 1}]


def test_content_decides_where_the_name_is_wrong(tmp_path):
    """Parquet and JSON under another name are read as what they are, with a note; strangers are named."""
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": [1]}), sink)
    found = read_records(write(tmp_path / "a.csv", sink.getvalue()))
    assert (found.format, found.table.to_pylist()) == ("parquet", [{"a": 1}])
    assert "the name says csv" in found.notes[0]
    refuses(tmp_path / "a.csv", "the file is Parquet, not csv", format="csv")
    found = read_records(write(tmp_path / "b.csv", '{"a": 1}\n{"a": 2}\n'))
    assert (found.format, found.n_rows) == ("jsonl", 2)
    found = read_records(write(tmp_path / "c.parquet", "a,b\n1,2\n"))
    assert (found.format, found.n_rows) == ("csv", 1)
    refuses(write(tmp_path / "d.csv", b"PK\x03\x04" + bytes(100)), "a ZIP archive")
    refuses(write(tmp_path / "d.csv", "<!DOCTYPE html>\n<html>"), "a web page")
    refuses(write(tmp_path / "d.csv", b"\x80\x04\x95" + bytes(100)), "a Python pickle")


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ("a,b\n1,2\n", "csv"),
        ('text,label\n"x, y",1\n"z\nz",2\n', "csv"),
        ("a;b\n1;2\n", "csv"),
        ("a\tb\n1\t2\n", "tsv"),
        ('{"a": 1}\n', "jsonl"),
        ('\n [{"a": 1}]\n', "jsonl"),
        ("+1 1:0.5 7:2\n-1 3:1 # x\n0\n", "libsvm"),
        ("3 qid:1 1:0.5\n", "libsvm"),
        ("1 |a b c:2 |d e\n-1 |a x\n", "vw"),
        ("1 0.5 'tag| b c\n| x\n", "vw"),
        ("Dear all,\nhow are you?\n\nYours, Ada\n", "lines"),
        ("hello\nworld\n", "lines"),
        ("name|full name\nada|Ada L\n", "csv"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_formats_without_a_name_are_sniffed(tmp_path, content, format):
    """A file whose name tells nothing is read as what it looks like."""
    assert read_records(write(tmp_path / "data", content)).format == format
    assert read_records(write(tmp_path / "data.unknown", content)).format == format


def test_options_are_checked_before_the_file_is_opened(tmp_path):
    """What cannot be, and what the format has no use for, is refused as an option."""
    path = write(tmp_path / "a.jsonl", '{"a": 1}\n')
    for options in (
        {"format": "xml"},
        {"encoding": "klingon"},
        {"errors": "ignore"},
        {"delimiter": ";;"},
        {"columns": "a"},
        {"delimiter": ";"},
        {"header": False},
        {"names": ["a"]},
        {"n_columns": 3},
        {"first_index": 2},
    ):
        with pytest.raises(ParameterError):
            read_records(path, **options)
    with pytest.raises(ParameterError, match="n_bytes"):
        stream_records(path, n_bytes=0)
    with pytest.raises(InputError, match="no file or folder"):
        read_records(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_records(tmp_path, format="csv")
    with pytest.raises(InputError, match="is a file, not a folder"):
        read_records(path, format="folder")
    with pytest.raises(ParameterError):
        read_records("-", format="folder")


# Streams, pipes, interruptions


def run(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, **options)


def test_standard_input(tmp_path):
    """A path "-" reads what is piped in, packed or not, sniffs it and knows its fingerprint."""
    code = (
        "from lineal.data import read_records, stream_records\n"
        "import sys\n"
        "if sys.argv[1:]: parts = list(stream_records('-', n_bytes=9, as_text=True)); found = parts[-1]\n"
        "else: found = read_records('-')\n"
        "print(found.format, found.table.to_pylist()[-1], found.path, found.fingerprint.sha256)"
    )
    text = gzip.compress(b"a,b\n1,x\n2,y\n")
    for argument, value in (([], "2"), (["stream"], "'2'")):
        found = subprocess.run(
            [sys.executable, "-c", code, *argument], input=text, capture_output=True, timeout=60, check=True
        )
        digest = hashlib.sha256(text).hexdigest()
        assert found.stdout.decode().strip() == f"csv {{'a': {value}, 'b': 'y'}} - {digest}"
    failed = run("from lineal.data import read_records\nread_records('-', format='csv')", input=b"a,b\n1\n")
    assert b"standard input, line 2, byte 1: this record has 1 fields" in failed.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
def test_an_interrupt_ends_a_read_that_waits():
    """Ctrl-C while a pipe gives nothing is heard at once."""
    code = "from lineal.data import read_records\nprint('ready', flush=True)\nread_records('-')"
    waiting = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert waiting.stdout.readline() == b"ready\n"
    time.sleep(0.2)
    waiting.send_signal(signal.SIGINT)
    _, errors = waiting.communicate(timeout=20)
    assert b"KeyboardInterrupt" in errors


def test_streams_hold_a_few_parts_in_memory(tmp_path):
    """Neither Python nor Arrow ever holds more than a few times the size of a part."""
    path = tmp_path / "a.csv.gz"
    line = b"some words of a text,0.25,7\n"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"text,x,label\n")
        for _ in range(20):
            file.write(line * 40_000)
    size = 1 << 18
    largest, n_rows = 0, 0
    tracemalloc.start()
    try:
        for part in stream_records(path, n_bytes=size, as_text=True):
            n_rows += part.n_rows
            largest = max(largest, pa.total_allocated_bytes())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_rows == 800_000
    # Texts and offsets of a part are about twice its bytes, and two parts may be alive.
    assert largest < 16 * size
    assert peak < 16 * size


def test_fingerprints(tmp_path):
    """A file is known by its bytes as they are stored."""
    path = write(tmp_path / "a.bin", b"x" * 3_000_001)
    assert fingerprint(path) == (3_000_001, hashlib.sha256(b"x" * 3_000_001).hexdigest())
    assert fingerprint(str(write(tmp_path / "e", b""))) == (0, hashlib.sha256(b"").hexdigest())
    with pytest.raises(InputError, match="cannot be read"):
        fingerprint(tmp_path / "none")


# Writing


def test_what_a_format_cannot_hold_is_refused_and_the_old_file_stays(tmp_path):
    """Nothing is lost silently, and a file that could not be written is the one that was there."""
    table = pa.table({"text": ["x\ty", None], "n": [1.5, 2.0], "label": [1, 0]})
    for name, words in (
        ("a.tsv", "column 'text', row 0: TSV has no way to write a tab"),
        ("a.libsvm", "libsvm holds numbers only, but column 'text' is string"),
        ("a.vw", "vw holds numbers only, but column 'text' is string"),
        ("a.txt", "plain lines have one column"),
    ):
        path = write(tmp_path / name, "old")
        with pytest.raises(InputError, match=words):
            write_records(table, path)
        assert path.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.libsvm", "a.tsv", "a.txt", "a.vw"]
    with pytest.raises(ParameterError, match="does not tell a format"):
        write_records(table, tmp_path / "a")
    with pytest.raises(ParameterError, match="packed inside"):
        write_records(table, tmp_path / "a.parquet.gz")
    with pytest.raises(ParameterError, match="no format 'folder'"):
        write_records(table, tmp_path / "a", format="folder")
    with pytest.raises(InputError, match="cannot be written"):
        write_records(table, tmp_path / "none" / "a.csv")
    holes = pa.table({"a": [1.0, None], "label": [1, 0]})
    with pytest.raises(InputError, match="row 1: column 'a' has no value"):
        write_records(holes, tmp_path / "a.libsvm")
    with pytest.raises(InputError, match="'label' and 'y' may both be the label"):
        write_records(pa.table({"label": [1], "y": [1]}), tmp_path / "a.libsvm")


def test_equal_records_give_equal_bytes(tmp_path):
    """Neither the time nor the name of the file goes into what is packed."""
    table = pa.table({"a": [1, 2]})
    for suffix in ("csv.gz", "jsonl.xz", "csv.zst", "csv.bz2"):
        write_records(table, tmp_path / f"one.{suffix}")
        time.sleep(0.01)
        write_records(table, tmp_path / f"two.{suffix}")
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


def test_writing_to_standard_output(tmp_path):
    """A path "-" writes to a pipe."""
    path = write(tmp_path / "a.csv", "a,b\n1,x\n")
    code = (
        "import sys\nfrom lineal.data import *\nfrom lineal.data import stream_records, write_records\n"
        "write_records(stream_records(sys.argv[1], as_text=True), '-', format='jsonl')"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, timeout=60, check=True
    )
    assert found.stdout == b'{"a": "1", "b": "x"}\n'
