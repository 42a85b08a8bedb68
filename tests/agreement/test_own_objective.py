"""Losses and maps of one's own get solvers, budgets and true certificates for nothing."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import circulant
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator
from scipy.special import logsumexp, softmax, xlogy

from lineal.errors import CombinationError
from lineal.objective import L1, L2, ElasticNet, Intercept, LinearMap, Log, Lp, NoPenalty, Problem, Squared
from lineal.objective.bounds import worst_term
from lineal.objective.certificate import Stop
from lineal.objective.dual_points import feasible
from lineal.objective.linear_maps import NumpyRows, OperatorMap, native_dense
from lineal.objective.loss_sums import LossSum
from lineal.solvers import Budget, minimise, plan

PENALTIES = [L2(0.7), L1(1.5), ElasticNet(0.5, 0.5), Lp(1.0, 1.5), NoPenalty()]


@dataclass(frozen=True, eq=False)
class PoissonLosses(LossSum):
    """sum_i exp(z_i) - y_i z_i: counts with a logarithmic link."""

    y: np.ndarray
    is_by_row = is_by_score = is_by_output = True

    @property
    def shape(self):
        return len(self.y), 1

    def value(self, Z):
        return float((np.exp(Z) - self.y[:, None] * Z).sum())

    def slopes(self, Z):
        return np.exp(Z) - self.y[:, None]

    def curvature_product(self, Z, M):
        return np.exp(Z) * M

    def conjugate(self, U):
        rate = U[:, 0] + self.y  # the slope u stands for the rate u + y >= 0
        return float((xlogy(rate, rate) - rate).sum()) if (rate >= 0).all() else np.inf

    def factor_into_domain(self, U):
        below = -U[:, 0] > self.y
        return float((self.y[below] / -U[below, 0]).min(initial=1.0)) * (1 - 4e-16)

    def into_domain(self, U):
        return np.maximum(U, -self.y[:, None])


@dataclass(frozen=True, eq=False)
class SmoothSignal(LossSum):
    """|z - y|^2 / 2 + mu / 2 sum_i (z_{i+1} - z_i)^2: neighbouring rows meet in the Hessian."""

    y: np.ndarray
    mu: float
    refits_constants = True

    @property
    def shape(self):
        return len(self.y), 1

    @property
    def hessian(self):
        n = len(self.y)
        D = np.diff(np.eye(n), axis=0)
        return np.eye(n) + self.mu * D.T @ D

    def value(self, Z):
        z = Z[:, 0]
        return float((z - self.y) @ (z - self.y) + self.mu * (np.diff(z) ** 2).sum()) / 2

    def slopes(self, Z):
        return self.hessian @ Z - self.y[:, None]

    def curvature_product(self, Z, M):
        return self.hessian @ M

    def conjugate(self, U):
        right = U[:, 0] + self.y
        return float(right @ np.linalg.solve(self.hessian, right) - self.y @ self.y) / 2


def counts(seed=0, n=80, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) / 2
    return X, rng.poisson(np.exp(X @ rng.normal(size=d) + 0.3)).astype(float)


def by_scipy(problem, d):
    """The optimum by another road, for smooth penalties."""

    def value(theta):
        return problem.primal(theta[:d, None], theta[d:] if len(theta) > d else np.zeros(1))

    size = d + (problem.intercept is not Intercept.NONE)
    return minimize(value, np.zeros(size), method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}).fun


@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE], ids=lambda i: i.value)
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_a_sum_of_losses_of_ones_own_is_certified(penalty, intercept):
    """Poisson regression, stated in a few formulas: proved, and no other weights are below the bound."""
    X, y = counts()
    problem = Problem(NumpyRows(X), PoissonLosses(y), penalty, intercept)
    found = minimise(problem, plan(problem).solvers, tol=1e-7)
    assert found.certificate.converged, found.certificate
    assert found.certificate.stop is Stop.CERTIFIED
    if penalty.is_smooth:
        assert found.certificate.dual <= by_scipy(problem, X.shape[1]) * (1 + 1e-12) + 1e-9
    rng = np.random.default_rng(1)
    for scale in (1e-3, 0.1):
        W = found.W + scale * rng.normal(size=found.W.shape)
        assert problem.primal(W, found.b) >= found.certificate.dual - 1e-9
    bound = feasible(problem, found.U, found.W, found.b)
    Z = problem.scores(found.W, found.b)
    assert worst_term(problem, found.W, found.b, Z, bound) <= found.certificate.gap + 1e-9


@pytest.mark.parametrize("penalty", [L2(0.7), L1(1.5), Lp(1.0, 1.5)], ids=str)
def test_rows_that_meet_are_known_by_products(penalty):
    """A quadratic that couples neighbouring rows: the certified optimum is the closed form's."""
    X, y = counts(2)
    losses = SmoothSignal(y, 3.0)
    problem = Problem(NumpyRows(X), losses, penalty, Intercept.NONE)
    found = minimise(problem, plan(problem).solvers, tol=1e-9)
    assert found.certificate.converged, found.certificate
    if penalty.is_ridge:
        W = np.linalg.solve(X.T @ losses.hessian @ X + 0.7 * np.eye(5), X.T @ y)
        np.testing.assert_allclose(found.W[:, 0], W, rtol=1e-4, atol=1e-6)
    newton = plan(problem, "newton") if penalty.is_smooth else None
    if newton is not None:
        again = minimise(problem, newton.solvers, tol=1e-9)
        assert again.certificate.primal == pytest.approx(found.certificate.primal, rel=1e-8)


