"""The grid over C and gamma."""

import importlib
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.model_selection import PredefinedSplit, cross_val_score

import lineal
from lineal.errors import InputError, ParameterError
from lineal.kernels import Gaussian
from lineal.solvers.kernel_dual import KernelValues, ProductTable

C, GAMMA = [0.1, 1.0, 30.0], [0.05, 0.5, 5.0]


def _data(K: int = 2, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(K)
    X = rng.normal(size=(n, 3))
    angle = np.arctan2(X[:, 1], X[:, 0]) + 0.4 * rng.normal(size=n)
    return X, np.array(list("abcd"))[np.floor((angle % (2 * np.pi)) / (2 * np.pi) * K).astype(int)]


@pytest.mark.parametrize("K", [2, 4])
def test_every_place_has_the_accuracy_of_a_cold_fit(K: int) -> None:
    """Warm starts along C change the time, not the scores: those of a machine fitted from nothing."""
    X, y = _data(K)
    folds = np.arange(len(y)) % 3
    found = lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=folds, tol=1e-7)
    for g, gamma in enumerate(GAMMA):
        for c, price in enumerate(C):
            for fold in range(3):
                cold = lineal.SVC(C=price, gamma=gamma, tol=1e-7).fit(X[folds != fold], y[folds != fold])
                score = cold.score(X[folds == fold], y[folds == fold])
                # One row of 50 may lie so near to 0 that the last digit of a score decides.
                assert abs(found.fold_scores[fold, g, c] - score) <= 1.01 / 50


def test_two_classes_agree_with_libsvm() -> None:
    """The accuracies are scikit-learn's."""
    X, y = _data()
    folds = np.arange(len(y)) % 3
    found = lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=folds, tol=1e-7)
    peer = svm.SVC(C=C[1], gamma=GAMMA[1], tol=1e-7)
    theirs = cross_val_score(peer, X, y, cv=PredefinedSplit(folds))
    assert np.allclose(found.fold_scores[:, 1, 1], theirs)


def test_the_best_place_is_the_highest_and_smoothest() -> None:
    """The highest mean; of equals the smallest C, then the smallest gamma; the model is fitted there."""
    X, y = _data()
    found = lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=3)
    assert (
        found.best_score
        == found.scores.max()
        == found.scores[list(found.gamma).index(found.best_gamma), list(found.C).index(found.best_C)]
    )
    places = np.argwhere(found.scores == found.best_score)
    assert found.best_C == min(found.C[c] for _, c in places)
    assert found.model is not None
    assert (found.model.C, found.model.gamma) == (found.best_C, found.best_gamma)
    assert f"{found.best_score:.4f}" in str(found)


def test_threads_and_runs_agree() -> None:
    """Any number of threads, and a second run, give the same numbers."""
    X, y = _data(4)
    one, two = (lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=4, n_threads=k, refit=False) for k in (1, 3))
    assert np.array_equal(one.fold_scores, two.fold_scores)
    assert one.model is None


def _wide(K: int, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """More columns than values are computed again for, and some rows twice."""
    X, y = _data(K, n)
    X = X @ np.random.default_rng(1).normal(size=(3, 60)) / 8
    X[n // 2 : n // 2 + 10], y[n // 2 : n // 2 + 10] = X[:10], y[:10]
    return X, y


def _without_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("lineal.selection.svm_grid"), "_MOST_BYTES", 0)


def _tables_made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each table had that was made since."""
    made: list[int] = []
    grid = importlib.import_module("lineal.selection.svm_grid")

    class Counted(ProductTable):
        def __init__(self, values: KernelValues, n_threads: int) -> None:
            made.append(values.n_rows)
            super().__init__(values, n_threads)

    monkeypatch.setattr(grid, "ProductTable", Counted)
    return made


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("K", [2, 4])
def test_a_table_of_values_changes_no_score(K: int, layout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines that read kernel values from a table score as those that compute their own, at any size of
    the data.
    """
    X, y = _wide(K)
    for size in (1.0, 2.0**20):
        options = {"C": C, "gamma": np.array(GAMMA) / size**2, "cv": 3, "tol": 1e-7, "refit": False}
        with monkeypatch.context() as patch:
            made = _tables_made(patch)
            shared = lineal.svm_grid(layout(X * size), y, **options)
            assert made == [len(X)]
            _without_a_table(patch)
            own = lineal.svm_grid(layout(X * size), y, **options)
            assert made == [len(X)]
        assert np.array_equal(shared.fold_scores, own.fold_scores)


@pytest.mark.parametrize("K", [2, 4])
def test_threads_change_no_bit_of_a_table(K: int) -> None:
    """Neither of its values nor of scores that are read from it."""
    X, y = _wide(K)
    one, two = (lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=4, n_threads=k, refit=False) for k in (1, 3))
    assert np.array_equal(one.fold_scores, two.fold_scores)
    tables = [ProductTable(KernelValues(Gaussian(), X, 1), k) for k in (1, 3)]
    rows = np.arange(len(X))
    sums = [table.gaussian(0.5).sums(rows, rows, X[:, 0].copy(), 1) for table in tables]
    assert sums[0].tobytes() == sums[1].tobytes()


