"""What is minimised: losses, penalties, the problem they form with data, and the proof of a minimum."""

from typing import TYPE_CHECKING

from lineal.deferred import names_from

if TYPE_CHECKING:
    from lineal.objective.block_penalty import Blocks
    from lineal.objective.certificate import Certificate, Stop
    from lineal.objective.compiled import CompiledLoss
    from lineal.objective.custom import CustomLoss
    from lineal.objective.group_penalty import GroupL2
    from lineal.objective.joint import CrammerSinger, JointPerceptron, Softmax
    from lineal.objective.linear_maps import LinearMap, OperatorMap
    from lineal.objective.loss_sums import LossSum, RowLosses
    from lineal.objective.losses import (
        Absolute,
        EpsilonInsensitive,
        Hinge,
        Huber,
        Log,
        Loss,
        ModifiedHuber,
        Perceptron,
        Quantile,
        Squared,
        SquaredEpsilonInsensitive,
        SquaredHinge,
        ZeroOne,
    )
    from lineal.objective.penalties import L1, L2, ElasticNet, Lp, NoPenalty, Penalty
    from lineal.objective.problem import Intercept, Problem

# Where names live that are loaded when they are first used.
_HOMES = {
    "block_penalty": "Blocks",
    "certificate": "Certificate Stop",
    "compiled": "CompiledLoss",
    "custom": "CustomLoss",
    "group_penalty": "GroupL2",
    "joint": "CrammerSinger JointPerceptron Softmax",
    "losses": (
        "Absolute EpsilonInsensitive Hinge Huber Log Loss ModifiedHuber Perceptron Quantile Squared "
        "SquaredEpsilonInsensitive SquaredHinge ZeroOne"
    ),
    "linear_maps": "LinearMap OperatorMap",
    "loss_sums": "LossSum RowLosses",
    "penalties": "L1 L2 ElasticNet Lp NoPenalty Penalty",
    "problem": "Intercept Problem",
}

__all__ = [
    "L1",
    "L2",
    "Absolute",
    "Blocks",
    "Certificate",
    "CompiledLoss",
    "CrammerSinger",
    "CustomLoss",
    "ElasticNet",
    "EpsilonInsensitive",
    "GroupL2",
    "Hinge",
    "Huber",
    "Intercept",
    "JointPerceptron",
    "LinearMap",
    "Log",
    "Loss",
    "LossSum",
    "Lp",
    "ModifiedHuber",
    "NoPenalty",
    "OperatorMap",
    "Penalty",
    "Perceptron",
    "Problem",
    "Quantile",
    "RowLosses",
    "Softmax",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "Stop",
    "ZeroOne",
]

__getattr__, __dir__ = names_from(__name__, _HOMES)
