"""Fisher's linear discriminant: the learner.

Fisher (1936) looks for the direction along which class means lie far apart and classes are narrow, the w that
maximises w'S_B w / w'S_W w with

    S_W = sum_i s_i (x_i - m_c(i)) (x_i - m_c(i))'       within classes
    S_B = sum_k N_k (m_k - m) (m_k - m)'                 between them;  S_W + S_B is the scatter of all rows.

For two classes it solves S_W w = m_1 - m_0, and one Gaussian is fitted to each class's projections; the
threshold is where they meet. For K classes the directions solve S_B w = mu S_W w, at most K - 1 of them. In
their space classes are round, and a row goes to the nearest class mean, after a handicap for the priors.

Dense data cost a factorisation, n d^2 operations or n^2 d if d > n, and d^2 or n d numbers. Sparse data with
many columns cost a few dozen to a few hundred passes and K vectors of length d.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from lineal.data import checked_rows, thread_count
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.fisher.crossing import Crossing, Gaussians, crossing
from lineal.learners.fisher.directions import Directions, factorised
from lineal.learners.fisher.iterative import conjugated
from lineal.learners.fisher.scatter import Classes, read_scatter
from lineal.learners.reading import read_matrix
from lineal.learners.targets import classes_and_codes, labels_of_rows, require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.answers import crowned, log_probabilities, probabilities, winners
from lineal.objective.linear_maps import NativeRows
from lineal.objective.losses import FloatArray
from lineal.protocol import BaseEstimator, TransformerMixin, check_is_fitted
from lineal.solvers.blas import OneBlasThread

_RULES = ("crossing", "both", "pooled")
# Sparse data are made dense if they are small, or block by block if they are narrow; else they stay sparse.
_SMALL, _NARROW = 2**22, 2000
_FEW = 1000


class FisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """Fisher's linear discriminant: classifies, and projects onto the directions that part classes best.

    Parameters
    ----------
    shrinkage : "auto", "ledoit_wolf", None or a number in [0, 1]
        What S_W is replaced by. "auto" leaves it alone unless it is singular, and then does as "ledoit_wolf",
        whose intensity is estimated and which does not depend on units. A number g takes
        (1 - g) S_W + g (tr S_W / d) I in the units of the data. None takes the pseudo-inverse: directions in
        which no class varies are left out.
    rule : "crossing", "both" or "pooled"
        How two classes are told apart on their line. "crossing": by one threshold, where the Gaussians meet
        between the means. "both": by the Gaussians themselves, so by both roots if there are two.
        "pooled": the Gaussians share a variance, which is linear discriminant analysis. More than two
        classes always share theirs.
    priors : "equal", "data", dict of label to number, or numbers in the order of the sorted labels
        The shares of the classes where predictions are made: the same for all, or those of the data.
    n_components : int, optional
        How many directions ``transform`` gives; all of them if not given. Predictions always use all.
    n_threads : int, optional
        Changes the time, never a bit.

    Attributes
    ----------
    classes_ : the labels with weight, sorted
    priors_, counts_ : (K,) shares, and weights of the classes
    means_ : (K, d) means of the classes
    scalings_ : (d, r) the directions; in their space the (shrunk) S_W / N is the identity
    eigenvalues_ : (r,) mu of S_B w = mu S_W w, falling
    explained_ratio_ : (r,) their shares of their sum
    coef_, intercept_ : (1, d) and (1,), or (K, d) and (K,)
        The scores. With ``rule="both"`` they are the line that touches the score at the threshold.
    shrinkage_ : float, the intensity that was used
    reason_ : str, what was done about S_W and the threshold, and why
    direction_ : (d,) w of S_W w = m_1 - m_0; two classes only, as the next two
    threshold_ : float; ``classes_[1]`` is where direction_ . x is at least this
    roots_ : tuple, all places where the two Gaussians meet

    Notes
    -----
    A weight of 2 is the row twice, a weight of 0 no row. Constant columns have weight 0. Without a given
    number g, multiplying a column by anything changes nothing but its weight; without shrinkage, no
    invertible linear map of the columns changes a prediction.

    Sparse data of more than 2000 columns, or with more columns than rows, are not made dense unless they are
    small (4 million numbers); they need shrinkage, and |S_W|^2 in Ledoit and Wolf's formula is estimated with
    32 random vectors from a fixed seed.

    Examples
    --------
    >>> from lineal import FisherDiscriminant
    >>> X = [[1.0, 2.0], [2.0, 3.0], [3.0, 3.0], [1.0, 0.0], [2.0, 1.0], [4.0, 2.0]]
    >>> model = FisherDiscriminant().fit(X, ["up", "up", "up", "down", "down", "down"])
    >>> model.predict([[2.0, 3.5], [3.0, 0.5]])
    array(['up', 'down'], dtype='<U4')
    >>> bool(model.direction_ @ [2.0, 3.5] >= model.threshold_)
    True
    """

    def __init__(
        self,
        *,
        shrinkage: str | float | None = "auto",
        rule: str = "crossing",
        priors: str | Mapping[Any, float] | Sequence[float] | NDArray[Any] = "equal",
        n_components: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.rule = rule
        self.priors = priors
        self.n_components = n_components
        self.n_threads = n_threads

    # ---- fitting ------------------------------------------------------------------------------

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Finds the directions and, for two classes, the threshold.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : sequence of n_rows labels
            Anything hashable: text, numbers, booleans.
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        require_targets(self, y)
        shrinkage = self._checked_options()
        array = read_matrix(self, X, reset=True)
        labels = labels_of_rows(y, array.shape[0])
        rows = self._rows(array)
        s = weights_of_rows(sample_weight, rows.n_rows)
        if not s.all():
            array = rows.csr()[s > 0] if rows.is_sparse else array[s > 0]
            rows, labels, s = self._rows(array), labels[s > 0], s[s > 0]
        self.classes_, codes = classes_and_codes(labels)
        of = Classes(codes, s, len(self.classes_))
        self._check_classes(of)
        self._learn(rows, of, _found(rows, of, shrinkage))
        return self

    def _learn(self, rows: NativeRows, of: Classes, found: Directions) -> None:
        self.counts_ = of.counts
        self.means_ = of.means(rows)
        self.priors_ = self._shares()
        self.scalings_, self.eigenvalues_ = found.scalings, found.eigenvalues
        self.explained_ratio_ = self.eigenvalues_ / max(float(self.eigenvalues_.sum()), 1e-300)
        self.shrinkage_, self.reason_ = found.shrinkage, found.reason
        self._centre = of.counts @ self.means_ / of.total
        self._n_features_out = self._n_kept()
        for name in ("direction_", "threshold_", "roots_", "_pair"):
            if hasattr(self, name):
                delattr(self, name)
        if of.n_classes == 2:
            self._learn_threshold(rows, of)
        else:
            places = (self.means_ - self._centre) @ self.scalings_
            self.coef_ = places @ self.scalings_.T
            offsets = np.log(self.priors_) - np.sum(places**2, axis=1) / 2
            self.intercept_ = offsets - self.coef_ @ self._centre

    def _learn_threshold(self, rows: NativeRows, of: Classes) -> None:
        odds = float(np.log(self.priors_[1] / self.priors_[0]))
        gap = self.means_[1] - self.means_[0]
        place = self.scalings_.T @ gap / of.total
        self.direction_: FloatArray = self.scalings_ @ place
        t = rows.dot(self.direction_[:, None])[:, 0]
        # What S_W / N, shrunk if it was, gives the direction; the projections know nothing of the shrinkage.
        shared = float(place @ place) if self.rule == "pooled" else None
        self._pair, said = _fitted(t, of, odds, shared)
        if self._pair is None:
            meet = Crossing(float(t.mean()), 0.0, (), "")
            self.intercept_ = np.array([odds])
        else:
            meet = crossing(self._pair, t, of.codes, of.s)
            self.intercept_ = np.array([-meet.slope * meet.threshold])
        self.coef_ = meet.slope * self.direction_[None, :]
        self.threshold_, self.roots_ = meet.threshold, meet.roots
        self.reason_ = "; ".join(part for part in (self.reason_, said, meet.reason) if part)

    # ---- options ------------------------------------------------------------------------------

    def _checked_options(self) -> str | float | None:
        """The shrinkage, a number as a float; the options were looked at before any data."""
        _ = thread_count(self.n_threads)
        if self.rule not in _RULES:
            raise ParameterError(f"rule must be one of {', '.join(map(repr, _RULES))}, got {self.rule!r}.")
        n = self.n_components
        if n is not None and not (_is_number(n) and isinstance(n, numbers.Integral) and n >= 1):
            raise ParameterError(f"n_components must be a whole number >= 1 or None, got {n!r}.")
        if isinstance(self.priors, str) and self.priors not in ("equal", "data"):
            raise ParameterError(
                f"priors must be 'equal', 'data', a dict or one number for each class, got {self.priors!r}."
            )
        if self.shrinkage is None or self.shrinkage in ("auto", "ledoit_wolf"):
            return self.shrinkage
        if _is_number(self.shrinkage) and 0 <= float(self.shrinkage) <= 1:
            return float(self.shrinkage)
        raise ParameterError(
            f"shrinkage must be 'auto', 'ledoit_wolf', None or a number in [0, 1], got {self.shrinkage!r}."
        )

    def _check_classes(self, of: Classes) -> None:
        if of.n_classes < 2:
            raise InputError(
                "FisherDiscriminant needs at least 2 classes in the data, but y has only one class with "
                f"weight: {self.classes_.tolist()[0]!r}. Check the labels or the split."
            )
        if len(of.codes) == of.n_classes and self.shrinkage is None:
            raise InputError(
                f"shrinkage=None needs a class with two rows, but each of {of.n_classes} classes has one."
            )
        most = min(of.n_classes - 1, int(self.n_features_in_))
        if self.n_components is not None and self.n_components > most:
            raise ParameterError(
                f"n_components can be at most {most}, the smaller of the classes less one and the columns, "
                f"got {self.n_components}."
            )

    def _shares(self) -> FloatArray:
        if isinstance(self.priors, str):
            weights = self.counts_ if self.priors == "data" else np.ones(len(self.classes_))
            return np.asarray(weights / weights.sum())
        if isinstance(self.priors, Mapping):
            missing = [label for label in self.classes_.tolist() if label not in self.priors]
            if missing or len(self.priors) != len(self.classes_):
                raise ParameterError(f"priors must name every label once: {self.classes_.tolist()}.")
            given = np.array([self.priors[label] for label in self.classes_.tolist()], dtype=np.float64)
        else:
            given = np.asarray(self.priors, dtype=np.float64)
        if given.shape != self.classes_.shape or not (np.isfinite(given) & (given > 0)).all():
            raise ParameterError(
                f"priors must be {len(self.classes_)} numbers > 0, one for each class, got {self.priors!r}."
            )
        return given / given.sum()

    def _n_kept(self) -> int:
        found = self.scalings_.shape[1]
        return found if self.n_components is None else min(self.n_components, found)

    # ---- prediction ---------------------------------------------------------------------------

    def _rows(self, array: Any) -> NativeRows:
        names = getattr(self, "feature_names_in_", None)
        return checked_rows(array, thread_count(self.n_threads), names)

    def _read(self, X: Any) -> NativeRows:
        check_is_fitted(self)
        return self._rows(read_matrix(self, X, reset=False))

    def _scores(self, X: Any) -> FloatArray:
        rows = self._read(X)
        if len(self.classes_) == 2 and self.rule == "both" and self._pair is not None:
            return self._pair.evidence(rows.dot(self.direction_[:, None]))
        return rows.dot(np.ascontiguousarray(self.coef_.T)) + self.intercept_

    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds (n,) of ``classes_[1]`` for two classes; (n, K) for more, logs of the densities' shares.

        With ``rule="crossing"`` they are the line that touches the Gaussians' log-odds at the threshold.
        """
        Z = self._scores(X)
        return Z[:, 0] if Z.shape[1] == 1 else Z

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score; at a tie two classes take the second, more take the first."""
        places = winners(self._scores(X))
        return np.asarray(self.classes_[places])

    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) probabilities whose largest entry is always the predicted label's."""
        Z = self._scores(X)
        return crowned(probabilities(Z, 1.0), winners(Z))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of ``predict_proba``, also of those too small for it."""
        return log_probabilities(self._scores(X), 1.0)

    def transform(self, X: Any) -> FloatArray:
        """(n, n_components) places in the discriminant space, seen from the mean of the training rows."""
        rows = self._read(X)
        kept = np.ascontiguousarray(self.scalings_[:, : self._n_features_out])
        return rows.dot(kept) - self._centre @ kept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def _found(rows: NativeRows, of: Classes, shrinkage: str | float | None) -> Directions:
    """The directions, by the road that suits the data."""
    n, d = rows.n_rows, rows.n_columns
    if rows.is_sparse and n * d > _SMALL and not (d <= _NARROW and d <= n):
        return conjugated(rows, of, shrinkage)
    X: Any = rows.dense if rows.dense is not None else rows.csr()
    X = X.toarray() if sp.issparse(X) and n * d <= _SMALL else X
    in_own_units = isinstance(shrinkage, float) and shrinkage > 0
    # Factors of so few columns leave threads little to share, and on a busy machine they wait for each other
    # for far longer than the work takes.
    with OneBlasThread() if min(n, d) <= _FEW else nullcontext():
        scatter = read_scatter(X, of, in_own_units=in_own_units)
        return factorised(scatter, of, shrinkage, d)


def _fitted(t: FloatArray, of: Classes, odds: float, shared: float | None) -> tuple[Gaussians | None, str]:
    """Two classes on a line: Gaussians of greatest likelihood, or with a shared variance, and what to say."""
    means = np.bincount(of.codes, weights=of.s * t) / of.counts
    variances = np.bincount(of.codes, weights=of.s * (t - means[of.codes]) ** 2) / of.counts
    gap = float(means[1] - means[0])
    if not gap > 0:
        return None, "the class means coincide, so no direction tells the classes apart"
    pair = Gaussians((float(means[0]), float(means[1])), (float(variances[0]), float(variances[1])), odds)
    if shared is not None:
        return Gaussians(pair.means, (shared, shared), odds), "the variances are pooled"
    # Below this the projections of a class are one number and its rounding.
    least = (1e-8 * gap) ** 2
    if max(variances) <= least:
        flat = Gaussians(pair.means, (least, least), odds)
        return flat, "neither class varies along the direction, so the threshold is midway"
    if min(variances) <= least:
        return pair.pooled(of.counts), "a class that does not vary has no Gaussian: the variances are pooled"
    return pair, ""
