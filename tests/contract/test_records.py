"""Readers of records give what is in the file, or say where and why they cannot; writers give it back."""

import bz2
import datetime as dt
import gzip
import hashlib
import io
import json
import lzma
import os
import signal
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from lineal.data import fingerprint, read_records, read_texts, stream_records, write_records
from lineal.errors import InputError, ParameterError

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


# CSV and TSV


def test_csv_has_types_and_blank_cells_are_null(tmp_path):
    """Whole numbers, numbers, truth values, dates and text are told apart; a blank cell is none of them."""
    path = write(
        tmp_path / "a.csv",
        "i,f,b,d,t,s\n1,0.5,true,2024-01-02,2024-01-02 03:04:05,x\n,,,,, \n"
        "3,NA,FALSE,2024-02-03,2024-01-02,y y\n",
    )
    assert types(path) == {
        "i": "int64",
        "f": "double",
        "b": "bool",
        "d": "date32[day]",
        "t": "timestamp[s]",
        "s": "string",
    }
    assert rows(path)[1] == dict.fromkeys("ifbdts")
    assert rows(path)[2] == {
        "i": 3,
        "f": None,
        "b": False,
        "d": dt.date(2024, 2, 3),
        "t": dt.datetime(2024, 1, 2),
        "s": "y y",
    }


def test_what_is_no_number_stays_text(tmp_path):
    """Codes with leading zeros, separators of thousands, times of day and hexadecimal digits are text."""
    path = write(
        tmp_path / "a.csv", 'zip,price,time,hex,country\n007,"1,234",10:30,0x1F,NA\n10,"2",11:00,0x2,DE\n'
    )
    assert set(types(path).values()) == {"string"}
    assert rows(path)[0] == {"zip": "007", "price": "1,234", "time": "10:30", "hex": "0x1F", "country": "NA"}


def test_whole_numbers_beyond_64_bits_are_rounded_and_said(tmp_path):
    """A number that no 64-bit integer holds is a float, and a note says so."""
    found = read_records(write(tmp_path / "a.csv", "id\n12345678901234567890123\n2\n"))
    assert found.table.to_pylist() == [{"id": 1.2345678901234568e22}, {"id": 2.0}]
    assert "rounded" in found.notes[0]


