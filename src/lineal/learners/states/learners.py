"""Learners of matrices in a record.

The weights are the model's own; what is kept beside them is what a learner was told (its text), what a fit
tells (certificate, dual point, counts) and what a stream holds. Learners made of others keep their parts the
same way, by a method ``_stored_parts`` that names them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.deferred import is_a
from lineal.learners.online.model import StreamedModel
from lineal.learners.scoring import ScoringClassifier
from lineal.learners.spelling import build, spell
from lineal.learners.states.plain import plain
from lineal.learners.states.values import put_values, read_values
from lineal.model.heads import ClassesHead, Head, NumbersHead
from lineal.model.linear import Scores
from lineal.model.record import Draft, Spec

_BAYES = "lineal.learners.bayes.base:BaseNaiveBayes"
# Dual points of more numbers than this are left out: they grow with the data, not with the model.
_MOST_DUAL = 1 << 21
# Kept with the head, made again, or kept apart.
_APART = (
    "coef_",
    "intercept_",
    "trace_",
    "plan_",
    "dual_",
    "_stream",
    "_arrivals",
    "_linear",
    "_ordinary",
    "_pair",
    "since_",
    "transduction_",
    "dual_coef_",
    "kernel_",
    "_support",
    "slack_",
)


def put_learner(draft: Draft, place: str, learner: Any) -> dict[str, Any]:
    """Keeps what a learner knows beside its weights."""
    if is_a(learner, _BAYES) and learner.__dict__.get("_ordinary") is not None:
        _ = learner.typical_  # a stored model holds no rows, only how typical they were
    known = {k: v for k, v in vars(learner).items() if k not in learner.get_params(deep=False)}
    dual = known.get("dual_")
    if dual is not None and dual.size <= _MOST_DUAL:
        known["dual"] = dual
    known["n_fitted"] = 0 if dual is None else len(dual)
    parts = learner._stored_parts() if hasattr(learner, "_stored_parts") else {}
    kept: dict[str, Any] = {
        "learner": spell(plain(learner)),
        "attributes": put_values(
            draft, f"{place}.attributes", {k: v for k, v in known.items() if k not in (*_APART, *parts)}
        ),
    }
    if known.get("_stream") is not None or known.get("_arrivals") is not None:
        kept.update(_put_streams(draft, place, known))
    for name, part in parts.items():
        several = part if isinstance(part, list) else [part]
        kept[name] = [put_learner(draft, f"{place}.{name}.{k}", one) for k, one in enumerate(several)]
    return kept


def _put_streams(draft: Draft, place: str, known: dict[str, Any]) -> dict[str, Any]:
    from lineal.learners.states.streams import put_arrivals, put_stream

    kept = {}
    if known.get("_stream") is not None:
        kept["stream"] = put_stream(draft, f"{place}.stream", known["_stream"])
    if known.get("_arrivals") is not None:
        kept["arrivals"] = put_arrivals(draft, f"{place}.arrivals", known["_arrivals"])
    return kept


def _read_streams(spec: Spec, learner: Any) -> None:
    from lineal.learners.states.streams import read_arrivals, read_stream

    if spec.has("arrivals"):
        learner.__dict__["_arrivals"] = read_arrivals(spec.child("arrivals"))
    if spec.has("stream"):
        learner.__dict__["_stream"] = read_stream(spec.child("stream"), learner)


def read_learner(spec: Spec, head: Head) -> Any:
    """A learner that ``put_learner`` kept, with the weights of a head."""
    learner = build(spec.text("learner"))
    attributes = read_values(spec.child("attributes"))
    n_fitted, dual = attributes.pop("n_fitted", 0), attributes.pop("dual", None)
    learner.__dict__.update(attributes)
    if isinstance(learner, StreamedModel) and not spec.has("stream"):
        learner._n_fitted = n_fitted
        if dual is not None:
            learner.__dict__["dual_"] = dual
    if spec.has("stream") or spec.has("arrivals"):
        _read_streams(spec, learner)
    if spec.has("stream"):
        return learner
    if hasattr(learner, "_take_parts"):
        learner._take_parts({name: spec.children(name) for name in learner._part_names}, head, read_learner)
    elif hasattr(learner, "_take_head"):
        learner._take_head(head)
    else:
        _give_weights(learner, head)
    return learner


def _give_weights(learner: Any, head: Head) -> None:
    if not isinstance(head, (ClassesHead, NumbersHead)):
        raise TypeError("weights of one learner are needed")
    scores: Scores = head.linear
    linear = scores.linear
    if is_a(learner, _BAYES):
        learner._learn(learner._counts)
        learner.__dict__["_linear"] = linear  # the very bits, whatever the logarithms of this machine are
        return
    W, b = np.array(linear.W), np.array(linear.b)
    if isinstance(head, NumbersHead) and head.is_one:
        learner.coef_, learner.intercept_ = W[:, 0].copy(), float(b[0])
        return
    learner.coef_, learner.intercept_ = W.T, b
    if is_a(learner, "lineal.learners.fisher.discriminant:FisherDiscriminant"):
        learner._pair = None
    if isinstance(learner, ScoringClassifier):
        learner.classes_ = np.array(head.classes)
