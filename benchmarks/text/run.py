"""Text to features to models: speed, memory, growth, latency and accuracy against scikit-learn, in one run.

Run it with the interpreter that holds lineal; scikit-learn is the only peer, and is there. Every time is the
best of three unless it says otherwise, contenders take turns, and all repeats are kept. Records go to
``results/text.json``, tables to docs/text.md; parts that are not run keep what they had.
"""

from __future__ import annotations

import argparse
import gc
import json
import pickle
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, StratifiedKFold

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE), str(ROOT / "benchmarks" / "versus")]

from environment import machine  # noqa: E402
from page import fill, tables  # noqa: E402
from pipeline import FIXED, FREE, PEER, fixed, free, peer  # noqa: E402
from sets import AbsentError, Texts, evenly, path_of, read  # noqa: E402
from works import WORKS, Run  # noqa: E402

from lineal import _core  # noqa: E402

RESULTS = HERE / "results" / "text.json"
N_REPEATS = 3
CHARACTER_TEXTS = 3000
FRACTIONS = (0.125, 0.25, 0.5, 1.0)
ACCURACY = {
    "imdb": "test set",
    "20newsgroups": "test set",
    "20newsgroups, no headers": "test set",
    "20newsgroups, no headers, quotes, footers": "test set",
    "sms spam": "5-fold",
    "rotten tomatoes": "10-fold",
    "deceptive reviews": "5-fold",
    "89 languages, 1 text in 20": "test set",
    "89 languages": "test set",
}
# scikit-learn needs a fit for each language, hours for all texts.
WITHOUT_PEER = ("89 languages",)


def main() -> None:
    """Measure the parts that are asked for, keep the records, fill the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts to run, of {','.join(PARTS)}")
    parser.add_argument("--sets", default="", help="sets for accuracy, separated by semicolons (all)")
    parser.add_argument(
        "--texts", type=int, help="try it with about so many texts of each set (2000); keeps nothing"
    )
    parser.add_argument("--keep", type=Path, help="keep the records in this file, and write on no page")
    options = parser.parse_args()
    kept = options.keep or (None if options.texts else RESULTS)
    wanted = options.only.split(",")
    if unknown := [name for name in wanted if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}: choose of {', '.join(PARTS)}")
    sets = [name.strip() for name in options.sets.split(";") if name.strip()] or list(ACCURACY)
    if unknown := [name for name in sets if name not in ACCURACY]:
        parser.error(f"there is no set {unknown[0]!r}: choose of {'; '.join(ACCURACY)}")
    records = json.loads(kept.read_text()) if kept and kept.exists() else {}
    for part in wanted:
        print(f"== {part}", flush=True)
        found = accuracy(options.texts, sets) if part == "accuracy" else PARTS[part](options.texts)
        if not found:
            continue
        if part == "accuracy":  # sets that were not run keep their figures
            found = records.get(part, {}).get("found", {}) | found
            found = {name: found[name] for name in ACCURACY if name in found}
        records[part] = {"machine": machine(), "versions": versions(), "found": found}
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(records, indent=1) + "\n")
    print(tables(records))
    if kept == RESULTS:
        fill(ROOT / "docs" / "text.md", records)


def versions() -> dict[str, str]:
    """What was run."""
    packages = {name: version(name) for name in ("lineal", "scikit-learn", "scipy", "numpy")}
    return {"python": platform.python_version(), "unicode": _core.UNICODE_VERSION} | packages


def here(found: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What was found, or nothing and a line that says which data is absent."""
    try:
        return found()
    except AbsentError as reason:
        print(f"skipped: {reason}", flush=True)
        return {}


def in_turns(contenders: dict[str, Callable[[], float]], n: int = N_REPEATS) -> dict[str, list[float]]:
    """Seconds of every contender, n times, one after another."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(n):
        for name, run in contenders.items():
            gc.collect()
            seconds[name].append(run())
    for name, found in seconds.items():
        print(f"  {name}: {min(found):.4f} s", flush=True)
    return seconds


# ---- speed ----------------------------------------------------------------------------------------


def speed(limit: int | None) -> dict[str, Any]:
    """Texts to matrices, and whether they are scikit-learn's; beside them a plain copy of memory."""
    found = {
        **here(lambda: {"imdb": on_set("imdb", ("tf-idf", "hashing"), limit)}),
        **here(lambda: {"20newsgroups": on_set("20newsgroups", ("tf-idf", "hashing"), limit)}),
        **here(lambda: {"imdb, 3,000 texts": characters(limit)}),
    }
    return found | {"copy": copied()} if found else {}


def characters(limit: int | None) -> dict[str, Any]:
    texts = evenly(read("imdb", limit=limit).texts, CHARACTER_TEXTS)
    return on_texts(texts, ("tf-idf of characters", "hashing of characters"))


