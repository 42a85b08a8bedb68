"""The frozen model: what ``lineal.load`` returns."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lineal.data.threads import thread_count
from lineal.errors import InputError, ModelFileError
from lineal.model import container
from lineal.model.about import About, about_of
from lineal.model.answers import FloatArray
from lineal.model.explanation import Explanation, TopFeature, top_features
from lineal.model.features.base import Features
from lineal.model.features.texts import TextFeatures
from lineal.model.golden import check_golden
from lineal.model.header import format_json
from lineal.model.heads import ClassesHead, Head, NumbersHead
from lineal.model.linear import Scores
from lineal.model.parts import read_features, read_head
from lineal.model.record import Spec

FORMAT, VERSION = "lineal", 2
# Vocabularies of more columns are put together, and golden predictions taken, when a model is first asked.
_AT_ONCE = 1 << 18


class _Available:
    """A method that some models have: without it there is no such attribute."""

    def __init__(self, is_there: Callable[[Head], bool], why: str) -> None:
        self._is_there, self._why = is_there, why

    def __call__(self, function: Callable[..., Any]) -> _Available:
        self._function = function
        self.__doc__ = function.__doc__
        return self

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self._function
        if not self._is_there(model._head):
            raise AttributeError(f"this model has no {self._function.__name__}: {self._why}")
        return self._function.__get__(model, owner)


class Model:
    """A fitted model, frozen: it predicts, explains and tells where it comes from, and cannot be changed.

    ``lineal.load(path)`` returns one. It needs NumPy and the native core alone, and answers with the same
    bits as the estimator that it was made from, for any number of threads.

    Attributes
    ----------
    task : "classification" or "regression"
    inputs : "texts", "table" or "rows": what ``predict`` takes
    classes_ : the labels, of a classification
    coef_, intercept_ : the weights, in scikit-learn's shapes; a kernel machine has none but with "linear"
    n_columns : how many features inputs become
    n_collisions : in how many hashed columns two or more terms of a fit met, or of the sample of a stream;
        None where terms are not hashed
    is_explained : whether ``explain`` and ``top_features`` answer, which needs sums of weights
    n_features_in_ : how many columns inputs have
    about : About
        Learner, version, data, scores.
    path : Path or None
        The file it was loaded from.
    size : int
        Bytes of the file, or of the arrays where there is none.

    Examples
    --------
    >>> import tempfile, lineal
    >>> fitted = lineal.Ridge().fit([[0.0], [1.0], [2.0]], [0.0, 2.0, 4.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lineal.save(fitted, f"{folder}/ridge.lineal")
    ...     model = lineal.load(f"{folder}/ridge.lineal")
    >>> model
    Model(regression from rows, 1 column, by Ridge())
    >>> bool(model.predict([[3.0]]) == fitted.predict([[3.0]]))
    True
    """

    _record: Mapping[str, Any]
    _tensors: Mapping[str, NDArray[Any]]
    _features: Features
    _head: Head
    about: About
    path: Path | None
    _own: dict[str, Any]

    def __init__(
        self, record: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]], path: Path | None = None
    ) -> None:
        spec = Spec(record, "", tensors)
        features = read_features(spec.child("features"))
        parts = {
            "_record": record,
            "_tensors": tensors,
            "_features": features,
            "_head": read_head(spec.child("head"), features.n_columns),
            "about": About.read(spec.child("about")),
            "path": path,
            "_own": {"is_checked": True},  # what is made when it is first needed
        }
        self.__dict__.update(parts)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(
            "a frozen model cannot be changed: lineal.learners.thawing.thaw(model) gives an estimator."
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a frozen model cannot be changed.")

    def __reduce__(self) -> tuple[Any, ...]:
        return Model, (
            self._record,
            {name: np.array(array) for name, array in self._tensors.items()},
            self.path,
        )

    # ---- what it is -------------------------------------------------------------------------------

    @property
    def task(self) -> str:
        """ "classification" or "regression"."""
        return "regression" if self._head.classes is None else "classification"

    @property
    def inputs(self) -> str:
        """ "texts", "table" or "rows"."""
        return self._features.kind

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        if self._head.classes is None:
            raise AttributeError("a regression has no classes_.")
        return self._head.classes

    @property
    def n_features_in_(self) -> int:
        """How many columns inputs have."""
        return self._features.n_inputs

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns of inputs."""
        names = self._features.input_names()
        if names is None:
            raise AttributeError("the columns of this model's inputs have no names.")
        return np.array(names, dtype=object)

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights: (n_scores, n_columns); (n_columns,) of a regression with one number."""
        W = np.concatenate([scores.linear.W for scores in self._linear_scores("coef_")], axis=1).T
        return W[0] if self._is_one_number else W

    @property
    def intercept_(self) -> Any:
        """The intercepts: (n_scores,), or a number."""
        b = np.concatenate([scores.linear.b for scores in self._linear_scores("intercept_")])
        return float(b[0]) if self._is_one_number else b

    def _linear_scores(self, asked: str) -> list[Scores]:
        found = self._head.scores
        if not found:
            raise AttributeError(f"this model has no {asked}: its kernel makes no weights of columns.")
        return found

    @property
    def _is_one_number(self) -> bool:
        return self._head.classes is None and getattr(self._head, "is_one", True)

    @property
    def n_columns(self) -> int:
        """How many features there are: the columns that weights would be for."""
        return self._features.n_columns

    @property
    def n_collisions(self) -> int | None:
        """In how many hashed columns two or more terms were met; None where terms are not hashed."""
        return self._features.n_collisions

    @property
    def is_explained(self) -> bool:
        """Whether scores are sums of shares of features: whether ``explain`` and ``top_features`` answer."""
        return self._head.has_weights

    @property
    def certificate_(self) -> Any:
        """The certificate of the fit, or None."""
        kept = self._record.get("certificate")
        if kept is None:
            return None
        from lineal.objective.certificate import Certificate  # with SciPy, which predicting does without

        try:
            return Certificate.of_record({name: _number(value) for name, value in kept.items()})
        except (TypeError, ValueError, AttributeError):
            raise ModelFileError("the model's record is damaged: certificate is no certificate.") from None

    @property
    def size(self) -> int:
        """Bytes of the file, or of the arrays where there is none."""
        if self.path is not None and self.path.exists():
            return self.path.stat().st_size
        return sum(array.nbytes for array in self._tensors.values())

    def __repr__(self) -> str:
        n = self._features.n_columns
        by = f", by {self.about.learner}" if self.about.learner else ""
        return f"Model({self.task} from {self.inputs}, {n:,} column{'s' if n != 1 else ''}{by})"

    def __sklearn_tags__(self) -> Any:
        from lineal.protocol import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        is_classifier = self.task == "classification"
        return Tags(
            estimator_type="classifier" if is_classifier else "regressor",
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags() if is_classifier else None,
            regressor_tags=None if is_classifier else RegressorTags(),
            input_tags=InputTags(
                two_d_array=self.inputs == "rows", sparse=self.inputs == "rows", string=self.inputs != "rows"
            ),
            requires_fit=False,
        )

    # ---- prediction -------------------------------------------------------------------------------

    def _raw(self, X: Any) -> FloatArray:
        if not self._own["is_checked"]:
            self.check()
        if type(X) is list and len(X) == 1 and type(X[0]) is str:
            scorer = self._own.get("scorer", False)
            if scorer is False:
                scorer = self._own["scorer"] = self._made_scorer()
            if scorer is not None:
                return np.reshape(scorer(X[0]), (1, -1))
        return self._head.raw(self._features.rows(X, thread_count(None)))

    def _made_scorer(self) -> Any:
        """Scores of one text straight from the text, where texts and scores allow that."""
        if not isinstance(self._features, TextFeatures) or not isinstance(
            self._head, (ClassesHead, NumbersHead)
        ):
            return None
        (scores,) = self._head.scores
        if scores.linear.barrier is not None or scores.threshold is not None or scores.way == "capped":
            return None
        return self._features.scorer(scores.linear.W, scores.linear.b)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels, or numbers.

        Parameters
        ----------
        X : texts, a table or rows
            As ``inputs`` says; whatever the estimator takes. No rows give no answers.
        """
        return self._head.predict(self._raw(X))

    @_Available(lambda head: head.has_decision, "its answers do not follow from scores alone.")
    def decision_function(self, X: Any) -> FloatArray:
        """Scores: (n,) for two classes, where >= 0 means ``classes_[1]``; (n, K) for more."""
        return self._head.decision(self._raw(X))

    @_Available(lambda head: head.has_probabilities, "its learner gives scores, which were not calibrated.")
    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) probabilities whose largest entry is always the predicted label's."""
        return self._head.probabilities(self._raw(X))

    def answers(self, X: Any) -> tuple[NDArray[Any], FloatArray | None]:
        """``predict`` and ``predict_proba`` from one look at X; None where there are no probabilities."""
        return self._answered(self._raw(X))

    def answers_of_rows(self, rows: Any) -> tuple[NDArray[Any], FloatArray | None]:
        """The same for inputs that were read already, by features that are the model's."""
        return self._answered(self._head.raw(rows))

    def _answered(self, raw: FloatArray) -> tuple[NDArray[Any], FloatArray | None]:
        p = self._head.probabilities(raw) if self._head.has_probabilities else None
        return self._head.predict(raw), p

    # ---- what it has learned ----------------------------------------------------------------------

    def get_feature_names_out(self) -> NDArray[np.object_]:
        """The names of the columns, in the order of ``coef_``; made when they are asked for."""
        if "names" not in self._own:
            self._own["names"] = np.array(self._features.names(), dtype=object)
        return self._own["names"]

    def explain(self, x: Any, label: Any = None) -> Explanation:
        """Why an input got its score for a label (its predicted one): every column's exact share.

        Parameters
        ----------
        x : a text, a dict of columns, or a row
        label : one of ``classes_``, optional
            Of a regression with several numbers: which of them, 0 unless said otherwise.
        """
        one = self._features.single(x)
        place, label = self._place(one, label)
        weights, intercept = self._head.weights_for(place)
        rows = self._features.rows(one, 1)
        if rows.n_rows != 1:
            raise InputError(f"One input is explained at a time, but {rows.n_rows} came.")
        found = self._features.explanation(x, rows, label, weights, intercept)
        first = self._first_index
        if first is None:
            return found
        terms = [replace(term, name=_as_counted(term.name, first)) for term in found.terms]
        return replace(found, terms=terms)

    @property
    def _first_index(self) -> int | None:
        """Where the file that was learned from counts its columns from, if it numbers them."""
        first = (self.about.columns or {}).get("first_index")
        is_numbered = isinstance(first, int) and self._features.input_names() is None
        return first if is_numbered else None

    def _place(self, one: Any, label: Any) -> tuple[int, Any]:
        """Which score is explained, and what it is called."""
        classes = self._head.classes
        if classes is None:
            n = self._head.width
            if label is None:
                return 0, "prediction"
            if not isinstance(label, (int, np.integer)) or not 0 <= label < n:
                raise InputError(f"{label!r} is not one of the numbers that are predicted: 0 to {n - 1}.")
            return int(label), label
        if label is None:
            label = self.predict(one)[0]
        places = [place for place, known in enumerate(classes.tolist()) if known == label]
        if len(places) != 1:
            raise InputError(f"{label!r} is not one of the labels: {classes.tolist()!r}.")
        return places[0], label

    def top_features(self, k: int = 10) -> dict[Any, list[TopFeature]]:
        """For each label the k features that speak most for it; of numbers those that raise or lower them."""
        if self._head.classes is None:
            weights, _ = self._head.weights_for(0)
            return {"raise": self._top(weights, k), "lower": self._top(weights, k, -1.0)}
        labels = self._head.classes.tolist()
        return {label: self._top(self._head.weights_for(place)[0], k) for place, label in enumerate(labels)}

    def _top(self, weights: FloatArray, k: int, sign: float = 1.0) -> list[TopFeature]:
        """The names of the few are made, and of no others."""
        found = top_features(range(len(weights)), weights, k, sign)
        names = self._features.names_of([int(feature.name) for feature in found])
        if (first := self._first_index) is not None:
            names = [_as_counted(name, first) for name in names]
        return [TopFeature(name, feature.weight) for name, feature in zip(names, found, strict=True)]

    # ---- the file ---------------------------------------------------------------------------------

    def check(self) -> None:
        """Takes the golden predictions again; ModelFileError if they differ by more than rounding."""
        try:
            spec = Spec(self._record, "", self._tensors).child("golden")
            check_golden(spec, self._features, self._head)
        except ModelFileError:
            raise
        except (IndexError, KeyError, TypeError, ValueError) as flaw:
            raise ModelFileError(f"the model cannot read its golden inputs: {flaw}") from None
        self._own["is_checked"] = True

    def _check_soon(self) -> None:
        """Checks at once, or, where that would make loading slow, before the first prediction."""
        self._own["is_checked"] = False
        if not isinstance(self._features, TextFeatures) or self._features.n_columns <= _AT_ONCE:
            self.check()

    def with_about(self, **changes: Any) -> Model:
        """The same model, with other words about it."""
        known = {field.name: getattr(self.about, field.name) for field in fields(self.about)}
        told = about_of({**known, **changes})
        same = object.__new__(Model)
        same.__dict__.update(self.__dict__, _record={**self._record, "about": told.put()}, about=told)
        same.__dict__["_own"] = {"is_checked": self._own["is_checked"]}
        return same

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, whole or not at all; the same model gives the same bytes."""
        record = dict(self._record)
        record["checksums"] = {name: checksum(self._tensors[name]) for name in sorted(self._tensors)}
        text = format_json(record)
        metadata = {"format": FORMAT, "version": str(VERSION), "lineal": text}
        container.write(path, self._tensors, metadata | {"checksum": str(zlib.crc32(text.encode()))})


def checksum(array: NDArray[Any]) -> int:
    """A number that changes with any byte of an array: CRC-32."""
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b"")


def _number(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf", "nan") else value


def _as_counted(name: str, first_index: int) -> str:
    """A column without a name of its own, x0, x1 ..., as a file that numbers its columns calls it."""
    return str(int(name[1:]) + first_index) if name[:1] == "x" and name[1:].isdecimal() else name
