"""All bars in one command: run every benchmark in a process of its own, collect, tabulate, draw.

    python benchmarks/bars/run.py                 everything, about an hour
    python benchmarks/bars/run.py --bars P2,P10   these; others keep what was measured before, with its day
    python benchmarks/bars/run.py --quick         a look at most in under three minutes; replaces nothing
    python benchmarks/bars/run.py --table         measure nothing: collect the raw JSON, write the pages

Run it with the interpreter that holds lineal. A benchmark that fails is recorded and the others go on. One
record (``results/bars.json``) holds each comparison as measured last and the time before;
docs/performance.md and README.md show it. Where real data are absent, stand-ins of the same shape are
generated, which is said, and what is measured on them goes to build/bench/stand-ins and on no page.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE), str(ROOT / "benchmarks" / "text"), str(ROOT / "benchmarks" / "counts")]

from adapters import SOURCES, collect, libraries  # noqa: E402
from jobs import BENCHMARKS, Job, in_order_of_looks, known_bars, wanted  # noqa: E402
from record import empty, load, merged, write  # noqa: E402
from sets import AbsentError, path_of  # noqa: E402
from tables import between, short_table, whole_table  # noqa: E402

BUILD = ROOT / "build" / "bench"
LOOK_SECONDS, JOB_SECONDS = 170.0, 45 * 60.0


class Outcome(NamedTuple):
    """How a process ended: 0 is well, and its last line."""

    code: int
    line: str


def main() -> None:
    """Measure what is asked for, keep it, write the pages."""
    options = _options()
    if options.table:
        finish(load())
    elif options.quick:
        look(options.bars)
    else:
        measure(options.bars)


def measure(bars: list[str] | None) -> None:
    """Every job in turn; a page shows what there is, also of jobs that failed."""
    record, work = load(), wanted(bars)
    print(f"{len(work)} benchmarks, about {sum(job.minutes for job in work):.0f} minutes", flush=True)
    made_up: dict[str, Path] = {}
    for job in work:
        home = stand_ins(job)
        kept = None if home is None else BUILD / "stand-ins" / job.raw
        outcome = run(job, job.options, kept, home, JOB_SECONDS)
        if kept is not None:
            made_up[job.raw] = kept
            continue
        record["failed"].pop(job.name, None)
        if outcome.code:
            record["failed"][job.name] = {"date": _today(), "code": outcome.code, "line": outcome.line}
        record = merged(record, collect())  # kept job by job: an end in between loses little
        write(record)
    if made_up:
        told = BUILD / "stand-ins" / "table.md"
        table = whole_table(merged(empty(), collect(made_up)))
        told.write_text(f"**Generated stand-ins, not the real data.**\n\n{table}\n", encoding="utf-8")
        print(f"\nOn stand-ins, which say nothing about the bars:\n\n{table}\n", flush=True)
    finish(record)


def look(bars: list[str] | None) -> None:
    """Small inputs, in order, while there is time; what is kept is kept in build/bench/quick."""
    folder, end = BUILD / "quick", time.perf_counter() + LOOK_SECONDS
    seen: dict[str, Path] = {}
    left_out, failed = [], {}
    for raw in SOURCES:
        (folder / raw).unlink(missing_ok=True)
    for job in in_order_of_looks(wanted(bars)):
        remaining = end - time.perf_counter()
        if job.quick is None or remaining < 5.0:
            left_out.append(job.name)
            continue
        outcome = run(job, job.quick, folder / job.raw, stand_ins(job, is_short=True), remaining)
        seen[job.raw] = folder / job.raw
        if outcome.code:
            failed[job.name] = {"date": _today(), "code": outcome.code, "line": outcome.line}
    table = whole_table({**merged(empty(), collect(seen)), "failed": failed})
    (folder / "table.md").write_text(table + "\n", encoding="utf-8")
    print(f"\nA look at small inputs: no bar is met or missed by it.\n\n{table}\n", flush=True)
    if left_out:
        print(f"Not looked at: {', '.join(left_out)}.", flush=True)


def run(job: Job, options: Any, kept: Path | None, home: Path | None, seconds: float) -> Outcome:
    """One benchmark in a process of its own, shown and logged; ended with its children after so long."""
    print(f"\n== {job.name} ({', '.join(job.bars)}), about {job.minutes:g} minutes", flush=True)
    command = [sys.executable, str(BENCHMARKS / job.script), *options]
    if kept is not None:
        command += ["--keep", str(kept)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    if home is not None:
        environment["LINEAL_DATA"] = str(home)
    log = BUILD / "logs" / f"{job.name.replace(' ', '-')}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    last: deque[str] = deque(maxlen=1)
    # A session of its own, so that its workers end with it.
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        start_new_session=True,
    )
    began = time.perf_counter()
    timer = Timer(seconds, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    assert process.stdout is not None
    try:
        with log.open("w", encoding="utf-8") as file:
            for line in process.stdout:
                print(line, end="", flush=True)
                file.write(line)
                if line.strip():
                    last.append(line.strip()[:200])
        code = process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        timer.cancel()
        process.stdout.close()
    print(f"   {job.name} took {time.perf_counter() - began:.1f} s and ended with {code}", flush=True)
    line = (
        f"stopped after {seconds:.0f} s"
        if code == -signal.SIGKILL
        else last[0]
        if last
        else "it said nothing"
    )
    return Outcome(code, line)


def stand_ins(job: Job, *, is_short: bool = False) -> Path | None:
    """Where generated data lie if a job's real data are absent; None if they are there."""
    try:
        for file in job.needs:
            path_of(*file.split("/"))
    except AbsentError as reason:
        from generated import make_stand_ins

        home = BUILD / "stand-ins" / ("few" if is_short else "data")
        print(f"\n{reason}.\n{job.name} runs on generated stand-ins of the same shape.", flush=True)
        return make_stand_ins(home, job.needs, 0.05 if is_short else 1.0)
    return None


