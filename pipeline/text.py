"""Untrusted text made inert: for terminals, for Markdown, for JSON."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

# Characters that control a terminal or reorder or hide text, except tab and newline.
ACTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
# What some Markdown renderers turn into links without markup: URLs, www., e-mail, @names.
AUTOLINK = re.compile(r":(?=//)|(?<=www)\.|@", re.IGNORECASE)
# Markdown inside a line or at its beginning; an underscore between letters is no markup.
MARKDOWN_ACTIVE = re.compile(
    r"([\\`*\[\]<>|~&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|!(?=\[|--)|\A[#+=-])"
)

# A placeholder for removed text; the macro is_redacted of sql/macros.sql is the same.
REDACTION = re.compile(
    r"(\[|<|\{|\*\*|__)[ \t]*redacted[^\]>}*\n]{0,80}(\]|>|\}|\*\*|__)", re.IGNORECASE
)


def is_redacted(text: str) -> bool:
    """Whether a text contains a placeholder for removed text."""
    return REDACTION.search(text) is not None


def neutral(text: str) -> str:
    """Replace control and direction characters by visible escapes."""
    return ACTIVE.sub(_escape, text)


def one_line(text: str, limit: int = 200) -> str:
    """A neutral text on one line, cut to a length."""
    flat = neutral(text).replace("\n", "\\n").replace("\t", " ")
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def counted(number: int, noun: str) -> str:
    """`1 task`, `2,000 tasks`."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """`tasks`; a word that ends in s, as `pass`, takes `es`."""
    return f"{noun}{'es' if noun.endswith('s') else 's'}"


def markdown_cell(text: str) -> str:
    """Escape a text so that Markdown shows it literally in one table cell."""
    escaped = MARKDOWN_ACTIVE.sub(r"\\\1", neutral(text).replace("\n", " ").replace("\t", " "))
    return AUTOLINK.sub(lambda match: f"&#{ord(match[0])};", escaped)


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON that any parser reads: no NaN, and control characters escaped."""
    return ACTIVE.sub(
        lambda match: json.dumps(match[0])[1:-1],
        json.dumps(plain(value), ensure_ascii=False, indent=indent),
    )


def parsed(text: str) -> Any:
    """Parse JSON; the text itself if it is invalid or nested too deeply."""
    try:
        return plain(json.loads(text))
    except (ValueError, RecursionError):
        return text


def plain(value: Any) -> Any:
    """Values of a query as JSON values; other types become text."""
    if isinstance(value, (float, Decimal)):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return str(value)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
