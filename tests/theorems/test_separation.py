"""A likelihood without a penalty has a minimiser, or a direction proves that it has none; never neither."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.datasets import load_iris, load_wine

from lineal import JointClassifier, LinearClassifier, LogisticRegression, OrdinalClassifier
from lineal.objective import L2, Hinge, Intercept, Log, NoPenalty, Problem, SquaredHinge
from lineal.objective.certificate import Stop
from lineal.objective.linear_maps import NumpyRows, native_csr, native_dense
from lineal.solvers.separation import Overlap, Separation, decide

BITS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
IRIS, SPECIES = load_iris(return_X_y=True)
WINE, CULTIVAR = load_wine(return_X_y=True)


def posed(X, y, *, intercept=True, s=None, rows=None):
    """The likelihood of labels, without a penalty."""
    classes, codes = np.unique(y, return_inverse=True)
    X = np.ascontiguousarray(X, dtype=float)
    rows = native_dense(X, 1) if rows is None else rows
    s = np.ones(len(X)) if s is None else np.asarray(s, dtype=float)
    b = Intercept.FREE if intercept else Intercept.NONE
    if len(classes) == 2:
        signs = np.where(codes == 1, 1.0, -1.0)[:, None]
        return Problem.of_rows(rows, signs, s, Log(), NoPenalty(), b, 1)
    return Problem.of_rows(rows, codes.astype(np.int32), s, Log().joint(), NoPenalty(), b, len(classes))


def kind(found):
    """In a word."""
    if isinstance(found, Separation):
        return "complete" if found.is_complete else "quasi-complete"
    return "overlap" if isinstance(found, Overlap) else None


def differences(X, y, intercept):
    """(row, wrong class or 0, a): the vectors whose products with weights are the margins."""
    classes, codes = np.unique(y, return_inverse=True)
    A, K = np.column_stack([X, np.ones(len(X))]) if intercept else np.asarray(X, dtype=float), len(classes)
    for i, (a, own) in enumerate(zip(A, codes, strict=True)):
        if K == 2:
            yield i, 0, a if own else -a
            continue
        for k in range(K):
            if k != own:
                block = np.zeros((K, A.shape[1]))
                block[own], block[k] = a, -a
                yield i, k, block.ravel()


def said_by_linprog(X, y, intercept):
    """Max sum of margins >= 0 in a box: above 0 exactly where the classes are separated somehow."""
    M = np.array([a for _, _, a in differences(X, y, intercept)])
    M = M / np.maximum(np.abs(M).max(axis=0), 1e-300)
    answer = linprog(-M.sum(axis=0), A_ub=-M, b_ub=np.zeros(len(M)), bounds=[(-1, 1)] * M.shape[1])
    return -answer.fun > 1e-7


def check_proof(X, y, intercept, found):
    """Margins in exact arithmetic: none below 0, some above, 0 where that is said; or shares that cancel."""
    rows = list(differences(X, y, intercept))
    if isinstance(found, Overlap):
        shares = np.array([found.shares[i, k] for i, k, _ in rows])
        assert (shares > 0).all()
        assert np.count_nonzero(found.shares) == len(rows)
        M = np.array([a for _, _, a in rows])
        assert (np.abs(shares @ M) <= 1e-3 * (shares @ np.abs(M))).all()
        return
    v = np.vstack([found.W, found.b]).T if intercept else found.W.T  # a row for each score
    exact = [Fraction(value) for value in v.ravel().tolist()]
    for i, k, a in rows:
        margin = sum(Fraction(float(x)) * w for x, w in zip(a, exact, strict=True))
        if found.margins[i, k] > 0:
            assert margin > 0
        elif found.is_exact:
            assert margin == 0
    assert (found.margins > 0).any()
    assert found.is_complete == (np.count_nonzero(found.margins) == len(rows))


# ---- by hand ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "expected"),
    [
        (BITS, [0, 0, 0, 1], "complete"),  # AND
        (BITS, [0, 1, 1, 1], "complete"),  # OR
        (BITS, [0, 1, 1, 0], "overlap"),  # XOR
        ([[0], [0], [1], [1]], [0, 1, 1, 1], "quasi-complete"),  # a table of 2 x 2 with one empty cell
        ([[0], [0], [1], [1]], [0, 1, 0, 1], "overlap"),  # and without
        ([[0], [0], [1], [1]], [0, 0, 1, 1], "complete"),  # and with two
        ([[-1], [0], [0], [1]], [0, 0, 1, 1], "quasi-complete"),  # two classes that touch in a point
        ([[0], [1], [2], [3]], [0, 0, 1, 2], "complete"),
        (
            [[0], [1], [0], [1], [5], [6]],
            [0, 0, 1, 1, 2, 2],
            "quasi-complete",
        ),  # one of three classes is apart
        ([[0], [1], [2], [0], [1], [2]], [0, 1, 2, 1, 2, 0], "overlap"),
        (IRIS, SPECIES == 0, "complete"),
        (IRIS, SPECIES == 1, "overlap"),
        (IRIS, SPECIES, "quasi-complete"),
        (WINE, CULTIVAR, "complete"),
    ],
)
def test_what_is_known(X, y, expected):
    X = np.asarray(X, dtype=float)
    found = decide(posed(X, y))
    assert kind(found) == expected
    check_proof(X, y, True, found)


def test_of_three_species_one_is_told_apart_and_two_are_left_as_they_are():
    """Setosa's margins grow, those between the others stay 0: their weights are equal."""
    found = decide(posed(IRIS, SPECIES))
    assert found.is_exact
    np.testing.assert_array_equal(found.W[:, 1], found.W[:, 2])
    np.testing.assert_array_equal(found.margins > 0, (SPECIES[:, None] == 0) != (np.arange(3) == 0))


