"""Intervals that hang on few rows are told, in a line and to machines; ordinary ones are not."""

import csv
import json

import numpy as np
import pytest

from lineal.cli.main import run
from lineal.evaluation import evaluate_predictions, evaluate_ranking


def labels(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return y, np.clip(0.3 + 0.4 * y + rng.normal(scale=0.25, size=n), 0.02, 0.98)


def test_ordinary_rows_leave_no_doubt():
    """300 rows of two classes, or with normal errors, have intervals that are trusted, and no line."""
    y, p = labels()
    found = evaluate_predictions(y, (p > 0.5).astype(int), probabilities=p)
    assert found.doubts == {}
    assert "trusted" not in str(found)
    rng = np.random.default_rng(1)
    t = rng.normal(size=300)
    assert evaluate_predictions(t, t + rng.normal(size=300)).doubts == {}


def test_one_huge_loss_is_told():
    """A single row that is most of the variance of the log loss is told; the accuracy is not in doubt."""
    y, p = labels()
    p[1] = 1e-15
    found = evaluate_predictions(y, (p > 0.5).astype(int), probabilities=p)
    assert set(found.doubts) == {"log_loss"}
    assert "one row is" in found.doubts["log_loss"]
    lines = [line for line in str(found).splitlines() if "not to be trusted" in line]
    assert lines == [f"intervals not to be trusted: log loss ({found.doubts['log_loss']})"]
    assert found.to_dict()["doubts"] == found.doubts


def test_three_positives_are_told():
    """Scores that give a class of three rows a say of its own are in doubt, accuracy is not."""
    y = np.r_[np.zeros(60, dtype=int), np.ones(3, dtype=int)]
    p = np.linspace(0.05, 0.95, 63)
    found = evaluate_predictions(y, (p > 0.5).astype(int), probabilities=p)
    assert {"roc_auc", "balanced_accuracy", "f1_macro", "mcc"} <= set(found.doubts)
    assert found.doubts["roc_auc"] == "class 1 has 3 rows"
    assert "accuracy" not in found.doubts
    # One small class of many hardly moves a mean over classes.
    many = np.r_[np.arange(200) % 10, [10]]
    assert evaluate_predictions(many, many).doubts == {}


def test_few_groups_and_few_queries_are_told():
    """Four groups leave every interval in doubt, and so do two queries; a group may be most of an error."""
    y, p = labels()
    found = evaluate_predictions(y, (p > 0.5).astype(int), groups=np.arange(300) % 4)
    assert set(found.doubts.values()) == {"only 4 groups"}
    assert "intervals not to be trusted: all (only 4 groups)" in str(found)
    queries = evaluate_ranking([3, 2, 1, 3, 2, 1], [1, 0, 0, 0, 0, 1], ["a", "a", "a", "b", "b", "b"])
    assert set(queries.doubts.values()) == {"only 2 queries"}
    t = np.arange(400) / 7
    large = np.where(np.arange(400) < 20, 5.0, 0.5) * np.where(np.arange(400) % 2, 1, -1)
    grouped = evaluate_predictions(t, t + large, groups=np.arange(400) // 20, task="regression")
    assert "one group is" in grouped.doubts["mse"]
    assert "mse" not in evaluate_predictions(t, t + large, task="regression").doubts


@pytest.mark.parametrize("is_json", [True, False])
def test_an_end_without_a_bound_is_printed_and_is_valid_json(tmp_path, monkeypatch, capsys, is_json):
    """R² of three rows has no lower end: null to machines, -∞ in the table, and it is in doubt."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, n in (("many.csv", 200), ("few.csv", 3)):
        x = rng.normal(size=n)
        with open(name, "w", newline="") as file:
            rows = [f"{a:.6f},{3 * a + rng.normal():.6f}".split(",") for a in x]
            csv.writer(file).writerows([["x", "label"], *rows])
    assert run(["train", "many.csv", "-q", "--no-report"]) == 0
    capsys.readouterr()
    assert run(["evaluate", "model.lineal", "few.csv", *(["--json"] if is_json else [])]) == 0
    out = capsys.readouterr().out
    if not is_json:
        assert "-∞ .. " in out
        assert "inf" not in out
        return

    def refused(token):
        raise AssertionError(f"{token} is not JSON")

    found = json.loads(out, parse_constant=refused)
    assert found["scores"]["r2"]["low"] is None
    assert found["doubts"]["r2"] == "3 rows cannot tell"
