"""What is learned from a stream, piece by piece, is what is learned from all texts at once."""

import errno
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from lineal.data.documents import chunks, documents
from lineal.errors import InputError, InputTypeError, ParameterError
from lineal.text import TextVectorizer, streams

pa = pytest.importorskip("pyarrow")


def made(n=600, seed=0):
    """Texts of few words, so that n-grams repeat and totals tie; some empty, some odd."""
    rng = random.Random(seed)
    words = [
        "".join(rng.choices("abcdeéßжλ中_1", k=rng.randrange(1, 6))).replace("b", "B") for _ in range(150)
    ] + ["the", "and", "not", "Straße", "İstanbul", "ΣΟΦΟΣ", "\ud800x", "n\0ul", "a\u0301"]
    return [" ".join(rng.choices(words, k=rng.randrange(12))) for _ in range(n)]


TEXTS = made()


def same(streamed, direct):
    """Two fitted vectorisers that answer alike, in all they know and do."""
    assert streamed.get_feature_names_out().tolist() == direct.get_feature_names_out().tolist()
    np.testing.assert_array_equal(streamed.document_frequency_, direct.document_frequency_)
    if direct._idf is not None:
        np.testing.assert_array_equal(streamed.idf_, direct.idf_)
    assert streamed._mean_length == direct._mean_length
    own, other = streamed._columns.__dict__, direct._columns.__dict__
    assert own.keys() == other.keys()
    for name in own.keys() - {"_native"}:
        assert str(own[name]) == str(other[name])
        if isinstance(own[name], np.ndarray):
            assert own[name].dtype == other[name].dtype
            np.testing.assert_array_equal(own[name], other[name])
    for mine, theirs in zip(own.get("longer", []), other.get("longer", []), strict=True):
        for a, b in zip(mine, theirs, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
    assert (streamed.transform(TEXTS[:50]) != direct.transform(TEXTS[:50])).nnz == 0


@pytest.mark.parametrize("chunk_bytes", [150, 5000])
@pytest.mark.parametrize(
    "options",
    [
        {"ngrams": (1, 3)},
        {"ngrams": (1, 3), "min_df": 2},
        {"ngrams": (2, 3), "min_df": 0.005, "max_df": 0.5},
        {"ngrams": (1, 2), "max_df": 40},
        {"ngrams": (1, 2), "max_features": 37},
        {"ngrams": (1, 3), "max_features": 1000, "min_df": 2, "max_df": 0.9},
        {"ngrams": (1, 2), "stop_words": ["the", "and"], "negation": True},
        {"ngrams": (1, 1), "min_characters": 1, "fold_accents": True},
        {"ngrams": (1, 4), "analyzer": "char", "min_df": 2},
        {"ngrams": (3, 3), "analyzer": "char", "max_features": 100, "lowercase": False},
        {"ngrams": (2, 5), "analyzer": "char_wb"},
        {"ngrams": (1, 3), "analyzer": "char_wb", "min_df": 3, "max_df": 0.4, "max_features": 200},
        {"ngrams": (1, 2), "weighting": "bm25", "min_df": 2},
        {"ngrams": (1, 2), "weighting": "counts", "norm": None},
        {"n_features": 256},
        {"n_features": 256, "signed": True, "weighting": "bm25", "compat": "sklearn"},
        {"n_features": 64, "weighting": "counts", "analyzer": "char_wb"},
        {"vocabulary": ["the", "not", "the and", "nothing"]},
        {
            "ngrams": (1, 2),
            "min_df": 2,
            "lexicons": {"little": ["the"]},
            "functions": {"size": len, "a": lambda t: t[:1]},
        },
        {"ngrams": (1, 2), "min_df": 2, "emphasis": {"the": 3.0}},
    ],
    ids=lambda options: "-".join(options),
)
def test_pieces_are_the_whole(options, chunk_bytes):
    """Vocabulary, document frequencies, weights, arrays and rows, for pieces of a text, a few or many."""
    direct = TextVectorizer(**options).fit(TEXTS)
    streamed = TextVectorizer(**options, chunk_bytes=chunk_bytes).fit(iter(TEXTS))
    same(streamed, direct)


@pytest.mark.parametrize("most_runs", [2, 3, 7])
def test_runs_are_merged_in_rounds(most_runs, monkeypatch):
    """Many more runs than are open at once."""
    monkeypatch.setattr(streams, "MOST_RUNS", most_runs)
    direct = TextVectorizer(ngrams=(1, 2), min_df=2).fit(TEXTS)
    same(TextVectorizer(ngrams=(1, 2), min_df=2, chunk_bytes=300).fit(iter(TEXTS)), direct)


def test_tokens_of_a_function_may_hold_anything():
    """Spaces, NULs and empty tokens, which a spelling with spaces would confuse or put in another order."""
    rng = random.Random(1)
    tokens = ["a", "a b", "a\0", "a\0b", "\0", "\1", "\1\1", "", "b", "a\1", " "]
    lists = [[rng.choice(tokens) for _ in range(6)] for _ in range(200)]
    number = {str(k): found for k, found in enumerate(lists)}
    options = {"analyzer": number.__getitem__, "ngrams": (1, 3), "weighting": "counts", "norm": None}
    direct = TextVectorizer(**options).fit(list(number))
    streamed = TextVectorizer(**options, chunk_bytes=20).fit(iter(number))
    assert streamed.get_feature_names_out().tolist() == direct.get_feature_names_out().tolist()
    np.testing.assert_array_equal(streamed.document_frequency_, direct.document_frequency_)
    assert (streamed.transform(list(number)) != direct.transform(list(number))).nnz == 0


def test_all_kinds_of_streams():
    """Generators, Arrow readers and iterators over documents; what has a length is read at once."""
    texts = [text.encode("utf-8", "replace").decode() for text in TEXTS]
    direct = TextVectorizer(min_df=2).fit(texts)

    def reader():
        batches = [pa.record_batch({"text": texts[k : k + 50]}) for k in range(0, len(texts), 50)]
        return pa.RecordBatchReader.from_batches(batches[0].schema, batches)

    for source in (
        (text for text in texts),
        map(str, texts),
        reader(),
        chunks(texts, n_bytes=400),
        iter([documents(texts[:300]), documents([]), documents(texts[300:])]),
    ):
        assert streams.is_stream(source)
        same(TextVectorizer(min_df=2, chunk_bytes=1000).fit(source), direct)
    for source in (texts, np.array(texts), pa.array(texts), reader().read_all(), documents(texts)):
        assert not streams.is_stream(source)


def test_a_single_piece_does_not_touch_the_disk(monkeypatch):
    """What fits into memory is counted there."""
    monkeypatch.setattr(tempfile, "TemporaryFile", None)
    same(TextVectorizer(min_df=2).fit(iter(TEXTS)), TextVectorizer(min_df=2).fit(TEXTS))


def test_rows_by_pieces_are_the_rows():
    """``transform_chunks`` is ``transform``, cut."""
    for options in ({"min_df": 2}, {"n_features": 128, "weighting": "counts"}):
        vectorizer = TextVectorizer(**options, chunk_bytes=900)
        if "min_df" in options:
            vectorizer.fit(TEXTS)
        found = list(vectorizer.transform_chunks(text for text in TEXTS))
        assert len(found) > 5
        assert (sp.vstack(found) != vectorizer.transform(TEXTS)).nnz == 0
        assert sum(X.shape[0] for X in vectorizer.transform_chunks(TEXTS)) == len(TEXTS)
    assert list(vectorizer.transform_chunks([])) == []


def test_rows_by_pieces_need_a_fit():
    """The error comes with the call, not with the first piece."""
    with pytest.raises(ValueError, match="not fitted"):
        TextVectorizer().transform_chunks([])


class FullDisk:
    """A file that takes so many bytes."""

    def __init__(self, room):
        self.room, self.is_closed = room, False

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self):
        pass

    def close(self):
        self.is_closed = True


