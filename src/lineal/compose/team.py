"""Several learners side by side, with names, as an option of one learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from lineal.compose.base import CompositeClassifier
from lineal.errors import ParameterError
from lineal.learners.classifier import LinearClassifier
from lineal.learners.fisher.discriminant import FisherDiscriminant
from lineal.learners.neighbors.classifier import KNeighborsClassifier


class Team(CompositeClassifier):
    """A classifier made of several, given as ``learners``: a list of them, or of pairs (name, learner).

    Without names they are called by their classes, numbered where one class comes twice. Options of a member
    are this one's too: ``name__option``, and ``name`` for the member itself.
    """

    learners: Any = None

    def _members(self) -> list[tuple[str, Any]]:
        """The names and the learners."""
        given = self.learners
        if given is None:
            given = [LinearClassifier(), FisherDiscriminant(), KNeighborsClassifier()]
        if isinstance(given, (str, bytes)) or not isinstance(given, Sequence) or not len(given):
            raise ParameterError(
                f"learners must be a list of learners, or of pairs (name, learner), got {given!r}."
            )
        if all(isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str) for each in given):
            names = [name for name, _ in given]
            if len(set(names)) < len(names) or any("__" in name for name in names):
                raise ParameterError(f"names of learners must differ and have no '__' in them, got {names}.")
            if taken := sorted(set(names) & set(self._get_param_names())):
                raise ParameterError(
                    f"{', '.join(taken)} cannot be the name of a learner: {type(self).__name__} has an "
                    "option of that name."
                )
            return list(given)
        if any(isinstance(each, tuple) for each in given):
            raise ParameterError("learners must be all pairs (name, learner), or all learners.")
        kinds = [type(each).__name__ for each in given]
        counted = [
            kind if kinds.count(kind) == 1 else f"{kind}{1 + kinds[:k].count(kind)}"
            for k, kind in enumerate(kinds)
        ]
        return list(zip(counted, given, strict=True))

    def _given_members(self) -> list[tuple[str, Any]]:
        """The members that were given; none of what is refused when it comes to fitting."""
        try:
            return self._members() if self.learners is not None else []
        except ParameterError:
            return []

    def _made_of(self) -> Sequence[Any]:
        return [learner for _, learner in self._members()]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options; with ``deep`` those of the given learners too."""
        params = super().get_params(deep=False)
        if not deep:
            return params
        members = self._given_members()
        inner = {name: value for name, value in params.items() if hasattr(value, "get_params")}
        for name, learner in [*members, *inner.items()]:
            params[name] = learner
            if hasattr(learner, "get_params") and not isinstance(learner, type):
                params.update({f"{name}__{key}": value for key, value in learner.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Sets options, members, and options of members."""
        if "learners" in params:
            self.learners = params.pop("learners")
        names = [name for name, _ in self._given_members()]
        for name in [name for name in params if name in names]:
            members = list(self.learners)
            place = names.index(name)
            replaced = params.pop(name)
            members[place] = (name, replaced) if isinstance(members[place], tuple) else replaced
            self.learners = members
        super().set_params(**params)
        return self
