"""Three roads to a joint model: the joint map, the block model, and a general minimiser on dense arrays."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from lineal import JointClassifier, LinearClassifier, empirical_risk, path
from lineal.features import block_map
from lineal.objective import L1, L2, ElasticNet, Hinge, Log, Lp, NoPenalty
from lineal.solvers.planner import SOLVERS
from strategies import woven

TOL = 1e-8


def sample(n=50, d=4, K=3, seed=0):
    """Numbers with noisy labels, none of them separable."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    codes = (X @ rng.normal(size=(d, K)) + 1.5 * rng.gumbel(size=(n, K))).argmax(axis=1)
    codes[: 2 * K] = np.arange(2 * K) % K
    return X, np.array(["sports", "politics", "arts"])[codes]


@pytest.mark.parametrize(
    ("penalty", "loss", "fit_intercept"),
    woven([L2(0.7), L1(0.7), ElasticNet(0.4, 0.4), Lp(0.7, 1.5)], [Log(), Hinge()], [False, True], one_in=2),
)
def test_the_block_map_is_the_linear_classifier(loss, penalty, fit_intercept):
    """block_map gives the objective, the scores, the labels and the probabilities of LinearClassifier."""
    X, y = sample()
    tol = TOL if isinstance(loss, Log) else 1e-5
    joint = JointClassifier(block_map, loss, penalty, fit_intercept=fit_intercept, tol=tol).fit(X, y)
    block = LinearClassifier(loss, penalty, fit_intercept=fit_intercept, tol=tol).fit(X, y)
    assert joint.certificate_.primal == pytest.approx(block.certificate_.primal, rel=2 * tol)
    assert empirical_risk(joint, X, y) == pytest.approx(empirical_risk(block, X, y), rel=1e-2)
    if isinstance(loss, Log):  # curved losses have one optimum in the differences of scores
        np.testing.assert_array_equal(joint.predict(X), block.predict(X))
        np.testing.assert_allclose(joint.predict_proba(X), block.predict_proba(X), atol=2e-3)
    if isinstance(penalty, L2):
        W = np.array([[joint.weights_[j, label] for j in range(4)] for label in joint.classes_])
        # Strong convexity: each is within sqrt(2 gap / strength) of the optimum.
        reach = 2 * np.sqrt(2 * tol * block.certificate_.primal / penalty.strength)
        np.testing.assert_allclose(W, block.coef_, atol=reach)


def phi(x, y):
    """Features of their own for each label beside one that labels share by their first letter."""
    return {(0, y): x[0], (1, y): x[1], ("letter", y[0] < "q"): x[2], "length": x[3] * len(y)}


def dense(X, labels, names):
    """phi for all rows and labels as an (n, K, d) array, written out."""
    Phi = np.zeros((len(X), len(labels), len(names)))
    for i, x in enumerate(X):
        for k, label in enumerate(labels):
            for name, value in phi(x, label).items():
                Phi[i, k, names.index(name)] = value
    return Phi


