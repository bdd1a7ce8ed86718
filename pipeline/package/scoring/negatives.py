"""Look-alikes of a golden report that no honest score may fall for, built without chance."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.package.comments import without_comments
from pipeline.package.scoring import negation, swaps
from pipeline.package.scoring.markdown import Chunk, chunks, joined
from pipeline.package.scoring.passages import report as passages_of
from pipeline.package.scoring.vocabulary import FUNCTION_WORDS
from pipeline.package.shallow import shallow, tables_only

TOKEN = re.compile(r"(?:`[^`\n]*`|[^\s|])+")
KEYWORD = re.compile(r"[A-Za-z][\w'-]{2,}")
A_LINE = 14


@dataclass(frozen=True)
class Negative:
    """A look-alike: its name, what was done to the golden report, and the text."""

    name: str
    what: str
    text: str


def negatives(golden: str) -> list[Negative]:
    """All look-alikes that differ from the golden report, in a fixed order."""
    seen = without_comments(golden)
    made = [Negative(name, what, make(seen)) for name, what, make in MAKERS]
    return [each for each in made if each.text.split() != seen.split()]


def words_shuffled(text: str) -> str:
    """The words of each section in an order of their own, in lines as long as before."""
    return joined([Chunk(chunk.heading, _shuffled(chunk)) for chunk in chunks(text)])


def vocabulary(text: str) -> str:
    """Each section's words once, in alphabetical order."""
    listed = ((chunk.heading, sorted(set(_tokens(chunk)))) for chunk in chunks(text))
    return joined([Chunk(heading, _listed(words)) for heading, words in listed])


def sections_swapped(text: str) -> str:
    """Each section's text under the heading of the next one."""
    found = chunks(text)
    named = [chunk for chunk in found if chunk.heading]
    moved = (chunk.body for chunk in named[-1:] + named[:-1])
    return joined([Chunk(c.heading, next(moved)) if c.heading else c for c in found])


def keywords(text: str) -> str:
    """The shallow report, and below its headings all that the sections name and count."""
    lists = [
        "\n".join([f"## {title}", *_listed(words)]) for title, words in _keywords(text).items()
    ]
    return shallow(text).text + "\n" + "\n\n".join(lists) + "\n"


def _keywords(text: str) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for each in passages_of(text).statements:
        own = found.setdefault(each.title or "Notes", {})
        named = [*map(str, each.citations), *each.tasks, *each.names, *each.quotes]
        counted = [f"{figure.value:g}" for figure in each.figures]
        told = [word for word in KEYWORD.findall(each.text) if word.lower() not in FUNCTION_WORDS]
        own.update(dict.fromkeys([*named, *counted, *told]))
    return {title: list(words) for title, words in found.items()}


def _tokens(chunk: Chunk) -> list[str]:
    lines = (line for line in chunk.body if not _is_rule(line))
    return [token for line in lines for token in TOKEN.findall(line)]


def _shuffled(chunk: Chunk) -> list[str]:
    left = sorted(enumerate(_tokens(chunk)), key=lambda pair: _chance(f"{pair[0]} {pair[1]}"))
    words = iter([word for _, word in left])
    return [
        line if _is_rule(line) else TOKEN.sub(lambda _: next(words), line) for line in chunk.body
    ]


def _is_rule(line: str) -> bool:
    """The line below the heads of a table."""
    return bool(re.fullmatch(r"\s*\|?[\s:|-]+\|?\s*", line)) and "-" in line


def _chance(text: str) -> bytes:
    """An order that has nothing to do with meaning, and is the same everywhere."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).digest()


def _listed(words: list[str]) -> list[str]:
    rows = [words[place : place + A_LINE] for place in range(0, len(words), A_LINE)]
    return ["", *(" ".join(row) for row in rows), ""]


MAKERS: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("words-shuffled", "the words of each section shuffled", words_shuffled),
    ("vocabulary-list", "each section's words in alphabetical order", vocabulary),
    ("numbers-perturbed", "every number another", swaps.numbers_perturbed),
    ("ids-swapped", "tasks and rollouts exchanged", swaps.ids_swapped),
    ("claims-negated", "every sentence says the opposite", negation.claims_negated),
    ("sections-swapped", "each section's text under another heading", sections_swapped),
    ("keyword-stuffing", "the shallow report with all names, numbers and words listed", keywords),
    ("metric-dump", "all headings and tables, no prose", tables_only),
)
