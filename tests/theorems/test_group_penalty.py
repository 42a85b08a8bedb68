"""The group lasso: its formulas, its optimum by other roads, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import MultiTaskLasso

from lineal import LinearClassifier, LinearRegressor, _core, path, verify
from lineal.errors import CombinationError, ParameterError
from lineal.learners.spelling import build, spell
from lineal.objective import L1, GroupL2, Hinge, Huber, Log, Squared, SquaredHinge
from lineal.objective.dual_points import feasible, newton_point
from lineal.objective.joint import Softmax
from lineal.objective.problem import Intercept
from lineal.objective.strengths import largest_strength
from lineal.solvers import quadratic_models
from lineal.solvers.driver import minimise
from lineal.solvers.planner import plan
from strategies import sample, seeds, small, stated

LABELS = ("a", "b", "a", "c", "b", "b")
PENALTIES = [
    GroupL2(LABELS, 0.8),
    GroupL2(None, 1.3),
    GroupL2([[1, 4], [5, 0, 2], [3]], 0.5, weights=[1.0, 0.3, 2.0]),
    GroupL2([0] * 6, 0.7),
]
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=str)
every_width = pytest.mark.parametrize("width", [None, 1, 3], ids=["flat", "one", "three"])
TIGHT = 1e-9


def weights(seed, width):
    """Six columns' weights, one group in three of them 0."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=6 if width is None else (6, width)) * rng.choice([0.1, 1.0, 10.0])
    w[[1, 4, 5]] *= rng.integers(0, 2)
    return w


def norms(penalty, w):
    """(G,) |w_g|, group by group, and the groups' weights."""
    grouping = penalty.grouping(6)
    found = [np.linalg.norm(w[grouping.codes == g]) for g in range(grouping.n_groups)]
    return np.array(found), grouping.weights


def solved(problem, tol=TIGHT):
    solution = minimise(problem, plan(problem).solvers, tol=tol)
    assert solution.certificate.converged, solution.certificate
    return solution


# ---- formulas -----------------------------------------------------------------------------------


@every_penalty
@every_width
@given(seed=seeds())
@settings(max_examples=20)
def test_value_and_conjugate_are_those_of_the_norms(penalty, width, seed):
    """R = strength sum weight |W_g|; R* is 0 where every |V_g| <= strength weight and infinite elsewhere."""
    w = weights(seed, width)
    sizes, weight = norms(penalty, w)
    np.testing.assert_allclose(penalty.terms(w), penalty.strength * weight * sizes, rtol=1e-13)
    is_inside = sizes <= penalty.strength * weight
    assert np.array_equal(np.isfinite(penalty.conjugate_terms(w)), is_inside)
    assert not penalty.conjugate_terms(w)[is_inside].any()


@every_penalty
@every_width
@given(seed=seeds())
@settings(max_examples=20)
def test_fenchel_young_group_by_group(penalty, width, seed):
    """Each term of R(w) + R*(-v) + w.v is >= 0, and 0 where -v is a slope of R at w."""
    w, v = weights(seed, width), weights(seed + 1, width)
    assert (penalty.residuals(w, v) >= -1e-12 * (1 + np.abs(w).max() * np.abs(v).max())).all()
    slope = penalty.derivative(w)
    assert np.isfinite(penalty.conjugate(slope))
    np.testing.assert_allclose(penalty.residuals(w, -slope), 0.0, atol=1e-12 * (1 + penalty.value(w)))


@every_penalty
@every_width
@given(seed=seeds(), step=st.sampled_from([0.1, 1.0, 5.0]))
@settings(max_examples=5)
def test_prox_minimises(penalty, width, seed, step):
    """No search finds less of R(x) + |x - w|^2 / (2 step), and what is left of w is a slope of R there."""
    w = weights(seed, width)

    def objective(x):
        return penalty.value(x.reshape(w.shape)) + np.sum((x.reshape(w.shape) - w) ** 2) / (2 * step)

    x = penalty.prox(w, step)
    for start in (x, w, np.zeros_like(w)):
        assert objective(x) <= minimize(objective, start.ravel()).fun + 1e-12 * (1 + objective(w))
    left = (w - x) / step
    assert penalty.scaling(left) >= 1 - 1e-12
    np.testing.assert_allclose(
        penalty.residuals(x, -left * penalty.scaling(left)), 0, atol=1e-9 * (1 + objective(x))
    )
    np.testing.assert_array_equal(penalty.prox(w, np.full(w.shape, step)), x)


