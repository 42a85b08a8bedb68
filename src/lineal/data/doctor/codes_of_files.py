"""Problems of bytes, lines, fields and JSON: what readers stumble over, or misread."""

from __future__ import annotations

from lineal.data.doctor.codes import Kind

_MEND_LINES = (
    "Write every line in UTF-8: python3 -c \"import codecs; codecs.register_error('old', lambda e: "
    "(e.object[e.start:e.end].decode('cp1252', 'replace'), e.end)); open({fixed!r}, 'w', encoding='utf-8', "
    "newline='').write(open({file!r}, encoding='utf-8', errors='old', newline='').read())\""
)

_BYTES = (
    Kind(
        "empty-file",
        "error",
        "there is nothing in the file.",
        "Write the data into {shell} again, or name another file.",
    ),
    Kind(
        "unreadable",
        "error",
        "the file cannot be read: {why}",
        "Fetch or write {shell} again; what follows is about the part that could be read.",
        {"file": "reviews.csv.gz", "why": "the compressed file is damaged or cut off."},
    ),
    Kind(
        "not-utf-8",
        "error",
        "byte {byte} of the line is {value}, which is not UTF-8; no line has other than ASCII in "
        "UTF-8, so the file was probably written in {guess}: {text}.",
        "iconv -f {iconv} -t UTF-8 {shell} > {fixed}, or read it with encoding={guess!r}.",
        {
            "lines": (17,),
            "byte": 12,
            "value": "0xe9",
            "guess": "cp1252",
            "text": "'caf\u00e9'",
            "iconv": "WINDOWS-1252",
        },
    ),
    Kind(
        "mixed-encodings",
        "error",
        "byte {byte} of the line is {value}, which is not UTF-8, but other lines are ({good}, for one): "
        "the file mixes UTF-8 and probably {guess}: {text}.",
        _MEND_LINES,
        {
            "lines": (17,),
            "byte": 12,
            "value": "0xe9",
            "guess": "cp1252",
            "text": "'caf\u00e9'",
            "good": "line 3",
        },
    ),
    Kind(
        "utf-16",
        "error",
        "the file is {encoding}, not UTF-8.",
        "iconv -f {encoding} -t UTF-8 {shell} > {fixed}, or read it with encoding={codec!r}.",
        {"encoding": "UTF-16LE", "codec": "utf-16"},
    ),
    Kind(
        "byte-order-mark",
        "warning",
        "there is a byte-order mark (U+FEFF) inside the file: probably two files were put together here.",
        "sed -i '{line}s/\\xef\\xbb\\xbf//' {shell}",
        {"lines": (1001,)},
    ),
    Kind(
        "nul-byte",
        "error",
        "there is a NUL byte, which text does not have.",
        "tr -d '\\000' < {shell} > {fixed}",
        {"lines": (17,)},
    ),
    Kind(
        "double-encoded",
        "warning",
        "{text} is probably {meant}: UTF-8 that was read as {guess} and written again.",
        "Decode it once more: {text}.encode({guess!r}).decode('utf-8') is {meant}; ftfy mends whole files.",
        {
            "lines": (17,),
            "column": "text",
            "text": "'caf\u00c3\u00a9'",
            "meant": "'caf\u00e9'",
            "guess": "cp1252",
        },
    ),
    Kind(
        "replacement-character",
        "warning",
        "there is a replacement character (U+FFFD) in {text}: a letter was lost when the file was converted.",
        "Convert the original again with its own encoding: iconv -f WINDOWS-1252 -t UTF-8 ORIGINAL > {shell}",
        {"lines": (17,), "column": "text", "text": "'caf\ufffd'"},
    ),
    Kind(
        "control-character",
        "note",
        "there is a control character (U+{code:04X}) in {text}{hint}.",
        "{advice}",
        {
            "lines": (17,),
            "column": "text",
            "code": 0x96,
            "text": "'1980\\x961990'",
            "hint": ", which is '\u2013' in cp1252",
            "advice": "Decode it once more: text.encode('latin-1').decode('cp1252').",
        },
    ),
    Kind(
        "mixed-line-ends",
        "note",
        "the line ends with {this}, but {n_other:,} lines end with {other}.",
        "sed -i 's/\\r$//' {shell}",
        {"lines": (17,), "this": "CR LF", "n_other": 981, "other": "LF"},
    ),
    Kind(
        "carriage-returns",
        "error",
        "lines end with carriage returns alone, as on very old Macs, so that readers see one line.",
        "tr '\\r' '\\n' < {shell} > {fixed}",
        {"lines": (1,)},
    ),
)

