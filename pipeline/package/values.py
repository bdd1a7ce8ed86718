"""Values of the data beside texts of a report: whether a text prints a value."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

from ..report.declared import METRICS
from ..text import one_line
from .blocks import NUMBER, Token, figures, plain

# Of words that are looked for outside backquotes.
SHORTEST = 3


def contains_phrase(text: str, seen: str) -> bool:
    """Whether a text is in another whole; short ones only between backquotes."""
    wanted = " ".join(text.split())
    if len(wanted) < SHORTEST or not re.search(r"[^\W\d]", wanted):
        return False
    pattern = rf"(?<![\w/-]){re.escape(wanted)}(?![\w/-]|[:#]\d)"
    return re.search(pattern, seen, re.IGNORECASE) is not None


def is_key(cell: str, value: Any) -> bool:
    """Whether a cell prints the value of a key, whole or cut."""
    if value is None:
        return not cell
    if is_number(value):
        tokens = figures(cell)
        return len(tokens) == 1 and tokens[0].text == cell and tokens[0].agrees(number(value))
    text = " ".join(str(value).split())
    if cell.endswith("…"):
        return plain(one_line(str(value), 10_000)).startswith(cell[:-1])
    forms = {text, plain(text), plain(one_line(str(value))), text.replace("_", " ")}
    return cell in forms or cell.casefold() in {form.casefold() for form in forms}


def is_number(value: Any) -> bool:
    """Whether a value prints as a figure; an undefined one prints as n/a."""
    return value is None or (
        isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    )


def number(value: Any) -> float | None:
    """A value as a figure has it; what is not finite prints as n/a."""
    if value is None or isinstance(value, int):
        return value
    return float(value) if math.isfinite(value) else None


def token_of(text: str | None) -> Token | None:
    tokens = figures(text) if text else []
    return tokens[0] if len(tokens) == 1 and tokens[0].text == text else None


def measured(token: Token, column: str) -> Token:
    """A figure that says no unit, with what its column is known by: 0.001 is no 0.1 percent."""
    is_number = column in METRICS and METRICS[column].format == "num"
    is_plain = not (token.unit or token.is_signed)
    return replace(token, unit=NUMBER) if is_number and is_plain else token
