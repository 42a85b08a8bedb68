"""Models of other libraries are read exactly or refused by name; no file crashes the reader or runs code."""

import os
import pickle
import random
import sys
import tracemalloc

import numpy as np
import pytest
from sklearn import linear_model, naive_bayes, preprocessing, svm
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.pipeline import make_pipeline

import lineal
from lineal.errors import InputError, LinealError, ModelFileError, ParameterError
from lineal.jobs.foreign import difference, export_liblinear, import_model
from reference import foreign as peer

X = np.random.default_rng(0).normal(size=(30, 3))
Y = np.arange(30) % 3
TEXTS = ["good film", "bad film", "so so film"] * 4
OPINIONS = ["+", "-", "?"] * 4


class Touch:
    """A pickle that makes a file when it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("format", [None, "sklearn"])
def test_pickles_are_not_opened_unasked(tmp_path, format):
    """Without trust=True no byte of a pickle is run, and the message says why."""
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(Touch(tmp_path / "touched")))
    with pytest.raises(ParameterError, match=r"runs whatever code is in it.*trust=True"):
        import_model(tmp_path / "model.pkl", format=format)
    model = import_model(linear_model.LogisticRegression().fit(X, Y))
    with pytest.raises(ParameterError, match="trust=True"):
        difference(model, tmp_path / "model.pkl", X)
    assert not (tmp_path / "touched").exists()


def test_pickles_of_other_things_are_refused(tmp_path):
    """A pickle that cannot be opened, or holds no estimator, gives a sentence."""
    (tmp_path / "cut.pkl").write_bytes(pickle.dumps(linear_model.Ridge().fit(X, Y))[:-20])
    with pytest.raises(ModelFileError, match="cannot be unpickled"):
        import_model(tmp_path / "cut.pkl", trust=True)
    (tmp_path / "list.pkl").write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(LinealError):
        import_model(tmp_path / "list.pkl", trust=True)


def texts(vectorizer, *more):
    return make_pipeline(vectorizer, *more, linear_model.LogisticRegression()).fit(TEXTS, OPINIONS)


def shout(text):
    return text.upper()


REFUSED = {
    "preprocessor": lambda: texts(CountVectorizer(preprocessor=shout)),
    "tokenizer": lambda: texts(CountVectorizer(tokenizer=str.split, token_pattern=None)),
    "analyzer": lambda: texts(CountVectorizer(analyzer=str.split)),
    "token_pattern": lambda: texts(CountVectorizer(token_pattern=r"\S+")),
    "strip_accents": lambda: texts(TfidfVectorizer(strip_accents="ascii")),
    "vocabulary": lambda: texts(CountVectorizer(vocabulary=["good film", "film"])),
    "norm": lambda: texts(HashingVectorizer(n_features=32), TfidfTransformer()),
    "weighs twice": lambda: texts(TfidfVectorizer(), TfidfTransformer()),
    "PolynomialFeatures": lambda: make_pipeline(preprocessing.PolynomialFeatures(), linear_model.Ridge()).fit(
        X, Y
    ),
    "clip=True": lambda: make_pipeline(preprocessing.MaxAbsScaler(clip=True), linear_model.Ridge()).fit(X, Y),
    "RandomForestClassifier": lambda: RandomForestClassifier(n_estimators=2).fit(X, Y),
    "PoissonRegressor": lambda: linear_model.PoissonRegressor().fit(X, Y),
    "GaussianNB": lambda: naive_bayes.GaussianNB().fit(X, Y),
    "SVC": lambda: svm.SVC(kernel="linear").fit(X, Y),
    "several": lambda: linear_model.RidgeClassifier().fit(X, np.column_stack([Y > 0, Y > 1]).astype(int)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_honoured_is_refused_by_name(name):
    """The option or the step that stands in the way is in the message."""
    with pytest.raises(ParameterError, match=name):
        import_model(REFUSED[name]())


def test_subclasses_may_answer_otherwise():
    """A class that was made of scikit-learn's is not taken for it."""

    class Contrary(linear_model.RidgeClassifier):
        def predict(self, X):
            return super().predict(X)[::-1]

    with pytest.raises(ParameterError, match="Contrary"):
        import_model(Contrary().fit(X, Y))