def test_spaces_among_numbers_are_blank(tmp_path):
    """A cell of spaces does not turn a column of numbers into text."""
    path = write(tmp_path / "a.csv", "a,b\n1, \n  ,2.5\n3,4\n")
    assert types(path) == {"a": "int64", "b": "double"}
    assert rows(path) == [{"a": 1, "b": None}, {"a": None, "b": 2.5}, {"a": 3, "b": 4.0}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_line_ends_and_marks(tmp_path, end, mark):
    """Lines end with \\n, \\r\\n or \\r, and a byte-order mark is no part of the first name."""
    path = write(tmp_path / "a.csv", mark + f"a,b{end}1,x{end}2,y z{end}".encode())
    assert rows(path) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y z"}]


def test_quoted_cells_hold_anything(tmp_path):
    """Delimiters, quotes, ends of lines, carriage returns and NUL are kept inside quotes."""
    path = write(tmp_path / "a.csv", 'a,b\n1,"x,""y""\nz"\n2,"p\rq"\n3,n\0n\n4,in "it"\n')
    assert [row["b"] for row in rows(path)] == ['x,"y"\nz', "p\rq", "n\0n", 'in "it"']


def test_a_carriage_return_inside_a_cell_is_kept(tmp_path):
    """Only ends of lines end lines: a lone carriage return in a cell is a character."""
    path = write(tmp_path / "a.csv", "a,b\n1,x\ry\n2,z\n")
    assert rows(path) == [{"a": 1, "b": "x\ry"}, {"a": 2, "b": "z"}]


def test_tsv_has_no_quotes(tmp_path):
    """In TSV a quote is a character like others."""
    assert rows(write(tmp_path / "a.tsv", 'a\tb\n1\t"x\n2\ty"\n')) == [
        {"a": 1, "b": '"x'},
        {"a": 2, "b": 'y"'},
    ]


def test_other_delimiters(tmp_path):
    """Semicolons are found where a comma splits nothing, and any delimiter can be given."""
    path = write(tmp_path / "a.csv", "a;b\n1,5;x\n2,5;y\n")
    assert rows(path) == [{"a": "1,5", "b": "x"}, {"a": "2,5", "b": "y"}]
    assert "';'" in read_records(path).notes[0]
    path = write(tmp_path / "a.csv", "a^b\n1^x\n")
    assert rows(path, delimiter="^") == [{"a": 1, "b": "x"}]
    assert rows(path) == [{"a^b": "1^x"}]


def test_names_of_columns(tmp_path):
    """Names are trimmed, an empty one becomes its place, and without a header places are the names."""
    path = write(tmp_path / "a.csv", ", b \n0,5\n")
    assert rows(path) == [{"0": 0, "b": 5}]
    assert rows(write(tmp_path / "a.csv", "1,2\n3,4\n"), header=False) == [{"0": 1, "1": 2}, {"0": 3, "1": 4}]
    path = write(tmp_path / "a.csv", "a,b,c\n1,2,3\n")
    assert rows(path, columns=["c", "a"]) == [{"c": 3, "a": 1}]
    assert rows(path, drop=["a"]) == [{"b": 2, "c": 3}]
    refuses(path, "there is no column 'x'. There are 'a', 'b', 'c'", columns=["x"])
    refuses(path, "there is no column 'x'", drop=["x"])
    refuses(write(tmp_path / "a.csv", "a,b,a\n1,2,3\n"), "columns 1 and 3 are both called 'a'")


def test_ragged_and_unclosed_records_are_refused_at_the_line_of_an_editor(tmp_path):
    """Ends of lines inside quotes are counted, since an editor shows them."""
    refuses(
        write(tmp_path / "a.csv", 'a,b,c\n1,"x\ny",3\n1,2,3,4\n'),
        r"a.csv, line 4, byte 1: this record has 4 fields, but the first one has 3. Put fields",
    )
    refuses(write(tmp_path / "a.csv", "a,b\n1\n"), "line 2, byte 1: this record has 1 fields")
    refuses(
        write(tmp_path / "a.csv", 'a,b\n1,"x\n2,y\n'), "line 2, byte 3: the quoted field that begins here"
    )
    refuses(write(tmp_path / "a.csv", 'a,b\n1,"x"y\n'), "line 2, byte 6: something follows the closing quote")


def test_files_without_records(tmp_path):
    """A header alone is a table without rows; nothing at all is refused."""
    path = write(tmp_path / "a.csv", "a,b\n")
    assert rows(path) == []
    assert read_records(path).table.column_names == ["a", "b"]
    for content in ("", "\n\n", "\ufeff"):
        refuses(write(tmp_path / "a.csv", content), "the file is empty")
        refuses(write(tmp_path / "a.jsonl", content), "the file is empty")
    refuses(write(tmp_path / "a.txt", ""), "the file is empty")


def test_columns_without_a_value(tmp_path):
    """A column of blank cells has no type, and text in a part of it is text."""
    path = write(tmp_path / "a.csv", "a,b\n1,\n2,\n")
    assert types(path) == {"a": "int64", "b": "null"}
    parts = list(stream_records(write(tmp_path / "a.csv", "a,b\n1,\n2,x\n"), n_bytes=5))
    assert [row for part in parts for row in part.table.to_pylist()] == [
        {"a": 1, "b": None},
        {"a": 2, "b": "x"},
    ]


def test_a_stream_of_typed_cells_refuses_one_of_another_type(tmp_path):
    """Types are those of the first part; a cell that does not fit is named with line and column."""
    content = "n,t\n" + '1,"a\nb"\n' * 20 + "x,c\n"
    path = write(tmp_path / "a.csv", content)
    with pytest.raises(InputError, match=r"line 42: column 'n' holds 'x', but int64 in the parts before"):
        list(stream_records(path, n_bytes=40))
    assert types(path)["n"] == "string"


def test_records_longer_than_any_block(tmp_path):
    """A record of some megabytes is read, whole and in small parts."""
    long = "word\n" * 600_000
    path = write(tmp_path / "a.csv", f'a,b\n1,"{long}"\n2,x\n')
    assert read_records(path).table["b"].to_pylist() == [long, "x"]
    assert sum(r.n_rows for r in stream_records(path, n_bytes=1 << 16)) == 2
    path = write(tmp_path / "a.jsonl", json.dumps({"a": long}) + '\n{"a": "x"}\n')
    assert read_records(path).table["a"].to_pylist() == [long, "x"]
    assert sum(r.n_rows for r in stream_records(path, n_bytes=1 << 16)) == 2


# Encodings


def test_text_that_is_not_utf8_is_refused_at_its_byte(tmp_path):
    """Line and byte are said, and the option that helps."""
    latin = "a,b\nx,y\nä,é\n".encode("latin-1")
    path = write(tmp_path / "a.csv", latin)
    refuses(path, r"line 3, byte 1: this is not UTF-8 \(0xe4\).*encoding=")
    assert rows(path, encoding="latin-1")[1] == {"a": "ä", "b": "é"}
    assert rows(path, errors="replace")[1] == {"a": "\ufffd", "b": "\ufffd"}
    refuses(write(tmp_path / "b.csv", b"a,b\nx,y\nx,\xff\n"), r"line 3, byte 3: this is not UTF-8 \(0xff\)")
    refuses(write(tmp_path / "a.jsonl", b'{"a":"x"}\n{"a":"\xe4"}\n'), "line 2, byte 7: this is not UTF-8")
    refuses(write(tmp_path / "a.txt", b"x\ny\xe4\n"), "line 2, byte 2: this is not UTF-8")


def test_a_last_line_without_an_end_is_read_in_any_encoding(tmp_path):
    """Decoding gives text piece by piece, and the last of them may be empty."""
    for name, content in (("a.csv", "a\nx\ny"), ("a.txt", "x\ny"), ("a.jsonl", '{"a": "x"}\n{"a": "y"}')):
        path = write(tmp_path / name, content)
        for options in ({}, {"errors": "replace"}, {"encoding": "latin-1"}):
            assert [list(row.values()) for row in rows(path, **options)] == [["x"], ["y"]]
    with pytest.raises(InputError, match="not in the encoding that was given"):
        read_records(path, encoding="utf-16")


def test_utf16_is_recognised(tmp_path):
    """With a mark or without, the encoding to give is named."""
    text = "a,b\nx,y\n"
    refuses(write(tmp_path / "a.csv", text.encode("utf-16")), 'encoding="utf-16"')
    refuses(write(tmp_path / "b.csv", text.encode("utf-16-le")), 'encoding="utf-16-le"')
    refuses(write(tmp_path / "c.csv", text.encode("utf-16-be")), 'encoding="utf-16-be"')
    assert rows(tmp_path / "a.csv", encoding="utf-16") == [{"a": "x", "b": "y"}]
    assert rows(tmp_path / "b.csv", encoding="utf-16-le") == [{"a": "x", "b": "y"}]


# JSON lines


def test_json_keys_may_differ(tmp_path):
    """A key that a line lacks is null there; blank lines are nothing."""
    path = write(tmp_path / "a.jsonl", '{"a": 1, "b": "x"}\n\n{"a": 2.5}\r\n{"c": true, "b": null}\n')
    assert read_records(path).table.to_pylist() == [
        {"a": 1.0, "b": "x", "c": None},
        {"a": 2.5, "b": None, "c": None},
        {"a": None, "b": None, "c": True},
    ]
    parts = list(stream_records(path, n_bytes=8, columns=["c", "a"]))
    assert [row for part in parts for row in part.table.to_pylist()] == [
        {"c": None, "a": 1},
        {"c": None, "a": 2.5},
        {"c": True, "a": None},
    ]


def test_json_of_several_kinds_is_text(tmp_path):
    """A column of numbers and strings is text, as it was written, and a note says so."""
    found = read_records(write(tmp_path / "a.jsonl", '{"a": 1}\n{"a": "x"}\n{"a": true}\n{"a": null}\n'))
    assert found.table["a"].to_pylist() == ["1", "x", "true", None]
    assert "several kinds" in found.notes[0]
    assert types(write(tmp_path / "b.jsonl", '{"a": 1}\n{"a": 18446744073709551616}\n')) == {"a": "double"}


def test_json_dates_are_dates_unless_text_is_asked_for(tmp_path):
    """ISO dates in strings are read as dates, or left alone."""
    path = write(tmp_path / "a.jsonl", '{"a": "2024-01-02", "n": 1}\n{"a": "2024-02-03", "n": 2}\n')
    assert types(path) == {"a": "timestamp[s]", "n": "int64"}
    assert types(path, as_text=True) == {"a": "string", "n": "int64"}


def test_nested_json_is_refused_by_key_and_line(tmp_path):
    """Objects and arrays have no place in a column; without that column the file is read."""
    path = write(tmp_path / "a.jsonl", '{"a": 1, "b": "x"}\n{"a": 2, "b": {"c": 1}}\n')
    refuses(path, "line 2: key 'b' holds an object")
    assert rows(path, drop=["b"]) == [{"a": 1}, {"a": 2}]
    assert rows(path, columns=["a"]) == [{"a": 1}, {"a": 2}]
    refuses(write(tmp_path / "a.jsonl", '{"a": 1}\n{"a": [1]}\n'), "line 2: key 'a' holds an array")


def test_json_that_is_none_is_refused_at_its_byte(tmp_path):
    """The core's own words: what was needed and what came."""
    refuses(
        write(tmp_path / "a.jsonl", '{"a": 1}\n{"a": "x}\n'), "line 2, byte 7: the string that begins here"
    )
    refuses(write(tmp_path / "a.jsonl", '{"a": 1}\n{"a": 1,}\n'), "line 2, byte 9: a key in quotes is needed")
    refuses(
        write(tmp_path / "a.jsonl", "1\n2\n"), r"line 1, byte 1: an object \('{'\) is needed, but '1' came"
    )
    refuses(write(tmp_path / "a.jsonl", '{"a": 1} {"a": 2}\n'), "line 1")
    refuses(write(tmp_path / "a.jsonl", "null\n{}\n"), "line 1, byte 1: an object")
    refuses(write(tmp_path / "a.jsonl", '{"a": ' + "[" * 10**5), "line 1, byte 208: values are nested")
    refuses(write(tmp_path / "a.json", "[" * 10**5), "begins like a JSON array, but is none")
    refuses(write(tmp_path / "a.jsonl", "{}\n{}\n"), "no keys")
    refuses(write(tmp_path / "a.jsonl", '{"a": 1}\n'), "there is no column 'b'. There are 'a'", columns=["b"])
    refuses(write(tmp_path / "a.jsonl", '{\n"a": 1\n}\n'), "an object on several lines")


def test_one_json_array_is_read_too(tmp_path):
    """A .json file is often one array of objects."""
    path = write(tmp_path / "a.json", json.dumps([{"a": 1, "b": "x"}, {"a": None}], indent=2))
    assert rows(path) == [{"a": 1, "b": "x"}, {"a": None, "b": None}]
    refuses(write(tmp_path / "a.json", '[{"a": 1}, 2]'), "item 1 of the JSON array is a number")
    refuses(write(tmp_path / "a.json", '[{"a": 1}, {"a"]'), "begins like a JSON array, but is none")


def test_halves_of_characters_are_refused(tmp_path):
    """JSON can spell half of a surrogate pair; text cannot hold it."""
    refuses(
        write(tmp_path / "a.jsonl", '{"a": "x"}\n{"a": "x\\ud800y"}\n'), "line 2: half of a surrogate pair"
    )
    assert rows(write(tmp_path / "a.jsonl", '{"a": "\\ud83d\\ude00"}\n')) == [{"a": "\U0001f600"}]


def test_a_mark_at_the_beginning_of_a_cell_is_kept(tmp_path):
    """Only the file has a byte-order mark; elsewhere it is a character."""
    path = write(tmp_path / "a.csv", "a,b\n1,2\n\ufeff3,4\n\ufeff5,6\n")
    assert [row["a"] for row in rows(path)] == ["1", "\ufeff3", "\ufeff5"]


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


# Sparse rows


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
