"""What the command line does not import, and that the classes it stands on do without change nothing.

Importing scikit-learn takes longer than learning from 25,000 reviews, so the text path does without. Library
users see scikit-learn's own base classes.
"""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import sklearn.base
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import lineal
from contract.members import estimators, named
from lineal import deferred
from lineal.protocol import full, light

HEAVY = {"asyncio", "joblib", "matplotlib", "multiprocessing", "pandas", "polars", "scipy", "sklearn"}


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    """A file of texts and labels."""
    folder = tmp_path_factory.mktemp("imports")
    rng = np.random.default_rng(0)
    rows = []
    for k in range(120):
        # More words than texts, as in files that people have: with fewer, least squares would be solved.
        words = " ".join(f"word{number}" for number in rng.integers(2000, size=30))
        rows.append(f"{'good' if k % 2 else 'bad'} {words},{'pos' if k % 2 else 'neg'}\n")
    (folder / "reviews.csv").write_text("text,label\n" + "".join(rows))
    (folder / "test.csv").write_text("text,label\n" + "".join(rows[:20]))
    return folder


def loaded_by(folder, *arguments):
    """The modules of a process that ran a command line; it must succeed."""
    program = """
    import atexit, json, sys
    atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
    from lineal.cli import main
    main()
    """
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder)
    assert run.returncode == 0, run.stderr[-800:]
    return set(json.loads(run.stderr.splitlines()[-1]))


def roots(modules):
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize(
    "options",
    [
        ["--learner", "svm", "--test", "test.csv"],
        ["--learner", "logistic"],
        ["--learner", "hinge-svm", "--cv", "3"],
        [],
    ],
    ids=["a test file", "rows held out", "folds", "the default, which searches"],
)
def test_training_on_texts_needs_no_scientific_libraries(reviews, options):
    """train of texts, without a report: neither SciPy nor scikit-learn, nor what they bring with them."""
    modules = loaded_by(reviews, "train", "reviews.csv", "--no-report", "--json", *options)
    assert not roots(modules) & {*HEAVY, "rich"}
    for part in ("compose", "selection", "plot", "report", "neighbors", "kernels", "learners.table"):
        assert not [name for name in modules if name.startswith(f"lineal.{part}.")], part


@pytest.mark.parametrize("options", [["--learner", "svm"], []], ids=["svm", "the default, which searches"])
def test_a_report_on_texts_needs_no_scientific_libraries(reviews, options):
    """Curves, calibration, comparison and learning curve of a report are drawn without them."""
    modules = loaded_by(reviews, "train", "reviews.csv", "--json", *options)
    assert not roots(modules) & HEAVY


# ---- the light classes ----------------------------------------------------------------------------------


def test_library_users_get_scikit_learns_own_classes():
    """Every estimator is a BaseEstimator of scikit-learn where nobody has chosen light classes."""
    assert lineal.TextClassifier.__mro__[-2].__module__.startswith("sklearn")
    for kind in estimators():
        assert issubclass(kind, sklearn.base.BaseEstimator), kind


def test_light_names_are_those_of_scikit_learn():
    """Both kinds of classes have the same names, so that either can be imported."""
    for name in full.__all__:
        assert hasattr(light, name), name


class Light(light.ClassifierMixin, light.BaseEstimator):
    """A classifier on light classes."""

    def __init__(self, inner=None, *, C=1.0, words=("a",)):
        self.inner, self.C, self.words = inner, C, words

    def fit(self, X, y, sample_weight=None):
        """Remembers the labels."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """The first label."""
        light.check_is_fitted(self)
        return np.repeat(self.classes_[:1], len(X))

    @light.available_if(lambda self: self.C > 1)
    def predict_proba(self, X):
        """For large C alone."""
        return np.eye(2)[: len(X)]


class Full(full.ClassifierMixin, full.BaseEstimator):
    """The same on scikit-learn's."""

    __init__, fit, predict = Light.__init__, Light.fit, Light.predict


