"""Markdown of a section -> HTML: figures, citations, tables and cards as a page has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from pipeline.report.html.texts import href, target
from pipeline.report.marks import CURATE

FIGURE = re.compile(r"<!--blade:([^<>\s]+)-->")
CHART = re.compile(r"<!--blade-chart:([^<>\s]+)-->")
TABLE_SOURCE = "<!--blade-table-->"
# What a marker is about: the last word before it.
LAST_WORD = re.compile(r"[^\s(]+$")
COMMENT = re.compile(r"<!--.*?-->")
# A line that no parser of Markdown is needed for: words, names in backquotes, and markers.
PIECE = r"([A-Za-z0-9 .,:;()+%=/-]*)(?:<!--blade:([^<>\s]+)-->|`(?![ `])([^`<\n]+)(?<! )`(?!`)|$)"
PIECES = re.compile(PIECE)
SIMPLE = re.compile(f"(?:{PIECE})*")
PART = 3
# What may open a section, by its end.
LEAD = {"paragraph_close": "paragraph_open", "bullet_list_close": "bullet_list_open"}
# Of a heading: its opening, what it says, and its end.
BLOCK = 3
LONG = 36
SHORT = 26
TABLE = '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>\n'
TABLE_END = "</table></div>\n"
PLAIN_TABLE = "plain_table"
# A head, and what is below it.
HEADED = 2
DELIMITERS = re.compile(r"(?:\| ---:? )+\|")
TABLE_TAGS = ("table", "thead", "tbody", "tr", "th", "td")

Draw = Callable[[str], str]


@dataclass
class Body:
    """Writes the sections of one page; ids are unique among all of them."""

    draw: Draw
    cited: Set[str]
    used_ids: set[str] = field(default_factory=set)

    def section(self, text: str, *, name: str) -> tuple[str, str]:
        """The first paragraph of a section, which says what it found, and all that follows."""
        tokens = _parser().parse(text)
        ends = (at for at, token in enumerate(tokens, 1) if token.type in LEAD and not token.level)
        n_first = next(ends, 0) if tokens and tokens[0].type in LEAD.values() else 0
        first = (self._block(tokens, at) for at in range(n_first))
        return "".join(first), "".join(self._blocks(tokens[n_first:], name))

    def _blocks(self, tokens: list[Token], name: str) -> Iterator[str]:
        """Headings of the third level part a section; those of the fourth that name a task fold."""
        ends: list[tuple[int, str]] = []
        part, n_cards = name, 0
        at = 0
        while at < len(tokens):
            # One inside a list or a quotation, of a user's own, parts nothing.
            if tokens[at].type != "heading_open" or tokens[at].level:
                yield self._block(tokens, at)
                at += 1
                continue
            level, title = int(tokens[at].tag[1]), tokens[at + 1]
            while ends and ends[-1][0] >= level:
                yield ends.pop()[1]
            # No level is left out where a report on one run has no parts.
            tag = "h4" if ends else "h3"
            if level <= PART:
                part, n_cards = self._id(f"{name}/{_plain(title)}"), 0
                yield self._part(part, title)
                ends.append((level, "</section>\n"))
            elif _named(title):
                n_cards += 1
                yield self._card(part, title, tag, is_open=n_cards == 1)
                ends.append((level, "</details>\n"))
            else:
                yield f'<{tag} class="plain">{self.inline(title)}</{tag}>\n'
            at += BLOCK
        yield from (end for _, end in reversed(ends))

    def _part(self, part: str, title: Token) -> str:
        return (
            f'<section class="part" id="{escape(part)}">'
            f"<h3>{self.inline(title)}{_anchor(part)}</h3>\n"
        )

    def _card(self, part: str, title: Token, tag: str, *, is_open: bool) -> str:
        card = self._id(f"{part}/{_named(title)}")
        return (
            f'<details class="card" id="{escape(card)}"{" open" if is_open else ""}>'
            f"<summary><{tag}>{self.inline(title)}</{tag}>{_anchor(card)}</summary>\n"
        )

    def _block(self, tokens: list[Token], at: int) -> str:
        token = tokens[at]
        kind = token.type
        if kind == "inline":
            return self.inline(token)
        if kind == PLAIN_TABLE:
            return self._table(token)
        if kind == "html_block":
            return self._comment(token.content.strip())
        if kind in ("paragraph_open", "paragraph_close"):
            return self._paragraph(tokens, at)
        if kind == "table_open":
            return TABLE
        if kind == "table_close":
            return TABLE_END
        if kind in ("th_open", "td_open"):
            is_right = "right" in str(token.attrs.get("style", ""))
            return _cell(token.tag, tokens[at + 1].content, is_right=is_right)
        if kind in ("fence", "code_block"):
            return f"<pre><code>{escape(token.content)}</code></pre>\n"
        if token.hidden:
            return ""
        end = "\n" if token.nesting < 1 or token.tag not in TABLE_TAGS else ""
        return f"<{'/' if token.nesting < 0 else ''}{token.tag}>{end}"

    def _table(self, token: Token) -> str:
        """The same as of a table's tokens, which take most of the time of a page of many runs."""
        head, aligns, *body = (line.strip()[1:-1].split("|") for line in token.content.split("\n"))
        is_right = [align.rstrip().endswith("-:") for align in aligns]
        env = token.meta["env"]
        rows = [self._row("td", row, is_right, env) for row in body]
        written = f"<thead>{self._row('th', head, is_right, env)}</thead>\n"
        if rows:
            written += f"<tbody>{''.join(rows)}</tbody>\n"
        return f"{TABLE}{written}{TABLE_END}"

    def _row(self, tag: str, row: list[str], is_right: list[bool], env: dict[str, Any]) -> str:
        cells = [
            f"{_cell(tag, text, is_right=right)}{self._line(text, env)}</{tag}>\n"
            for text, right in zip((cell.strip() for cell in row), is_right, strict=True)
        ]
        return f"<tr>{''.join(cells)}</tr>\n"

    def _line(self, text: str, env: dict[str, Any]) -> str:
        """A line of Markdown by the parser, or without it where there is nothing to parse."""
        if not SIMPLE.fullmatch(text):
            (token,) = _parser().parseInline(text, env)
            return self.inline(token)
        return "".join(
            _marked(words, source) if source else escape(words) + (code and self._code(code))
            for words, source, code in PIECES.findall(text)
        )

    def _paragraph(self, tokens: list[Token], at: int) -> str:
        token = tokens[at]
        if token.hidden:
            return ""
        inner = tokens[at + 1] if token.nesting > 0 else tokens[at - 1]
        if inner.content.endswith(TABLE_SOURCE):
            return '<p class="source">' if token.nesting > 0 else "</p>\n"
        return "<p>" if token.nesting > 0 else "</p>\n"

    def _comment(self, text: str) -> str:
        """A chart, or a place for a curator; nothing else that looks like HTML is let through."""
        if found := CHART.fullmatch(text):
            return self.draw(found[1])
        if found := CURATE.fullmatch(text):
            return f'<p class="curate" role="note"><b>Curate</b> {escape(found[1])}</p>\n'
        return f"<p>{escape(text)}</p>\n"

    def inline(self, token: Token) -> str:
        """A line: text is escaped, what a marker stands behind is a figure."""
        return "".join(self._inline(token.children or []))

    def _inline(self, children: list[Token]) -> Iterator[str]:
        for at, child in enumerate(children):
            following = children[at + 1] if at + 1 < len(children) else None
            if child.type == "text":
                source = _figure(following)
                yield _marked(child.content, source) if source else escape(child.content)
            elif child.type == "code_inline":
                yield self._code(child.content)
            elif child.type == "html_inline":
                if not FIGURE.fullmatch(child.content) and child.content != TABLE_SOURCE:
                    yield self._comment(child.content) if _is_mark(child) else escape(child.content)
            elif child.type in ("softbreak", "hardbreak"):
                yield "\n" if child.type == "softbreak" else "<br>\n"
            elif child.tag in ("strong", "em"):
                yield f"<{'/' if child.nesting < 0 else ''}{child.tag}>"
            else:
                yield escape(child.content)

    def _code(self, text: str) -> str:
        written = f"<code>{escape(text)}</code>"
        if text.partition("#")[0] in self.cited or text in self.cited:
            return f'<a class="cite" href="{escape(href(text))}">{written}</a>'
        return written

    def _id(self, wanted: str) -> str:
        """An id without spaces, once a page."""
        base = target("_".join(wanted.split()))
        chosen, count = base, 1
        while chosen in self.used_ids:
            count += 1
            chosen = f"{base}~{count}"
        self.used_ids.add(chosen)
        return chosen


