"""From what there is to what a learner takes: tables, scales, products and scores of columns, joint maps."""

from lineal.features.joint import block_map
from lineal.features.kinds import (
    Booleans,
    Categories,
    Dates,
    EachValue,
    EqualWidths,
    Numbers,
    Quantiles,
    Text,
)
from lineal.features.polynomial import PolynomialFeatures
from lineal.features.relevance import (
    chi2,
    chi2_contingency,
    conditional_information,
    information_gain,
    log_likelihood_ratio,
    normalized_information,
    pearson,
    signal_to_noise,
    t_statistic,
    welch_statistic,
)
from lineal.features.scaling import ColumnScaler
from lineal.features.table import TableVectorizer

__all__ = [
    "Booleans",
    "Categories",
    "ColumnScaler",
    "Dates",
    "EachValue",
    "EqualWidths",
    "Numbers",
    "PolynomialFeatures",
    "Quantiles",
    "TableVectorizer",
    "Text",
    "block_map",
    "chi2",
    "chi2_contingency",
    "conditional_information",
    "information_gain",
    "log_likelihood_ratio",
    "normalized_information",
    "pearson",
    "signal_to_noise",
    "t_statistic",
    "welch_statistic",
]