def on_set(name: str, works: tuple[str, ...], limit: int | None) -> dict[str, Any]:
    print(f"  {name}", flush=True)
    return on_texts(read(name, limit=limit).texts, works)


def on_texts(texts: list[str], works: tuple[str, ...]) -> dict[str, Any]:
    n_bytes = sum(len(text.encode()) for text in texts)
    found = {work: raced(WORKS[work].contenders, WORKS[work].equal, texts) for work in works}
    return {"n_texts": len(texts), "n_bytes": n_bytes, "works": found}


def raced(contenders: dict[str, Run], equal: tuple[str, ...], texts: list[str]) -> dict[str, Any]:
    def timed(run: Run) -> float:
        began = time.perf_counter()
        X = run(texts)  # held until the clock stands: giving memory back is not counted
        seconds = time.perf_counter() - began
        del X
        return seconds

    seconds = in_turns({name: lambda run=run: timed(run) for name, run in contenders.items()})
    theirs = sp.csr_matrix(contenders[PEER](texts))
    theirs.sort_indices()
    differences = {name: difference(theirs, contenders[name](texts)) for name in equal}
    return {"seconds": seconds, "differences": differences}


def difference(theirs: sp.csr_matrix, ours: sp.csr_matrix) -> dict[str, Any]:
    """In how many stored entries two matrices with sorted rows differ: places, and values beyond rounding.

    scikit-learn sums a row's norm in another order, so values may differ in their last bits.
    """
    n_entries = int(theirs.nnz)
    if theirs.shape != ours.shape or theirs.dtype != ours.dtype:
        return {"n_entries": n_entries, "n_different": max(n_entries, int(ours.nnz)), "shape": ours.shape}
    is_same = np.array_equal(theirs.indptr, ours.indptr) and np.array_equal(theirs.indices, ours.indices)
    if not is_same:
        rest = (theirs - ours).tocsr()
        return {"n_entries": n_entries, "n_different": int((abs(rest.data) > 1e-12).sum()), "places": False}
    size = np.maximum(np.abs(theirs.data), np.finfo(np.float64).tiny)
    relative = np.abs(theirs.data - ours.data) / size
    largest = float(relative.max()) if n_entries else 0.0
    return {
        "n_entries": n_entries,
        "n_different": int((relative > 1e-12).sum()),
        "largest_relative_difference": largest,
    }


