"""A model as features and a learner behind them, so that many learners share what is costly."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from lineal.cancellation import nothing_done
from lineal.learners.classifier import BaseLinearClassifier
from lineal.learners.kernel.svc import SVC
from lineal.learners.kernel.svr import SVR
from lineal.learners.model import LinearModel
from lineal.learners.path import path
from lineal.learners.regressor import BaseLinearRegressor
from lineal.learners.text.base import BaseTextModel
from lineal.learners.text.search import side_by_side
from lineal.learners.weighting import weight_argument
from lineal.objective import ElasticNet, Lp, NoPenalty, Penalty
from lineal.objective.losses import FloatArray
from lineal.protocol import BaseEstimator, clone


class Chain(BaseEstimator):
    """The steps of a pipeline before its learner, one after the other."""

    def __init__(self, steps: Sequence[tuple[str, Any]], last: str = "learner") -> None:
        self.steps = steps
        self.last = last

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The features of some rows, from which the steps learn."""
        for _, step in self._active():
            X = step.fit_transform(X, y) if hasattr(step, "fit_transform") else step.fit(X, y).transform(X)
        return X

    def transform(self, X: Any) -> Any:
        """The features of other rows."""
        for _, step in self._active():
            X = step.transform(X)
        return X

    def before(self, model: Any) -> Pipeline:
        """The pipeline that ends in a model."""
        return Pipeline([*self.steps, (self.last, model)])

    def _active(self) -> list[tuple[str, Any]]:
        return [(name, step) for name, step in self.steps if step not in (None, "passthrough")]


class Readers(BaseEstimator):
    """Vectorisers of texts, side by side."""

    def __init__(self, vectorizers: Sequence[Any]) -> None:
        self.vectorizers = vectorizers

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The matrix of some texts, from which the vectorisers learn."""
        return side_by_side([each.fit_transform(X, y) for each in self.vectorizers])

    def transform(self, X: Any) -> Any:
        """The matrix of other texts."""
        return side_by_side([each.transform(X) for each in self.vectorizers])

    def before(self, model: Any) -> Pipeline:
        """The pipeline that ends in a model."""
        return Pipeline([("readers", self), ("learner", model)])


@dataclass(frozen=True)
class Stages:
    """Features, None if the learner takes X as it is, and the learner."""

    features: Any
    learner: Any
    is_text_model: bool = False

    @classmethod
    def of(cls, model: Any, *, is_probable: bool = False) -> Stages:
        """The stages of a model that was made for this.

        Where probabilities are asked for, a text learner stays whole: it holds rows out for them.
        """
        if not _fits_as(model, "lineal", "sklearn"):
            return cls(None, model)
        if isinstance(model, Pipeline) and len(model.steps) > 1 and hasattr(model.steps[-1][1], "fit"):
            return cls(Chain(model.steps[:-1], model.steps[-1][0]), model.steps[-1][1])
        if isinstance(model, BaseTextModel) and model.vectorizer is not None and not is_probable:
            strengths = model._given_strengths()
            if len(strengths) == 1:
                readers = [clone(each) for each in model._given_recipes(None)[0].vectorizers]
                return cls(Readers(readers), model._learner(strengths[0], is_trial=False), True)
        return cls(None, model)

    def family(self) -> str | None:
        """What learners of one path have in common; None if they are to be fitted one by one."""
        learner, penalty = self.learner, self.penalty(1.0)
        if penalty is None:
            return None
        (option,) = learner._strength_option(1.0, 1.0)
        if getattr(learner, "_averages_losses", False) and isinstance(
            getattr(learner, "class_weight", None), dict
        ):
            return None  # the strength depends on the classes of a fold
        params = {
            name: mark(value) for name, value in learner.get_params(deep=False).items() if name != option
        }
        kind = _kind(penalty) if option == "penalty" else ""
        return joblib.hash((type(learner).__name__, params, kind, self.is_text_model))

    def penalty(self, total_weight: float) -> Penalty | None:
        """The learner's penalty, if paths can vary it."""
        learner = self.learner
        if not isinstance(learner, (BaseLinearClassifier, BaseLinearRegressor)):
            return None
        if not _fits_as(learner, "lineal"):
            return None
        if getattr(learner, "probability", False):
            return None
        _, penalty = learner._objective(total_weight, 2)
        return None if isinstance(penalty, NoPenalty) else penalty

    def check(self) -> None:
        """Refuses impossible options of the learner before there are data."""
        if isinstance(self.learner, LinearModel):
            self.learner._check_options()


