"""A report as passages: statements, and neighbours in a paragraph, with what headings say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TypeVar

from pipeline.citation import Citation
from pipeline.package import headings
from pipeline.package.comments import without_comments
from pipeline.package.numbers import QUOTED, Number
from pipeline.package.reading import Block, Reading, Section, Table, read
from pipeline.package.rows import row_text, source
from pipeline.package.scoring.fluency import Flow, flow
from pipeline.package.scoring.polarity import Stance, stance
from pipeline.package.scoring.vocabulary import SPELLED, SPELLED_WORD, sense, words
from pipeline.package.statements import Statement, of_section, of_text

HEADING = re.compile(r"^(?=#{1,5}\s)", re.MULTILINE)
FIRST_LEVEL = re.compile(r"^#\s+\S", re.MULTILINE)
# A report has one title; where it has many, they are its sections.
MAX_TITLES = 2
Value = TypeVar("Value")
# Beyond these a statement is a dump of numbers.
MOST_FIGURES = 300
WIDEST = 3
LONGEST_WINDOW = 120
LONGEST_LEAD = 40
SAME_TEXT = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Figure:
    """A number that a claim states, in digits or spelled."""

    value: float
    decimals: int
    is_signed: bool = False

    def is_like(self, other: Figure) -> bool:
        """Whether both could be prints of one number, the shorter one rounded."""
        left, right = self.value, other.value
        if not (self.is_signed and other.is_signed):
            left, right = abs(left), abs(right)
        decimals = min(self.decimals, other.decimals)
        # Whole numbers are counts: 5 is no print of 4.6 unless that stands there to be rounded.
        half = 0.5 * 10.0**-decimals if self.decimals or other.decimals else 0.0
        return abs(left - right) <= half + 1e-9 * max(1.0, abs(left))


@dataclass(frozen=True)
class Passage:
    """One statement, or a few that follow one another, and where it stands."""

    # Places of its statements in the report; a passage of a fact has none.
    places: tuple[int, ...]
    line: int
    # BLADE's section, its heading as written, and the number of its paragraph or table.
    kind: str | None
    title: str
    block: int
    text: str
    citations: tuple[Citation, ...]
    tasks: tuple[str, ...]
    names: tuple[str, ...]
    quotes: tuple[str, ...]
    figures: tuple[Figure, ...]
    is_row: bool
    # The statements that it joins; none of one statement.
    parts: tuple[Passage, ...] = ()

    @cached_property
    def words(self) -> list[str]:
        """All words in order."""
        if self.parts:
            return [word for part in self.parts for word in part.words]
        return words(self.text)

    @cached_property
    def content(self) -> list[str]:
        """The senses in order, without words that only hold others together."""
        if self.parts:
            return [found for part in self.parts for found in part.content]
        return [found for found in map(sense, self.words) if found]

    @cached_property
    def senses(self) -> frozenset[str]:
        """The senses that are words: no ids, no figures."""
        if self.parts:
            return frozenset(each for part in self.parts for each in part.senses)
        return frozenset(each for each in self.content if each[0].isalpha() and "_" not in each)

    @cached_property
    def stance(self) -> Stance:
        """What it says yes and no to."""
        # What is quoted is said by another.
        return stance(words(QUOTED.sub(" ; ", self.text)) if self.quotes else self.words)

    @cached_property
    def flow(self) -> Flow:
        """How far it reads like a sentence."""
        return flow(self.words)

    @cached_property
    def plain(self) -> str:
        """Lower case with single blanks for all else: names can be looked for in it."""
        return f" {SAME_TEXT.sub(' ', self.text).strip().lower()} "


@dataclass(frozen=True)
class Report:
    """A report as it is scored."""

    reading: Reading
    statements: tuple[Passage, ...]

    # Passages that were asked for, by the place of their first statement.
    asked: dict[int, list[Passage]] = field(default_factory=dict)

    def windows(self, place: int) -> list[Passage]:
        """The statement at a place, and it with those after it in its paragraph."""
        if place not in self.asked:
            self.asked[place] = list(_windows(self.statements, place))
        return self.asked[place]

    @cached_property
    def reach(self) -> list[frozenset[str]]:
        """For each statement the senses of the widest passage that begins with it."""
        found = []
        for place, each in enumerate(self.statements):
            group = self.statements[place : place + (1 if each.is_row else WIDEST)]
            same = [other.senses for other in group if other.block == each.block]
            found.append(frozenset().union(*same))
        return found

    @cached_property
    def kinds(self) -> frozenset[str]:
        """BLADE's sections that it has a heading for."""
        found = (headings.section_of(section) for section in self.reading.sections)
        return frozenset(each for each in found if each)


