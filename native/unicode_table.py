"""Writes ``unicode_table.h`` and ``folding_table.h``: what this Python knows about every code point, frozen.

    python native/unicode_table.py

The table is committed, so that a model finds the same words under every Python; ``str`` methods, and with
them ``re`` and scikit-learn, change with the Unicode version of the interpreter. Run it again only to move to
a newer Unicode on purpose: vocabularies learned before may then split words differently.
"""

import sys
import unicodedata
from pathlib import Path

BLOCK = 128
WORD, LOWERED_WORD, SPACE, CASED, CASE_IGNORABLE = 1, 2, 4, 8, 16
FOLDING_BLOCK = 64
HEADERS = Path(__file__).parent / "include" / "lineal" / "text"
TARGET = HEADERS / "unicode_table.h"
FOLDING_TARGET = HEADERS / "folding_table.h"


def is_word(character: str) -> bool:
    """``\\w`` of Python's ``re``."""
    return character.isalnum() or character == "_"


def record(code: int) -> tuple[int, int]:
    """(lower case minus code point, flags)."""
    if 0xD800 <= code <= 0xDFFF:  # lone surrogates are no characters: nothing is known of them
        return 0, 0
    character = chr(code)
    lowered = character.lower()
    # U+0130 alone becomes two characters; whoever lowers knows it by name.
    delta = ord(lowered) - code if len(lowered) == 1 else 0
    # A capital sigma after a cased character is final: what it looks back over is ignorable.
    is_ignorable = ("A" + character + "\u03a3").lower()[-1] == "\u03c2" and not is_cased(character)
    flags = WORD * is_word(character) + LOWERED_WORD * is_word(lowered[0]) + SPACE * character.isspace()
    return delta, flags + CASED * is_cased(character) + CASE_IGNORABLE * is_ignorable


def is_cased(character: str) -> bool:
    """Whether a capital sigma after it is a final one."""
    return (character + "\u03a3").lower()[-1] == "\u03c2"


def rows(numbers: list[int], width: int) -> str:
    """Comma-separated lines."""
    lines = (numbers[first : first + width] for first in range(0, len(numbers), width))
    return ",\n".join("    " + ", ".join(map(str, line)) for line in lines)


def folded(code: int) -> str:
    """The compatibility decomposition of a character without its combining marks."""
    # Lone surrogates stay; Hangul syllables decompose by arithmetic, which is left to the table's reader.
    if 0xD800 <= code <= 0xDFFF or 0xAC00 <= code <= 0xD7A3:
        return chr(code)
    return "".join(c for c in unicodedata.normalize("NFKD", chr(code)) if not unicodedata.combining(c))


def write_folding() -> None:
    """Two stages again: a cell is the place of a decomposition in a pool, or 0 for what stays as it is."""
    places: dict[str, int] = {}
    pool = [0]
    blocks: dict[tuple[int, ...], int] = {}
    stage = []

    def cell(code: int) -> int:
        text = folded(code)
        if text == chr(code):
            return 0
        if text not in places:
            places[text] = len(pool)
            pool.extend([len(text), *map(ord, text)])
        return places[text]

    for first in range(0, sys.maxunicode + 1, FOLDING_BLOCK):
        block = tuple(cell(code) for code in range(first, first + FOLDING_BLOCK))
        stage.append(blocks.setdefault(block, len(blocks)))
    assert blocks[(0,) * FOLDING_BLOCK] == 0, "ASCII stays as it is"
    while stage[-1] == 0:
        stage.pop()
    assert len(blocks) <= 256
    assert len(pool) <= 65536
    cells = [cell for block in blocks for cell in block]
    FOLDING_TARGET.write_text(
        f"""// Written by native/unicode_table.py; not to be edited. Unicode {unicodedata.unidata_version}.
#pragma once

#include <cstdint>

namespace lineal::unicode {{

inline constexpr int longest_folding = {max(map(len, places))};  // code points

// clang-format off
inline constexpr std::uint8_t folding_block_of[] = {{
{rows(stage, 32)}}};

inline constexpr std::uint16_t folding_at[] = {{
{rows(cells, 32)}}};

inline constexpr std::uint32_t foldings[] = {{
{rows(pool, 24)}}};
// clang-format on

}}  // namespace lineal::unicode
"""
    )
    print(f"{FOLDING_TARGET.name}: {len(places)} decompositions, {len(blocks)} blocks")


def main() -> None:
    """Make both stages and write them."""
    known: dict[tuple[int, int], int] = {}
    blocks: dict[tuple[int, ...], int] = {}
    stage = []
    for first in range(0, sys.maxunicode + 1, BLOCK):
        block = tuple(known.setdefault(record(code), len(known)) for code in range(first, first + BLOCK))
        stage.append(blocks.setdefault(block, len(blocks)))
    assert len(known) <= 256
    assert len(blocks) <= 256
    # The last blocks are all alike; beyond the table there is nothing more to know.
    cells = [cell for block in blocks for cell in block]
    records = ",\n".join(f"    {{{delta}, {flags}}}" for delta, flags in known)
    TARGET.write_text(
        f"""// Written by native/unicode_table.py; not to be edited. Unicode {unicodedata.unidata_version}.
#pragma once

#include <cstdint>

namespace lineal::unicode {{

inline constexpr const char* version = "{unicodedata.unidata_version}";

struct Record {{
  std::int32_t to_lower;
  std::uint8_t flags;
}};

// clang-format off
inline constexpr Record records[] = {{
{records}}};

inline constexpr std::uint8_t block_of[] = {{
{rows(stage, 32)}}};

inline constexpr std::uint8_t record_of[] = {{
{rows(cells, 32)}}};
// clang-format on

}}  // namespace lineal::unicode
"""
    )
    print(f"{TARGET.name}: {len(known)} records, {len(blocks)} blocks")
    write_folding()


if __name__ == "__main__":
    main()