_FIELDS = (
    Kind(
        "wrong-delimiter",
        "error",
        "fields are separated by {found!r}, not by {expected!r}.",
        "Read it with delimiter={found!r} (--delimiter {quoted}).",
        {"lines": (1,), "found": ";", "expected": ",", "quoted": "';'"},
    ),
    Kind(
        "mixed-delimiters",
        "error",
        "the line separates its fields by {found!r}, but others by {expected!r}.",
        "Write the line as: {repaired}",
        {"lines": (17,), "found": ";", "expected": ",", "repaired": "spam,call now"},
    ),
    Kind(
        "too-many-fields",
        "error",
        "the line has {n} fields, but the first line has {expected}: a {delimiter} in a value is not quoted.",
        "{advice}",
        {
            "lines": (17,),
            "n": 3,
            "expected": 2,
            "delimiter": "','",
            "advice": 'Put the value in quotes: spam,"call now, it is free"',
        },
    ),
    Kind(
        "too-few-fields",
        "error",
        "the line has {n} fields, but the first line has {expected}: {absent} and what follows is not there.",
        "Complete the line (empty fields need their {delimiter} too): {repaired}; or delete it: {delete}",
        {"lines": (17,), "n": 1, "expected": 2, "absent": "'text'", "delimiter": "','", "repaired": "spam,"},
    ),
    Kind(
        "unclosed-quote",
        "error",
        "a quote opens field {field} and is never closed, so that lines behind it are taken for its text.",
        "Close the quote at the end of the value in line {line}: {repaired}",
        {"lines": (17,), "column": "text", "field": 2, "repaired": 'spam,"call now"'},
    ),
    Kind(
        "stray-quote",
        "warning",
        "there is a quote inside a value: {text}.",
        "Put the value in quotes and double those inside: {repaired}",
        {"lines": (17,), "column": "text", "text": "'a 5\" nail'", "repaired": '"a 5"" nail"'},
    ),
    Kind(
        "quote-in-tsv",
        "note",
        "the value begins with a quote: {text}. Here it is a letter like others; readers that take "
        "quotes for delimiters lose lines.",
        "Nothing for Lineal; elsewhere switch quotes off: pandas.read_csv({file!r}, sep='\\t', quoting=3).",
        {"file": "reviews.tsv", "lines": (17,), "column": "text", "text": "'\"Wow, he said'"},
    ),
    Kind(
        "quoted-tsv",
        "warning",
        "values are in quotes: {text}. TSV has none, so they would stay in the values.",
        "Read it with quoting=True (--quoting).",
        {"file": "reviews.tsv", "lines": (2,), "column": "text", "text": "'\"Wow\"'"},
    ),
    Kind(
        "blank-line",
        "note",
        "the line is blank; it is passed over.",
        "sed -i '/^\\s*$/d' {shell}",
        {"lines": (17,)},
    ),
    Kind(
        "duplicate-column",
        "error",
        "{n} columns are named {column!r}.",
        "Rename one of them in line {line}, for example to {other!r}, or read with header=False.",
        {"lines": (1,), "column": "text", "n": 2, "other": "text_2"},
    ),
    Kind(
        "unnamed-column",
        "warning",
        "column {place} has no name{hint}.",
        "Give it a name in line {line}: {repaired}",
        {
            "lines": (1,),
            "place": 1,
            "hint": "; it numbers the rows, as pandas writes its index",
            "repaired": "row,label,text",
        },
    ),
    Kind(
        "column-name-space",
        "warning",
        "the name {column!r} of the column has space around it, so that {plain!r} does not find it.",
        "Remove the space in line {line}: {repaired}",
        {"lines": (1,), "column": " label", "plain": "label", "repaired": "text,label"},
    ),
    Kind(
        "header-missing",
        "error",
        "the first line looks like data, not like names of columns: {why}.",
        "Put names before it: sed -i '1i {names}' {shell}, or read with header=False.",
        {"lines": (1,), "why": "'spam' is the label of 120 other lines", "names": "label,text"},
    ),
    Kind(
        "header-repeated",
        "error",
        "the line repeats the names of the columns: probably files were put together here.",
        "{delete}",
        {"lines": (1001,)},
    ),
    Kind(
        "space-around-value",
        "note",
        "{text} has space around it, so that it differs from {plain}.",
        "Strip the column: table[{column!r}] = table[{column!r}].str.strip() in pandas, or edit the lines.",
        {"lines": (17,), "column": "city", "text": "'Paris '", "plain": "'Paris'"},
    ),
)

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
            "advice": "Put it right in line 17, or delete it: sed -i '17d' reviews.jsonl",
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
        "error",
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
        "json-not-finite",
        "error",
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
        "json-nested",
        "error",
        "the value is {kind}, where one text, number or truth value is needed: {text}.",
        "Make columns of its parts: jq -c '. + (.{column} | {flatten}) | del(.{column})' {shell} > {fixed}, "
        "or leave it out: --drop {name}.",
        {
            "file": "reviews.jsonl",
            "lines": (17,),
            "column": "author",
            "kind": "an object",
            "text": "'{\"id\": 7}'",
            "flatten": 'with_entries(.key |= "author_" + .)',
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
        "{text} is not index:value with a whole number and a number.",
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

KINDS = (*_BYTES, *_FIELDS, *_JSON, *_SPARSE)
