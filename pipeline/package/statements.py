"""What a report states, sentence by sentence and row by row: figures, what it cites, yes or no."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline import citation
from pipeline.citation import Citation
from pipeline.package.numbers import QUOTED, Number, numbers
from pipeline.package.reading import Block, Reading, Section, Table, is_within

# A citation that stands in plain text: no blank, a run that looks like one, and no backquote, which
# a reader sees only where it is part of a name.
BARE_CITATION = re.compile(r"(?<![\w/.`-])[\w.-]+/[^\s/|()\[\]\"'`,;]+:\d+(?:#\d+)?(?![\w/:`])")
# Only "tasks" goes on with more of them, and not with a figure: "task 4, 50.0% to 0.0%".
TASK_NAMED = re.compile(
    r"\b(?:(?P<many>tasks)|task)\s+(?!\d+\.\d)(?P<first>(?=[\w.-]*\d)\w[\w.-]*+)(?![/%]|\s%)"
    r"(?P<rest>(?(many)(?:(?:,| and|, and| or)\s+\d[\w-]*\b(?!\.\d|\s?%|/|\s(?:out )?of\b))*))",
    re.IGNORECASE,
)
TASK_BEFORE = re.compile(r"\btasks?\s+$", re.IGNORECASE)
ALSO_NAMED = re.compile(r"(?:,|,? and|,? or)\s+")
# MODE_NAMES and the labels of causes.
CAPITALS = re.compile(r"\b(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{5,}|KG|UK|BI|TI|IR|DA)\b")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)|\n\s*\n")
SENTENCE_START = re.compile(r"[A-Z0-9\"'(\u201c`]|$")
ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|vs|cf|no|approx|etc|resp)\.$", re.IGNORECASE)
LOOK_BACK = 12
LONGEST_QUOTE = 400
WORD = re.compile(r"[A-Za-z][A-Za-z'-]{2,}")
STOP_WORDS = frozenset(
    "the and for are was were has have had that this these those with from into onto over under "
    "than then they them their its his her but our your you all any each every some such same "
    "other more most less least very also only just both either which who whom whose what when "
    "where why how will would can could may might must should shall been being does did done one "
    "two three four per via out off not about after before while because since there here".split()
)


@dataclass(frozen=True)
class Statement:
    """A sentence, a list item or a row of a table, with what it is about."""

    section: Section
    line: int
    text: str
    numbers: tuple[Number, ...]
    citations: tuple[Citation, ...]
    # Tasks by name, those of citations included.
    tasks: tuple[str, ...]
    # Code spans that are no citation, and words in capitals: tools, modes, fields, causes.
    names: tuple[str, ...]
    quotes: tuple[str, ...]
    is_row: bool

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems of the words that carry meaning."""
        return stems(self.text)


def statements(reading: Reading) -> list[Statement]:
    """All statements of a report in order, without headings and fences."""
    return [each for section in reading.sections for each in of_section(section)]


def of_section(section: Section) -> Iterator[Statement]:
    """The statements below one heading."""
    for part in section.parts:
        if isinstance(part, Table):
            for row in part.rows:
                yield _statement(section, row.line, row.cells, is_row=True)
        elif part.kind != "fence":
            yield from _of_block(section, part)


def of_text(text: str) -> Statement:
    """A sentence on its own, such as a fact."""
    block = Block("paragraph", 1, *_without_backquotes(text))
    section = Section("", 0, 1, (), (block,))
    return _statement(section, 1, [block], is_row=False)


def stems(text: str) -> frozenset[str]:
    """Words without their endings, and without those that say nothing."""
    found = (word.lower() for word in WORD.findall(text))
    return frozenset(_stem(word) for word in found if word not in STOP_WORDS)


def sentences(block: Block) -> list[tuple[int, int]]:
    """Where each sentence of a text begins and ends; code spans and quotes are never cut."""
    spans, start = [], 0
    # A quote may end a sentence; what is too long is none.
    quotes = (match.span() for match in QUOTED.finditer(block.text))
    quoted = [(first, last - 1) for first, last in quotes if last - first <= LONGEST_QUOTE]
    for match in SENTENCE_END.finditer(block.text):
        before = max(start, match.start() - LOOK_BACK)
        if (
            not (SENTENCE_START.match(block.text, match.end()) or block.is_code(match.end()))
            or block.is_code(match.start())
            or is_within(quoted, match.start())
            or ABBREVIATED.search(block.text, before, match.start())
        ):
            continue
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(block.text)))
    return [(start, end) for start, end in spans if block.text[start:end].strip()]


def _of_block(section: Section, block: Block) -> Iterator[Statement]:
    for start, end in sentences(block):
        # Each on its own: what is asked of the whole block would be asked once a sentence.
        piece = block.cut(start, end)
        yield _statement(section, piece.line, [piece], is_row=False)


def _statement(section: Section, line: int, blocks: Sequence[Block], *, is_row: bool) -> Statement:
    text = " | ".join(block.text.strip() for block in blocks)
    cited = [each for block in blocks for each in citations(block)]
    named = [each for block in blocks for each in _tasks(block)]
    return Statement(
        section,
        line,
        text,
        tuple(number for block in blocks for number in numbers(block)),
        tuple(dict.fromkeys(cited)),
        tuple(dict.fromkeys([*named, *(each.task_id for each in cited)])),
        tuple(dict.fromkeys(each for block in blocks for each in _names(block))),
        tuple(match[0][1:-1] for match in QUOTED.finditer(text)),
        is_row,
    )


def citations(
    block: Block, start: int = 0, end: int | None = None, *, is_bare: bool = True
) -> list[Citation]:
    """The citations in a piece of text: code spans that are one, and bare ones."""
    end = len(block.text) if end is None else end
    spans = [(from_, to) for from_, to in block.codes if start <= from_ < end]
    spans += [
        match.span()
        for match in BARE_CITATION.finditer(block.text, start, end)
        if is_bare and not block.is_code(match.start())
    ]
    told = (block.text[from_:to] for from_, to in sorted(spans))
    # `blade show run/3:1` is a command, though it ends like a citation.
    found = (citation.parse(each) for each in told if not each.startswith("blade "))
    return [each for each in found if each is not None]


def _tasks(block: Block) -> Iterator[str]:
    named = -1
    for start, end in block.codes:
        goes_on = named >= 0 and ALSO_NAMED.fullmatch(block.text, named, start)
        named = -1
        if goes_on or TASK_BEFORE.search(block.text, max(0, start - LOOK_BACK), start):
            named = end
            if citation.parse(block.text[start:end]) is None:
                yield block.text[start:end]
    for match in TASK_NAMED.finditer(block.text):
        yield match["first"].rstrip(".-")
        yield from re.findall(r"\d[\w-]*", match["rest"])


def _names(block: Block) -> Iterator[str]:
    for start, end in block.codes:
        if citation.parse(block.text[start:end]) is None:
            yield block.text[start:end]
    for match in CAPITALS.finditer(block.text):
        if not block.is_code(match.start()):
            yield match[0]


def _without_backquotes(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A text that may hold code spans, as a reader sees it, and where they stand."""
    seen, codes = "", []
    for place, piece in enumerate(text.split("`")):
        if place % 2:
            codes.append((len(seen), len(seen) + len(piece)))
        seen += piece
    return seen, tuple(codes)


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "edly", "ies", "ed", "es", "ly", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
