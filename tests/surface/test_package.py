"""The package as a person meets it: names, version, errors, the cost of importing it."""

import importlib
import subprocess
import sys
import textwrap
from importlib.metadata import version

import pytest

import lineal
import lineal.data
import lineal.errors
import lineal.features
import lineal.objective
import lineal.plot
import lineal.solvers


def python(program):
    """What a fresh interpreter prints."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr[-1000:]
    return run.stdout.strip()


@pytest.mark.parametrize(
    "name",
    [
        "lineal",
        "lineal.compose",
        "lineal.objective",
        "lineal.solvers",
        "lineal.data",
        "lineal.evaluation",
        "lineal.features",
        "lineal.kernels",
        "lineal.neighbors",
        "lineal.plot",
        "lineal.selection",
        "lineal.text",
    ],
)
def test_all_is_sorted_and_importable(name):
    """__all__ holds each public name once, sorted plainly or as the linter does; every name can be had."""
    module = importlib.import_module(name)
    names = list(module.__all__)
    constants = [n for n in names if n.isupper()]
    classes = [n for n in names if n not in constants and n[0].isupper()]
    functions = [n for n in names if n not in constants and n not in classes]
    assert names in (sorted(names), sorted(constants) + sorted(classes) + sorted(functions))
    assert len(set(names)) == len(names)
    for public in names:
        assert getattr(module, public) is not None
        assert not public.startswith("_")


def test_every_estimator_of_the_package_is_public():
    """No class with a public name that can fit is left out of __all__."""
    from lineal.compose import (
        bagging,
        calibration,
        co_training,
        one_vs_one,
        one_vs_rest,
        output_code,
        self_training,
        stacking,
        voting,
    )
    from lineal.features import polynomial, scaling, table
    from lineal.features.random_maps import binning, fourier, nystroem
    from lineal.learners import classifier, curve, regressor
    from lineal.learners.bayes import bernoulli, categorical, gaussian
    from lineal.learners.bayes import text as bayes_text
    from lineal.learners.fisher import discriminant
    from lineal.learners.joint import classifier as joint_classifier
    from lineal.learners.joint import passive_aggressive as joint_passive_aggressive
    from lineal.learners.joint import perceptron as joint_perceptron
    from lineal.learners.kernel import one_class, svc, svr
    from lineal.learners.kernel import ridge as kernel_ridge
    from lineal.learners.kernel.perceptron import classifier as kernel_perceptron
    from lineal.learners.neighbors import classifier as neighbor_classifier
    from lineal.learners.neighbors import regressor as neighbor_regressor
    from lineal.learners.online import classifier as online_classifier
    from lineal.learners.online import passive_aggressive
    from lineal.learners.online import regressor as online_regressor
    from lineal.learners.perceptron import classifier as perceptron
    from lineal.learners.presets import classification, regression, stochastic
    from lineal.learners.scenarios import laplacian, multiple_instance, ordinal, pu, transductive
    from lineal.learners.scenarios.ranking import learner as ranking_machine
    from lineal.learners.table import classifier as table_classifier
    from lineal.learners.table import regressor as table_regressor
    from lineal.learners.text import classifier as text_classifier
    from lineal.learners.text import regressor as text_regressor
    from lineal.selection import elimination, filters, stepwise
    from lineal.text import vectorizer

    found = {
        name
        for module in (
            *(classifier, joint_classifier, joint_passive_aggressive, joint_perceptron, regressor),
            *(classification, regression, stochastic, perceptron),
            *(curve, discriminant, polynomial, scaling, table),
            *(binning, fourier, nystroem),
            *(kernel_perceptron, kernel_ridge, one_class, svc, svr),
            *(laplacian, multiple_instance, ordinal, pu, ranking_machine, transductive),
            *(bernoulli, categorical, gaussian, bayes_text),
            *(neighbor_classifier, neighbor_regressor),
            *(table_classifier, table_regressor, text_classifier, text_regressor, vectorizer),
            *(co_training, self_training),
            *(elimination, filters, stepwise),
            *(online_classifier, online_regressor, passive_aggressive),
            *(bagging, calibration, one_vs_one, one_vs_rest, output_code, stacking, voting),
        )
        for name, member in vars(module).items()
        if isinstance(member, type)
        and member.__module__ == module.__name__
        and hasattr(member, "fit")
        and not name.startswith(("_", "Base"))
    }
    assert found == {name for name in lineal.__all__ if hasattr(getattr(lineal, name), "fit")}


def test_all_of_the_objective_is_complete():
    """Every loss and penalty that is defined is public in lineal.objective."""
    from lineal.objective import losses, penalties

    for module, base in ((losses, losses.Loss), (penalties, penalties.Penalty)):
        for name, member in vars(module).items():
            is_member = isinstance(member, type) and issubclass(member, base) and not name.startswith("_")
            if is_member and not getattr(member, "is_rounded", False):
                assert name in lineal.objective.__all__, name


def test_dir_shows_what_is_public():
    """dir(lineal) offers the public names and the version."""
    assert set(dir(lineal)) >= {*lineal.__all__, "__version__"}


def test_public_names_have_docstrings():
    """help() says something about every public name."""
    for name in lineal.__all__:
        assert (getattr(lineal, name).__doc__ or "").strip(), name


def test_version():
    """__version__ is the version of the installed distribution."""
    assert lineal.__version__ == version("lineal")


def test_an_unknown_name_is_an_attribute_error():
    """A misspelt name fails like in any module, with the name in the message."""
    with pytest.raises(AttributeError, match="LogisticRegresion"):
        lineal.LogisticRegresion  # noqa: B018
    assert not hasattr(lineal, "LogisticRegresion")


def test_import_loads_nothing_heavy():
    """import lineal imports neither scikit-learn nor SciPy nor pandas; names are loaded on first use."""
    out = python(
        """
        import sys, lineal
        heavy = {"sklearn", "scipy", "pandas", "polars", "pyarrow", "rich", "numpy"}
        print(sorted(heavy & {name.partition(".")[0] for name in sys.modules}), lineal.__all__[:1])
        """
    )
    assert out == f"[] {lineal.__all__[:1]}"


def test_star_import():
    """from lineal import * brings the public names."""
    space = {}
    exec("from lineal import *", space)
    assert set(lineal.__all__) <= set(space)


def test_the_error_tree():
    """The tree of lineal.errors is as its docstring draws it."""
    errors = lineal.errors
    assert issubclass(errors.LinealError, Exception)
    for kind in (errors.InputError, errors.ParameterError, errors.NoMinimumError):
        assert issubclass(kind, errors.LinealError)
        assert issubclass(kind, ValueError)
    assert issubclass(errors.InputTypeError, errors.InputError)
    assert issubclass(errors.InputTypeError, TypeError)
    assert issubclass(errors.CombinationError, errors.ParameterError)
    assert not issubclass(errors.InputError, errors.ParameterError)
    assert issubclass(errors.NotCertifiedWarning, UserWarning)
    assert not issubclass(errors.NotCertifiedWarning, errors.LinealError)
    assert issubclass(errors.PrecisionWarning, UserWarning)


def test_every_error_is_in_the_tree():
    """The docstring's tree names every error that the module defines."""
    defined = [n for n, member in vars(lineal.errors).items() if isinstance(member, type)]
    assert defined
    assert all(name in lineal.errors.__doc__ for name in defined)


def test_representations_are_short_and_true():
    """An estimator prints as the call that makes it; a certificate as one sentence."""
    model = lineal.LogisticRegression(C=2.0)
    assert repr(model) == "LogisticRegression(C=2.0)"
    text = str(lineal.Ridge().fit([[0.0], [1.0], [2.5]], [0.0, 1.0, 2.0]).certificate_)
    assert text.startswith("certified: objective")
    assert "\n" not in text


def test_packages_are_there_after_import_lineal_alone():
    """lineal.objective.Hinge() needs no second import, in a process that has imported nothing else."""
    program = (
        "import lineal\n"
        "assert [getattr(lineal, name) for name in lineal._PACKAGES]\n"
        "print(lineal.objective.Hinge())"
    )
    assert python(program) == "Hinge(margin=1.0)"
