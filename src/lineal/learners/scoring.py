"""Labels in, labels and probabilities out: what classifiers share, however they learn their scores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError
from lineal.learners.calibration import fitted_temperature
from lineal.learners.matrix import MatrixModel
from lineal.learners.targets import codes_among, labels_of_rows
from lineal.model.answers import crowned, probabilities, winners
from lineal.objective.losses import FloatArray
from lineal.protocol import ClassifierMixin, available_if


class ScoringClassifier(ClassifierMixin, MatrixModel):
    """Scores, (n, 1) for two classes and (n, K) for more, become labels and calibrated probabilities."""

    classes_: NDArray[Any]
    temperature_: float
    probability: bool = False

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learns from rows and their labels."""
        raise NotImplementedError

    def _has_probabilities(self) -> bool:
        """Whether scores have become, or will become, probabilities."""
        return hasattr(self, "temperature_") if hasattr(self, "classes_") else self.probability

    def _labels(self, y: ArrayLike, n_rows: int) -> NDArray[Any]:
        return labels_of_rows(y, n_rows)

    # ---- prediction ---------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """Scores: (n,) for two classes, where >= 0 means ``classes_[1]``; (n, K) for more."""
        Z = self._scores(X)
        return Z[:, 0] if Z.shape[1] == 1 else Z

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score; at a tie two classes take the second, more take the first."""
        places = winners(self._scores(X))
        return np.asarray(self.classes_[places])

    @available_if(lambda self: self._has_probabilities())
    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) probabilities whose largest entry is always the predicted label's.

        They come from the model where its loss is a likelihood (``Log``). Other losses give scores, not
        probabilities: with ``probability=True`` one number, a temperature, is fitted on held-out folds;
        it cannot change which label is largest.
        """
        return self._probabilities_of(self._scores(X))

    def _probabilities_of(self, Z: FloatArray) -> FloatArray:
        return crowned(self._probabilities(Z), winners(Z))

    @available_if(lambda self: self._has_probabilities())
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _probabilities(self, Z: FloatArray) -> FloatArray:
        """(n, K), in the order of their scores."""
        return probabilities(Z, self.temperature_)

    def _calibrate(self, X: Any, labels: NDArray[Any], s: FloatArray | None = None) -> float:
        """The temperature that makes held-out scores most likely, by out-of-fold scores and a line search."""
        from sklearn.model_selection import StratifiedKFold

        array = self._read(X, reset=False)
        array = array.tocsr() if hasattr(array, "tocsr") else array
        codes = codes_among(self.classes_, labels)
        folds = int(min(5, np.unique(codes, return_counts=True)[1].min()))
        if folds < 2:
            raise InputError("probability=True needs at least 2 rows of every class, to hold some out.")
        Z = np.empty((0, 0))
        for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(codes, codes):
            params = {**self.get_params(deep=False), "probability": False}
            params.update({"warm_start": False} if "warm_start" in params else {})
            weights = () if s is None else (s[train],)
            held_out = type(self)(**params).fit(array[train], labels[train], *weights)._scores(array[test])
            Z = Z if len(Z) else np.empty((len(codes), held_out.shape[1]))
            Z[test] = held_out
        return fitted_temperature(Z, codes, np.ones(len(codes)) if s is None else s)
