"""A process that used the library ends, and nothing of the core outlives it or says so."""

import subprocess
import sys

# What people keep in a script when it ends.
HELD = """
import threading
import numpy as np
import lineal
from lineal import _core
from lineal.objective import Hinge, Huber, Intercept, L2, Problem
from lineal.objective.linear_maps import native_dense
from lineal.solvers import plan

_core.warn_of_leaks({warns})
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = (X[:, 0] > 0).astype(int)
rows = native_dense(X, 1)
problem = Problem.of_rows(rows, 2.0 * y[:, None] - 1, np.ones(60), Hinge(), L2(1.0), Intercept.FREE, 1)
events, iterates = [], plan(problem).solvers[0].iterates(problem, None, 1e-9, 0)
next(iterates)
models = [
    lineal.LogisticRegression(callbacks=[events.append]).fit(X, y),
    lineal.LinearSVC(loss="hinge", solver="dual_cd").fit(X, y),
    lineal.LinearSVC(penalty="l1").fit(X, y),
    lineal.LinearRegressor(Huber()).fit(X, X[:, 1]),
    lineal.SVC().fit(X, y),
    lineal.KernelRidge(kernel="rbf").fit(X, X[:, 1]),
    lineal.KernelPerceptron(kernel="rbf").fit(X, y),
    lineal.OnlineClassifier().partial_fit(X, y),
    lineal.KNeighborsClassifier().fit(X, y),
    lineal.GaussianNB().fit(X, y),
    lineal.TextClassifier().fit(["good day", "bad day", "so good", "so bad"] * 5, [1, 0, 1, 0] * 5),
    lineal.RankSVM().fit(X, X[:, 1], groups=np.repeat(np.arange(6), 10)),
]
points = lineal.path(lineal.Lasso(), X, X[:, 1], n_strengths=3)
models.append(models)  # a cycle
{more}
"""
WAITS = """
threading.Thread(target=lambda held: threading.Event().wait(), args=(rows,), daemon=True).start()
"""


def _last_words(more, *, warns):
    program = HELD.format(warns=warns, more=more)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-800:]
    return run.stderr


def test_nothing_native_outlives_a_process():
    """Models, problems, paths, streams and a solver in mid-run, in globals and in cycles, are all freed."""
    assert _last_words("", warns=True) == ""


def test_a_process_that_a_daemon_thread_outlives_ends_in_silence():
    """What the frame of such a thread holds nobody can free; the core says so only if it is asked to."""
    assert _last_words(WAITS, warns=False) == ""
    assert "leaked" in _last_words(WAITS, warns=True)