def test_estimators_must_be_fitted():
    """scikit-learn's own error says so."""
    with pytest.raises(NotFittedError):
        import_model(linear_model.Ridge())


# ---- files ------------------------------------------------------------------------------------


FILES = {"liblinear": "liblinear", "libsvm": "libsvm", "kernel": "libsvm", "fasttext": "fasttext"}


def good_files(folder):
    """A valid file of each format."""
    generator = np.random.default_rng(0)
    peer.write_liblinear(folder / "liblinear", "L2R_LR", (3, 1, 2), generator.normal(size=(4, 3)), 1.0)
    coefficients, vectors = generator.normal(size=(4, 2)), generator.normal(size=(4, 3))
    peer.write_libsvm(
        folder / "libsvm", "c_svc", (1, 2, 3), (2, 1, 1), (0.1, 0.2, 0.3), coefficients, vectors
    )
    peer.write_libsvm(
        folder / "kernel", "c_svc", (1, 2, 3), (2, 1, 1), (0.1, 0.2, 0.3), coefficients, vectors,
        kernel="polynomial", numbers=(("degree", 2), ("gamma", 0.5), ("coef0", 1.0)),
    )  # fmt: skip
    words, labels = ["</s>", "good", "bad"], ["__label__a", "__label__b"]
    matrices = generator.normal(size=(13, 4)), generator.normal(size=(2, 4))
    options = {"word_ngrams": 2, "minn": 2, "maxn": 3, "bucket": 10}
    peer.write_fasttext(folder / "fasttext", words, labels, *matrices, **options)
    return [folder / name for name in FILES]


def test_formats_are_told_by_content(tmp_path):
    """Names do not matter; a model of Lineal, and anything else, is told from the four."""
    for path in good_files(tmp_path):
        assert import_model(path).about.notes["imported"]["from"] == FILES[path.name]
        assert import_model(str(path), format=FILES[path.name]).task == "classification"
    lineal.save(lineal.Ridge().fit(X, Y), tmp_path / "own")
    with pytest.raises(ModelFileError, match=r"lineal\.load"):
        import_model(tmp_path / "own")
    (tmp_path / "other").write_text("hello")
    with pytest.raises(ModelFileError, match="begins like no model"):
        import_model(tmp_path / "other")
    for path in (tmp_path, tmp_path / "missing", "/dev/zero"):
        for format in (None, "liblinear", "fasttext"):
            with pytest.raises(ModelFileError):
                import_model(path, format=format)
    with pytest.raises(ParameterError, match="There is no format"):
        import_model(tmp_path / "own", format="onnx")


@pytest.mark.parametrize("number", range(4), ids=list(FILES))
def test_truncated_files_are_refused(tmp_path, number):
    """A file cut short anywhere is refused, also between two digits of its last number."""
    path = good_files(tmp_path)[number]
    whole = path.read_bytes()
    for n_bytes in range(len(whole)):
        path.write_bytes(whole[:n_bytes])
        with pytest.raises(ModelFileError):
            import_model(path, format=FILES[path.name])


@pytest.mark.parametrize("number", range(4), ids=list(FILES))
def test_broken_files_are_read_or_refused(tmp_path, number):
    """Any change of bytes gives a model that predicts, or a ModelFileError, and takes little memory."""
    path = good_files(tmp_path)[number]
    whole, chance = path.read_bytes(), random.Random(number)
    tracemalloc.start()
    try:
        for _ in range(150):
            broken = bytearray(whole)
            for _ in range(chance.choice((1, 1, 3))):
                place = chance.randrange(len(broken))
                broken[place : place + chance.choice((0, 1, 4))] = chance.choice(
                    (
                        b"9",
                        b"-",
                        b" ",
                        b"\n",
                        b"\0",
                        b"\xff\xff\xff\x7f",
                        b"nan",
                        b"1e999",
                        b"99999999",
                        b":",
                        b"",
                    )
                )
            path.write_bytes(broken)
            try:
                model = import_model(path, format=FILES[path.name])
            except ModelFileError:
                continue
            if model.inputs == "texts":
                assert len(model.predict(["good bad", ""])) == 2
            elif model.n_features_in_ < 1000:
                assert len(model.predict(np.ones((2, model.n_features_in_)))) == 2
        # A column of LIBSVM may honestly be the 99,999,999th, and has room for its weights then.
        assert tracemalloc.get_traced_memory()[1] < 3e9
    finally:
        tracemalloc.stop()


