"""What learners of texts promise, whatever they choose inside."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import lineal
from lineal import LinearClassifier, LinearSVC, TextClassifier, TextRegressor, TextVectorizer, verify
from lineal.errors import InputError, ParameterError, UnmatchedWordsWarning
from lineal.objective import L2, Log

WORDS = ["film", "cast", "plot", "scene", "music", "ending", "story"]
OPINIONS = {
    "pos": ["good", "great", "lovely", "superb"],
    "neg": ["bad", "awful", "dull", "poor"],
    "mid": ["fair", "mixed", "average", "passable"],
}


def reviews(labels=("neg", "pos"), n=90, seed=0):
    rng = np.random.default_rng(seed)
    texts, y = [], []
    for k in range(n):
        label = labels[k % len(labels)]
        pieces = [*rng.choice(WORDS, 4), *rng.choice(OPINIONS[label], 2)]
        if rng.random() < 0.2:
            pieces.append(rng.choice(OPINIONS[labels[(k + 1) % len(labels)]]))
        rng.shuffle(pieces)
        texts.append(" ".join(pieces))
        y.append(label)
    return texts, np.array(y)


RECIPES = [
    None,
    TextVectorizer(ngrams=(1, 2)),
    TextVectorizer(weighting="nb", ngrams=(1, 3)),
    TextVectorizer(analyzer="char", ngrams=(1, 3)),
    TextVectorizer(n_features=512),
    TextVectorizer(n_features=64, signed=True, ngrams=(1, 2), compat="sklearn"),
    TextVectorizer(n_features=256, analyzer="char", ngrams=(2, 3), weighting="bm25"),
    TextVectorizer(n_features=256, analyzer="char_wb", ngrams=(2, 4)),
    TextVectorizer(vocabulary=["good film plot", "dull", "film plot good poor", "poor"]),
    TextVectorizer(stem="english", functions={"length": len}),
    [TextVectorizer(ngrams=(1, 2)), TextVectorizer(analyzer="char_wb", ngrams=(2, 4))],
]


@pytest.mark.parametrize("labels", [("neg", "pos"), ("mid", "neg", "pos")])
@pytest.mark.parametrize("vectorizer", RECIPES)
def test_one_text_scores_as_among_many(vectorizer, labels):
    """The short way for one text and the matrix agree, and so do labels, probabilities and pickles."""
    texts, y = reviews(labels)
    model = TextClassifier(vectorizer=vectorizer, strengths=1.0).fit(texts, y)
    others, _ = reviews(labels, 30, seed=1)
    many = model.decision_function(others)
    again = pickle.loads(pickle.dumps(model))
    for row, text in enumerate(others):
        np.testing.assert_allclose(model.decision_function([text])[0], many[row], rtol=1e-9, atol=1e-12)
        assert model.predict([text])[0] == model.predict(others)[row] == again.predict([text])[0]
    p = model.predict_proba(others)
    alone = np.concatenate([model.predict_proba([text]) for text in others])
    np.testing.assert_allclose(alone, p, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(alone.argmax(axis=1), p.argmax(axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(others))


@pytest.mark.parametrize("labels", [("neg", "pos"), ("mid", "neg", "pos")])
@pytest.mark.parametrize("vectorizer", [RECIPES[1], RECIPES[2], RECIPES[-1]])
def test_an_explanation_adds_up_to_the_score(vectorizer, labels):
    """Intercept + terms = score, and intercept + tokens = score, for every label."""
    texts, y = reviews(labels)
    model = TextClassifier(vectorizer=vectorizer, strengths=1.0).fit(texts, y)
    text = "Good,good film... with a DULL-poor plot; film"
    scores = np.atleast_1d(model.decision_function([text])[0])
    for place, label in enumerate(labels):
        found = model.explain(text, label)
        wanted = scores[place] if len(labels) > 2 else scores[0] * (1 if place == 1 else -1)
        assert found.score == pytest.approx(wanted, rel=1e-6)
        assert found.intercept + sum(term.contribution for term in found.terms) == pytest.approx(found.score)
        assert found.intercept + sum(share for _, share in found.tokens) == pytest.approx(found.score)
        assert [token for token, _ in found.tokens] == text.split()
    assert str(model.explain(text)).startswith(str(model.predict([text])[0]))


def test_spaces_of_character_n_grams_are_seen_in_print():
    """ "film" at a word's beginning and within it are two terms, and look like two."""
    texts, y = reviews()
    vectorizer = TextVectorizer(analyzer="char_wb", ngrams=(4, 4))
    printed = str(TextClassifier(vectorizer=vectorizer, strengths=1.0).fit(texts, y).explain(texts[0]))
    assert "␣" in printed
    assert all(line == line.rstrip() for line in printed.splitlines())