def convolution(seed=0, n=64):
    """A circular convolution by FFT, and the matrix that it is."""
    kernel = np.random.default_rng(seed).normal(size=n) * np.exp(-np.arange(n) / 5)
    spectrum = np.fft.fft(kernel)

    def forward(w):
        return np.fft.ifft(spectrum * np.fft.fft(np.ravel(w))).real

    def adjoint(u):
        return np.fft.ifft(np.conj(spectrum) * np.fft.fft(np.ravel(u))).real

    return LinearOperator((n, n), matvec=forward, rmatvec=adjoint, dtype=float), circulant(kernel)


@pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", [Squared(), Log()], ids=str)
def test_a_map_of_products_is_its_matrix(loss, penalty, intercept):
    """A convolution by FFT is certified, at the objective of the same matrix in the core."""
    if penalty.is_zero and (intercept is Intercept.PENALIZED or loss == Log()):
        pytest.skip("nothing is penalised, or 64 columns separate 64 rows")
    operator, matrix = convolution()
    rng = np.random.default_rng(3)
    y = matrix @ np.where(rng.random(64) < 0.1, 2.0, 0.0) + rng.normal(size=64)
    y = np.sign(y) if loss == Log() else y
    penalty = penalty if not penalty.is_zero else NoPenalty()
    posed = [
        Problem.of_rows(X, y[:, None], np.ones(64), loss, penalty, intercept, 1)
        for X in (OperatorMap(operator), native_dense(matrix, 1))
    ]
    ours, known = (minimise(each, plan(each).solvers, tol=1e-6) for each in posed)
    assert ours.certificate.converged, ours.certificate
    size = max(known.certificate.primal, 1e-9)
    assert abs(ours.certificate.primal - known.certificate.primal) <= 3e-6 * size


def test_a_map_of_products_has_gram_squares_and_columns_of_its_matrix():
    """What is made of dot and adjoint alone is what rows have."""
    operator, matrix = convolution(5, 40)
    ours, rows, rng = OperatorMap(operator), NumpyRows(matrix), np.random.default_rng(0)
    h, wanted = rng.random(40), np.array([1, 5, 17])
    np.testing.assert_allclose(ours.gram(h, True), rows.gram(h, True), atol=1e-12)
    np.testing.assert_allclose(ours.squared_adjoint(h[:, None]), rows.squared_adjoint(h[:, None]), atol=1e-12)
    W, U = rng.normal(size=(3, 2)), rng.normal(size=(40, 2))
    part, known = ours.take_columns(wanted), rows.take_columns(wanted)
    np.testing.assert_allclose(part.dot(W), known.dot(W), atol=1e-12)
    np.testing.assert_allclose(part.adjoint(U), known.adjoint(U), atol=1e-12)
    np.testing.assert_allclose(part.gram(h, False), known.gram(h, False), atol=1e-12)


@pytest.mark.parametrize("name", ["dual_cd", "sgd", "svrg", "prox_cd"])
def test_solvers_that_walk_over_rows_say_so(name):
    """A map without rows is refused by them, with a way round, before it is touched."""
    operator, _ = convolution()
    penalty = L1(1.0) if name == "prox_cd" else L2(1.0)
    problem = Problem.of_rows(
        OperatorMap(operator), np.ones((64, 1)), np.ones(64), Log(), penalty, Intercept.NONE, 1
    )
    with pytest.raises(CombinationError, match=r"rows to walk over.*use "):
        plan(problem, name)


@dataclass(frozen=True, eq=False)
class Parts(LinearMap):
    """Rows in parts, as on several machines: scores lie side by side, sums over rows add up."""

    parts: tuple[LinearMap, ...]

    @property
    def n_rows(self):
        return sum(part.n_rows for part in self.parts)

    @property
    def n_columns(self):
        return self.parts[0].n_columns

    def dot(self, W):
        return np.concatenate([part.dot(W) for part in self.parts])

    def _split(self, U):
        return np.split(U, np.cumsum([part.n_rows for part in self.parts])[:-1])

    def adjoint(self, U):
        return sum(
            part.adjoint(np.ascontiguousarray(u)) for part, u in zip(self.parts, self._split(U), strict=True)
        )

    def gram(self, h, with_constant):
        pieces = zip(self.parts, self._split(h), strict=True)
        return sum(part.gram(np.ascontiguousarray(each), with_constant) for part, each in pieces)

    def squared_adjoint(self, H):
        pieces = zip(self.parts, self._split(H), strict=True)
        return sum(part.squared_adjoint(np.ascontiguousarray(each)) for part, each in pieces)