FLAWS = {
    "liblinear": {
        "one class": ("L2R_LR", "ONECLASS_SVM", "ONECLASS_SVM"),
        "unknown solver": ("L2R_LR", "L2R_LR_X", "L2R_LR_X"),
        "unknown key": ("bias", "bios", "bios"),
        "key twice": ("bias 1", "bias 1\nbias 1", "second time"),
        "no weights": ("\nw\n", "\n", "which is no key"),
        "label twice": ("label 3 1 2", "label 3 1 3", "twice"),
        "too few labels": ("label 3 1 2", "label 3 1", "3 whole numbers"),
        "a huge label": ("label 3", "label 33333333333333", "whole numbers"),
        "a fraction": ("label 3", "label 3.5", "whole numbers"),
        "more features than lines": ("nr_feature 3", "nr_feature 2000000000", "lines of them"),
        "no features": ("nr_feature 3", "nr_feature 0", "from 1"),
        "more classes than columns": ("nr_class 3", "nr_class 4", "4 weights"),
    },
    "libsvm": {
        "no such kernel": ("kernel_type linear", "kernel_type chi2", "no kernel_type 'chi2'"),
        "no such machine": ("c_svc", "d_svc", "no svm_type 'd_svc'"),
        "the sigmoid": ("kernel_type linear", "kernel_type sigmoid", "no dot product in any space"),
        "kernel values": ("kernel_type linear", "kernel_type precomputed", "numbers of training rows"),
        "no gamma": ("kernel_type linear", "kernel_type rbf", "gamma must have 1 numbers"),
        "a gamma below 0": ("kernel_type linear", "kernel_type rbf\ngamma -1", "gamma must be at least 0"),
        "two gammas": ("kernel_type linear", "kernel_type rbf\ngamma 1 2", "gamma must have 1 numbers"),
        "a huge degree": (
            "kernel_type linear",
            "kernel_type polynomial\ngamma 1\ncoef0 0\ndegree 1000000000",
            "degree must be from 0 to 1000",
        ),
        "one class of three": ("c_svc", "one_class", "rho must have 1 numbers"),
        "more vectors than lines": ("total_sv 4", "total_sv 5", "5 support vectors"),
        "counts that do not sum": ("nr_sv 2", "nr_sv 7", "must sum"),
        "column 0": (" 1:", " 0:", "counted from 1"),
        "a huge column": (" 3:", " 2147483646:", "more weights"),
        "columns that fall": (" 3:", " 2:", "do not rise"),
        "two thresholds": ("rho 0.1", "rho ", "rho must have 3 numbers"),
    },
}


@pytest.mark.parametrize(("format", "title"), [(name, title) for name in FLAWS for title in FLAWS[name]])
def test_flaws_are_named(tmp_path, format, title):
    """The message of each flaw says what it is, and the file."""
    path = good_files(tmp_path)[("liblinear", "libsvm").index(format)]
    old, new, words = FLAWS[format][title]
    text = path.read_text().replace("0.10000000000000001", "0.1")
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ModelFileError, match=words) as error:
        import_model(path)
    assert str(path) in str(error.value)


ODD = {
    "hierarchical softmax": {"loss": 1},
    "quantised": {"quantised": 1},
    "pruned": {"pruned": 4},
    "skipgram": {"model": 2},
    "version": {"version": 99},
    "begin": {"magic": 1},
    "arguments": {"loss": 9},
    "-maxn": {"maxn": 400, "minn": 1, "bucket": 1},
    "matrix": {"bucket": 100, "word_ngrams": 2},
}


