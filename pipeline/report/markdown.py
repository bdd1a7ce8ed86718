"""Content -> Markdown, by one template a section."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from pipeline.report import marks, templates
from pipeline.report.commands import commands
from pipeline.report.comparisons import Comparison
from pipeline.report.content import Content
from pipeline.report.marks import Curation
from pipeline.report.own_templates import replaced
from pipeline.report.sections import COMPARISON, SECTIONS, Section

# How much of a list a page holds; what is left out is said.
LIMITS = {
    "summary_findings": 3,
    "own_findings": 5,
    "summary_runs": 6,
    "summary_named": 3,
    "summary_leaders": 3,
    "summary_comparisons": 2,
    "gap_runs": 3,
    "detailed_runs": 20,
    "most_notices": 20,
    "most_slices": 40,
    "most_standings": 8,
    "opening_benchmarks": 3,
    "most_benchmarks": 8,
    "most_modes": 12,
    "most_recommendations": 5,
    "most_inputs": 100,
    "most_comparisons": 40,
    "widest_grid": 12,
    "detailed_comparisons": 6,
}


@dataclass(frozen=True)
class Written:
    """A section as Markdown, without its heading."""

    section: Section
    text: str


@dataclass(frozen=True)
class Document:
    """A report as Markdown, section by section."""

    title: str
    opening: str
    sections: list[Written]

    @property
    def text(self) -> str:
        """The whole file."""
        told = [f"# {self.title}\n\n{self.opening}"]
        told += [f"## {each.section.title}\n\n{_in_steps(each.text)}" for each in self.sections]
        return "\n\n".join(told) + "\n"


def document(
    content: Content,
    *,
    title: str,
    sections: Sequence[Section] = SECTIONS,
    folder: Path | None = None,
    **limits: int,
) -> Document:
    """The sections asked for; templates of a folder, and limits, go before ours."""
    environment = templates.markdown(folder)
    told = {
        "content": content,
        "commands": commands(content, sections, folder),
        "replaced": replaced(folder),
        **LIMITS,
        **limits,
    }
    written: list[Written] = []
    # The last section lists what the others leave to a curator.
    curations: list[Curation] = []
    for section in sections:
        template = environment.get_template(f"{section.name}.md.j2")
        text = _tidy(template.render(curations=curations, **told))
        curations += marks.curations(section.title, text)
        written.append(Written(section, text))
    return Document(title, _tidy(environment.get_template("opening.md.j2").render(**told)), written)


def comparison_page(found: list[Comparison]) -> str:
    """The section on comparisons alone, for what was asked on the spot."""
    template = templates.markdown().get_template(f"{COMPARISON.name}.md.j2")
    told = SimpleNamespace(comparisons=found, series=[])
    # What was asked on the spot stands in no warehouse, and is nobody's report yet.
    unmarked = dict.fromkeys(marks.GLOBALS, lambda *_, **__: "")
    page = template.render(
        content=told, **unmarked, **{**LIMITS, "detailed_comparisons": len(found)}
    )
    return _tidy(f"# {COMPARISON.title}\n\n{page}") + "\n"


def _in_steps(text: str) -> str:
    """Cards that stand below no part, as of an only run, are one level higher: none is left out."""
    above, part, rest = f"\n{text}".partition("\n### ")
    return (above.replace("\n#### ", "\n### ") + part + rest)[1:]


def _tidy(text: str) -> str:
    """One blank line between blocks: loops and conditions leave more, or none before a heading.

    A line that begins with one space goes on with the sentence before it.
    """
    # Each pattern begins with what is to be found: one that looks behind is tried everywhere.
    apart = re.sub(r"\n(#{2,4} )", r"\n\n\1", text)
    apart = re.sub(r"\n(?<=\S\n) (?=\S)", " ", apart)
    apart = re.sub(r"\n\n (?=\S)", "\n\n", apart)
    while "\n\n\n" in apart:
        apart = apart.replace("\n\n\n", "\n\n")
    return apart.strip()
