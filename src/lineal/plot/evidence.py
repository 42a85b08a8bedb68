"""How typical rows are to a naive Bayes model, and which of them are novel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.errors import ParameterError
from lineal.learners.bayes.base import BaseNaiveBayes
from lineal.objective.losses import FloatArray
from lineal.plot.choice import whole
from lineal.plot.evidence_picture import draw


def novelty(model: BaseNaiveBayes, X: Any, *, level: float = 0.05, n_bins: int = 40) -> Novelty:
    """The typicality of new rows beside that of ordinary ones, with the threshold between them.

    Parameters
    ----------
    model : a naive Bayes learner
        Fitted, and shown ordinary rows with ``calibrate_novelty``.
    X : new rows
    level : float
        As in ``is_novel``.
    n_bins : int
        Of the histograms; both kinds of rows share them.

    Returns
    -------
    Novelty

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import GaussianNB
    >>> from lineal.plot import novelty
    >>> X = np.arange(1.0, 100.0)[:, None]
    >>> model = GaussianNB().fit(X, ["usual"] * 99).calibrate_novelty(X)
    >>> print(novelty(model, [[50.0], [400.0]]))
    1 of 2 rows (50%) are novel at level 0.05: below -5.62, as are 4 of 99 ordinary ones
    """
    if not isinstance(model, BaseNaiveBayes):
        raise ParameterError(f"novelty asks a naive Bayes learner, got {type(model).__name__}.")
    n_bins = whole("novelty", "n_bins", n_bins)
    threshold = model.novelty_threshold(level)
    return Novelty(model.typical_, np.sort(model.typicality(X)), threshold, float(level), n_bins)


@dataclass(frozen=True, eq=False)
class Novelty:
    """Ordinary and new rows by how typical they are; ``print`` counts the novel ones.

    Attributes
    ----------
    ordinary, new : sorted arrays
        The typicality of the calibration rows and of the new ones; -inf where no class can give the row.
    threshold : float
        Rows below it are novel.
    level : float
    n_bins : int
    """

    ordinary: FloatArray
    new: FloatArray
    threshold: float
    level: float
    n_bins: int

    def edges(self) -> FloatArray:
        """(n_bins + 1,) the edges of the bins, over all finite typicalities."""
        both = np.concatenate([self.ordinary, self.new])
        both = both[np.isfinite(both)]
        low, high = (float(both.min()), float(both.max())) if len(both) else (0.0, 0.0)
        room = 0.5 if low == high else 0.0
        return np.linspace(low - room, high + room, self.n_bins + 1)

    def shares(self) -> tuple[FloatArray, FloatArray]:
        """(n_bins,) the shares of ordinary and of new rows in each bin; rows at -inf are in none."""
        edges = self.edges()
        ordinary, new = (
            np.histogram(rows[np.isfinite(rows)], edges)[0] for rows in (self.ordinary, self.new)
        )
        return ordinary / max(len(self.ordinary), 1), new / max(len(self.new), 1)

    def __repr__(self) -> str:
        return f"<Novelty: {len(self.new)} rows beside {len(self.ordinary)} ordinary ones>"

    def __str__(self) -> str:
        n, m = (int((rows < self.threshold).sum()) for rows in (self.new, self.ordinary))
        return (
            f"{n} of {len(self.new)} rows ({n / max(len(self.new), 1):.0%}) are novel at level "
            f"{self.level:g}: below {self.threshold:.3g}, as are {m} of {len(self.ordinary)} ordinary ones"
        )

    def plot(self, ax: Any = None) -> list[Any]:
        """Two histograms of typicality, and the threshold.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        The axes that were drawn on, as a list.
        """
        return draw(self, ax)
