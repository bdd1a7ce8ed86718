"""Sources of a report: comments that say which column was printed as which text, asked again.

    aster-8b passes 44.0% of attempts over 21 tasks.
    <!-- from run_metrics where run_id = 'aster-8b': pass_at_1 = 44.0%, n_scored_tasks = 21 -->

    | category | tasks |
    | --- | ---: |
    | crm | 8 |
    <!-- from slice_metrics where run_id = 'aster-8b' by slice_value as category: n_tasks as tasks -->

    birch-70b has the highest pass@1.
    <!-- sql: select run_id, 'highest' from run_metrics order by pass_at_1 desc limit 1 = birch-70b, highest -->

A column without a text is a name that is printed as it is. `by KEY: VALUE (pairs), ...` behind a
sentence is short for a source of each value; from the second on a figure may stand alone, and is of
the column that the value before has in this place. Texts are found by what they are and rows by their
keys, never by their order.
"""  # noqa: E501, a comment is one line

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from html import unescape
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol

from pipeline.errors import BladeError, MemoryLimitError, TimeLimitError
from pipeline.package.blocks import (
    NUMBER,
    Block,
    Comment,
    Report,
    Span,
    Token,
    code_spans,
    edited,
    figures,
    masked,
    read,
)
from pipeline.query_worker import MOST_BYTES, Bounds, ask
from pipeline.report import tables
from pipeline.report.cited import VERSUS, head_of, quoted
from pipeline.report.html.render import metrics
from pipeline.text import one_line

VERIFIED, CONTRADICTED, UNCHECKED = "verified", "contradicted", "unchecked"
# How a claim stands that is right, and one that is not.
JUDGED = {True: VERIFIED, False: CONTRADICTED}
CHECK = "source"
# Of one source, and of all sources of a report.
MOST_ROWS, MOST_SECONDS, MOST_SECONDS_IN_ALL = 20_000, 10.0, 60.0
TWICE = ": it is there twice"
TOO_LONG = "too long to be read"
LACKING = "no paragraph, item or table is right before it"
# Words that are one of a few answers: where one is bound, another in its place is wrong.
ANSWERS = (
    ("significant", "not significant", "insignificant", "undecided"),
    ("highest", "lowest"),
    ("higher", "lower"),
    ("improved", "regressed", "no change", "inconclusive", "not comparable"),
    ("always", "sometimes", "never", "missing"),
)
ALIKE, SHORTEST, FEW = 0.75, 3, 50
# Relations that name things, each with its column of names.
NAMES = (
    ("runs", "run_id"),
    ("tasks", "task_id"),
    ("failure_modes", "mode"),
    ("funnel", "stage"),
    ("checks", "check_name"),
    ("expected_tools", "tool"),
)
CITATION = re.compile(r"[^\s/]+/.+:\d+(?:#\d+)?")
MARKUP = re.compile(r"\\(?=[!-/:-@\[-`{-~])|[`*]")
CLAUSE = re.compile(r"(?<!order)(?<!group)(?<!partition)\s+by\s+", re.IGNORECASE)


class Opened(tables.Source, Protocol):
    """A warehouse that is open for reading, as `pipeline.warehouse.open_warehouse` gives it."""

    # Where it was opened from, and the memory that a query may take.
    path: Path | None
    memory_limit: str | None


