"""Readers of texts in a record."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.errors import ModelFileError, ParameterError
from lineal.model.record import Draft, Spec
from lineal.text.analysis import Analysis
from lineal.text.columns import GramColumns, HashedColumns, Level, NGramColumns
from lineal.text.lexicons import LexiconFeatures
from lineal.text.name_sample import NameSample
from lineal.text.reader import Columns, TextReader, Weights

_MOST_GRAMS = 4096
_MOST_COLUMNS = 2**31 - 1
_UNITS = ("words", "spaced", "characters")


def put_reader(draft: Draft, place: str, reader: TextReader) -> dict[str, Any]:
    """Keeps a reader; one that calls a function is refused."""
    analysis = reader.analysis
    if analysis.tokenizer is not None:
        raise ParameterError(
            "analyzer is a function, and a model file holds no code. Store a model whose vectorizer has "
            'analyzer="word", "char" or "char_wb", or keep this one with pickle.'
        )
    if reader.weights.of_columns is not None:
        draft.put(place, "weights", np.ascontiguousarray(reader.weights.of_columns, dtype=np.float64))
    lexicons = reader.lexicons.words if reader.lexicons is not None else {}
    return {
        "columns": _put_columns(draft, place, reader.columns),
        "ngrams": list(reader.ngrams),
        "unit": analysis.unit,
        "lowercase": analysis.lowercase,
        "fold_accents": analysis.fold_accents,
        "min_characters": int(analysis.min_characters),
        "stop_words": None if analysis.stop_words is None else sorted(analysis.stop_words),
        "negators": None if analysis.negators is None else sorted(analysis.negators),
        "stem": analysis.stem,
        "tf": reader.weights.tf,
        "norm": reader.weights.norm,
        "bm25": list(reader.weights.bm25),
        "mean_length": reader.weights.mean_length,
        "is_double": reader.is_double,
        "lexicons": [{"name": name, "words": sorted(words)} for name, words in lexicons.items()],
    }


def read_reader(spec: Spec) -> TextReader:
    """What ``put_reader`` kept."""
    unit, ngrams = spec.text("unit", _UNITS), _pair(spec, "ngrams")
    analysis = Analysis(
        unit,
        lowercase=spec.flag("lowercase"),
        fold_accents=spec.flag("fold_accents"),
        min_characters=spec.whole("min_characters", 0, 2**31 - 1),
        stop_words=frozenset(spec.texts("stop_words")) if spec.has("stop_words") else None,
        stem=spec.text("stem") if spec.has("stem") else None,
        negators=frozenset(spec.texts("negators")) if spec.has("negators") else None,
    )
    if unit != "words" and (analysis.stop_words or analysis.stem or analysis.negators):
        spec.refuse("unit", "'words' where words are dropped or stemmed", unit)
    columns = _read_columns(spec.child("columns"), unit, ngrams)
    weights = None
    if spec.has_tensor("weights"):
        weights = spec.tensor("weights", (np.float64,), (columns.n_columns,))
    k, b = _numbers(spec, "bm25")
    weighing = Weights(
        spec.text("tf", ("count", "occurrence", "logarithm", "bm25")),
        spec.text("norm", ("none", "l1", "l2")),
        weights,
        (k, b),
        spec.number("mean_length", 0.0, is_above=True),
    )
    return TextReader(columns, analysis, ngrams, weighing, spec.flag("is_double"), _read_lexicons(spec))


def _read_lexicons(spec: Spec) -> LexiconFeatures | None:
    found = {child.text("name"): child.texts("words") for child in spec.children("lexicons")}
    if len(found) != len(spec.children("lexicons")):
        spec.refuse("lexicons", "lexicons of different names", "one name twice")
    return LexiconFeatures(found) if found else None


def _pair(spec: Spec, key: str) -> tuple[int, int]:
    value = spec.value.get(key)
    is_pair = isinstance(value, list) and len(value) == 2 and all(type(n) is int for n in value)
    if not is_pair or not 1 <= value[0] <= value[1] <= _MOST_GRAMS:  # type: ignore[index]
        spec.refuse(key, f"two whole numbers, 1 <= shortest <= longest <= {_MOST_GRAMS}", value)
    return value[0], value[1]  # type: ignore[index]


def _numbers(spec: Spec, key: str) -> tuple[float, float]:
    value = spec.value.get(key)
    is_pair = isinstance(value, list) and len(value) == 2 and all(type(n) in (int, float) for n in value)
    if not is_pair:
        spec.refuse(key, "two numbers", value)
    return float(value[0]), float(value[1])  # type: ignore[index]


# ---- columns ----------------------------------------------------------------------------------


def _put_columns(draft: Draft, place: str, columns: Columns) -> dict[str, Any]:
    place = f"{place}.columns"
    draft.put(place, "spelling.bytes", np.ascontiguousarray(columns.bytes))
    draft.put(place, "spelling.starts", np.ascontiguousarray(columns.starts))
    if isinstance(columns, NGramColumns):
        draft.put(place, "columns", columns.columns)
        for k, level in enumerate(columns.longer):
            for name, array in zip(("prefix", "word", "column"), level, strict=True):
                draft.put(place, f"level{k}.{name}", array)
        kept = {"n_columns": int(columns.n_columns), "n_levels": len(columns.longer)}
        return {"kind": "ngrams", **kept, "separator": columns.separator}
    if isinstance(columns, GramColumns):
        return {"kind": "inner"}
    draft.put(place, "named", columns.named)
    draft.put(place, "is_shared", columns.is_shared)
    kept = {"n_columns": int(columns.n_columns), "is_signed": bool(columns.is_signed)}
    if columns.sample is not None:
        assert not columns.sample.waiting  # a model file holds no texts
        draft.put(place, "counts", columns.sample.counts)
        kept["n_sampled_from"] = columns.sample.n_met
    return {"kind": "hashed", **kept, "is_murmur": bool(columns.is_murmur)}


def _read_columns(spec: Spec, unit: str, ngrams: tuple[int, int]) -> Columns:
    kind = spec.text("kind", ("ngrams", "inner", "hashed"))
    if (kind == "inner" and unit != "spaced") or (kind == "ngrams" and unit == "spaced"):
        spec.refuse("kind", f"columns of {unit}", kind)
    data, starts = spec.block("spelling")
    if kind == "inner":
        if not 1 < len(starts) <= _MOST_COLUMNS:
            spec.refuse("spelling.starts", "those of a column at least", f"{len(starts)} places")
        return GramColumns(data, starts, *ngrams)
    n_columns = spec.whole("n_columns", 1, _MOST_COLUMNS)
    if kind == "hashed":
        return _read_hashed(spec, unit, ngrams, n_columns)
    words = spec.tensor("columns", (np.int32,), (len(starts) - 1,))
    longer: list[Level] = []
    for k in range(spec.whole("n_levels", 0, _MOST_GRAMS)):
        prefix = spec.tensor(f"level{k}.prefix", (np.uint32,), (None,))
        word = spec.tensor(f"level{k}.word", (np.uint32,), prefix.shape)
        longer.append((prefix, word, spec.tensor(f"level{k}.column", (np.int32,), prefix.shape)))
    n_terms = len(words) + sum(len(level[0]) for level in longer)
    if (
        n_columns > n_terms
    ):  # so that nothing as large as a number in the record is made without the bytes for it
        spec.refuse("n_columns", f"at most {n_terms}, as there are terms", n_columns)
    return NGramColumns(data, starts, words, longer, n_columns, " " if unit == "words" else "")


def _read_hashed(spec: Spec, unit: str, ngrams: tuple[int, int], n_columns: int) -> HashedColumns:
    data, starts = spec.block("spelling")
    named = spec.tensor("named", (np.int32,), (len(starts) - 1,))
    is_shared = spec.tensor("is_shared", (np.uint8,), named.shape)
    if len(named) and (named.min() < 0 or named.max() >= n_columns):
        raise ModelFileError(
            f"the model's record is damaged: {spec.place}.named names columns that are not there."
        )
    sample = None
    if spec.has("n_sampled_from"):
        counts = spec.tensor("counts", (np.uint8,), named.shape)
        sample = NameSample(spec.whole("n_sampled_from"), counts)
        if (np.diff(named) <= 0).any():
            raise ModelFileError(f"the model's record is damaged: {spec.place}.named is not in order.")
    return HashedColumns(
        n_columns,
        *ngrams,
        unit,
        is_signed=spec.flag("is_signed"),
        is_murmur=spec.flag("is_murmur"),
        named=named,
        bytes=data,
        starts=starts,
        is_shared=is_shared,
        sample=sample,
    )
