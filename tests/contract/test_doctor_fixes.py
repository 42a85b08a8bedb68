"""Commands that the doctor gives do what they say, and nothing else."""

import shlex
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lineal.data.doctor import diagnose

N = 12


def lines(wrong, right, delimiter, *, label_first, quote=False):
    """A file whose line 6 has the wrong spelling, which also stands in its text."""
    made = [["label", "text"] if label_first else ["text", "label"]]
    for k in range(2 * N):
        label = wrong if k == 4 else right if k % 2 == 0 else "other"
        text = f'"{wrong} a good story, {k}"' if k == 4 and delimiter == "," else f"story {k} {wrong} x"
        label = f'"{label}"' if quote else label
        made.append([label, text] if label_first else [text, label])
    return [delimiter.join(fields) for fields in made]


@pytest.mark.parametrize("label_first", [False, True])
@pytest.mark.parametrize(("delimiter", "name"), [(",", "a.csv"), ("\t", "a.tsv")])
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("Neg ", "neg"), ("[Spam]", "[spam]"), ("A.B*", "a.b*"), ("C$", "c$"), ("^Up", "^up"),
        ("A/B&C", "a/b&c"), ("back\\Slash", "back\\slash"), ("it's A", "it's a"),
    ],
)  # fmt: skip
def test_the_edit_of_a_label_changes_the_label_alone(tmp_path, wrong, right, delimiter, name, label_first):
    """Whatever signs a label has, and wherever else its letters stand, the command mends the field."""
    path = tmp_path / name
    before = lines(wrong, right, delimiter, label_first=label_first)
    path.write_text("\n".join(before) + "\n")
    (finding,) = diagnose(path, label="label").of("label-variant")
    command = finding.fix[finding.fix.index("sed -i") :]
    subprocess.run(shlex.split(command), check=True)
    after = path.read_text().splitlines()
    assert [k for k in range(len(before)) if after[k] != before[k]] == [5]
    text = before[5].removeprefix(wrong + delimiter).removesuffix(delimiter + wrong)
    assert after[5] == delimiter.join([right, text] if label_first else [text, right])


def test_a_label_in_quotes_is_mended_too(tmp_path):
    """Quotes around a field, and line ends of Windows, stay as they are."""
    path = tmp_path / "a.csv"
    before = lines("Neg", "neg", ",", label_first=False, quote=True)
    path.write_bytes("\r\n".join([*before, ""]).encode())
    (finding,) = diagnose(path, label="label").of("label-variant")
    subprocess.run(shlex.split(finding.fix[finding.fix.index("sed -i") :]), check=True)
    assert path.read_bytes().split(b"\r\n")[5].endswith(b'","neg"')


def test_a_label_between_other_columns_has_no_pattern(tmp_path):
    """Where a field cannot be told from its surroundings by a pattern, no command for lines is given."""
    path = tmp_path / "a.csv"
    rows = [f'"a, {k}",{"Neg" if k == 4 else "neg" if k % 2 else "pos"},{k}.5' for k in range(2 * N)]
    path.write_text("\n".join(["text,label,size", *rows, ""]))
    (finding,) = diagnose(path, label="label").of("label-variant")
    assert "sed" not in finding.fix
    assert "replace('Neg', 'neg')" in finding.fix


def test_empty_fields_that_belong_to_the_line_stay(tmp_path):
    """Of the commas at the end of a line only those that are too many are deleted."""
    path = tmp_path / "a.csv"
    rows = [f"text number {k},{'a' if k % 2 else 'b'},{k}" for k in range(2 * N)]
    rows[3] = "text number 3,a,,,"
    path.write_text("\n".join(["text,label,size", *rows, ""]))
    (finding,) = diagnose(path, label="label").of("too-many-fields")
    subprocess.run(shlex.split(finding.fix[finding.fix.index("sed -i") :]), check=True)
    assert path.read_text().splitlines()[4] == "text number 3,a,"


def test_every_index_of_sparse_rows_that_cannot_be_is_told(tmp_path):
    """A negative index has no place in an order, and one beyond all columns is told."""
    path = tmp_path / "a.svm"
    path.write_text("1 -3:1 2:1\n1 99999999999999999999:1\n-1 2:1\n" * 5)
    found = diagnose(path)
    assert not found.of("svm-order")
    assert [finding.line for finding in found.of("svm-negative-index")] == [1]
    assert [finding.line for finding in found.of("svm-pair")] == [2]


def test_a_header_alone_is_told_to_lack_rows(tmp_path):
    """Nothing was said above it that could be put right."""
    path = tmp_path / "a.csv"
    path.write_text("text,label\n")
    (finding,) = diagnose(path).findings
    assert "above" not in finding.fix
    assert "rows below the names" in finding.fix


def test_other_formats_are_not_read_as_csv(tmp_path):
    """Commands for columns of Parquet are of columns, not of a file that pandas would read as CSV."""
    values = ["N/A" if k == 4 else f"{k % 7},5" if k % 3 else f"{k},234,567" for k in range(60)]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"v": values, "label": ["x", "y"] * 30}), path)
    found = diagnose(path, label="label")
    assert found.findings
    assert not [finding for finding in found.findings if "read_csv" in finding.fix]


def test_a_column_of_objects_has_values(tmp_path):
    """It is told to be nested, and not to be empty."""
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(f'{{"text": "a {k}", "meta": {{"a": 1}}, "label": "{k % 2}"}}\n' for k in range(40))
    )
    found = diagnose(path, label="label")
    assert found.of("nested-value")
    assert not found.of("all-missing")
