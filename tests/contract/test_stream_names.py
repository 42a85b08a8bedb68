"""Streams of hashed texts name their columns by a sample of the texts, in bounded memory."""

import json
import pickle
import random

import numpy as np
import pytest

import lineal
from lineal import MultinomialNB, TextClassifier, TextRegressor
from lineal.cli.main import run
from lineal.errors import InputError
from lineal.jobs.update import update
from lineal.learners.freezing import freeze
from lineal.learners.thawing import thaw
from lineal.text import TextVectorizer, name_sample

OPTIONS = {"n_features": 2**12, "weighting": "occurrence", "norm": None}
REVIEWS = [("a good film", "pos"), ("a bad film", "neg"), ("good cast, good plot", "pos"), ("bad", "neg")] * 5


def texts(n, seed=0):
    """Some words that come again and again, and others that are always new."""
    rng = random.Random(seed)
    common = [f"common{k}" for k in range(20)]
    return [" ".join([*rng.choices(common, k=4), f"new{k}", f"odd{k}"]) for k in range(n)]


def streamed(pieces, *, between=lambda model: model, **options):
    """A model of a stream in pieces, with something done to it between them."""
    model = TextClassifier(vectorizer=TextVectorizer(**(OPTIONS | options)))
    number = 0
    for piece in pieces:
        labels = (np.arange(number, number + len(piece)) * 7 // 3) % 2
        model = between(model.partial_fit(piece, labels))
        number += len(piece)
    return model


def known(model):
    """All that a stream knows of its names."""
    columns = model.vectorizers_[0].reader().columns
    arrays = (columns.named, columns.bytes, columns.starts, columns.is_shared, columns.sample.counts)
    return [columns.sample.n_met, *(array.tolist() for array in arrays)]


def cut(items, sizes):
    """Pieces of these sizes, over and over."""
    first, pieces = 0, []
    while first < len(items):
        for size in sizes:
            pieces.append(items[first : first + size])
            first += size
    return [piece for piece in pieces if piece]


def stored(tmp_path):
    def again(model):
        lineal.save(model, tmp_path / "model.lineal")
        return thaw(lineal.load(tmp_path / "model.lineal"))

    return again


@pytest.fixture
def little_room(monkeypatch):
    """So that names must go, and texts do not wait long."""
    monkeypatch.setattr(name_sample, "MOST_NAMES", 900)
    monkeypatch.setattr(name_sample, "MOST_BYTES", 12_000)
    monkeypatch.setattr(name_sample, "MOST_WAITING", 2000)


# ---- the sample ---------------------------------------------------------------------------------


def test_the_sample_has_the_first_256_texts_and_128_of_every_doubling():
    """One of each block, and its number tells of every text whether it is in."""
    numbers = name_sample.sampled(0, 2**15)
    assert numbers[:256] == list(range(256))
    for k in range(8, 15):
        inside = [n for n in numbers if 2**k <= n < 2 ** (k + 1)]
        assert [n >> (k - 7) for n in inside] == list(range(128, 256))
        if k > 9:  # the places in the blocks are not all alike
            assert len({n & (2 ** (k - 7) - 1) for n in inside}) >= 4
    for first, end in [(0, 1), (255, 257), (300, 301), (300, 5000), (4095, 4097), (777, 777), (1, 2**15)]:
        assert name_sample.sampled(first, end) == [n for n in numbers if first <= n < end]
    one_by_one = [n for n in range(3000) if name_sample.sampled(n, n + 1)]
    assert one_by_one == [n for n in numbers if n < 3000]
    for n in range(3000):
        assert name_sample._next_sampled(n) == next(m for m in numbers if m >= n)
    far = 10**15
    assert far <= name_sample._next_sampled(far) < far + 2 * 2**42


@pytest.mark.parametrize("sizes", [(1,), (7,), (1, 100, 3, 256), (1000,)])
def test_pieces_of_any_size_give_the_same_names(sizes, little_room):
    """Also where room runs out, and names are asked for in between."""
    items = texts(1500)
    wanted = known(streamed([items]))
    assert known(streamed(cut(items, sizes))) == wanted

    def asked(model):
        model.top_features(2)
        return model

    assert known(streamed(cut(items, sizes), between=asked)) == wanted


@pytest.mark.parametrize("analyzer", ["word", "char_wb", str.split], ids=str)
@pytest.mark.parametrize("n_threads", [2, 5])
def test_any_number_of_threads_gives_the_same_names(n_threads, analyzer, little_room):
    """Of words, of characters and of the tokens of a function."""
    items = texts(700)
    wanted = known(streamed([items], n_threads=1, analyzer=analyzer))
    assert known(streamed(cut(items, [300]), n_threads=n_threads, analyzer=analyzer)) == wanted


def test_a_stream_that_was_stored_goes_on_with_the_same_names(tmp_path, little_room):
    """By pickle and by model files; the stored model itself stays as it was."""
    items = texts(1200)
    wanted = known(streamed([items]))
    for again in (lambda model: pickle.loads(pickle.dumps(model)), stored(tmp_path)):
        assert known(streamed(cut(items, [150]), between=again)) == wanted
    half = streamed([items[:300]])
    frozen = freeze(half)
    before = frozen.top_features(5)
    for model in (half, thaw(frozen)):
        model.partial_fit(items[300:], np.arange(900) % 2)
        assert frozen.top_features(5) == before
        assert frozen._features.readers[0].columns.sample.n_met == 300


def test_names_have_a_bound(little_room):
    """However many words come: few names, few texts that wait; words that come again keep theirs."""
    model = streamed(cut(texts(6000), [50]))
    sample = model.vectorizers_[0]._columns.sample
    assert sample.n_waiting < 2000 + 100
    columns = model.vectorizers_[0].reader().columns
    assert 0 < len(columns.named) <= 900
    assert len(columns.bytes) <= 12_000
    assert (
        len(columns.named) == len(columns.is_shared) == len(columns.sample.counts) == len(columns.starts) - 1
    )
    names = {name.removesuffix(" (and others)") for name in columns.known_names().values()}
    assert {f"common{k}" for k in range(20)} - names == set()


def test_a_text_that_is_too_long_is_read_to_a_bound(monkeypatch):
    """To the end of a word, so that no part of one becomes a name; what has no spaces is cut."""
    monkeypatch.setattr(name_sample, "MOST_OF_A_TEXT", 20)
    model = streamed([["first second thirdandlast", "x" * 50]], n_features=2**20)
    names = set(model.vectorizers_[0].reader().columns.known_names().values())
    assert names == {"first", "second", "first second", "x" * 20}


def test_one_text_of_more_words_than_there_is_room_gives_as_many_as_fit(little_room):
    """And then there is room for no more until some go."""
    model = streamed([[" ".join(f"word{k}" for k in range(4000))]], n_features=2**20)
    columns = model.vectorizers_[0].reader().columns
    assert 0 < len(columns.named) <= 900
    assert len(columns.bytes) <= 12_000


# ---- what they are for --------------------------------------------------------------------------


def test_the_heaviest_words_of_a_stream_are_shown_by_name(tmp_path):
    """By the model, by its file, and after the file has learned more."""
    model = TextClassifier()
    for text, label in REVIEWS:
        model.partial_fit([text], [label])
    wanted = {"neg": "bad", "pos": "good"}
    assert {label: found[0].name for label, found in model.top_features(1).items()} == wanted
    assert model.get_feature_names_out()[model.coef_[0].argmax()] == "good"
    lineal.save(model, tmp_path / "model.lineal")
    loaded = lineal.load(tmp_path / "model.lineal")
    assert loaded.top_features(3) == model.top_features(3)
    assert loaded.n_collisions == model.vectorizers_[0].n_collisions_ == 0
    more = thaw(loaded).partial_fit(["utterly dreadful"] * 9, ["neg"] * 9)
    assert {"utterly", "dreadful"} <= {name for name, _ in more.top_features(9)["neg"]}


def test_a_model_file_that_is_updated_names_what_came_late(tmp_path):
    """``lineal update`` goes on with the sample."""
    first, second = tmp_path / "model.lineal", tmp_path / "more.jsonl"
    lineal.save(TextClassifier().partial_fit(*zip(*REVIEWS, strict=True)), first)
    rows = [{"text": "utterly dreadful", "label": "neg"}, {"text": "sublime", "label": "pos"}] * 9
    second.write_text("".join(json.dumps(row) + "\n" for row in rows))
    after = update(str(first), str(second), label="label", text="text", n_bytes=100).model
    whole = TextClassifier().partial_fit(
        *zip(*REVIEWS, *((row["text"], row["label"]) for row in rows), strict=True)
    )
    assert "sublime" in {name for name, _ in after.top_features(3)["pos"]}
    assert after.top_features(20) == whole.top_features(20)
    assert after._features.readers[0].columns.sample.n_met == len(REVIEWS) + len(rows)


def test_numbers_and_other_learners_have_names_too():
    """A regression, naive Bayes behind hashed words, and two vectorizers side by side."""
    numbers = TextRegressor().partial_fit([text for text, _ in REVIEWS], [len(label) for _, label in REVIEWS])
    assert not any(name.startswith("hashed") for name, _ in numbers.top_features(4)["raise"])
    pair = [TextVectorizer(**OPTIONS), TextVectorizer(**OPTIONS, analyzer="char", ngrams=(3, 3))]
    for options in ({"learner": MultinomialNB(), "vectorizer": pair[0]}, {"vectorizer": pair}):
        model = TextClassifier(**options).partial_fit(*zip(*REVIEWS, strict=True))
        names = set(model.get_feature_names_out())
        assert {"good", "bad"} <= names
        assert ("goo" in names) == isinstance(options["vectorizer"], list)


def test_an_explanation_has_the_words_of_its_text():
    """Those of the sample and those that nobody has seen, as before."""
    model = TextClassifier(vectorizer=TextVectorizer(**OPTIONS)).partial_fit(*zip(*REVIEWS, strict=True))
    model.top_features(1)
    told = model.explain("a good newcomer", "pos")
    assert {term.name for term in told.terms} == {"a", "good", "newcomer", "a good", "good newcomer"}
    assert freeze(model).explain("a good newcomer", "pos") == told


def test_collisions_of_the_sample_are_counted():
    """Where all texts are in the sample these are the columns of two terms or more, as a fit counts them."""
    items = texts(200)
    fitted = TextVectorizer(**(OPTIONS | {"n_features": 512})).fit(items)
    model = streamed(cut(items, [3]), n_features=512)
    assert model.vectorizers_[0].n_collisions_ == fitted.n_collisions_ > 0
    assert model.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()
    assert freeze(model).n_collisions == fitted.n_collisions_


def test_inspect_shows_words_and_collisions(tmp_path, capsys):
    """As people and as machines read it."""
    path = str(tmp_path / "model.lineal")
    lineal.save(TextClassifier().partial_fit(*zip(*REVIEWS, strict=True)), path)
    assert run(["inspect", path]) == 0
    shown = capsys.readouterr().out
    assert "good" in shown
    assert "hashed; 0 of those named stand for two terms or more" in " ".join(shown.split())
    assert run(["inspect", path, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["n_collisions"] == 0
    assert document["top_features"]["pos"][0]["name"] == "good"


def test_a_vectorizer_that_was_fitted_keeps_its_names():
    """No sample is taken, and nobody else's vectorizer is changed; one that knows no names is copied."""
    fitted = TextVectorizer(**OPTIONS).fit(["a good film"])
    model = TextClassifier(vectorizer=fitted).partial_fit(*zip(*REVIEWS, strict=True))
    assert model.vectorizers_[0] is fitted
    assert set(fitted._columns.known_names().values()) == {"a", "good", "film", "a good", "good film"}
    empty = TextVectorizer(**OPTIONS).fit([])
    model = TextClassifier(vectorizer=empty).partial_fit(*zip(*REVIEWS, strict=True))
    assert model.top_features(1)["neg"][0].name == "bad"
    assert empty._columns.sample is None
    assert empty._columns.known_names() == {}
    passed_on = TextClassifier(vectorizer=model.vectorizers_[0]).partial_fit(["strange"], ["pos"])
    assert "strange" not in set(passed_on.get_feature_names_out())
    assert "bad" in set(passed_on.get_feature_names_out())
    assert model.vectorizers_[0]._columns.sample.n_met == len(REVIEWS)


def test_a_fit_forgets_the_names_of_a_stream():
    """Its own texts name the columns."""
    model = TextClassifier(vectorizer=TextVectorizer(**OPTIONS)).partial_fit(["strange"], ["pos"])
    model.fit(*zip(*REVIEWS, strict=True))
    assert "strange" not in set(model.get_feature_names_out())
    assert model.vectorizers_[0]._columns.sample is None


# ---- what is not kept ---------------------------------------------------------------------------


def test_no_text_is_stored(tmp_path):
    """Neither pickles nor model files hold more of a text than its terms."""
    secret = "my neighbour told nobody about it"
    model = streamed([[secret, "another text of others"]])
    lineal.save(model, tmp_path / "model.lineal")
    for data in (pickle.dumps(model), (tmp_path / "model.lineal").read_bytes()):
        assert b"neighbour told" in data
        assert b"neighbour told nobody" not in data


def test_texts_that_were_not_met_give_no_names():
    """Those of weight 0, and those of a piece that is refused."""
    model = TextClassifier(vectorizer=TextVectorizer(**OPTIONS))
    model.partial_fit(["good", "unheard", "bad"], ["pos", "neg", "neg"], sample_weight=[1, 0, 1])
    other = TextClassifier(vectorizer=TextVectorizer(**OPTIONS)).partial_fit(["good", "bad"], ["pos", "neg"])
    assert known(model) == known(other)
    with pytest.raises(InputError, match="row 1"):
        model.partial_fit(["refused", "too"], ["pos", "neg"], sample_weight=[1, -1])
    assert known(model) == known(other)


def test_a_damaged_record_of_names_is_refused(tmp_path):
    """Names out of order would be looked up in the wrong place."""
    from lineal.errors import ModelFileError
    from lineal.model.features.readers import put_reader, read_reader
    from lineal.model.record import Draft, Spec

    reader = streamed([texts(9)]).vectorizers_[0].reader()
    draft = Draft()
    record = put_reader(draft, "reader", reader)
    place = "reader.columns.named"
    assert place in draft.tensors
    read_reader(Spec(record, "reader", draft.tensors))
    broken = draft.tensors | {place: draft.tensors[place][::-1].copy()}
    with pytest.raises(ModelFileError, match="not in order"):
        read_reader(Spec(record, "reader", broken))
