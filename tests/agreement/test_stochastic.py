"""Stochastic epochs of the core against NumPy, and the presets named for them against other roads."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model

import lineal
from lineal import _core
from lineal.errors import ParameterError
from lineal.objective import L1, L2, CustomLoss, ElasticNet, NoPenalty
from lineal.objective.joint import CrammerSinger, Softmax
from lineal.objective.losses import Hinge, Log, Squared
from lineal.objective.problem import Intercept
from lineal.solvers import GD, SGD, SVRG, Adam
from lineal.solvers.batches import Batch, Batches
from lineal.solvers.driver import Budget, minimise
from lineal.solvers.planner import plan
from lineal.solvers.primal import Objective
from reference import first_order as printed
from strategies import joint_losses, kinds_of, losses, sample, small, stated

KNOWN = losses() + joint_losses()


@pytest.mark.parametrize("loss", KNOWN, ids=repr)
@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE])
def test_a_batch_is_its_rows(loss, intercept):
    """Slopes are the loss's derivatives at X_B W + b, and they are carried back by X_B', dense and sparse."""
    rng = np.random.default_rng(0)
    X, y = sample(kinds_of(loss)[-1], 3)
    index = rng.permutation(60)[:7]
    for data in (X, sp.csr_array(X), X.astype(np.float32)):
        problem = stated(data, y, loss, L2(1.0), intercept, rng.uniform(0.5, 2.0, 60))
        objective = Objective(problem)
        theta = rng.normal(size=objective.n_parameters)
        batch = Batch(Batches.of(objective, 7), index)
        W, b = objective.split(theta)
        dense = np.asarray(data.todense() if sp.issparse(data) else data, dtype=np.float64)[index]
        U = loss.derivative(problem.losses.y[index], dense @ W + b)
        np.testing.assert_allclose(batch.slopes(theta), U, rtol=1e-10, atol=1e-12)
        SU = 60 / 7 * problem.losses.s[index, None] * U
        np.testing.assert_allclose(batch.back(U), objective.flat(dense.T @ SU, SU.sum(axis=0)), atol=1e-10)


@pytest.mark.parametrize("intercept", list(Intercept))
@pytest.mark.parametrize("size", [1, 7, 60])
@pytest.mark.parametrize("loss", [Hinge(), Squared(), Softmax(), CrammerSinger()], ids=repr)
def test_sgd_is_the_rule_for_any_outputs_intercept_and_batch(loss, size, intercept):
    """Three epochs: the last iterate, and the mean since the last power of two among the epochs."""
    problem = small(loss, L2(30.0), intercept, kinds_of(loss)[-1])
    offset = 500.0
    theta = np.zeros((6 + (intercept is not Intercept.NONE)) * problem.n_outputs)
    rows = printed.batches(60, size, 3, seed=4)
    seen = printed.subgradient_steps(problem, theta, rows, lambda t: 1 / (30.0 * (t + offset)))
    means = [np.mean(seen[0], axis=0), np.mean(seen[1], axis=0), np.mean(seen[1] + seen[2], axis=0)]
    for averaged, wanted in ((False, [epoch[-1] for epoch in seen]), (True, means)):
        solver = SGD(batch_size=size, offset=offset, averaged=averaged)
        stream = islice(solver.iterates(problem, None, 1e-3, 4), 1, 4)
        for iterate, expected in zip(stream, wanted, strict=True):
            W, b = iterate.weights()
            flat = Objective(problem).flat(W, b)
            np.testing.assert_allclose(flat, expected, rtol=1e-9, atol=1e-12)


def _eager(solver, problem, epochs, seed):
    """The same solver's steps through NumPy, every weight at every step."""
    objective = Objective(problem)
    walk = solver._begin(objective, None)
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        walk.best = objective.point(super(GD, solver)._epoch(walk.batches, walk, rng), by_prox=walk.by_prox)
    return walk.best.theta


@pytest.mark.parametrize("penalty", [L2(2.0), NoPenalty(), L1(2.0), ElasticNet(1.0, 1.0)], ids=repr)
@pytest.mark.parametrize("loss", [Log(), Softmax()], ids=repr)
@pytest.mark.parametrize("kind", [GD, SVRG])
def test_lazy_epochs_of_sparse_rows_are_the_engine_s_own(kind, loss, penalty):
    """gd and svrg in the core go where the steps of the shared engine go, weights at 0 included."""
    rng = np.random.default_rng(1)
    X = np.where(rng.random((60, 40)) < 0.08, rng.normal(size=(60, 40)), 0.0)
    y = np.arange(60) % (2 if isinstance(loss, Log) else 4)
    problem = stated(sp.csr_array(X), y, loss, penalty, Intercept.FREE, rng.uniform(0.5, 2.0, 60))
    solver = kind(batch_size=3)
    objective = Objective(problem)
    walk = solver._begin(objective, None)
    order = np.random.default_rng(5)
    for _ in range(2):
        walk.best = objective.point(solver._epoch(walk.batches, walk, order), by_prox=walk.by_prox)
    eager = _eager(solver, problem, 2, 5)
    np.testing.assert_allclose(walk.best.theta, eager, rtol=1e-9, atol=1e-12)
    assert np.array_equal(walk.best.theta == 0, eager == 0)


