"""Anchor facts: the query of each gives its value, what it cites exists and says what it quotes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import citation
from pipeline.citation import Citation
from pipeline.errors import InputError
from pipeline.package import blocks
from pipeline.package.blocks import Source
from pipeline.package.facts import Fact, read_facts
from pipeline.package.files import text_of
from pipeline.package.json_places import lines
from pipeline.package.sources import CONTRADICTED, JUDGED, UNCHECKED, Answering, Finding
from pipeline.package.verify import quotes
from pipeline.package.verify.citations import Evidence, cited
from pipeline.package.verify.sidecar import is_same
from pipeline.package.verify.units import units
from pipeline.text import json_text, one_line

CHECK, MOST_SHOWN = "fact", 3


@dataclass(frozen=True)
class FactsFile:
    """A file of facts as read, with the line that each begins on."""

    file: str
    facts: tuple[tuple[int, Fact], ...] = ()
    # What is wrong with it where it cannot be used.
    fault: str | None = None

    @property
    def citations(self) -> Iterator[Citation]:
        """All that they cite, where it has the form of a citation."""
        told = (citation.parse(each) for _, fact in self.facts for each in _cited(fact))
        return (each for each in told if each is not None)


def read(path: Path) -> FactsFile:
    """The facts of a file that is there; what is wrong with it is part of what is read."""
    try:
        facts = read_facts(path)
    except InputError as error:
        return FactsFile(path.name, fault=str(error).removeprefix(f"{path}: "))
    places = lines(text_of(path))
    placed = [(places.get(("anchor_facts", str(no)), 1), fact) for no, fact in enumerate(facts)]
    return FactsFile(path.name, tuple(placed))


def check(given: FactsFile, known: Evidence | None, answers: Answering | None) -> Iterator[Finding]:
    """Every fact; one with nothing to check, or nothing to check it by, is unchecked."""
    if given.fault is not None:
        yield Finding(1, CONTRADICTED, given.file, given.fault, given.file, CHECK)
    quoted: list[quotes.Quote] = []
    for line, fact in given.facts:
        if known is None or answers is None:
            yield Finding(line, UNCHECKED, _claim(fact), None, "no data", CHECK)
            continue
        told = [citation.parse(each) for each in _cited(fact)]
        there = tuple(each for each in told if each and known.exists(each))
        if fact.sql is not None and fact.value is not None:
            yield _answered(line, fact, answers)
        elif not there:
            yield Finding(line, UNCHECKED, _claim(fact), None, "nothing to check", CHECK)
        for text, each in zip(_cited(fact), told, strict=True):
            if each is None:
                yield Finding(line, CONTRADICTED, text, citation.SHAPE, "its form", "citation")
            else:
                yield cited(each, known, line)
        quoted += [quotes.Quote(line, text, there, is_exact=True) for text in fact.quotes if there]
    if known is not None:
        yield from quotes.found(quoted, known)


def _cited(fact: Fact) -> list[str]:
    """What a fact cites; one of text alone does so in its sentence."""
    found = [each for unit in units(blocks.read(fact.fact)) for each in unit.cited]
    return [*fact.citations] or [str(each) for each in found]


def _answered(line: int, fact: Fact, answers: Answering) -> Finding:
    source = one_line(fact.sql or "", 300)
    answer = answers(Source(line, source, fact.sql))
    if answer.fault:
        status, told = answer.unasked
        return Finding(line, status, _claim(fact), told, f"{source}: {answer.fault}", CHECK)
    values = [value for _, value in answer.values]
    # A text of JSON stands for a list or an object.
    found = [_json(value) if isinstance(fact.value, str) else value for value in values]
    is_right = len(found) == 1 and is_same(fact.value, found[0])
    expected = ", ".join(map(_json, values[:MOST_SHOWN])) or "the query gives no row"
    return Finding(line, JUDGED[is_right], _claim(fact), expected, source, CHECK)


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def _claim(fact: Fact) -> str:
    value = "" if fact.value is None else f"{_json(fact.value)}, "
    return f"{fact.id}: {value}{one_line(fact.fact, 120)}"
