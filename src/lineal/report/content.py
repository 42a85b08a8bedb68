"""What a report says: frozen records of plain data, one for each section.

``Report`` holds the sections; all but the title are optional and only those given are rendered, so that any
job can make a report. Nothing here computes, and no estimator is needed: whoever has the numbers writes
them down. Sequences may be lists, tuples or arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lineal.report.record import Record
from lineal.report.result_content import (
    Calibration,
    ClassScores,
    Comparison,
    Confusion,
    Curves,
    LearningCurve,
    Regression,
    Scores,
)

Pairs = Mapping[str, str] | Sequence[tuple[str, str]]
SEVERITIES = ("error", "warning", "note")


def pairs(given: Pairs) -> tuple[tuple[str, str], ...]:
    """What a mapping, or a sequence of pairs, holds: names and values."""
    return tuple(given.items()) if isinstance(given, Mapping) else tuple(given)


@dataclass(frozen=True, kw_only=True)
class Column(Record):
    """A column of the data: its role ("text", "number", "category", "label", "dropped" ...) and why."""

    name: str
    role: str
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class LabelCount(Record):
    """How often a label occurs, in all rows or in the training part, and in the test part if there is one."""

    label: str
    count: int
    test_count: int | None = None


@dataclass(frozen=True, kw_only=True)
class Histogram(Record):
    """The numbers to be predicted, counted in bins: bin i reaches from ``edges[i]`` to ``edges[i + 1]``."""

    edges: Sequence[float]
    counts: Sequence[int]

    def _check(self) -> None:
        self._needs(len(self.edges) == len(self.counts) + 1, "one edge more than counts")


@dataclass(frozen=True, kw_only=True)
class Data(Record):
    """What was learnt from.

    Attributes
    ----------
    files : sequence of str
    n_rows : int
    n_columns : int, optional
        Where it differs from ``len(columns)``, such as for sparse rows.
    columns : sequence of Column
    labels : sequence of LabelCount
        In the order to be shown.
    target : Histogram, optional
        Of the numbers to be predicted.
    target_name : str
        The name of the label's column.
    split : str
        A sentence: how the test part was made.
    n_train, n_test : int, optional
    notes : sequence of str
    """

    files: Sequence[str] = ()
    n_rows: int | None = None
    n_columns: int | None = None
    columns: Sequence[Column] = ()
    labels: Sequence[LabelCount] = ()
    target: Histogram | None = None
    target_name: str = ""
    split: str = ""
    n_train: int | None = None
    n_test: int | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Finding(Record):
    """A problem of the data; ``severity`` is "error", "warning" or "note", ``place`` "a.csv, line 7", say."""

    severity: str
    message: str
    place: str = ""
    fix: str = ""
    examples: Sequence[str] = ()

    def _check(self) -> None:
        self._needs(
            self.severity in SEVERITIES, f"a severity out of {', '.join(SEVERITIES)}, got {self.severity!r}"
        )


@dataclass(frozen=True, kw_only=True)
class ModelSummary(Record):
    """What the model is.

    Attributes
    ----------
    learner : str
        As it would be spelled in Python.
    plan : str
        A sentence: what was chosen and why.
    n_features : int, optional
    n_bytes : int, optional
        Of the model file.
    path : str
        Of the model file.
    facts : mapping or pairs of str
        More to know, name and value.
    """

    learner: str = ""
    plan: str = ""
    n_features: int | None = None
    n_bytes: int | None = None
    path: str = ""
    facts: Pairs = ()


@dataclass(frozen=True, kw_only=True)
class StrengthPoint(Record):
    """A strength that was tried: the score on held-out parts and its standard error."""

    strength: float
    score: float
    error: float | None = None
    n_features: int | None = None


@dataclass(frozen=True, kw_only=True)
class StrengthPath(Record):
    """Scores by penalty strength; ``chosen`` is the strength that was taken."""

    points: Sequence[StrengthPoint]
    chosen: float | None = None
    score: str = "score"
    greater_is_better: bool = True
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class Trials(Record):
    """A table of what was tried: cells are words or numbers; ``chosen`` is the number of a row, from 0."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]
    chosen: int | None = None
    sentence: str = ""

    def _check(self) -> None:
        fits = all(len(row) == len(self.columns) for row in self.rows)
        self._needs(fits, "as many cells as columns in every row")


@dataclass(frozen=True, kw_only=True)
class Feature(Record):
    """A feature and its weight: above 0 it speaks for the label, below 0 against it."""

    name: str
    weight: float


