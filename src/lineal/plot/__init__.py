"""Pictures, and the numbers behind them.

Each function computes a result that stands by itself: it prints as a table, its arrays are public, and
matplotlib is met only when its ``plot`` is called (``pip install lineal[plot]``). ``plot`` draws on the axes
it is given or on a new figure, returns the axes, shows nothing and changes no setting.

The files come in pairs: one computes and never imports matplotlib, its ``_picture`` draws and computes
nothing; ``canvas`` holds what the drawings share. A new picture is
another pair.
"""

from lineal.plot.comparison import Comparison, SolverTrace, compare_solvers
from lineal.plot.confusions import ConfusionMatrix, confusion
from lineal.plot.curves import CurveComparison, compare_curves, noisy_sine
from lineal.plot.densities import Posteriors, posteriors
from lineal.plot.discriminant import Projections, projections
from lineal.plot.evidence import Novelty, novelty
from lineal.plot.kernel_errors import KernelErrors, kernel_errors
from lineal.plot.landscape import Contour, contour, ravine
from lineal.plot.learning_curves import LearningCurves, learning_curve
from lineal.plot.lines import LineComparison, compare_lines
from lineal.plot.losses import LossShapes, surrogate_losses
from lineal.plot.margins import CurvedMargin, Margin
from lineal.plot.model_scores import ModelScores, model_scores
from lineal.plot.ordinal_axis import OrdinalScores, ordinal_scores
from lineal.plot.perceptrons import (
    AveragingCurve,
    MistakeCurve,
    Updates,
    perceptron_averaging,
    perceptron_mistakes,
    perceptron_updates,
)
from lineal.plot.rates import StepSizes, step_sizes, textbook_descent
from lineal.plot.regions import DecisionRegions, decision_regions
from lineal.plot.regression_curves import RegressionCurves, regression_curves
from lineal.plot.threshold_curves import (
    CalibrationCurves,
    PrecisionRecallCurves,
    RocCurves,
    calibration,
    precision_recall,
    roc,
)
from lineal.plot.trajectories import Trajectory, trajectory
from lineal.plot.weights import ClassWeights, weights_by_class
from lineal.plot.words import WordContributions, word_contributions

__all__ = [
    "AveragingCurve",
    "CalibrationCurves",
    "ClassWeights",
    "Comparison",
    "ConfusionMatrix",
    "Contour",
    "CurveComparison",
    "CurvedMargin",
    "DecisionRegions",
    "KernelErrors",
    "LearningCurves",
    "LineComparison",
    "LossShapes",
    "Margin",
    "MistakeCurve",
    "ModelScores",
    "Novelty",
    "OrdinalScores",
    "Posteriors",
    "PrecisionRecallCurves",
    "Projections",
    "RegressionCurves",
    "RocCurves",
    "SolverTrace",
    "StepSizes",
    "Trajectory",
    "Updates",
    "WordContributions",
    "calibration",
    "compare_curves",
    "compare_lines",
    "compare_solvers",
    "confusion",
    "contour",
    "decision_regions",
    "kernel_errors",
    "learning_curve",
    "model_scores",
    "noisy_sine",
    "novelty",
    "ordinal_scores",
    "perceptron_averaging",
    "perceptron_mistakes",
    "perceptron_updates",
    "posteriors",
    "precision_recall",
    "projections",
    "ravine",
    "regression_curves",
    "roc",
    "step_sizes",
    "surrogate_losses",
    "textbook_descent",
    "trajectory",
    "weights_by_class",
    "word_contributions",
]
