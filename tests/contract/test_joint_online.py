"""Learners over a joint map that meet examples one by one: what may come, and what is refused."""

import inspect
import pickle
import signal
import sys

import joblib
import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import lineal
from contract.members import state
from contract.test_budgets import signal_after
from lineal import JointClassifier, JointPassiveAggressive, JointPerceptron
from lineal.errors import InputError, InputTypeError, NotConvergedWarning, ParameterError
from lineal.features import block_map

KINDS = [JointPerceptron, JointPassiveAggressive]
every = pytest.mark.parametrize("kind", KINDS)
XS, Y = ["a b", "b c", "c a", "a", "c"], ["x", "y", "y", "x", "z"]


def words(x, y):
    return {(word, y): 1 for word in x.split()} | {"length": len(x) * (y == "x")}


def told(model):
    """All there is to a model but phi, which may be a function that pickle does not take."""
    other = clone(model)
    other.__dict__.update({name: value for name, value in vars(model).items() if name != "phi"})
    return state(other.set_params(phi=words))


# ---- phi ----------------------------------------------------------------------------------------


@every
def test_phi_is_called_once_for_each_x_and_label(kind):
    """However many epochs; a stream asks for the labels that are known by then."""
    asked = []

    def counted(x, y):
        asked.append((x, y))
        return words(x, y)

    kind(counted, epochs=7).fit(XS, Y)
    assert sorted(asked) == sorted((x, y) for x in XS for y in "xyz")
    asked.clear()
    kind(counted).partial_fit(XS, Y)
    known = ["x", "xy", "xy", "xy", "xyz"]
    assert sorted(asked) == sorted((x, y) for x, some in zip(XS, known, strict=True) for y in some)


@every
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("answer", "said"),
    [(None, "None.*dict"), ({"f": "1"}, "'1' for 'f'.*numbers"), ({"f": np.nan}, "nan for 'f'.*finite"),
     ({"f": -np.inf}, "-inf for 'f'.*finite")],
)  # fmt: skip
def test_a_wrong_answer_is_refused_with_its_x_and_label(kind, learn, answer, said):
    """The row counts from the first of the piece, also where labels were new on the way; nothing changes."""

    def wrong(x, y):
        return answer if (x, y) == ("c", "x") else words(x, y)

    model = kind(wrong)
    fitted = kind(wrong).partial_fit(XS[:2], Y[:2])
    for learner in (model, fitted):
        before = told(learner)
        with pytest.raises(InputError, match=f"row 4, x = 'c', and label y = 'x' gives {said}"):
            getattr(learner, learn)(XS, Y)
        assert told(learner) == before


@every
def test_refused_pieces_change_nothing(kind):
    """Not a stream, not a fit; and nothing begins with them."""
    wrong = [
        (XS, Y[:-1], "inconsistent"), (XS, None, "y is None"), ([], [], "X is empty"),
        ("a b", ["x"], "sequence"), (XS, [1.0, np.nan, 1, 1, 1], "NaN"),
        ([*XS, None], [*Y, "x"], "row 5, x = None.*failed"),
    ]  # fmt: skip
    for model in (kind(words), kind(words).fit(XS, Y), kind(words).partial_fit(XS, Y)):
        for X, y, message in wrong:
            before = state(model)
            with pytest.raises(InputError, match=message):
                model.partial_fit(X, y)
            with pytest.raises(InputError, match=message):
                model.fit(X, y)
            assert state(model) == before
    with pytest.raises(InputError, match="classes must be a sequence"):
        kind(words).partial_fit(XS, Y, classes=[])
    with pytest.raises(InputTypeError):
        kind(words).fit(3, Y)