def test_the_search_is_told_and_repeats_itself():
    """The plan names the choice, trials hold all of them, and the same seed gives the same model."""
    texts, y = reviews()
    model = TextClassifier().fit(texts, y)
    assert {trial.recipe for trial in model.trials_} >= {model.plan_.split(", strength")[0]}
    assert len(model.trials_) == 3 + 2
    again = TextClassifier(n_threads=1).fit(texts, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    assert model.plan_ == again.plan_
    texts, y = reviews(n=400)
    part = TextClassifier(search_bytes=5000).fit(texts, y)
    assert "of 400 texts" in part.plan_
    assert part.score(texts, y) > 0.8


def test_the_plan_says_what_there_is_too_little_of():
    """Texts of one group cannot be held out, however many; nor can two texts, whatever their groups."""
    texts, y = reviews(n=20)
    numbers = np.arange(20.0)
    for model, targets in ((TextClassifier(), y), (TextRegressor(), numbers)):
        assert model.fit(texts, targets, groups=[0] * 20).plan_.endswith("too few groups to hold any out.")
        assert model.fit(texts[:2], targets[:2], groups=[0, 0]).plan_.endswith(
            "too few texts to hold any out."
        )
        assert "on held-out parts" in model.fit(texts, targets, groups=np.arange(20) // 4).plan_


def test_the_model_inside_is_certified():
    """What verify proves again is the fit of the final model on the texts' own matrix."""
    texts, y = reviews()
    model = TextClassifier(strengths=0.5).fit(texts, y)
    X = model._matrix(texts)
    assert verify(model.model_, X, y).relative_gap <= 2e-3
    assert model.certificate_.converged


def test_a_held_out_label_does_not_reach_naive_bayes_weights():
    """Permuted labels are learned no better than chance, which leaking weights would."""
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{k}" for k in rng.integers(0, 3000, 12)) for _ in range(300)]
    y = rng.permutation(np.arange(300) % 2)
    model = TextClassifier(vectorizer=TextVectorizer(weighting="nb", ngrams=(1, 1))).fit(texts, y)
    assert all(abs(trial.score - 0.5) < 0.12 for trial in model.trials_)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "FisherDiscriminant",
                                  "KNeighborsClassifier", "Perceptron", "OnlineClassifier"])  # fmt: skip
@pytest.mark.parametrize("labels", [("neg", "pos"), ("neg", "pos", "mid")], ids=["two", "three"])
def test_one_text_is_answered_as_among_many_whatever_the_learner(name, labels):
    """The short way is taken where the learner inside has scores of its own; else the long one is."""
    texts, y = reviews(labels)
    model = TextClassifier(vectorizer=TextVectorizer(), learner=getattr(lineal, name)()).fit(texts, y)
    for text in texts[:4]:
        for method in ("predict", "predict_proba"):
            one, many = getattr(model, method)([text]), getattr(model, method)([text, "a film"])
            if method == "predict":
                assert one[0] == many[0]
            else:
                np.testing.assert_allclose(one[0], many[0], atol=1e-6)  # rows of the matrix are float32


def test_labels_of_a_single_text_are_learned():
    """The fold that holds it out lacks a label, which is no obstacle; probabilities add up to 1."""
    texts = ["red apple", "red cherry", "red wine", "green leaf", "green tree", "green grass"] * 3
    labels = ["red", "red", "red", "green", "green", "green"] * 3
    model = TextClassifier().fit([*texts, "blue sky"], [*labels, "blue"])
    assert model.trials_
    np.testing.assert_allclose(model.predict_proba(texts).sum(axis=1), 1.0, rtol=1e-12)
    assert list(model.predict(texts)) == labels


def test_a_learner_of_ones_own():
    """A given learner is used as it is; its probabilities are its own."""
    texts, y = reviews()
    model = TextClassifier(learner=LinearClassifier(loss=Log(), penalty=L2(0.3))).fit(texts, y)
    assert model.model_.penalty == L2(0.3)
    assert model.model_.temperature_ == 1.0
    assert cross_val_score(clone(model), texts, y, cv=3).mean() > 0.8


