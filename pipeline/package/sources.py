"""Sources of a report: comments that say which column was printed as which text.

    aster-8b passes 44.0% of attempts over 21 tasks.
    <!-- from run_metrics where run_id = 'aster-8b': pass_at_1 = 44.0%, n_scored_tasks = 21 -->

    | category | tasks |
    | --- | ---: |
    | crm | 8 |
    <!-- from slice_metrics where run_id = 'aster-8b' by slice_value as category: n_tasks as tasks -->

    birch-70b has the highest pass@1.
    <!-- sql: select run_id, 'highest' from run_metrics order by pass_at_1 desc limit 1 = birch-70b, highest -->

A column without a text is a name that is printed as it is. `by KEY: VALUE (pairs), ...` behind a
sentence is short for a source of each value; from the second on a figure may be alone, and is of
the column that the value before has in this place. Texts are found by what they are and rows by their
keys, never by their order.
"""  # noqa: E501, a comment is one line

from __future__ import annotations

import re
from dataclasses import dataclass

from ..report.declared import plain_words
from ..text import one_line
from .blocks import Block, Comment
from .values import token_of

CLAUSE = re.compile(r"(?<!order)(?<!group)(?<!partition)\s+by\s+", re.IGNORECASE)


@dataclass(frozen=True)
class Pair:
    """An expression and the text that it was printed as, none where that is its value."""

    expression: str
    text: str | None
    # The place of the text, where a new one is written.
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Source:
    """One query of a comment: of pairs, or of the keys and columns of a table with their heads."""

    line: int
    # The query in words for people.
    words: str
    query: str
    relation: str = ""
    pairs: tuple[Pair, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    # Why it cannot be run.
    fault: str = ""

    @property
    def behind(self) -> str:
        """The query behind the columns that it selects."""
        bound = [pair.expression for pair in self.pairs] or [
            expression for expression, _ in (*self.keys, *self.columns)
        ]
        return self.query.removeprefix(f"select {', '.join(bound)} ")


def sources_of(block: Block) -> list[Source]:
    is_table = block.kind == "table"
    return [source for comment in block.sources for source in parsed(comment, is_table=is_table)]


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
    clause, *by = CLAUSE.split(head[1], maxsplit=1)
    relation = clause.split()[1]
    words = one_line(" ".join(clause.split()), 300)
    parts = _split(text, ", ", rest)
    # Without values and their texts it is of a table, even if its block is no longer one.
    is_of_values = any(re.search(r"[=(]", part) for _, part in parts)
    if is_table or (by and not is_of_values):
        keys = [_headed(part) for _, part in _split(by[0], ", ", 0)] if by else []
        columns = [_headed(part) for _, part in parts]
        wanted = ", ".join(expression for expression, _ in (*keys, *columns))
        query = f"select {wanted} {clause}"
        bound = (tuple(keys), tuple(columns))
        return [Source(comment.line, words, query, relation, (), *bound)]
    if not by:
        pairs = [_pair_of(comment, at, part) for at, part in parts]
        query = f"select {', '.join(pair.expression for pair in pairs)} {clause}"
        return [Source(comment.line, words, query, relation, tuple(pairs))]
    sources = []
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
        value_pairs = []
        for no, (start, piece) in enumerate(_split(match["pairs"], ", ", 0)):
            # A bare figure has the column that the value before has in this place.
            is_alone = no < len(before) and token_of(piece.strip()) is not None
            if is_alone:
                value_pairs.append(_pair(comment, before[no].expression, inner + start, piece))
            else:
                value_pairs.append(_pair_of(comment, inner + start, piece))
        before = value_pairs
        pairs = [Pair(by[0].strip(), None), *value_pairs]
        also = "and" if re.search(r"\bwhere\b", clause, re.IGNORECASE) else "where"
        where = f"{clause} {also} {by[0].strip()} = {match['value']}"
        query = f"select {', '.join(pair.expression for pair in pairs)} {where}"
        sources.append(Source(comment.line, one_line(where, 300), query, relation, tuple(pairs)))
    return sources


def _headed(part: str) -> tuple[str, str]:
    pieces = _split(part, " as ", 0)
    if len(pieces) < 2:
        return part.strip(), plain_words(part.strip())
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
    stripped = text.strip()
    is_quoted = len(stripped) > 1 and stripped[0] == stripped[-1] == "'"
    return stripped[1:-1].replace("''", "'") if is_quoted else stripped.strip("`")


def _split(text: str, by: str, start: int) -> list[tuple[int, str]]:
    """The parts of a text from a place on, each with its start; not split in quotes or brackets."""
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
