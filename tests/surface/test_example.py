"""The examples run as a person runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_the_standard_library_example_runs():
    """It trains on this Python's docstrings, certifies, verifies, and beats guessing the largest class."""
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "standard_library.py")],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-1000:]
    out = " ".join(run.stdout.split())
    assert "certificate certified: objective" in out
    assert "verified relative gap" in out
    share, guess = (
        float(out.split(mark)[1].split("%")[0]) for mark in ("accuracy ", "guessing the largest: ")
    )
    assert share > guess
    assert "for math" in out


@pytest.mark.slow
def test_the_pictures_of_optimisers_are_written(tmp_path):
    """Three pictures in the folder asked for and nothing beside them; the tables are printed."""
    pytest.importorskip("matplotlib", reason="drawing needs matplotlib: pip install lineal[plot]")
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "optimisers.py"), str(tmp_path / "new"), "0.2"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-1000:]
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == ["learning_rates.png", "ravine.png", "solvers.png"]
    for words in ("certified relative gaps", "least objective 0.5", "diverges"):
        assert words in run.stdout


def test_the_outliers_example_runs():
    """It prints a line for each loss and the summary of least squares, and needs no matplotlib for that."""
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "outliers.py")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert run.returncode == 0, run.stderr[-1000:]
    for words in ("squared", "absolute", "Huber", "ε-insensitive", "from the truth", "degrees of freedom"):
        assert words in run.stdout


@pytest.mark.slow
def test_the_pictures_of_outliers_are_written(tmp_path):
    """Two pictures in the folder asked for and nothing beside them."""
    pytest.importorskip("matplotlib", reason="drawing needs matplotlib: pip install lineal[plot]")
    command = [sys.executable, str(EXAMPLES / "outliers.py"), str(tmp_path / "new")]
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["curves.png", "outliers.png"]


def test_the_frog_decides():
    """It prints the probabilities that were counted, and finds (medium, medium) inedible, 0.027 to 0.024."""
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "frog.py")], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr[-1000:]
    likelihood, laplace = run.stdout.split("--- Laplace's rule")
    for line in (
        "p(+) = 0.429",
        "p(-) = 0.571",
        "p(convex=large|-) = 0.125  p(convex=medium|-) = 0.125  p(convex=small|-) = 0.750",
        "p(speed=large|+) = 0.667  p(speed=medium|+) = 0.167  p(speed=small|+) = 0.167",
        "(medium, medium): 0.027 for -, 0.024 for +: inedible",
    ):
        assert line in likelihood
    assert "p(+) = 0.438" in laplace


@pytest.mark.slow
def test_the_pictures_of_neighbours_are_written(tmp_path):
    """Three pictures in the folder asked for; the tables are printed, without a warning."""
    pytest.importorskip("matplotlib", reason="drawing needs matplotlib: pip install lineal[plot]")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / "neighbors.py"), str(tmp_path / "new")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-1000:]
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == ["bandwidths.png", "one_and_nine.png", "regions.png"]
    for words in ("k = 9", "2σ² = 80", "classes a, b, c"):
        assert words in run.stdout


def test_the_boolean_functions_are_learnt_or_refused():
    """AND and OR within their bounds, XOR proved out of reach and learnt with products of features."""
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "xor.py")], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr[-1000:]
    assert "AND: separable" in run.stdout
    assert "[0, 1, 1, 1]" in run.stdout
    assert "XOR: not separable" in run.stdout
    assert run.stdout.rstrip().endswith("[0, 1, 1, 0]")