def test_top_features_are_the_words_that_speak_for_a_label():
    """Opinions lead, each on its own side."""
    texts, y = reviews(("mid", "neg", "pos"), 150)
    model = TextClassifier(vectorizer=TextVectorizer(ngrams=(1, 1))).fit(texts, y)
    for label, found in model.top_features(3).items():
        assert {feature.name for feature in found} <= set(OPINIONS[label])
        assert [f.weight for f in found] == sorted((f.weight for f in found), reverse=True)


def test_numbers_are_predicted_from_texts():
    """A regressor learns what words add, and explains it."""
    rng = np.random.default_rng(0)
    values = {"one": 1.0, "two": 2.0, "three": 3.0, "nothing": 0.0}
    texts = [" ".join(rng.choice(list(values), 5)) for _ in range(300)]
    y = np.array([sum(values[word] for word in text.split()) for text in texts])
    vectorizer = TextVectorizer(ngrams=(1, 1), weighting="counts", sublinear=False, norm=None)
    model = TextRegressor(vectorizer=vectorizer).fit(texts, y)
    assert model.strength_ == 0.01
    assert model.predict(["one two three"])[0] == pytest.approx(model.predict(["one two three"] * 2)[1])
    assert model.predict(["two two two two two"])[0] == pytest.approx(10.0, abs=0.1)
    found = model.explain("two three")
    assert found.score == pytest.approx(model.predict(["two three"])[0], rel=1e-6)
    assert TextRegressor().fit(texts, y).score(texts, y) > 0.9


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (lambda: TextClassifier().fit(["a", "b", "c"], ["x", "y"]), "3 texts, but 2 labels"),
        (lambda: TextClassifier().fit([], []), "no labels"),
        (lambda: TextClassifier().fit(["a", "b"], ["x", "x"]), "at least 2 classes"),
        (lambda: TextClassifier().fit("abc", ["x", "y", "x"]), "list"),
        (lambda: TextClassifier().fit(["a", None], ["x", "y"]), "row 1"),
        (lambda: TextClassifier().fit(["a", 3], ["x", "y"]), "row 1"),
        (lambda: TextClassifier().fit(["", ""], ["x", "y"]), "No term"),
        (lambda: TextRegressor().fit(["a", "b"], [1.0, np.nan]), "row 1"),
        (lambda: TextClassifier().fit(["a", "b"], None), "requires y"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(fit, words):
    """What was needed, what came, where."""
    with pytest.raises(InputError, match=words):
        fit()


@pytest.mark.parametrize(
    "options",
    [
        {"vectorizer": "words"},
        {"strengths": [-1.0]},
        {"strengths": []},
        {"n_folds": 1},
        {"search_bytes": 0},
        {"random_state": "x"},
    ],
)
def test_options_that_cannot_be(options):
    """They are refused before texts are read."""
    with pytest.raises(ParameterError):
        TextClassifier(**options).fit(["a", "b"], ["x", "y"])


@pytest.mark.parametrize(
    "options",
    [
        {"ngrams": (2, 1)},
        {"ngrams": 2},
        {"analyzer": "words"},
        {"weighting": "idf"},
        {"norm": "max"},
        {"min_df": -1},
        {"min_df": 5, "max_df": 2},
        {"max_features": 0},
        {"n_features": 0},
        {"n_features": 8, "vocabulary": ["a"]},
        {"signed": True},
        {"stop_words": "klingon"},
        {"stop_words": [1]},
        {"stem": "klingon"},
        {"analyzer": "char", "stem": "english"},
        {"vocabulary": []},
        {"compat": "r"},
        {"min_characters": 0},
        {"dtype": "U3"},
        {"n_threads": 0},
    ],
)
def test_vectorizer_options_that_cannot_be(options):
    """Each is refused with the option's name."""
    with pytest.raises(ParameterError):
        TextVectorizer(**options).fit(["some words here", "and some there"])


@pytest.mark.parametrize("estimator", [TextVectorizer(), TextClassifier(), TextRegressor()])
def test_scikit_learns_checks_for_what_takes_texts(estimator):
    """Those of its checks that make sense without numbers pass; it has none for texts, and says so."""
    with pytest.warns(SkipTestWarning, match="Can't test estimator"):
        check_estimator(estimator)


def test_texts_may_come_from_anywhere():
    """Lists, arrays, series and Arrow columns of the same texts give the same matrix."""
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    texts, _ = reviews()
    wanted = TextVectorizer().fit_transform(texts)
    for source in (
        tuple(texts),
        np.array(texts),
        np.array(texts, dtype=object),
        pandas.Series(texts),
        polars.Series(texts),
        pyarrow.array(texts),
        pyarrow.array(texts).dictionary_encode(),
        pyarrow.chunked_array([texts[:40], texts[40:]]),
        iter(texts),
    ):
        found = TextVectorizer().fit_transform(source)
        assert (found != wanted).nnz == 0


@pytest.mark.parametrize(
    "options",
    [{}, {"emphasis": {"good": 3.0}}, {"functions": {"length": len}, "lexicons": {"praise": ["good"]}}],
)
def test_held_out_rows_are_those_of_a_fit_on_the_others(options):
    """Naive-Bayes weights learned from some rows: what fit on their texts alone would give the others."""
    texts, y = reviews()
    train, test = np.arange(60), np.arange(60, 90)
    names = TextVectorizer(ngrams=(1, 2)).fit(texts).get_feature_names_out()
    whole = TextVectorizer(weighting="nb", vocabulary=names, **options)
    part = TextVectorizer(weighting="nb", vocabulary=names, **options)
    X = whole.reweighed(whole.fit_transform(texts, y), train, y[train])
    wanted = part.fit([texts[k] for k in train], y[train]).transform(texts)
    np.testing.assert_allclose(X[test].toarray(), wanted[test].toarray(), rtol=1e-6)
    np.testing.assert_allclose(X[train].toarray(), wanted[train].toarray(), rtol=1e-6)


def test_labels_are_anything_hashable():
    """Numbers beside words, truth values: labels come back as they went in."""
    texts, y = reviews()
    for good, bad in ((1, "bad"), (True, False), (2.5, 7.5)):
        labels = [good if label == "pos" else bad for label in y]
        assert (
            list(TextClassifier(strengths=1.0).fit(texts, np.array(labels, dtype=object)).predict(texts[:2]))
            == labels[:2]
        )


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"stop_words": ["the", "Film"]}, "Film"),
        ({"vocabulary": ["a film", "a Film"], "ngrams": (1, 2)}, "a Film"),
        ({"vocabulary": ["don't", "don"]}, "don't"),
        ({"emphasis": {"FILM": 2.0}}, "FILM"),
        ({"lexicons": {"places": ["paris", "café"]}, "fold_accents": True}, "café"),
        ({"negation": ["Not"]}, "Not"),
        ({"vocabulary": [" a", "A "], "analyzer": "char_wb", "ngrams": (2, 2)}, "A "),
        ({"vocabulary": ["a b", "B"], "analyzer": "char", "ngrams": (1, 3)}, "B"),
    ],
)
def test_given_words_that_no_text_can_contain_are_told_of(options, word):
    """Capitals, accents and punctuation that reading takes away would make a word match nothing, silently."""
    texts = ["a film in paris", "a bad film"]
    with pytest.warns(UnmatchedWordsWarning, match=f"1 of .*{word!r}"):
        TextVectorizer(**options).fit(texts)


