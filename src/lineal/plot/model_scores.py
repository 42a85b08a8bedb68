"""Models side by side: the score of each with its interval, and which can be told from the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lineal.errors import ParameterError
from lineal.evaluation.comparison import ModelComparison
from lineal.evaluation.wording import aligned, brief, p_text, percent
from lineal.objective.losses import FloatArray
from lineal.plot.model_scores_picture import draw


def model_scores(comparison: ModelComparison) -> ModelScores:
    """What ``lineal.compare`` found, the best model first.

    Parameters
    ----------
    comparison : ModelComparison

    Returns
    -------
    ModelScores

    Examples
    --------
    >>> import lineal
    >>> from lineal.plot import model_scores
    >>> from sklearn.datasets import load_iris
    >>> models = {"logistic": lineal.LogisticRegression(), "ridge": lineal.RidgeClassifier()}
    >>> print(model_scores(lineal.compare(models, *load_iris(return_X_y=True))))
              accuracy     95 % interval  beside the best
    logistic    0.9667       0.9177 .. 1
    ridge       0.8333  0.7238 .. 0.9429        p = 0.013
    """
    if not isinstance(comparison, ModelComparison):
        raise ParameterError(
            "model_scores needs what lineal.compare returns: model_scores(lineal.compare(models, X, y)); "
            f"got {type(comparison).__name__}."
        )
    names = comparison.ranking()
    scores = [comparison[name] for name in names]
    pairs = [comparison.pair(names[0], name) for name in names[1:]]
    places = [list(comparison.scores).index(name) for name in names]
    return ModelScores(
        names,
        np.array([score.value for score in scores]),
        np.array([score.low for score in scores]),
        np.array([score.high for score in scores]),
        np.array([1.0, *(pair.p_value for pair in pairs)]),
        np.array([False, *(pair.better == names[0] for pair in pairs)]),
        None if comparison.runs is None else comparison.runs[:, places],
        comparison,
    )


@dataclass(frozen=True, eq=False)
class ModelScores:
    """Scores of models, the best first; ``print`` shows a table.

    Attributes
    ----------
    names : list of M names
    values, low, high : (M,) arrays
        The scores and the ends of their intervals.
    p_values : (M,) array
        Of the test against the best, corrected for all pairs; 1 for the best itself.
    is_worse : (M,) array
        Whether the best is better for sure, at the level of the comparison.
    runs : (J, M) array or None
        Scores on each fold or data set, where there are some.
    comparison : ModelComparison
    """

    names: list[str]
    values: FloatArray
    low: FloatArray
    high: FloatArray
    p_values: FloatArray
    is_worse: NDArray[np.bool_]
    runs: FloatArray | None
    comparison: ModelComparison

    def __str__(self) -> str:
        comparison = self.comparison
        header = ["", comparison.metric, f"{percent(comparison.confidence)} interval", "beside the best"]
        rows = []
        for i, name in enumerate(self.names):
            between = f"{brief(self.low[i])} .. {brief(self.high[i])}"
            rows.append([name, brief(self.values[i]), between, p_text(self.p_values[i]) if i else ""])
        return "\n".join(aligned(header, rows))

    def plot(self, ax: Any = None) -> list[Any]:
        """A dot and a whisker for each model; hollow where the best is better for sure.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)
