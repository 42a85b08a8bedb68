"""Streams in a record: they go on bit for bit as if they had never been stored."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from lineal.learners.catalogue import Catalogue
from lineal.learners.online.arrivals import Arrivals
from lineal.learners.online.model import StreamedModel
from lineal.learners.online.recipe import Strengths
from lineal.learners.online.stream import Stream
from lineal.learners.perceptron.keepers import Average, Last
from lineal.learners.perceptron.online import OnlineWeights
from lineal.learners.perceptron.stream import MistakeStream
from lineal.learners.perceptron.streamed import StreamedPerceptron
from lineal.learners.states.values import put_rows, read_rows
from lineal.model.labels import put_labels, read_labels
from lineal.model.record import Draft, Spec

_ARRAYS = (
    ("intercept", np.float64, 1),
    ("places", np.int32, 1),
    ("factors", np.float64, 2),
    ("tally", np.float64, 1),
)


def put_stream(draft: Draft, place: str, stream: Any) -> dict[str, Any]:
    """Keeps a stream of either kind."""
    if isinstance(stream, MistakeStream):
        return _put_mistakes(draft, place, stream)
    for name, _, _ in _ARRAYS:
        draft.put(place, name, np.array(getattr(stream, name)))
    put_rows(draft, place, "records", stream.records[: stream.n_columns])
    return {
        "strengths": asdict(stream.strengths),
        "n_before": stream.n_before,
        "n_columns": stream.n_columns,
        "room": stream.room,
    }


def read_stream(spec: Spec, learner: Any) -> Any:
    """A stream of a learner that ``put_stream`` kept."""
    if isinstance(learner, StreamedPerceptron):
        return _read_mistakes(spec, learner)
    assert isinstance(learner, StreamedModel)
    stream = Stream(learner._recipe())
    given = spec.child("strengths")
    numbers = {name: given.number(name) for name in ("l1", "l2", "l1_growth", "l2_growth")}
    stream.strengths = Strengths(**numbers, is_for_intercept=given.flag("is_for_intercept"))
    stream.n_before = spec.number("n_before", 0.0)
    stream.n_columns = spec.whole("n_columns", 0, 2**31 - 1)
    stream.room = spec.whole("room", 1, 2**31 - 1)
    for name, dtype, n_dimensions in _ARRAYS:
        setattr(stream, name, np.array(spec.tensor(name, (dtype,), (None,) * n_dimensions)))
    stream.records = read_rows(spec, "records", stream.n_columns)
    return stream


def put_arrivals(draft: Draft, place: str, labels: Arrivals) -> dict[str, Any]:
    """Keeps labels in the order of their arrival."""
    draft.put(place, "order", np.array(labels.order))
    return {"known": put_labels(draft, f"{place}.known", labels.known.values)}


def read_arrivals(spec: Spec) -> Arrivals:
    """Labels that ``put_arrivals`` kept."""
    known = np.array(read_labels(spec.child("known")))
    order = np.array(spec.tensor("order", (np.int32,), known.shape))
    if sorted(order.tolist()) != list(range(len(order))):
        spec.refuse("order", "the numbers of all labels, each once", order.tolist()[:8])
    return Arrivals(Catalogue(known), order)


def _put_mistakes(draft: Draft, place: str, stream: MistakeStream) -> dict[str, Any]:
    weights = stream.weights
    draft.put(place, "sums", np.array(weights._sums))
    draft.put(place, "tally", np.array(weights._tally))
    return {
        "labels": put_arrivals(draft, f"{place}.labels", stream.labels),
        "n_scores": weights.n_scores,
        "rate": weights._rate,
        "unit": stream.unit,
        "fitted": [int(n) for n in stream._fitted],
        "n_fitted": stream._n_fitted,
        "n_unguessed": stream._n_unguessed,
    }


def _read_mistakes(spec: Spec, learner: StreamedPerceptron) -> MistakeStream:
    terms = learner._terms()
    n_scores = spec.whole("n_scores", 1, 2**31 - 1)
    weights = OnlineWeights(
        0, 2, has_intercept=terms.has_intercept, rate=spec.number("rate"), is_averaged=False
    )
    weights.n_scores = n_scores
    weights._sums = np.array(spec.tensor("sums", (np.float64,), (None, None)))
    weights._tally = np.array(spec.tensor("tally", (np.int64,), (2,)))
    if weights._sums.shape[1] % n_scores or len(weights._sums) != 1 + (terms.variant == "averaged"):
        spec.refuse("sums", f"sums of {n_scores} scores", weights._sums.shape)
    stream = MistakeStream(
        terms,
        Average() if terms.variant == "averaged" else Last(),
        weights,
        labels=read_arrivals(spec.child("labels")),
        unit=spec.number("unit", 0.0, is_above=True),
    )
    fitted = spec.value.get("fitted")
    if not isinstance(fitted, list) or not all(type(n) is int for n in fitted):
        spec.refuse("fitted", "a list of whole numbers", fitted)
    stream._fitted = list(fitted)
    stream._n_fitted, stream._n_unguessed = spec.whole("n_fitted"), spec.whole("n_unguessed")
    return stream