@pytest.mark.parametrize("words", ODD)
def test_models_of_fasttext_that_are_not_read(tmp_path, words):
    """Each is refused with the reason in the message."""
    matrices = np.ones((2, 3)), np.ones((2, 3))
    peer.write_fasttext(
        tmp_path / "model", ["</s>", "x"], ["__label__a", "__label__b"], *matrices, **ODD[words]
    )
    with pytest.raises(ModelFileError, match=words):
        import_model(tmp_path / "model", format="fasttext")


# ---- comparing and exporting ------------------------------------------------------------------


def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch):
    """Comparing with a file's own library needs that library, and says which package it is."""
    packages = ("liblinear-official", "libsvm-official", "libsvm-official", "fasttext")
    for path, package in zip(good_files(tmp_path), packages, strict=True):
        for name in ("liblinear.liblinearutil", "libsvm.svmutil", "fasttext"):
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ParameterError, match=f"pip install {package}"):
            difference(import_model(path), path, ["good"] if package == "fasttext" else np.ones((1, 3)))


def test_differences_are_counted():
    """Two models that differ are said to: by labels and by the largest score."""
    one = linear_model.LogisticRegression().fit(X, Y)
    other = linear_model.LogisticRegression(C=0.01).fit(X, Y)
    found = difference(import_model(one), other, X)
    assert found.n_labels_differ == (one.predict(X) != other.predict(X)).sum() > 0
    gaps = np.abs(one.decision_function(X) - other.decision_function(X))
    assert found.largest_score_difference == pytest.approx(gaps.max())
    assert str(found).startswith(
        f"On 30 rows: {found.n_labels_differ} of 30 labels differ, no score differs by"
    )


def test_records_of_files_are_compared(tmp_path):
    """Texts are taken from a table's column of texts, numbers from its columns of numbers."""
    from lineal.data.records import read_records

    (tmp_path / "texts.csv").write_text("text,label\ngood film,+\nbad film,-\n")
    fitted = texts(TfidfVectorizer())
    assert difference(import_model(fitted), fitted, read_records(tmp_path / "texts.csv")).n_labels_differ == 0
    (tmp_path / "rows.csv").write_text("a,b,c,label\n1,2,3,0\n-1,0.5,2,1\n")
    rows = linear_model.LogisticRegression().fit(X, Y)
    assert difference(import_model(rows), rows, read_records(tmp_path / "rows.csv")).n == 2
    with pytest.raises(InputError, match="3 columns of numbers"):
        difference(import_model(rows), rows, read_records(tmp_path / "texts.csv"))


def test_converted_models_say_what_they_are(tmp_path):
    """The job behind ``lineal convert`` writes the model, tries it on data and says how far it is off."""
    from lineal.jobs.convert import convert_model

    target = str(tmp_path / "model.lineal")
    for path in good_files(tmp_path):
        found = convert_model(str(path), target, reading={})
        assert found.to_dict()["learner"] == found.model.about.learner
        assert (
            found.sentence
            == f"{found.model.about.learner} with {found.n_features} features written to {target}."
        )
        assert (
            lineal.load(target).predict(["good"] if path.name == "fasttext" else np.ones((1, 3))) is not None
        )
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(texts(TfidfVectorizer())))
    (tmp_path / "texts.csv").write_text("text,label\ngood film,+\nbad film,-\n")
    check = str(tmp_path / "texts.csv")
    found = convert_model(str(tmp_path / "model.pkl"), target, check=check, trust=True, reading={})
    assert "On 2 rows: 0 of 2 labels differ, no score differs by more than" in found.sentence


def test_what_liblinear_cannot_hold_is_not_exported(tmp_path):
    """Texts, several numbers, and labels that are no whole numbers are refused, and nothing is written."""
    for fitted in (
        texts(TfidfVectorizer()),
        linear_model.Ridge().fit(X, np.column_stack([Y, Y])),
        linear_model.LogisticRegression().fit(X, np.array(["a", "b", "c"])[Y]),
    ):
        with pytest.raises(ParameterError, match="LIBLINEAR"):
            export_liblinear(import_model(fitted), tmp_path / "model")
    assert os.listdir(tmp_path) == []
