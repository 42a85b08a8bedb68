"""How columns of a table become features once their kind has learned from them: without SciPy."""

from lineal.model.encodings.base import Encoding
from lineal.model.encodings.categories import CategoriesEncoding
from lineal.model.encodings.dates import DatesEncoding
from lineal.model.encodings.numeric import Affine, BooleansEncoding, NumbersBlock, NumbersEncoding
from lineal.model.encodings.texts import TextEncoding

__all__ = [
    "Affine",
    "BooleansEncoding",
    "CategoriesEncoding",
    "DatesEncoding",
    "Encoding",
    "NumbersBlock",
    "NumbersEncoding",
    "TextEncoding",
]
