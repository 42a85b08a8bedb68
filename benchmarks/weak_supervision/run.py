"""Few labels, many posts: learning from labels alone, self-training and co-training, on the same splits.

Posts of eight groups of 20 Newsgroups have two views: the words of the subject line, and those of the body
without quotes. Five posts of each group keep their labels; which ones, a seed says. All methods start from
the same labels and are tested on the same later posts. They are compared by a paired t-test over seeds and,
within each seed, by McNemar's exact test. Records go to ``results/weak_supervision.json``, the table to
docs/weak-supervision.md.

    python benchmarks/weak_supervision/run.py [--seeds N]      other than eight: a try, which keeps nothing
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import binomtest, ttest_rel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / "benchmarks" / "text"), str(ROOT / "benchmarks" / "versus")]

from environment import machine  # noqa: E402
from sets import AbsentError, Texts, read  # noqa: E402

from lineal import (  # noqa: E402
    CoTraining,
    LogisticRegression,
    MultinomialNB,
    SelfTraining,
    TextVectorizer,
)
from lineal.compose import Threshold  # noqa: E402

RESULTS, PAGE = HERE / "results" / "weak_supervision.json", ROOT / "docs" / "weak-supervision.md"
BEGIN, END = "<!-- weak:begin -->", "<!-- weak:end -->"
N_SEEDS, N_GIVEN = 8, 5
GROUPS = re.compile(r"rec\.|sci\.")
SUBJECT = re.compile(r"(?m)^Subject:(.*)$")
QUOTE = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")
LEARNERS: dict[str, Callable[[], Any]] = {
    "MultinomialNB": lambda: MultinomialNB(smoothing=0.1),
    "LogisticRegression": lambda: LogisticRegression(C=100),
}
# Every label counts as confident, and a round adds the surest by class: a fifth of what is learned from.
LOOP: dict[str, Any] = {"confident": Threshold(0.0), "growth": 0.2, "rounds": 20}
METHODS = {
    "labels": "the labels alone",
    "self": "self-training",
    "agreement": "co-training, agreement",
    "exchange": "co-training, exchange",
    "all": "all 4,762 labels known",
}


class Views(NamedTuple):
    """Rows of both views, side by side in one matrix too, and their labels."""

    subject: Any
    body: Any
    both: Any
    y: Any


def main() -> None:
    """Measure, keep the records, fill the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=N_SEEDS, help="other than eight keeps nothing")
    options = parser.parse_args()
    try:
        train, test = both_views(read("20newsgroups", "train"), read("20newsgroups", "test"))
    except AbsentError as reason:
        print(f"skipped: {reason}")
        return
    found = {
        name: [seeded(make, train, test, seed) for seed in range(options.seeds)]
        for name, make in LEARNERS.items()
    }
    records = {
        "machine": machine(),
        "versions": {"python": platform.python_version()}
        | {p: version(p) for p in ("lineal", "scipy", "numpy")},
        "rows": {"train": len(train.y), "test": len(test.y)},
        "learners": found,
        "comparisons": {name: comparisons(runs) for name, runs in found.items()},
    }
    for run in (run for runs in found.values() for run in runs):
        del run["is_right"]
    print(table(records))
    if options.seeds == N_SEEDS:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(records, indent=1) + "\n")
        page = PAGE.read_text(encoding="utf-8")
        filled = re.sub(f"(?s){BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table(records)}\n{END}", page)
        PAGE.write_text(filled, encoding="utf-8")


def both_views(train: Texts, test: Texts) -> list[Views]:
    """Subject and body of the posts of the groups, as tf-idf of words in at least two training posts."""
    parts = []
    for posts in (train, test):
        kept = [k for k, label in enumerate(posts.labels) if GROUPS.match(label)]
        heads, bodies = zip(*(posts.texts[k].split("\n\n", 1) for k in kept), strict=True)
        parts.append(
            ([subject(h) for h in heads], [unquoted(b) for b in bodies], [posts.labels[k] for k in kept])
        )
    matrices = []
    for view in (0, 1):
        vectorizer = TextVectorizer(ngrams=(1, 1), min_df=2).fit(parts[0][view])
        matrices.append([vectorizer.transform(part[view]) for part in parts])
    return [
        Views(s, b, sp.hstack([s, b], format="csr"), np.array(part[2]))
        for s, b, part in zip(*matrices, parts, strict=True)
    ]


def subject(head: str) -> str:
    found = SUBJECT.search(head)
    return re.sub(r"(?i)\bre:", "", found.group(1)).strip() if found else ""


def unquoted(body: str) -> str:
    return "\n".join(line for line in body.split("\n") if not QUOTE.search(line))