@dataclass(frozen=True, kw_only=True)
class ClassFeatures(Record):
    """The heaviest features of a label; ``against`` is the label that weights below 0 speak for."""

    label: str
    features: Sequence[Feature]
    against: str = ""


@dataclass(frozen=True, kw_only=True)
class Features(Record):
    """The heaviest features of every label.

    Two labels are one picture with two sides: give one ``ClassFeatures`` with ``against``, or two. For a
    regression give one, whose label is the name of the target.
    """

    classes: Sequence[ClassFeatures]
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class Token(Record):
    """A piece of a text between white space, and what it added to the score."""

    text: str
    share: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Term(Record):
    """A feature of a row, its value as it is to be shown, and what it added to the score."""

    name: str
    value: str = ""
    share: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Mistake(Record):
    """A row that was predicted wrongly, with its score taken apart.

    Attributes
    ----------
    truth, predicted : str
        Labels, or numbers as they are to be shown.
    probability : float, optional
        What the model gave the predicted label.
    true_probability : float, optional
        What it gave the true one.
    place : str
        Such as "reviews.csv, line 17".
    tokens : sequence of Token
        The text in its order; shares add up to the score of ``explained``.
    terms : sequence of Term
        For tables, or beside a text: the heaviest features.
    explained : str
        Whose score was taken apart; the predicted label's unless given.
    """

    truth: str
    predicted: str
    probability: float | None = None
    true_probability: float | None = None
    place: str = ""
    tokens: Sequence[Token] = ()
    terms: Sequence[Term] = ()
    explained: str = ""


@dataclass(frozen=True, kw_only=True)
class Mistakes(Record):
    """The worst mistakes, worst first, out of ``n_wrong`` among ``n_rows`` test rows."""

    examples: Sequence[Mistake]
    n_wrong: int | None = None
    n_rows: int | None = None
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class TracePoint(Record):
    """How far a fit was from the proven optimum after an epoch."""

    epoch: float
    relative_gap: float
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Certificate(Record):
    """What was proved about the fit; fields as in ``lineal.objective.Certificate``.

    ``sentence`` says it in words, ``objective`` what was minimised; ``tolerance`` is the relative gap
    that was asked for.
    """

    sentence: str = ""
    is_certified: bool = True
    objective: str = ""
    primal: float | None = None
    dual: float | None = None
    gap: float | None = None
    relative_gap: float | None = None
    tolerance: float | None = None
    solver: str = ""
    epochs: int | None = None
    seconds: float | None = None
    trace: Sequence[TracePoint] = ()


@dataclass(frozen=True, kw_only=True)
class Reproduction(Record):
    """How to get the same again.

    Attributes
    ----------
    command : str
        The command line.
    seed : int, optional
    versions : mapping or pairs of str
        Of Lineal, Python, NumPy ...
    fingerprint_bytes, fingerprint : int, str
        Size and SHA-256 of the data.
    snippet : str
        Python that loads the model and predicts.
    """

    command: str = ""
    seed: int | None = None
    versions: Pairs = ()
    fingerprint_bytes: int | None = None
    fingerprint: str = ""
    snippet: str = ""


@dataclass(frozen=True, kw_only=True)
class Report(Record):
    """A report: a title, and the sections that there is something to say in.

    Attributes
    ----------
    title : str
    summary : str
        One sentence: the answer.
    created : str
        When, as it is to be shown; given, so that the same content gives the same bytes.
    task : str
        "classification", "regression" or other words for the line above the title.
    findings : sequence of Finding, optional
        None: nobody looked for problems; empty: none was found.

    The other attributes are sections, in the order in which they are shown.

    Examples
    --------
    >>> from lineal.report import Report, Score, Scores, render
    >>> scores = Scores(rows=[Score(name="accuracy", value=0.91, low=0.88, high=0.93, unit="%")])
    >>> page = render(Report(title="Reviews", summary="91 % right.", scores=scores))
    >>> page.startswith("<!DOCTYPE html>")
    True
    """

    title: str
    summary: str = ""
    created: str = ""
    task: str = ""
    scores: Scores | None = None
    comparison: Comparison | None = None
    classes: Sequence[ClassScores] = ()
    confusion: Confusion | None = None
    curves: Curves | None = None
    calibration: Calibration | None = None
    regression: Regression | None = None
    mistakes: Mistakes | None = None
    features: Features | None = None
    learning_curve: LearningCurve | None = None
    strength_path: StrengthPath | None = None
    trials: Trials | None = None
    data: Data | None = None
    findings: Sequence[Finding] | None = None
    model: ModelSummary | None = None
    certificate: Certificate | None = None
    reproduction: Reproduction | None = None
