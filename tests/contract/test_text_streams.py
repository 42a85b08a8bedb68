"""Learners of texts that learn from streams: what may come, what is refused, and when they forget."""

import pickle
import signal
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from contract.test_budgets import signal_after
from lineal import (
    LinearClassifier,
    MultinomialNB,
    OnlineClassifier,
    Perceptron,
    TextClassifier,
    TextRegressor,
)
from lineal.data import documents
from lineal.errors import InputError, InputTypeError, ParameterError
from lineal.objective import Hinge, Log
from lineal.text import TextVectorizer

TEXTS = [
    "a good film",
    "a bad film",
    "good cast, good plot",
    "bad, bad",
    "fair",
    "good",
    "a bad idea",
    "fair cast",
]
LABELS = ["pos", "neg", "pos", "neg", "mid", "pos", "neg", "mid"]


def small(**options):
    """A vectorizer with nothing to learn, and few columns."""
    return TextVectorizer(n_features=2**10, weighting="occurrence", norm=None, **options)


def classifier(**options):
    return TextClassifier(vectorizer=small(), **options)


# ---- what may come ------------------------------------------------------------------------------


def test_texts_of_weight_zero_are_not_met():
    """Not even the first, whose label nobody knows yet."""
    s = np.array([0, 0, 1, 2, 0, 1, 1, 0])
    model = classifier().partial_fit(TEXTS, LABELS, sample_weight=s)
    met = [k for k in range(8) if s[k]]
    other = classifier().partial_fit([TEXTS[k] for k in met], [LABELS[k] for k in met], sample_weight=s[met])
    assert model.classes_.tolist() == ["neg", "pos"]
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.online_accuracy_ == other.online_accuracy_


def test_texts_come_as_they_are():
    """Empty ones, spaces, NUL, lone surrogates, and a novel: each is a text, and can be predicted."""
    odd = [
        "",
        " \t\n",
        "n\0ul",
        "\ud800",
        "x\udfff\ud800y",
        "e\u0301",
        "中文 words",
        "a" * 100_000,
        "word " * 50_000,
    ]
    labels = np.arange(len(odd)) % 3
    model = classifier().partial_fit(odd, labels)
    assert model.n_seen_ == len(odd)
    assert np.isfinite(model.coef_).all()
    for text in odd:
        assert model.predict([text])[0] in (0, 1, 2)
        assert model.partial_fit([text], [0]).predict_proba([text]).sum() == pytest.approx(1.0)


def test_one_text_is_predicted_as_among_others():
    """The short way of a single text is up to date after every piece, whatever labels have come."""
    model = classifier(learner=OnlineClassifier(fit_intercept=False))
    for n in range(len(TEXTS)):
        model.partial_fit(TEXTS[n : n + 1], LABELS[n : n + 1])
        texts = [*TEXTS, "words that nobody has seen", ""]
        assert [model.predict([text])[0] for text in texts] == model.predict(texts).tolist()
        scores = np.concatenate([model.decision_function([text]) for text in texts])
        np.testing.assert_allclose(scores, model.decision_function(texts), atol=1e-12)
        chances = np.concatenate([model.predict_proba([text]) for text in texts])
        np.testing.assert_allclose(chances, model.predict_proba(texts), atol=1e-12)
        assert model.classes_.tolist() == sorted(set(LABELS[: n + 1]))


@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_explanations_speak_for_their_label(n_labels):
    """The words of a label's own texts speak for it, from the first label on, and by their names."""
    keep = [i for i, label in enumerate(LABELS) if label in ("pos", "neg", "mid")[:n_labels]]
    model = classifier().partial_fit([TEXTS[i] for i in keep], [LABELS[i] for i in keep])
    told = model.explain("good film", "pos")
    assert {term.name for term in told.terms} == {"good", "film", "good film"}
    assert next(term for term in told.terms if term.name == "good").contribution > 0
    assert sum(term.contribution for term in told.terms) + told.intercept == pytest.approx(told.score)
    top = model.top_features(1)
    assert list(top) == model.classes_.tolist()
    assert all(found[0].weight > 0 for found in top.values())


def test_columns_are_hashed_to_a_fixed_size():
    """2^20 columns and 16 MB for two labels, before the first text and after all."""
    model = TextClassifier()
    for text, label in zip(TEXTS[:4], LABELS[:4], strict=True):
        model.partial_fit([text], [label])
        assert model.model_._stream.records.nbytes == 16 * 2**20
    assert model.coef_.shape == (1, 2**20)


def test_learners_that_count_take_part():
    """Naive Bayes behind hashed words: its own partial_fit, and no online numbers."""
    model = classifier(learner=MultinomialNB())
    for text, label in zip(TEXTS, LABELS, strict=True):
        model.partial_fit([text], [label])
    wanted = MultinomialNB().fit(small().transform(TEXTS), LABELS)
    np.testing.assert_allclose(model.predict_proba(TEXTS), wanted.predict_proba(small().transform(TEXTS)))
    assert not hasattr(model, "n_seen_")


# ---- what is refused ----------------------------------------------------------------------------


REFUSED = [
    (["good", None], ["pos", "neg"], None, InputError, "no text at row 1"),
    (["good", float("nan")], ["pos", "neg"], None, InputError, "no text at row 1"),
    (["good", 3], ["pos", "neg"], None, InputTypeError, "row 1"),
    ("good", ["pos"], None, InputTypeError, "Put a single document into a list"),
    ([], [], None, InputError, "no texts"),
    (["good"], ["pos", "neg"], None, InputError, "inconsistent"),
    (["good"], None, None, InputError, "requires y"),
    (["good", "bad"], ["pos", "neg"], [1.0, -1.0], InputError, "row 1"),
]


