"""How time and memory grow: documents doubled to a million, then rows, non-zeros, classes and columns.

    python benchmarks/bars/doubling.py                  all parts, in under six minutes
    python benchmarks/bars/doubling.py --parts fits     of texts, languages, command, fits; others are kept
    python benchmarks/bars/doubling.py --most 20000     a try that keeps nothing

Texts are generated: Zipf words of a fixed seed (generated.py), two classes. Each size has fresh processes, so
that its peak of memory is its own. The exponent is fitted by least squares on logarithms: 1 is linear.
Records go to ``results/growth.json``, the table to docs/performance.md; ``make bench-table`` draws them.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE), str(ROOT / "benchmarks" / "versus"), str(ROOT / "benchmarks" / "text")]

RESULTS, PAGE, SCRATCH = (
    HERE / "results" / "growth.json",
    ROOT / "docs" / "performance.md",
    ROOT / "build" / "growth",
)
N_MOST, N_DOUBLINGS, MEAN_WORDS = 1_000_000, 7, 12.0
LEAST_BYTES = 8_000_000
STAGES = {"features": "texts to features", "fit": "fit", "whole": "file to model"}
TITLES = {
    "texts": "generated texts",
    "languages": "strings in 89 languages",
    "command": "IMDB, `lineal train --learner svm --no-report`",
    "rows": "rows",
    "non-zeros": "non-zeros a row",
    "classes": "classes",
    "columns": "columns",
}


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The power of the size that fits best, by least squares on logarithms; nan without two sizes."""
    known = [(np.log(n), np.log(v)) for n, v in zip(sizes, values, strict=True) if n > 0 and v > 0]
    if len({n for n, _ in known}) < 2:
        return float("nan")
    x, y = np.array(known).T
    x = x - x.mean()
    return float(x @ y / (x @ x))


# ---- texts, each size in a process of its own -----------------------------------------------------


def texts(n_most: int) -> dict[str, Any]:
    """Generated documents from n/128 to n, from a file to features to a model."""
    from generated import texts as generated

    SCRATCH.mkdir(parents=True, exist_ok=True)
    sizes = [n_most >> k for k in range(N_DOUBLINGS, -1, -1)]
    files = {n: (SCRATCH / f"{n}.jsonl").open("w", encoding="utf-8") for n in sizes}
    for k, (text, c) in enumerate(generated(n_most, MEAN_WORDS)):
        line = f'{{"text": "{text}", "label": "{"ab"[c]}"}}\n'
        for n, file in files.items():
            if k < n:
                file.write(line)
    for file in files.values():
        file.close()
    points = []
    for n in sizes:
        path = SCRATCH / f"{n}.jsonl"
        points.append({"n": n, "runs": _children(["--child", str(path)], 3 if n <= 300_000 else 2)})
        _tell(points[-1])
        path.unlink()
    return {"points": points, "mean_words": MEAN_WORDS}


def languages(n_most: int) -> dict[str, Any]:
    """Real short strings, to features."""
    from sets import AbsentError, path_of

    try:
        path = path_of("l10n_langid", "train.tsv")
    except AbsentError as reason:
        print(f"skipped: {reason}", flush=True)
        return {}
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")[1:]
    order = np.random.default_rng(0).permutation(len(lines))
    n_most = min(n_most, len(lines))
    points = []
    SCRATCH.mkdir(parents=True, exist_ok=True)
    for n in [n_most >> k for k in range(4, -1, -1)]:
        path = SCRATCH / f"{n}.txt"
        path.write_text("\n".join(lines[k].partition("\t")[2] for k in order[:n]) + "\n", encoding="utf-8")
        points.append({"n": n, "runs": _children(["--child", str(path)], 3 if n <= 300_000 else 2)})
        _tell(points[-1])
        path.unlink()
    return {"points": points}


