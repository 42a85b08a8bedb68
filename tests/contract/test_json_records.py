"""JSON lines are read as they are written, or refused with the line and the reason."""

import json

import pytest

from contract.read_back import refuses, rows, types, write
from lineal.data import read_records, stream_records
from lineal.errors import InputError


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


def test_nested_columns_are_skipped_if_that_is_asked_for(tmp_path):
    """They are named, stay out of all later parts, and are refused where single values would be lost."""
    path = write(tmp_path / "a.jsonl", '{"a": 1, "b": [2], "c": {"d": 3}}\n{"a": 4, "b": 5, "c": null}\n')
    found = read_records(path, nested="skip")
    assert found.table.to_pylist() == [{"a": 1}, {"a": 4}]
    assert sorted(found.skipped) == ["b", "c"]
    parts = list(stream_records(path, nested="skip", n_bytes=1))
    assert [row for part in parts for row in part.table.to_pylist()] == [{"a": 1}, {"a": 4}]
    refuses(path, "'b' holds", nested="skip", columns=["a", "b"])
    late = write(tmp_path / "late.jsonl", '{"a": 1, "b": "x"}\n{"a": 2, "b": ["y"]}\n')
    with pytest.raises(InputError, match="line 2: key 'b' holds an array"):
        list(stream_records(late, nested="skip", n_bytes=1))


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
