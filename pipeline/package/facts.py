"""Anchor facts: what one says, of what, with which value, and how each can be checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from .. import citation
from ..citation import Citation
from ..errors import InputError
from ..files import UnreadableError
from ..report.filters import literal
from ..text import json_text, one_line
from . import blocks, evidence
from .evidence import Evidence
from .files import object_of, text_of
from .findings import CONTRADICTED, JUDGED, UNCHECKED, Finding
from .json_places import lines
from .passages import passages
from .queries import Answering
from .sources import Source

DIFFICULTIES = HIGH, MEDIUM, LOW = "high", "medium", "low"
PREDICATES = tuple(
    "outcome count rate bucket mode cause check direction expected_call other".split()
)
SHORTEST = 20
CHECK, MOST_SHOWN, LARGEST = "fact", 3, 1e15
MAKE_FACTS = (
    "Draft them with: blade extract-anchor-facts --golden F --output F --benchmark B --model-name M"
)

Value = str | float | int | bool | None


@dataclass(frozen=True)
class Subject:
    """What a fact is about: a run, a task of it, some of its rollouts."""

    run: str | None = None
    task: str | None = None
    rollouts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Fact:
    """A claim that a report is scored by; the public toolkit's files hold the first three alone."""

    id: str
    fact: str
    difficulty: str = MEDIUM
    section: str | None = None
    subject: Subject = Subject()
    predicate: str = "other"
    value: Value = None
    # The query that gives the value.
    sql: str | None = None
    citations: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    mean_score: float | None = None

    @property
    def is_structured(self) -> bool:
        """Whether more than its text is known of it."""
        named = self.subject != Subject() or self.predicate != "other" or self.value is not None
        return named or bool(self.sql or self.citations or self.quotes)

    @property
    def is_text(self) -> bool:
        """Whether nothing can be compared but its text."""
        return self.value is None and not self.quotes

    @property
    def cited(self) -> list[tuple[str, Citation | None]]:
        """What it cites, in its sentence if no list has it; None for what is no citation."""
        if self.citations:
            return [(text, citation.parse(text)) for text in self.citations]
        every = passages(blocks.read(self.fact))
        return [(str(each), each) for passage in every for *_, each in passage.cites]


def document(facts: Sequence[Fact], *, benchmark: str, model: str) -> dict[str, Any]:
    listed = [asdict(fact) for fact in facts]
    # Drafts: the person who has read them removes the mark.
    about = {"benchmark": benchmark, "model": model, "review_required": True}
    return {**about, "anchor_facts": listed}


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
        return (each for _, fact in self.facts for _, each in fact.cited if each is not None)


def with_full_names(file: FactsFile, full_names: Mapping[str, str]) -> FactsFile:
    """The same facts of runs by their full names: a fact may be of a report that has aliases."""

    def renamed(fact: Fact) -> Fact:
        sql = fact.sql
        for alias, run in full_names.items():
            sql = sql.replace(literal(alias), literal(run)) if sql else sql
        known = [
            str(replace(each, run_id=full_names.get(each.run_id, each.run_id))) if each else text
            for text, each in fact.cited
        ]
        return replace(fact, sql=sql, citations=tuple(known))

    return replace(file, facts=tuple((line, renamed(fact)) for line, fact in file.facts))


def facts_file(path: Path) -> FactsFile:
    """The facts of a file that is there; what is wrong with it is part of what is read."""
    try:
        facts = read_facts(path)
    except InputError as error:
        return FactsFile(path.name, fault=str(error).removeprefix(f"{path}: "))
    places = lines(text_of(path))
    placed = [(places.get(("anchor_facts", str(no)), 1), fact) for no, fact in enumerate(facts)]
    return FactsFile(path.name, tuple(placed))


def check(file: FactsFile, known: Evidence | None, answers: Answering | None) -> Iterator[Finding]:
    """Every fact; one with nothing to check, or nothing to check it by, is unchecked."""
    if file.fault is not None:
        yield Finding(1, CONTRADICTED, file.file, file.fault, file.file, CHECK)
    quoted: list[evidence.Quote] = []
    for line, fact in file.facts:
        if known is None or answers is None:
            yield Finding(line, UNCHECKED, _claim(fact), None, "no data", CHECK)
            continue
        cited = fact.cited
        there = tuple(each for _, each in cited if each and known.exists(each))
        if fact.sql is not None and fact.value is not None:
            yield _answered(line, fact, answers)
        elif not there:
            yield Finding(line, UNCHECKED, _claim(fact), None, "nothing to check", CHECK)
        for text, each in cited:
            if each is None:
                yield Finding(line, CONTRADICTED, text, citation.SHAPE, "its form", "citation")
            else:
                yield evidence.citation_finding(each, known, line)
        quoted += [
            evidence.Quote(line, text, there, is_exact=True) for text in fact.quotes if there
        ]
    if known is not None:
        yield from evidence.quote_findings(quoted, known)


