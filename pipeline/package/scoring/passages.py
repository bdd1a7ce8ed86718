"""A report as passages: each paragraph, item and row with all that it names, counts and says."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from pipeline.package.blocks import Block, Span, Token, masked, read
from pipeline.package.verify.units import Unit, head, sentences, visible

TOLD = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
PATTERNS = {name: re.compile(told, re.IGNORECASE) for name, told in TOLD["patterns"].items()}
WORDS = {
    name: frozenset(told.split()) for name, told in TOLD["words"].items() if isinstance(told, str)
}
LABELS = ("KG", "UK", "BI", "TI", "IR", "DA")
LABEL = re.compile(rf"\b(?:{'|'.join(LABELS)})\b|(?i:{'|'.join(TOLD['labels'])})")
A_NAME = re.compile(TOLD["forms"]["a_task"])
TASKS_NAMED = re.compile(
    TOLD["forms"]["tasks"].replace("A_TASK", TOLD["forms"]["a_task"]), re.IGNORECASE
)
TASK_HEAD, NAME, A_WORD = (
    re.compile(TOLD["forms"][each]) for each in ("task_head", "name", "word")
)
SPELLED = {name: n for n, name in enumerate(TOLD["words"]["numbers"].split())} | TOLD["also"]
# Words that hold others together, and what never follows an article, nor a preposition.
JOINTS = ("articles", "prepositions", "verbs", "conjunctions", "negations", "small")
FUNCTION = frozenset(word for name in JOINTS for word in WORDS[name])
ENDS = WORDS["verbs"] | WORDS["conjunctions"] | frozenset(".;:|")
BROKEN = {
    **dict.fromkeys(WORDS["articles"], WORDS["articles"] | WORDS["prepositions"] | ENDS),
    **dict.fromkeys(WORDS["prepositions"], ENDS),
}
# Of prose a quarter at least are function words, half of its words come later in the alphabet than
# those before them, and of a hundred words one cannot stand where it does; of shuffled words four.
LEAST_FUNCTION, MOST_RISING, MOST_BROKEN, FEWEST_WORDS = 0.15, 0.65, 0.02, 12
STEM = 5

Key = tuple[str, str, int]


@dataclass(frozen=True, eq=False)
class Passage:
    """What can state a fact: a paragraph, an item, a row; or a sentence of one."""

    unit: Unit
    # The line that its claim begins on: a table is one claim, an item another.
    claim: int
    # Tasks that the headings above it name.
    above: frozenset[str] = frozenset()

    @cached_property
    def seen(self) -> str:
        """Its text as a reader sees it, but for backquotes; cells stand apart."""
        return " | ".join(visible(self.unit.raw(span)).strip() for span in self.unit.spans)

    @cached_property
    def rollouts(self) -> frozenset[Key]:
        """The rollouts that it cites."""
        return frozenset(each.rollout for each in self.unit.cited)

    @cached_property
    def own_tasks(self) -> frozenset[str]:
        """The tasks that it names or cites itself."""
        named = {each.task_id for each in self.unit.cited} | {task for _, task in self.unit.tasks}
        for span in self.unit.spans:
            text = visible(self.unit.raw(span)).strip(" *`")
            if self.unit.is_row and TASK_HEAD.fullmatch(head(span)):
                named |= {each.strip(" `") for each in text.split(",")}
            named |= tasks_in(self.unit.raw(span))
        return frozenset(named)

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks that it is about: its own, else those of its heading."""
        return self.own_tasks or self.above

    @cached_property
    def names(self) -> frozenset[str]:
        """Names in code or written as code: tools, modes, fields, runs; no citation is one."""
        cited = {str(each) for each in self.unit.cited}
        codes = {told for *_, told in self.unit.codes if told not in cited}
        return frozenset(codes | set(NAME.findall(self.plain)))

    @cached_property
    def masked(self) -> str:
        """Its text with blots for code and quotes."""
        return " | ".join(masked(self.unit.report.text, span) for span in self.unit.spans)

    @property
    def plain(self) -> str:
        """Its words without code and quotes."""
        return self.masked.replace("\x01", " ")

    @cached_property
    def figures(self) -> list[Token]:
        """Its numbers, in digits or spelled, in no order."""
        sure = SPELLED.keys() - WORDS["unsure"]
        return self.unit.tokens + [_spelled(word) for word in self.words if word in sure]

    @cached_property
    def all_figures(self) -> list[Token]:
        """Its numbers with the words that may be one."""
        unsure = [_spelled(word) for word in self.words if word in WORDS["unsure"]]
        return self.figures + unsure

    @cached_property
    def labels(self) -> tuple[frozenset[str], frozenset[str]]:
        """Root causes that it affirms, and those that it denies."""
        yes: set[str] = set()
        no: set[str] = set()
        for match in LABEL.finditer(self.seen):
            label = TOLD["labels"].get(match[0].lower(), match[0])
            (no if is_denied(self.seen, *match.span()) else yes).add(label)
        return frozenset(yes), frozenset(no - yes)

    @cached_property
    def outcomes(self) -> frozenset[bool]:
        """Whether something passes or fails in it: what does not pass fails."""
        return frozenset(
            (match["good"] is not None) != is_denied(self.plain, *match.span())
            for match in PATTERNS["outcome"].finditer(self.plain)
        )

    @cached_property
    def words(self) -> list[str]:
        """Its words in order, small letters, with numbers, blots and marks between them."""
        return [each.lower() for each in A_WORD.findall(self.masked)]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The beginnings of its words that say something, of its names and its columns' heads."""
        return stems(" ".join((self.seen, *(span.head for span in self.unit.spans))))

    @cached_property
    def said(self) -> frozenset[str]:
        """The same of its own words alone, without names and quotes."""
        return stems(NAME.sub(" ", self.plain))

    @cached_property
    def n_negations(self) -> int:
        """How often it says no."""
        endings = ("n't", "n\u2019t")
        return sum(word in WORDS["negations"] or word.endswith(endings) for word in self.words)

    @cached_property
    def reads(self) -> bool:
        """Whether its words stand in sentences; of what is short or a row nobody can tell."""
        words = [word for word in self.words if word[0].isalpha()]
        if self.unit.is_row or len(words) < FEWEST_WORDS:
            return True
        n_function = sum(word in FUNCTION for word in words)
        n_rising = sum(one <= other for one, other in pairwise(words))
        return n_function >= LEAST_FUNCTION * len(words) and n_rising <= MOST_RISING * len(words)

    @cached_property
    def sentences(self) -> list[Passage]:
        """Its sentences; a row is one."""
        if self.unit.is_row:
            return [self]
        cut = sentences(self.unit.report, self.unit.spans)
        return [Passage(Unit(self.unit.report, self.unit.block, part), self.claim) for part in cut]

    @property
    def explained(self) -> frozenset[str]:
        """The tasks whose cause it gives: those of a row, of its heading, or its only one."""
        if not self.labels[0]:
            return frozenset()
        tasks = self.own_tasks if self.unit.is_row else self.above or self.own_tasks
        return tasks if self.unit.is_row or len(tasks) == 1 else frozenset()

    def quotes(self, quote: str) -> bool:
        """Whether it has these words, whatever their case and the marks around them."""
        return _flat(quote) in _flat(self.seen)


