"""A report's Markdown as sections of blocks and tables, each word with the line it stands on."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

# A mark's parts are percent-encoded: none holds what ends it.
MARK = re.compile(r"<!--blade:(?P<relation>[^?#<>]+)\?(?P<key>[^#<>]*)#(?P<column>[^#<>]+)-->")
CURATE = re.compile(r"<!--\s*curate:")
# Characters of one paragraph, item or cell: ten times as many as any that we write has.
LONGEST_BLOCK = 20_000
MOST_LINES = 15_000


@dataclass(frozen=True)
class Mark:
    """Where the figure that ends at `end` was read from: a relation, a key and a column."""

    end: int
    relation: str
    key: tuple[tuple[str, str], ...]
    column: str


@dataclass(frozen=True)
class Block:
    """A heading, paragraph, list item, table cell or fence: what a reader sees of it."""

    kind: str
    line: int
    text: str
    # Where code spans stand in the text, and where its lines begin after the first.
    codes: tuple[tuple[int, int], ...] = ()
    breaks: tuple[int, ...] = ()
    marks: tuple[Mark, ...] = ()

    def line_at(self, offset: int) -> int:
        """The line of the file that a place in the text stands on."""
        return self.line + bisect_right(self.breaks, offset)

    def is_code(self, offset: int) -> bool:
        """Whether a place in the text lies within a code span."""
        return is_within(self.codes, offset)

    def cut(self, start: int, end: int) -> Block:
        """The piece of the text between two places, as a block of its own; marks are left out."""
        first = bisect_left(self.codes, (start, 0))
        last = bisect_left(self.codes, (end, 0))
        return Block(
            self.kind,
            self.line_at(start),
            self.text[start:end],
            tuple((from_ - start, to - start) for from_, to in self.codes[first:last]),
            tuple(
                place - start
                for place in self.breaks[
                    bisect_right(self.breaks, start) : bisect_left(self.breaks, end)
                ]
            ),
        )


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    line: int
    cells: tuple[Block, ...]


@dataclass(frozen=True)
class Table:
    """A table: its heads and its rows."""

    line: int
    header: tuple[Block, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it, up to the next heading of any level."""

    title: str
    level: int
    line: int
    # The titles of the headings it stands under, its own last; the report's own title is none.
    path: tuple[str, ...]
    parts: tuple[Block | Table, ...]
    # The heading as a text of its own, with its marks.
    heading: Block | None = None

    @property
    def blocks(self) -> Iterator[Block]:
        """All text of the section, that of tables cell by cell."""
        for part in self.parts:
            if isinstance(part, Block):
                yield part
            else:
                yield from part.header
                for row in part.rows:
                    yield from row.cells


@dataclass(frozen=True)
class Reading:
    """A report as read: its sections in order, the text before the first heading among them."""

    sections: tuple[Section, ...]
    # The places that still wait for a person's judgement: line and words.
    curations: tuple[tuple[int, str], ...]

    @property
    def blocks(self) -> Iterator[Block]:
        """All text of the report in order."""
        for section in self.sections:
            yield from section.blocks


def read(text: str) -> Reading:
    """A report's sections; any text can be read."""
    sections: list[Section] = []
    heading, level = Block("heading", 1, ""), 0
    path: tuple[str, ...] = ()
    parts: list[Block | Table] = []
    read_to = _end_of_line(text, MOST_LINES)
    tokens = _parser().parse(text[:read_to])
    for part, depth in [*_parts(tokens), (Block("heading", 1, ""), 1)]:
        if not (depth and isinstance(part, Block)):
            parts.append(part)
            continue
        if heading.text or parts:
            sections.append(Section(heading.text, level, heading.line, path, tuple(parts), heading))
        path = (*path[: depth - 2], part.text) if depth > 1 else ()
        heading, level, parts = part, depth, []
    return Reading(tuple(sections), tuple(_curations(text)))


