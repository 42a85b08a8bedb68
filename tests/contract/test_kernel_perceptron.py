"""The kernel perceptron keeps its promises: budgets, blocks, caches, data of any kind, refusals."""

import pickle
import signal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from contract.members import features, labels
from lineal import KernelPerceptron
from lineal.errors import InputError, NotConvergedWarning, ParameterError
from lineal.kernels import Gaussian, Linear, Polynomial, Spectrum
from lineal.learners.kernel.perceptron import mistakes
from reference import kernel_perceptron as printed

X = features(90, 3)
TWO, FOUR = labels(X), labels(X, 4)
both = pytest.mark.parametrize("y", [TWO, FOUR], ids=["two classes", "four classes"])


@both
@pytest.mark.parametrize("options", [{"variant": "averaged"}, {"variant": "voted"}, {"variant": "plain"},
                                     {"variant": "plain", "budget": 15}], ids=str)  # fmt: skip
def test_blocks_caches_and_threads_change_nothing(y, options, monkeypatch):
    """Rows one by one, in blocks, with values kept or computed anew, on any threads: one model."""
    whole = KernelPerceptron(Gaussian(gamma=0.5), epochs=3, n_threads=1, **options).fit(X, y)
    for block, cache, threads in ((1, 2**28, 1), (7, 0, 3), (256, 0, 2), (50, 2**28, 2)):
        monkeypatch.setattr(mistakes, "BLOCK", block)
        monkeypatch.setattr("lineal.learners.kernel.perceptron.forgetron.BLOCK", block)
        options = {**options, "cache_bytes": cache, "n_threads": threads}
        other = KernelPerceptron(Gaussian(gamma=0.5), epochs=3, **options).fit(X, y)
        assert other.mistakes_.tolist() == whole.mistakes_.tolist()
        np.testing.assert_array_equal(other.support_, whole.support_)
        np.testing.assert_allclose(other.alpha_, whole.alpha_, rtol=1e-9)
        np.testing.assert_allclose(other.decision_function(X), whole.decision_function(X), atol=1e-9)


def scores_on_the_way(K, codes, n_classes, epochs):
    """(T, n, K): the scores of all rows after each example, by plain loops; one score for two classes."""
    scores, found = np.zeros((len(K), 1 if n_classes == 2 else n_classes)), []
    for n in list(range(len(K))) * epochs:
        told = int(scores[n, 0] >= 0) if n_classes == 2 else int(scores[n].argmax())
        if told != codes[n]:
            change = np.zeros(scores.shape[1])
            if n_classes == 2:
                change[0] = 1 if codes[n] == 1 else -1
            else:
                change[codes[n]], change[told] = 1, -1
            scores = scores + K[:, [n]] * change
        found.append(scores)
    return np.array(found)


@both
def test_averages_and_votes_are_what_they_say(y):
    """Averaged scores are the mean of those after each example; each of those has a vote."""
    n_classes, kernel = len(np.unique(y)), Polynomial(2)
    whole = np.round(X)
    way = scores_on_the_way(kernel.gram(whole), y, n_classes, 2)
    options = {"epochs": 2, "shuffle": False}
    averaged = KernelPerceptron(kernel, "averaged", **options).fit(whole, y)
    mean = way.mean(axis=0)
    np.testing.assert_allclose(
        averaged.decision_function(whole), mean[:, 0] if n_classes == 2 else mean, rtol=1e-10, atol=1e-10
    )
    choices = (way[:, :, 0] >= 0) if n_classes == 2 else way.argmax(axis=2)
    votes = np.stack([(choices == c).mean(axis=0) for c in range(n_classes)], axis=1)
    voted = KernelPerceptron(kernel, "voted", **options).fit(whole, y)
    expected = votes[:, 1] - votes[:, 0] if n_classes == 2 else votes
    np.testing.assert_allclose(voted.decision_function(whole), expected, atol=1e-12)
    assert voted.counts_.sum() == 2 * len(X)
    assert len(voted.counts_) == voted.updates_ + 1


