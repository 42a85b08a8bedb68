"""What the options of TextVectorizer promise at their edges, and what they refuse."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from lineal import LinearSVC, TextClassifier
from lineal.errors import InputError, InputTypeError, ParameterError, UnmatchedWordsWarning
from lineal.text import TextVectorizer

COUNTS = {"weighting": "counts", "sublinear": False, "norm": None, "ngrams": (1, 1)}


def names(vectorizer):
    return vectorizer.get_feature_names_out().tolist()


def test_functions_whose_columns_would_have_one_name_have_columns_of_their_own():
    functions = {"a": lambda text: "b=c", "a=b": lambda text: "c", "a=b=c": lambda text: 7.0}
    vectorizer = TextVectorizer(**COUNTS, functions=functions)
    for _ in range(50):  # a column beyond the last one would write over other memory
        X = vectorizer.fit_transform(["x", "y"])
    X.check_format(full_check=True)
    assert names(vectorizer) == ["x", "y", "a=b=c", "a=b=c (2)", "a=b=c (3)"]
    np.testing.assert_array_equal(X.toarray(), [[1, 0, 1, 1, 7], [0, 1, 1, 1, 7]])


@pytest.mark.parametrize("value", [1e300, -1e300])
def test_a_function_beyond_float32_is_refused_and_fits_float64(value):
    functions = {"size": lambda text: value}
    with pytest.raises(InputError, match="beyond float32"):
        TextVectorizer(**COUNTS, functions=functions).fit_transform(["x"])
    X = TextVectorizer(**COUNTS, functions=functions, dtype=np.float64).fit_transform(["x"])
    assert X.toarray()[0, 1] == value


def test_a_whole_number_beyond_float64_is_refused():
    with pytest.raises(InputError, match="finite number"):
        TextVectorizer(**COUNTS, functions={"size": lambda text: 10**400}).fit(["x"])


def test_functions_keep_their_fractions_beside_whole_counts():
    vectorizer = TextVectorizer(**COUNTS, compat="sklearn", functions={"share": lambda text: 0.7})
    assert vectorizer.fit_transform(["good film"]).toarray()[0, -1] == 0.7
    with pytest.raises(ParameterError, match="cut fractions off"):
        TextVectorizer(**COUNTS, dtype=np.int64, functions={"share": lambda text: 0.7}).fit(["good"])


def test_counts_that_a_small_type_has_no_room_for_are_refused():
    with pytest.raises(InputError, match="no room for counts up to 200"):
        TextVectorizer(**COUNTS, dtype=np.int8).fit_transform(["good " * 200])
    assert TextVectorizer(**COUNTS, dtype=np.int16).fit_transform(["good " * 200]).max() == 200


@pytest.mark.parametrize(
    "options",
    [
        {"emphasis": {"good": np.nan}},
        {"emphasis": {"good": np.inf}},
        {"emphasis": {"good": "much"}},
        {"emphasis": ["good"]},
        {"emphasis": {"good": 3.0}, "n_features": 16},
        {"bm25": (np.nan, 0.5)},
        {"bm25": (-5, 0.5)},
        {"bm25": (1.2, 2)},
        {"bm25": 3},
        {"bm25": (1,)},
        {"lexicons": [["good"]]},
        {"lexicons": {"praise": iter(["good"])}},
        {"lexicons": {"praise": [1]}},
        {"stop_words": iter(["good"])},
        {"vocabulary": iter(["good"])},
        {"vocabulary": [1, 2]},
        {"ngrams": (1, 2**31)},
        {"ngrams": (1, 10**12)},
        {"stem": 3},
        {"dtype": "float16"},
        {"dtype": "words"},
    ],
    ids=lambda options: "-".join(options),
)
def test_options_that_cannot_be_are_refused_by_name(options):
    name = next(iter(options))
    with pytest.raises(ParameterError, match=name):
        TextVectorizer(**options).fit(["good film"])


@pytest.mark.parametrize("labels", [[1.0, np.nan, 2.0], [None, "a", "b"]])
def test_labels_that_are_missing_give_no_naive_bayes_weights(labels):
    with pytest.raises(InputError, match="label"):
        TextVectorizer(weighting="nb").fit(["a", "b", "c"], labels)


@pytest.mark.parametrize("tokens", [[1], [None], b"ab"], ids=str)
def test_tokens_that_are_no_text_are_told_with_their_document(tokens):
    with pytest.raises(InputTypeError, match="document 1"):
        TextVectorizer(analyzer=lambda text: ["fine"] if text == "x" else tokens).fit(["x", "y"])


@pytest.mark.parametrize(
    "options",
    [
        {"stop_words": {"new york"}},
        {"lexicons": {"towns": {"new york"}}},
        {"negation": {"no longer"}},
        {"emphasis": {"not good": 3.0}},
        {"vocabulary": ["running"], "stem": "english"},
        {"vocabulary": ["a", "film"], "min_characters": 2},
        {"emphasis": {"running": 3.0}, "stem": "english"},
    ],
    ids=lambda options: "-".join(options),
)
def test_words_that_are_never_found_are_told(options):
    if "stem" in options:
        pytest.importorskip("Stemmer")
    with pytest.warns(UnmatchedWordsWarning):
        TextVectorizer(**COUNTS | options).fit(["a film is running"])


def test_lexicons_count_the_tokens_of_a_function():
    vectorizer = TextVectorizer(**COUNTS, analyzer=str.split, lexicons={"languages": {"C++"}})
    assert vectorizer.fit_transform(["C++ C++ java"]).toarray()[0, -1] == 2


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I can't see", {"i", "not_see"}),
        ("I can see", {"i", "can", "see"}),
        ("I cannot see", {"i", "not_see"}),
        ("they can not see", {"they", "can", "not_see"}),
    ],
)
def test_can_negates_with_its_t(text, wanted):
    vectorizer = TextVectorizer(**COUNTS, negation=True).fit([text])
    assert set(names(vectorizer)) == wanted


def test_the_t_behind_given_negations_is_left_out_too():
    assert names(TextVectorizer(**COUNTS, negation={"isn"}).fit(["isn't good"])) == ["not_good"]


def test_a_token_cannot_pass_for_a_negated_one():
    with pytest.raises(InputError, match="NUL"):
        TextVectorizer(**COUNTS, analyzer=str.split, negation=True).fit(["\0good film"])


def test_a_vocabulary_is_found_by_its_own_lengths_and_a_set_is_sorted():
    grams = TextVectorizer(**COUNTS | {"analyzer": "char_wb", "ngrams": (1, 2)}, vocabulary=["run", "film"])
    np.testing.assert_array_equal(grams.fit_transform(["a run, a film"]).toarray(), [[1, 1]])
    assert names(TextVectorizer(vocabulary={"d", "a", "c", "b"}).fit([])) == ["a", "b", "c", "d"]
    towns = TextVectorizer(**COUNTS, analyzer=lambda text: text.split(","), vocabulary=["new york"])
    np.testing.assert_array_equal(towns.fit_transform(["new york,rome"]).toarray(), [[1]])


def test_compatible_vocabularies_must_be_within_their_ngrams():
    options = COUNTS | {"compat": "sklearn", "vocabulary": ["good", "not good"]}
    with pytest.raises(ParameterError, match="ngrams"):
        TextVectorizer(**options).fit(["good not good"])
    ours = TextVectorizer(**options | {"ngrams": (1, 2)}).fit_transform(["good not good"])
    theirs = CountVectorizer(vocabulary=["good", "not good"], ngram_range=(1, 2))
    np.testing.assert_array_equal(ours.toarray(), theirs.fit_transform(["good not good"]).toarray())


def test_occurrences_are_ranked_by_documents_as_in_scikit_learn():
    texts = ["aa aa aa bb", "bb cc", "bb cc"]
    ours = TextVectorizer(**COUNTS | {"weighting": "occurrence"}, compat="sklearn", max_features=2).fit(texts)
    theirs = CountVectorizer(binary=True, max_features=2).fit(texts)
    assert names(ours) == theirs.get_feature_names_out().tolist()


def test_hashed_occurrences_are_1_as_in_scikit_learn():
    texts = ["a film that is not good, not good at all", "a good one", ""]
    ours = TextVectorizer(
        **COUNTS | {"weighting": "occurrence"}, compat="sklearn", n_features=7, signed=True
    ).transform(texts)
    theirs = HashingVectorizer(n_features=7, binary=True, norm=None).transform(texts)
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())


@pytest.mark.parametrize("width", [1, 3])
def test_only_rows_of_its_own_width_are_spelt(width):
    vectorizer = TextVectorizer(**COUNTS).fit(["good film"])
    with pytest.raises(InputError, match=f"X has {width} columns"):
        vectorizer.inverse_transform(np.ones((1, width)))


def test_lengths_that_texts_are_too_short_for_add_nothing():
    X = TextVectorizer(**COUNTS | {"ngrams": (1, 1000)}, n_features=2**20).transform(["a b c"] * 1000)
    assert X[0].sum() == 6


@pytest.mark.parametrize(
    "options",
    [
        {"scoring": "accuracy"},
        {"scoring": lambda y, predicted: np.nan},
        {"learner": 3},
        {"learner": LinearSVC},
    ],
    ids=lambda options: "-".join(options),
)
def test_a_text_learner_refuses_what_it_cannot_search_with(options):
    texts = [f"word{k % 7} {'good' if k % 2 else 'bad'}" for k in range(40)]
    with pytest.raises(ParameterError, match=next(iter(options))):
        TextClassifier(**options).fit(texts, [k % 2 for k in range(40)])


@pytest.mark.parametrize("k", [-1, 1.5, "3"])
def test_so_many_top_features_there_cannot_be(k):
    model = TextClassifier(learner=LinearSVC()).fit(["good film", "bad film"] * 10, [1, 0] * 10)
    with pytest.raises(ParameterError, match="k must be a whole number"):
        model.top_features(k)
