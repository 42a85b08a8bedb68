"""An imported model answers as the library does that it comes from."""

import itertools

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import linear_model, naive_bayes, svm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import lineal
from lineal.jobs.foreign import difference, export_liblinear, import_model
from reference import foreign as peer

# Sums in another order: a few units in the last place of numbers up to 100.
CLOSE = 1e-11


def stored(model, folder):
    """The model after a way through a file."""
    model.save(folder / "model.lineal")
    return lineal.load(folder / "model.lineal")


def made(n_classes, seed=0, n=60):
    """Rows, some of them zeros, and labels."""
    generator = np.random.default_rng(seed)
    X = np.vstack([generator.normal(size=(n, 5)), np.zeros((3, 5))])
    return X, np.array([3, -7, 12, 5])[X[:, :n_classes].argmax(axis=1)]


# ---- scikit-learn -----------------------------------------------------------------------------

CLASSIFIERS = {
    "logistic": linear_model.LogisticRegression(),
    "logistic without intercept": linear_model.LogisticRegression(fit_intercept=False),
    "ridge": linear_model.RidgeClassifier(),
    "svm": svm.LinearSVC(),
    "sgd": linear_model.SGDClassifier(random_state=0),
    "sgd with probabilities": linear_model.SGDClassifier(loss="log_loss", random_state=0),
    "perceptron": linear_model.Perceptron(random_state=0),
    "discriminant": LinearDiscriminantAnalysis(),
}


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_of_scikit_learn(name, n_classes, tmp_path):
    """Labels (of rows of zeros too), scores and probabilities are those of the estimator."""
    X, y = made(n_classes)
    fitted = CLASSIFIERS[name].fit(X, y)
    model = stored(import_model(fitted), tmp_path)
    assert model.predict(X).tolist() == fitted.predict(X).tolist()
    np.testing.assert_allclose(model.decision_function(X), fitted.decision_function(X), atol=CLOSE)
    assert hasattr(model, "predict_proba") == hasattr(fitted, "predict_proba")
    if hasattr(fitted, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(X), fitted.predict_proba(X), atol=CLOSE)
    found = difference(model, fitted, X)
    assert (found.n, found.n_labels_differ) == (len(X), 0)
    assert found.largest_score_difference < CLOSE


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [10, -3]], ids=str)
def test_labels_keep_their_kind(labels):
    """Labels are text, truth values or numbers, as they were."""
    X, y = made(2)
    y = np.array(labels)[(y > 0).astype(int)]
    fitted = linear_model.LogisticRegression().fit(X, y)
    assert import_model(fitted).predict(X).tolist() == fitted.predict(X).tolist()
    assert import_model(fitted).classes_.dtype == fitted.classes_.dtype


@pytest.mark.parametrize("n_outputs", [None, 1, 2])
@pytest.mark.parametrize(
    "learner", [linear_model.LinearRegression(), linear_model.Ridge(), linear_model.Lasso(0.01)], ids=str
)
def test_regressors_of_scikit_learn(learner, n_outputs, tmp_path):
    """Numbers are the estimator's, in its shape."""
    X, _ = made(2)
    y = X @ np.arange(1.0, 6.0) + 1.0
    fitted = learner.fit(X, y if n_outputs is None else np.column_stack([y, -y])[:, :n_outputs])
    model = stored(import_model(fitted), tmp_path)
    expected = fitted.predict(X)
    if n_outputs == 1 and np.ndim(fitted.coef_) == 1:  # some forget that y was a column
        expected = expected.reshape(-1)
    np.testing.assert_allclose(model.predict(X), expected, atol=CLOSE)