@pytest.mark.parametrize("penalty", [L2(0.5), L1(1.0), NoPenalty()], ids=str)
def test_rows_in_parts_are_the_rows(penalty):
    """A map over parts is certified at the same objective as all rows together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    y = np.sign(X @ rng.normal(size=6) + rng.normal(size=90))[:, None]
    pieces = Parts(tuple(native_dense(np.ascontiguousarray(part), 1) for part in np.split(X, [20, 55])))
    posed = [
        Problem.of_rows(rows, y, np.ones(90), Log(), penalty, Intercept.FREE, 1)
        for rows in (pieces, native_dense(X, 1))
    ]
    apart, together = (minimise(each, plan(each).solvers, tol=1e-8) for each in posed)
    assert apart.certificate.converged
    assert apart.certificate.primal == pytest.approx(together.certificate.primal, rel=3e-8)


@dataclass(frozen=True, eq=False)
class ChainLosses(LossSum):
    """Sequences with given transitions: the log-partition of a chain less the score of its labels."""

    labels: np.ndarray
    lengths: tuple[int, ...]
    transitions: np.ndarray
    is_by_row = False

    @property
    def shape(self):
        return len(self.labels), len(self.transitions)

    def _chains(self):
        return np.split(np.arange(len(self.labels)), np.cumsum(self.lengths)[:-1])

    def _forward(self, Z):
        a = [Z[0]]
        for z in Z[1:]:
            a.append(z + logsumexp(a[-1][:, None] + self.transitions, axis=0))
        return np.array(a)

    def _backward(self, Z):
        b = [np.zeros(Z.shape[1])]
        for z in Z[:0:-1]:
            b.append(logsumexp(self.transitions + (z + b[-1]), axis=1))
        return np.array(b[::-1])

    def value(self, Z):
        total = 0.0
        for rows in self._chains():
            y = self.labels[rows]
            gold = Z[rows, y].sum() + self.transitions[y[:-1], y[1:]].sum()
            total += logsumexp(self._forward(Z[rows])[-1]) - gold
        return float(total)

    def slopes(self, Z):
        return Z.copy()  # a dual point is the potentials whose marginals it stands for

    has_array_duals = False

    def pull(self, U):
        G = np.zeros(self.shape)
        for rows in self._chains():
            G[rows] = softmax(self._forward(U[rows]) + self._backward(U[rows]), axis=1)
            G[rows, self.labels[rows]] -= 1.0
        return G

    def conjugate(self, U):
        return float(np.vdot(self.pull(U), U)) - self.value(U)  # Fenchel's equality at the potentials

    def curvature_product(self, Z, M):
        t = 1e-5
        return (self.pull(Z + t * M) - self.pull(Z - t * M)) / (2 * t)

    def anchor(self):
        return np.zeros(self.shape)


def test_a_chain_is_a_sum_of_losses_whose_dual_points_are_potentials():
    """Sequences fit the template: lbfgs minimises, potentials prove, and the bound is below every weight."""
    rng = np.random.default_rng(4)
    lengths, K, d = (5, 7, 4, 6), 3, 4
    X, labels = rng.normal(size=(22, d)), rng.integers(0, K, size=22)
    losses = ChainLosses(labels, lengths, rng.normal(size=(K, K)))
    problem = Problem(NumpyRows(X), losses, L2(0.5), Intercept.NONE)
    found = minimise(problem, plan(problem, "lbfgs").solvers, tol=1e-6)
    assert found.certificate.converged, found.certificate
    optimum = minimize(
        lambda w: problem.primal(w.reshape(d, K), np.zeros(K)), np.zeros(d * K), method="BFGS"
    ).fun
    assert found.certificate.dual <= optimum + 1e-9
    assert found.certificate.primal <= optimum * (1 + 2e-6)


def test_budgets_callbacks_and_seeds_are_the_drivers():
    """Nothing of them is the business of losses or maps."""
    X, y = counts()
    problem = Problem(NumpyRows(sp.csr_array(X)), PoissonLosses(y), L2(0.1), Intercept.FREE)
    seen = []
    budget = Budget(max_epochs=3, callbacks=[seen.append])
    cut = minimise(problem, plan(problem, "lbfgs").solvers, tol=1e-12, budget=budget)
    assert cut.certificate.stop is Stop.EPOCHS
    assert [event.epoch for event in seen] == [1, 2, 3]
    assert cut.certificate.dual <= cut.certificate.primal
    whole = minimise(replace(problem, penalty=L2(0.1)), plan(problem).solvers, tol=1e-8)
    assert cut.certificate.dual <= whole.certificate.primal * (1 + 1e-12) + 1e-12
