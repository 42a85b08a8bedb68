"""The jobs among the examples run as a person runs them, and do what they claim."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
CLAIMS = {
    "spam": ["naive Bayes is better than always ham", "more frequent in spam:", "% misspelt words"],
    "sentiment": ["with a lexicon is better than with negations", "in NumPy alone", "pos: praise", "blame"],
    "deceptive_reviews": [
        "is better than always one in 5 folds",
        "error of weights drawn at random",
        "% figures",
    ],
    "news_topics": [
        "4 topics known",
        "right before learned from",
        "stream is better than always one",
        "river",
    ],
    "spelling": ["than if ", "a perceptron makes at most", "McNemar's test", "Who is right?"],
    "tags": ["the dictionary allows it", "('ends in', 'ly', 'ADV')", "can bank the: VERB"],
    "translation_quality": [
        "Huber loss is better than squared loss",
        "log probability of target",
        "spearman",
    ],
    "house_prices": ["the normal equations", "all, Huber is better than always the mean", "town="],
    "diagnosis": ["the Gaussians meet", "measurements in use", "is better than always benign", "intercept"],
    "digits": ["45 pairs", "corrects any 3 wrong ones", "a perceptron makes at most", "by votes"],
    "progression": ["ordinal is better than always one", "by two or more", "10 weights and 3 thresholds"],
    "unlabelled": ["unknown is benign", "of the unlabelled rows are positive", "its certificate is None"],
    "reading_time": ["degrees of freedom", "words a minute", "words is better than always the mean"],
}
SCORE = re.compile(r"^  (.+?) +(accuracy|mae) ([\d.,]+) \(95 %: ([\d.,]+) \.\. ([\d.,]+)\)$", re.MULTILINE)


@cache
def printed(example, *options, hash_seed="0"):
    """What an example prints in a process of its own, with warnings as errors; run once for each call."""
    # Tests run side by side, and threads of OpenBLAS that wait for a busy core spin: one will do.
    alone = {"PYTHONIOENCODING": "utf-8", "PYTHONHASHSEED": hash_seed, "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / f"{example}.py"), *map(str, options)],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        env={**os.environ, **alone},
        check=False,
    )
    assert run.returncode == 0, run.stderr[-1000:]
    assert not run.stderr
    return run.stdout


def scores(out):
    """Name to (metric, value, low, high), of every line that states a score with its interval."""
    rows = SCORE.findall(out)
    return {name: (metric, *(float(part.replace(",", "")) for part in rest)) for name, metric, *rest in rows}


@pytest.mark.parametrize("job", CLAIMS)
def test_a_job_runs_and_beats_its_baseline(job):
    """It prints what it claims, in 10 to 40 lines, and its best model's interval excludes the baseline."""
    out = printed(job)
    assert 10 <= len(out.splitlines()) <= 40
    for claim in CLAIMS[job]:
        assert claim in out
    assert "proved to be within" in out or "makes at most" in out
    found = scores(out)
    ((_, baseline, _, _),) = (score for name, score in found.items() if name.startswith("always"))
    others = [score for name, score in found.items() if not name.startswith("always")]
    if others[0][0] == "accuracy":
        assert max(low for _, _, low, _ in others) > baseline
        assert max(value for _, value, _, _ in others) < 1  # made-up data, too, are no toy without an error
    else:
        assert min(high for _, _, _, high in others) < baseline


@pytest.mark.parametrize("job", CLAIMS)
def test_a_job_is_short(job):
    """A script has at most 60 lines, of at most 110 characters."""
    lines = (EXAMPLES / f"{job}.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 110


def test_every_script_is_described():
    """The table of the examples names every script there is, and each of its links leads to a file."""
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w.]+)\)", page))
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert linked - {"made_up.txt"} <= scripts
    assert scripts <= linked


def test_the_same_run_prints_the_same():
    """Nothing depends on the clock, the hash seed or the order of a set: two runs print the same bytes."""
    assert printed("spam") == printed("spam", hash_seed="1")


def test_spam_of_a_file_is_learned(tmp_path):
    """A file of the layout that the script names takes the place of the made-up messages."""
    rows = [("spam", f"win a free prize now {i % 7}") for i in range(30)]
    rows += [("ham", f"see you at home at {i % 7}") for i in range(60)]
    text = "label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in rows)
    (tmp_path / "mine.tsv").write_text(text, encoding="utf-8")
    assert "45 real messages to learn from, 45 to judge by" in printed("spam", tmp_path / "mine.tsv")
