"""What every kernel machine obeys: options, data, budgets, Ctrl-C, probabilities, copies of models."""

import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import log_loss

from lineal import SVC, SVR, NuSVR, OneClassSVM, verify
from lineal.errors import InputError, LinealError, NotCertifiedWarning, ParameterError
from lineal.kernels import Gaussian, Spectrum

KINDS = [SVC, SVR, NuSVR, OneClassSVM]
every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def data(n=60, d=3, seed=0, n_classes=2):
    """Points, labels, targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    t = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)
    return X, np.digitize(t, np.quantile(t, np.arange(1, n_classes) / n_classes)), t


def target_of(kind, n=60, **options):
    """X and what suits the machine as y."""
    X, y, t = data(n, **options)
    return X, {SVC: y, SVR: t, NuSVR: t, OneClassSVM: None}[kind]


# ---- options --------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    "options",
    [
        {"tol": 0}, {"tol": -1.0}, {"tol": np.nan}, {"tol": "small"}, {"tol": None},
        {"kernel": "sigmoid"}, {"kernel": "spline"}, {"kernel": 3}, {"kernel": None},
        {"gamma": "scales"}, {"gamma": 0.0}, {"gamma": -1.0}, {"gamma": np.inf}, {"gamma": None},
        {"kernel": "poly", "degree": 0}, {"kernel": "poly", "degree": 2.5},
        {"kernel": "poly", "coef0": -1.0}, {"kernel": "poly", "coef0": np.nan},
        {"max_iter": 1.5}, {"max_iter": "many"}, {"max_seconds": 0}, {"max_seconds": "long"},
        {"n_threads": 0}, {"callbacks": 3}, {"callbacks": [3]},
    ],
    ids=str,
)  # fmt: skip
def test_impossible_options_are_refused(kind, options):
    """Refused in words by fit, and the learner is as it was."""
    X, y = target_of(kind)
    model = kind(**options)
    with pytest.raises(ParameterError):
        model.fit(X, y)
    assert not hasattr(model, "support_")


@pytest.mark.parametrize(
    ("kind", "options"),
    [(kind, {"C": C}) for kind in (SVC, SVR, NuSVR) for C in (0, -1.0, np.nan, "1", None, True)]
    + [(kind, {"nu": nu}) for kind in (NuSVR, OneClassSVM) for nu in (0, 1.01, -0.5, np.nan, "half", None)]
    + [(SVR, {"epsilon": value}) for value in (-0.1, np.nan, np.inf, "thin")]
    + [(kind, {"C": np.inf}) for kind in (SVR, NuSVR)]
    + [
        (SVC, {"multi_class": "all"}),
        (SVC, {"decision_function_shape": "both"}),
        (SVC, {"multi_class": "ovr", "decision_function_shape": "ovo"}),
        (SVC, {"class_weight": "even"}),
        (SVC, {"class_weight": {7: 1.0}}),
        (SVC, {"class_weight": {0: -1.0}}),
    ],
    ids=str,
)
def test_impossible_prices_and_shares_are_refused(kind, options):
    """C <= 0, nu outside (0, 1], epsilon below 0 and names nobody knows."""
    X, y = target_of(kind)
    with pytest.raises(ParameterError):
        kind(**options).fit(X, y)


# ---- data -----------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_refused_with_its_place(kind, layout, bad):
    """In fit and in predict."""
    X, y = target_of(kind)
    good = kind().fit(layout(X), y)
    X[3, 1] = bad
    with pytest.raises(InputError, match="row 3, column 1"):
        kind().fit(layout(X), y)
    with pytest.raises(InputError, match="row 3, column 1"):
        good.predict(layout(X))


@every
def test_shapes_that_do_not_fit_are_refused(kind):
    """No rows, no columns, three axes, one axis, other columns in predict, weights of another length."""
    X, y = target_of(kind)
    for wrong in (np.empty((0, 3)), np.empty((60, 0)), X[None], X[:, 0]):
        with pytest.raises(InputError):
            kind().fit(wrong, y)
    model = kind().fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
    for weights in (np.ones(59), -np.ones(60), np.full(60, np.nan), np.zeros(60)):
        with pytest.raises(InputError):
            kind().fit(X, y, weights)
    if y is not None:
        with pytest.raises(InputError):
            kind().fit(X, y[:50])


def test_one_class_of_labels_is_refused():
    """With weight: a class without any is not there, but the others may be enough."""
    X, y, _ = data()
    with pytest.raises(InputError, match="2 classes"):
        SVC().fit(X, np.zeros(60))
    with pytest.raises(InputError, match="2 classes"):
        SVC().fit(X, y, (y == 1).astype(float))
    with pytest.raises(InputError, match="weight"):
        SVC().fit(*data(n_classes=3)[:2], (data(n_classes=3)[1] > 1).astype(float))


@every
def test_numbers_beyond_float64_are_refused_and_large_ones_are_not(kind):
    """Squares of 1e200 are beyond float64; 1e100 is only large, and must be certified or said not to be."""
    X, y = target_of(kind)
    for kernel in ("rbf", "linear", "poly"):
        with pytest.raises(LinealError, match="Scale the data"):
            kind(kernel=kernel).fit(1e200 * X, y)
    for factor in (1e100, 1e-100):
        model = kind(gamma=0.5 / factor**2).fit(factor * X, y)
        assert model.certificate_.converged
        plain = kind(gamma=0.5).fit(X, y)
        np.testing.assert_allclose(
            model.predict(factor * X).astype(float), plain.predict(X).astype(float), atol=1e-2
        )


@every
def test_sparse_layouts_are_one(kind):
    """64-bit indices, columns out of order, entries stored twice, CSC and COO are the same rows."""
    X, y = target_of(kind)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    plain = sp.csr_array(X)
    wide = plain.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    backwards = plain.copy()
    for i in range(60):
        row = slice(backwards.indptr[i], backwards.indptr[i + 1])
        backwards.indices[row] = backwards.indices[row][::-1].copy()
        backwards.data[row] = backwards.data[row][::-1].copy()
    backwards.has_sorted_indices = False
    twice = sp.coo_array((np.tile(plain.tocoo().data / 2, 2), np.tile(plain.tocoo().coords, 2)), plain.shape)
    wanted = kind().fit(plain, y)
    for other in (wide, backwards, twice, sp.csc_array(X), sp.coo_array(X), sp.csr_matrix(X)):
        model = kind().fit(other, y)
        np.testing.assert_array_equal(model.dual_coef_, wanted.dual_coef_)
        np.testing.assert_array_equal(model.predict(other), wanted.predict(plain))
        np.testing.assert_allclose(
            model.predict(X).astype(float), wanted.predict(plain).astype(float), atol=1e-9
        )


@every
def test_constant_columns_and_constant_rows(kind):
    """A column that never changes changes nothing; rows that are all the same are learned as such."""
    X, y = target_of(kind)
    with_constant = np.column_stack([X, np.full(60, 7.0)])
    wanted, got = kind(gamma=0.5).fit(X, y), kind(gamma=0.5).fit(with_constant, y)
    np.testing.assert_allclose(
        got.predict(with_constant).astype(float), wanted.predict(X).astype(float), atol=2e-2
    )
    same = kind().fit(np.ones((60, 3)), y)
    assert same.certificate_.converged
    assert len(np.unique(same.predict(np.ones((5, 3))))) == 1


def test_targets_that_a_constant_meets():
    """Nothing to pay and nothing to learn, certified."""
    X = data()[0]
    for kind in (SVR, NuSVR):
        for constant in (0.0, 3.0, -1e9):
            model = kind().fit(X, np.full(60, constant))
            assert model.certificate_.converged
            np.testing.assert_allclose(model.predict(X), constant, rtol=1e-9, atol=0.2)


@every
def test_frames_and_lists(kind):
    """Data frames, lists and float32 are read; names are held to."""
    X, y = target_of(kind)
    wanted = kind().fit(X, y).predict(X)
    frame = pd.DataFrame(X, columns=list("abc"))
    model = kind().fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), wanted)
    assert model.feature_names_in_.tolist() == list("abc")
    np.testing.assert_array_equal(kind().fit(X.tolist(), y).predict(X.tolist()), wanted)
    single = kind().fit(X.astype(np.float32), y).predict(X.astype(np.float32))
    np.testing.assert_allclose(single.astype(float), wanted.astype(float), atol=2e-2)


def test_a_gram_matrix_must_be_square_and_texts_texts():
    """Refused before any work."""
    X, y, _ = data()
    with pytest.raises(InputError):
        SVC(kernel="precomputed").fit(X, y)
    with pytest.raises(InputError):
        SVC(kernel=Spectrum(2)).fit(X, y)
    model = SVC(kernel="precomputed").fit(Gaussian(gamma=0.3).gram(X), y)
    with pytest.raises(InputError):
        model.predict(X)


# ---- budgets --------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("options", [{"max_iter": 1}, {"max_seconds": 1e-9}], ids=str)
def test_a_budget_ends_a_fit_with_an_honest_certificate(kind, options):
    """The best so far, with a warning, a true gap, and the reason."""
    X, y = target_of(kind, 2000)
    with pytest.warns(NotCertifiedWarning, match=next(iter(options)).replace("iter", "epochs")):
        model = kind(tol=1e-9, gamma=1.0, **options).fit(X, y)
    assert not model.certificate_.converged
    again = verify(model, X, y)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-6)
    assert again.dual <= again.primal
    assert model.predict(X).shape == (2000,)


@every
def test_callbacks_see_and_stop(kind):
    """They get epochs, P, D and the gap; True stops the fit; an error of theirs is theirs."""
    X, y = target_of(kind, 300)
    seen = []
    model = kind(tol=1e-8, callbacks=[seen.append]).fit(X, y)
    assert [point.epoch for point in seen] == list(range(1, model.n_iter_ + 1))
    assert seen[-1].gap <= seen[0].gap
    with pytest.warns(NotCertifiedWarning, match="callback asked"):
        kind(tol=1e-12, callbacks=[lambda point: True]).fit(X, y)

    def fails(point):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        kind(callbacks=[fails]).fit(X, y)


@every
def test_max_seconds_covers_everything(kind):
    """A fit that would take long ends soon after its time."""
    X, y = target_of(kind, 3000, d=8)
    began = time.perf_counter()
    with pytest.warns(NotCertifiedWarning, match="max_seconds"):
        kind(kernel="linear", tol=1e-15, max_seconds=0.05, **({} if kind is OneClassSVM else {"C": 1e4})).fit(
            X, y
        )
    assert time.perf_counter() - began < 10  # a block in progress is finished, and the machine may be busy


def pressed():
    """A callback that presses Ctrl-C, once."""
    seen = []

    def press(point):
        if not seen:
            seen.append(point)
            os.kill(os.getpid(), signal.SIGINT)

    return press


@every
def test_ctrl_c_gives_the_best_so_far(kind):
    """The machine as it is, with a certificate that says so; afterwards Ctrl-C raises as usual."""
    X, y = target_of(kind, 500)
    with pytest.warns(NotCertifiedWarning, match="interrupted"):
        model = kind(tol=1e-12, callbacks=[pressed()]).fit(X, y)
    assert model.certificate_.reason.startswith("interrupted")
    assert verify(model, X, y).primal == pytest.approx(model.certificate_.primal, rel=1e-6)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("n_threads", [1, 2])
def test_one_ctrl_c_is_for_all_machines(n_threads, monkeypatch):
    """Six pairs and their five folds: all end at once, and probabilities do without temperatures."""
    monkeypatch.setattr(SVC, "_is_plain", lambda self, data: False)  # so that callbacks hear on the way
    X, y, _ = data(800, n_classes=4)
    model = SVC(tol=1e-12, probability=True, n_threads=n_threads, callbacks=[pressed()])
    with pytest.warns(NotCertifiedWarning, match="interrupted"):
        model.fit(X, y)
    assert len(model.certificates_) == 6
    assert all(each.epochs <= 2 for each in model.certificates_[1:]) or n_threads > 1
    assert model.predict_proba(X[:3]).sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_and_time_end_pairs_that_nobody_listens_to(n_threads):
    """Machines of many pairs are solved in one go, which ends as soon all the same."""
    X, y, _ = data(3000, d=8, n_classes=12)
    options = {"C": 1e5, "kernel": "linear", "tol": 1e-9, "n_threads": n_threads}
    with pytest.warns(NotCertifiedWarning, match="max_seconds"):
        late = SVC(max_seconds=0.05, **options).fit(X, y)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.perf_counter()
    with pytest.warns(NotCertifiedWarning, match="interrupted"):
        stopped = SVC(**options).fit(X, y)
    assert time.perf_counter() - began < 20
    for model in (late, stopped):
        assert len(model.certificates_) == 66
        assert not model.certificate_.converged
        assert np.isfinite(model.decision_function(X[:3])).all()


# ---- models ---------------------------------------------------------------------------------------


@every
def test_copies(kind):
    """clone keeps options and nothing learned; pickle keeps every bit of predictions and the certificate."""
    X, y = target_of(kind)
    model = kind(gamma=0.7).fit(X, y)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "support_")
    model.predict(X)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.certificate_ == model.certificate_
    again = twin.fit(X, y)
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)


@every
def test_a_refused_fit_leaves_the_model_as_it_was(kind):
    """Fitted before, fitted after."""
    X, y = target_of(kind)
    model = kind().fit(X, y)
    before = model.predict(X)
    with pytest.raises(InputError):
        model.fit(np.full_like(X, np.nan), y)
    np.testing.assert_array_equal(model.predict(X), before)


@every
def test_copies_of_rows_share_their_coefficient(kind):
    """Equal rows of a label are one row with their weights; coefficients keep to the bounds of each."""
    X, y = target_of(kind, 30)
    often = np.random.default_rng(0).integers(0, 30, size=120)
    model = kind(tol=1e-6).fit(X[often], None if y is None else y[often])
    again = verify(model, X[often], None if y is None else y[often])
    assert again.converged
    assert again.kkt.outside <= 1e-9
    assert again.kkt.imbalance <= 1e-9


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities(n_classes, multi_class):
    """Rows sum to 1, the largest is the predicted label's, and they are worth more than the shares of
    classes on rows that were not seen."""
    X, y, _ = data(600, n_classes=n_classes)
    model = SVC(probability=True, multi_class=multi_class, C=3.0).fit(X[:400], y[:400])
    P = model.predict_proba(X)
    assert P.shape == (600, n_classes)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert (P >= 0).all()
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P)
    shares = np.tile(np.bincount(y[:400]) / 400, (200, 1))
    assert log_loss(y[400:], P[400:]) < log_loss(y[400:], shares)
    # Of rows held out that are given 0.8 to 1, about as many are right.
    sure = P[400:].max(axis=1) > 0.8
    if sure.sum() > 30:
        right = np.mean(model.predict(X[400:])[sure] == y[400:][sure])
        spread = 3 * np.sqrt(0.25 / sure.sum())
        assert abs(right - P[400:].max(axis=1)[sure].mean()) <= spread
    assert not hasattr(SVC().fit(X[:100], y[:100]), "predict_proba")


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_labels_of_any_kind(multi_class):
    """Strings, booleans and numbers out of order."""
    X, y, _ = data(90, n_classes=3)
    codes = SVC(multi_class=multi_class).fit(X, y).predict(X)
    for names in (np.array(["low", "mid", "top"]), np.array([-7, 2, 100]), np.array([0.0, 1.0, 2.0])):
        model = SVC(multi_class=multi_class).fit(X, names[y])
        np.testing.assert_array_equal(model.predict(X), names[codes])
    truth = SVC().fit(X, y > 0)
    assert truth.predict(X).dtype == bool


def test_verify_wants_the_training_data():
    """Other rows are refused; other labels are another problem."""
    X, y, _ = data(n_classes=3)
    model = SVC().fit(X, y)
    with pytest.raises(InputError, match="training data"):
        verify(model, X[::-1], y)
    with pytest.raises(InputError, match="training data"):
        verify(model, X[:20], y[:20])
    with pytest.raises(InputError):
        verify(model, X, y + 5)
    assert not verify(model, X, np.roll(y, 1)).converged
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "rows at 0" in str(verify(model, X, y))


# ---- classes without weight -----------------------------------------------------------------------


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_class_without_weight_is_no_class(multi_class, C):
    """Rows of weight 0 are no rows: classes_ and the machine are those of the others."""
    X, y, _ = data(n_classes=4)
    s = (y > 1).astype(float)
    model = SVC(multi_class=multi_class, C=C, gamma=5.0).fit(X, y, sample_weight=s)
    assert model.classes_.tolist() == [2, 3]
    assert model.certificate_.converged
    assert verify(model, X, y, s).converged
    alone = SVC(C=C, gamma=5.0).fit(X[y > 1], y[y > 1])
    assert np.array_equal(model.predict(X), alone.predict(X))


def test_weights_that_leave_one_class_are_refused_with_its_name():
    """Those of classes count as those of rows do; labels are written as Python writes them."""
    X, y, _ = data()
    for options, s in (({"class_weight": {0: 0, 1: 1}}, None), ({}, y.astype(float))):
        with pytest.raises(InputError, match=r"only one class with weight: 1[.]"):
            SVC(**options).fit(X, y, sample_weight=s)


def test_a_function_that_returns_no_number_is_told():
    """It is not the data that are too large."""
    X, y, _ = data()
    with pytest.raises(InputError, match=r"not a finite number.*your function"):
        SVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, y)
