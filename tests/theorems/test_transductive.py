"""Transduction: never uphill, always in balance, and the plain machine where all labels are known."""

from itertools import combinations, pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from contract.members import features, labels
from lineal import SVC, LinearSVC, TransductiveSVM
from lineal.kernels import Gaussian, Spectrum
from lineal.learners.scenarios.transduction import Rows
from reference.hinge_groups import machine
from reference.transductive import transduce


def clouds(n=60, n_given=3, gap=1.5, seed=0, d=3, share=0.5):
    """Two clouds, all signs, and labels of which all but a few of each cloud are None."""
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(n) < share * n, 1, -1)
    X = rng.normal(size=(n, d)) + gap * truth[:, None] * np.array([1.0, *[0.0] * (d - 1)])
    y = np.full(n, None, dtype=object)
    for sign in (-1, 1):
        rows = rng.choice(np.flatnonzero(truth == sign), n_given, replace=False)
        y[rows] = sign
    return X, truth, y


def is_unknown(y):
    return np.array([label is None for label in y])


def objective(model, X, y, C, C_unlabelled):
    """F, from scores and labels alone."""
    signs = np.where(model.transduction_ == model.classes_[1], 1.0, -1.0)
    cost = np.where(is_unknown(y), C_unlabelled, C)
    w = model.coef_[0]
    return 0.5 * w @ w + cost @ np.maximum(0, 1 - signs * model.decision_function(X))


KERNELS = ["linear", Gaussian(gamma=0.3)]


# ---- never uphill ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("switches", [None, 1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_no_round_raises_the_objective(kernel, switches, seed):
    """Within a level of annealing each switch and each machine lowers F or leaves it."""
    X, _, y = clouds(gap=0.6, seed=seed)
    history = TransductiveSVM(2.0, 1.0, kernel=kernel, switches=switches, levels=5).fit(X, y).history_
    for before, after in pairwise(history):
        if after.cost == before.cost:
            assert after.objective <= before.objective
            assert after.switched > 0
    assert len({each.cost for each in history}) == 5
    assert history[-1].cost == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_signs_under_balance_are_the_best_of_all(seed):
    """For a given machine no other choice of so many positive rows costs less, whatever the weights."""
    rng = np.random.default_rng(seed)
    z, cost = 2 * rng.normal(size=9), rng.uniform(0.1, 3.0, size=9)
    unknown = np.arange(2, 9)
    y = np.where(np.arange(9) % 2, 1.0, -1.0)
    best = Rows(y, cost, unknown, 3).best_signs(z)

    def price(signs):
        return cost @ np.maximum(0, 1 - signs * z)

    others = []
    for chosen in combinations(unknown, 3):
        signs = y.copy()
        signs[unknown] = -1
        signs[list(chosen)] = 1
        others.append(price(signs))
    assert price(best) == pytest.approx(min(others), abs=1e-12)
    assert (best[:2] == y[:2]).all()


def test_at_the_end_no_switch_helps():
    """The labels that were found are the best for the machine that was found."""
    X, _, y = clouds(gap=0.7)
    model = TransductiveSVM(positive_share=0.4, tol=1e-8).fit(X, y)
    unknown = is_unknown(y)
    z = model.decision_function(X)[unknown]
    positive = model.transduction_[unknown] == 1
    assert z[positive].min() >= z[~positive].max() - 1e-9
    assert model.stopped_ == "no switch lowers the objective"


def test_the_objective_is_what_is_said():
    """objective_ and the certificate's primal are F, from weights and labels computed anew."""
    X, _, y = clouds(gap=0.7)
    model = TransductiveSVM(2.0, 0.5, tol=1e-6).fit(X, y)
    assert model.objective_ == pytest.approx(objective(model, X, y, 2.0, 0.5), rel=1e-9)
    assert model.certificate_.converged
    assert model.certificate_.relative_gap <= 1e-6
    assert model.history_[-1].objective == pytest.approx(model.objective_, rel=1e-9)


# ---- the certificate is about the labels that were found --------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_last_machine_is_the_machine_of_its_labels(kernel):
    """With the labels given, at their costs, a plain machine has the same objective and scores."""
    X, _, y = clouds(gap=0.8, n=40)
    model = TransductiveSVM(2.0, 0.5, kernel=kernel, tol=1e-9).fit(X, y)
    weights = np.where(is_unknown(y), 0.25, 1.0)
    if kernel == "linear":
        plain = LinearSVC(loss="hinge", C=2.0, tol=1e-9)
        plain.fit(X, model.transduction_.astype(int), sample_weight=weights)
        assert 2.0 * plain.certificate_.primal == pytest.approx(model.objective_, rel=1e-7)
    else:
        plain = SVC(C=2.0, kernel=kernel, tol=1e-7)
        plain.fit(X, model.transduction_.astype(int), sample_weight=weights)
    # A gap of 1e-7 leaves scores free by about its root.
    assert np.abs(plain.decision_function(X) - model.decision_function(X)).max() < 5e-3


