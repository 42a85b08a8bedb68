"""From frozen models back to estimators that go on learning."""

from __future__ import annotations

from typing import Any

from lineal.errors import ModelFileError, ParameterError
from lineal.learners.states.estimators import read_estimator
from lineal.model.model import Model
from lineal.model.record import Spec


def thaw(model: Model) -> Any:
    """The estimator that a model was made from: the same answers, and ready to go on.

    A stream goes on bit for bit as if it had never been stored; a fit goes on by ``partial_fit`` as it would
    have; ``verify(thaw(model), X, y)`` proves what it proved. Nothing of the training data is in it but a
    dual point, where it is small; document frequencies and the trials of a search are not kept.

    Parameters
    ----------
    model
        What ``lineal.load`` or ``freeze`` returned.

    Returns
    -------
    estimator

    Raises
    ------
    ParameterError
        For a model that was made elsewhere and has no learner.
    ModelFileError
        For a file whose record of the learner is damaged.

    Examples
    --------
    >>> from lineal import OnlineRegressor
    >>> from lineal.learners.freezing import freeze
    >>> half = OnlineRegressor().partial_fit([[1.0], [2.0]], [1.0, 2.0])
    >>> whole = thaw(freeze(half)).partial_fit([[3.0]], [3.0])
    >>> bool(whole.coef_ == half.partial_fit([[3.0]], [3.0]).coef_)
    True
    """
    spec = Spec(model._record, "", model._tensors)
    if not spec.has("state"):
        raise ParameterError(
            "this model was made elsewhere and holds no learner, so it cannot go on learning: it predicts "
            "and "
            "explains."
        )
    try:
        return read_estimator(spec.child("state"), model._features, model._head, model.certificate_)
    except ModelFileError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as flaw:
        raise ModelFileError(f"the model's record of its learner is damaged: {flaw}") from flaw
