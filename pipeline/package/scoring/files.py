"""The file of anchor facts that a report is scored by, with errors that say what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import InputError
from pipeline.files import UnreadableError
from pipeline.package.fact_candidates import SHORTEST
from pipeline.package.facts import DIFFICULTIES
from pipeline.package.files import object_of
from pipeline.text import json_text, one_line

MAKE_FACTS = (
    "Draft them with: blade extract-anchor-facts --golden F --output F --benchmark B --model-name M"
)


@dataclass(frozen=True)
class Fact:
    """A claim that a report is scored by."""

    id: str
    fact: str
    difficulty: str
    # The section of the golden report it was taken from, where the file says so.
    section: str | None = None


def facts(path: Path) -> list[Fact]:
    """The facts of a file in its order; a file that cannot be scored by is refused."""
    try:
        listed = object_of(path).get("anchor_facts")
    except UnreadableError as error:
        raise InputError(f"{path}: {one_line(str(error), 200)}.", hint=MAKE_FACTS) from None
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{path}: no list of facts under `anchor_facts`.", hint=MAKE_FACTS)
    found = [_fact(path, place, each) for place, each in enumerate(listed, start=1)]
    _refuse_repeats(path, found)
    return found


def _fact(path: Path, place: int, value: Any) -> Fact:
    where = f"{path}: fact {place}"
    if not isinstance(value, dict):
        raise InputError(f"{where} is not an object.", hint="Each has id, fact and difficulty.")
    text = value.get("fact")
    if not isinstance(text, str) or len(text.strip()) < SHORTEST:
        raise InputError(
            f"{where} has no text of at least {SHORTEST} characters under `fact`.",
            hint="Say one claim in a sentence: what happened, where, how often.",
        )
    difficulty = value.get("difficulty") or "medium"
    if difficulty not in DIFFICULTIES:
        raise InputError(
            f"{where} has the difficulty {one_line(json_text(difficulty), 40)}.",
            hint=f"It is one of {', '.join(DIFFICULTIES)}.",
        )
    given = value.get("id")
    name = f"fact-{place:02d}" if given is None else str(given)
    section = value.get("section")
    return Fact(
        name, " ".join(text.split()), difficulty, section if isinstance(section, str) else None
    )


def _refuse_repeats(path: Path, found: list[Fact]) -> None:
    seen: dict[str, str] = {}
    ids: set[str] = set()
    for each in found:
        told = " ".join(each.fact.lower().split())
        if told in seen:
            raise InputError(
                f"{path}: facts {seen[told]} and {each.id} are the same.",
                hint="A fact counts once: remove or reword one of them.",
            )
        if each.id in ids:
            raise InputError(f"{path}: two facts have the id {each.id}.", hint="Rename one.")
        seen[told] = each.id
        ids.add(each.id)
