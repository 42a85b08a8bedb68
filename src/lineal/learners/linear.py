"""Linear models of any loss and penalty: a classifier and a regressor."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from lineal.data import checked_rows, thread_count
from lineal.errors import InputError, InputTypeError, NotCertifiedWarning, ParameterError
from lineal.learners.progress import GapBar
from lineal.objective import L2, Intercept, Log, Loss, NoPenalty, Penalty, Problem, Squared
from lineal.objective.losses import FloatArray
from lineal.objective.rows import NumpyRows, Rows
from lineal.solvers import Budget, Plan, Solver, Start, minimise, plan
from lineal.solvers.driver import Callback


class LinearModel(BaseEstimator):
    """What classifier, regressor and presets share: from X, y and options to a certified fit.

    A subclass says what its loss and penalty are (``_objective``) and how targets are coded
    (``_targets``); everything else happens here.
    """

    _needs_tol: ClassVar[float]

    # Options that presets may not have, with what they mean when absent.
    solver: str | Solver = "auto"
    tol: float | None = None
    fit_intercept: bool = True
    penalize_intercept: bool = False
    max_seconds: float | None = None
    max_epochs: int | None = None
    n_threads: int | None = None
    random_state: Any = None
    progress: bool = False
    callbacks: Sequence[Callback] = ()
    warm_start: bool = False

    # ---- what subclasses say ------------------------------------------------------------------

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        """The loss and the penalty; ``n_classes`` is 0 for regression."""
        raise NotImplementedError

    _example_loss: ClassVar[str] = "Log()"

    def _epoch_limit(self) -> int | None:
        return self.max_epochs

    def _chosen_solver(self) -> str | Solver:
        return self.solver

    # ---- options ------------------------------------------------------------------------------

    @property
    def _tolerance(self) -> float:
        if self.tol is None:
            return self._needs_tol
        if not isinstance(self.tol, numbers.Real) or not self.tol > 0:
            raise ParameterError(f"tol is a relative duality gap and must be > 0, got {self.tol!r}.")
        return float(self.tol)

    def _check_options(self) -> None:
        """Refuses impossible options and pairs before any data are read."""
        _ = self._tolerance, self._seed(), thread_count(self.n_threads)
        seconds, limit = self.max_seconds, self._epoch_limit()
        if seconds is not None and not (isinstance(seconds, numbers.Real) and seconds > 0):
            raise ParameterError(f"max_seconds must be a number > 0 or None, got {seconds!r}.")
        if limit is not None and not (isinstance(limit, numbers.Integral) and limit >= 1):
            raise ParameterError(f"the limit on epochs must be a whole number >= 1 or None, got {limit!r}.")
        if not isinstance(self.callbacks, Iterable) or not all(callable(c) for c in self.callbacks):
            raise ParameterError(f"callbacks must be a sequence of functions, got {self.callbacks!r}.")
        loss, penalty = self._objective(1.0, 2)
        if not isinstance(penalty, Penalty):
            raise ParameterError(f"penalty must be a Penalty such as L2(1.0), got {penalty!r}.")
        if not isinstance(loss, Loss) or loss.is_joint:
            raise ParameterError(
                f"loss must be a loss of one score such as {self._example_loss}, got {loss!r}."
            )
        # Whether loss, penalty and solver go together does not depend on the data: one row tells.
        row = Problem(
            NumpyRows(np.zeros((1, 1))), np.ones((1, 1)), np.ones(1), loss, penalty, Intercept.NONE, 1
        )
        plan(row, self._chosen_solver())

    def _intercept(self, penalty: Penalty) -> Intercept:
        if not self.fit_intercept:
            return Intercept.NONE
        # Nothing is penalised by NoPenalty, whatever it is shown.
        penalised = self.penalize_intercept and not isinstance(penalty, NoPenalty)
        return Intercept.PENALIZED if penalised else Intercept.FREE

    def _seed(self) -> int:
        if self.random_state is None:
            return 0  # the same data give the same model, unless another seed is asked for
        if isinstance(self.random_state, numbers.Integral):
            return int(self.random_state) % 2**63
        if isinstance(self.random_state, (np.random.RandomState, np.random.Generator)):
            draw = "integers" if isinstance(self.random_state, np.random.Generator) else "randint"
            return int(getattr(self.random_state, draw)(2**31 - 1))
        raise ParameterError(
            f"random_state must be None, a whole number or a generator, got {self.random_state!r}."
        )

    # ---- fitting ------------------------------------------------------------------------------

    def _rows(self, X: Any, *, reset: bool) -> Rows:
        array = self._read(X, reset=reset)
        names = getattr(self, "feature_names_in_", None)
        return checked_rows(array, thread_count(self.n_threads), names)

    def _read(self, X: Any, *, reset: bool) -> Any:
        """X as a float array or SciPy matrix; scikit-learn's refusals become this library's."""
        try:
            return validate_data(
                self, X, reset=reset, accept_sparse=("csr", "csc", "coo"), accept_large_sparse=True,
                dtype=(np.float64, np.float32), ensure_all_finite=False, order="C",
            )  # fmt: skip
        except InputError:
            raise
        except ValueError as error:
            is_kind = any(words in str(error) for words in ("could not convert", "Complex data"))
            kind = InputTypeError if is_kind else InputError
            raise kind(str(error)) from error
        except TypeError as error:
            raise InputTypeError(str(error)) from error

    def _minimise(self, problem: Problem) -> None:
        """Runs the plan and stores what every learner stores."""
        tol = self._tolerance
        self.plan_: Plan = plan(problem, self._chosen_solver())
        bar = GapBar(tol) if self.progress else None
        callbacks: list[Callback] = [*self.callbacks, *([bar] if bar else [])]
        budget = Budget(self.max_seconds, self._epoch_limit(), callbacks)
        try:
            solution = minimise(
                problem,
                self.plan_.solvers,
                tol=tol,
                budget=budget,
                start=self._start(problem),
                seed=self._seed(),
            )
        finally:
            if bar:
                bar.close()
        self.certificate_ = solution.certificate
        self.trace_ = solution.trace
        self.n_iter_ = max(1, solution.certificate.epochs)
        self.dual_ = solution.U
        b = solution.b
        if problem.loss.is_joint and problem.intercept is Intercept.FREE:
            b = b - b.mean()  # joint losses see only differences of scores: a common shift is a convention
        self._weights = (solution.W, b)
        if not solution.certificate.converged:
            message = f"{type(self).__name__} is {solution.certificate}."
            warnings.warn(message, NotCertifiedWarning, stacklevel=3)

    def _start(self, problem: Problem) -> Start | None:
        if not self.warm_start or not hasattr(self, "_weights"):
            return None
        W, b = self._weights
        if W.shape != (problem.X.n_columns, problem.n_outputs):
            return None
        U = self.dual_ if self.dual_.shape == (problem.X.n_rows, problem.n_outputs) else None
        return Start(W, b, U)

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        W, b = np.atleast_2d(self.coef_).T, np.atleast_1d(self.intercept_)
        return self._rows(X, reset=False).dot(np.ascontiguousarray(W, dtype=np.float64)) + b

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def weights_of_rows(sample_weight: Any, n_rows: int) -> FloatArray:
    """(n,) non-negative float64 weights, at least one of them positive."""
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, numbers.Number):
        s = np.full(n_rows, float(sample_weight))  # type: ignore[arg-type]
    else:
        try:
            s = np.array(plain_array(sample_weight), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"sample_weight must be numbers: {error}.") from error
    if s.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, got an array of {s.ndim} dimensions.")
    if s.shape != (n_rows,):
        raise InputError(
            f"sample_weight has {s.shape[0]} entries for {n_rows} rows: "
            f"sample_weight.shape == {s.shape}, expected {(n_rows,)}!"
        )
    if not np.isfinite(s).all() or (s < 0).any():
        bad = int(np.flatnonzero(~np.isfinite(s) | (s < 0))[0])
        raise InputError(f"sample_weight must be finite and >= 0, got {s[bad]} at row {bad}.")
    if not s.any():
        raise InputError("every sample_weight is zero, so there is nothing to learn from.")
    return s


def plain_array(y: Any) -> NDArray[Any]:
    """Targets as a NumPy array, whatever library they come from."""
    if hasattr(y, "to_pylist"):  # pyarrow, whose own conversion refuses what it would have to copy
        y = y.to_pylist()
    elif hasattr(y, "to_numpy"):
        return np.asarray(y.to_numpy())
    try:
        return np.asarray(y)
    except ValueError:  # labels of several shapes, such as tuples beside text
        labels = np.empty(len(y), dtype=object)
        labels[:] = list(y)
        return labels


def classes_and_codes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The sorted labels and each row's place; labels that cannot be compared sort by type and text."""
    try:
        classes = np.unique(y)
        if len(classes) == 2 and y.dtype.kind != "O":  # the usual case needs one comparison a row
            return classes, (y == classes[1]).astype(np.int32)
        codes = np.searchsorted(classes, y)  # much cheaper than the sort behind return_inverse
    except TypeError:
        labels = sorted(set(y.tolist()), key=lambda label: (type(label).__name__, repr(label)))
        place = {label: i for i, label in enumerate(labels)}
        classes = np.empty(len(labels), dtype=object)
        classes[:] = labels
        codes = np.array([place[label] for label in y.tolist()])
    return classes, codes.astype(np.int32)


