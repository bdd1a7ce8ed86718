"""Whether words stand in a text: cuts and placeholders match whatever was there."""

from __future__ import annotations

import re

from pipeline.text import REDACTION, neutral

# Also what error signatures put in place of numbers, paths and ids.
CUT = re.compile(r"\u2026|\.\.\.|\[\.\.\.\]|\[\u2026\]|<[a-z]{1,10}(?:>|(?=\u2026))")
QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})
EDGES = " .,;:!?"
LONGEST_WINDOW = 400


def told(text: str) -> str:
    """A text on one line, as reports print it."""
    return neutral(" ".join(text.split()))


def plain(text: str) -> str:
    """The same without what people change when they quote: case and kinds of quotation marks."""
    return told(text).translate(QUOTES).casefold()


def fragments(quote: str) -> list[str]:
    """The parts of a quote that must be there: between cuts and placeholders."""
    whole = CUT.sub("\n", REDACTION.sub("\n", quote.replace("\n", " ")))
    parts = [plain(part).strip() for part in whole.split("\n")]
    return [part for part in parts if part.strip(EDGES)]


def is_within(quote: str, text: str) -> bool:
    """Whether a text says what is quoted of it."""
    flat = plain(text)
    whole = plain(quote).strip(EDGES)
    if whole and whole in flat:
        return True
    if _in_order(fragments(quote), flat):
        return True
    unescaped = flat.replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\")
    if unescaped != flat and _in_order(fragments(quote), " ".join(unescaped.split())):
        return True
    return REDACTION.search(text) is not None and _by_words(fragments(quote), text)


def _in_order(parts: list[str], flat: str) -> bool:
    place = 0
    for number, part in enumerate(parts):
        bare = part.strip(EDGES) if number in (0, len(parts) - 1) else part
        at = flat.find(bare, place)
        if at < 0:
            return False
        place = at + len(bare)
    return bool(parts)


def _by_words(parts: list[str], text: str) -> bool:
    """Word by word, where a placeholder of the text stands for any one word of the quote."""
    words = plain(REDACTION.sub("\u0002", text)).replace("\\x02", "\u0002").split()
    return bool(parts) and all(_has_run(part.split(), words) for part in parts)


def _has_run(part: list[str], words: list[str]) -> bool:
    if not part or len(part) > LONGEST_WINDOW:
        return False
    first = [place for place, word in enumerate(words) if _alike(part[0], word)]
    return any(
        all(map(_alike, part, words[place : place + len(part)]))
        for place in first
        if place + len(part) <= len(words)
    )


def _alike(quoted: str, word: str) -> bool:
    if "\u0002" not in word:
        return quoted.strip(EDGES) == word.strip(EDGES)
    before, _, after = word.partition("\u0002")
    return quoted.startswith(before) and quoted.endswith(after.rpartition("\u0002")[2].strip(EDGES))