@every
def test_no_features_for_some_is_fine(kind):
    """An empty dict is a score of 0; a fit of a map that is empty everywhere has nothing to learn, and a
    stream may begin with one."""
    with pytest.raises(InputError, match="no features"):
        kind(lambda x, y: {}).fit(XS, Y)
    model = kind(lambda x, y: {(x, y): 1} if len(x) > 1 else {})
    model.partial_fit(["a", "c"], ["x", "z"])
    assert (model.coef_.shape, model.feature_names_, model.weights_) == ((0,), [], {})
    assert model.decision_function(["a", "b"]).tolist() == [[0, 0], [0, 0]]
    assert model.predict(["a"]).tolist() == ["x"]
    model.partial_fit(["a", "a b"], ["x", "z"])
    assert model.predict(["a b"]).tolist() == ["z"]


@every
def test_features_unseen_in_training_are_ignored(kind):
    """A word that no example had changes no score, and a stream may bring it later."""
    model = kind(lambda x, y: {(word, y): 1 for word in x.split()}).fit(XS, Y)
    np.testing.assert_array_equal(model.decision_function(["a zebra"]), model.decision_function(["a"]))
    assert ("zebra", "x") not in model.feature_names_
    assert ("zebra", "x") in model.partial_fit(["zebra"], ["x"]).feature_names_


@every
def test_numbers_that_a_stream_cannot_hold_are_refused(kind):
    """With the x and the label; a perceptron that is fitted takes them, since it sees all of them first."""
    with pytest.raises(InputError, match=r"row 0, x = 'a b'.*1e\+200 for 'big': values must be between"):
        kind(lambda x, y: words(x, y) | {"big": 1e200}).partial_fit(XS, Y)
    fitted = JointPerceptron(lambda x, y: {(x, y): 1e200}).fit(XS, Y)
    assert fitted.score(XS, Y) == 1
    with pytest.raises(InputError, match="scale"):
        JointPassiveAggressive(lambda x, y: {(x, y): 1e200}).fit(XS, Y)


# ---- labels -------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    "labels", [[3, 1, 2, 1, 3], [True, False, True, False, True], [None, "a", (2, 3), "a", None]], ids=str
)
def test_labels_are_anything_hashable_and_phi_gets_them_as_they_came(kind, labels):
    """In fits and in streams."""
    y = np.empty(5, dtype=object)
    y[:] = labels
    for learn in ("fit", "partial_fit"):
        seen = set()
        model = kind(lambda x, y, seen=seen: seen.add((type(y), y)) or {(x, y): 1})
        getattr(model, learn)(XS, y)
        assert {label for _, label in seen} == set(labels)
        assert set(model.predict(XS).tolist()) <= set(labels)


@every
def test_one_label_and_no_more(kind):
    """A fit needs two to choose from; a stream predicts the one until another comes, which is a mistake."""
    with pytest.raises(InputError, match=r"At least 2 classes.*labels="):
        kind(words).fit(XS, ["x"] * 5)
    assert kind(words, labels=["x", "y"]).fit(XS, ["x"] * 5).predict(XS).tolist() == ["x"] * 5
    model = kind(words)
    with pytest.raises(NotFittedError):
        model.predict(XS)
    model.partial_fit(XS, ["x"] * 5)
    assert (model.predict(XS).tolist(), model.online_accuracy_, model.n_seen_) == (["x"] * 5, 0.8, 5)
    assert model.decision_function(XS).shape == (5, 1)
    assert not model.coef_.any()
    model.partial_fit(["c"], ["z"])
    assert model.online_accuracy_ == pytest.approx(4 / 6)
    assert model.decision_function(XS).shape == (5, 2)
    assert model.predict(["c"]).tolist() == ["z"]


@every
def test_labels_may_be_named(kind):
    """By labels=, which then are all there are, or by classes=; both are scored before they are met."""
    for learn in ("fit", "partial_fit"):
        with pytest.raises(InputError, match=r"\['z'\].*labels="):
            getattr(kind(words, labels=["x", "y"]), learn)(XS, Y)
        for wrong in ("xy", 3):
            with pytest.raises(ParameterError, match="labels must be"):
                getattr(kind(words, labels=wrong), learn)(XS, Y)
    with pytest.raises(InputError, match="labels="):
        kind(words, labels=list("xyz")).partial_fit(XS, Y, classes=["q"])
    one = kind(words, labels=list("xyz")).partial_fit(XS[:1], Y[:1])
    other = kind(words).partial_fit(XS[:1], Y[:1], classes=list("zyx"))
    assert one.classes_.tolist() == other.classes_.tolist() == list("xyz")
    assert one.weights_ == other.weights_
    match = kind(lambda x, y: {"match": float(x == y)}, labels=["a", "b", "c"], epochs=5)
    assert match.fit(["a", "b", "a"], ["a", "b", "a"]).predict(["c", "a"]).tolist() == ["c", "a"]


