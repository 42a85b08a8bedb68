"""What is asked of a training, what it gives, and the clock that times its steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lineal.data.doctor import Finding
from lineal.data.records import Records
from lineal.errors import ParameterError
from lineal.evaluation.comparison import ModelComparison
from lineal.evaluation.evaluation import Evaluation
from lineal.jobs.answers import Answers
from lineal.jobs.dataset import Dataset
from lineal.jobs.roles import Roles
from lineal.model.model import Model


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What was asked of the columns, as for :func:`guess_roles`."""

    label: str | None = None
    text: Sequence[str] = ()
    category: Sequence[str] = ()
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    group: str | None = None
    weight: str | None = None
    task: str | None = None


@dataclass(frozen=True, kw_only=True)
class Judging:
    """How a model is judged: a test file, a share held out, or folds."""

    test: str | None = None
    share: float = 0.2
    n_folds: int | None = None
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.test is not None and self.n_folds is not None:
            raise ParameterError("a test file and folds are two ways to judge a model: give one of them.")
        if self.n_folds is not None and self.n_folds < 2:
            raise ParameterError(f"there must be at least 2 folds, got {self.n_folds}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Training:
    """What a training gave.

    Attributes
    ----------
    model : Model
        Frozen; what is judged and stored.
    estimator : the learner behind it
    records, roles, findings
        The data, what each column was taken for, and what is wrong with them.
    train, test : Dataset
        What was learned from, and what the model is judged by (with folds, all rows).
    test_lines : int or None
        The line of the first row of the file of the test rows, where each row is one line.
    split : str
        How the test part was made.
    answers, baseline : Answers
        Of the model and of the baseline for the test rows.
    baseline_name : str
    evaluation : Evaluation
    comparison : ModelComparison
    seconds : dict of step to seconds
    interrupted : str
        What was left undone since Ctrl-C was pressed; "" where nothing was.
    """

    model: Model
    estimator: Any
    records: Records
    roles: Roles | None
    findings: list[Finding]
    train: Dataset
    test: Dataset
    test_name: str
    test_lines: int | None
    split: str
    answers: Answers
    baseline: Answers
    baseline_name: str
    evaluation: Evaluation
    comparison: ModelComparison
    judging: Judging
    seconds: dict[str, float] = field(default_factory=dict)
    interrupted: str = ""


class Clock:
    """Times steps, and tells of each as it begins."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.seconds: dict[str, float] = {}
        self.tell = tell

    @contextmanager
    def step(self, name: str, sentence: str) -> Iterator[None]:
        """Runs a step."""
        self.tell(sentence)
        began = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began
