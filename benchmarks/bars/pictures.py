"""What was measured as pictures in build/bench: drawn from the raw JSON that is kept, measuring nothing.

python benchmarks/bars/pictures.py
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE)]

import matplotlib  # noqa: E402

matplotlib.use("Agg")

from doubling import curves, exponent, large  # noqa: E402
from matplotlib.ticker import NullFormatter  # noqa: E402

from lineal.canvas import COLOURS, FAINT, INK, MARKERS, dress, new_axes  # noqa: E402

BENCHMARKS, BUILD = HERE.parent, ROOT / "build" / "bench"
_OURS = "lineal"


def draw_all() -> list[Path]:
    """Every picture whose records are there."""
    BUILD.mkdir(parents=True, exist_ok=True)
    made = []
    for name, draw in PICTURES.items():
        figure = draw()
        if figure is not None:
            path = BUILD / f"{name}.png"
            figure.savefig(path, dpi=100)
            figure.savefig(path.with_suffix(".svg"))
            matplotlib.pyplot.close(figure)
            made.append(path)
    made += time_to_gap()
    print("drew " + ", ".join(str(path.relative_to(ROOT)) for path in made))
    return made


def kept(name: str) -> dict[str, Any]:
    """The raw JSON of a benchmark, empty if it was not run."""
    path = BENCHMARKS / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def objectives() -> Any:
    """P2 to P6: how far above the best objective anyone reached, against the seconds it took."""
    works = [
        w
        for bar in ("P2", "P3", "P4", "P5", "P6")
        for w in kept(f"versus/results/{bar}.json").get("works", [])
    ]
    if not works:
        return None
    axes = new_axes(-(-len(works) // 3), 3, figsize=(24, 4.6 * -(-len(works) // 3)))
    for ax in axes[len(works) :]:
        ax.set_visible(False)
    for ax, work in zip(axes, works, strict=False):
        dress(ax, work["title"], "seconds, best of the runs", "above the best objective, relative")
        names = list(dict.fromkeys(run["name"] for run in work["runs"] if run["seconds"] is not None))
        for place, name in enumerate(sorted(names, key=lambda n: n != _OURS)):
            points = sorted(_best_of_settings(work["runs"], name))
            across, up = zip(*points, strict=True)
            style = _style(place, is_ours=name == _OURS)
            ax.plot(across, [max(value, 1e-9) for value in up], label=name, **style)
        ax.axhline(work["target"], color=FAINT, linewidth=0.8, linestyle=":")
        ax.annotate("asked", (1.0, work["target"]), xycoords=("axes fraction", "data"), ha="right",
        va="bottom",
                    fontsize=8, color=INK)  # fmt: skip
        ax.set(xscale="log", yscale="log")
        _few_ticks(ax.xaxis)
        ax.legend(fontsize=7.5, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes[0].figure


def _best_of_settings(runs: list[dict[str, Any]], name: str) -> list[tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for run in runs:
        if run["name"] == name and run["seconds"] is not None and run["suboptimality"] is not None:
            key = json.dumps(run["setting"], sort_keys=True)
            seconds = min(run["seconds"], found.get(key, (run["seconds"],))[0])
            found[key] = (seconds, run["suboptimality"])
    return list(found.values())


def _style(place: int, *, is_ours: bool) -> dict[str, Any]:
    """Ours in ink and large; each peer with a colour and a shape of its own."""
    if is_ours:
        return {"color": "black", "marker": "o", "markersize": 8, "linewidth": 1.8, "zorder": 5}
    colours = [colour for colour in COLOURS if colour != "#000000"]
    shapes = MARKERS[1:]
    turn = (place - 1) // len(colours)  # colours come round again with other shapes
    return {
        "color": colours[(place - 1) % len(colours)], "marker": shapes[(place - 1 + turn) % len(shapes)],
        "markersize": 5.5, "linewidth": 0.9, "alpha": 0.9,
    }  # fmt: skip


def accuracies() -> Any:
    """P7 and P10: accuracy on the test set against the seconds of everything before it."""
    panels = {
        "P7: IMDB, file to model to accuracy, whole process": kept("command/results/command.json").get(
            "versus"
        ),
        "P10: IMDB, one pass over texts in memory": {
            name: one["runs"]
            for name, one in kept("online/results/online.json").get("works", {}).get("text", {}).items()
        },
    }
    panels = {title: found for title, found in panels.items() if found}
    if not panels:
        return None
    axes = new_axes(1, len(panels), figsize=(8.5 * len(panels), 5.6))
    for ax, (title, found) in zip(axes, panels.items(), strict=True):
        dress(ax, title, "seconds, every run", "test accuracy")
        for place, (name, runs) in enumerate(found.items(), 1):
            is_ours = name.startswith(_OURS)
            style = _style(place, is_ours=False) | {"linestyle": "none", "markersize": 9 if is_ours else 7}
            style |= {"markeredgecolor": "black", "markeredgewidth": 1.4 if is_ours else 0.0}
            seconds = [run.get("process_seconds", run.get("seconds")) for run in runs]
            ax.plot(seconds, [run["accuracy"] for run in runs], label=name, **style)
        ax.set(xscale="log")
        _few_ticks(ax.xaxis)
        ax.legend(
            fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), title="ringed: lineal"
        )
    return axes[0].figure


def memory() -> Any:
    """Peaks above what there was before, ours beside theirs."""
    pairs = []
    for name, contenders in kept("text/results/text.json").get("memory", {}).get("found", {}).items():
        for contender, runs in contenders.items():
            peaks = [run["peak_bytes"] for run in runs if run["peak_bytes"] is not None]
            if peaks and not contender.startswith("lineal, float32"):
                pairs.append((f"P1 {name}, tf-idf: {contender}", min(peaks)))
    for bar in ("P2", "P3", "P4", "P5", "P6"):
        for work in kept(f"versus/results/{bar}.json").get("works", []):
            least: dict[str, int] = {}
            for run in work["runs"]:
                if run["extra_bytes"] is not None:
                    least[run["name"]] = min(run["extra_bytes"], least.get(run["name"], run["extra_bytes"]))
            if _OURS in least and len(least) > 1 and max(least.values()) > 5e6:
                peers = [name for name in least if name != _OURS and "not counted" not in name]
                peer = min(peers, key=lambda name: least[name])
                pairs += [(f"{bar} {work['title']}: {who}", least[who]) for who in (_OURS, peer)]
    if not pairs:
        return None
    (ax,) = new_axes(1, 1, figsize=(12, 0.32 * len(pairs) + 1.5))
    dress(ax, "Peak memory above input and imports; of the peers that with the least", "MB", "")
    ours = ["lineal" in name for name, _ in pairs]
    ax.barh(
        range(len(pairs)),
        [max(value / 1e6, 0.1) for _, value in pairs],
        color=["black" if o else COLOURS[5] for o in ours],
    )
    ax.set_yticks(range(len(pairs)), [name for name, _ in pairs], fontsize=8)
    for place, (_, value) in enumerate(pairs):
        ax.text(max(value / 1e6, 0.1) * 1.05, place, f"{value / 1e6:.0f}", va="center", fontsize=8, color=INK)
    ax.set(xscale="log")
    ax.invert_yaxis()
    return ax.figure


def growth() -> Any:
    """Time and memory against size, with the fitted exponents and a line of slope 1."""
    series = curves(kept("bars/results/growth.json"))
    if not series:
        return None
    documents = [one for one in series if one["what"] in ("documents", "reviews")]
    rest = [one for one in series if one not in documents]
    axes = new_axes(1, 3, figsize=(18, 5.6))
    _grown(axes[0], documents, "seconds", "Documents doubled: time", "seconds", "documents")
    _grown(
        axes[1],
        [one for one in documents if one["bytes"]],
        "bytes",
        "Documents doubled: peak memory",
        "bytes",
        "documents",
    )
    _grown(axes[2], rest, "seconds", "A fit, one size doubled at a time", "seconds", "size over the smallest")
    return axes[0].figure


def _grown(ax: Any, series: list[dict[str, Any]], what: str, title: str, up: str, across: str) -> None:
    dress(ax, title, across, up)
    is_relative, n_most, least = across != "documents", 1.0, []
    for place, one in enumerate(series):
        points = (one["sizes"], one[what]) if what == "seconds" else large(one["sizes"], one[what])
        if len(points[0]) < 2:
            continue
        sizes = [n / points[0][0] for n in points[0]] if is_relative else points[0]
        name = one["title"].removeprefix("fit, doubled: ").replace("`", "")
        ax.plot(
            sizes,
            points[1],
            label=f"{name}: exponent {exponent(*points):.2f}",
            **_style(place + 1, is_ours=False),
        )
        least.append((sizes[0], points[1][0]))
        n_most = max(n_most, sizes[-1])
    if least:
        first, start = min(least, key=lambda point: point[1])
        ax.plot([first, n_most], [start, start * n_most / first], color=FAINT, linestyle=":", label="linear")
    ax.set(xscale="log", yscale="log")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * (high / low) ** 0.35)  # room for the legend above all lines
    ax.legend(fontsize=8, frameon=False, loc="upper left")


def time_to_gap() -> list[Path]:
    """The certified gap against time of every solver: benchmarks/curves draws what it keeps."""
    script = BENCHMARKS / "curves" / "run.py"
    drawn = ROOT / "build" / "curves" / "curves.png"
    answer = subprocess.run([sys.executable, str(script), "--draw"], capture_output=True, text=True)
    if answer.returncode or not drawn.exists():
        return []
    path = BUILD / "time-to-gap.png"
    path.write_bytes(drawn.read_bytes())
    return [path]


def _few_ticks(axis: Any) -> None:
    axis.set_minor_formatter(NullFormatter())


PICTURES: dict[str, Callable[[], Any]] = {
    "objective": objectives,
    "accuracy": accuracies,
    "memory": memory,
    "growth": growth,
}

if __name__ == "__main__":
    draw_all()
