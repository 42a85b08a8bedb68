"""verify, which shares no code with the native core, confirms every certificate and no false one."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from contract.members import classifiers, data_for, estimators
from contract.members import named as name_of
from lineal import (
    LaplacianSVM,
    LinearClassifier,
    LinearRegressor,
    LogisticRegression,
    MultipleInstanceSVM,
    Ridge,
    TransductiveSVM,
    empirical_risk,
    verify,
)
from lineal.errors import InputError, NotCertifiedWarning, ParameterError
from lineal.objective import Log, Squared, ZeroOne
from strategies import objectives, penalties, sample, woven

every = pytest.mark.parametrize("kind", estimators(), ids=name_of)


def first_of_each_type(members):
    """One member of each class, with its default parameters."""
    return list({type(member): member for member in reversed(members)}.values())[::-1]


one_score = first_of_each_type([loss for loss in objectives() if not loss.is_joint])
MARGIN = [loss for loss in one_score if loss.is_margin] + [Squared()]
REAL = [loss for loss in one_score if not loss.is_margin]
TOL = 1e-5

CASES = [(LinearClassifier, loss, kind) for loss in MARGIN for kind in ("binary", "classes")]
CASES += [(LinearRegressor, loss, "regression") for loss in REAL]


@pytest.mark.parametrize(
    ("learner", "loss", "kind", "penalty", "intercept"),
    woven(CASES, first_of_each_type(penalties()), [True, False], one_in=2, ids=name_of),
)
def test_verify_confirms_the_certificate(learner, loss, kind, penalty, intercept):
    """For every loss x penalty a fit converges, and NumPy alone finds the same primal and as good a bound."""
    X, y = sample(kind, seed=0, n=40, d=4)
    model = learner(loss=loss, penalty=penalty, fit_intercept=intercept, tol=TOL, max_seconds=10)
    model.fit(X, y)
    certificate, again = model.certificate_, verify(model, X, y)
    scale = abs(certificate.primal)
    assert certificate.converged
    assert again.converged
    assert abs(again.primal - certificate.primal) <= 1e-9 * scale
    assert again.gap <= certificate.gap * (1 + 1e-6) + 1e-9 * scale
    assert again.dual <= again.primal + 1e-12 * scale
    alone = verify(model, X, y, use_dual=False)
    assert alone.primal == again.primal
    # A bound from the weights alone is a bound all the same: never above the optimum.
    assert alone.dual <= certificate.primal + 1e-9 * scale
    assert alone.gap >= -1e-9 * scale


@every
def test_verify_confirms_every_estimator(kind):
    """Presets too, with weights of rows, at their default tolerance, dense and sparse."""
    X, y = data_for(kind)
    weights = np.linspace(0.5, 2.0, len(y))
    model = kind().fit(X, y, weights)
    for data in (X, sp.csr_array(X), X.tolist()):
        again = verify(model, data, y, weights)
        assert again.converged
        assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
        assert again.solver == "verify"
        assert again.seconds > 0


@every
def test_verify_knows_class_weights_and_weights(kind):
    """Without the weights of rows the objective is another one, and verify tells them apart."""
    X, y = data_for(kind)
    weights = np.where(np.arange(len(y)) % 2, 5.0, 0.2)
    model = kind().fit(X, y, weights)
    assert verify(model, X, y).primal != pytest.approx(verify(model, X, y, weights).primal, rel=1e-3)
    if kind in classifiers():
        balanced = kind(class_weight={1: 3.0}).fit(X, y)
        assert verify(balanced, X, y).primal == pytest.approx(balanced.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("use_dual", [True, False], ids=["with dual_", "weights alone"])
@pytest.mark.parametrize(("learner", "loss", "kind"), CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_a_tampered_model_does_not_verify(learner, loss, kind, use_dual):
    """Weights that are not the minimiser are found out, whatever the model claims in certificate_."""
    X, y = sample(kind, seed=0, n=40, d=4)
    model = learner(loss=loss, tol=TOL).fit(X, y)
    honest, weights = model.certificate_, model.coef_
    for factor in (1.1, 0.9, -1.0):
        model.coef_ = weights * factor
        tampered = verify(model, X, y, use_dual=use_dual)
        assert not tampered.converged
        assert tampered.primal > honest.primal
        # The proof stays true of the tampered weights: they are no more than the gap above the optimum.
        assert tampered.gap >= (tampered.primal - honest.primal) * (1 - 1e-9)


@every
def test_a_forged_dual_point_proves_nothing(kind):
    """dual_ is checked like any other point: no forgery can raise the bound above the optimum."""
    X, y = data_for(kind)
    model = kind(tol=1e-6).fit(X, y)
    optimum = model.certificate_.primal
    rng = np.random.default_rng(0)
    for forged in (100 * model.dual_, -model.dual_, rng.normal(size=model.dual_.shape), 0 * model.dual_):
        model.dual_ = forged
        assert verify(model, X, y).dual <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("kind", [LogisticRegression, Ridge], ids=name_of)
def test_wrong_data_are_refused(kind):
    """Other rows, other columns, other labels and NaN are refused in words, not verified."""
    X, y = data_for(kind)
    model = kind().fit(X, y)
    with pytest.raises(InputError, match=r"40 rows.*training data"):
        verify(model, X[:30], y[:30])
    with pytest.raises(ValueError, match="features"):
        verify(model, X[:, :3], y)
    with pytest.raises(InputError):
        verify(model, X, y[:30])
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        verify(model, X, y)


def test_unknown_labels_are_refused_by_name():
    """A label that the model never saw is named."""
    X, y = data_for(LogisticRegression)
    model = LogisticRegression().fit(X, y)
    y[3] = 77
    with pytest.raises(InputError, match="77"):
        verify(model, X, y)


def test_other_data_of_the_same_shape_do_not_verify():
    """Data of the right shape that are not the training data give another objective and no proof."""
    X, y = data_for(LogisticRegression)
    model = LogisticRegression().fit(X, y)
    assert not verify(model, X, 1 - y).converged


def test_an_unfitted_model_is_refused():
    """There is nothing to verify before fit."""
    X, y = data_for(Ridge)
    with pytest.raises(Exception, match="not fitted"):
        verify(Ridge(), X, y)


def test_tol_of_verify_is_its_own():
    """verify(tol=...) compares with that tolerance, and not with the model's."""
    X, y = data_for(LogisticRegression)
    model = LogisticRegression(solver="dual_cd", tol=1e-2).fit(X, y)
    gap = verify(model, X, y).relative_gap
    assert verify(model, X, y, tol=2 * gap).converged
    assert not verify(model, X, y, tol=gap / 2).converged


