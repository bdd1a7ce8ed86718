"""A Markdown report as blocks, each with its figures and with the sources that follow it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import pairwise
from operator import attrgetter

# Limits for one paragraph, item or cell, and for a report: ten times what a person writes.
LONGEST, MOST_LINES = 20_000, 15_000
FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})[ \t]+(?P<title>.*?)[ \t]*#*[ \t]*\Z")
ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
UNDER_HEAD = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")
PIPE = re.compile(r"(?<!\\)\|")
FROM = re.compile(
    r"from\s+(?:\(|[\w.\"]+\s*)(?:where\b|by\b|order\s+by\b|:|\Z|(?<=\())", re.IGNORECASE
)
SQL = re.compile(r"sql:\s*", re.IGNORECASE)
QUOTED = re.compile(r'"[^"]{1,400}"|\u201c[^\u201c\u201d]{1,2000}\u201d')
HIDDEN = re.compile(
    r"<!--.{0,2000}?-->|<[A-Za-z/][^<>\n]{0,300}>|\]\([^()\n]{0,500}\)|https?://\S{1,500}",
    re.DOTALL,
)
MARKUP = re.compile(r"\\(?=[!-/:-@\[-`{-~])|[`*]")
TICKS = re.compile(r"(?<!\\)`+")
# Digits within a name, date, time, version, path or id are no figure.
BEFORE = r"(?<![\w.,:/#@^=&?-])"
AFTER = r"(?![\w@^#=/]|[-:.,]\d|\.\.|-[A-Za-z])"
DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d{1,30})(?:\.\d{1,30})?"
FIGURE = re.compile(
    rf"{BEFORE}(?P<bound>(?:below |under |<\s?))?(?P<sign>[+\u2212-])?(?P<digits>{DIGITS})"
    rf"(?P<unit>\s?%|\s?percent\b|\s?(?:percentage\s)?points?\b|\s?pp\b)?{AFTER}"
    rf"|{BEFORE}(?P<none>n/a)(?!\w)"
)
WHOLE = r"(?:\d{1,3}(?:,\d{3})+|\d{1,15})"
FRACTION = re.compile(rf"{BEFORE}(?P<part>{WHOLE})/(?P<whole>{WHOLE}){AFTER}")
CONVENTION = re.compile(r"[ -](?:confidence|credible|intervals?|CIs?|power)\b")
# "task 10" names a row and counts nothing; so do the others of "tasks 4, 7 and 9".
NAMING = re.compile(
    r"\b(?:tasks?|rollout|attempt|run|event|repeat|stage|step|lines?|section|index|seed|k =)\s+\Z",
    re.IGNORECASE,
)
# "pass@1 (%)" heads rates; "95% CI" does not say what is below it.
PERCENT_HEAD = re.compile(r"(?<!\d)%|\bpercent\b", re.IGNORECASE)
NUMBER = "number"
ALSO = re.compile(r"(?:,|,? and|,? or|,? to)\s+")
PART_OF = re.compile(r"\s+(?:out )?of\s+(?:the |all )?\d")
RANGE = re.compile(r"\s*(?:to|\u2013|\u2014)\s*")


@dataclass(frozen=True)
class Token:
    """A figure as it is printed; `value` is none for n/a.

    `unit` is "%", "points", a plain number, or empty where it may be any of them.
    """

    start: int
    end: int
    line: int
    text: str
    value: float | None
    decimals: int = 0
    unit: str = ""
    is_signed: bool = False
    is_bound: bool = False

    def agrees(self, value: float | None) -> bool:
        """Whether a value would be printed like this."""
        if value is None or self.value is None:
            return value is None and self.value is None
        if self.is_bound:
            return value < self.value
        scales = (
            self._scales if isinstance(value, float) and abs(value) <= 1 else (1, *self._scales)
        )
        return any(self._is_close(scale * value) for scale in scales)

    def like(self, value: float | None) -> str:
        """A value as it would be printed here."""
        if value is None:
            return "n/a"
        if self.value is None:
            return _plain(value)
        if self.is_bound and value < self.value:
            return self.text
        scale = self._scales[0]
        if isinstance(value, int):
            scale = 1
        elif len(self._scales) > 1 and (abs(value) > 1 or self.unit != "points"):
            scale = min(self._scales, key=lambda each: _ratio(each * value, self.value or 0.0))
        match = FIGURE.search(self.text)
        assert match is not None
        digits = self._digits(scale * value, match["digits"])
        is_below = value < 0 and bool(digits.strip("0.,"))
        if match["sign"]:
            plus = "+" if match["sign"] == "+" else ""
            sign = match["sign"].replace("+", "-") if is_below else plus
        else:
            sign = "-" if is_below else ""
        return sign + digits + (match["unit"] or "")

    @property
    def shape(self) -> tuple[str, bool, bool]:
        """The kind of a figure: its unit, whether it is whole, and whether it is n/a."""
        return ("%" if self.unit == "%" else "", bool(self.decimals), self.value is None)

    @property
    def printed(self) -> tuple[float | None, int, bool, bool]:
        """Equal for two figures that are printed alike; points need no unit."""
        return (self.value, self.decimals, self.unit == "%", self.is_bound)

    @property
    def _scales(self) -> tuple[int, ...]:
        """The factors between a value and its print; differences are stored as rates or as points.

        Points that neither say that they are nor have a sign are not printed to three digits.
        """
        if self.unit == "%":
            return (100,)
        if self.unit == NUMBER:
            return (1,)
        is_difference = self.unit == "points" or self.is_signed or 0 < self.decimals < 3
        return (100, 1) if is_difference else (1,)

    def _is_close(self, scaled: float) -> bool:
        assert self.value is not None
        # A rate is not printed as a whole number, and 5.2 not as 5.
        if (
            not (self.unit or self.decimals)
            and abs(scaled) < 10
            and abs(scaled - round(scaled)) > 5e-5
        ):
            return False
        # A value on the half may have been rounded either way.
        half = 0.5 * 10.0**-self.decimals
        return abs(scaled - self.value) <= half + 1e-9 * max(1.0, abs(scaled))

    def _digits(self, scaled: float, digits: str) -> str:
        scaled, decimals = abs(scaled), self.decimals
        if not decimals and not self.unit and scaled != round(scaled) and scaled < 10:
            return _plain(scaled)
        # A number that is not 0 is not printed as 0, however few digits were there.
        if self.unit == NUMBER and scaled and not round(scaled, decimals):
            return _plain(scaled)
        # Differences are rounded as ledgers are, and never to no side.
        shown = _rounded(scaled, decimals) if self.is_signed else scaled
        while self.is_signed and not shown and decimals < 3 and _rounded(scaled, 3):
            decimals += 1
            shown = _rounded(scaled, decimals)
        comma = "," if "," in digits or len(digits.partition(".")[0]) < 4 else ""
        printed = f"{shown:{comma}.{decimals}f}"
        return printed.rstrip("0").rstrip(".") if self.is_bound else printed


@dataclass(frozen=True)
class Comment:
    """A comment that says where the texts of a block come from, between its marks."""

    line: int
    start: int
    text: str


@dataclass(frozen=True, eq=False)
class Span:
    """A stretch of the text that is read by itself: a paragraph, an item or a cell."""

    start: int
    end: int
    text: str
    # The head of its column, where it is a cell.
    head: str = ""


@dataclass(frozen=True, eq=False)
class Block:
    """A heading, paragraph, item or table: its rows of spans, and the sources that follow it."""

    kind: str
    line: int
    rows: tuple[tuple[Span, ...], ...]
    # The headings above it, the nearest last.
    path: tuple[str, ...]
    heads: tuple[str, ...] = ()
    # 1 to 6 for a heading.
    level: int = 0
    sources: list[Comment] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)

    @property
    def spans(self) -> Iterator[Span]:
        return (span for row in self.rows for span in row)

    def tokens_within(self, start: int, end: int) -> list[Token]:
        first, last = (bisect_left(self.tokens, at, key=attrgetter("start")) for at in (start, end))
        return self.tokens[first:last]


@dataclass(frozen=True, eq=False)
class Report:
    """A Markdown text as blocks; fenced code, quoted blocks and comments are none."""

    text: str
    blocks: Sequence[Block]
    # Sources without a block before them.
    orphans: Sequence[Comment]
    # Line and number of characters of what is too long and was left out.
    unread: Sequence[tuple[int, int]]
    # Where each line begins.
    starts: Sequence[int]
    # The runs behind its aliases, if the data are known.
    full_names: Mapping[str, str] = field(default_factory=dict)

    def line_at(self, offset: int) -> int:
        return bisect_right(self.starts, offset)


def read(text: str) -> Report:
    """Any text as blocks with their figures and sources."""
    return _Reader(text).report()


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with each (start, end) replaced by a new text."""
    pieces, last = [], 0
    for start, end, new in sorted(edits):
        pieces += [text[last:start], new]
        last = end
    return "".join([*pieces, text[last:]])