@both
def test_precomputed_values_and_functions_are_as_good(y):
    """A Gram matrix, a function of sets and a kernel by name give the same model."""
    kernel = Gaussian(gamma=0.5)
    model = KernelPerceptron(kernel, epochs=2).fit(X, y)
    by_values = KernelPerceptron("precomputed", epochs=2).fit(kernel.gram(X), y)
    by_name = KernelPerceptron("rbf", gamma=0.5, epochs=2).fit(X, y)
    by_function = KernelPerceptron(lambda A, B: kernel.gram(A, B), epochs=2).fit(X, y)
    new = X[:20] + 0.2
    for other, rows in ((by_values, kernel.gram(new, X)), (by_name, new), (by_function, new)):
        np.testing.assert_allclose(other.decision_function(rows), model.decision_function(new), atol=1e-12)
    with pytest.raises(InputError, match="square"):
        KernelPerceptron("precomputed").fit(X, y)


@both
def test_containers_copies_and_seeds(y):
    """Sparse = dense = frame; pickles predict alike; a seed is a model."""
    model = KernelPerceptron(epochs=2, random_state=1).fit(X, y)
    for other in (sp.csr_array(X), pd.DataFrame(X, columns=list("abc"))):
        fitted = KernelPerceptron(epochs=2, random_state=1).fit(other, y)
        np.testing.assert_allclose(fitted.decision_function(other), model.decision_function(X), atol=1e-10)
    sparse = KernelPerceptron(epochs=2, random_state=1).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.decision_function(X), model.decision_function(X), atol=1e-10)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    again = KernelPerceptron(epochs=2, random_state=1).fit(X, y)
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    other = KernelPerceptron(epochs=2, random_state=2).fit(X, y)
    assert other.decision_function(X).tobytes() != model.decision_function(X).tobytes()


# ---- budgets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 3, 10, 40])
@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.5), Polynomial(2)], ids=str)
def test_the_forgetron_as_it_is_defined(budget, kernel):
    """Rows kept, their coefficients, Q and S are those of the definitions, with phi found by bisection."""
    t = np.where(TWO == 1, 1, -1)
    order = list(range(len(X))) * 2
    kept, n_mistakes, deviation, shrinkage = printed.forgetron(kernel.gram(X), t, budget, order)
    options = {"epochs": 2, "shuffle": False, "form": "signed"}
    model = KernelPerceptron(kernel, "plain", budget=budget, **options).fit(X, t)
    alpha = np.zeros(len(X))
    for row, weight in kept:
        alpha[row] += weight * t[row]
    np.testing.assert_allclose(model.alpha_, alpha, rtol=1e-9, atol=1e-12)
    assert model.updates_ == n_mistakes
    assert (model.deviation_, model.shrinkage_) == pytest.approx((deviation, shrinkage), rel=1e-9)