def test_many_waiting_columns_are_certified_too():
    """Far more columns than a batch meets: sgd and svrg reach what dual_cd proves, in either layout."""
    rng = np.random.default_rng(2)
    X = sp.random_array((200, 2000), density=0.01, rng=rng, format="csr")
    y = rng.integers(0, 2, 200)
    problem = stated(X, y, Log(), L2(2.0))
    exact = minimise(problem, plan(problem).solvers, tol=1e-8).certificate.primal
    for solver in (SGD(), SGD(batch_size=5), SVRG()):
        proof = minimise(problem, [solver], tol=1e-3, budget=Budget(max_seconds=10)).certificate
        assert proof.converged, proof
        assert exact <= proof.primal * (1 + 1e-7) <= exact * (1 + 2e-3)


class Own(CustomLoss):
    """Log, as somebody would state it."""

    is_margin = True
    curvature = 0.25

    def value(self, y, z):
        return np.logaddexp(0.0, -y * z)

    def derivative(self, y, z):
        return -y / (1 + np.exp(y * z))


@pytest.mark.parametrize(
    "solver", [SGD(), SGD(batch_size=7), SVRG(), GD(batch_size=8), Adam(batch_size=8)], ids=repr
)
def test_a_loss_of_ones_own_takes_the_same_batches(solver):
    """Slopes in NumPy on the core's scores: the steps of the same loss in the core."""
    problem = small(Log(), L2(5.0), Intercept.FREE)
    own, known = (
        list(
            islice(solver.iterates(replace(problem, losses=problem.losses.with_loss(loss)), None, 1e-3, 2), 4)
        )
        for loss in (Own(), Log())
    )
    for a, b in zip(own, known, strict=True):
        np.testing.assert_allclose(a.weights()[0], b.weights()[0], rtol=1e-8, atol=1e-12)


def test_the_core_refuses_orders_and_shapes_that_do_not_fit():
    """No wild index and no short array reaches memory."""
    problem = small(Log(), L2(1.0), Intercept.FREE)
    batches = Batches.of(Objective(problem), 8)
    theta, U = np.zeros(7), np.empty((60, 1))
    order = np.arange(60)

    def epoch(order=order, steps=8, theta=theta, total=None, U=U):
        _core.sgd_epoch(
            batches.slopes,
            batches.matrix,
            problem.losses.s,
            order,
            8,
            np.full(steps, 1e-3),
            1.0,
            0.0,
            theta,
            total,
            U,
        )

    epoch()
    for wrong in (
        {"order": order[:-1]}, {"order": order + 1}, {"order": order - 1}, {"steps": 7},
        {"theta": np.zeros(9)}, {"total": np.zeros(6)}, {"U": np.empty((59, 1))},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"epoch|row|step|length|shape"):
            epoch(**wrong)
    with pytest.raises(ValueError, match="no such class"):
        _core.RowSlopes.softmax(np.array([0, 3], dtype=np.int32), 3)


# ---- presets --------------------------------------------------------------------------------------

CLASSIFIER_LOSSES = {
    "hinge": lineal.objective.Hinge(), "log_loss": Log(), "squared_hinge": lineal.objective.SquaredHinge(),
    "modified_huber": lineal.objective.ModifiedHuber(), "squared_error": Squared(),
}  # fmt: skip
REGRESSOR_LOSSES = {
    "squared_error": Squared(), "huber": lineal.objective.Huber(0.3),
    "epsilon_insensitive": lineal.objective.EpsilonInsensitive(0.3),
    "squared_epsilon_insensitive": lineal.objective.SquaredEpsilonInsensitive(0.3),
}  # fmt: skip
PENALTIES = {
    "l2": lambda strength: L2(strength),
    "l1": lambda strength: L1(strength),
    "elasticnet": lambda strength: ElasticNet(0.4 * strength, 0.6 * strength),
    None: lambda strength: NoPenalty(),
}


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize(
    ("kind", "name"),
    [(lineal.SGDClassifier, name) for name in CLASSIFIER_LOSSES]
    + [(lineal.SGDRegressor, name) for name in REGRESSOR_LOSSES],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_preset_minimises_the_mean_loss_and_alpha_times_the_penalty(kind, name, penalty):
    """Weighted: the same optimum as the general learner at strength alpha sum s, to within the two gaps."""
    is_classifier = kind is lineal.SGDClassifier
    X, y = sample("binary" if is_classifier else "regression", 2)
    s = np.random.default_rng(2).choice([0.5, 1.0, 2.0], 60)
    ours = kind(loss=name, penalty=penalty, alpha=0.02, l1_ratio=0.4, epsilon=0.3, tol=1e-3).fit(X, y, s)
    loss = (CLASSIFIER_LOSSES if is_classifier else REGRESSOR_LOSSES)[name]
    general = lineal.LinearClassifier if is_classifier else lineal.LinearRegressor
    exact = general(loss=loss, penalty=PENALTIES[penalty](0.02 * s.sum()), tol=1e-5).fit(X, y, s)
    proof = ours.certificate_
    assert proof.converged, proof
    assert proof.primal * (1 - 1e-3) <= exact.certificate_.primal
    assert exact.certificate_.dual <= proof.primal * (1 + 1e-12)


def test_the_solver_may_be_chosen():
    """A name is heeded, whatever the planner would take."""
    X, y = sample("binary", 2)
    for name in ("dual_cd", "sgd"):
        assert lineal.SGDClassifier(alpha=0.1, tol=0.1, solver=name).fit(X, y).certificate_.solver == name


def test_several_classes_go_one_against_the_rest():
    """As in scikit-learn: each class's weights are those of its own two-class fit."""
    X, y = sample("classes", 2)
    model = lineal.SGDClassifier(loss="log_loss", alpha=0.05, tol=1e-6).fit(X, y)
    assert model.coef_.shape == (5, 6)
    for k in range(5):
        alone = lineal.SGDClassifier(loss="log_loss", alpha=0.05, tol=1e-6).fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], atol=5e-3)


