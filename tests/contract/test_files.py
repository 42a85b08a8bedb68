"""Every reader of files gives the documents that are in the file, or says where and why it cannot."""

import csv
import gzip
import io
import json
import os
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal import _core
from lineal.data import read_records, read_texts, stream_texts
from lineal.errors import InputError, InputTypeError, LeftOutWarning, LinealError, ParameterError

DATA = Path(os.environ.get("LINEAL_DATA", "~/.cache/lineal-data")).expanduser()

TEXTS = [
    "plain",
    'with, "quotes" and\ttabs',
    "two\nlines",
    "Grüße 😀",
    "",
    "NUL \0 inside",
    " spaces ",
    "back\\slash",
]
LABELS = ["b", "a", "b", "ü", "a", "a", "b", "c"]


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return path


def as_csv(texts, labels, delimiter=",", end="\r\n"):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(["label", "text"])
    writer.writerows(zip(labels, texts, strict=True))
    return out.getvalue()


def as_json(texts, labels):
    rows = zip(labels, texts, strict=True)
    return "".join(json.dumps({"id": 7, "text": text, "label": label}) + "\n" for label, text in rows)


def both(path, **options):
    """The whole file at once, after it was found to be the same in parts of every size."""
    whole = read_texts(path, **options)
    for n_bytes in (1, 7, 64, 1 << 20):
        parts = list(stream_texts(path, n_bytes=n_bytes, **options))
        assert [text for part in parts for text in part.documents] == list(whole.documents)
        if whole.labels is None:
            assert all(part.labels is None for part in parts)
        else:
            assert [label for part in parts for label in part.labels.tolist()] == whole.labels.tolist()
    return whole


def check(path, texts=TEXTS, labels=LABELS, **options):
    found = both(path, **options)
    assert list(found.documents) == list(texts)
    assert (None if found.labels is None else found.labels.tolist()) == labels


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_csv(tmp_path, delimiter, end):
    """What Python's csv writes is read as it was."""
    path = write(tmp_path / "x.csv", as_csv(TEXTS, LABELS, delimiter, end))
    check(path, delimiter=delimiter)
    check(path, delimiter=delimiter, label=False, labels=None)
    write(path, as_csv(TEXTS, LABELS, delimiter, end).rstrip("\r\n"))
    check(path, delimiter=delimiter)


def test_csv_without_a_header(tmp_path):
    """Columns are numbered from 0."""
    path = write(tmp_path / "x.csv", as_csv(TEXTS, LABELS).partition("\r\n")[2])
    check(path, header=False, text=1, label=0)
    with pytest.raises(InputError, match="not clear which column"):
        read_texts(path, header=False)


def test_tsv_has_no_quotes_unless_asked(tmp_path):
    """A quote is a character like others; with quoting it opens a field."""
    path = write(tmp_path / "x.tsv", 'label\ttext\nham\t"so" she said\nspam\t"whole"\n')
    check(path, ['"so" she said', '"whole"'], ["ham", "spam"])
    with pytest.raises(
        InputError, match=r"x.tsv, line 2, byte 9: something follows the closing quote.*quoting=False"
    ):
        read_texts(path, quoting=True)
    write(path, as_csv(TEXTS, LABELS, "\t"))
    check(path, quoting=True)


def test_json_lines(tmp_path):
    """Escaped or not; fields in any order; blank lines between."""
    path = write(tmp_path / "x.jsonl", as_json(TEXTS, LABELS))
    check(path)
    rows = [
        json.dumps({"label": b, "text": a}, ensure_ascii=False) for a, b in zip(TEXTS, LABELS, strict=True)
    ]
    check(write(path, "\n\r\n" + "\r\n \n".join(rows)))
    check(write(path, '{"text": "first", "label": "z", "text": "last"}'), ["last"], ["z"])
    check(
        write(
            path, '{ "t\\u0065xt" :\t"\\ud83d\\ude00 \\ud800 \\/" , "nested": {"text": [1, {}, [], null]} }'
        ),
        ["😀 \ud800 /"],
        None,
    )


