"""Which classes are taken for which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lineal.errors import ParameterError
from lineal.evaluation.classification import Cells
from lineal.evaluation.evaluation import Confusion, Evaluation
from lineal.evaluation.inputs import checked_confidence
from lineal.evaluation.predictions import Classified, predictions_of, task_of
from lineal.evaluation.wording import aligned, brief, percent
from lineal.plot.confusions_picture import draw


def confusion(
    judged: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> ConfusionMatrix:
    """How often each class was called what, from an evaluation or from a fitted model and rows.

    Parameters
    ----------
    judged : Evaluation, its ``confusion``, or a fitted classifier
    X, y, sample_weight, confidence
        For a classifier: rows that it has not learned from, their labels and weights, the level of intervals.

    Returns
    -------
    ConfusionMatrix
        Classes are in sorted order, as in ``classes_``.

    Examples
    --------
    >>> from lineal import KNeighborsClassifier
    >>> from lineal.plot import confusion
    >>> model = KNeighborsClassifier(1).fit([[0.0], [1.0], [2.0]], ["low", "mid", "top"])
    >>> print(confusion(model, [[0.1], [0.7], [1.2], [1.8], [2.4]], ["low", "low", "mid", "top", "top"]))
    truth  low  mid  top   right    95 % interval
    low      1    1    0   50.0%    9.5% .. 90.5%
    mid      0    1    0  100.0%  20.7% .. 100.0%
    top      0    0    2  100.0%  34.2% .. 100.0%
    """
    if isinstance(judged, Evaluation):
        if judged.confusion is None:
            raise ParameterError(f"confusion needs an evaluation of classes, and this is of a {judged.task}.")
        judged = judged.confusion
    if isinstance(judged, Confusion):
        return ConfusionMatrix(judged.classes, judged.counts, judged.sizes, judged.confidence)
    if X is None or y is None or not hasattr(judged, "predict"):
        raise ParameterError(
            "confusion needs an Evaluation, or a fitted classifier with rows and their labels: "
            f"confusion(model, X, y); got {type(judged).__name__}."
        )
    confidence = checked_confidence(confidence)
    if task_of(judged, None) not in ("classification", None):
        raise ParameterError(f"confusion needs a classifier, and {type(judged).__name__} predicts no labels.")
    found = predictions_of(judged, X, y, sample_weight=sample_weight, task="classification")
    assert isinstance(found, Classified)
    cells = Cells.of(found)
    return ConfusionMatrix(found.classes, cells.weight, cells.sizes(axis=1), confidence)


@dataclass(frozen=True, eq=False)
class ConfusionMatrix(Confusion):
    """Counts of truths and predictions; ``print`` shows them with the share of each class that was right.

    Attributes
    ----------
    classes, counts, sizes, confidence, rates, rate_intervals
        As in :class:`lineal.evaluation.Confusion`.
    """

    def worst(self, k: int = 5) -> list[tuple[Any, Any, float]]:
        """The k most frequent errors as (truth, prediction, count), of those that occur."""
        errors = self.counts - np.diag(np.diag(self.counts))
        order = np.argsort(-errors, axis=None, kind="stable")[:k]
        labels = self.classes.tolist()
        places = [divmod(int(place), len(labels)) for place in order]
        return [(labels[i], labels[j], float(errors[i, j])) for i, j in places if errors[i, j] > 0]

    def __str__(self) -> str:
        names = [str(label) for label in self.classes.tolist()]
        low, high = (np.diag(ends) for ends in self.rate_intervals)
        rows = []
        for k, (name, share) in enumerate(zip(names, np.diag(self.rates), strict=True)):
            is_met = not np.isnan(share)
            told = [f"{share:.1%}", f"{low[k]:.1%} .. {high[k]:.1%}"] if is_met else ["", ""]
            rows.append([name, *map(brief, self.counts[k].tolist()), *told])
        return "\n".join(aligned(["truth", *names, "right", f"{percent(self.confidence)} interval"], rows))

    def plot(self, ax: Any = None) -> list[Any]:
        """A field for each pair of classes: its count, its share of the true class, and a shade.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)
