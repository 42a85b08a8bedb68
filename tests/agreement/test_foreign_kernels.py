"""A kernel machine of LIBSVM answers as svm-predict does, read from its file and stored again."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import svm

import lineal
from lineal.errors import ParameterError
from lineal.jobs.foreign import import_model
from reference import foreign as peer

# Squared distances come from dot products: a few digits of their squares are lost, and sums of 60 kernel
# values with coefficients up to 10 are compared.
CLOSE = 1e-10
KERNELS = {
    "rbf": (("gamma", 0.4),),
    "polynomial": (("degree", 3), ("gamma", 0.2), ("coef0", 1.5)),
    "linear": (),
}


def stored(model, folder):
    """The model after a way through a file."""
    model.save(folder / "model.lineal")
    return lineal.load(folder / "model.lineal")


def made(n_classes, seed=0, n=90):
    """Rows, some of them zeros, labels and numbers."""
    generator = np.random.default_rng(seed)
    X = np.vstack([generator.normal(size=(n, 5)), np.zeros((3, 5))])
    return X, np.array([3, -7, 12, 5])[X[:, :n_classes].argmax(axis=1)], np.cos(X[:, 0]) + X[:, 1]


def options(kernel):
    """As scikit-learn calls them."""
    name = "poly" if kernel == "polynomial" else kernel
    return {"kernel": name, **dict(KERNELS[kernel])}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_classes(kernel, n_classes, tmp_path):
    """C-SVC and nu-SVC of scikit-learn's own LIBSVM, as LIBSVM writes them, give the labels of its SVC."""
    X, y, _ = made(n_classes)
    queries = np.random.default_rng(1).normal(size=(200, 5))
    for kind, machine in (("c_svc", svm.SVC), ("nu_svc", svm.NuSVC)):
        more = {} if kind == "c_svc" else {"nu": 0.2}
        fitted = machine(decision_function_shape="ovo", **more, **options(kernel)).fit(X, y)
        sign = -1.0 if n_classes == 2 else 1.0  # of two classes scikit-learn turns the signs
        peer.write_libsvm(
            tmp_path / "model", kind, fitted.classes_.tolist(), fitted.n_support_.tolist(),
            -sign * fitted.intercept_, sign * fitted.dual_coef_.T, fitted.support_vectors_,
            kernel=kernel, numbers=KERNELS[kernel],
        )  # fmt: skip
        model = stored(import_model(tmp_path / "model"), tmp_path)
        assert model.predict(queries).tolist() == fitted.predict(queries).tolist()
        if n_classes == 2:
            theirs = fitted.decision_function(queries)
            np.testing.assert_allclose(model.decision_function(queries), theirs, atol=CLOSE)


@pytest.mark.parametrize("kernel", KERNELS)
def test_numbers(kernel, tmp_path):
    """Both regressions give scikit-learn's numbers."""
    X, _, t = made(2)
    for kind, machine in (("epsilon_svr", svm.SVR), ("nu_svr", svm.NuSVR)):
        fitted = machine(**options(kernel)).fit(X, t)
        arrays = (-fitted.intercept_, fitted.dual_coef_.T, fitted.support_vectors_)
        peer.write_libsvm(tmp_path / "model", kind, (), (), *arrays, kernel=kernel, numbers=KERNELS[kernel])
        model = stored(import_model(tmp_path / "model"), tmp_path)
        assert model.task == "regression"
        np.testing.assert_allclose(model.predict(X), fitted.predict(X), atol=CLOSE)


@pytest.mark.parametrize("kernel", KERNELS)
def test_one_class(kernel, tmp_path):
    """1 where the score is above 0 and -1 elsewhere; what marks probabilities is left out, and said to be."""
    X, _, _ = made(2)
    fitted = svm.OneClassSVM(nu=0.3, **options(kernel)).fit(X)
    arrays = (-fitted.intercept_, fitted.dual_coef_.T, fitted.support_vectors_)
    more = ("prob_density_marks " + " ".join(["0.5"] * 10),)
    peer.write_libsvm(
        tmp_path / "model", "one_class", (), (), *arrays, more, kernel=kernel, numbers=KERNELS[kernel]
    )
    model = stored(import_model(tmp_path / "model"), tmp_path)
    np.testing.assert_allclose(model.decision_function(X), fitted.decision_function(X), atol=CLOSE)
    is_told = np.abs(fitted.decision_function(X)) > CLOSE  # not those on the border, but for rounding
    assert np.array_equal(model.predict(X)[is_told], fitted.predict(X)[is_told])
    assert "prob_density_marks" in model.about.notes["imported"]["left_out"]