def test_more_members_of_scikit_learn(tmp_path):
    """Naive Bayes of counts, support vector machines of two classes, and epsilon-insensitive regression."""
    generator = np.random.default_rng(0)
    X = generator.poisson(1.0, size=(60, 5)).astype(float)
    for n_classes in (2, 3):
        fitted = naive_bayes.MultinomialNB().fit(X, np.arange(60) % n_classes)
        model = stored(import_model(fitted), tmp_path)
        assert model.predict(X).tolist() == fitted.predict(X).tolist()
        np.testing.assert_allclose(model.predict_proba(X), fitted.predict_proba(X), atol=CLOSE)
    X, y = made(2)
    machine = svm.SVC(kernel="linear").fit(X, y)
    assert difference(import_model(machine), machine, X).n_labels_differ == 0
    regression = svm.LinearSVR(max_iter=100_000).fit(X, X[:, 0])
    assert difference(import_model(regression), regression, X).largest_score_difference < CLOSE


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scaled_rows(n_classes, tmp_path):
    """Means and scales are folded into weights and intercepts."""
    X, y = made(n_classes)
    X = X * [1.0, 10.0, 0.1, 100.0, 0.0] + 3.0
    for steps in ([StandardScaler()], [MaxAbsScaler()], [StandardScaler(with_mean=False), StandardScaler()]):
        fitted = make_pipeline(*steps, linear_model.LogisticRegression()).fit(X, y)
        model = stored(import_model(fitted), tmp_path)
        found = difference(model, fitted, X)
        assert found.n_labels_differ == 0
        assert found.largest_score_difference < 1e-9  # means of 300 scales cancel
        assert model.n_features_in_ == 5


WORDS = "the The cat sat on mat a I not good, better; 12 x Ünïcode naïve CAFÉ café don't ﬁne 日本 ß".split()  # noqa: SIM905
TEXTS = [" ".join(np.random.default_rng(k).choice(WORDS, size=k % 12)) for k in range(40)] + [
    "",
    "  \t",
    "zzz",
]
VECTORIZERS = {
    "counts": (CountVectorizer(),),
    "tfidf": (TfidfVectorizer(),),
    "bigrams": (TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2),),
    "stop words": (TfidfVectorizer(stop_words="english", strip_accents="unicode", norm="l1"),),
    "short words": (CountVectorizer(token_pattern=r"(?u)\b\w+\b", lowercase=False, binary=True),),
    "characters": (TfidfVectorizer(analyzer="char", ngram_range=(1, 3)),),
    "inside words": (TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), use_idf=False),),
    "hashed": (HashingVectorizer(n_features=256),),
    "hashed bigrams": (
        HashingVectorizer(n_features=64, ngram_range=(1, 2), alternate_sign=False, norm=None),
    ),
    "two steps": (CountVectorizer(), TfidfTransformer(sublinear_tf=True)),
    "hashed in two steps": (HashingVectorizer(n_features=128, norm=None), TfidfTransformer()),
    "scaled": (CountVectorizer(), TfidfTransformer(norm=None), MaxAbsScaler()),
    "given": (CountVectorizer(vocabulary={"cat": 1, "mat": 0, "good": 2}),),
}


@pytest.mark.parametrize("name", VECTORIZERS)
def test_texts_of_scikit_learn(name, tmp_path):
    """A pipeline of texts gives the same scores after a way through a file without scikit-learn in it."""
    y = np.arange(len(TEXTS)) % 3
    fitted = make_pipeline(*VECTORIZERS[name], linear_model.LogisticRegression(C=10.0)).fit(TEXTS, y)
    model = stored(import_model(fitted), tmp_path)
    assert model.inputs == "texts"
    found = difference(model, fitted, TEXTS)
    assert (found.n, found.n_labels_differ) == (len(TEXTS), 0)
    assert found.largest_score_difference < CLOSE
    np.testing.assert_allclose(model.predict_proba(TEXTS), fitted.predict_proba(TEXTS), atol=CLOSE)
    if "hashed" not in name:
        assert model.get_feature_names_out().tolist() == fitted[0].get_feature_names_out().tolist()


def test_pickles_that_are_trusted(tmp_path):
    """pickle's and joblib's files, compressed or not."""
    X, y = made(3)
    fitted = make_pipeline(StandardScaler(), linear_model.LogisticRegression()).fit(X, y)
    for name, compress in (("plain.pkl", 0), ("zlib.joblib", 3), ("gzip.joblib", ("gzip", 3))):
        joblib.dump(fitted, tmp_path / name, compress=compress)
        model = import_model(tmp_path / name, trust=True)
        found = difference(model, tmp_path / name, X, trust=True)
        assert found.n_labels_differ == 0


# ---- LIBLINEAR --------------------------------------------------------------------------------

SOLVERS = (
    "L2R_LR",
    "L2R_L2LOSS_SVC_DUAL",
    "L2R_L2LOSS_SVC",
    "L2R_L1LOSS_SVC_DUAL",
    "L1R_L2LOSS_SVC",
    "L1R_LR",
)
ORDERS = [*itertools.permutations((1, -1)), *itertools.permutations((3, -7, 12))]


