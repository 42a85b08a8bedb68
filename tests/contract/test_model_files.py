"""A model file holds data alone, its model is immutable, and it is refused when it is not what it says."""

import json
import subprocess
import sys
import textwrap
import zlib

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

import lineal
import model_samples as samples
from contract.members import data_for, named, predictors
from lineal.errors import InputError, LinealError, ModelFileError, ParameterError
from lineal.features import Numbers, Quantiles
from lineal.learners.freezing import freeze, linear_model
from lineal.learners.thawing import thaw
from lineal.model import container
from lineal.model.features.rows import RowFeatures
from lineal.model.model import VERSION
from lineal.objective import L2, CustomLoss

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def path(tmp_path):
    """Where a model is stored."""
    return tmp_path / "model.lineal"


@pytest.fixture
def stored(path):
    """A model of texts, stored."""
    lineal.save(samples.of_texts("chosen, two labels"), path)
    return path


def rewritten(path, change, *, with_sums=True):
    """The file with its record and arrays changed, its checksums made right again unless they are to stay."""
    read = container.read(path)
    tensors = {name: np.array(array) for name, array in read.tensors.items()}
    record = json.loads(read.metadata["lineal"])
    change(record, tensors)
    if with_sums:
        record["checksums"] = {name: zlib.crc32(array.tobytes()) for name, array in tensors.items()}
    text = json.dumps(record)
    metadata = read.metadata | {"lineal": text, "checksum": str(zlib.crc32(text.encode()))}
    container.write(path, tensors, metadata)
    return path


