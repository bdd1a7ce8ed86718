"""A table compared with what its sources give: rows by their keys, cells by their heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..text import one_line
from .blocks import Block, Report, Span, Token, code_spans, heads_of, plain
from .findings import CONTRADICTED, JUDGED, UNCHECKED, VERIFIED, Edit, Finding
from .queries import Answer, Answers
from .sources import Source
from .values import contains_phrase, is_key, is_number, measured, number


@dataclass
class Table:
    """A table beside what its sources give: rows by their keys, cells by their heads."""

    report: Report
    block: Block
    answered: Sequence[tuple[Source, Answer]]
    answers: Answers | None

    @cached_property
    def heads(self) -> list[str]:
        return heads_of(self.block)

    def findings(self) -> Iterator[Finding]:
        """Every row that a source has keys for."""
        usable = []
        for source, answer in self.answered:
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
        is_whole = len(usable) == len(self.answered)
        for row in self.block.rows if usable else ():
            yield from self._row(row, usable, is_whole=is_whole)

    def _prints(self, cell: str, value: Any) -> bool:
        """Whether a cell prints a value, be it by the alias of a run."""
        if self.answers is not None and isinstance(value, str):
            return is_key(cell, value) or cell == self.answers.short(value)
        return is_key(cell, value)

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
        cells = [span.text for span in row]
        texts = [plain(cell) for cell in cells]
        codes = [[plain(cell[a:b]) for a, b in code_spans(cell)] for cell in cells]
        n_found = 0
        named = ""
        for source, answer, places in usable:
            if any(place >= len(row) for place in places):
                continue
            n_keys = len(source.keys)
            key_forms = [[texts[place], *codes[place]] for place in places]
            named = ", ".join(forms[0] for forms in key_forms)
            if not n_keys:
                rows = answer.rows if len(self.block.rows) == 1 else ()
            else:
                rows = tuple(
                    each
                    for each in answer.rows
                    if all(
                        any(self._prints(form, each[no]) for form in forms)
                        for no, forms in enumerate(key_forms)
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
            not (expression.startswith("'") and expression.endswith("'"))
            for source, *_ in usable
            for expression, _ in source.keys
        )
        if not n_found and is_whole and named and is_open:
            expected = "a row that the query gives"
            yield Finding(line, CONTRADICTED, named, expected, usable[0][0].words)

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
            numbers = [(name, number(value)) for name, value in bound if is_number(value)]
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
        values = numbers
        if len(tokens) != len(numbers):
            # What is undefined may be left out, or be printed once for all.
            values = [each for each in numbers if each[1] is not None]
        if len(tokens) == len(values):
            matched = [*zip(tokens, values, strict=True)]
        else:
            matched = []
            for name, value in values:
                agreeing = (one for one in tokens if measured(one, name).agrees(value))
                if match := next(agreeing, None):
                    matched.append((match, (name, value)))
            # Cells may be merged and parted; what is there must be some of what is bound.
            if values and not matched and (len(tokens) < 2 or len(values) < 2):
                matched = [(tokens[0], values[0])]
        for token, (name, value) in matched:
            is_right = measured(token, name).agrees(value)
            expected = token.text if is_right else measured(token, name).like(value)
            is_sure = len(tokens) == len(values) and not has_names
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
        text = span.text
        line, words = self.report.line_at(span.start), f"{name} {source.words}"
        cell = plain(text)
        expected = ", ".join(map(str, value)) if isinstance(value, list) else value
        where = (span.start, span.end)
        if not cell:
            return Finding(line, UNCHECKED, expected, None, f"{words}: the cell is empty")
        codes = [(start, end) for start, end in code_spans(text)]
        is_right = any(
            self._prints(each, expected)
            for each in (cell, *(plain(text[start:end]) for start, end in codes))
        ) or contains_phrase(plain(expected), cell)
        if is_right:
            return Finding(line, VERIFIED, cell, cell, words, span=where)
        edits: tuple[Edit, ...] = ()
        if len(codes) == 1 and text.strip().startswith("`"):
            start, end = codes[0]
            edits = ((span.start + start, span.start + end, f"`{expected}`"),)
        return Finding(line, CONTRADICTED, cell, one_line(expected), words, edits=edits, span=where)


def _hashable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in row)
