"""Perceptrons to look at: boundaries after updates, mistakes against their bound, what averaging does."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError, ParameterError
from lineal.learners.perceptron.classifier import Perceptron
from lineal.learners.perceptron.online import Step, orders
from lineal.learners.perceptron.separability import MistakeBound, mistake_bound
from lineal.learners.targets import codes_among
from lineal.model.answers import winners
from lineal.objective.losses import FloatArray
from lineal.plot.choice import whole
from lineal.plot.perceptrons_picture import draw_averaging, draw_mistakes, draw_updates


def perceptron_updates(learner: Perceptron, X: Any, y: ArrayLike, *, n_updates: int = 12) -> Updates:
    """The weights after each of the first updates, over two columns.

    Parameters
    ----------
    learner : Perceptron
        Its epochs, order and intercept are kept to.
    X, y
        The training data, as for ``fit``; two columns.
    n_updates : int

    Returns
    -------
    Updates

    Examples
    --------
    >>> from lineal import Perceptron
    >>> from lineal.plot import perceptron_updates
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> print(perceptron_updates(Perceptron(shuffle=False), X, [0, 1, 1, 1]))
    update  example  row  predicted  weights
         1        1    0          1  [ 0.  0. -1.]
         2        2    1          0  [0. 1. 0.]
         3        5    0          1  [ 0.  1. -1.]
         4        7    2          0  [1. 1. 0.]
         5        9    0          1  [ 1.  1. -1.]
    """
    n_updates = whole("perceptron_updates", "n_updates", n_updates)
    reader = _copy("perceptron_updates", learner)
    rows, codes, _ = reader._training(X, y)
    if rows.n_columns != 2:
        raise InputError(f"perceptron_updates draws in two columns, and X has {rows.n_columns}.")
    mistakes = (step for step in reader._stepwise(rows, codes) if step.is_mistake)
    points = rows.dense if rows.dense is not None else rows.csr().toarray()
    return Updates(points.astype(np.float64), codes, reader.classes_, tuple(islice(mistakes, n_updates)))


@dataclass(frozen=True, eq=False)
class Updates:
    """The first updates of a perceptron.

    Attributes
    ----------
    X : (n, 2) array
    codes : (n,) array
        The place of each row's label in ``classes``.
    classes : array
    steps : tuple of Step
        After each update.
    """

    X: FloatArray
    codes: NDArray[np.int32]
    classes: NDArray[Any]
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        lines = ["update  example  row  predicted  weights"]
        for place, step in enumerate(self.steps, start=1):
            table = str(np.squeeze(np.column_stack([step.coef, step.intercept])))
            lines.append(
                f"{place:6}  {step.example:7}  {step.row:3}  {step.predicted!s:>9}  {' '.join(table.split())}"
                if len(step.coef) > 1
                else f"{place:6}  {step.example:7}  {step.row:3}  {step.predicted!s:>9}  {table}"
            )
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> list[Any]:
        """Small multiples: after each update, the regions, the rows, and a ring round the row that was wrong.

        Parameters
        ----------
        ax : a sequence of matplotlib Axes, or one, optional
            One for each update; not given, a new figure with all of them.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw_updates(self, ax)


def perceptron_mistakes(learner: Perceptron, X: Any, y: ArrayLike) -> MistakeCurve:
    """Mistakes so far, epoch by epoch, against the bound that no order of the rows can exceed.

    Returns
    -------
    MistakeCurve

    Examples
    --------
    >>> from lineal import Perceptron
    >>> from lineal.plot import perceptron_mistakes
    >>> learner = Perceptron(until_convergence=True, shuffle=False)
    >>> print(perceptron_mistakes(learner, [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1]))
    5 mistakes in 4 epochs, of at most 27
    """
    reader = _copy("perceptron_mistakes", learner)
    reader.fit(X, y)
    return MistakeCurve(
        np.r_[0, np.cumsum(reader.mistakes_)], mistake_bound(X, y, fit_intercept=reader.fit_intercept)
    )


@dataclass(frozen=True, eq=False)
class MistakeCurve:
    """Mistakes against their bound.

    Attributes
    ----------
    mistakes : (n_epochs + 1,) array
        How many there were after each epoch; 0 at first.
    bound : MistakeBound
    """

    mistakes: NDArray[np.int64]
    bound: MistakeBound

    def __str__(self) -> str:
        most = f"of at most {int(self.bound.bound):,}" if self.bound.separable else "and no bound"
        return f"{self.mistakes[-1]:,} mistakes in {len(self.mistakes) - 1} epochs, {most}"

    def plot(self, ax: Any = None) -> list[Any]:
        """Mistakes so far against epochs, with the bound as a line, or a note that there is none.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw_mistakes(self, ax)


def perceptron_averaging(
    learner: Perceptron, X: Any, y: ArrayLike, X_test: Any, y_test: ArrayLike, *, epochs: int = 20
) -> AveragingCurve:
    """Accuracy on other data after each epoch: of the last weights, and of the average of all.

    One run gives both: averaging changes no update.

    Returns
    -------
    AveragingCurve
    """
    epochs = whole("perceptron_averaging", "epochs", epochs)
    reader = _copy("perceptron_averaging", learner)
    rows, codes, _ = reader._training(X, y)
    judged = reader._rows(X_test, reset=False)
    wanted = codes_among(reader.classes_, reader._labels(y_test, judged.n_rows), "Test on the labels of y.")
    weights = reader._weights(rows, 1.0, True)
    found: list[tuple[float, float]] = []
    for order in orders(rows.n_rows, epochs, is_shuffled=reader.shuffle, seed=reader._seed()):
        weights.meet(rows, codes, order)
        both = (weights.current(), weights.average())
        plain, averaged = (np.mean(winners(judged.dot(coef.T) + b) == wanted) for coef, b in both)
        found.append((float(plain), float(averaged)))
    return AveragingCurve(*np.array(found).T)


@dataclass(frozen=True, eq=False)
class AveragingCurve:
    """Accuracy by epoch.

    Attributes
    ----------
    plain, averaged : (n_epochs,) arrays
    """

    plain: FloatArray
    averaged: FloatArray

    def __str__(self) -> str:
        lines = ["epoch   plain  averaged"]
        for epoch, pair in enumerate(zip(self.plain, self.averaged, strict=True), start=1):
            lines.append(f"{epoch:5}  {pair[0]:6.4f}    {pair[1]:6.4f}")
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> list[Any]:
        """Both accuracies against epochs.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw_averaging(self, ax)


def _copy(caller: str, learner: Perceptron) -> Perceptron:
    if not isinstance(learner, Perceptron):
        raise ParameterError(f"{caller} needs a Perceptron, got {learner!r}.")
    return Perceptron(**{**learner.get_params(deep=False), "variant": "averaged", "validation": None})
