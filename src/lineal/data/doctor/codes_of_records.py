"""Problems of JSON lines, LIBSVM and Vowpal Wabbit: what readers stumble over, or misread."""

from __future__ import annotations

from lineal.data.doctor.codes import Kind

_JSON = (
    Kind(
        "json-malformed",
        "error",
        "the line is not JSON: {why} at character {character}: {text}.",
        "{advice}",
        {
            "file": "reviews.jsonl",
            "lines": (17,),
            "why": "a ',' is needed",
            "character": 18,
            "text": '\'{"label": "spam" "t\'',
            "advice": "Put it right, or delete it: sed -i '17d' reviews.jsonl",
        },
    ),
    Kind(
        "json-trailing-comma",
        "error",
        "there is a comma before the closing bracket.",
        "sed -i '{line}s/,\\s*}}/}}/g;{line}s/,\\s*\\]/]/g' {shell}",
        {"file": "reviews.jsonl", "lines": (17,)},
    ),
    Kind(
        "json-single-quotes",
        "error",
        "strings are in single quotes, as Python prints them; JSON needs double ones.",
        'Write it with json.dumps. To mend it: python3 -c "import ast, json; '
        '[print(json.dumps(ast.literal_eval(l))) for l in open({file!r}) if l.strip()]" > {fixed}',
        {"file": "reviews.jsonl", "lines": (1,)},
    ),
    Kind(
        "json-several-objects",
        "error",
        "there are {n} objects in the line; each needs its own.",
        "jq -c . {shell} > {fixed}",
        {"file": "reviews.jsonl", "lines": (17,), "n": 2},
    ),
    Kind(
        "json-array",
        "note",
        "the file is one JSON value over many lines, not an object to a line.",
        "jq -c '{filter}' {shell} > {fixed}",
        {"file": "reviews.json", "lines": (1,), "filter": ".[]"},
    ),
    Kind(
        "json-no-object",
        "error",
        "the line is {kind}, not an object with names: {text}.",
        'Give the values names, as in {{"label": ..., "text": ...}}, or delete it: {delete}',
        {"file": "reviews.jsonl", "lines": (17,), "kind": "a list", "text": '\'["spam", "call"]\''},
    ),
    Kind(
        "json-no-keys",
        "error",
        "the objects have no keys, so there are no columns to learn from.",
        'Write each row\'s text and label below keys: {{"text": ..., "label": ...}}.',
        {"file": "reviews.jsonl"},
    ),
    Kind(
        "json-not-finite",
        "warning",
        "{text} is not JSON, though Python writes it.",
        "Write null instead: sed -i -E 's/: *(NaN|-?Infinity)/: null/g' {shell}",
        {"file": "houses.jsonl", "lines": (17,), "column": "price", "text": "NaN"},
    ),
    Kind(
        "json-keys-differ",
        "warning",
        "{what}, unlike {n_other:,} other lines.",
        "{advice}",
        {
            "file": "reviews.jsonl",
            "lines": (17,),
            "column": "label",
            "what": "the key 'label' is not there",
            "n_other": 981,
            "advice": 'Add "label": ... to the object, or null where there is no value.',
        },
    ),
    Kind(
        "json-type-changes",
        "warning",
        "the value is {this} ({text}), but {other} in {n_other:,} other lines.",
        "Write it as {other} in line {line}, or null if there is none.",
        {
            "file": "houses.jsonl",
            "lines": (17,),
            "column": "rooms",
            "this": "a string",
            "text": "'four'",
            "other": "a number",
            "n_other": 981,
        },
    ),
    Kind(
        "nested-value",
        "error",
        "the value is {kind}, where one text, number or truth value is needed: {text}.",
        "{advice} > {fixed}, or leave the column out: --drop {name}",
        {
            "file": "reviews.jsonl",
            "lines": (17,),
            "column": "author",
            "kind": "an object",
            "text": "'{\"id\": 7}'",
            "advice": "Make columns of its parts: jq -c 'with_entries(if [.value|iterables] == [] then . else"
            ' .key as $k | .value | to_entries[] | .key |= "\\($k)_\\(.)" end)\' reviews.jsonl',
        },
    ),
)

_SPARSE = (
    Kind(
        "svm-label",
        "error",
        "the label {text} is not a number.",
        "Number the classes: put 1, 2, ... in place of names, or +1 and -1.",
        {"file": "a9a.svm", "lines": (17,), "text": "'spam'"},
    ),
    Kind(
        "svm-pair",
        "error",
        "{text} is not index:value with a whole number below 2,147,483,647 and a number.",
        "Write it as {repaired}, or delete it in line {line}.",
        {"file": "a9a.svm", "lines": (17,), "text": "'12;0.5'", "repaired": "12:0.5"},
    ),
    Kind(
        "svm-order",
        "error",
        "index {after} comes after index {before}; indices must go up.",
        "Sort the pairs of line {line}: {repaired}",
        {"file": "a9a.svm", "lines": (17,), "after": 3, "before": 12, "repaired": "+1 3:1 12:0.5"},
    ),
    Kind(
        "svm-twice",
        "error",
        "index {index} occurs twice.",
        "Keep one of {text} in line {line}.",
        {"file": "a9a.svm", "lines": (17,), "index": 3, "text": "'3:1' and '3:2'"},
    ),
    Kind(
        "svm-index-zero",
        "note",
        "the index 0 occurs, so the file counts its columns from 0; LIBSVM counts from 1.",
        "Nothing for Lineal. For LIBSVM add 1 to each index; train and test files must count alike.",
        {"file": "a9a.svm", "lines": (17,)},
    ),
    Kind(
        "svm-negative-index",
        "error",
        "the index {index} is negative.",
        "Count columns from 1 in line {line}: write {repaired}.",
        {"file": "a9a.svm", "lines": (17,), "index": -3, "repaired": "3:1"},
    ),
    Kind(
        "svm-not-finite",
        "error",
        "the value {text} is not a finite number.",
        "Delete {text} in line {line}: a column that is not there counts as 0.",
        {"file": "a9a.svm", "lines": (17,), "text": "'12:nan'"},
    ),
)

_WABBIT = (
    Kind(
        "vw-bar",
        "error",
        "there is no '|' between the label and the features: {text}.",
        "Put it behind the label, with a space after it: {repaired}",
        {"file": "train.vw", "lines": (17,), "text": "'1 call:1 now:1'", "repaired": "1 | call:1 now:1"},
    ),
    Kind(
        "vw-label",
        "error",
        "the label {text} is not a number.",
        "Number the classes: put 1, 2, ... in place of names, or 1 and -1.",
        {"file": "train.vw", "lines": (17,), "text": "'spam'"},
    ),
)

KINDS = (*_JSON, *_SPARSE, *_WABBIT)