# A stretch of the text, and what should be there.
Edit = tuple[int, int, str]


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
    # How the text becomes true; none where that would be a guess.
    edits: tuple[Edit, ...] = ()
    # Where the claim is, if it is a stretch of the text.
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class Pair:
    """An expression and the text that it was printed as, none where that is its value."""

    expression: str
    text: str | None
    # Where the text is in the comment, for a new one.
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Source:
    """One query of a comment: of pairs, or of the keys and columns of a table with their heads."""

    line: int
    # What it asks, for people.
    words: str
    query: str
    relation: str = ""
    pairs: tuple[Pair, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    # Why it cannot be asked.
    fault: str = ""

    @property
    def behind(self) -> str:
        """The query behind the columns that it selects."""
        bound = [pair.expression for pair in self.pairs] or [
            expression for expression, _ in (*self.keys, *self.columns)
        ]
        return self.query.removeprefix(f"select {', '.join(bound)} ")


@dataclass(frozen=True)
class Answer:
    """The rows of a source; or why there are none."""

    rows: tuple[tuple[Any, ...], ...] = ()
    fault: str = ""
    # Whether the source itself is wrong, and not only too much to be asked here.
    is_wrong: bool = False


# Whatever knows the rows of a source, or why there are none.
Answering = Callable[[Source], Answer]


class Answers:
    """Sources asked of a warehouse: each query once, within a time and a number of rows."""

    def __init__(self, warehouse: Opened) -> None:
        self._warehouse = warehouse
        self._known: dict[str, Answer] = {}
        self._left = MOST_SECONDS_IN_ALL

    def __call__(self, source: Source) -> Answer:
        """The rows of a source."""
        if source.fault:
            return Answer(fault=source.fault, is_wrong=True)
        if source.query not in self._known:
            self._known[source.query] = self._asked(source.query)
        return self._known[source.query]

    @cached_property
    def aliases(self) -> dict[str, frozenset[str]]:
        """What each run may be called: its name without what all share, and its model."""
        query = "select benchmark, run_id, model from main.runs order by all"
        found: dict[str, dict[str, str | None]] = {}
        for benchmark, run, model in self._warehouse.execute(query).fetchall():
            found.setdefault(benchmark, {})[run] = model
        return {run: names for own in found.values() for run, names in aliases(own).items()}

    @cached_property
    def names(self) -> frozenset[str]:
        """What runs, tasks, modes, stages, checks and tools are called."""
        query = " union ".join(f"select {column} from {relation}" for relation, column in NAMES)
        return self._texts(query)

    def values(self, expression: str, relation: str) -> frozenset[str]:
        """All texts that an expression gives in a relation."""
        if not relation or not re.fullmatch(r"\w+(?:\[\d+\])?", expression):
            return frozenset()
        return self._texts(f"select distinct {expression} from {relation}")

    def _texts(self, query: str) -> frozenset[str]:
        asked = self(Source(0, "", query))
        return frozenset(value for (value,) in asked.rows if isinstance(value, str))

    def _asked(self, query: str) -> Answer:
        if self._left <= 0:
            return Answer(fault="the sources before it took all the time there is")
        limit = min(MOST_SECONDS, self._left)
        path, memory = self._warehouse.path, self._warehouse.memory_limit
        assert path is not None
        bounds = Bounds(most_rows=MOST_ROWS, most_bytes=MOST_BYTES)
        try:
            with ask(path, query, seconds=limit, memory_limit=memory, bounds=bounds) as answer:
                rows = tuple(answer)
                is_cut = answer.is_cut
        except TimeLimitError:
            # What ends in time is not counted: a clock would be asked of nothing else.
            self._left -= limit
            return Answer(fault=f"the query takes longer than {limit:.0f} s")
        except BladeError as error:
            is_wrong = not isinstance(error, MemoryLimitError)
            return Answer(fault=one_line(" ".join(str(error).split()), 300), is_wrong=is_wrong)
        return Answer(rows, f"the query gives more than {MOST_ROWS:,} rows" if is_cut else "")


def aliases(models: dict[str, str | None]) -> dict[str, frozenset[str]]:
    """Each run with its other names that no other run has."""
    names = sorted(models)
    shared = ""
    if len(names) > 1:
        n_same = next(
            (no for no, signs in enumerate(zip(*names, strict=False)) if len({*signs}) > 1), 0
        )
        shared = names[0][: names[0][:n_same].rfind("_") + 1]
    found = {run: {run.removeprefix(shared), model or run} for run, model in models.items()}
    uses = Counter(name for own in found.values() for name in own)
    return {run: frozenset(name for name in own if uses[name] == 1) for run, own in found.items()}


def parsed(comment: Comment, *, is_table: bool = False) -> list[Source]:
    """The sources that a comment holds; one with a fault where it cannot be read."""
    text = comment.text
    words = one_line(" ".join(text.split()), 300)
    try:
        if text[:4].lower() == "sql:":
            return [_free(comment, words)]
        return _of_relation(comment, is_table=is_table)
    except ValueError as error:
        return [Source(comment.line, words, "", fault=str(error))]


def _free(comment: Comment, words: str) -> Source:
    pieces = _split(comment.text, " = ", 4)
    if len(pieces) < 2:
        raise ValueError("no text is behind the query, such as `= 21`")
    start = pieces[-1][0]
    query = comment.text[4 : start - 3].strip()
    texts = _split(comment.text, ", ", start)
    pairs = [_pair(comment, "", at, text) for at, text in texts]
    return Source(comment.line, words, query, "", tuple(pairs))


def _of_relation(comment: Comment, *, is_table: bool) -> list[Source]:
    text = comment.text
    head, *_ = _split(text, ": ", 0)
    if len(head[1]) == len(text):
        raise ValueError("no columns are behind a colon")
    rest = len(head[1]) + 2
    asked, *by = CLAUSE.split(head[1], maxsplit=1)
    relation = asked.split()[1]
    words = one_line(" ".join(asked.split()), 300)
    parts = _split(text, ", ", rest)
    # Without a value and its texts it is of a table, though that may be one no more.
    is_of_values = any(re.search(r"[=(]", part) for _, part in parts)
    if is_table or (by and not is_of_values):
        keys = [_headed(part) for _, part in _split(by[0], ", ", 0)] if by else []
        columns = [_headed(part) for _, part in parts]
        return [_table(comment, words, asked, relation, keys, columns)]
    if not by:
        pairs = [_pair_of(comment, at, part) for at, part in parts]
        query = f"select {', '.join(pair.expression for pair in pairs)} {asked}"
        return [Source(comment.line, words, query, relation, tuple(pairs))]
    found = []
    before: list[Pair] = []
    for at, part in parts:
        match = re.fullmatch(
            r"(?P<value>'(?:[^']|'')*'(?:\s*\|\|\s*(?:'(?:[^']|'')*'|chr\(\d+\)))*|[\w.-]+)\s*\((?P<pairs>.*)\)",
            part,
            re.DOTALL,
        )
        if match is None:
            raise ValueError(f"{part} is not VALUE (column = text, ...)")
        inner = at + match.start("pairs")
        told = []
        for no, (start, piece) in enumerate(_split(match["pairs"], ", ", 0)):
            # A figure alone is of the column that the value before has in this place.
            is_alone = no < len(before) and _token(piece.strip()) is not None
            if is_alone:
                told.append(_pair(comment, before[no].expression, inner + start, piece))
            else:
                told.append(_pair_of(comment, inner + start, piece))
        before = told
        pairs = [Pair(by[0].strip(), None), *told]
        also = "and" if re.search(r"\bwhere\b", asked, re.IGNORECASE) else "where"
        where = f"{asked} {also} {by[0].strip()} = {match['value']}"
        query = f"select {', '.join(pair.expression for pair in pairs)} {where}"
        found.append(Source(comment.line, one_line(where, 300), query, relation, tuple(pairs)))
    return found


def _table(
    comment: Comment,
    words: str,
    asked: str,
    relation: str,
    keys: list[tuple[str, str]],
    columns: list[tuple[str, str]],
) -> Source:
    wanted = ", ".join(expression for expression, _ in (*keys, *columns))
    query = f"select {wanted} {asked}"
    return Source(comment.line, words, query, relation, keys=tuple(keys), columns=tuple(columns))


def _headed(part: str) -> tuple[str, str]:
    pieces = _split(part, " as ", 0)
    if len(pieces) < 2:
        return part.strip(), head_of(part.strip())
    at, head = pieces[-1]
    return part[: at - 4].strip(), _unquoted(head)


def _pair_of(comment: Comment, at: int, part: str) -> Pair:
    pieces = _split(part, " = ", 0)
    if len(pieces) < 2:
        return Pair(part.strip(), None)
    start = pieces[1][0]
    return _pair(comment, pieces[0][1].strip(), at + start, part[start:])


def _pair(comment: Comment, expression: str, at: int, text: str) -> Pair:
    start = comment.start + at + len(text) - len(text.lstrip())
    return Pair(expression, _unquoted(text), start, start + len(text.strip()))


def _unquoted(text: str) -> str:
    told = text.strip()
    is_quoted = len(told) > 1 and told[0] == told[-1] == "'"
    return told[1:-1].replace("''", "'") if is_quoted else told.strip("`")


def _split(text: str, by: str, start: int) -> list[tuple[int, str]]:
    """The parts of a text from a place on, with where each begins; not in quotes or brackets."""
    parts, depth, last, at = [], 0, start, start
    while at < len(text):
        sign = text[at]
        if sign == "'":
            closed = text.find("'", at + 1)
            if closed < 0:
                raise ValueError("a quote is not closed")
            at = closed
        elif sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif not depth and text.startswith(by, at) and at > start:
            parts.append((last, text[last:at]))
            at = last = at + len(by)
            continue
        at += 1
    return [*parts, (last, text[last:])]


def compared(report: Report, answers: Answering | None) -> list[Finding]:
    """Every figure and every source of a report: verified, contradicted or unchecked."""
    findings: list[Finding] = []
    for line, n in report.unread:
        claim = f"a text of {n:,} characters"
        findings.append(Finding(line, UNCHECKED, claim, None, TOO_LONG, "length"))
    for orphan in report.orphans:
        claim = one_line(" ".join(orphan.text.split()), 300)
        findings.append(Finding(orphan.line, UNCHECKED, claim, None, LACKING))
    for block in report.blocks:
        findings += _of_block(report, block, answers)
    return sorted(findings, key=lambda each: each.line)


def fixed(text: str, findings: Iterable[Finding]) -> str:
    """The text with all that is known to be otherwise as it should be; nothing else is touched."""
    edits = {edit for each in findings if each.status == CONTRADICTED for edit in each.edits}
    places = Counter((start, end) for start, end, _ in edits)
    return edited(text, (edit for edit in sorted(edits) if places[edit[:2]] == 1))


def refreshed(text: str, warehouse: Opened) -> tuple[str, list[Finding]]:
    """The text as this warehouse has it, and what was found before and could not be rewritten."""
    answers = Answers(warehouse)
    findings = compared(read(text), answers)
    new = fixed(text, findings)
    return new, findings


def _of_block(report: Report, block: Block, answers: Answering | None) -> Iterator[Finding]:
    is_table = block.kind == "table"
    sources = [one for comment in block.sources for one in parsed(comment, is_table=is_table)]
    asked: list[tuple[Source, Answer]] = []
    why = "no pair of its source" if sources else "no source"
    for source in sources:
        if answers is None:
            why = "no data to compare with"
            break
        answer = answers(source)
        asked.append((source, answer))
        if answer.fault:
            status = CONTRADICTED if answer.is_wrong else UNCHECKED
            told = "a query that can be run" if answer.is_wrong else None
            yield Finding(source.line, status, source.words, told, answer.fault)
    if block.kind == "table":
        checked = list(_Table(report, block, asked).findings())
    else:
        known = answers if isinstance(answers, Answers) else None
        checked = list(_Sentence(report, block, asked, known).findings())
    yield from checked
    spans = [each.span for each in checked if each.span]
    for token in block.tokens:
        if token.value is not None and not any(a <= token.start < b for a, b in spans):
            yield Finding(token.line, UNCHECKED, token.text, None, why)


@dataclass
class _Bound:
    """A pair of a sentence with its value, and the places of the text that print it."""

    source: Source
    pair: Pair
    value: Any
    place: tuple[int, int] | None = None
    token: Token | None = None
    # Where its words are, if they are no name between backquotes.
    cover: tuple[int, int] | None = None
    # The text that should be there.
    expected: str = ""
    is_stale: bool = False

    @property
    def is_figure(self) -> bool:
        is_number = isinstance(self.value, (int, float, Decimal)) and not isinstance(
            self.value, bool
        )
        return is_number or (self.value is None and self.pair.text in ("n/a", None))

    @property
    def is_word(self) -> bool:
        """Whether it is one of a few answers, which a sentence may give more than once."""
        return any(self.expected in told for told in ANSWERS)

    @property
    def words(self) -> str:
        column = self.pair.expression
        return f"{column} {self.source.words}" if column else self.source.words


@dataclass
class _Sentence:
    """A paragraph, item or heading beside what its sources give."""

    report: Report
    block: Block
    asked: list[tuple[Source, Answer]]
    answers: Answers | None
    bound: list[_Bound] = field(default_factory=list)

    def findings(self) -> Iterator[Finding]:
        """What each pair says, and what no pair accounts for in place of one that is gone."""
        is_whole = True
        for source, answer in self.asked:
            if source.keys or source.columns:
                why = "a source of a table, and this is none"
                yield Finding(source.line, UNCHECKED, source.words, None, why)
            elif answer.fault:
                is_whole = False
            elif len(answer.rows) != 1:
                n_rows = len(answer.rows)
                yield self._fault(source, f"the query gives {n_rows or 'no'} rows")
                is_whole = False
            elif len(answer.rows[0]) != len(source.pairs):
                n_values = len(answer.rows[0])
                yield self._fault(source, f"{len(source.pairs)} texts for {n_values} values")
                is_whole = False
            else:
                values = zip(source.pairs, answer.rows[0], strict=True)
                self.bound += [_Bound(source, pair, value) for pair, value in values]
        if not self.bound:
            return
        span = next(self.block.spans, None)
        if span is None:
            return
        found = [*self._figures(is_whole), *self._names(span)]
        # A name and its figure change together or not at all, and of a sentence that holds a
        # figure twice nothing does: half of it would be of other data than the rest.
        is_twice = any(each.source.endswith(TWICE) for _, each in found)
        stuck = {
            id(source) for source, each in found if each.status == CONTRADICTED and not each.edits
        }
        for source, each in found:
            yield replace(each, edits=()) if is_twice or id(source) in stuck else each
        yield from self._crossed()

    def _fault(self, source: Source, why: str) -> Finding:
        return Finding(source.line, CONTRADICTED, source.words, "one row", why)

    def _figures(self, is_whole: bool) -> Iterator[tuple[Source, Finding]]:
        wanted = [each for each in self.bound if each.is_figure]
        free = list(self.block.tokens)
        n_printed = Counter(token.printed for token in free)
        for each in wanted:
            given = _token(each.pair.text)
            same = (token for token in free if given and token.printed == given.printed)
            if token := next(same, None):
                free.remove(token)
                each.token = token
        for each in wanted:
            if each.token is None:
                same = (token for token in free if _agrees(token, each))
                if token := next(same, None):
                    free.remove(token)
                    each.token = token
        # Where two pairs are printed alike, which is which is not known.
        texts: dict[Any, set[str]] = {}
        for each in wanted:
            if each.token:
                each.expected = _like(each.token, each)
                texts.setdefault(each.token.printed, set()).add(each.expected)
        uses = Counter(each.token.printed for each in wanted if each.token)
        for each in wanted:
            if token := each.token:
                is_right = _agrees(token, each)
                is_known = len(texts[token.printed]) == 1 and (
                    uses[token.printed] == n_printed[token.printed]
                )
                edits = self._edits(each, token.start, token.end) if is_known else ()
                finding = Finding(
                    token.line,
                    JUDGED[is_right],
                    token.text,
                    token.text if is_right else each.expected,
                    each.words if is_right or edits else f"{each.words}{TWICE}",
                    edits=() if is_right else edits,
                    span=(token.start, token.end),
                )
                yield each.source, finding
        gone = [each for each in wanted if each.token is None]
        free = [token for token in free if token.value is not None]
        for each in gone:
            shape = _shape(each)
            others = [token for token in free if token.shape[:2] == shape] if is_whole else []
            rivals = [other for other in gone if _shape(other) == shape]
            if not others:
                yield each.source, self._note(each)
            for token in others:
                expected = _like(token, each)
                is_sure = len(others) == len(rivals) == 1
                finding = Finding(
                    token.line,
                    CONTRADICTED,
                    token.text,
                    expected,
                    each.words,
                    edits=self._edits(replace(each, expected=expected), token.start, token.end)
                    if is_sure
                    else (),
                    span=(token.start, token.end),
                )
                yield each.source, finding

    def _edits(self, each: _Bound, start: int, end: int) -> tuple[Edit, ...]:
        pair = each.pair
        if pair.text is None:
            return ((start, end, each.expected),)
        given = re.sub(r"\s(?:percentage )?points?\Z", "", each.expected)
        told = given if _token(pair.text) else each.expected
        return ((start, end, each.expected), (pair.start, pair.end, quoted(told)))

    def _note(self, each: _Bound) -> Finding:
        text = each.pair.text or one_line(str(each.value), 100)
        why = f"{each.words}: the block does not say it any more"
        return Finding(self.block.line, UNCHECKED, text, None, why)

    def _names(self, span: Span) -> Iterator[tuple[Source, Finding]]:
        wanted = [each for each in self.bound if not each.is_figure and each.value is not None]
        text = self.report.text[span.start : span.end]
        codes = {
            (span.start + start, span.start + end): plain(text[start:end])
            for start, end in code_spans(text)
        }
        seen, free = plain(text), dict(codes)
        for each in wanted:
            each.expected = self._expected(each)
            each.is_stale = bool(each.pair.text) and each.expected != each.pair.text
        # The two sides of a comparison account for both names.
        for each in sorted(wanted, key=lambda one: VERSUS not in one.expected):
            for form in [each.pair.text] if each.is_stale else self._forms(each):
                place = next((place for place, told in free.items() if told == form), None)
                if place:
                    each.place = place
                    del free[place]
                    break
                taken = [place for place in codes if place not in free]
                taken += [one.cover for one in wanted if one.cover and one.is_word]
                left = edited(text, ((a - span.start, b - span.start, "") for a, b in set(taken)))
                if form and _stands(form, _without_longer_answers(plain(left), form)):
                    each.place = (span.start, span.start)
                    each.cover = _cover(form, text, span.start)
                    for name in form.split(VERSUS) if VERSUS in form else ():
                        used = next((one for one, told in free.items() if told == name), None)
                        free.pop(used or (0, 0), None)
                    break
        for each in wanted:
            line = self.report.line_at(each.place[0] if each.place else span.start)
            shown = each.pair.text or each.expected
            if each.place and not each.is_stale:
                place = each.place if each.place[1] > each.place[0] else each.cover
                finding = Finding(line, VERIFIED, shown, shown, each.words, span=place)
            elif each.is_stale:
                finding = self._stale(each, line)
            else:
                finding = self._gone(each, seen, free)
            yield each.source, finding

    def _stale(self, each: _Bound, line: int) -> Finding:
        """A name that the query does not give any more; words are left to a person."""
        edits: tuple[Edit, ...] = ()
        if each.place and each.place[1] > each.place[0]:
            new = f"`{each.expected}`"
            edits = (
                (*each.place, new),
                (each.pair.start, each.pair.end, quoted(each.expected)),
            )
        shown = each.pair.text or ""
        return Finding(line, CONTRADICTED, shown, each.expected, each.words, edits=edits)

    def _gone(self, each: _Bound, seen: str, free: dict[tuple[int, int], str]) -> Finding:
        """A name that is not there: wrong if another stands in its place."""
        expected = each.expected
        span = next(self.block.spans)
        line = self.report.line_at(next(iter(free), (span.start, 0))[0])
        if VERSUS in expected:
            one, other = expected.split(VERSUS, 1)
            names = [self._short(one), self._short(other)]
            for a in names[0]:
                for b in names[1]:
                    if f"{b}{VERSUS}{a}" in seen:
                        claim = f"{b}{VERSUS}{a}"
                        return Finding(self.block.line, CONTRADICTED, claim, expected, each.words)
            if all(any(_stands(name, seen) for name in own) for own in names):
                return Finding(self.block.line, VERIFIED, expected, expected, each.words)
            return self._note(each)
        others = next((told for told in ANSWERS if expected in told), ())
        for word in sorted(others, key=len, reverse=True):
            if word != expected and _stands(word, _without_longer_answers(seen, word)):
                return Finding(self.block.line, CONTRADICTED, word, expected, each.words)
        if others:
            return self._note(each)
        known: frozenset[str] = frozenset()
        if self.answers:
            known = self.answers.values(each.pair.expression, each.source.relation)
        if not each.source.relation and self.answers and each.value in self.answers.aliases:
            known = frozenset(self.answers.aliases)
        taken = {other.expected for other in self.bound if other.place}
        rivals = [
            (place, told)
            for place, told in free.items()
            if told not in taken and self._is_rival(told, expected, known)
        ]
        if not rivals:
            # One of a few words that are printed without backquotes.
            for word in sorted(known) if len(known) <= FEW else ():
                if word not in taken and _stands(word, plain(masked(self.report.text, span))):
                    return Finding(self.block.line, CONTRADICTED, word, expected, each.words)
            return self._note(each)
        place, told = rivals[0]
        gone = [one for one in self.bound if not one.is_figure and one.place is None]
        edits: tuple[Edit, ...] = ()
        if len(rivals) == len(gone) == 1:
            edits = ((*place, f"`{expected}`"),)
        line = self.report.line_at(place[0])
        return Finding(line, CONTRADICTED, told, expected, each.words, edits=edits, span=place)

    def _is_rival(self, name: str, expected: str, known: Collection[str]) -> bool:
        """Whether a name that no pair accounts for may be there in place of one that is gone."""
        if CITATION.fullmatch(expected):
            return CITATION.fullmatch(name) is not None
        every = self.answers.names if self.answers else frozenset()
        return (
            name in known
            or name in every
            or any(name in self._short(one) for one in known)
            or difflib.SequenceMatcher(None, name, expected).ratio() >= ALIKE
        )

    def _forms(self, each: _Bound) -> list[str]:
        """How a value may be written."""
        value = each.expected
        forms = [value, plain(value), one_line(value), value.replace("_", " ")]
        forms += [one_line(value, 140), *self._short(str(each.value))]
        return list(dict.fromkeys(forms))

    def _short(self, name: str) -> list[str]:
        known = self.answers.aliases.get(name, ()) if self.answers else ()
        return [name, *sorted(known)]

    def _expected(self, each: _Bound) -> str:
        """The value as its text has it: by an alias where that is one."""
        value = each.value
        told = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        given = each.pair.text
        if given is None or given == told:
            return told
        if given in (plain(told), one_line(told), told.replace("_", " "), *self._short(told)):
            return given
        # A name of a run that is written short stays short.
        runs = self.answers.aliases if self.answers else {}
        if any(given in own for own in runs.values()) and runs.get(told):
            return min(runs[told], key=lambda name: (len(name), name))
        return told

    def _crossed(self) -> Iterator[Finding]:
        """Names of two rows of one query in the other order than their figures."""
        groups: dict[tuple[object, ...], list[dict[str, _Bound]]] = {}
        for source, _ in self.asked:
            own = {each.pair.expression: each for each in self.bound if each.source is source}
            key = (source.relation, *sorted(own))
            groups.setdefault(key, []).append(own)
        for rows in groups.values():
            for one, two in combinations(rows, 2):
                names = [name for name in one if _is_placed(one[name]) and _is_placed(two[name])]
                for name in names:
                    if one[name].expected == two[name].expected:
                        continue
                    for column, first in one.items():
                        second = two[column]
                        if not (first.token and second.token):
                            continue
                        if first.token.printed == second.token.printed:
                            continue
                        places = (one[name].place, two[name].place)
                        is_before = (places[0] or (0, 0)) < (places[1] or (0, 0))
                        if is_before != (first.token.start < second.token.start):
                            claim = f"{one[name].expected} beside {second.token.text}"
                            told = f"{one[name].expected} beside {first.token.text}"
                            line = self.report.line_at((places[0] or (0, 0))[0])
                            yield Finding(line, CONTRADICTED, claim, told, first.words)
                            return


class _Table:
    """A table beside what its sources give: rows by their keys, cells by their heads."""

    def __init__(
        self, report: Report, block: Block, asked: Sequence[tuple[Source, Answer]]
    ) -> None:
        self.report, self.block, self.asked = report, block, asked
        self.heads = heads_of(block)

    def findings(self) -> Iterator[Finding]:
        """Every row that a source has keys for."""
        usable = []
        for source, answer in self.asked:
            if source.pairs or not source.columns:
                why = "a table needs heads: COLUMN as HEAD"
                yield Finding(source.line, CONTRADICTED, source.words, "columns with heads", why)
            elif not answer.fault:
                heads = [self._place(head) for _, head in source.keys]
                if None in heads:
                    lost = next(head for _, head in source.keys if self._place(head) is None)
                    why = f"{source.words}: no column, or more than one, is headed {lost}"
                    yield Finding(source.line, UNCHECKED, source.words, None, why)
                else:
                    usable.append((source, answer, [head for head in heads if head is not None]))
        is_whole = len(usable) == len(self.asked)
        for row in self.block.rows if usable else ():
            yield from self._row(row, usable, is_whole=is_whole)

    def _place(self, head: str) -> int | None:
        wanted = plain(head)
        return self.heads.index(wanted) if wanted in self.heads else None

    def _row(
        self,
        row: Sequence[Span],
        usable: Sequence[tuple[Source, Answer, list[int]]],
        *,
        is_whole: bool,
    ) -> Iterator[Finding]:
        line = self.report.line_at(row[0].start) if row else self.block.line
        cells = [self.report.text[span.start : span.end] for span in row]
        texts = [plain(cell) for cell in cells]
        codes = [[plain(cell[a:b]) for a, b in code_spans(cell)] for cell in cells]
        n_found = 0
        named = ""
        for source, answer, places in usable:
            if any(place >= len(row) for place in places):
                continue
            n_keys = len(source.keys)
            given = [[texts[place], *codes[place]] for place in places]
            named = ", ".join(told[0] for told in given)
            if not n_keys:
                rows = answer.rows if len(self.block.rows) == 1 else ()
            else:
                rows = tuple(
                    each
                    for each in answer.rows
                    if all(
                        any(_is_key(form, each[no]) for form in told)
                        for no, told in enumerate(given)
                    )
                )
            rows = tuple(dict.fromkeys(map(_hashable, rows)))
            if len(rows) > 1:
                n_found += 1
                why = f"{source.words}: {len(rows)} rows have this key"
                yield Finding(line, UNCHECKED, named, None, why)
            elif rows:
                n_found += 1
                if n_keys:
                    span = (row[places[0]].start, row[places[0]].end)
                    yield Finding(line, VERIFIED, named, named, source.words, span=span)
                yield from self._cells(row, source, rows[0][n_keys:])
        # A key that is a word of the author's own, such as 'total', says nothing of other rows.
        is_open = any(
            not (told.startswith("'") and told.endswith("'"))
            for source, *_ in usable
            for told, _ in source.keys
        )
        if not n_found and is_whole and named and is_open:
            told = "a row that the query gives"
            yield Finding(line, CONTRADICTED, named, told, usable[0][0].words)

    def _cells(
        self, row: Sequence[Span], source: Source, values: Sequence[Any]
    ) -> Iterator[Finding]:
        below: dict[int, list[tuple[str, Any]]] = {}
        for (expression, head), value in zip(source.columns, values, strict=True):
            place = self._place(head)
            if place is not None and place < len(row):
                below.setdefault(place, []).append((expression, value))
        for place, bound in below.items():
            span = row[place]
            tokens = self.block.tokens_within(span.start, span.end)
            numbers = [(name, _number(value)) for name, value in bound if _is_number(value)]
            names = [(name, value) for name, value in bound if isinstance(value, (str, list))]
            yield from self._numbers(source, tokens, numbers, has_names=bool(names))
            for name, value in names:
                yield self._name(source, span, name, value)

    def _numbers(
        self,
        source: Source,
        tokens: list[Token],
        numbers: list[tuple[str, float | None]],
        *,
        has_names: bool,
    ) -> Iterator[Finding]:
        if not tokens or not numbers:
            return
        given = numbers
        if len(tokens) != len(numbers):
            # What is undefined may be left out, or be told once for all.
            given = [each for each in numbers if each[1] is not None]
        if len(tokens) == len(given):
            matched = [*zip(tokens, given, strict=True)]
        else:
            matched = []
            for name, value in given:
                agreeing = (one for one in tokens if _measured(one, name).agrees(value))
                if found := next(agreeing, None):
                    matched.append((found, (name, value)))
            # Cells may be merged and parted; what is there must be some of what is bound.
            if given and not matched and (len(tokens) < 2 or len(given) < 2):
                matched = [(tokens[0], given[0])]
        for token, (name, value) in matched:
            is_right = _measured(token, name).agrees(value)
            expected = token.text if is_right else _measured(token, name).like(value)
            is_sure = len(tokens) == len(given) and not has_names
            yield Finding(
                token.line,
                JUDGED[is_right],
                token.text,
                expected,
                f"{name} {source.words}",
                edits=((token.start, token.end, expected),) if is_sure and not is_right else (),
                span=(token.start, token.end),
            )

    def _name(self, source: Source, span: Span, name: str, value: Any) -> Finding:
        text = self.report.text[span.start : span.end]
        line, words = self.report.line_at(span.start), f"{name} {source.words}"
        told = plain(text)
        expected = ", ".join(map(str, value)) if isinstance(value, list) else value
        where = (span.start, span.end)
        if not told:
            return Finding(line, UNCHECKED, expected, None, f"{words}: the cell is empty")
        codes = [(start, end) for start, end in code_spans(text)]
        is_right = any(
            _is_key(each, expected)
            for each in (told, *(plain(text[start:end]) for start, end in codes))
        ) or _stands(plain(expected), told)
        if is_right:
            return Finding(line, VERIFIED, told, told, words, span=where)
        edits: tuple[Edit, ...] = ()
        if len(codes) == 1 and text.strip().startswith("`"):
            start, end = codes[0]
            edits = ((span.start + start, span.start + end, f"`{expected}`"),)
        return Finding(line, CONTRADICTED, told, one_line(expected), words, edits=edits, span=where)


def heads_of(block: Block) -> list[str]:
    """The heads of a table's columns; empty for two that are alike: either may be meant."""
    heads = [plain(head) for head in block.heads]
    return [head if heads.count(head) == 1 else "" for head in heads]


def plain(text: str) -> str:
    """What a reader sees of a line of Markdown: no escapes, backquotes or stars."""
    return " ".join(unescape(MARKUP.sub("", text)).split())


def _stands(text: str, seen: str) -> bool:
    """Whether a text is in another whole; short ones only between backquotes."""
    wanted = " ".join(text.split())
    if len(wanted) < SHORTEST or not re.search(r"[^\W\d]", wanted):
        return False
    pattern = rf"(?<![\w/-]){re.escape(wanted)}(?![\w/-]|[:#]\d)"
    return re.search(pattern, seen, re.IGNORECASE) is not None


def _without_longer_answers(seen: str, word: str) -> str:
    """A text without the answers that hold another: "not significant" is not "significant"."""
    for answer in (answer for answers in ANSWERS if word in answers for answer in answers):
        if answer != word and _stands(word, answer):
            seen = re.sub(re.escape(answer), " ", seen, flags=re.IGNORECASE)
    return seen


def _cover(text: str, within: str, start: int) -> tuple[int, int] | None:
    """Where a text is in Markdown that may escape its signs."""
    match = re.search(r"\\?".join(re.escape(sign) for sign in text), within, re.IGNORECASE)
    return (start + match.start(), start + match.end()) if match else None


def _is_key(told: str, value: Any) -> bool:
    """Whether a cell prints the value of a key, whole or cut."""
    if value is None:
        return not told
    if _is_number(value):
        found = figures(told)
        return len(found) == 1 and found[0].text == told and found[0].agrees(_number(value))
    text = " ".join(str(value).split())
    if told.endswith("…"):
        return plain(one_line(str(value), 10_000)).startswith(told[:-1])
    forms = {text, plain(text), plain(one_line(str(value))), text.replace("_", " ")}
    return told in forms or told.casefold() in {form.casefold() for form in forms}


def _is_placed(each: _Bound) -> bool:
    return not each.is_figure and each.place is not None and each.place[1] > each.place[0]


def _is_number(value: Any) -> bool:
    return value is None or (
        isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    )


def _number(value: Any) -> float | None:
    """A value as a figure has it; what is not finite prints as n/a."""
    if value is None or isinstance(value, int):
        return value
    return float(value) if math.isfinite(value) else None


def _hashable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in row)


