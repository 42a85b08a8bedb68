"""Changes of bytes and of JSON values, each decided by the generator of chance that it is given."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from typing import Any

Chance = random.Random

# Sizes and places at which programs go wrong.
WHOLES = [
    0,
    1,
    2,
    7,
    8,
    127,
    128,
    255,
    256,
    4095,
    4096,
    4097,
    65535,
    65536,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
]
WHOLES += [2**53, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 10**18, 10**19, 10**30]
NUMBERS: list[Any] = [*WHOLES, *(-n for n in WHOLES), 0.0, -0.0, 0.5, 1e-320, 1e308, -1e308, 1.5]
ODDITIES: list[Any] = [
    *[
        None,
        True,
        False,
        "",
        "x",
        "\0",
        "é",
        "\u2028",
        "nan",
        "1",
        "a" * 300,
        "texts",
        "rows",
        "sign",
        "argmax",
    ],
    *[[], {}, [[]], [None], {"": None}, [0] * 300, "__class__", "../../x"],
]


def change_bytes(content: bytes, chance: Chance, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """One to six changes anywhere: bits, bytes, words, ranges, ends, and pieces of other files."""
    found = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        chance.choice(_CHANGES)(found, chance, words, others)
    return bytes(found)


def _place(found: bytearray, chance: Chance) -> int:
    return chance.randrange(len(found) + 1)


def _range(found: bytearray, chance: Chance) -> slice:
    begin = _place(found, chance)
    return slice(begin, begin + chance.choice((1, 2, 4, 8, 16, 64, 512)))


def _flip(found: bytearray, chance: Chance, *_: Any) -> None:
    if found:
        found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)


def _set(found: bytearray, chance: Chance, *_: Any) -> None:
    if found:
        found[chance.randrange(len(found))] = chance.choice(
            (0, 9, 10, 13, 32, 34, 44, 58, 124, 127, 128, 255)
        )


def _drop(found: bytearray, chance: Chance, *_: Any) -> None:
    del found[_range(found, chance)]


def _repeat(found: bytearray, chance: Chance, *_: Any) -> None:
    piece = bytes(found[_range(found, chance)])
    place = _place(found, chance)
    found[place:place] = piece * chance.choice((1, 1, 2, 50))


def _noise(found: bytearray, chance: Chance, *_: Any) -> None:
    place = _place(found, chance)
    found[place:place] = chance.randbytes(chance.choice((1, 2, 8, 40)))


def _word(found: bytearray, chance: Chance, words: Sequence[bytes], _: Any) -> None:
    place = _place(found, chance)
    found[place : place + chance.choice((0, 0, 1, 4))] = chance.choice(words)


def _cut(found: bytearray, chance: Chance, *_: Any) -> None:
    del found[_place(found, chance) :]


def _behead(found: bytearray, chance: Chance, *_: Any) -> None:
    del found[: chance.choice((1, 2, 8, len(found) // 2))]


def _splice(found: bytearray, chance: Chance, _: Any, others: Sequence[bytes]) -> None:
    other = chance.choice(others)
    begin = chance.randrange(len(other) + 1)
    found[_place(found, chance) :] = other[begin:]


def _number(found: bytearray, chance: Chance, *_: Any) -> None:
    width = chance.choice((4, 8))
    place = _place(found, chance)
    number = chance.choice(WHOLES) % 256**width
    found[place : place + width] = number.to_bytes(width, chance.choice(("little", "big")))


def _lines(found: bytearray, chance: Chance, *_: Any) -> None:
    """Lines repeated, left out or put in another order."""
    lines = bytes(found).split(b"\n")
    here = chance.randrange(len(lines))
    what = chance.randrange(3)
    if what == 0:
        lines[here:here] = [lines[here]] * chance.choice((1, 3, 100))
    elif what == 1:
        del lines[here]
    else:
        chance.shuffle(lines)
    found[:] = b"\n".join(lines)


_CHANGES: list[Callable[..., None]] = [
    *[_flip, _set, _drop, _repeat, _noise, _word, _word, _cut, _behead, _splice, _number, _lines],
]


def change_json(value: Any, chance: Chance) -> Any:
    """A copy of a JSON value with one to three of its parts replaced, left out, repeated or exchanged."""
    root = [copy.deepcopy(value)]
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(root))
        group, key = chance.choice(places)
        what = chance.randrange(8)
        if what < 4:
            group[key] = _odd_value(group[key], chance)
        elif what == 4 and group is not root:
            del group[key]
        elif what == 5 and isinstance(group, list) and group is not root:
            group[key:key] = [copy.deepcopy(group[key])] * chance.choice((1, 2, 50))
        elif what == 6:
            other_group, other_key = chance.choice(places)
            group[key] = copy.deepcopy(other_group[other_key])
        elif isinstance(group, dict):
            group[chance.choice(("x", "", str(key) + "_", "kind", "type"))] = group.pop(key)
    return root[0]


def _odd_value(old: Any, chance: Chance) -> Any:
    """Mostly of the same kind as before, so that it is not refused at once."""
    if chance.random() < 0.3:
        return copy.deepcopy(chance.choice(ODDITIES + NUMBERS))
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return chance.choice((old + 1, old - 1, -old, old * 2, old // 2, chance.choice(WHOLES)))
    if isinstance(old, float):
        return chance.choice((old * 1.0000001, -old, old * 1e300, chance.choice(NUMBERS)))
    if isinstance(old, str) and old:
        place = chance.randrange(len(old))
        return old[:place] + chance.choice(("", "x", " ", "\0", "é", old)) + old[place + 1 :]
    if isinstance(old, list) and old:
        return chance.choice((old[::-1], old[1:], old[:-1], old + old, [old], old * 40))
    return copy.deepcopy(chance.choice(ODDITIES))


def _places(group: Any) -> Any:
    keys = list(group) if isinstance(group, dict) else range(len(group))
    for key in keys:
        yield group, key
        if isinstance(group[key], dict | list):
            yield from _places(group[key])
