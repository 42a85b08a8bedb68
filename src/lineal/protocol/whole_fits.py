"""Fits that are done whole, or leave no trace."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """A fit that, when it is refused or broken off, leaves the estimator as it was."""

    @functools.wraps(fit)
    def guarded(self: Any, *data: Any, **named: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return fit(self, *data, **named)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return cast(Fit, guarded)