def test_probabilities_of_several_classes_are_their_own_divided_by_their_sum():
    """As in scikit-learn, and where all of them underflow too."""
    X, y = sample("classes", 2)
    model = lineal.SGDClassifier(loss="log_loss", alpha=0.05).fit(X, y)
    own = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X), own / own.sum(axis=1, keepdims=True), rtol=1e-9)
    model.intercept_ = model.intercept_ - 2000.0
    p = model.predict_proba(X)
    assert np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "options",
    [
        {"learning_rate": "constant"}, {"eta0": 1.0, "power_t": 0.1}, {"average": True}, {"shuffle": False},
        {"verbose": 1}, {"n_iter_no_change": 2, "validation_fraction": 0.3},
    ],
    ids=str,
)  # fmt: skip
def test_options_that_only_steer_the_way_change_nothing(options):
    """Bit for bit."""
    X, y = sample("binary", 3)
    for kind, targets in ((lineal.SGDClassifier, y), (lineal.SGDRegressor, y + 0.5)):
        plain, steered = kind(alpha=0.05).fit(X, targets), kind(alpha=0.05, **options).fit(X, targets)
        assert plain.coef_.tobytes() == steered.coef_.tobytes()


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        (lineal.SGDClassifier, {"loss": "perceptron"}, "hinge"),
        (lineal.SGDClassifier, {"loss": "squared"}, "squared_error"),
        (lineal.SGDRegressor, {"loss": "hinge"}, "epsilon_insensitive"),
        (lineal.SGDClassifier, {"early_stopping": True}, "alpha"),
        (lineal.SGDClassifier, {"learning_rate": "pa1"}, "optimal"),
        (lineal.SGDClassifier, {"penalty": "l0"}, "elasticnet"),
        (lineal.SGDClassifier, {"penalty": "elasticnet", "l1_ratio": 2.0}, "l1_ratio"),
        (lineal.SGDRegressor, {"alpha": -1.0}, "alpha"),
        (lineal.SGDRegressor, {"loss": "huber", "epsilon": 0.0}, "epsilon"),
        (lineal.SGDRegressor, {"solver": "fast"}, "sgd"),
    ],
)
def test_what_has_no_meaning_here_is_refused_with_what_to_use(kind, options, says):
    """Before any work."""
    with pytest.raises(ParameterError, match=says):
        kind(**options).fit([[0.0], [1.0]], [0, 1])


# Not squared_hinge: their first steps of it are too long, and the mean keeps what they did.
@pytest.mark.parametrize("name", ["hinge", "log_loss", "modified_huber"])
def test_scikit_learn_goes_where_the_certificate_is(name):
    """Their averaged weights after many epochs are near ours, and their objective is above our bound."""
    X, y = sample("binary", 4)
    ours = lineal.SGDClassifier(loss=name, alpha=0.05, tol=1e-6).fit(X, y)
    theirs = linear_model.SGDClassifier(
        loss=name, alpha=0.05, max_iter=2000, tol=None, average=True, random_state=0
    ).fit(X, y)
    problem = stated(X, y, CLASSIFIER_LOSSES[name], L2(0.05 * 60))
    value = problem.primal(np.ascontiguousarray(theirs.coef_.T), theirs.intercept_)
    assert ours.certificate_.dual <= value <= ours.certificate_.primal * 1.01
    np.testing.assert_allclose(theirs.coef_, ours.coef_, atol=0.05)
