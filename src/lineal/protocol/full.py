"""scikit-learn's own classes and functions."""

from sklearn.base import (
    BaseEstimator,
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