def copied(n_bytes: int = 256 * 10**6) -> dict[str, Any]:
    """What memory can do: a plain copy by one thread."""
    source, target = np.ones(n_bytes // 8), np.zeros(n_bytes // 8)

    def once() -> float:
        began = time.perf_counter()
        np.copyto(target, source)
        return time.perf_counter() - began

    return {"n_bytes": n_bytes, "seconds": in_turns({"plain copy": once})["plain copy"]}


# ---- memory and growth ----------------------------------------------------------------------------


def memory(limit: int | None) -> dict[str, Any]:
    """Peaks of tf-idf, each in a fresh process."""
    found = {}
    for name in ("imdb", "20newsgroups"):
        for contender in WORKS["tf-idf"].contenders:
            request = {"set": name, "work": "tf-idf", "contender": contender, "limit": limit}
            if (runs := alone("alone.py", json.dumps(request))) is None:
                break
            found.setdefault(name, {})[contender] = runs
    return found


def growth(limit: int | None) -> dict[str, Any]:
    """tf-idf of short strings in many languages: an eighth, a quarter, a half, all."""
    found: dict[str, Any] = {}
    for contender in WORKS["tf-idf"].equal:
        for fraction in FRACTIONS:
            request = {"set": "89 languages", "work": "tf-idf", "contender": contender, "limit": limit}
            if (runs := alone("alone.py", json.dumps(request | {"fraction": fraction}))) is None:
                return {}
            found.setdefault(contender, {})[str(fraction)] = runs
    return found


def alone(script: str, *request: str) -> list[dict[str, Any]] | None:
    """What a script prints in a fresh process, three times, and the process's seconds; None without data."""
    command = [sys.executable, str(HERE / script), *request]
    runs = []
    for _ in range(N_REPEATS):
        began = time.perf_counter()
        answer = subprocess.run(command, capture_output=True, text=True)
        whole = time.perf_counter() - began
        if answer.returncode:
            last = answer.stderr.strip().splitlines()[-1]
            if last.startswith("sets.AbsentError"):
                print(f"skipped: {last.partition(': ')[2]}", flush=True)
                return None
            raise RuntimeError(answer.stderr[-2000:])
        runs.append(json.loads(answer.stdout.splitlines()[-1]) | {"process_seconds": whole})
    print(f"  {request[0]}: {min(run['seconds'] for run in runs):.3f} s", flush=True)
    return runs


# ---- models ---------------------------------------------------------------------------------------


def latency(limit: int | None) -> dict[str, Any]:
    """predict([text]) of single reviews, from models that were pickled and loaded."""
    return here(lambda: _latency(limit))


def _latency(limit: int | None) -> dict[str, Any]:
    train, test = read("imdb", limit=limit), read("imdb", "test", limit=limit)
    step = max(len(test.texts) // 500, 1)
    texts, labels = test.texts[::step][:500], test.labels[::step][:500]
    models = {
        name: pickle.loads(pickle.dumps(make().fit(train.texts, train.labels)))
        for name, make in ((PEER, peer), ("lineal", fixed))
    }
    found: dict[str, Any] = {"n_texts": len(texts), "n_bytes": sum(len(text.encode()) for text in texts)}
    for name, model in models.items():
        began = time.perf_counter_ns()
        model.predict(texts[:1])
        first = (time.perf_counter_ns() - began) / 1e3
        single = [model.predict([text])[0] for text in texts]
        right = float(np.mean(np.array(single) == np.array(labels)))
        found[name] = {"first_microseconds": first, "accuracy": right, "median": [], "p99": []}
    for _ in range(N_REPEATS):
        for name, model in models.items():
            gc.collect()
            micros = [microseconds(model, text) for text in texts]
            found[name]["median"].append(float(np.median(micros)))
            found[name]["p99"].append(float(np.percentile(micros, 99)))
            print(f"  {name}: median {found[name]['median'][-1]:.1f} us", flush=True)
    return found


def microseconds(model: Any, text: str) -> float:
    began = time.perf_counter_ns()
    model.predict([text])
    return (time.perf_counter_ns() - began) / 1e3


def pipeline(limit: int | None) -> dict[str, Any]:
    """IMDB from file to model to test accuracy, each in a fresh process."""
    return here(lambda: _pipeline(limit))


def _pipeline(limit: int | None) -> dict[str, Any]:
    files = [str(path_of("imdb", f"{part}.jsonl")) for part in ("train", "test")]
    request = [*files, str(limit)] if limit else files
    return {contender: alone("pipeline.py", contender, *request) for contender in (PEER, FIXED, FREE)}


def accuracy(limit: int | None, sets: list[str]) -> dict[str, Any]:
    """How often a model is right on texts it has not seen, and the seconds of fits and predictions."""
    found: dict[str, Any] = {}
    for name in sets:
        found |= here(lambda name=name: {name: both(name, limit) | {"machine": machine()}})
    return found


def both(name: str, limit: int | None) -> dict[str, Any]:
    is_f1 = name == "sms spam"
    divisions = list(divided(name, limit))
    found: dict[str, Any] = {"measure": "F1 of spam" if is_f1 else "accuracy", "held_out": ACCURACY[name]}
    peer_of = partial(peer, "char_wb") if name.startswith("89 languages") else peer
    contenders = {FREE: free} if name in WITHOUT_PEER else {PEER: peer_of, FREE: free}
    for contender, make in contenders.items():
        one: dict[str, Any] = {"scores": [], "fit_seconds": [], "predict_seconds": [], "plans": []}
        for train, test in divisions:
            began = time.perf_counter()
            model = make().fit(train.texts, train.labels)
            learned = time.perf_counter()
            predicted = model.predict(test.texts)
            one["predict_seconds"].append(time.perf_counter() - learned)
            one["fit_seconds"].append(learned - began)
            labels = np.array(test.labels)
            is_right = (
                f1_score(labels, predicted, pos_label="spam") if is_f1 else np.mean(predicted == labels)
            )
            one["scores"].append(float(is_right))
            if hasattr(model, "plan_"):
                one["plans"].append(model.plan_)
        print(f"  {name}, {contender}: {np.mean(one['scores']):.4f}", flush=True)
        found[contender] = one
    return found


def divided(name: str, limit: int | None) -> Iterator[tuple[Texts, Texts]]:
    """Pairs of texts to learn from and to be tested on."""
    held_out = ACCURACY[name]
    data = read(name, limit=limit)
    if held_out == "test set":
        yield data, read(name, "test", limit=limit)
        return
    n_folds = int(held_out.partition("-")[0])
    folds = (
        GroupKFold(n_folds) if data.groups else StratifiedKFold(n_folds, shuffle=True, random_state=0)
    ).split(data.texts, data.labels, data.groups)
    for train, test in folds:
        yield taken(data, train), taken(data, test)


def taken(data: Texts, rows: Any) -> Texts:
    return Texts([data.texts[k] for k in rows], [data.labels[k] for k in rows])


PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "speed": speed,
    "memory": memory,
    "growth": growth,
    "latency": latency,
    "pipeline": pipeline,
    "accuracy": accuracy,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
