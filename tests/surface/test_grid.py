"""The grid of losses, penalties and solvers: its page says what was measured, of all that there is."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lineal.objective import L1, L2, Hinge, Log, NoPenalty, Squared

ROOT = Path(__file__).parents[2]
HERE = ROOT / "benchmarks" / "grid"


@pytest.fixture
def grid(monkeypatch):
    """The grid's own modules, which are scripts beside each other."""
    monkeypatch.syspath_prepend(str(HERE))
    import cases
    import page
    import trial

    return cases, trial, page


@pytest.fixture(scope="module")
def record():
    path = HERE / "results" / "grid.json"
    if not path.exists():
        pytest.skip("the grid has not been run: make grid")
    return json.loads(path.read_text())


def test_every_triple_was_tried_and_none_failed(grid, record):
    """The record holds each public loss with each public penalty and solver once, certified or refused."""
    cases, _, _ = grid
    wanted = [
        (task.name, repr(loss), repr(penalty), column.label, column.tol)
        for task in cases.tasks()
        for loss in cases.losses(task)
        for penalty in cases.penalties()
        for column in cases.columns()
    ]
    names = ("task", "loss", "penalty", "solver", "tol")
    assert [tuple(outcome[name] for name in names) for outcome in record["outcomes"]] == wanted
    assert {outcome["kind"] for outcome in record["outcomes"]} == {"certified", "refused"}


def test_the_page_is_the_record(grid, record):
    """docs/grid.md is written from the JSON and by nothing else."""
    _, _, page = grid
    assert (ROOT / "docs" / "grid.md").read_text() == page.render(record)


@pytest.mark.parametrize(
    ("name", "loss", "penalty"),
    [("binary", Log(), L2(1.0)), ("classes", Hinge(), L1(1.0)), ("regression", Squared(), NoPenalty())],
    ids=str,
)
def test_every_solver_certifies_or_refuses(grid, name, loss, penalty):
    """The same optimum from all that take the problem; the others name one that does."""
    cases, trial, _ = grid
    task = next(task for task in cases.tasks() if task.name == name)
    by_name = [column for column in cases.columns() if column.label in cases.SOLVERS]
    outcomes = [trial.attempt(task, loss, penalty, column, 30.0) for column in by_name]
    assert [outcome for outcome in outcomes if outcome.kind == "failed"] == []
    assert trial.contradictions(outcomes) == {}
    assert any(outcome.kind == "certified" for outcome in outcomes)


def test_wrong_outcomes_are_found(grid):
    """An objective below a proved bound, and advice to use what does not work, are contradictions."""
    _, trial, _ = grid
    good = trial.Outcome(
        "binary", "Log()", "L2(1.0)", "newton", 1e-4, "certified", "", 0.1, 3, 0.1, primal=1.0, dual=0.9
    )
    low = replace(good, solver="lbfgs", primal=0.8, dual=0.7)
    lost = replace(good, solver="prox_cd", kind="refused", sentence="prox_cd needs L1: use sgd.")
    mute = replace(lost, solver="cg", sentence="cg does not.")
    fine = replace(lost, solver="gd", sentence="gd does not: use newton.")
    assert set(trial.contradictions([good, low, lost, mute, fine])) == {"lbfgs", "prox_cd", "cg"}
