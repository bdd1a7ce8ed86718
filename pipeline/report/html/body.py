"""Markdown of a section -> HTML: figures, citations, tables and cards as a page has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from pipeline.report.figures import MARK
from pipeline.report.filters import CHART, href, link, restored, target

# What a marker is about: the last word before it.
LAST_WORD = re.compile(r"[^\s(]+$")
COMMENT = re.compile(r"<!--.*?-->")
# What may open a section, by its end.
LEAD = {"paragraph_close": "paragraph_open", "bullet_list_close": "bullet_list_open"}
# Headings to this level split a section into parts.
PART = 3
# A task by itself: folded, whatever the level of its heading.
CARD = "Task "
# Longer cells get room, shorter ones stay on a line.
LONG, SHORT = 36, 26
# How the parts of a table are written; it scrolls in itself.
TABLE = {
    "table_open": '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>\n',
    **{"thead_open": "<thead>", "tr_open": "<tr>", "th_close": "</th>", "td_close": "</td>"},
    **{"tr_close": "</tr>\n", "thead_close": "</thead>\n", "tbody_open": "<tbody>\n"},
    **{"tbody_close": "</tbody>", "table_close": "</table></div>\n"},
}

Tokens = Sequence[Token]


class Body(RendererHTML):
    """Writes the sections of one page; methods named after a token of Markdown write that token.

    Ids are unique among all sections; attributes that Markdown could bring along are left out.
    """

    def __init__(self, draw: Callable[[str], str], cited: Set[str]) -> None:
        super().__init__()
        self.draw, self.cited = draw, cited
        self.used_ids: set[str] = set()
        self.name = self.part = self.heading_end = ""
        self.n_cards = 0
        self.ends: list[tuple[int, str]] = []

    def section(self, text: str, *, name: str) -> tuple[str, str]:
        """The first paragraph of a section, which says what it found, and all that follows."""
        parser = _parser()
        tokens = parser.parse(text)
        ends = (at for at, token in enumerate(tokens, 1) if token.type in LEAD and not token.level)
        n_first = next(ends, 0) if tokens and tokens[0].type in LEAD.values() else 0
        self.name = self.part = name
        self.n_cards = 0
        lead, rest = (
            self.render(part, parser.options, {}) for part in (tokens[:n_first], tokens[n_first:])
        )
        return lead, rest + self._closed(0)

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
        if level <= PART and not title.content.startswith(CARD):
            self.part, self.n_cards = self._id(f"{self.name}/{_plain(title)}"), 0
            self.ends.append((level, "</section>\n"))
            self.heading_end = f"{_anchor(self.part)}</h3>\n"
            return f'{closed}<section class="part" id="{escape(self.part)}"><h3>'
        if name := next((each.content for each in _children(title, "code_inline")), None):
            card = self._id(f"{self.part}/{restored(name)}")
            self.n_cards += 1
            self.ends.append((level, "</details>\n"))
            self.heading_end = f"</{tag}>{_anchor(card)}</summary>\n"
            is_open = " open" if self.n_cards == 1 else ""
            return f'{closed}<details class="card" id="{escape(card)}"{is_open}><summary><{tag}>'
        self.heading_end = f"</{tag}>\n"
        return f'{closed}<{tag} class="plain">'

    def heading_close(self, *_: Any) -> str:
        """As it was opened."""
        return self.heading_end

    def _closed(self, level: int) -> str:
        """The ends of what a heading of a level ends."""
        ended = [end for opened, end in self.ends if opened >= level]
        self.ends = [each for each in self.ends if each[0] < level]
        return "".join(reversed(ended))

    def renderToken(self, tokens: Tokens, idx: int, *rest: Any) -> str:  # noqa: N802, the library's
        """A part of a table, or whatever else has no method here."""
        return TABLE.get(tokens[idx].type) or super().renderToken(tokens, idx, *rest)

    def td_open(self, tokens: Tokens, idx: int, *_: Any) -> str:
        """Numbers stand right; few words stay on a line, many get room."""
        tag, n_characters = tokens[idx].tag, len(COMMENT.sub("", tokens[idx + 1].content))
        looks = "w" if n_characters > LONG else "s" if n_characters < SHORT else ""
        looks = "n" if tokens[idx].attrs else looks
        scope = ' scope="col"' if tag == "th" else ""
        return f'<{tag}{scope} class="{looks}">' if looks else f"<{tag}{scope}>"

    th_open = td_open

    def text(self, tokens: Tokens, idx: int, *_: Any) -> str:
        """Escaped; what a marker stands behind is a figure."""
        content = tokens[idx].content
        after = [each.content for each in tokens[idx + 1 : idx + 2] if each.type == "html_inline"]
        source = MARK.fullmatch("".join(after))
        return _marked(content, source[1]) if source else escape(content)

    def html_block(self, tokens: Tokens, idx: int, *_: Any) -> str:
        """A chart; other comments are not shown, and nothing else of HTML is let through."""
        content = tokens[idx].content.strip()
        if found := CHART.fullmatch(content):
            return self.draw(found[1])
        return "" if COMMENT.fullmatch(content) else escape(content)

    def html_inline(self, tokens: Tokens, idx: int, *_: Any) -> str:
        """The same within a line."""
        return self.html_block(tokens, idx)

    def code_inline(self, tokens: Tokens, idx: int, *_: Any) -> str:
        """A citation leads to its evidence."""
        return self._code(tokens[idx].content)

    def _code(self, text: str) -> str:
        told = restored(text)
        written = f"<code>{escape(told)}</code>"
        if told in self.cited:
            return f'<a class="cite" href="{escape(href(told))}">{written}</a>'
        return written

    @staticmethod
    def renderAttrs(_: Token) -> str:  # noqa: N802, the name is of the library
        """None: see the class."""
        return ""

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
    return _alone().render(_parser().parseInline(text), _parser().options, {})


@cache
def _alone() -> Body:
    return Body(draw=lambda _: "", cited=frozenset())


def _anchor(to: str) -> str:
    return f' <a class="anchor" href="{escape(link(to))}" aria-label="Link to this">#</a>'


def _marked(text: str, source: str) -> str:
    word = LAST_WORD.search(text)
    if word is None:
        return escape(text)
    figure = f'<data data-figure="{escape(source)}">{escape(word[0])}</data>'
    return escape(text[: word.start()]) + figure


def _children(token: Token, *types: str) -> list[Token]:
    return [each for each in token.children or [] if each.type in types]


def _plain(heading: Token) -> str:
    """The text of a heading, without markers."""
    return restored("".join(each.content for each in _children(heading, "text", "code_inline")))


@cache
def _parser() -> MarkdownIt:
    """No links: the page leads nowhere outside itself."""
    made = MarkdownIt("commonmark", {"html": True, "xhtmlOut": False})
    made.disable(["link", "image", "autolink", "reference"])
    made.enable("table")
    return made