# ---- what is needed -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["texts", "table", "rows"])
def test_predicting_needs_numpy_and_the_core_alone(kind, path):
    """Loading and predicting import neither SciPy nor scikit-learn nor any reader of tables."""
    asked = {
        "texts": (samples.of_texts("side by side"), '["good film", "bad"]'),
        "table": (samples.of_tables("pipeline"), "{name: [None, None] for name in model.feature_names_in_}"),
        "rows": (lineal.Ridge().fit(samples.matrix(), samples.numbers()), "[[0.0] * 6, [1.0] * 6]"),
    }
    estimator, X = asked[kind]
    lineal.save(estimator, path)
    program = f"""
    import sys, lineal
    model = lineal.load(sys.argv[1])
    X = {X}
    assert len(model.predict(X)) == 2
    one = X[0] if isinstance(X, list) else {{name: column[0] for name, column in X.items()}}
    model.explain(one), model.top_features(3), model.about
    heavy = {{"scipy", "sklearn", "pyarrow", "pandas", "polars", "rich", "click"}}
    print(sorted(heavy & {{name.partition(".")[0] for name in sys.modules}}))
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.stdout.strip() == "[]", run.stderr[-800:]


def test_safetensors_reads_the_arrays(stored):
    """A model file is a safetensors file, which others can look into."""
    safetensors = pytest.importorskip("safetensors")
    with safetensors.safe_open(stored, framework="numpy") as file:
        assert file.metadata()["format"] == "lineal"
        assert "head.W" in file.keys()  # noqa: SIM118


# ---- what cannot be stored ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", predictors(), ids=named)
def test_every_learner_is_stored_or_refused_by_name(kind, path):
    """No learner is stored in part: it comes back, or a sentence names it and nothing is written."""
    X, y = data_for(kind)
    X = np.abs(X) if "NB" in kind.__name__ else X
    try:
        estimator = kind().fit(X, y)
    except LinealError:
        pytest.skip("takes other things than numbers")
    refusal = ""
    try:
        lineal.save(estimator, path)
    except ParameterError as error:
        refusal = str(error)
    if not refusal:
        assert lineal.load(path).predict(X).tobytes() == estimator.predict(X).tobytes()
        return
    assert kind.__name__ in refusal or "phi" in refusal
    assert "pickle" in refusal
    assert not path.exists()


class Cubed(CustomLoss):
    """A loss that nobody else has."""

    def value(self, y, z):
        return np.maximum(0.0, 1 - y * z) ** 3

    def derivative(self, y, z):
        return -3 * y * np.maximum(0.0, 1 - y * z) ** 2


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (
            lambda: lineal.TextClassifier(
                vectorizer=lineal.TextVectorizer(analyzer=str.split), strengths=1.0
            ),
            "analyzer",
        ),
        (
            lambda: lineal.TextClassifier(
                vectorizer=lineal.TextVectorizer(functions={"known": str.isalpha}), strengths=1.0
            ),
            "functions",
        ),
    ],
    ids=["analyzer", "functions"],
)
def test_code_in_a_vectoriser_is_refused(make, word, path):
    """A file holds no code, and says so before anything is written."""
    estimator = make().fit(samples.texts(), samples.two_labels())
    with pytest.raises(ParameterError, match=word):
        lineal.save(estimator, path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("estimator", "word"),
    [
        (lineal.LinearClassifier(Cubed(), L2(1.0), tol=1e-2), "Cubed"),
        (lineal.Perceptron("voted"), "averaged"),
        (lineal.FisherDiscriminant(rule="both"), "crossing"),
        (lineal.Calibrated(method="isotonic"), "temperature"),
        (lineal.GaussianNB(), "GaussianNB"),
    ],
    ids=["custom loss", "voted", "two Gaussians", "isotonic", "quadratic"],
)
def test_what_has_no_place_in_a_file_is_refused(estimator, word, path):
    """The refusal names what there is instead."""
    X = samples.matrix()
    estimator.fit(X, (X[:, 0] + 0.3 * X[:, 1] ** 2 > 0.2).astype(int))
    with pytest.raises(ParameterError, match=word):
        lineal.save(estimator, path)
    assert not path.exists()


def test_an_estimator_that_was_not_fitted_is_refused(path):
    """There is nothing to store before a fit."""
    with pytest.raises(ValueError, match="not fitted"):
        lineal.save(lineal.Ridge(), path)
    assert not path.exists()


# ---- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["ä", "longer than the other"], dtype="<U40"),
        np.array([-1, 1], dtype=np.int8),
        np.array([0, 2**63], dtype=np.uint64),
        np.array([1.0, 2.0], dtype=np.float32),
        np.array([False, True]),
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
        np.array([1, "one"], dtype=object),
        np.array([None, True], dtype=object),
        np.array([2**70, 1.5], dtype=object),
        np.array(["b", np.str_("a")], dtype=object),
    ],
    ids=lambda labels: f"{labels.dtype}-{'-'.join(type(label).__name__ for label in labels.tolist())}",
)
def test_labels_keep_their_types(labels, path):
    """Labels come back equal, of the same types, in an array of the same type."""
    X = samples.matrix()
    lineal.save(lineal.LinearClassifier().fit(X, labels[(X[:, 0] > 0).astype(int)]), path)
    model = lineal.load(path)
    fitted = thaw(model).classes_
    for known in (model.classes_, fitted):
        assert (
            known.dtype == lineal.LinearClassifier().fit(X, labels[(X[:, 0] > 0).astype(int)]).classes_.dtype
        )
        assert sorted(map(repr, known.tolist())) == sorted(map(repr, labels.tolist()))
    assert set(map(type, model.predict(X).tolist())) <= set(map(type, labels.tolist()))


def test_other_labels_are_refused_by_name(path):
    """A label that no file can hold is named."""
    labels = np.fromiter([("a", 1), ("b", 2)], dtype=object, count=2)
    X = samples.matrix()
    estimator = lineal.LinearClassifier().fit(X, labels[(X[:, 0] > 0).astype(int)])
    with pytest.raises(ParameterError, match=r"\('a', 1\).*tuple"):
        lineal.save(estimator, path)


# ---- immutability ---------------------------------------------------------------------------------


def test_a_model_cannot_be_changed(stored):
    """Neither its attributes nor its arrays."""
    model = lineal.load(stored)
    with pytest.raises(AttributeError, match="frozen"):
        model.coef_ = 0
    with pytest.raises(AttributeError, match="frozen"):
        del model.about
    for array in (model.classes_, *model._tensors.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = array[:1]


def test_a_frozen_model_does_not_follow_its_estimator():
    """What is learned later is not in it."""
    X, y = samples.matrix(), samples.three_labels()
    estimator = lineal.OnlineClassifier().partial_fit(X[:60], y[:60])
    model = freeze(estimator)
    before = model.decision_function(X)
    estimator.partial_fit(X[60:], y[60:])
    assert np.array_equal(model.decision_function(X), before)
    thaw(model).partial_fit(X[60:], y[60:])
    assert np.array_equal(model.decision_function(X), before)


def test_float32_weights_stay_float32(path):
    """Weights are stored as they are: neither widened nor cut."""
    weights = np.linspace(-1, 1, 6, dtype=np.float32)
    linear_model(RowFeatures(6), weights, 0.5).save(path)
    assert lineal.load(path).coef_.dtype == np.float32
    assert np.array_equal(lineal.load(path).coef_, weights)


# ---- what is checked on load ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["head.W", "features.readers.0.weights", "state.inner.attributes.dual.array"]
)
def test_a_changed_byte_is_told(stored, name):
    """Any byte of an array that is not as it was stored is noticed, and named."""

    def change(record, tensors):
        tensors[name].reshape(-1).view(np.uint8)[0] ^= 1

    rewritten(stored, change, with_sums=False)
    with pytest.raises(ModelFileError, match=rf"{name}.*checksum"):
        lineal.load(stored)
    lineal.load(stored, check=False)


def test_golden_predictions_notice_other_weights(stored):
    """A weight that was exchanged, checksums and all, gives other golden predictions."""

    def change(record, tensors):
        heaviest = np.abs(tensors["head.W"]).argmax()
        tensors["head.W"].reshape(-1)[heaviest] *= 1 + 1e-6

    rewritten(stored, change)
    with pytest.raises(ModelFileError, match="golden"):
        lineal.load(stored)
    lineal.load(stored, check=False).predict(["good"])


def test_golden_predictions_notice_another_vocabulary(stored):
    """A word that was exchanged is noticed as well."""

    def change(record, tensors):
        name = "features.readers.0.columns.spelling.bytes"
        text = tensors[name].tobytes().replace(b"good", b"gold").replace(b"bad", b"bed")
        tensors[name] = np.frombuffer(text, dtype=np.uint8)

    rewritten(stored, change)
    with pytest.raises(ModelFileError, match="golden"):
        lineal.load(stored)


def test_large_vocabularies_are_checked_before_the_first_prediction(stored, monkeypatch):
    """Loading does not wait for a vocabulary to be put together; predicting does, and checks it."""

    def change(record, tensors):
        tensors["head.b"] += 1.0

    rewritten(stored, change)
    monkeypatch.setattr("lineal.model.model._AT_ONCE", 1)
    model = lineal.load(stored)
    with pytest.raises(ModelFileError, match="golden"):
        model.predict(["good"])


def test_a_later_version_is_refused_with_its_maker(stored):
    """A file of a later format names the Lineal that made it and how to get it."""
    read = container.read(stored)
    record = json.loads(read.metadata["lineal"])
    record["about"]["version"] = "9.9"
    container.write(
        stored, read.tensors, read.metadata | {"version": str(VERSION + 1), "lineal": json.dumps(record)}
    )
    with pytest.raises(ModelFileError, match=r"Lineal 9\.9.*pip install -U lineal"):
        lineal.load(stored)


def test_version_1_is_read_for_good(path):
    """A file of version 1, written here by hand, is read by every later Lineal."""
    tensors = {
        "head.W": np.array([[2.0], [-1.0]]),
        "head.b": np.array([0.5]),
        "head.classes.labels.bytes": np.frombuffer(b"noyes", dtype=np.uint8),
        "head.classes.labels.starts": np.array([0, 2, 5]),
        "golden.starts": np.array([0, 2]),
        "golden.columns": np.array([0, 1], dtype=np.int32),
        "golden.values": np.array([1.0, 1.0]),
        "golden.scores": np.array([[1.5]]),
    }
    record = {
        "about": {"learner": "LinearSVC()", "version": "0.1.0", "of later versions": {"unknown": [1]}},
        "features": {"kind": "rows", "n_columns": 2, "is_open": False},
        "head": {
            "kind": "classes",
            "classes": {"kind": "strings", "width": 3},
            "link": "softmax",
            "temperature": 2.0,
            "way": "dot",
            "threshold": None,
        },
        "golden": {},
        "certificate": None,
        "state": None,
        "something new": 7,
        "checksums": {name: zlib.crc32(array.tobytes()) for name, array in tensors.items()},
    }
    text = json.dumps(record)
    metadata = {
        "format": "lineal",
        "version": "1",
        "lineal": text,
        "checksum": str(zlib.crc32(text.encode())),
    }
    container.write(path, tensors, metadata)
    model = lineal.load(path)
    assert model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist() == ["yes", "no"]
    assert np.allclose(model.predict_proba([[0.25, 0.0]])[0, 1], 1 / (1 + np.exp(-0.5)), rtol=1e-15)
    assert model.certificate_ is None
    with pytest.raises(ParameterError, match="no learner"):
        thaw(model)


def test_tables_of_version_1_are_read_for_good(path):
    """Version 1 had an object for each column of a table, and its golden inputs as rows: they are read."""

    def column(name, kind, **own):
        return {
            "name": name,
            "encoding": {"kind": kind, "has_indicator": False, "refuses_missing": False, **own},
        }

    columns = [
        column("size", "numbers", fill=3.0, scale=[0.5, 1.0, 2.0]),
        column("age", "numbers", fill=30.0, scale=None),
        column("member", "booleans"),
        column("city", "categories", unseen="zero"),
        {"name": "empty", "encoding": None},
        column("when", "dates", calendar=["year"], cycles="circle", means={"year": 2020.0}),
    ]
    columns[1]["encoding"]["has_indicator"] = True
    place = "features.readers.0.columns"
    tensors = {
        f"{place}.1.encoding.borders": np.array([20.0, 40.0]),
        f"{place}.3.encoding.levels.bytes": np.frombuffer(b"BathYork", dtype=np.uint8),
        f"{place}.3.encoding.levels.starts": np.array([0, 4, 8]),
        f"{place}.3.encoding.rare.bytes": np.empty(0, dtype=np.uint8),
        f"{place}.3.encoding.rare.starts": np.array([0]),
        # size, three bins of age, age is missing, member, two cities, year
        "head.W": np.array([[1.0], [10.0], [20.0], [30.0], [5.0], [100.0], [0.1], [0.2], [0.001]]),
        "head.b": np.array([0.0]),
        "golden.scores": np.array([[142.22], [126.02]]),
    }
    row = {"size": 6.0, "age": 41, "member": True, "city": "York", "empty": None, "when": "2020-05-01"}
    gaps = {"size": None, "age": None, "member": True, "city": "Rome", "empty": 1, "when": None}
    record = {
        "about": {"learner": "", "version": "0.1.0"},
        "features": {
            "kind": "table",
            "is_dense": False,
            "columns": None,
            "readers": [
                {"has_names": True, "extra": "refuse", "dtype": "float64", "owner": "T", "columns": columns}
            ],
        },
        "head": {"kind": "numbers", "is_one": True, "way": "dot", "threshold": None},
        "golden": {"inputs": [row, gaps]},
        "certificate": None,
        "state": None,
    }
    # By hand: (6 / 2 - 1) / 2 = 1 and a fill of (3 / 2 - 1) / 2 = 0.25; bins 40 <= age and 20 <= age < 40.
    scores = np.array([1.0 + 30 + 100 + 0.2 + 2.02, 0.25 + 20 + 5 + 100 + 2.02])
    tensors["golden.scores"] = scores[:, None]
    record["checksums"] = {name: zlib.crc32(array.tobytes()) for name, array in tensors.items()}
    text = json.dumps(record)
    metadata = {"format": "lineal", "version": "1", "lineal": text}
    container.write(path, tensors, metadata | {"checksum": str(zlib.crc32(text.encode()))})
    model = lineal.load(path)
    np.testing.assert_allclose(model.predict([row, gaps]), scores, rtol=1e-15)
    model.save(path)  # and written again they are what they were
    np.testing.assert_array_equal(lineal.load(path).predict([row, gaps]), model.predict([row, gaps]))


def _more_borders(record, tensors):
    tensors["features.readers.0.encodings.numbers.n_borders"][0] += 1


def _falling_borders(record, tensors):
    borders = tensors["features.readers.0.encodings.numbers.borders"]
    borders[:2] = borders[1::-1]


def _no_scale(record, tensors):
    tensors["features.readers.0.encodings.numbers.fill"][0] = np.nan


def _fewer_levels(record, tensors):
    tensors["features.readers.0.encodings.categories.n_levels"][0] -= 1


def _kind_out_of_range(record, tensors):
    tensors["features.readers.0.kinds"][0] = 200


def _unknown_kind(record, tensors):
    record["features"]["readers"][0]["kinds"][0] = "pictures"


@pytest.mark.parametrize(
    "change",
    [_more_borders, _falling_borders, _no_scale, _fewer_levels, _kind_out_of_range, _unknown_kind],
)
def test_columns_that_share_arrays_are_checked(path, change):
    """Counts, borders, kinds and numbers of a table's columns must be sound."""
    vectorizer = lineal.TableVectorizer(numbers=Numbers(bins=Quantiles(4)))
    table = {"x": np.arange(20.0), "city": ["Bath", "York"] * 10, "z": np.arange(20.0) ** 2}
    lineal.save(make_pipeline(vectorizer, lineal.Ridge()).fit(table, np.arange(20.0)), path)
    rewritten(path, change)
    with pytest.raises(ModelFileError, match=r"features\.readers\.0"):
        lineal.load(path)


