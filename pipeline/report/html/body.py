"""Markdown of a section -> HTML: figures, citations, tables and cards as a page has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import getLine, table
from markdown_it.token import Token

from ..figures import BOUND, MARK
from ..filters import CHART, href, link, restored, target, unused

# What a marker is about: the last word before it.
LAST_WORD = re.compile(r"[^\s(]+$")
# Most lines of ours: words in which nothing is markup, names between backquotes, and marks. They
# need no parser, which would take nine tenths of a page's time.
PLAIN = re.compile(
    r"(?:[^\W_]++|(?<=[^\W_])_(?=[^\W_])|[ .,:;%+/()='\"?@^#-]++"
    r"|`[^`\s\0](?:[^`\n\0]*[^`\s\0])?`(?!`)|<!--blade:[^<>\s]+-->)*+"
)
PIECE = re.compile(rf"`([^`]+)`|{MARK.pattern}")
# What most cells hold.
FIGURE = re.compile(rf"([A-Za-z0-9.,%+/-]+){MARK.pattern}")
# What Markdown trims from lines and cells.
BLANK = " \t\n\v\f\r\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
PIPE = re.compile(r"(?<!\\)\|")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# What may open a section, by its end.
LEAD = {"paragraph_close": "paragraph_open", "bullet_list_close": "bullet_list_open"}
# Headings to this level split a section into parts.
PART = 3
# A task by itself: folded, at any level of heading.
CARD = "Task "
# Longer cells get room, shorter ones stay on a line.
LONG, SHORT = 36, 26
# A table scrolls in itself.
TABLE = '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>\n'

Tokens = Sequence[Token]
# Rows of cells as Markdown, the first of them heads; and which columns are aligned right.
Grid = tuple[Sequence[Sequence[str]], Sequence[bool]]


class Body(RendererHTML):
    """Writes the sections of one page; methods named after a token of Markdown write that token.

    Ids are unique among all sections; attributes that Markdown could bring along are left out.
    """

    def __init__(self, draw: Callable[[str], str | Grid], cited: Set[str]) -> None:
        super().__init__()
        self.draw, self.cited = draw, cited
        self.used_ids: set[str] = set()
        self.lines: dict[str, str] = {}
        self.name = self.part = self.heading_end = ""
        self.n_cards = 0
        self.ends: list[tuple[int, str]] = []

    def section(self, text: str, *, name: str) -> tuple[str, str]:
        """The first paragraph of a section, which says what it found, and all that follows."""
        tokens = _parser(of_lines=False).parse(BOUND.sub("", text))
        ends = (at for at, token in enumerate(tokens, 1) if token.type in LEAD and not token.level)
        n_first = next(ends, 0) if tokens and tokens[0].type in LEAD.values() else 0
        self.name = self.part = name
        self.n_cards = 0
        lead, rest = self._written(tokens[:n_first]), self._written(tokens[n_first:])
        return lead, rest + self._closed(0)

    def _written(self, tokens: Tokens) -> str:
        options = _parser(of_lines=False).options
        return "".join(
            self.line(token.content)
            if token.type == "inline"
            else self.rules.get(token.type, self.renderToken)(tokens, idx, options, {})
            for idx, token in enumerate(tokens)
        )

    def line(self, text: str) -> str:
        """A line or a paragraph: its figures marked, its citations linked."""
        if figure := FIGURE.fullmatch(text):
            return f'<data data-figure="{escape(figure[2])}">{figure[1]}</data>'
        # Four of five others are names and words that tables of the page repeat.
        if text not in self.lines:
            self.lines[text] = self.unrepeated_line(text)
        return self.lines[text]

    def unrepeated_line(self, text: str) -> str:
        """The same, not remembered."""
        text = BOUND.sub("", text)
        if figure := FIGURE.fullmatch(text):
            return f'<data data-figure="{escape(figure[2])}">{figure[1]}</data>'
        if not PLAIN.fullmatch(text):
            return self.renderInline(_pieces(text), _parser(of_lines=True).options, {})
        *pieces, last = PIECE.split(text)
        written = [
            _marked(before, source) if source else escape(before) + self._code(name)
            for before, name, source in zip(*[iter(pieces)] * 3, strict=True)
        ]
        return "".join(written) + escape(last)

    def heading_open(self, tokens: Tokens, idx: int, *_: Any) -> str:
        """Some headings split a section into parts, those below that name a task fold."""
        token, title = tokens[idx], tokens[idx + 1]
        # One inside a list or a quotation, of a user's own, splits nothing.
        if token.level:
            self.heading_end = f"</{token.tag}>\n"
            return f"<{token.tag}>"
        level = int(token.tag[1])
        closed = self._closed(level)
        # No level is left out where a report on one run has no parts.
        tag = "h4" if self.ends else "h3"
        pieces = _pieces(title.content)
        if level <= PART and not title.content.startswith(CARD):
            texts = (each.content for each in pieces if each.type in ("text", "code_inline"))
            self.part, self.n_cards = self._id(f"{self.name}/{restored(''.join(texts))}"), 0
            self.ends.append((level, "</section>\n"))
            self.heading_end = f"{_anchor(self.part)}</h3>\n"
            return f'{closed}<section class="part" id="{escape(self.part)}"><h3>'
        if name := next((each.content for each in pieces if each.type == "code_inline"), None):
            card = self._id(f"{self.part}/{restored(name)}")
            self.n_cards += 1
            self.ends.append((level, "</details>\n"))
            self.heading_end = f"</{tag}>{_anchor(card)}</summary>\n"
            is_open = " open" if self.n_cards == 1 else ""
            return f'{closed}<details class="card" id="{escape(card)}"{is_open}><summary><{tag}>'
        self.heading_end = f"</{tag}>\n"
        return f'{closed}<{tag} class="plain">'

    def heading_close(self, *_: Any) -> str:
        return self.heading_end

    def _closed(self, level: int) -> str:
        """The ends of what a heading of a level ends."""
        ended = [end for opened, end in self.ends if opened >= level]
        self.ends = [each for each in self.ends if each[0] < level]
        return "".join(reversed(ended))

    def table(self, tokens: Tokens, idx: int, *_: Any) -> str:
        return self._grid(*tokens[idx].meta["grid"])

    def _grid(self, rows: Sequence[Sequence[str]], are_right: Sequence[bool]) -> str:
        heads = self._row('th scope="col"', rows[0], are_right)
        cells = "".join(self._row("td", row, are_right) for row in rows[1:])
        body = f"<tbody>\n{cells}</tbody>" if cells else ""
        return f"{TABLE}<thead>{heads}</thead>\n{body}</table></div>\n"

    def _row(self, opening: str, cells: Sequence[str], are_right: Sequence[bool]) -> str:
        written = [
            f"<{opening}{_looks(text, is_right)}>{self.line(text)}</{opening[:2]}>"
            for text, is_right in zip(cells, are_right, strict=True)
        ]
        return f"<tr>{''.join(written)}</tr>\n"

    def text(self, tokens: Tokens, idx: int, *_: Any) -> str:
        """Escaped; what is before a marker is a figure."""
        content = tokens[idx].content
        after = [each.content for each in tokens[idx + 1 : idx + 2] if each.type == "html_inline"]
        source = MARK.fullmatch("".join(after))
        return _marked(content, source[1]) if source else escape(content)

    def html_block(self, tokens: Tokens, idx: int, *_: Any) -> str:
        """A chart or table; other comments are not shown, nothing else of HTML is let through."""
        content = tokens[idx].content.strip()
        if chart := CHART.fullmatch(content):
            drawn = self.draw(chart[1])
            return drawn if isinstance(drawn, str) else self._grid(*drawn)
        return "" if COMMENT.fullmatch(content) else escape(content)

    def html_inline(self, tokens: Tokens, idx: int, *_: Any) -> str:
        return self.html_block(tokens, idx)

    def code_inline(self, tokens: Tokens, idx: int, *_: Any) -> str:
        """A citation leads to its evidence."""
        return self._code(tokens[idx].content)

    def _code(self, text: str) -> str:
        name = restored(text)
        written = f"<code>{escape(name)}</code>"
        if name in self.cited:
            return f'<a class="cite" href="{escape(href(name))}">{written}</a>'
        return written

    @staticmethod
    def renderAttrs(_: Token) -> str:  # noqa: N802, the name is of the library
        """None: see the class."""
        return ""

    def _id(self, wanted: str) -> str:
        """An id without spaces, once a page."""
        chosen = unused(target("_".join(wanted.split())), self.used_ids, "~")
        self.used_ids.add(chosen)
        return chosen


# A line of Markdown alone, for what a template of the page writes with the same filters.
inline = Body(draw=lambda _: "", cited=frozenset()).unrepeated_line


def _looks(text: str, is_right: bool) -> str:
    """Numbers are aligned right; few words stay on a line, many get room."""
    if is_right:
        return ' class="n"'
    n_characters = len(COMMENT.sub("", text))
    return ' class="w"' if n_characters > LONG else ' class="s"' if n_characters < SHORT else ""


def _anchor(to: str) -> str:
    return f' <a class="anchor" href="{escape(link(to))}" aria-label="Link to this">#</a>'


def _marked(text: str, source: str) -> str:
    word = LAST_WORD.search(text)
    if word is None:
        return escape(text)
    figure = f'<data data-figure="{escape(source)}">{escape(word[0])}</data>'
    return escape(text[: word.start()]) + figure


def _pieces(text: str) -> list[Token]:
    return _parser(of_lines=True).parseInline(text)[0].children or []


@cache
def _parser(*, of_lines: bool) -> MarkdownIt:
    """Of lines, or of blocks whose lines are left as they are. No links: none lead outside."""
    parser = MarkdownIt("commonmark", {"html": True, "xhtmlOut": False})
    parser.disable(["link", "image", "autolink", "reference"])
    if not of_lines:
        parser.disable(["inline", "text_join"]).enable("table")
        parser.block.ruler.at("table", _table, {"alt": ["paragraph"]})
    return parser


def _table(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """A table where the library finds one, as one token: it makes three of every cell."""
    is_table = table(state, first, last, silent=True)
    if silent or not is_table:
        return is_table
    around, state.parentType = state.parentType, "table"
    ends = state.md.block.ruler.getRules("blockquote")
    heads = _cells(getLine(state, first))
    rows, line = [heads], first + 2
    while line < last and state.sCount[line] >= state.blkIndent and not state.is_code_block(line):
        text = getLine(state, line)
        # No other block begins with a pipe.
        if not text.startswith("|") and (
            not text.strip(BLANK) or any(end(state, line, last, True) for end in ends)
        ):
            break
        cells = _cells(text)[: len(heads)]
        rows.append([*cells, *[""] * (len(heads) - len(cells))])
        line += 1
    token = state.push("table", "table", 0)
    token.meta = {"grid": (rows, [":" in rule for rule in _cells(getLine(state, first + 1))])}
    state.line, state.parentType = line, around
    return True


def _cells(line: str) -> list[str]:
    inner = line.strip(BLANK).removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [each.replace("\\|", "|").strip(BLANK) for each in PIPE.split(inner)]
