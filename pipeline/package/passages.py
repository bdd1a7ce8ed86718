"""A report as headings, paragraphs, items and rows: what each cites, quotes and is about."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from .. import citation
from ..citation import Citation
from ..report.wording import CAUSES
from .blocks import QUOTED, Block, Report, Span, code_spans, masked, plain

# A citation outside of code. Paths, addresses, and dates with a time have the same shape.
BARE = re.compile(
    r"(?<![\w/.`-])[\w.-]{1,100}/[^\s/|()\[\]\"'`,;]{1,200}:\d{1,9}(?:#\d{1,9})?(?![\w/:`])"
)
NO_RUN = re.compile(r"[\s:\"'{}()<>=|\\]")
NO_CITATION = re.compile(r"\.[A-Za-z]{1,5}\Z|(?<!\d)\d{1,2}/\d{1,2}/\d{2,4}(?!\d)")
# "fail:" labels a citation at the start of a clause; in "1 of 28 passes:" it ends a sentence.
LABEL = re.compile(
    r"(?:\A|[\n;,.(])[\s*_]*(?P<word>pass|fail)(?:ed|es|s|ing|ures?)?:[*_]*\s+\Z", re.IGNORECASE
)
CAUSE = re.compile(r"\bcauses?:\s*", re.IGNORECASE)
CAUSE_NAME = re.compile(rf"\b(?:{'|'.join(CAUSES)})\b")
TASK_TITLE = re.compile(
    r"\s*tasks?:?\s+(?P<name>`[^`]+`|[^\s:,]+)(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
TASKS = re.compile(
    r"\btasks?:?\s+(?P<names>`[^`]+`|[\w.-]+(?:(?:,|,? and|,? or|,? to)\s+`?[\w.-]+`?)*)", re.I
)
# Heads of columns with a task per cell, and with several.
TASK_HEADS = frozenset(("task", "task id", "task_id", "instance", "instance id", "instance_id"))
LIST_HEAD = re.compile(r"\btasks\b|\bwhich\b")
PASSING = re.compile(r"(?P<part>\d+) of (?P<whole>\d+) (?:scored )?(?:attempts?|rollouts?) pass")
BRACKET = re.compile(
    r"[.,]?\s(?:in (?:\d+ of \d+|all|both|each)(?: \w+)? )?\((?P<cites>[^()]{1,2000})\)"
)


@dataclass(frozen=True, eq=False)
class Passage:
    """A heading, a paragraph, an item or a row of a table."""

    report: Report
    block: Block
    spans: tuple[Span, ...]

    @property
    def line(self) -> int:
        return self.report.line_at(self.spans[0].start)

    @cached_property
    def codes(self) -> list[tuple[int, int, str]]:
        """What is between backquotes, with its place."""
        codes = []
        for span in self.spans:
            for start, end in code_spans(span.text):
                code = span.text[start:end].strip("`")
                # In a table a pipe is escaped, in code too.
                code = code.replace("\\|", "|") if self.block.kind == "table" else code
                codes.append((span.start + start, span.start + end, code.strip() or code))
        return codes

    @cached_property
    def cites(self) -> list[tuple[int, int, Citation]]:
        """Its citations in order, with their places."""
        places = [(start, end, cited(code)) for start, end, code in self.codes]
        for span in self.spans:
            for match in BARE.finditer(masked(span.text)):
                start, end = span.start + match.start(), span.start + match.end()
                places.append((start, end, cited(match[0])))
        full = self.report.full_names
        return sorted(
            (
                (start, end, replace(each, run_id=full.get(each.run_id, each.run_id)))
                for start, end, each in places
                if each
            ),
            key=lambda each: each[0],
        )

    @property
    def cited(self) -> tuple[str, ...]:
        """The same as texts, each once."""
        return tuple(dict.fromkeys(str(each) for *_, each in self.cites))

    @property
    def text(self) -> str:
        return self.report.text[self.spans[0].start : self.spans[-1].end]

    @cached_property
    def plain(self) -> str:
        """The text that a reader sees; cells are separated."""
        return " | ".join(plain(span.text) for span in self.spans)

    @cached_property
    def quotes(self) -> list[tuple[int, int, str]]:
        """Words in quotation marks: the places of these, and what is between them."""
        quotes = []
        for span in self.spans:
            text = seen = span.text
            # A quotation mark within code is none.
            for start, end in code_spans(text):
                seen = seen[:start] + seen[start:end].replace('"', "\x01") + seen[end:]
            for match in QUOTED.finditer(seen):
                start, end = match.span()
                words = html.unescape(plain(text[start + 1 : end - 1]))
                quotes.append((span.start + start, span.start + end, words))
        return quotes

    def cells(self, *heads: str) -> Iterator[str]:
        """The cells below these heads, as a reader sees them."""
        for span in self.spans:
            if plain(span.head).casefold() in heads:
                yield plain(span.text)

    @cached_property
    def row_tasks(self) -> frozenset[str]:
        """The tasks that a row is about: below a head that says so, else in its first cell.

        A task named elsewhere in the row is an example.
        """
        tasks: set[str] = set()
        for span in self.spans:
            head, cell = plain(span.head).casefold(), plain(span.text)
            if head in TASK_HEADS and cell:
                tasks |= {cell, cell.split()[0]}
            elif LIST_HEAD.search(head):
                # A number alone is a count.
                is_list = re.search(r"\d,? (?:and )?\w", cell)
                words = re.findall(r"[\w.-]*\w", cell) if is_list else []
                tasks |= tasks_in(cell) or set(words)
        return frozenset(tasks or tasks_in(self.spans[0].text))

    def label_before(self, start: int) -> re.Match[str] | None:
        """The word that labels a citation as a pass or a failure."""
        span = self.span_at(start)
        return LABEL.search(span.text, 0, start - span.start)

    def span_at(self, place: int) -> Span:
        return next(span for span in self.spans if span.start <= place < span.end)

    def title_task(self) -> tuple[str, str] | None:
        """The one task that the nearest heading names, and the rest of that heading."""
        titles = self.block.path[::-1] if self.block.kind != "heading" else (self.text,)
        for title in titles:
            if (match := TASK_TITLE.match(title)) and not title.lower().startswith("tasks"):
                return match["name"].strip("`"), match["rest"]
        return None


def tasks_in(text: str) -> set[str]:
    """Tasks behind the word: `task 9`, `tasks 6 and 20`."""
    tasks: set[str] = set()
    for match in TASKS.finditer(text):
        names = re.split(r",?\s+(?:and|or|to)\s+|,\s*", match["names"])
        tasks |= {name.strip("`.: ") for name in names}
    return {name for name in tasks if name}


def passages(report: Report) -> list[Passage]:
    """The passages of a report in order; each row of a table is one."""
    return [Passage(report, block, row) for block in report.blocks for row in block.rows if row]


def cited(text: str) -> Citation | None:
    """The citation that a text is."""
    each = citation.parse(text)
    if each is None or NO_RUN.search(each.run_id) or NO_CITATION.search(each.task_id):
        return None
    return None if NO_CITATION.search(str(each)) else each
