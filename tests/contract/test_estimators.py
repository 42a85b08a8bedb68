"""Every public estimator lives in scikit-learn's world and has the attributes it promises."""

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contract.members import (
    classifiers,
    data_for,
    estimators,
    features,
    labels,
    named,
    numbers,
    of_matrices,
    regressors,
    same_model,
)
from lineal import empirical_risk
from lineal.errors import InputError
from lineal.objective import Certificate
from lineal.solvers import Plan, Progress

every = pytest.mark.parametrize("kind", of_matrices(estimators()), ids=named)
every_classifier = pytest.mark.parametrize("kind", of_matrices(classifiers()), ids=named)
every_regressor = pytest.mark.parametrize("kind", regressors(), ids=named)


# ---- parameters -----------------------------------------------------------------------------------


@every
def test_get_params_names_every_argument(kind):
    """get_params() returns exactly the arguments of __init__, and set_params() gives them back."""
    model = kind()
    params = model.get_params()
    assert set(params) == set(inspect.signature(kind).parameters)
    assert model.set_params(tol=0.25) is model
    assert model.get_params()["tol"] == 0.25
    assert kind(**params).get_params() == params


@every
def test_set_params_refuses_an_unknown_name(kind):
    """A misspelt parameter is refused by name."""
    with pytest.raises(ValueError, match="tolerance"):
        kind().set_params(tolerance=1.0)


@every
def test_fit_leaves_parameters_alone(kind):
    """fit learns attributes and rewrites no option: the very same objects are still there."""
    X, y = data_for(kind)
    model = kind()
    before = model.get_params()
    model.fit(X, y)
    after = model.get_params()
    assert all(after[name] is before[name] for name in before)


@every
def test_clone_copies_options_and_nothing_learned(kind):
    """clone gives an unfitted twin; fitted on the same data it is the same model, bit for bit."""
    X, y = data_for(kind)
    model = kind(tol=1e-5).fit(X, y)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "coef_")
    with pytest.raises(NotFittedError):
        twin.predict(X)
    assert same_model(twin.fit(X, y), model)


@every
def test_pickle_keeps_the_model(kind):
    """A model that went through pickle predicts the same bits and still carries its certificate."""
    X, y = data_for(kind)
    model = kind().fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.certificate_ == model.certificate_
    assert same_model(copy, model)


# ---- composition ----------------------------------------------------------------------------------


@every
def test_grid_search_over_tol(kind):
    """GridSearchCV can clone, set, fit and score it, and reports a score for each setting."""
    X, y = data_for(kind)
    search = GridSearchCV(kind(), {"tol": [1e-2, 1e-5]}, cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert search.best_estimator_.tol in (1e-2, 1e-5)


@every
def test_pipeline_is_the_two_steps(kind):
    """In a pipeline behind a scaler it is the model of the scaled data."""
    X, y = data_for(kind)
    X = 3.0 * X + 1.0
    scaled = StandardScaler().fit_transform(X)
    pipeline = make_pipeline(StandardScaler(), kind()).fit(X, y)
    alone = kind().fit(scaled, y)
    assert same_model(pipeline[-1], alone)
    np.testing.assert_array_equal(pipeline.predict(X), alone.predict(scaled))


@every
def test_no_set_output(kind):
    """It transforms nothing, so there is no set_output; frames in a pipeline give the same predictions."""
    X, y = data_for(kind)
    assert not hasattr(kind(), "set_output")
    plain = make_pipeline(StandardScaler(), kind()).fit(X, y)
    framed = make_pipeline(StandardScaler(), kind()).set_output(transform="pandas").fit(X, y)
    assert isinstance(framed.predict(X), np.ndarray)
    assert same_model(plain[-1], framed[-1])


# ---- columns --------------------------------------------------------------------------------------


@every
def test_n_features_in(kind):
    """n_features_in_ is the number of columns; nameless data leave no feature_names_in_."""
    X, y = data_for(kind)
    model = kind().fit(X, y)
    assert model.n_features_in_ == X.shape[1]
    assert not hasattr(model, "feature_names_in_")


@every
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_feature_names_come_from_frames(kind, frame):
    """feature_names_in_ holds the columns' names, and the names change nothing else."""
    X, y = data_for(kind)
    columns = [f"word {j}" for j in range(X.shape[1])]
    framed = frame({name: X[:, j] for j, name in enumerate(columns)})
    model = kind().fit(framed, y)
    assert list(model.feature_names_in_) == columns
    assert same_model(model, kind().fit(X, y))
    np.testing.assert_array_equal(model.predict(framed), kind().fit(X, y).predict(X))


@every
def test_columns_in_another_order_are_refused(kind):
    """A frame whose columns are named differently than in fit is refused, not silently misread."""
    X, y = data_for(kind)
    model = kind().fit(pd.DataFrame(X, columns=list("abcde")), y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=list("edcba")))


@every
@pytest.mark.parametrize("d", [4, 6])
def test_wrong_feature_count_is_refused(kind, d):
    """Data with more or fewer columns than in fit are refused with both counts."""
    X, y = data_for(kind)
    model = kind().fit(X, y)
    with pytest.raises(ValueError, match=rf"(?s)(?=.*{d} features)(?=.*5 features)"):
        model.predict(features(3, d))


# ---- attributes -----------------------------------------------------------------------------------


