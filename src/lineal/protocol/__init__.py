"""scikit-learn's protocol, which every estimator obeys: base classes, clones, tags.

They are scikit-learn's own, so that an estimator is a ``BaseEstimator`` to whoever asks. But importing them
takes longer than learning from 25,000 reviews. The command line, which hands its estimators to nobody, says
so (:func:`take_light_classes`) and gets the classes of ``lineal.protocol.light``, which do the same and
import nothing.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineal.protocol.full import (
        BaseEstimator,
        ClassifierMixin,
        ClassifierTags,
        InputTags,
        NotFittedError,
        OutlierMixin,
        RegressorMixin,
        RegressorTags,
        Tags,
        TargetTags,
        TransformerMixin,
        TransformerTags,
        available_if,
        check_is_fitted,
        clone,
        get_tags,
        has_fit_parameter,
        is_classifier,
        is_regressor,
    )

_home = "lineal.protocol.full"

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
    "take_light_classes",
]


def take_light_classes() -> None:
    """For a process that shows its estimators to nobody: they will be built on light classes.

    Changes nothing where scikit-learn is there already, and costs nothing any more.
    """
    global _home
    if "sklearn" not in sys.modules:
        _home = "lineal.protocol.light"


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_home), name)
    raise AttributeError(f"module 'lineal.protocol' has no attribute {name!r}")
