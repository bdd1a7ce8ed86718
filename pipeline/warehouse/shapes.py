"""The columns of relations, kept between analyses beside sql/, as Python keeps compiled modules.

A relation that says what it needs has no row where that has none. With its columns known it is made
empty without planning its query, which takes longer than the whole of a small run.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb

from pipeline.relation import Relation

# By relation: the list of its columns as a table is declared with them.
Shapes = Mapping[str, str]


def known(sql_dir: Path, every: Iterable[Relation]) -> Shapes:
    """What an earlier analysis with the same SQL and engine kept; nothing where there was none."""
    try:
        shapes: Shapes = json.loads(_path(sql_dir, every).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return shapes


def keep(db: duckdb.DuckDBPyConnection, sql_dir: Path, every: list[Relation]) -> None:
    """Write down the columns of relations that may be empty; where that fails, do without."""
    rows = db.execute("""
        select
            schema_name || '.' || table_name as relation,
            string_agg(format('"{}" {}', column_name, data_type), ', ' order by column_index)
        from duckdb_columns()
        where database_name = current_database()
        group by all
    """).fetchall()
    columns = dict(rows)
    shapes = {relation.name: columns[relation.name] for relation in every if relation.needs}
    path = _path(sql_dir, every)
    try:
        path.parent.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(shapes, file)
        Path(file.name).replace(path)
    except OSError:
        return


def _path(sql_dir: Path, every: Iterable[Relation]) -> Path:
    digest = hashlib.sha256(duckdb.__version__.encode())
    digest.update((sql_dir / "macros.sql").read_bytes())
    for relation in every:
        digest.update(f"{relation.name}\0{relation.query}\0".encode())
    return sql_dir / "__pycache__" / f"columns-{digest.hexdigest()[:16]}.json"
