"""Checkpoints: where a fit stands, as plain values, so that another process can go on from there.

A checkpoint is of the problem as solvers see it: where columns or targets far from 0 were moved
(:mod:`~lineal.solvers.offsets`), its weights are those of the moved problem, which a fit that goes on moves
in the same way.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lineal.errors import InputError, ModelFileError
from lineal.objective.bounds import Bound
from lineal.objective.losses import FloatArray
from lineal.solvers.base import Progress, Solver, Start, State
from lineal.solvers.proving import Best, Prover

_FORMAT = "lineal checkpoint 1"
# What tells problems apart is summed by threads, elsewhere perhaps in another order.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Where a fit stands after an epoch; :func:`~lineal.solvers.driver.minimise` goes on from it.

    Numbers, strings, None, arrays, and dicts and tuples of them: nothing else is in it.

    Attributes
    ----------
    solvers : tuple of str
        The plan, with the parameters of each.
    tol : float
    seed : int
    identity : dict
        What tells the problem from others: its size, and numbers that depend on all its data.
    place : int
        Which solver of the plan is at work.
    epochs, epochs_here : int
        In all, and of this solver.
    seconds : float
        Since the fit began.
    W, b : arrays
        The best weights so far.
    primal, dual : float
        What is proved of them, and of the best dual point; inf and -inf before the first certificate.
    U : array or None
        The best dual point; None too where a dual point is no array (pairs of a ranking, say).
    bound, best : dict
        What else is known of the best dual point and weights.
    decisions : dict
        The driver's own: when the next certificate is due, how long nothing was gained ...
    state : dict or None
        The solver's, from which it goes on bit for bit; None if it gives none, and begins at W and U.
    trace : tuple
        The fields of each :class:`~lineal.solvers.base.Progress` that was certified.
    """

    solvers: tuple[str, ...]
    tol: float
    seed: int
    identity: State
    place: int
    epochs: int
    epochs_here: int
    seconds: float
    W: FloatArray
    b: FloatArray
    primal: float
    dual: float
    U: FloatArray | None
    bound: State
    best: State
    decisions: State
    state: State | None
    trace: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, best: Best, **place: Any) -> Self:
        """A checkpoint with copies of all that will change."""
        bound = best.bound
        if bound is None or not isinstance(bound.U, np.ndarray):
            bound = Bound(None, None, -np.inf)
        known = {
            "W": best.W, "b": best.b, "primal": best.primal, "dual": bound.dual, "U": bound.U,
            "bound": {"V": bound.V, "worst_weight": bound.worst_weight},
            "best": {"Z": best.Z, "is_settled": best.is_settled, "is_bound_tight": best.is_bound_tight},
            "trace": tuple(tuple(vars(point).values()) for point in best.trace),
        }  # fmt: skip
        return cls(**copy_values(known | place))

    def check(self, terms: State) -> None:
        """Refuses to go on under other terms: solvers, tol, seed, and what tells problems apart."""
        pairs = [(name, getattr(self, name), each) for name, each in terms.items() if name != "identity"]
        pairs += [(name, self.identity.get(name), each) for name, each in terms["identity"].items()]
        for what, was, now in pairs:
            is_same = was == now
            if isinstance(now, float) and isinstance(was, float):
                is_same = bool(np.isclose(was, now, rtol=_SAME, atol=0.0, equal_nan=True))
            if not is_same:
                raise InputError(
                    f"the checkpoint is of another fit: {what} was {was!r}, and is {now!r}. "
                    "Go on with the same data, objective, solvers, tol and seed, or begin anew."
                )

    def restored_best(self) -> Best:
        """The best weights and the best bound."""
        kept = copy_values(vars(self))
        bound = None if kept["U"] is None else Bound(kept["U"], dual=kept["dual"], **kept["bound"])
        trace = [Progress(*point) for point in kept["trace"]]
        return Best(kept["W"], kept["b"], kept["primal"], bound=bound, trace=trace, **kept["best"])

    def start(self) -> Start:
        """Where the solver at work goes on: at its own state, or at the best weights."""
        return Start(*copy_values((self.W.astype(np.float64), self.b, self.U, self.state)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the checkpoint to a file, whole or not at all: what was there before stays until then.

        Raises
        ------
        FileWriteError
            The file cannot be written.
        """
        from lineal.model import container
        from lineal.model.header import format_json

        arrays: dict[str, NDArray[Any]] = {}
        text = format_json(_pack(vars(self), arrays))
        container.write(path, arrays, {"format": _FORMAT, "checkpoint": text, "crc32": _sum(text, arrays)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The checkpoint in a file.

        Raises
        ------
        ModelFileError
            There is no such file, or it is damaged, or it is something else.
        """
        from lineal.model import container
        from lineal.model.header import parse_json

        found = container.read(path)
        text, arrays = found.metadata.get("checkpoint", ""), dict(found.tensors)
        if found.metadata.get("format") != _FORMAT:
            raise ModelFileError(f"{path} is no checkpoint, or one of another version of Lineal: begin anew.")
        if found.metadata.get("crc32") != _sum(text, arrays):
            raise ModelFileError(f"{path} is damaged: its sum is wrong. Take an earlier one, or begin anew.")
        return cls(**_unpack(parse_json(text), arrays))


def terms_of(prover: Prover, solvers: Sequence[Solver], tol: float, seed: int) -> State:
    """What a checkpoint holds for."""
    identity = prover.identity()
    if identity is None:
        names = " and ".join(solver.name for solver in solvers)
        raise InputError(
            f"{names} gives no checkpoints, and goes on from none: leave Budget.checkpoint out, and keep the "
            "model that max_seconds or a cancelled fit leaves."
        )
    return {"solvers": signatures(solvers), "tol": tol, "seed": seed, "identity": identity}


def signatures(solvers: Sequence[Solver]) -> tuple[str, ...]:
    """The names of solvers, with parameters where they have some."""
    return tuple(repr(each) if is_dataclass(each) and fields(each) else each.name for each in solvers)


def copy_values(value: Any) -> Any:
    """Plain values, with arrays of their own."""
    if isinstance(value, dict):
        return {name: copy_values(each) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(copy_values(each) for each in value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return np.array(value)  # in the order in which it lies: sums depend on that
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{type(value).__name__} is no plain value, and cannot be in a checkpoint")


# ---- files --------------------------------------------------------------------------------------
# JSON, with arrays by name. A list is a tuple; what JSON has no word for is an object of one entry, and so is
# a dict, so that none is mistaken for the other.


def _pack(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(value, dict):
        return {"dict": {name: _pack(each, arrays) for name, each in value.items()}}
    if isinstance(value, tuple):
        return [_pack(each, arrays) for each in value]
    if isinstance(value, float) and not np.isfinite(value):
        return {"number": repr(value)}
    if isinstance(value, int) and abs(value) >= 2**63:  # a generator's have 128 bits
        return {"whole": str(value)}
    if isinstance(value, np.ndarray):
        name, is_turned = f"{len(arrays)}", value.flags.f_contiguous and not value.flags.c_contiguous
        arrays[name] = value.T if is_turned else value
        return {"turned" if is_turned else "array": name}
    return value


def _unpack(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(value, list):
        return tuple(_unpack(each, arrays) for each in value)
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    match kind:
        case "dict":
            return {name: _unpack(each, arrays) for name, each in inner.items()}
        case "number":
            return float(inner)
        case "whole":
            return int(inner)
        case "turned":
            return np.array(arrays[inner]).T
    return np.array(arrays[inner])


def _sum(text: str, arrays: dict[str, NDArray[Any]]) -> str:
    """A sum of all that a file holds, which tells damage."""
    total = zlib.crc32(text.encode())
    for name in sorted(arrays):
        total = zlib.crc32(np.ascontiguousarray(arrays[name]).view(np.uint8).data, total)
    return str(total)
