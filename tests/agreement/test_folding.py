"""Accents are folded as scikit-learn's ``strip_accents="unicode"`` does, on every character and real text."""

import os
import random
import sys
import unicodedata
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer, strip_accents_unicode

from lineal import _core
from lineal.errors import ParameterError
from lineal.text import TextVectorizer
from reference.words import words

DATA = Path(os.environ.get("LINEAL_DATA", "~/.cache/lineal-data")).expanduser()

same_unicode = pytest.mark.skipif(
    unicodedata.unidata_version != _core.UNICODE_VERSION,
    reason=f"this Python knows Unicode {unicodedata.unidata_version}, the core {_core.UNICODE_VERSION}",
)


def native(text, lowercase):
    return _core.normalized(text.encode("utf-8", "surrogatepass"), lowercase, True)


def wanted(text, lowercase):
    return strip_accents_unicode(text.lower() if lowercase else text)


@same_unicode
@pytest.mark.parametrize("lowercase", [True, False])
def test_every_character(lowercase):
    """Each code point, Hangul syllables, combining marks and lone surrogates among them."""
    for first in range(0, sys.maxunicode + 1, 1 << 14):
        text = "\n".join(f"a{chr(code)}b" for code in range(first, first + (1 << 14)))
        assert native(text, lowercase) == wanted(text, lowercase)


# The longest decomposition, what decomposes to capitals and spaces, marks in any order, syllables, sigmas.
HARD = (
    "aZ_0 .'\n\ufdfa\ufdfbéÉe\u0301\u0323\u0307\u0345ΣςσİIıÅ\u212bȺẞ™℀½²ﬁﬃǅǆ한글각\u1100\u1161\u11a8"
    "ぱば\u3099\uff76\uff9e\u00a0\u2002\u3000\u00b4\u0344\u1e9b\U0001d504\U0002f800\U0001d160\ud800\udfff"
)


@same_unicode
@pytest.mark.parametrize("lowercase", [True, False])
def test_hard_characters_in_any_order(lowercase):
    """Text and words, over all lengths around eight bytes."""
    rng = random.Random(0)
    for _ in range(3000):
        text = "".join(rng.choices(HARD, k=rng.randrange(40)))
        assert native(text, lowercase) == wanted(text, lowercase), repr(text)
        found = _core.words(text.encode("utf-8", "surrogatepass"), lowercase, 2, True)
        assert found == words(wanted(text, lowercase), lowercase=False), repr(text)


@same_unicode
def test_text_that_grows_eleven_times():
    """There is room for whatever comes out, and for what comes behind it."""
    for n in range(1, 200):
        text = "\ufdfa" * n + "x" * (n % 9)
        assert native(text, True) == wanted(text, True)


def languages(n):
    """Texts of the set in 89 languages, from all over it."""
    file = DATA / "l10n_langid" / "train.tsv"
    if not file.exists():
        pytest.skip("l10n_langid is not there: unpack the real data, or set LINEAL_DATA")
    with file.open(encoding="utf-8") as stream:
        return [line.rstrip("\n").split("\t")[1] for line in islice(stream, 0, None, 940_000 // n)]


@same_unicode
def test_texts_of_89_languages():
    """Real text, joined so that sigmas and marks have neighbours."""
    texts = languages(20_000)
    for text in texts:
        assert native(text, True) == wanted(text, True), repr(text)
    assert native("\n".join(texts), True) == wanted("\n".join(texts), True)


@same_unicode
@pytest.mark.parametrize(("analyzer", "ngrams"), [("word", (1, 2)), ("char", (1, 3)), ("char_wb", (2, 4))])
def test_the_vectoriser_is_scikit_learns(analyzer, ngrams):
    """Columns, weights and rows, for words and both kinds of character n-grams."""
    texts = languages(3000)
    peer = TfidfVectorizer(
        strip_accents="unicode", analyzer=analyzer, ngram_range=ngrams, sublinear_tf=True, min_df=2
    )
    own = TextVectorizer(fold_accents=True, compat="sklearn", analyzer=analyzer, ngrams=ngrams, min_df=2)
    X, wanted = own.fit_transform(texts), peer.fit_transform(texts)
    assert own.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    np.testing.assert_array_equal(own.idf_, peer.idf_)
    assert abs(X - wanted).max() < 1e-13  # the norm's sum in another order
    assert (own.transform(texts) != X).nnz == 0


def test_hashing_folds_too():
    """The names of hashed columns are folded words, and so are lexicons' texts."""
    own = TextVectorizer(fold_accents=True, n_features=1 << 12, ngrams=(1, 1), lexicons={"drinks": ["cafe"]})
    X = own.fit_transform(["Café CAFÉ", "thé"])
    assert {"cafe", "the"} <= set(own.get_feature_names_out())
    assert X[0, -1] == 2.0


def test_a_function_folds_by_itself():
    """An option that would do nothing is refused."""
    with pytest.raises(ParameterError, match="fold them in the analyzer"):
        TextVectorizer(fold_accents=True, analyzer=str.split).fit(["a"])
