"""Documents hold the texts of their source, whatever layout it has, for as long as they live."""

import gc
import random
import sys
import threading
import weakref
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lineal import _core
from lineal.data.documents import chunks, documents
from lineal.errors import InputError, InputTypeError, ParameterError

# Inline views hold up to 12 bytes; "" may lie in no buffer; "ü" has two bytes and "😀" four.
TEXTS = [
    "short",
    "exactly 12by",
    "thirteen byte",
    "",
    "Grüße, 😀",
    "a\0b",
    "a much longer text " * 20,
    "x" * 13,
]
WITH_NULLS = [None, *TEXTS[:4], None, None, *TEXTS[4:], None]
ARROW_TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
]
INDEX_TYPES = [
    pa.int8(),
    pa.uint8(),
    pa.int16(),
    pa.uint16(),
    pa.int32(),
    pa.uint32(),
    pa.int64(),
    pa.uint64(),
]


def array(texts, kind):
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.array(texts, kind)
    return pa.array([None if text is None else text.encode() for text in texts], kind)


def read(texts):
    return ["" if text is None else text for text in texts]


@pytest.mark.parametrize("kind", ARROW_TYPES, ids=str)
@pytest.mark.parametrize("texts", [TEXTS, WITH_NULLS, [None, None], [], [""]], ids=len)
def test_every_layout_and_every_slice(kind, texts):
    """A slice of an array is the slice of its texts: offsets, bitmaps and views start where it says."""
    whole = array(texts, kind)
    for start in range(len(texts) + 1):
        for stop in range(start, len(texts) + 1):
            part = whole.slice(start, stop - start)
            assert list(documents(part, missing="empty")) == read(texts[start:stop])


@pytest.mark.parametrize("index", INDEX_TYPES, ids=str)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_dictionaries(index, kind):
    """Entries are looked up whatever their type; a null may be in the indices or among the values."""
    values = pa.array([*TEXTS, None], kind)
    rows = [3, 8, 0, None, 7, 7, 4, 1]
    whole = pa.DictionaryArray.from_arrays(pa.array(rows, index), values)
    wanted = read([None if row is None else [*TEXTS, None][row] for row in rows])
    assert list(documents(whole, missing="empty")) == wanted
    assert list(documents(whole.slice(2, 5), missing="empty")) == wanted[2:7]


@pytest.mark.parametrize("kind", ARROW_TYPES, ids=str)
def test_chunks_of_a_stream_are_one_sequence(kind):
    """Rows are counted through all chunks, empty ones and slices included."""
    parts = [array(TEXTS, kind), array([], kind), array(WITH_NULLS, kind).slice(5, 4), array(["end"], kind)]
    whole = pa.chunked_array(parts)
    assert list(documents(whole, missing="empty")) == read([*TEXTS, *WITH_NULLS[5:9], "end"])
    with pytest.raises(InputError, match="at row 8: it is null"):
        documents(whole)


