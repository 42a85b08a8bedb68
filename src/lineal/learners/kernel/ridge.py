"""Ridge regression in a kernel's space."""

from __future__ import annotations

import numbers
import time
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lineal.cancellation import raise_if_over, whole_or_nothing
from lineal.data import thread_count
from lineal.errors import InputError, NotCertifiedWarning, ParameterError, PrecisionWarning
from lineal.kernels import Kernel
from lineal.kernels.blocks import value_blocks, values
from lineal.kernels.given import is_given
from lineal.learners.kernel.reading import KernelModel
from lineal.learners.targets import numbers_of_rows, require_targets, weights_of_rows
from lineal.learners.whole_fits import all_or_nothing
from lineal.objective.losses import FloatArray
from lineal.protocol import RegressorMixin, check_is_fitted
from lineal.solvers.kernel_ridge import (
    RidgeSolution,
    SymmetricMatrix,
    certificate,
    refuse_indefinite,
    solve,
)


class KernelRidge(RegressorMixin, KernelModel):
    """Least squares with a penalty on the norm in a kernel's space, exactly and with a certificate.

    f(x) = sum_i a_i k(x_i, x) minimises ``1/2 sum_i s_i (y_i - f(x_i))^2 + alpha/2 |f|^2``, where |f|^2 =
    a'Ka; the solution of (K + alpha S^-1) a = y. With ``kernel="linear"`` it is :class:`Ridge` without an
    intercept.

    Parameters
    ----------
    alpha : number > 0, or one for each target
        The strength of the penalty.
    kernel : "linear", "rbf", "poly", "laplacian", "precomputed", a lineal.kernels.Kernel, or a function
        Kernels of strings and trees take what they compare; a function (X, Z) gives the matrix.
    gamma : None, "scale", "auto" or a number > 0
        For kernels by name. None and "auto" are 1 / n_columns, as in scikit-learn's class; "scale" is that
        divided by the variance of X.
    degree, coef0
        Of "poly": (gamma x.z + coef0)^degree.
    leave_one_out : bool
        Whether to find ``loo_predictions_``, which takes three times as long.
    tol : float
        The relative duality gap that the certificate is to show. Cholesky's factors mostly leave 1e-20.
    max_bytes : int
        The largest Gram matrix to make; a larger one is refused before the work starts.
    n_threads : int, optional
        Of kernel values; they change no bit.

    Attributes
    ----------
    dual_coef_ : (n,) or (n, n_targets): a
    X_fit_ : the training rows, as the kernel reads them
    kernel_ : the kernel
    certificate_ : the proof of optimality, in float64
    loo_predictions_ : as y; predictions for each row by the fit without it, if they were asked for
    jitter_ : what was added to the diagonal because rounding had made K + alpha S^-1 indefinite; mostly 0
    n_features_in_, feature_names_in_ : as in scikit-learn, for kernels of vectors

    Notes
    -----
    Costs n^3 / 3 multiplications and n^2 numbers. The gap of a = ``dual_coef_`` is 1/2 sum_i s_i (y_i - f_i -
    alpha a_i / s_i)^2; a gap above ``tol`` is refined, and if it stays there, said. Leaving out row i changes
    its prediction to ``y_i - a_i / [(K + alpha S^-1)^-1]_ii``, so that no fit need be repeated. For more rows
    than fit, see :class:`RandomFourierFeatures` and :class:`Nystroem`.

    References
    ----------
    Saunders, Gammerman and Vovk, Ridge regression learning algorithm in dual variables, 1998.

    Examples
    --------
    >>> from lineal import KernelRidge
    >>> model = KernelRidge(1e-3, kernel="rbf", gamma=1.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> model.predict([[1.0], [1.5]]).round(2), model.certificate_.converged
    (array([1.  , 2.83]), True)
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: int = 3,
        coef0: float = 1.0,
        leave_one_out: bool = False,
        tol: float = 1e-9,
        max_bytes: int = 2**33,
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.leave_one_out = leave_one_out
        self.tol = tol
        self.max_bytes = max_bytes
        self.n_threads = n_threads

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solves for the coefficients.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns), or what the kernel compares
        y : (n_rows,) numbers, or (n_rows, n_targets)
        sample_weight : sequence of n_rows numbers >= 0, optional
            A weight of 2 means the row twice; a row of weight 0 has no part in the fit.

        Returns
        -------
        self
        """
        began = time.perf_counter()
        threads = self._check_options()
        require_targets(self, y)
        kernel, items = self._learnt_items(X, sample_weight)
        n = kernel.size(items)
        targets = numbers_of_rows(y, n, type(self).__name__, keeps_column=True)
        s = weights_of_rows(sample_weight, n)
        Y = targets.reshape(n, -1)
        _refuse_enormous(Y, s)
        strengths = self._strengths(Y.shape[1])
        rows = np.flatnonzero(s > 0)
        self._refuse_too_large(len(rows))
        raise_if_over()
        part = _taken(kernel, items, rows)
        K = SymmetricMatrix(whole_or_nothing(lambda: values(kernel, part, None, threads)))
        if is_given(kernel):
            refuse_indefinite(K, len(rows))
        found = {
            strength: solve(
                K, Y[rows][:, strengths == strength], s[rows], strength, self.tol,
                with_left_out=bool(self.leave_one_out),
            )
            for strength in np.unique(strengths).tolist()
        }  # fmt: skip
        self.kernel_, self.X_fit_ = kernel, items
        A, left_out = np.zeros(Y.shape), np.zeros(Y.shape)
        for strength, solution in found.items():
            places = np.ix_(rows, strengths == strength)
            A[places] = solution.A
            left_out[places] = 0.0 if solution.left_out is None else solution.left_out
        self.dual_coef_ = A.reshape(targets.shape)
        self._tell(list(found.values()), Y, s, began)
        self._keep_left_out(left_out, s, targets.shape)
        return self

    def _tell(self, found: list[RidgeSolution], Y: FloatArray, s: FloatArray, began: float) -> None:
        """The certificate, and warnings where there is reason for them."""
        self.jitter_ = max(solution.jitter for solution in found)
        at_zero = 0.5 * float(s @ (Y**2).sum(axis=1))
        reason = "the system was solved"
        if self.jitter_ > 0:
            reason += f"; {self.jitter_:.2e} was added to the diagonal for its factors to exist"
        self.certificate_ = certificate(found, at_zero, self.tol, began, reason)
        if self.jitter_ > 0:
            warnings.warn(
                f"KernelRidge: rounding made K + alpha I indefinite, and {self.jitter_:.2e} was added to its "
                "diagonal. The certificate is of the problem without it. A larger alpha makes it sound.",
                PrecisionWarning,
                stacklevel=4,
            )
        if not self.certificate_.converged:
            warnings.warn(f"KernelRidge: {self.certificate_}.", NotCertifiedWarning, stacklevel=4)

    def _keep_left_out(self, left_out: FloatArray, s: FloatArray, shape: tuple[int, ...]) -> None:
        self.__dict__.pop("loo_predictions_", None)
        if not self.leave_one_out:
            return
        absent = np.flatnonzero(s == 0)
        if len(absent):  # they had no part in the fit: it is the fit without them
            items = self.kernel_.take(self.X_fit_, absent)
            left_out[absent] = self._values(items).reshape(len(absent), -1)
        self.loo_predictions_ = left_out.reshape(shape)

    def _check_options(self) -> int:
        for name, value in (("tol", self.tol), ("max_bytes", self.max_bytes)):
            if not isinstance(value, numbers.Real) or isinstance(value, bool) or not float(value) > 0:
                raise ParameterError(f"{name} must be a number > 0, got {value!r}.")
        self._strengths(None)
        return thread_count(self.n_threads)

    def _strengths(self, n_targets: int | None) -> FloatArray:
        """(n_targets,) numbers > 0."""
        try:
            strengths = np.asarray(self.alpha, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"alpha must be a number > 0, or one for each target: {error}.") from error
        if strengths.ndim > 1 or not (np.isfinite(strengths) & (strengths > 0)).all():
            raise ParameterError(
                f"alpha must be finite and > 0, one number or one for each target, got {self.alpha!r}. For "
                "nearly no penalty give a small number such as 1e-10: without any, rows alike leave "
                "more than one answer."
            )
        if n_targets is None:
            return strengths
        if strengths.ndim == 1 and len(strengths) not in (1, n_targets):
            raise ParameterError(f"alpha has {len(strengths)} numbers, but y has {n_targets} targets.")
        return np.broadcast_to(strengths, (n_targets,))

    def _refuse_too_large(self, n: int) -> None:
        if 8 * n * n > float(self.max_bytes):
            raise InputError(
                f"The Gram matrix of {n:,} rows would take {8 * n * n / 2**30:,.1f} GiB, more than "
                f"max_bytes = {float(self.max_bytes) / 2**30:,.1f} GiB. Use Ridge "
                "on lineal.RandomFourierFeatures or lineal.Nystroem, which grow with the rows only, or raise "
                "max_bytes."
            )

    def predict(self, X: Any) -> FloatArray:
        """f(x), (n,) or (n, n_targets) as the targets were; in blocks of 32 MB of kernel values."""
        check_is_fitted(self, "dual_coef_")
        return self._values(self._known_items(X))

    def _values(self, items: Any) -> FloatArray:
        self.kernel_.domain.compare(items, self.X_fit_)
        answer = np.empty((self.kernel_.size(items), *self.dual_coef_.shape[1:]))
        for rows, block in value_blocks(self.kernel_, items, self.X_fit_, thread_count(self.n_threads)):
            answer[rows] = block @ self.dual_coef_
        return answer

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _refuse_enormous(Y: FloatArray, s: FloatArray) -> None:
    with np.errstate(over="ignore"):
        total = float(s @ (Y**2).sum(axis=1))
    if not np.isfinite(total):
        raise InputError("The squares of y are beyond float64, and so is the objective. Scale the targets.")


def _taken(kernel: Kernel, items: Any, rows: Any) -> Any:
    return items if len(rows) == kernel.size(items) else kernel.take(items, rows)
