"""Every figure and every source of a report compared with the data."""

from __future__ import annotations

from collections.abc import Iterator

from ..text import one_line
from .blocks import Block, Report
from .compare_sentence import Sentence
from .compare_table import Table
from .findings import CONTRADICTED, UNCHECKED, Finding
from .queries import Answer, Answering, Answers
from .sources import Source, sources_of

TOO_LONG = "too long to be read"
LACKING = "no paragraph, item or table is right before it"


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


def _of_block(report: Report, block: Block, answers: Answering | None) -> Iterator[Finding]:
    sources = sources_of(block)
    answered: list[tuple[Source, Answer]] = []
    why = "no pair of its source" if sources else "no source"
    for source in sources:
        if answers is None:
            why = "no data to compare with"
            break
        answer = answers(source)
        answered.append((source, answer))
        if answer.fault:
            status = CONTRADICTED if answer.is_wrong else UNCHECKED
            expected = "a query that can be run" if answer.is_wrong else None
            yield Finding(source.line, status, source.words, expected, answer.fault)
    known = answers if isinstance(answers, Answers) else None
    if block.kind == "table":
        checked = list(Table(report, block, answered, known).findings())
    else:
        checked = list(Sentence(report, block, answered, known).findings())
    yield from checked
    spans = [each.span for each in checked if each.span]
    for token in block.tokens:
        if token.value is not None and not any(a <= token.start < b for a, b in spans):
            yield Finding(token.line, UNCHECKED, token.text, None, why)
