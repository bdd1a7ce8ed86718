"""Content -> Markdown, by one template a section."""

from __future__ import annotations

import re
import shlex
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace

import jinja2

from . import filters, templates, wording
from .aliases import in_markdown
from .cited import Sources
from .comparisons import Comparison
from .content import Content
from .declared import OVERVIEW, SECTIONS, Section
from .figures import BOUND, MARK

ALL_SECTIONS = tuple(SECTIONS.values())
COMPARISON = SECTIONS["cross_model_comparison"]
# How much of a list a draft holds; the rest is a query away.
LIMITS = wording.WORDS["limits"]
# A comment on a pull request may have 65,536 characters.
MOST_CHARACTERS, MOST_DETAILED = 60_000, 3
CUT = "\nThe rest is cut off; `blade compare` prints it for fewer candidates."


@cache
def environment(folder: Path | None = None) -> jinja2.Environment:
    """Our templates, those of a folder before them: each filter makes its own output inert."""
    created = templates.environment("markdown", folder, autoescape=False)
    created.filters |= filters.FILTERS
    created.globals |= {**filters.GLOBALS, **filters.MARKS}
    return created


@dataclass(frozen=True)
class Document:
    """A report section by section: its file is Markdown, a page is made of the same."""

    title: str
    opening: str
    # Markdown with the marks of its figures, without the heading.
    sections: Mapping[Section, str]
    sources: Sources
    aliases: Mapping[str, str]

    @property
    def text(self) -> str:
        """The file: one source comment per block in place of the marks."""
        blocks = [f"# {self.title}", self.opening]
        for section, text in self.sections.items():
            shown = in_markdown(text, self.aliases)
            blocks += [f"## {section.title}", self.sources.written(shown)]
        return "\n\n".join(blocks) + "\n"


def document(
    content: Content, *, sections: Sequence[Section] = ALL_SECTIONS, folder: Path | None = None
) -> Document:
    """The report on a benchmark or a run, by the templates of a folder before ours.

    Of several benchmarks it is an overview.
    """
    if len(content.benchmarks) > 1 and tuple(sections) == ALL_SECTIONS:
        sections = (OVERVIEW,)
    context = {
        "content": content,
        "commands": _commands(content, sections, folder),
        "replaced": templates.replaced(folder),
        **LIMITS,
    }
    context["is_alone"] = content.n_benchmark_runs < 2
    if len(content.runs) == 1:
        # What a change is made of is in the report on both runs.
        context["detailed_comparisons"] = 0

    def rendered(name: str) -> str:
        return _tidy(environment(folder).get_template(f"{name}.md.j2").render(**context))

    with templates.explained(folder):
        written = {section: rendered(section.name) for section in sections}
        title, opening = (BOUND.sub("", rendered(name)) for name in ("title", "opening"))
        report = Document(title, opening, written, content.sources, content.aliases)
    templates.refuse_long(sum(map(len, written.values())), folder)
    return report


def _commands(content: Content, sections: Sequence[Section], folder: Path | None) -> dict[str, str]:
    """What makes a report again; RESULTS and DIR are the reader's, who has no path of ours."""
    own = [] if folder is None else ["--templates", "TEMPLATES"]
    chosen = [word for name in content.chosen for word in ("--run", name)]
    if tuple(sections) != ALL_SECTIONS:
        chosen += ["--sections", ",".join(section.name for section in sections)]
    report = ["blade", "report", "--warehouse", "DIR/warehouse.duckdb", *chosen, *own]
    whole = " ".join([content.settings["command"], *own])
    return {"whole": whole, "report": shlex.join(report)}


def comparison_page(
    comparisons: list[Comparison],
    *,
    opening: str = "",
    link: str = "",
    aliases: Mapping[str, str] | None = None,
) -> str:
    """The section on comparisons alone, for what was asked on the spot: it has no sources.

    It fits a comment on a pull request: what is beyond that is cut off, line by line.
    """
    template = environment().get_template(f"{COMPARISON.name}.md.j2")
    content = SimpleNamespace(comparisons=comparisons, series=[])
    limits = {**LIMITS, "detailed_comparisons": MOST_DETAILED, "is_alone": False}
    page = template.render(content=content, **limits)
    whole = f"[The whole report]({link})\n\n" if link else ""
    page = filters.CHART.sub("", f"# {COMPARISON.title}\n\n{opening}{whole}{page}")
    page = in_markdown(BOUND.sub("", MARK.sub("", page)), aliases or {})
    lines = list(map(filters.settled, _tidy(page).split("\n")))
    ends = list(accumulate(len(line) + 1 for line in lines))
    if ends[-1] > MOST_CHARACTERS:
        lines = [*lines[: bisect(ends, MOST_CHARACTERS - len(CUT))], *CUT.split("\n")]
    return "\n".join(lines) + "\n"


def _tidy(text: str) -> str:
    """One blank line between blocks: loops and conditions leave more, or none before a heading.

    A line that begins with one space goes on with the sentence before it.
    """
    # Each pattern begins with what is to be found: one that looks behind is tried everywhere.
    apart = re.sub(r"\n(#{2,4} )", r"\n\n\1", text)
    apart = re.sub(r"\n(?<=\S\n) (?=\S)", " ", apart)
    apart = re.sub(r"\n\n (?=\S)", "\n\n", apart)
    return re.sub(r"\n{3,}", "\n\n", apart).strip()