# ---- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        (JointPerceptron, {"variant": "voted"}, "variant must be one of averaged, plain"),
        (JointPerceptron, {"epochs": 0}, "epochs"),
        (JointPerceptron, {"epochs": True}, "epochs"),
        (JointPerceptron, {"learning_rate": 0.0}, "learning_rate"),
        (JointPerceptron, {"learning_rate": 1e200}, "between 1e-140 and 1e\\+140"),
        (JointPerceptron, {"max_seconds": -1}, "max_seconds"),
        (JointPerceptron, {"callbacks": 3}, "callbacks"),
        (JointPerceptron, {"random_state": "seed"}, "random_state"),
        (JointPerceptron, {"phi": "words"}, "phi must be"),
        (JointPassiveAggressive, {"variant": "PA-III"}, "variant must be one of PA, PA-I, PA-II"),
        (JointPassiveAggressive, {"C": 0}, "C must be"),
        (JointPassiveAggressive, {"C": np.inf}, "C must be"),
        (JointPassiveAggressive, {"epochs": None}, "epochs"),
        (JointPassiveAggressive, {"epochs": 1.5}, "epochs"),
        (JointPassiveAggressive, {"random_state": "seed"}, "random_state"),
        (JointPassiveAggressive, {"phi": None}, "phi must be"),
    ],
    ids=str,
)
def test_impossible_options_are_refused_before_phi_is_called(kind, options, said):
    """By name, in fits and in streams."""

    def never(x, y):
        raise AssertionError("phi was called")

    for learn in ("fit", "partial_fit"):
        with pytest.raises(ParameterError, match=said):
            getattr(kind(**{"phi": never, **options}), learn)(XS, Y)


def test_until_convergence_has_no_stream():
    """As an attribute that is not there, which says what to do instead."""
    assert not hasattr(JointPerceptron(until_convergence=True), "partial_fit")
    with pytest.raises(AttributeError, match="a stream meets one once"):
        JointPerceptron(until_convergence=True).partial_fit(XS, Y)


def test_options_are_not_changed_in_the_middle_of_a_stream():
    """Nor between a fit and a stream, which goes on when they are set back."""
    for kind, options in (
        (JointPerceptron, [{"variant": "plain"}, {"learning_rate": 2.0}]),
        (JointPassiveAggressive, [{"variant": "PA"}, {"C": 2.0}, {"average": True}]),
    ):
        for model in (kind(words).partial_fit(XS, Y), kind(words).fit(XS, Y)):
            usual = model.get_params()
            for option in options:
                with pytest.raises(ParameterError, match="in the middle of a stream"):
                    model.set_params(**option).partial_fit(XS, Y)
                model.set_params(**usual)
            model.partial_fit(XS, Y)


# ---- what is left behind ------------------------------------------------------------------------


