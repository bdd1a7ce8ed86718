"""D1: a skill that is there, whole, substantive, and about this benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline.files import UnreadableError
from pipeline.package.files import is_there, text_of
from pipeline.package.layout import Package
from pipeline.package.reading import Reading, Section, read
from pipeline.package.validate.check import Check, Rule, counted, listed
from pipeline.package.validate.data import Data
from pipeline.package.validate.frontmatter import NoFrontmatterError, split
from pipeline.package.validate.prose import substance
from pipeline.package.validate.skill_content import about_data, about_itself
from pipeline.package.validate.skill_sections import SIX, TEMPLATE, by_name

LEAST_WORDS = 25
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}")
PRESENT = Rule(
    "skill.present",
    "D1 skill",
    "No benchmark-specific analysis skill was found.",
    "Add skill/SKILL.md or SKILL.md; `blade init` drafts one from the rollouts.",
    "D1 skill missing",
)
FRONTMATTER = Rule(
    "skill.frontmatter",
    "YAML frontmatter",
    "Agents find a skill by the name and the description at its top.",
    "Begin the file with a line `---`, then `name: ...` and `description: ...`, then `---`.",
)
SECTION = Rule(
    "skill.section",
    "skill section",
    "A section that is absent, blank or filler teaches an agent nothing of this benchmark.",
    "Write it for this benchmark; do not leave it as a short placeholder.",
)
CURATED = Rule(
    "skill.curated",
    "skill is curated",
    "A draft marks with `<!-- curate: ... -->` what only a person can write.",
    "Write each place, and remove the comment.",
)


def checks(package: Package, known: Data | None) -> list[Check]:
    """All checks of D1."""
    if package.skill is None:
        return [_absent(package.folder)]
    name = package.skill.relative_to(package.folder).as_posix()
    try:
        text = text_of(package.skill)
    except UnreadableError as error:
        return [PRESENT.failed(f"{name} {error}", file=name)]
    if not text.strip():
        return [PRESENT.failed(f"{name} is blank", file=name)]
    head, body = _frontmatter(text, name)
    reading = read(body)
    sections = by_name(reading)
    return [
        PRESENT.passed(name, file=name),
        head,
        *_sections(sections, name),
        *about_itself(sections, reading, name),
        *about_data(sections, body, known, name),
        _curated(reading, name),
    ]


def _absent(folder: Path) -> Check:
    odd = next((each for each in ("skill/SKILL.md", "SKILL.md") if is_there(folder / each)), "")
    return PRESENT.failed(f"{odd} is no file" if odd else "no skill/SKILL.md and no SKILL.md")


def _frontmatter(text: str, name: str) -> tuple[Check, str]:
    try:
        values, body = split(text)
    except NoFrontmatterError as error:
        return FRONTMATTER.failed(f"{name}: {error}", file=name, line=1), text
    lacking = [key for key in ("name", "description") if not values.get(key)]
    if lacking:
        told = f"{name}: {' and '.join(lacking)} absent or empty"
        return FRONTMATTER.failed(told, file=name, line=1), body
    if not NAME.fullmatch(values["name"]):
        told = f"{name}: the name is no plain name of at most 64 letters, digits, - and _"
        return FRONTMATTER.failed(told, file=name, line=1), body
    n_words = len(values["description"].split())
    if n_words < 5:
        told = f"{name}: a description of {counted(n_words, 'word')} does not say when to use it"
        return FRONTMATTER.failed(told, file=name, line=1), body
    return FRONTMATTER.passed(f"name {values['name']}, description", file=name), body


def _sections(sections: Mapping[str, list[Section]], name: str) -> Iterator[Check]:
    seen: set[str] = set()
    for title in SIX:
        if title not in sections:
            yield SECTION.failed(f"{title}: no such heading", file=name)
            continue
        found = substance(sections[title], seen, with_code=True)
        line = sections[title][0].line
        # A list of headings is short.
        lack = found.lack(15 if title == TEMPLATE else LEAST_WORDS)
        if lack:
            yield SECTION.failed(f"{title} (line {line}) {lack}", file=name, line=line)
        else:
            yield SECTION.passed(f"{title}: {counted(found.n_words, 'word')}", file=name)


def _curated(reading: Reading, name: str) -> Check:
    waiting = reading.curations
    if not waiting:
        return CURATED.passed("no place waits for a person", file=name)
    lines = listed([str(line) for line, _ in waiting])
    told = f"{counted(len(waiting), 'place')} in {name} wait for a person: line {lines}"
    return CURATED.failed(told, file=name, line=waiting[0][0])
