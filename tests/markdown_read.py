"""Markdown as readers see it: what is in it besides text, in any flavour."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

MARKS = (
    re.compile(r"<!-- (?:from|sql:) (?:(?!--!?>).)*? -->"),
    re.compile(r"<!-- curate: [^<>]*? -->"),
)
# What a report is made of; a link, an image, a fence or a rule is somebody else's.
BLOCKS = {"heading", "paragraph", "bullet_list", "ordered_list", "list_item"} | {
    *("table", "thead", "tbody", "tr", "th", "td")
}
INLINE = {"text", "text_special", "code_inline", "html_inline", "softbreak", "strong", "em"}
# What becomes a link with no markup at all, where none of it is escaped.
BARE_LINK = re.compile(r"\w://|\bwww\.\S|\S@[\w-]+\.\w|(?<!pass)@\w", re.IGNORECASE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@cache
def _parser() -> MarkdownIt:
    """With what GitHub has beside the standard; escaped characters stay tokens of their own."""
    made = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return made.disable(["text_join", "fragments_join"])


def tokens(text: str) -> list[Token]:
    """The blocks of a text."""
    return _parser().parse(text)


def complaints(text: str) -> list[str]:
    """Everything in a report that is no text, mark, heading, list, table, code or bold of ours."""
    parsed = tokens(text)
    return [*_blocks(parsed), *_tables(text, parsed), *_headings(parsed)]


def _blocks(parsed: list[Token]) -> Iterator[str]:
    for token in parsed:
        if token.type == "inline":
            yield from _inlines(token.children or [])
        elif token.type == "html_block":
            for line in token.content.splitlines():
                if not any(mark.fullmatch(line) for mark in MARKS):
                    yield f"HTML: {line[:200]!r}"
        elif token.type.removesuffix("_open").removesuffix("_close") not in BLOCKS:
            yield f"{token.type}: {token.content[:200]!r}"


def _inlines(children: list[Token]) -> Iterator[str]:
    for child in children:
        kind = child.type.removesuffix("_open").removesuffix("_close")
        if kind not in INLINE:
            yield f"{kind}: {child.content[:200]!r} {child.attrs}"
        elif kind == "html_inline" and not any(mark.fullmatch(child.content) for mark in MARKS):
            yield f"HTML: {child.content[:200]!r}"
        elif kind == "text" and BARE_LINK.search(child.content):
            yield f"a bare link: {child.content[:200]!r}"


def _tables(text: str, parsed: list[Token]) -> Iterator[str]:
    """A reader pads and cuts rows: their cells are counted in the source."""
    lines = text.split("\n")
    for token in parsed:
        if token.type == "tr_open" and token.map:
            row = lines[token.map[0]]
            if not (row.startswith("| ") and row.endswith(" |")):
                yield f"no row: {row[:200]!r}"
    for token in parsed:
        if token.type == "table_open" and token.map:
            rows = lines[token.map[0] : token.map[1]]
            sizes = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows if row}
            if len(sizes) != 1:
                yield f"rows of {sizes} cells: {rows[0][:200]!r}"


def _headings(parsed: list[Token]) -> Iterator[str]:
    levels = [int(token.tag[1]) for token in parsed if token.type == "heading_open"]
    if any(token.type == "heading_open" and token.markup[:1] != "#" for token in parsed):
        yield "a heading by underline"
    yield from (f"h{low} then h{high}" for low, high in pairwise(levels) if high > low + 1)


def words(text: str) -> str:
    """What a reader shows of a line."""
    (token,) = _parser().parseInline(text)
    shown = ("text", "text_special", "code_inline")
    return "".join(each.content for each in token.children or [] if each.type in shown)


def comments(text: str) -> list[str]:
    """What a reader takes for HTML, line by line."""
    parsed = tokens(text)
    inner = [child for token in parsed for child in token.children or []]
    found = [each.content for each in (*parsed, *inner) if each.type.startswith("html_")]
    return [line for content in found for line in content.splitlines()]