@pytest.mark.parametrize("bias", [-1.0, 0.0, 1.0, 2.5])
@pytest.mark.parametrize("labels", ORDERS, ids=str)
def test_liblinear_classes(labels, bias, tmp_path):
    """Whatever the order of labels and the bias, labels (of zeros too) and scores are LIBLINEAR's."""
    n_scores = 1 if len(labels) == 2 else len(labels)
    W = np.random.default_rng(1).normal(size=(5 + (bias >= 0), n_scores))
    X, _ = made(2)
    peer.write_liblinear(tmp_path / "model", "L2R_LR", labels, W, bias)
    model = stored(import_model(tmp_path / "model"), tmp_path)
    assert model.classes_.tolist() == sorted(labels)
    expected = [peer.liblinear_predict(labels, W, bias, row) for row in X]
    assert model.predict(sp.csr_matrix(X)).tolist() == [label for label, _ in expected]
    scores = np.array([scores for _, scores in expected])
    P = 1.0 / (1.0 + np.exp(-scores))
    if len(labels) == 2:
        P = np.column_stack([P, 1.0 - P])
    P = P[:, np.argsort(labels)]
    np.testing.assert_allclose(model.predict_proba(X), P / P.sum(axis=1, keepdims=True), atol=CLOSE)


@pytest.mark.parametrize("solver", [*SOLVERS, "L2R_LR_DUAL", "MCSVM_CS"])
def test_liblinear_solvers(solver, tmp_path):
    """Every solver is read; logistic ones have probabilities, others have none."""
    n_scores = 2 if solver == "MCSVM_CS" else 1
    W = np.random.default_rng(1).normal(size=(5, n_scores))
    peer.write_liblinear(tmp_path / "model", solver, (1, -1), W, -1)
    model = import_model(tmp_path / "model")
    X, _ = made(2)
    expected = [peer.liblinear_predict((1, -1), W, -1, row)[0] for row in X]
    assert model.predict(X).tolist() == expected
    assert hasattr(model, "predict_proba") == ("_LR" in solver)
    assert model.about.learner == f"LIBLINEAR {solver}"


@pytest.mark.parametrize("solver", ["L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR_DUAL", "L2R_L1LOSS_SVR_DUAL"])
def test_liblinear_regression(solver, tmp_path):
    """Numbers are LIBLINEAR's."""
    W = np.random.default_rng(1).normal(size=(6, 1))
    peer.write_liblinear(tmp_path / "model", solver, (), W, 1.0)
    X, _ = made(2)
    expected = [peer.liblinear_predict((), W, 1.0, row)[0] for row in X]
    np.testing.assert_allclose(import_model(tmp_path / "model").predict(X), expected, atol=CLOSE)


def test_liblinear_inside_scikit_learn(tmp_path):
    """What scikit-learn's own LIBLINEAR learned, written as LIBLINEAR writes it, predicts as scikit-learn."""
    X, y = made(3)
    fitted = svm.LinearSVC().fit(X, y)
    labels = fitted.classes_[[2, 0, 1]].tolist()
    W = np.vstack([fitted.coef_[[2, 0, 1]].T, fitted.intercept_[[2, 0, 1]]])
    peer.write_liblinear(tmp_path / "model", "L2R_L2LOSS_SVC_DUAL", labels, W, 1)
    assert import_model(tmp_path / "model").predict(X).tolist() == fitted.predict(X).tolist()


def test_columns_that_liblinear_has_not_seen(tmp_path):
    """Sparse rows with more columns are read as LIBLINEAR reads them: the others count nothing."""
    peer.write_liblinear(tmp_path / "model", "L2R_LR", (1, 2), np.ones((3, 1)), -1)
    model = import_model(tmp_path / "model")
    wide = sp.csr_matrix(([1.0, -5.0], ([0, 0], [1, 7])), shape=(1, 9))
    assert model.decision_function(wide).tolist() == [-1.0]  # 1 has the scores above 0, and 2 is the greater


@pytest.mark.parametrize("n_classes", [2, 3])
def test_export_and_import_again(n_classes, tmp_path):
    """A model written for LIBLINEAR and read again answers the same, and so does LIBLINEAR's formula."""
    X, y = made(n_classes)
    model = import_model(linear_model.LogisticRegression().fit(X, y))
    export_liblinear(model, tmp_path / "model")
    again = import_model(tmp_path / "model")
    assert again.predict(X).tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(again.coef_, model.coef_)
    number = import_model(linear_model.Ridge().fit(X, X[:, 0]))
    export_liblinear(number, tmp_path / "model")
    np.testing.assert_array_equal(import_model(tmp_path / "model").predict(X), number.predict(X))


