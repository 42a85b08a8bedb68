"""From what there is to what a learner takes: tables, scales, products and scores of columns, joint maps."""

from typing import TYPE_CHECKING

from lineal.deferred import names_from

if TYPE_CHECKING:
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
    from lineal.features.random_maps.binning import RandomBinningFeatures
    from lineal.features.random_maps.fourier import RandomFourierFeatures
    from lineal.features.random_maps.nystroem import Nystroem
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

# Where names live that are loaded when they are first used.
_HOMES = {
    "joint": "block_map",
    "kinds": "Booleans Categories Dates EachValue EqualWidths Numbers Quantiles Text",
    "polynomial": "PolynomialFeatures",
    "random_maps.binning": "RandomBinningFeatures",
    "random_maps.fourier": "RandomFourierFeatures",
    "random_maps.nystroem": "Nystroem",
    "relevance": (
        "chi2 chi2_contingency conditional_information information_gain log_likelihood_ratio "
        "normalized_information pearson signal_to_noise t_statistic welch_statistic"
    ),
    "scaling": "ColumnScaler",
    "table": "TableVectorizer",
}

__all__ = [
    "Booleans",
    "Categories",
    "ColumnScaler",
    "Dates",
    "EachValue",
    "EqualWidths",
    "Numbers",
    "Nystroem",
    "PolynomialFeatures",
    "Quantiles",
    "RandomBinningFeatures",
    "RandomFourierFeatures",
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

__getattr__, __dir__ = names_from(__name__, _HOMES)
