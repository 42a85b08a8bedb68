"""Clean files are left alone; a file with one fault gets the fault's line; real files get the truth."""

import csv
import io
import json
import os
import random
import re
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets

from lineal.data import diagnose, read_records
from lineal.data.doctor import diagnose_records
from lineal.errors import InputError

DATA = Path(os.environ.get("LINEAL_DATA", "~/.cache/lineal-data")).expanduser()

SYLLABLES = ["ba", "ko", "lu", "mi", "ne", "ra", "so", "tu", "vi", "zé", "ga", "pe"]


class Clean:
    """Rows that are right: drawn labels, texts with commas, quotes and line ends, numbers, names."""

    def __init__(self, seed, n_rows, n_classes=2):
        draw = random.Random(seed)
        classes = ["ham", "spam", "news", "social"][:n_classes]
        self.names = ["label", "text", "size", "city"]
        self.rows = []
        for k in range(n_rows):
            # Every class is frequent, and neighbours differ, so that nothing looks rare or sorted.
            label = classes[(k * 7 + draw.randrange(2)) % n_classes]
            words = [
                "".join(draw.choices(SYLLABLES, k=draw.randint(1, 3))) for _ in range(draw.randint(5, 9))
            ]
            words[2] += draw.choice(["", ",", ' "so"', "\n"])
            size = f"{draw.gauss(20, 5):.2f}"
            self.rows.append([label, f"{' '.join(words)} {k}", size, draw.choice(["Oslo", "Rome", "Lima"])])

    def csv(self, end="\n"):
        """The records as CSV, each a string; the first is the header."""
        out = []
        for row in [self.names, *self.rows]:
            record = io.StringIO()
            csv.writer(record, lineterminator=end).writerow(row)
            out.append(record.getvalue())
        return out

    def tsv(self):
        rows = [
            [cell.replace("\n", " ").replace('"', "'") for cell in row] for row in [self.names, *self.rows]
        ]
        return ["\t".join(row) + "\n" for row in rows]

    def jsonl(self):
        keys = zip(self.names, (str, str, float, str), strict=True)
        keys = list(keys)
        return [
            json.dumps({name: kind(cell) for (name, kind), cell in zip(keys, row, strict=True)}) + "\n"
            for row in self.rows
        ]

    def svm(self):
        draw = random.Random(len(self.rows))
        return [
            f"{1 if row[0] == 'ham' else -1} "
            + " ".join(f"{k}:{draw.random():.3f}" for k in (1, 4, 9))
            + "\n"
            for row in self.rows
        ]


def write(folder, name, records):
    path = folder / name
    path.write_bytes("".join(records).encode())
    return path


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["csv", "crlf", "tsv", "jsonl", "svm"])
def test_clean_files_have_no_findings(tmp_path, kind, seed, n_classes):
    """No false alarm: rows with drawn labels, different texts and unrelated columns are left alone."""
    clean = Clean(seed, 150, n_classes)
    records = clean.csv("\r\n") if kind == "crlf" else getattr(clean, kind)()
    if kind == "crlf":
        records = [record.replace("\r\n", "\n").replace("\n", "\r\n") for record in records]
    suffix = {"crlf": "csv"}.get(kind, kind)
    found = diagnose(write(tmp_path, f"clean.{suffix}", records))
    assert found.findings == (), str(found)
    assert not found.has_errors
    assert found.n_rows == 150
    assert "nothing to complain about" in str(found)


def cut_line(record):
    """The record without its last field."""
    return record.rstrip("\n").rsplit(",", 1)[0] + "\n"


