"""What columns are taken for: guesses have reasons, wishes are heeded, what is not clear is asked for."""

import re

import pyarrow as pa
import pytest

from lineal.errors import InputError, ParameterError
from lineal.jobs.roles import guess_roles

PROSE = [f"this is text number {k} of many about a film" for k in range(60)]


def table(**columns):
    return pa.table({name.rstrip("_"): values for name, values in columns.items()})


def roles_of(made, **options):
    return {role.column: role.role for role in guess_roles(made, **options).roles}


def test_usual_names_and_values_decide():
    """Label by its name, prose as text, repeated words as categories, numbers, truth values and dates."""
    made = table(
        label=["a", "b"] * 30,
        text=PROSE,
        city=["Bath", "York", "Rome"] * 20,
        age=[float(k) + 0.5 for k in range(60)],
        member=[True, False] * 30,
        day=[f"2024-02-{1 + k % 28:02d}" for k in range(60)],
    )
    assert roles_of(made) == {
        "label": "label", "text": "text", "city": "category", "age": "number", "member": "boolean",
        "day": "date",
    }  # fmt: skip


def test_what_numbers_or_names_rows_is_dropped_with_a_reason():
    """Row numbers, identifiers, constants and empty columns teach nothing."""
    made = table(
        id=[7 * k % 61 for k in range(60)],
        n=list(range(60)),
        code=[f"x{k:04d}" for k in range(60)],
        same=["here"] * 60,
        nothing=pa.nulls(60),
        label=["a", "b"] * 30,
        text=PROSE,
    )
    found = guess_roles(made)
    assert found.of("dropped") == ["id", "n", "code", "same", "nothing"]
    assert all(role.reason for role in found.roles)
    assert found.text_alone == "text"


def test_wishes_come_before_guesses():
    """Roles that are asked for hold, and a column that is kept is learned from."""
    made = table(
        id=[7 * k % 61 for k in range(60)], y=["a", "b"] * 30, note=PROSE, place=["u", "v", "w"] * 20
    )
    found = roles_of(made, label="place", text=["note"], drop=["y"], keep=["id"])
    assert found == {"id": "number", "y": "dropped", "note": "text", "place": "label"}
    assert roles_of(made, group="place", category=["note"])["note"] == "category"


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"] * 30, "classification"),
        ([True, False] * 30, "classification"),
        ([1, 2, 3] * 20, "classification"),
        (list(range(60)), "regression"),
        ([0.5, 1.5] * 30, "regression"),
        ([1.0, 2.0] * 30, "classification"),
    ],
    ids=["names", "truth", "few-whole", "many-whole", "fractions", "whole-floats"],
)
def test_the_label_decides_the_task(values, task):
    """Names and few whole numbers are classes; fractions and many whole numbers are numbers."""
    assert guess_roles(table(label=values, text=PROSE)).task == task


def test_a_label_beside_texts_needs_no_name():
    """Of two columns the one that is no text is the label."""
    assert guess_roles(table(mood=["a", "b"] * 30, words=PROSE)).label == "mood"
    assert guess_roles(table(words=PROSE, mood=["a", "b"] * 30, other=["c"] * 60), text=["words"],
                       drop=["other"]).label == "mood"  # fmt: skip


def test_what_is_not_clear_is_asked_for():
    """Several candidates for the label are not guessed among; nothing to learn from is said."""
    with pytest.raises(InputError, match=re.escape("--label among 'p', 'q', 'r'")):
        guess_roles(table(p=["a", "b"] * 30, q=["c", "d"] * 30, r=PROSE))
    with pytest.raises(InputError, match="no column is left to learn from"):
        guess_roles(table(label=["a", "b"] * 30, same=["x"] * 60))


def test_names_that_are_not_there_or_have_two_roles_are_refused():
    """Before anything is read from the columns."""
    made = table(label=["a", "b"] * 30, text=PROSE)
    for wish in ({"label": "mood"}, {"drop": ["mood"]}, {"group": "mood"}, {"keep": ["mood"]}):
        with pytest.raises(ParameterError, match="'mood'"):
            guess_roles(made, **wish)
    with pytest.raises(ParameterError, match="both"):
        guess_roles(made, label="label", drop=["label"])
    with pytest.raises(ParameterError, match="task"):
        guess_roles(made, task="clustering")


def test_short_names_alone_are_read_as_text():
    """Where nothing else is there, what looks like an identifier is what must be learned from."""
    made = table(label=["a", "b"] * 30, name=[f"name{k}" for k in range(60)])
    assert roles_of(made)["name"] == "text"