# ---- beside a linear programme ------------------------------------------------------------------


def table(seed):
    """Whole numbers, bits, reals, dummies of all levels, or tenths with a column that the others give."""
    rng = np.random.default_rng(seed)
    K, n, d = int(rng.choice([2, 2, 3, 4])), int(rng.integers(4, 40)), int(rng.integers(1, 6))
    X = [
        lambda: rng.integers(-3, 4, size=(n, d)).astype(float),
        lambda: rng.integers(0, 2, size=(n, d)).astype(float),
        lambda: rng.normal(size=(n, d)),
        lambda: np.column_stack([np.eye(3)[rng.integers(0, 3, n)], rng.integers(-2, 3, size=(n, d))]),
        lambda: np.column_stack([Z := rng.normal(size=(n, d)).round(1), 1 - Z[:, :1]]),
    ][seed % 5]()
    y = rng.integers(0, K, n)
    if seed % 2:
        y = (X @ rng.normal(size=(X.shape[1], K)) + 0.5 * rng.normal(size=(n, K))).argmax(axis=1)
    return X, y, bool(rng.integers(0, 2))


@pytest.mark.parametrize("first", range(0, 200, 10))
def test_a_linear_programme_says_the_same(first):
    """On random tables of every kind, and each answer is proved in exact arithmetic."""
    for seed in range(first, first + 10):
        X, y, intercept = table(seed)
        if len(set(y.tolist())) < 2:
            continue
        found = decide(posed(X, y, intercept=intercept))
        assert found is not None
        assert isinstance(found, Separation) == said_by_linprog(X, y, intercept)
        check_proof(X, y, intercept, found)


@pytest.mark.slow
def test_a_linear_programme_says_the_same_of_thousands():
    for first in range(200, 5000, 10):
        test_a_linear_programme_says_the_same(first)


# ---- what changes nothing -----------------------------------------------------------------------


@pytest.mark.parametrize(("X", "y"), [(IRIS, SPECIES), (IRIS, SPECIES == 1), (WINE, CULTIVAR)])
def test_units_offsets_and_rows_twice_change_nothing(X, y):
    expected = kind(decide(posed(X, y)))
    units, offsets = (
        10.0 ** np.arange(-6, X.shape[1] * 2 - 6, 2)[: X.shape[1]],
        np.linspace(-50, 50, X.shape[1]),
    )
    order = np.random.default_rng(0).permutation(len(y))
    twice = np.repeat(np.arange(len(y)), 2)
    for problem in (
        posed(X * units, y),
        posed(X + offsets, y),
        posed(X[order], y[order]),
        posed(X[twice], y[twice]),
        posed(X, y, s=np.linspace(1e-3, 1e3, len(y))),
        posed(X, y, rows=native_csr(sp.csr_array(X), 1)),
        posed(X, y, rows=NumpyRows(X)),
    ):
        assert kind(decide(problem)) == expected


def test_rows_without_weight_have_no_say():
    """The rows in the way of a separation weigh nothing: it is one."""
    y, s = np.array([0, 1, 1, 0]), np.array([1.0, 1.0, 1.0, 0.0])
    found = decide(posed(BITS, y, s=s))
    assert kind(found) == "complete"
    assert not found.margins[3].any()


def test_columns_that_depend_on_each_other_separate_nothing():
    """A direction along which no score moves is no separation: dummies of all levels beside an intercept."""
    rng = np.random.default_rng(1)
    level, y = rng.integers(0, 4, 200), rng.integers(0, 3, 200)
    X = np.column_stack([np.eye(4)[level], level, np.full(200, 7.0)])
    assert kind(decide(posed(X, y))) == "overlap"
    y[level == 2] = 0
    found = decide(posed(X, y))
    assert kind(found) == "quasi-complete"
    check_proof(X, y, True, found)