def test_arrays_that_are_no_model_are_refused(path):
    """Another program's safetensors file is told apart from a model."""
    container.write(path, {"W": np.eye(2)}, {"format": "pt"})
    with pytest.raises(ModelFileError, match=r"no model of Lineal"):
        lineal.load(path)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("features.readers.0.tf", "other"),
        ("features.readers.0.ngrams", [3, 1]),
        ("features.readers.0.lowercase", 1),
        ("features.readers.0.columns.n_columns", 2**31),
        ("features.readers.0.columns.n_columns", 10**6),
        ("features.readers.0.min_characters", -1),
        ("features.readers.0.mean_length", 0),
        ("features.kind", "pictures"),
        ("head.temperature", -1),
        ("head.link", None),
        ("head.classes.kind", "colours"),
        ("about.learner", 3),
        ("golden.inputs", "text"),
    ],
)
def test_a_wrong_value_is_told_with_its_place(stored, place, value):
    """What a record must be is checked before anything is made of it, and the place is named."""

    def change(record, tensors):
        *way, last = place.split(".")
        for key in way:
            record = record[int(key) if key.isdigit() else key]
        record[last] = value

    rewritten(stored, change)
    with pytest.raises(ModelFileError, match=place.replace(".", r"\.")):
        lineal.load(stored)


