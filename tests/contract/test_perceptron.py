"""The perceptron in scikit-learn's world: inputs, options, attributes, budgets, and what it refuses."""

import inspect
import pickle
import signal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contract.members import features, labels, whole_features
from lineal import Perceptron, empirical_risk, mistake_bound, path, verify
from lineal.errors import InputError, InputTypeError, NotConvergedWarning, ParameterError

VARIANTS = ["averaged", "plain", "voted", "random", "best"]
every_variant = pytest.mark.parametrize("variant", VARIANTS)
every_count = pytest.mark.parametrize("n_classes", [2, 4])


def made(variant, **options):
    return Perceptron(variant, **({"validation": 0.25} if variant == "best" else {}), **options)


def same_answers(a, b, X):
    return np.array_equal(a.decision_function(X), b.decision_function(X))


# ---- inputs -------------------------------------------------------------------------------------


LAYOUTS = {
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "csr, 64-bit indices": lambda X: _wide(sp.csr_array(X)),
    "Fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "float32 csr": lambda X: sp.csr_array(X.astype(np.float32)),
    "lists": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcde")),
    "polars": lambda X: pl.DataFrame({name: X[:, j] for j, name in enumerate("abcde")}),
    "pyarrow": lambda X: pa.table({name: X[:, j] for j, name in enumerate("abcde")}),
}


def _wide(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@every_variant
@every_count
@pytest.mark.parametrize("layout", LAYOUTS)
def test_containers_give_one_model(variant, n_classes, layout):
    """Whole numbers in any container: the same mistakes, and the same scores but for the order of sums."""
    X = whole_features(60).astype(float)
    y = labels(X, n_classes)
    given = LAYOUTS[layout](X)
    plain, other = made(variant, random_state=3).fit(X, y), made(variant, random_state=3).fit(given, y)
    np.testing.assert_array_equal(other.mistakes_, plain.mistakes_)
    np.testing.assert_allclose(
        other.decision_function(given), plain.decision_function(X), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("names", [["no", "yes"], [False, True], [-1, 1], [("a", 1), ("b", 2)]], ids=str)
def test_labels_may_be_anything(names):
    """Text, booleans, numbers, tuples; predict gives them back."""
    X = features()
    codes = labels(X)
    y = np.empty(len(X), dtype=object)
    y[:] = [names[code] for code in codes]
    model = Perceptron().fit(X, y)
    assert set(model.predict(X)) <= set(names)
    np.testing.assert_array_equal(model.coef_, Perceptron().fit(X, codes).coef_)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.empty((0, 3)), [], "0 sample"),
        (np.empty((4, 0)), [0, 1, 0, 1], "0 feature"),
        ([[1.0], [np.nan]], [0, 1], "row 1, column 0"),
        (sp.csr_array([[0.0, 1.0], [np.inf, 0.0]]), [0, 1], "row 1, column 0"),
        ([[1.0], [2.0]], [0, 0], "At least 2 classes"),
        ([[1.0], [2.0]], [0, 1, 1], "2 rows and 3 labels"),
        ([[1.0], [2.0]], None, "y is None"),
        ([1.0, 2.0], [0, 1], "2D array"),
    ],
)
@pytest.mark.parametrize("learn", [lambda X, y: Perceptron().fit(X, y), mistake_bound], ids=["fit", "bound"])
def test_impossible_data_are_refused(learn, X, y, words):
    """Before any work, with what was needed and what came."""
    with pytest.raises(InputError, match=words):
        learn(X, y)


