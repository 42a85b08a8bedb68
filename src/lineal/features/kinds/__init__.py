"""Kinds of columns: what each makes of its values."""

from lineal.features.kinds.base import Kind
from lineal.features.kinds.bins import Bins, EachValue, EqualWidths, Quantiles
from lineal.features.kinds.categories import Categories
from lineal.features.kinds.dates import Dates
from lineal.features.kinds.inference import inferred
from lineal.features.kinds.numeric import Booleans, Numbers
from lineal.features.kinds.texts import Text
from lineal.model.encodings.base import Encoding

__all__ = [
    "Bins",
    "Booleans",
    "Categories",
    "Dates",
    "EachValue",
    "Encoding",
    "EqualWidths",
    "Kind",
    "Numbers",
    "Quantiles",
    "Text",
    "inferred",
]
