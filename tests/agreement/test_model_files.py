"""A model that was stored and loaded is the model: the same bits, in this process and in others."""

import hashlib
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier

import lineal
import model_samples as samples
from contract.members import data_for, estimators, features, labels, named, of_matrices, predictors
from contract.members import numbers as targets
from lineal.errors import ParameterError
from lineal.learners.freezing import freeze
from lineal.learners.thawing import thaw

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of fits on little data, which are not judged
same = samples.same_answers


def fitted(kind, n_classes=2):
    """A member fitted to data that suit it, and the data."""
    X = np.abs(features()) if "NB" in kind.__name__ else features()
    tags = kind().__sklearn_tags__().classifier_tags
    n_classes = n_classes if tags is None or tags.multi_class else 2
    y = labels(X, n_classes) if is_classifier(kind()) else targets(X)
    return kind().fit(X, y), X, y


def storable():
    """The members that a model file holds."""
    found = []
    for kind in of_matrices(predictors()):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                freeze(fitted(kind)[0])
        except ParameterError:
            continue
        found.append(kind)
    return found


STORABLE = storable()


def saved(estimator, tmp_path):
    """The model of an estimator, by way of a file."""
    lineal.save(estimator, tmp_path / "model.lineal")
    return lineal.load(tmp_path / "model.lineal")


def test_most_learners_can_be_stored():
    """Among the members that are discovered here are those that people use."""
    assert {lineal.LinearClassifier, lineal.OnlineClassifier, lineal.Perceptron, lineal.OneVsOne} <= set(
        STORABLE
    )
    assert len(STORABLE) >= 25


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", STORABLE, ids=named)
def test_a_loaded_model_gives_the_same_bits(kind, n_classes, tmp_path):
    """load(save(m)) = m for every learner, on dense, sparse and float32 rows."""
    estimator, X, _ = fitted(kind, n_classes)
    model = saved(estimator, tmp_path)
    sparse = sp.csr_array(np.where(X > 0.5, X, 0.0))
    for rows in (X, X.astype(np.float32), sparse, sparse.tocsc(), X[:1]):
        assert same(estimator, model, rows) == ""


@pytest.mark.parametrize("kind", STORABLE, ids=named)
def test_any_number_of_threads_gives_the_same_bits(kind, monkeypatch):
    """One thread = many."""
    estimator, X, _ = fitted(kind, 3)
    model = freeze(estimator)
    monkeypatch.setenv("LINEAL_NUM_THREADS", "1")
    alone = model.predict(X)
    monkeypatch.setenv("LINEAL_NUM_THREADS", "3")
    assert np.array_equal(alone, model.predict(X))
    assert np.array_equal(alone, estimator.predict(X))


@pytest.mark.parametrize("name", samples.OF_TEXTS)
def test_models_of_texts(name, tmp_path):
    """The same bits for many texts, for one text, and for one without a known word; the same explanations."""
    estimator, texts = samples.of_texts(name), samples.texts()
    model = saved(estimator, tmp_path)
    for some in (texts, texts[:1], ["Nothing known"], [""], np.array(texts[:9])):
        assert same(estimator, model, some) == ""
    if hasattr(estimator, "explain"):
        assert model.explain(texts[0]) == estimator.explain(texts[0])
        assert model.top_features(5) == estimator.top_features(5)
        assert model.get_feature_names_out().tolist() == estimator.get_feature_names_out().tolist()


