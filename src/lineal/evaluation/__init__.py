"""How good a model is, how sure that is, and whether another one is better."""

from typing import TYPE_CHECKING

from lineal.deferred import names_from

if TYPE_CHECKING:
    from lineal.evaluation.auc import delong_test
    from lineal.evaluation.comparing import compare
    from lineal.evaluation.comparison import ModelComparison, Pair
    from lineal.evaluation.evaluating import evaluate, evaluate_predictions
    from lineal.evaluation.evaluation import Confusion, Evaluation
    from lineal.evaluation.intervals import bootstrap_interval, wilson_interval
    from lineal.evaluation.letor import evaluate_letor
    from lineal.evaluation.lots import bootstrap_test, permutation_test
    from lineal.evaluation.metrics import METRICS
    from lineal.evaluation.pairs import (
        corrected_resampled_t_test,
        mcnemar,
        paired_t_test,
        sign_test,
        t_test,
        wilcoxon,
    )
    from lineal.evaluation.ranking import evaluate_ranking
    from lineal.evaluation.records import Interval, Score, Significance
    from lineal.evaluation.several import Friedman, Nemenyi, friedman, holm, nemenyi

# Where names live that are loaded when they are first used.
_HOMES = {
    "auc": "delong_test",
    "comparing": "compare",
    "comparison": "ModelComparison Pair",
    "evaluating": "evaluate evaluate_predictions",
    "evaluation": "Confusion Evaluation",
    "intervals": "bootstrap_interval wilson_interval",
    "letor": "evaluate_letor",
    "lots": "bootstrap_test permutation_test",
    "metrics": "METRICS",
    "pairs": "corrected_resampled_t_test mcnemar paired_t_test sign_test t_test wilcoxon",
    "ranking": "evaluate_ranking",
    "records": "Interval Score Significance",
    "several": "Friedman Nemenyi friedman holm nemenyi",
}

__all__ = [
    "METRICS",
    "Confusion",
    "Evaluation",
    "Friedman",
    "Interval",
    "ModelComparison",
    "Nemenyi",
    "Pair",
    "Score",
    "Significance",
    "bootstrap_interval",
    "bootstrap_test",
    "compare",
    "corrected_resampled_t_test",
    "delong_test",
    "evaluate",
    "evaluate_letor",
    "evaluate_predictions",
    "evaluate_ranking",
    "friedman",
    "holm",
    "mcnemar",
    "nemenyi",
    "paired_t_test",
    "permutation_test",
    "sign_test",
    "t_test",
    "wilcoxon",
    "wilson_interval",
]

__getattr__, __dir__ = names_from(__name__, _HOMES)