@pytest.mark.parametrize("seed", range(4))
def test_no_labels_in_balance_are_better_by_more_than_luck(seed):
    """F in the end is at least the best over all labels in balance, and on easy data it is that."""
    X, _, y = clouds(n=11, n_given=1, gap=1.3, seed=seed, d=2)
    model = TransductiveSVM(1.0, 1.0, positive_share=4 / 9, tol=1e-8).fit(X, y)
    unknown = np.flatnonzero(is_unknown(y))
    K = X @ X.T
    signs = np.array([0.0 if label is None else float(label) for label in y])
    values = []
    for chosen in combinations(unknown, 4):
        trial = signs.copy()
        trial[unknown] = -1
        trial[list(chosen)] = 1
        values.append(machine(K, trial, np.ones(11))[0])
    assert model.objective_ >= min(values) * (1 - 1e-6)
    assert model.objective_ <= np.quantile(values, 0.05) * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_one_switch_at_a_time_is_the_printed_algorithm(seed):
    """With switches=1 labels and objective are those of a slow program that follows the paper."""
    X, _, y = clouds(n=24, gap=0.9, seed=seed, d=2)
    unknown = np.flatnonzero(is_unknown(y))
    signs = np.array([0.0 if label is None else float(label) for label in y])
    found, value = transduce(X @ X.T, signs, unknown, 1.0, 0.5, 9, levels=4)
    model = TransductiveSVM(1.0, 0.5, positive_share=0.5, switches=1, levels=4, tol=1e-9).fit(X, y)
    assert (model.transduction_ == found).all()
    assert model.objective_ == pytest.approx(value, rel=1e-6)


# ---- balance --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.37, 0.5, 1.0])
def test_the_balance_is_met_exactly(kernel, share):
    """So many unlabelled rows are positive as the share says, to the nearest row."""
    X, _, y = clouds(gap=0.5)
    model = TransductiveSVM(positive_share=share, kernel=kernel, levels=4).fit(X, y)
    found = model.transduction_[is_unknown(y)]
    assert np.count_nonzero(found == 1) == int(np.floor(share * len(found) + 0.5))
    given = ~is_unknown(y)
    assert (model.transduction_[given] == y[given]).all()


def test_without_a_share_that_of_the_labels_is_kept():
    """None takes the share of the labelled rows, by weight."""
    X, truth, y = clouds(share=0.5)
    y[np.flatnonzero(truth > 0)[:6]] = 1
    weights = np.ones(len(y))
    n_plus, n_minus = (np.count_nonzero(y == sign) for sign in (1, -1))
    model = TransductiveSVM().fit(X, y, sample_weight=weights)
    unknown = is_unknown(y)
    wanted = int(np.floor(unknown.sum() * n_plus / (n_plus + n_minus) + 0.5))
    assert np.count_nonzero(model.transduction_[unknown] == 1) == wanted


def test_rows_without_a_weight_are_not_counted():
    """The balance is of rows with a weight; the others get the label of their score."""
    X, _, y = clouds()
    unknown = np.flatnonzero(is_unknown(y))
    weights = np.ones(len(y))
    weights[unknown[::3]] = 0.0
    model = TransductiveSVM(positive_share=0.5).fit(X, y, sample_weight=weights)
    kept = unknown[weights[unknown] > 0]
    assert np.count_nonzero(model.transduction_[kept] == 1) == int(np.floor(len(kept) / 2 + 0.5))
    rest = weights > 0
    alone = TransductiveSVM(positive_share=0.5).fit(X[rest], y[rest])
    assert (alone.transduction_ == model.transduction_[rest]).all()
    dropped = unknown[::3]
    assert (model.transduction_[dropped] == model.predict(X[dropped])).all()


# ---- reductions and invariances ---------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_all_labels_it_is_the_plain_machine(n_classes):
    """Without unlabelled rows the weights are those of LinearSVC with the hinge."""
    X = features()
    y = labels(X, n_classes)
    ours = TransductiveSVM(0.5, tol=1e-9).fit(X, y)
    theirs = LinearSVC(loss="hinge", C=0.5, tol=1e-9).fit(X, y)
    # Two certificates of 1e-9 leave weights apart by about the root of it.
    assert np.abs(ours.coef_ - theirs.coef_).max() < 1e-3
    assert ours.objective_ == pytest.approx(0.5 * theirs.certificate_.primal, rel=1e-8)
    assert ours.history_ == []
    assert (ours.transduction_ == y).all()


def test_a_vanishing_cost_leaves_the_plain_machine():
    """With C_unlabelled near 0 the weights are those of the labelled rows alone."""
    X, _, y = clouds()
    given = ~is_unknown(y)
    ours = TransductiveSVM(1.0, 1e-9, tol=1e-9).fit(X, y)
    theirs = LinearSVC(loss="hinge", tol=1e-9).fit(X[given], y[given].astype(int))
    assert np.abs(ours.coef_ - theirs.coef_).max() < 1e-3


