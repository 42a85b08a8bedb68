"""Kernel machines from the command line: trained, judged, reported, asked, proved, and read from LIBSVM."""

import csv
import json

import numpy as np
import pytest

from lineal import load
from lineal.cli.main import run
from reference import foreign as peer


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with a table and a LIBSVM file of rows in a ring and in its middle."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    X = generator.normal(size=(150, 2)).round(3)
    is_ring = ((X**2).sum(axis=1) > 1.2) != (np.arange(150) % 6 == 0)  # some labels are wrong
    labels = np.where(is_ring, "ring", "middle")
    with open("ring.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["east", "north", "label", "reach"])
        writer.writerows([*row, label, (row**2).sum()] for row, label in zip(X, labels, strict=True))
    lines = [f"{1 if label == 'ring' else -1} 1:{x} 2:{y}" for (x, y), label in zip(X, labels, strict=True)]
    (tmp_path / "ring.svm").write_text("\n".join(lines) + "\n")
    return tmp_path


def answer(capsys, *arguments):
    """Exit code, standard output and standard error of a command."""
    capsys.readouterr()
    code = run([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("file", "more", "learner"),
    [
        ("ring.csv", ["--drop", "reach"], "SVC(C=10)"),
        ("ring.csv", ["--drop", "reach"], "kernel-svm"),
        ("ring.svm", [], "SVC(kernel=Polynomial(2, 1.0), probability=True)"),
        ("ring.csv", ["--label", "reach", "--drop", "label"], "SVR(C=10)"),
        ("ring.csv", ["--label", "reach", "--drop", "label"], "NuSVR(C=10)"),
    ],
)
def test_a_kernel_machine_is_trained_asked_and_proved(folder, capsys, file, more, learner):
    """train, inspect, predict, evaluate and verify work; a report is written, without weights of features."""
    code, out, err = answer(capsys, "train", file, *more, "--learner", learner)
    assert code == 0, err
    assert "certified" in out
    assert "known by" not in out
    page = (folder / "report.html").read_text()
    assert "What the model looks for" not in page
    assert "The worst mistakes" in page
    code, out, _ = answer(capsys, "inspect", "model.lineal", "--json")
    told = json.loads(out)
    assert (code, told["top_features"]) == (0, {})
    assert told["certificate"]["converged"]
    code, out, _ = answer(capsys, "predict", "model.lineal", file)
    assert (code, len(out.splitlines())) == (0, 151)
    assert answer(capsys, "evaluate", "model.lineal", file)[0] == 0
    code, out, err = answer(capsys, "verify", "model.lineal", file)
    assert code == 0, err
    assert "certified" in out


def test_what_a_kernel_cannot_explain_is_refused_before_anything_is_written(folder, capsys):
    """explain and predict --explain say that scores are no sums; other kernels are refused untrained."""
    assert answer(capsys, "train", "ring.csv", "--drop", "reach", "--learner", "SVC()", "--no-report")[0] == 0
    code, out, err = answer(capsys, "explain", "model.lineal", '{"east": 1, "north": 0}')
    assert (code, out) == (2, "")
    assert "no sum of weights" in err
    code, out, err = answer(capsys, "predict", "model.lineal", "ring.csv", "--explain", "-o", "labels.csv")
    assert code == 2
    assert "--explain" in err
    assert not (folder / "labels.csv").exists()
    kernel = "SVC(kernel=Laplacian(1.0))"
    code, _, err = answer(capsys, "train", "ring.csv", "--learner", kernel, "-o", "other.lineal")
    assert code == 2
    assert "Laplacian" in err
    assert not (folder / "other.lineal").exists()


def test_a_model_of_libsvm_is_converted(folder, capsys):
    """``lineal convert`` reads a radial machine, and the file it writes answers as LIBSVM would."""
    vectors, coefficients = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]), np.array([[1.0], [-0.5], [-0.5]])
    peer.write_libsvm(
        folder / "ring.model", "c_svc", (7, 3), (1, 2), [0.0], coefficients, vectors,
        kernel="rbf", numbers=[("gamma", 1.0)],
    )  # fmt: skip
    code, out, err = answer(capsys, "convert", "ring.model", "ring.lineal")
    assert code == 0, err
    assert "LIBSVM c_svc with 2 features" in out
    assert load("ring.lineal").predict([[0.1, 0.0], [2.0, 0.1]]).tolist() == [7, 3]