@every_penalty
@given(seed=seeds())
@settings(max_examples=5)
def test_conjugate_is_the_largest_value_of_v_w_minus_penalty(penalty, seed):
    """Along every direction v.w - R(w) falls where R* is 0, and grows for ever where it is infinite."""
    rng = np.random.default_rng(seed)
    v = rng.normal(size=(6, 2))
    v *= 0.999 * penalty.scaling(1e9 * v) * 1e9
    assert penalty.conjugate(v) == 0
    for w in rng.normal(size=(50, 6, 2)):
        assert np.vdot(v, w) <= penalty.value(w)
    beyond = v * (1.01 / 0.999)
    sizes, weight = norms(penalty, beyond)
    worst = penalty.grouping(6).codes == np.argmax(sizes / weight)
    assert np.isinf(penalty.conjugate(beyond))
    w = np.where(worst[:, None], beyond, 0.0)
    assert np.vdot(beyond, w) > penalty.value(w)


@every_penalty
@every_width
@given(seed=seeds())
@settings(max_examples=5)
def test_slopes_and_curvatures_are_differences(penalty, width, seed):
    """R' and R'' are central differences of R and R' off the kinks; products and matrices agree."""
    w = weights(seed, width)
    w[np.abs(w) < 1e-3] = 0.05
    h, shape = 1e-5, w.shape
    eye = np.eye(w.size).reshape(w.size, *shape)
    slope = np.array([(penalty.value(w + h * e) - penalty.value(w - h * e)) / (2 * h) for e in eye])
    np.testing.assert_allclose(penalty.derivative(w).ravel(), slope, atol=1e-7 * (1 + penalty.value(w)))
    H = np.zeros((w.size, w.size))
    penalty.add_hessian(H, w)
    bend = [(penalty.derivative(w + h * e) - penalty.derivative(w - h * e)).ravel() / (2 * h) for e in eye]
    np.testing.assert_allclose(H, bend, atol=1e-4 * np.abs(H).max())
    np.testing.assert_allclose(penalty.second_derivative(w).ravel(), np.diag(H), atol=1e-12 * H.max())
    m = np.random.default_rng(seed).normal(size=shape)
    np.testing.assert_allclose(penalty.hessian_product(w, m).ravel(), H @ m.ravel(), atol=1e-11 * H.max())


@every_penalty
@given(seed=seeds(), chosen=st.lists(st.integers(0, 5), unique=True, min_size=1).map(sorted))
@settings(max_examples=20)
def test_some_columns_cost_what_they_cost_beside_zeros(penalty, seed, chosen):
    """take(columns) of weights is R of the same weights with 0 elsewhere, whole groups or parts of them."""
    w = np.zeros((6, 2))
    w[chosen] = np.random.default_rng(seed).normal(size=(len(chosen), 2))
    some = penalty.take(np.array(chosen))
    assert some.value(w[chosen]) == pytest.approx(penalty.value(w), rel=1e-13)
    np.testing.assert_allclose(some.derivative(w[chosen]), penalty.derivative(w)[chosen], rtol=1e-12)


@given(seed=seeds())
def test_a_column_a_group_and_one_output_is_l1(seed):
    """In every formula, bit for bit."""
    w, v = np.random.default_rng(seed).normal(size=(2, 6)).round(1)
    ours, lasso = GroupL2(strength=0.4), L1(0.4)
    for name in ("terms", "conjugate_terms", "derivative", "second_derivative", "scaling", "are_off_kinks"):
        np.testing.assert_array_equal(getattr(ours, name)(w), getattr(lasso, name)(w))
    np.testing.assert_allclose(ours.prox(w, 0.7), lasso.prox(w, 0.7), rtol=1e-15)
    np.testing.assert_allclose(ours.violations(w, v), lasso.violations(w, v), atol=1e-15)
    assert ours.largest_strength(v, 1.0) == lasso.largest_strength(v, 1.0)


