"""Anchor facts: what one says, of what, with which value, and how each can be checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from pipeline import citation
from pipeline.citation import Citation
from pipeline.errors import InputError
from pipeline.files import UnreadableError
from pipeline.package import blocks, evidence
from pipeline.package.answers import Answering
from pipeline.package.evidence import Evidence, passages
from pipeline.package.files import object_of, text_of
from pipeline.package.findings import CONTRADICTED, JUDGED, UNCHECKED, Finding
from pipeline.package.json_places import lines
from pipeline.package.sources import Source
from pipeline.text import json_text, one_line

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


def document(facts: Sequence[Fact], *, benchmark: str, model: str) -> dict[str, Any]:
    """The file of anchor facts."""
    listed = [asdict(fact) for fact in facts]
    # Drafts: whoever has read them removes the mark.
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
        told = (citation.parse(each) for _, fact in self.facts for each in cites(fact))
        return (each for each in told if each is not None)


def facts_file(path: Path) -> FactsFile:
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
    quoted: list[evidence.Quote] = []
    for line, fact in given.facts:
        if known is None or answers is None:
            yield Finding(line, UNCHECKED, _claim(fact), None, "no data", CHECK)
            continue
        told = [citation.parse(each) for each in cites(fact)]
        there = tuple(each for each in told if each and known.exists(each))
        if fact.sql is not None and fact.value is not None:
            yield _answered(line, fact, answers)
        elif not there:
            yield Finding(line, UNCHECKED, _claim(fact), None, "nothing to check", CHECK)
        for text, each in zip(cites(fact), told, strict=True):
            if each is None:
                yield Finding(line, CONTRADICTED, text, citation.SHAPE, "its form", "citation")
            else:
                yield evidence.found(each, known, line)
        quoted += [
            evidence.Quote(line, text, there, is_exact=True) for text in fact.quotes if there
        ]
    if known is not None:
        yield from evidence.said(quoted, known)


def cites(fact: Fact) -> list[str]:
    """What a fact cites; one of text alone does so in its sentence."""
    found = [each for one in passages(blocks.read(fact.fact)) for *_, each in one.cites]
    return [*fact.citations] or [str(each) for each in found]


def _answered(line: int, fact: Fact, answers: Answering) -> Finding:
    source = one_line(fact.sql or "", 300)
    answer = answers(Source(line, source, fact.sql or ""))
    if answer.fault:
        status = CONTRADICTED if answer.is_wrong else UNCHECKED
        told = "a query that can be run" if answer.is_wrong else None
        return Finding(line, status, _claim(fact), told, f"{source}: {answer.fault}", CHECK)
    values = [value for row in answer.rows for value in row]
    if fact.predicate == "cause" and not values:
        subject = {"run": fact.subject.run, "task": fact.subject.task, "cause": fact.value}
        why = f"no label gives it; write into labels.jsonl: {json_text(subject)}"
        return Finding(line, UNCHECKED, _claim(fact), None, why, CHECK)
    # A text of JSON stands for a list or an object.
    found = [_json(value) if isinstance(fact.value, str) else value for value in values]
    is_right = len(found) == 1 and is_same(fact.value, found[0])
    expected = ", ".join(map(_json, values[:MOST_SHOWN])) or "the query gives no row"
    return Finding(line, JUDGED[is_right], _claim(fact), expected, source, CHECK)


def is_same(given: Any, found: Any) -> bool:
    """Whether a figure is the same, at the digits it is written with; rates have two at least."""
    if isinstance(given, bool) or isinstance(found, bool):
        return given is found
    is_whole = isinstance(given, int) and isinstance(found, int)
    are_numbers = all(isinstance(each, (int, float, Decimal)) for each in (given, found))
    if is_whole or not are_numbers:
        return bool(given == found)
    if not (abs(given) < LARGEST and abs(found) < LARGEST):
        return bool(given == found)
    told = float(given)
    decimals = len(repr(told).partition(".")[2]) if "e" not in repr(told) else 12
    half = 0.5 * 10.0 ** -max(decimals, 2 if abs(told) <= 1 else 1)
    return abs(float(found) - told) <= half + 1e-9 * abs(told)


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
    found = [_fact(f"{path}: fact {place}", place, each) for place, each in enumerate(listed, 1)]
    for name, what in (("fact", "are the same"), ("id", "have the same id")):
        seen: dict[str, int] = {}
        for place, each in enumerate(found):
            first = seen.setdefault(getattr(each, name).lower(), place)
            if first < place:
                told = f"{path}: facts {found[first].id} and {each.id} {what}."
                raise InputError(told, hint="A fact counts once: remove or reword one of them.")
    return found


def review_warning(path: Path) -> str | None:
    """What to say of a file of facts that nobody has read yet; nothing of one that was."""
    if not object_of(path).get("review_required"):
        return None
    return (
        f"warning: {path}: `review_required` is still true: nobody has said that these facts are "
        "worth asking for, and a score by them is provisional. Read them, then remove it."
    )


def _fact(where: str, place: int, value: Any) -> Fact:
    if not isinstance(value, dict):
        raise InputError(f"{where} is not an object.", hint="Each has id, fact and difficulty.")
    given = {name: value[name] for name in SHAPES if value.get(name) not in (None, "")}
    for name, (is_right, shape) in SHAPES.items():
        if (name in given or name == "fact") and not is_right(given.get(name)):
            told = one_line(json_text(given.get(name)), 40)
            raise InputError(f"{where} has the {name} {told}.", hint=f"It is {shape}.")
    told = given.get("subject", {})
    run, task = (None if told.get(name) is None else str(told[name]) for name in ("run", "task"))
    given["id"] = str(given.get("id", f"fact-{place:02d}"))
    given["fact"] = " ".join(given["fact"].split())
    given["subject"] = Subject(run, task, tuple(told.get("rollouts") or ()))
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    return Fact(**values)


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda told: isinstance(told, kinds)


def _are(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(type(each) is kind for each in value)


# What each field of a fact may be, and how to say so; the public toolkit's are the first three.
SHAPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "id": (_is(str, int), "a name"),
    "fact": (
        lambda told: isinstance(told, str) and len(told.strip()) >= SHORTEST,
        f"one claim in a sentence of at least {SHORTEST} characters",
    ),
    "difficulty": (lambda told: told in DIFFICULTIES, f"one of {', '.join(DIFFICULTIES)}"),
    "section": (_is(str), "the title of a section"),
    "subject": (
        lambda told: isinstance(told, dict) and _are(told.get("rollouts") or [], int),
        '{"run": ..., "task": ..., "rollouts": [0, 1]}, each of them optional',
    ),
    "predicate": (lambda told: told in PREDICATES, f"one of {', '.join(PREDICATES)}"),
    "value": (_is(str, int, float), "one text, number, true, false or null"),
    "sql": (_is(str), "the query behind the value"),
    **dict.fromkeys(("citations", "quotes"), (lambda told: _are(told, str), "a list of texts")),
    "mean_score": (_is(int, float), "a number"),
}
