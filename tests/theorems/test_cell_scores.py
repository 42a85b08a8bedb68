"""What must be true of the intervals of macro F1 and Matthews' correlation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineal.evaluation import evaluate_predictions
from lineal.evaluation.cell_scores import cell_score_ends, f1_slopes, mcc_slopes
from lineal.evaluation.metrics import f1_macro, mcc

BOTH = [(f1_slopes, f1_macro, (0.0, 1.0)), (mcc_slopes, mcc, (-1.0, 1.0))]


def by_sums(statistic, cells):
    """The score as the metrics have it, of (K, K) cells."""
    return float(statistic(np.concatenate([cells.sum(axis=1), cells.sum(axis=0), np.diag(cells)])[None])[0])


@pytest.mark.parametrize(("slopes", "statistic", "bounds"), BOTH)
@given(st.integers(2, 5), st.integers(0, 50))
def test_slopes_are_derivatives(slopes, statistic, bounds, K, seed):
    """The value is the metric's; a slope is what a little more weight in its cell does to it."""
    cells = np.random.default_rng(seed).uniform(1, 20, size=(K, K))
    value, slope = slopes(cells)
    assert value == pytest.approx(by_sums(statistic, cells))
    assert np.sum(cells * slope) == pytest.approx(0, abs=1e-9)  # all cells alike: the same score
    for i in range(K):
        for j in range(K):
            more, less = cells.copy(), cells.copy()
            more[i, j] += 1e-4
            less[i, j] -= 1e-4
            risen = (by_sums(statistic, more) - by_sums(statistic, less)) / 2e-4
            assert slope[i, j] == pytest.approx(risen, abs=1e-6)


def test_two_balanced_classes_have_the_interval_of_their_accuracy():
    """Where errors are even, F1 is the accuracy a and Matthews' correlation 2a - 1: so are their ends."""
    y = np.arange(200) % 2
    said = np.where(np.isin(np.arange(200), [3, 4, 77, 78]), 1 - y, y)
    found = evaluate_predictions(y, said)
    low, high = found["accuracy"].low, found["accuracy"].high
    # The row that is spread over the cells moves the number of rows by a hundredth.
    assert (found["f1_macro"].low, found["f1_macro"].high) == pytest.approx((low, high), abs=1e-3)
    assert (found["mcc"].low, found["mcc"].high) == pytest.approx((2 * low - 1, 2 * high - 1), abs=2e-3)


def test_the_unit_of_weights_and_classes_that_are_alone():
    """Importance has no unit; one class that is always right is as sure as its accuracy."""
    rng = np.random.default_rng(0)
    y, said, s = rng.integers(0, 3, 90), rng.integers(0, 3, 90), rng.uniform(0.5, 2, size=90)
    once, again = (
        evaluate_predictions(y, said, sample_weight=unit * s, weights="importance") for unit in (1, 1000)
    )
    for name in ("f1_macro", "mcc"):
        assert (again[name].low, again[name].high) == pytest.approx((once[name].low, once[name].high))
    alone = evaluate_predictions(["a"] * 30, ["a"] * 30)
    assert alone["f1_macro"].interval.low == pytest.approx(alone["accuracy"].low)
    assert "mcc" in alone.doubts


@pytest.mark.parametrize(("slopes", "statistic", "bounds"), BOTH)
@pytest.mark.parametrize("wrong", [0.01, 0.2])
def test_scores_of_cells_are_held(slopes, statistic, bounds, wrong):
    """95 % intervals hold the true score in 93.5 to 96.5 % of samples, with 1 % of errors too."""
    rng = np.random.default_rng(1)
    chances = np.array([[0.5 - wrong / 2, wrong / 2], [wrong / 2, 0.5 - wrong / 2]])
    truth = slopes(chances)[0]
    tables = rng.multinomial(200, chances.ravel(), size=3000).reshape(-1, 2, 2).astype(float)
    kinds, counts = np.unique(tables, axis=0, return_counts=True)
    held = 0
    for cells, count in zip(kinds, counts, strict=True):
        low, high = cell_score_ends(by_sums(statistic, cells), slopes, cells, cells, bounds, 0.95)
        held += count * (low <= truth <= high)
    assert 0.923 < held / 3000 < 0.977  # 93.5 to 96.5 %, and three standard errors of 3,000 samples
