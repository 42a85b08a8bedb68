"""Kernel machines in model files: the same bits, what is refused, and files that are not what they say."""

import hashlib
import json
import subprocess
import sys
import textwrap
import tracemalloc
import zlib

import numpy as np
import pytest
import scipy.sparse as sp

import lineal
import model_samples as samples
from lineal.errors import ModelFileError, ParameterError
from lineal.kernels import FunctionKernel, Gaussian, Linear, Polynomial, Quadratic, Subsequence, SubTree
from lineal.learners.freezing import freeze
from lineal.learners.thawing import thaw
from lineal.model import container
from lineal.model.kernel_heads import KernelNumbersHead
from lineal.model.kernel_profile import Profile
from lineal.model.kernel_sums import KernelSums, SupportVectors
from lineal.model.rows import MatrixRows
from strategies import woven

X = np.random.default_rng(0).normal(size=(60, 4))
TWO, THREE, NUMBER = X[:, 0] * X[:, 1] > 0, X[:, :3].argmax(axis=1), X[:, 0] ** 2 + X[:, 1]
KERNELS = {
    "rbf": "rbf",
    "poly": "poly",
    "linear": "linear",
    "by its width": Gaussian(sigma=2.0),
    "by gamma": Gaussian(gamma=0.3),
    "quadratic": Quadratic(c=1.0),
    "cubic": Polynomial(3, 0.5, 0.2),
}
MACHINES = {
    "two": (lambda kernel: lineal.SVC(kernel=kernel), TWO),
    "two, sure": (lambda kernel: lineal.SVC(kernel=kernel, probability=True), TWO),
    "pairs": (lambda kernel: lineal.SVC(kernel=kernel, probability=True), THREE),
    "pairs as they are": (
        lambda kernel: lineal.SVC(kernel=kernel, decision_function_shape="ovo", break_ties=False),
        THREE,
    ),
    "rest": (lambda kernel: lineal.SVC(kernel=kernel, multi_class="ovr", probability=True), THREE),
    "tube": (lambda kernel: lineal.SVR(kernel=kernel), NUMBER),
    "share": (lambda kernel: lineal.NuSVR(kernel=kernel), NUMBER),
    "one class": (lambda kernel: lineal.OneClassSVM(kernel=kernel, nu=0.2), None),
}


@pytest.fixture
def path(tmp_path):
    """Where a model is stored."""
    return tmp_path / "model.lineal"


def same_after_a_file(fitted, rows, y, path):
    """load(save(m)) = m = thaw(load(save(m))) on rows of any layout; proofs survive."""
    lineal.save(fitted.fit(rows, y), path)
    model = lineal.load(path)
    again = thaw(model)
    assert type(again) is type(fitted)
    for asked in (X, X.astype(np.float32), sp.csr_array(np.where(X > 0, X, 0.0)), X[:1], 1e5 * X):
        assert samples.same_answers(fitted, model, asked) == ""
        assert samples.same_answers(fitted, again, asked) == ""
    assert lineal.verify(again, rows, y).gap == lineal.verify(fitted, rows, y).gap


@pytest.mark.parametrize(
    ("machine", "kernel", "layout"), woven(list(MACHINES), list(KERNELS), ["dense", "sparse"], one_in=2)
)
def test_the_same_bits(machine, kernel, layout, path):
    """A stored machine is the machine, whatever its kernel, its classes and the layout of its rows."""
    make, y = MACHINES[machine]
    rows = X if layout == "dense" else sp.csr_array(np.where(X > 0, X, 0.0))
    same_after_a_file(make(KERNELS[kernel]), rows, y, path)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_rows_of_any_size_give_the_same_bits(unit, path):
    """Units out of the ordinary are kept with the machine."""
    same_after_a_file(lineal.SVC(probability=True), unit * X, THREE, path)
    same_after_a_file(lineal.SVC(kernel="poly"), unit * X, TWO, path)
    same_after_a_file(lineal.SVR(kernel="linear", C=unit**-2), unit * X, NUMBER, path)