def _answered(line: int, fact: Fact, answers: Answering) -> Finding:
    source = one_line(fact.sql or "", 300)
    answer = answers(Source(line, source, fact.sql or ""))
    if answer.fault:
        status = CONTRADICTED if answer.is_wrong else UNCHECKED
        expected = "a query that can be run" if answer.is_wrong else None
        return Finding(line, status, _claim(fact), expected, f"{source}: {answer.fault}", CHECK)
    values = [value for row in answer.rows for value in row]
    if fact.predicate == "cause" and not values:
        subject = {"run": fact.subject.run, "task": fact.subject.task, "cause": fact.value}
        why = f"no label gives it; write into labels.jsonl: {json_text(subject)}"
        return Finding(line, UNCHECKED, _claim(fact), None, why, CHECK)
    # A list or an object is compared as JSON text.
    shown = [_json(value) if isinstance(fact.value, str) else value for value in values]
    is_right = len(shown) == 1 and is_same(fact.value, shown[0])
    expected = ", ".join(map(_json, values[:MOST_SHOWN])) or "the query gives no row"
    return Finding(line, JUDGED[is_right], _claim(fact), expected, source, CHECK)


def is_same(printed: Any, value: Any) -> bool:
    """Whether a figure is the same, at the digits it is written with; rates have two at least."""
    if isinstance(printed, bool) or isinstance(value, bool):
        return printed is value
    is_whole = isinstance(printed, int) and isinstance(value, int)
    are_numbers = all(isinstance(each, (int, float, Decimal)) for each in (printed, value))
    if is_whole or not are_numbers:
        return bool(printed == value)
    if not (abs(printed) < LARGEST and abs(value) < LARGEST):
        return bool(printed == value)
    figure = float(printed)
    decimals = len(repr(figure).partition(".")[2]) if "e" not in repr(figure) else 12
    half = 0.5 * 10.0 ** -max(decimals, 2 if abs(figure) <= 1 else 1)
    return abs(float(value) - figure) <= half + 1e-9 * abs(figure)


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def _claim(fact: Fact) -> str:
    value = "" if fact.value is None else f"{_json(fact.value)}, "
    return f"{fact.id}: {value}{one_line(fact.fact, 120)}"


def read_facts(path: Path) -> list[Fact]:
    """The facts of a file in its order, ours or the public toolkit's.

    Keys that are not ours are ignored; a file that no report can be scored by is refused.
    """
    try:
        listed = object_of(path).get("anchor_facts")
    except UnreadableError as error:
        raise InputError(f"{path}: {one_line(str(error), 200)}.", hint=MAKE_FACTS) from None
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{path}: no list of facts under `anchor_facts`.", hint=MAKE_FACTS)
    facts = [_fact(f"{path}: fact {place}", place, each) for place, each in enumerate(listed, 1)]
    for name, what in (("fact", "are the same"), ("id", "have the same id")):
        seen: dict[str, int] = {}
        for place, each in enumerate(facts):
            first = seen.setdefault(getattr(each, name).lower(), place)
            if first < place:
                message = f"{path}: facts {facts[first].id} and {each.id} {what}."
                raise InputError(message, hint="A fact counts once: remove or reword one of them.")
    return facts


def review_warning(path: Path) -> str | None:
    """What to say of a file of facts that nobody has read yet; nothing of one that was."""
    if not object_of(path).get("review_required"):
        return None
    return (
        f"warning: {path}: `review_required` is still true: nobody confirmed that these facts are "
        "worth asking for, and a score by them is provisional. Read them, then remove it."
    )


def _fact(where: str, place: int, value: Any) -> Fact:
    if not isinstance(value, dict):
        raise InputError(f"{where} is not an object.", hint="Each has id, fact and difficulty.")
    fields = {name: value[name] for name in SHAPES if value.get(name) not in (None, "")}
    for name, (is_right, shape) in SHAPES.items():
        if (name in fields or name == "fact") and not is_right(fields.get(name)):
            shown = one_line(json_text(fields.get(name)), 40)
            raise InputError(f"{where} has the {name} {shown}.", hint=f"It is {shape}.")
    subject = fields.get("subject", {})
    run, task = (
        None if subject.get(name) is None else str(subject[name]) for name in ("run", "task")
    )
    fields["id"] = str(fields.get("id", f"fact-{place:02d}"))
    fields["fact"] = " ".join(fields["fact"].split())
    fields["subject"] = Subject(run, task, tuple(subject.get("rollouts") or ()))
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
    return Fact(**values)


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _are(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(type(each) is kind for each in value)


# What each field of a fact may be, and how to say so; the public toolkit's are the first three.
SHAPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "id": (_is(str, int), "a name"),
    "fact": (
        lambda text: isinstance(text, str) and len(text.strip()) >= SHORTEST,
        f"one claim in a sentence of at least {SHORTEST} characters",
    ),
    "difficulty": (lambda word: word in DIFFICULTIES, f"one of {', '.join(DIFFICULTIES)}"),
    "section": (_is(str), "the title of a section"),
    "subject": (
        lambda subject: isinstance(subject, dict) and _are(subject.get("rollouts") or [], int),
        '{"run": ..., "task": ..., "rollouts": [0, 1]}, each of them optional',
    ),
    "predicate": (lambda word: word in PREDICATES, f"one of {', '.join(PREDICATES)}"),
    "value": (_is(str, int, float), "one text, number, true, false or null"),
    "sql": (_is(str), "the query behind the value"),
    **dict.fromkeys(("citations", "quotes"), (lambda texts: _are(texts, str), "a list of texts")),
    "mean_score": (_is(int, float), "a number"),
}