@pytest.mark.parametrize("d", [3, 80])
def test_dense_and_sparse_rows_are_the_same(d):
    """The layout of X changes nothing but rounding, with few columns and with more than there are rows."""
    X, _, y = clouds(d=d)
    dense, sparse = (TransductiveSVM(tol=1e-8).fit(each, y) for each in (X, sp.csr_array(X)))
    assert (dense.transduction_ == sparse.transduction_).all()
    assert dense.objective_ == pytest.approx(sparse.objective_, rel=1e-7)


def test_a_labelled_row_of_weight_two_is_the_row_twice():
    """Weights of labelled rows are repetitions, the share being told."""
    X, _, y = clouds()
    given = np.flatnonzero(~is_unknown(y))
    weights = np.ones(len(y))
    weights[given[0]] = 2.0
    model = TransductiveSVM(positive_share=0.5, tol=1e-8).fit(X, y, sample_weight=weights)
    twice = TransductiveSVM(positive_share=0.5, tol=1e-8).fit(
        np.vstack([X, X[given[:1]]]), np.append(y, y[given[:1]])
    )
    assert (model.transduction_ == twice.transduction_[:-1]).all()
    assert model.objective_ == pytest.approx(twice.objective_, rel=1e-7)


def test_the_same_seed_gives_the_same_bits_and_threads_do_not_matter():
    """A fit is a function of its data."""
    X, _, y = clouds(gap=0.6)
    one, two = (TransductiveSVM(n_threads=n).fit(X, y) for n in (1, 2))
    assert (one.coef_ == two.coef_).all()
    assert one.history_ == two.history_


# ---- what it is for -------------------------------------------------------------------------------


def test_unlabelled_rows_move_the_boundary_into_the_gap():
    """On two clouds with misleading labels the transduction is right where the plain machine is not."""
    X, truth, y = clouds(n=200, n_given=1, gap=2.2, d=8, seed=5)
    given = ~is_unknown(y)
    plain = LinearSVC(loss="hinge").fit(X[given], y[given].astype(int))
    model = TransductiveSVM().fit(X, y)
    assert np.mean(plain.predict(X) == truth) < 0.9
    assert np.mean(model.transduction_ == truth) > 0.97


def test_more_than_two_classes_go_one_against_the_rest():
    """Each class has its own machine and share, and rounds say whose they are."""
    rng = np.random.default_rng(0)
    truth = np.repeat(["a", "b", "c"], 40)
    centres = {"a": (3, 0), "b": (-3, 0), "c": (0, 4)}
    X = rng.normal(size=(120, 2)) + np.array([centres[label] for label in truth])
    y = [label if row % 20 == 0 else None for row, label in enumerate(truth)]
    model = TransductiveSVM(positive_share={"a": 0.3, "b": 0.3, "c": 0.4}).fit(X, y)
    assert model.coef_.shape == (3, 2)
    assert {each.label for each in model.history_} == {"a", "b", "c"}
    assert np.mean(model.transduction_ == truth) > 0.95
    assert model.certificate_.primal >= model.certificate_.dual


def test_kernels_of_strings():
    """Rows may be whatever the kernel takes."""
    texts = ["abab", "baba", "ababab", "xyxy", "yxyx", "xyxyxy"]
    model = TransductiveSVM(kernel=Spectrum(2), positive_share=0.5).fit(
        texts, ["ab", None, None, "xy", None, None]
    )
    assert model.transduction_.tolist() == ["ab"] * 3 + ["xy"] * 3
    assert model.predict(["aba", "yxy"]).tolist() == ["ab", "xy"]


def test_sparse_texts_by_rows():
    """Many sparse columns go by coordinate ascent: never uphill, in balance, certified, the same machine."""
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(600) < 0.4, 1, -1)
    own = rng.dirichlet(np.full(900, 0.05), size=3)
    counts = [rng.multinomial(40, 0.7 * own[0] + 0.3 * own[1 if sign > 0 else 2]) for sign in truth]
    X = sp.csr_array(np.log1p(np.array(counts, dtype=float)))
    y = [int(sign) if row < 12 else None for row, sign in enumerate(truth)]
    model = TransductiveSVM(0.1, positive_share=0.4, tol=1e-4).fit(X, y)
    assert model.certificate_.solver.startswith("dual_cd")
    assert model.certificate_.converged
    for before, after in pairwise(model.history_):
        assert after.cost != before.cost or after.objective <= before.objective
    assert np.count_nonzero(model.transduction_[12:] == 1) == int(np.floor(0.4 * 588 + 0.5))
    assert np.mean(model.transduction_ == truth) > 0.95
    weights = np.full(600, 1.0)
    by_pairs = SVC(C=0.1, kernel="linear", tol=1e-5).fit(X, model.transduction_, sample_weight=weights)
    assert 0.1 * by_pairs.certificate_.primal == pytest.approx(model.objective_, rel=2e-4)
