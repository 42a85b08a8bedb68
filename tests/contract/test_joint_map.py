"""What a joint map may be, and what is said where it is something else."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from lineal import JointClassifier
from lineal.errors import CombinationError, InputError, NoMinimumError, ParameterError
from lineal.features import block_map
from lineal.objective import L1, L2, ElasticNet, Hinge, Log, Lp, NoPenalty, Perceptron, SquaredHinge
from lineal.solvers import GD

XS, Y = ["a b", "b c", "c a", "a"], ["x", "y", "y", "x"]


def words(x, y):
    return {(word, y): 1 for word in x.split()}


def test_phi_is_called_once_for_each_x_and_label():
    """A fit asks for phi of every pair once."""
    asked = []
    JointClassifier(lambda x, y: asked.append((x, y)) or words(x, y)).fit(XS, Y)
    assert sorted(asked) == sorted((x, y) for x in XS for y in "xy")


@pytest.mark.parametrize(
    ("answer", "said"),
    [(None, "None.*dict"), ([1.0], r"\[1.0\].*dict"), ({"f": "1"}, "'1' for 'f'.*numbers"),
     ({"f": None}, "None for 'f'.*numbers"), ({"f": np.nan}, "nan for 'f'.*finite"),
     ({"f": -np.inf}, "-inf for 'f'.*finite"), ({"f": 10**400}, "1000.* for 'f'.*numbers"),
     ({"f": 1j}, "1j for 'f'.*numbers")],
)  # fmt: skip
def test_a_wrong_answer_is_refused_with_its_x_and_label(answer, said):
    """The message names the row, x, the label, what came, and what was needed."""
    with pytest.raises(InputError, match=f"row 1, x = 'b c', and label y = 'y' gives {said}"):
        JointClassifier(lambda x, y: answer if (x, y) == ("b c", "y") else words(x, y)).fit(XS, Y)


def test_an_error_inside_phi_says_where():
    """An exception of phi's own is the cause of one that names x and the label."""
    with pytest.raises(
        InputError, match="row 2, x = 'c a', and label y = 'x' failed with KeyError"
    ) as caught:
        JointClassifier(lambda x, y: {"f": {"a b": 1, "b c": 2}[x]}).fit(XS, Y)
    assert isinstance(caught.value.__cause__, KeyError)
    model = JointClassifier(lambda x, y: words(x, y) if x else 1 / 0).fit(XS, Y)
    with pytest.raises(InputError, match="ZeroDivisionError"):
        model.predict([""])


def test_names_are_anything_hashable_and_values_any_number():
    """Text, tuples, numbers and None name features; bools, ints and NumPy's numbers are values."""
    model = JointClassifier(
        lambda x, y: {y: True, (x, y): np.int8(1), None: np.float32(0.5) * (y == "x"), 7: np.bool_(x == "a")}
    ).fit(XS, Y)
    assert {"x", "y", ("a", "x"), None, 7} <= set(model.feature_names_)
    assert model.weights_.keys() == set(model.feature_names_)
    assert len(model.coef_) == len(model.feature_names_)


def test_no_features_for_some_is_fine_and_for_all_is_refused():
    """An empty dict is a score of 0; a map that is empty everywhere has nothing to learn."""
    model = JointClassifier(lambda x, y: words(x, y) if y == "x" else {}).fit(XS, Y)
    assert (model.decision_function(XS)[:, 1] == 0).all()
    with pytest.raises(InputError, match="no features"):
        JointClassifier(lambda x, y: {}).fit(XS, Y)


def test_features_unseen_in_training_are_ignored():
    """A word that no training example had changes no score."""
    model = JointClassifier(words).fit(XS, Y)
    np.testing.assert_array_equal(model.decision_function(["a zebra"]), model.decision_function(["a"]))


def test_top_features_are_the_largest():
    """k names with their weights, by size."""
    model = JointClassifier(words).fit(XS, Y)
    top = model.top_features(3)
    assert [abs(weight) for _, weight in top] == sorted(map(abs, model.coef_), reverse=True)[:3]
    assert all(model.weights_[name] == weight for name, weight in top)


@pytest.mark.parametrize(
    "labels",
    [[3, 1, 2, 1], [True, False, True, False], ["b", "a", "b", "a"], [None, "a", None, "a"]],
    ids=str,
)
def test_phi_gets_the_labels_as_they_came(labels):
    """phi sees Python's own labels, whatever array they were in."""
    seen = set()
    JointClassifier(lambda x, y: seen.add((type(y), y)) or {(x, y): 1}).fit(
        XS, np.array(labels, dtype=object)
    )
    assert seen == {(type(y), y) for y in labels}