# What a fault does to the record of CSV, and what it is called.
CSV_FAULTS = {
    "too-few-fields": lambda record: cut_line(record),
    "too-many-fields": lambda record: "ham,one, two,3,Oslo\n",
    "unclosed-quote": lambda record: 'ham,"never closed and so on,3.5,Oslo\n',
    "stray-quote": lambda record: 'ham,a 5" nail of a kind,3.5,Oslo\n',
    "mixed-delimiters": lambda record: "ham;one and two;3.5;Oslo\n",
    "blank-line": lambda record: "\n" + record,
    "header-repeated": lambda record: "label,text,size,city\n" + record,
    "label-missing": lambda record: ",one and two,3.5,Oslo\n",
    "label-variant": lambda record: "Ham,one and two,3.5,Oslo\n",
    "label-typo": lambda record: "spamm,one and two,3.5,Oslo\n",
    "text-empty": lambda record: "ham,,3.5,Oslo\n",
    "mixed-types": lambda record: "ham,one and two,about 3,Oslo\n",
    "not-finite": lambda record: "ham,one and two,inf,Oslo\n",
    "missing-sign": lambda record: "ham,one and two,-,Oslo\n",
    "missing-value": lambda record: "ham,one and two,,Oslo\n",
    "space-around-value": lambda record: "ham,one and two,3.5,Oslo \n",
    "double-encoded": lambda record: "ham,one cafÃ© too,3.5,Oslo\n",
    "replacement-character": lambda record: "ham,one caf\ufffd too,3.5,Oslo\n",
    "nul-byte": lambda record: "ham,one\0 and two,3.5,Oslo\n",
    "byte-order-mark": lambda record: "\ufeff" + record,
    "text-html": lambda record: "ham,one<br>two and three,3.5,Oslo\n",
}


@given(
    seed=st.integers(0, 10_000),
    place=st.integers(1, 149),
    code=st.sampled_from(sorted(CSV_FAULTS)),
)
@settings(max_examples=60, deadline=None)
def test_the_line_of_a_fault_in_csv(tmp_path_factory, seed, place, code):
    """Whatever the rows are, and behind any number of line ends in quotes: the fault is found in its line."""
    records = Clean(seed, 150).csv()
    records[place] = CSV_FAULTS[code](records[place])
    line = 1 + "".join(records[:place]).count("\n")
    found = diagnose(write(tmp_path_factory.mktemp("fault"), "fault.csv", records))
    assert [finding.line for finding in found.of(code)] == [line], str(found)
    assert {finding.line for finding in found.findings} <= {line, None}, str(found)


JSON_FAULTS = {
    "json-malformed": '{"label": "ham", "text": "one" "size": 3}\n',
    "json-trailing-comma": '{"label": "ham", "text": "one and", "size": 3.5, "city": "Oslo",}\n',
    "json-single-quotes": "{'label': 'ham', 'text': 'one and', 'size': 3.5, 'city': 'Oslo'}\n",
    "json-no-object": '["ham", "one and", 3.5, "Oslo"]\n',
    "json-not-finite": '{"label": "ham", "text": "one and", "size": NaN, "city": "Oslo"}\n',
    "json-keys-differ": '{"label": "ham", "text": "one and", "size": 3.5}\n',
    "json-type-changes": '{"label": "ham", "text": "one and", "size": "3.5", "city": "Oslo"}\n',
    "nested-value": '{"label": "ham", "text": "one and", "size": [3.5], "city": "Oslo"}\n',
    "label-missing": '{"label": null, "text": "one and", "size": 3.5, "city": "Oslo"}\n',
    "text-empty": '{"label": "ham", "text": "", "size": 3.5, "city": "Oslo"}\n',
    "double-encoded": '{"label": "ham", "text": "caf\\u00c3\\u00a9", "size": 3.5, "city": "Oslo"}\n',
    "blank-line": "\n",
}


@given(seed=st.integers(0, 10_000), place=st.integers(1, 149), code=st.sampled_from(sorted(JSON_FAULTS)))
@settings(max_examples=40, deadline=None)
def test_the_line_of_a_fault_in_json_lines(tmp_path_factory, seed, place, code):
    """The same for JSON lines, a line to a record."""
    records = Clean(seed, 150).jsonl()
    records[place] = JSON_FAULTS[code]
    found = diagnose(write(tmp_path_factory.mktemp("fault"), "fault.jsonl", records))
    assert [finding.line for finding in found.of(code)] == [place + 1], str(found)
    assert {finding.line for finding in found.findings} <= {place + 1, None}, str(found)


@given(seed=st.integers(0, 10_000), first=st.integers(0, 70), second=st.integers(71, 148))
@settings(max_examples=20, deadline=None)
def test_a_copy_is_found_where_it_is(tmp_path_factory, seed, first, second):
    """A row that is there again, and a text with another label, are found in the line of the second."""
    clean = Clean(seed, 150)
    folder = tmp_path_factory.mktemp("copies")
    clean.rows[second] = list(clean.rows[first])
    records = clean.csv()
    line = 1 + "".join(records[: second + 1]).count("\n")
    (copy,) = diagnose(write(folder, "copy.csv", records)).findings
    assert (copy.code, copy.line) == ("duplicate-row", line)
    clean.rows[second][0] = "spam" if clean.rows[first][0] == "ham" else "ham"
    clean.rows[second][1] = clean.rows[second][1].upper().replace("É", "é") + "  "
    (contradiction,) = diagnose(write(folder, "other.csv", clean.csv())).findings
    assert (contradiction.code, contradiction.line) == ("contradiction", line)


