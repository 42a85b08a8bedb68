"""What learners of streams refuse, what they leave out, and what Ctrl-C leaves behind."""

import signal
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier

from contract.members import data_for, features, half_met, named, same_model, state, streams
from contract.test_budgets import signal_after
from custom_losses import CustomLog
from lineal import (
    JointClassifier,
    LinearClassifier,
    LinearSVC,
    OnlineClassifier,
    OnlineRegressor,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
)
from lineal.errors import CombinationError, InputError, ParameterError, PrecisionWarning
from lineal.objective import L1, ElasticNet, Hinge, Log, Lp, Perceptron, SquaredHinge

every = pytest.mark.parametrize("kind", streams(), ids=named)
every_classifier = pytest.mark.parametrize("kind", [k for k in streams() if is_classifier(k())], ids=named)
every_regressor = pytest.mark.parametrize("kind", [k for k in streams() if not is_classifier(k())], ids=named)


# ---- what is refused ----------------------------------------------------------------------------


def spoilt(X, value, row=7, column=2):
    X = X.copy()
    X[row, column] = value
    return X


REFUSED = {
    "NaN": (lambda X, y: (spoilt(X, np.nan), y), "row 7, column 2"),
    "infinity": (lambda X, y: (spoilt(X, -np.inf), y), "row 7, column 2"),
    "sparse NaN": (lambda X, y: (sp.csr_array(spoilt(X, np.nan)), y), "row 7, column 2"),
    "float32 infinity": (lambda X, y: (spoilt(X.astype(np.float32), np.inf), y), "row 7, column 2"),
    "fewer targets": (lambda X, y: (X, y[:-1]), "inconsistent"),
    "no targets": (lambda X, y: (X, None), "requires y"),
    "no rows": (lambda X, y: (X[:0], y[:0]), "0 sample"),
    "no columns": (lambda X, y: (X[:, :0], y), "0 feature"),
    "one dimension": (lambda X, y: (X[0], y[:5]), "2D array"),
    "words": (
        lambda X, y: (X.astype(object).__setitem__((0, 0), "word") or [["a"] * 5] * 20, y),
        "could not convert",
    ),
    "fewer columns": (lambda X, y: (X[:, :3], y), "3 features"),
    "a negative weight": (lambda X, y: (X, y, np.r_[-1.0, np.ones(19)]), "row 0"),
    "a weight that is NaN": (lambda X, y: (X, y, np.r_[np.nan, np.ones(19)]), "row 0"),
    "fewer weights": (lambda X, y: (X, y, np.ones(3)), "sample_weight"),
    "no weight": (lambda X, y: (X, y, np.zeros(20)), "every sample_weight is zero"),
}


@every
def test_refusals_come_before_the_first_row(kind):
    """A piece that is refused changes nothing: not a stream, not a fit, and nothing begins with it."""
    streamed, X, y = half_met(kind)
    fitted = kind().fit(X, y)
    for name, (spoil, message) in REFUSED.items():
        wrong, targets, *s = spoil(X, y)
        for model in (streamed, fitted, kind()):
            if model is not streamed and model is not fitted and name == "fewer columns":
                continue
            before = state(model)
            with pytest.raises(InputError, match=message):
                model.partial_fit(wrong, targets, sample_weight=s[0] if s else None)
            assert state(model) == before


@every_regressor
def test_targets_that_are_no_numbers_are_refused(kind):
    """NaN and infinity with their row."""
    model, X, y = half_met(kind)
    before = state(model)
    for wrong, message in ((np.nan, "row 3"), (np.inf, "row 3"), ("word", "must be numbers"), (1j, "y")):
        targets = y.astype(object)
        targets[3] = wrong
        with pytest.raises(InputError, match=message):
            model.partial_fit(X, targets)
        assert state(model) == before


@every_classifier
def test_labels_that_are_none_are_refused(kind):
    """NaN is no label, a matrix no labels, and nothing names no label."""
    model, X, y = half_met(kind)
    before = state(model)
    for wrong in (np.where(np.arange(20) == 3, np.nan, y), np.column_stack([y, y])):
        with pytest.raises(InputError, match="y"):
            model.partial_fit(X, wrong)
    for wrong in ([], "ab", 3, [[1, 2]]):
        with pytest.raises(InputError, match="classes must be a sequence"):
            model.partial_fit(X, y, classes=wrong)
    assert state(model) == before


