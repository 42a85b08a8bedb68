"""Problems of bytes, lines and fields: what readers stumble over, or misread."""

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
        "wrong-format",
        "note",
        "{why}",
        "Rename the file, or say what it is: format={format!r}.",
        {"why": "the name says csv, but the content is jsonl: it was read as jsonl.", "format": "jsonl"},
    ),
    Kind(
        "not-utf-8",
        "error",
        "byte {byte} of the line is {value}, which is not UTF-8; no line has other than ASCII in "
        "UTF-8, so the file was probably written in {guess}: {text}.",
        "iconv -f {iconv} -t UTF-8 {shell} > {fixed}, or read it with encoding={guess!r} "
        "(--encoding {guess}).",
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
        "wrong-encoding",
        "error",
        "byte {byte} of the line is {value}, which {encoding} does not have; it may be {guess}: {text}.",
        "Read it with another encoding: encoding={guess!r}, or encoding='utf-8' if it is that.",
        {
            "lines": (17,),
            "byte": 12,
            "value": "0x81",
            "encoding": "cp1252",
            "guess": "latin-1",
            "text": "'caf\u00e9'",
        },
    ),
    Kind(
        "utf-16",
        "error",
        "the file is {encoding}, not UTF-8.",
        "iconv -f {encoding} -t UTF-8 {shell} > {fixed}, or read it with encoding={codec!r} "
        "(--encoding {codec}).",
        {"encoding": "UTF-16LE", "codec": "utf-16"},
    ),
    Kind(
        "byte-order-mark",
        "warning",
        "there is a byte-order mark (U+FEFF) inside the file{hint}.",
        "sed -i '{line}s/\\xef\\xbb\\xbf//' {shell}",
        {"lines": (1001,), "hint": ": probably two files were put together here"},
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
        "there is a control character (U+{point:04X}) in {text}{hint}.",
        "{advice}",
        {
            "lines": (17,),
            "column": "text",
            "point": 0x96,
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
        "warning",
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
        "escaped-quote",
        "error",
        "quotes in a value are written behind a backslash, which CSV does not know: they end the value.",
        'Double them: sed -i \'s/\\\\"/""/g\' {shell} (the line becomes: {repaired})',
        {"lines": (17,), "repaired": 'spam,"he said ""call now"""'},
    ),
    Kind(
        "space-before-quote",
        "error",
        "there is a space between the {delimiter!r} and the quote, so the quotes count as letters.",
        "sed -i 's/{delimiter} *\"/{delimiter}\"/g' {shell} (the line becomes: {repaired})",
        {"lines": (17,), "delimiter": ",", "repaired": 'spam,"call now, it is free"'},
    ),
    Kind(
        "separator-line",
        "error",
        "the first line, {text}, is for Excel alone: readers take it for the names of the columns.",
        "sed -i '{line}d' {shell}",
        {"lines": (1,), "text": "'sep=;'"},
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
        "note",
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
        "note",
        "the name {column!r} of the column has space around it; here it is read as {plain!r}, elsewhere not.",
        "Remove the space in line {line}: {repaired}",
        {"lines": (1,), "column": " label", "plain": "label", "repaired": "text,label"},
    ),
    Kind(
        "header-missing",
        "error",
        "the first line looks like data, not like names of columns: {why}.",
        "Put names before it: sed -i '1i {names}' {shell}, or read with header=False (--no-header).",
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

KINDS = (*_BYTES, *_FIELDS)