def test_text_is_no_number():
    """Words in X are an InputTypeError."""
    with pytest.raises(InputTypeError):
        Perceptron().fit([["a"], ["b"]], [0, 1])


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-20, 1e20, 1e150])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_units_change_no_mistake(scale, n_classes):
    """Without an intercept all rows may be multiplied by a power of 2: the same mistakes, weights scaled."""
    X, factor = features(), 2.0 ** np.round(np.log2(scale))
    y = labels(X, n_classes)
    one, other = (Perceptron(fit_intercept=False).fit(c * X, y) for c in (1.0, factor))
    np.testing.assert_array_equal(other.mistakes_, one.mistakes_)
    np.testing.assert_array_equal(other.coef_, factor * one.coef_)


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e200, 1e300])
@pytest.mark.parametrize("rate", [1e-140, 1.0, 1e5])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_radius_and_margin_have_the_units_of_the_rows(scale, rate, n_classes):
    """Also where squares of the rows, or weights of norm 1 times them, are beyond float64."""
    X, factor = features(), 2.0 ** np.round(np.log2(scale))
    y = labels(X, n_classes)
    one = Perceptron("plain", fit_intercept=False, epochs=3).fit(X, y)
    other = Perceptron("plain", fit_intercept=False, epochs=3, learning_rate=rate).fit(factor * X, y)
    # Rates that are no powers of 2 round the weights.
    np.testing.assert_allclose(other.radius_, factor * one.radius_, rtol=1e-12)
    np.testing.assert_allclose(other.margin_, factor * one.margin_, rtol=1e-9)


@pytest.mark.parametrize("variant", ["plain", "averaged"])
def test_no_weight_is_more_than_float64_holds(variant):
    """Rates change no prediction, however large the rows; where weights must overflow the fit is refused."""
    X, y = [[1e120], [-1e120], [2e120]], [0, 1, 1]
    wanted = Perceptron(variant, shuffle=False).fit(X, y)
    for rate in 2.0 ** np.array([-465, -100, 100, 465]):  # which rounds nothing
        model = Perceptron(variant, shuffle=False, learning_rate=rate).fit(X, y)
        assert model.mistakes_.tolist() == wanted.mistakes_.tolist()
        np.testing.assert_array_equal(model.coef_, rate * wanted.coef_)
        last = list(Perceptron(shuffle=False, learning_rate=rate).steps(X, y))[-1]
        assert np.isfinite(last.coef).all()
        assert np.isfinite(last.average_coef).all()
    with pytest.raises(InputError, match="float64"):
        Perceptron(variant, learning_rate=1e140).fit([[1e200], [-1e200]], [0, 1])
    with pytest.raises(InputError, match="float64"):  # in the second change
        Perceptron("plain", epochs=1, shuffle=False).fit([[1e308, 1e308], [-1e308, 1.5e308]], [0, 1])
    edge = Perceptron(variant, epochs=1, shuffle=False).fit([[1e308], [-1e308]], [0, 1])
    assert np.isfinite(edge.coef_).all()
    assert edge.margin_ == 1e308


def test_there_is_no_sample_weight():
    """A row twice has no one meaning where the order of the rows matters."""
    assert "sample_weight" not in inspect.signature(Perceptron.fit).parameters
    with pytest.raises(TypeError):
        Perceptron().fit(features(), labels(features()), sample_weight=np.ones(40))


# ---- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variant": "pocket"}, "variant must be one of averaged, plain, voted, random, best"),
        ({"epochs": 0}, "epochs"),
        ({"epochs": 2.5}, "epochs"),
        ({"epochs": True}, "epochs"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": np.inf}, "learning_rate"),
        ({"learning_rate": 1e200}, "between 1e-140 and 1e\\+140"),
        ({"max_seconds": -1}, "max_seconds"),
        ({"random_state": "seed"}, "random_state"),
        ({"callbacks": 3}, "callbacks"),
        ({"validation": 0.5}, "goes with variant='best'"),
        ({"variant": "best"}, "goes with variant='best'"),
        ({"variant": "best", "validation": 1.5}, "between 0 and 1"),
        ({"variant": "best", "validation": "some"}, r"\(X, y\) or a fraction"),
    ],
    ids=str,
)
def test_impossible_options_are_refused(options, words):
    """An option that cannot be is refused by name."""
    with pytest.raises(ParameterError, match=words):
        Perceptron(**options).fit(features(), labels(features()))


@pytest.mark.parametrize("seconds", [0, -1.0, np.nan, "soon", True])
def test_an_impossible_time_to_prove_is_refused(seconds):
    """mistake_bound needs a number > 0, or None."""
    with pytest.raises(ParameterError, match="max_seconds"):
        mistake_bound([[0.0], [1.0]], [0, 1], max_seconds=seconds)


def test_numbers_that_cannot_be_squared_are_refused_by_the_bound():
    """R^2 must be a number; the message says what to do."""
    with pytest.raises(InputError, match="Scale the columns"):
        mistake_bound([[1e200], [-1e200]], [0, 1])