def seeded(make: Callable[[], Any], train: Views, test: Views, seed: int) -> dict[str, Any]:
    """All methods from the same few labels."""
    rng = np.random.default_rng(seed)
    y = np.full(len(train.y), None, dtype=object)
    for label in np.unique(train.y):
        chosen = rng.choice(np.flatnonzero(train.y == label), N_GIVEN, replace=False)
        y[chosen] = label
    given = np.flatnonzero([label is not None for label in y])
    run: dict[str, Any] = {"seed": seed, "accuracy": {}, "seconds": {}, "added": {}, "is_right": {}}
    works: dict[str, Callable[[], Any]] = {
        "labels": lambda: make().fit(train.both[given], train.y[given]),
        "self": lambda: SelfTraining(make(), **LOOP).fit(train.both, y),
        "agreement": lambda: CoTraining(make(), **LOOP).fit((train.subject, train.body), y),
        "exchange": lambda: CoTraining(make(), rule="exchange", **LOOP).fit((train.subject, train.body), y),
        "all": lambda: make().fit(train.both, train.y),
    }
    for name, work in works.items():
        began = time.perf_counter()
        model = work()
        run["seconds"][name] = time.perf_counter() - began
        is_pair = isinstance(model, CoTraining)
        predicted = model.predict((test.subject, test.body) if is_pair else test.both)
        run["is_right"][name] = predicted == test.y
        run["accuracy"][name] = float(np.mean(predicted == test.y))
        if hasattr(model, "since_"):
            rows = np.flatnonzero(model.since_ > 0)
            right = float(np.mean(model.transduction_[rows] == train.y[rows]))
            run["added"][name] = {"rows": len(rows), "right": right}
    print(seed, {name: round(value, 4) for name, value in run["accuracy"].items()}, flush=True)
    return run


def comparisons(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each method of two against each simpler one: paired t over seeds, and McNemar within them."""
    pairs = [("self", "labels"), ("agreement", "labels"), ("agreement", "self"), ("exchange", "labels"),
             ("exchange", "self"), ("exchange", "agreement")]  # fmt: skip
    made = []
    for one, other in pairs:
        a, b = (np.array([run["accuracy"][name] for run in runs]) for name in (one, other))
        test = ttest_rel(a, b)
        interval = test.confidence_interval(0.95)
        made.append(
            {
                "one": one, "other": other, "gain": float(np.mean(a - b)), "t": float(test.statistic),
                "p": float(test.pvalue), "low": float(interval.low), "high": float(interval.high),
                "mcnemar": [mcnemar(run["is_right"][one], run["is_right"][other]) for run in runs],
            }
        )  # fmt: skip
    return made


def mcnemar(a: Any, b: Any) -> dict[str, Any]:
    """How many test posts only one of two methods has right, and the exact two-sided p."""
    only_a, only_b = int(np.sum(a & ~b)), int(np.sum(~a & b))
    return {
        "only_one": only_a,
        "only_other": only_b,
        "p": float(binomtest(only_a, max(only_a + only_b, 1)).pvalue),
    }


def table(records: dict[str, Any]) -> str:
    """Two markdown tables, and where they were measured."""
    lines = [
        "| | " + " | ".join(f"`{name}`" for name in records["learners"]) + " | rows added | of these right |"
    ]
    lines.append("|---|" + "---|" * (len(records["learners"]) + 2))
    for key, title in METHODS.items():
        cells, added, right = [title], [], []
        for runs in records["learners"].values():
            values = [run["accuracy"][key] for run in runs]
            cells.append(f"{np.mean(values):.1%} ± {np.std(values, ddof=1):.1%}")
            if key in runs[0]["added"]:
                added.append(f"{np.mean([run['added'][key]['rows'] for run in runs]):,.0f}")
                right.append(f"{np.mean([run['added'][key]['right'] for run in runs]):.0%}")
        lines.append(f"| {' | '.join([*cells, ', '.join(added), ', '.join(right)])} |")
    lines += [
        "",
        "| gain in accuracy | by | 95 % interval | paired t: p | seeds better by McNemar, p < 0.01 | worse |",
    ]
    lines.append("|---|---|---|---|---|---|")
    for name, made in records["comparisons"].items():
        for each in made:
            sure = [seed for seed in each["mcnemar"] if seed["p"] < 0.01]
            better = sum(seed["only_one"] > seed["only_other"] for seed in sure)
            what = f"{METHODS[each['one']]}, over {METHODS[each['other']]}"
            lines.append(
                f"| {what} | `{name}` | {each['low']:+.1%} to {each['high']:+.1%} | {each['p']:.1g} "
                f"| {better} of {len(each['mcnemar'])} | {len(sure) - better} |"
            )
    where, versions, rows = records["machine"], records["versions"], records["rows"]
    n_seeds = len(next(iter(records["learners"].values())))
    lines += [
        "",
        f"Accuracy on {rows['test']:,} later posts, mean and standard deviation over {n_seeds} choices of "
        f"the {N_GIVEN} labelled posts a group among {rows['train']:,}; by `make bench-weak` on "
        f"{where['cpu']}, {where['n_cores']} cores, {where['date']}; Python {versions['python']}, "
        f"SciPy {versions['scipy']}.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