@given(st.text(st.characters(codec=None), max_size=30), st.booleans())
def test_any_string_survives_json(text, ascii):
    """The core's strings are those of Python's json, single surrogates included where they are escaped."""
    line = json.dumps({"text": text}, ensure_ascii=ascii)
    raw = line.encode("utf-8", "surrogatepass")
    if not ascii and any("\ud800" <= letter <= "\udfff" for letter in text):
        with pytest.raises(InputError, match=r"this is not UTF-8 \(0xed\)"):
            _core.JsonLines("text").scan(raw, True)
        return
    found, *_ = _core.JsonLines("text").scan(raw, True)
    assert list(found) == [json.loads(line)["text"]]


@given(st.binary(max_size=40) | st.text('{}[]",:\\u0nrtfalse-+.eE1 "text"', max_size=40).map(str.encode))
def test_json_is_accepted_where_python_accepts_it(noise):
    """A value is skipped if and only if json.loads reads it; lines and invalid UTF-8 aside."""
    try:
        text = noise.decode()
        json.loads(text)
        is_value = "\n" not in text
    except (ValueError, RecursionError):
        is_value = False
    line = b'{"x": ' + noise + b', "text": ""}'
    try:
        whole = json.loads(line)
        is_value = "\n" not in line.decode() and "text" in whole
    except ValueError:
        is_value = False
    if is_value and isinstance(whole["text"], str):
        assert len(_core.JsonLines("text").scan(line, True)[0]) == 1
    elif b"\n" not in noise and _is_utf8(noise):
        with pytest.raises(InputError):
            _core.JsonLines("text").scan(line, True)


def _is_utf8(raw):
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["1", "2", "1"], [1, 2, 1]),
        (["1", "2.5", "-1e3"], [1.0, 2.5, -1000.0]),
        (["true", "false", "true"], [True, False, True]),
        (['"1"', '"2"', '"1"'], ["1", "2", "1"]),
    ],
)
def test_labels_keep_their_kind(tmp_path, values, labels):
    """Numbers, truth values and strings."""
    rows = [f'{{"text": "x", "label": {value}}}\n' for value in values]
    found = read_texts(write(tmp_path / "x.jsonl", "".join(rows)))
    assert found.labels.tolist() == labels
    assert found.labels.dtype == np.array(labels).dtype


@pytest.mark.parametrize("n_more", [0, 9000])
def test_carriage_returns_alone_end_lines(tmp_path, n_more):
    """As on very old Macs, and as read_records has it, in files of any length and in parts of any size."""
    texts, labels = ["a b", "c, d", *["e"] * n_more], ["x", "y", *["x"] * n_more]
    for name, content in [
        ("x.csv", as_csv(texts, labels, end="\r")),
        ("x.tsv", as_csv(texts, labels, "\t", end="\r")),
        ("x.jsonl", as_json(texts, labels).replace("\n", "\r")),
    ]:
        path = write(tmp_path / name, content)
        assert [list(part) for part in read_texts(path)] == [texts, labels]
        parts = list(stream_texts(path, n_bytes=1000))
        assert [text for part in parts for text in part.documents] == texts
        assert read_records(path).table["text"].to_pylist() == texts
    check(write(tmp_path / "x.txt", "a\r\rb\r"), ["a", "", "b"], None)
    # With one newline they are characters like others, wherever a part ends.
    check(write(tmp_path / "x.txt", "a\rb\r\nc"), ["a\rb", "c"], None)


def test_lines(tmp_path):
    """A document to a line, empty ones included; the last needs no end."""
    for content in ("a\n\nb c\r\n\0\nd", "a\n\nb c\r\n\0\nd\n"):
        check(write(tmp_path / "x.txt", content), ["a", "", "b c", "\0", "d"], None)
    check(write(tmp_path / "x.txt", "\n"), [""], None)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_parquet(tmp_path, kind):
    """Only the chosen columns are read, in row groups of any size."""
    labels = [*range(len(TEXTS))]
    table = pa.table({"id": LABELS, "text": pa.array(TEXTS).cast(kind), "label": pa.array(labels)})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=3)
    check(tmp_path / "x.parquet", TEXTS, labels)
    check(tmp_path / "x.parquet", TEXTS, LABELS, label="id")
    check(tmp_path / "x.parquet", LABELS, None, label=False, text="id")


