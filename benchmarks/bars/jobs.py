"""What `make bench` runs: the benchmarks there are, each with its bars, in processes of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1]
_TEXTS = ("imdb/train.jsonl", "imdb/test.jsonl", "20newsgroups/train.jsonl", "20newsgroups/test.jsonl")
_IMDB = _TEXTS[:2]
_MACHINES = ("libsvm/a9a.svm", "libsvm/a9a.t.svm", "libsvm/ijcnn1.svm", "libsvm/w8a.svm",
             "libsvm/letter.scale.svm", "libsvm/letter.scale.t.svm")  # fmt: skip
_SETS = ("sms_spam/sms_spam.tsv", "rt_polarity/rt-polarity.tsv", "op_spam/deceptive-opinion.csv")


@dataclass(frozen=True)
class Job:
    """One benchmark, or a part of one.

    ``raw`` is where its JSON lies; given ``--keep`` and another place, it writes there and on no page.
    ``quick`` are its options for a look, None if a look would take too long. ``needs`` is the real data it
    reads.
    """

    name: str
    bars: Sequence[str]
    script: str
    options: Sequence[str]
    raw: str
    minutes: float  # on two cores, for those who wait
    needs: Sequence[str] = ()
    quick: Sequence[str] | None = None


def _versus(bar: str, minutes: float, is_looked_at: bool = True) -> Job:
    options = ("--only", bar)
    quick = (*options, "--quick", "--rounds", "1") if is_looked_at else None
    return Job(
        f"versus {bar}", (bar,), "versus/run.py", options, f"versus/results/{bar}.json", minutes, (), quick
    )


def _text(
    name: str, bars: Sequence[str], part: str, minutes: float, needs: Sequence[str], quick: int | None
) -> Job:
    look = None if quick is None else ("--only", part, "--texts", str(quick))
    return Job(name, bars, "text/run.py", ("--only", part), "text/results/text.json", minutes, needs, look)


def _command(
    part: str, bar: str, minutes: float, needs: Sequence[str], quick: Sequence[str] | None = None
) -> Job:
    options = ("--parts", part)
    return Job(
        f"command {part}",
        (bar,),
        "command/run.py",
        options,
        "command/results/command.json",
        minutes,
        needs,
        quick,
    )


# In the order of a run.
JOBS = (
    _versus("P11", 0.3),
    _versus("P2", 2),
    _versus("P3", 2.5),
    _versus("P4", 2),
    _versus("P12", 0.5),
    _text("text latency", ("P9",), "latency", 1.5, _IMDB, 500),
    _text("text speed", ("P1",), "speed", 3, _TEXTS, 200),
    _text("text memory", ("P1",), "memory", 4, _TEXTS, None),
    _text("text growth", ("P12",), "growth", 3, ("l10n_langid/train.tsv",), None),
    Job("naive Bayes", ("P14",), "bayes/run.py", (), "bayes/results/bayes.json", 1.5, _TEXTS, ("--texts",
    "2000")),
    Job(
        "neighbours", ("P13",), "neighbors/run.py", (), "neighbors/results/neighbors.json", 2.5,
        (*_TEXTS, *_MACHINES), ("--only", "1", "--rows", "1000"),
    ),
    Job(
        "one pass online", ("P10",), "online/run.py", (), "online/results/online.json", 10, _IMDB,
        ("--texts", "500", "--works", "text", "--repeats", "1"),
    ),
    Job(
        "kernel machines", ("P8",), "kernel_machines/run.py", (),
        "kernel_machines/results/kernel_machines.json", 7,
        _MACHINES, ("--rows", "1000", "--repeats", "1"),
    ),
    _command("startup", "P11", 0.5, (*_TEXTS, *_SETS), ("--parts", "startup")),
    _command("versus", "P7", 4, (*_TEXTS, *_SETS)),
    _command("accuracy", "accuracy", 2, (*_TEXTS, *_SETS)),
    _text("text pipeline", ("P7",), "pipeline", 3, _IMDB, 500),
    Job("growth of the command", ("P12",), "bars/doubling.py", ("--parts", "command"),
    "bars/results/growth.json", 1,
        _IMDB),
    _versus("P6", 12),
    _versus("P5", 5),
    Job("curves", ("curves",), "curves/run.py", (), "curves/results/imdb.json", 5),
)  # fmt: skip


# A look begins with what is short, and ends when its time is over.
_LONG_LOOKS = ("versus P2", "versus P12", "versus P4", "versus P6", "versus P3", "versus P5")


def in_order_of_looks(jobs: Sequence[Job]) -> list[Job]:
    """Those that take seconds first."""
    return sorted(jobs, key=lambda job: _LONG_LOOKS.index(job.name) + 1 if job.name in _LONG_LOOKS else 0)


def wanted(bars: Sequence[str] | None) -> list[Job]:
    """The jobs under these bars; all of them without."""
    return [job for job in JOBS if bars is None or set(bars) & set(job.bars)]


def known_bars() -> list[str]:
    """Every bar that some job measures."""
    return list(dict.fromkeys(bar for job in JOBS for bar in job.bars))