@given(st.integers(0, 1000), st.integers(1, 60), st.sampled_from([2, 4]))
def test_a_budget_is_kept_and_has_its_bound(seed, budget, n_classes):
    """At most B rows; updates <= (1 + S) R^2 |u|^2 + 2 losses + Q for any u; Q <= 15/32 updates."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(80, 2))
    y = labels(Z, n_classes, seed)
    kernel = Gaussian(gamma=1.0)
    model = KernelPerceptron(kernel, "plain", budget=budget, epochs=2, shuffle=False).fit(Z, y)
    assert len(model.support_) <= budget
    assert model.deviation_ <= 15 / 32 * model.updates_ + 1e-9
    K = kernel.gram(Z)
    classes = np.eye(n_classes)[y]
    # Competitors: small multiples of random functions, of class means, and one that fits the rows.
    for coefficients in (
        rng.normal(size=classes.shape),
        classes / 10,
        np.linalg.solve(K + np.eye(80), classes),
    ):
        u = coefficients[:, [1]] - coefficients[:, [0]] if n_classes == 2 else coefficients
        f = K @ u
        norm = float((u * f).sum())
        if n_classes == 2:
            margins = np.where(y == 1, 1, -1) * f[:, 0]
        else:
            gold = f[np.arange(80), y]
            f[np.arange(80), y] = -np.inf
            margins = gold - f.max(axis=1)
        losses = 2 * np.maximum(0, 1 - margins).sum()  # two epochs
        bound = (1 + model.shrinkage_) * model.radius_**2 * norm + 2 * losses + model.deviation_
        assert model.updates_ <= bound + 1e-9


@both
def test_a_budget_that_is_never_reached_changes_nothing(y):
    """With room for every mistake the Forgetron is the perceptron."""
    free = KernelPerceptron(Gaussian(gamma=0.5), "plain", epochs=3).fit(X, y)
    kept = KernelPerceptron(Gaussian(gamma=0.5), "plain", epochs=3, budget=10_000).fit(X, y)
    np.testing.assert_array_equal(kept.alpha_, free.alpha_)
    assert (kept.deviation_, kept.shrinkage_) == (0.0, 0.0)


# ---- ends and refusals ----------------------------------------------------------------------------


def test_why_a_fit_ends():
    """Convergence, epochs, callbacks and time each have their reason; a fit out of time keeps what it has."""
    done = KernelPerceptron(Gaussian(gamma=50.0), "plain", until_convergence=True).fit(X, TWO)
    assert (done.converged_, done.reason_) == (True, "an epoch without a mistake")
    told = []
    stopped = KernelPerceptron(epochs=9, callbacks=[lambda epoch: told.append(epoch) or len(told) == 2])
    assert stopped.fit(X, TWO).reason_ == "a callback asked to stop"
    assert [epoch.mistakes for epoch in told] == stopped.mistakes_.tolist()
    with pytest.warns(NotConvergedWarning, match="max_seconds"):
        out = KernelPerceptron(epochs=5, max_seconds=0.0).fit(X, TWO)
    assert out.n_iter_ == 1
    assert out.predict(X).shape == (90,)
    bound = KernelPerceptron("rbf", "voted", epochs=1).fit(X, TWO).generalization_bound()
    assert bound.mean_loss < bound.bound


@pytest.mark.parametrize(
    "options", [{"variant": "averaged"}, {"variant": "voted"}, {"variant": "plain", "budget": 9}], ids=str
)
def test_ctrl_c_keeps_what_there_is(options):
    """At Ctrl-C the fit ends with the functions so far, and says so; they are those of as many epochs."""

    def interrupt(epoch):
        if epoch.epoch == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(NotConvergedWarning, match="interrupted"):
        broken = KernelPerceptron(Gaussian(gamma=0.5), epochs=50, callbacks=[interrupt], **options).fit(
            X, TWO
        )
    whole = KernelPerceptron(Gaussian(gamma=0.5), epochs=2, **options).fit(X, TWO)
    assert broken.mistakes_[:2].tolist() == whole.mistakes_.tolist()
    if broken.n_iter_ == 2:
        assert broken.decision_function(X).tobytes() == whole.decision_function(X).tobytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variant": "best"}, "variant"),
        ({"form": "dual"}, "form"),
        ({"epochs": 0}, "epochs"),
        ({"budget": 0, "variant": "plain"}, "budget"),
        ({"budget": 10}, "variant='plain'"),
        ({"max_seconds": -1}, "max_seconds"),
        ({"cache_bytes": None}, "cache_bytes"),
        ({"callbacks": 3}, "callbacks"),
        ({"random_state": "x"}, "random_state"),
        ({"kernel": "sigmoid"}, "sigmoid"),
        ({"gamma": -2.0}, "gamma"),
        ({"n_threads": 0}, "n_threads"),
    ],
    ids=str,
)
def test_impossible_options(options, words):
    """An option that cannot be is refused in words that name it."""
    with pytest.raises(ParameterError, match=words):
        KernelPerceptron(**options).fit(X, TWO)


def test_impossible_data():
    """One class, numbers for strings and strings for numbers are refused."""
    with pytest.raises(InputError, match="only one class"):
        KernelPerceptron().fit(X, np.zeros(90))
    with pytest.raises(InputError):
        KernelPerceptron(Spectrum(2)).fit(X, TWO)
    with pytest.raises(InputError):
        KernelPerceptron(Linear()).fit(["a", "b"], [0, 1])
    with pytest.raises(InputError, match="no items"):
        KernelPerceptron(Spectrum(2)).fit([], [])
    model = KernelPerceptron().fit(X, TWO)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
