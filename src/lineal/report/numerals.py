"""Numbers as people read them in a page."""

from __future__ import annotations

import math
from collections.abc import Sequence

MINUS = "\N{MINUS SIGN}"
_UNIT_LIMIT = 16
NARROW = "\N{NARROW NO-BREAK SPACE}"


def number(value: float | None, unit: str = "") -> str:
    """Four digits at most where there are decimals; a share with the unit "%" as a percentage; None as –."""
    if value is None or math.isnan(value):
        return "–"
    if unit == "%":
        return f"{_percentage(value)}{NARROW}%"
    written = _digits(value)
    return f"{written}{NARROW}{unit[:_UNIT_LIMIT]}" if unit else written


def probability(value: float) -> str:
    """A percentage that is never rounded to certainty."""
    if 0.9999 <= value < 1:
        return f"over 99.99{NARROW}%"
    return f"under 0.01{NARROW}%" if 0 < value <= 0.0001 else number(value, "%")


def points(value: float | None, low: float | None, high: float | None, unit: str) -> tuple[str, str]:
    """A difference and its interval; differences of percentages are points."""
    if unit != "%":
        return ("–" if value is None else signed(value, unit)), interval(low, high, unit)
    written = [
        None if end is None or not math.isfinite(end) else f"{100 * end:.1f}".replace("-", MINUS)
        for end in (value, low, high)
    ]
    plus = "+" if value is not None and value > 0 else ""
    between = f"{written[1]} to {written[2]}{NARROW}points" if written[1] and written[2] else ""
    return (f"{plus}{written[0]}{NARROW}points" if written[0] else "–"), between


def interval(low: float | None, high: float | None, unit: str = "") -> str:
    """``88.1 to 90.4 %``; nothing where an end is missing."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    if unit == "%":
        return f"{_percentage(low)} to {_percentage(high)}{NARROW}%"
    return f"{_digits(low)} to {number(high, unit)}"


def aligned(values: Sequence[float | None], precision: float = 5e-4) -> list[str]:
    """Numbers of one column, with as many decimals all, so that they can be compared at a glance.

    They are rounded by ``precision`` of the largest at most; a column over more than three powers of ten is
    not aligned.
    """
    known = [abs(value) for value in values if value is not None and math.isfinite(value)]
    small = min((value for value in known if value > 0), default=1.0)
    if not known or max(known) / small > 1e3 or max(known) >= 1e6:
        return [number(value) for value in values]
    room = [min(precision * max(known), 0.05 * value) for value in known]
    decimals = next(
        n
        for n in range(7)
        if n == 6 or all(abs(v - round(v, n)) <= r for v, r in zip(known, room, strict=True))
    )
    return [
        number(value)
        if value is None or not math.isfinite(value)
        else f"{value:,.{decimals}f}".replace("-", MINUS)
        for value in values
    ]


def signed(value: float, unit: str = "") -> str:
    """A number with its sign, such as +0.42."""
    return number(value, unit) if value <= 0 or math.isnan(value) else "+" + number(value, unit)


def count(value: float | None) -> str:
    """``25,000``; counts of weighted rows may have a decimal."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def counted(value: float, one: str, many: str = "") -> str:
    """``1 row``, ``25,000 rows``."""
    return f"{count(value)} {one if value == 1 else many or one + 's'}"


def power(value: float | None) -> str:
    """A small number in powers of ten: 3.7 × 10⁻⁶."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return _digits(value)
    return _raised(value)


def p_value(p: float) -> str:
    """``p = 0.21``, ``p = 0.0031``, ``p < 0.0001``."""
    if math.isnan(p):
        return "p undefined"
    if p < 1e-4:
        return "p\u00a0<\u00a00.0001"
    return "p\u00a0=\u00a01" if p >= 0.995 else f"p\u00a0=\u00a0{p:.2g}"


def duration(seconds: float | None) -> str:
    """``0.31 s``, ``12 s``, ``3 min 20 s``."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    if seconds < 120:
        return f"{seconds:.2g}{NARROW}s" if seconds < 10 else f"{seconds:.0f}{NARROW}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,}{NARROW}min {rest}{NARROW}s"


def size(n_bytes: float | None) -> str:
    """``412 bytes``, ``3.4 MB``."""
    if n_bytes is None:
        return "–"
    if n_bytes < 1000:
        return counted(n_bytes, "byte")
    for unit in ("kB", "MB", "GB", "TB"):
        n_bytes /= 1000
        if n_bytes < 999.5 or unit == "TB":
            break
    return f"{n_bytes:.3g}{NARROW}{unit}"


def _percentage(share: float) -> str:
    if not math.isfinite(share):
        return str(share).replace("-", MINUS)
    is_extreme = 0 < share < 0.001 or 0.999 < share < 1
    written = f"{100 * share:.{2 if is_extreme else 1}f}"
    if share in (0, 1):
        written = f"{100 * share:.0f}"
    return written.replace("-", MINUS)


def _raised(value: float) -> str:
    mantissa, exponent = f"{value:.1e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa.replace('-', MINUS)}{NARROW}×{NARROW}10{raised}"


def _digits(value: float) -> str:
    if not math.isfinite(value):
        return str(value).replace("-", MINUS)
    extent = abs(value)
    if float(value).is_integer() and extent < 1e15:
        written = f"{value:,.0f}"
    elif extent >= 1e15 or extent < 1e-3:
        return _raised(value)
    elif extent < 1:
        written = f"{value:.3f}" if extent >= 0.1 else f"{value:.4f}"
    else:
        written = f"{value:.4g}" if extent < 1000 else f"{value:,.0f}"
    return "0" if written == "-0" else written.replace("-", MINUS)
