"""Every kind of broken file gets the finding that names it, with its line, its column and a concrete fix."""

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from contract.small_files import CSV, JSON, NUMBERS, SVM, changed, column, csv_lines, reviews, sentence, write
from lineal.data import diagnose
from lineal.data.doctor import codes

# Their fixes name a command for another file, or two of which one must be chosen.
NOT_COMMANDS = {"replacement-character"}

# name, file, content, options, code, line, column, part of the fix
CASES = [
    # bytes and lines
    ("empty", "a.csv", "", {}, "empty-file", None, None, "a.csv"),
    ("blank", "a.csv", "\n \n", {}, "empty-file", None, None, "a.csv"),
    ("header alone", "a.csv", "label,text\n", {}, "no-rows", None, None, "rows below the names"),
    ("latin-1", "a.csv", changed(CSV, 7, "pos,un café noir,3\n").encode("latin-1"), {}, "not-utf-8", 7,
     "text", "iconv -f WINDOWS-1252 -t UTF-8"),
    ("mixed encodings", "a.csv",
     changed(CSV, 4, "pos,ein Stück,3\n").encode() + "pos,un café noir,3\n".encode("latin-1"), {},
     "mixed-encodings", 26, "text", "register_error"),
    ("mixed encodings of JSON", "a.jsonl",
     changed(JSON, 4, JSON[3].replace("number", "Stück")).encode()
     + JSON[0].replace("number", "café").encode("latin-1"),
     {}, "mixed-encodings", 25, "text", "register_error"),
    ("wrong encoding", "a.csv", changed(CSV, 7, "pos,un caf@ noir,3\n").encode().replace(b"@", b"\x81"),
     {"encoding": "cp1252"}, "wrong-encoding", 7, "text", "encoding="),
    ("utf-16", "a.csv", "".join(CSV).encode("utf-16"), {}, "utf-16", None, None, "iconv -f UTF-16"),
    ("utf-16 without a mark", "a.csv", "".join(CSV).encode("utf-16-le"), {}, "utf-16", None, None,
     "iconv -f UTF-16LE"),
    ("mark inside", "a.csv", "".join(CSV) + "\ufeffpos,one more of them,3\n", {}, "byte-order-mark", 26, None,
     "sed -i '26s/"),
    ("nul", "a.csv", changed(CSV, 9, "pos,a nul\0 here,3\n"), {}, "nul-byte", 9, None, "tr -d '\\000'"),
    ("decoded twice", "a.csv", changed(CSV, 9, "pos,un cafÃ© noir,3\n"), {}, "double-encoded", 9, "text",
     "'café'"),
    ("decoded twice, quotes", "a.csv", changed(CSV, 9, "pos,donâ€™t do it,3\n"), {}, "double-encoded", 9,
     "text", "don’t"),
    ("lost letter", "a.csv", changed(CSV, 9, "pos,un caf\ufffd noir,3\n"), {}, "replacement-character", 9,
     "text", "iconv -f"),
    ("control", "a.csv", changed(CSV, 9, "pos,so\x85 there,3\n"), {}, "control-character", 9, "text", "'…'"),
    ("mixed ends", "a.csv", changed(CSV, 9, CSV[8].replace("\n", "\r\n")), {}, "mixed-line-ends", 9, None,
     "sed -i 's/\\r$//'"),
    ("old ends", "a.csv", "".join(CSV).replace("\n", "\r"), {}, "carriage-returns", 1, None,
     "tr '\\r' '\\n'"),
    ("cut gzip", "a.csv.gz", gzip.compress("".join(CSV * 200).encode())[:-30], {}, "unreadable", None, None,
     "a.csv.gz"),
    ("a workbook", "a.csv", b"PK\x03\x04 and so on", {}, "unreadable", None, None, "a.csv"),
    ("another format", "a.csv", "".join(JSON), {}, "wrong-format", None, None, "format='jsonl'"),
    # fields
    ("comma in a text", "a.csv", changed(CSV, 9, "pos,well, well,3\n"), {}, "too-many-fields", 9, "text",
     'pos,"well, well",3'),
    ("tab in a text", "a.tsv", changed([x.replace(",", "\t") for x in CSV], 9, "pos\twell\twell\t3\n"), {},
     "too-many-fields", 9, "text", "pos\twell well\t3"),
    ("comma at the end", "a.csv", changed(CSV, 9, "pos,well,3,\n"), {}, "too-many-fields", 9, None,
     "sed -i '9s/"),
    ("too few", "a.csv", changed(CSV, 9, "pos,well\n"), {}, "too-few-fields", 9, "size", "pos,well,"),
    ("behind line ends in quotes", "a.csv", changed(CSV, 4, 'pos,"one\ntwo\nthree",3\n') + "pos,well\n", {},
     "too-few-fields", 28, "size", "sed -i '28d'"),
    ("unclosed quote", "a.csv", changed(CSV, 9, 'pos,"well then,3\n'), {}, "unclosed-quote", 9, "text",
     'pos,"well then,3"'),
    ("unclosed before a quoted one", "a.csv",
     changed(CSV, 9, 'pos,"well then,3\n').replace(sentence(12), f'"{sentence(12)}"'),
     {}, "unclosed-quote", 9, "text", "Close the quote"),
    ("stray quote", "a.csv", changed(CSV, 9, 'pos,a 5" nail,3\n'), {}, "stray-quote", 9, "text",
     '"a 5"" nail"'),
    ("escaped quotes", "a.csv", changed(CSV, 9, 'pos,"he said \\"no, no\\" twice",3\n'), {},
     "escaped-quote", 9, None, 'pos,"he said ""no, no"" twice",3'),
    ("space before a quote", "a.csv", changed(CSV, 9, 'pos, "well, well",3\n'), {}, "space-before-quote", 9,
     None, 'pos,"well, well",3'),
    ("sep=", "a.csv", "sep=;\n" + "".join(CSV).replace(",", ";"), {}, "separator-line", 1, None,
     "sed -i '1d'"),
    ("quote in TSV", "a.tsv", changed([x.replace(",", "\t") for x in CSV], 9, 'pos\t"well then\t3\n'), {},
     "quote-in-tsv", 9, "text", "quoting=3"),
    ("quoted TSV", "a.tsv", "".join(re.sub(r",(.*),", '\t"\\1"\t', x) for x in CSV), {}, "quoted-tsv", 2,
     '"text"', "quoting=True"),
    ("semicolons", "a.csv", "".join(CSV).replace(",", ";"), {}, "wrong-delimiter", 1, None, "delimiter=';'"),
    ("tabs in CSV", "a.csv", "".join(CSV).replace(",", "\t"), {}, "wrong-delimiter", 1, None,
     "delimiter='\\t'"),
    ("mixed delimiters", "a.csv", changed(CSV, 9, "pos;well then;3\n"), {}, "mixed-delimiters", 9, None,
     "pos,well then,3"),
    ("blank line", "a.csv", changed(CSV, 9, "\n"), {}, "blank-line", 9, None, "sed -i '/^"),
    ("name twice", "a.csv", changed(CSV, 1, "label,text,text\n"), {}, "duplicate-column", 1, "text",
     "text_2"),
    ("name missing", "a.csv", changed(CSV, 1, "label,text,\n"), {}, "unnamed-column", 1, None,
     "label,text,column_3"),
    ("space in a name", "a.csv", changed(CSV, 1, "label,text, size\n"), {}, "column-name-space", 1, " size",
     "label,text,size"),
    ("no header", "a.csv", "".join(CSV[1:]), {}, "header-missing", 1, None, "header=False"),
    ("no header of numbers", "a.csv", "".join(f"{k},{k * k % 7},{k % 3}\n" for k in range(40)), {},
     "header-missing", 1, None, "sed -i '1i "),
    ("header again", "a.csv", changed(CSV, 9, CSV[0]), {}, "header-repeated", 9, None, "sed -i '9d'"),
    ("space around a value", "a.csv", column("city", ["Paris", "Rome", "Oslo"] * 8 + ["Paris "]), {},
     "space-around-value", 26, "city", "strip"),
    # JSON lines
    ("malformed", "a.jsonl", changed(JSON, 9, '{"label": "pos" "text": "x"}\n'), {}, "json-malformed", 9,
     None, "sed -i '9d'"),
    ("cut off", "a.jsonl", "".join(JSON) + '{"label": "pos", "text": "one', {}, "json-malformed", 25, None,
     "cut off"),
    ("no keys", "a.jsonl", "{}\n" * 5, {}, "json-no-keys", None, None, "below keys"),
    ("trailing comma", "a.jsonl", changed(JSON, 9, '{"label": "pos", "text": "x y", "size": 3,}\n'), {},
     "json-trailing-comma", 9, None, "sed -i '9s/"),
    ("single quotes", "a.jsonl", changed(JSON, 9, "{'label': 'pos', 'text': 'x y', 'size': None}\n"), {},
     "json-single-quotes", 9, None, "json.dumps"),
    ("two objects", "a.jsonl", changed(JSON, 9, JSON[8].strip() + " " + JSON[8].replace("number", "No.")), {},
     "json-several-objects", 9, None, "jq -c ."),
    ("an array", "a.json", json.dumps([json.loads(line) for line in JSON], indent=1), {}, "json-array", 1,
     None, "jq -c '.[]'"),
    ("no object", "a.jsonl", changed(JSON, 9, '["pos", "text"]\n'), {}, "json-no-object", 9, None,
     "sed -i '9d'"),
    ("NaN", "a.jsonl", changed(JSON, 9, '{"label": "pos", "text": "x y", "size": NaN}\n'), {},
     "json-not-finite", 9, "size", "null"),
    ("key missing", "a.jsonl", changed(JSON, 9, '{"label": "pos", "text": "x y"}\n'), {}, "json-keys-differ",
     9, "size", '"size"'),
    ("key too many", "a.jsonl", changed(JSON, 9, '{"label": "pos", "text": "x", "size": 3, "Size": 3}\n'), {},
     "json-keys-differ", 9, "Size", "Rename"),
    ("other type", "a.jsonl", changed(JSON, 9, '{"label": "pos", "text": "x y", "size": "four"}\n'), {},
     "json-type-changes", 9, "size", "a number"),
    ("nested", "a.jsonl", changed(JSON, 9, '{"label": "pos", "text": "x y", "size": {"n": 3}}\n'), {},
     "nested-value", 9, "size", "jq -c"),
    # LIBSVM and Vowpal Wabbit
    ("svm order", "a.svm", changed(SVM, 9, "1 12:0.5 3:1\n"), {}, "svm-order", 9, None, "1 3:1 12:0.5"),
    ("svm twice", "a.svm", changed(SVM, 9, "1 3:1 3:2\n"), {}, "svm-twice", 9, None, "'3:1' and '3:2'"),
    ("svm zero", "a.svm", changed(SVM, 9, "1 0:1 3:2\n"), {}, "svm-index-zero", 9, None, "add 1"),
    ("svm negative", "a.svm", changed(SVM, 9, "1 -4:1 3:2\n"), {}, "svm-negative-index", 9, None, "4:1"),
    ("svm no number", "a.svm", changed(SVM, 9, "1 3:x\n"), {}, "svm-pair", 9, None, "line 9"),
    ("svm semicolon", "a.svm", changed(SVM, 9, "1 3;0.5\n"), {}, "svm-pair", 9, None, "3:0.5"),
    ("svm label", "a.svm", changed(SVM, 9, "spam 3:1\n"), {}, "svm-label", 9, None, "+1 and -1"),
    ("svm not finite", "a.svm", changed(SVM, 9, "1 3:nan\n"), {}, "svm-not-finite", 9, None, "'3:nan'"),
    ("vw bar", "a.vw", "1 | a b\n-1 | c\n1 a b\n", {}, "vw-bar", 3, None, "1 | a b"),
    ("vw label", "a.vw", "1 | a b\n-1 | c\nspam | a b\n", {}, "vw-label", 3, None, "1 and -1"),
    # labels
    ("label missing", "a.csv", changed(CSV, 9, ",well then,3\n"), {}, "label-missing", 9, "label",
     "sed -i '9d'"),
    ("label N/A", "a.csv", changed(CSV, 9, "N/A,well then,3\n"), {}, "label-missing", 9, "label",
     "sed -i '9d'"),
    ("label variant", "a.csv", changed(CSV, 9, "Pos ,well then,3\n"), {}, "label-variant", 9, "label",
     "Pos \\(\"*\\),/\\1pos\\2,/'"),
    ("label typo", "a.csv",
     changed(csv_lines(60), 9, "x\n").replace("pos,", "spam,").replace("x\n", "spma,well,3\n"), {},
     "label-typo", 9, "label", "spma\\(\"*\\),/\\1spam\\2,/'"),
    ("label of one row", "a.csv", changed(CSV, 9, "other,well then,3\n"), {}, "label-single", 9, "label",
     "sed -i '9d'"),
    ("rare label", "a.csv", "".join(CSV) + "other,well then,3\nother,see you,4\n", {}, "label-rare", 26,
     "label", "join it"),
    ("one class", "a.csv", "".join(CSV).replace("neg", "pos"), {}, "label-constant", None, "label",
     "--label"),
    ("lopsided", "a.csv", "".join(csv_lines(60)).replace("\nneg", "\npos").replace("\npos", "\nneg", 6), {},
     "label-imbalance", None, "label", "balanced"),
    ("numbers for labels", "a.csv", column("price", [str(100 + 3.5 * k) for k in range(50)]),
     {"label": "price"}, "label-numeric", None, "price", "--task classification"),
    ("infinite label", "a.csv", column("price", [*(str(100 + 3.5 * k) for k in range(50)), "inf"]),
     {"label": "price"}, "label-not-finite", 52, "price", "sed -i '52d'"),
    ("no label", "a.csv", "".join(CSV).replace("label", "kind"), {}, "label-unknown", None, None, "--label"),
    ("sorted", "a.csv", "".join([CSV[0], *sorted(CSV[1:])]), {}, "sorted-by-label", None, "label", "shuf"),
    # leaks
    ("category decides", "a.csv", column("source", ["web" if k % 3 else "app" for k in range(60)]), {},
     "decides-label", None, "source", "--drop source"),
    ("threshold decides", "a.csv",
     column("score", [f"{(0.2 if k % 3 else 0.7) + k / 1000:.3f}" for k in range(60)]), {}, "decides-label",
     None, "score", "--drop score"),
    ("copy of the target", "a.csv",
     "x,y,target\n" + "".join(f"{k * k % 31},{7 * k % 41 * 2.5},{7 * k % 41 + 0.5}\n" for k in range(60)),
     {}, "decides-label", None, "y", "--drop y"),
    ("label in the text", "a.csv",
     "".join(x.replace("pos,", "pos,pos: ").replace("neg,", "neg,neg: ") for x in CSV), {}, "label-in-text",
     2, "text", "text.split(':', 1)[1]"),
    # rows
    ("row twice", "a.csv", "".join(CSV) + CSV[4], {}, "duplicate-row", 26, None, "awk '!seen[$0]++'"),
    ("text twice", "a.csv",
     "".join(CSV) + CSV[5].upper().replace("POS", "pos").replace(" ", "  ").replace("\n", "9\n"), {},
     "duplicate-text", 26, "text", "sed -i '26d'"),
    ("contradiction", "a.csv", "".join(CSV) + CSV[5].replace("pos", "neg"), {}, "contradiction", 26, "text",
     "26"),
    # columns
    ("constant", "a.csv", column("land", ["fr"] * 30), {}, "constant-column", None, "land", "--drop land"),
    ("all missing", "a.csv", column("land", [""] * 30), {}, "all-missing", None, "land", "--drop land"),
    ("identifier", "a.csv", column("id", range(100, 130)), {}, "identifier", None, "id", "--drop id"),
    ("identifier of letters", "a.csv", column("key", [f"x{k * k}z" for k in range(30)]), {}, "identifier",
     None, "key", "--drop key"),
    ("missing number", "a.csv", column("age", [*NUMBERS, ""]), {}, "missing-value", 32, "age", "fill"),
    ("N/A among numbers", "a.csv", column("age", [*NUMBERS, "N/A"]), {}, "missing-spelling", 32, "age",
     "na_values=['N/A']"),
    ("dash among numbers", "a.csv", column("age", [*NUMBERS, "-"]), {}, "missing-sign", 32, "age",
     "na_values=['-']"),
    ("two words for nothing", "a.csv", column("land", ["fr", "de", "it"] * 10 + ["null", "N/A"]), {},
     "missing-spelling", 32, "land", "na_values"),
    ("infinite", "a.csv", column("age", [*NUMBERS, "inf"]), {}, "not-finite", 32, "age", "largest number"),
    ("unit", "a.csv", column("age", [*NUMBERS, "12kg"]), {}, "mixed-types", 32, "age",
     "Write 12 in line 32."),
    ("word among numbers", "a.csv", column("age", [*NUMBERS, "old"]), {}, "mixed-types", 32, "age",
     "line 32"),
    ("decimal comma", "a.csv",
     "size;label;text\n" + "".join(f"{k},5;{x[0]};{x[1]}\n" for k, x in enumerate(reviews())),
     {"delimiter": ";"}, "decimal-comma", 2, "size", "decimal=','"),
    ("thousands", "a.csv", column("pay", [*NUMBERS[:-1], '"1,234,567"']), {}, "thousands-separator", 31,
     "pay", "1234567"),
    ("dates", "a.csv", column("day", [f"2024-01-{k + 1:02d}" for k in range(28)] + ["24.12.2023"]), {},
     "mixed-dates", 30, "day", "2023-12-24"),
    # texts
    ("empty text", "a.csv", changed(CSV, 9, "pos,  ,3\n"), {}, "text-empty", 9, "text", "sed -i '9d'"),
    ("wordless", "a.csv", changed(CSV, 9, "pos,?!,3\n"), {}, "text-without-words", 9, "text", "sed -i '9d'"),
    ("long text", "a.csv", changed(CSV, 9, f"pos,{'word ' * 9000},3\n"), {}, "text-long", 9, "text", "quote"),
    ("html", "a.csv", changed(CSV, 9, "pos,a<br />b &amp; c,3\n"), {}, "text-html", 9, "text",
     "html.unescape"),
    ("plain lines", "a.txt", "one line\nun café\n".encode() + b"caf\xe9\n", {}, "mixed-encodings", 3, "text",
     "register_error"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "options", "code", "line", "column", "fix"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_a_broken_file_gets_its_finding(tmp_path, name, content, options, code, line, column, fix):
    """The finding has the code, the line that an editor shows, the column, and a concrete fix."""
    path = write(tmp_path, name, content)
    found = diagnose(path, **options)
    matching = found.of(code)
    assert matching, str(found)
    finding = matching[0]
    assert (finding.file, finding.line) == (str(path), line), str(finding)
    if column is not None:
        assert finding.column == column, str(finding)
    assert fix in finding.fix, finding.fix
    assert finding.message
    assert "{" not in finding.place
    json.dumps(found.to_dict())


COMMAND = re.compile(r"(?:sed -i|iconv|tr|awk|jq|python3 -c|\(head) .*?(?=, or | \(the line becomes|$)")


@pytest.mark.parametrize(
    ("name", "content", "options", "code"), [case[1:5] for case in CASES], ids=[case[0] for case in CASES]
)
def test_commands_of_fixes_work(tmp_path, name, content, options, code):
    """Where the fix is a command, running it removes the problem and makes no other error."""
    path = write(tmp_path, name, content)
    finding = diagnose(path, **options).of(code)[0]
    command = COMMAND.search(finding.fix)
    if command is None or code in NOT_COMMANDS:
        return
    if shutil.which(command[0].split()[0].strip("(")) is None:
        pytest.skip(f"there is no {command[0].split()[0]} on this machine")
    subprocess.run(["bash", "-c", command[0]], check=True, cwd=tmp_path, timeout=20)
    fixed = Path(codes.mended(str(path)))
    before = {finding.code for finding in diagnose(path, **options).findings}
    after = diagnose(fixed if fixed.exists() else path, **options)
    assert code not in {finding.code for finding in after.findings}, str(after)
    assert {finding.code for finding in after.findings if finding.severity == "error"} <= before


def test_there_are_enough_kinds_of_broken_files():
    """Every code of the registry has a broken file here or in the tests below, and there are more than 45."""
    elsewhere = {"test-overlap", "test-columns", "test-label", "test-drift", "file-without-class"}
    elsewhere |= {"nearly-decides-label"}
    assert {case[4] for case in CASES} | elsewhere == set(codes.kinds())
    assert len(CASES) >= 45


def test_one_flaw_does_not_hide_the_next(tmp_path):
    """A file with a flaw of each kind gets all of them, each at its own line."""
    lines = csv_lines()
    flaws = {
        3: ("too-few-fields", "pos,well\n"),
        6: ("unclosed-quote", 'pos,"never closed,3\n'),
        9: ("too-many-fields", "pos,one, two, three,3\n"),
        12: ("blank-line", "\n"),
        15: ("mixed-delimiters", "pos;well then;4\n"),
        18: ("header-repeated", lines[0]),
        21: ("label-missing", ",some text here,4\n"),
        23: ("text-empty", "pos,,4\n"),
    }
    for number, (_, line) in flaws.items():
        lines[number - 1] = line
    found = diagnose(write(tmp_path, "a.csv", "".join(lines)))
    said = {(finding.line, finding.code) for finding in found.findings}
    assert {(number, code) for number, (code, _) in flaws.items()} <= said
    assert {line for line, _ in said} <= {None, *flaws}
    assert found.has_errors


def test_places_are_few_and_counts_are_whole(tmp_path):
    """Of a flaw in many lines the first few are listed, and all are counted; so are findings of a kind."""
    lines = csv_lines(400)
    for k in range(10, 300):
        lines[k] = "pos,a, b,3\n"
    (finding,) = diagnose(write(tmp_path, "a.csv", "".join(lines))).of("too-many-fields")
    assert (finding.lines, finding.count) == ((11, 12, 13, 14, 15), 290)
    assert "290 in all: lines 11, 12, 13, 14, 15, ..." in str(finding)
    labels = "".join(f"rare{k}x,{sentence(k)}\n" for k in range(40))
    found = diagnose(write(tmp_path, "b.csv", "label,text\n" + labels), max_findings_per_kind=3)
    assert len(found.of("label-single")) == 3
    assert found.left_out["label-single"] == 37
    assert "37 more of label-single" in str(found)