# ---- optima -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [Squared(), Log(), Huber(0.3), SquaredHinge(), Hinge()], ids=str)
@pytest.mark.parametrize("intercept", list(Intercept))
def test_a_column_a_group_has_the_optimum_of_l1(loss, intercept):
    """One output: the same problem by two roads through the core."""
    tol = 1e-4 if loss == Hinge() else TIGHT
    ours, lasso = (
        solved(small(loss, each, intercept, d=8), tol).certificate
        for each in (GroupL2(strength=3.0), L1(3.0))
    )
    assert abs(ours.primal - lasso.primal) <= max(ours.gap, lasso.gap)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_column_a_group_and_many_outputs_is_the_multi_task_lasso(intercept):
    """scikit-learn's MultiTaskLasso averages the losses of rows: its alpha is the strength over n."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 20))
    Y = X[:, :3] @ rng.normal(size=(3, 4)) + rng.normal(size=(60, 4)) + 2.0
    ours = LinearRegressor(penalty=GroupL2(strength=12.0), fit_intercept=intercept, tol=1e-12).fit(X, Y)
    theirs = MultiTaskLasso(alpha=12.0 / 60, fit_intercept=intercept, tol=1e-12, max_iter=100_000).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert 0 < np.count_nonzero(ours.coef_.any(axis=0)) < 20


def test_orthonormal_groups_have_a_closed_form():
    """With X'X = I within and between groups, W_g is X_g'y shrunk by block soft thresholding."""
    rng = np.random.default_rng(0)
    X, _ = np.linalg.qr(rng.normal(size=(40, 6)))
    Y = 3 * rng.normal(size=(40, 2))
    for penalty in PENALTIES:
        found = solved(stated(X, Y, Squared(), penalty, Intercept.NONE), 1e-13)
        np.testing.assert_allclose(found.W, penalty.prox(X.T @ Y, 1.0), atol=1e-6)


@pytest.mark.parametrize("loss", [Squared(), Log(), Softmax(), Huber(0.5), SquaredHinge()], ids=str)
@pytest.mark.parametrize("intercept", list(Intercept))
@every_penalty
def test_conditions_hold_at_the_optimum(loss, intercept, penalty):
    """-V_g = strength weight W_g / |W_g|, or |V_g| <= strength weight where W_g = 0; b has its own."""
    problem = small(loss, penalty.at_strength(3.0), intercept)
    found = solved(problem)
    U = problem.losses.slopes(problem.scores(found.W, found.b))
    V, sums = problem.pull(U), problem.losses.sums(U)
    scale = np.abs(problem.X.adjoint(np.abs(problem.losses.pull(U)))).max()
    assert problem.penalty.violations(found.W, V).max() <= 1e-3 * scale
    if intercept is not Intercept.NONE:
        assert problem.constants_penalty.violations(found.b, sums).max() <= 1e-3 * scale


@pytest.mark.parametrize("loss", [Squared(), Log(), Softmax(), Huber(0.5)], ids=str)
@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE, Intercept.PENALIZED])
@every_penalty
def test_another_road_finds_the_same_optimum(loss, intercept, penalty):
    """Accelerated proximal gradients stay above the bound of prox_cd, and meet its weights' objective."""
    problem = small(loss, penalty.at_strength(2.0), intercept, seed=2)
    ours = solved(problem).certificate
    theirs = minimise(problem, plan(problem, "nesterov").solvers, tol=1e-4).certificate
    assert theirs.converged
    assert ours.dual <= theirs.primal + 1e-12 * abs(theirs.primal)
    assert theirs.dual <= ours.primal + 1e-12 * abs(ours.primal)
    assert ours.kkt_violation <= ours.gap + 1e-12 * abs(ours.primal)


@pytest.mark.parametrize("loss", [Squared(), Log(), Softmax()], ids=str)
@pytest.mark.parametrize("intercept", list(Intercept))
@every_penalty
def test_whole_groups_vanish_at_the_largest_strength(loss, intercept, penalty):
    """A little above it all weights are 0, a little below one group is not, and groups are whole."""
    problem = small(loss, penalty, intercept, seed=5)
    top = largest_strength(problem)

    def at(strength):
        return solved(
            small(loss, penalty.at_strength(strength), intercept, seed=5), 1e-12 if strength > top else 1e-10
        )

    above, below = at(1.0001 * top), at(0.99 * top)
    constants = above.b if intercept is Intercept.PENALIZED else np.zeros(1)
    assert not above.W.any()
    assert not constants.any()
    in_play = penalty.grouping(6).norms(below.W) > 0
    has_moved = in_play.any() or (intercept is Intercept.PENALIZED and below.b.any())
    assert has_moved
    assert np.all((below.W != 0).any(axis=1) == in_play[penalty.grouping(6).codes])


