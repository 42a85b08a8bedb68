"""Options that cannot be are refused by name, before the data are read; those that can be are honoured."""

import numpy as np
import pytest

import lineal
from contract.members import classifiers, data_for, estimators, features, labels, named, numbers, regressors
from lineal import LinearClassifier, LinearRegressor, LogisticRegression, verify
from lineal.errors import CombinationError, InputError, LinealError, NoMinimumError, ParameterError
from lineal.objective import (
    L1,
    L2,
    Absolute,
    ElasticNet,
    Hinge,
    Huber,
    Log,
    Lp,
    ModifiedHuber,
    NoPenalty,
    Perceptron,
    Quantile,
    Squared,
    SquaredHinge,
)
from lineal.solvers import LBFGS, SOLVERS, ClosedForm, DualCD, Newton, ProxCD
from strategies import every_solver, first_order

every = pytest.mark.parametrize("kind", estimators(), ids=named)


class Untouchable:
    """Data that fail as soon as they are looked at."""

    def __getattr__(self, name):
        raise AssertionError(f"the data were touched: {name}")


# ---- refusals -------------------------------------------------------------------------------------

BAD = {
    "tol": [0.0, -1e-3, np.nan, "small", [1e-3]],
    "max_seconds": [0, -1.0, np.nan, "long"],
    "max_epochs": [0, -3, np.nan, "many"],
    "n_threads": [0, -1, 1.5, "two"],
    "solver": ["quantum", "", 7, None, DualCD],
    "random_state": ["seed", 1.5],
    "penalty": ["l3", L2, 5],
    "loss": ["zero_one", Hinge, 5],
    "C": [0.0, -1.0, np.nan, "strong"],
    "alpha": [-1.0, np.nan, np.inf, "strong"],
    "epsilon": [-1.0, np.nan],
    "quantile": [0.0, 1.0, -0.5, np.nan],
    "l1_ratio": [-0.1, 1.1, np.nan],
    "multi_class": ["multinomial", None],
    "positive": [True],
    "callbacks": [3, [3]],
}
CASES = [
    (kind, name, value)
    for kind in estimators()
    for name in BAD
    if name in kind().get_params() and not (kind is LogisticRegression and name == "l1_ratio")
    for value in BAD[name]
    # LinearClassifier and LinearRegressor take objects; presets take words, for which None means no penalty.
]


@pytest.mark.parametrize(
    ("kind", "name", "value"), CASES, ids=lambda v: v.__name__ if isinstance(v, type) else repr(v)
)
def test_impossible_options_are_refused_by_name(kind, name, value):
    """An option that cannot be is a ParameterError that names the option and shows the value."""
    X, y = data_for(kind)
    with pytest.raises(ParameterError) as error:
        kind(**{name: value}).fit(X, y)
    word = "epochs" if name == "max_epochs" else name  # presets call it max_iter
    assert word in str(error.value).lower() or name.lower() in str(error.value).lower()
    assert repr(value) in str(error.value) or str(value) in str(error.value) or name == "positive"


@pytest.mark.parametrize(
    ("name", "value"),
    [("tol", -1.0), ("max_seconds", -1.0), ("max_epochs", 0), ("n_threads", 0), ("solver", "quantum"),
     ("penalty", "l2"), ("loss", "log"), ("random_state", "seed")],
)  # fmt: skip
@pytest.mark.parametrize("kind", [LinearClassifier, LinearRegressor], ids=named)
def test_options_are_refused_before_the_data_are_read(kind, name, value):
    """What no data could repair is refused before data are looked at."""
    with pytest.raises(ParameterError):
        kind(**{name: value}).fit(Untouchable(), Untouchable())


def test_incompatible_pairs_are_refused_before_the_data_are_read():
    """A loss, penalty and solver that never go together are refused before data are looked at."""
    with pytest.raises(CombinationError):
        LinearClassifier(loss=Log(), solver="closed_form").fit(Untouchable(), Untouchable())
    with pytest.raises(CombinationError):
        LinearRegressor(penalty=L1(1.0), solver="newton").fit(Untouchable(), Untouchable())
    with pytest.raises(NoMinimumError):
        LinearClassifier(loss=Perceptron()).fit(Untouchable(), Untouchable())


@pytest.mark.parametrize("kind", [kind for kind in regressors() if "loss" in kind().get_params()], ids=named)
@pytest.mark.parametrize("loss", [Hinge(), Log(), SquaredHinge(), ModifiedHuber()], ids=repr)
def test_a_margin_loss_is_no_regression(kind, loss):
    """A loss of labels cannot be regressed on numbers."""
    X, y = data_for(kind)
    with pytest.raises(ParameterError, match="loss"):
        kind(loss=loss).fit(X, y)


