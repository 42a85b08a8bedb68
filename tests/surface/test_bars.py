"""The table of speed bars says what the raw JSON says, keeps two runs apart, and outlives what fails."""

import importlib.util
import json
import math
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def bars(monkeypatch):
    """The script behind `make bench` with the modules beside it."""
    for folder in ("text", "versus", "counts", "bars"):
        monkeypatch.syspath_prepend(str(BENCHMARKS / folder))
    spec = importlib.util.spec_from_file_location("bars_run", BENCHMARKS / "bars" / "run.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bars_run", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def row(bars):
    import bar

    return bar.Row(
        "P2", "hinge", bar.TIMES, 2.0, 3.0, [1.0, 1.1, 1.2], "peer", [2.0, 2.1, 2.2], date="2026-01-01"
    )


def test_every_bar_was_measured(bars):
    """The raw JSON of all benchmarks together has rows for P1 to P14, each with a goal."""
    rows = bars.collect()
    assert {row.bar for row in rows if row.goal is not None} >= {f"P{k}" for k in range(1, 15)}
    assert len({row.key for row in rows}) == len(rows)


def test_the_record_is_the_raw_json(bars):
    """What is kept last is what the benchmarks' own files say: `make bench-table` brings it up to date."""
    kept = bars.load()
    assert kept == json.loads(json.dumps(bars.merged(kept, bars.collect())))
    assert kept["libraries"] == bars.libraries()


def test_the_pages_are_the_record(bars):
    """The tables of README.md and docs/performance.md are written from JSON and by nothing else."""
    for path, written in bars.pages(bars.load()).items():
        assert path.read_text(encoding="utf-8") == written, f"{path.name}: make bench-table"


def test_what_is_missed_is_explained(bars):
    """A bar that is missed in a part has a section on what stands in the way; README names who is ahead."""
    import bar

    rows = [row for row in (bar.Row(**one["last"]) for one in bars.load()["rows"]) if row.goal is not None]
    missed = {row.bar for row in rows if bar.verdict(row) != bar.MET}
    page = (
        (ROOT / "docs" / "performance.md")
        .read_text(encoding="utf-8")
        .partition("## What stands in the way")[2]
    )
    assert missed <= set(re.findall(r"^### (\S+)$", page, flags=re.MULTILINE))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in {row.bar for row in rows if bar.verdict(row) == bar.AHEAD}:
        (line,) = re.findall(rf"^\| {name} \|.*$", readme, flags=re.MULTILINE)
        assert "the peer is ahead" in line


def test_two_runs_are_kept_side_by_side(bars, row):
    """A new measurement moves the last one to the run before; collecting twice changes nothing."""
    once = bars.merged(bars.empty(), [row])
    assert once["rows"][0]["previous"] is None
    assert bars.merged(once, [row]) == once
    later = replace(row, found=2.5, ours=[0.8, 0.9, 1.0], date="2026-01-02")
    twice = bars.merged(once, [later])
    (one,) = twice["rows"]
    assert (one["last"]["found"], one["previous"]["found"], one["previous"]["date"]) == (
        2.5,
        2.0,
        "2026-01-01",
    )
    assert bars.merged(twice, [later]) == twice
    table = bars.whole_table(twice)
    assert "2.50×" in table
    assert "2.00×, 2026-01-01" in table


def test_a_row_knows_whether_it_is_enough(bars, row):
    """Met, missed, behind the peer, or worth nothing because ours was not as good."""
    import bar

    def told(**changes):
        return bar.verdict(replace(row, **changes))

    assert told(found=3.0) == bar.MET
    assert told() == bar.MISSED
    assert told(found=0.9) == bar.AHEAD
    assert told(found=9.0, counts=False) == bar.UNEQUAL
    assert told(found=0.9, goal=None) == "the peer is ahead"
    assert told(kind=bar.SHARE, found=0.4, goal=0.45) == bar.MET
    assert told(kind=bar.SECONDS, found=0.2, goal=0.1) == bar.MISSED
    assert told(kind=bar.SCORE, found=0.91, goal=0.9) == bar.MET
    assert "the peer is ahead" in bars.short_table(bars.merged(bars.empty(), [replace(row, found=0.9)]))
    assert "ours was not as good" in bars.short_table(bars.merged(bars.empty(), [replace(row, counts=False)]))


def test_an_accuracy_below_the_peers_does_not_count(bars):
    """A faster pass that is less often right meets no bar."""
    import adapters
    import bar

    raw = json.loads((BENCHMARKS / "online" / "results" / "online.json").read_text())
    for run in raw["works"]["text"]["lineal"]["runs"]:
        run["accuracy"] = 0.5
    assert [bar.verdict(row) for row in adapters.online(raw)] == [bar.UNEQUAL, bar.UNEQUAL]


def test_a_benchmark_that_fails_or_hangs_is_told(bars, tmp_path, monkeypatch):
    """Its exit code and last line come back, and one that takes too long is ended."""
    import jobs

    monkeypatch.setattr(bars, "BUILD", tmp_path)
    script = tmp_path / "fails.py"
    script.write_text("import sys\nprint('half way')\nsys.exit('no such thing')\n")
    job = jobs.Job("a job", ("P2",), str(script), (), "none.json", 0.1)
    assert bars.run(job, (), None, None, 60.0) == (1, "no such thing")
    script.write_text("import time\nprint('waiting', flush=True)\ntime.sleep(600)\n")
    outcome = bars.run(job, (), None, None, 0.5)
    assert outcome.code < 0
    assert outcome.line == "stopped after 0 s"


def test_every_job_has_its_script_and_its_adapter(bars):
    """What `make bench` runs is there, and what it leaves is read by an adapter (curves have no bar)."""
    import adapters
    import jobs

    assert {f"P{k}" for k in range(1, 15)} <= set(jobs.known_bars())
    for job in jobs.JOBS:
        assert (BENCHMARKS / job.script).exists()
        assert job.raw in adapters.SOURCES or job.bars == ("curves",)


def test_a_page_without_marks_is_refused(bars):
    """A table is never written to a place that was not made for it."""
    assert (
        bars.between("a <!-- x:begin -->old<!-- x:end --> b", "x", "new")
        == "a <!-- x:begin -->\nnew\n<!-- x:end --> b"
    )
    with pytest.raises(ValueError, match="no marks"):
        bars.between("nothing here", "x", "new")


@pytest.mark.parametrize("power", [0.5, 1.0, 1.5])
def test_the_exponent_of_made_numbers(bars, power):
    """c n^p has exponent p, to rounding; one size has none."""
    import doubling

    sizes = [1000 * 2**k for k in range(8)]
    assert doubling.exponent(sizes, [0.03 * n**power for n in sizes]) == pytest.approx(power, abs=1e-12)
    assert math.isnan(doubling.exponent([10, 10], [1.0, 2.0]))


def test_a_count_that_grew_is_found(bars):
    """Over 3 % more instructions a unit, or a kernel that is gone; more work at the same price is fine."""
    import counts

    kept = {"pass": {"instructions": 1000, "units": 100}, "other": {"instructions": 50, "units": 10}}
    same = {"pass": {"instructions": 2040, "units": 200}, "other": {"instructions": 40, "units": 10}}
    assert counts.grown(kept, same) == []
    worse = {**same, "pass": {"instructions": 1031, "units": 100}}
    (line,) = counts.grown(kept, worse)
    assert line.startswith("pass: 10.000 -> 10.310")
    assert counts.grown(kept, {"pass": kept["pass"]}) == ["other: is no longer counted"]


def test_what_is_counted_compiles(bars):
    """The program that instructions are counted in knows the headers as they are."""
    import counts

    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no g++")
    source = BENCHMARKS / "counts" / "kernels.cpp"
    command = [compiler, *counts.FLAGS, "-fsyntax-only", f"-I{ROOT / 'native' / 'include'}", str(source)]
    if platform.machine() != "x86_64":
        command.remove("-march=x86-64-v3")
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr[-2000:]


def test_counts_without_valgrind_are_skipped_and_said(bars, monkeypatch, capsys):
    """A machine without the tool is told so, and nothing fails."""
    import counts

    monkeypatch.setattr(counts.shutil, "which", lambda tool: None)
    monkeypatch.setattr(sys, "argv", ["counts.py", "--check"])
    counts.main()
    assert capsys.readouterr().out.startswith("skipped: valgrind is not there")


def test_generated_texts_come_from_their_seed(bars):
    """The same texts at any time, frequent words far more often than rare ones, both classes there."""
    import generated

    made = list(generated.texts(300, 12.0))
    assert made == list(generated.texts(300, 12.0))
    assert {c for _, c in made} == {0, 1}
    words = " ".join(text for text, _ in made).split()
    assert words.count("ba") > 30
    assert len(set(words)) > len(words) / 5


def test_stand_ins_are_read_like_the_real_data(bars, tmp_path, monkeypatch):
    """A machine without data can run every benchmark: all files that jobs need can be made."""
    import generated
    import jobs
    import sets
    from sklearn.datasets import load_svmlight_file

    needs = sorted({file for job in jobs.JOBS for file in job.needs})
    home = generated.make_stand_ins(tmp_path, needs, 0.002)
    monkeypatch.setenv("LINEAL_DATA", str(home))
    monkeypatch.setattr(sets, "UNPACK", tmp_path / "none")
    sets._home.cache_clear()
    try:
        for name in (
            "imdb",
            "20newsgroups",
            "sms spam",
            "rotten tomatoes",
            "deceptive reviews",
            "89 languages",
        ):
            found = sets.read(name)
            assert len(found.texts) == len(found.labels) > 2
    finally:
        sets._home.cache_clear()
    X, y = load_svmlight_file(str(home / "libsvm" / "letter.scale.svm"), n_features=16)
    assert X.shape == (30, 16)
    assert set(y) <= set(range(1, 27))
