"""What `make golden` writes into docs: tables of columns, figures, sections; the JSON schema.

The JSON schema is read off the code: a run and a comparison whose every value is the column that
it comes from are turned into the objects of metrics.json.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from pipeline.analysis.claims import IMPROVED, INCONCLUSIVE, NO_CHANGE, NOT_COMPARABLE, REGRESSED
from pipeline.report import sidecar, wording
from pipeline.report.charts import BUCKETS
from pipeline.report.comparisons import Change, Comparison, Ledger
from pipeline.report.content import RunContent
from pipeline.report.declared import (
    EVERY,
    METRICS,
    OF_PAIRS,
    OF_RUNS,
    SECTIONS,
    SIDECAR,
    TABLES,
    Table,
)
from pipeline.report.figures import Row
from pipeline.report.tables import Source
from tests.conftest import ROOT

HEADS = "| column | meaning |\n| --- | --- |\n"
ROW = re.compile(r"^\| `(\w+)` \|(.*)\|$", re.MULTILINE)
COLUMNS = """
    select table_name, column_name from information_schema.columns
    where table_schema = 'main' order by table_name, ordinal_position
"""
VERDICTS = (IMPROVED, REGRESSED, NO_CHANGE, INCONCLUSIVE, NOT_COMPARABLE)
# What columns of few texts may be.
VALUES = {
    "metric": ("pass_at_1", "mean_reward"),
    "test": wording.WORDS["tests"],
    "difference": wording.PARTINGS,
    "verdict": VERDICTS,
    "verdict_holm": VERDICTS,
    "base_bucket": BUCKETS,
    "candidate_bucket": BUCKETS,
}
# Where rows come out of order, a stage may be reached by more than the one before.
UNLIMITED = ("n_lost", "reach_rate", "step_rate")
Meanings = Mapping[tuple[str, str], str]


def between(text: str, name: str, content: str) -> str:
    """A document with other text between the two comments that carry a name."""
    start, end = f"<!-- {name}: make golden writes this -->\n", f"<!-- /{name} -->"
    before, opened, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    assert opened and closed, f"the document needs {start} and {end}"
    return f"{before}{start}\n{content}\n\n{end}{after}"


def figures() -> str:
    """Every declared figure."""
    rows = [
        f"| `{name}` | {metric.words} | {metric.better} | {metric.definition} |"
        for name, metric in METRICS.items()
    ]
    heads = "| column | words | better | definition |\n| --- | --- | --- | --- |\n"
    return heads + "\n".join(rows)


def sections() -> str:
    """Every section."""
    rows = [f"| `{name}` | {section.purpose} |" for name, section in SECTIONS.items()]
    return "| section | says |\n| --- | --- |\n" + "\n".join(rows)


def lists() -> str:
    """Every list of rows that a template can read by its name."""
    about = {"run": "a run", "benchmark": "all runs of a benchmark", "": "the report"}
    rows = [
        f"| `{name}` | `{table.relation}` | {about[table.of]} |"
        for name, table in EVERY.items()
        if table.of in about
    ]
    return "| list | rows of | about |\n| --- | --- | --- |\n" + "\n".join(rows)


def meanings(text: str) -> dict[tuple[str, str], str]:
    """What docs/schema.md says of each column, by relation and column."""
    _, *parts = re.split(r"^## (\w+)$", text, flags=re.MULTILINE)
    return {
        (relation, column): meaning.strip()
        for relation, part in zip(parts[::2], parts[1::2], strict=True)
        for column, meaning in ROW.findall(part)
    }


def columns(text: str, source: Source) -> str:
    """docs/schema.md with the purpose and columns of every public relation.

    A figure that one relation shows means what is declared for it. Any other column means what the
    document says; where it says nothing, what is declared, or what it is in most relations.
    """
    written = meanings(text)
    known = Counter((column, meaning) for (_, column), meaning in written.items())
    usual = {column: meaning for (column, meaning), _ in reversed(known.most_common())}
    shown: dict[str, set[str]] = {}
    for table in TABLES.values():
        for column in {*table.columns, *(name for own in table.sidecar.values() for name in own)}:
            shown.setdefault(column, set()).add(table.relation)
    relations: dict[str, list[str]] = {}
    for relation, column in source.execute(COLUMNS).fetchall():
        relations.setdefault(relation, []).append(column)
    for relation, names in relations.items():
        rows = []
        for name in names:
            declared = METRICS[name].definition if name in METRICS else ""
            meaning = written.get((relation, name)) or declared or usual.get(name, "")
            if declared:
                assert name in shown, (
                    f"[figure.{name}] is shown by no table: "
                    f"add {name} to `sidecar` or `columns` of a [table...]"
                )
                if {each for each in shown[name] if "." not in each} == {relation}:
                    meaning = declared
            rows.append(f"| `{name}` | {meaning} |" if meaning else f"| `{name}` | |")
        text = _section(text, relation, "\n".join(rows))
    for relation in re.findall(r"^## (\w+)$", text, re.MULTILINE):
        assert relation in relations, f"docs/schema.md: remove ## {relation}, there is none"
    return text


def _section(text: str, relation: str, rows: str) -> str:
    """The document with these rows in the section of a relation; a new one is its last."""
    (path,) = (
        path
        for path in (ROOT / "sql").glob(f"*/{relation}.sql")
        if path.parent.name not in ("report", "assertions")
    )
    header = path.read_text(encoding="utf-8").splitlines()
    purpose, grain = header[0].removeprefix("-- "), header[1].removeprefix("-- grain: ")
    before, opened, rest = text.partition(f"\n## {relation}\n\n")
    if not opened:
        heading = f"\n## {relation}\n\n{purpose}\nGrain: `{grain}`.\n"
        return f"{text}{heading}\n{HEADS}{rows}\n"
    _, line, rest = rest.partition("\n")
    words, heads, rest = rest.partition(HEADS)
    assert heads and "\n## " not in words, f"docs/schema.md: ## {relation} needs its table"
    rest = re.sub(r"\A(?:\|.*\n)*", "", rest)
    return f"{before}{opened}{purpose}{line}{words}{heads}{rows}\n{rest}"


class Column(int):
    """The column that a value comes from, in place of the value."""

    table: Table
    name: str

    def __str__(self) -> str:
        """As the key of an object."""
        return "{" + self.name + "}"

    __hash__ = int.__hash__


class Columns(dict[str, Any]):
    """The values of a row of a table, each the column itself."""

    def __init__(self, table: Table, **values: Any) -> None:
        super().__init__(values)
        self.table = table

    def __missing__(self, name: str) -> Column:
        column = Column(1)
        column.table, column.name = self.table, name
        return column

    def get(self, name: str, default: Any = None) -> Any:
        """Every column is there."""
        return self[name]


def _row(name: str, **values: Any) -> Row:
    table = TABLES[name]
    return Row(table.relation, table.key, Columns(table, **values))


def metrics_schema(source: Source, written: Meanings) -> str:
    """docs/metrics.schema.json."""
    types = {
        (table.name, name): kind
        for table in (TABLES["headlines"], *OF_RUNS, *OF_PAIRS)
        for name, kind, *_ in source.execute(
            f"describe {TABLES[table.within or table.name].select}"
        ).fetchall()
    }
    run = RunContent(
        _row("headlines", is_unsettled=False), {table.name: [_row(table.name)] for table in OF_RUNS}
    )
    line = _row("ledgers")
    ledgers = [Ledger("{ledger}", "dropped", "", [line]), Ledger("slices", "dropped", "{}", [line])]
    changed = [_row("changed_tasks", is_gain=is_gain) for is_gain in (True, False)]
    comparison = Comparison(
        base="",
        candidate="",
        changes=[Change(_row("comparisons"), ledgers, changed)],
        settings=[_row("comparison_settings", unrecorded_by=[])],
        transitions=[_row("transitions")],
        refused=[_row("refused_tasks")],
        metrics=[_row("comparison_metrics")],
        flips=[_row("flips")],
    )
    (compared,) = sidecar.comparison_objects([comparison])
    shape = Shape(types, written)
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "blade metrics",
        "description": "metrics.json of all runs, or runs/<run_id>/metrics.json of one. "
        "Undefined is null, never 0; floats have at most 12 digits after the point.",
        "oneOf": [{"$ref": "#/definitions/all_runs"}, {"$ref": "#/definitions/run"}],
        "definitions": {
            "all_runs": _object(
                {
                    "schema_version": {"const": sidecar.SCHEMA_VERSION},
                    "runs": {"type": "array", "items": {"$ref": "#/definitions/run"}},
                    "comparisons": {"type": "array", "items": {"$ref": "#/definitions/comparison"}},
                }
            ),
            "run": shape.of(sidecar.run_object(run)),
            "comparison": shape.of(compared),
        },
    }
    return json.dumps(schema, indent=2) + "\n"


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class Shape:
    """The schema of an object whose values are columns."""

    def __init__(self, types: Mapping[tuple[str, str], str], written: Meanings) -> None:
        self.types, self.written = types, written

    def of(self, value: Any, key: str = "") -> dict[str, Any]:
        """What a value may be, and what it is."""
        meaning = SIDECAR.get(key, "")
        about = {"description": meaning} if meaning else {}
        if isinstance(value, Column):
            return self._column(value, meaning)
        if isinstance(value, dict):
            return about | self._members({str(name): each for name, each in value.items()})
        if isinstance(value, list) and len(value) == 2 and value[0].name.endswith("_low"):
            number = {"type": "number"}
            return about | {
                "type": ["array", "null"],
                "items": number,
                "minItems": 2,
                "maxItems": 2,
            }
        if isinstance(value, list):
            return about | {"type": "array", "items": self.of(value[0])}
        # A count of rows.
        return about | {"type": ["integer", "null"] if "null" in meaning else "integer"}

    def _members(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """An object; its names are values where they are in braces."""
        known = {name: self.of(each, name) for name, each in members.items() if name[0] != "{"}
        others = [(name, self.of(each)) for name, each in members.items() if name[0] == "{"]
        if not others:
            return _object(known)
        ((name, other),) = others
        if name == "{k}":
            pattern = {"^[1-9][0-9]*$": other}
            return {"type": "object", "patternProperties": pattern, "additionalProperties": False}
        named = {"properties": known} if known else {}
        return {"type": "object", **named, "additionalProperties": other}

    def _column(self, column: Column, meaning: str) -> dict[str, Any]:
        """Numbers may be null; anything else where its meaning says when, or is not documented."""
        table, name = column.table, column.name
        kind = self.types[table.name, name]
        is_key = name in table.key and not meaning
        meaning = meaning or self.written.get((table.relation, name), "")
        is_never_null = is_key or (meaning and "null" not in meaning)
        meaning = meaning or (METRICS[name].definition if name in METRICS else "")
        about = {"description": meaning} if meaning else {}
        if name in VALUES:
            return about | {"enum": [*VALUES[name], *([] if is_never_null else [None])]}
        if kind.endswith("[]"):
            return about | {"type": ["array", "null"], "items": {"type": "string"}}
        if kind == "DOUBLE":
            is_share = name in METRICS and METRICS[name].format in ("pct", "chance")
            limits = {"minimum": 0, "maximum": 1} if is_share and name not in UNLIMITED else {}
            return about | {"type": ["number", "null"], **limits}
        json_type = {"BOOLEAN": "boolean", "VARCHAR": "string"}.get(kind, "integer")
        limits = {"minimum": 0} if json_type == "integer" and name not in UNLIMITED else {}
        return about | {"type": json_type if is_never_null else [json_type, "null"], **limits}
