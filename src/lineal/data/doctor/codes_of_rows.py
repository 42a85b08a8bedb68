"""Problems of values: labels, columns, texts, rows that occur twice, and test files that do not fit."""

from __future__ import annotations

from lineal.data.doctor.codes import Kind

_LABELS = (
    Kind(
        "no-rows",
        "error",
        "no record could be read.",
        "{advice}",
        {"advice": "Write the rows below the names of the columns."},
    ),
    Kind(
        "label-unknown",
        "note",
        "it is not clear which column is the label, so labels were not looked at.",
        "Name it: --label {quoted}, or another of {names}.",
        {"quoted": "sentiment", "names": "'sentiment', 'stars', 'text'"},
    ),
    Kind(
        "label-missing",
        "error",
        "there is no label{spelled}.",
        "Fill it in, or delete the rows: {delete}",
        {"lines": (17,), "column": "label", "spelled": ""},
    ),
    Kind(
        "label-constant",
        "error",
        "every label is {label}: there is nothing to tell apart.",
        "Add rows of another class, or choose another column: --label NAME.",
        {"column": "label", "label": "'spam'"},
    ),
    Kind(
        "label-variant",
        "warning",
        "{label} is {other} but for {what}, and would be a class of its own ({n_other:,} rows are {other}).",
        "Write {other} in its place: {command}",
        {
            "lines": (17,),
            "column": "label",
            "label": "'Spam '",
            "other": "'spam'",
            "what": "capitals and space",
            "n_other": 747,
            "command": r"""sed -i '17s/,\("*\)Spam \("*\r*\)$/,\1spam\2/' reviews.csv""",
        },
    ),
    Kind(
        "label-typo",
        "warning",
        "{label} ({n:,} {rows_word}) is probably {other} ({n_other:,} rows) misspelt.",
        "If so, write {other} in its place: {command}",
        {
            "lines": (17,),
            "column": "label",
            "label": "'spma'",
            "n": 1,
            "rows_word": "row",
            "other": "'spam'",
            "n_other": 747,
            "command": r"""sed -i '17s/,\("*\)spma\("*\r*\)$/,\1spam\2/' reviews.csv""",
        },
    ),
    Kind(
        "label-single",
        "warning",
        "the label {label} has one row, so it cannot be both learned and tested.",
        "Add rows with it, join it with another class, or delete it: {delete}",
        {"lines": (17,), "column": "label", "label": "'scam'"},
    ),
    Kind(
        "label-rare",
        "note",
        "the label {label} has only {n} rows: what is learned and measured of it will be uncertain.",
        "Add rows with it, or join it with another class.",
        {"lines": (17,), "column": "label", "label": "'scam'", "n": 3},
    ),
    Kind(
        "label-imbalance",
        "note",
        "{share} of the rows are {largest} ({n_largest:,}; the smallest class, {smallest}, has "
        "{n_smallest:,}): always answering {largest} is right in {share}.",
        'Compare accuracy with {share}, and look at balanced accuracy or F1 too; class_weight="balanced" '
        "makes rare classes count more.",
        {
            "column": "label",
            "share": "86.6 %",
            "largest": "'ham'",
            "n_largest": 4827,
            "smallest": "'spam'",
            "n_smallest": 747,
        },
    ),
    Kind(
        "label-numeric",
        "note",
        "the labels are {n:,} different numbers, from {low:g} to {high:g}: they are taken for numbers to "
        "predict (regression).",
        "If they are classes, train with --task classification; or choose another column with --label.",
        {"column": "price", "n": 3842, "low": 14999, "high": 500001},
    ),
    Kind(
        "label-not-finite",
        "error",
        "the label is {text}, which is no number to learn.",
        "Write the number, or delete the rows: {delete}",
        {"lines": (17,), "column": "price", "text": "inf"},
    ),
    Kind(
        "sorted-by-label",
        "note",
        "the rows are sorted by label: {runs}.",
        "Nothing for train, which draws rows at random; before learning online, shuffle: {shuffle}",
        {
            "column": "label",
            "runs": "the first 12,500 are 'neg', then 'pos' follows",
            "shuffle": "(head -n 1 reviews.csv; tail -n +2 reviews.csv | shuf) > reviews.fixed.csv",
        },
    ),
)

