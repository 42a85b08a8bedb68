"""The parts of a model by the names they have in its record."""

from __future__ import annotations

from typing import Any

from lineal.model.composed import CalibratedHead, CodedHead
from lineal.model.features.base import Features
from lineal.model.features.fasttext import FastTextFeatures
from lineal.model.features.rows import RowFeatures
from lineal.model.features.steps import SteppedFeatures
from lineal.model.features.table import TableFeatures
from lineal.model.features.texts import TextFeatures
from lineal.model.heads import ClassesHead, Head, NumbersHead
from lineal.model.record import Spec

_FEATURES: dict[str, Any] = {kind.kind: kind for kind in (RowFeatures, TableFeatures, TextFeatures)}
_FEATURES["stepped"] = SteppedFeatures
_FEATURES[FastTextFeatures.stored_kind] = FastTextFeatures  # texts, too, to whoever asks the model
_HEADS: dict[str, Any] = {head.kind: head for head in (CalibratedHead, ClassesHead, CodedHead, NumbersHead)}


def read_features(spec: Spec) -> Features:
    """The part that reads."""
    made: Features = _FEATURES[spec.text("kind", tuple(_FEATURES))].read(spec)
    return made


def read_head(spec: Spec, n_columns: int) -> Head:
    """The part that answers."""
    made: Head = _HEADS[spec.text("kind", tuple(_HEADS))].read(spec, n_columns)
    return made
