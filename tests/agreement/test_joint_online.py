"""Learners over a joint map against the learners of blocks, and against dicts and loops."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal import JointPassiveAggressive, JointPerceptron, PassiveAggressiveClassifier, Perceptron
from lineal.features import block_map
from lineal.learners.joint.differences import longest_difference
from reference.joint_online import averaged, passive_aggressive, perceptron, stream
from strategies import seeds

N = 30
LABELS = list("abcd")
counts = st.sampled_from([2, 3, 4])
cuts = st.lists(st.integers(0, N), max_size=5).map(lambda places: sorted({0, *places, N}))


def data(seed, n_classes):
    """Rows with zeros, and labels that are all there and not sorted as they come."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((N, 5)) < 0.3, 0.0, rng.normal(size=(N, 5)))
    y = np.array(list("dacb"))[rng.integers(0, n_classes, N)]
    y[:n_classes] = list("dacb"[:n_classes])
    return X, y


def shared_map(seed, *, is_whole=False):
    """A sparse random map of N things, most of whose features fire for several labels."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, size=(N, 4, 8)) if is_whole else rng.normal(size=(N, 4, 8))
    values = np.where(rng.random((N, 4, 8)) < 0.6, 0, values)

    def phi(x, y):
        k = LABELS.index(y)
        return {f"f{j}": values[x, k, j] for j in range(8) if values[x, k, j]} | {("bias", y): 1}

    return phi


def row_by_row(weights, X, classes):
    """The weights of a block map as the rows of coef_."""
    return np.array([[weights[j, label] for j in range(X.shape[1])] for label in classes])


# ---- blocks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["averaged", "plain"])
@given(
    seed=seeds(), n_classes=st.sampled_from([3, 4]), shuffle=st.booleans(), rate=st.sampled_from([1.0, 0.3])
)
def test_the_block_map_is_the_perceptron(variant, seed, n_classes, shuffle, rate):
    """The mistakes, weights, radius and margin of Perceptron, sums of another order aside."""
    X, y = data(seed, n_classes)
    options = {"epochs": 4, "shuffle": shuffle, "learning_rate": rate, "random_state": seed}
    joint = JointPerceptron(block_map, variant, **options).fit(X, y)
    block = Perceptron(variant, fit_intercept=False, **options).fit(X, y)
    np.testing.assert_array_equal(joint.mistakes_, block.mistakes_)
    np.testing.assert_allclose(row_by_row(joint.weights_, X, joint.classes_), block.coef_, atol=1e-12)
    np.testing.assert_allclose(joint.decision_function(X), block.decision_function(X), atol=1e-12)
    assert joint.radius_ == pytest.approx(block.radius_, rel=1e-14)
    assert joint.margin_ == pytest.approx(block.margin_, rel=1e-9, abs=1e-12)
    told = ("updates_", "converged_", "n_iter_", "reason_")
    assert [getattr(joint, name) for name in told] == [getattr(block, name) for name in told]


@pytest.mark.parametrize("variant", ["averaged", "plain"])
@given(seed=seeds(), n_classes=st.sampled_from([3, 4]))
def test_whole_numbers_give_the_bits_of_the_perceptron(variant, seed, n_classes):
    """Where sums are exact the weights are the same to the last bit, in a stream too."""
    X, y = data(seed, n_classes)
    X = np.round(3 * X)
    joint = JointPerceptron(block_map, variant).fit(X, y).partial_fit(X, y)
    block = Perceptron(variant, fit_intercept=False).fit(X, y).partial_fit(X, y)
    np.testing.assert_array_equal(row_by_row(joint.weights_, X, joint.classes_), block.coef_)
    np.testing.assert_array_equal(joint.mistakes_, block.mistakes_)
    assert (joint.n_seen_, joint.online_accuracy_) == (block.n_seen_, block.online_accuracy_)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
@given(seed=seeds(), C=st.sampled_from([0.03, 1.0]))
def test_two_labels_are_the_passive_aggressive_classifier(variant, average, seed, C):
    """The one score of two classes is the difference of two, and C here is 2 C there."""
    X, y = data(seed, 2)
    joint = JointPassiveAggressive(block_map, variant, C=C, average=average, epochs=3, shuffle=False).fit(
        X, y
    )
    single = PassiveAggressiveClassifier(
        variant, C=2 * C, average=average, epochs=3, shuffle=False, fit_intercept=False
    ).fit(X, y)
    Z = joint.decision_function(X)
    np.testing.assert_allclose(Z[:, 1] - Z[:, 0], single.decision_function(X), rtol=1e-9, atol=1e-9)
    assert joint.n_seen_ == single.n_seen_


# ---- dicts and loops ----------------------------------------------------------------------------


def close(model, wanted):
    """Whether weights are those of a dict, where what is not there is 0."""
    assert set(wanted) <= set(model.feature_names_)
    given = np.array([wanted.get(name, 0.0) for name in model.feature_names_])
    np.testing.assert_allclose(model.coef_, given, rtol=1e-9, atol=1e-11)


@given(seed=seeds(), n_classes=counts)
def test_the_perceptron_is_the_printed_one(seed, n_classes):
    """On random sparse maps with shared features, last weights and averages."""
    phi, (_, y) = shared_map(seed), data(seed, n_classes)
    labels = sorted(set(y.tolist()))
    trace = list(perceptron(phi, range(N), y.tolist(), labels, 3))
    close(JointPerceptron(phi, "plain", epochs=3, shuffle=False).fit(range(N), y), trace[-1])
    close(JointPerceptron(phi, epochs=3, shuffle=False).fit(range(N), y), list(averaged(trace))[-1])


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
@given(seed=seeds(), n_classes=counts, C=st.sampled_from([0.03, 1.0]))
def test_passive_aggressive_steps_are_the_published_ones(variant, seed, n_classes, C):
    """On random sparse maps with shared features, last weights and averages."""
    phi, (_, y) = shared_map(seed), data(seed, n_classes)
    labels = sorted(set(y.tolist()))
    trace = list(passive_aggressive(phi, range(N), y.tolist(), labels, variant, C, 2))
    options = {"C": C, "epochs": 2, "shuffle": False}
    close(JointPassiveAggressive(phi, variant, **options).fit(range(N), y), trace[-1])
    close(
        JointPassiveAggressive(phi, variant, average=True, **options).fit(range(N), y),
        list(averaged(trace))[-1],
    )


@given(seed=seeds(), n_classes=st.sampled_from([1, 2, 3, 4]))
def test_a_stream_is_predicted_judged_and_learned_from(seed, n_classes):
    """Whole numbers, ties and all, labels as they come: weights and mistakes after every example."""
    phi, (_, y) = shared_map(seed, is_whole=True), data(seed, n_classes)
    model, n_wrong = JointPerceptron(phi, "plain"), 0
    for i, (wanted, is_mistake) in enumerate(stream(phi, range(N), y.tolist())):
        said = model.predict([i])[0] if i else None
        assert (said != y[i]) == is_mistake
        model.partial_fit([i], [y[i]])
        n_wrong += is_mistake
        assert {name: weight for name, weight in model.weights_.items() if weight} == {
            name: weight for name, weight in wanted.items() if weight
        }
        assert (model.mistakes_.tolist(), model.updates_, model.n_seen_) == ([n_wrong], n_wrong - 1, i + 1)
        assert model.online_accuracy_ == 1 - n_wrong / (i + 1)


# ---- pieces -------------------------------------------------------------------------------------

MAKERS = {
    "plain": lambda phi, **more: JointPerceptron(phi, "plain", **more),
    "averaged": JointPerceptron,
    "PA-I": JointPassiveAggressive,
    "PA, averaged": lambda phi, **more: JointPassiveAggressive(phi, "PA", average=True, **more),
}
every = pytest.mark.parametrize("maker", MAKERS)


def same(a, b):
    """Whether two models are one, bit for bit."""
    assert a.feature_names_ == b.feature_names_
    told = ["online_accuracy_", "n_seen_"]
    told += ["mistakes_", "updates_"] if isinstance(a, JointPerceptron) else ["online_loss_"]
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(a.classes_, b.classes_)
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in told)


@every
@given(seed=seeds(), n_classes=st.sampled_from([1, 2, 4]), places=cuts, is_pickled=st.booleans())
def test_pieces_of_any_size_are_one_pass(maker, seed, n_classes, places, is_pickled):
    """Labels and features as they come, the order of the features included."""
    table, (_, y) = shared_map(seed), data(seed, n_classes)
    kept, phi = {}, lambda x, y: table(x, y) | {("own", x % 7, y): 0.5}
    model = MAKERS[maker](phi)
    for first, last in itertools.pairwise(places):
        model.partial_fit(range(first, last), y[first:last])
        if is_pickled:  # phi itself is a lambda, which pickle does not take
            kept = pickle.loads(pickle.dumps({k: v for k, v in vars(model).items() if k != "phi"}))
            model = MAKERS[maker](phi)
            model.__dict__.update(kept)
    assert same(model, MAKERS[maker](phi).partial_fit(range(N), y))


@every
@given(seed=seeds(), n_classes=counts)
def test_named_labels_make_a_stream_one_epoch_of_a_fit(maker, seed, n_classes):
    """And after a fit a stream is one epoch more."""
    phi, (_, y) = shared_map(seed), data(seed, n_classes)
    named = MAKERS[maker](phi).partial_fit(range(N), y, classes=sorted(set(y.tolist())))
    fitted = MAKERS[maker](phi, epochs=1, shuffle=False).fit(range(N), y)
    np.testing.assert_array_equal(named.coef_, fitted.coef_)
    assert named.feature_names_ == fitted.feature_names_
    longer = MAKERS[maker](phi, epochs=2, shuffle=False).fit(range(N), y)
    np.testing.assert_array_equal(fitted.partial_fit(range(N), y).coef_, longer.coef_)


@given(seed=seeds(), n_classes=counts)
def test_the_radius_is_the_longest_difference(seed, n_classes):
    """Over all x and all labels that are not theirs."""
    phi, (_, y) = shared_map(seed), data(seed, n_classes)
    model = JointPerceptron(phi).fit(range(N), y)
    longest = 0.0
    for x, label in enumerate(y):
        for other in set(y.tolist()) - {label}:
            a, b = phi(x, label), phi(x, other)
            names = {*a, *b}
            longest = max(longest, sum((a.get(name, 0) - b.get(name, 0)) ** 2 for name in names) ** 0.5)
    assert model.radius_ == pytest.approx(longest)


def test_parts_have_one_longest_difference(monkeypatch):
    """The differences of all rows at once, and of one x at a time."""
    from scipy.sparse import csr_array

    import lineal.learners.joint.differences as module

    rng = np.random.default_rng(0)
    stack = csr_array(rng.integers(-2, 3, size=(30, 4)).astype(float))
    codes = rng.integers(0, 3, 10).astype(np.int32)
    whole = longest_difference(stack, codes, 3)
    monkeypatch.setattr(module, "_ROWS", 3)
    assert longest_difference(stack, codes, 3) == whole
