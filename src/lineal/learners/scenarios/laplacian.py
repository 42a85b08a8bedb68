"""Support vector machines that are smooth along the data: the manifold regularisation of Belkin et al."""

from __future__ import annotations

import time
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lineal.cancellation import cancellable, raise_if_over
from lineal.errors import InputError, NotCertifiedWarning, ParameterError
from lineal.learners.marks import MarkedLabels, marked_labels
from lineal.learners.scenarios.manifold import (
    MANIFOLD_LIMIT,
    checked_graph,
    deformed,
    laplacian,
    neighbor_graph,
)
from lineal.learners.scenarios.manifold_machines import SmoothFit, by_hinge, by_squares
from lineal.learners.scenarios.options import checked_amount, checked_cost, checked_count, checked_tolerance
from lineal.learners.scenarios.space import KernelScorer
from lineal.learners.targets import require_targets
from lineal.learners.whole_fits import all_or_nothing
from lineal.model.answers import winners
from lineal.objective.certificate import sum_certificates
from lineal.objective.losses import FloatArray
from lineal.solvers.kernel_dual import KernelValues

_LOSSES = ("hinge", "squared")


class LaplacianSVM(KernelScorer):
    """A machine whose scores change little between neighbours (Belkin, Niyogi and Sindhwani 2006).

    Rows without a label say where the data lie. Minimises over the functions f of a kernel's space::

        |f|^2 / 2 + C sum_L loss(y_i, z_i) + (gamma_manifold / 2) sum_{i~j} (f(x_i) - f(x_j))^2

    where z_i = f(x_i) + b, L are the labelled rows, and i ~ j are the edges of a graph of all rows, in which
    a row is joined to its nearest neighbours. Unlike transduction this is convex, and ``certificate_`` is
    about the whole of it.

    Parameters
    ----------
    C : number > 0
        The cost of labelled rows.
    gamma_manifold : number >= 0
        The cost of differences between neighbours. 0 leaves the plain machine of the labelled rows.
    loss : "hinge" or "squared"
        "squared" is Laplacian regularised least squares, (y - z)^2 / 2, in closed form.
    kernel, gamma, degree, coef0
        As in ``lineal.SVC``.
    n_neighbors : int
        Of each row in the graph. Vectors are compared by Euclidean distances, so scale columns that do not
        compare; other things by distances in the kernel's space.
    unlabelled : label
        What marks rows without a label in y, besides None and NaN, which always do: -1 for scikit-learn's
        convention.
    tol : float, optional
        The relative duality gap to certify; 1e-3 if not given.
    n_threads : optional
        As in :class:`LinearClassifier`.

    Attributes
    ----------
    transduction_ : (n,) labels of all rows: those that were given, and those of the scores
    classes_ : the labels, sorted
    graph_ : (n, n) sparse weights of the edges
    dual_coef_, support_, intercept_ : z = sum_j dual_coef_j k(x_{support_j}, x) + intercept, over all rows,
        labelled or not; a row of ``dual_coef_`` for each class if there are more than two
    roughness_ : sum_{i~j} (f(x_i) - f(x_j))^2 for each machine
    objective_ : what was minimised
    certificate_ : Certificate

    Notes
    -----
    The problem is an ordinary machine of the labelled rows under a deformed kernel, which takes an n x n
    factorisation: O(n^3) time, and memory for four such matrices, so n is at most 8,000. Above that use
    ``TransductiveSVM(kernel="linear")`` or ``SelfTraining``, or fewer unlabelled rows. The objective of the
    certificate is computed from f and the graph themselves, and its bound is charged for what rounding left
    of the factorisation. More than two classes go one-vs-rest. There are no weights of rows: a row twice is
    a graph with another row.

    Examples
    --------
    >>> import numpy as np
    >>> from lineal import LaplacianSVM
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [6.0], [7.0], [8.0]])
    >>> y = ["left", None, None, None, None, None, "right"]
    >>> model = LaplacianSVM(gamma=0.1, n_neighbors=1).fit(X, y)
    >>> model.transduction_.tolist()
    ['left', 'left', 'left', 'left', 'right', 'right', 'right']
    >>> model.certificate_.converged
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        gamma_manifold: float = 10.0,
        *,
        loss: str = "hinge",
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        n_neighbors: int = 6,
        unlabelled: Any = None,
        tol: float | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.C = C
        self.gamma_manifold = gamma_manifold
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_neighbors = n_neighbors
        self.unlabelled = unlabelled
        self.tol = tol
        self.n_threads = n_threads

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, *, graph: Any = None) -> Self:
        """Learns from labels and from where all rows lie.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns), or what the kernel takes
            All rows, with and without labels.
        y : sequence of n_rows labels
            Rows without one have None, NaN, or what ``unlabelled`` says.
        graph : (n_rows, n_rows) array or sparse matrix, optional
            Symmetric weights >= 0 of edges, instead of nearest neighbours.

        Returns
        -------
        self
        """
        require_targets(self, y)
        C, tol = self._checked()
        began = time.perf_counter()
        values = self._read_values(X)
        given = marked_labels(self, y, self.unlabelled, np.ones(values.n_rows))
        self.classes_ = given.classes
        self._refuse_far(values, max(C, float(self.gamma_manifold)))
        G = self._gram(values)
        self.graph_ = (
            neighbor_graph(values, G, self.n_neighbors) if graph is None else checked_graph(graph, len(G))
        )
        labelled = np.flatnonzero(given.is_given)
        raise_if_over()
        space = deformed(G, laplacian(self.graph_), float(self.gamma_manifold), labelled)
        solve = by_hinge if self.loss == "hinge" else by_squares
        signs = [np.where(given.codes[labelled] == k, 1.0, -1.0) for k in self._sides()]
        with cancellable():  # one Ctrl-C is for all classes
            fits = [solve(space, y, C, tol, self.n_threads) for y in signs]
        self._learned(values, given, fits, time.perf_counter() - began)
        return self

    def _checked(self) -> tuple[float, float]:
        if self.loss not in _LOSSES:
            raise ParameterError(f"loss must be 'hinge' or 'squared', got {self.loss!r}.")
        checked_amount("gamma_manifold", self.gamma_manifold)
        checked_count("n_neighbors", self.n_neighbors)
        return checked_cost("C", self.C), checked_tolerance(self.tol)

    def _gram(self, values: KernelValues) -> FloatArray:
        n = values.n_rows
        if n > MANIFOLD_LIMIT:
            raise InputError(
                f"LaplacianSVM factorises a matrix of all rows, possible up to {MANIFOLD_LIMIT:,} of them, "
                f"but there are {n:,}. Use fewer unlabelled rows, TransductiveSVM(kernel='linear') or "
                "SelfTraining."
            )
        return values.gram

    def _sides(self) -> list[int]:
        """The classes that are +1 in turn."""
        return [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))

    def _learned(
        self, values: KernelValues, given: MarkedLabels, fits: list[SmoothFit], seconds: float
    ) -> None:
        self.intercept_ = np.array([fit.b for fit in fits])
        self._keep_expansion(values, np.stack([fit.a for fit in fits]))
        codes = winners(np.stack([fit.z for fit in fits], axis=1))
        unknown = np.flatnonzero(~given.is_given)
        self.transduction_ = given.filled(unknown, self.classes_[codes[unknown]])
        self.roughness_ = np.array([fit.roughness for fit in fits])
        proofs = [fit.certificate for fit in fits]
        self.certificate_ = sum_certificates(proofs, seconds=seconds)
        self.objective_ = self.certificate_.primal
        if not self.certificate_.converged:
            message = f"{type(self).__name__} is {self.certificate_}."
            warnings.warn(message, NotCertifiedWarning, stacklevel=4)