def test_labels_are_refused_by_name():
    """A label outside ``labels`` is named in fit; so is one that verify or a test set brings."""
    with pytest.raises(InputError, match=r"\['y'\].*labels="):
        JointClassifier(words, labels=["x", "z"]).fit(XS, Y)
    for wrong in ("xy", 3):
        with pytest.raises(ParameterError, match="labels must be"):
            JointClassifier(words, labels=wrong).fit(XS, Y)


@pytest.mark.parametrize("things", ["a b", {"a": 1}, 3, None, []], ids=repr)
def test_x_must_be_a_sequence_of_things(things):
    """One thing alone is not a sequence of them, and neither is nothing."""
    with pytest.raises(InputError, match="X "):
        JointClassifier(words).fit(things, Y)
    with pytest.raises(InputError, match="X "):
        JointClassifier(words).fit(XS, Y).predict(things)


def test_rows_of_a_frame_are_things_and_a_frame_is_not():
    """A data frame is refused with the way to pass its rows."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"f": [1.0, 0.0, 0.0, 1.0], "g": [0.0, 1.0, 1.0, 2.0]})
    with pytest.raises(InputError, match="records"):
        JointClassifier().fit(frame, Y)
    assert JointClassifier().fit(frame.to_dict("records"), Y).predict([{"f": 1.0}]).tolist() == ["x"]


def test_options_that_do_not_go_together_are_refused_before_phi_is_called():
    """Losses without a joint form, the perceptron loss, solvers of blocks: each refusal says what to use."""

    def never(x, y):
        raise AssertionError("phi was called")

    for kind, said, options in (
        (CombinationError, r"use Log\(\) or Hinge\(\)", {"loss": SquaredHinge()}),
        (NoMinimumError, "Hinge", {"loss": Perceptron()}),
        (CombinationError, "dual_cd needs .* joint map .*: use newton or lbfgs", {"solver": "dual_cd"}),
        (
            CombinationError,
            "prox_cd needs .* joint map .*: use lbfgs",
            {"solver": "prox_cd", "penalty": L1(1.0)},
        ),
        (CombinationError, "sgd needs .* joint map", {"solver": "sgd"}),
        (CombinationError, "svrg needs .* joint map", {"solver": "svrg"}),
        (CombinationError, "gd needs .* joint map", {"solver": GD(batch_size=2)}),
        (CombinationError, "iterative_scaling needs .* joint map", {"solver": "iterative_scaling"}),
        (CombinationError, "closed_form", {"solver": "closed_form"}),
    ):
        with pytest.raises(kind, match=said):
            JointClassifier(never, **options).fit(XS, Y)
    with pytest.raises(ParameterError, match="phi must be"):
        JointClassifier("words").fit(XS, Y)


@pytest.mark.parametrize(
    "penalty", [L2(1.0), L1(0.2), ElasticNet(0.1, 0.5), Lp(1.0, 1.1), Lp(1.0, 3.0), NoPenalty()], ids=str
)
@pytest.mark.parametrize("loss", [Log(), Hinge()], ids=str)
def test_the_planner_has_a_solver_for_every_penalty(loss, penalty):
    """With solver='auto' each loss under each penalty is certified, and the plan says why."""
    xs, y = [*XS, "a", "b c"], [*Y, "y", "x"]  # not separable
    model = JointClassifier(words, loss, penalty).fit(xs, y)
    assert model.certificate_.converged
    assert ":" in str(model.plan_)


def test_hinge_probabilities_are_calibrated_on_request():
    """probability=True fits a temperature on held-out folds."""
    xs, y = XS * 3, Y * 3
    assert not hasattr(JointClassifier(words, Hinge()).fit(xs, y), "predict_proba")
    model = JointClassifier(words, Hinge(), probability=True, labels=["x", "y", "z"]).fit(xs, y)
    p = model.predict_proba(xs)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(xs))


def test_models_are_cloned_and_pickled():
    """A clone is unfitted with the same options; a pickled model scores the same."""
    model = JointClassifier(words, labels=["x", "y"]).fit(XS, Y)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(JointClassifier(block_map).fit([{"f": 1}, {"g": 2}], ["x", "y"])))
    assert again.predict([{"f": 3}]).tolist() == ["x"]
    assert model.score(XS, Y) == 1.0
