"""Anchor facts: what one says, of what, with which value, and how each can be checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import InputError
from pipeline.files import UnreadableError
from pipeline.package.files import object_of
from pipeline.text import json_text, one_line

DIFFICULTIES = HIGH, MEDIUM, LOW = "high", "medium", "low"
PREDICATES = tuple(
    "outcome count rate bucket mode cause check direction expected_call other".split()
)
SHORTEST = 20
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
    # Names that a report which knows the fact would use.
    terms: tuple[str, ...] = ()
    mean_score: float | None = None

    @property
    def is_structured(self) -> bool:
        """Whether more than its text is known of it."""
        named = self.subject != Subject() or self.predicate != "other" or self.value is not None
        return named or bool(self.sql or self.citations or self.quotes or self.terms)


def document(facts: Sequence[Fact], *, benchmark: str, model: str) -> dict[str, Any]:
    """The file of anchor facts."""
    listed = [asdict(fact) for fact in facts]
    return {"benchmark": benchmark, "model": model, "anchor_facts": listed}


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
    _refuse_repeats(path, found)
    return found


def _fact(where: str, place: int, value: Any) -> Fact:
    if not isinstance(value, dict):
        raise InputError(f"{where} is not an object.", hint="Each has id, fact and difficulty.")
    text = value.get("fact")
    if not isinstance(text, str) or len(text.strip()) < SHORTEST:
        raise InputError(
            f"{where} has no text of at least {SHORTEST} characters under `fact`.",
            hint="Say one claim in a sentence: what happened, where, how often.",
        )
    given, section, score = value.get("id"), value.get("section"), value.get("mean_score")
    told, query = value.get("value"), value.get("sql")
    if isinstance(told, (dict, list)) or not (query is None or isinstance(query, str)):
        raise InputError(
            f"{where} has a `value` or an `sql` of another kind.",
            hint="A value is one text, number, true, false or null; sql is the query behind it.",
        )
    is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
    return Fact(
        id=f"fact-{place:02d}" if given is None else str(given),
        fact=" ".join(text.split()),
        difficulty=_one_of(where, "difficulty", value.get("difficulty") or MEDIUM, DIFFICULTIES),
        section=section if isinstance(section, str) else None,
        subject=_subject(where, value.get("subject")),
        predicate=_one_of(where, "predicate", value.get("predicate") or "other", PREDICATES),
        value=told,
        sql=query or None,
        citations=_texts(where, "citations", value.get("citations")),
        quotes=_texts(where, "quotes", value.get("quotes")),
        terms=_texts(where, "terms", value.get("terms")),
        mean_score=score if is_number else None,
    )


def _one_of(where: str, name: str, value: Any, known: Sequence[str]) -> str:
    if value not in known:
        raise InputError(
            f"{where} has the {name} {one_line(json_text(value), 40)}.",
            hint=f"It is one of {', '.join(known)}.",
        )
    return str(value)


def _subject(where: str, value: Any) -> Subject:
    told = {} if value is None else value
    rollouts = told.get("rollouts") or [] if isinstance(told, dict) else None
    if not isinstance(rollouts, list) or any(type(each) is not int for each in rollouts):
        raise InputError(
            f"{where} has a `subject` of another kind.",
            hint='It is {"run": ..., "task": ..., "rollouts": [0, 1]}, each of them optional.',
        )
    run, task = (None if told.get(name) is None else str(told[name]) for name in ("run", "task"))
    return Subject(run, task, tuple(rollouts))


def _texts(where: str, name: str, value: Any) -> tuple[str, ...]:
    told = [] if value is None else value
    if not isinstance(told, list) or not all(isinstance(each, str) for each in told):
        raise InputError(f"{where} has no list of texts under `{name}`.", hint="Remove it, or fix.")
    return tuple(told)


def _refuse_repeats(path: Path, found: list[Fact]) -> None:
    seen: dict[str, str] = {}
    ids: set[str] = set()
    for each in found:
        told = each.fact.lower()
        if told in seen:
            raise InputError(
                f"{path}: facts {seen[told]} and {each.id} are the same.",
                hint="A fact counts once: remove or reword one of them.",
            )
        if each.id in ids:
            raise InputError(f"{path}: two facts have the id {each.id}.", hint="Rename one.")
        seen[told] = each.id
        ids.add(each.id)
