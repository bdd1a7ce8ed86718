"""One select a file, its path the relation's name: created in the order their reading asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import duckdb

SCHEMAS = ("staging", "main", "report", "checks")
REFERENCE = re.compile(r"\b(?:from|join)\s+((?:staging|main|report|checks)\.\w+)")
HEADER = re.compile(r"-- (?:(grain|kind): )?(.*)")


@dataclass(frozen=True)
class Relation:
    """A select with what its header says of it."""

    name: str
    purpose: str
    grain: tuple[str, ...]
    is_table: bool
    query: str

    @property
    def reads(self) -> list[str]:
        """The relations of ours it selects from."""
        return sorted(set(REFERENCE.findall(self.query)))


def relations(sql_dir: Path) -> list[Relation]:
    """Every relation below the folder, each after the ones it reads."""
    found = {}
    for schema in SCHEMAS:
        for path in sorted((sql_dir / schema).glob("*.sql")):
            relation = parse(f"{schema}.{path.stem}", path.read_text(encoding="utf-8"))
            found[relation.name] = relation
    graph = {relation.name: relation.reads for relation in found.values()}
    return [found[name] for name in TopologicalSorter(graph).static_order()]


def parse(name: str, text: str) -> Relation:
    """Line 1 is the purpose; `-- grain: ...` and `-- kind: table` may follow."""
    header: dict[str, str] = {}
    for line in text.splitlines():
        match = HEADER.fullmatch(line)
        if match is None:
            break
        header.setdefault(match[1] or "purpose", match[2])
    grain = tuple(part.strip() for part in header.get("grain", "").split(",") if part.strip())
    return Relation(name, header.get("purpose", ""), grain, header.get("kind") == "table", text)


def create_macros(db: duckdb.DuckDBPyConnection, sql_dir: Path) -> None:
    """The functions that only this engine has, from their one file."""
    db.execute((sql_dir / "macros.sql").read_text(encoding="utf-8"))


def create_relations(db: duckdb.DuckDBPyConnection, sql_dir: Path) -> None:
    """All relations. Public tables lie sorted by their grain: a plain select repeats itself."""
    db.execute("set preserve_insertion_order = true")
    # One transaction: each of its own would wait for the disk.
    db.execute("begin")
    for relation in relations(sql_dir):
        kind = "table" if relation.is_table else "view"
        query = relation.query
        if relation.is_table and relation.name.startswith("main."):
            query = f"select * from (\n{query}\n) order by {', '.join(relation.grain)}"
        db.execute(f"create {kind} {relation.name} as {query}")
        purpose = relation.purpose.replace("'", "''")
        db.execute(f"comment on {kind} {relation.name} is '{purpose}'")
    db.execute("commit")
