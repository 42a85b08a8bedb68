"""Learners as text: every member has one, it makes the same learner again, and nothing else can be made."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import lineal
from contract.members import named, predictors, transformers
from lineal.errors import LinealError, ParameterError
from lineal.features import Categories, Numbers, Quantiles, Text
from lineal.learners.spelling import aliases, build, learner_named, options, set_option, spell
from lineal.learners.spelling.names import all_names, parameters, public_class
from lineal.objective import L1, L2, CompiledLoss, ElasticNet, Hinge, Perceptron
from lineal.solvers import SGD, Adam, Annealed

TEXTS = [lineal.TextClassifier, lineal.TextRegressor]
MEMBERS = sorted({*predictors(), *transformers(), *TEXTS}, key=lambda kind: kind.__name__)
NESTED = [
    lineal.LinearClassifier(loss=Hinge(), penalty=L2(0.5)),
    lineal.LinearClassifier(penalty=ElasticNet(0.1, 0.2), class_weight={"spam": 2.0, "ham": 1}),
    lineal.LinearClassifier(loss=Perceptron(), solver=SGD(batch_size=4)),
    lineal.LinearRegressor(solver=Adam(schedule=Annealed(0.5)), tol=1e-6),
    lineal.ElasticNet(alpha=0.3),
    lineal.Bagging(lineal.OneVsOne(lineal.LinearSVC(C=np.float64(3)))),
    lineal.Voting([lineal.LinearSVC(), lineal.MultinomialNB()], rule="soft"),
    lineal.TextClassifier(
        vectorizer=[lineal.TextVectorizer(ngrams=(1, 3), stop_words={"a", "the"}), lineal.TextVectorizer()],
        strengths=(1.0,),
    ),
    lineal.TableVectorizer(
        {
            "zip": "category",
            "age": Numbers(bins=Quantiles(4)),
            "say": Text(lineal.TextVectorizer(stem="english")),
        },
        numbers=Numbers(scale=lineal.ColumnScaler("variance")),
        categories=Categories(min_count=3),
        dtype=np.float32,
    ),
    lineal.KNeighborsClassifier(bandwidth=float("inf")),
    L1(-0.0 + 1e-300),
]


def same(a, b):
    """Whether two learners have equal parameters, all the way down."""
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if type(a).__module__.startswith("lineal."):
        own = parameters(type(a))
        return type(a) is type(b) and all(same(getattr(a, name), getattr(b, name)) for name in own)
    return a is b or a == b or (a != a and b != b)


@pytest.mark.parametrize("kind", MEMBERS, ids=named)
def test_a_member_with_its_defaults_is_its_name(kind):
    """Every public class that fits is spelled by its name and no options, and is made from that again."""
    assert spell(kind()) == f"{kind.__name__}()"
    assert same(build(f"{kind.__name__}()"), clone(kind()))
    assert same(build(kind.__name__), kind())


@pytest.mark.parametrize("kind", MEMBERS, ids=named)
def test_every_option_of_a_member_comes_back(kind):
    """Any literal as the value of any option is told, and read as the same value."""
    values = [0.125, 7, "word", None, True, (1, 2), [0.5, -1], {"a": 1}, float("inf"), "quo\"te's\n"]
    for name in parameters(kind):
        for value in values:
            learner = kind(**{name: value})
            text = spell(learner)
            assert spell(build(text)) == text
            assert same(build(text), learner)


@pytest.mark.parametrize("learner", NESTED, ids=lambda learner: type(learner).__name__)
def test_learners_of_learners_come_back(learner):
    """Losses, penalties, solvers, kinds and learners inside each other are spelled and read."""
    text = spell(learner)
    assert spell(build(text)) == text
    assert same(build(text), learner)


def test_what_the_text_looks_like():
    """Only what differs from the defaults is told; a name that two modules have says which."""
    assert spell(NESTED[0]) == "LinearClassifier(loss=Hinge(), penalty=L2(strength=0.5))"
    assert "penalty=objective.ElasticNet(l1=0.1, l2=0.2)" in spell(NESTED[1])
    assert spell(lineal.LinearClassifier(penalty=L2(1.0))) == "LinearClassifier()"
    assert build("LinearClassifier(penalty=ElasticNet(0.1, l2=0.2))").penalty == ElasticNet(0.1, 0.2)
    assert type(build("ElasticNet()")) is lineal.ElasticNet
    assert build("TextVectorizer(n_features=2**22)").n_features == 2**22
    assert build("lineal.objective.L2(10**-2)") == L2(0.01)
    assert build("Numbers(bins=Quantiles(10))") == Numbers(bins=Quantiles(10))


@pytest.mark.parametrize(
    ("learner", "culprit"),
    [
        (lineal.TextClassifier(scoring=max), "scoring of TextClassifier"),
        (lineal.TextVectorizer(analyzer=str.split), "analyzer of TextVectorizer"),
        (lineal.LinearSVC(random_state=np.random.default_rng(0)), "random_state of LinearSVC"),
        (lineal.Voting(weights=np.ones(3)), "weights of Voting"),
        (lineal.LinearClassifier(callbacks=[print]), r"callbacks of LinearClassifier\[0\]"),
        (lineal.LinearClassifier(loss=CompiledLoss), "loss of LinearClassifier"),
        (lineal.Bagging(pytest), "learner of Bagging"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_what_has_no_text_is_refused_by_name(learner, culprit):
    """Functions, generators, arrays and foreign objects are refused, and the parameter is named."""
    with pytest.raises(ParameterError, match=culprit):
        spell(learner)


HOSTILE = [
    "__import__('os').system('true')",
    "LinearSVC.__init__()",
    "(lambda: 1)()",
    "[x for x in (1, 2)]",
    "LinearSVC(C=(y := 2))",
    "LinearSVC(**{'C': 1})",
    "LinearSVC(*[1])",
    "LinearSVC(C=1, C=2)",
    "LinearSVC()(C=1)",
    "LinearSVC() if True else LinearSVC()",
    "f'{1}'",
    "L2(1 + 1)",
    "L2(9**9**9)",
    "L2(2**10**6)",
    "L2(0**-1)",
    "L2('a')",
    "L2(b'a')",
    "L2(1j)",
    "L2(...)",
    "lineal.compare(1)",
    "lineal.learners.spelling.build('1')",
    "objective.os.system",
    "open('x')",
    "tune",
    "check_gradient()",
    "CompiledLoss(1, 2)",
    "Loss()",
    "Solver()",
    "{[1]: 2}",
    "{[1]}",
    "{**{}}",
    "LinearSVC(",
    "LinearSVC)",
    "",
    "\x00",
    "'" * 1001,
    "1" * 10**4,
    "(" * 10**5,
    "-" * 10**5 + "1",
    "a." * 10**5 + "a",
    "1**" * 10**5 + "1",
    "not " * 10**5 + "1",
    "OneVsRest(" * 40 + ")" * 40,
    "[" * 20 + "-" * 9 + "1" + "]" * 20,
    "LinearSVC()" + " " * 2**20 + "#",
    "LinearSVC(" + "C=1," * 300000 + ")",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_else_is_built(text):
    """What is not a call of a public class with literals is refused as an option that cannot be."""
    with pytest.raises(ParameterError):
        build(text)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from("LinearSVC2()[]{}'\",=:.-+* \n\\#xjbf0\u00e9\x00"), max_size=40))
def test_any_text_is_read_or_refused(text):
    """No text makes anything happen but a value or a LinealError."""
    try:
        made = build(text)
    except LinealError:
        return
    assert type(made).__module__.startswith("lineal.")


def test_a_misspelled_name_or_option_is_answered_with_the_right_one():
    """The nearest name is offered, and all are listed."""
    with pytest.raises(ParameterError, match=r"Did you mean .*'LinearSVC'.*LogisticRegression"):
        build("LinearSVM()")
    with pytest.raises(ParameterError, match=r"no option 'losss'\. Did you mean 'loss'"):
        build("LinearSVC(losss='hinge')")
    with pytest.raises(ParameterError, match=r"Did you mean 'logistic'.*svm"):
        learner_named("logistc", "classification")
    with pytest.raises(ParameterError, match="learner for classification"):
        learner_named("logistic", "regression")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_short_names_name_learners_of_their_task(task):
    """Every short name makes a predictor of its task, has a description, and is spelled as its text."""
    for name, alias in aliases(task).items():
        learner = learner_named(name, task)
        assert spell(learner) == alias.text
        assert learner.__sklearn_tags__().estimator_type == (
            "classifier" if task == "classification" else "regressor"
        )
        assert alias.description
        assert name == name.lower()


def test_options_are_set_by_dotted_names():
    """Options of learners, of what they hold, of value objects and of members of lists are set from text."""
    model = lineal.Bagging(lineal.LinearSVC())
    assert set_option(model, "learner.C", "10") is model
    assert model.learner.C == 10
    assert set_option(model, "learner.loss", "hinge").learner.loss == "hinge"
    assert set_option(model, "learner__fit_intercept", "false").learner.fit_intercept is False
    assert set_option(model, "learner", "LinearClassifier()").learner.penalty == L2(1.0)
    assert set_option(model, "learner.penalty.strength", "2**-3").learner.penalty == L2(0.125)
    assert set_option(model, "learner.penalty", "ElasticNet(0.1, 0.2)").learner.penalty == ElasticNet(
        0.1, 0.2
    )
    assert set_option(lineal.PassiveAggressiveClassifier(), "variant", "PA-II").variant == "PA-II"
    assert set_option(lineal.SelectBest(), "correction", "none").correction == "none"
    voting = lineal.Voting([lineal.LinearSVC(), lineal.LinearSVC()])
    assert set_option(voting, "learners.1.C", "3").learners[1].C == 3
    assert voting.learners[0].C == 1.0
    assert options(voting).keys() >= {"rule", "learners"}
    assert set_option(lineal.TextVectorizer(), "ngrams", "(1, 3)").ngrams == (1, 3)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("leaner", "1", "Did you mean 'learner'.*n_models"),
        ("learner.D", "1", "learner .*has no option 'D'.*intercept_scaling"),
        ("learner.C.x", "1", "has no option 'x'. It has none"),
        ("learner", "LinearSVC(C=", "not complete"),
        ("learner", "LinearX(C=1)", "no 'LinearX'"),
        ("", "1", "no option ''"),
    ],
)
def test_an_option_that_there_is_not_is_answered_with_those_there_are(name, text, message):
    """The nearest option is offered and all are listed; a broken value is told with its option."""
    with pytest.raises(ParameterError, match=message):
        set_option(lineal.Bagging(lineal.LinearSVC()), name, text)


def test_the_names_are_the_public_ones():
    """Every estimator of the package is a name, and no name is a function or an abstract class."""
    names = all_names()
    assert set(names) >= {kind.__name__ for kind in MEMBERS}
    for name in names:
        kind = public_class(name)
        assert inspect.isclass(kind)
        assert not inspect.isabstract(kind)


def test_short_names_cost_no_library():
    """Short names and their descriptions are there before SciPy and scikit-learn are."""
    program = (
        "import sys; from lineal.learners.spelling import aliases; aliases('regression'); "
        "assert not {'scipy', 'sklearn', 'pyarrow', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