def test_what_is_penalised_separates_nothing():
    """Only directions without a penalty count: under a dict of blocks some columns are free."""
    X = np.column_stack([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
    y = [0, 0, 1, 1]  # the first column decides
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_free = LinearClassifier(penalty={0: NoPenalty(), 1: L2(1.0)}).fit(X, y)
        by_penalised = LinearClassifier(penalty={0: L2(1.0), 1: NoPenalty()}).fit(X, y)
    assert by_free.certificate_.stop is Stop.NO_MINIMUM
    assert not by_free.separation_.coef[0, 1]
    assert by_penalised.certificate_.converged


# ---- fits ---------------------------------------------------------------------------------------


def fitted(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LinearClassifier(loss=Log(), penalty=NoPenalty(), **options).fit(X, y)


@pytest.mark.parametrize("seed", range(40))
def test_a_fit_is_certified_or_proved_to_have_no_end(seed):
    """Whatever the table: a certificate where a minimiser exists, else the witness; or one of an infimum that
    is as near as was asked for."""
    X, y, intercept = table(1000 + seed)
    if len(set(y.tolist())) < 2:
        return
    model = fitted(X, y, fit_intercept=intercept, tol=1e-6)
    if said_by_linprog(X, y, intercept) and not model.certificate_.converged:
        assert model.certificate_.stop is Stop.NO_MINIMUM
        check_proof(X, y, intercept, model.separation_)
    else:
        assert model.certificate_.converged
        assert not hasattr(model, "separation_")


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "gd", "cg"])
@pytest.mark.parametrize("y", [SPECIES == 0, SPECIES], ids=["complete", "quasi-complete"])
def test_every_solver_says_so(solver, y):
    model = fitted(IRIS, y, solver=solver, max_epochs=2000)
    assert model.certificate_.stop is Stop.NO_MINIMUM
    assert "separable" in model.certificate_.reason
    assert "separation_" in model.certificate_.reason
    check_proof(IRIS, y, True, model.separation_)
    if y.dtype == bool:
        assert (model.predict(IRIS) == y).all()


def test_an_offset_of_a_million_changes_nothing():
    """Columns far from 0 are moved; the direction is that of the columns as they came."""
    model = fitted(IRIS + 1e6, SPECIES)
    assert model.certificate_.stop is Stop.NO_MINIMUM
    Z = (IRIS + 1e6) @ model.separation_.coef.T + model.separation_.intercept
    assert (Z[:50, :1] > Z[:50, 1:]).all()
    assert (Z[50:, 1:] > Z[50:, :1]).all()


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, 1e-8])
def test_nearly_separable_classes_have_a_minimiser_and_it_is_found(gap):
    """Two pairs that cross by a hair: weights of about 1 / gap, and a certificate."""
    X = np.array([[-1.0], [0.0], [gap], [0.0], [gap], [1.0]])
    y = [0, 0, 0, 1, 1, 1]
    model = fitted(X, y, tol=1e-8)
    assert model.certificate_.converged
    crossed = fitted([[-1.0], [gap], [0.0], [1.0]], [0, 0, 1, 1], tol=1e-8)
    assert crossed.certificate_.converged


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=str)
@pytest.mark.parametrize("y", [SPECIES == 0, SPECIES == 1, SPECIES], ids=["complete", "overlap", "three"])
def test_hinges_reach_their_minimum_without_a_penalty(loss, y):
    """They are 0 where classes are separated, and polynomials by pieces elsewhere: always certified."""
    model = LinearClassifier(loss=loss, penalty=NoPenalty()).fit(IRIS, y)
    assert model.certificate_.converged


def test_a_later_fit_with_a_minimum_forgets_the_direction():
    model = fitted(IRIS, SPECIES)
    assert model.separation_ is not None
    model.fit(IRIS, SPECIES == 1)
    assert not hasattr(model, "separation_")


def test_infinite_c_is_no_penalty():
    with pytest.warns(UserWarning, match="separable"):
        model = LogisticRegression(C=np.inf).fit(IRIS, SPECIES)
    assert model.certificate_.stop is Stop.NO_MINIMUM


# ---- scores that share weights ------------------------------------------------------------------


def test_thresholds_of_ordered_classes():
    """One direction and two thresholds: classes in order are separated; with rows across, they are not."""
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    crossed = [0, 1, 2, 4, 3, 5, 6, 8, 7, 9, 10, 11]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        apart = OrdinalClassifier(loss=Log(), penalty=NoPenalty()).fit(X, y)
        mixed = OrdinalClassifier(loss=Log(), penalty=NoPenalty()).fit(X, y[crossed])
    assert apart.certificate_.stop is Stop.NO_MINIMUM
    assert apart.separation_.is_complete
    assert (apart.predict(X) == y).all()
    assert mixed.certificate_.converged


def test_a_joint_map_of_one_s_own():
    """phi(x, y) with a feature that all labels share: separated, and with a label in the way not."""

    def phi(x, label):
        place = "abc".index(label)
        return {f"{label}:0": x[0], f"{label}:1": x[1], f"{label}:b": 1.0, "shared": x[0] * place}

    xs, labels = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [2.0, 0.0]], list("abcab")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        apart = JointClassifier(phi, loss=Log(), penalty=NoPenalty()).fit(xs, labels)
        mixed = JointClassifier(phi, loss=Log(), penalty=NoPenalty()).fit(xs * 2, [*labels, *"babca"])
    assert apart.certificate_.stop is Stop.NO_MINIMUM
    assert (apart.separation_.margins >= 0).all()
    assert apart.separation_.is_complete
    assert mixed.certificate_.converged