def child(path: Path) -> dict[str, Any]:
    """Seconds and peaks of each stage on one file; plain lines have no labels and no fit."""
    from alone import memory, reset_peak

    from lineal import LinearClassifier, TextVectorizer
    from lineal.data import read_texts
    from lineal.objective import L2, Hinge

    TextVectorizer(min_df=1).fit_transform(
        [f"word number {k % 7}" for k in range(50)]
    )  # what is set up at first use
    LinearClassifier(Hinge(), L2(1.0)).fit(np.eye(4), [0, 1, 0, 1])
    gc.collect()
    base = reset_peak()
    began = time.perf_counter()
    documents, labels = read_texts(path)
    read = time.perf_counter()
    found: dict[str, Any] = {"n_bytes": path.stat().st_size, "stages": {}}
    tops = []  # what each stage reached above all that was there before the file was read

    def stage(name: str, work: Callable[[], Any]) -> Any:
        before, start = reset_peak(), time.perf_counter()
        made = work()
        seconds = time.perf_counter() - start
        peak = None if before is None else memory("VmHWM") - before
        tops.append(0 if base is None else memory("VmHWM") - base)
        found["stages"][name] = {"seconds": seconds, "peak_bytes": peak}
        return made

    X = stage("features", lambda: TextVectorizer(ngrams=(1, 2), min_df=2).fit_transform(documents))
    found |= {"n_columns": X.shape[1], "n_stored": int(X.nnz)}
    if labels is not None and path.suffix == ".jsonl":
        model = stage("fit", lambda: LinearClassifier(Hinge(), L2(1.0), tol=1e-3).fit(X, labels))
        found["relative_gap"] = model.certificate_.relative_gap
        whole = time.perf_counter() - began
        found["stages"]["whole"] = {"seconds": whole, "peak_bytes": None if base is None else max(tops)}
    return found | {"read_seconds": read - began}


def _children(options: list[str], n_repeats: int) -> list[dict[str, Any]]:
    command = [sys.executable, str(HERE / "doubling.py"), *options]
    runs = []
    for _ in range(n_repeats):
        answer = subprocess.run(command, capture_output=True, text=True)
        if answer.returncode:
            raise RuntimeError(answer.stderr[-2000:])
        runs.append(json.loads(answer.stdout.splitlines()[-1]))
    return runs


def _tell(point: dict[str, Any]) -> None:
    stages = point["runs"][0]["stages"]
    said = ", ".join(
        f"{name} {min(run['stages'][name]['seconds'] for run in point['runs']):.3f} s" for name in stages
    )
    print(f"  {point['n']:>9,}: {said}", flush=True)


# ---- the command of P7 ----------------------------------------------------------------------------


def command(n_most: int) -> dict[str, Any]:
    """A quarter, a half and all of IMDB, from start to test accuracy; peaks are of the whole process."""
    from sets import AbsentError, path_of

    try:
        train, test = (path_of("imdb", f"{part}.jsonl") for part in ("train", "test"))
    except AbsentError as reason:
        print(f"skipped: {reason}", flush=True)
        return {}
    parts = {
        path.stem: path.read_text(encoding="utf-8").removesuffix("\n").split("\n") for path in (train, test)
    }
    SCRATCH.mkdir(parents=True, exist_ok=True)
    orders = {name: np.random.default_rng(0).permutation(len(lines)) for name, lines in parts.items()}
    n_whole, points = min(n_most, len(parts["train"])), []
    for n in (n_whole >> 2, n_whole >> 1, n_whole):
        files = {}
        for name, lines in parts.items():
            files[name] = SCRATCH / f"command-{name}.jsonl"
            files[name].write_text("\n".join(lines[k] for k in orders[name][:n]) + "\n", encoding="utf-8")
        asked = [
            "train",
            str(files["train"]),
            "--test",
            str(files["test"]),
            "--learner",
            "svm",
            "--no-report",
            "--json",
        ]
        line = [sys.executable, "-m", "lineal", *asked, "-o", str(SCRATCH / "m.lineal")]
        points.append({"n": n, "runs": [_process(line) for _ in range(3)]})
        print(f"  {n:>9,}: {min(run['seconds'] for run in points[-1]['runs']):.3f} s", flush=True)
    return {"points": points}


