"""A page of HTML -> the same page without what must not be shared, its tags as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..blocks import edited
from .detect import spans
from .placeholders import Placeholders
from .policy import Policy

TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^>]*>")
# Tags inside a word or a sentence, and tags of a value's name, after which a colon is read.
INLINE = {"a", "b", "code", "del", "em", "mark", "q", "s", "span", "strong"}
NAMES = {"dt", "th"}
ATTRIBUTE = re.compile(r'(?<= )((?:aria-label|title|alt|data-cite)=")([^"]*)')
# What a picture or a sound shows is not known.
EMBEDDED = re.compile(
    r'<(?:img|audio) [^>]*src="data:[^>]*>(?:</audio>)?'
    r"|data:[a-z]+/[a-z0-9.+-]+;base64,[A-Za-z0-9+/=]+"
)
UNKNOWN = "[not shared: what it shows is not checked]"
# What overlaps something private is found once that is replaced.
MOST_ROUNDS = 8


def sanitized(page: str, file: str, policy: Policy, placeholders: Placeholders) -> str:
    """A page whose texts and labels say nothing private; what it embeds is left out."""
    page = EMBEDDED.sub(UNKNOWN, page)
    page = ATTRIBUTE.sub(lambda each: each[1] + _clean(each[2], file, policy, placeholders), page)
    for _ in range(MOST_ROUNDS):
        text, pieces = _text(page)
        private = spans(text, policy)
        if not private:
            break
        shown = [placeholders.put(each, file, 0, text[each.end : each.end + 1]) for each in private]
        for span, words in reversed([*zip(private, shown, strict=True)]):
            # What goes over several tags leaves its placeholder in the first piece of it.
            cut = [
                (place + max(span.start - start, 0), place + min(span.end - start, length))
                for start, place, length in pieces
                if start < span.end and span.start < start + length
            ]
            for number, (start, end) in reversed([*enumerate(cut)]):
                page = page[:start] + ("" if number else words) + page[end:]
    return page


def _text(page: str) -> tuple[str, list[tuple[int, int, int]]]:
    """The text of a page, and its pieces: where each is in the text and the page, its length."""
    parts: list[str] = []
    pieces: list[tuple[int, int, int]] = []
    n_read, place = 0, 0
    for start, end, between in _tags(page):
        piece = page[place:start]
        if piece:
            pieces.append((n_read, place, len(piece)))
        parts += (piece, between)
        n_read += len(piece) + len(between)
        place = end
    return "".join(parts), pieces


def _tags(page: str) -> Iterator[tuple[int, int, str]]:
    """Every tag, and what is read in its place; at last the end."""
    for tag in TAG.finditer(page):
        name = tag[2].lower()
        named = ": " if name in NAMES and tag[1] else "\n"
        yield *tag.span(), "" if name in INLINE else named
    yield len(page), len(page), ""


def _clean(text: str, file: str, policy: Policy, placeholders: Placeholders) -> str:
    private = reversed(spans(text, policy))
    return edited(
        text, ((each.start, each.end, placeholders.put(each, file, 0)) for each in private)
    )