@pytest.mark.parametrize(("texts", "labels", "s", "error", "message"), REFUSED, ids=str)
def test_refusals_come_before_the_first_text(texts, labels, s, error, message):
    """A piece that is refused changes nothing, and nothing begins with it."""
    model = classifier().partial_fit(TEXTS, LABELS)
    before = pickle.dumps(model)
    with pytest.raises(error, match=message):
        model.partial_fit(texts, labels, sample_weight=s)
    assert pickle.loads(before).n_seen_ == model.n_seen_ == 8
    np.testing.assert_array_equal(pickle.loads(before).coef_, model.coef_)
    fresh = classifier()
    with pytest.raises(error, match=message):
        fresh.partial_fit(texts, labels, sample_weight=s)
    with pytest.raises(NotFittedError):
        fresh.predict(TEXTS)


def test_numbers_of_texts_are_numbers():
    """TextRegressor refuses labels, and NaN with its row."""
    model = TextRegressor(vectorizer=small())
    with pytest.raises(InputError, match="must be numbers"):
        model.partial_fit(TEXTS, LABELS)
    with pytest.raises(InputError, match="row 7"):
        model.partial_fit(TEXTS, [1.0] * 7 + [np.nan])
    assert model.partial_fit(TEXTS, np.arange(8.0)).predict(TEXTS).shape == (8,)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TextClassifier(vectorizer=TextVectorizer()), "nothing to learn from texts"),
        (TextClassifier(vectorizer=TextVectorizer(n_features=64)), "nothing to learn from texts"),
        (classifier(learner=Perceptron("best", validation=0.5)), "no partial_fit"),
        (classifier(learner=OnlineClassifier(steps="large")), "steps must be"),
        (TextClassifier(vectorizer="words"), "must be a TextVectorizer"),
    ],
    ids=["vocabulary", "idf", "no stream", "steps", "no vectorizer"],
)
def test_options_are_refused_before_the_first_text(model, message):
    """What must look at all texts first, or at none."""
    with pytest.raises(ParameterError, match=message):
        model.partial_fit(TEXTS, LABELS)
    assert not hasattr(model, "model_")


def test_options_are_not_changed_in_the_middle_of_a_stream():
    """Another vectorizer or learner is refused; set back, the stream goes on, a copy of it too."""
    model = classifier().partial_fit(TEXTS, LABELS)
    for copy in (model, pickle.loads(pickle.dumps(model))):
        own = copy.vectorizer
        for wrong in ({"vectorizer": small(signed=True)}, {"learner": OnlineClassifier(Hinge())}):
            with pytest.raises(ParameterError, match="in the middle of a stream"):
                copy.set_params(**wrong).partial_fit(TEXTS, LABELS)
            copy.set_params(vectorizer=own, learner=None)
        assert copy.partial_fit(TEXTS, LABELS).n_seen_ == 16


# ---- fits and streams ---------------------------------------------------------------------------


def test_a_stream_goes_on_from_a_fit():
    """With the fit's columns and weights; its proof is gone, and so are probabilities that it calibrated."""
    texts, labels = TEXTS * 4, LABELS * 4
    model = TextClassifier(vectorizer=TextVectorizer()).fit(texts, labels)
    before = model.coef_.copy()
    model.partial_fit(["words that nobody has seen"], ["pos"])
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_seen_ == 1
    assert not hasattr(model, "certificate_")
    assert not hasattr(model, "predict_proba")
    assert model.predict(texts).tolist() == labels
    likely = TextClassifier(vectorizer=TextVectorizer(), learner=LinearClassifier(Log())).fit(texts, labels)
    assert likely.partial_fit(TEXTS, LABELS).predict_proba(TEXTS).shape == (8, 3)


def test_a_fit_forgets_the_stream():
    """Weights of a fresh fit, and no online numbers; fitted by a learner of streams, too."""
    texts, labels = TEXTS * 4, LABELS * 4
    for learner in (None, OnlineClassifier()):
        model = classifier(learner=learner, strengths=1.0).partial_fit(TEXTS, LABELS).fit(texts, labels)
        fresh = clone(model).fit(texts, labels)
        np.testing.assert_array_equal(model.coef_, fresh.coef_)
        assert set(vars(model)) == set(vars(fresh))
        assert not hasattr(model, "n_seen_")


def test_probabilities_come_with_likelihoods_only():
    """predict_proba is no attribute where the stream's loss gives none."""
    assert not hasattr(
        classifier(learner=OnlineClassifier(Hinge())).partial_fit(TEXTS, LABELS), "predict_proba"
    )
    assert classifier().partial_fit(TEXTS, LABELS).predict_proba(TEXTS).shape == (8, 3)


@pytest.mark.skipif(sys.platform == "win32", reason="needs timers that send signals")
def test_ctrl_c_leaves_the_model_of_the_texts_that_were_met():
    """Threads are joined, n_seen_ says how far it came, and the rest of the texts complete the stream."""
    texts = documents(["good film " * 40, "bad plot " * 30, "a fair cast " * 30] * 40_000)
    labels = np.array(["pos", "neg", "mid"] * 40_000)
    labels[-1] = "late"
    model = classifier(n_threads=2)
    with (
        signal_after(0.1, lambda number, frame: signal.raise_signal(signal.SIGINT)),
        pytest.raises(KeyboardInterrupt),
    ):
        model.partial_fit(texts, labels)
    n = model.n_seen_
    assert 0 < n < 120_000
    assert model.classes_.tolist() == ["mid", "neg", "pos"]
    assert model.predict(["good film"]).tolist() == ["pos"]
    assert model.partial_fit(["rare"], ["late"]).n_seen_ == n + 1
