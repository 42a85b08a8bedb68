"""Linear learners with a certificate.

One objective, ``sum of losses + penalty``; every loss and penalty; a proof of optimality with every fit.
Public names are loaded when they are first used, so ``import lineal`` costs next to nothing.
"""

from importlib import import_module
from typing import Any

# Said here too: asking the installed distribution costs more than all else here together.
__version__ = "0.1.0"

_HOMES = {
    "lineal.cancellation": ("CancellationToken",),
    "lineal.compose.bagging": ("Bagging", "BaggingRegressor"),
    "lineal.compose.calibration": ("Calibrated",),
    "lineal.compose.co_training": ("CoTraining",),
    "lineal.compose.one_vs_one": ("OneVsOne",),
    "lineal.compose.one_vs_rest": ("OneVsRest",),
    "lineal.compose.output_code": ("OutputCode",),
    "lineal.compose.self_training": ("SelfTraining",),
    "lineal.compose.stacking": ("Stacking",),
    "lineal.compose.voting": ("Voting",),
    "lineal.data.doctor.diagnosing": ("diagnose",),
    "lineal.evaluation.comparing": ("compare",),
    "lineal.evaluation.evaluating": ("evaluate",),
    "lineal.features.polynomial": ("PolynomialFeatures",),
    "lineal.features.random_maps.binning": ("RandomBinningFeatures",),
    "lineal.features.random_maps.fourier": ("RandomFourierFeatures",),
    "lineal.features.random_maps.nystroem": ("Nystroem",),
    "lineal.features.scaling": ("ColumnScaler",),
    "lineal.features.table": ("TableVectorizer",),
    "lineal.learners.bayes.bernoulli": ("BernoulliNB",),
    "lineal.learners.bayes.categorical": ("CategoricalNB",),
    "lineal.learners.bayes.gaussian": ("GaussianNB",),
    "lineal.learners.bayes.text": ("ComplementNB", "MultinomialNB"),
    "lineal.learners.classifier": ("LinearClassifier",),
    "lineal.learners.curve": ("PolynomialRegression",),
    "lineal.learners.fisher.discriminant": ("FisherDiscriminant",),
    "lineal.learners.freezing": ("save",),
    "lineal.learners.inference.least_squares": ("least_squares_summary",),
    "lineal.learners.joint.classifier": ("JointClassifier",),
    "lineal.learners.joint.passive_aggressive": ("JointPassiveAggressive",),
    "lineal.learners.joint.perceptron": ("JointPerceptron",),
    "lineal.learners.kernel.one_class": ("OneClassSVM",),
    "lineal.learners.kernel.svc": ("SVC",),
    "lineal.learners.kernel.svr": ("NuSVR", "SVR"),
    "lineal.learners.kernel.perceptron.classifier": ("KernelPerceptron",),
    "lineal.learners.kernel.ridge": ("KernelRidge",),
    "lineal.learners.regressor": ("LinearRegressor",),
    "lineal.learners.neighbors.classifier": ("KNeighborsClassifier",),
    "lineal.learners.neighbors.regressor": ("KNeighborsRegressor",),
    "lineal.learners.online.classifier": ("OnlineClassifier",),
    "lineal.learners.online.passive_aggressive": (
        "PassiveAggressiveClassifier",
        "PassiveAggressiveRegressor",
    ),
    "lineal.learners.online.regressor": ("OnlineRegressor",),
    "lineal.learners.path": ("path",),
    "lineal.learners.perceptron.classifier": ("Perceptron",),
    "lineal.learners.perceptron.separability": ("mistake_bound",),
    "lineal.learners.presets.classification": ("LinearSVC", "LogisticRegression", "RidgeClassifier"),
    "lineal.learners.presets.regression": (
        "ElasticNet",
        "HuberRegressor",
        "Lasso",
        "LinearRegression",
        "LinearSVR",
        "QuantileRegressor",
        "Ridge",
    ),
    "lineal.learners.presets.stochastic": ("SGDClassifier", "SGDRegressor"),
    "lineal.learners.scenarios.laplacian": ("LaplacianSVM",),
    "lineal.learners.scenarios.multiple_instance": ("MultipleInstanceSVM",),
    "lineal.learners.scenarios.ranking.learner": ("RankSVM",),
    "lineal.learners.scenarios.transductive": ("TransductiveSVM",),
    "lineal.learners.scenarios.ordinal": ("OrdinalClassifier",),
    "lineal.learners.scenarios.pu": ("PUClassifier",),
    "lineal.learners.table.classifier": ("TableClassifier",),
    "lineal.learners.table.regressor": ("TableRegressor",),
    "lineal.learners.text.classifier": ("TextClassifier",),
    "lineal.learners.text.regressor": ("TextRegressor",),
    "lineal.model.loading": ("load",),
    "lineal.model.model": ("Model",),
    "lineal.selection.search.tuning": ("tune",),
    "lineal.selection.elimination": ("RecursiveElimination",),
    "lineal.selection.filters": ("SelectBest",),
    "lineal.selection.ranking": ("rank_features",),
    "lineal.selection.svm_grid": ("SvmGrid", "svm_grid"),
    "lineal.selection.stepwise": ("BackwardElimination", "FloatingSelection", "ForwardSelection"),
    "lineal.text.vectorizer": ("TextVectorizer",),
    "lineal.learners.verification": ("check_gradient", "empirical_risk", "verify"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
# Packages that are used by their own name after ``import lineal`` alone: lineal.kernels.Gaussian().
_PACKAGES = (
    "compose",
    "data",
    "errors",
    "evaluation",
    "features",
    "jobs",
    "kernels",
    "model",
    "neighbors",
    "objective",
    "plot",
    "report",
    "selection",
    "solvers",
    "text",
)

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _PACKAGES:
        return import_module(f"lineal.{name}")
    raise AttributeError(f"module 'lineal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_PACKAGES, "__version__"]
