"""Pictures, and the numbers behind them.

Each function computes a result that stands by itself: it prints as a table, its arrays are public, and
matplotlib is met only when its ``plot`` is called (``pip install lineal[plot]``). ``plot`` draws on the axes
it is given or on a new figure, returns the axes, shows nothing and changes no setting.

The files come in pairs: one computes and never imports matplotlib, its ``_picture`` draws and computes
nothing; ``canvas`` holds what the drawings share. A new picture (margins, losses, learning curves) is
another pair.
"""

from lineal.plot.comparison import Comparison, SolverTrace, compare_solvers
from lineal.plot.curves import CurveComparison, compare_curves, noisy_sine
from lineal.plot.densities import Posteriors, posteriors
from lineal.plot.discriminant import Projections, projections
from lineal.plot.evidence import Novelty, novelty
from lineal.plot.landscape import Contour, contour, ravine
from lineal.plot.lines import LineComparison, compare_lines
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
from lineal.plot.trajectories import Trajectory, trajectory

__all__ = [
    "AveragingCurve",
    "Comparison",
    "Contour",
    "CurveComparison",
    "DecisionRegions",
    "LineComparison",
    "MistakeCurve",
    "Novelty",
    "Posteriors",
    "Projections",
    "RegressionCurves",
    "SolverTrace",
    "StepSizes",
    "Trajectory",
    "Updates",
    "compare_curves",
    "compare_lines",
    "compare_solvers",
    "contour",
    "decision_regions",
    "noisy_sine",
    "novelty",
    "perceptron_averaging",
    "perceptron_mistakes",
    "perceptron_updates",
    "posteriors",
    "projections",
    "ravine",
    "regression_curves",
    "step_sizes",
    "textbook_descent",
    "trajectory",
]