@pytest.mark.parametrize("room", [0, 20_000])
def test_a_full_disk_is_said_and_left_clean(room, monkeypatch):
    """The error says where and what to do, and no file stays open."""
    disks = []
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: disks.append(FullDisk(room)) or disks[-1])
    with pytest.raises(OSError, match="set TMPDIR to another folder") as raised:
        TextVectorizer(chunk_bytes=500).fit(iter(TEXTS))
    assert raised.value.errno == errno.ENOSPC
    assert all(disk.is_closed for disk in disks)


def test_no_file_is_left_behind(tmp_path, monkeypatch):
    """Not after a fit, and not after one that failed in the middle."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def broken():
        yield from TEXTS
        raise KeyboardInterrupt

    TextVectorizer(chunk_bytes=500).fit(iter(TEXTS))
    with pytest.raises(KeyboardInterrupt):
        TextVectorizer(chunk_bytes=500).fit(broken())
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_is_refused_before_the_stream_is_read():
    """A wrong option must not cost an hour of reading."""
    for options in (
        {"min_df": -1},
        {"max_df": 1.5},
        {"min_df": 3, "max_df": 2},
        {"chunk_bytes": 0},
        {"chunk_bytes": 1.5},
    ):
        source = iter(TEXTS)
        with pytest.raises(ParameterError):
            TextVectorizer(**options).fit(source)
        assert next(source) == TEXTS[0]
    with pytest.raises(InputError, match="needs all texts at once"):
        TextVectorizer(weighting="nb").fit(iter(TEXTS), [0, 1] * (len(TEXTS) // 2))


def test_nothing_found_is_said():
    """The same errors as for a list."""
    for source in ([], ["", ""], ["one two", "three four"]):
        with pytest.raises(InputError, match="No term") as direct:
            TextVectorizer(min_df=2).fit(source)
        with pytest.raises(InputError, match="No term") as streamed:
            TextVectorizer(min_df=2, chunk_bytes=1).fit(iter(source))
        assert str(streamed.value) == str(direct.value)


def test_flaws_are_said_with_their_row_in_the_stream():
    """Rows are counted from the first text, not from the piece."""
    with pytest.raises(InputError, match="row 7"):
        TextVectorizer(chunk_bytes=8).fit(iter(["some text"] * 7 + [None]))
    with pytest.raises(InputTypeError, match="Give one kind"):
        TextVectorizer(chunk_bytes=8).fit(iter([documents(["some text"]), "more"]))


def test_functions_do_not_weigh_counts():
    """A hand-made feature beside counts leaves them counts."""
    options = {"weighting": "counts", "norm": None, "sublinear": False, "ngrams": (1, 1)}
    X = TextVectorizer(**options, functions={"size": len}).fit_transform(["ab ab", "cd"])
    assert X.toarray().tolist() == [[2.0, 0.0, 5.0], [0.0, 1.0, 2.0]]


FIT = """
import hashlib, sys
from lineal.text import TextVectorizer

def texts():
    for _ in range(2):
        with open(sys.argv[1], encoding="utf-8") as lines:
            yield from (line.rstrip("\\n").split("\\t")[1] for line in lines)

fitted = TextVectorizer(ngrams=(1, 3), min_df=4).fit(texts() if sys.argv[2] == "stream" else list(texts()))
print(hashlib.sha256(fitted._columns.bytes.tobytes() + fitted.idf_.tobytes()).hexdigest())
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_a_stream_needs_half_the_memory_of_its_list():
    """Two million texts: the same words and weights, in memory that is that of pieces and vocabulary."""
    file = (
        Path(os.environ.get("LINEAL_DATA", "~/.cache/lineal-data")).expanduser() / "l10n_langid" / "train.tsv"
    )
    if not file.exists():
        pytest.skip("l10n_langid is not there: unpack the real data, or set LINEAL_DATA")
    digest, peak = {}, {}
    for kind in ("list", "stream"):
        run = subprocess.run(
            [sys.executable, "-c", FIT, file, kind], capture_output=True, text=True, check=True
        )
        digest[kind], peak[kind] = run.stdout.split()
    assert digest["stream"] == digest["list"]
    assert 2 * int(peak["stream"]) < int(peak["list"])