class BaseLinearClassifier(ClassifierMixin, LinearModel):
    """Shared by the classifier and its presets."""

    _needs_tol = 1e-3
    class_weight: Any = None
    probability: bool = False

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the weights and proves how good they are.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
            Numbers; zeros of sparse data stay unstored.
        y : sequence of n_rows labels
            Anything hashable: text, numbers, booleans.
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        self._check_options()
        rows = self._rows(X, reset=True)
        labels = self._labels(y, rows.n_rows)
        self.classes_, codes = classes_and_codes(labels)
        s = weights_of_rows(sample_weight, rows.n_rows)
        if np.count_nonzero(np.bincount(codes, weights=s)) < 2:
            raise InputError(
                f"{type(self).__name__} needs at least 2 classes in the data, but y has only one class "
                f"with weight: {self.classes_[codes[s > 0][0]]!r}. Check the labels or the split."
            )
        problem = self._pose(rows, codes, s)
        self._minimise(problem)
        W, b = self._weights
        self.coef_: FloatArray = W.T
        self.intercept_: FloatArray = b
        if self._is_likelihood(problem):
            self.temperature_ = 1.0
        elif self.probability:
            self.temperature_ = self._calibrate(X, labels, s)
        elif hasattr(self, "temperature_"):
            del self.temperature_
        return self

    def _labels(self, y: ArrayLike, n_rows: int) -> NDArray[Any]:
        labels = plain_array(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected; it is flattened.",
                _column_warning(), stacklevel=3,
            )  # fmt: skip
            labels = labels[:, 0]
        if labels.ndim != 1:
            raise InputError(
                f"y should be a 1d array of labels, got an array of shape {labels.shape} instead."
            )
        if len(labels) != n_rows:
            raise InputError(
                f"X and y have inconsistent numbers of samples: {n_rows} rows and {len(labels)} labels."
            )
        if labels.dtype.kind == "O" and any(label != label for label in labels.tolist()):
            raise InputError("y contains NaN among its labels. Drop those rows or name the label.")
        if labels.dtype.kind == "f":
            if not np.isfinite(labels).all():
                raise InputError(
                    f"y contains NaN or infinity at row {int(np.flatnonzero(~np.isfinite(labels))[0])}."
                )
            check_classification_targets(labels)
        return labels

    def _pose(self, rows: Rows, codes: NDArray[np.int32], s: FloatArray) -> Problem:
        """Labels as rows of W: one for two classes; K for more, jointly where the loss can."""
        K = len(self.classes_)
        if self.class_weight is not None:
            present = np.unique(codes)
            factors = np.ones(K)
            factors[present] = compute_class_weight(
                self._named_class_weight(), classes=present, y=codes, sample_weight=s
            )
            s = s * factors[codes]
        loss, penalty = self._objective(float(s.sum()), K)
        intercept = self._intercept(penalty)
        if K == 2:
            y = np.where(codes == 1, 1.0, -1.0)[:, None]
            return Problem(rows, y, s, loss, penalty, intercept, 1)
        if loss.joint is not None and not self._one_vs_rest():
            return Problem(rows, codes, s, loss.joint(), penalty, intercept, K)
        y = np.where(codes[:, None] == np.arange(K), 1.0, -1.0)
        return Problem(rows, y, s, loss, penalty, intercept, K)

    def _one_vs_rest(self) -> bool:
        """Whether to ignore a loss's joint form."""
        return False

    def _named_class_weight(self) -> Any:
        if not (isinstance(self.class_weight, dict) or self.class_weight == "balanced"):
            raise ParameterError(
                f"class_weight must be a dict, 'balanced' or None, got {self.class_weight!r}."
            )
        if isinstance(self.class_weight, dict):
            place = {label: i for i, label in enumerate(self.classes_.tolist())}
            unknown = [label for label in self.class_weight if label not in place]
            if unknown:
                raise ParameterError(f"class_weight names labels that are not in y: {unknown}.")
            for label, weight in self.class_weight.items():
                if not isinstance(weight, numbers.Real) or not 0 <= float(weight) < np.inf:
                    raise ParameterError(
                        f"class_weight must be finite and >= 0, got {weight!r} for {label!r}."
                    )
            return {place[label]: weight for label, weight in self.class_weight.items()}
        return self.class_weight

    # ---- prediction ---------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """Scores: (n,) for two classes, where >= 0 means ``classes_[1]``; (n, K) for more."""
        Z = self._scores(X)
        return Z[:, 0] if Z.shape[1] == 1 else Z

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score; at a tie two classes take the second, more take the first."""
        winners = _winners(self._scores(X))
        return np.asarray(self.classes_[winners])

    def _has_probabilities(self) -> bool:
        if hasattr(self, "certificate_"):
            return hasattr(self, "temperature_")
        loss, _ = self._objective(1.0, 2)
        return isinstance(loss, Log) or self.probability

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) probabilities whose largest entry is always the predicted label's.

        They come from the model where its loss is a likelihood (``Log``). Other losses give scores, not
        probabilities: with ``probability=True`` one number, a temperature, is fitted on held-out folds;
        it cannot change which label is largest.
        """
        Z = self._scores(X)
        p = probabilities(Z, self.temperature_)
        rows, winners = np.arange(len(p)), _winners(Z)
        # Rounding, or a tie, must not let another label stand where the winner stands.
        lost = p.argmax(axis=1) != winners
        p[rows[lost], winners[lost]] = np.nextafter(p.max(axis=1)[lost], 2.0)
        return p

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @staticmethod
    def _is_likelihood(problem: Problem) -> bool:
        return (isinstance(problem.loss, Log) and problem.n_outputs == 1) or type(
            problem.loss
        ).__name__ == "Softmax"

    def _calibrate(self, X: Any, labels: NDArray[Any], s: FloatArray) -> float:
        """The temperature that makes held-out scores most likely, by out-of-fold scores and a line search."""
        array = validate_data(self, X, reset=False, accept_sparse="csr", ensure_all_finite=False)
        _, codes = classes_and_codes(labels)
        folds = int(min(5, np.bincount(codes).min()))
        if folds < 2:
            raise InputError("probability=True needs at least 2 rows of every class, to hold some out.")
        Z = np.empty((len(codes), 1 if len(self.classes_) == 2 else len(self.classes_)))
        for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(codes, codes):
            params = {**self.get_params(deep=False), "probability": False}
            params.update({"warm_start": False} if "warm_start" in params else {})
            model = type(self)(**params).fit(array[train], labels[train], s[train])
            Z[test] = model._scores(array[test])
        return fitted_temperature(Z, codes, s)