def test_validation_data_are_checked():
    """Labels that y does not have, columns that X does not have, classes of one row."""
    X, y = features(), labels(features())
    with pytest.raises(InputError, match="not among"):
        Perceptron("best", validation=(X[:5], [7] * 5)).fit(X, y)
    with pytest.raises(InputError, match="features"):
        Perceptron("best", validation=(X[:5, :2], y[:5])).fit(X, y)
    with pytest.raises(InputError, match="hold out rows of every class"):
        Perceptron("best", validation=0.2).fit(X[:6], [0, 0, 0, 0, 0, 1])


def test_the_learning_rate_changes_no_prediction():
    """Weights start at 0, so that it is a factor of all of them."""
    X, y = features(), labels(features(), 3)
    one, two = (Perceptron(learning_rate=rate).fit(X, y) for rate in (1.0, 4.0))
    np.testing.assert_array_equal(two.coef_, 4 * one.coef_)
    np.testing.assert_array_equal(two.mistakes_, one.mistakes_)


# ---- scikit-learn's world -----------------------------------------------------------------------


@every_variant
@every_count
def test_attributes(variant, n_classes):
    """Each variant has what its docstring promises, and nothing of another's."""
    X = features(90)
    y = np.array(["c", "a", "b", "d"])[labels(X, n_classes)]
    model = made(variant, epochs=6).fit(X, y)
    K = 1 if n_classes == 2 else n_classes
    assert model.classes_.tolist() == sorted(set(y.tolist()))
    assert model.mistakes_.shape == (6,)
    assert model.updates_ == model.mistakes_.sum()
    assert model.n_iter_ == 6
    assert not model.converged_
    assert model.reason_ == "all epochs were run"
    assert model.n_features_in_ == 5
    assert hasattr(model, "coef_") == hasattr(model, "margin_") == (variant != "voted")
    assert hasattr(model, "survivors_") == hasattr(model, "counts_") == (variant == "voted")
    assert hasattr(model, "validation_scores_") == hasattr(model, "best_epoch_") == (variant == "best")
    if variant != "voted":
        assert model.coef_.shape == (K, 5)
        assert model.intercept_.shape == (K,)
        Z = X @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(model.decision_function(X).reshape(Z.shape), Z, atol=1e-12)
    assert model.decision_function(X).shape == ((90,) if K == 1 else (90, K))
    model.set_params(variant="plain", validation=None).fit(X, y)
    assert not hasattr(model, "survivors_")
    assert not hasattr(model, "best_epoch_")


@every_variant
def test_the_same_seed_gives_the_same_model(variant):
    """With a seed, without one, after clone and through pickle."""
    X, y = features(), labels(features(), 3)
    for seed in (None, 0, 7):
        model = made(variant, random_state=seed).fit(X, y)
        assert same_answers(model, made(variant, random_state=seed).fit(X, y), X)
        assert same_answers(model, clone(model).fit(X, y), X)
        assert same_answers(model, pickle.loads(pickle.dumps(model)), X)
    other = made(variant, random_state=8).fit(X, y)
    assert not same_answers(model, other, X)


def test_voted_in_chunks_is_voted_at_once(monkeypatch):
    """However many rows are compared at a time."""
    X, y = features(50), labels(features(50), 3)
    model = Perceptron("voted").fit(X, y)
    at_once = model.decision_function(X)
    monkeypatch.setattr("lineal.learners.perceptron.survivors._CHUNK_NUMBERS", 1)
    np.testing.assert_array_equal(model.decision_function(X), at_once)


def test_grid_search_and_pipeline():
    """GridSearchCV and Pipeline can use it."""
    X, y = features(90), labels(features(90))
    search = GridSearchCV(Perceptron(), {"variant": ["plain", "averaged", "voted"], "epochs": [1, 5]}, cv=3)
    assert np.isfinite(search.fit(X, y).cv_results_["mean_test_score"]).all()
    assert make_pipeline(StandardScaler(), Perceptron()).fit(X, y).score(X, y) > 0.5


def test_nothing_can_be_asked_before_fit():
    """predict and the bound need a fit."""
    with pytest.raises(NotFittedError):
        Perceptron().predict([[1.0]])
    with pytest.raises(NotFittedError):
        Perceptron().generalization_bound()
    with pytest.raises(ParameterError, match="confidence"):
        Perceptron().fit([[1.0], [2.0]], [0, 1]).generalization_bound(1.0)