# ---- LIBSVM -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_libsvm_inside_scikit_learn(n_classes, tmp_path):
    """What scikit-learn's own LIBSVM learned, written as LIBSVM writes it, votes as scikit-learn's SVC."""
    X, y = made(n_classes, n=120)
    for fitted in (svm.SVC(kernel="linear").fit(X, y), svm.NuSVC(kernel="linear", nu=0.2).fit(X, y)):
        kind = "c_svc" if isinstance(fitted, svm.SVC) else "nu_svc"
        # Of two classes scikit-learn turns the signs.
        sign = -1.0 if n_classes == 2 else 1.0
        write = (fitted.classes_.tolist(), fitted.n_support_.tolist(), -sign * fitted.intercept_)
        arrays = (sign * fitted.dual_coef_.T, fitted.support_vectors_)
        peer.write_libsvm(tmp_path / "model", kind, *write, *arrays)
        model = stored(import_model(tmp_path / "model"), tmp_path)
        assert model.predict(X).tolist() == fitted.predict(X).tolist()
        assert not hasattr(model, "predict_proba")


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.permutations([4, 1, 3, 2]), st.integers(2, 4))
def test_libsvm_votes_and_ties(tmp_path_factory, seed, order, n_classes):
    """With any vectors, ties of votes are decided as LIBSVM does: the label that comes first in the file."""
    generator = np.random.default_rng(seed)
    labels, counts = order[:n_classes], generator.integers(1, 4, size=n_classes).tolist()
    coefficients = generator.normal(size=(sum(counts), n_classes - 1))
    vectors = generator.integers(-2, 3, size=(sum(counts), 3)).astype(float)
    rho = generator.normal(size=n_classes * (n_classes - 1) // 2).round(1)
    path = tmp_path_factory.mktemp("libsvm") / "model"
    peer.write_libsvm(path, "c_svc", labels, counts, rho, coefficients, vectors)
    model = import_model(path)
    X = np.vstack([generator.normal(size=(30, 3)), np.zeros((1, 3))])
    expected = [peer.libsvm_predict(labels, counts, rho, coefficients, vectors, row) for row in X]
    used = int(np.flatnonzero(vectors.any(axis=0)).max(initial=0)) + 1
    assert model.n_features_in_ == used
    assert model.predict(sp.csr_matrix(X)).tolist() == expected


@pytest.mark.parametrize("labels", [(1, -1), (-1, 1)], ids=str)
def test_libsvm_probabilities_of_two_classes(labels, tmp_path):
    """With probA and probB labels and probabilities are those of svm-predict -b 1."""
    vectors, coefficients = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0], [-1.0]])
    more = ("probA -2", "probB 0.7")
    peer.write_libsvm(tmp_path / "model", "c_svc", labels, [1, 1], [0.1], coefficients, vectors, more)
    model = stored(import_model(tmp_path / "model"), tmp_path)
    X = np.random.default_rng(0).normal(size=(50, 2))
    first = 1.0 / (1.0 + np.exp(-2.0 * (X[:, 0] - X[:, 1] - 0.1) + 0.7))
    P = np.column_stack([first, 1.0 - first])[:, np.argsort(labels)]
    np.testing.assert_allclose(model.predict_proba(X), P, atol=CLOSE)
    assert model.predict(X).tolist() == np.where(first > 0.5, *labels).tolist()


def test_libsvm_regression(tmp_path):
    """Numbers are LIBSVM's, and a parameter of the noise is no hindrance."""
    generator = np.random.default_rng(0)
    vectors, coefficients = generator.normal(size=(7, 4)), generator.normal(size=(7, 1))
    X = generator.normal(size=(20, 4))
    for kind, more in (("epsilon_svr", ()), ("nu_svr", ("probA 0.3",))):
        peer.write_libsvm(tmp_path / "model", kind, (), (), [0.4], coefficients, vectors, more)
        expected = [peer.libsvm_predict((), (), [0.4], coefficients, vectors, row) for row in X]
        np.testing.assert_allclose(import_model(tmp_path / "model").predict(X), expected, atol=CLOSE)


# ---- fastText ---------------------------------------------------------------------------------