def test_one_column_of_a_table():
    """The only one, or the named one; nulls of the table itself are missing texts too."""
    table = pa.table({"n": range(len(TEXTS)), "text": TEXTS})
    for source in [table, table.to_batches()[0], table.to_reader(), pl.DataFrame({"n": 1, "text": TEXTS})]:
        assert list(documents(source, column="text")) == TEXTS
    assert list(documents(table.slice(2, 3), column="text")) == TEXTS[2:5]
    assert list(documents(table.select(["text"]))) == TEXTS
    assert list(documents(table.to_pandas(), column="text")) == TEXTS
    structs = pa.array([{"text": "a"}, None, {"text": "c"}, {"text": None}, {"text": "e"}])
    assert list(documents(structs, missing="empty")) == ["a", "", "c", "", "e"]
    assert list(documents(structs.slice(1, 3), missing="empty")) == ["", "c", ""]
    with pytest.raises(InputError, match=r"2 columns .* column=: 'n', 'text'"):
        documents(table)
    with pytest.raises(InputError, match=r"no column 'body'. Its columns are 'n', 'text'"):
        documents(table, column="body")
    with pytest.raises(InputTypeError, match="Column 'n' has the Arrow format 'l'"):
        documents(table, column="n")


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        iter,
        lambda texts: (text for text in texts),
        lambda texts: dict.fromkeys(texts).keys(),
        lambda texts: np.array(texts, object),
        lambda texts: np.array(texts, object)[::-1][::-1],
        lambda texts: np.array(texts, object).reshape(-1, 1),
        lambda texts: np.array(texts, np.dtypes.StringDType()),
        lambda texts: {"text": texts},
        pd.Series,
        lambda texts: pd.Series(texts, dtype=object),
        lambda texts: pd.Series(texts, dtype="category"),
        lambda texts: pd.Series(texts, dtype="string"),
        lambda texts: pd.Series(texts, dtype=pd.ArrowDtype(pa.string())),
        lambda texts: pd.Series(texts, index=range(10, 10 + len(texts))),
        pd.Index,
        lambda texts: pd.DataFrame({"text": texts}),
        pl.Series,
        lambda texts: pl.Series(texts, dtype=pl.Categorical),
        lambda texts: pl.Series(texts, dtype=pl.Enum(texts)),
        lambda texts: pl.DataFrame({"text": texts}),
        lambda texts: pl.concat([pl.Series(texts[:3]), pl.Series(texts[3:])], rechunk=False),
        documents,
    ],
)
def test_every_kind_of_source(make):
    """All roads give the same texts."""
    assert list(documents(make(TEXTS))) == TEXTS
    assert [text for piece in chunks(make(TEXTS), n_bytes=30) for text in piece] == TEXTS


def test_a_numpy_array_of_characters():
    """NumPy drops NULs at the end of its fixed-width strings, and nothing else."""
    texts = [text for text in TEXTS if "\0" not in text]
    assert list(documents(np.array(texts))) == texts
    assert list(documents(np.array([text.encode() for text in texts]))) == texts
    assert list(documents(np.array([texts, texts[::-1]]).T, column=1)) == texts[::-1]


