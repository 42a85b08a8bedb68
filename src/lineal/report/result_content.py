"""What a report says about how good a model is: scores, comparisons, confusions and curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lineal.report.record import Record

OUTCOMES = ("", "better", "worse", "undecided")


@dataclass(frozen=True, kw_only=True)
class Score(Record):
    """A number about a model, with its interval, and the same number of the baseline.

    Attributes
    ----------
    name : str
        As it is to be shown, such as "accuracy".
    value, low, high : float
    baseline, baseline_low, baseline_high : float, optional
    greater_is_better : bool, optional
        None: neither.
    unit : str
        "%" shows a share of 1 as a percentage; other units follow the number.
    meaning : str
        What it says in plain words; those of usual scores are known.
    method : str
        How the interval was found.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    baseline_low: float | None = None
    baseline_high: float | None = None
    greater_is_better: bool | None = True
    unit: str = ""
    meaning: str = ""
    method: str = ""


@dataclass(frozen=True, kw_only=True)
class Scores(Record):
    """The result: the score that matters first, and how the model stands against the baseline.

    Attributes
    ----------
    rows : sequence of Score
    verdict : str
        A sentence about model and baseline, without the p-value.
    outcome : {"", "better", "worse", "undecided"}
        The verdict in a word.
    p_value : float, optional
    test : str
        The name of the test that the p-value comes from.
    baseline_name : str
        Such as "always the most frequent label".
    confidence : float
        Of the intervals.
    n_rows : int, optional
        How many rows were predicted.
    notes : sequence of str
    """

    rows: Sequence[Score]
    verdict: str = ""
    outcome: str = ""
    p_value: float | None = None
    test: str = ""
    baseline_name: str = "baseline"
    confidence: float = 0.95
    n_rows: int | None = None
    notes: Sequence[str] = ()

    def _check(self) -> None:
        self._needs(self.outcome in OUTCOMES, f"an outcome out of {OUTCOMES}, got {self.outcome!r}")


@dataclass(frozen=True, kw_only=True)
class ClassScores(Record):
    """Precision, recall and the like of one label; all labels have scores of the same names."""

    label: str
    scores: Sequence[Score]
    n_rows: int | None = None


@dataclass(frozen=True, kw_only=True)
class ComparedModel(Record):
    """One of several models: the score they are compared by, others, and what it cost."""

    name: str
    score: Score
    others: Sequence[Score] = ()
    seconds: float | None = None
    is_best: bool = False


@dataclass(frozen=True, kw_only=True)
class PairVerdict(Record):
    """Two models: the difference first - second, and who is better."""

    first: str
    second: str
    difference: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    verdict: str = ""
    is_significant: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison(Record):
    """Several models on the same data, best first, and a verdict for each pair."""

    models: Sequence[ComparedModel]
    pairs: Sequence[PairVerdict] = ()
    sentence: str = ""
    test: str = ""
    correction: str = ""
    confidence: float = 0.95


@dataclass(frozen=True, kw_only=True)
class Confusion(Record):
    """What was taken for what.

    ``counts[i][j]`` rows of ``labels[i]`` were predicted as ``labels[j]``. Where labels are so many that the
    table would be huge, give ``pairs`` (truth, predicted, count) of different labels instead.
    """

    labels: Sequence[str]
    counts: Sequence[Sequence[float]] = ()
    pairs: Sequence[tuple[str, str, float]] = ()

    def _check(self) -> None:
        n = len(self.labels)
        fits = not self.counts or (len(self.counts) == n and all(len(row) == n for row in self.counts))
        self._needs(fits, f"a table of {n} x {n} counts, one row and one column for each label")
        self._needs(all(len(pair) == 3 for pair in self.pairs), "pairs of (truth, predicted, count)")


@dataclass(frozen=True, kw_only=True)
class Curve(Record):
    """A named curve with the area below it; ``point`` is where the model's own threshold lies on it."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    area: float | None = None
    low: float | None = None
    high: float | None = None
    point: tuple[float, float] | None = None

    def _check(self) -> None:
        self._needs(len(self.x) == len(self.y) and len(self.x) > 0, "as many x as y, at least one")


@dataclass(frozen=True, kw_only=True)
class Curves(Record):
    """ROC curves (x: false positive rate, y: recall) and precision-recall curves (x: recall, y: precision).

    ``positive`` names the label that is looked for; ``share`` is how many rows have it, which is the
    precision of guessing.
    """

    roc: Sequence[Curve] = ()
    precision_recall: Sequence[Curve] = ()
    positive: str = ""
    share: float | None = None


@dataclass(frozen=True, kw_only=True)
class CalibrationBin(Record):
    """Rows of about the same predicted probability, and how often the prediction was right."""

    predicted: float
    observed: float
    low: float | None = None
    high: float | None = None
    count: float | None = None


@dataclass(frozen=True, kw_only=True)
class Calibration(Record):
    """Whether predicted probabilities are shares: of predictions of 80 %, are 80 % right?"""

    bins: Sequence[CalibrationBin]
    error: float | None = None
    low: float | None = None
    high: float | None = None
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class LearningPoint(Record):
    """Scores of models trained on ``size`` rows, on rows not seen (test) and on the rows seen (train)."""

    size: int
    test: float
    test_low: float | None = None
    test_high: float | None = None
    train: float | None = None
    train_low: float | None = None
    train_high: float | None = None


@dataclass(frozen=True, kw_only=True)
class LearningCurve(Record):
    """Scores by the number of training rows."""

    points: Sequence[LearningPoint]
    score: str = "score"
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class Regression(Record):
    """True and predicted numbers of the test rows; any number of them, since dense places are counted."""

    truth: Sequence[float]
    predicted: Sequence[float]
    target: str = ""

    def _check(self) -> None:
        self._needs(len(self.truth) == len(self.predicted), "as many predictions as true numbers")