def test_arrays_of_other_shapes_are_refused(stored):
    """Weights must be those of the columns, and indices must point to something."""

    def fewer(record, tensors):
        tensors["head.W"] = tensors["head.W"][:-1]

    rewritten(stored, fewer)
    with pytest.raises(ModelFileError, match=r"head\.W"):
        lineal.load(stored)


def test_indices_out_of_range_are_refused(stored):
    """The core looks at every index of a vocabulary before it follows one."""

    def astray(record, tensors):
        tensors["features.readers.0.columns.level0.word"][0] = 2**31

    rewritten(stored, astray)
    with pytest.raises(ModelFileError, match="vocabulary is damaged"):
        lineal.load(stored)


def test_a_claim_of_many_columns_takes_no_memory(path):
    """Hashing to 2**31 - 1 columns without weights for them is refused, not allocated."""
    hashed = lineal.TextVectorizer(n_features=64, weighting="occurrence", norm=None)
    lineal.save(lineal.TextClassifier(vectorizer=hashed).fit(samples.texts(), samples.two_labels()), path)

    def change(record, tensors):
        record["features"]["readers"][0]["columns"]["n_columns"] = 2**31 - 1

    rewritten(path, change)
    with pytest.raises(ModelFileError, match=r"head\.W"):
        lineal.load(path)


