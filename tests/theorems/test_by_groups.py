"""Rows in groups: intervals and tests are about groups, however many rows each of them has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lineal.errors import InputError, ParameterError
from lineal.evaluation import compare, evaluate_predictions


class Said:
    """A fitted model that knows its answers."""

    def __init__(self, labels: Any, classes: Any) -> None:
        self.labels, self.classes_ = labels, classes

    def predict(self, X: Any) -> Any:
        """The answers, whatever X is."""
        return self.labels


def _labels(n: int, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    p = np.clip(0.2 + 0.6 * y + rng.normal(scale=0.3, size=n), 0.01, 0.99)
    return y, (p > 0.5).astype(int), p


@pytest.mark.parametrize("times", [3, 25])
def test_rows_that_repeat_within_their_group_tell_nothing_new(times: int) -> None:
    """Every row written down more often, in one group with its copies, leaves every interval as it was."""
    y, said, p = _labels(60, 0)
    groups = np.arange(60)
    once = evaluate_predictions(y, said, probabilities=p, groups=groups)
    often = evaluate_predictions(
        *(np.repeat(v, times) for v in (y, said)),
        probabilities=np.repeat(p, times),
        groups=np.repeat(groups, times),
    )
    for name in once:
        if name == "calibration_error":
            continue  # its bins are quantiles, whose places between rows move
        found, expected = often[name], once[name]
        # DeLong's terms have n - 1 rows of each kind in their denominators, whatever the groups are.
        tolerance = 5e-3 if name == "roc_auc" else 1e-9
        assert (found.value, found.low, found.high) == pytest.approx(
            (expected.value, expected.low, expected.high), abs=tolerance
        ), name
    for label, scores in once.per_class.items():
        for name, score in scores.items():
            again = often.per_class[label][name]
            assert (again.low, again.high) == pytest.approx((score.low, score.high), abs=1e-9)


def test_groups_of_one_row_are_rows() -> None:
    """Where each row is a group of its own, the intervals are those of independent rows, nearly."""
    y, said, p = _labels(2000, 1)
    alone = evaluate_predictions(y, said, probabilities=p, groups=np.arange(2000))
    rows = evaluate_predictions(y, said, probabilities=p)
    for name in ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "roc_auc", "log_loss", "brier"):
        # Wilson's, DeLong's and the bootstrap's ends agree with the jackknife's to the next order in 1 / n.
        assert alone[name].interval.width == pytest.approx(rows[name].interval.width, rel=0.08), name


def test_the_interval_of_an_accuracy_holds_the_truth_as_often_as_it_says() -> None:
    """30 groups of 20 rows whose accuracies differ: 95 % intervals by groups hold the true one."""
    rng = np.random.default_rng(2)
    groups, n_held, n_held_by_rows, repeats = np.repeat(np.arange(30), 20), 0, 0, 200
    for _ in range(repeats):
        is_right = rng.random(600) < np.repeat(rng.beta(4, 1, 30), 20)  # of mean 0.8
        y = rng.integers(0, 2, 600)
        said = np.where(is_right, y, 1 - y)
        n_held += 0.8 in evaluate_predictions(y, said, groups=groups, n_resamples=10)["accuracy"].interval
        n_held_by_rows += 0.8 in evaluate_predictions(y, said, n_resamples=10)["accuracy"].interval
    # 200 tosses of 0.95 fall below 180 once in 500 times.
    assert n_held >= 180
    assert n_held_by_rows < 160


def test_numbers_have_intervals_by_groups() -> None:
    """Errors shared by a group widen the intervals of a regression by the root of its rows."""
    rng = np.random.default_rng(3)
    y = rng.normal(size=1000)
    shared = y + np.repeat(rng.normal(size=100), 10)
    groups = np.repeat(np.arange(100), 10)
    by_groups = evaluate_predictions(y, shared, groups=groups, task="regression")
    by_rows = evaluate_predictions(y, shared, task="regression")
    for name in ("mse", "mae", "mean_error"):
        ratio = by_groups[name].interval.width / by_rows[name].interval.width
        assert ratio == pytest.approx(np.sqrt(10), rel=0.25), name
    assert by_groups["median_absolute_error"].interval.width > by_rows["median_absolute_error"].interval.width


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro"])
def test_a_test_by_groups_does_not_see_how_often_rows_repeat(metric: str) -> None:
    """Two models on rows that are copied within their groups are as far apart as on the rows themselves."""
    y, first, _ = _labels(40, 4)
    second = np.where(np.arange(40) % 5 == 0, 1 - y, y)

    def compared(times: int) -> Any:
        models = {name: Said(np.repeat(v, times), [0, 1]) for name, v in (("a", first), ("b", second))}
        n = 40 * times
        return compare(
            models, X_test=np.zeros((n, 1)), y_test=np.repeat(y, times), metric=metric,
            groups=np.repeat(np.arange(40), times), task="classification",
        ).pairs[0].test  # fmt: skip

    once, often = compared(1), compared(20)
    assert often.p_value == once.p_value
    assert often.interval.width == pytest.approx(once.interval.width)
    assert "40 whole groups" in once.test


def test_groups_must_be_one_for_each_row() -> None:
    """Too few groups are refused, as is a test that takes rows as independent."""
    with pytest.raises(InputError, match="one group for each row"):
        evaluate_predictions([0, 1, 0], [0, 1, 1], groups=["a", "b"])
    models = {"a": Said([0, 1], [0, 1]), "b": Said([1, 1], [0, 1])}
    with pytest.raises(ParameterError, match="independent"):
        compare(
            models, X_test=[[0], [0]], y_test=[0, 1], groups=[1, 2], test="mcnemar", task="classification"
        )


def test_rows_of_weight_0_belong_to_no_group() -> None:
    """A row that does not count takes its group with it."""
    y, said, _ = _labels(30, 5)
    kept = np.arange(30) < 20
    groups = np.arange(30) // 2
    whole = evaluate_predictions(y, said, groups=groups, sample_weight=kept.astype(float))
    part = evaluate_predictions(y[kept], said[kept], groups=groups[kept])
    assert whole["accuracy"].interval == part["accuracy"].interval