_LEAKS = (
    Kind(
        "decides-label",
        "warning",
        "the column decides the label {target!r} alone: {how}. A model would learn to read it, "
        "and fail where it is not known.",
        "Unless it is known when predicting, leave it out: lineal train {shell} --drop {name}",
        {"column": "rating", "target": "label", "how": "each of its 8 values has one label (3 has 'neg')"},
    ),
    Kind(
        "nearly-decides-label",
        "note",
        "the column decides the label {target!r} alone in {share} of the rows; {baseline} without it.",
        "Ask whether it is known when predicting; if not, leave it out: lineal train {shell} --drop {name}",
        {"column": "status", "target": "label", "share": "99.6 %", "baseline": "62.0 %"},
    ),
    Kind(
        "label-in-text",
        "warning",
        "{how} in {share} of the texts, so that it can be read off.",
        "{advice}",
        {
            "lines": (2,),
            "column": "text",
            "how": "the text begins with the label ('spam: call now')",
            "share": "100 %",
            "advice": "Cut it off before training: text.split(':', 1)[1].strip()",
        },
    ),
)

_ROWS = (
    Kind(
        "duplicate-row",
        "warning",
        "the row is the same as {first}{n_first}.",
        "{advice}",
        {
            "lines": (17,),
            "first": "line 3",
            "n_first": "",
            "advice": "awk '!seen[$0]++' reviews.csv > reviews.fixed.csv",
        },
    ),
    Kind(
        "duplicate-text",
        "warning",
        "the text is that of {first}{but}: {text}.",
        "Keep one of them, so that it is not both learned and tested: {delete}",
        {
            "lines": (17,),
            "column": "text",
            "first": "line 3",
            "text": "'call now'",
            "but": ", but for capitals and space",
        },
    ),
    Kind(
        "contradiction",
        "warning",
        "the text is {label} here and {other} in {first}: {text}.",
        "Decide which is right, and write it into line or row {place}.",
        {
            "lines": (17,),
            "column": "text",
            "label": "'ham'",
            "other": "'spam'",
            "first": "line 3",
            "text": "'call now'",
            "place": 17,
        },
    ),
)

_COLUMNS = (
    Kind(
        "constant-column",
        "note",
        "every value is {value}: nothing can be learned from it.",
        "Leave it out: lineal train {shell} --drop {name}",
        {"column": "country", "value": "'US'"},
    ),
    Kind(
        "all-missing",
        "warning",
        "there is no value in the whole column.",
        "Leave it out: lineal train {shell} --drop {name}",
        {"column": "comment"},
    ),
    Kind(
        "identifier",
        "note",
        "{how}, as in an identifier: nothing about new rows can be learned from it.",
        "Leave it out: lineal train {shell} --drop {name}",
        {"column": "id", "how": "all 5,574 values differ and go up one by one"},
    ),
    Kind(
        "missing-value",
        "note",
        "there is no value in {share} of the rows.",
        "Nothing for Lineal, which learns what a missing value means; or fill them in.",
        {"lines": (291,), "column": "total_bedrooms", "share": "1.0 %"},
    ),
    Kind(
        "missing-spelling",
        "note",
        "{text} stands for a missing value{where}.",
        "Leave the field empty (null in JSON): {command}",
        {
            "lines": (17,),
            "column": "age",
            "text": "'N/A'",
            "where": " in a column of numbers",
            "command": "edit line 17, or read with pandas.read_csv('reviews.csv', na_values=['N/A'])",
        },
    ),
    Kind(
        "missing-sign",
        "warning",
        "{text} stands for a missing value in a column of numbers; all of it would be read as names.",
        "Leave the field empty: {command}",
        {
            "lines": (17,),
            "column": "age",
            "text": "'-'",
            "command": "edit line 17, or read with pandas.read_csv('reviews.csv', na_values=['-'])",
        },
    ),
    Kind(
        "not-finite",
        "error",
        "the value is {text}, which is no number to learn from.",
        "Leave the field empty, or write the largest number that makes sense.",
        {"lines": (17,), "column": "ratio", "text": "'inf'"},
    ),
    Kind(
        "mixed-types",
        "warning",
        "{text} is not a number, but {share} of the column are; all of it would be read as names.",
        "{advice}",
        {
            "lines": (17,),
            "column": "weight",
            "text": "'12kg'",
            "share": "98 %",
            "advice": "Write 12 in line 17.",
        },
    ),
    Kind(
        "decimal-comma",
        "warning",
        "{text} has a comma for its decimal point, so it would be read as a name.",
        "Write {number}; for all of them: {command}",
        {
            "lines": (2,),
            "column": "price",
            "text": "'3,14'",
            "number": "3.14",
            "command": "pandas.read_csv('reviews.csv', sep=';', decimal=',')",
        },
    ),
    Kind(
        "thousands-separator",
        "warning",
        "{text} has separators of thousands, so it would be read as a name.",
        "Write {number}; for all of them: {command}",
        {
            "lines": (2,),
            "column": "price",
            "text": "'1,234,567'",
            "number": "1234567",
            "command": "pandas.read_csv('reviews.csv', sep=';', thousands=',')",
        },
    ),
    Kind(
        "mixed-dates",
        "warning",
        "{text} is a date as {this}, but {n_other:,} others are as {other}.",
        "Write all as year-month-day: {iso} in line or row {place}.",
        {
            "lines": (17,),
            "column": "day",
            "text": "'24.12.2023'",
            "this": "day.month.year",
            "n_other": 981,
            "other": "year-month-day",
            "iso": "2023-12-24",
            "place": 17,
        },
    ),
)