# ---- inputs ---------------------------------------------------------------------------------------


def test_rows_of_every_container():
    """Lists, arrays, whole numbers and sparse matrices of any format are rows; no rows have no answers."""
    X = np.round(samples.matrix())
    model = freeze(lineal.Ridge().fit(X, samples.numbers()))
    dense = model.predict(X)
    for same in (X.tolist(), X.astype(int), np.asfortranarray(X)):
        assert np.array_equal(model.predict(same), dense)
    for sparse in (sp.csr_matrix(X), sp.csc_array(X), sp.coo_array(X), sp.lil_array(X)):
        assert np.allclose(model.predict(sparse), dense, rtol=1e-12)
    assert model.predict(X[:0]).shape == (0,)


@pytest.mark.parametrize(
    ("X", "word"),
    [
        ([[1.0] * 5], "5 features.*6"),
        ([1.0] * 6, "Reshape"),
        ([["a"] * 6], "numbers"),
        ([[np.nan] * 6], "NaN"),
        ({"a": [1.0]}, "dict"),
        (sp.csr_array(np.ones((2, 7))), "7 features"),
    ],
    ids=["width", "dimensions", "text", "NaN", "dict", "sparse width"],
)
def test_rows_that_do_not_fit_are_refused(X, word):
    """In words, before anything is computed."""
    model = freeze(lineal.Ridge().fit(samples.matrix(), samples.numbers()))
    with pytest.raises(InputError, match=word):
        model.predict(X)


