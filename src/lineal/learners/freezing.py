"""From fitted estimators to frozen models and their files.

A model is a part that reads (``features_of``) and a part that answers (``head_of``). Learners made of others
say themselves what they answer with, by a method ``_frozen_head``. What cannot be stored is refused by name
before anything is written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

import lineal
from lineal.deferred import is_a
from lineal.errors import ParameterError
from lineal.learners.online.model import StreamedModel
from lineal.learners.scoring import ScoringClassifier
from lineal.learners.spelling import spell
from lineal.learners.states.estimators import put_estimator
from lineal.learners.states.plain import plain
from lineal.learners.targets import plain_array
from lineal.model.about import about_of
from lineal.model.features.base import Features
from lineal.model.features.rows import RowFeatures
from lineal.model.features.steps import Scaled, Step, SteppedFeatures, Taken
from lineal.model.features.texts import TextFeatures
from lineal.model.golden import put_golden
from lineal.model.heads import ClassesHead, Head, NumbersHead
from lineal.model.linear import LinearScores, Scores
from lineal.model.model import Model
from lineal.model.record import Draft
from lineal.protocol import check_is_fitted

if TYPE_CHECKING:
    from lineal.features.table import TableVectorizer
    from lineal.model.features.table import TableFeatures, UsedColumns
    from lineal.text.vectorizer import TextVectorizer

# Kinds that are told apart; who stores one kind need not load the others.
_PIPELINE = "sklearn.pipeline:Pipeline"
_PERCEPTRON = "lineal.learners.perceptron.streamed:StreamedPerceptron"
_BAYES = "lineal.learners.bayes."
_KERNEL_MACHINE = "lineal.learners.kernel.machine:KernelMachineModel"

_STORABLE = (
    "Models of linear scores can: TextClassifier, TextRegressor, TableClassifier, TableRegressor, "
    "LinearClassifier, LinearRegressor, their presets, online learners, perceptrons but the voted one, naive "
    "Bayes of counts, FisherDiscriminant, RankSVM, and OneVsRest, OneVsOne, OutputCode, Calibrated and "
    "SelfTraining of those; SVC, SVR, NuSVR and OneClassSVM of rows can, too. Keep others with pickle."
)


def save(model: Any, path: str | os.PathLike[str], *, about: Mapping[str, Any] | None = None) -> None:
    """Writes a fitted estimator, or a model that was loaded, to a file, whole or not at all.

    Parameters
    ----------
    model
        A fitted estimator of linear scores or a kernel machine of rows, a pipeline that ends with one, or a
        ``Model``.
    path
        The file, by custom ``name.lineal``. A file that is there is replaced when the new one is whole.
    about
        What to tell of the model beside what it knows itself: ``created``, ``n_rows``, ``fingerprint``,
        ``scores``, ``command``, ``plan``, ``columns``, ``notes``.

    Raises
    ------
    ParameterError
        For what cannot be stored, before anything is written.

    Examples
    --------
    >>> import tempfile, lineal
    >>> fitted = lineal.LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lineal.save(fitted, f"{folder}/levels.lineal", about={"notes": {"for": "the example"}})
    ...     lineal.load(f"{folder}/levels.lineal").predict([[0.2], [2.9]]).tolist()
    ['low', 'high']
    """
    if not isinstance(model, Model):
        freeze(model, about=about).save(path)
    elif about is None:
        model.save(path)
    else:
        told = {**model.about.put(), **about}
        Model({**model._record, "about": about_of(told).put()}, model._tensors).save(path)


def freeze(estimator: Any, *, about: Mapping[str, Any] | None = None) -> Model:
    """The frozen model of a fitted estimator: the same answers, bit for bit, and nothing that learns.

    Costs a copy of the weights; vocabularies are shared with the estimator.
    """
    features, learner = opened(estimator)
    head = head_of(learner)
    known = {
        "learner": " | ".join(spelled(estimator)),
        "plan": str(getattr(estimator, "plan_", "")),
        "version": lineal.__version__,
    }
    certificate = getattr(learner, "certificate_", None)
    draft = Draft()
    state = put_estimator(draft, "state", estimator)
    told = {**known, **(about or {})}
    return model_of(features, head, about=told, certificate=certificate, state=state, draft=draft)


def model_of(
    features: Features,
    head: Head,
    *,
    about: Mapping[str, Any] | None = None,
    certificate: Any = None,
    state: dict[str, Any] | None = None,
    draft: Draft | None = None,
) -> Model:
    """A model of its parts."""
    draft = Draft() if draft is None else draft
    record = {
        "about": about_of(about).put(),
        "features": features.put(draft, "features"),
        "head": head.put(draft, "head"),
        "certificate": None if certificate is None else _in_json(asdict(certificate)),
        "golden": put_golden(draft, "golden", features, head),
        "state": state,
    }
    for name, array in draft.tensors.items():
        shown = array.view()
        shown.flags.writeable = False
        draft.tensors[name] = shown
    return Model(record, draft.tensors)


def linear_model(
    features: Features,
    coef: ArrayLike,
    intercept: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    temperature: float | None = None,
    about: Mapping[str, Any] | None = None,
) -> Model:
    """A model of weights from anywhere: (n_scores, n_columns), one score for two classes or for a number."""
    W = np.ascontiguousarray(np.atleast_2d(np.asarray(coef)).T)
    b = np.atleast_1d(np.asarray(intercept, dtype=np.float64))
    W = W if W.dtype in (np.float32, np.float64) else W.astype(np.float64)
    if W.shape != (features.n_columns, len(b)):
        raise ParameterError(
            f"weights of shape {W.T.shape} and {len(b)} intercepts do not fit {features.n_columns} columns."
        )
    scores = Scores(LinearScores(W, np.broadcast_to(b, (W.shape[1],))))
    if classes is None:
        return model_of(features, NumbersHead(scores, is_one=np.ndim(coef) == 1), about=about)
    labels = plain_array(classes)
    if scores.n_scores != (1 if len(labels) == 2 else len(labels)):
        raise ParameterError(f"{len(labels)} classes need {1 if len(labels) == 2 else len(labels)} scores.")
    link = "none" if temperature is None else "softmax"
    head = ClassesHead(scores, labels, link, 1.0 if temperature is None else float(temperature))
    return model_of(features, head, about=about)


# ---- reading ----------------------------------------------------------------------------------


def opened(estimator: Any) -> tuple[Features, Any]:
    """The part of an estimator that reads, and the learner of matrices behind it."""
    if is_a(estimator, "lineal.learners.text.base:BaseTextModel"):
        check_is_fitted(estimator, "model_")
        is_short = isinstance(estimator.model_, (ScoringClassifier, StreamedModel))
        return text_features(estimator.vectorizers_, estimator.missing, is_short=is_short), estimator.model_
    if is_a(estimator, "lineal.learners.table.base:BaseTableModel"):
        check_is_fitted(estimator, "model_")
        return _features_of_table_model(estimator), estimator.model_
    if is_a(estimator, _PIPELINE):
        check_is_fitted(estimator)
        *steps, (_, learner) = estimator.steps
        transformers = [step for _, step in steps if step is not None and step != "passthrough"]
        if transformers:
            return features_of(transformers), learner
        estimator = learner
    check_is_fitted(estimator)
    return row_features(estimator), estimator


def _features_of_table_model(estimator: Any) -> Features:
    if not estimator._is_matrix:
        return table_features(estimator.vectorizers_, estimator._used_columns())
    rows = row_features(estimator)
    return (
        SteppedFeatures(rows, tuple(map(_step, estimator.vectorizers_))) if estimator.vectorizers_ else rows
    )


def features_of(transformers: Sequence[Any]) -> Features:
    """How a chain of fitted transformers reads, with NumPy and the core alone.

    The first may be a TextVectorizer or a TableVectorizer; ColumnScaler and selectors of columns may follow,
    or stand alone before rows of numbers.
    """
    first, *rest = transformers
    if is_a(first, "lineal.text.vectorizer:TextVectorizer"):
        inner: Features = text_features([first], first.missing)
    elif is_a(first, "lineal.features.table:TableVectorizer"):
        inner = table_features([first])
    else:
        inner, rest = row_features(first), [first, *rest]
    steps = tuple(_step(transformer) for transformer in rest)
    return SteppedFeatures(inner, steps) if steps else inner


def _step(transformer: Any) -> Step:
    if is_a(transformer, "lineal.features.scaling:ColumnScaler"):
        parts = (transformer._unit, transformer._offset, transformer._scale)
        unit, offset, scale = (np.array(part, dtype=np.float64) for part in parts)
        return Scaled(unit, offset, scale, bool(transformer.shift))
    if hasattr(transformer, "get_support"):  # a selector, whose class would load half of scikit-learn
        return Taken(np.flatnonzero(transformer.get_support()).astype(np.int64))
    raise ParameterError(
        f"a pipeline with {type(transformer).__name__} cannot be stored in a model file: TextVectorizer or "
        "TableVectorizer first, then ColumnScaler and selectors of columns can. Keep it with pickle."
    )


def table_features(
    vectorizers: Sequence[TableVectorizer], columns: UsedColumns | None = None
) -> TableFeatures:
    """How fitted vectorisers read, side by side; several need to be told which columns are looked at."""
    from lineal.model.features.table import TableFeatures

    is_dense = not all(vectorizer.sparse_output for vectorizer in vectorizers)
    return TableFeatures(tuple(vectorizer.reader() for vectorizer in vectorizers), columns, is_dense)


def text_features(
    vectorizers: Sequence[TextVectorizer], missing: str, *, is_short: bool = False
) -> TextFeatures:
    """How fitted vectorisers read, side by side."""
    for vectorizer in vectorizers:
        if vectorizer.functions:
            raise ParameterError(
                f"functions={sorted(vectorizer.functions)} are code, which a model file does not hold. Store "
                f"a model "
                "whose vectorizer has none, or keep this one with pickle."
            )
    return TextFeatures(tuple(vectorizer.reader() for vectorizer in vectorizers), missing, is_short)


def row_features(learner: Any) -> RowFeatures:
    """The matrices that a fitted learner takes."""
    names = getattr(learner, "feature_names_in_", None)
    stream = getattr(learner, "_stream", None)
    # A stream may bring new columns at any time; a perceptron that was fitted holds one too, and takes them
    # not.
    is_open = stream is not None and (not is_a(learner, _PERCEPTRON) or "n_seen_" in vars(learner))
    if is_a(learner, _KERNEL_MACHINE):
        learner._require_storable()
    _refuse_phi(learner)
    if not hasattr(learner, "n_features_in_"):
        refuse(learner)
    return RowFeatures(
        int(learner.n_features_in_), None if names is None else tuple(map(str, names)), is_open
    )


# ---- answering --------------------------------------------------------------------------------


def head_of(learner: Any) -> Head:
    """The part of a fitted learner that answers."""
    own = getattr(learner, "_frozen_head", None)
    if own is not None:
        made = own(head_of)
        assert isinstance(made, Head)
        return made
    _refuse_phi(learner)
    if is_a(learner, _BAYES + "counts:CountingNaiveBayes"):
        return _bayes_head(learner)
    if is_a(learner, "lineal.learners.fisher.discriminant:FisherDiscriminant"):
        return _fisher_head(learner)
    if isinstance(learner, ScoringClassifier):
        return _scoring_head(learner)
    if isinstance(learner, StreamedModel):
        is_one = np.ndim(learner.coef_) == 1
        return NumbersHead(_scores_of(learner), is_one)
    refuse(learner)


def _refuse_phi(learner: Any) -> None:
    if is_a(learner, "lineal.learners.joint.model:JointModel"):
        raise ParameterError(
            "phi is a function, and a model file holds no code. Store a LinearClassifier, or keep this one "
            "with pickle."
        )


def refuse(learner: Any) -> NoReturn:
    """Says that a learner cannot be stored, and which can."""
    package = type(learner).__module__.partition(".")[0]
    whose = "" if package == "lineal" else f" of {package}"
    raise ParameterError(f"{type(learner).__name__}{whose} cannot be stored in a model file. {_STORABLE}")


def _scores_of(learner: Any) -> Scores:
    """Weights as they are public, summed in the order in which the learner sums."""
    W, b = np.atleast_2d(learner.coef_).T, np.atleast_1d(learner.intercept_)
    if W.dtype.kind != "f" or W.itemsize not in (4, 8):
        W = W.astype(np.float64)
    is_stream = isinstance(learner, StreamedModel) and learner._stream is not None
    linear = LinearScores(np.ascontiguousarray(W), np.asarray(b, dtype=np.float64))
    return Scores(linear, "online" if is_stream else "dot")


def _scoring_head(learner: ScoringClassifier) -> ClassesHead:
    if is_a(learner, _PERCEPTRON) and hasattr(learner, "survivors_"):
        raise ParameterError(
            "a voted perceptron keeps every weight vector it ever had, which a model file does not hold. "
            "variant='averaged' is as good (Freund and Schapire 1999) and can be stored."
        )
    link, temperature = "none", 1.0
    if hasattr(learner, "predict_proba"):
        is_own = (
            is_a(learner, "lineal.learners.presets.stochastic:SGDClassifier")
            and learner.loss == "log_loss"
            and len(learner.classes_) > 2
        )
        link, temperature = "own" if is_own else "softmax", float(learner.temperature_)
    return ClassesHead(_scores_of(learner), _labels(learner), link, temperature)


def _bayes_head(learner: Any) -> ClassesHead:
    way = "capped" if is_a(learner, _BAYES + "text:ComplementNB") else "dot"
    threshold = learner._threshold if is_a(learner, _BAYES + "bernoulli:BernoulliNB") else None
    prior = np.array(learner.class_log_prior_, dtype=np.float64)
    return ClassesHead(Scores(learner._linear, way, threshold), _labels(learner), "joint", prior=prior)


def _fisher_head(learner: Any) -> ClassesHead:
    if len(learner.classes_) == 2 and learner.rule == "both" and learner._pair is not None:
        raise ParameterError(
            "FisherDiscriminant(rule='both') answers with two Gaussians, whose odds are no line. "
            "rule='crossing' and "
            "rule='pooled' are lines and can be stored."
        )
    linear = LinearScores(
        np.ascontiguousarray(learner.coef_.T), np.asarray(learner.intercept_, dtype=np.float64)
    )
    return ClassesHead(Scores(linear), _labels(learner), "softmax", 1.0)


def _labels(learner: Any) -> NDArray[Any]:
    return np.array(learner.classes_)


# ---- what is told ------------------------------------------------------------------------------


def spelled(estimator: Any) -> list[str]:
    """An estimator's steps in the language of learners: what a thawed one is built from.

    Functions that only watch or judge a fit are left out; one that the model itself is made with is refused.
    """
    steps = [step for _, step in estimator.steps] if is_a(estimator, _PIPELINE) else [estimator]
    try:
        return [spell(plain(step)) for step in steps if step is not None and step != "passthrough"]
    except ParameterError as error:
        raise ParameterError(
            f"a model file keeps how its learner is written, but {error} Fit with options that can be "
            f"written, "
            "or keep the model with pickle."
        ) from None


def _in_json(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: repr(v) if isinstance(v, float) and not np.isfinite(v) else v for name, v in values.items()}