VOCABULARY = ["</s>", "good", "bad", "film", "Grüße", "日本", "don't", "a", "<b>"]
LINES = [
    "",
    " ",
    "good film",
    "bad\tbad  \vfilm\r",
    "Good unknown 日本x",
    "a Grüße __label__x don't </s> good",
]
LINES += ["<b> é 😀😀 a", "good\nbad", "nul\0byte a", "</s>", "__label__neg good"]
OPTIONS = {
    "words": {},
    "n-grams": {"word_ngrams": 3, "bucket": 50},
    "parts": {"minn": 2, "maxn": 4, "bucket": 40},
    "all": {"word_ngrams": 2, "minn": 1, "maxn": 3, "bucket": 37},
    "parts from 0": {"minn": 0, "maxn": 2, "bucket": 11},
}


@pytest.mark.parametrize("labels", ["neg pos", "pos neg", "c a b"])
@pytest.mark.parametrize("name", OPTIONS)
def test_fasttext(name, labels, tmp_path):
    """Probabilities of a softmax are those of fastText's formulas, for every kind of features."""
    options, classes = OPTIONS[name], labels.split()
    generator = np.random.default_rng(2)
    A = generator.normal(size=(len(VOCABULARY) + options.get("bucket", 0), 6)).astype("f4")
    O = generator.normal(size=(len(classes), 6)).astype("f4")
    peer.write_fasttext(
        tmp_path / "model.bin", VOCABULARY, [f"__label__{label}" for label in classes], A, O, **options
    )
    model = stored(import_model(tmp_path / "model.bin"), tmp_path)
    scores = [
        peer.fasttext_scores(text, VOCABULARY, A, O, **options) for text in LINES if text != "good\nbad"
    ]
    texts = [text for text in LINES if text != "good\nbad"]
    expected = np.array([peer.softmax(list(row)) for row in scores])[:, np.argsort(classes)]
    assert model.classes_.tolist() == sorted(classes)
    np.testing.assert_allclose(model.predict_proba(texts), expected, atol=1e-9)
    assert model.predict(texts).tolist() == [classes[int(np.argmax(row))] for row in scores]
    # An end of a line in a text is white space.
    assert (model.predict_proba(["good\nbad"]) == model.predict_proba(["good bad"])).all()


def test_fasttext_explanations_add_up(tmp_path):
    """The shares of words, n-grams and parts sum to the score, and hashed ones have names."""
    options = OPTIONS["all"]
    generator = np.random.default_rng(3)
    A, O = generator.normal(size=(len(VOCABULARY) + 37, 4)), generator.normal(size=(3, 4))
    labels = ["__label__a", "__label__b", "__label__c"]
    peer.write_fasttext(tmp_path / "model.bin", VOCABULARY, labels, A, O, **options)
    model = import_model(tmp_path / "model.bin")
    told = model.explain("good Grüße film", "b")
    score = peer.fasttext_scores("good Grüße film", VOCABULARY, A.astype("f4"), O.astype("f4"), **options)[1]
    assert told.score == pytest.approx(score, abs=1e-9)
    assert sum(share for _, share in told.tokens) == pytest.approx(score, abs=1e-9)
    assert [token for token, _ in told.tokens] == ["good", "Grüße", "film", "</s>"]
    names = {term.name for term in told.terms}
    assert {"good", "</s>"} <= names
    assert not any(name.startswith("hashed") for name in names)


def test_fasttext_with_a_score_for_each_label(tmp_path):
    """ova: the label of the highest score; probabilities are each label's own over their sum."""
    generator = np.random.default_rng(4)
    A, O = (
        generator.normal(size=(len(VOCABULARY), 5)).astype("f4"),
        generator.normal(size=(3, 5)).astype("f4"),
    )
    peer.write_fasttext(tmp_path / "model.bin", VOCABULARY, ["__label__a", "__label__b", "x"], A, O, loss=4)
    model = import_model(tmp_path / "model.bin")
    assert model.classes_.tolist() == ["__label__a", "__label__b", "x"]  # one has no prefix: all keep theirs
    scores = np.array([peer.fasttext_scores(text, VOCABULARY, A, O) for text in LINES[:6]])
    assert model.predict(LINES[:6]).tolist() == model.classes_[scores.argmax(axis=1)].tolist()
    own = 1.0 / (1.0 + np.exp(-scores))
    np.testing.assert_allclose(
        model.predict_proba(LINES[:6]), own / own.sum(axis=1, keepdims=True), atol=1e-9
    )