READER_REFUSES = ("too-few-fields", "too-many-fields", "unclosed-quote", "mixed-delimiters")


@pytest.mark.parametrize("code", READER_REFUSES)
def test_errors_of_structure_are_refused_by_the_reader(tmp_path, code):
    """What is called an error about fields is one: the reader refuses the file, at that line.

    Of a quote that is not closed it can only say where it notices, which is behind the line where it opens.
    """
    records = Clean(3, 150).csv()
    records[70] = CSV_FAULTS[code](records[70])
    path = write(tmp_path, "fault.csv", records)
    line = diagnose(path).of(code)[0].line
    with pytest.raises(InputError) as refusal:
        read_records(path)
    said = int(re.search(r"line (\d+)", str(refusal.value))[1])
    assert said >= line if code == "unclosed-quote" else said == line


@given(st.binary(max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_bytes_get_a_diagnosis(tmp_path_factory, content):
    """No bytes crash the doctor, whatever they are said to be."""
    folder = tmp_path_factory.mktemp("bytes")
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.svm", "a.vw", "a.txt"):
        path = folder / name
        path.write_bytes(content)
        found = diagnose(path)
        json.dumps(found.to_dict())
        str(found)


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_mutated_files_get_a_diagnosis(tmp_path_factory, data):
    """A good file with bytes changed, lost or put in gets a diagnosis too."""
    clean = Clean(data.draw(st.integers(0, 99)), 30)
    kind = data.draw(st.sampled_from(["csv", "tsv", "jsonl", "svm"]))
    content = bytearray("".join(getattr(clean, kind)()).encode())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        sign = data.draw(st.sampled_from(b'\x00\xff\xe9",;:{}[]\n\r\t\\ 0'))
        change = data.draw(st.sampled_from(["put", "change", "lose"]))
        content[place : place + (change != "put")] = b"" if change == "lose" else bytes([sign])
    path = tmp_path_factory.mktemp("mutated") / f"a.{kind}"
    path.write_bytes(bytes(content))
    json.dumps(diagnose(path).to_dict())


def table_of(clean):
    columns = list(zip(*clean.rows, strict=True))
    return pa.table(
        {
            "label": columns[0],
            "text": columns[1],
            "size": [float(size) for size in columns[2]],
            "city": columns[3],
        }
    )


@pytest.mark.parametrize("seed", range(5))
def test_clean_tables_have_no_findings(seed):
    """The cheap part raises no false alarm either, and says the rows of what is wrong."""
    clean = Clean(seed, 150)
    options = {"label": "label", "text_columns": ["text"], "features": ["text", "size", "city"]}
    assert diagnose_records(table_of(clean), **options) == []
    clean.rows[90][1] = clean.rows[20][1].upper().replace("É", "é")
    clean.rows[90][0] = clean.rows[20][0]
    (copy,) = diagnose_records(table_of(clean), file="t", **options)
    assert (copy.code, copy.rows, copy.line) == ("duplicate-text", (90,), None)


@given(seed=st.integers(0, 1000), n_copies=st.integers(0, 20))
@settings(max_examples=20, deadline=None)
def test_the_cheap_part_finds_the_same_copies(tmp_path_factory, seed, n_copies):
    """Hashes of beginnings lose nothing: the table and the file have the same rows twice."""
    draw = random.Random(seed)
    clean = Clean(seed, 120)
    for _ in range(n_copies):
        source, target = draw.randrange(120), draw.randrange(120)
        text = clean.rows[source][1]
        clean.rows[target][1] = draw.choice([text, text.upper(), text.replace(" ", "  "), " " * 200 + text])
    records = diagnose_records(
        table_of(clean), label="label", text_columns=["text"], features=["size", "city"]
    )
    whole = diagnose(write(tmp_path_factory.mktemp("same"), "a.csv", clean.csv()))
    codes = ("duplicate-row", "duplicate-text", "contradiction")
    assert {f.code: (f.rows, f.count) for f in records if f.code in codes} == {
        f.code: (f.rows, f.count) for f in whole.findings if f.code in codes
    }


def test_a_test_table_beside_the_training_table():
    """Texts of the test table that were learned are said, with the row in the test table."""
    train, test = table_of(Clean(1, 100)), table_of(Clean(2, 80))
    options = {"label": "label", "text_columns": ["text"], "features": ["text", "size", "city"]}
    assert diagnose_records(train, test=test, **options) == []
    joined = pa.concat_tables([test, train.slice(30, 1)])
    (overlap,) = diagnose_records(train, test=joined, **options)
    assert (overlap.code, overlap.rows) == ("test-overlap", (80,))
    assert "row 30" in overlap.message


@pytest.mark.parametrize(
    ("name", "codes"),
    [("iris", {"duplicate-row"}), ("wine", set()), ("breast_cancer", set()), ("diabetes", {"label-numeric"})],
)
def test_truths_about_bundled_data(tmp_path, name, codes):
    """Tables that come with scikit-learn: flowers of which one occurs twice, and nothing else."""
    frame = getattr(datasets, f"load_{name}")(as_frame=True).frame.sample(frac=1, random_state=0)
    frame.to_csv(tmp_path / "a.csv", index=False)
    found = diagnose(tmp_path / "a.csv")
    assert {finding.code for finding in found.findings} == codes, str(found)


def test_labels_that_alternate_are_sampled_well():
    """A column that decides the label is found, and another is not, whatever the period of the rows."""
    draw = random.Random(0)
    n = 20_000
    labels = [str(k * 7 % 10) for k in range(n)]
    table = pa.table(
        {"label": labels, "same": [f"x{x}" for x in labels], "other": [draw.random() for _ in labels]}
    )
    found = diagnose_records(table, label="label", features=["same", "other"])
    assert [(finding.code, finding.column) for finding in found] == [("decides-label", "same")]


def real(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the data set {name} is not in {DATA}; LINEAL_DATA says where it is")
    return path


def test_truths_about_sms_spam():
    """A file of text messages: copies, a frequent class, quotes, HTML; each count is what the file has."""
    path = real("sms_spam/sms_spam.tsv")
    found = diagnose(path)
    lines = path.read_text(encoding="utf-8").split("\n")[1:-1]
    assert not found.has_errors
    assert {finding.code for finding in found.findings} == {
        *("duplicate-row", "duplicate-text", "label-imbalance"),
        *("control-character", "text-html", "quote-in-tsv", "text-without-words"),
    }
    assert found.of("duplicate-row")[0].count == len(lines) - len(set(lines))
    assert found.of("quote-in-tsv")[0].count == sum(
        line.split("\t")[1][:1] == '"' and line[-1] != '"' for line in lines
    )


def test_truths_about_op_spam():
    """Reviews of hotels: the source decides the label; rows are counted over line ends in quotes."""
    path = real("op_spam/deceptive-opinion.csv")
    found = diagnose(path, label="deceptive")
    assert {finding.code: finding.column for finding in found.findings} == {
        "decides-label": "source",
        "duplicate-row": None,
    }
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        begins, rows, before = [], [], 0
        for row in reader:
            begins.append(before + 1)
            rows.append(tuple(row))
            before = reader.line_num
    copies = [begins[k] for k, row in enumerate(rows) if row in rows[:k]]
    assert found.of("duplicate-row")[0].lines == tuple(copies[:5])


def test_truths_about_california_housing():
    """Houses: prices are numbers to predict, and some bedrooms are not known."""
    found = diagnose(real("california_housing/housing.csv"), label="median_house_value")
    assert {finding.code: finding.column for finding in found.findings} == {
        "label-numeric": "median_house_value",
        "missing-value": "total_bedrooms",
    }
    assert found.of("missing-value")[0].count == 207


@pytest.mark.slow
def test_truths_about_imdb():
    """Reviews of films: the rating decides the label, the file is sorted by it, some texts occur twice."""
    path = real("imdb/train.jsonl")
    found = diagnose(path)
    assert {finding.code: finding.column for finding in found.findings} == {
        "decides-label": "rating",
        "duplicate-text": "text",
        "sorted-by-label": "label",
        "text-html": "text",
        "control-character": "text",
    }
    texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    assert found.of("text-html")[0].count >= sum("<br />" in text for text in texts)
    distinct = {"".join(text.lower().split()) for text in texts}
    assert found.of("duplicate-text")[0].count == len(texts) - len(distinct)
