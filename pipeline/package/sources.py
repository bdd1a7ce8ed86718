"""Sources of figures: the comment behind a block is run, and its values are compared in order.

    aster-8b passes 44.0% of attempts over 21 tasks.
    <!-- from run_metrics where run_id = 'aster-8b': pass_at_1, n_scored_tasks -->

`from` is short for a select of the columns behind the colon, `sql:` is any single select. A source
speaks for the paragraph, list or table before it; of several, the values follow one another.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, Protocol

from pipeline.errors import BladeError, MemoryLimitError, TimeLimitError
from pipeline.package.blocks import Block, Report, Source, Token, edited, figures, read
from pipeline.query_worker import MOST_BYTES, Bounds, ask
from pipeline.report import tables
from pipeline.text import markdown_cell, one_line

VERIFIED, CONTRADICTED, UNCHECKED = "verified", "contradicted", "unchecked"
# How a claim stands that is right, and one that is not.
JUDGED = {True: VERIFIED, False: CONTRADICTED}
CHECK = "source"
# Of one source, and of all sources of a report.
MOST_VALUES, MOST_SECONDS, MOST_SECONDS_IN_ALL = 10_000, 10.0, 60.0
MOST_PAIRS = 250_000
SKIPPED, DIFFERENT, OTHER_SHAPE, FARTHEST, ASTRAY = 3.0, 2.0, 0.5, 0.4, 2.5
TOO_LONG = "too long to be read"
DIGITS = re.compile(r"[\d.,%+-]+")
LACKING = "a paragraph, list or table right before it"


class Opened(tables.Source, Protocol):
    """A warehouse that is open for reading, as `pipeline.warehouse.open_warehouse` gives it."""

    # Where it was opened from, and the memory that a query may take.
    path: Path | None
    memory_limit: str | None


@dataclass(frozen=True)
class Finding:
    """A claim of a report: what it says, and what it should say."""

    line: int
    status: str
    claim: str
    # In words or digits; none where nothing is known.
    expected: str | None
    # Where the expected value comes from: a query, a relation, a file, or a line of the report.
    source: str
    # Which check spoke, such as source, citation, quote, total or sidecar.
    check: str = CHECK
    # The file that `line` counts in, by its name.
    file: str = ""
    # Where the claim stands in the text, if it is a figure that can be replaced.
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class Answer:
    """The values of a source, row by row, with their columns; or why there are none."""

    values: tuple[tuple[str, Any], ...] = ()
    fault: str = ""
    # Whether the source itself is wrong, and not only too much to be asked here.
    is_wrong: bool = False

    @property
    def unasked(self) -> tuple[str, str | None]:
        """How what rests on it stands where there are no values, and what is expected of it."""
        return (CONTRADICTED, "a query that can be run") if self.is_wrong else (UNCHECKED, None)


# Whatever knows the values of a source, or why there are none.
Answering = Callable[[Source], Answer]


class Answers:
    """Sources asked of a warehouse: each query once, within a time and a number of values."""

    def __init__(self, warehouse: Opened) -> None:
        self._warehouse = warehouse
        self._known: dict[str, Answer] = {}
        self._left = MOST_SECONDS_IN_ALL

    def __call__(self, source: Source) -> Answer:
        """The values of a source."""
        if source.query is None:
            return Answer(fault=source.fault, is_wrong=True)
        if source.query not in self._known:
            self._known[source.query] = self._asked(source.query)
        return self._known[source.query]

    def _asked(self, query: str) -> Answer:
        if self._left <= 0:
            return Answer(fault="the sources before it took all the time there is")
        limit = min(MOST_SECONDS, self._left)
        try:
            values, is_cut = self._values(query, limit)
        except TimeLimitError:
            # What ends in time is not counted: a clock would be asked of nothing else.
            self._left -= limit
            return Answer(fault=f"the query takes longer than {limit:.0f} s")
        except BladeError as error:
            is_wrong = not isinstance(error, MemoryLimitError)
            return Answer(fault=one_line(" ".join(str(error).split()), 300), is_wrong=is_wrong)
        if is_cut or len(values) > MOST_VALUES:
            return Answer(fault=f"the query gives more than {MOST_VALUES:,} values")
        return Answer(values)

    def _values(self, query: str, seconds: float) -> tuple[tuple[tuple[str, Any], ...], bool]:
        """The values with their columns, and whether there are more."""
        path, limit = self._warehouse.path, self._warehouse.memory_limit
        assert path is not None
        bounds = Bounds(most_rows=MOST_VALUES, most_bytes=MOST_BYTES)
        with ask(path, query, seconds=seconds, memory_limit=limit, bounds=bounds) as answer:
            pairs = (zip(answer.names, row, strict=True) for row in answer)
            return tuple(chain.from_iterable(pairs)), answer.is_cut


def compared(report: Report, answers: Answering | None) -> list[Finding]:
    """Every figure and every source of a report: verified, contradicted or unchecked."""
    findings: list[Finding] = []
    for line, n in report.unread:
        claim = f"a text of {n:,} characters"
        findings.append(Finding(line, UNCHECKED, claim, None, TOO_LONG, "length"))
    for source in report.orphans:
        findings.append(Finding(source.line, CONTRADICTED, source.words(), LACKING, "the source"))
    for block in report.blocks:
        findings += _of_block(report, block, answers)
    return sorted(findings, key=lambda each: each.line)


def fixed(text: str, findings: Iterable[Finding]) -> str:
    """The text with every contradicted figure as it should be; nothing else is touched."""
    wrong = {
        each.span: each.expected
        for each in findings
        if each.status == CONTRADICTED and each.span and each.expected is not None
    }
    return edited(text, ((*span, expected) for span, expected in wrong.items()))


def refreshed(text: str, warehouse: Opened) -> tuple[str, list[Finding]]:
    """The text with the figures of all sources as this warehouse has them, and the findings."""
    report, answers = read(text), Answers(warehouse)
    findings: list[Finding] = []
    for block in report.blocks:
        findings += _of_block(report, block, answers, is_refresh=True)
    return fixed(text, findings), findings


def _of_block(
    report: Report, block: Block, answers: Answering | None, *, is_refresh: bool = False
) -> Iterator[Finding]:
    why, is_whole = "no value of its source" if block.sources else "no source", True
    values: list[tuple[Source, str, Any]] = []
    for source in block.sources:
        if answers is None:
            why = "no data to compare with"
            break
        answer = answers(source)
        values += [(source, column, value) for column, value in answer.values]
        if answer.fault:
            is_whole, why = False, "its source cannot be run"
            status, told = answer.unasked
            yield Finding(source.line, status, source.words(), told, answer.fault)
    tokens = _named(report, block, [value for *_, value in values])
    words = "\n".join(report.text[span.start : span.end] for span in block.spans)
    known = [
        (source, column, number)
        for source, column, value in values
        for number in _numbers(value, words)
    ]
    pairs = _aligned(tokens, [value for *_, value in known], is_refresh=is_refresh)
    if block.kind == "table":
        pairs = _by_column(block, tokens, known, pairs)
    for token, place in zip(tokens, pairs, strict=True):
        is_right = place is not None and token.agrees(known[place][2])
        if place is not None and (is_right or is_whole):
            source, column, value = known[place]
            expected, span = token.text if is_right else token.like(value), (token.start, token.end)
            words, status = source.words(column), JUDGED[is_right]
            yield Finding(token.line, status, token.text, expected, words, span=span)
        elif token.value is not None:
            yield Finding(token.line, UNCHECKED, token.text, None, why)


def _named(report: Report, block: Block, values: list[Any]) -> list[Token]:
    """The figures of a block without those of cells that are a name which its sources give."""
    names = {value for value in values if isinstance(value, str) and not DIGITS.fullmatch(value)}
    names |= {markdown_cell(name) for name in names}
    named = {
        token.start
        for span in (block.spans if block.kind == "table" else ())
        if report.text[span.start : span.end].strip(" *`") in names
        for token in block.tokens_within(span.start, span.end)
    }
    return [token for token in block.tokens if token.start not in named]


def _numbers(value: Any, words: str) -> list[float | None]:
    """A value as figures: those of a text that the block quotes, as a warning does.

    What prints as n/a is none, and what is no number at all is no figure.
    """
    if isinstance(value, str) and (value in words or markdown_cell(value) in words):
        return [figure.value for figure in figures(value)]
    if value is None:
        return [None]
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return []
    if isinstance(value, int):
        return [value if abs(value) < 2**63 else float(value)]
    return [float(value) if math.isfinite(value) else None]


def _by_column(
    block: Block,
    tokens: Sequence[Token],
    known: Sequence[tuple[Source, str, float | None]],
    pairs: list[int | None],
) -> list[int | None]:
    """Aligned once more: a column of a source belongs to the column of the table it fits most."""
    if None not in pairs or not known:
        return pairs
    starts = [(span.start, place) for row in block.rows for place, span in enumerate(row)]
    where = [starts[bisect_right(starts, (each.start, len(starts))) - 1][1] for each in tokens]
    votes: dict[tuple[int, str], Counter[int]] = {}
    for i, j in enumerate(pairs):
        if j is not None and tokens[i].agrees(known[j][2]):
            votes.setdefault((known[j][0].line, known[j][1]), Counter())[where[i]] += 1
    usual = {column: max(sorted(found), key=found.__getitem__) for column, found in votes.items()}
    wanted = [usual.get((source.line, column)) for source, column, _ in known]

    def astray(i: int, j: int) -> float:
        return ASTRAY if wanted[j] is not None and wanted[j] != where[i] else 0.0

    return _aligned(tokens, [value for *_, value in known], astray=astray)


def _aligned(
    tokens: Sequence[Token],
    values: Sequence[float | None],
    *,
    is_refresh: bool = False,
    astray: Callable[[int, int], float] = lambda _i, _j: 0.0,
) -> list[int | None]:
    """For each figure the value it prints; both keep their order, and either may be left out.

    An edit distance: what agrees costs nothing, another value in the same place less than leaving
    both out, and least where it has the figure's form and is near to it.
    """
    n = len(tokens)
    # A null may stand as an empty cell.
    for told in (range(len(values)), [j for j, value in enumerate(values) if value is not None]):
        if n == len(told):
            n_wrong = sum(not tokens[i].agrees(values[j]) for i, j in enumerate(told))
            if is_refresh or 2 * n_wrong <= n:
                return [*told]

    def fits(i: int, j: int) -> bool:
        return tokens[i].agrees(values[j]) and not astray(i, j)

    # What agrees at both ends needs no table of costs.
    m, shorter = len(values), min(n, len(values))
    first = _n_leading(fits(i, i) for i in range(shorter))
    last = _n_leading(fits(n - i, m - i) for i in range(1, shorter - first + 1))
    n_mine, n_theirs = n - first - last, m - first - last
    found: list[int | None] = [*range(first), *[None] * n_mine, *range(m - last, m)]
    if not n_mine or not n_theirs or n_mine * n_theirs > MOST_PAIRS:
        return found

    def difference(i: int, j: int) -> float:
        i, j = first + i - 1, first + j - 1
        return _difference(tokens[i], values[j]) + astray(i, j)

    # costs[i][j]: the least for the first i figures and the first j values.
    theirs = values[first : first + n_theirs]
    left_out = [0.0, *(0.0 if value is None else SKIPPED for value in theirs)]
    costs = [[0.0] * (n_theirs + 1) for _ in range(n_mine + 1)]
    for j in range(1, n_theirs + 1):
        costs[0][j] = costs[0][j - 1] + left_out[j]
    for i in range(1, n_mine + 1):
        row, above = costs[i], costs[i - 1]
        row[0] = above[0] + SKIPPED
        for j in range(1, n_theirs + 1):
            paired = above[j - 1] + difference(i, j)
            row[j] = min(paired, above[j] + SKIPPED, row[j - 1] + left_out[j])
    i, j = n_mine, n_theirs
    while i and j:
        if costs[i][j] == costs[i - 1][j - 1] + difference(i, j):
            i, j = i - 1, j - 1
            found[first + i] = first + j
        elif costs[i][j] == costs[i - 1][j] + SKIPPED:
            i -= 1
        else:
            j -= 1
    return found


def _n_leading(found: Iterable[bool]) -> int:
    """How many hold before the first that does not."""
    return sum(1 for _ in takewhile(bool, found))


def _difference(token: Token, value: float | None) -> float:
    if token.agrees(value):
        return 0.0
    apart = 1.0
    if value is not None and token.value is not None:
        scaled = value * (100 if token.unit and abs(value) <= 1 else 1)
        apart = abs(scaled - token.value) / (abs(scaled) + abs(token.value) or 1.0)
    return DIFFERENT + FARTHEST * apart + (0.0 if token.shape(value) else OTHER_SHAPE)