@pytest.mark.parametrize("name", samples.OF_TABLES)
def test_models_of_tables(name, tmp_path):
    """The same bits from every container of a table; the same explanations."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    estimator, table = samples.of_tables(name), samples.table()
    model = saved(estimator, tmp_path)
    records = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    for some in (table, pandas.DataFrame(table), pyarrow.table(table), records, records[:1]):
        assert same(estimator, model, some) == ""
    if hasattr(estimator, "explain"):
        assert model.explain(records[0]) == estimator.explain(records[0])
        assert model.top_features(5) == estimator.top_features(5)


def test_a_stream_of_texts_is_stored_as_it_stands(tmp_path):
    """Hashed columns that no text has met take no room in a file, however many they are."""
    hashed = lineal.TextVectorizer(n_features=2**17, weighting="occurrence", norm=None)
    estimator = lineal.TextClassifier(vectorizer=hashed)
    estimator.partial_fit(samples.texts(), samples.three_labels())
    model = saved(estimator, tmp_path)
    assert same(estimator, model, samples.texts()) == ""
    assert same(estimator, model, samples.texts()[:1]) == ""
    assert model.size < 1e5


def test_another_process_gives_the_same_bits(tmp_path):
    """What one process trains another one answers with, bit for bit."""
    texts = samples.texts()
    lineal.save(samples.of_texts("chosen, three labels"), tmp_path / "model.lineal")
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    program = """
    import hashlib, sys, lineal
    model = lineal.load(sys.argv[1])
    texts = open(sys.argv[2], encoding="utf-8").read().split("\\n")
    told = model.decision_function(texts).tobytes() + model.decision_function(texts[:1]).tobytes()
    print(hashlib.sha256(told + model.predict_proba(texts).tobytes()).hexdigest())
    """
    lines = "\n".join(line[4:] for line in program.splitlines())
    command = [sys.executable, "-c", lines, str(tmp_path / "model.lineal"), str(tmp_path / "texts.txt")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    model = lineal.load(tmp_path / "model.lineal")
    told = model.decision_function(texts).tobytes() + model.decision_function(texts[:1]).tobytes()
    wanted = hashlib.sha256(told + model.predict_proba(texts).tobytes()).hexdigest()
    assert run.stdout.strip() == wanted, run.stderr[-500:]


@pytest.mark.parametrize("name", ["chosen, two labels", "pipeline, selected"])
def test_the_same_model_gives_the_same_bytes(name, tmp_path):
    """A file depends on the model alone, and saving what was loaded copies it."""
    estimator = samples.of_texts(name)
    for path in ("a", "b"):
        lineal.save(estimator, tmp_path / path)
    lineal.load(tmp_path / "a").save(tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_a_pickled_model_is_the_model(tmp_path):
    """Models travel between processes."""
    model = saved(samples.of_texts("chosen, two labels"), tmp_path)
    again = pickle.loads(pickle.dumps(model))
    assert same(model, again, samples.texts()) == ""


# ---- thawing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", STORABLE, ids=named)
def test_a_thawed_estimator_is_the_estimator(kind, n_classes):
    """thaw(freeze(m)) gives the bits of m, and goes on from a fit and from a stream as m does."""
    estimator, X, y = fitted(kind, n_classes)
    again = thaw(freeze(estimator))
    assert type(again) is kind
    assert same(estimator, again, X) == ""
    if not hasattr(estimator, "partial_fit"):
        return
    for rows in (slice(0, 15), slice(15, None)):
        estimator.partial_fit(X[rows], y[rows])
        again.partial_fit(X[rows], y[rows])
        assert same(estimator, again, X) == ""
        again = thaw(freeze(again))


@pytest.mark.parametrize("kind", estimators(), ids=named)
def test_a_thawed_fit_can_be_verified(kind):
    """The proof of a fit survives the file."""
    if kind not in STORABLE:
        pytest.skip(f"{kind.__name__} is not stored")
    X, y = data_for(kind)
    assert lineal.verify(thaw(freeze(kind().fit(X, y))), X, y).converged


@pytest.mark.parametrize("name", samples.OF_TEXTS)
def test_thawed_models_of_texts(name, tmp_path):
    """Vectorisers and learners come back, and explain and go on as before."""
    estimator, texts = samples.of_texts(name), samples.texts()
    again = thaw(saved(estimator, tmp_path))
    assert same(estimator, again, texts) == ""
    if hasattr(estimator, "partial_fit"):
        target = samples.OF_TEXTS[name][1]()
        estimator.partial_fit(texts, target)
        again.partial_fit(texts, target)
        assert same(estimator, again, texts) == ""
        assert estimator.explain(texts[0]) == again.explain(texts[0])


@pytest.mark.parametrize("name", samples.OF_TABLES)
def test_thawed_models_of_tables(name, tmp_path):
    """Encodings and learners come back, and go on as before."""
    estimator, table = samples.of_tables(name), samples.table()
    again = thaw(saved(estimator, tmp_path))
    assert same(estimator, again, table) == ""
    if hasattr(estimator, "partial_fit"):
        target = samples.OF_TABLES[name][1]()
        estimator.partial_fit(table, target)
        again.partial_fit(table, target)
        assert same(estimator, again, table) == ""


def test_a_stream_of_texts_goes_on(tmp_path):
    """A stream that was stored in the middle ends where one ends that was not."""
    texts, y = samples.texts(), samples.three_labels()
    hashed = lineal.TextVectorizer(n_features=2**14, weighting="occurrence", norm=None)
    whole = lineal.TextClassifier(vectorizer=hashed).partial_fit(texts[:50], y[:50])
    half = thaw(saved(whole, tmp_path))
    for stream in (whole, half):
        stream.partial_fit(texts[50:], y[50:])
    assert same(whole, half, texts) == ""
    assert whole.online_accuracy_ == half.online_accuracy_