@pytest.mark.parametrize("loss", [Squared(), Log(), Softmax(), SquaredHinge()], ids=str)
def test_the_newton_point_is_of_second_order(loss):
    """Weights off by e have slopes whose bound is off by e, and a Newton point whose bound is off by e^2."""
    for kind in ("regression",) if loss == Squared() else ("classes",):
        problem = small(loss, GroupL2(LABELS, 2.0), Intercept.FREE, kind=kind)
        best = solved(problem, 1e-13)
        noise = np.random.default_rng(0).normal(size=best.W.shape) * (best.W != 0)
        gaps = []
        for error in (1e-2, 1e-3):
            W = best.W + error * noise
            Z = problem.scores(W, best.b)
            bound = feasible(problem, newton_point(problem, W, best.b, Z), W, best.b)
            gaps.append((best.certificate.primal - bound.dual) / best.certificate.primal)
        assert -1e-12 <= gaps[1] <= max(gaps[0] / 30, 1e-9)


@pytest.mark.parametrize("loss", [Squared(), Log(), Softmax(), Hinge()], ids=str)
def test_sparse_is_dense_and_weight_2_is_the_row_twice(loss):
    """The same problem, written in other ways."""
    kind = "regression" if loss == Squared() else "classes" if loss == Softmax() else "binary"
    X, y = sample(kind, 7, n=50)
    X[np.abs(X) < 0.5] = 0.0
    chosen = np.random.default_rng(7).integers(0, 2, len(y))
    twice = np.repeat(np.arange(len(y)), 1 + chosen)
    penalty, tol = GroupL2(LABELS, 2.0), 1e-4 if loss == Hinge() else TIGHT
    dense, sparse, repeated = (
        solved(each, tol).certificate
        for each in (
            stated(X, y, loss, penalty, s=1.0 + chosen),
            stated(sp.csr_array(X), y, loss, penalty, s=1.0 + chosen),
            stated(X[twice], y[twice], loss, penalty),
        )
    )
    assert abs(dense.primal - sparse.primal) <= max(dense.gap, sparse.gap)
    assert abs(dense.primal - repeated.primal) <= max(dense.gap, repeated.gap)