def _column_warning() -> type[Warning]:
    from sklearn.exceptions import DataConversionWarning

    return DataConversionWarning


def _winners(Z: FloatArray) -> NDArray[np.intp]:
    return (Z[:, 0] >= 0).astype(np.intp) if Z.shape[1] == 1 else Z.argmax(axis=1)


def probabilities(Z: FloatArray, temperature: float) -> FloatArray:
    """Softmax of scores over a temperature; two classes from their one score."""
    if Z.shape[1] == 1:
        p = expit(Z[:, 0] / temperature)
        return np.column_stack([1.0 - p, p])
    return np.asarray(softmax(Z / temperature, axis=1))


def fitted_temperature(Z: FloatArray, codes: NDArray[np.int32], s: FloatArray) -> float:
    """The temperature of least log loss, found on a logarithmic scale."""
    from scipy.optimize import minimize_scalar

    rows = np.arange(len(codes))

    def log_loss(log_temperature: float) -> float:
        p = probabilities(Z, float(np.exp(log_temperature)))[rows, codes]
        return float(-np.dot(s, np.log(np.maximum(p, 1e-300))))

    return float(np.exp(minimize_scalar(log_loss, bounds=(-10.0, 10.0), method="bounded").x))


class LinearClassifier(BaseLinearClassifier):
    """A linear classifier: any margin loss, any penalty, a certificate with every fit.

    The objective is stated in :class:`lineal.objective.Problem`. Two classes share one row of weights;
    K > 2 classes have a row each, fitted jointly for ``Log`` (softmax) and ``Hinge`` (Crammer-Singer),
    one-vs-rest for the other losses.

    Parameters
    ----------
    loss : Loss
        ``Log()``, ``Hinge()``, ``SquaredHinge()``, ``ModifiedHuber()``, ``Squared()`` ...
    penalty : Penalty
        ``L2(strength)``, ``L1(strength)``, ``ElasticNet(l1, l2)``, ``Lp(strength, p)``, ``NoPenalty()``.
    solver : "auto", a solver's name, or a Solver
        Changes the time, never the answer; ``plan_`` says which was taken and why.
    tol : float, optional
        The relative duality gap to certify; 1e-3 if not given.
    fit_intercept, penalize_intercept : bool
        The intercept is free unless ``penalize_intercept=True`` (LIBLINEAR's behaviour).
    class_weight : dict, "balanced" or None
        Factors on the weights of the rows of each class.
    probability : bool
        Whether to calibrate probabilities for losses that are not likelihoods (costs five fits).
    max_seconds, max_epochs : optional
        Budgets. A fit that runs out returns its best model, with its certificate and a warning.
    n_threads : int, optional
        Changes the time, never a bit; ``LINEAL_NUM_THREADS`` or all cores if not given.
    random_state : int or generator, optional
        Orders the rows of stochastic solvers; the same seed gives the same model.
    progress : bool
        Shows the gap falling, on a terminal.
    callbacks : sequence of callables
        Called with (epoch, primal, dual, gap, seconds) at certified points; returning True stops the fit.
    warm_start : bool
        Whether ``fit`` starts from the last fit's weights.

    Attributes
    ----------
    coef_ : (1, d) for two classes, (K, d) for more
    intercept_ : (1,) or (K,)
    classes_ : the labels, sorted
    certificate_ : Certificate
    trace_ : the certified points on the way
    plan_ : which solver, and why
    dual_ : the dual point of the certificate
    n_iter_ : passes over the data

    Examples
    --------
    >>> from lineal import LinearClassifier
    >>> from lineal.objective import Hinge, L2
    >>> model = LinearClassifier(loss=Hinge(), penalty=L2(0.1))
    >>> model.fit([[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"]).predict([[0.5], [9.0]])
    array(['low', 'high'], dtype='<U4')
    >>> model.certificate_.converged
    True
    """

    def __init__(
        self,
        loss: Loss = Log(),
        penalty: Penalty = L2(1.0),
        *,
        solver: str | Solver = "auto",
        tol: float | None = None,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        class_weight: Any = None,
        probability: bool = False,
        max_seconds: float | None = None,
        max_epochs: int | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
        progress: bool = False,
        callbacks: Sequence[Callback] = (),
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.probability = probability
        self.max_seconds = max_seconds
        self.max_epochs = max_epochs
        self.n_threads = n_threads
        self.random_state = random_state
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        return self.loss, self.penalty


class BaseLinearRegressor(RegressorMixin, LinearModel):
    """Shared by the regressor and its presets."""

    _needs_tol = 1e-4
    _example_loss = "Squared()"

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the weights and proves how good they are.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
        y : (n_rows,) numbers, or (n_rows, K) for K regressions at once
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        self._check_options()
        rows = self._rows(X, reset=True)
        targets = self._targets(y, rows.n_rows)
        s = weights_of_rows(sample_weight, rows.n_rows)
        self._minimise(self._pose(rows, targets.reshape(rows.n_rows, -1), s))
        W, b = self._weights
        self.coef_: FloatArray = W[:, 0].copy() if targets.ndim == 1 else W.T
        self.intercept_: Any = float(b[0]) if targets.ndim == 1 else b
        return self

    def _targets(self, y: ArrayLike, n_rows: int) -> FloatArray:
        raw = plain_array(y)
        if raw.dtype.kind == "c":
            raise InputError("Complex data not supported as y.")
        try:
            targets = raw.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"y must be numbers for {type(self).__name__}, got {raw.dtype}: {error}."
            ) from error
        if targets.ndim == 2 and targets.shape[1] == 1 and not hasattr(y, "columns"):
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected; it is flattened.",
                _column_warning(), stacklevel=3,
            )  # fmt: skip
            targets = targets[:, 0]
        if targets.ndim not in (1, 2) or len(targets) != n_rows:
            raise InputError(
                f"X and y have inconsistent numbers of samples: {n_rows} rows, y of shape {targets.shape}."
            )
        if not np.isfinite(targets).all():
            bad = int(np.flatnonzero(~np.isfinite(targets.reshape(n_rows, -1)).all(axis=1))[0])
            raise InputError(f"y contains NaN or infinity, first at row {bad}. Drop those rows.")
        return targets

    def _pose(self, rows: Rows, y: FloatArray, s: FloatArray) -> Problem:
        loss, penalty = self._objective(float(s.sum()), 0)
        if loss.is_margin:
            raise ParameterError(
                f"{type(self).__name__} needs a regression loss such as Squared(), got {loss!r}."
            )
        return Problem(rows, np.ascontiguousarray(y), s, loss, penalty, self._intercept(penalty), y.shape[1])

    def predict(self, X: Any) -> FloatArray:
        """X w + b; (n,) or (n, K) as the targets were."""
        Z = self._scores(X)
        return Z[:, 0] if np.ndim(self.coef_) == 1 else Z

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class LinearRegressor(BaseLinearRegressor):
    """A linear regressor: any regression loss, any penalty, a certificate with every fit.

    The objective is stated in :class:`lineal.objective.Problem`; parameters and attributes are those of
    :class:`LinearClassifier`, with ``Squared()`` as the default loss and 1e-4 as the default ``tol``.

    Examples
    --------
    >>> from lineal import LinearRegressor
    >>> from lineal.objective import Absolute, NoPenalty
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 5.0, 7.0, 90.0]
    >>> model = LinearRegressor(loss=Absolute(), penalty=NoPenalty(), tol=1e-8).fit(X, y)
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([2.]), 1.0)
    """

    def __init__(
        self,
        loss: Loss = Squared(),
        penalty: Penalty = L2(1.0),
        *,
        solver: str | Solver = "auto",
        tol: float | None = None,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        max_seconds: float | None = None,
        max_epochs: int | None = None,
        n_threads: int | None = None,
        random_state: Any = None,
        progress: bool = False,
        callbacks: Sequence[Callback] = (),
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.max_seconds = max_seconds
        self.max_epochs = max_epochs
        self.n_threads = n_threads
        self.random_state = random_state
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _objective(self, total_weight: float, n_classes: int) -> tuple[Loss, Penalty]:
        return self.loss, self.penalty


def numpy_problem(model: LinearModel, X: Any, y: Any, sample_weight: Any = None) -> Problem:
    """The problem a fitted model solved, over NumPy and SciPy alone."""
    check_is_fitted(model)
    array = validate_data(
        model, X, reset=False, accept_sparse=("csr", "csc", "coo"), dtype=(np.float64, np.float32)
    )  # fmt: skip
    rows = NumpyRows(array)
    s = weights_of_rows(sample_weight, rows.n_rows)
    if isinstance(model, BaseLinearClassifier):
        labels = model._labels(y, rows.n_rows)
        place = {label: i for i, label in enumerate(model.classes_.tolist())}
        unknown = sorted({str(label) for label in labels.tolist() if label not in place})
        if unknown:
            raise InputError(
                f"y has labels that the model never saw: {unknown[:5]}. Verify on the training data."
            )
        codes = np.array([place[label] for label in labels.tolist()], dtype=np.int32)
        return model._pose(rows, codes, s)
    assert isinstance(model, BaseLinearRegressor)
    return model._pose(rows, model._targets(y, rows.n_rows).reshape(rows.n_rows, -1), s)