def plain(text: str) -> str:
    """A line of Markdown as readers see it: without escapes, backquotes and stars."""
    return " ".join(unescape(MARKUP.sub("", text)).split())


def heads_of(block: Block) -> list[str]:
    """The heads of a table's columns; two equal ones are empty, since either may be meant."""
    heads = [plain(head) for head in block.heads]
    return [head if heads.count(head) == 1 else "" for head in heads]


def masked(text: str) -> str:
    """A text with blots for what claims nothing: code, quotes, comments, tags and addresses."""
    seen = edited(text, ((start, end, "\x01" * (end - start)) for start, end in code_spans(text)))
    for pattern in (HIDDEN, QUOTED):
        seen = pattern.sub(lambda match: "\x01" * len(match[0]), seen)
    return seen


def code_spans(text: str) -> list[Place]:
    """The places of code between backquotes, these included."""
    runs = [match.span() for match in TICKS.finditer(text)]
    later: dict[int, list[int]] = {}
    for place, (start, end) in enumerate(runs):
        later.setdefault(end - start, []).append(place)
    spans, place = [], 0
    while place < len(runs):
        start, end = runs[place]
        same = later[end - start]
        closing = bisect_right(same, place)
        if closing < len(same):
            spans.append((start, runs[same[closing]][1]))
            place = same[closing]
        place += 1
    return spans


