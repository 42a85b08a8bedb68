"""Passive-aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006).

With margin 1 (or, for numbers, a tube of epsilon), the weights stay as they are while a row's loss l is 0,
and otherwise move as little as they must,

    PA      w += tau y x,  tau = l / |x|^2              the row's loss becomes 0
    PA-I                   tau = min(C, l / |x|^2)      the least |change|^2 / 2 + C l
    PA-II                  tau = l / (|x|^2 + 1 / 2C)   the least |change|^2 / 2 + C l^2

which are implicit steps of one size for all columns, for the hinge, the squared hinge and their tubes. With
more than two classes PA and PA-I have the least change in balance with the loss against all other classes at
once (Crammer and Singer's; where one other class is in the way it is the published step, tau = l / 2|x|^2),
PA-II sets each class against the rest.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from lineal.errors import ParameterError
from lineal.learners.online.classifier import BaseOnlineClassifier
from lineal.learners.online.recipe import Steps
from lineal.learners.online.regressor import BaseOnlineRegressor
from lineal.objective import Loss, NoPenalty, Penalty
from lineal.objective.losses import EpsilonInsensitive, Hinge, SquaredEpsilonInsensitive, SquaredHinge

VARIANTS = ("PA", "PA-I", "PA-II")
# PA has no limit on tau. A power of two, so that it changes no bit of what is divided by it again.
_NO_LIMIT = 2.0**80


def require_variant(variant: Any, C: Any) -> None:
    """Refuses impossible options."""
    if variant not in VARIANTS:
        raise ParameterError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}.")
    if not isinstance(C, numbers.Real) or isinstance(C, bool) or not 0 < float(C) < np.inf:
        raise ParameterError(f"C must be a number > 0, got {C!r}.")


def _steps(variant: str, C: Any, is_averaged: bool) -> Steps:
    require_variant(variant, C)
    return Steps(_NO_LIMIT if variant == "PA" else float(C), 0.0, is_averaged)


class PassiveAggressiveClassifier(BaseOnlineClassifier):
    """Passive-aggressive classification: the least change that gives a row its margin.

    Parameters
    ----------
    variant : "PA", "PA-I" or "PA-II"
        Whether a row may demand any change, one of at most C |x|, or one that C weighs against its squared
        loss.
    C : float
        How aggressive the steps of PA-I and PA-II are.
    average : bool
        Whether the model is the mean of the weights after every row, rather than the last.
    epochs, shuffle, fit_intercept, class_weight, random_state : as in ``OnlineClassifier``

    Attributes
    ----------
    classes_, coef_, intercept_, online_accuracy_, online_loss_, n_seen_ : as in ``OnlineClassifier``

    Examples
    --------
    >>> from lineal import PassiveAggressiveClassifier
    >>> model = PassiveAggressiveClassifier("PA", fit_intercept=False)
    >>> model.partial_fit([[2.0, 0.0], [0.0, 4.0]], ["no", "yes"]).coef_
    array([[-0.5 ,  0.25]])
    """

    def __init__(
        self,
        variant: str = "PA-I",
        *,
        C: float = 1.0,
        average: bool = False,
        epochs: int = 1,
        shuffle: bool = True,
        fit_intercept: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.variant = variant
        self.C = C
        self.average = average
        self.epochs = epochs
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.random_state = random_state

    def _objective(self) -> tuple[Loss, Penalty]:
        return SquaredHinge() if self.variant == "PA-II" else Hinge(), NoPenalty()

    def _steps(self) -> Steps:
        return _steps(self.variant, self.C, bool(self.average))


class PassiveAggressiveRegressor(BaseOnlineRegressor):
    """Passive-aggressive regression: the least change that brings a row into the tube.

    Parameters
    ----------
    variant, C, average, epochs, shuffle, fit_intercept, random_state : as in ``PassiveAggressiveClassifier``
    epsilon : float
        Half the width of the tube.

    Examples
    --------
    >>> from lineal import PassiveAggressiveRegressor
    >>> model = PassiveAggressiveRegressor("PA", epsilon=0.5, fit_intercept=False)
    >>> model.partial_fit([[2.0]], [4.5]).coef_
    array([2.])
    """

    def __init__(
        self,
        variant: str = "PA-I",
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        average: bool = False,
        epochs: int = 1,
        shuffle: bool = True,
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> None:
        self.variant = variant
        self.C = C
        self.epsilon = epsilon
        self.average = average
        self.epochs = epochs
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def _objective(self) -> tuple[Loss, Penalty]:
        tube = SquaredEpsilonInsensitive if self.variant == "PA-II" else EpsilonInsensitive
        return tube(self.epsilon), NoPenalty()

    def _steps(self) -> Steps:
        return _steps(self.variant, self.C, bool(self.average))
