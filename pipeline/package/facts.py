"""Anchor facts: what one says, of what, with which value, and how each can be checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    for name, what in (("fact", "are the same"), ("id", "have the same id")):
        seen: dict[str, int] = {}
        for place, each in enumerate(found):
            first = seen.setdefault(getattr(each, name).lower(), place)
            if first < place:
                told = f"{path}: facts {found[first].id} and {each.id} {what}."
                raise InputError(told, hint="A fact counts once: remove or reword one of them.")
    return found


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
    **dict.fromkeys(
        ("citations", "quotes", "terms"), (lambda told: _are(told, str), "a list of texts")
    ),
    "mean_score": (_is(int, float), "a number"),
}