def test_another_process_with_numpy_alone_gives_the_same_bits(path):
    """Nothing but NumPy and the core is loaded, and scores are those of the learner, bit for bit."""
    fitted = lineal.SVC(C=10, probability=True).fit(X, THREE)
    lineal.save(fitted, path)
    program = f"""
    import hashlib, sys, numpy, lineal
    model = lineal.load(sys.argv[1])
    X = numpy.frombuffer(bytes.fromhex("{X[:5].tobytes().hex()}")).reshape(5, 4)
    told = model.decision_function(X).tobytes() + model.predict_proba(X).tobytes()
    print(hashlib.sha256(told).hexdigest())
    heavy = {{"scipy", "sklearn", "pyarrow", "pandas", "polars", "rich", "click"}}
    print(sorted(heavy & {{name.partition(".")[0] for name in sys.modules}}))
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    told = fitted.decision_function(X[:5]).tobytes() + fitted.predict_proba(X[:5]).tobytes()
    assert run.stdout.split("\n")[:2] == [hashlib.sha256(told).hexdigest(), "[]"], run.stderr[-800:]


def test_parts_of_strategies_and_steps_before_them(path):
    """Machines inside OneVsRest, behind scaled columns and behind texts are stored, too."""
    from sklearn.pipeline import make_pipeline

    for estimator, rows, y in (
        (lineal.OneVsRest(lineal.SVC(C=3)), X, THREE),
        (lineal.Calibrated(lineal.SVC(kernel="poly")), X, THREE),
        (make_pipeline(lineal.ColumnScaler(), lineal.SVR()), X, NUMBER),
        (make_pipeline(lineal.TextVectorizer(), lineal.SVC()), samples.texts(), samples.two_labels()),
    ):
        lineal.save(estimator.fit(rows, y), path)
        assert samples.same_answers(estimator, lineal.load(path), rows) == ""
        assert samples.same_answers(estimator, thaw(lineal.load(path)), rows) == ""


def test_a_linear_kernel_is_explained_by_its_weights():
    """With kernel="linear" a stored machine has weights; with others it says that it has none."""
    for fitted in (
        lineal.SVC(kernel="linear").fit(X, TWO),
        lineal.SVC(kernel="linear", multi_class="ovr").fit(X, THREE),
        lineal.SVR(kernel="linear").fit(sp.csr_array(X), NUMBER),
    ):
        model = freeze(fitted)
        np.testing.assert_allclose(np.atleast_2d(model.coef_), fitted.coef_, atol=1e-12)
        explained = model.explain(X[0])
        if model.task == "regression":
            assert explained.score == pytest.approx(fitted.predict(X[:1])[0], abs=1e-9)
        elif len(model.classes_) == 2:
            sign = 1.0 if explained.label == model.classes_[1] else -1.0
            assert explained.score == pytest.approx(sign * fitted.decision_function(X[:1])[0], abs=1e-9)
    model = freeze(lineal.SVC().fit(X, TWO))
    assert not model.is_explained
    for ask in (lambda: model.explain(X[0]), lambda: model.top_features(2)):
        with pytest.raises(ParameterError, match=r"exp\(-.*no sum of weights"):
            ask()


STRINGS, TREES = ["abc", "abd", "xyz", "xzz"] * 2, ["(A b)", "(A c)"] * 4
REFUSED = {
    "Subsequence": (Subsequence(2, 0.5), STRINGS),
    "SubTree": (SubTree(0.5), TREES),
    "FunctionKernel": (FunctionKernel(lambda x, z: float(np.dot(x, z))), X[:8]),
    "Laplacian": ("laplacian", X[:8]),
    "Precomputed": ("precomputed", X[:8] @ X[:8].T),
    r"Linear\(\) \+ Gaussian": (Linear() + Gaussian(1.0), X[:8]),
}


@pytest.mark.parametrize("words", REFUSED)
def test_other_kernels_are_refused_by_name(words, path):
    """The sentence names the kernel and what can be stored, and nothing is written."""
    kernel, rows = REFUSED[words]
    with pytest.raises(
        ParameterError, match=f"SVC with the kernel {words}.*Gaussian kernels of rows.*pickle"
    ):
        lineal.save(lineal.SVC(kernel=kernel).fit(rows, [0, 1] * 4), path)
    assert not path.exists()


# ---- files that are not what they say ---------------------------------------------------------


def rewritten(path, change):
    """The file with its record and arrays changed, and checksums that fit."""
    read = container.read(path)
    tensors = {name: np.array(array) for name, array in read.tensors.items()}
    record = json.loads(read.metadata["lineal"])
    change(record, tensors)
    record["checksums"] = {name: zlib.crc32(array.tobytes()) for name, array in tensors.items()}
    text = json.dumps(record)
    metadata = read.metadata | {"lineal": text, "checksum": str(zlib.crc32(text.encode()))}
    container.write(path, tensors, metadata)
    return path


def put(record, place, value):
    """Sets a value deep in a record."""
    *above, last = place.split(".")
    for name in above:
        record = record[name]
    record[last] = value


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("head.kind", "kernel_trees"),
        ("head.sums.kernel.kind", "sigmoid"),
        ("head.sums.kernel.gamma", -1.0),
        ("head.sums.kernel.gamma", "1"),
        ("head.sums.kernel.degree", 0),
        ("head.sums.kernel.degree", 10**9),
        ("head.sums.scale", 3.0),
        ("head.sums.scale", 0.0),
        ("head.sums.unit", -2.0),
        ("head.answers.strategy", "rest of them"),
        ("head.answers.strategy", "two"),
        ("head.answers.breaks_ties", 1),
        ("head.sums.kernel", None),
    ],
)
def test_a_wrong_value_is_told_with_its_place(place, value, path):
    """Every value of the record is held against what it must be before anything is computed with it."""
    lineal.save(lineal.SVC().fit(X, THREE), path)
    rewritten(path, lambda record, _: put(record, place, value))
    with pytest.raises(ModelFileError, match=place.replace(".", r"\.")):
        lineal.load(path)


def _cut(name, n):
    def change(record, tensors):
        tensors[name] = tensors[name][:n]

    return change


def _set(name, at, value):
    def change(record, tensors):
        tensors[name].reshape(-1)[at] = value

    return change


SPARSE = {
    "fewer columns": (_cut("head.sums.columns", -1), "head.sums.values"),
    "starts that end early": (_cut("head.sums.starts", -1), "head.sums.starts"),
    "starts that fall": (_set("head.sums.starts", 1, 10**9), "head.sums.starts"),
    "a column out of range": (_set("head.sums.columns", 0, 99), "head.sums.columns"),
    "a column below 0": (_set("head.sums.columns", 0, -1), "head.sums.columns"),
    "a value that is none": (_set("head.sums.values", 0, np.nan), "head.sums.columns"),
    "an infinite coefficient": (_set("head.sums.coefficients", 0, np.inf), "head.sums.coefficients"),
    "coefficients of another number": (_cut("head.sums.coefficients", 1), "head.sums.coefficients"),
    "ends that fall": (_set("head.sums.ends", 1, 10**6), "head.sums.ends"),
    "ends below 0": (_set("head.sums.ends", 1, -1), "head.sums.ends"),
    "an intercept too few": (_cut("head.intercepts", -1), "head.intercepts"),
    "an intercept that is none": (_set("head.intercepts", 0, np.nan), "head.intercepts"),
    "a temperature of 0": (_set("head.answers.temperatures", 0, 0.0), "head.answers.temperatures"),
}


@pytest.mark.parametrize("title", SPARSE)
@pytest.mark.parametrize("check", [True, False])
def test_arrays_that_do_not_fit_are_refused(title, check, path):
    """Every index and every number is looked at before the core follows one."""
    change, place = SPARSE[title]
    lineal.save(lineal.SVC(probability=True).fit(sp.csr_array(np.where(X > 0, X, 0.0)), THREE), path)
    rewritten(path, change)
    with pytest.raises(ModelFileError, match=place.replace(".", r"\.")):
        lineal.load(path, check=check)


def test_a_claim_of_many_columns_takes_no_memory(path):
    """Sparse support vectors in 2**31 - 1 columns are compared where they hold something, and there alone."""
    rows = sp.csr_array(np.where(X > 0, X, 0.0))
    fitted = lineal.SVR().fit(rows, NUMBER)
    lineal.save(fitted, path)
    expected = lineal.load(path).predict(rows)

    def change(record, tensors):
        record["features"]["n_columns"] = 2**31 - 1

    rewritten(path, change)
    tracemalloc.start()
    try:
        model = lineal.load(path)
        wide = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(60, 2**31 - 1))
        assert np.array_equal(model.predict(wide), expected)
        assert tracemalloc.get_traced_memory()[1] < 2e7
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["head.sums.coefficients", "head.intercepts", "head.sums.vectors"])
def test_golden_predictions_notice_other_numbers(name, path):
    """A file whose numbers were changed with all its checksums does not give the scores it had."""
    lineal.save(lineal.SVC(C=10).fit(X, TWO), path)
    rewritten(path, _set(name, 0, 0.125))
    with pytest.raises(ModelFileError, match="golden predictions"):
        lineal.load(path)
    lineal.load(path, check=False)


def test_golden_predictions_allow_for_the_rounding_of_huge_coefficients():
    """Scores that coefficients of 1e12 cancel to may differ between processors by more than their digits."""
    vectors = SupportVectors(4, X.copy())
    coefficients = 1e12 * (-1.0) ** np.arange(60)[None, :]
    rows = MatrixRows.of_dense(X[:5], 1)
    for profile in (Profile("gaussian", 1e-9), Profile("polynomial", 1.0, 1.0, 2)):
        head = KernelNumbersHead(KernelSums.of_one(profile, vectors, coefficients), np.zeros(1))
        turned = KernelNumbersHead(
            KernelSums.of_one(profile, SupportVectors(4, X[::-1].copy()), coefficients[:, ::-1]), np.zeros(1)
        )
        differ = np.abs(head.raw(rows) - turned.raw(rows)).max()
        assert 0 < differ <= head.rounding(rows)