def _end_of_line(text: str, number: int) -> int:
    """Where a line ends, or the text where it has fewer."""
    end = 0
    for _ in range(number):
        end = text.find("\n", end) + 1
        if not end:
            return len(text)
    return end


def _parts(tokens: list[Token]) -> Iterator[tuple[Block | Table, int]]:
    """Blocks and tables in order, each with the level of its heading, 0 where it is none."""
    place = 0
    depth, items, quotes = 0, 0, 0
    while place < len(tokens):
        token = tokens[place]
        if token.type == "heading_open":
            depth = int(token.tag[1:])
        elif token.type == "heading_close":
            depth = 0
        elif token.type in ("list_item_open", "list_item_close"):
            items += token.nesting
        elif token.type in ("blockquote_open", "blockquote_close"):
            quotes += token.nesting
        elif token.type == "table_open":
            end = next(at for at in range(place, len(tokens)) if tokens[at].type == "table_close")
            yield _table(tokens[place:end]), 0
            place = end
        elif token.type in ("fence", "code_block"):
            yield Block("fence", _line(token), token.content), 0
        elif token.type == "inline":
            kind = "heading" if depth else "item" if items else "quote" if quotes else "paragraph"
            yield _block(kind, token), depth
        place += 1


def _table(tokens: list[Token]) -> Table:
    header: tuple[Block, ...] = ()
    rows: list[Row] = []
    cells: list[Block] = []
    line = _line(tokens[0])
    for token in tokens:
        if token.type == "tr_open":
            line, cells = _line(token), []
        elif token.type == "inline":
            cells.append(_block("cell", token, line))
        elif token.type == "tr_close":
            rows.append(Row(line, tuple(cells)))
        elif token.type == "thead_close":
            header = rows.pop().cells
    return Table(_line(tokens[0]), header, tuple(rows))


def _block(kind: str, token: Token, line: int | None = None) -> Block:
    """The visible text of inline Markdown, and where its code, line ends and marks stand."""
    text = ""
    codes, breaks, marks = [], [], []
    for child in token.children or []:
        if child.type == "code_inline":
            codes.append((len(text), len(text) + len(child.content)))
            text += child.content
        elif child.type in ("softbreak", "hardbreak"):
            text += "\n"
            breaks.append(len(text))
        elif child.type == "html_inline":
            marks += [mark for mark in [_mark(child.content, len(text))] if mark]
            breaks += [len(text)] * child.content.count("\n")
        elif child.type in ("text", "image", "text_special"):
            text += child.content
    return Block(
        kind,
        _line(token) if line is None else line,
        text,
        tuple(codes),
        tuple(breaks),
        tuple(marks),
    )


def _mark(comment: str, end: int) -> Mark | None:
    match = MARK.fullmatch(comment)
    if match is None:
        return None
    key = tuple(parse_qsl(match["key"], keep_blank_values=True))
    return Mark(end, match["relation"], key, match["column"])


def _curations(text: str) -> Iterator[tuple[int, str]]:
    line, before, end = 1, 0, 0
    for match in CURATE.finditer(text):
        if match.start() < end:
            continue
        line, before = line + text.count("\n", before, match.start()), match.start()
        end = text.find("-->", match.end())
        if end < 0:
            return
        yield line, " ".join(text[match.end() : end].split())


def _line(token: Token) -> int:
    return (token.map[0] if token.map else 0) + 1


def is_within(spans: Sequence[tuple[int, int]], offset: int) -> bool:
    """Whether a place lies within one of the spans, which are in order and apart."""
    place = bisect_right(spans, (offset, sys.maxsize)) - 1
    return place >= 0 and offset < spans[place][1]


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.core.ruler.at("inline", _inline)
    return parser


def _inline(state: StateCore) -> None:
    """The parser's own rule, but for what no person wrote: markup may take long to tell apart."""
    for token in state.tokens:
        if token.type == "inline":
            token.children = []
            if len(token.content) <= LONGEST_BLOCK:
                state.md.inline.parse(token.content, state.md, state.env, token.children)