@every
def test_attributes(kind):
    """Fits and streams have what the docstring promises, and nothing of the other's."""
    of_fits = ["converged_", "reason_", "radius_", "margin_"]
    streamed = kind(words).partial_fit(XS, Y)
    fitted = kind(words).partial_fit(XS[:2], Y[:2]).fit(XS, Y)
    assert set(vars(fitted)) == set(vars(kind(words).fit(XS, Y)))
    is_perceptron = kind is JointPerceptron
    for model in (fitted, streamed):
        assert model.coef_.shape == (len(model.feature_names_),)
        assert model.weights_ == dict(zip(model.feature_names_, model.coef_.tolist(), strict=True))
        top = model.top_features(3)
        assert [abs(weight) for _, weight in top] == sorted(map(abs, model.coef_), reverse=True)[:3]
        assert model.decision_function(XS).shape == (5, 3)
        assert hasattr(model, "mistakes_") == hasattr(model, "updates_") == is_perceptron
        assert hasattr(model, "online_loss_") != is_perceptron
        for name in of_fits:
            assert hasattr(model, name) == (is_perceptron and model is fitted)
        assert not hasattr(model, "predict_proba")
    assert hasattr(fitted, "n_seen_") == hasattr(fitted, "online_accuracy_") == (not is_perceptron)
    assert (streamed.n_seen_, streamed.online_accuracy_ < 1) == (5, True)
    both = fitted.partial_fit(XS, Y)
    assert not any(hasattr(both, name) for name in of_fits)
    if is_perceptron:
        assert (both.n_iter_, len(both.mistakes_), both.n_seen_) == (11, 11, 5)


def test_only_the_first_epoch_judges():
    """online_accuracy_ and online_loss_ of fits are those of examples that were new; n_seen_ counts all."""
    once, thrice = (
        JointPassiveAggressive(words, epochs=epochs, shuffle=False).fit(XS, Y) for epochs in (1, 3)
    )
    assert (thrice.online_accuracy_, thrice.online_loss_) == (once.online_accuracy_, once.online_loss_)
    assert (once.n_seen_, thrice.n_seen_, thrice.n_iter_) == (5, 15, 3)