# A process counts the pages of whoever started it into its own peak: a small one starts it.
_LAUNCHER = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, capture_output=True)
seconds = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
print(json.dumps({"seconds": seconds, "peak_bytes": peak}))
"""


def _process(line: list[str]) -> dict[str, Any]:
    answer = subprocess.run([sys.executable, "-c", _LAUNCHER, *line], capture_output=True, text=True)
    if answer.returncode:
        raise RuntimeError(answer.stderr[-2000:])
    told: dict[str, Any] = json.loads(answer.stdout)
    return told


# ---- rows, non-zeros, classes, columns ------------------------------------------------------------


def fits(n_most: int) -> dict[str, Any]:
    """One-vs-rest squared hinge to a gap of 1e-3 on generated rows, one size doubled at a time."""
    base = {"rows": 40_000, "non-zeros": 40, "classes": 2, "columns": 50_000}
    sizes = {
        "rows": [10_000, 20_000, 40_000, 80_000, 160_000, 320_000],
        "non-zeros": [10, 20, 40, 80, 160, 320],
        "classes": [2, 4, 8, 16, 32, 64],
        "columns": [12_500, 25_000, 50_000, 100_000, 200_000, 400_000],
    }
    if n_most < N_MOST:
        base["rows"], sizes["rows"] = n_most // 10, [n_most // 10, n_most // 5]
    found = {}
    for what, values in sizes.items():
        points = [{"n": n, "runs": _fits(**{**base, what: n})} for n in values]
        for point in points:
            print(
                f"  {point['n']:>9,} {what}: {min(run['seconds'] for run in point['runs']):.3f} s", flush=True
            )
        found[what] = {"points": points}
    return found


def _fits(**shape: int) -> list[dict[str, Any]]:
    from lineal import LinearClassifier
    from lineal.objective import L2, SquaredHinge

    X, y = generated_rows(shape["rows"], shape["non-zeros"], shape["classes"], shape["columns"])
    runs = []
    while len(runs) < 3 and sum(run["seconds"] for run in runs) < 2.0:
        began = time.perf_counter()
        model = LinearClassifier(SquaredHinge(), L2(1.0), fit_intercept=False, tol=1e-3).fit(X, y)
        seconds = time.perf_counter() - began
        runs.append({"seconds": seconds, "peak_bytes": None, "epochs": int(model.certificate_.epochs)})
    return runs


def generated_rows(n: int, per_row: int, n_classes: int, n_columns: int) -> tuple[Any, Any]:
    """Rows of unit length, columns by Zipf's law, classes by a noisy random teacher."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    columns = (n_columns ** rng.random(n * per_row) - 1).astype(np.int32)
    X = sp.csr_matrix(
        (rng.uniform(0.1, 1.0, n * per_row), columns, np.arange(n + 1) * per_row), (n, n_columns)
    )
    X.sum_duplicates()
    X = sp.csr_matrix(sp.diags(1.0 / np.sqrt(X.multiply(X).sum(axis=1).A1)) @ X)
    score = X @ rng.normal(size=(n_columns, n_classes))
    score = (score - score.mean(axis=0)) / score.std(axis=0) + 0.3 * rng.normal(size=score.shape)
    return X, score.argmax(axis=1)


PARTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "texts": texts,
    "languages": languages,
    "command": command,
    "fits": fits,
}


# ---- what it comes to -----------------------------------------------------------------------------


