"""The table of work: what is minimised, against whom, to which accuracy, and the bar.

Settings go from loose to tight; the harness takes the first that reaches the asked accuracy, so a
peer is shown at the fastest it can do the job, and beside it at its default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from task import Setting


@dataclass(frozen=True)
class Peer:
    """One peer on one piece of work.

    ``quick`` is the position of the setting known to reach the target, the only one a quick run
    tries. A peer without a bar is shown for information.
    """

    name: str
    contender: str
    settings: Sequence[Setting]
    quick: int = 0
    bar: float | None = None
    default: Setting | None = None


@dataclass(frozen=True)
class Work:
    """One row group of the table.

    ``target`` is the relative sub-optimality asked of a peer and ``gap`` the certified relative gap
    asked of us: the harder of the two promises is ours, since sub-optimality <= gap.
    """

    bar: str
    title: str
    data: str
    loss: str
    C: float
    target: float
    gap: float
    our_tolerances: Sequence[float]
    peers: Sequence[Peer] = field(default_factory=tuple)
    penalty: str = "l2"
    intercept: bool = False


def _sweep(tolerances: Sequence[float], **fixed: object) -> list[Setting]:
    return [{**fixed, "tol": tol} for tol in tolerances]


_SVC: Setting = {"tol": 1e-4, "max_iter": 1000}  # what LinearSVC does when told nothing


def _svm_peers(tolerances: Sequence[float], quick: int, bar: float) -> list[Peer]:
    return [
        Peer("scikit-learn LinearSVC", "LinearSVC", _sweep(tolerances), quick, bar, _SVC),
        Peer("LIBLINEAR", "liblinear", _sweep(tolerances), quick, bar, {"tol": 0.1}),
        Peer(
            "LIBLINEAR, its copy of X not counted",
            "liblinear",
            _sweep(tolerances, convert=False),
            quick,
        ),
    ]


def _logistic(
    name: str, tolerances: Sequence[float], quick: int, bar: float | None, **fixed: object
) -> list[Peer]:
    """scikit-learn's solver as it comes, and held to one BLAS thread.

    On a busy machine its second thread can double the time, and a peer is not to lose by that.
    """
    sweep = _sweep(tolerances, max_iter=1000, **fixed)
    single = [{**setting, "blas_threads": 1} for setting in sweep]
    return [
        Peer(name, "LogisticRegression", sweep, quick, bar, dict(fixed)),
        Peer(f"{name}, one BLAS thread", "LogisticRegression", single, quick, bar),
    ]


def _small_peers(bar: float) -> list[Peer]:
    return [
        *_logistic("LIBLINEAR in scikit-learn", (1e-1, 1e-2, 1e-3), 1, bar, solver="liblinear"),
        *_logistic("lbfgs", (1e-2, 1e-3, 3e-4, 1e-4), 3, bar, solver="lbfgs"),
        *_logistic("newton-cholesky", (1e-2, 1e-3), 1, bar, solver="newton-cholesky"),
        Peer(
            "LIBLINEAR",
            "liblinear",
            _sweep((1e-1, 1e-2, 1e-3), form="primal"),
            1,
            bar,
            {"form": "primal", "tol": 0.01},
        ),
    ]


# A minute and more a fit: the first setting misses the target and is there for a quick look.
_SOFTMAX_LBFGS = Peer(
    "lbfgs",
    "LogisticRegression",
    [
        {"solver": "lbfgs", "max_iter": 20},
        {"solver": "lbfgs"},
        {"solver": "lbfgs", "max_iter": 1000, "tol": 5e-5},
    ],
    0,
    60.0,
    {"solver": "lbfgs"},
)

_TO_1E3 = (1e-3, 5e-4, 2e-4, 1e-4, 3e-5)
_TO_1E4 = (1e-4, 3e-5, 1e-5, 1e-6)

WORKS = [
    Work(
        bar="P2",
        title="IMDB, hinge, C=1, gap 1e-3",
        data="imdb",
        loss="hinge",
        C=1.0,
        target=1e-3,
        gap=1e-3,
        our_tolerances=_TO_1E3,
        peers=_svm_peers((1.0, 0.3, 0.1, 0.03), 2, 3.0),
    ),
    Work(
        bar="P3",
        title="IMDB, logistic, C=10, gap 1e-4",
        data="imdb",
        loss="log",
        C=10.0,
        target=1e-4,
        gap=1e-4,
        our_tolerances=_TO_1E4,
        peers=[
            *_logistic("LIBLINEAR dual in scikit-learn", (1.0, 1e-2), 0, 4.0, solver="liblinear", dual=True),
            Peer("LIBLINEAR dual", "liblinear", _sweep((1.0, 0.1)), 0, 4.0),
            Peer(
                "LIBLINEAR dual, its copy of X not counted",
                "liblinear",
                _sweep((1.0, 0.1), convert=False),
            ),
            *_logistic("LIBLINEAR primal in scikit-learn", (1e-2, 1e-3), 1, 25.0, solver="liblinear"),
            Peer(
                "LIBLINEAR primal",
                "liblinear",
                _sweep((1e-2, 1e-3), form="primal"),
                1,
                25.0,
                {"form": "primal", "tol": 0.01},
            ),
            *_logistic("newton-cg", (1e-4, 1e-5), 1, None, solver="newton-cg"),
            *_logistic("lbfgs", (1e-5, 3e-6), 1, None, solver="lbfgs"),
        ],
    ),
    Work(
        bar="P4",
        title="IMDB, L1 logistic, C=1",
        data="imdb",
        loss="log",
        C=1.0,
        target=1e-4,
        gap=1e-3,
        our_tolerances=(1e-3, 3e-4, 1e-4, 1e-5),
        peers=[
            *_logistic("LIBLINEAR in scikit-learn", (1e-3, 7e-4, 3e-4), 2, 3.0, solver="liblinear"),
            Peer(
                "LIBLINEAR",
                "liblinear",
                _sweep((1e-3, 7e-4, 3e-4), form="primal"),
                2,
                3.0,
                {"form": "primal", "tol": 0.01},
            ),
            Peer("celer", "celer", _sweep((3e-2, 1e-2)), 1, 3.0, {}),
            Peer("skglm, compiled before", "skglm", _sweep((1e-5, 5e-6, 3e-6)), 2, 3.0, {}),
        ],
        penalty="l1",
    ),
    Work(
        bar="P5",
        title="20 Newsgroups, softmax with intercept, C=10, gap 1e-3",
        data="20newsgroups",
        loss="softmax",
        C=10.0,
        target=1e-3,
        gap=1e-3,
        our_tolerances=_TO_1E3,
        peers=[_SOFTMAX_LBFGS],
        intercept=True,
    ),
    Work(
        bar="P6",
        title="20 Newsgroups, squared hinge one-vs-rest, C=1, gap 1e-3",
        data="20newsgroups",
        loss="squared_hinge",
        C=1.0,
        target=1e-3,
        gap=1e-3,
        our_tolerances=_TO_1E3,
        peers=_svm_peers((1.0, 0.3, 0.1), 1, 7.0),
    ),
    Work(
        bar="P6",
        title="20 Newsgroups, hinge one-vs-rest, C=1, gap 1e-3",
        data="20newsgroups",
        loss="hinge",
        C=1.0,
        target=1e-3,
        gap=1e-3,
        our_tolerances=_TO_1E3,
        peers=_svm_peers((0.1, 0.06, 0.03), 2, 7.0),
    ),
    Work(
        bar="P6",
        title="sector, 105 classes, squared hinge one-vs-rest, C=1, gap 1e-3",
        data="sector",
        loss="squared_hinge",
        C=1.0,
        target=1e-3,
        gap=1e-3,
        our_tolerances=_TO_1E3,
        peers=_svm_peers((1.0, 0.3, 0.1), 1, 12.0),
    ),
    Work(
        bar="P6",
        title="sector, 105 classes, hinge one-vs-rest, C=1, gap 1e-3",
        data="sector",
        loss="hinge",
        C=1.0,
        target=1e-3,
        gap=1e-3,
        our_tolerances=_TO_1E3,
        peers=_svm_peers((0.1, 0.06, 0.03), 2, 12.0),
    ),
    Work(
        bar="P6",
        title="a9a, logistic, C=1, gap 1e-3",
        data="a9a",
        loss="log",
        C=1.0,
        target=1e-3,
        gap=1e-3,
        our_tolerances=(1e-3, 1e-4, 1e-6),
        peers=_small_peers(1.3),
    ),
    Work(
        bar="P6",
        title="ijcnn1, logistic, C=1, gap 1e-3",
        data="ijcnn1",
        loss="log",
        C=1.0,
        target=1e-3,
        gap=1e-3,
        our_tolerances=(1e-3, 1e-4, 1e-6),
        peers=_small_peers(1.3),
    ),
]
