"""The fields of the rows as kinds: a map of many names is one field, however many it has."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.report import Source

Rows = list[dict[str, Any]]

# Words of fields, stages and causes, and the queries of a skill's figures by name.
TOLD = tomllib.loads(Path(__file__).with_name("skill.toml").read_text(encoding="utf-8"))
# Values stored as bare text, not as JSON.
TEXTS = frozenset({"prompt", "final_text"})
LONGEST, MOST_FIELDS = 200, 40
SECRET = re.compile(
    r"api[_-]?key|secret|passw(or)?d|credential|authorization|(access|auth)[_-]?token|private[_-]?key",
    re.IGNORECASE,
)
TYPES = {"VARCHAR": "text", "BOOLEAN": "boolean", "BIGINT": "integer", "UBIGINT": "integer"}
TYPES |= {"DOUBLE": "number", "OBJECT": "object", "ARRAY": "list"}


@dataclass(frozen=True)
class Field:
    """A field of the rows; `rows` have it with a value other than null."""

    path: str
    use: str
    types: str
    rows: int
    example: str


@dataclass(frozen=True)
class Fields:
    """Those of the format, all others, and how many were too many."""

    rows: int
    owned: tuple[Field, ...]
    others: tuple[Field, ...]
    n_left_out: int


def asked(source: Source, query: str, parameters: list[Any] | None = None) -> Rows:
    """All rows of a query, by the names of their columns."""
    result = source.execute(query, parameters)
    names = [column[0] for column in result.description]
    return [dict(zip(names, values, strict=True)) for values in result.fetchall()]


def fields(source: Source) -> Fields:
    """Every field that some rollout has; of too many those at the top, then the commonest."""
    ((n_rows,),) = source.execute("select count(*) from main.rollouts").fetchall()
    rows = asked(source, TOLD["fields"]["query"], [LONGEST])
    others = [
        Field(
            row["path"],
            ", ".join(_uses(row)),
            f"map: {row['n_names']:,} names" if row["n_names"] else _types(row["types"]),
            row["n_rows"],
            _example(row["path"], row["example"]),
        )
        for row in rows[:MOST_FIELDS]
    ]
    told = tuple(sorted(others, key=lambda each: each.path))
    return Fields(n_rows, tuple(_owned(source)), told, max(0, len(rows) - MOST_FIELDS))


def _uses(row: dict[str, Any]) -> Iterator[str]:
    if row["is_varying"] or row["is_repeated"]:
        yield "attempt" if row["is_varying"] else "task"
    yield from (name for name in ("slice", "check", "reference") if row[f"is_{name}"])


def _owned(source: Source) -> Iterator[Field]:
    wanted = []
    for column, _ in TOLD["owned"].values():
        there = f"{column} is not null" + ("" if column in TEXTS else f" and {column} != 'null'")
        kind = "'VARCHAR'" if column in TEXTS else f"try(json_type({column}))"
        wanted.append(f"""
            count(*) filter (where {there}) as n_{column},
            list(distinct {kind}) filter (where {there}) as types_{column},
            arg_min(left({column}, {LONGEST}), record_id) filter (where {there})
                as example_{column}
        """)
    (row,) = asked(
        source,
        f"""
        select {", ".join(wanted)}
        from raw.records
        left join staging.final_texts using (record_id)
        semi join staging.rollouts using (record_id)
        """,
    )
    for path, (column, use) in TOLD["owned"].items():
        if row[f"n_{column}"]:
            types = "list" if path == "response.output" else _types(row[f"types_{column}"])
            example = _example(path, row[f"example_{column}"])
            yield Field(path, use, types, row[f"n_{column}"], example)


def _types(types: Iterable[str | None] | None) -> str:
    found = {TYPES.get(kind, kind.lower()) for kind in types or () if kind and kind != "NULL"}
    return " or ".join(sorted(found)) or "null"


def _example(path: str, text: str | None) -> str:
    """A value without the quotes of JSON; none where it may be a secret."""
    if text is not None and (SECRET.search(path) or SECRET.search(text)):
        return "(left out: may hold a secret)"
    told = text or ""
    return told.removeprefix('"').removesuffix('"') if told.startswith('"') else told