def test_a_table_is_made_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not beyond its bytes, not for few machines, not for many rows of few numbers."""
    made = _tables_made(monkeypatch)
    grid = importlib.import_module("lineal.selection.svm_grid")
    X, y = _wide(2)
    monkeypatch.setattr(grid, "_MOST_BYTES", 12 * len(X) ** 2 - 1)
    lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=3, refit=False)
    assert not made
    monkeypatch.setattr(grid, "_MOST_BYTES", 12 * len(X) ** 2)
    lineal.svm_grid(X, y, C=1.0, gamma=GAMMA, cv=4, refit=False)
    assert not made
    monkeypatch.setattr(grid, "_FEW_ROWS", 100)
    lineal.svm_grid(*_data(2), C=C, gamma=GAMMA, cv=3, refit=False)
    lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=3, refit=False)  # 540 numbers
    assert not made
    lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=7, refit=False)
    assert made == [len(X)]


def test_weights_hold_in_fits_and_scores() -> None:
    """A weight of 2 means the row twice."""
    X, y = _data(n=60)
    folds, weight = np.arange(60) % 3, 1.0 + (np.arange(60) % 2)
    twice = np.repeat(np.arange(60), weight.astype(int))
    one = lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=folds, sample_weight=weight, tol=1e-6, refit=False)
    two = lineal.svm_grid(X[twice], y[twice], C=C, gamma=GAMMA, cv=folds[twice], tol=1e-6, refit=False)
    assert np.allclose(one.scores, two.scores, atol=1e-12)


def test_what_was_not_tried_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not tried in time is NaN and never chosen; nothing tried at all is refused."""
    X, y = _data()
    with pytest.raises(InputError, match="max_seconds"):
        lineal.svm_grid(X, y, max_seconds=1e-9)
    token = lineal.CancellationToken()
    task = importlib.import_module("lineal.selection.svm_grid")._Task
    values = task.values

    def cancelled_at_the_second(self: Any, gamma: float) -> Any:
        if gamma > min(GAMMA):
            token.cancel()
        return values(self, gamma)

    monkeypatch.setattr(task, "values", cancelled_at_the_second)
    with token:
        found = lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=3, n_threads=1, refit=False)
    assert np.isnan(found.scores).any()
    assert found.best_score == np.nanmax(found.scores)
    assert np.isnan(found.scores[-1]).all()  # the last gamma was not begun
    assert np.isfinite(found.scores[0]).any()


def test_the_picture_shows_the_best_place() -> None:
    """The title tells the best place, and its star stands on it."""
    pytest.importorskip("matplotlib").use("Agg")
    X, y = _data(n=60)
    found = lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=3, refit=False)
    ax = found.plot()
    star = ax.get_lines()[-1].get_xydata()[0]
    assert np.allclose(star, [np.log2(found.best_C), np.log2(found.best_gamma)])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"C": [0.0, 1.0]}, "C must be finite numbers > 0"),
        ({"gamma": []}, "gamma must be finite numbers > 0"),
        ({"cv": 1}, "cv must be from 2"),
        ({"cv": [0, 1]}, "cv must give each of"),
        ({"tol": 0.0}, "tol"),
    ],
)
def test_impossible_options_are_refused(options: dict, words: str) -> None:
    """Each refusal names the option."""
    X, y = _data()
    with pytest.raises((ParameterError, InputError), match=words):
        lineal.svm_grid(X, y, **options)


def test_bad_data_are_refused() -> None:
    """One class, NaN and missing labels are told before any work."""
    X, y = _data()
    with pytest.raises(InputError, match="at least 2 classes"):
        lineal.svm_grid(X, np.zeros(len(X)))
    with pytest.raises(InputError):
        lineal.svm_grid(np.where(X > 2, np.nan, X), y)
    with pytest.raises(InputError, match="requires y"):
        lineal.svm_grid(X, None)
