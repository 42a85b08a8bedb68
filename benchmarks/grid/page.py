"""Records to docs/grid.md: a pure function of the JSON, so the page never says what was not kept."""

from __future__ import annotations

from itertools import groupby
from typing import Any

TITLES = {"binary": "Two classes", "classes": "Five classes", "regression": "Regression"}
Rows = list[dict[str, Any]]


def render(record: dict[str, Any]) -> str:
    """The whole page."""
    parts = [_introduction(record), _summary(record)]
    notes = _Notes()
    for task, title in TITLES.items():
        outcomes = [outcome for outcome in record["outcomes"] if outcome["task"] == task]
        parts.append(f"## {title}\n\n{_task(outcomes, record, notes)}")
    parts.append(notes.render())
    return "\n".join(parts)


def _introduction(record: dict[str, Any]) -> str:
    by_tol: dict[float, list[str]] = {}
    for label, tol in record["tolerances"].items():
        by_tol.setdefault(tol, []).append(f"`{label}`")
    tolerances = "\n".join(f"- {tol:.0e}: {', '.join(labels)}" for tol, labels in sorted(by_tol.items()))
    return f"""# The grid

Every public loss with every public penalty by every solver, on two classes, five classes and regression.
Written by `make grid` from [its raw JSON](../benchmarks/grid/results/grid.json); do not edit it by hand.

**Outcomes.** A triple is *certified* when the fit, through `LinearClassifier` or `LinearRegressor` with a
free intercept, ends with a relative duality gap of at most `tol`, and `lineal.verify` proves the same again
in NumPy alone. It is *refused* when an error says why before any solver has started; where some solver
certified the problem a refusal must name another one, and each that it names must have certified that very
problem. Everything else is *failed*: not certified within {record["max_seconds"]:.0f} s, a warning, another
exception, or an objective below what another solver proved to be a lower bound. `make grid` ends with exit
code 1 if anything failed.

**The same optimum.** Since D(u) ≤ P(w) for all feasible u and all w, no objective on a problem may lie below
any bound on it, and any two differ by at most the larger of their gaps. That is checked, with `verify`'s
numbers, for all solvers of each problem.

**Data**, made from a seed: {record["n_rows"]} rows of {record["n_columns"]} counts, two columns of which
agree in nine rows of ten and one is in units ten times larger; noisy labels, so that nothing is separable
and `NoPenalty()` has a minimum; the target of the regression has heavy-tailed noise. The rows of the classes
are sparse, those of the regression dense.

**Tolerances.** Solvers that the planner chooses are held to 1e-4. First-order methods are asked for the two
or three digits that they are made for:

{tolerances}

**Times** are of one run on {record["n_cores"]} cores, two fits at a time, one thread each,
{record["date"]}: a guide to orders of magnitude, not a benchmark. The whole grid took
{record["seconds"]:.0f} s.
"""


def _summary(record: dict[str, Any]) -> str:
    kinds = ("certified", "refused", "failed")
    lines = ["| task | certified | refused | failed |", "|---|---|---|---|"]
    for task, title in TITLES.items():
        found = [outcome["kind"] for outcome in record["outcomes"] if outcome["task"] == task]
        lines.append(f"| {title} | " + " | ".join(str(found.count(kind)) for kind in kinds) + " |")
    total = [outcome["kind"] for outcome in record["outcomes"]]
    lines.append("| all | " + " | ".join(str(total.count(kind)) for kind in kinds) + " |")
    slowest = max((o["seconds"] for o in record["outcomes"] if o["kind"] == "refused"), default=0.0)
    return "\n".join(lines) + f"\n\nThe slowest refusal took {1000 * slowest:.0f} ms.\n"


def _task(outcomes: Rows, record: dict[str, Any], notes: _Notes) -> str:
    """One table: a row for each loss and penalty, and below it the losses that no solver takes."""
    labels = list(record["tolerances"])
    head = "| loss | penalty | " + " | ".join(label.replace(", ", ",<br>") for label in labels) + " |"
    lines, refused = [head, "|---" * (len(labels) + 2) + "|"], []
    for loss, group in groupby(outcomes, key=lambda outcome: outcome["loss"]):
        members = list(group)
        sentences = {outcome.get("sentence", "") for outcome in members}
        if len(sentences) == 1 and "" not in sentences:
            refused.append(f"- `{loss}`: {sentences.pop()}")
            continue
        for penalty, row in groupby(members, key=lambda outcome: outcome["penalty"]):
            cells = {outcome["solver"]: _cell(outcome, notes) for outcome in row}
            lines.append(f"| `{loss}` | `{penalty}` | " + " | ".join(cells[label] for label in labels) + " |")
    below = "\nRefused with every penalty, by every solver:\n\n" + "\n".join(refused) if refused else ""
    return "Time / relative gap; – refused, for the reason with that number [below](#refusals).\n\n" + (
        "\n".join(lines) + "\n" + below + "\n"
    )


def _cell(outcome: dict[str, Any], notes: _Notes) -> str:
    if outcome["kind"] == "refused":
        return f"–<sup>{notes.number(outcome)}</sup>"
    if outcome["kind"] == "failed":
        return "**FAILED**"
    return f"{_time(outcome['seconds'])} / {max(outcome['gap'], 0.0):.0e}"


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 0.9995 else f"{seconds:.1f} s"


class _Notes:
    """Refusals, each sentence once, whichever loss and penalty it was about."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, outcome: dict[str, Any]) -> int:
        """The number of an outcome's sentence."""
        sentence = outcome["sentence"].replace(outcome["loss"], "*loss*")
        sentence = sentence.replace(outcome["penalty"], "*penalty*")
        return self._numbers.setdefault(sentence, len(self._numbers) + 1)

    def render(self) -> str:
        """The list at the end of the page."""
        lines = [f"{number}. {sentence}" for sentence, number in self._numbers.items()]
        return "## Refusals\n\nEach names the loss and the penalty in question.\n\n" + "\n".join(lines) + "\n"
