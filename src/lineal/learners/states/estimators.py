"""Whole estimators in a record: what reads, and the learner behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.deferred import is_a
from lineal.errors import ModelFileError
from lineal.learners.searched.model import SearchedModel
from lineal.learners.spelling import build, spell
from lineal.learners.spelling.reading import value_of
from lineal.learners.states.learners import put_learner, read_learner
from lineal.learners.states.plain import plain
from lineal.learners.states.values import put_values, read_values
from lineal.model.features.base import Features
from lineal.model.features.steps import Scaled, SteppedFeatures, Taken
from lineal.model.heads import Head
from lineal.model.record import Draft, Spec
from lineal.protocol import clone
from lineal.text.reader import TextReader

if TYPE_CHECKING:
    from lineal.features.table import TableVectorizer
    from lineal.text.vectorizer import TextVectorizer

# Kinds that are told apart; who stores one kind need not load the others.
_TEXTS = "lineal.text.vectorizer:TextVectorizer"
_TABLE = "lineal.features.table:TableVectorizer"

_READING = ("lineal.model.features.texts:TextFeatures", "lineal.model.features.table:TableFeatures")
# Made of the parts that are kept apart.
_APART = ("vectorizers_", "model_", "trials_", "_made", "_scorer", "_names", "_texts", "certificate_")


def put_estimator(draft: Draft, place: str, estimator: Any) -> dict[str, Any]:
    """Keeps what an estimator knows beside its predictions."""
    if is_a(estimator, "sklearn.pipeline:Pipeline"):
        *steps, (name, learner) = estimator.steps
        used = [(own, step) for own, step in steps if step is not None and step != "passthrough"]
        return {
            "kind": "pipeline",
            "names": [*(own for own, _ in used), name],
            "steps": [
                _put_transformer(draft, f"{place}.steps.{k}", step) for k, (_, step) in enumerate(used)
            ],
            "inner": put_learner(draft, f"{place}.inner", learner),
        }
    if not isinstance(estimator, SearchedModel):
        return {"kind": "learner", "inner": put_learner(draft, f"{place}.inner", estimator)}
    known = {k: v for k, v in vars(estimator).items() if k not in estimator.get_params(deep=False)}
    return {
        "kind": "searched",
        "estimator": spell(plain(estimator)),
        "attributes": put_values(
            draft, f"{place}.attributes", {k: v for k, v in known.items() if k not in _APART}
        ),
        "steps": [
            _put_transformer(draft, f"{place}.steps.{k}", step)
            for k, step in enumerate(estimator.vectorizers_)
        ],
        "inner": put_learner(draft, f"{place}.inner", estimator.model_),
    }


def _put_transformer(draft: Draft, place: str, transformer: Any) -> dict[str, Any]:
    known = {k: v for k, v in vars(transformer).items() if k not in transformer.get_params(deep=False)}
    # What a reader of the model holds is not kept twice.
    names = ("n_features_in_", "feature_names_in_", "kinds_", "support_", "scores_", "scale_", "offset_")
    own = {name: known[name] for name in names if name in known}
    if not is_a(transformer, _TABLE) or not transformer.kinds:
        return {
            "transformer": spell(plain(transformer)),
            "attributes": put_values(draft, f"{place}.attributes", own),
        }
    own = {"kinds_": own["kinds_"]}
    bare = plain(transformer)
    options = {**bare.get_params(deep=False), "kinds": None}
    return {
        "transformer": spell(type(bare)(**options)),
        "kinds": _put_kinds(draft, f"{place}.kinds", bare.kinds),
        "attributes": put_values(draft, f"{place}.attributes", own),
    }


def _put_kinds(draft: Draft, place: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Kinds by column: thousands of columns may share a few, which are spelled once."""
    texts = {key: spell(kind) for key, kind in {id(kind): kind for kind in kinds.values()}.items()}
    ways = {text: number for number, text in enumerate(dict.fromkeys(texts.values()))}
    draft.put_strings(place, "names", list(kinds))
    numbers = [ways[texts[id(kind)]] for kind in kinds.values()]
    draft.put(place, "numbers", np.array(numbers, dtype=np.int64))
    return {"ways": list(ways)}


def _read_kinds(spec: Spec) -> dict[str, Any]:
    names, ways = spec.strings("names"), [value_of(way) for way in spec.texts("ways")]
    numbers = spec.tensor("numbers", (np.int64,), (len(names),))
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < len(ways)):
        spec.refuse("numbers", f"numbers below {len(ways)}", "others")
    return {name: ways[number] for name, number in zip(names, numbers.tolist(), strict=True)}