OPTIONS = {
    "steps": (OnlineClassifier(steps="large"), ParameterError, "adaptive, constant, decaying"),
    "a rate for steps that have none": (OnlineClassifier(rate=1.0), ParameterError, "need no rate"),
    "rate": (OnlineRegressor(steps="constant", rate=0.0), ParameterError, "rate must be a number > 0"),
    "epochs": (OnlineClassifier(epochs=0), ParameterError, "epochs"),
    "loss": (OnlineClassifier("log"), ParameterError, "such as Log()"),
    "penalty": (OnlineClassifier(penalty="l2"), ParameterError, "such as NoPenalty()"),
    "Lp": (OnlineClassifier(penalty=Lp(1.0, 3.0)), CombinationError, "use fit"),
    "Lp in a fit's learner": (LinearClassifier(penalty=Lp(1.0, 3.0)), CombinationError, "use fit"),
    "a loss in Python": (LinearClassifier(CustomLog()), ParameterError, "CompiledLoss"),
    "the perceptron's loss": (OnlineClassifier(Perceptron()), ParameterError, "lineal.Perceptron"),
    "a margin for numbers": (OnlineRegressor(Hinge()), ParameterError, "regression loss"),
    "averages of what is cut": (OnlineClassifier(penalty=L1(1.0), average=True), CombinationError, "L1"),
    "equal steps of what is cut": (
        OnlineRegressor(penalty=ElasticNet(1.0, 1.0), steps="constant"),
        CombinationError,
        "L1",
    ),
    "balance": (OnlineClassifier(class_weight="balanced"), ParameterError, "give a stream a dict"),
    "class weights": (OnlineClassifier(class_weight={0: -1.0}), ParameterError, "finite and >= 0"),
    "calibration": (LinearSVC(probability=True), ParameterError, "holds rows out"),
    "variant": (PassiveAggressiveClassifier("PA-III"), ParameterError, "PA, PA-I, PA-II"),
    "C": (PassiveAggressiveRegressor(C=-1.0), ParameterError, "C must be a number > 0"),
    "seed": (OnlineClassifier(random_state="seven"), ParameterError, "random_state"),
}


@pytest.mark.parametrize(("model", "error", "message"), OPTIONS.values(), ids=OPTIONS)
def test_options_are_refused_before_the_first_row(model, error, message):
    """Each with what to take instead; the model stays as it was."""
    X, y = data_for(type(model))
    before = set(vars(model))
    with pytest.raises(error, match=message):
        clone(model).partial_fit(X, y)
    with pytest.raises(error, match=message):
        model.partial_fit(X, y)
    assert set(vars(model)) == before


@every
def test_options_are_not_changed_in_the_middle_of_a_stream(kind):
    """A stream refuses other options than it began with, and goes on when they are set back."""
    model, X, y = half_met(kind)
    before = state(model)
    with pytest.raises(ParameterError, match="in the middle of a stream"):
        model.set_params(fit_intercept=False).partial_fit(X, y)
    assert state(model.set_params(fit_intercept=True)) == before
    whole = kind().partial_fit(*data_for(kind))
    assert same_model(model.partial_fit(X, y), whole)


def test_a_joint_map_has_no_stream():
    """JointClassifier says so as an attribute that is not there."""
    assert not hasattr(JointClassifier(), "partial_fit")
    with pytest.raises(AttributeError, match="JointPerceptron or JointPassiveAggressive for streams"):
        JointClassifier().partial_fit([[1.0]], [1])


# ---- numbers that are too large -----------------------------------------------------------------


@every
@pytest.mark.parametrize("d", [5, 80])
def test_rows_that_overflow_are_left_out(kind, d):
    """With a warning that counts them; the model is that of the others, and has finite weights."""
    X, y = data_for(kind, d=d)
    wanted = kind().partial_fit(X, y)
    for huge in (1e155, 1e200, -1e308):
        with_huge = np.insert(X, [0, 15, 40], np.where(np.arange(d) == 1, huge, X[:1]), axis=0)
        with pytest.warns(PrecisionWarning, match="3 rows"):
            model = kind().partial_fit(with_huge, np.insert(y, [0, 15, 40], y[0]))
        assert same_model(model, wanted)
        assert (model.n_seen_, model.online_loss_) == (wanted.n_seen_, wanted.online_loss_)


@every_regressor
def test_targets_that_overflow_are_left_out(kind):
    """The same for targets whose loss is infinite; where it is not, weights stay finite all the same."""
    X, y = data_for(kind)
    y[5] = 1e300
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = kind().partial_fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.online_loss_)
    assert model.n_seen_ == 40 - len(said)
    if said:
        keep = np.arange(40) != 5
        assert same_model(model, kind().partial_fit(X[keep], y[keep]))


@every
@pytest.mark.parametrize("d", [5, 80])
def test_no_number_makes_a_weight_infinite(kind, d):
    """Columns that begin with the smallest numbers there are, and go on with usual or huge ones."""
    X, y = data_for(kind, d=d)
    for tiny in (5e-324, 2e-162, 1e-154, 1e-100):
        X[0] = tiny
        X[1, 0] = 1e150
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrecisionWarning)
            model = kind().partial_fit(X, y)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()


# ---- Ctrl-C -------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs timers that send signals")
@pytest.mark.parametrize("loss", [Log(), SquaredHinge()], ids=named)
def test_ctrl_c_leaves_the_model_of_the_rows_that_were_met(loss):
    """n_seen_ says which; labels of rows that were not met are not known; the stream goes on from there."""
    n_rows = 90_000  # four times what is met before the signal, and more
    X, y = features(n_rows, 60), np.arange(n_rows) % 15
    y[-5:] = 99
    model = OnlineClassifier(loss)
    with (
        signal_after(0.1, lambda number, frame: signal.raise_signal(signal.SIGINT)),
        pytest.raises(KeyboardInterrupt),
    ):
        model.partial_fit(X, y)
    n = model.n_seen_
    assert 0 < n < n_rows
    assert model.classes_.tolist() == list(range(15))
    assert model.predict(X[:3]).shape == (3,)
    short = OnlineClassifier(loss).partial_fit(X[:n], y[:n])
    assert same_model(model, short)
    for stream in (model, short):
        stream.partial_fit(X[n : n + 50], y[n : n + 50]).partial_fit(X[-5:], y[-5:])
    assert same_model(model, short)
    assert model.online_accuracy_ == short.online_accuracy_