@pytest.mark.parametrize(
    "make",
    [
        lambda: L2(-1.0), lambda: L2(0.0), lambda: L2(np.nan), lambda: L1(-1.0), lambda: L1(np.inf),
        lambda: ElasticNet(-1.0, 1.0), lambda: ElasticNet(1.0, -1.0), lambda: Lp(1.0, 1.0),
        lambda: Lp(-1.0, 2.0),
        lambda: Hinge(-1.0), lambda: Huber(0.0), lambda: Quantile(0.0), lambda: Quantile(1.0),
        lambda: lineal.objective.EpsilonInsensitive(-1.0),
        lambda: Hinge("1"), lambda: Huber(None), lambda: Quantile("0.5"), lambda: L1("1"), lambda: L2(None),
        lambda: ElasticNet("1", 1.0), lambda: Lp(1.0, "2"), lambda: lineal.objective.EpsilonInsensitive([]),
    ],
)  # fmt: skip
def test_impossible_objects_cannot_be_made(make):
    """A loss or penalty with an impossible parameter is refused when it is made, before any fit."""
    with pytest.raises(ParameterError):
        make()


# ---- combinations ---------------------------------------------------------------------------------

PENALTIES = [L2(1.0), L1(1.0), ElasticNet(0.5, 0.5), Lp(1.0, 1.5), NoPenalty()]


@pytest.mark.parametrize("solver", every_solver(), ids=lambda solver: solver.name)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", [Squared(), Absolute(), Huber()], ids=repr)
def test_a_solver_fits_or_refuses_with_an_alternative(loss, penalty, solver):
    """Asked for by name, a solver certifies or raises CombinationError naming another solver that does."""
    X = features()
    y = numbers(X)
    tol = 3e-2 if solver in first_order() else 1e-4  # gradient methods creep
    model = LinearRegressor(loss=loss, penalty=penalty, solver=solver.name, max_seconds=5, tol=tol)
    refusal = refused(model, X, y)
    if refusal is None:
        assert model.certificate_.solver == solver.name
        assert model.certificate_.converged
        return
    assert repr(penalty) in refusal or repr(loss) in refusal
    others = [other for other in SOLVERS if other in refusal and other != solver.name]
    instead = [LinearRegressor(loss=loss, penalty=penalty, solver=other) for other in others]
    assert any(refused(other, X, y) is None for other in instead), refusal


def refused(model, X, y):
    """Why a combination is refused, or None after a fit."""
    try:
        model.fit(X, y)
    except CombinationError as error:
        return str(error)
    return None


@pytest.mark.parametrize("kind", [LinearClassifier, LinearRegressor], ids=named)
def test_solver_by_name_and_by_object_are_one(kind):
    """solver='lbfgs' and solver=LBFGS() run the same thing, and plan_ says it was asked for."""
    X, y = data_for(kind)
    by_name, by_object = kind(solver="lbfgs").fit(X, y), kind(solver=LBFGS()).fit(X, y)
    np.testing.assert_array_equal(by_name.coef_, by_object.coef_)
    assert str(by_name.plan_) == str(by_object.plan_)
    assert str(by_name.plan_).startswith("lbfgs")
    assert by_name.certificate_.solver == "lbfgs"


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("solver", [DualCD(), Newton(), LBFGS()], ids=lambda solver: solver.name)
def test_the_solver_never_changes_the_answer(solver, n_classes):
    """Under L2 the minimiser is unique: every solver has the same weights and intercepts, to tol."""
    X = features(60)
    y = labels(X, n_classes)
    reference = LinearClassifier(tol=1e-12).fit(X, y)
    model = LinearClassifier(solver=solver, tol=1e-12).fit(X, y)
    # sqrt(1e-12) times the scale of the weights.
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, reference.intercept_, atol=1e-5)


def test_softmax_intercepts_sum_to_zero():
    """Adding a number to all K intercepts changes no probability; the one that is chosen sums to 0."""
    X = features(60)
    for solver in ("dual_cd", "newton", "lbfgs"):
        model = LinearClassifier(solver=solver, tol=1e-8).fit(X, labels(X, 3))
        assert abs(model.intercept_.sum()) <= 1e-6, solver
    model = LinearClassifier(penalty=L1(0.5), tol=1e-8).fit(X, labels(X, 3))
    assert abs(model.intercept_.sum()) <= 1e-6, "prox_cd"


def test_each_solver_object_can_be_passed():
    """Every solver class of the package is accepted as an object where it applies."""
    X = features()
    for solver, penalty in (
        (ClosedForm(), L2(1.0)),
        (ProxCD(), L1(1.0)),
        (Newton(), L2(1.0)),
        (DualCD(), L2(1.0)),
    ):
        assert LinearRegressor(penalty=penalty, solver=solver).fit(X, numbers(X)).certificate_.converged


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_perceptron_is_refused(penalty, n_classes):
    """The perceptron loss is minimised by w = 0: refused, with what to use instead."""
    X = features()
    with pytest.raises(NoMinimumError, match=r"Hinge\(\)"):
        LinearClassifier(loss=Perceptron(), penalty=penalty).fit(X, labels(X, n_classes))


