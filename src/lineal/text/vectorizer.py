"""The text vectoriser: texts in, a sparse matrix out."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from lineal import _core
from lineal.data import thread_count
from lineal.data.documents import documents as documents_of
from lineal.errors import InputError, ParameterError
from lineal.text.analysis import Analysis, negators_of, stop_words_of
from lineal.text.columns import Arrays, GramColumns, HashedColumns, NGramColumns
from lineal.text.extras import FunctionFeatures, LexiconFeatures
from lineal.text.pruning import chosen_columns, document_limits
from lineal.text.weights import bm25_idf, log_count_ratios, smooth_idf

_UNITS = {"word": "words", "char": "characters", "char_wb": "spaced"}
_WEIGHTINGS = ("tfidf", "counts", "occurrence", "bm25", "nb")


class TextVectorizer(TransformerMixin, BaseEstimator):
    """Texts to sparse features: n-grams of words or characters, counted, weighed and normalised natively.

    Parameters
    ----------
    ngrams
        Shortest and longest n-grams, in words or characters.
    analyzer
        ``"word"``: words. ``"char_wb"``: characters inside words. ``"char"``: characters of the whole text. Or
        a function from a text to its tokens.
    lowercase
        Whether texts are lower-cased first, by Unicode's rules.
    fold_accents
        Whether accents are dropped after that, so that "café" is "cafe": Unicode's compatibility decomposition
        (NFKD) without its combining marks, scikit-learn's ``strip_accents="unicode"``. Stop words, lexicons and
        vocabularies are compared with what comes out: spell them without accents.
    min_characters
        Words of fewer characters are dropped.
    stop_words
        Words to drop: a collection, or ``"english"``.
    stem
        A language of the Snowball stemmers (``"english"``, ``"german"``, ...): words become their stems.
    negation
        ``True`` joins a negation and the word behind it: "not good" becomes ``not_good``. Or the negating words.
    min_df, max_df
        Terms in fewer or more documents are dropped; a whole number counts documents, a fraction is a share.
    max_features
        At most so many terms, those that occur most often.
    vocabulary
        These terms and no others, in this order.
    n_features
        Hashing: terms become so many columns by a hash of their text, and nothing need be learned.
    signed
        Whether a hashed term counts +1 or -1, by its hash, so that terms in one column cancel on average.
    weighting
        ``"tfidf"``, ``"counts"``, ``"occurrence"`` (0 or 1), ``"bm25"``, or ``"nb"``: occurrences times the
        naive-Bayes log-count ratio of Wang and Manning (2012), which needs labels in ``fit``.
    sublinear
        Whether counts become 1 + log(count), under ``"tfidf"`` and ``"counts"``.
    norm
        ``"l2"``, ``"l1"`` or ``None``: what of each row becomes 1.
    bm25
        BM25's k and b.
    emphasis
        Factors for chosen words: columns of n-grams that hold such a word are multiplied by its factor.
    lexicons
        Named collections of words; how many tokens of a text are in each is a feature by that name.
    functions
        Named functions of the text; what they return (a number, a truth value, a category) is a feature.
    missing
        ``"refuse"`` or ``"empty"``: what is done with ``None`` and NaN in place of a text.
    dtype
        Of the numbers: float32 unless said otherwise.
    compat
        ``"sklearn"``: the hash, the types and the names of scikit-learn's vectorisers.
    n_threads
        Threads; the result is the same, bit for bit, for every number of them.

    Attributes
    ----------
    idf_ : weight of each column, before ``emphasis``
    document_frequency_ : in how many documents of the fit each column's term was
    vocabulary_ : column of each term (not with hashing)
    n_collisions_ : with hashing, in how many columns two or more terms of the fit met

    Notes
    -----
    Words are what Python's ``\\w`` matches, maximal runs of it, in a frozen version of Unicode
    (``lineal._core.UNICODE_VERSION``), so a model reads text the same way under every Python. Rows are sorted.
    Memory beside the result: 4 bytes a token and 8 for each n-gram of each length.

    Examples
    --------
    >>> from lineal.text import TextVectorizer
    >>> vectorizer = TextVectorizer(ngrams=(1, 2), weighting="counts", sublinear=False, norm=None)
    >>> X = vectorizer.fit_transform(["not good", "good, very good"])
    >>> print(*vectorizer.get_feature_names_out(), sep=", ")
    good, good very, not, not good, very, very good
    >>> X.toarray()
    array([[1., 0., 1., 1., 0., 0.],
           [2., 1., 0., 0., 1., 1.]], dtype=float32)
    """

    def __init__(
        self,
        *,
        ngrams: tuple[int, int] = (1, 2),
        analyzer: str | Callable[[str], list[str]] = "word",
        lowercase: bool = True,
        fold_accents: bool = False,
        min_characters: int = 2,
        stop_words: str | Collection[str] | None = None,
        stem: str | None = None,
        negation: bool | Collection[str] = False,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        vocabulary: Iterable[str] | None = None,
        n_features: int | None = None,
        signed: bool = False,
        weighting: str = "tfidf",
        sublinear: bool = True,
        norm: str | None = "l2",
        bm25: tuple[float, float] = (1.2, 0.75),
        emphasis: Mapping[str, float] | None = None,
        lexicons: Mapping[str, Collection[str]] | None = None,
        functions: Mapping[str, Callable[[str], Any]] | None = None,
        missing: str = "refuse",
        dtype: Any = None,
        compat: str | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.ngrams = ngrams
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.fold_accents = fold_accents
        self.min_characters = min_characters
        self.stop_words = stop_words
        self.stem = stem
        self.negation = negation
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.n_features = n_features
        self.signed = signed
        self.weighting = weighting
        self.sublinear = sublinear
        self.norm = norm
        self.bm25 = bm25
        self.emphasis = emphasis
        self.lexicons = lexicons
        self.functions = functions
        self.missing = missing
        self.dtype = dtype
        self.compat = compat
        self.n_threads = n_threads

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learns terms and their weights from texts (and labels, for ``weighting="nb"``)."""
        self._learn(X, y, wants_rows=False)
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> sp.csr_matrix:
        """Learns from texts and returns their matrix; the same as ``fit`` and ``transform``, in one pass."""
        return self._learn(X, y, wants_rows=True)

    def transform(self, X: Any) -> sp.csr_matrix:
        """The matrix of texts, with the terms and weights that were learned. Hashing needs no ``fit``."""
        if self.n_features is not None and not hasattr(self, "_columns") and not self._must_learn():
            return clone(self).fit([]).transform(X)
        check_is_fitted(self, "_columns")
        documents = self._documents(X)
        arrays = self._columns.rows(
            documents, self._analysis, self._weighing(), self._is_double(), self._threads()
        )
        return self._finished(arrays, documents)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns: terms, then lexicons and functions."""
        check_is_fitted(self, "_columns")
        names = self._columns.names()
        for extra in self._extras:
            names += extra.names()
        return np.array(names, dtype=object)

    def inverse_transform(self, X: Any) -> list[NDArray[np.object_]]:
        """The names of the columns that are not 0, row by row."""
        names = self.get_feature_names_out()
        rows = sp.csr_matrix(X)
        rows.eliminate_zeros()
        return [
            names[rows.indices[first:last]] for first, last in zip(rows.indptr, rows.indptr[1:], strict=False)
        ]

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Column of each term."""
        check_is_fitted(self, "_columns")
        if isinstance(self._columns, HashedColumns):
            raise AttributeError("Hashed terms have no vocabulary; get_feature_names_out() has their names.")
        return {name: column for column, name in enumerate(self._columns.names())}

    @property
    def n_collisions_(self) -> int:
        """In how many columns two or more terms of the fit met."""
        check_is_fitted(self, "_columns")
        return self._columns.n_collisions if isinstance(self._columns, HashedColumns) else 0

    @property
    def idf_(self) -> NDArray[np.float64]:
        """Weight of each column, before ``emphasis``."""
        check_is_fitted(self, "_columns")
        if self._idf is None:
            raise AttributeError(f'weighting="{self.weighting}" has no weights of columns.')
        return self._idf

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.n_features is None or self._must_learn()
        tags.target_tags.required = self.weighting == "nb"
        return tags

    def _learn(self, X: Any, y: ArrayLike | None, wants_rows: bool) -> Any:
        self._analysis = self._checked()
        codes, n_classes = self._codes(y)
        documents = self._documents(X)
        n = len(documents)
        if codes is not None and len(codes) != n:
            raise InputError(f"There are {n} texts, but {len(codes)} labels.")
        self._extras = self._made_extras(documents)
        threads, is_double = self._threads(), self._is_double()
        self._mean_length = 1.0

        if self.n_features is not None or self.vocabulary is not None:
            self._columns = self._hashed() if self.n_features is not None else self._given_columns()
            if isinstance(self._columns, HashedColumns):
                self._columns.learn_names([documents], self._analysis, threads)

            def rows(weighing: _core.Weighing, is_double: bool) -> Arrays:
                return self._columns.rows(documents, self._analysis, weighing, is_double, threads)

            self.document_frequency_ = None
        else:
            terms, (low, high) = self._count(documents, threads)
            df, totals = terms.n_documents(), terms.totals()
            columns = chosen_columns(df, totals, low, high, self.max_features)
            is_kept = columns >= 0
            self.document_frequency_ = df[is_kept]
            self._columns = self._learned_columns(terms, columns)

            def rows(weighing: _core.Weighing, is_double: bool) -> Arrays:
                return terms.matrix(columns, weighing, is_double)

            if self.weighting == "bm25":
                self._mean_length = max(float(totals[is_kept].sum()) / max(n, 1), 1e-300)
        self._idf = self._learned_weights(rows, n, codes, n_classes)
        self._weight = self._emphasised(self._idf)
        return self._finished(rows(self._weighing(), is_double), documents) if wants_rows else None

    def _count(self, documents: _core.Documents, threads: int) -> tuple[Any, tuple[float, float]]:
        low, high = document_limits(self.min_df, self.max_df, len(documents))
        tokens = self._analysis.tokens(documents, threads)
        min_n, max_n = self.ngrams
        if self._analysis.unit == "spaced":
            return _core.GramTerms(tokens, min_n, max_n), (low, high)
        return _core.Terms(tokens, min_n, max_n, max(int(np.ceil(low)), 1), threads), (low, high)

    def _learned_columns(self, terms: Any, columns: NDArray[np.int32]) -> NGramColumns | GramColumns:
        if isinstance(terms, _core.GramTerms):
            return GramColumns(*terms.vocabulary(columns), *self.ngrams)
        return NGramColumns(*terms.vocabulary(columns), int(columns.max()) + 1, self._separator())

    def _given_columns(self) -> NGramColumns | GramColumns:
        if isinstance(self.vocabulary, str) or not isinstance(self.vocabulary, Iterable):
            raise ParameterError(f"vocabulary must be a collection of terms, got {self.vocabulary!r}.")
        names = list(self.vocabulary)
        if isinstance(self.vocabulary, Mapping):
            names = sorted(names, key=self.vocabulary.__getitem__)
            if [self.vocabulary[name] for name in names] != list(range(len(names))):
                raise ParameterError("vocabulary must number its terms 0, 1, 2, ..., each once.")
        if not names:
            raise ParameterError("vocabulary is empty.")
        if self._analysis.unit == "spaced":
            return GramColumns.from_names(names, *self.ngrams)
        return NGramColumns.from_names(names, self._separator())

    def _hashed(self) -> HashedColumns:
        assert self.n_features is not None
        return HashedColumns(
            self.n_features,
            *self.ngrams,
            self._analysis.unit,
            is_signed=self.signed,
            is_murmur=self.compat == "sklearn",
        )

    def _learned_weights(
        self,
        rows: Callable[[_core.Weighing, bool], Arrays],
        n: int,
        codes: NDArray[Any] | None,
        n_classes: int,
    ) -> NDArray[np.float64] | None:
        if not self._must_learn():
            return None
        if self.weighting == "nb":
            assert codes is not None
            X = self._matrix(rows(_core.Weighing("occurrence", "none"), False), n)
            return log_count_ratios(X, codes, n_classes)
        if self.document_frequency_ is None:
            indptr, indices, data = rows(_core.Weighing("count", "none"), True)
            self.document_frequency_ = np.bincount(indices, minlength=self._columns.n_columns)
            self._mean_length = max(float(np.abs(data).sum()) / max(n, 1), 1e-300)
        idf = bm25_idf if self.weighting == "bm25" else smooth_idf
        return idf(self.document_frequency_, n)

    def _weighing(self) -> _core.Weighing:
        tf = {"occurrence": "occurrence", "nb": "occurrence", "bm25": "bm25"}.get(
            self.weighting, "logarithm" if self.sublinear else "count"
        )
        return _core.Weighing(tf, self.norm or "none", self._weight, *self.bm25, self._mean_length)

    def _emphasised(self, idf: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        if not self.emphasis:
            return idf
        weight = np.ones(self._columns.n_columns) if idf is None else idf.copy()
        separator = self._separator()
        for column, name in enumerate(self._columns.names()):
            for word in name.split(separator) if separator else [name]:
                weight[column] *= self.emphasis.get(word, 1.0)
        return weight

    def _made_extras(self, documents: _core.Documents) -> list[LexiconFeatures | FunctionFeatures]:
        made: list[LexiconFeatures | FunctionFeatures] = []
        if self.lexicons:
            made.append(LexiconFeatures(self.lexicons))
        if self.functions:
            made.append(FunctionFeatures(self.functions))
            made[-1].fit(_texts(documents))
        return made

    def _finished(self, arrays: Arrays, documents: _core.Documents) -> sp.csr_matrix:
        X = self._matrix(arrays, len(documents))
        if self._extras:
            blocks = [X]
            for extra in self._extras:
                if isinstance(extra, LexiconFeatures):
                    words = Analysis("words", self._analysis.lowercase, self._analysis.fold_accents, 1)
                    blocks.append(sp.csr_matrix(extra.rows(words.tokens(documents, self._threads()))))
                else:
                    blocks.append(extra.rows(_texts(documents)))
            X = sp.hstack(blocks, format="csr")
        return X.astype(self._out_dtype(), copy=False)

    def _matrix(self, arrays: Arrays, n: int) -> sp.csr_matrix:
        indptr, indices, data = arrays
        X = sp.csr_matrix((n, self._columns.n_columns), dtype=data.dtype)
        # Set, not passed: SciPy would look at every index again.
        X.indptr, X.indices, X.data = indptr, indices, data
        X.has_sorted_indices = X.has_canonical_format = True
        return X

    def _out_dtype(self) -> np.dtype[Any]:
        if self.dtype is not None:
            return np.dtype(self.dtype)
        if self.compat is None:
            return np.dtype(np.float32)
        is_count = self.weighting in ("counts", "occurrence") and self.norm is None and self.n_features is None
        return np.dtype(np.int64 if is_count and not self.sublinear else np.float64)

    def _is_double(self) -> bool:
        return self._out_dtype() != np.float32

    def _threads(self) -> int:
        return thread_count(self.n_threads)

    def _separator(self) -> str:
        return " " if self._analysis.unit == "words" else ""

    def _must_learn(self) -> bool:
        return self.weighting in ("tfidf", "bm25", "nb") or bool(self.functions)

    def _documents(self, X: Any) -> _core.Documents:
        return documents_of(X, missing=self.missing)

    def _codes(self, y: ArrayLike | None) -> tuple[NDArray[Any] | None, int]:
        if self.weighting != "nb":
            return None, 0
        if y is None:
            raise InputError('weighting="nb" learns from labels: call fit(texts, labels).')
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(classes) < 2:
            raise InputError('weighting="nb" needs at least 2 classes in the labels.')
        return codes, len(classes)

    def _checked(self) -> Analysis:
        """The options as an analysis; a ParameterError for what cannot be."""
        ngrams = self.ngrams
        if not (
            isinstance(ngrams, (tuple, list))
            and len(ngrams) == 2
            and all(isinstance(n, numbers.Integral) and not isinstance(n, bool) for n in ngrams)
            and 1 <= ngrams[0] <= ngrams[1]
        ):
            raise ParameterError(f"ngrams must be two whole numbers, 1 <= shortest <= longest; got {ngrams!r}.")
        if not callable(self.analyzer) and self.analyzer not in _UNITS:
            raise ParameterError(
                f'analyzer must be "word", "char", "char_wb" or a function; got {self.analyzer!r}.'
            )
        _one_of("weighting", self.weighting, _WEIGHTINGS)
        _one_of("norm", self.norm, ("l1", "l2", None))
        _one_of("compat", self.compat, ("sklearn", None))
        if self._out_dtype().kind not in "fiu":
            raise ParameterError(f"dtype must be a type of numbers, got {self.dtype!r}.")
        _whole("min_characters", self.min_characters)
        if self.max_features is not None:
            _whole("max_features", self.max_features)
        if self.n_features is not None:
            _whole("n_features", self.n_features, most=2**31 - 1)
            if self.vocabulary is not None:
                raise ParameterError("n_features hashes terms and vocabulary names them: give one of the two.")
        elif self.signed:
            raise ParameterError("signed is for hashed terms: give n_features, or leave it out.")
        unit = "words" if callable(self.analyzer) else _UNITS[self.analyzer]
        if unit != "words" and (self.stop_words is not None or self.stem is not None or self.negation):
            raise ParameterError(
                f'stop_words, stem and negation are for words, but analyzer is "{self.analyzer}".'
            )
        if self.fold_accents and callable(self.analyzer):
            raise ParameterError("fold_accents is for texts that are split here: fold them in the analyzer.")
        return Analysis(
            unit,
            lowercase=bool(self.lowercase),
            fold_accents=bool(self.fold_accents),
            min_characters=int(self.min_characters) if unit == "words" else 1,
            tokenizer=self.analyzer if callable(self.analyzer) else None,
            stop_words=stop_words_of(self.stop_words),
            stem=self.stem,
            negators=negators_of(self.negation),
        )


def _texts(documents: _core.Documents) -> Iterator[str]:
    return (documents[row] for row in range(len(documents)))


def _one_of(name: str, given: Any, known: tuple[Any, ...]) -> None:
    if given not in known:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, known))}; got {given!r}.")


def _whole(name: str, given: Any, most: int | None = None) -> None:
    if isinstance(given, bool) or not isinstance(given, numbers.Integral) or given < 1:
        raise ParameterError(f"{name} must be a whole number from 1 on, got {given!r}.")
    if most is not None and given > most:
        raise ParameterError(f"{name} can be at most {most}, got {given!r}.")
