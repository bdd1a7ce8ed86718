"""A report without what no reader sees."""

from __future__ import annotations

OPENING, CLOSING = "<!--", "-->"


def without_comments(text: str) -> str:
    """The text with its HTML comments gone; line ends within them stay, so that lines do."""
    pieces = []
    place = 0
    # No pattern: where comments are opened and never closed it would start anew at each of them.
    while (start := text.find(OPENING, place)) >= 0:
        end = text.find(CLOSING, start + len(OPENING))
        if end < 0:
            break
        pieces += [text[place:start], "\n" * text.count("\n", start, end)]
        place = end + len(CLOSING)
    return "".join([*pieces, text[place:]])
