"""The examples run as a person runs them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def printed(*command, timeout=120, **environment):
    """What an example prints, run in a process of its own with warnings as errors."""
    example, *options = command
    run = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / example), *map(str, options)],
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        check=False,
    )
    assert run.returncode == 0, run.stderr[-1000:]
    return run.stdout


def names_in(folder):
    """The files that an example left behind."""
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
def test_the_pictures_of_optimisers_are_written(tmp_path):
    """Three pictures in the folder asked for and nothing beside them; the tables are printed."""
    pytest.importorskip("matplotlib", reason="drawing needs matplotlib: pip install lineal[plot]")
    out = printed("optimisers.py", tmp_path / "new", "0.2")
    assert names_in(tmp_path / "new") == ["learning_rates.png", "ravine.png", "solvers.png"]
    for words in ("certified relative gaps", "least objective 0.5", "diverges"):
        assert words in out


def test_the_outliers_example_runs():
    """It prints a line for each loss and the summary of least squares, and needs no matplotlib for that."""
    out = printed("outliers.py")
    for words in ("squared", "absolute", "Huber", "ε-insensitive", "from the truth", "degrees of freedom"):
        assert words in out


@pytest.mark.slow
def test_the_pictures_of_outliers_are_written(tmp_path):
    """Two pictures in the folder asked for and nothing beside them."""
    pytest.importorskip("matplotlib", reason="drawing needs matplotlib: pip install lineal[plot]")
    printed("outliers.py", tmp_path / "new")
    assert names_in(tmp_path / "new") == ["curves.png", "outliers.png"]


def test_conics_are_learned_by_kernels():
    """On each of three sets a line fails, the quadratic kernel has a hard margin, and so has its map."""
    out = printed("svm_pictures.py")
    for name in ("XOR", "circle", "hyperbola"):
        assert f"{name}: " in out
    assert len(re.findall(r"\(x\.z \+ 1\)\^2 on all", out)) == 3
    assert len(re.findall(r"differ by [0-9]e-0[5-9]", out)) == 3


@pytest.mark.slow
def test_the_pictures_of_machines_are_written(tmp_path):
    """Three pictures in the folder asked for and nothing beside them."""
    pytest.importorskip("matplotlib", reason="drawing needs matplotlib: pip install lineal[plot]")
    printed("svm_pictures.py", tmp_path / "new")
    assert names_in(tmp_path / "new") == ["svm-circle.png", "svm-hyperbola.png", "svm-xor.png"]


def test_words_and_trees_are_told_apart_by_kernels():
    """Whole words and whole trees say next to nothing about new ones, their parts nearly everything."""
    out = printed("kernels.py")
    right = {line.split(" of ")[-1]: float(line.split()[0]) for line in out.splitlines() if " right " in line}
    assert right["subset_trees(x, z; decay=0.4)"] > 0.95
    assert right["subsequences(x, z; length=3, decay=0.5)"] > 0.9
    assert right["subtrees(x, z; decay=0.4)"] < 0.7
    assert out == printed("kernels.py", PYTHONHASHSEED="1")


def test_a_ranking_is_learned_from_pairs():
    """Certified, proved again, and better than a regression on grades, which has to explain queries too."""
    out = printed("ranking.py")
    found = {
        line[:20].strip(): float(line.split("ndcg_at_k ")[1].split()[0])
        for line in out.splitlines()
        if "ndcg" in line
    }
    assert "certified: objective" in out
    assert "proved again from every pair: True" in out
    assert found["RankSVM"] > found["ridge on grades"] + 0.02


def test_the_frog_decides():
    """It prints the probabilities that were counted, and finds (medium, medium) inedible, 0.027 to 0.024."""
    likelihood, laplace = printed("frog.py").split("--- Laplace's rule")
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
    out = printed("neighbors.py", tmp_path / "new")
    assert names_in(tmp_path / "new") == ["bandwidths.png", "one_and_nine.png", "regions.png"]
    for words in ("k = 9", "2σ² = 80", "classes a, b, c"):
        assert words in out


@pytest.mark.slow
def test_the_pictures_of_models_are_written(tmp_path):
    """Ten pictures in the folder asked for and nothing beside them; the tables are printed."""
    pytest.importorskip("matplotlib", reason="drawing needs matplotlib: pip install lineal[plot]")
    out = printed("many_models.py", tmp_path / "new")
    assert names_in(tmp_path / "new") == [
        *("calibration.png", "confusion.png", "learning_curves.png", "losses.png", "margins.png"),
        *("precision_recall.png", "roc.png", "scores.png", "weights.png", "words.png"),
    ]
    for words in ("never below 0/1", "support vectors", "held out", "beside the best", "pos against neg"):
        assert words in out


def test_the_boolean_functions_are_learnt_or_refused():
    """AND and OR within their bounds, XOR proved out of reach and learnt with products of features."""
    out = printed("xor.py")
    assert "AND: separable" in out
    assert "[0, 1, 1, 1]" in out
    assert "XOR: not separable" in out
    assert out.rstrip().endswith("[0, 1, 1, 0]")


def test_random_features_learn_what_a_line_cannot(tmp_path):
    """A line is right by chance, a line in cosines is not, both certified; the picture is drawn."""
    pytest.importorskip("matplotlib", reason="drawing needs matplotlib: pip install lineal[plot]")
    out = printed("random_features.py", 3000, tmp_path / "new")
    chance, better = (float(part[:5]) for part in out.split("accuracy ")[1:3])
    assert chance < 0.6 < 0.75 < better
    assert out.count("proved to be within") == 2
    assert names_in(tmp_path / "new") == ["kernel_errors.png"]


@pytest.mark.slow
def test_random_features_of_a_million_rows():
    """A million rows in 400 features: certified, and right in more than 88 of 100 (95 can be known)."""
    out = printed("random_features.py", 1_000_000, timeout=1800)
    assert float(out.split("accuracy ")[2][:5]) > 0.88
    assert out.count("proved to be within") == 2


def test_two_moons_are_told_apart_along_their_bends(tmp_path):
    """Four labels are enough for the smooth machine, not for the others; the picture is drawn."""
    pytest.importorskip("matplotlib", reason="drawing needs matplotlib: pip install lineal[plot]")
    out = printed("two_moons.py", tmp_path / "new")
    right = {line.split(":")[0]: line.split(": ")[1] for line in out.splitlines() if "rows right" in line}
    assert right["smooth along the moons"].startswith(("99", "100"))
    assert float(right["the four labels alone"].split("%")[0]) < 90
    assert (tmp_path / "new" / "two_moons.png").stat().st_size > 10_000


def test_molecules_smell_by_one_of_their_shapes():
    """Witnesses beat the guess that all shapes of a musk are musk, and are shapes that fit."""
    out = printed("bags.py")
    shares = [float(each) for each in re.findall(r"([\d.]+)% of molecules", out)]
    assert min(shares[1:]) > shares[0] + 20
    assert out.count("is proved to be within") == 3
