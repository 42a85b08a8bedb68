"""What an evaluation says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lineal.evaluation.doubts import sentence
from lineal.evaluation.intervals import wilson_ends
from lineal.evaluation.records import Score
from lineal.evaluation.tables import Section, ends, plain, rich
from lineal.evaluation.wording import brief, counted, percent
from lineal.objective.losses import FloatArray

if TYPE_CHECKING:
    from rich.console import Group

# What is printed of many classes; all of them are in the record.
_SHOWN_CLASSES, _SHOWN_CONFUSION = 30, 10


@dataclass(frozen=True, eq=False)
class Confusion:
    """How often each class was called what.

    Attributes
    ----------
    classes : (K,) labels
    counts : (K, K) array
        Row: the truth; column: the prediction. By weight.
    sizes : (K,) array
        How many rows of weight 1 each row of the matrix is worth.
    confidence : float
    """

    classes: NDArray[Any]
    counts: FloatArray
    sizes: FloatArray
    confidence: float = 0.95

    @property
    def rates(self) -> FloatArray:
        """(K, K) shares of each true class; NaN for one that does not occur."""
        total = self.counts.sum(axis=1, keepdims=True)
        return np.divide(self.counts, total, out=np.full_like(self.counts, np.nan), where=total > 0)

    @property
    def rate_intervals(self) -> tuple[FloatArray, FloatArray]:
        """Wilson's ends for each rate, (K, K) each."""
        shares = np.nan_to_num(self.rates)
        return wilson_ends(shares, np.broadcast_to(self.sizes[:, None], shares.shape), self.confidence)

    def __str__(self) -> str:
        return self.section().plain()

    def section(self) -> Section:
        """The counts as a table."""
        names = [str(label) for label in self.classes.tolist()]
        rows = [[name, *map(brief, row)] for name, row in zip(names, self.counts.tolist(), strict=True)]
        return Section("confusion (rows: truth, columns: prediction)", ["", *names], rows)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Every number has an interval; ``print`` shows a table, ``to_dict()`` is for machines.

    ``evaluation["accuracy"]`` is a :class:`Score`, with ``value``, ``low`` and ``high``.

    Attributes
    ----------
    task : "classification", "regression" or "ranking"
    scores : dict of name to Score
    n_rows : int
        Rows, or queries of a ranking.
    confidence : float
        Of every interval.
    per_class : dict of label to dict of name to Score
        Precision, recall, F1, and one against the rest ``roc_auc``, of a classification.
    confusion : Confusion or None
    omitted : dict of name to reason
        What could not be computed.
    notes : tuple of str
        How numbers are meant, where that is a choice.
    doubts : dict of name to reason
        Whose intervals hang on too few rows to be trusted.
    per_query : dict of name to (Q,) array
        What each query of a ranking scores, in the sorted order of their names, of the queries that count.
    """

    task: str
    scores: dict[str, Score]
    n_rows: int
    confidence: float
    per_class: dict[Any, dict[str, Score]] = field(default_factory=dict)
    confusion: Confusion | None = None
    omitted: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    titles: dict[str, str] = field(default_factory=dict, repr=False)
    doubts: dict[str, str] = field(default_factory=dict)
    per_query: dict[str, FloatArray] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Score:
        if name in self.scores:
            return self.scores[name]
        if name in self.omitted:
            raise KeyError(f"{name} was not computed: {self.omitted[name]}.")
        raise KeyError(f"there is no {name!r}; there are {', '.join(self.scores)}.")

    def __contains__(self, name: str) -> bool:
        return name in self.scores

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and words."""
        return {
            "task": self.task,
            "n_rows": self.n_rows,
            "confidence": self.confidence,
            "scores": {name: score.to_dict() for name, score in self.scores.items()},
            "per_class": [
                {"label": label, **{name: score.to_dict() for name, score in scores.items()}}
                for label, scores in self.per_class.items()
            ],
            "confusion": None if self.confusion is None else self.confusion.counts.tolist(),
            "classes": None if self.confusion is None else self.confusion.classes.tolist(),
            "omitted": dict(self.omitted),
            "notes": list(self.notes),
            "doubts": dict(self.doubts),
        }

    def __repr__(self) -> str:
        first = next(iter(self.scores.values()), None)
        what = "queries" if self.task == "ranking" else "rows"
        return f"<Evaluation of a {self.task} on {self.n_rows:,} {what}: {first}>"

    def __str__(self) -> str:
        return plain(self._sections())

    def __rich__(self) -> Group:
        return rich(self._sections())

    def _sections(self) -> list[Section]:
        what = "queries" if self.task == "ranking" else "rows"
        one = "query" if self.task == "ranking" else "row"
        head = f"{self.task.capitalize()}, {counted(self.n_rows, one, what)}"
        rows = [
            [self.titles.get(name, name), brief(score.value), ends(score), score.interval.method]
            for name, score in self.scores.items()
            if name in self.titles
        ]
        header = ["", "value", f"{percent(self.confidence)} interval", "interval by"]
        sections = [Section(head, header, rows)]
        if self.per_class:
            sections.append(self._classes())
        if self.confusion is not None and len(self.confusion.classes) <= _SHOWN_CONFUSION:
            sections.append(self.confusion.section())
        doubt = sentence(self.doubts, self.titles, list(self.scores))
        tail = [
            *([doubt] if doubt else []),
            *self.notes,
            *(f"{name} left out: {reason}" for name, reason in self.omitted.items()),
        ]
        return [*sections, *([Section("\n".join(tail))] if tail else [])]

    def _classes(self) -> Section:
        names = list(dict.fromkeys(name for scores in self.per_class.values() for name in scores))
        shown = list(self.per_class.items())[:_SHOWN_CLASSES]
        rows = [
            [
                str(label),
                *(f"{brief(scores[n].value)} ({ends(scores[n])})" if n in scores else "" for n in names),
            ]
            for label, scores in shown
        ]
        hidden = len(self.per_class) - len(shown)
        more = f"; {hidden} more in per_class" if hidden else ""
        return Section(f"by class ({percent(self.confidence)} intervals){more}", ["", *names], rows)
