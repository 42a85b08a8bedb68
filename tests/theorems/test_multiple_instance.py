"""Bags: never uphill, the plain machine for bags of one row, and the losses that are said."""

from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp

from contract.members import features, labels
from lineal import LinearSVC, MultipleInstanceSVM
from lineal.kernels import Gaussian, Spectrum
from reference.hinge_groups import group_dual

KERNELS = ["linear", Gaussian(gamma=0.2)]
VARIANTS = ["MI", "mi"]


def molecules(n_bags=30, d=4, seed=0, largest=5):
    """Bags with labels 0 and 1, and the labels of their rows: a positive row lies around one place."""
    rng = np.random.default_rng(seed)
    place = np.full(d, 3.0 / np.sqrt(d))
    X, y, rows = [], np.arange(n_bags) % 2, []
    for label in y:
        n = rng.integers(1, largest + 1)
        is_active = np.zeros(n, dtype=int)
        if label:
            is_active[rng.integers(n)] = 1
        X.append(np.where(is_active[:, None] > 0, place + 0.5 * rng.normal(size=(n, d)),
                          rng.normal(size=(n, d))))  # fmt: skip
        rows.append(is_active)
    return X, y, np.concatenate(rows)


def bag_hinge(model, X, y, C):
    """The objective of MI, from weights and scores alone."""
    best = np.array([model.instance_scores(bag).max() for bag in X])
    sign = np.where(y == 1, 1.0, -1.0)
    w = model.coef_[0]
    return 0.5 * w @ w + C * np.maximum(0, 1 - sign * best).sum()


# ---- never uphill ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(3))
def test_no_round_raises_the_objective(variant, kernel, seed):
    """Each choice of witnesses or signs, and each machine, lowers the objective or leaves it."""
    X, y, _ = molecules(seed=seed)
    model = MultipleInstanceSVM(variant, 2.0, kernel=kernel).fit(X, y)
    for before, after in pairwise(model.history_):
        if after.start == before.start:
            assert after.objective <= before.objective
            assert after.changed > 0
    ends = {each.start: each.objective for each in model.history_}
    assert len(ends) == 4
    assert model.objective_ == min(ends.values())


@pytest.mark.parametrize("seed", range(3))
def test_mi_minimises_the_hinge_of_the_highest_score(seed):
    """objective_ is |w|^2 / 2 + C sum max(0, 1 - Y max z), computed anew, and so is the certificate's."""
    X, y, _ = molecules(seed=seed)
    model = MultipleInstanceSVM("MI", 0.7, tol=1e-6).fit(X, y)
    assert model.objective_ == pytest.approx(bag_hinge(model, X, y, 0.7), rel=1e-9)
    assert model.certificate_.primal == pytest.approx(model.objective_, rel=1e-9)
    assert model.certificate_.converged


def test_the_certificate_is_of_the_problem_with_fixed_witnesses():
    """Its dual is the optimum over all rows of negative bags, by a general solver that sees them all."""
    X, y, _ = molecules(n_bags=14)
    model = MultipleInstanceSVM("MI", 1.0, tol=1e-8).fit(X, y)
    Z = np.vstack(X)
    bag = np.repeat(np.arange(14), [len(each) for each in X])
    rows = np.sort(np.concatenate([model.witnesses_[y == 1], np.flatnonzero(y[bag] == 0)]))
    sign = np.where(y == 1, 1.0, -1.0)
    _, value = group_dual(Z[rows] @ Z[rows].T, sign[bag[rows]], bag[rows], np.ones(14))
    assert model.certificate_.dual == pytest.approx(value, rel=1e-6)
    assert model.objective_ == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_no_witnesses_whatever_are_better(seed):
    """The objective in the end is the least over all choices of witnesses, on data this small."""
    X, y, _ = molecules(n_bags=8, d=2, seed=seed, largest=3)
    model = MultipleInstanceSVM("MI", 1.0, tol=1e-8, n_starts=8).fit(X, y)
    Z = np.vstack(X)
    bag = np.repeat(np.arange(8), [len(each) for each in X])
    sign, negative = np.where(y == 1, 1.0, -1.0), np.flatnonzero(y[bag] == 0)
    values = []
    for chosen in product(*(np.flatnonzero(bag == k) for k in np.flatnonzero(y == 1))):
        rows = np.sort(np.concatenate([negative, chosen]))
        values.append(group_dual(Z[rows] @ Z[rows].T, sign[bag[rows]], bag[rows], np.ones(8))[1])
    assert model.objective_ >= min(values) * (1 - 1e-6)
    assert model.objective_ <= min(values) * (1 + 1e-5)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_mi_labels_obey_their_bags(kernel):
    """No row of a negative bag is positive, some row of every positive bag is."""
    X, y, _ = molecules()
    model = MultipleInstanceSVM("mi", 1.0, kernel=kernel).fit(X, y)
    bag = np.repeat(np.arange(len(X)), [len(each) for each in X])
    most = np.zeros(len(X), dtype=int)
    np.maximum.at(most, bag, model.instance_labels_)
    assert (most == y).all()


def test_mi_with_its_labels_given_is_the_plain_machine():
    """The machine in the end is LinearSVC of the labels of rows that were found."""
    X, y, _ = molecules()
    model = MultipleInstanceSVM("mi", 0.5, tol=1e-8).fit(X, y)
    plain = LinearSVC(loss="hinge", C=0.5, tol=1e-6).fit(np.vstack(X), model.instance_labels_)
    assert 0.5 * plain.certificate_.primal == pytest.approx(model.objective_, rel=1e-5)
    # A gap of 1e-6 leaves weights free by about its root.
    assert np.abs(plain.coef_ - model.coef_).max() < 5e-3