def curves(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Every series that was measured: its title, sizes, best seconds and least peaks."""
    made = []
    for part in ("texts", "languages"):
        points = record.get(part, {}).get("points", [])
        for stage, title in STAGES.items():
            if points and stage in points[0]["runs"][0]["stages"]:
                runs = [[run["stages"][stage] for run in point["runs"]] for point in points]
                made.append(_curve(f"{TITLES[part]}: {title}", "documents", [p["n"] for p in points], runs))
    named = {"command": record.get("command", {}), **record.get("fits", {}).get("found", {})}
    for name, one in named.items():
        if points := one.get("points", []):
            what = "reviews" if name == "command" else name
            title = TITLES[name] if name == "command" else f"fit, doubled: {TITLES[name]}"
            made.append(_curve(title, what, [p["n"] for p in points], [p["runs"] for p in points]))
    return made


def large(sizes: Sequence[int], peaks: Sequence[int]) -> tuple[list[int], list[int]]:
    """The points whose memory can be told from what an allocator has left over; three at least."""
    kept = [(n, peak) for n, peak in zip(sizes, peaks, strict=True) if peak >= LEAST_BYTES]
    return ([n for n, _ in kept], [peak for _, peak in kept]) if len(kept) > 2 else ([], [])


def _curve(title: str, what: str, sizes: list[int], runs: list[list[dict[str, Any]]]) -> dict[str, Any]:
    peaks = [
        min((run["peak_bytes"] for run in each if run["peak_bytes"] is not None), default=None)
        for each in runs
    ]
    return {
        "title": title, "what": what, "sizes": sizes,
        "seconds": [min(run["seconds"] for run in each) for each in runs],
        "bytes": None if None in peaks else peaks,
    }  # fmt: skip


def table(record: dict[str, Any]) -> str:
    """A line a series: ends, the exponents, and the doubling that cost the most."""
    head = ["what is doubled", "from", "to", "seconds", "exponent of time", "worst doubling", "peak memory"]
    lines = [f"| {' | '.join(head)} | exponent of memory |", "|---" * 8 + "|"]
    for curve in curves(record):
        sizes, seconds, peaks = curve["sizes"], curve["seconds"], curve["bytes"]
        worst = max(b / a for a, b in pairwise(seconds))
        memory = ["–", "–"]
        if peaks is not None:
            power = exponent(*large(sizes, peaks))
            memory = [
                f"{peaks[0] / 1e6:.0f} to {peaks[-1] / 1e6:.0f} MB",
                f"{power:.2f}" if power == power else "–",
            ]
        cells = [
            f"{curve['title']} ({curve['what']})", f"{sizes[0]:,}", f"{sizes[-1]:,}",
            f"{seconds[0]:.3g} to {seconds[-1]:.3g}", f"{exponent(sizes, seconds):.2f}", f"{worst:.2f}×",
            *memory,
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    machines = [part["machine"] for part in record.values()]
    places = sorted({f"{one['cpu']}, {one['n_cores']} cores, {one['date']}" for one in machines})
    return "\n".join(lines) + (
        "\n\nBest of three, of one or two where they are long; an exponent of 1 is linear. Generated texts "
        f"have {MEAN_WORDS:g} words on average, by Zipf's law from a fixed seed. Peaks are above what was "
        "there before a stage, and exponents of memory are fitted from 8 MB on; those of the command are of "
        "the whole process. "
        f"Written by `make bench-growth` on {' and '.join(places)}; "
        "raw figures in [growth.json](../benchmarks/bars/results/growth.json)."
    )


def main() -> None:
    """Measure the parts that are asked for; the others keep their figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)} (all)")
    parser.add_argument("--most", type=int, help="as many documents at most; keeps nothing")
    parser.add_argument("--keep", type=Path, help="keep the records in this file, and write on no page")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(options.child)))
        return
    wanted = options.parts.split(",")
    if unknown := sorted(set(wanted) - set(PARTS)):
        parser.error(f"there is no part {unknown[0]!r}: choose of {', '.join(PARTS)}")
    from environment import machine

    kept = options.keep or (None if options.most else RESULTS)
    record = json.loads(kept.read_text()) if kept and kept.exists() else {}
    for part in wanted:
        print(f"== {part}", flush=True)
        about, found = machine(), PARTS[part](options.most or N_MOST)
        if not found:
            continue
        facts = {"machine": about, "lineal": version("lineal")}
        record[part] = {**facts, "found": found} if part == "fits" else {**facts, **found}
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(record, indent=1) + "\n")
    print(table(record))
    if kept == RESULTS:
        from tables import between

        PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), "growth", table(record)), encoding="utf-8")


if __name__ == "__main__":
    main()