@pytest.mark.parametrize("penalty", [L2(0.7), Lp(0.7, 3.0), NoPenalty()], ids=str)
def test_softmax_agrees_with_a_general_minimiser(penalty):
    """BFGS on dense arrays reaches the same objective and the same weights."""
    X, y = sample()
    model = JointClassifier(phi, Log(), penalty, tol=1e-11).fit(X, y)
    Phi = dense(X, model.classes_, model.feature_names_)
    gold = (y[:, None] == model.classes_).argmax(axis=1)
    rows = np.arange(len(X))

    def objective(w):
        Z = Phi @ w
        U = softmax(Z, axis=1)
        U[rows, gold] -= 1
        value = (logsumexp(Z, axis=1) - Z[rows, gold]).sum() + penalty.value(w)
        return value, np.einsum("ikj,ik->j", Phi, U) + penalty.derivative(w)

    found = minimize(objective, np.zeros(Phi.shape[2]), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert model.certificate_.primal == pytest.approx(found.fun, rel=1e-10)
    np.testing.assert_allclose(model.decision_function(X), Phi @ model.coef_, atol=1e-12)
    np.testing.assert_allclose(softmax(Phi @ found.x, axis=1), model.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize(
    ("loss", "penalty"), [(Hinge(), L2(0.7)), (Hinge(), L1(0.7)), (Log(), L1(0.7))], ids=str
)
def test_kinks_agree_with_a_constrained_minimiser(loss, penalty):
    """SLSQP with slacks for rows and for |w| finds nothing lower than the model, nor below its bound."""
    X, y = sample(n=20)
    model = JointClassifier(phi, loss, penalty, tol=1e-6).fit(X, y)
    Phi = dense(X, model.classes_, model.feature_names_)
    gold = (y[:, None] == model.classes_).argmax(axis=1)
    rows, d, n = np.arange(len(X)), Phi.shape[2], len(X)
    rivals = Phi - Phi[rows, gold][:, None, :]
    cost = 1.0 - np.eye(3)[gold]

    def value(theta):
        w, size, slack = theta[:d], theta[d : 2 * d], theta[2 * d :]
        ridge = 0.35 * float(w @ w) if isinstance(penalty, L2) else 0.7 * size.sum()
        losses = slack.sum() if isinstance(loss, Hinge) else logsumexp(rivals @ w, axis=1).sum()
        return losses + ridge

    bounds = [
        {"type": "ineq", "fun": lambda t: t[d : 2 * d] - t[:d]},
        {"type": "ineq", "fun": lambda t: t[d : 2 * d] + t[:d]},
        {"type": "ineq", "fun": lambda t: (t[2 * d :, None] - rivals @ t[:d] - cost).ravel()},
    ]
    begin = np.concatenate([np.zeros(2 * d), np.ones(n)])
    found = minimize(
        value, begin, constraints=bounds, method="SLSQP", options={"maxiter": 500, "ftol": 1e-12}
    )
    assert found.success
    assert model.certificate_.primal == pytest.approx(found.fun, rel=1e-5)
    assert model.certificate_.dual <= found.fun * (1 + 1e-9)


@pytest.mark.parametrize("name", sorted(SOLVERS))
@pytest.mark.parametrize(
    ("loss", "penalty"), [(Log(), L2(1.0)), (Hinge(), L2(1.0)), (Log(), L1(1.0))], ids=str
)
def test_every_solver_that_takes_it_finds_the_same(name, loss, penalty):
    """A solver changes the time, never the answer; one that refuses says whom to ask."""
    from lineal.errors import CombinationError

    X, y = sample()
    chosen = JointClassifier(phi, loss, penalty).fit(X, y)
    model = JointClassifier(phi, loss, penalty, solver=name)
    try:
        model.fit(X, y)
    except CombinationError as refusal:
        assert "use " in str(refusal)  # noqa: PT017
        return
    assert model.certificate_.converged
    assert model.certificate_.primal == pytest.approx(chosen.certificate_.primal, rel=2e-3)


def test_threads_and_containers_give_one_model():
    """One thread or two, a list, a tuple or a generator: the same bits."""
    X, y = sample()
    first = JointClassifier(phi, n_threads=1).fit(X, y)
    for things in ([row.tolist() for row in X], tuple(X), (row for row in X)):
        other = JointClassifier(phi, n_threads=2).fit(things, y)
        assert other.feature_names_ == first.feature_names_
        np.testing.assert_array_equal(other.coef_, first.coef_)


def test_a_path_of_strengths():
    """lineal.path takes a joint map: it begins where all weights are 0, and every point is certified."""
    X, y = sample()
    points = path(JointClassifier(phi, penalty=L1(1.0)), X, y, n_strengths=5, X_test=X, y_test=y)
    assert points.n_nonzero[0] == 0
    assert points.n_nonzero[-1] > 0
    assert points.model(4).decision_function(X).shape == (50, 3)
    assert points.weight_name(0) == str((0, "arts"))
    assert all(certificate.converged for certificate in points.certificates)
