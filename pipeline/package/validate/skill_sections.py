"""Which of a skill's six sections a heading opens, whatever words its author chose."""

from __future__ import annotations

import re

from pipeline.package.headings import named
from pipeline.package.reading import Reading, Section

OVERVIEW = "Overview"
SCHEMA = "Input schema"
FUNNEL = "Workflow funnel"
TAXONOMY = "Failure taxonomy"
WORKFLOW = "Analysis workflow"
TEMPLATE = "Report template"
# In this order: the first that a heading holds decides.
WORDS = {
    FUNNEL: r"funnel|\bstages?\b|pipeline|drop[- ]?off",
    TEMPLATE: r"report|template|output format|deliverable",
    TAXONOMY: r"taxonomy|failure|\blabels?\b|error (modes?|categor|types?)|root causes?",
    SCHEMA: r"schema|\binputs?\b|\bfields?\b|data (format|layout|model)|\brows?\b"
    r"|rollout (data|format)",
    WORKFLOW: r"workflow|procedure|\bsteps\b|process|how to (analy|use|run)|analysis|method",
    OVERVIEW: r"overview|introduction|\babout\b|purpose|background|what (it|this|the)|summary",
}
SIX = (OVERVIEW, SCHEMA, FUNNEL, TAXONOMY, WORKFLOW, TEMPLATE)
PATTERNS = {name: re.compile(words, re.IGNORECASE) for name, words in WORDS.items()}


def by_name(reading: Reading) -> dict[str, list[Section]]:
    """The parts of each section, with what stands below deeper headings of it."""
    found: dict[str, list[Section]] = {}
    current, level = None, 0
    # One heading of the first level is the title; several are sections.
    title_level = 1 if sum(section.level == 1 for section in reading.sections) < len(SIX) else 0
    for section in reading.sections:
        # A deeper heading belongs to what it stands under, whatever its words.
        if current is None or section.level <= level:
            current, level = _own(section, title_level), section.level
        if current:
            found.setdefault(current, []).append(section)
    return found


def _own(section: Section, title_level: int) -> str | None:
    return named(section.title, PATTERNS) if section.level > title_level else None


def text(sections: list[Section]) -> str:
    """All words of some sections, headings and fences included."""
    pieces = [
        piece
        for section in sections
        for piece in (section.title, *(block.text for block in section.blocks))
    ]
    return "\n".join(pieces)
