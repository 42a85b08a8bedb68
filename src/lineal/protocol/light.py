"""Light classes in place of scikit-learn's: what its protocol asks of an estimator, and no more.

scikit-learn's own ``clone`` and ``Pipeline`` take an estimator that is built on them as any other. What is
for notebooks and for other people's programs is missing: pictures of estimators, data frames as output,
requests of metadata, and being an instance of ``sklearn.base.BaseEstimator``.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, Self

import numpy as np


class _Tags:
    """Facts about an estimator, each with its usual value; classes, since data classes take long to make."""

    def __init__(self, **facts: Any) -> None:
        self.__dict__.update(facts)


class InputTags(_Tags):
    """What ``X`` may be."""

    one_d_array = three_d_array = sparse = categorical = string = dict = False
    positive_only = allow_nan = pairwise = False
    two_d_array = True


class TargetTags(_Tags):
    """What ``y`` may be, and whether it must be."""

    required = one_d_labels = two_d_labels = positive_only = multi_output = False
    single_output = True


class ClassifierTags(_Tags):
    """What a classifier can do."""

    poor_score = multi_label = False
    multi_class = True


class RegressorTags(_Tags):
    """What a regressor can do."""

    poor_score = False


class TransformerTags(_Tags):
    """What a transformer does."""

    preserves_dtype: Any = ("float64",)


class Tags(_Tags):
    """What an estimator is and takes."""

    estimator_type: str | None = None
    transformer_tags: TransformerTags | None = None
    classifier_tags: ClassifierTags | None = None
    regressor_tags: RegressorTags | None = None
    array_api_support = no_validation = non_deterministic = _skip_test = False
    requires_fit = True

    def __init__(self, **facts: Any) -> None:
        super().__init__(**{"target_tags": TargetTags(), "input_tags": InputTags(), **facts})


class NotFittedError(ValueError, AttributeError):
    """An estimator is asked for what it has not learned yet."""


class BaseEstimator:
    """Parameters are the arguments of ``__init__``, kept untouched under their names."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        kind: Any = cls
        return sorted(_defaults_of(kind))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, and with ``deep`` those of estimators among them: ``learner__C``."""
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and _has_params(value):
                found.update((f"{name}__{inner}", one) for inner, one in value.get_params().items())
            found[name] = value
        return found

    def set_params(self, **params: Any) -> Self:
        """Sets parameters, also those of estimators among them."""
        known = self.get_params() if params else {}
        nested: dict[str, dict[str, Any]] = {}
        for full_name, value in params.items():
            name, is_nested, inner = full_name.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {self._get_param_names()!r}."
                )
            if is_nested:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
                known[name] = value
        for name, values in nested.items():
            known[name].set_params(**values)
        return self

    def __sklearn_clone__(self) -> Self:
        params = {name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()}
        return type(self)(**params)

    def __sklearn_tags__(self) -> Tags:
        return Tags()

    def __repr__(self) -> str:
        kind: Any = type(self)
        defaults = _defaults_of(kind)
        changed = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name])
        }
        said = ", ".join(f"{name}={value!r}" for name, value in changed.items())
        return f"{type(self).__name__}({said})"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


class ClassifierMixin:
    """Labels are learned; the score is the share that is right."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        return tags

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of labels that is predicted."""
        predicted = self.predict(X)  # type: ignore[attr-defined]
        is_right = [bool(label == said) for label, said in zip(y, predicted, strict=True)]
        return float(np.average(is_right, weights=sample_weight))


class RegressorMixin:
    """Numbers are learned; the score is R²."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags()
        tags.target_tags.required = True
        return tags

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R²: the share of the numbers' variance that is explained."""
        from sklearn.metrics import r2_score

        return float(r2_score(y, self.predict(X), sample_weight=sample_weight))  # type: ignore[attr-defined]


class OutlierMixin:
    """What is unusual is told from what is not."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.estimator_type = "outlier_detector"
        return tags

    def fit_predict(self, X: Any, y: Any = None, **named: Any) -> Any:
        """Fits, and tells of each row whether it is usual, +1, or not, -1."""
        return self.fit(X, **named).predict(X)  # type: ignore[attr-defined]


class TransformerMixin:
    """Data are turned into others."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags = TransformerTags()
        return tags

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
        """Learns from the data and turns them."""
        return self.fit(X, y, **options).transform(X)  # type: ignore[attr-defined]


class _AvailableIf:
    """A method that is there as long as a check of its owner says so, or raises nothing."""

    def __init__(self, method: Any, check: Callable[[Any], Any]) -> None:
        self._method, self._check = method, check
        self.__doc__, self.__name__ = method.__doc__, method.__name__

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self._method
        said = f"This {type(owner).__name__!r} has no attribute {self._method.__name__!r}"
        try:
            is_there = self._check(owner)
        except Exception as error:
            raise AttributeError(said) from error
        if not is_there:
            raise AttributeError(said)
        return self._method.__get__(owner, kind)


def available_if(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A method that is there where ``check(self)`` is true."""
    return lambda method: _AvailableIf(method, check)


def clone(estimator: Any, *, safe: bool = True) -> Any:
    """An estimator with the same parameters that has learned nothing; other things are copied or refused."""
    if hasattr(estimator, "__sklearn_clone__") and not isinstance(estimator, type):
        return estimator.__sklearn_clone__()
    kind = type(estimator)
    if kind is dict:
        return {name: clone(value, safe=safe) for name, value in estimator.items()}
    if kind in (list, tuple, set, frozenset):
        return kind([clone(one, safe=safe) for one in estimator])
    if _has_params(estimator):
        return BaseEstimator.__sklearn_clone__(estimator)
    if safe:
        raise TypeError(f"Cannot clone {estimator!r}: it is no estimator.")
    return copy.deepcopy(estimator)


def check_is_fitted(estimator: Any, attributes: Any = None) -> None:
    """Raises NotFittedError unless there is what ``fit`` leaves behind."""
    if attributes is not None:
        names = [attributes] if isinstance(attributes, str) else attributes
        is_fitted = all(hasattr(estimator, name) for name in names)
    elif hasattr(estimator, "__sklearn_is_fitted__"):
        is_fitted = estimator.__sklearn_is_fitted__()
    else:
        is_fitted = any(name.endswith("_") and not name.startswith("__") for name in vars(estimator))
    if not is_fitted and get_tags(estimator).requires_fit:
        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with appropriate "
            "arguments before using this estimator."
        )


def get_tags(estimator: Any) -> Any:
    """What kind of estimator it is, and what it takes."""
    return estimator.__sklearn_tags__()


def is_classifier(estimator: Any) -> bool:
    """Whether it predicts labels."""
    return bool(get_tags(estimator).estimator_type == "classifier")


def is_regressor(estimator: Any) -> bool:
    """Whether it predicts numbers."""
    return bool(get_tags(estimator).estimator_type == "regressor")


def has_fit_parameter(estimator: Any, parameter: str) -> bool:
    """Whether ``fit`` takes it."""
    return parameter in inspect.signature(estimator.fit).parameters


def _has_params(thing: Any) -> bool:
    return hasattr(thing, "get_params") and not isinstance(thing, type)


@cache
def _defaults_of(kind: Any) -> dict[str, Any]:
    """The parameters of a class and their defaults."""
    if kind.__init__ is object.__init__:
        return {}
    signature = inspect.signature(kind.__init__)
    return {
        name: one.default
        for name, one in signature.parameters.items()
        if name != "self" and one.kind is not one.VAR_KEYWORD
    }