def assert_certified(model):
    """What every fit leaves behind, whatever it learned."""
    certificate = model.certificate_
    assert isinstance(certificate, Certificate)
    assert certificate.converged
    assert certificate.dual <= certificate.primal + 1e-12 * abs(certificate.primal)  # both are rounded sums
    assert certificate.gap == certificate.primal - certificate.dual
    assert certificate.relative_gap <= model._tolerance
    assert 0 <= certificate.kkt_violation <= certificate.gap + 1e-9 * abs(certificate.primal)
    assert certificate.epochs >= 1
    assert certificate.seconds > 0
    assert certificate.reason == "the gap is certified"
    assert set(certificate.solver.split("+")) <= {solver.name for solver in model.plan_.solvers}
    assert isinstance(model.plan_, Plan)
    assert len(str(model.plan_)) > 20  # a sentence: which, and why
    assert "\n" not in str(model.plan_)
    assert model.n_iter_ == certificate.epochs
    assert all(isinstance(point, Progress) for point in model.trace_)
    assert model.trace_[-1].gap == certificate.gap
    assert model.coef_.dtype == np.float64


@every_classifier
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifier_attributes(kind, n_classes):
    """Two classes share one row of weights, K > 2 have a row each; classes_ are the sorted labels."""
    X = features(90)
    y = np.array(["c", "a", "b"])[labels(X, n_classes)]
    model = kind().fit(X, y)
    K = 1 if n_classes == 2 else n_classes
    assert_certified(model)
    assert model.coef_.shape == (K, 5)
    assert model.intercept_.shape == (K,)
    assert model.classes_.tolist() == sorted(set(y.tolist()))
    assert model.dual_.shape == (90, K)
    assert model.decision_function(X).shape == ((90,) if K == 1 else (90, K))
    assert set(model.predict(X).tolist()) <= set(y.tolist())
    assert model.score(X, y) > max(np.mean(y == label) for label in set(y.tolist()))


@every_classifier
def test_decision_is_the_scores_and_predict_their_winner(kind):
    """decision_function = X coef' + intercept; predict = the class of the highest score."""
    X = features(90)
    for n_classes in (2, 3):
        model = kind().fit(X, labels(X, n_classes))
        Z = X @ model.coef_.T + model.intercept_
        winners = (Z[:, 0] >= 0).astype(int) if n_classes == 2 else Z.argmax(axis=1)
        np.testing.assert_allclose(model.decision_function(X).reshape(Z.shape), Z, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), model.classes_[winners])


@every_classifier
def test_no_intercept_means_zero(kind):
    """fit_intercept=False leaves an intercept of exactly 0, of the usual shape."""
    X = features(90)
    for n_classes, K in ((2, 1), (3, 3)):
        model = kind(fit_intercept=False).fit(X, labels(X, n_classes))
        np.testing.assert_array_equal(model.intercept_, np.zeros(K))


@every_regressor
def test_regressor_attributes(kind):
    """One target gives coef_ of shape (d,) and a plain number as intercept_."""
    X = features()
    model = kind().fit(X, numbers(X))
    assert_certified(model)
    assert model.coef_.shape == (5,)
    assert isinstance(model.intercept_, float)
    assert model.dual_.shape == (40, 1)
    assert model.predict(X).shape == (40,)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_, atol=1e-12)
    assert kind(fit_intercept=False).fit(X, numbers(X)).intercept_ == 0.0


@every_regressor
def test_multi_output_attributes(kind):
    """K targets give coef_ (K, d), intercept_ (K,) and predictions (n, K)."""
    X = features()
    model = kind().fit(X, numbers(X, 3))
    assert_certified(model)
    assert model.coef_.shape == (3, 5)
    assert model.intercept_.shape == (3,)
    assert model.dual_.shape == (40, 3)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_.T + model.intercept_, atol=1e-12)


@every_regressor
def test_multi_output_is_the_regressions_side_by_side(kind):
    """Fitting K targets at once solves the K regressions: the least objective is the sum of theirs."""
    X = features()
    y = numbers(X, 3)
    together = kind(tol=1e-8).fit(X, y)
    alone = [kind(tol=1e-8).fit(X, y[:, k]) for k in range(3)]
    assert together.certificate_.primal == pytest.approx(sum(m.certificate_.primal for m in alone), rel=2e-8)
    risks = [empirical_risk(m, X, y[:, k]) for k, m in enumerate(alone)]
    assert empirical_risk(together, X, y) == pytest.approx(sum(risks), rel=1e-3)


ODD_LABELS = [["b", 2], [("a", 1), ("b", 2)], [(1, 2), (3, 4)], [b"x", b"y"], [None, "a"]]


@every_classifier
def test_a_score_takes_the_labels_that_fit_takes(kind):
    """Labels of several types, tuples and bytes too: the share that is predicted, by weight."""
    X = features(40)
    is_second = labels(X) == labels(X)[0]
    s = np.arange(40.0)
    for names in ODD_LABELS:
        y = [names[int(k)] for k in is_second]
        model = kind().fit(X, y)
        is_right = [said == label for said, label in zip(model.predict(X).tolist(), y, strict=True)]
        assert model.score(X, y) == np.mean(is_right)
        assert model.score(X, y, sample_weight=s) == pytest.approx(np.average(is_right, weights=s))
    model = kind().fit(X, np.where(is_second, "yes", "no"))
    with pytest.raises(InputError, match="none can be right"):
        model.score(X, is_second)