@pytest.mark.parametrize(("n", "d", "share"), [(150, 1200, 0.1), (150, 1200, 0.02)])
@pytest.mark.parametrize("K", [1, 3])
def test_working_sets_leave_nothing_out(n, d, share, K):
    """With many more groups than a working set holds, sizes mixed, the certificate is that of all columns."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    labels = np.sort(rng.integers(0, d // 6, size=d))
    rng.shuffle(labels)
    Y = X[:, :20] @ rng.normal(size=(20, K)) + rng.normal(size=(n, K))
    penalty = GroupL2(labels)
    top = largest_strength(stated(X, Y, Squared(), penalty))
    found = solved(stated(X, Y, Squared(), penalty.at_strength(share * top)), 1e-8)
    in_play = penalty.grouping(d).norms(found.W) > 0
    assert 1 < in_play.sum() < len(in_play)


@pytest.mark.parametrize("intercept", list(Intercept))
@pytest.mark.parametrize("loss", [Squared(), Log(), SquaredHinge()], ids=str)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_columns_and_gram_matrices_meet(loss, intercept, make, monkeypatch):
    """A working set is solved on its columns or on a Gram matrix, to the same optimum."""
    X, y = sample("regression" if loss == Squared() else "classes", 3)
    problem = stated(make(X), y, loss, GroupL2(LABELS, 2.0), intercept)
    monkeypatch.setattr(quadratic_models, "_USUAL_SWEEPS", 1e-9)  # then columns never pay
    by_gram = solved(problem).certificate
    monkeypatch.setattr(quadratic_models, "GRAM_LIMIT", 3)
    monkeypatch.setattr(_core, "gram_group_cd", None)  # not to be called
    by_columns = solved(problem).certificate
    assert by_columns.primal == pytest.approx(by_gram.primal, rel=2 * TIGHT)


def test_softmax_with_more_weights_than_a_model_holds_is_solved_in_parts(monkeypatch):
    """Parts of a working set in turn reach the optimum of the whole."""
    problem = small(Softmax(), GroupL2(None, 1.0), Intercept.FREE, d=12)
    whole = solved(problem, 1e-8).certificate
    monkeypatch.setattr("lineal.solvers.prox_cd.GRAM_LIMIT", 30)
    parts = solved(problem, 1e-6).certificate
    assert abs(whole.primal - parts.primal) <= parts.gap + whole.gap


# ---- learners -----------------------------------------------------------------------------------


def test_learners_paths_and_verify_take_groups():
    """A classifier and a regressor with several targets; a path whose groups join whole; a second opinion."""
    X, y = sample("classes", 0, n=80)
    model = LinearClassifier(penalty=GroupL2(LABELS, 4.0), tol=1e-7).fit(X, y)
    assert model.certificate_.converged
    assert verify(model, X, y).relative_gap <= 1e-6
    regressor = LinearRegressor(penalty=GroupL2([[0, 1, 2], [3, 4, 5]], 4.0)).fit(X, X[:, :2] + X[:, 3:5])
    assert verify(regressor, X, X[:, :2] + X[:, 3:5]).converged
    points = path(LinearClassifier(penalty=GroupL2(LABELS)), X, y, n_strengths=6)
    assert points.n_nonzero[0] == 0
    codes = GroupL2(LABELS).grouping(6).codes
    for coef in points.coef_array():
        in_play = np.array([coef[:, codes == g].any() for g in range(3)])
        assert np.array_equal(coef.any(axis=0), in_play[codes])


def test_values_of_groups_are_values():
    """Equal, hashable, spelled and read back; arrays are taken as lists."""
    labels = np.array([0, 0, 1])
    assert GroupL2(labels) == GroupL2([0, 0, 1]) == GroupL2((0, 0, 1))
    assert hash(GroupL2(labels)) == hash(GroupL2([0, 0, 1]))
    assert GroupL2([np.array([0, 1]), [2]]) == GroupL2([[0, 1], range(2, 3)])
    assert GroupL2(["x", "y"], weights={"y": 2.0, "x": 1.0}) == GroupL2(["x", "y"], weights=[1.0, 2.0])
    assert GroupL2(labels) != GroupL2(labels, 2.0)
    model = LinearClassifier(penalty=GroupL2(["x", "y"], 0.5, [1.0, 2.0]))
    assert build(spell(model)).penalty == model.penalty
    assert model.set_params(penalty__strength=3.0).penalty == GroupL2(["x", "y"], 3.0, [1.0, 2.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strength": 0.0}, "NoPenalty"),
        ({"strength": float("nan")}, "positive"),
        ({"groups": []}, "names no columns"),
        ({"groups": "abc"}, "label for each column"),
        ({"groups": 3}, "label for each column"),
        ({"groups": [[0, 1], [1, 2]]}, "overlap"),
        ({"groups": [[0, 1], [3]]}, "column 2 is left out"),
        ({"groups": [[0, 1], []]}, "without columns"),
        ({"groups": [[0, 1], 2]}, "mixes"),
        ({"groups": [["age"], ["town"]]}, "positions"),
        ({"groups": [[0, -1]]}, "positions"),
        ({"groups": [0, 0, 1], "weights": [1.0]}, "1 numbers for 2 groups"),
        ({"groups": [0, 0, 1], "weights": [1.0, 0.0]}, "positive"),
        ({"groups": [0, 0, 1], "weights": {0: 1.0}}, "1 is missing"),
        ({"weights": {0: 1.0}}, "labels"),
        ({"groups": [0, {}]}, "cannot be one"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value)),
)
def test_impossible_groups_are_refused(options, message):
    """When the penalty is made, with what to do."""
    with pytest.raises(ParameterError, match=message):
        GroupL2(**options)


def test_groups_of_other_columns_are_refused():
    """A fit says how many columns there are and how many have groups."""
    X, y = sample("binary", 0)
    with pytest.raises(ParameterError, match="groups of 5 columns, and there are 6"):
        LinearClassifier(penalty=GroupL2([0, 0, 1, 1, 2])).fit(X, y)
    with pytest.raises(ParameterError, match="groups of 5 columns, and there are 6"):
        LinearRegressor(penalty=GroupL2([[0, 1], [2, 3, 4]])).fit(X, X[:, 0])


@pytest.mark.parametrize("name", ["lbfgs", "newton", "dual_cd", "closed_form", "cg", "sgd"])
def test_solvers_without_a_proximal_step_refuse_groups(name):
    """And send to prox_cd."""
    X, y = sample("regression", 0)
    with pytest.raises(CombinationError, match="prox_cd"):
        LinearRegressor(penalty=GroupL2(LABELS), solver=name).fit(X, y)
