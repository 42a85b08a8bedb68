"""The grid over C and gamma."""

import importlib
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import svm
from sklearn.model_selection import PredefinedSplit, cross_val_score

import lineal
from lineal.errors import InputError, ParameterError

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


def test_weights_hold_in_fits_and_scores() -> None:
    """A weight of 2 means the row twice."""
    X, y = _data(n=60)
    folds, weight = np.arange(60) % 3, 1.0 + (np.arange(60) % 2)
    twice = np.repeat(np.arange(60), weight.astype(int))
    one = lineal.svm_grid(X, y, C=C, gamma=GAMMA, cv=folds, sample_weight=weight, tol=1e-6, refit=False)
    two = lineal.svm_grid(X[twice], y[twice], C=C, gamma=GAMMA, cv=folds[twice], tol=1e-6, refit=False)
    assert np.allclose(one.scores, two.scores, atol=1e-12)


def test_a_budget_leaves_places_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not tried in time is NaN and never chosen; nothing tried at all is refused."""
    X, y = _data()
    with pytest.raises(InputError, match="max_seconds"):
        lineal.svm_grid(X, y, max_seconds=1e-9)
    ticks = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: float(next(ticks)))  # a second goes by whenever it is asked
    monkeypatch.setattr(importlib.import_module("lineal.selection.svm_grid"), "time", clock)
    found = lineal.svm_grid(X, y, max_seconds=60, C=C, gamma=GAMMA, cv=3, n_threads=1)
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