@dataclass(frozen=True, eq=False)
class Text:
    """A report as passages."""

    passages: tuple[Passage, ...]

    @cached_property
    def sentences(self) -> list[Passage]:
        """The sentences and rows that are compared with another report's."""
        return [sentence for each in self.passages for sentence in each.sentences]

    @property
    def is_prose(self) -> bool:
        """Whether its words stand in an order that sentences have."""
        told = [word for each in self.passages if not each.unit.is_row for word in each.words]
        n_broken = sum(right in BROKEN.get(left, ()) for left, right in pairwise(told))
        return n_broken <= max(1.0, MOST_BROKEN * len(told))

    @cached_property
    def causes(self) -> dict[str, set[str]]:
        """All causes that it gives, by task."""
        found: dict[str, set[str]] = {}
        for each in self.passages:
            for task in each.explained:
                found.setdefault(task, set()).update(each.labels[0])
        return found

    def claim_at(self, line: int) -> int | None:
        """The claim that a line belongs to."""
        claims = [each.claim for each in self.passages]
        place = bisect_right(claims, line)
        return claims[place - 1] if place else None


def passages(text: str) -> Text:
    """A Markdown text as passages."""
    report = read(text)
    found: list[Passage] = []
    for block in report.blocks:
        if block.kind == "heading":
            continue
        above = frozenset(task for title in block.path for task in tasks_in(title))
        for row in filter(None, block.rows):
            claim = block.line if block.kind == "table" else report.line_at(row[0].start)
            found.append(Passage(Unit(report, block, row), claim, above))
    return Text(tuple(found))


def of_text(text: str) -> Passage:
    """One sentence or two as a passage, whatever its first characters are."""
    report = read(" ".join(text.split()))
    span = Span(0, len(report.text))
    block = Block("paragraph", 1, ((span,),), ())
    block.tokens.extend(token for each in report.blocks for token in each.tokens)
    return Passage(Unit(report, block, (span,)), 0)


def tasks_in(text: str) -> set[str]:
    """The tasks that a text names behind the word."""
    found: set[str] = set()
    for match in TASKS_NAMED.finditer(text):
        found |= {each.strip("`").rstrip("-") for each in A_NAME.findall(match["names"])}
    return found


def stems(text: str) -> frozenset[str]:
    """The beginnings of all words that say something: inflection and most derivation aside."""
    words = (word.lower() for word in re.findall(r"[^\W\d_]{3,}", text))
    return frozenset(word[:STEM] for word in words if word not in FUNCTION)


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether the words around a place of a text deny what stands there."""
    sentence = max(text.rfind(mark, 0, start) for mark in (". ", "; ", "| ", ", ", ": ")) + 1
    before = text[max(sentence, start - 60) : start]
    return bool(
        PATTERNS["denied_before"].search(before) or PATTERNS["denied_behind"].match(text, end)
    )


def _spelled(word: str) -> Token:
    return Token(0, 0, 0, word, float(SPELLED[word]))


def values(figures: Iterable[Token]) -> Counter[float]:
    """Numbers by value, percentages as they are printed."""
    return Counter(round(each.value, 4) for each in figures if each.value is not None)


def _flat(text: str) -> str:
    told = re.sub(r"[`*_\\]", "", text.replace("\u2019", "'"))
    return " ".join(re.sub(r"[\"\u201c\u201d]", "", told).lower().split())
