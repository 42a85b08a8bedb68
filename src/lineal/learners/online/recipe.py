"""What a stream is learned with: loss, penalty and steps, checked to go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lineal.errors import CombinationError, ParameterError
from lineal.objective import L1, L2, ElasticNet, Loss, NoPenalty, Penalty, losses
from lineal.objective.joint import CrammerSinger, Softmax

# A new column counts as having been met in so many rows, of the most that a loss can bend.
PRIOR_ROWS = 4.0
# Of few columns the metric is whole and needs no such caution.
WHOLE_PRIOR_ROWS = 0.01


@dataclass(frozen=True)
class Steps:
    """How weights move.

    Attributes
    ----------
    rate, power : float
        All columns have steps of ``rate / rows**power``; rate 0: each has its own, from what was seen in it.
    is_averaged : bool
        Whether the model is the mean of the weights after every row.
    """

    rate: float = 0.0
    power: float = 0.0
    is_averaged: bool = False


@dataclass(frozen=True)
class Strengths:
    """A penalty as a stream counts it: so much once, and so much more with every row of weight 1."""

    l1: float = 0.0
    l2: float = 0.0
    l1_growth: float = 0.0
    l2_growth: float = 0.0
    is_for_intercept: bool = False

    @property
    def needs_pulls(self) -> bool:
        """Whether weights follow from pulls: where they are cut to 0, or fade without being met."""
        return self.l1 > 0 or self.l1_growth > 0 or self.l2_growth > 0

    @classmethod
    def of(cls, one: Penalty, two: Penalty, *, is_for_intercept: bool) -> Strengths:
        """From the penalty of rows of total weight 1, and of 2: sums of losses have the same, means more."""
        (l1, l2), (l1_at_2, l2_at_2) = _parts(one), _parts(two)
        grown = (l1_at_2 - l1, l2_at_2 - l2)
        return cls(l1 - grown[0], l2 - grown[1], *grown, is_for_intercept)


def _parts(penalty: Penalty) -> tuple[float, float]:
    """The strengths of |w| and of w^2 / 2."""
    if isinstance(penalty, L2):
        return 0.0, float(penalty.strength)
    if isinstance(penalty, L1):
        return float(penalty.strength), 0.0
    if isinstance(penalty, ElasticNet):
        return float(penalty.l1), float(penalty.l2)
    if isinstance(penalty, NoPenalty):
        return 0.0, 0.0
    raise CombinationError(
        f"streams are learned with L1, L2, ElasticNet or NoPenalty, got {penalty!r}: use fit for it."
    )


@dataclass(frozen=True)
class Recipe:
    """Everything about a stream that must not change on the way.

    Attributes
    ----------
    loss : Loss
        Of one score.
    joint : "softmax", "crammer_singer" or ""
        What the loss becomes with more than two classes; "": each class against the rest.
    """

    loss: Loss
    joint: str
    strengths: Strengths
    steps: Steps
    has_intercept: bool

    @property
    def native_loss(self) -> Any:
        """The loss in the core."""
        return self.loss.native

    def __post_init__(self) -> None:
        if isinstance(self.loss, losses.Perceptron):
            raise ParameterError(
                "the perceptron's loss is least where all weights are 0, so a stream teaches it nothing: use "
                "loss=Hinge(), or lineal.Perceptron for the algorithm."
            )
        if self.loss.native is None:
            raise ParameterError(
                f"partial_fit meets rows in native code, which {self.loss!r} is not part of: state the loss "
                "as a CompiledLoss, or use fit."
            )
        if self.strengths.needs_pulls and (self.steps.rate > 0 or self.steps.is_averaged):
            raise CombinationError(
                "weights that a penalty cuts to 0 are neither averaged nor moved by steps of one size: take "
                "steps='adaptive' and average=False, or a penalty without an L1 part."
            )


def joint_name(loss: Loss, *, is_one_vs_rest: bool) -> str:
    """The native name of a loss's joint form; "" for one-vs-rest."""
    form = None if loss.joint is None or is_one_vs_rest else loss.joint()
    return (
        "softmax"
        if isinstance(form, Softmax)
        else "crammer_singer"
        if isinstance(form, CrammerSinger)
        else ""
    )