def test_parquet_flaws(tmp_path):
    """Rows are counted through all groups."""
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": ["a", "b", None], "label": ["x", None, "y"]}), path, row_group_size=1)
    for read in (read_texts, lambda *a, **k: list(stream_texts(*a, n_bytes=1, **k))):
        with pytest.raises(InputError, match="no text at row 2"):
            read(path, label=False)
        with pytest.raises(InputError, match="row 1: there is no label"):
            read(path, missing="empty")
    check(path, ["a", "b", ""], None, label=False, missing="empty")
    pq.write_table(pa.table({"text": [1]}), path)
    with pytest.raises(InputTypeError, match="Choose another column"):
        read_texts(path, text="text")
    write(path, path.read_bytes()[:-10])
    with pytest.raises(InputError, match=r"x.parquet: pyarrow cannot read the file"):
        read_texts(path)


def test_folders(tmp_path):
    """Labels are the sub-folders; without any there are none."""
    for label, name, text in [
        ("pos", "2.txt", "zwei"),
        ("pos", "1.txt", "\ufeffeins"),
        ("neg", "a", ""),
        ("neg", ".x", "?"),
    ]:
        (tmp_path / label).mkdir(exist_ok=True)
        write(tmp_path / label / name, text)
    write(tmp_path / "README", "not a document")
    with pytest.warns(LeftOutWarning, match=r"no label and were left out: 1 \(README\)"):
        check(tmp_path, ["", "eins", "zwei"], ["neg", "pos", "pos"])
    assert "README" in read_records(tmp_path).notes[0]
    check(tmp_path / "pos", ["eins", "zwei"], None)
    check(tmp_path, ["not a document", "", "eins", "zwei"], None, label=False)
    (tmp_path / "README").unlink()
    assert read_records(tmp_path).notes == ()
    write(tmp_path / "pos" / "3.txt", b"caf\xe9")
    with pytest.raises(InputError, match=r"3.txt: byte 3 \(0xe9\) is not UTF-8"):
        read_texts(tmp_path)
    check(tmp_path / "pos", ["eins", "zwei", "caf\ufffd"], None, errors="replace")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="There are no files in"):
        read_texts(tmp_path / "empty")


@pytest.mark.parametrize(
    ("name", "content"), [("x.csv", as_csv(TEXTS, LABELS)), ("x.jsonl", as_json(TEXTS, LABELS))]
)
def test_compression_marks_and_encodings(tmp_path, name, content):
    """gzip by its first bytes, a byte-order mark, and what Python can decode: the same documents."""
    path = tmp_path / name
    check(write(path, "\ufeff" + content))
    check(write(tmp_path / f"{name}.gz", gzip.compress(content.encode())))
    check(write(path, gzip.compress(content.encode())))
    check(write(path, content.encode("utf-16")), encoding="utf-16")
    check(write(path, content.encode("utf-16-le")), encoding="utf-16-le")
    write(path, content.encode("utf-16"))
    with pytest.raises(InputError, match='encoding="utf-16"'):
        read_texts(path)
    damaged = gzip.compress(content.encode())[:-9]
    with pytest.raises(InputError, match="compressed file is damaged or cut off"):
        read_texts(write(path, damaged))