def _fits_as(model: Any, *libraries: str) -> bool:
    """Whether a model is fitted by one of these libraries and not by a method of somebody's subclass."""
    fit = getattr(type(model), "fit", None)
    return getattr(fit, "__module__", "").partition(".")[0] in libraries


def own_rows(learner: Any, X: Any) -> Any:
    """X for a learner that may write into it, which ours do not: a copy, as others are to get it too."""
    return X if _fits_as(learner, "lineal") or not hasattr(X, "copy") else X.copy()


def _kind(penalty: Penalty) -> str:
    if isinstance(penalty, ElasticNet):
        return f"elastic net {penalty.l1 / penalty.strength:.12g}"
    return f"{type(penalty).__name__} {penalty.p if isinstance(penalty, Lp) else ''}"


def mark(value: Any) -> str:
    """The same for equal values; functions, and what cannot be hashed, are equal to themselves alone."""
    if isinstance(value, (FunctionType, BuiltinFunctionType)):
        return f"function {id(value)}"  # copies of a model share it, so its place is not used again
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = {name: mark(each) for name, each in value.get_params(deep=False).items()}
        return f"{type(value).__module__}.{type(value).__qualname__}{params}"
    if isinstance(value, (list, tuple)):
        return str([mark(each) for each in value])
    try:
        return str(joblib.hash(value))
    except Exception:  # whatever pickling raises
        return f"unlike others {next(_UNLIKE)}"


_UNLIKE = itertools.count()


@dataclass(frozen=True)
class Part:
    """Rows of a fold as a learner takes them."""

    X: Any
    y: NDArray[Any]
    s: FloatArray | None


def fitted(stages: Sequence[Stages], part: Part) -> list[Any]:
    """The learners of one family, fitted to the same rows: by one path if there are several.

    A learner that fails is answered by its error.
    """
    if len(stages) > 1:
        try:
            return _along_a_path(stages, part)
        except Exception:
            pass  # one by one they say which of them it is
    return [_alone(each, part) for each in stages]


def _along_a_path(stages: Sequence[Stages], part: Part) -> list[Any]:
    total = float(len(part.y)) if part.s is None else float(part.s.sum())
    strengths = [each.penalty(total).strength for each in stages]  # type: ignore[union-attr]
    points = path(stages[0].learner, part.X, part.y, strengths=strengths, sample_weight=part.s)
    if not points.is_complete:
        raise nothing_done()
    place = {strength: k for k, strength in enumerate(points.strengths.tolist())}
    return [
        _finished(each, points.model(place[strength]))
        for each, strength in zip(stages, strengths, strict=True)
    ]


def _alone(stages: Stages, part: Part) -> Any:
    model = clone(stages.learner)
    try:
        return _finished(stages, fit_whole(model, part.X, part.y, part.s))
    except Exception as error:  # a setting of anybody's model may fail in any way
        return error


def _finished(stages: Stages, model: Any) -> Any:
    if (
        stages.is_text_model
        and isinstance(model, BaseLinearClassifier)
        and not hasattr(model, "temperature_")
    ):
        model.temperature_ = 1.0  # nobody asks for probabilities, but a whole one has them
    return model


def fit_whole(model: Any, X: Any, y: Any, s: FloatArray | None) -> Any:
    """The whole model, fitted, with weights for its learner."""
    argument = weight_argument(model)
    return model.fit(X, y, **({} if s is None or argument is None else {argument: s}))


def scaled_up(stages: Stages, s: FloatArray | None, rows: NDArray[np.intp], some: NDArray[np.intp]) -> Any:
    """Weights for some of the rows that add up to those of all, so that a strength keeps its meaning.

    For learners of ours whose losses are summed; the weights as they are for others.
    """
    if not isinstance(stages.learner, (LinearModel, SVC, SVR)) or len(rows) == len(some):
        return None if s is None else s[some]
    whole = np.ones(len(rows)) if s is None else s[rows]
    part = np.ones(len(some)) if s is None else s[some]
    return part * (whole.sum() / max(float(part.sum()), 1e-300))
