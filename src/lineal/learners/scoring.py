"""Labels in, labels and probabilities out: what classifiers share, however they learn their scores."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import cancellable
from lineal.errors import InputError, NotCertifiedWarning
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.calibration import fitted_temperature
from lineal.learners.matrix import MatrixModel
from lineal.learners.targets import codes_among, labels_of_rows
from lineal.model.answers import crowned, log_probabilities, probabilities, winners
from lineal.objective.losses import FloatArray
from lineal.protocol import available_if

# What a fold is given where there is no time left: an epoch or so.
_LEAST_SECONDS = 1e-3


def where_probable(method: Callable[..., Any]) -> Any:
    """A method that is there where scores are probabilities, and elsewhere says what makes them so."""
    return _WhereProbable(method)


class _WhereProbable:
    def __init__(self, method: Callable[..., Any]) -> None:
        self.__doc__, self.__name__ = method.__doc__, method.__name__
        self._method = available_if(lambda owner: owner._has_probabilities())(method)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        try:
            return self._method.__get__(owner, kind)
        except AttributeError as error:
            can_calibrate = "probability" in owner.get_params(deep=False)
            how = "set probability=True and fit" if can_calibrate else "wrap it in Calibrated and fit"
            raise AttributeError(
                f"{error}: its scores are no probabilities. To calibrate them, {how}."
            ) from None


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

    @where_probable
    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) probabilities whose largest entry is always the predicted label's.

        They come from the model where its loss is a likelihood (``Log``). Other losses give scores, not
        probabilities: with ``probability=True`` one number, a temperature, is fitted on held-out folds;
        it cannot change which label is largest.
        """
        return self._probabilities_of(self._scores(X))

    def _probabilities_of(self, Z: FloatArray) -> FloatArray:
        return crowned(self._probabilities(Z), winners(Z))

    @where_probable
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of ``predict_proba``, also of those too small for it."""
        return self._log_probabilities(self._scores(X))

    def _probabilities(self, Z: FloatArray) -> FloatArray:
        """(n, K), in the order of their scores."""
        return probabilities(Z, self.temperature_)

    def _log_probabilities(self, Z: FloatArray) -> FloatArray:
        return log_probabilities(Z, self.temperature_)

    def _calibrate(self, X: Any, labels: NDArray[Any], s: FloatArray | None = None, *, began: float) -> None:
        """Finds the temperature that makes held-out scores most likely, by folds and a line search.

        ``max_seconds``, counted from ``began`` on, are for all folds together. Ctrl-C ends with the folds
        that are done; without any there are no probabilities, which a warning tells.
        """
        from sklearn.model_selection import StratifiedKFold

        array = self._read(X, reset=False)
        array = array.tocsr() if hasattr(array, "tocsr") else array
        rows = np.arange(len(labels)) if s is None else np.flatnonzero(s > 0)
        known = set(self.classes_.tolist())  # a class whose factor is 0 is none of them
        rows = rows[[label in known for label in labels[rows].tolist()]]
        codes = codes_among(self.classes_, labels[rows])
        folds = int(min(5, np.unique(codes, return_counts=True)[1].min()))
        if folds < 2:
            raise InputError(
                "probability=True needs at least 2 rows of every class, with weights, to hold some out."
            )
        params = {**self.get_params(deep=False), "probability": False}
        params.update({"warm_start": False} if "warm_start" in params else {})
        if isinstance(named := params.get("class_weight"), dict):
            params["class_weight"] = {label: named[label] for label in named if label in known}
        limit = params.get("max_seconds")
        Z, held_out = [], []
        with cancellable() as token:
            splits = StratifiedKFold(folds, shuffle=True, random_state=0).split(codes, codes)
            for n_before, (train, test) in enumerate(splits):
                if token.is_over:
                    break
                if limit is not None:
                    left = max(limit - (time.perf_counter() - began), _LEAST_SECONDS)
                    params["max_seconds"] = left / (folds - n_before)
                weights = () if s is None else (s[rows[train]],)
                fold = type(self)(**params).fit(array[rows[train]], labels[rows[train]], *weights)
                if token.is_over:  # before it was done
                    break
                Z.append(fold._scores(array[rows[test]]))
                held_out.append(test)
        if not Z:
            message = f"{type(self).__name__} was interrupted before there were probabilities: fit again."
            warnings.warn(message, NotCertifiedWarning, stacklevel=4)
            return
        found = np.concatenate(held_out)
        weight = np.ones(len(found)) if s is None else s[rows[found]]
        self.temperature_ = fitted_temperature(np.concatenate(Z), codes[found], weight)