@every_variant
@every_count
def test_probabilities_agree_with_predict(variant, n_classes):
    """They sum to 1 and their largest is the prediction, in any units; they are there when asked for."""
    X = features(90)
    y = labels(X, n_classes)
    for scale in (1.0, 1e6):
        model = made(variant, probability=True).fit(scale * X, y)
        p = model.predict_proba(scale * X)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(scale * X))
        # Better than knowing nothing, on the rows it was fitted on.
        assert -np.log(p[np.arange(90), y]).mean() < np.log(n_classes)
    assert not hasattr(Perceptron(variant), "predict_proba")


@pytest.mark.parametrize("ask", [verify, empirical_risk])
def test_what_needs_an_objective_refuses(ask):
    """A perceptron minimises nothing, so there is no gap and no loss to recompute."""
    X, y = features(), labels(features())
    with pytest.raises(ParameterError, match="minimises an objective"):
        ask(Perceptron().fit(X, y), X, y)
    with pytest.raises(ParameterError):
        path(Perceptron(), X, y)


# ---- budgets ------------------------------------------------------------------------------------


def test_callbacks_are_told_of_every_epoch_and_may_stop():
    """An Epoch after each; True stops; an error of a callback is the caller's."""
    X, y = features(), labels(features())
    told = []
    model = Perceptron(epochs=5, callbacks=[told.append]).fit(X, y)
    assert [epoch.epoch for epoch in told] == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal([epoch.mistakes for epoch in told], model.mistakes_)
    assert told[-1].updates == model.updates_
    stopped = Perceptron(epochs=5, callbacks=[lambda epoch: epoch.epoch == 2]).fit(X, y)
    assert stopped.n_iter_ == 2
    assert stopped.reason_ == "a callback asked to stop"
    with pytest.raises(ZeroDivisionError):
        Perceptron(callbacks=[lambda epoch: 1 / 0]).fit(X, y)


def test_max_seconds_ends_a_fit_with_a_warning():
    """What was learnt until then is the model."""
    X, y = features(2000), labels(features(2000))
    with pytest.warns(NotConvergedWarning, match="max_seconds"):
        model = Perceptron(epochs=10**6, max_seconds=0.05).fit(X, y)
    assert 1 <= model.n_iter_ < 10**6
    assert not model.converged_
    assert np.isfinite(model.coef_).all()


@every_variant
def test_ctrl_c_keeps_the_weights_so_far(variant):
    """A signal ends the fit; model, mistakes and reason speak of the epochs until then."""
    X, y = features(), labels(features(), 3)

    def interrupt(epoch):
        if epoch.epoch == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(NotConvergedWarning, match="interrupted"):
        model = made(variant, epochs=10**6, callbacks=[interrupt]).fit(X, y)
    assert model.n_iter_ == 3
    assert same_answers(model, made(variant, epochs=3).fit(X, y), X)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_inside_a_pass_keeps_mistakes_and_survivors_together():
    """However the pass ended, the survivors' counts add up to the examples met."""
    rng = np.random.default_rng(0)
    X = sp.random_array((20000, 3000), density=0.01, rng=rng, format="csr")
    y = rng.integers(0, 40, 20000)
    signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.warns(NotConvergedWarning, match="interrupted"):
            model = Perceptron("voted", epochs=1000).fit(X, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert len(model.survivors_) == model.updates_ + 1
    assert (model.counts_[1:] >= 1).all()


def test_until_convergence_is_one_whole_epoch_without_a_mistake():
    """The last epoch has none, every one before has some; further epochs would change nothing."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    X = X[np.abs(X[:, 0]) > 0.2]
    y = X[:, 0] > 0
    model = Perceptron("plain", until_convergence=True).fit(X, y)
    assert model.converged_
    assert model.mistakes_[-1] == 0
    assert (model.mistakes_[:-1] > 0).all()
    assert model.margin_ > 0
    assert model.updates_ <= (model.radius_ / model.margin_) ** 2
    longer = Perceptron("plain", epochs=model.n_iter_ + 5).fit(X, y)
    np.testing.assert_array_equal(longer.coef_, model.coef_)
