"""What PUClassifier takes, refuses and says."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import lineal
from lineal.errors import CombinationError, InputError, NotCertifiedWarning, ParameterError
from lineal.objective import L1, L2, Absolute, ElasticNet, Hinge, Log, NoPenalty, Squared
from theorems.test_positive_unlabelled import positive_unlabelled, risk

X, y, truth = positive_unlabelled(0, 30, 80, 0.4)


@pytest.mark.parametrize(
    ("error", "words", "options"),
    [
        (ParameterError, "risk must be 'unbiased' or 'nonnegative'", {"risk": "biased"}),
        (ParameterError, "prior must lie between 0 and 1", {"prior": 1.0}),
        (ParameterError, "prior must lie between 0 and 1", {"prior": "half"}),
        (CombinationError, "needs penalty=L2", {"penalty": L1(1.0)}),
        (CombinationError, "needs penalty=L2", {"penalty": ElasticNet(1.0, 1.0)}),
        (CombinationError, "needs penalty=L2", {"penalty": NoPenalty()}),
        (CombinationError, "not convex.*use Log", {"risk": "unbiased", "loss": Hinge()}),
        (CombinationError, "a loss of numbers", {"loss": Absolute()}),
        (ParameterError, "loss must be a loss of one score", {"loss": "log"}),
        (ParameterError, "tol is a relative duality gap", {"tol": -1}),
    ],
)
def test_impossible_options_are_refused_before_data_are_read(error, words, options):
    """What cannot be is refused by name, whatever the data."""
    with pytest.raises(error, match=words):
        lineal.PUClassifier(**options).fit(object(), [1, 0])


@pytest.mark.parametrize(
    ("words", "labels", "options"),
    [
        ("Only binary classification is supported", np.arange(len(y)) % 3, {}),
        ("only one class", np.ones(len(y)), {}),
        ("no row of y has the label positive='yes'", y, {"positive": "yes"}),
        ("requires y", None, {}),
        ("at least 2 labelled and 2 unlabelled rows, got 1 and 109: give prior=", np.arange(len(y)) == 3, {}),
    ],
)
def test_labels_that_cannot_be_are_refused(words, labels, options):
    """y says labelled or not labelled, both with rows."""
    with pytest.raises(InputError, match=words):
        lineal.PUClassifier(**options).fit(X, labels)


def test_rows_without_weight_are_not_there():
    """One kind of rows without weight is refused."""
    with pytest.raises(InputError, match="of one class"):
        lineal.PUClassifier(0.4).fit(X, y, y)


def test_labels_may_be_anything():
    """The greater label is the positive one unless another is named; what is not may have its own name."""
    plain = lineal.PUClassifier(0.4).fit(X, y)
    assert plain.classes_.tolist() == [0, 1]
    names = np.where(y == 1, "known", "unknown")
    model = lineal.PUClassifier(0.4, positive="known", negative="no").fit(X, names)
    assert model.classes_.tolist() == ["no", "known"]
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(X) == "known", plain.predict(X) == 1)
    with pytest.raises(InputError, match="needs labelled"):
        lineal.PUClassifier(0.4, positive="known").fit(X, np.full(len(y), "known"))


def test_containers_agree():
    """Sparse, dense and frames give one model."""
    A = np.where(np.abs(X) < 0.5, 0.0, X)
    plain = lineal.PUClassifier(0.4, tol=1e-12).fit(A, y)
    for other in (sp.csr_array(A), sp.coo_array(A), pd.DataFrame(A, columns=list("abc"))):
        model = lineal.PUClassifier(0.4, tol=1e-12).fit(other, y)
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-6)
    assert lineal.PUClassifier().fit(sp.coo_array(A), y).prior_ == lineal.PUClassifier().fit(A, y).prior_


@pytest.mark.parametrize("loss", [Log(), Squared()], ids=str)
@pytest.mark.parametrize("has_intercept", [True, False], ids=["intercept", "none"])
def test_scipy_finds_the_same_minimum(loss, has_intercept):
    """A general minimiser of the risk as it is defined ends at the certified value and weights."""
    model = lineal.PUClassifier(0.4, "unbiased", loss, L2(0.5), fit_intercept=has_intercept, tol=1e-12).fit(
        X, y
    )
    ones = np.ones(len(y))

    def value(theta):
        return (
            80 * risk(loss, X, y, ones, 0.4, theta[:3], has_intercept * theta[3])
            + 0.25 * theta[:3] @ theta[:3]
        )

    found = minimize(value, np.zeros(4), method="BFGS", options={"gtol": 1e-6})
    assert np.isclose(found.fun, model.certificate_.primal, rtol=1e-8)
    np.testing.assert_allclose(found.x[:3], model.coef_[0], atol=1e-4)
    np.testing.assert_allclose(found.x[3] * has_intercept, model.intercept_[0], atol=1e-4)


def test_probabilities_need_the_log_loss():
    """Log gives probabilities that agree with predictions; other losses give scores."""
    model = lineal.PUClassifier(0.4).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    assert not hasattr(lineal.PUClassifier(loss=Squared()), "predict_proba")


def test_what_is_not_convex_is_not_certified():
    """A loss whose sides do not differ by a line has no certificate, and nothing to verify."""
    model = lineal.PUClassifier(0.4).fit(X, y).set_params(loss=Hinge()).fit(X, y)
    assert model.certificate_ is None
    assert not hasattr(model, "dual_")
    with pytest.raises(ParameterError, match="not convex"):
        lineal.verify(model, X, y)


def test_a_fit_that_runs_out_says_so():
    """A budget that is too small ends with a warning and the gap that is left."""
    model = lineal.PUClassifier(0.4, penalty=L2(1e-4), tol=1e-12, max_epochs=1)
    with pytest.warns(NotCertifiedWarning, match="PUClassifier is not certified"):
        model.fit(X, y)
    assert model.certificate_.gap > 0


def test_the_same_seed_gives_the_same_prior():
    """Folds are dealt by random_state; the same data give the same estimate."""
    assert lineal.PUClassifier().fit(X, y).prior_ == lineal.PUClassifier(random_state=0).fit(X, y).prior_
    assert 0 < lineal.PUClassifier(random_state=5).fit(X, y).prior_ < 1


@pytest.mark.parametrize("loss", [Log(), Squared(), Hinge()], ids=str)
def test_a_model_file_gives_the_same_bits(loss, tmp_path):
    """A stored model answers as the learner does, bit for bit, with the names of both classes."""
    model = lineal.PUClassifier(0.4, loss=loss, positive="known", negative="no").fit(
        X, np.where(y == 1, "known", "unknown")
    )
    lineal.save(model, tmp_path / "model.lineal")
    loaded = lineal.load(tmp_path / "model.lineal")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    if loss == Log():
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