_TEXTS = (
    Kind(
        "text-empty",
        "warning",
        "the text is empty.",
        "Fill it in, or delete the rows: {delete}",
        {"lines": (17,), "column": "text"},
    ),
    Kind(
        "text-without-words",
        "note",
        "there is neither letter nor digit in {text}.",
        "Fill it in, or delete the rows: {delete}",
        {"lines": (17,), "column": "text", "text": "'...'"},
    ),
    Kind(
        "text-long",
        "note",
        "the text has {n:,} bytes, {times:,} times as many as the median ({median:,}).",
        "Look whether it is one text: a quote that is not closed, or a pasted file, looks like this.",
        {"lines": (17,), "column": "text", "n": 1200000, "times": 1200, "median": 1000},
    ),
    Kind(
        "text-html",
        "note",
        "{share} of the texts have marks of HTML, such as {text}.",
        "If they say nothing about the label, remove them: html.unescape(re.sub('<[^>]+>', ' ', text)).",
        {"lines": (2,), "column": "text", "share": "58.6 %", "text": "'<br />'"},
    ),
    Kind(
        "file-without-class",
        "warning",
        "the file lies beside the folders of classes, so it has no label and is left out.",
        "Move it into the folder of its class.",
        {"file": "reviews/notes.txt"},
    ),
)

_PAIRS = (
    Kind(
        "test-overlap",
        "warning",
        "the {what} is also in {other}, {there}: the model would be tested on what it has learned{text}.",
        "Delete it from one of the files: {delete}",
        {
            "file": "test.csv",
            "lines": (17,),
            "what": "text",
            "other": "train.csv",
            "there": "line 3",
            "text": ": 'call now'",
            "column": "text",
        },
    ),
    Kind(
        "test-columns",
        "error",
        "{what}.",
        "{advice}",
        {
            "file": "test.csv",
            "column": "text",
            "what": "the column is in train.csv and not here",
            "advice": "Add the column, or leave it out of training: lineal train train.csv --drop text",
        },
    ),
    Kind(
        "test-label",
        "warning",
        "the label {label} ({n:,} rows) does not occur in {other}, so no model can find it.",
        "Add rows of it to {other}, correct it{near}, or delete them: {delete}",
        {
            "file": "test.csv",
            "lines": (17,),
            "column": "label",
            "label": "'scam'",
            "n": 3,
            "other": "train.csv",
            "near": "",
        },
    ),
    Kind(
        "test-drift",
        "note",
        "{how}.",
        "Ask how the two files were drawn: what is learned from one may not hold in the other; or "
        "leave the column out: --drop {name}",
        {
            "file": "test.csv",
            "column": "price",
            "how": "the values are mostly larger than in train.csv (median 310, not 120)",
        },
    ),
)

KINDS = (*_LABELS, *_LEAKS, *_ROWS, *_COLUMNS, *_TEXTS, *_PAIRS)
