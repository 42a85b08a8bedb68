"""Machines of a deformed kernel, solved among the labelled rows and judged by what they are for all rows.

::

    P(f, b) = (|f|^2 + gamma f'L f) / 2 + C sum_i loss(y_i, z_i)
    D(beta) = sum_i y_i beta_i - beta'K beta / 2 - C sum_i conjugate(y_i beta_i / C),      sum_i beta_i = 0

with K the deformed kernel; the conjugate is 0 on [0, 1] for the hinge, and half the square for squares.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from lineal.data import thread_count
from lineal.deferred import linalg
from lineal.errors import InputError
from lineal.kernels import Precomputed
from lineal.learners.kernel.machine import FLOOR
from lineal.learners.scenarios.manifold import DeformedKernel
from lineal.learners.scenarios.space import KernelEngine
from lineal.objective.certificate import Certificate, yardstick
from lineal.objective.losses import FloatArray
from lineal.solvers.kernel_dual import KernelValues


@dataclass(frozen=True, eq=False)
class SmoothFit:
    """A machine.

    Attributes
    ----------
    a : (n,) coefficients of all rows
    b : float
    z : (n,) scores of all rows
    roughness : f'L f
    certificate : Certificate
    """

    a: FloatArray
    b: float
    z: FloatArray
    roughness: float
    certificate: Certificate


def by_hinge(space: DeformedKernel, y: FloatArray, C: float, tol: float, n_threads: int | None) -> SmoothFit:
    """Support vectors: C sum_i max(0, 1 - y_i z_i)."""
    began = time.perf_counter()
    kernel = Precomputed()
    values = KernelValues(kernel, kernel.checked(space.K), thread_count(n_threads))
    found = KernelEngine(values, tol=tol / 2).solve(y, np.full(len(y), C), None, None)
    beta = found.weights
    a, f, norm, roughness = space.expanded(beta)
    margin = y * (f[space.labelled] + found.b)
    slack = np.maximum(0.0, 1 - margin)
    primal = (norm + space.gamma * roughness) / 2 + C * float(slack.sum())
    dual = float(y @ beta) - space.norm_bound(beta, a, f) / 2
    worst = float((C * slack - beta * y * (1 - margin)).max(initial=0.0))
    known = replace(found.certificate, seconds=time.perf_counter() - began)
    size = yardstick(primal, C * len(y))
    proof = known.proved_again(primal, dual, size=size, tol=tol, worst=worst)
    return SmoothFit(a, found.b, f + found.b, roughness, proof)


def by_squares(
    space: DeformedKernel, y: FloatArray, C: float, tol: float, n_threads: int | None
) -> SmoothFit:
    """Least squares: C sum_i (y_i - z_i)^2 / 2, whose beta solves (K + I / C) beta + b = y, sum beta = 0."""
    began = time.perf_counter()
    H = space.K + np.eye(len(y)) / C
    try:
        factor = linalg.cho_factor(H, lower=True)
    except np.linalg.LinAlgError:
        raise InputError(
            f"kernel values as large as {np.abs(space.G).max():.3g} leave no digit of the deformed kernel. "
            "Scale the columns (lineal.ColumnScaler), or lower C or gamma_manifold."
        ) from None
    ones = np.ones(len(y))
    by_ones, by_y = linalg.cho_solve(factor, ones), linalg.cho_solve(factor, y)
    b = float(ones @ by_y) / float(ones @ by_ones)
    beta = by_y - b * by_ones
    beta -= beta.mean()  # 0 up to rounding, and then exactly enough
    a, f, norm, roughness = space.expanded(beta)
    r = y - f[space.labelled] - b
    primal = (norm + space.gamma * roughness) / 2 + C * float(r @ r) / 2
    dual = float(y @ beta) - space.norm_bound(beta, a, f) / 2 - float(beta @ beta) / (2 * C)
    worst = float((C / 2 * (r - beta / C) ** 2).max(initial=0.0))
    proof = Certificate.of_proof(
        primal, dual, size=yardstick(primal, C * len(y) / 2), tol=tol, worst=worst, solver="closed_form",
        epochs=1, seconds=time.perf_counter() - began, detail=FLOOR,
    )  # fmt: skip
    return SmoothFit(a, b, f + b, roughness, proof)