@every
def test_clone_pickle_and_search(kind, tmp_path):
    """A clone begins anew; a stream that was pickled or mapped goes on; a grid finds the best."""
    model = kind(words).partial_fit(XS[:3], Y[:3])
    assert is_classifier(model)
    assert not hasattr(clone(model), "classes_")
    joblib.dump(model, tmp_path / "model")
    others = [pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model", mmap_mode="r")]
    model.partial_fit(XS, Y)
    for other in others:
        other.partial_fit(XS, Y)
        assert other.weights_ == model.weights_
        assert other.feature_names_ == model.feature_names_
    variants = ["averaged", "plain"] if kind is JointPerceptron else ["PA", "PA-I", "PA-II"]
    search = GridSearchCV(kind(words, epochs=40), {"variant": variants}, cv=2).fit(XS * 4, Y * 4)
    assert search.best_score_ == 1


@every
def test_containers_and_seeds_give_one_model(kind):
    """A list, a tuple, a generator or an array of things; the same seed the same bits."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = np.where(X[:, 0] > 0, "up", "down")
    first = kind(epochs=3, random_state=5).fit(X, y)
    for things in (X.tolist(), tuple(X), (row for row in X), [dict(enumerate(row)) for row in X]):
        other = kind(block_map, epochs=3, random_state=5).fit(things, y)
        assert other.feature_names_ == first.feature_names_
        np.testing.assert_array_equal(other.coef_, first.coef_)
    assert (kind(epochs=1, random_state=6).fit(X, y).coef_ != first.coef_).any()


@every
def test_a_model_file_holds_no_code(kind, tmp_path):
    """phi is a function: refused with what can be stored, as for JointClassifier."""
    for model in (kind(words).fit(XS, Y), JointClassifier(words).fit(XS, Y)):
        with pytest.raises(ParameterError, match="phi is a function, and a model file holds no code"):
            lineal.save(model, tmp_path / "model.lineal")


@every
def test_there_is_no_sample_weight(kind):
    """A row twice has no one meaning where the order of the rows matters."""
    assert "sample_weight" not in inspect.signature(kind.fit).parameters


# ---- how fits end -------------------------------------------------------------------------------


def many(n=3000):
    """Things whose labels nothing tells, so that mistakes never end."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 50, size=(n, 6)).tolist(), rng.integers(0, 4, n)


def tens(x, y):
    return {(value, y): 1 for value in x}


def test_callbacks_and_budgets_end_a_fit():
    """After an epoch, or when time runs out, with a reason and, for the latter, a warning."""
    X, y = many(300)
    told = []
    model = JointPerceptron(tens, callbacks=[lambda epoch: told.append(epoch) or epoch.epoch == 3]).fit(X, y)
    assert (model.n_iter_, model.reason_) == (3, "a callback asked to stop")
    assert [epoch.mistakes for epoch in told] == model.mistakes_.tolist()
    assert told[-1].updates == model.updates_
    with pytest.warns(NotConvergedWarning, match="max_seconds"):
        model = JointPerceptron(tens, epochs=10**6, max_seconds=0.05).fit(X, y)
    assert model.coef_.any()
    with pytest.warns(NotConvergedWarning, match="mistakes in the last of 4 epochs"):
        model = JointPerceptron(tens, until_convergence=True, epochs=4).fit(X, y)
    assert not model.converged_


@pytest.mark.skipif(sys.platform == "win32", reason="needs timers that send signals")
def test_ctrl_c_ends_a_fit_of_the_perceptron_with_the_weights_so_far():
    """And a passive-aggressive one is left as it was."""
    X, y = many()
    with (
        signal_after(0.5, lambda number, frame: signal.raise_signal(signal.SIGINT)),
        pytest.warns(NotConvergedWarning, match="interrupted"),
    ):
        model = JointPerceptron(tens, epochs=10**6).fit(X, y)
    assert model.reason_.startswith("interrupted")
    assert model.coef_.any()
    assert model.mistakes_.sum() == model.updates_
    other = JointPassiveAggressive(tens, epochs=10**6).partial_fit(X[:5], y[:5])
    before = state(other)
    with (
        signal_after(0.5, lambda number, frame: signal.raise_signal(signal.SIGINT)),
        pytest.raises(KeyboardInterrupt),
    ):
        other.fit(X, y)
    assert state(other) == before


@pytest.mark.skipif(sys.platform == "win32", reason="needs timers that send signals")
@every
def test_ctrl_c_leaves_the_stream_of_the_examples_that_were_met(kind, monkeypatch):
    """Labels and features of those that were not met are not known; the stream goes on from there."""
    from lineal.learners.joint.online import JointWeights

    X, y = many(400)
    y = np.where(np.arange(400) > 250, 9, y)
    meet, calls = JointWeights.meet, []

    def broken(self, rows, codes, order, **named):
        calls.extend([True] * (len(order) > 100))
        if len(calls) < 2:
            return meet(self, rows, codes, order, **named)
        meet(self, rows, codes, order[: len(order) // 2], **named)  # as the core does when it is told to stop
        raise KeyboardInterrupt

    model = kind(tens)
    monkeypatch.setattr(JointWeights, "meet", broken)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, y)
    monkeypatch.setattr(JointWeights, "meet", meet)
    n_met = model.n_seen_
    assert 0 < n_met < 400
    short = kind(tens).partial_fit(X[:n_met], y[:n_met])
    assert model.feature_names_ == short.feature_names_
    assert model.classes_.tolist() == short.classes_.tolist()
    for stream in (model, short):
        stream.partial_fit(X[n_met:], y[n_met:])
    whole = kind(tens).partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    assert model.online_accuracy_ == short.online_accuracy_ == whole.online_accuracy_


@pytest.mark.skipif(sys.platform == "win32", reason="needs timers that send signals")
@every
def test_ctrl_c_is_heard_inside_a_piece(kind):
    """Whether phi is being called or the core is at work; what was met is told, and nothing else."""
    X, y = many(60000)
    model = kind(tens).partial_fit(X[:10], y[:10])
    with (
        signal_after(0.3, lambda number, frame: signal.raise_signal(signal.SIGINT)),
        pytest.raises(KeyboardInterrupt),
    ):
        model.partial_fit(X, y)
    short = kind(tens).partial_fit(X[:10], y[:10])
    assert (model.n_seen_, model.feature_names_, model.weights_) == (10, short.feature_names_, short.weights_)
