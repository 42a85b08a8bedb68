"""What is no kernel is refused by every learner that would prove something with it."""

import numpy as np
import pytest

from lineal import (
    SVC,
    SVR,
    KernelRidge,
    LaplacianSVM,
    MultipleInstanceSVM,
    NuSVR,
    OneClassSVM,
    TransductiveSVM,
)
from lineal.errors import InputError
from lineal.kernels import FunctionKernel, Precomputed

LEARNERS = [
    SVC, SVR, NuSVR, OneClassSVM, KernelRidge, LaplacianSVM, TransductiveSVM, MultipleInstanceSVM,
]  # fmt: skip
every = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)


def rows():
    """Points, labels, and labels of which some are unknown."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=40) > 0).astype(int)
    return X, y


def tanh(A, B):
    """Symmetric, and no kernel."""
    return np.tanh(0.5 * A @ B.T - 1)


def fitted(learner, X, kernel):
    """The learner of these rows."""
    points, y = rows()
    if learner in (LaplacianSVM, TransductiveSVM):
        return learner(kernel=kernel, unlabelled=-1).fit(X, np.where(np.arange(40) < 30, y, -1))
    return learner(kernel=kernel).fit(X, points[:, 0] if learner in (SVR, NuSVR, KernelRidge) else y)


@every
def test_values_and_functions_that_are_no_kernel_are_refused(learner):
    """a'Ka < 0 for some a means that there is no least objective, and so nothing to certify; that it is so is
    found whatever the solution would be: -X X', hyperbolic tangents, parts of a sum, a diagonal of 0."""
    X, _ = rows()
    swap = np.kron(np.eye(20), [[0.0, 1.0], [1.0, 0.0]])
    for given, kernel in (
        (-X @ X.T, "precomputed"),
        (swap, "precomputed"),
        (np.eye(40) - 0.9 * swap - 0.2 * np.eye(40), 2 * Precomputed()),
        (X, tanh),
        (X, FunctionKernel(lambda x, z: float(tanh(x[None], z[None])[0, 0]))),
    ):
        with pytest.raises(InputError, match=r"not positive semi-definite.*is_psd"):
            fitted(learner, given, kernel)


@every
def test_kernels_on_the_edge_are_taken(learner):
    """Gram matrices that are singular, of products or of copies, and one of zeros alone, are kernels."""
    X, _ = rows()
    copies = np.repeat(X[:20], 2, axis=0)
    for given, kernel in (
        (X @ X.T, "precomputed"),
        (copies, lambda A, B: A @ B.T),
        (copies @ copies.T, Precomputed()),
    ):
        assert fitted(learner, given, kernel).certificate_.converged
    if learner is not OneClassSVM:
        fitted(learner, np.zeros((40, 40)), "precomputed")


@pytest.mark.parametrize("learner", [SVC, SVR, NuSVR, OneClassSVM], ids=lambda learner: learner.__name__)
def test_a_certificate_does_not_contradict_itself(learner):
    """It says that the gap is certified where it is, and only there."""
    X, y = rows()
    with pytest.warns(match="not certified"):
        model = learner(tol=1e-15, max_iter=1).fit(X, y)
    assert not model.certificate_.converged
    assert "the gap is certified" not in str(model.certificate_)
