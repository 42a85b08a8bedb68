"""CSV and TSV are read as they are written, or refused with the line and the reason."""

import datetime as dt
import json

import pytest

from contract.read_back import refuses, rows, types, write
from lineal.data import read_records, stream_records
from lineal.errors import InputError


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
