"""The drafts of a benchmark's skill and profile: what the data say, and places for a person."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import pyarrow as pa

from pipeline.package.scaffold.fields import TOLD, asked, fields
from pipeline.report import Source, filters, marks, wording
from pipeline.report.templates import environment
from pipeline.text import one_line

LONGEST_NAME = 60
# A generated part of a skill: its name, and what stands in it.
PART = re.compile(r"<!-- generated: (?P<name>\w+) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL)
PLAIN_PATH = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?")
# Parts are put together without blank lines.
UNSPACED = re.compile(r"(?<!\n)\n(?=#{2,3} |<!-- (?:end|curate))")
CODECS = {".gz": "gzip", ".zst": "zstd"}
MOST_BYTES, MOST_ROWS = 8 << 20, 200


def skill_text(source: Source | None, benchmark: str, *, folder: str, home: Path | None) -> str:
    """The skill as the data suggest it; without data, what is not known and where it goes."""
    facts: dict[str, Any] | None = None
    if source is not None and home is not None:
        facts = {name: asked(source, query) for name, query in TOLD["queries"].items()}
        read = asked(source, "select path from raw.files where kind = 'rollouts' order by path")
        facts["declared"] = _declared([home / row["path"] for row in read])
        facts["fields"] = fields(source)
    slug = re.sub(r"[^a-z0-9]+", "-", benchmark.lower()).strip("-")[:LONGEST_NAME].strip("-")
    told = one_line(benchmark, LONGEST_NAME)
    description = (
        f"How to analyze rollouts of {told}: what it measures, the fields of its rows, its funnel "
        "and failure taxonomy, and the order of work. Use it to explain a score, a failure or a "
        "change between runs."
    )
    return _rendered(
        "skill.md.j2",
        facts=facts,
        package=filters.code(shlex.quote(folder)),
        name=filters.code(shlex.quote(benchmark)),
        stages=TOLD["stages"],
        causes=TOLD["causes"],
        diverging=wording.PARTINGS,
        benchmark=told,
        slug=f"analyze-{slug}" if slug else "analyze-benchmark",
        description=json.dumps(description, ensure_ascii=False),
    )


def refreshed(old: str, new: str) -> tuple[str, list[str]]:
    """The old text with its generated parts as the new one has them, and those without a place."""
    made = {match["name"]: match[0] for match in PART.finditer(new)}
    text = PART.sub(lambda match: made.get(match["name"], match[0]), old)
    there = {match["name"] for match in PART.finditer(old)}
    return text, [name for name in made if name not in there]


def profile_text(source: Source | None, benchmark: str) -> str:
    """blade.toml; without data it only names the benchmark."""
    facts: dict[str, Any] | None = None
    if source is not None:
        runs = asked(
            source,
            "select run_id, pass_threshold, expected_source from main.runs order by run_id",
        )
        query = "select distinct slice_key from main.slice_metrics order by slice_key"
        slices = [row["slice_key"] for row in asked(source, query)]
        facts = {
            "runs": [row["run_id"] for row in runs],
            "is_settled": all(row["pass_threshold"] is not None for row in runs),
            "is_expected": {row["expected_source"] for row in runs} == {"inputs"},
            # A name that is no plain path cannot be given; all are found without being named.
            "slices": slices if all(map(PLAIN_PATH.fullmatch, slices)) else [],
        }
    return _rendered("blade.toml.j2", benchmark=benchmark, facts=facts, quoted=_quoted)


def _quoted(text: str) -> str:
    """A basic string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _declared(paths: Sequence[Path]) -> dict[str, dict[str, str]]:
    """The tools that the first rows of each file declare; of a name declared twice the first."""
    tools: dict[str, dict[str, str]] = {}
    for path in paths:
        for row in _first_rows(path):
            request = row.get("responses_create_params")
            listed = request.get("tools") if isinstance(request, dict) else None
            for item in listed if isinstance(listed, list) else ():
                inner = item.get("function") if isinstance(item, dict) else None
                tool = inner if isinstance(inner, dict) else item
                name = tool.get("name") if isinstance(tool, dict) else None
                if isinstance(name, str) and name:
                    schema, told = tool.get("parameters"), tool.get("description")
                    known = schema.get("properties") if isinstance(schema, dict) else None
                    named = ", ".join(known) if isinstance(known, dict) else ""
                    said = told if isinstance(told, str) else ""
                    tools.setdefault(name, {"description": said, "parameters": named})
    return dict(sorted(tools.items()))


def _first_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """The objects among the first lines; a line that was cut is none."""
    try:
        with pa.OSFile(os.fsencode(path)) as raw:
            codec = CODECS.get(path.suffix.lower())
            stream = pa.CompressedInputStream(raw, codec) if codec else raw
            head = bytes(stream.read(MOST_BYTES))
    except OSError:
        return
    for line in head.split(b"\n")[:MOST_ROWS]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def _rendered(template: str, **values: Any) -> str:
    """One template, with one blank line between its parts; what is not ours comes out inert."""
    text = _environment().get_template(template).render(values).strip("\n") + "\n"
    # A name that begins a comment is no place for a curator, whoever looks for these.
    told = UNSPACED.sub("\n\n", text).replace(filters.OPENING, "<! --")
    return "\n".join(map(filters.settled, re.sub(r"\n{3,}", "\n\n", told).split("\n")))


@cache
def _environment() -> jinja2.Environment:
    made = environment("package", None, autoescape=False)
    made.filters |= {name: filters.FILTERS[name] for name in ("cell", "excerpt", "ref", "words")}
    made.filters |= {"cell_code": _cell_code, "count": _count, "many": _many}
    made.filters |= {"number": _number, "pct": _pct}
    made.globals |= {"curate": marks.curate, "share": _share}
    return made


def _cell_code(text: str) -> str:
    return f"`{filters.code(text)}`".replace("|", "\\|")


def _count(value: int | None) -> str:
    return "n/a" if value is None else f"{value:,}"


def _many(value: int, noun: str) -> str:
    return f"{value:,} {noun}{'' if value == 1 else 's'}"


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")


def _pct(value: float | None) -> str:
    return "n/a" if value is None else f"{100 * value:.1f}%"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({100 * part / whole:.1f}%)" if whole else "")