def inline(text: str) -> str:
    """A line of Markdown alone, for what a template of the page writes with the same filters."""
    return Body(draw=lambda _: "", cited=frozenset())._line(text, {})


def _anchor(to: str) -> str:
    return f' <a class="anchor" href="{escape(href(to))}" aria-label="Link to this">#</a>'


def _cell(tag: str, content: str, *, is_right: bool) -> str:
    """Numbers stand right; few words stay on a line, many get room."""
    n_characters = len(COMMENT.sub("", content))
    looks = "n" if is_right else "w" if n_characters > LONG else "s" if n_characters < SHORT else ""
    scope = ' scope="col"' if tag == "th" else ""
    return f'<{tag}{scope} class="{looks}">' if looks else f"<{tag}{scope}>"


def _figure(token: Token | None) -> str | None:
    found = FIGURE.fullmatch(token.content) if token and token.type == "html_inline" else None
    return found[1] if found else None


def _is_mark(token: Token) -> bool:
    return bool(CHART.fullmatch(token.content) or CURATE.fullmatch(token.content))


def _marked(text: str, source: str) -> str:
    word = LAST_WORD.search(text)
    if word is None:
        return escape(text)
    told = f'<data data-figure="{escape(source)}">{escape(word[0])}</data>'
    return escape(text[: word.start()]) + told


def _named(heading: Token) -> str | None:
    """The first name in a heading: the task that a card is about."""
    names = (each.content for each in heading.children or [] if each.type == "code_inline")
    return next(names, None)


def _plain(token: Token) -> str:
    """The text of a heading, without markers."""
    children = token.children or []
    return "".join(each.content for each in children if each.type in ("text", "code_inline"))


def _plain_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table as our templates write them: rows from pipe to pipe, each with all of its cells."""
    at = start
    while at < end and state.src.startswith("| ", state.bMarks[at]):
        at += 1
    lines = state.src[state.bMarks[start] : state.eMarks[at - 1]].split("\n") if at > start else []
    is_ended = at == end or state.isEmpty(at)
    if state.blkIndent or not is_ended or len(lines) < HEADED or not DELIMITERS.fullmatch(lines[1]):
        return False
    n_pipes = lines[1].count("|")
    if any(line.count("|") != n_pipes or "\\|" in line or line[-1] != "|" for line in lines):
        return False
    if not silent:
        token = state.push(PLAIN_TABLE, "table", 0)
        token.content, token.meta = "\n".join(lines), {"env": state.env}
        state.line = at
    return True


@cache
def _parser() -> Any:
    made = MarkdownIt("commonmark", {"html": True}).enable("table")
    made.block.ruler.before("table", PLAIN_TABLE, _plain_table, {"alt": ["paragraph", "reference"]})
    return made