def test_duckdb():
    """A relation lends its columns as an Arrow stream."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    relation = duckdb.sql("select 'text ' || i as text, i from range(5000) t(i)")
    assert list(documents(relation, column="text")) == [f"text {i}" for i in range(5000)]


def test_any_string_comes_back():
    """Of all code points, single surrogates among them; bytes are read as UTF-8, which has none."""
    rng = random.Random(0)
    texts = ["".join(chr(rng.randrange(0x110000)) for _ in range(rng.randrange(30))) for _ in range(500)]
    assert list(documents(texts)) == texts
    sound = [text.encode("utf-8", "ignore") for text in texts]
    assert list(documents(sound)) == [text.decode() for text in sound]
    assert list(documents(["\ud800", *sound])) == ["\ud800", *(text.decode() for text in sound)]
    assert documents(texts).n_bytes == sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def test_missing_texts():
    """Refused with their row, or empty; what they are called does not matter."""
    nans = [kind("nan") for kind in (float, np.float64, np.float32, np.float16, np.longdouble, Decimal)]
    for nothing in [None, *nans, pd.NA, pd.NaT]:
        with pytest.raises(InputError, match="no text at row 1"):
            documents(["a", nothing])
        assert list(documents(["a", nothing], missing="empty")) == ["a", ""]
    assert list(documents(pa.nulls(2), missing="empty")) == ["", ""]
    with pytest.raises(InputError, match="no text at row 4"):
        list(chunks(iter(["a"] * 4 + [None]), n_bytes=2))
    with pytest.raises(InputError, match="no text at row 4"):
        list(chunks(pa.chunked_array([["a"] * 4, [None]]), n_bytes=2))
    with pytest.raises(ParameterError, match="missing must be"):
        documents([], missing="drop")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("one text", "one str came. Put a single document into a list"),
        (b"one text", "one bytes came"),
        (["a", 42], r"row 1 is of type int \(42\)"),
        (["a", ["b"]], "row 1 is of type list"),
        ([bytearray(b"a")], "row 0 is of type bytearray"),
        ({"a", "b"}, "type set came"),
        (7, "type int came"),
        (np.zeros(3), "dtype float64"),
        (np.array("a"), "shape ()"),
        (np.array([["a", "b"]]), r"shape \(1, 2\). Give one column alone, or say which with column="),
        (pa.array([1, 2]), "Arrow format 'l'"),
        (pa.array([1, 2]).dictionary_encode(), "Arrow format 'i' with values of format 'l'"),
        (pa.array([["a"]]), r"Arrow format '\+l'"),
        (pd.Series([1, 2]), "Arrow format"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), "column=: 'a', 'b'"),
        (pl.DataFrame({"a": ["x"], "b": ["y"]}), "column=: 'a', 'b'"),
        ({"a": ["x"], "b": ["y"]}, "column=: 'a', 'b'"),
    ],
)
def test_what_is_no_column_of_texts_is_refused(source, words):
    """With what came, where, and what to do."""
    with pytest.raises(InputError, match=words):
        documents(source)


@pytest.mark.parametrize(
    "source", [["a"], np.array(["a"]), pa.array(["a"]), pd.Series(["a"]), pl.Series(["a"])]
)
def test_a_column_of_what_has_no_columns_is_refused(source):
    """A name that is not used would hide a mistake."""
    with pytest.raises(InputError, match="Leave it out"):
        documents(source, column="text")


def test_text_that_is_not_utf8_is_refused_with_its_place():
    """Nothing is guessed or replaced, wherever the bytes lie."""
    bad = [b"fine", b"12345678\xff"]
    for source in [bad, pa.array(bad), pa.array(bad, pa.binary_view()), pa.array(bad).view(pa.string())]:
        with pytest.raises(InputError, match="row 1 is not UTF-8: byte 8 is 0xff"):
            documents(source)
    with pytest.raises(InputError, match="row 1 is not UTF-8"):
        list(chunks(iter(bad), n_bytes=4))


@pytest.mark.parametrize("code", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_bytes_of_half_a_surrogate_pair_are_not_utf8(code):
    """A string may hold one, and bytes may not, whatever they stand beside."""
    half = chr(code)
    raw = half.encode("utf-8", "surrogatepass")
    for source in (["fine", raw], pa.array([b"fine", raw]), pa.array([b"fine", raw]).view(pa.string())):
        with pytest.raises(InputError, match="row 1 is not UTF-8: byte 0 is 0xed"):
            documents(source)
    with pytest.raises(InputError, match="document 2 is not UTF-8 at its byte 1"):
        list(chunks(iter(["fine", half, b"x" + raw]), n_bytes=20))
    assert list(documents(["fine", half, raw.decode("utf-8", "replace").encode()])) == [
        "fine",
        half,
        "\ufffd\ufffd\ufffd",
    ]


def test_an_arrow_array_with_corrupt_offsets_is_refused():
    """A producer's mistake is an error here, not a crash."""
    offsets = pa.py_buffer(np.array([0, 5, 3], np.int32).tobytes())
    corrupt = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"abcde"))
    with pytest.raises(InputError, match="from byte 5 to byte 3 at row 1"):
        documents(corrupt)
    entries = pa.DictionaryArray.from_arrays(pa.array([0, 9]), pa.array(["a"]), safe=False)
    with pytest.raises(InputError, match="entry 9 of a dictionary with 1 entries at row 1"):
        documents(entries)


def test_a_stream_is_read_once():
    """Behind its end is nothing; an error of the producer is passed on."""
    reader = pa.table({"text": TEXTS}).to_reader()
    assert list(documents(reader)) == TEXTS
    assert list(documents(reader)) == []
    texts = _core.ArrowTexts(pa.array(TEXTS))
    assert list(texts.read()) == TEXTS
    assert texts.read() is None

    def failing():
        yield pa.record_batch({"text": ["a"]})
        raise RuntimeError("the disk is full")

    broken = pa.RecordBatchReader.from_batches(pa.schema({"text": pa.string()}), failing())
    with pytest.raises(InputError, match="the disk is full"):
        documents(broken)


def test_slices_and_rows_taken_outlive_the_whole():
    """They hold what they look at; rows out of range are refused."""
    for source in [TEXTS, pa.array(TEXTS), pl.Series(TEXTS)]:
        whole = documents(source)
        part, taken = whole.slice(1, 4), whole.take(np.array([7, 0, 0], np.int64))
        last = part.slice(-1, 99)
        del whole, source
        gc.collect()
        assert list(part) == TEXTS[1:4]
        assert list(taken) == [TEXTS[7], TEXTS[0], TEXTS[0]]
        assert list(last) == [TEXTS[3]]
        assert len(part.slice(3, 1)) == 0
        assert part[-1] == TEXTS[3]
        for row in (3, -4):
            with pytest.raises(IndexError):
                part[row]
        for rows in ([3], [-1]):
            with pytest.raises(IndexError):
                part.take(np.array(rows, np.int64))


