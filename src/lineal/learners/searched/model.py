"""What learners that search share: options, the fit, the plan, streams after it, the linear model inside."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError, ParameterError
from lineal.learners.online.model import ONLINE
from lineal.learners.searched.folds import Fold, codes_of_groups
from lineal.learners.searched.search import Found, Recipe, Search, Trial, taken_by
from lineal.model.explanation import TopFeature, top_features
from lineal.protocol import BaseEstimator, check_is_fitted

# What a stream tells and a fit does not, and the other way round.
_OF_STREAMS = ("n_seen_", *ONLINE)
_OF_FITS = ("certificate_", "plan_", "trials_", "strength_")


class SearchedModel(BaseEstimator):
    """Vectorisers, a linear model behind them, and the search that chose both."""

    learner: Any
    strengths: float | Sequence[float] | None
    n_folds: int
    search_bytes: float
    scoring: Callable[[Any, Any], float] | None
    random_state: Any
    n_threads: int | None
    progress: bool

    model_: Any
    vectorizers_: list[Any]

    _strengths: ClassVar[tuple[float, ...]]
    _unit: ClassVar[str]  # what rows are called: texts, rows
    _is_one_peaked: ClassVar[bool] = False  # whether strengths without hope are left out
    _when_read: Callable[[Any], None] | None = None  # told when it is settled how data are read
    _made: tuple[Any, ...]
    _names: Any

    # ---- to be said by each kind --------------------------------------------------------------

    def _data(self, X: Any) -> Any:
        """What comes from outside, checked, to be read by recipes."""
        raise NotImplementedError

    def _given_recipes(self, data: Any) -> list[Any]:
        raise NotImplementedError

    def _n_bytes(self, data: Any) -> float:
        """How much there is to read."""
        raise NotImplementedError

    def _learner(self, strength: float, is_trial: bool) -> Any:
        raise NotImplementedError

    def _made_by(self) -> tuple[Any, ...]:
        """The options that vectorisers and model are made by."""
        raise NotImplementedError

    def _score_name(self) -> str:
        raise NotImplementedError

    def _n_scores(self) -> int:
        return 1

    def _folds(self, y: NDArray[Any], groups: NDArray[Any] | None) -> list[Fold]:
        raise NotImplementedError

    def _score(self, y: NDArray[Any], predicted: NDArray[Any]) -> float:
        raise NotImplementedError

    # ---- fitting ------------------------------------------------------------------------------

    def _fit(
        self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> Found | None:
        self._check_options()
        data = self._data(X)
        if len(data) != len(y):
            raise InputError(f"There are {len(data)} {self._unit}, but {len(y)} labels.")
        if len(data) == 0:
            raise InputError(f"There are no {self._unit} to learn from.")
        recipes = self._given_recipes(data)
        strengths = self._given_strengths()
        codes = codes_of_groups(groups, len(y))
        found: Found | None = None
        if len(recipes) * len(strengths) > 1:
            learner = partial(self._learner, is_trial=True)
            search = Search(
                strengths,
                self._folds,
                learner,
                self._score,
                self._report,
                is_one_peaked=self._is_one_peaked,
            )
            found = search.run(data, y, self._searched_rows(data), recipes, codes)
        self.trials_ = found.trials if found is not None else []
        recipe = found.recipe if found is not None else recipes[0]
        self.strength_ = found.trial.strength if found is not None else strengths[0]
        has_failed = found is None and len(recipes) * len(strengths) > 1
        self.plan_ = self._sentence(recipe, found, len(data), self._scarce(y, codes) if has_failed else None)
        read = found.read if found is not None else None
        if read is None:
            read = recipe.read(data, y)
        self._keep_read(read)
        if self._when_read is not None:
            self._when_read(self)
        self.model_ = self._learner(self.strength_, is_trial=False)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        shows_gap = self.progress and "progress" in self.model_.get_params(deep=False)
        if shows_gap:
            self.model_.set_params(progress=True)
        self.model_.fit(taken_by(self.model_, read.matrix()), y, **weights)
        if shows_gap:
            self.model_.set_params(progress=False)  # later fits by other hands need not show theirs
        self._made = self._made_by()
        self._forget_derived()
        for name in ("certificate_", *_OF_STREAMS):
            self.__dict__.pop(name, None)
        if hasattr(self.model_, "certificate_"):  # learners of streams have none
            self.certificate_ = self.model_.certificate_
        return found if found is not None else self._held_out(read, y, codes)

    def _held_out(self, read: Any, y: NDArray[Any], groups: NDArray[Any] | None) -> Found | None:
        """Where nothing was searched: scores of rows held out, for whoever needs them."""
        return None

    def _keep_read(self, read: Any) -> None:
        """Keeps what reads later data as these were read."""
        self.vectorizers_ = read.vectorizers

    def _forget_derived(self) -> None:
        """Drops what is made when it is first needed."""
        self._names = None

    def _searched_rows(self, data: Any) -> NDArray[np.int64]:
        """All rows, or of many a random part of about ``search_bytes``, in order.

        With many scores to learn the part is smaller, down to twenty rows for each.
        """
        n, n_scores = len(data), self._n_scores()
        share = self.search_bytes * min(1.0, self._affordable(n_scores)) / max(self._n_bytes(data), 1)
        if share >= 1.0:
            return np.arange(n, dtype=np.int64)
        rng = np.random.default_rng(self.random_state)
        wanted = min(n, max(int(share * n), 20 * n_scores, 100))
        return np.sort(rng.permutation(n)[:wanted]).astype(np.int64)

    def _affordable(self, n_scores: int) -> float:
        """Which part of ``search_bytes`` is searched for so many scores, at most all of it."""
        return 8.0 / n_scores  # a fit costs as much for each of them

    def _scarce(self, y: NDArray[Any], groups: NDArray[Any] | None) -> str:
        """What there is too little of, where nothing can be held out."""
        return "groups" if groups is not None and self._folds(y, None) else self._unit

    def _sentence(self, recipe: Recipe, found: Found | None, n: int, scarce: str | None) -> str:
        chosen = f"{recipe.name}, strength {self.strength_:g}"
        if self.learner is not None:
            chosen = f"{recipe.name}, the given learner"
        if found is None:
            too_few = f"there are too few {scarce} to hold any out"
            return f"{chosen}: {too_few if scarce else 'nothing was left to choose'}."
        searched = len(found.y)
        part = "all" if searched == n else f"{searched} of {n}"
        kind = self._score_name()
        return (
            f"{chosen}: {kind} {_told(found.trial.score)} on held-out parts of {part} {self._unit}; "
            f"{len(found.trials)} trials."
        )

    def _given_strengths(self) -> list[float]:
        if self.learner is not None:
            return [float("nan")]
        given: Any = self._strengths if self.strengths is None else self.strengths
        strengths: list[Any] = [given] if isinstance(given, numbers.Real) else list(given)
        if not strengths or not all(isinstance(s, numbers.Real) and 0 < float(s) < np.inf for s in strengths):
            raise ParameterError(f"strengths must be positive numbers, got {self.strengths!r}.")
        return [float(s) for s in strengths]

    def _check_options(self) -> None:
        if (
            isinstance(self.n_folds, bool)
            or not isinstance(self.n_folds, numbers.Integral)
            or self.n_folds < 2
        ):
            raise ParameterError(f"n_folds must be a whole number from 2 on, got {self.n_folds!r}.")
        if self.random_state is not None and not isinstance(self.random_state, numbers.Integral):
            raise ParameterError(f"random_state must be a whole number or None, got {self.random_state!r}.")
        if not isinstance(self.search_bytes, numbers.Real) or not self.search_bytes > 0:
            raise ParameterError(f"search_bytes must be a positive number, got {self.search_bytes!r}.")
        if self.scoring is not None and not callable(self.scoring):
            raise ParameterError(
                "scoring must be a function of labels and predictions, such as sklearn.metrics.f1_score, "
                f"or None; got {self.scoring!r}."
            )
        if self.learner is not None and (isinstance(self.learner, type) or not hasattr(self.learner, "fit")):
            raise ParameterError(
                f"learner must be an estimator, such as LinearSVC(), or None; got {self.learner!r}."
            )

    def _own_score(self, y: NDArray[Any], predicted: NDArray[Any]) -> float:
        assert self.scoring is not None
        score = float(self.scoring(y, predicted))
        if not np.isfinite(score):
            raise ParameterError(f"scoring must tell finite numbers, got {score!r}.")
        return score

    def _report(self, trial: Trial) -> None:
        if self.progress:
            line = (
                f"{trial.recipe}, strength {trial.strength:g}: {trial.score:.4f} +- {trial.error:.4f} "
                f"on {trial.n_rows} {self._unit} ({trial.seconds:.1f} s)"
            )
            print(line, file=sys.stderr)

    # ---- streams ------------------------------------------------------------------------------

    def _refuse_changed_options(self) -> None:
        if any(now is not then for now, then in zip(self._made_by(), self._made, strict=True)):
            names = " or ".join(self._made_names)
            raise ParameterError(
                f"{names} was changed in the middle of a stream. Set it back, or begin anew with a clone."
            )

    _made_names: ClassVar[tuple[str, ...]]

    def _keep(self, vectorizers: Sequence[Any], model: Any) -> None:
        """What a stream makes of this model, after its last row so far."""
        self.vectorizers_, self.model_, self._made = list(vectorizers), model, self._made_by()
        self._forget_derived()
        for name in _OF_FITS:
            self.__dict__.pop(name, None)
        for name in (*_OF_STREAMS, "classes_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    # ---- the model inside ---------------------------------------------------------------------

    def _matrix(self, X: Any) -> Any:
        """Rows from outside as the model inside takes them."""
        raise NotImplementedError

    def get_feature_names_out(self) -> NDArray[np.object_]:
        """The names of the columns, in the order of ``coef_``."""
        raise NotImplementedError

    def _names_of(self, columns: Sequence[int]) -> list[str]:
        """The names of some columns."""
        names = self.get_feature_names_out()
        return [str(names[column]) for column in columns]

    def _top(self, weights: NDArray[np.float64], k: int, sign: float = 1.0) -> list[TopFeature]:
        """The features of largest weight; their names are made, and where there are many, no others."""
        found = top_features(range(len(weights)), weights, k, sign)
        names = self._names_of([int(feature.name) for feature in found])
        return [TopFeature(name, feature.weight) for name, feature in zip(names, found, strict=True)]

    def transform(self, X: Any) -> Any:
        """The matrix of the data as the model inside takes it, for ``verify(model_, ...)`` and the like."""
        return self._matrix(X)

    def inner_rows(self, X: Any) -> Any:
        """The same, without SciPy where the model inside needs none."""
        return self._matrix(X)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of the linear model, one row for each score."""
        check_is_fitted(self, "model_")
        return self.model_.coef_

    @property
    def intercept_(self) -> Any:
        """The intercepts of the linear model."""
        check_is_fitted(self, "model_")
        return self.model_.intercept_


def _told(score: float) -> str:
    """Four decimals of a share, five digits of a large number."""
    return f"{score:.4f}" if abs(score) < 1000.0 else f"{score:.5g}"