def test_light_estimators_have_the_parameters_of_others():
    """Parameters and clones of light estimators are as scikit-learn's, also inside each other."""
    ours, theirs = Light(Light(C=2)), Full(Full(C=2))
    assert list(ours.get_params()) == list(theirs.get_params())
    assert ours.set_params(inner__C=7, C=3) is ours
    assert (ours.inner.C, ours.C) == (7, 3)
    with pytest.raises(ValueError, match="Invalid parameter 'c' for estimator Light"):
        ours.set_params(c=1)
    for clone in (light.clone, sklearn.base.clone):
        twin = clone(ours.fit([[0]], [1]))
        assert twin is not ours
        assert twin.inner is not ours.inner
        assert (twin.C, twin.inner.C, hasattr(twin, "classes_")) == (3, 7, False)
    assert light.clone([ours, {"a": 1}], safe=False)[0].C == 3
    with pytest.raises(TypeError, match="no estimator"):
        light.clone(3)
    assert repr(Light(Light(C=2))) == repr(theirs).replace("Full", "Light").replace("C=7", "C=2")


def test_light_estimators_work_with_scikit_learn():
    """Tags, pipelines, is_classifier and check_is_fitted of scikit-learn take a light estimator."""
    ours, theirs = get_tags(Light()), get_tags(Full())
    for part in ("input_tags", "target_tags", "classifier_tags"):
        for fact in type(getattr(theirs, part)).__dataclass_fields__:
            assert getattr(getattr(ours, part), fact) == getattr(getattr(theirs, part), fact), fact
    assert sklearn.base.is_classifier(Light())
    assert light.is_classifier(Full())
    assert not light.is_regressor(Light())
    model = make_pipeline(Light()).fit([[0], [1]], ["no", "yes"])
    assert model.predict([[0]]).tolist() == ["no"]
    assert model.score([[0], [1]], ["no", "yes"]) == 0.5


def test_light_checks():
    """What was not fitted is refused by the same kind of error, and methods come and go with their check."""
    for error in (ValueError, AttributeError):
        with pytest.raises(error, match="not fitted yet"):
            Light().predict([[0]])
    assert issubclass(NotFittedError, (ValueError, AttributeError))
    assert not hasattr(Light(), "predict_proba")
    assert Light(C=2).predict_proba([[0]]).shape == (1, 2)
    assert light.has_fit_parameter(Light(), "sample_weight")
    assert not light.has_fit_parameter(Light(), "groups")


@pytest.mark.parametrize("kind", estimators(), ids=named)
def test_every_estimator_can_stand_on_light_classes(kind):
    """Its own parameters, read by light code, are those that scikit-learn reads."""
    assert light.BaseEstimator._get_param_names.__func__(kind) == kind._get_param_names()


# ---- what is imported late ------------------------------------------------------------------------------


def test_nothing_is_of_a_class_that_was_never_loaded():
    """is_a knows classes of loaded modules, and imports none to find out."""
    assert deferred.is_a(3, "builtins:int")
    assert deferred.is_a(3, "no.such:Thing", "builtins:int")
    assert not deferred.is_a(3, "builtins:str", "no.such.module:Thing", "builtins:NoSuchName")


@pytest.mark.parametrize(
    "package", ["compose", "evaluation", "features", "objective", "report", "selection", "solvers"]
)
def test_names_of_packages_are_found_when_asked_for(package):
    """Every name of __all__ is there, dir() lists them, and others are refused."""
    from importlib import import_module

    home = import_module(f"lineal.{package}")
    assert set(dir(home)) >= set(home.__all__)
    for name in home.__all__:
        assert getattr(home, name) is not None
        assert not hasattr(sys.modules.get(f"lineal.{package}.{name}"), "__file__"), (
            "a module of the same name"
        )
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = home.no_such_name