@settings(max_examples=30)
@given(
    st.integers(0, 10_000),
    st.permutations([4, 1, 3, 2]),
    st.integers(2, 4),
    st.sampled_from(["rbf", "polynomial"]),
)
def test_votes_and_ties(tmp_path_factory, seed, order, n_classes, kernel):
    """Labels are those of LIBSVM's loop over pairs, ties of votes and scores of exactly 0 included."""
    generator = np.random.default_rng(seed)
    labels, counts = order[:n_classes], generator.integers(1, 4, size=n_classes).tolist()
    # Small whole numbers: scores of 0 are exact.
    coefficients = generator.integers(-2, 3, size=(sum(counts), n_classes - 1)).astype(float)
    vectors = generator.integers(-2, 3, size=(sum(counts), 3)).astype(float)
    rho = generator.integers(-1, 2, size=n_classes * (n_classes - 1) // 2).astype(float)
    numbers = {"degree": 2, "gamma": 1.0, "coef0": -1.0} if kernel == "polynomial" else {"gamma": 0.0}
    path = tmp_path_factory.mktemp("libsvm") / "model"
    peer.write_libsvm(
        path, "c_svc", labels, counts, rho, coefficients, vectors, kernel=kernel, numbers=numbers.items()
    )
    X = np.vstack([generator.integers(-2, 3, size=(30, 3)).astype(float), np.zeros((1, 3))])
    k = peer.libsvm_kernel(kernel, **numbers)
    expected = [peer.libsvm_predict(labels, counts, rho, coefficients, vectors, row, k) for row in X]
    assert import_model(path).predict(sp.csr_matrix(X)).tolist() == expected


@pytest.mark.parametrize("labels", [(1, -1), (-1, 1)], ids=str)
def test_probabilities_of_two_classes(labels, tmp_path):
    """With probA and probB labels and probabilities are those of svm-predict -b 1."""
    vectors, coefficients = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0], [-1.0]])
    more = ("probA -2", "probB 0.7")
    peer.write_libsvm(
        tmp_path / "model", "c_svc", labels, [1, 1], [0.1], coefficients, vectors, more,
        kernel="rbf", numbers=[("gamma", 0.5)],
    )  # fmt: skip
    model = stored(import_model(tmp_path / "model"), tmp_path)
    X = np.random.default_rng(0).normal(size=(50, 2))
    k = peer.libsvm_kernel("rbf", gamma=0.5)
    scores = np.array([peer.libsvm_predict((), (), [0.1], coefficients, vectors, row, k) for row in X])
    first = 1.0 / (1.0 + np.exp(-2.0 * scores + 0.7))
    P = np.column_stack([first, 1.0 - first])[:, np.argsort(labels)]
    np.testing.assert_allclose(model.predict_proba(X), P, atol=CLOSE)
    assert model.predict(X).tolist() == np.where(first > 0.5, *labels).tolist()


def test_columns_that_no_support_vector_has(tmp_path):
    """They make rows longer, so a radial kernel counts them, and a polynomial one does not."""
    generator = np.random.default_rng(0)
    vectors, coefficients = generator.normal(size=(7, 3)), generator.normal(size=(7, 1))
    X = generator.normal(size=(20, 6))
    wide = np.hstack([vectors, np.zeros((7, 3))])
    for kernel in ("rbf", "polynomial"):
        numbers = KERNELS[kernel]
        path = tmp_path / "model"
        peer.write_libsvm(
            path, "nu_svr", (), (), [0.4], coefficients, vectors, kernel=kernel, numbers=numbers
        )
        k = peer.libsvm_kernel(kernel, **dict(numbers))
        expected = [peer.libsvm_predict((), (), [0.4], coefficients, wide, row, k) for row in X]
        model = stored(import_model(path), tmp_path)
        np.testing.assert_allclose(model.predict(sp.csr_array(X)), expected, atol=CLOSE)


def test_very_wide_rows_cost_what_they_hold(tmp_path):
    """A column may have a number of nine digits: kernels meet the columns that are there, and no others."""
    path = tmp_path / "model"
    path.write_text(
        "svm_type epsilon_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nSV\n"
        "1 1:1 2147483000:2\n-0.5 5:1 \n"
    )
    model = stored(import_model(path), tmp_path)
    columns, values = [0, 4, 2147482999, 7], [1.0, 0.5, 1.5, 3.0]
    X = sp.csr_array((values, columns, [0, 1, 3, 3, 4]), shape=(4, 2147483647))
    rows = [{0: 1.0}, {4: 0.5, 2147482999: 1.5}, {}, {7: 3.0}]
    vectors = [{0: 1.0, 2147482999: 2.0}, {4: 1.0}]
    expected = [
        sum(
            coefficient
            * np.exp(-0.5 * sum((row.get(j, 0.0) - vector.get(j, 0.0)) ** 2 for j in {*row, *vector}))
            for coefficient, vector in zip((1.0, -0.5), vectors, strict=True)
        )
        - 0.25
        for row in rows
    ]
    np.testing.assert_allclose(model.predict(X), expected, atol=CLOSE)


def test_a_kernel_has_no_weights(tmp_path):
    """Explanations are refused with the kernel's formula; a linear kernel is weights, and explains."""
    vectors, coefficients = np.eye(3), np.array([[1.0], [-1.0], [0.5]])
    path = tmp_path / "model"
    for kernel in KERNELS:
        peer.write_libsvm(
            path, "nu_svr", (), (), [0.4], coefficients, vectors, kernel=kernel, numbers=KERNELS[kernel]
        )
        model = stored(import_model(path), tmp_path)
        assert model.is_explained == (kernel == "linear")
        if model.is_explained:
            assert model.coef_.tolist() == coefficients[:, 0].tolist()
            continue
        assert not hasattr(model, "coef_")
        formula = "exp" if kernel == "rbf" else r"\^3"
        with pytest.raises(ParameterError, match=formula):
            model.explain([1.0, 2.0, 3.0])
        with pytest.raises(ParameterError, match="no sum of weights"):
            model.top_features(3)
