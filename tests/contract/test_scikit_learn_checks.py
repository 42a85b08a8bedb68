"""Every public estimator passes scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import lineal
from contract.members import of_matrices, predictors, transformers, with_checks

# check_sample_weight_equivalence_* refit on repeated rows and compare predictions to 1e-7. A certified
# relative gap of tol leaves weights free by about sqrt(tol), so that default tolerances (1e-3 and 1e-4)
# cannot promise 1e-7. Linear learners pass at their defaults all the same, since where steps cost next to
# nothing they go on to rounding; those that are named here are run with the options below instead.
TIGHT = {
    lineal.PUClassifier: {"prior": 0.4, "tol": 1e-12},  # unless it is given, it is estimated on folds
    lineal.SVC: {"tol": 1e-10},
    lineal.SVR: {"tol": 1e-10},
    lineal.NuSVR: {"tol": 1e-10},
    lineal.OneClassSVM: {"tol": 1e-10},
    lineal.TransductiveSVM: {"tol": 1e-12},
}
# Rows that are drawn, or dealt into folds, are not drawn or dealt as their copies would be: what holds of
# their weights is in theorems/test_ensembles.
DRAWN = (lineal.Bagging, lineal.BaggingRegressor, lineal.Stacking, lineal.Calibrated)
# Fewer models than usual, for time.
SMALLER = {
    lineal.Bagging: {"n_models": 2},
    lineal.BaggingRegressor: {"n_models": 2},
    lineal.Stacking: {"learners": [lineal.GaussianNB()], "folds": 2},
    lineal.Calibrated: {"folds": 2},
}
# Searches for columns fit hundreds of learners: quick ones, on few folds, obey the same conventions.
_SEARCH = {"learner": lineal.GaussianNB(), "cv": 2, "candidates": 4}
QUICK = {
    lineal.ForwardSelection: _SEARCH,
    lineal.BackwardElimination: _SEARCH,
    lineal.FloatingSelection: _SEARCH,
    lineal.RecursiveElimination: {"learner": lineal.RidgeClassifier(), "cv": 2, "step": 0.5},
}
AT_1E7 = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


# In a stream a weight of 2 is one step with twice the loss, which is not two steps. Squared errors in a whole
# metric are the exception: OnlineRegressor passes.
STREAMS = (lineal.OnlineClassifier, lineal.PassiveAggressiveClassifier, lineal.PassiveAggressiveRegressor)


def _expected(estimator):
    """The checks that an estimator need not pass, and why."""
    if isinstance(estimator, STREAMS):
        failing = dict.fromkeys(AT_1E7, "a weight is one step with so many times the loss")
        if isinstance(estimator, lineal.PassiveAggressiveClassifier):
            failing["check_class_weight_classifiers"] = "a row that has its margin asks for no step at all"
        return failing
    if isinstance(estimator, lineal.OrdinalClassifier):
        return {
            "check_classifiers_train": "classes in a row have one score, not one for each of them",
            "check_classifiers_classes": "three names have no order until it is told",
        }
    if isinstance(estimator, DRAWN):
        return dict.fromkeys(AT_1E7, "rows are drawn: one of weight 2 is drawn otherwise than two rows")
    return {}


def _below(estimator):
    """The checks that are run below with a tight tol."""
    return AT_1E7 if type(estimator) in TIGHT else ()


# Some checks fit columns of two or three different numbers, which a cubic rightly warns of.
@pytest.mark.filterwarnings("ignore::lineal.errors.PrecisionWarning")
@pytest.mark.filterwarnings("ignore::lineal.errors.DisorderedThresholdsWarning")  # labels that mean nothing
@with_checks(
    [kind(**SMALLER.get(kind, {})) for kind in of_matrices(predictors())],
    expected_failed_checks=_expected,
    elsewhere=_below,
)
def test_scikit_learn_check(estimator, check):
    """An estimator with its default options obeys scikit-learn's conventions."""
    check(estimator)


@pytest.mark.filterwarnings("ignore::lineal.errors.PrecisionWarning")
@pytest.mark.filterwarnings("ignore::lineal.errors.DisorderedThresholdsWarning")
@with_checks(
    one_in=3,
    estimators=[
        lineal.OrdinalClassifier("immediate"),
        lineal.PUClassifier(prior=0.4, risk="unbiased"),
        lineal.GaussianNB(shared_variance=True),
        lineal.MultinomialNB(smoothing=0),
        lineal.BernoulliNB(smoothing=0),
        lineal.CategoricalNB(smoothing=0),
        lineal.KernelRidge(kernel="rbf", leave_one_out=True),
    ],
    expected_failed_checks=_expected,
    elsewhere=_below,
)
def test_scikit_learn_check_of_other_options(estimator, check):
    """An estimator with options that matter obeys scikit-learn's conventions."""
    check(estimator)


@with_checks(
    one_in=3,
    estimators=[
        lineal.Perceptron("plain", until_convergence=True, epochs=3000),
        lineal.Perceptron("voted"),
        lineal.Perceptron("random", shuffle=False, fit_intercept=False),
        lineal.Perceptron("best", validation=0.3),
        lineal.Perceptron(probability=True),
        lineal.KernelPerceptron("rbf", "voted"),
        lineal.KernelPerceptron("poly", "plain", budget=20),
    ],
)
@pytest.mark.filterwarnings("ignore::lineal.errors.NotConvergedWarning")  # some of the data are noise
def test_scikit_learn_check_of_a_learner_that_minimises_nothing(estimator, check):
    """A learner without an objective obeys scikit-learn's conventions, whatever its variant."""
    check(estimator)


@with_checks([kind(**QUICK.get(kind, {})) for kind in of_matrices(transformers())])
def test_scikit_learn_check_of_a_map(estimator, check):
    """A map of features obeys scikit-learn's conventions."""
    check(estimator)


@with_checks(
    one_in=3,
    estimators=[
        lineal.ColumnScaler("variance"),
        lineal.ColumnScaler("[0,1]", shift=True),
        lineal.PolynomialFeatures(3, ordered=True, homogeneous=True),
        lineal.TableVectorizer(sparse_output=False),
        lineal.RandomFourierFeatures("laplacian", dtype="float64"),
        lineal.RandomBinningFeatures(n_buckets=32),
        lineal.Nystroem("poly", landmarks="leverage"),
    ],
)
def test_scikit_learn_check_of_other_maps(estimator, check):
    """A map with options that matter obeys scikit-learn's conventions."""
    check(estimator)


@pytest.mark.filterwarnings(
    "ignore::lineal.errors.NotCertifiedWarning"
)  # 1e-16 is the floor of the arithmetic
@pytest.mark.parametrize(
    ("kind", "options"),
    [*TIGHT.items(), (lineal.PUClassifier, {"prior": 0.4, "risk": "unbiased", "tol": 1e-12})],
    ids=str,
)
@pytest.mark.parametrize("name", AT_1E7)
def test_weights_are_repetitions_to_1e7(kind, options, name):
    """With a tight tol, a row of weight k predicts like k rows, and weight 0 like none, to 1e-7."""
    ours = [check for _, check in estimator_checks_generator(kind(**options)) if name in str(check)]
    assert len(ours) == 1
    ours[0](kind(**options))
