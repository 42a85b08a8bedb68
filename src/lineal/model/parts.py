"""The parts of a model by the names they have in its record."""

from __future__ import annotations

from lineal.model.features.base import Features
from lineal.model.features.rows import RowFeatures
from lineal.model.features.texts import TextFeatures
from lineal.model.heads import ClassesHead, Head, NumbersHead
from lineal.model.record import Spec

_FEATURES = {features.kind: features for features in (RowFeatures, TextFeatures)}
_HEADS = {head.kind: head for head in (ClassesHead, NumbersHead)}


def read_features(spec: Spec) -> Features:
    """The part that reads."""
    return _FEATURES[spec.text("kind", tuple(_FEATURES))].read(spec)


def read_head(spec: Spec, n_columns: int) -> Head:
    """The part that answers."""
    return _HEADS[spec.text("kind", tuple(_HEADS))].read(spec, n_columns)
