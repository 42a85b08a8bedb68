"""The columns that speak most for and against each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from lineal.errors import InputError, ParameterError
from lineal.learners.bayes.base import BaseNaiveBayes
from lineal.learners.text.base import BaseTextModel
from lineal.model.explanation import TopFeature, shown
from lineal.objective.losses import FloatArray
from lineal.plot.choice import whole
from lineal.plot.weights_picture import draw


def weights_by_class(model: Any, names: Sequence[str] | None = None, *, k: int = 10) -> ClassWeights:
    """The columns with the largest weights of each class, or of the one score that a model has.

    Parameters
    ----------
    model : a fitted linear model, or a pipeline that ends in one
        Anything with ``coef_``.
    names : (d,) names of the columns, optional
        Not given: the words of a text learner, what the pipeline or the table called them, or x0, x1, ...
    k : int
        Columns of each class by size, whatever the sign. Where one score tells two classes apart, or is a
        number, k columns on either side of 0.

    Returns
    -------
    ClassWeights

    Notes
    -----
    Of naive Bayes, whose weights are logarithms of probabilities, the difference to the mean over the classes
    is shown: what is common to all classes decides nothing.

    Examples
    --------
    >>> from lineal import LogisticRegression
    >>> from lineal.plot import weights_by_class
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]
    >>> model = LogisticRegression().fit(X, ["pos", "pos", "neg", "neg"])
    >>> print(weights_by_class(model, ["good", "film", "bad"], k=1))
    pos against neg
     +0.675  good
     -0.675  bad
    """
    k = whole("weights_by_class", "k", k)
    names, model = _named(model, names)
    coef = getattr(model, "coef_", None)
    if coef is None:
        raise ParameterError(
            f"weights_by_class needs a fitted linear model, with coef_, which {type(model).__name__} has not."
        )
    W = coef.tocsr() if sp.issparse(coef) else np.atleast_2d(np.asarray(coef, dtype=np.float64))
    columns = _columns(model, names, W.shape[1])
    classes = np.asarray(getattr(model, "classes_", ())).tolist()
    if isinstance(model, BaseNaiveBayes):
        W = W - W.mean(axis=0) if len(W) != 2 else W[1:] - W[:1]
    if W.shape[0] == 1:
        versus = classes[0] if len(classes) == 2 else None
        label = classes[1] if len(classes) == 2 else "score"
        return ClassWeights({label: _both_sides(_row(W, 0), columns, k)}, versus)
    labels = classes if len(classes) == W.shape[0] else list(range(W.shape[0]))
    return ClassWeights({label: _largest(_row(W, i), columns, k) for i, label in enumerate(labels)}, None)


def _named(model: Any, names: Any) -> tuple[Any, Any]:
    """The linear model at the end of a pipeline, and what the steps before call its columns."""
    while isinstance(model, Pipeline):
        if names is None and hasattr(model[:-1], "get_feature_names_out"):
            names = model[:-1].get_feature_names_out()
        model = model[-1]
    return names, model


def _columns(model: Any, names: Any, n_columns: int) -> NDArray[np.object_]:
    if names is None and isinstance(model, BaseTextModel):
        names = model.get_feature_names_out()
    if names is None:
        names = getattr(model, "feature_names_", getattr(model, "feature_names_in_", None))
    if names is None:
        names = [f"x{j}" for j in range(n_columns)]
    if len(names) != n_columns:
        raise InputError(f"names must have one for each of {n_columns} columns, got {len(names)}.")
    return np.asarray(names, dtype=object)


def _row(W: Any, i: int) -> FloatArray:
    row = W[[i]].toarray()[0] if sp.issparse(W) else W[i]
    if not np.isfinite(row).all():
        raise InputError(
            "weights_by_class needs finite weights; a naive Bayes model has them with alpha > 0."
        )
    return np.asarray(row, dtype=np.float64)


def _largest(w: FloatArray, names: NDArray[np.object_], k: int) -> list[TopFeature]:
    """The k largest in size that are not 0, from the greatest to the least."""
    size = np.abs(w)
    best = np.argpartition(-size, min(k, len(size) - 1))[:k]
    best = best[np.lexsort((best, -w[best]))]
    return [TopFeature(shown(str(names[j])), float(w[j])) for j in best if w[j] != 0]


def _both_sides(w: FloatArray, names: NDArray[np.object_], k: int) -> list[TopFeature]:
    above = _largest(np.maximum(w, 0.0), names, k)
    return above + _largest(np.minimum(w, 0.0), names, k)


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """The strongest columns; ``print`` lists them.

    Attributes
    ----------
    weights : dict of label to list of (name, weight)
        From the greatest weight to the least. One entry where there is one score: of the second of two
        classes, or ``"score"``.
    versus : label or None
        The class that weights below 0 speak for, where there are two.
    """

    weights: dict[Any, list[TopFeature]]
    versus: Any = None

    def title(self, label: Any) -> str:
        """What a list of weights is about."""
        return str(label) if self.versus is None else f"{label} against {self.versus}"

    def __str__(self) -> str:
        lines = []
        for label, columns in self.weights.items():
            lines.append(self.title(label))
            lines += [f" {weight:+.3g}  {name}" for name, weight in columns]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> list[Any]:
        """A panel of bars for each class: to the right what speaks for it, to the left what speaks against.

        Parameters
        ----------
        ax : a sequence of matplotlib Axes, or one, optional
            One for each class; not given, a new figure with all of them.

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)
