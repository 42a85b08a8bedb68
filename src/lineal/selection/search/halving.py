"""Successive halving: many settings on few rows, few settings on all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lineal.selection.search.bench import Bench
from lineal.selection.search.record import Setting, Trial

FACTOR = 3
_LEAST_ROWS = 50


def halved(
    bench: Bench, settings: Sequence[Setting], codes: NDArray[np.int32] | None, seed: int
) -> list[Trial]:
    """The last trial of each setting, in the order of the settings.

    Rung after rung a third of the settings, the best, goes on with three times as many training rows of every
    fold, until the rows are all there are; they are scored on all of a fold's test rows. Rows of a rung are
    among those of the next and, for a classifier, have the classes in their shares (``codes``).
    """
    least = min(len(train) for train, _ in bench.folds)
    n_labels = 0 if codes is None else int(codes.max()) + 1
    n_rungs = n_rungs_of(len(settings), least, max(_LEAST_ROWS, 10 * n_labels))
    orders = [
        _order(train, codes, np.random.default_rng([seed, k])) for k, (train, _) in enumerate(bench.folds)
    ]
    latest: dict[int, Trial] = {}
    left = list(range(len(settings)))
    for rung in range(n_rungs):
        share = float(FACTOR) ** -(n_rungs - 1 - rung)

        def parts(k: int, share: float = share) -> NDArray[np.intp]:
            order = orders[k]
            return np.sort(order[: math.ceil(share * len(order))])

        is_last = rung == n_rungs - 1
        trials = bench.run([settings[k] for k in left], share, None if is_last else parts)
        done = [left[place] for place in trials]
        latest |= dict(zip(done, trials.values(), strict=True))
        if bench.stop.reason or not done:
            break
        ranked = sorted(done, key=lambda k: (math.isnan(latest[k].mean), -latest[k].mean, k))
        left = sorted(ranked[: math.ceil(len(ranked) / FACTOR)])
    return [latest[k] for k in sorted(latest)]


def n_rungs_of(n_settings: int, n_rows: int, least: int) -> int:
    """As many rungs as bring the settings down to a few without bringing the rows below ``least``."""
    by_settings = 1 + max(0, math.floor(math.log(n_settings, FACTOR) + 1e-9))
    by_rows = 1 + max(0, math.floor(math.log(max(n_rows / least, 1.0), FACTOR) + 1e-9))
    return min(by_settings, by_rows)


def _order(
    rows: NDArray[np.intp], codes: NDArray[np.int32] | None, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows in an order whose beginnings are random samples, with the classes in their shares."""
    shuffled = rng.permutation(rows)
    if codes is None:
        return shuffled
    kinds = codes[shuffled]
    place = np.empty(len(rows))
    for code in np.unique(kinds):
        members = np.flatnonzero(kinds == code)
        place[members] = (np.arange(len(members)) + rng.random()) / len(members)
    first = np.concatenate([np.flatnonzero(kinds == code)[:1] for code in np.unique(kinds)])
    place[first] = -1.0  # no beginning may lack a class
    return shuffled[np.argsort(place, kind="stable")]
