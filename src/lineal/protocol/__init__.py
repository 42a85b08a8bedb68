"""scikit-learn's protocol, which every estimator obeys: base classes, clones, tags.

They are scikit-learn's own, so that an estimator is a ``BaseEstimator`` to whoever asks. But importing them
takes longer than learning from 25,000 reviews. The command line, which hands its estimators to nobody, says
so (``lineal.protocol.choice``) and gets the classes of ``lineal.protocol.light``, which do the same and
import nothing.
"""

from lineal.protocol import choice

if not choice.is_light:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
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
else:
    from lineal.protocol.light import (
        BaseEstimator,
        ClassifierMixin,
        ClassifierTags,
        InputTags,
        NotFittedError,
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

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "ClassifierTags",
    "InputTags",
    "NotFittedError",
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
