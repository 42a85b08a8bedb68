"""Changes of model files that know how they are built, so that flaws reach what lies behind the container."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from mutations import WHOLES, Chance, change_bytes, change_json

from lineal.model.header import DTYPES

METADATA = "__metadata__"
WORDS = [
    *[
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b"null",
        b"true",
        b"NaN",
        b"-1",
        b"1e999",
        b"18446744073709551616",
    ],
    *[b'"shape":[0]', b'"shape":[9223372036854775807,2]', b'"data_offsets":[0,0]', b'"dtype":"F16"', b'"U8"'],
    *[b'"__metadata__":{}', b"\\ud800", b"\\u0000", b"\xff", b" " * 64, b"[" * 64],
]


def change_model(content: bytes, chance: Chance, others: Sequence[bytes]) -> bytes:
    """A file changed in its bytes, its header, its records, its numbers, or the arrays it is made of."""
    what = chance.random()
    if what < 0.25:
        return change_bytes(content, chance, WORDS, others)
    header, data = split(content)
    if what < 0.4:
        return join(change_json(header, chance), data)
    if what < 0.65:
        return join(_with_other_records(header, chance), data)
    if what < 0.85:
        return join(header, _with_other_numbers(header, data, chance))
    return _with_other_arrays(header, data, chance)


def split(content: bytes) -> tuple[dict[str, Any], bytes]:
    """The header, parsed, and the data of a valid file."""
    begin = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:begin]), content[begin:]


def join(header: Any, data: bytes) -> bytes:
    """A file of any header at all."""
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", "replace")
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def with_true_sums(content: bytes) -> bytes:
    """The file with checksums that fit what is in it, so that they do not hide what lies behind them."""
    try:
        header, data = split(content)
        record = json.loads(header[METADATA]["lineal"])
        record["checksums"] = {
            name: zlib.crc32(data[slice(*header[name]["data_offsets"])]) for name in _arrays(header)
        }
        text = json.dumps(record, ensure_ascii=False)
        header[METADATA] |= {"lineal": text, "checksum": str(zlib.crc32(text.encode()))}
    except (ValueError, TypeError, KeyError, RecursionError):
        return content
    return join(header, data)


def _with_other_records(header: dict[str, Any], chance: Chance) -> dict[str, Any]:
    """A text among the strings is changed as the JSON that it is, or as characters."""
    strings = dict(header.get(METADATA, {}))
    if not strings:
        return header
    # The longest is the model's record; the others are a few letters.
    key = (
        max(strings, key=lambda name: len(strings[name]))
        if chance.random() < 0.9
        else chance.choice([*strings])
    )
    try:
        strings[key] = json.dumps(change_json(json.loads(strings[key]), chance))
    except ValueError:
        strings[key] = strings[key] + chance.choice(("0", "", "x", "9" * 400))
    return {**header, METADATA: strings}


def _arrays(header: dict[str, Any]) -> list[str]:
    return [name for name in header if name != METADATA]


def _with_other_numbers(header: dict[str, Any], data: bytes, chance: Chance) -> bytes:
    """A few numbers of an array become others of the same type: out of range, NaN, equal, exchanged."""
    names = [
        name for name in _arrays(header) if header[name]["data_offsets"][1] > header[name]["data_offsets"][0]
    ]
    if not names:
        return data
    name = chance.choice(names)
    begin, end = header[name]["data_offsets"]
    array = np.frombuffer(data[begin:end], DTYPES[header[name]["dtype"]]).copy()
    for _ in range(chance.choice((1, 1, 2, 10))):
        place = chance.randrange(len(array))
        what = chance.randrange(5)
        if what == 0:
            array[place] = array[chance.randrange(len(array))]
        elif what == 1:
            array[place:] = array[place]
        elif what == 2 and array.dtype.kind in "iu":
            array[place : place + 1] += np.array(chance.choice((1, -1))).astype(array.dtype)  # wraps round
        elif what == 3:
            array[:] = array[::-1].copy()
        else:
            array[place] = _number(array.dtype, chance)
    return data[:begin] + array.tobytes() + data[end:]


def _number(dtype: np.dtype[Any], chance: Chance) -> Any:
    if dtype.kind == "b":
        return chance.random() < 0.5
    if dtype.kind in "fc":
        return chance.choice((np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, 5e-324, -1.0, 1e-30))
    bounds = np.iinfo(dtype)
    number = chance.choice((*WHOLES, -1, -2, bounds.min, bounds.max, bounds.max // 2))
    return np.array(max(min(number, bounds.max), bounds.min), dtype)


def _with_other_arrays(header: dict[str, Any], data: bytes, chance: Chance) -> bytes:
    """Arrays left out, cut, grown, of another type or exchanged, in a file that is sound as a container."""
    arrays = {
        name: [header[name]["dtype"], list(header[name]["shape"]), data[slice(*header[name]["data_offsets"])]]
        for name in _arrays(header)
    }
    for _ in range(chance.choice((1, 1, 2))):
        if not arrays:
            break
        name = chance.choice([*arrays])
        dtype, shape, content = arrays[name]
        width = DTYPES[dtype].itemsize
        what = chance.randrange(6)
        if what == 0:
            del arrays[name]
        elif what == 1:
            arrays[name] = arrays[chance.choice([*arrays])]
        elif what == 2:
            other = chance.choice(
                [kind for kind in DTYPES if DTYPES[kind].itemsize == width and kind != "BOOL"]
            )
            arrays[name] = [other, shape, content]
        elif what == 3:
            arrays[name] = [
                dtype,
                [*shape, 1][:4] if chance.random() < 0.5 else [len(content) // width],
                content,
            ]
        elif what == 4 and content:
            n_kept = chance.randrange(len(content) // width)
            arrays[name] = [dtype, [n_kept], content[: n_kept * width]]
        else:
            longer = content + content + b"\0" * width
            arrays[name] = [dtype, [len(longer) // width], longer]
    changed: dict[str, Any] = {METADATA: header[METADATA]} if METADATA in header else {}
    pieces, begin = [], 0
    for name, (dtype, shape, content) in sorted(
        arrays.items(), key=lambda item: -DTYPES[item[1][0]].itemsize
    ):
        changed[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, begin + len(content)]}
        pieces.append(content)
        begin += len(content)
    return join(changed, b"".join(pieces))
