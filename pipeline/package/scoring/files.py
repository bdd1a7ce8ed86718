"""Reports and facts read, and results written, with errors that say what to do next."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import InputError
from pipeline.text import json_text, one_line

SHORTEST_FACT = 20
LARGEST = 64 * 1024 * 1024
DIFFICULTIES = ("high", "medium", "low")
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


def report_text(path: Path) -> str:
    """A report as text; bytes that are not UTF-8 become marks of a lost character."""
    text = _bytes(path).decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise InputError(f"{path}: the report is empty.", hint="Give the Markdown of a report.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def facts(path: Path) -> list[Fact]:
    """The facts of a file in its order; a file that cannot be scored by is refused."""
    try:
        document = json.loads(_bytes(path).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: not JSON: {one_line(str(error), 200)}.", hint=MAKE_FACTS
        ) from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: the top level is not an object.", hint=MAKE_FACTS)
    listed = document.get("anchor_facts")
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{path}: no list of facts under `anchor_facts`.", hint=MAKE_FACTS)
    found = [_fact(path, place, each) for place, each in enumerate(listed, start=1)]
    _refuse_repeats(path, found)
    return found


def write_text(path: Path, text: str) -> None:
    """Text written beside and moved into place, with the folders it needs."""
    beside = path.with_name(f".{path.name}.building")
    try:
        if path.is_dir():
            raise IsADirectoryError(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(path)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be written: {_reason(error)}.", hint="Choose another place for it."
        ) from None


def write_json(path: Path, value: Any) -> None:
    """A value as JSON that ends with a line end."""
    write_text(path, json_text(value, indent=2) + "\n")


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder")
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path}: over {LARGEST // 2**20} MB.", hint="Is this the right file?")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be read: {_reason(error)}.", hint="Check the path."
        ) from None


def _reason(error: Exception) -> str:
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _fact(path: Path, place: int, value: Any) -> Fact:
    where = f"{path}: fact {place}"
    if not isinstance(value, dict):
        raise InputError(f"{where} is not an object.", hint="Each has id, fact and difficulty.")
    text = value.get("fact")
    if not isinstance(text, str) or len(text.strip()) < SHORTEST_FACT:
        raise InputError(
            f"{where} has no text of at least {SHORTEST_FACT} characters under `fact`.",
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