def test_memory_is_held_after_the_source_is_gone():
    """The only reference to the texts is the documents'; the memory is reused by others meanwhile."""
    made = [[f"{name} {k} " * 20 for k in range(2000)] for name in ("list", "arrow", "views", "pandas")]
    wanted = [list(texts) for texts in made]
    held = [
        documents([text[:-1] + " " for text in made[0]]),
        documents(pa.array(made[1])),
        documents(pl.Series(made[2])),
        documents(pd.Series(made[3])),
    ]
    del made
    gc.collect()
    noise = [b"\xff" * 500 for _ in range(10000)]
    del noise
    assert [list(texts) for texts in held] == wanted


def test_a_list_may_change_afterwards():
    """Every element is held, not the list."""
    texts = [f"text {k}" for k in range(1000)]
    held = documents(texts)
    for k in range(1000):
        texts[k] = None
    texts.clear()
    gc.collect()
    assert held[999] == "text 999"


def test_everything_is_given_back():
    """Reference counts return to what they were, and Arrow's memory to its pool, also after errors."""
    text, raw, lone = "text" * 1000, b"raw" * 1000, "lone \ud800" * 1000
    before = [sys.getrefcount(value) for value in (text, raw, lone)]
    pool = pa.default_memory_pool()
    gc.collect()
    n_bytes = pool.bytes_allocated()

    def use():
        for source in ([text, raw, lone], iter([text, raw, lone]), [text, lone, 3], [text, raw, None]):
            try:
                held = documents(source)
                held.slice(0, 2).take(np.array([1]))
            except InputError:
                pass
        for bad in ([text, None], [text, text]):
            column = pa.chunked_array([[text] * 10, bad, [text]])
            for source in (
                column,
                column.cast(pa.string_view()),
                column.dictionary_encode(),
                column.chunk(1),
            ):
                try:
                    held = documents(source)
                    list(chunks(source, n_bytes=10))
                    next(chunks(source, n_bytes=10))
                except InputError:
                    pass

    for _ in range(20):
        use()
    gc.collect()
    assert [sys.getrefcount(value) for value in (text, raw, lone)] == before
    assert pool.bytes_allocated() == n_bytes


def test_the_last_holder_may_die_on_any_thread():
    """What Python lent is given back under Python's lock."""

    class Text(str):
        """A string that can be watched."""

    for k in range(50):
        text = Text(f"text {k}")
        watched = weakref.ref(text)
        held = [documents([text])]
        del text
        thread = threading.Thread(target=held.clear)
        thread.start()
        thread.join()
        assert watched() is None


def test_a_stream_may_be_read_by_many_threads():
    """Each batch goes to one of them."""
    batches = [pa.record_batch({"text": [f"{k} {row}" for row in range(10)]}) for k in range(200)]
    reader = _core.ArrowTexts(pa.Table.from_batches(batches).to_reader())
    found = []

    def work():
        while (piece := reader.read(1)) is not None:
            found.extend(piece)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(f"{k} {row}" for k in range(200) for row in range(10))


def test_pieces_reach_their_size_and_no_more():
    """Each has n_bytes at least, but for the last, and without its last text fewer."""
    rng = random.Random(1)
    texts = ["ü" * rng.randrange(20) for _ in range(500)]
    for source in (texts, iter(texts), pa.array(texts), pl.Series(texts), documents(texts)):
        pieces = list(chunks(source, n_bytes=100))
        assert [text for piece in pieces for text in piece] == texts
        for piece in pieces[:-1]:
            assert piece.n_bytes >= 100 > piece.slice(0, len(piece) - 1).n_bytes


def test_an_iterator_is_read_no_further_than_needed():
    """The second piece is asked for before its texts are made."""
    asked = []

    def source():
        for k in range(1000):
            asked.append(k)
            yield "x" * 10

    pieces = chunks(source(), n_bytes=100)
    next(pieces)
    assert len(asked) == 10
    with pytest.raises(ParameterError, match="n_bytes must be"):
        chunks([], n_bytes=0)
