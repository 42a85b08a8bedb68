"""Support vector classification with kernels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lineal.cancellation import CancellationToken, break_off_if_over, cancellable, unless_over
from lineal.data import thread_count
from lineal.errors import InputError, ParameterError
from lineal.learners.accuracy import ClassifierMixin
from lineal.learners.calibration import fitted_temperature
from lineal.learners.kernel.machine import IntArray, KernelMachineModel, with_bar
from lineal.learners.kernel.problems import Claim, KernelProducts, KernelRows, separation
from lineal.learners.kernel.two_class import TwoClassMachine, solved
from lineal.learners.scoring import where_probable
from lineal.learners.targets import classes_and_codes, codes_among, labels_of_rows, require_targets
from lineal.learners.weighting import weigh_classes
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.answers import logs_of
from lineal.model.kernel_heads import KernelClassesHead, scores_of_pairs
from lineal.model.machine_answers import MachineAnswers
from lineal.objective.certificate import Certificate, Stop, sum_certificates
from lineal.objective.losses import FloatArray
from lineal.solvers.base import Progress
from lineal.solvers.driver import Callback
from lineal.solvers.kernel_dual import KernelValues, PairSolutions, dealt, expanded, solved_pairs, voted

_FOLDS = 5
# Kernel values so many times those around the mean of all rows are taken around it.
_FAR = 1e3


@dataclass(frozen=True, eq=False)
class _Part:
    """One machine of several: its rows, their signs, and what it learned."""

    rows: IntArray
    y: FloatArray
    machine: TwoClassMachine


@dataclass(frozen=True, eq=False)
class _Learned:
    """All machines.

    Attributes
    ----------
    coefficients : (n_machines, n) or, of pairs, (K - 1, n), for every row of the data
    intercepts : (n_machines,)
    certificates : of each machine
    only : the machine, where there is one
    """

    coefficients: FloatArray
    intercepts: FloatArray
    certificates: list[Certificate]
    only: _Part | None


@dataclass(frozen=True, eq=False)
class _Data:
    """Rows as they are learned from."""

    values: KernelValues
    codes: NDArray[np.int32]
    s: FloatArray
    K: int

    def merged(self) -> tuple[_Data, IntArray]:
        """The same with equal rows of a class as one row with their weight; and which row each became."""
        key = self.values.first_equal * self.K + self.codes
        _, first, owner = np.unique(key, return_index=True, return_inverse=True)
        s = np.zeros(len(self.s))
        s[first] = np.bincount(owner, weights=self.s)
        return _Data(self.values, self.codes, s, self.K), first[owner].astype(np.int64)

    def by_class(self) -> tuple[IntArray, IntArray]:
        """Rows with weight, class after class, and where each class begins and the last ends."""
        rows = np.flatnonzero(self.s > 0)
        order = np.argsort(self.codes[rows], kind="stable")
        counts = np.bincount(self.codes[rows], minlength=self.K)
        return rows[order], np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def taken(self, rows: IntArray) -> _Data:
        kernel, items = self.values.kernel, self.values.items
        values = KernelValues(kernel, kernel.take(items, rows), self.values.n_threads)
        return _Data(values, self.codes[rows], self.s[rows], self.K)


class SVC(ClassifierMixin, KernelMachineModel):
    """A support vector machine with any kernel, exact and certified.

    Minimises ``C sum_i s_i max(0, 1 - y_i (f(x_i) + b)) + |f|^2 / 2`` over the functions f of the kernel's
    space, by its dual. Parameters have scikit-learn's names; what differs is said below.

    Parameters
    ----------
    C : float
        The price of slack. ``inf`` is the hard margin: no slack at all; where the classes cannot be separated
        :class:`lineal.errors.NotSeparableError` says why.
    kernel : "rbf", "linear", "poly", "laplacian", "precomputed", a kernel of lineal.kernels, or a function
        A function gets two matrices and returns that of their kernel values.
    degree, gamma, coef0
        Of the named kernels: (gamma x.z + coef0)^degree, exp(-gamma |x - z|^2). gamma "scale" is
        1 / (n_columns variance of X), "auto" 1 / n_columns.
    multi_class : "ovo" or "ovr"
        More than two classes: a machine for every two of them, which vote; or one for each against the rest.
    probability : bool
        Whether to learn ``predict_proba``, from five more fits; its largest entry is always the predicted
        label's.
    tol : float
        The relative duality gap to certify, in float64, for every machine.
    class_weight : dict, "balanced" or None
    max_iter : int, optional
        Blocks of coefficients that are solved at most (-1 or None: no limit).
    decision_function_shape : "ovr" or "ovo"
        Whether ``decision_function`` returns a score a class, or with "ovo" a score a pair of classes,
        positive for the first.
    break_ties : bool
        Whether equal votes are decided by scores; else for the first class, as LIBSVM and scikit-learn do.
    max_seconds : float, optional
        A fit that runs out of time, or is interrupted, returns its best machine, with its certificate and a
        warning.
    n_threads, random_state, progress, callbacks
        As everywhere. Threads change no bit; nothing here is random but the folds of ``probability``.

    Attributes
    ----------
    classes_ : the labels, sorted
    support_, n_support_ : the rows that f rests on, and how many they are of each class
    support_vectors_ : those rows, as the kernel reads them
    dual_coef_ : alpha_i y_i
        (1, n) for two classes, positive for ``classes_[1]``; (K - 1, n) for pairs, positive for a pair's
        first class, in LIBSVM's order; (K, n) for "ovr".
    intercept_ : (1,), (K (K - 1) / 2,) or (K,)
    coef_ : (1, d), (K (K - 1) / 2, d) or (K, d)
        With ``kernel="linear"`` only: the weights of each machine, whose scores are X coef_' + intercept_. Of
        pairs in the order (0, 1), (0, 2) ... (K - 2, K - 1), positive for the first.
    slack_ : (n_rows,) max(0, 1 - y f) of the training rows, for two classes
    certificate_ : Certificate; of the sum of all machines' objectives where there are several
    certificates_ : of each machine
    kernel_ : the kernel that was used
    trace_, n_iter_

    Notes
    -----
    Large blocks of coefficients are solved by sequential minimal optimisation on kernel values in float32,
    which are computed when needed (only rows of small problems are kept); the gap is proved in float64
    (docs/svm.md). Equal rows are one. For kernels that are no function of dot products the Gram matrix is
    held: 8 n^2 bytes.

    Examples
    --------
    >>> from lineal import SVC
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], ["same", "same", "differ", "differ"]
    >>> model = SVC(C=10, gamma=1.0).fit(X, y)
    >>> model.predict([[0.1, 0.0], [0.9, 0.1]])
    array(['same', 'differ'], dtype='<U6')
    >>> model.certificate_.converged
    True
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        multi_class: str = "ovo",
        probability: bool = False,
        tol: float = 1e-4,
        class_weight: Any = None,
        max_iter: int | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        max_seconds: float | None = None,
        n_threads: int | None = None,
        progress: bool = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.multi_class = multi_class
        self.probability = probability
        self.tol = tol
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.n_threads = n_threads
        self.progress = progress
        self.callbacks = callbacks

    # ---- fitting ------------------------------------------------------------------------------

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the machine and proves how good it is.

        Parameters
        ----------
        X : array, sparse matrix or data frame; or whatever the kernel compares, such as a list of strings
            With ``kernel="precomputed"`` the Gram matrix.
        y : sequence of n labels
            Anything hashable.
        sample_weight : sequence of n numbers >= 0, optional
            Factors on C. A weight of 2 means the row twice.

        Returns
        -------
        self
        """
        require_targets(self, y)
        self._check_options()
        values, s = self._values_of(X, sample_weight)
        labels = labels_of_rows(y, values.n_rows)
        self.classes_, codes, s = weigh_classes(self.class_weight, *classes_and_codes(labels), s)
        data = _Data(values, codes, s, len(self.classes_))
        self._need_classes(codes, data.s)
        self.__dict__.pop("_temperatures", None)
        deadline = None if self.max_seconds is None else time.perf_counter() + self.max_seconds
        with cancellable() as token:  # one Ctrl-C is for all machines
            self._keep(data, self._learned(data, deadline))
            if self.probability:
                seconds = None if deadline is None else deadline - time.perf_counter()
                limit = CancellationToken(seconds=seconds, parent=token)
                found = unless_over(lambda: self._calibrated(data, deadline), limit)
                self._temperatures = np.ones(len(self.intercept_)) if found is None else found
        self._warn_unless_certified(self.certificates_)
        return self

    def _check_options(self) -> None:
        super()._check_options()
        self._positive("C")
        if self.multi_class not in ("ovo", "ovr"):
            raise ParameterError(f"multi_class must be 'ovo' or 'ovr', got {self.multi_class!r}.")
        if self.decision_function_shape not in ("ovo", "ovr"):
            raise ParameterError(
                f"decision_function_shape must be 'ovr' or 'ovo', got {self.decision_function_shape!r}."
            )
        if self.decision_function_shape == "ovo" and self.multi_class == "ovr":
            raise ParameterError("decision_function_shape='ovo' needs multi_class='ovo': there are no pairs.")

    def _need_classes(self, codes: NDArray[np.int32], s: FloatArray) -> None:
        present = np.flatnonzero(np.bincount(codes, weights=s, minlength=len(self.classes_)) > 0)
        if len(present) < 2:
            named = f": {self.classes_.tolist()[present[0]]!r}" if len(present) else ""
            raise InputError(
                f"{type(self).__name__} needs at least 2 classes in the data, but y has only one class with "
                f"weight{named}. Check the labels or the split."
            )

    def _questions(self, data: _Data) -> list[tuple[IntArray, FloatArray]]:
        """Rows and signs of each machine; rows without weight have no say."""
        rows = np.flatnonzero(data.s > 0)
        codes = data.codes[rows]
        if data.K == 2:
            return [(rows, np.where(codes == 1, 1.0, -1.0))]
        if self.multi_class == "ovr":
            return [(rows, np.where(codes == k, 1.0, -1.0)) for k in range(data.K)]
        of_class = [rows[codes == k] for k in range(data.K)]
        questions = []
        for i, j in zip(*np.triu_indices(data.K, 1), strict=True):
            both = np.concatenate([of_class[i], of_class[j]])
            questions.append((both, np.repeat([1.0, -1.0], [len(of_class[i]), len(of_class[j])])))
        return questions

    def _learned(self, data: _Data, deadline: float | None) -> _Learned:
        """All machines, in scikit-learn's layout."""
        K, n = data.K, len(data.codes)
        is_pairs = K > 2 and self.multi_class == "ovo"
        n_threads = thread_count(self.n_threads)
        # Made once, before threads want them.
        _ = data.values.centred.native, data.values.centred.has_copies, data.values.has_copies
        merged, owner = data, None
        if K > 2 and data.values.has_copies:
            merged, owner = data.merged()  # once, and not again for each machine
        pairs = list(zip(*(each.tolist() for each in np.triu_indices(K, 1)), strict=True)) if is_pairs else []
        n_machines = len(pairs) if is_pairs else 1 if K == 2 else K
        coefficients = np.zeros((K - 1 if is_pairs else n_machines, n))
        intercepts = np.zeros(n_machines)
        certificates: dict[int, Certificate] = {}
        if is_pairs and self._is_plain(merged):
            self._solve_plain(merged, deadline, n_threads, coefficients, intercepts, certificates)
        left = [k for k in range(n_machines) if k not in certificates]
        questions = self._questions(merged) if left else []
        parts = self._parts(merged, [questions[k] for k in left], deadline, n_threads)
        for k, part in zip(left, parts, strict=True):
            if is_pairs:
                (i, j), of_first = pairs[k], part.y > 0
                coefficients[j - 1, part.rows[of_first]] = part.machine.beta[of_first]
                coefficients[i, part.rows[~of_first]] = part.machine.beta[~of_first]
            else:
                coefficients[k, part.rows] = part.machine.beta
            intercepts[k], certificates[k] = part.machine.b, part.machine.certificate
        if owner is not None:
            bound = float(self.C) * data.s if np.isfinite(self.C) else np.full(n, np.inf)
            coefficients = dealt(coefficients, owner, bound)
        only = parts[0] if n_machines == 1 else None
        return _Learned(coefficients, intercepts, [certificates[k] for k in range(n_machines)], only)

    def _is_plain(self, data: _Data) -> bool:
        """Whether pairs need nothing but to be solved: the core's units are the kernel's, and rows stay where
        they are.
        """
        has_limit = self.max_iter is not None and self.max_iter >= 1
        given, centred = data.values, data.values.centred
        # Steps meet differences of kernel values alone: a mean like the rows themselves takes a digit or two.
        is_moved = centred.offsets is not None and (
            given.diagonal().max() > _FAR * centred.diagonal().max(initial=0.0)
        )
        has_all = bool(np.bincount(data.codes[data.s > 0], minlength=data.K).all())
        return bool(
            np.isfinite(self.C) and has_all and not is_moved and not has_limit and data.values.unit == 1.0
        )

    def _solve_plain(
        self,
        data: _Data,
        deadline: float | None,
        n_threads: int,
        coefficients: FloatArray,
        intercepts: FloatArray,
        certificates: dict[int, Certificate],
    ) -> None:
        """Fills in what the core can prove of pairs by itself."""
        rows, start = data.by_class()
        C, tol = float(self.C), float(self.tol)
        seconds = None if deadline is None else deadline - time.perf_counter()
        with cancellable() as caller, cancellable(seconds) as token:
            found: PairSolutions = solved_pairs(
                data.values, rows, start, C * data.s[rows], tol=tol, n_threads=n_threads
            )
            # Without time for more those that were left are done as they stand.
            is_done = found.is_certified | token.is_over
            stop = Stop.CANCELLED if caller.is_over else Stop.SECONDS
        coefficients[:, rows] = found.coefficients
        intercepts[:] = found.b
        for k in np.flatnonzero(is_done).tolist():
            why = Stop.CERTIFIED if found.is_certified[k] else stop
            known = certificates[k] = found.certificate(k, tol, 1.0 / C, why, self.max_seconds)
            # All pairs are solved in one call; listeners hear of each when that is over.
            event = Progress(
                known.epochs, known.primal, known.dual, known.gap, known.seconds, solver=known.solver
            )
            for callback in self.callbacks:
                callback(event)

    def _parts(
        self,
        data: _Data,
        questions: list[tuple[IntArray, FloatArray]],
        deadline: float | None,
        n_threads: int,
    ) -> list[_Part]:
        """Machines one after another by all threads, or, of many, each by one."""
        C, tol = float(self.C), float(self.tol)

        def part(question: tuple[IntArray, FloatArray], threads: int, extra: list[Callback]) -> _Part:
            rows, y = question
            seconds = None if deadline is None else max(deadline - time.perf_counter(), 1e-3)
            bound = C * data.s[rows] if np.isfinite(C) else np.full(len(rows), np.inf)
            budget = self._budget(extra, seconds)
            return _Part(
                rows, y, solved(data.values, rows, y, bound, C=C, tol=tol, budget=budget, n_threads=threads)
            )

        if not questions:
            return []
        if len(questions) == 1 or n_threads == 1:
            return list(
                with_bar(self.progress, tol, lambda bar: [part(q, n_threads, bar) for q in questions])
            )
        with cancellable() as token, ThreadPoolExecutor(n_threads) as pool:
            futures = [pool.submit(token.apply, partial(part, question, 1, [])) for question in questions]
            return [future.result() for future in futures]

    def _keep(self, data: _Data, learned: _Learned) -> None:
        """Machines become attributes."""
        K, n, coefficients = data.K, len(data.codes), learned.coefficients
        is_used = np.any(coefficients != 0, axis=0)
        order = np.argsort(data.codes, kind="stable")  # by class: sums over a class are sums over neighbours
        support = order[is_used[order]]
        self._keep_support(data.values, support)
        self.dual_coef_ = coefficients[:, support]
        self.intercept_ = learned.intercepts
        self.n_support_ = np.bincount(data.codes[support], minlength=K).astype(np.int32)
        self.certificates_ = learned.certificates
        self.certificate_ = sum_certificates(self.certificates_)
        self.trace_ = () if learned.only is None else learned.only.machine.trace
        self.n_iter_ = max(1, self.certificate_.epochs)
        self.__dict__.pop("slack_", None)
        if learned.only is not None:
            self.slack_ = np.zeros(n)
            part = learned.only
            self.slack_[part.rows] = np.maximum(0.0, 1.0 - part.y * (part.machine.f + part.machine.b))

    def _pose(self, products: KernelProducts, y: Any, s: FloatArray) -> list[Claim]:
        n, K = len(s), len(self.classes_)
        classes, codes, s = weigh_classes(self.class_weight, *classes_and_codes(labels_of_rows(y, n)), s)
        places = codes_among(self.classes_, classes, "Verify on the training data.")
        values = KernelValues(self.kernel_, products.items, thread_count(self.n_threads))
        data = _Data(values, places[codes], s, K)
        every, C = self._coefficients(n), float(self.C)
        pairs = zip(*np.triu_indices(K, 1), strict=True) if K > 2 and self.multi_class == "ovo" else None
        claims = []
        for k, (rows, signs) in enumerate(self._questions(data)):
            beta = every[k, rows] if pairs is None else _of_pair(every[:, rows], signs, next(pairs))
            if not (np.any(signs > 0) and np.any(signs < 0)):
                continue  # no rows of a class: P and D are 0
            b, X = float(self.intercept_[k]), KernelRows(products, rows)
            claims.append(separation(X, signs, data.s[rows], C, beta, b))
        return claims

    def _coefficients_of_machines(self) -> FloatArray:
        K, ends = len(self.classes_), self._ends
        if K == 2 or self.multi_class == "ovr":
            return self.dual_coef_
        pairs = list(zip(*np.triu_indices(K, 1), strict=True))
        answer = np.zeros((len(pairs), self.dual_coef_.shape[1]))
        for row, (i, j) in zip(answer, pairs, strict=True):
            first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            row[first], row[second] = self.dual_coef_[j - 1, first], self.dual_coef_[i, second]
        return answer

    # ---- scores -------------------------------------------------------------------------------

    def _pair_scores(self, support: KernelValues, items: Any) -> FloatArray:
        """(n, L) scores of the machines; of pairs positive for the first class."""
        rows = np.arange(len(self.support_), dtype=np.int64)
        K = len(self.classes_)
        if K == 2 or self.multi_class == "ovr":
            return np.asarray(expanded(support, items, rows, self.dual_coef_)[:, 0] + self.intercept_)
        sums = expanded(support, items, rows, self.dual_coef_, self._ends)  # by class of the support vector
        return np.asarray(scores_of_pairs(sums) + self.intercept_)

    @property
    def _ends(self) -> IntArray:
        """Where support vectors of a class begin, and the last end."""
        return np.concatenate([[0], np.cumsum(self.n_support_)]).astype(np.int64)

    def _machine_scores(self, X: Any) -> FloatArray:
        items = self._items_of(X)
        return self._pair_scores(self._support_now(), items)

    def _support_now(self) -> KernelValues:
        """The support vectors, with the threads that are wanted now."""
        return KernelValues(self.kernel_, self._support.items, thread_count(self.n_threads))

    @property
    def _answers(self) -> MachineAnswers:
        """What the scores of the machines mean."""
        K = len(self.classes_)
        strategy = "two" if K == 2 else "pairs" if self.multi_class == "ovo" else "rest"
        is_pairs = strategy == "pairs"
        return MachineAnswers(
            K, strategy, is_for_first=is_pairs, is_zero_for_first=is_pairs, breaks_ties=bool(self.break_ties),
            tells_pairs=self.decision_function_shape == "ovo",
            temperatures=getattr(self, "_temperatures", None),
        )  # fmt: skip

    def decision_function(self, X: Any) -> FloatArray:
        """Scores: (n,) for two classes, >= 0 for ``classes_[1]``; (n, K) or (n, K (K - 1) / 2) for more."""
        Z = self._machine_scores(X)
        return self._answers.decision(Z)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the most votes, or of the highest score."""
        items = self._items_of(X)
        answers, support = self._answers, self._support_now()
        if answers.strategy == "pairs" and not answers.breaks_ties:
            rows = np.arange(len(self.support_), dtype=np.int64)
            winners = voted(support, items, rows, self.dual_coef_, self._ends, self.intercept_)
            if winners is not None:
                return np.asarray(self.classes_[winners])
        return np.asarray(self.classes_[answers.winners(self._pair_scores(support, items))])

    def _frozen_head(self, head_of: Any) -> KernelClassesHead:
        """What a model file answers with."""
        is_pairs = self._answers.strategy == "pairs"
        ends = self._ends if is_pairs else None
        sums = self._frozen_sums(ends)
        return KernelClassesHead(sums, self.intercept_, np.array(self.classes_), self._answers)

    # ---- probabilities ------------------------------------------------------------------------

    def _has_probabilities(self) -> bool:
        return hasattr(self, "_temperatures") if hasattr(self, "support_") else bool(self.probability)

    @where_probable
    def predict_proba(self, X: Any) -> FloatArray:
        """(n, K) probabilities whose largest entry is always the predicted label's.

        Each machine's scores are divided by a temperature, fitted on scores of rows held out; those of pairs
        are coupled (Wu, Lin and Weng 2004).
        """
        Z = self._machine_scores(X)
        return self._answers.probabilities(Z)

    @where_probable
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithms of ``predict_proba``."""
        return logs_of(self.predict_proba(X))

    def _calibrated(self, data: _Data, deadline: float | None) -> FloatArray:
        """A temperature for each machine, from scores of rows that machines of the same making did not
        see.
        """
        counts = np.bincount(data.codes[data.s > 0], minlength=data.K)
        folds = int(min(_FOLDS, counts[counts > 0].min()))
        if folds < 2:
            raise InputError("probability=True needs at least 2 rows of every class, to hold some out.")
        fold = _dealt_folds(data.codes, folds, self.random_state)
        Z = np.empty((len(data.codes), len(self.intercept_)))
        for k in range(folds):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            inner = type(self)(**{**self.get_params(deep=False), "probability": False, "progress": False})
            part = data.taken(train)
            inner.kernel_, inner.classes_ = self.kernel_, self.classes_
            inner._keep(part, inner._learned(part, deadline))
            break_off_if_over()
            Z[test] = inner._pair_scores(inner._support, data.values.kernel.take(data.values.items, test))
        temperatures = []
        for column, (rows, y) in enumerate(self._questions(data)):
            of_second = (y > 0).astype(np.int32)
            temperatures.append(fitted_temperature(Z[rows, column : column + 1], of_second, data.s[rows]))
        return np.array(temperatures)


def _of_pair(every: FloatArray, signs: FloatArray, pair: tuple[Any, Any]) -> FloatArray:
    """Coefficients of a pair's machine in LIBSVM's layout: a class has a row for each of the others."""
    first, second = pair
    return np.where(signs > 0, every[second - 1], every[first])


def _dealt_folds(codes: NDArray[np.int32], folds: int, random_state: Any) -> IntArray:
    """Rows dealt to folds, each class for itself."""
    seed = 0 if random_state is None else random_state
    order = np.random.default_rng(seed if isinstance(seed, (int, np.integer)) else 0).permutation(len(codes))
    fold = np.empty(len(codes), dtype=np.int64)
    for k in np.unique(codes):
        mine = order[codes[order] == k]
        fold[mine] = np.arange(len(mine)) % folds
    return fold