def test_names_of_columns_are_held_to():
    """A frame with other columns is refused; a dict may name them in any order."""
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(samples.matrix(), columns=list("abcdef"))
    estimator = lineal.Ridge().fit(X, samples.numbers())
    model = freeze(estimator)
    assert np.array_equal(model.predict(X), estimator.predict(X))
    assert np.array_equal(
        model.predict({name: X[name].to_numpy() for name in "fedcba"}), estimator.predict(X)
    )
    with pytest.raises(InputError, match="feature names"):
        model.predict(X[list("fedcba")])


def test_a_model_looks_like_an_estimator(stored):
    """evaluate and compare take it; what it has not it does not pretend to have."""
    model = lineal.load(stored)
    texts, y = samples.texts(), samples.two_labels()
    assert lineal.evaluate(model, texts, y)["accuracy"].value > 0.9
    ridge = freeze(lineal.Ridge().fit(samples.matrix(), samples.numbers()))
    for name in ("predict_proba", "decision_function", "classes_"):
        assert not hasattr(ridge, name)
    svm = freeze(lineal.LinearSVC().fit(samples.matrix(), samples.three_labels()))
    assert not hasattr(svm, "predict_proba")
    assert "Model(classification from texts" in repr(model)


def test_what_is_told_of_a_model(path):
    """Words about a model are kept as they were given; what JSON cannot hold, or nobody knows, is refused."""
    estimator = lineal.Ridge().fit(samples.matrix(), samples.numbers())
    about = {"created": "2026-01-01T00:00:00Z", "n_rows": samples.N, "notes": {"for": ["us"]}}
    lineal.save(estimator, path, about=about)
    model = lineal.load(path)
    assert (model.about.created, model.about.n_rows, model.about.notes) == tuple(about.values())
    assert model.about.learner == "Ridge()"
    assert model.certificate_ == estimator.certificate_
    lineal.save(model, path, about={"command": "again"})
    assert lineal.load(path).about.command == "again"
    assert lineal.load(path).about.n_rows == samples.N
    with pytest.raises(ParameterError, match="weather"):
        lineal.save(estimator, path, about={"weather": "fine"})
    with pytest.raises(ParameterError, match="JSON"):
        lineal.save(estimator, path, about={"notes": {"set": {1}}})