# A place by its start and its end; and the cells of rows.
Place = tuple[int, int]
Rows = Sequence[Sequence[Place]]


class _Reader:
    """Reads lines into blocks from the top; `last` is the block that a source would belong to."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.ends = [*(start - 1 for start in self.starts[1:]), len(text)]
        self.n_lines = min(len(self.starts), MOST_LINES)
        self.blocks: list[Block] = []
        self.orphans: list[Comment] = []
        self.unread: list[tuple[int, int]] = []
        self.path: tuple[str, ...] = ()
        self.last: Block | None = None

    def report(self) -> Report:
        at, was_blank = 0, True
        while at < self.n_lines:
            line = self.line(at)
            after = at + 1
            if not line.strip():
                was_blank = True
                at = after
                continue
            if fence := FENCE.match(line):
                after, self.last = self.fence_end(at, fence["fence"]), None
            elif comments := self.comments(at):
                after, sources = comments
                (self.orphans if self.last is None else self.last.sources).extend(sources)
            elif heading := HEADING.match(line):
                self.heading(at, heading)
            elif RULE.match(line):
                self.last = None
            elif line.lstrip().startswith(">") or (was_blank and line.startswith(("    ", "\t"))):
                after, self.last = self.lines_from(at), None
            elif self.is_table(at):
                after = self.table(at)
            else:
                # The comments of an item are read as any others.
                after, item = self.lines_from(at), ITEM.match(line)
                start = self.starts[at] + (item.end() if item else 0)
                self.add("item" if item else "paragraph", at, [[(start, self.ends[after - 1])]])
            at, was_blank = after, False
        if self.n_lines < len(self.starts) and self.text[self.starts[self.n_lines] :].strip():
            self.unread.append((self.n_lines + 1, len(self.text) - self.starts[self.n_lines]))
        return Report(self.text, self.blocks, self.orphans, self.unread, self.starts)

    def line(self, at: int) -> str:
        return self.text[self.starts[at] : self.ends[at]].rstrip("\r").lstrip("\ufeff")

    def fence_end(self, at: int, fence: str) -> int:
        """The place after the line that closes a fence."""
        for place in range(at + 1, self.n_lines):
            line = self.line(place).strip()
            if line.startswith(fence) and not line.strip(fence[0]):
                return place + 1
        return self.n_lines

    def comments(self, at: int) -> tuple[int, list[Comment]] | None:
        """The place after comments that are alone on their lines, and the sources among them.

        A comment that is never closed reaches to the end.
        """
        if not self.line(at).lstrip().startswith("<!--"):
            return None
        sources: list[Comment] = []
        place, last = self.text.index("<!--", self.starts[at]), at
        # Not a pattern: with comments that are never closed it would start again at each.
        while self.text.startswith("<!--", place):
            if (end := self.text.find("-->", place)) < 0:
                return self.n_lines, sources
            content = self.text[place + 4 : end]
            if FROM.match(content.strip()) or SQL.match(content.strip()):
                start = place + 4 + len(content) - len(content.lstrip())
                line = bisect_right(self.starts, place)
                sources.append(Comment(line, start, content.strip()))
            last = bisect_right(self.starts, end) - 1
            place = self.ends[last] - len(self.text[end + 3 : self.ends[last]].lstrip())
        return None if place < self.ends[last] else (last + 1, sources)

    def heading(self, at: int, match: re.Match[str]) -> None:
        level = len(match["marks"])
        self.add(
            "heading", at, [[(self.starts[at] + match.start("title"), self.ends[at])]], level=level
        )
        self.path = (*self.path[: level - 2], match["title"]) if level > 1 else ()
        self.last = None

    def lines_from(self, at: int) -> int:
        """The place after the last line of a paragraph or an item."""
        for place in range(at + 1, self.n_lines):
            if self.ends_block(place) or ITEM.match(self.line(place)) or self.is_table(place):
                return place
        return self.n_lines

    def ends_block(self, at: int) -> bool:
        line = self.line(at)
        return (
            not line.strip()
            or bool(FENCE.match(line) or HEADING.match(line))
            or self.comments(at) is not None
        )

    def is_table(self, at: int) -> bool:
        return (
            at + 1 < self.n_lines
            and "|" in self.line(at)
            and UNDER_HEAD.match(self.line(at + 1)) is not None
        )

    def table(self, at: int) -> int:
        heads = [self.text[start:end].strip() for start, end in self.cells(at)]
        end = at + 2
        while end < self.n_lines and not self.ends_block(end):
            end += 1
        self.add("table", at, [self.cells(row) for row in range(at + 2, end)], heads)
        return end

    def cells(self, at: int) -> list[Place]:
        line = self.line(at)
        start, end = self.starts[at], self.starts[at] + len(line.rstrip())
        pipes = [start + match.start() for match in PIPE.finditer(line)]
        bounds = [start - 1, *pipes, end]
        cells = [(start_pipe + 1, end_pipe) for start_pipe, end_pipe in pairwise(bounds)]
        if pipes and not self.text[start : pipes[0]].strip():
            cells = cells[1:]
        return cells[:-1] if pipes and pipes[-1] == end - 1 else cells

    def add(
        self, kind: str, at: int, rows: Rows, heads: Sequence[str] = (), *, level: int = 0
    ) -> None:
        spans = tuple(
            tuple(
                Span(start, end, self.text[start:end], heads[place] if place < len(heads) else "")
                for place, (start, end) in enumerate(row)
                if self.is_short(start, end)
            )
            for row in rows
        )
        self.last = block = Block(kind, at + 1, spans, self.path, tuple(heads), level)
        self.blocks.append(block)
        if kind != "heading":
            block.tokens.extend(token for span in block.spans for token in self.tokens(span))

    def is_short(self, start: int, end: int) -> bool:
        if end - start > LONGEST:
            self.unread.append((bisect_right(self.starts, start), end - start))
        return end - start <= LONGEST

    def tokens(self, span: Span) -> Iterator[Token]:
        """The figures of a span in order."""
        seen = masked(span.text)
        tokens = figures(seen)
        name_end = -1
        for place, each in enumerate(tokens):
            before = seen[max(0, each.start - 30) : each.start]
            is_plain = not (each.unit or each.is_signed or each.decimals or each.value is None)
            is_also = name_end >= 0 and ALSO.fullmatch(seen, name_end, each.start)
            is_part = PART_OF.match(seen, each.end)
            if is_plain and not is_part and (NAMING.search(before) or is_also):
                name_end = each.end
                continue
            name_end = -1
            yield replace(
                each,
                start=span.start + each.start,
                end=span.start + each.end,
                line=bisect_right(self.starts, span.start + each.start),
                unit=_unit(seen, each, tokens[place + 1 : place + 2], span.head),
            )


def figures(text: str) -> list[Token]:
    """The figures of a text, in order; their lines and inherited units come later."""
    tokens = [
        Token(*match.span(name), 0, match[name], float(match[name].replace(",", "")))
        for match in FRACTION.finditer(text)
        for name in ("part", "whole")
    ]
    for match in FIGURE.finditer(text):
        if match["none"]:
            tokens.append(Token(*match.span(), 0, match[0], None))
        elif not CONVENTION.match(text, match.end()) and not re.match(r"0\d", match["digits"]):
            bound, sign, unit = (match[name] or "" for name in ("bound", "sign", "unit"))
            start = match.start("bound" if bound else "sign" if sign else "digits")
            digits = match["digits"].replace(",", "")
            token = Token(
                start,
                match.end(),
                0,
                text[start : match.end()],
                float(digits) * (-1 if sign in ("-", "\u2212") else 1),
                len(digits.partition(".")[2]),
                {"": "", "%": "%", "percent": "%"}.get(unit.strip(), "points"),
                bool(sign),
                bool(bound),
            )
            tokens.append(token)
    return sorted(tokens, key=attrgetter("start"))


def _unit(seen: str, each: Token, following: Sequence[Token], head: str) -> str:
    """The unit of a figure, else of the other end of its range, else of its column."""
    if each.unit or each.value is None:
        return each.unit
    if following and RANGE.fullmatch(seen, each.end, following[0].start) and following[0].unit:
        return following[0].unit
    if re.search(r"\bpoints\b", head, re.IGNORECASE):
        return "points"
    return "%" if PERCENT_HEAD.search(head) else ""


def _ratio(one: float, other: float) -> float:
    """The larger of two numbers divided by the smaller, without signs."""
    low, high = sorted((abs(one), abs(other)))
    return high / max(low, 1e-9)


def _rounded(value: float, decimals: int) -> float:
    return round(10.0**decimals * value) / 10.0**decimals


def _plain(value: float) -> str:
    """A value with no example of its format: whole, or with four digits and no trailing zeros."""
    if isinstance(value, int) or value == round(value):
        return f"{value:,.0f}"
    return f"{value:,.4f}".rstrip("0").rstrip(".")