def test_given_words_as_texts_are_read_are_taken_without_a_word():
    """One-character words, stems, underscores, padded n-grams and a function's tokens can all be met."""
    texts = ["a film in paris", "not a bad film"]
    for options in (
        {"stop_words": ["a", "in"], "min_characters": 2},
        {"stop_words": "english"},
        {"vocabulary": ["film", "not_a", "a bad"], "negation": True},
        {"vocabulary": [" a", "m ", "fil"], "analyzer": "char_wb", "ngrams": (2, 3)},
        {"vocabulary": ["Film", "FILM bad"], "lowercase": False},
        {"vocabulary": ["<Film>"], "analyzer": str.split},
    ):
        TextVectorizer(**options).fit(texts)


def test_a_given_learner_has_probabilities_of_rows_held_out():
    """Nothing is searched, and yet mean confidence is near accuracy, where a margin of 1 as 73 % is not."""
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(60)]

    def drawn(n):
        labels = rng.integers(0, 2, n)
        texts = [" ".join(rng.choice(words[10 * y : 10 * y + 40], 6)) for y in labels]
        return texts, np.array(["a", "b"])[labels]

    texts, labels = drawn(600)
    model = TextClassifier(learner=LinearSVC(C=100.0), vectorizer=TextVectorizer()).fit(texts, labels)
    assert model.trials_ == []
    new, truth = drawn(3000)
    p = model.predict_proba(new)
    right = np.mean(model.predict(new) == truth)
    apart = abs(p.max(axis=1).mean() - right)
    model.model_.temperature_ = 1.0
    assert apart < 0.1 < abs(model.predict_proba(new).max(axis=1).mean() - right)