def test_text_that_is_not_utf8(tmp_path):
    """Line and byte of it; then another encoding, or a sign for each flaw."""
    for name, content, place in [
        ("x.txt", b"fine\ncaf\xe9\n", "line 2, byte 4"),
        ("x.csv", b"text\nfine\ncaf\xe9\n", "line 3, byte 4"),
        ("x.csv", b'text,label\n"two\nlines caf\xe9",x\n', "line 3, byte 10"),
        ("x.jsonl", b'{"text": "caf\xe9"}\n', "line 1, byte 14"),
    ]:
        path = write(tmp_path / name, content)
        for read in (read_texts, lambda *a: list(stream_texts(*a, n_bytes=3))):
            with pytest.raises(InputError, match=rf"{name}, {place}: this is not UTF-8 \(0xe9\)"):
                read(path)
        assert both(path, encoding="latin-1").documents[-1].endswith("café")
        assert both(path, errors="replace").documents[-1].endswith("caf\ufffd")
    # Half of a surrogate pair, as programs write it that take UTF-16 for characters.
    for name, content, place in [
        ("x.txt", b"fine\na\xed\xa0\x80\n", "line 2, byte 2"),
        ("x.csv", b"text\nfine\na\xed\xa0\x80\n", "line 3, byte 2"),
        ("x.tsv", b"text\tlabel\na\xed\xbf\xbf\tx\n", "line 2, byte 2"),
        ("x.jsonl", b'{"text": "a\xed\xa0\x80"}\n', "line 1, byte 12"),
    ]:
        path = write(tmp_path / name, content)
        with pytest.raises(InputError, match=rf"{name}, {place}: this is not UTF-8 \(0xed\)"):
            read_texts(path)
        assert both(path, errors="replace").documents[-1] == "a\ufffd\ufffd\ufffd"
    path = write(tmp_path / "y.txt", b"abc\n\xff\n")
    with pytest.raises(InputError, match=r"byte 4 of the file \(0xff\) is not ascii"):
        read_texts(path, encoding="ascii")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.csv", "", "x.csv: the file is empty"),
        ("x.jsonl", "\n \n", "the file is empty"),
        ("x.txt", "", "the file is empty"),
        ("x.csv", "a,b\n1,2\n", "not clear which column holds the texts. Choose with text= among 'a', 'b'"),
        ("x.csv", "text,body\n1,2\n", "'text' and 'body' may both be meant. Choose with text="),
        ("x.csv", "label,class,text\n1,2,3\n", "'label' and 'class' may both be meant. Choose with label="),
        ("x.csv", "text,text\n1,2\n", "same name"),
        ("x.csv", "label\n1\n", "not clear which column .* among 'label'; read with header=False"),
        ("x.csv", "text;label\na;b\n", "one column, 'text;label'; if ';' .* read with delimiter=';'"),
        ("x.tsv", "label|Text\na|b\n", r"read with delimiter='\|'"),
        (
            "x.jsonl",
            '{"text": 1, "label": "a"}',
            "no column holds strings .* 'text', 'label'. Write",
        ),
        ("x.jsonl", "{}", "no column holds strings .* there is none"),
        ("x.jsonl", '{"a": "b", "c": "d", "e": 1}', "Choose with text= among 'a', 'c'.$"),
        (
            "x.csv",
            "label,text\nx,y\na,b,c\n",
            "line 3, byte 1: this record has 3 fields, but the first one has 2",
        ),
        ("x.csv", "label,text\nx\n", "line 2, byte 1: this record has 1 fields"),
        (
            "x.csv",
            'label,text\nx,"never\nclosed\n',
            "line 2, byte 3: the quoted field that begins here is never",
        ),
        ("x.csv", 'label,text\n\n\nx,"a"b\n', "line 4, byte 6: something follows the closing quote"),
        ("x.csv", 'label,text\nx,"two\nlines"\n,b\n', "line 4, byte 1: there is no label"),
        (
            "x.jsonl",
            '{"text": "a"}\n{"text": "b',
            "line 2, byte 10: the string that begins here is not closed",
        ),
        (
            "x.jsonl",
            '{"text": "a"}\n{"text": "b"',
            "line 2, byte 13: .* the line ends here. Is the file cut off",
        ),
        ("x.jsonl", '{"text": "a"}\n{"body": "b"}', "line 2, byte 13: there is no field 'text'"),
        ("x.jsonl", '{"text": "a"}\n{"text": null}', "line 2, byte 14: the field 'text' is null"),
        ("x.jsonl", '{"text": "a"}\n{"text": 42}', "line 2, byte 10: the field 'text' is needed as a string"),
        (
            "x.jsonl",
            '{"text": "a"}\n{"text": ["b"]}',
            "line 2, byte 10: the field 'text' is needed as a string",
        ),
        ("x.jsonl", '{"text": "a", "label": 1}\n{"text": "b"}', "line 2, byte 13: there is no label"),
        ("x.jsonl", '{"text": "a", "label": 1}\n{"text": "b", "label": null}', "there is no label"),
        (
            "x.jsonl",
            '{"text": "a", "label": 1}\n{"text": "b", "label": "x"}',
            "line 2, byte 24: .* another kind",
        ),
        ("x.jsonl", '{"text": "a", "label": [1]}\n', "line 1, byte 24: the label 'label' is needed as"),
        ("x.jsonl", '[{"text": "a"}]\n', "line 1, byte 1: an object is needed, but an array came"),
        ("x.jsonl", '{\n "text": "a"}\n', "line 1, byte 2: .* an object on several lines"),
        ("x.jsonl", "plain text\n", r"line 1, byte 1: an object \('{'\) is needed, but 'p' came"),
        ("x.jsonl", '{"text": "a"}\n{"text": "\\x41"}', "line 2, byte 11: there is no escape of 'x'"),
        (
            "x.jsonl",
            '{"text": "a"}\n{"text": "\\u12g4"}',
            "line 2, byte 11: .u needs four hexadecimal digits",
        ),
        (
            "x.jsonl",
            '{"text": "a"}\n{"text": "a\tb"}',
            "line 2, byte 12: a control character inside a string",
        ),
        (
            "x.jsonl",
            '{"text": "a"}\n{"text": "b"} x',
            "line 2, byte 15: the end of the line is needed, but 'x'",
        ),
        ("x.jsonl", '{"text": "a"}\n{"n": 01, "text": "b"}', "line 2, byte 7: a value is needed"),
        (
            "x.jsonl",
            '{"text": "a"}\n{"n": ' + "[" * 9999,
            "line 2, byte 208: values are nested more than 200 deep",
        ),
        ("x.jsonl", '{"title": "a", "name": "b"}', "not clear which column .* among 'title', 'name'"),
    ],
)
def test_flaws_are_refused_with_their_place(tmp_path, name, content, words):
    """File, line, byte, what is wrong; whether it is read at once or in parts."""
    path = write(tmp_path / name, content)
    with pytest.raises(InputError, match=words):
        read_texts(path)
    for n_bytes in (1, 5, 1000):
        with pytest.raises(InputError, match=words):
            list(stream_texts(path, n_bytes=n_bytes))


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("missing.csv", {}, "There is no file or folder"),
        ("x.dat", {}, "does not tell the format"),
        ("x.csv", {"format": "excel"}, "There is no format 'excel'"),
        ("x.csv", {"format": "folder"}, "is a file, not a folder"),
        (".", {"format": "csv"}, "is a folder"),
        ("x.csv", {"text": "body"}, "there is no column 'body'. Choose with text= among 'label', 'text'"),
        ("x.csv", {"label": "y"}, "there is no column 'y'"),
        ("y.csv", {"text": "b"}, "no column 'b'. .* among 'a;b'; if ';' .* read with delimiter=';'"),
        ("x.csv", {"label": "text", "text": "text"}, "cannot both be column 'text'"),
        ("x.csv", {"delimiter": "||"}, "delimiter must be one ASCII character"),
        ("x.csv", {"encoding": "klingon"}, "no encoding named 'klingon'"),
        ("x.csv", {"errors": "ignore"}, "errors must be"),
        ("x.csv", {"missing": "drop"}, "missing must be"),
        ("x.csv", {"label": True}, "must be names of columns"),
        ("x.txt", {"text": "text"}, "no columns to choose"),
        ("x.jsonl", {"delimiter": ","}, "options of csv and tsv"),
        ("x.parquet", {"encoding": "latin-1"}, "Parquet holds UTF-8"),
    ],
)
def test_options_that_cannot_be(tmp_path, name, options, words):
    """Said before the file is read."""
    for existing in ("x.csv", "x.dat", "x.txt", "x.jsonl", "x.parquet"):
        write(tmp_path / existing, as_csv(TEXTS, LABELS))
    write(tmp_path / "y.csv", "a;b\n1;2\n")
    for read in (read_texts, lambda *a, **k: list(stream_texts(*a, **k))):
        with pytest.raises(LinealError, match=words):
            read(tmp_path / name, **options)
    with pytest.raises(ParameterError, match="n_bytes must be"):
        stream_texts(tmp_path / "x.csv", n_bytes=0)


