"""The text vectoriser: texts in, a sparse matrix out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal import _core
from lineal.data import thread_count
from lineal.data.compressed import CompressedRows
from lineal.data.documents import documents as documents_of
from lineal.deferred import sparse as sp
from lineal.errors import InputError, ParameterError
from lineal.protocol import BaseEstimator, TransformerMixin, check_is_fitted, clone
from lineal.protocol.whole_fits import all_or_nothing
from lineal.text.columns import Arrays, GramColumns, HashedColumns, NGramColumns
from lineal.text.extras import FunctionFeatures, SeenValues
from lineal.text.given_words import given_terms, warn_of_unmatched
from lineal.text.lexicons import LexiconFeatures
from lineal.text.name_sample import NameSample
from lineal.text.occurrences import Places
from lineal.text.options import checked_analysis, out_dtype
from lineal.text.pruning import check_limits, chosen_columns, document_limits
from lineal.text.reader import Columns, TextReader, Weights
from lineal.text.streams import TermRuns, is_stream, pieces
from lineal.text.weights import bm25_idf, class_codes, log_count_ratios, smooth_idf, weighed

_WITH_IDF = ("tfidf", "bm25")
# Text that a stream is read by: what is counted of characters is several times as much.
_CHUNK_BYTES = {"words": 1 << 23, "spaced": 1 << 23, "characters": 1 << 21}


class TextVectorizer(TransformerMixin, BaseEstimator):
    """Texts to sparse features: n-grams of words or characters, counted, weighed and normalised natively.

    Parameters
    ----------
    ngrams
        Shortest and longest n-grams, in words or characters.
    analyzer
        ``"word"``: words. ``"char_wb"``: characters inside words. ``"char"``: characters of the whole text.
        Or a function from a text to its tokens.
    lowercase
        Whether texts are lower-cased first, by Unicode's rules.
    fold_accents
        Whether accents are dropped after that, so that "café" is "cafe": Unicode's compatibility
        decomposition (NFKD) without its combining marks, scikit-learn's ``strip_accents="unicode"``. Stop
        words, lexicons and vocabularies are compared with what comes out: spell them in lower case and
        without accents. An ``UnmatchedWordsWarning`` tells of words that no text can contain.
    min_characters
        Words of fewer characters are dropped; 1 unless said otherwise (2 under ``compat="sklearn"``).
    stop_words
        Words to drop: a collection, or ``"english"``.
    stem
        A language of the Snowball stemmers (``"english"``, ``"german"``, ...): words become their stems.
    negation
        ``True`` joins a negation and the word behind it: "not good" becomes ``not_good``. Or the negating
        words.
    min_df, max_df
        Terms in fewer or more documents are dropped; a whole number counts documents, a fraction is a share.
    max_features
        At most so many terms, those that occur most often (``weighting="occurrence"``: in most documents).
    vocabulary
        These terms and no others, in this order (a set: sorted). N-grams are then as long as its terms are.
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
        Factors for chosen words: columns of n-grams that hold such a word are multiplied by its factor. Not
        with ``n_features``.
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
    chunk_bytes
        How much text is looked at together where texts come from an iterator or an Arrow stream: in ``fit``,
        which then needs memory for so much text and for the vocabulary, and in ``transform_chunks``.
        ``None``: 8 MB, or 2 MB for ``analyzer="char"``, which counts several times as much.
    n_threads
        Threads; the result is the same, bit for bit, for every number of them.

    Attributes
    ----------
    idf_ : weight of each column, before ``emphasis``
    document_frequency_ : in how many documents of the fit each column's term was
    vocabulary_ : column of each term (not with hashing)
    n_collisions_ : with hashing, in how many columns two or more terms of the fit met (of a stream, of the
        sample of its texts that gives names)

    Notes
    -----
    Words are what Python's ``\\w`` matches, maximal runs of it, in a frozen version of Unicode
    (``lineal._core.UNICODE_VERSION``), so a model reads text the same way under every Python. Rows are
    sorted. Memory beside the result: 4 bytes a token and 8 for each n-gram of each length.

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

    _columns: Columns
    document_frequency_: NDArray[np.int64] | None

    def __init__(
        self,
        *,
        ngrams: tuple[int, int] = (1, 2),
        analyzer: str | Callable[[str], list[str]] = "word",
        lowercase: bool = True,
        fold_accents: bool = False,
        min_characters: int | None = None,
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
        chunk_bytes: int | None = None,
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
        self.chunk_bytes = chunk_bytes
        self.n_threads = n_threads

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learns terms and their weights from texts (and labels, for ``weighting="nb"``).

        What can be read only once (an iterator over texts or over ``Documents``, an Arrow stream) may be
        larger than memory: it is read by pieces of ``chunk_bytes``, and what is learned is the same.
        """
        if is_stream(X):
            self._learn_stream(X)
        else:
            self._learn(X, y, wants_rows=False)
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> sp.csr_matrix:
        """Learns from texts and returns their matrix; the same as ``fit`` and ``transform``, in one pass."""
        return self.fit_rows(X, y).to_scipy()

    @all_or_nothing
    def fit_rows(self, X: Any, y: ArrayLike | None = None) -> CompressedRows:
        """The same, without SciPy."""
        return self._learn(X, y, wants_rows=True)

    def transform(self, X: Any) -> sp.csr_matrix:
        """The matrix of texts, with the terms and weights that were learned. Hashing needs no ``fit``."""
        return self.rows(X).to_scipy()

    def rows(self, X: Any) -> CompressedRows:
        """The same, without SciPy."""
        if self.n_features is not None and not hasattr(self, "_columns") and not self._must_learn():
            return clone(self).fit([]).rows(X)
        check_is_fitted(self, "_columns")
        documents = self._documents(X)
        arrays = self._columns.rows(
            documents, self._analysis, self._weighing(), self._is_double(), self._threads()
        )
        return self._finished(self._matrix(arrays), documents)

    def transform_chunks(self, X: Any) -> Iterator[sp.csr_matrix]:
        """The matrices of pieces of texts, of ``chunk_bytes`` each, one after another.

        Stacked they are what ``transform`` returns; only one piece at a time is in memory.
        """
        if self.n_features is not None and not hasattr(self, "_columns") and not self._must_learn():
            return clone(self).fit([]).transform_chunks(X)
        check_is_fitted(self, "_columns")
        return map(self.transform, pieces(X, self._chunk_bytes(), self.missing))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns: terms, then lexicons and functions."""
        check_is_fitted(self, "_columns")
        self._settle_names()
        names = self._columns.names()
        for extra in self._extras:
            names += extra.names()
        return np.array(names, dtype=object)

    @property
    def n_columns(self) -> int:
        """How many columns ``transform`` makes."""
        check_is_fitted(self, "_columns")
        return self._columns.n_columns + sum(len(extra.names()) for extra in self._extras)

    def names_of(self, columns: Sequence[int]) -> list[str]:
        """The names of some columns, without making those of the others."""
        check_is_fitted(self, "_columns")
        self._settle_names()
        n_terms = self._columns.n_columns
        terms = iter(self._columns.names_of([column for column in columns if column < n_terms]))
        more = [name for extra in self._extras for name in extra.names()]
        return [next(terms) if column < n_terms else more[column - n_terms] for column in columns]

    def inverse_transform(self, X: Any) -> list[NDArray[np.object_]]:
        """The names of the columns that are not 0, row by row."""
        names = self.get_feature_names_out()
        rows = sp.csr_matrix(X)
        if rows.shape[1] != len(names):
            raise InputError(f"X has {rows.shape[1]} columns, but there are {len(names)} terms.")
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
        """In how many columns two or more terms of the fit met, or of the sample of a stream."""
        check_is_fitted(self, "_columns")
        self._settle_names()
        return self._columns.n_collisions if isinstance(self._columns, HashedColumns) else 0

    @property
    def idf_(self) -> NDArray[np.float64]:
        """Weight of each column, before ``emphasis``."""
        check_is_fitted(self, "_columns")
        if self._idf is None:
            raise AttributeError(f'weighting="{self.weighting}" has no weights of columns.')
        return self._idf

    def reweighed(self, X: Any, rows: NDArray[Any], y: Any) -> Any:
        """X, which this vectoriser made, with naive-Bayes weights learned from some of its rows alone.

        So rows can be held out, labels and all, without texts being read again. With other weightings X
        itself: no label went into it.
        """
        if self.weighting != "nb":
            return X
        if self._extras and isinstance(X, CompressedRows):
            return CompressedRows.of(self.reweighed(X.to_scipy(), rows, y))
        n_terms = self._columns.n_columns
        terms, extras = (X[:, :n_terms], X[:, n_terms:]) if self._extras else (X, None)
        weight = self._emphasised(log_count_ratios(terms, rows, *class_codes(y), self._threads()))
        assert weight is not None
        made = weighed(terms, weight, self.norm).astype(X.dtype)
        if isinstance(X, CompressedRows):
            return made
        return made.to_scipy() if extras is None else sp.hstack([made.to_scipy(), extras], format="csr")

    def occurrences(self, pieces: list[str]) -> Places:
        """Of each term the pieces of a text (between white space, by number) that its occurrences touch."""
        return self._reader().occurrences(pieces)

    def ready_for_streams(self) -> TextVectorizer:
        """This vectoriser if it was fitted, or one like it that has nothing to learn from texts.

        Hashed columns that no fit has named get names from the stream, in a copy.
        """
        is_fitted = hasattr(self, "_columns")
        if not is_fitted and (self.n_features is None or self._must_learn()):
            raise ParameterError(
                "a stream is read by a vectorizer that has nothing to learn from texts, such as "
                'TextVectorizer(n_features=2**20, weighting="occurrence", norm=None), or by one that was '
                "fitted before."
            )
        ready = copy(self) if is_fitted else clone(self).fit([])
        columns = ready._columns
        if not isinstance(columns, HashedColumns) or (len(columns.named) and columns.sample is None):
            return self
        # Names that another stream gave are as good as those of a fit.
        ready._columns = replace(columns, sample=None if len(columns.named) else NameSample())
        return ready

    def sample_names(self, documents: _core.Documents, rows: Sequence[int] | None = None) -> None:
        """The next texts of a stream, or some rows of them, from which hashed columns may get names."""
        columns = self._columns
        if not isinstance(columns, HashedColumns) or columns.sample is None:
            return
        if rows is None:
            columns.sample.add(documents.__getitem__, len(documents))
        else:
            columns.sample.add(lambda number: documents[int(rows[number])], len(rows))
        if columns.sample.is_full:
            self._settle_names()

    def _settle_names(self) -> None:
        """Texts that wait to name columns do so."""
        if isinstance(self._columns, HashedColumns):
            self._columns = self._columns.settled(self._analysis, self._threads())

    def __getstate__(self) -> dict[str, Any]:
        if hasattr(self, "_columns"):
            self._settle_names()  # so that no text is stored
        return super().__getstate__()

    def hashed_texts(self, documents: _core.Documents) -> _core.HashedTexts | None:
        """Texts that the core hashes while it learns from them; None where it cannot."""
        if not isinstance(self._columns, HashedColumns) or not self._analysis.is_native or self._extras:
            return None
        columns = self._columns
        return _core.HashedTexts(
            documents,
            columns.native(),
            columns.splitting(self._analysis),
            columns.is_signed,
            self._weighing(),
            self._is_double(),
            self._threads(),
        )

    def names_in(self, text: str) -> dict[int, str] | None:
        """What a text calls its columns, where no fit has given them names; else None."""
        return None if self._extras else self._reader().names_in(text)

    def scorer_part(self) -> tuple[Any, ...] | None:
        """What ``_core.TextScorer`` needs to read one text as ``transform`` does; None where it cannot."""
        return None if self._extras else self._reader().scorer_part()

    def reader(self) -> TextReader:
        """How texts are read from now on, functions aside; it needs neither SciPy nor scikit-learn."""
        check_is_fitted(self, "_columns")
        self._settle_names()
        return replace(self._reader(), columns=_apart(self._columns))

    def _reader(self) -> TextReader:
        """The same, while texts may still wait to name columns."""
        check_is_fitted(self, "_columns")
        lexicons = [extra for extra in self._extras if isinstance(extra, LexiconFeatures)]
        return TextReader(
            self._columns,
            self._analysis,
            (int(self.ngrams[0]), int(self.ngrams[1])),
            self._weights(),
            self._is_double(),
            lexicons[0] if lexicons else None,
        )

    def take_reader(self, reader: TextReader) -> None:
        """Reads from now on as a reader does that was made by a vectoriser with these options.

        In how many documents terms were is not known then.
        """
        self._analysis = checked_analysis(self)
        self._columns, self._extras = _apart(reader.columns), self._made_extras()
        self._weight = reader.weights.of_columns
        self._idf = None if self.emphasis else self._weight
        self._mean_length, self.document_frequency_ = reader.weights.mean_length, None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.n_features is None or self._must_learn()
        tags.target_tags.required = self.weighting == "nb"
        return tags

    def _learn(self, X: Any, y: ArrayLike | None, wants_rows: bool) -> Any:
        self._analysis = checked_analysis(self)
        codes, n_classes = self._codes(y)
        documents = self._documents(X)
        n = len(documents)
        if codes is not None and len(codes) != n:
            raise InputError(f"There are {n} texts, but {len(codes)} labels.")
        self._extras = self._made_extras()
        for extra in self._extras:
            if isinstance(extra, FunctionFeatures):
                extra.fit(_texts(documents))
        self.document_frequency_, self._mean_length = None, 1.0
        if self._has_fixed_columns():
            self._look_at_columns([documents])

            def rows(weighing: _core.Weighing, is_double: bool) -> Arrays:
                return self._columns.rows(documents, self._analysis, weighing, is_double, self._threads())
        else:
            low, high = document_limits(self.min_df, self.max_df, n)
            terms = self._count(documents, max(int(np.ceil(low)), 1))
            columns = self._choose_columns(terms, low, high, n)

            def rows(weighing: _core.Weighing, is_double: bool) -> Arrays:
                return terms.matrix(columns, weighing, is_double)

        ratios = None
        if codes is not None:
            met = self._matrix(rows(_core.Weighing("occurrence", "none"), self._is_double()))
            ratios = log_count_ratios(met, np.arange(n), codes, n_classes, self._threads())
        self._weigh_columns(n, ratios)
        if not wants_rows:
            return None
        if codes is not None:
            # The occurrences have the places already.
            assert self._weight is not None
            return self._finished(weighed(met, self._weight, self.norm), documents)
        return self._finished(self._matrix(rows(self._weighing(), self._is_double())), documents)

    def _learn_stream(self, X: Any) -> None:
        """The same from texts that are read once, piece by piece."""
        self._analysis = checked_analysis(self)
        check_limits(self.min_df, self.max_df)
        if self.weighting == "nb":
            raise InputError(
                'weighting="nb" counts terms class by class and needs all texts at once: give a list to fit.'
            )
        found = pieces(X, self._chunk_bytes(), self.missing)
        first = list(islice(found, 2))
        if len(first) < 2:
            self._learn(first[0] if first else [], None, wants_rows=False)
            return
        self._extras = self._made_extras()
        seen = [SeenValues(extra) for extra in self._extras if isinstance(extra, FunctionFeatures)]
        n = 0

        def each() -> Iterator[_core.Documents]:
            nonlocal n
            for documents in chain(_emptied(first), found):
                n += len(documents)
                for values in seen:
                    values.add(_texts(documents))
                yield documents

        self.document_frequency_, self._mean_length = None, 1.0
        if self._has_fixed_columns():
            self._look_at_columns(each())
        else:
            is_inside = self._analysis.unit == "spaced"
            with TermRuns.of_names() if is_inside else TermRuns.of_ngrams(self.ngrams[1]) as runs:
                for documents in each():
                    runs.add(self._count(documents, 1))
                low, high = document_limits(self.min_df, self.max_df, n)
                runs.merge(low, high)
                self._choose_columns(runs, low, high, n)
        for values in seen:
            values.settle()
        self._weigh_columns(n)

    def _choose_columns(self, terms: Any, low: float, high: float, n: int) -> NDArray[np.int32]:
        """Sets the columns for counted terms; returns the column of each, or -1."""
        df, totals = terms.n_documents(), terms.totals()
        # Where an n-gram is met or not, it occurs once in a document at most.
        often = df if self.weighting == "occurrence" else totals
        columns = chosen_columns(df, often, low, high, self.max_features)
        is_kept = columns >= 0
        self.document_frequency_ = df[is_kept]
        if self._analysis.unit == "spaced":
            names, starts = terms.vocabulary(columns)
            self._columns = GramColumns(names, starts, *self.ngrams)
        else:
            words, starts, own, longer = terms.vocabulary(columns)
            n_columns = int(columns.max()) + 1
            self._columns = NGramColumns(words, starts, own, longer, n_columns, self._separator())
        if self.weighting == "bm25":
            self._mean_length = max(float(totals[is_kept].sum()) / max(n, 1), 1e-300)
        return columns

    def _look_at_columns(self, found: Iterable[_core.Documents]) -> None:
        """Sets columns that are hashed or given, their names and, for weights, their documents."""
        self._columns = self._hashed() if self.n_features is not None else self._given_columns()
        threads = self._threads()
        df = np.zeros(self._columns.n_columns, dtype=np.int64)
        length, n = 0.0, 0

        def counted() -> Iterator[_core.Documents]:
            nonlocal length, n
            for documents in found:
                if self.weighting in _WITH_IDF:
                    weighing = _core.Weighing("count", "none")
                    _, indices, data = self._columns.rows(documents, self._analysis, weighing, True, threads)
                    df[:] += np.bincount(indices, minlength=len(df))
                    length += float(np.abs(data).sum())
                n += len(documents)
                yield documents

        if isinstance(self._columns, HashedColumns):
            self._columns.learn_names(counted(), self._analysis, threads)
        else:
            deque(counted(), maxlen=0)
        if self.weighting in _WITH_IDF:
            self.document_frequency_ = df
            self._mean_length = max(length / max(n, 1), 1e-300)

    def _count(self, documents: _core.Documents, min_documents: int) -> _core.Terms | _core.GramTerms:
        threads = self._threads()
        tokens = self._analysis.tokens(documents, threads)
        if self._analysis.unit == "spaced":
            return _core.GramTerms(tokens, *self.ngrams)
        return _core.Terms(tokens, *self.ngrams, min_documents, threads)

    def _given_columns(self) -> NGramColumns | GramColumns:
        names = given_terms(self.vocabulary)
        warn_of_unmatched("vocabulary", names, self._analysis)
        # What a function returns is a term as it stands, where n-grams have one token.
        is_whole = self._analysis.tokenizer is not None and max(self.ngrams) == 1
        separator = self._separator()
        sizes = [1 if is_whole else len(name.split(separator) if separator else name) for name in names]
        if self.compat == "sklearn" and not self.ngrams[0] <= min(sizes) <= max(sizes) <= self.ngrams[1]:
            raise ParameterError(
                f"vocabulary has terms of {min(sizes)} to {max(sizes)} tokens, and ngrams={self.ngrams} "
                "would never find some of them: give ngrams that cover all."
            )
        if self._analysis.unit == "spaced":
            return GramColumns.from_names(names, min(sizes), max(sizes))
        return NGramColumns.from_names(names, separator, is_whole=is_whole)

    def _hashed(self) -> HashedColumns:
        assert self.n_features is not None
        return HashedColumns(
            self.n_features,
            *self.ngrams,
            self._analysis.unit,
            # scikit-learn's occurrences are 1 whatever their sign.
            is_signed=self.signed and not (self.compat == "sklearn" and self.weighting == "occurrence"),
            is_murmur=self.compat == "sklearn",
        )

    def _weigh_columns(self, n: int, ratios: NDArray[np.float64] | None = None) -> None:
        """Sets the weights of the columns, for n documents: given ones, or by their document frequencies."""
        self._idf = ratios
        if self.weighting in _WITH_IDF:
            assert self.document_frequency_ is not None
            self._idf = (bm25_idf if self.weighting == "bm25" else smooth_idf)(self.document_frequency_, n)
        self._weight = self._emphasised(self._idf)

    def _weights(self) -> Weights:
        tf = {"occurrence": "occurrence", "nb": "occurrence", "bm25": "bm25"}.get(
            self.weighting, "logarithm" if self.sublinear else "count"
        )
        k, b = map(float, self.bm25)
        return Weights(tf, self.norm or "none", self._weight, (k, b), float(self._mean_length))

    def _weighing(self) -> _core.Weighing:
        return self._weights().native

    def _emphasised(self, idf: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        if not self.emphasis:
            return idf
        weight = np.ones(self._columns.n_columns) if idf is None else idf.copy()
        separator = self._separator()
        for column, name in enumerate(self._columns.names()):
            for word in name.split(separator) if separator else [name]:
                weight[column] *= self.emphasis.get(word, 1.0)
        return weight

    def _made_extras(self) -> list[LexiconFeatures | FunctionFeatures]:
        made: list[LexiconFeatures | FunctionFeatures] = []
        if self.lexicons:
            made.append(LexiconFeatures(self.lexicons))
        if self.functions:
            made.append(FunctionFeatures(self.functions))
        return made

    def _finished(self, X: CompressedRows, documents: _core.Documents) -> CompressedRows:
        """Terms with all that stands beside them, in the type that was asked for."""
        for extra in self._extras:
            if isinstance(extra, LexiconFeatures):
                arrays = self._reader().with_lexicons(X.arrays, documents, self._threads())
                X = CompressedRows(arrays, X.shape[1] + len(extra.words))
            else:
                both = [X.to_scipy(), extra.rows(_texts(documents), X.dtype)]
                X = CompressedRows.of(sp.hstack(both, format="csr"))
        dtype = out_dtype(self)
        if dtype.kind in "iu" and len(X.data) and not np.can_cast(np.int64, dtype):
            limits = np.iinfo(dtype)
            if X.data.min() < limits.min or X.data.max() > limits.max:
                raise InputError(f"dtype={dtype} has no room for counts up to {np.abs(X.data).max():g}.")
        return X.astype(dtype)

    def _matrix(self, arrays: Arrays) -> CompressedRows:
        return CompressedRows(arrays, self._columns.n_columns)

    def _is_double(self) -> bool:
        return out_dtype(self) != np.float32

    def _threads(self) -> int:
        return thread_count(self.n_threads)

    def _separator(self) -> str:
        return " " if self._analysis.unit == "words" else ""

    def _has_fixed_columns(self) -> bool:
        return self.n_features is not None or self.vocabulary is not None

    def _chunk_bytes(self) -> int:
        return _CHUNK_BYTES[self._analysis.unit] if self.chunk_bytes is None else int(self.chunk_bytes)

    def _must_learn(self) -> bool:
        return self.weighting in ("tfidf", "bm25", "nb") or bool(self.functions)

    def _documents(self, X: Any) -> _core.Documents:
        return documents_of(X, missing=self.missing)

    def _codes(self, y: ArrayLike | None) -> tuple[NDArray[Any] | None, int]:
        if self.weighting != "nb":
            return None, 0
        if y is None:
            raise InputError('weighting="nb" learns from labels: call fit(texts, labels).')
        codes, n_classes = class_codes(y)
        if n_classes < 2:
            raise InputError('weighting="nb" needs at least 2 classes in the labels.')
        return codes, n_classes


def _apart(columns: Columns) -> Columns:
    """The same columns; a stream that goes on with these leaves those alone."""
    if isinstance(columns, HashedColumns) and columns.sample is not None:
        return replace(columns, sample=columns.sample.copy())
    return columns


def _emptied(pieces: list[_core.Documents]) -> Iterator[_core.Documents]:
    while pieces:
        yield pieces.pop(0)


def _texts(documents: _core.Documents) -> Iterator[str]:
    return (documents[row] for row in range(len(documents)))
