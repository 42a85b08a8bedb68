"""Scores by the number of rows learned from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from numpy.typing import ArrayLike

from lineal.errors import ParameterError
from lineal.evaluation import curves as evaluation_curves
from lineal.evaluation.curves import LearningCurve
from lineal.plot.learning_curves_picture import draw


def learning_curve(
    learners: Any, X: Any = None, y: ArrayLike | None = None, **options: Any
) -> LearningCurves:
    """How much learners gain from more rows: scores on the rows learned from and on held-out ones.

    Parameters
    ----------
    learners : a learner, a ``LearningCurve``, or a dict of names to them
        Copies of learners are fitted.
    X, y
        For learners: the data that are divided into folds, the same for all.
    **options
        ``sizes``, ``cv``, ``metric`` and the others of ``lineal.evaluation.curves.learning_curve``.

    Returns
    -------
    LearningCurves

    Examples
    --------
    >>> from lineal import GaussianNB
    >>> from lineal.plot import learning_curve
    >>> from sklearn.datasets import load_iris
    >>> found = learning_curve(GaussianNB(), *load_iris(return_X_y=True), sizes=[0.2, 1.0])
    >>> found.curves["GaussianNB"].sizes.tolist()
    [24, 120]
    """
    named = dict(learners) if isinstance(learners, Mapping) else {type(learners).__name__: learners}
    needs_rows = [one for one in named.values() if not isinstance(one, LearningCurve)]
    is_able = all(hasattr(one, "fit") and hasattr(one, "predict") for one in needs_rows)
    if not named or not is_able or (needs_rows and (X is None or y is None)):
        raise ParameterError(
            "learning_curve needs a learner, a LearningCurve, or a dict of names to them, and rows for "
            f"learners: learning_curve(learner, X, y); got {type(learners).__name__}."
        )
    found: dict[str, LearningCurve] = {}
    for name, one in named.items():
        is_made = isinstance(one, LearningCurve)
        found[str(name)] = (
            one if is_made else evaluation_curves.learning_curve(one, X, cast(Any, y), **options)
        )
    if len({curve.metric for curve in found.values()}) > 1:
        raise ParameterError("learning_curve draws one metric, and the curves have several.")
    return LearningCurves(found)


@dataclass(frozen=True, eq=False)
class LearningCurves:
    """Learning curves by name; ``print`` shows their tables.

    Attributes
    ----------
    curves : dict of names to LearningCurve
    """

    curves: dict[str, LearningCurve]

    def __str__(self) -> str:
        return "\n\n".join(f"{name}: {curve}" for name, curve in self.curves.items())

    def plot(self, ax: Any = None) -> list[Any]:
        """Held-out scores as solid lines with bands, scores on the rows learned from as dashed ones.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)