def report(text: str) -> Report:
    """A report's text as passages; comments are no part of it."""
    return _report(without_comments(text))


# A golden report is asked for again by its own score and by its look-alikes.
@lru_cache(maxsize=2)
def _report(seen: str) -> Report:
    if len(FIRST_LEVEL.findall(seen)) > MAX_TITLES:
        seen = HEADING.sub("#", seen)
    reading = read(seen)
    return Report(reading, tuple(_passages(reading)))


def of_claim(text: str) -> Passage:
    """A sentence that stands alone, such as a fact's."""
    return _passage(of_text(text), 0, None, (), kind=None, block=-1)


def _windows(statements: Sequence[Passage], place: int) -> Iterator[Passage]:
    yield statements[place]
    if statements[place].is_row:
        return
    n_words = len(statements[place].words)
    for width in range(2, WIDEST + 1):
        group = statements[place : place + width]
        if len(group) < width or group[-1].block != group[0].block:
            return
        n_words += len(group[-1].words)
        if n_words > LONGEST_WINDOW:
            return
        yield joined(group)


def joined(group: Sequence[Passage]) -> Passage:
    """Several statements as one."""
    return replace(
        group[0],
        places=tuple(place for each in group for place in each.places),
        text=" ".join(each.text for each in group),
        citations=_all(each.citations for each in group),
        tasks=_all(each.tasks for each in group),
        names=_all(each.names for each in group),
        quotes=_all(each.quotes for each in group),
        figures=tuple(figure for each in group for figure in each.figures),
        parts=tuple(group),
    )


def _passages(reading: Reading) -> Iterator[Passage]:
    place = block = 0
    titles: dict[str, Statement] = {}
    for section in reading.sections:
        if section.title not in titles:
            # Its code spans name things.
            titles[section.title] = of_text(source(section.heading) if section.heading else "")
        # The headings below BLADE's own: "Task `18`: UNDECLARED_TOOL" speaks for what follows.
        told = tuple(titles[title] for title in section.path[1:] if title in titles)
        kind = headings.section_of(section)
        for part in section.parts:
            block += 1
            lead: tuple[Statement, ...] = ()
            for each in _of_part(section, part):
                if not lead and _is_lead(each):
                    lead = (each,)
                yield _passage(each, place, section, told + lead, kind=kind, block=block)
                place += 1


def _is_lead(statement: Statement) -> bool:
    """Whether a paragraph begins like "**Task 19.**": a heading of its own."""
    return bool(statement.tasks) and len(statement.text) <= LONGEST_LEAD and not statement.is_row


def _of_part(section: Section, part: Block | Table) -> Iterator[Statement]:
    if isinstance(part, Block):
        yield from of_section(replace(section, parts=(part,)))
        return
    for row in part.rows:
        yield replace(of_text(row_text(part, row)), section=section, line=row.line, is_row=True)


def _passage(
    statement: Statement,
    place: int,
    section: Section | None,
    told: tuple[Statement, ...],
    *,
    kind: str | None,
    block: int,
) -> Passage:
    return Passage(
        places=(place,),
        line=statement.line,
        kind=kind,
        title=section.path[0] if section and section.path else "",
        block=block,
        text=statement.text,
        citations=statement.citations,
        tasks=_all([statement.tasks, *(each.tasks for each in told)]),
        names=_all([statement.names, *(each.names for each in told)]),
        quotes=statement.quotes,
        figures=_figures(statement.text, statement.numbers),
        is_row=statement.is_row,
    )


def _figures(text: str, numbers: tuple[Number, ...]) -> tuple[Figure, ...]:
    found = [Figure(each.value, each.decimals, each.is_signed) for each in numbers]
    spelled = (SPELLED[match[0].lower()] for match in SPELLED_WORD.finditer(text))
    return (*found, *(Figure(value, 0) for value in spelled))[:MOST_FIGURES]


def _all(groups: Iterable[Sequence[Value]]) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(each for group in groups for each in group))