def finish(record: dict[str, Any]) -> None:
    """The record as the raw JSON has it now, the two pages, the pictures."""
    record = {**merged(record, collect()), "libraries": libraries()}
    write(record)
    for path, written in pages(record).items():
        path.write_text(written, encoding="utf-8")
    print(short_table(record))
    try:
        import pictures
    except ImportError as reason:
        print(f"no pictures: {reason}")
    else:
        pictures.draw_all()
    if record["failed"]:
        print(f"failed: {json.dumps(record['failed'])}")


def pages(record: dict[str, Any]) -> dict[Path, str]:
    """The two pages with everything that is written on them from JSON."""
    import counts
    import doubling
    import roofline

    made = {"bars": whole_table(record)}
    for name, source in (("growth", doubling), ("roofline", roofline), ("counts", counts)):
        if source.RESULTS.exists():
            made[name] = source.table(json.loads(source.RESULTS.read_text(encoding="utf-8")))
    page, readme = ROOT / "docs" / "performance.md", ROOT / "README.md"
    text = page.read_text(encoding="utf-8")
    for name, table in made.items():
        text = between(text, name, table)
    return {page: text, readme: between(readme.read_text(encoding="utf-8"), "measured", short_table(record))}


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bars", type=_bars, metavar="P2,P10", help="bars to measure (all)")
    parser.add_argument("--quick", action="store_true", help="a look, in under three minutes")
    parser.add_argument("--table", action="store_true", help="measure nothing, write tables and pictures")
    return parser.parse_args()


def _bars(text: str) -> list[str] | None:
    asked = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := sorted(set(asked) - set(known_bars())):
        raise argparse.ArgumentTypeError(f"no bar {', '.join(unknown)}; there are {', '.join(known_bars())}")
    return asked or None


if __name__ == "__main__":
    main()
