"""The drafts of a benchmark's skill and profile: what the data say, and places for a person."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from ...files import read_queries
from ...report import SECTIONS, Source, filters, wording
from ...report.tables import dicts
from ...report.templates import environment
from ...text import counted, one_line

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
QUERIES = read_queries("package/scaffold/skill")
PROFILE_QUERIES = read_queries("package/scaffold/profile")
LONGEST_NAME = 60
# A generated part of a skill: its name, and its text.
PART = re.compile(r"<!-- generated: (?P<name>\w+) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL)
# Parts are put together without blank lines.
UNSPACED = re.compile(r"(?<!\n)\n(?=#{2,3} |<!-- (?:end|curate))")


def skill_text(source: Source | None, benchmark: str, *, folder: str) -> str:
    """The skill as the data suggest it; without data, what is not known and where it goes."""
    facts: dict[str, Any] | None = None
    if source is not None:
        facts = {name: dicts(source, query) for name, query in QUERIES.items()}
    slug = re.sub(r"[^a-z0-9]+", "-", benchmark.lower()).strip("-")[:LONGEST_NAME].strip("-")
    return _rendered(
        "skill.md.j2",
        facts=facts,
        package=filters.code(shlex.quote(folder)),
        name=filters.code(shlex.quote(benchmark)),
        stages=WORDS["stages"],
        causes=WORDS["causes"],
        sections=[each.title for each in SECTIONS.values()],
        shown_by=wording.WORDS["reasons"],
        benchmark=one_line(benchmark, LONGEST_NAME),
        slug=slug or "benchmark",
    )


def refreshed(old: str, new: str) -> tuple[str, list[str]]:
    """The old text with its generated parts as the new one has them, and those without a place."""
    parts = {match["name"]: match[0] for match in PART.finditer(new)}
    text = PART.sub(lambda match: parts.get(match["name"], match[0]), old)
    there = {match["name"] for match in PART.finditer(old)}
    return text, [name for name in parts if name not in there]


def profile_text(source: Source | None, benchmark: str) -> str:
    """blade.toml; without data it only names the benchmark."""
    queries = PROFILE_QUERIES.items()
    facts = {name: dicts(source, query) for name, query in queries} if source else None
    return _rendered("blade.toml.j2", benchmark=benchmark, facts=facts)


def lines(template: str, **values: Any) -> list[str]:
    text = _environment().get_template(template).render(values)
    return [line for line in text.split("\n") if line]


def _rendered(template: str, **values: Any) -> str:
    """One template, with one blank line between its parts; what is not ours comes out inert."""
    text = _environment().get_template(template).render(values).strip("\n") + "\n"
    # A name that begins a comment must not look like a place for a curator.
    spaced = UNSPACED.sub("\n\n", text).replace(filters.OPENING, "<! --")
    return "\n".join(map(filters.settled, re.sub(r"\n{3,}", "\n\n", spaced).split("\n")))


@cache
def _environment() -> jinja2.Environment:
    templates = environment("package", None, autoescape=False)
    templates.filters |= {name: filters.FILTERS[name] for name in ("cell", "excerpt", "ref")}
    templates.filters |= {
        "cell_code": lambda text: f"`{filters.code(text)}`".replace("|", "\\|"),
        "count": wording.defined(wording.FORMATS["count"]),
        "many": counted,
        "number": wording.defined(wording.FORMATS["num"]),
        "pct": wording.defined(wording.FORMATS["pct"]),
    }
    templates.globals |= {"curate": filters.curate, "quoted": _quoted, "share": _share}
    return templates


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({100 * part / whole:.1f}%)" if whole else "")


def _quoted(text: str) -> str:
    """A string of JSON, or a basic one of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