def _token(text: str | None) -> Token | None:
    """The figure that a text is, and nothing else."""
    found = figures(text) if text else []
    return found[0] if len(found) == 1 and found[0].text == text else None


def _sign(each: _Bound) -> float | None:
    """The value as it was printed: without its sign where its text has none."""
    value, given = _number(each.value), _token(each.pair.text)
    is_bare = given is not None and given.value is not None and not given.is_signed
    return abs(value) if value is not None and is_bare else value


def _agrees(token: Token, each: _Bound) -> bool:
    return _in_unit(token, each).agrees(_sign(each))


def _like(token: Token, each: _Bound) -> str:
    return token.text if _agrees(token, each) else _in_unit(token, each).like(_sign(each))


def _in_unit(token: Token, each: _Bound) -> Token:
    """A figure that says no unit, with that of its pair: points where it was printed as such."""
    given, value = _token(each.pair.text), _sign(each)
    if given and given.value is not None and value is not None:
        is_rate = isinstance(value, float) and abs(value) <= 1 < abs(given.value)
        if given.unit or given.is_signed or is_rate:
            return token
    return _measured(token, each.pair.expression)


def _measured(token: Token, column: str) -> Token:
    """A figure that says no unit, with what its column is known by: 0.001 is no 0.1 percent."""
    is_number = metrics().get(column, {}).get("format") == "num"
    is_plain = not (token.unit or token.is_signed)
    return replace(token, unit=NUMBER) if is_number and is_plain else token


def _shape(each: _Bound) -> tuple[str, bool]:
    """Of what kind the figure of a pair is: as its text, else as its value would be."""
    given = _token(each.pair.text)
    if given is not None:
        return given.shape[:2]
    return ("", not isinstance(each.value, int))