def test_verify_of_an_unfinished_fit_is_honest():
    """A fit that ran out of epochs verifies with its true gap, not as converged."""
    X, y = data_for(LogisticRegression, 200, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        model = LogisticRegression(solver="lbfgs", max_iter=2, tol=1e-9).fit(X, y)
    again = verify(model, X, y)
    assert not again.converged
    assert 0 < again.gap <= model.certificate_.gap * (1 + 1e-6) + 1e-9 * again.primal


@every
def test_empirical_risk_is_the_mean_loss(kind):
    """empirical_risk is the mean of the model's own losses; ZeroOne counts the errors of a classifier."""
    X, y = data_for(kind)
    model = kind().fit(X, y)
    assert empirical_risk(model, X, y) >= 0
    if kind in classifiers():
        assert empirical_risk(model, X, y, loss=ZeroOne()) == pytest.approx(1 - model.score(X, y))
    elif kind is Ridge:
        assert empirical_risk(model, X, y) == pytest.approx(np.mean((y - model.predict(X)) ** 2) / 2)


def test_empirical_risk_of_three_classes():
    """The same for three classes, where the loss is the softmax's."""
    X, y = sample("classes", seed=0)
    model = LinearClassifier(loss=Log()).fit(X, y)
    p = model.predict_proba(X)[np.arange(len(y)), y]
    assert empirical_risk(model, X, y) == pytest.approx(-np.log(p).mean())
    assert empirical_risk(model, X, y, loss=ZeroOne()) == pytest.approx(1 - model.score(X, y))


def test_verify_refuses_what_fit_refuses():
    """Bad numbers, a corrupt matrix, another width, no labels: in the words of the learner."""
    X, y = data_for(LogisticRegression)
    model = LogisticRegression().fit(X, y)
    gap = X.copy()
    gap[2, 1] = np.nan
    corrupt = sp.csr_array(X)
    corrupt.indices[3] = 10**9
    for data, words in ((gap, "row 2, column 1"), (corrupt, "corrupt"), (X[:, :2], "2 features")):
        with pytest.raises(InputError, match=words):
            verify(model, data, y)
    with pytest.raises(InputError, match="requires y"):
        verify(model, X)


@pytest.mark.parametrize("kind", [LaplacianSVM, MultipleInstanceSVM, TransductiveSVM])
def test_verify_says_what_it_does_not_know(kind):
    """Machines of labels, witnesses or graphs that X and y do not state have their certificate alone."""
    X, y = data_for(LogisticRegression)
    model = kind().fit(X, y)
    assert model.certificate_.converged
    with pytest.raises(ParameterError, match="choices of its own"):
        verify(model, X, y)
