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

from pipeline.report import Source, filters, wording
from pipeline.report.templates import environment
from pipeline.text import one_line

Rows = list[dict[str, Any]]

# Words of fields, stages and causes, and the queries of a skill's figures by name.
TOLD = tomllib.loads(Path(__file__).with_name("skill.toml").read_text(encoding="utf-8"))
LONGEST, MOST_FIELDS, LONGEST_NAME = 200, 40, 60
MOST_BYTES, MOST_ROWS = 8 << 20, 200
# A generated part of a skill: its name, and what stands in it.
PART = re.compile(r"<!-- generated: (?P<name>\w+) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL)
PLAIN_PATH = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?")
# Parts are put together without blank lines.
UNSPACED = re.compile(r"(?<!\n)\n(?=#{2,3} |<!-- (?:end|curate))")
SECRET = re.compile(
    r"api[_-]?key|secret|passw(or)?d|credential|authorization|(access|auth)[_-]?token|private[_-]?key",
    re.IGNORECASE,
)
TYPES = {"VARCHAR": "text", "BOOLEAN": "boolean", "BIGINT": "integer", "UBIGINT": "integer"}
TYPES |= {"DOUBLE": "number", "OBJECT": "object", "ARRAY": "list"}


def skill_text(source: Source | None, benchmark: str, *, folder: str, home: Path) -> str:
    """The skill as the data suggest it; without data, what is not known and where it goes."""
    facts: dict[str, Any] | None = None
    if source is not None:
        facts = {name: asked(source, query) for name, query in TOLD["queries"].items()}
        facts["fields"] = _fields(source)
        facts["declared"] = _declared(home)
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
        runs = asked(source, TOLD["profile"]["runs"])
        slices = [row["slice_key"] for row in asked(source, TOLD["queries"]["slices"])]
        facts = {
            "runs": [row["run_id"] for row in runs],
            "is_settled": all(row["pass_threshold"] is not None for row in runs),
            "is_expected": {row["expected_source"] for row in runs} == {"inputs"},
            # A name that is no plain path cannot be given; all are found without being named.
            "slices": slices if all(map(PLAIN_PATH.fullmatch, slices)) else [],
        }

    def quoted(text: str) -> str:
        """A basic string of TOML."""
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

    return _rendered("blade.toml.j2", benchmark=benchmark, facts=facts, quoted=quoted)


def asked(source: Source, query: str, parameters: list[Any] | None = None) -> Rows:
    """All rows of a query, by the names of their columns."""
    result = source.execute(query, parameters)
    names = [column[0] for column in result.description]
    return [dict(zip(names, values, strict=True)) for values in result.fetchall()]


def _declared(home: Path) -> dict[str, dict[str, str]]:
    """The tools that the first rows of each rollout file declare, with their parameters."""
    tools: dict[str, dict[str, str]] = {}
    for line in (line for path in sorted(home.rglob("*.jsonl")) for line in _first_lines(path)):
        try:
            for item in json.loads(line)["responses_create_params"]["tools"]:
                tool = item.get("function") or item
                names = ", ".join((tool.get("parameters") or {}).get("properties") or ())
                said = str(tool.get("description") or "")
                tools.setdefault(str(tool["name"]), {"description": said, "parameters": names})
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue  # a row that declares none, or in a form of its own
    return dict(sorted(tools.items()))


def _first_lines(path: Path) -> list[bytes]:
    try:
        with path.open("rb") as file:
            return file.readlines(MOST_BYTES)[:MOST_ROWS]
    except OSError:
        return []


def _fields(source: Source) -> dict[str, Any]:
    """Every field that some rollout has: the format's own, and others by kind.

    A map of many names is one field. Of too many fields those at the top stay, then the commonest.
    """
    ((n_rows,),) = source.execute("select count(*) from main.rollouts").fetchall()
    rows = asked(source, TOLD["fields"]["query"], [LONGEST])
    found = {row["field"]: row for row in asked(source, TOLD["fields"]["owned"], [LONGEST])}
    owned = [
        {**_field(path, found[column]), "use": use}
        for path, (column, use) in TOLD["owned"].items()
        if column in found
    ]
    others = [_field(row["path"], row) for row in rows[:MOST_FIELDS]]
    return {
        "rows": n_rows,
        "owned": owned,
        "others": sorted(others, key=lambda each: each["path"]),
        "n_left_out": max(0, len(rows) - MOST_FIELDS),
    }


def _field(path: str, row: dict[str, Any]) -> dict[str, Any]:
    """A field as the table shows it; its example without the quotes of JSON, and no secret."""
    types = {TYPES.get(kind, kind.lower()) for kind in row["types"] if kind and kind != "NULL"}
    text = row["example"] or ""
    example = text.removeprefix('"').removesuffix('"') if text.startswith('"') else text
    if text and (SECRET.search(path) or SECRET.search(text)):
        example = "(left out: may hold a secret)"
    kind = " or ".join(sorted(types)) or "null"
    n_names = row.get("n_names")
    return {
        "path": path,
        "use": row["use"],
        "types": f"map: {n_names:,} names" if n_names else kind,
        "rows": row["n_rows"],
        "example": example,
    }


def _rendered(template: str, **values: Any) -> str:
    """One template, with one blank line between its parts; what is not ours comes out inert."""
    text = _environment().get_template(template).render(values).strip("\n") + "\n"
    # A name that begins a comment is no place for a curator, whoever looks for these.
    told = UNSPACED.sub("\n\n", text).replace(filters.OPENING, "<! --")
    return "\n".join(map(filters.settled, re.sub(r"\n{3,}", "\n\n", told).split("\n")))


@cache
def _environment() -> jinja2.Environment:
    made = environment("package", None, autoescape=False)
    made.filters |= {name: filters.FILTERS[name] for name in ("cell", "excerpt", "ref")}
    made.filters |= {
        "cell_code": lambda text: f"`{filters.code(text)}`".replace("|", "\\|"),
        "count": lambda value: "n/a" if value is None else f"{value:,}",
        "many": lambda value, noun: f"{value:,} {noun}{'' if value == 1 else 's'}",
        "number": lambda value: "n/a" if value is None else wording.short(f"{value:.4f}"),
        "pct": lambda value: "n/a" if value is None else f"{100 * value:.1f}%",
    }
    made.globals |= {"curate": filters.curate, "share": _share}
    return made


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({100 * part / whole:.1f}%)" if whole else "")