def test_zero_one_is_for_evaluation_only():
    """ZeroOne is no loss to fit with."""
    X = features()
    with pytest.raises(ParameterError, match="ZeroOne"):
        LinearClassifier(loss=lineal.objective.ZeroOne()).fit(X, labels(X))


# ---- threads --------------------------------------------------------------------------------------


def test_threads_from_the_environment(monkeypatch):
    """LINEAL_NUM_THREADS is used when n_threads is None, and the argument goes before it."""
    from lineal.data import thread_count

    monkeypatch.setenv("LINEAL_NUM_THREADS", "3")
    assert thread_count(None) == 3
    assert thread_count(2) == 2
    monkeypatch.delenv("LINEAL_NUM_THREADS")
    assert thread_count(None) >= 1


@pytest.mark.parametrize("value", ["0", "-1", "two", "", "1.5", "²"])
def test_a_bad_thread_variable_is_refused(monkeypatch, value):
    """A value that is no positive whole number is refused by the variable's name; n_threads overrules it."""
    monkeypatch.setenv("LINEAL_NUM_THREADS", value)
    X = features()
    with pytest.raises(ParameterError, match="LINEAL_NUM_THREADS"):
        LinearClassifier().fit(X, labels(X))
    assert LinearClassifier(n_threads=1).fit(X, labels(X)).certificate_.converged


# ---- meaning --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", classifiers(), ids=named)
def test_default_tolerances_are_met(kind):
    """The default tol is at most 1e-3 for classification, and verify confirms it without the native core."""
    X, y = data_for(kind)
    model = kind().fit(X, y)
    assert model.certificate_.relative_gap <= 1e-3
    assert verify(model, X, y, tol=1e-3).converged


@pytest.mark.parametrize("kind", regressors(), ids=named)
def test_default_tolerances_of_regression_are_met(kind):
    """The default tol is at most 1e-4 for regression."""
    X, y = data_for(kind)
    model = kind().fit(X, y)
    assert model.certificate_.relative_gap <= 1e-4
    assert verify(model, X, y, tol=1e-4).converged


def test_a_penalised_intercept_is_a_constant_column():
    """penalize_intercept=True is a column of ones under the same penalty."""
    X = features()
    y = labels(X)
    inside = LinearClassifier(penalize_intercept=True, tol=1e-12).fit(X, y)
    beside = LinearClassifier(fit_intercept=False, tol=1e-12).fit(np.column_stack([X, np.ones(40)]), y)
    np.testing.assert_allclose(inside.coef_[0], beside.coef_[0, :-1], atol=1e-5)
    np.testing.assert_allclose(inside.intercept_[0], beside.coef_[0, -1], atol=1e-5)


def test_refusals_are_lineal_errors_and_value_errors():
    """Every refusal can be caught as LinealError or as ValueError."""
    X = features()
    y = labels(X)
    refusals = [
        lambda: LinearClassifier(tol=-1).fit(X, y),
        lambda: LinearClassifier(solver="closed_form").fit(X, y),
        lambda: LinearClassifier(loss=Perceptron()).fit(X, y),
        lambda: LinearClassifier().fit(X, y[:3]),
        lambda: L2(-1.0),
    ]
    for refusal in refusals:
        with pytest.raises(LinealError) as error:
            refusal()
        assert isinstance(error.value, ValueError)
        assert not isinstance(error.value, InputError) or isinstance(error.value, LinealError)


@pytest.mark.parametrize("max_iter", [-5, 0, "x", 1.5])
def test_max_iter_is_a_count_or_no_limit(max_iter):
    """-1 is LIBSVM's word for no limit; nothing else below 1 means anything."""
    X, y = data_for(lineal.LogisticRegression)
    with pytest.raises(ParameterError, match="epochs"):
        lineal.LogisticRegression(max_iter=max_iter).fit(X, y)
    assert lineal.LogisticRegression(max_iter=-1).fit(X, y).certificate_.converged


@pytest.mark.parametrize("kind", [lineal.ElasticNet, lineal.SGDRegressor, lineal.LogisticRegression])
def test_a_share_of_l1_is_a_number(kind):
    """Text is refused like a number out of range."""
    X, y = data_for(kind)
    options = {"penalty": "elasticnet"} if "penalty" in kind().get_params() else {}
    with pytest.raises(ParameterError, match="l1_ratio"):
        kind(l1_ratio="half", **options).fit(X, y)


def test_parameters_of_losses_and_penalties_are_set_by_name():
    """penalty__strength, as in grids: another penalty takes the place of the old one."""
    model = lineal.LinearClassifier(loss=Hinge(), penalty=L2(1.0))
    assert model.set_params(penalty__strength=3.0, loss__margin=2.0, tol=0.1) is model
    assert (model.penalty, model.loss, model.tol) == (L2(3.0), Hinge(2.0), 0.1)
    assert model.set_params(penalty=L1(1.0), penalty__strength=2.0).penalty == L1(2.0)
    with pytest.raises(ParameterError, match="'power'"):
        model.set_params(penalty__power=3)
