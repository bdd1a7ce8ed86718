"""Texts of rollouts as people read them: Markdown without links or HTML, JSON by its fields."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from ..citation import parse
from ..text import json_text, neutral, parsed

# Rules that would load or hide something: links and images are shown as they were written,
# definitions would vanish, escapes would lose their backslash (as in LaTeX), and a line of dashes
# would make a heading of the line above it.
UNUSED = (
    *("autolink", "entity", "escape", "html_block", "html_inline", "image"),
    *("lheading", "link", "reference"),
)
# A line with wide gaps is part of a table or a screen, which only letters of one width keep.
GAP = re.compile(r"\S {3,}\S")
MOST_GAPS = 2
# The line below the heads of a table, which may be in a list or a quotation.
DELIMITER = re.compile(r"[ \t>*+\d.)|:-]*-[ \t|:-]*")
# An element, its address, and words for it.
Medium = tuple[str, str, str]
MOST_FIELDS = 60
LONGEST_QUESTION = 3000
# Deeper JSON is shown as written: indented, its lines would be longer than its text.
DEEPEST = 12
WIDTH = 120
# What a page may embed.
MEDIA = re.compile(
    r"data:(?:image/(?:png|jpeg|gif|webp)|audio/(?:wav|mpeg|mp3|ogg));base64,[A-Za-z0-9+/]+={0,2}"
)


class _Inert(RendererHTML):
    """Writes the tags of Markdown without attributes, but for the first number of a list."""

    def renderToken(  # noqa: N802 - the name is the library's
        self,
        tokens: Sequence[Token],
        idx: int,
        options: Any,
        env: Any,
    ) -> str:
        """Headings are bold lines: the outline of the page is not the rollout's."""
        token = tokens[idx]
        if token.hidden:
            return ""
        is_heading = token.type.startswith("heading")
        tag = "p" if is_heading else token.tag
        if token.nesting < 0:
            return f"</{tag}>\n" if token.block else f"</{tag}>"
        start = token.attrs.get("start")
        number = f' start="{int(start)}"' if start is not None else ""
        return f'<{tag} class="heading">' if is_heading else f"<{tag}{number}>"

    def fence(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: Any,
        env: Any,
    ) -> str:
        """Code, below the name of its language."""
        token = tokens[idx]
        name = token.info.strip()
        language = f'<span class="language">{escape(name)}</span>' if name else ""
        return f"{language}<pre>{escape(token.content)}</pre>\n"


@cache
def _parser(*, has_tables: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Inert)
    more = ["strikethrough", *(["table"] if has_tables else [])]
    return parser.enable(more).disable(UNUSED)


def markdown(text: str) -> Markup:
    """Markdown as HTML in which nothing is loaded, run or followed."""
    return Markup(neutral(_parser(has_tables=not _is_ragged(text)).render(text)))


def _is_ragged(text: str) -> bool:
    """Whether a row may have more cells than its table: the parser would drop them."""
    most = -1
    for line in text.split("\n"):
        n_cells = line.strip().strip("|").count("|") + 1
        if DELIMITER.fullmatch(line):
            most = n_cells
        elif not line.strip():
            most = -1
        elif 0 <= most < n_cells:
            return True
    return False


def is_laid_out(text: str) -> bool:
    """Whether a text is columns or a screen rather than prose."""
    return sum(1 for line in text.split("\n") if GAP.search(line)) > MOST_GAPS


def question(text: str | None) -> Markup | None:
    """A question as prose; None if it is long, laid out or not recorded."""
    if not text or len(text) > LONGEST_QUESTION or is_laid_out(text):
        return None
    return markdown(text)


def fields(text: str) -> list[tuple[str, str]]:
    """The fields of a JSON object as texts; any other JSON as one text without a name."""
    value = parsed(text) if text.lstrip()[:1] in ("{", "[") else text
    if not _is_flatter(value, DEEPEST):
        return [("", text)]
    if isinstance(value, dict) and 0 < len(value) <= MOST_FIELDS:
        return [(name, _text(each)) for name, each in value.items()]
    return [("", _text(value))]


def _text(value: Any, indent: str = "") -> str:
    """A string itself; anything else as JSON that breaks only lines that would be long."""
    if isinstance(value, str) and not indent:
        return value
    flat = json_text(value)
    if len(flat) + len(indent) <= WIDTH or not isinstance(value, (dict, list)):
        return flat
    inner = f"{indent}  "
    if isinstance(value, dict):
        lines = [f"{json_text(name)}: {_text(each, inner)}" for name, each in value.items()]
        return f"{{\n{inner}" + f",\n{inner}".join(lines) + f"\n{indent}}}"
    lines = [_text(each, inner) for each in value]
    return f"[\n{inner}" + f",\n{inner}".join(lines) + f"\n{indent}]"


def _is_flatter(value: Any, depth: int) -> bool:
    """Whether a value has fewer levels than this."""
    if not isinstance(value, (dict, list)):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_flatter(each, depth - 1) for each in inner)


def media(addresses: Iterable[str]) -> list[Medium]:
    """Images and sounds that are data: the element that shows each, and what it is in words."""
    media = []
    for address in dict.fromkeys(addresses):
        if MEDIA.fullmatch(address):
            kind, _, form = address[5:].partition(";")[0].partition("/")
            words = f"{kind} ({form}, {max(1, round(len(address) * 0.00075)):,} kB)"
            media.append(("img" if kind == "image" else "audio", address, words))
    return media


def link(path: str, fragment: str = "", **query: Any) -> str:
    """A quoted address: names come from untrusted files."""
    parameters = {
        name.rstrip("_"): str(value) for name, value in query.items() if value not in (None, "")
    }
    text = urlencode(parameters, errors="replace", quote_via=quote)
    return f"{path}{'?' if text else ''}{text}{'#' if fragment else ''}{quote(fragment)}"


def rollout_link(citation: str, seq: int | None = None, **query: Any) -> str:
    """The address of a rollout, at the event that is cited or has this number."""
    cited = parse(f"{citation}#{seq}" if seq else citation)
    fragment = "" if cited is None or cited.seq is None else f"e{cited.seq}"
    return link("/rollout", fragment, at=f"{citation}#{seq}" if seq else citation, **query)


def csv_text(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A CSV file in which no spreadsheet takes a text for a formula."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([_cell(name) for name in names])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: Any) -> Any:
    text = neutral(value) if isinstance(value, str) else value
    is_formula = isinstance(text, str) and text.startswith(("=", "+", "-", "@", "\t"))
    return f"'{text}" if is_formula else text