def read_estimator(spec: Spec, features: Features, head: Head, certificate: Any) -> Any:
    """An estimator that ``put_estimator`` kept, with the features and the head of its model."""
    kind = spec.text("kind", ("pipeline", "learner", "searched"))
    learner = read_learner(spec.child("inner"), head)
    if certificate is not None and not hasattr(learner, "certificate_"):
        learner.certificate_ = certificate
    if kind == "learner":
        return learner
    steps = _read_transformers(spec.children("steps"), features)
    if kind == "pipeline":
        from sklearn.pipeline import Pipeline

        names = spec.texts("names")
        return Pipeline(list(zip(names, [*steps, learner], strict=True)))
    estimator = build(spec.text("estimator"))
    if not isinstance(estimator, SearchedModel):
        spec.refuse("estimator", "a learner of texts or tables", type(estimator).__name__)
    estimator.__dict__.update(read_values(spec.child("attributes")))
    estimator.vectorizers_, estimator.model_ = steps, learner
    estimator._made = estimator._made_by()
    estimator.__dict__.update({"trials_": [], "_names": None})
    if hasattr(learner, "certificate_"):
        estimator.__dict__["certificate_"] = learner.certificate_
    if is_a(estimator, "lineal.learners.text.base:BaseTextModel"):
        estimator._scorer = None
    elif is_a(estimator, "lineal.learners.table.base:BaseTableModel"):
        estimator._texts = [_text_of(step) for step in steps]
    return estimator


def _read_transformers(specs: Sequence[Spec], features: Features) -> list[Any]:
    """Transformers filled with what the model's features hold."""
    inner: Any = features.inner if isinstance(features, SteppedFeatures) else features
    held: list[Any] = list(inner.readers) if is_a(inner, *_READING) else []
    held += features.steps if isinstance(features, SteppedFeatures) else ()
    if len(held) != len(specs):
        raise ModelFileError(
            f"the model's record is damaged: {len(specs)} transformers for {len(held)} parts."
        )
    return [_read_transformer(spec, own) for spec, own in zip(specs, held, strict=True)]


def _read_transformer(spec: Spec, held: Any) -> Any:
    transformer = build(spec.text("transformer"))
    transformer.__dict__.update(read_values(spec.child("attributes")))
    if isinstance(held, TextReader) and is_a(transformer, _TEXTS):
        transformer.take_reader(held)
    elif is_a(held, "lineal.model.features.table_reader:TableReader") and is_a(transformer, _TABLE):
        if spec.has("kinds"):
            transformer.kinds = _read_kinds(spec.child("kinds"))
            transformer.n_features_in_ = len(held.encodings)
            if held.has_names:
                transformer.feature_names_in_ = np.array(list(held.encodings), dtype=object)
        transformer.take_encodings(_encodings_of(transformer, held))
    elif isinstance(held, Scaled) and is_a(transformer, "lineal.features.scaling:ColumnScaler"):
        transformer.take_scales(held.unit, held.offset, held.scale)
    elif isinstance(held, Taken) and hasattr(transformer, "get_support"):
        is_kept = np.zeros(int(transformer.n_features_in_), dtype=bool)
        is_kept[held.columns] = True
        transformer.support_ = is_kept
    else:
        spec.refuse("transformer", "the one that the model reads with", type(transformer).__name__)
    return transformer


def _encodings_of(table: TableVectorizer, held: Any) -> dict[str, Any]:
    """What a table's reader holds of each column, as its vectoriser does."""
    from lineal.features.kinds.texts import restored_words
    from lineal.model.encodings import TextEncoding

    return {
        name: restored_words(encoding, _vectorizer_of(table, name, encoding.reader))
        if isinstance(encoding, TextEncoding)
        else encoding
        for name, encoding in held.encodings.items()
    }


def _vectorizer_of(table: TableVectorizer, name: str, reader: TextReader) -> TextVectorizer:
    """The vectoriser of a column of text, as the table's options make it."""
    from lineal.features.kinds import Text
    from lineal.features.kinds.texts import default_transformer

    kind = (table.kinds or {}).get(name)
    asked = kind if isinstance(kind, Text) else table.text
    made = default_transformer() if asked.transformer is None else clone(asked.transformer)
    if not is_a(made, _TEXTS):
        raise ModelFileError(
            f"the model's record is damaged: column {name!r} is not read by a TextVectorizer."
        )
    made.take_reader(reader)
    return made


def _text_of(vectorizer: Any) -> tuple[str, Any] | None:
    """The column of text that a vectoriser of a table reads, if it reads one alone."""
    words = [name for name, word in getattr(vectorizer, "kinds_", {}).items() if word == "text"]
    if len(words) != 1 or len(vectorizer.kinds_) != 1:
        return None
    return words[0], vectorizer.text_transformer(words[0])