# ---- reductions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_bags_of_one_row_are_rows(variant):
    """Without bags= every row is a bag, and the machine is LinearSVC with the hinge."""
    X = features()
    y = labels(X)
    ours = MultipleInstanceSVM(variant, 0.5, tol=1e-8).fit(X, y)
    theirs = LinearSVC(loss="hinge", C=0.5, tol=1e-8).fit(X, y)
    assert np.abs(ours.coef_ - theirs.coef_).max() < 1e-3
    assert ours.objective_ == pytest.approx(0.5 * theirs.certificate_.primal, rel=1e-6)
    assert (ours.witnesses_ == np.arange(len(X))).all()
    assert len({each.start for each in ours.history_}) == 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_lists_names_and_mappings_of_bags_are_one(variant):
    """Bags as a list, as names of rows in any order, with labels by bag, by row and by name: one model."""
    X, y, _ = molecules()
    Z = np.vstack(X)
    bag = np.repeat(np.arange(len(X)), [len(each) for each in X])
    names = np.array([f"bag {k}" for k in bag])
    first = MultipleInstanceSVM(variant).fit(X, y)
    others = [
        MultipleInstanceSVM(variant).fit(Z, y, bags=bag),
        MultipleInstanceSVM(variant).fit(Z, y[bag], bags=names),
        MultipleInstanceSVM(variant).fit(Z, {f"bag {k}": label for k, label in enumerate(y)}, bags=names),
        MultipleInstanceSVM(variant).fit([each.tolist() for each in X], y.tolist()),
    ]
    for other in others:
        assert (other.coef_ == first.coef_).all()
        assert (other.witnesses_ == first.witnesses_).all()
    assert (first.predict(X) == others[0].predict(Z, bags=bag)).all()
    assert first.score(X, y) == others[1].score(Z, y[bag], bags=names)
    sparse = MultipleInstanceSVM(variant).fit([sp.csr_array(each) for each in X], y)
    assert sparse.objective_ == pytest.approx(first.objective_, rel=2e-3)


def test_the_order_of_rows_does_not_matter():
    """Rows of a bag need not lie side by side."""
    X, y, _ = molecules()
    Z = np.vstack(X)
    bag = np.repeat(np.arange(len(X)), [len(each) for each in X])
    order = np.random.default_rng(0).permutation(len(Z))
    mixed = MultipleInstanceSVM("MI", tol=1e-8, n_starts=1).fit(
        Z[order], dict(enumerate(y.tolist())), bags=bag[order]
    )
    plain = MultipleInstanceSVM("MI", tol=1e-8, n_starts=1).fit(X, y)
    assert mixed.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    by_name = dict(zip(mixed.bags_.tolist(), order[mixed.witnesses_].tolist(), strict=True))
    assert [by_name[k] for k in range(len(X))] == plain.witnesses_.tolist()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_positive_label_may_be_the_first(variant, kernel):
    """positive= says which label has witnesses; predictions are the same by any name of the labels."""
    X, y, _ = molecules()
    usual = MultipleInstanceSVM(variant, kernel=kernel).fit(X, y)
    turned = MultipleInstanceSVM(variant, kernel=kernel, positive="active").fit(
        X, np.where(y == 1, "active", "inert")
    )
    assert (turned.predict(X) == np.where(usual.predict(X) == 1, "active", "inert")).all()
    assert (turned.decision_function(X) == -usual.decision_function(X)).all()
    assert (turned.witnesses_ == usual.witnesses_).all()
    assert ((turned.instance_labels_ == "active") == (usual.instance_labels_ == 1)).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_bag_of_weight_two_is_the_bag_twice(variant):
    """Weights are repetitions of bags, and weight 0 leaves a bag out."""
    X, y, _ = molecules(n_bags=16)
    weights = np.ones(16)
    weights[3], weights[4] = 2.0, 0.0
    weighted = MultipleInstanceSVM(variant, tol=1e-8, n_starts=1).fit(X, y, sample_weight=weights)
    places = [k for k in range(16) if k != 4] + [3]
    repeated = MultipleInstanceSVM(variant, tol=1e-8, n_starts=1).fit([X[k] for k in places], y[places])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)


# ---- what it is for -------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_rows_that_make_bags_positive_are_found(variant):
    """Witnesses of positive bags are the active rows, and new bags are told apart."""
    X, y, active = molecules(n_bags=60, d=6, seed=1)
    model = MultipleInstanceSVM(variant, 1.0).fit(X, y)
    assert active[model.witnesses_[y == 1]].mean() > 0.9
    new, truth, rows = molecules(n_bags=60, d=6, seed=2)
    assert model.score(new, truth) > 0.85
    assert np.mean(model.predict_instances(new) == rows) > 0.85


def test_seeds_and_threads():
    """The same seed gives the same model with any number of threads."""
    X, y, _ = molecules()
    one, two = (MultipleInstanceSVM(random_state=3, n_threads=n).fit(X, y) for n in (1, 2))
    assert (one.coef_ == two.coef_).all()
    assert one.history_ == two.history_


def test_bags_of_strings():
    """Rows may be whatever the kernel takes."""
    texts = ["aaaa", "xyxy", "bbbb", "xyxx", "aaaa", "bbbb", "abab"]
    bags = [0, 0, 1, 1, 2, 2, 3]
    model = MultipleInstanceSVM(kernel=Spectrum(2), C=10).fit(texts, [1, 1, 0, 0], bags=bags)
    assert model.witnesses_[:2].tolist() == [1, 3]
    assert model.predict(["bb", "yxyx", "ba"], bags=["p", "p", "q"]).tolist() == [1, 0]