def test_parts_hold_only_their_own_labels(tmp_path):
    """Targets that are all different cost no more memory in a long file than in a short one."""
    rows = [f'{{"text": "x", "label": {k}.5}}\n' for k in range(1000)]
    path = write(tmp_path / "x.jsonl", "".join(rows))
    reader = _core.JsonLines("text", "label")
    _, codes, labels, _ = reader.scan(rows[0].encode() + rows[1].encode(), False)
    assert (codes.tolist(), labels) == ([0, 1], ["n0.5", "n1.5"])
    _, codes, labels, _ = reader.scan(rows[2].encode(), False)
    assert (codes.tolist(), labels) == ([0], ["n2.5"])
    check(path, ["x"] * 1000, [k + 0.5 for k in range(1000)])


def test_pyarrow_is_not_imported_before_it_is_needed(tmp_path):
    """Reading lines of text costs no start-up time for Parquet."""
    path = write(tmp_path / "x.jsonl", as_json(TEXTS, LABELS))
    program = (
        "import sys; from lineal.data import documents, read_texts; "
        f"read_texts({str(path)!r}); documents(['a']); assert 'pyarrow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_header_alone_is_no_flaw(tmp_path):
    """There are no documents, and no labels either."""
    check(write(tmp_path / "x.csv", "label,text\n"), [], [])


@pytest.mark.parametrize("size", [10**6, pytest.param(10**8, marks=pytest.mark.slow)])
def test_a_line_may_be_longer_than_any_block(tmp_path, size):
    """A record costs a few times its size, however small the blocks are that it is read in."""
    text = "long line, " * (size // 11)
    for name, content in [
        ("x.jsonl", json.dumps({"text": text})),
        ("x.csv", f'text\n"{text}"'),
        ("x.txt", text),
    ]:
        path = write(tmp_path / name, content)
        (part,) = stream_texts(path, n_bytes=1 << 12)
        assert part.documents.n_bytes == len(text)
        assert part.documents.raw(0) == text.encode()
        path.unlink()


def test_streaming_needs_little_memory(tmp_path):
    """Python's part of it stays at a few blocks, however long the file is."""
    line = json.dumps({"text": "word " * 200, "label": "x"}) + "\n"
    path = write(tmp_path / "x.jsonl", line * 20000)
    tracemalloc.start()
    try:
        n_documents = sum(len(part.documents) for part in stream_texts(path, n_bytes=1 << 18))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_documents == 20000
    assert peak < 8 << 18 < path.stat().st_size / 8


def test_documents_outlive_the_file(tmp_path):
    """What was read is held."""
    path = write(tmp_path / "x.jsonl", as_json(TEXTS, LABELS))
    found = read_texts(path).documents.slice(1, 4)
    write(path, b"\xff" * 1000)
    path.unlink()
    assert list(found) == TEXTS[1:4]


def test_random_csv(tmp_path):
    """Fields of quotes, delimiters and ends of lines, at any border of blocks."""
    rng = random.Random(3)
    path = tmp_path / "x.csv"
    for _ in range(60):
        texts = ["".join(rng.choices('ab",\n\r ü', k=rng.randrange(12))) for _ in range(rng.randrange(1, 8))]
        labels = [rng.choice("xyz") for _ in texts]
        check(write(path, as_csv(texts, labels)), texts, labels)


def real(*names):
    path = DATA.joinpath(*names)
    if not path.exists():
        pytest.skip(f"{'/'.join(names)} is not there: unpack the real data, or set LINEAL_DATA")
    return path


@pytest.mark.parametrize("name", ["imdb", "20newsgroups"])
@pytest.mark.parametrize("part", ["train", "test"])
def test_real_json_lines(name, part):
    """Texts and labels equal those of json.loads."""
    path = real(name, f"{part}.jsonl")
    with path.open("rb") as stream:
        rows = [json.loads(line) for line in stream]
    found = read_texts(path)
    assert list(found.documents) == [row["text"] for row in rows]
    assert found.labels.tolist() == [row["label"] for row in rows]
    n_rows = 0
    for piece in stream_texts(path, n_bytes=1 << 20, label="id"):
        assert list(piece.documents) == [row["text"] for row in rows[n_rows : n_rows + len(piece.documents)]]
        n_rows += len(piece.documents)
    assert n_rows == len(rows)


@pytest.mark.parametrize(
    "names", [("l10n_langid", "test.tsv"), ("sms_spam", "sms_spam.tsv"), ("rt_polarity", "rt-polarity.tsv")]
)
def test_real_tsv(names):
    """Lines cut at the tab."""
    path = real(*names)
    rows = [line.split("\t") for line in path.read_bytes().decode().split("\n")[1:] if line]
    found = read_texts(path)
    assert list(found.documents) == [row[1].removesuffix("\r") for row in rows]
    assert found.labels.tolist() == [row[0] for row in rows]


def test_real_csv():
    """Records equal those of Python's csv."""
    path = real("op_spam", "deceptive-opinion.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    check(path, [row["text"] for row in rows], [row["deceptive"] for row in rows], label="deceptive")
