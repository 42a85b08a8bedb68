"""What a comparison says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lineal.evaluation.records import Score, Significance
from lineal.evaluation.tables import Section, ends, plain, rich
from lineal.evaluation.wording import brief, p_text, percent
from lineal.objective.losses import FloatArray

if TYPE_CHECKING:
    from rich.console import Group

    from lineal.evaluation.several import Friedman, Nemenyi


@dataclass(frozen=True)
class Pair:
    """Two models and whether they differ; ``print`` gives the verdict.

    Attributes
    ----------
    first, second : str
    test : Significance
        Of this pair alone; its ``difference`` is first less second.
    p_value : float
        Corrected for all pairs that were compared.
    verdict : str
    better : str or None
        The better one; None where they cannot be told apart.
    """

    first: str
    second: str
    test: Significance
    p_value: float
    verdict: str
    better: str | None = None

    def __str__(self) -> str:
        return self.verdict

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words."""
        return {
            "first": self.first,
            "second": self.second,
            "p_corrected": self.p_value,
            "verdict": self.verdict,
            "better": self.better,
            **self.test.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """Models on the same rows, with intervals and tests; ``print`` shows tables and verdicts.

    Attributes
    ----------
    title : str
        What was compared, and by what.
    metric : str
    greater_is_better : bool
    scores : dict of name to Score
        In the order given.
    pairs : tuple of Pair
    confidence : float
        Of intervals; verdicts are at the level 1 - confidence.
    correction : str
        How the p-values of several pairs were corrected; empty for one pair.
    runs : (J, M) array or None
        The score of each model on each fold, or on each data set.
    run_names : tuple
        Of the folds or data sets.
    seconds : dict of name to float
        What fitting took; 0 for models that came fitted.
    models : dict
        The fitted models, where a test set was given.
    order : tuple of str
        Names, the best first, where ranks on several data sets were tested; empty elsewhere.
    friedman, nemenyi : Friedman, Nemenyi or None
        With three models or more on several data sets.
    is_complete : bool
        False after Ctrl-C.
    notes : tuple of str
    """

    title: str
    metric: str
    greater_is_better: bool
    scores: dict[str, Score]
    pairs: tuple[Pair, ...]
    confidence: float
    correction: str = ""
    runs: FloatArray | None = None
    run_names: tuple[Any, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    models: dict[str, Any] = field(default_factory=dict, repr=False)
    order: tuple[str, ...] = ()
    friedman: Friedman | None = None
    nemenyi: Nemenyi | None = None
    is_complete: bool = True
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Score:
        return self.scores[name]

    def __len__(self) -> int:
        return len(self.scores)

    def ranking(self) -> list[str]:
        """Names, the best score first; on several data sets the best by ranks, which is what was tested."""
        if self.order:
            return list(self.order)
        sign = -1 if self.greater_is_better else 1
        return sorted(self.scores, key=lambda name: sign * self.scores[name].value)

    @property
    def best(self) -> str:
        """The first name of the ranking, whether or not it can be told apart from the next."""
        return self.ranking()[0]

    def pair(self, first: str, second: str) -> Pair:
        """The comparison of two, in whichever order it was made."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair
        raise KeyError(f"{first!r} and {second!r} were not compared; there are {', '.join(self.scores)}.")

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and words."""
        return {
            "title": self.title,
            "metric": self.metric,
            "greater_is_better": self.greater_is_better,
            "confidence": self.confidence,
            "correction": self.correction,
            "scores": {name: score.to_dict() for name, score in self.scores.items()},
            "pairs": [pair.to_dict() for pair in self.pairs],
            "runs": None if self.runs is None else self.runs.tolist(),
            "run_names": [str(name) for name in self.run_names],
            "order": list(self.order),
            "seconds": dict(self.seconds),
            "friedman": None if self.friedman is None else self.friedman.to_dict(),
            "nemenyi": None if self.nemenyi is None else self.nemenyi.to_dict(),
            "is_complete": self.is_complete,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"<ModelComparison of {', '.join(self.ranking())}: {self.title}>"

    def __str__(self) -> str:
        return plain(self._sections())

    def __rich__(self) -> Group:
        return rich(self._sections())

    def _sections(self) -> list[Section]:
        stopped = "" if self.is_complete else "; stopped by Ctrl-C"
        rows = [[name, brief(self[name].value), ends(self[name])] for name in self.ranking()]
        header = ["", self.metric, f"{percent(self.confidence)} interval"]
        if self.nemenyi is not None:
            ranks = dict(zip(self.nemenyi.names, self.nemenyi.mean_ranks, strict=True))
            header.append("mean rank")
            for row in rows:
                row.append(f"{ranks[row[0]]:.2f}")
        if any(self.seconds.values()):  # models that came fitted took no time
            header.append("fit")
            for row in rows:
                row.append(f"{self.seconds.get(row[0], 0.0):.2g} s")
        sections = [Section(self.title + stopped, header, rows)]
        cells = [
            [
                f"{pair.first} – {pair.second}",
                "" if pair.test.difference is None else brief(pair.test.difference),
                "" if pair.test.interval is None else str(pair.test.interval),
                p_text(pair.p_value).removeprefix("p ").removeprefix("= "),
                _effect(pair.test),
            ]
            for pair in self.pairs
        ]
        difference = "median difference" if self.order else "difference"
        header = ["pair", difference, f"{percent(self.confidence)} interval", "p", "effect"]
        sections.append(Section(self._how(), header, cells))
        sections.append(Section("\n".join(pair.verdict for pair in self.pairs)))
        return [*sections, *([Section("\n".join(self.notes))] if self.notes else [])]

    def _how(self) -> str:
        named = f"{self.friedman} " if self.friedman is not None else ""
        first = self.pairs[0].test.test.partition(" on ")[0].partition(" of ")[0]
        kind = "Nemenyi's test" if self.nemenyi is not None else first
        return f"{named}{kind[0].upper()}{kind[1:]}" + (f", {self.correction}" if self.correction else "")


def _effect(test: Significance) -> str:
    if test.effect is None or math.isnan(test.effect):
        return ""
    return f"{test.effect_name} {brief(test.effect)}"
