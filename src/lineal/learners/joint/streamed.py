"""Learners over a joint map that meet examples one by one, and go on with those of a stream."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.errors import InputError, ParameterError
from lineal.features.joint import LARGEST
from lineal.learners.joint.model import JointModel
from lineal.learners.joint.online import JointWeights, OnStack, Terms
from lineal.learners.joint.stream import JointStream
from lineal.learners.online.arrivals import Arrivals
from lineal.learners.scoring import ScoringClassifier
from lineal.learners.targets import codes_among, named_labels, plain_array, require_targets
from lineal.objective.linear_maps import JointRows, NativeRows, native_csr
from lineal.objective.losses import FloatArray
from lineal.protocol import available_if, check_is_fitted


class StreamedJointModel(JointModel, ScoringClassifier):
    """What ``JointPerceptron`` and ``JointPassiveAggressive`` share."""

    n_seen_: int
    online_accuracy_: float
    _stream: JointStream | None = None
    # What a fit leaves behind and a stream does not have.
    _of_fits: tuple[str, ...] = ()

    def _check_options(self) -> None:
        """Refuses impossible options before any data are read."""
        raise NotImplementedError

    def _terms(self) -> Terms:
        """What stays as it is from the first example on."""
        raise NotImplementedError

    def _tell(self, stream: JointStream) -> None:
        """What the stream has to say of itself."""
        self._stream, self._columns = stream, stream.columns
        self.classes_ = stream.labels.known.values
        n = stream.n_judged
        self.n_seen_ = n
        self.online_accuracy_ = 1.0 - stream.n_wrong / n if n else float(np.nan)

    def _why_no_stream(self) -> str:
        """What these options need and a stream has not; empty if there is no such thing."""
        return ""

    # ---- learning -----------------------------------------------------------------------------

    def _training(
        self, X: Any, y: ArrayLike, largest: float = LARGEST
    ) -> tuple[NativeRows, NDArray[np.int32]]:
        """Options and data, checked; learns labels and features."""
        self._check_options()
        require_targets(self, y)
        things = self._read(X, reset=True)
        self.classes_, codes = self._classes(self._labels(y, len(things)))
        if len(self.classes_) < 2:
            raise InputError(
                "At least 2 classes are needed, but y has only one class: "
                f"{self.classes_.tolist()[0]!r}. Check the labels or the split, or name more in labels=."
            )
        return native_csr(self._stacked(things, is_learning=True, largest=largest), 1), codes

    def _begun_on(self, rows: NativeRows, codes: NDArray[np.int32], unit: float = 1.0) -> OnStack:
        """Weights that are 0, and what they are to learn from."""
        return OnStack(rows, codes, JointWeights(self._terms(), rows.n_columns, unit))

    def _stream_of(self, weights: JointWeights) -> JointStream:
        """What a fit leaves for more examples to come."""
        return JointStream(self._terms(), weights, self._columns, Arrivals().named(self.classes_))

    @available_if(lambda self: not self._why_no_stream())
    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Meets more examples, in their order: predicts each, is judged by it, and learns from it.

        Pieces of any size give the model of one pass, bit for bit; with all labels named it is that of
        ``fit`` with ``epochs=1, shuffle=False``. After ``fit`` the examples are met as in one more epoch.

        Parameters
        ----------
        X : sequence of things that phi takes
            phi is called once for each of them and each label that is known by then.
        y : sequence of labels
            New labels may come at any time, unless ``labels`` names them all. The first example of one is a
            mistake: it could not be predicted.
        classes : sequence of labels, optional
            Labels that are known from the start. None need be named.

        Returns
        -------
        self
        """
        require_targets(self, y)
        stream = self._begun()
        things = self._read(X, reset=False)
        labels = self._labels(y, len(things))
        known = self._known(stream, labels, classes)
        piece = stream.read(self.phi, things, labels, known)  # where it may be refused, and nothing changed
        for name in self._of_fits:
            self.__dict__.pop(name, None)
        try:
            stream.meet(piece)
        finally:
            self._tell(stream)
        return self

    def _begun(self) -> JointStream:
        """The stream so far, a new one, or one that goes on from a fit."""
        self._check_options()
        terms = self._terms()
        stream = JointStream(terms) if self._stream is None else self._stream
        if stream.terms != terms:
            raise ParameterError(
                f"options of {type(self).__name__} were changed in the middle of a stream, which began with "
                f"{stream.terms} and is now {terms}. Set them back, or begin anew with a clone."
            )
        return stream

    def _known(self, stream: JointStream, labels: NDArray[Any], classes: ArrayLike | None) -> Arrivals:
        """The labels that may be chosen from the first example of a piece on."""
        named = [] if classes is None else [named_labels(classes)]
        if self.labels is not None:
            allowed = plain_array(list(self.labels))
            for some in (labels, *named):
                codes_among(allowed, some, "Add them to labels=, or drop their rows.")
            named = [allowed]
        known = stream.labels
        for some in named:
            known = known.named(some)
        return known

    # ---- what was learnt ----------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        # Asked for only where there is no such attribute. Weights are made of what the stream holds.
        if name == "partial_fit":
            raise AttributeError(f"{type(self).__name__} has no partial_fit here: {self._why_no_stream()}")
        stream = self.__dict__.get("_stream")
        if stream is not None and name == "coef_":
            return stream.coef()
        if stream is not None and name == "feature_names_":
            return list(stream.columns)
        return object.__getattribute__(self, name)  # which says why there is none

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        assert isinstance(rows, JointRows)
        coef = self.coef_ if len(self._columns) else np.zeros(1)
        return rows.dot(coef[:, None])

    def decision_function(self, X: Any) -> FloatArray:
        """(n, K): w . phi(x, y) for each label, also where there are two."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score; at a tie the first."""
        places = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[places])
