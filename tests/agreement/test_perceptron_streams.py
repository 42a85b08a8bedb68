"""A perceptron's stream is one pass of its fit, whatever the pieces; and its rows are met as is printed."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from lineal import Perceptron
from strategies import seeds

VARIANTS = ("averaged", "plain", "voted")
N = 40
cuts = st.lists(st.integers(0, N), max_size=5).map(lambda places: sorted({0, *places, N}))


def in_any_order(X):
    """CSR rows whose columns fall instead of increasing; the first three store a number in two halves."""
    X = sp.csr_array(X)
    rows = [(row.indices[::-1].tolist(), row.data[::-1].tolist()) for row in X]
    rows[:3] = [(j + j[:1], [*(a / 2 for a in v[:1]), *v[1:], *(a / 2 for a in v[:1])]) for j, v in rows[:3]]
    indptr = np.cumsum([0, *(len(j) for j, _ in rows)])
    indices, data = (np.array(list(itertools.chain.from_iterable(row[k] for row in rows))) for k in (0, 1))
    return sp.csr_array((data, indices, indptr), shape=X.shape)


layouts = st.sampled_from([np.array, sp.csr_array, in_any_order])


def data(seed, n_classes, *, is_whole=False):
    """Rows with zeros, and labels that are not sorted as they come."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(N, 5)).astype(float) if is_whole else rng.normal(size=(N, 5))
    X[rng.random((N, 5)) < 0.3] = 0.0
    return X, np.array(list("dacb"))[rng.integers(0, n_classes, N)]


def met(model, X, y, places, **named):
    """Piece by piece, pickled after each."""
    for first, last in itertools.pairwise(places):
        model = pickle.loads(pickle.dumps(model.partial_fit(X[first:last], y[first:last], **named)))
    return model


def same(a, b, X):
    """Whether two models are one, bit for bit."""
    names = ("counts_",) if a.variant == "voted" else ("coef_", "intercept_")
    alike = all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)
    return (
        alike and a.updates_ == b.updates_ and np.array_equal(a.decision_function(X), b.decision_function(X))
    )


@pytest.mark.parametrize("variant", VARIANTS)
@given(seeds(), st.sampled_from([2, 4]), cuts, layouts, st.booleans())
def test_pieces_are_one_epoch_of_a_fit(variant, seed, n_classes, places, layout, fit_intercept):
    """With all labels named: weights, votes, mistakes and the bound, bit for bit."""
    X, y = data(seed, n_classes)
    y[:n_classes] = list("dacb"[:n_classes])
    X, model = layout(X), Perceptron(variant, epochs=1, shuffle=False, fit_intercept=fit_intercept)
    pieces = met(model, X, y, places, classes=sorted(set(y)))
    whole = Perceptron(variant, epochs=1, shuffle=False, fit_intercept=fit_intercept).fit(X, y)
    assert same(pieces, whole, X)
    np.testing.assert_array_equal(pieces.mistakes_, whole.mistakes_)
    assert pieces.generalization_bound() == whole.generalization_bound()
    assert (pieces.n_seen_, pieces.online_accuracy_) == (N, 1 - whole.updates_ / N)


@pytest.mark.parametrize("variant", VARIANTS)
@given(seeds(), st.sampled_from([2, 4]), cuts, layouts)
def test_a_stream_after_a_fit_is_one_more_epoch(variant, seed, n_classes, places, layout):
    """Averages and votes count the examples of the fit, too."""
    X, y = data(seed, n_classes)
    y[:n_classes] = list("dacb"[:n_classes])
    X = layout(X)
    model = met(Perceptron(variant, epochs=3, shuffle=False).fit(X, y), X, y, places)
    whole = Perceptron(variant, epochs=4, shuffle=False).fit(X, y)
    assert same(model, whole, X)
    np.testing.assert_array_equal(model.mistakes_, whole.mistakes_)
    assert (model.n_seen_, model.n_iter_) == (N, 4)


@pytest.mark.parametrize("variant", VARIANTS)
@given(seeds(), st.sampled_from([2, 4]), cuts)
def test_late_labels_and_columns_make_no_pieces(variant, seed, n_classes, places):
    """Labels as they come, and columns: the last ones are 0 until the middle."""
    X, y = data(seed, n_classes)
    X[: N // 2, 3:] = 0.0
    X = sp.csr_array(X)
    model = Perceptron(variant)
    for first, last in itertools.pairwise(places):
        width = 3 if last <= N // 2 else 5
        model.partial_fit(X[first:last, :width], y[first:last])
    whole = Perceptron(variant).partial_fit(X, y)
    assert same(model, whole, X)
    np.testing.assert_array_equal(model.mistakes_, whole.mistakes_)


@given(seeds(), st.sampled_from([2, 3, 4]), layouts, st.booleans())
def test_rows_are_predicted_judged_and_learned_from(seed, n_classes, layout, fit_intercept):
    """Whole numbers, ties and all: a mistake is a row whose label predict did not say, and only it changes
    weights: by x for its label, by -x for the one that was said; two labels have half the difference."""
    X, y = data(seed, n_classes, is_whole=True)
    rows, model = layout(X), Perceptron("plain", fit_intercept=fit_intercept)
    W, n_wrong = {}, 0
    for i, label in enumerate(y):
        said = model.predict(rows[[i]])[0] if i else None
        model.partial_fit(rows[[i]], y[[i]])
        x = np.append(X[i], float(fit_intercept))
        W.setdefault(label, np.zeros(6))
        if said is not None and said != label:
            W[label], W[said] = W[label] + x, W[said] - x
        n_wrong += said != label
        known = sorted(W)
        wanted = np.array([W[k] for k in known])
        wanted = (
            (wanted[1:] - wanted[:1]) / 2 if len(known) == 2 else wanted if len(known) > 2 else 0 * wanted
        )
        found = np.column_stack([model.coef_, model.intercept_])
        np.testing.assert_array_equal(found, wanted)
        assert (model.mistakes_.tolist(), model.n_seen_) == ([n_wrong], i + 1)
        assert model.online_accuracy_ == pytest.approx(1 - n_wrong / (i + 1))
        assert model.classes_.tolist() == known
    assert model.updates_ == n_wrong - 1


@pytest.mark.parametrize("variant", VARIANTS)
@given(seeds())
def test_late_labels_are_as_good_as_named(variant, seed):
    """Where no row but the first has scores that are all 0, and the first has the label that wins there."""
    X, y = data(seed, 4)
    X[:, 0] = np.random.default_rng([seed, 1]).normal(size=N)
    y[0], y[1:5] = "a", list("abcd")
    late, named = (
        Perceptron(variant).partial_fit(X, y),
        Perceptron(variant).partial_fit(X, y, classes=list("abcd")),
    )
    assert late.updates_ == named.updates_
    np.testing.assert_allclose(late.decision_function(X), named.decision_function(X), atol=1e-12)
    only = np.isin(y, ["a", "b"])
    only[0] = False
    X, y = X[only], y[only]
    y[:2] = "b", "a"  # two labels: a score of 0 is the second's
    late, named = (
        Perceptron(variant).partial_fit(X, y),
        Perceptron(variant).partial_fit(X, y, classes=["a", "b"]),
    )
    assert same(late, named, X)
