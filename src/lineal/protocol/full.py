"""scikit-learn's own classes and functions."""

from __future__ import annotations

from functools import cache
from typing import Any

import sklearn.base
from sklearn.base import (
    ClassifierMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.utils import (
    ClassifierTags,
    InputTags,
    RegressorTags,
    Tags,
    TargetTags,
    TransformerTags,
    get_tags,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter


class BaseEstimator(sklearn.base.BaseEstimator):
    """scikit-learn's, but for the signature of a constructor, which is looked at once a class.

    Each clone asks for it twice: of models of a few hundred rows that was a third of the time of a fit.
    """

    @classmethod
    def _get_param_names(cls) -> list[str]:
        kind: Any = cls
        return list(_names_of(kind, kind.__init__))


@cache
def _names_of(kind: Any, constructor: Any) -> tuple[str, ...]:
    """What a constructor takes; a class may be given another one."""
    return tuple(super(BaseEstimator, kind)._get_param_names())


__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "ClassifierTags",
    "InputTags",
    "NotFittedError",
    "OutlierMixin",
    "RegressorMixin",
    "RegressorTags",
    "Tags",
    "TargetTags",
    "TransformerMixin",
    "TransformerTags",
    "available_if",
    "check_is_fitted",
    "clone",
    "get_tags",
    "has_fit_parameter",
    "is_classifier",
    "is_regressor",
]
