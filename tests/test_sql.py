"""What must be true of every file of sql/: header, shape, grain, order, weight, and its cases.

A case is a file of rows given and rows expected, worked out by hand.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

from pipeline import analysis
from pipeline.files import read_queries
from pipeline.profile import Profile
from pipeline.relation import Relation
from pipeline.run import computed_relations, part
from pipeline.settings import SQL_DIR, Settings
from pipeline.warehouse import create_macros
from pipeline.warehouse.relations import (
    TWINS,
    computed,
    known_columns,
    name_of,
    needed,
    parse,
    query_of,
    relations,
)
from tests.conftest import DEMO, ROOT, needs_corpus
from tests.results import called, rollout, write, wrote

MADE = computed_relations(Profile())
KNOWN_COLUMNS = "pipeline.warehouse.relations.known_columns"
EVERY = relations(SQL_DIR, MADE)
FILES = {name_of(path): path.read_text(encoding="utf-8") for path in SQL_DIR.glob("*/*.sql")}
CTE = re.compile(
    r"^(?:with )?(?:recursive )?(\w+)(?: \([\w, ]+\))?(?: using key \(\w+\))?"
    r" as (?:not )?(?:materialized )?\(",
    re.MULTILINE,
)
# Several columns on one line.
PACKED = r"(?m)^ +[\w.]+, [\w.]+,$|^ *select [\w.]+, "


def code(text: str) -> str:
    """A file without its comments and the contents of its strings."""
    return re.sub(r"'(?:[^']|'')*'|--[^\n]*", "", text)


def test_headers() -> None:
    """The first lines say what the relation is for, then its grain; `kind` is table or step."""
    looks_at = r"-- looks at: (rollout( with [\w.]+(, [\w.]+)*)?|task|run|across)\n"
    for name, text in FILES.items():
        assert re.match(r"-- .+[.!]\n(-- .+\n)*?-- grain: \w+(, \w+)*\n" + looks_at, text), name
        assert "-- kind:" not in text or re.search(r"\n-- kind: (table|step)\n", text), name


def test_shape() -> None:
    """No blank lines, tabs or trailing spaces, one column per line, no CTE that only repeats."""
    for name, text in FILES.items():
        assert not re.search(PACKED, text), name
        assert not re.search(r"\n\s*\n|\t| \n", text), name
        assert not re.search(r"as \(\n    select \* from [\w.]+\n\)", text), name


def test_windows_count_values() -> None:
    """`count(*) filter` over rows in an order takes time by their square in DuckDB 2.0.0."""
    counts = r"count\(\*\) filter \((?:[^()]|\([^()]*\))*\) over\b"
    for path in SQL_DIR.rglob("*.sql"):
        assert not re.search(counts, code(path.read_text(encoding="utf-8"))), path.name


def test_sources_are_qualified() -> None:
    """A file reads its own CTEs or schema-qualified relations, so that order can be derived."""
    for name, text in FILES.items():
        read = r"(?<!distinct )\b(?:from|join)\s+(\w+)\b(?!\.)(?!\s*\()"
        assert set(re.findall(read, code(text))) <= set(CTE.findall(text)), name


def test_every_cte_is_read() -> None:
    """Each CTE is read by another one, by the last select, or by a function of Python."""
    for name, text in FILES.items():
        read = set(re.findall(r"\b(?:from|join)\s+(\w+)\b", code(text)))
        for cte in CTE.findall(text):
            assert cte in read or f" from {cte}\n-- columns:" in text, f"{name}: {cte}"


def test_rows_are_ordered_for_people_only() -> None:
    """Rows are ordered in windows and aggregates, in public views, and where Python reads them."""
    for name, text in FILES.items():
        is_public_view = name.startswith("main.") and "-- kind: table" not in text
        is_computed = "-- computed by:" in text
        if name.startswith(("staging.", "main.")) and not is_computed and not is_public_view:
            assert not re.search(r"^ {0,4}order by", text, re.M) or "over (" in text, name


def test_public_views_are_ordered() -> None:
    """A view gives its rows in one order, however many threads make them."""
    # These get their order last, or have as many rows as there are events.
    exempt = {f"main.{name}" for name in (*TWINS, "events", "rollout_stages")}
    for name, text in FILES.items():
        if name.startswith("main.") and "-- kind:" not in text and name not in exempt:
            assert re.search(r"\border by [\w, ]+$", text.rstrip()), name


def test_order_follows_reading() -> None:
    """A relation comes after the ones it reads."""
    seen: set[str] = set()
    for relation in EVERY:
        assert set(relation.reads) <= seen
        seen.add(relation.name)


def test_what_looks_at_a_rollout_reads_nothing_of_others() -> None:
    """It reads raw tables, relations that look at a rollout too, and those that it names."""
    looks_at = {relation.name: relation.looks_at for relation in EVERY}
    for relation in EVERY:
        others = {name for name in relation.reads if looks_at[name] != "rollout"}
        if relation.looks_at == "rollout":
            assert others == set(relation.beside), relation.name


def test_parse_needs() -> None:
    """Each line is one need, which any of its alternatives meets; a condition may have commas."""
    needs = "-- needs: staging.y where b in (1, 2) | raw.z\n-- needs: main.w\n"
    relation = parse("main.x", f"-- What.\n-- grain: a\n{needs}select a from staging.y")
    assert relation.needs == (("staging.y where b in (1, 2)", "raw.z"), ("main.w",))


def test_needs_are_read() -> None:
    """What a relation needs exists before it: it is raw, or among what is read for it."""
    reads = {relation.name: set(relation.reads) for relation in EVERY}
    for relation in EVERY:
        names = set(re.findall(r"\b(?:staging|main|report)\.\w+", str(relation.needs)))
        assert not names or names <= needed(EVERY, reads[relation.name]), relation.name


COMPUTED = [relation for relation in EVERY if relation.computations]


def test_computed_relations_name_their_functions() -> None:
    """Each function is named by a header, and listed for it; its rows are read by its own query."""
    listed = {f"{each.__module__}.{each.__qualname__}" for each in analysis.FUNCTIONS}
    named = [each.function for relation in COMPUTED for each in relation.computations]
    assert sorted(named) == sorted(listed)
    for relation in COMPUTED:
        read = set(re.findall(r"\btemp\.(\w+)", relation.query))
        assert read == {each.name for each in relation.computations if each.rows}, relation.name


def with_steps(results: Path, out: Path) -> Path:
    """A warehouse in which the steps stay: they are wanted."""
    return part(Settings((results,), out), [relation.name for relation in EVERY])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo with its steps, and with every query planned, also of what is empty."""
    with mock.patch(KNOWN_COLUMNS, lambda *_: {}):
        return with_steps(DEMO, tmp_path_factory.mktemp("whole") / "out")


def broken_grains(path: Path, *, has_steps: bool = False) -> list[str]:
    """Relations with two rows of one key."""
    broken = []
    with duckdb.connect(str(path), read_only=True) as db:
        for relation in EVERY:
            if relation.is_step and not has_steps:
                continue
            key = ", ".join(relation.grain)
            query = f"select {key} from {relation.name} group by {key} having count(*) > 1 limit 1"
            if db.execute(query).fetchall():
                broken.append(relation.name)
    return broken


def test_grains_hold_on_the_demo(whole: Path) -> None:
    """Every relation has one row for each value of its grain, steps too."""
    assert broken_grains(whole, has_steps=True) == []


def test_steps_feed_tables_alone() -> None:
    """Later queries of a warehouse do not find them."""
    for step in (relation for relation in EVERY if relation.is_step):
        assert step.name.startswith("staging.")
        assert all(other.is_table for other in EVERY if step.name in other.reads), step.name


@needs_corpus
def test_grains_hold_on_the_corpus(corpus: Path) -> None:
    """Every relation has one row for each value of its grain, on real results too."""
    assert broken_grains(corpus) == []


def chain(every: list[Relation]) -> int:
    """How many relations the longest way from raw rows to a result passes."""
    depth: dict[str, int] = {}
    for relation in every:
        depth[relation.name] = 1 + max((depth[name] for name in relation.reads), default=0)
    return max(depth.values())


def test_weight() -> None:
    """Relations, stored ones and their longest chain stay as few as they are; macros are used."""
    kinds = Counter(relation.is_table and not relation.is_step for relation in EVERY)
    assert len(EVERY) <= 136
    assert sum(relation.name.startswith("report.") for relation in EVERY) <= 21
    assert kinds[True] <= 98
    assert chain(EVERY) <= 20


@pytest.mark.slow
def test_steps_have_several_readers() -> None:
    """What one relation reads is a CTE of it; a query or a switch of Python is a reader, too."""
    code_files = [*(ROOT / "pipeline").rglob("*.py"), *(SQL_DIR / "queries").rglob("*.sql")]
    texts = [path.read_text(encoding="utf-8") for path in code_files]
    for relation in (each for each in EVERY if each.name.startswith("staging.")):
        n_relations = sum(relation.name in other.reads for other in EVERY)
        n_files = sum(bool(re.search(rf"\b{relation.name}\b", text)) for text in texts)
        assert n_relations + n_files >= 2, relation.name


@pytest.mark.slow
def test_every_macro_is_used() -> None:
    """No macro is unused."""
    macros = (SQL_DIR / "macros.sql").read_text(encoding="utf-8")
    python = [
        path.read_text(encoding="utf-8") for path in (SQL_DIR.parent / "pipeline").rglob("*.py")
    ]
    readers = code("\n".join([*FILES.values(), macros])) + "\n".join(python)
    names = re.findall(r"create or replace macro (\w+)", macros)
    assert [name for name in names if len(re.findall(rf"\b{name}\(", readers)) < 2] == []


@pytest.mark.slow
def test_needs_hold(whole: Path, tmp_path: Path) -> None:
    """A relation has no row where what it needs has none, also where its query is planned."""
    row = {"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0, "response": {"output": []}}
    folders = {
        "failed": [{**row, "reward": 0.0}],
        "unscored": [{**row, "reward": None}],
        "passed": [row],
        "some": [{**row, "_ng_rollout_index": index, "reward": index / 8} for index in range(9)],
        "checked": [{**row, "checks": {"a": True, "b": False}, "reward_components": {"c": 0.5}}],
        "logged": [{**row, "log": "tests/test_a.py::test_b PASSED"}],
        "answered": [rollout(0, 0, output=wrote("first"))],
        "called": [rollout(0, 0, output=called("send", {"to": "a"}, '{"error": "no such user"}'))],
    }
    paths = [whole]
    with mock.patch(KNOWN_COLUMNS, lambda *_: {}):
        for name, rows in folders.items():
            results = write(tmp_path / name, {"a_rollouts.jsonl": rows})
            paths.append(with_steps(results, tmp_path / f"{name}_out"))
        runs = {f"{name}_rollouts.jsonl": folders["answered"] for name in "ab"}
        paths.append(with_steps(write(tmp_path / "runs", runs), tmp_path / "runs_out"))
    for path in paths:
        with duckdb.connect(str(path), read_only=True) as db:
            for relation in EVERY:
                if any(
                    not any(db.execute(f"from {each} limit 1").fetchall() for each in need)
                    for need in relation.needs
                ):
                    rows = db.execute(f"from {relation.name} limit 1").fetchall()
                    assert rows == [], f"{path}: {relation.name}"


@pytest.mark.slow
def test_an_empty_relation_has_the_columns_of_a_full_one(tmp_path: Path) -> None:
    """What is made empty from remembered columns looks like what the query would have made."""
    results = write(tmp_path / "results", {"a_rollouts.jsonl": [{"reward": 1.0, "response": "x"}]})
    described = []
    for known in (known_columns, lambda *_: {}):
        with mock.patch(KNOWN_COLUMNS, known):
            path = with_steps(results, tmp_path / f"out{len(described)}")
        with duckdb.connect(str(path), read_only=True) as db:
            names = [relation.name for relation in EVERY]
            described.append({name: db.execute(f"describe {name}").fetchall() for name in names})
    assert described[0] == described[1]


CASES = sorted((Path(__file__).parent / "cases").glob("*/*.json"))
RELATIONS = {relation.name: relation for relation in EVERY}
# Views of `report` are asked for their columns only where a case needs them.
PAGES = sorted(
    {
        name
        for path in CASES
        for name in RELATIONS[path.parent.name].reads
        if name.startswith("report.")
    }
)


@pytest.fixture(scope="module")
def columns(whole: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with every relation's columns and no row, types as the product has them."""
    with duckdb.connect() as db:
        db.execute(f"attach '{whole}' as demo (read_only)")
        db.execute("use demo")
        tables = db.execute("""
            select table_schema || '.' || table_name from information_schema.tables
            where table_catalog = 'demo' and table_schema in ('raw', 'staging', 'main')
        """).fetchall()
        db.execute("use memory")
        create_macros(db, SQL_DIR)
        db.execute("create schema raw; create schema staging; create schema report")
        db.execute("use demo")
        for table in [*(table for (table,) in tables), *PAGES]:
            db.execute(f"create table memory.{table} as from demo.{table} limit 0")
        db.execute("use memory; detach demo")
        yield db


@pytest.fixture
def empty(columns: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """The same for one case, whose rows are taken back."""
    columns.execute("begin")
    yield columns
    columns.execute("rollback")


def insert(db: duckdb.DuckDBPyConnection, table: str, rows: list[dict[str, Any]]) -> None:
    """Rows by name; what a row does not name is null, and an object is its JSON."""
    for row in rows:
        values = [json.dumps(v) if isinstance(v, dict) else v for v in row.values()]
        marks = ", ".join("?" for _ in values)
        db.execute(f"insert into {table} ({', '.join(row)}) values ({marks})", values)


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_case(path: Path, empty: duckdb.DuckDBPyConnection) -> None:
    """The relation makes the expected rows of the given ones, column by column as named."""
    case = json.loads(path.read_text(encoding="utf-8"))
    for table, rows in case["given"].items():
        insert(empty, table, rows)
    names = list(case["expected"][0]) if case["expected"] else ["*"]
    with computed(empty, RELATIONS[path.parent.name]) as rows:
        found = empty.execute(f"select {', '.join(names)} from ({rows})").fetchall()
    found = [dict(zip(names, row, strict=True)) for row in found]
    key = lambda row: json.dumps(row, sort_keys=True, default=str)  # noqa: E731 - a local order
    assert sorted(found, key=key) == sorted(case["expected"], key=key), case["about"]


@pytest.mark.parametrize("relation", COMPUTED, ids=lambda relation: relation.name)
def test_computed_columns(relation: Relation, empty: duckdb.DuckDBPyConnection) -> None:
    """The header lists the columns that come out; `*` are those of the rows that go in."""
    listed = re.findall(r"^-- columns: (.+)$", relation.query, re.MULTILINE)
    assert len(listed) == len(relation.computations)
    for each, columns in zip(relation.computations, listed, strict=True):
        assert each.compute is not None
        rows = empty.sql(query_of(relation.query, each.rows)).to_arrow_table()
        result = each.compute(rows)
        names = ", ".join(rows.column_names)
        assert ", ".join(result.column_names) == columns.replace("*", names)
        empty.register(each.name, result)


QUERY_FILES = sorted(
    path
    for path in (SQL_DIR / "queries").rglob("*.sql")
    if not {"package", "ingest"} & set(path.parts)
)


@pytest.mark.parametrize("path", QUERY_FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_queries_of_modules(path: Path, whole: Path) -> None:
    """Each query of a module binds on a warehouse, is used, and has one column per line."""
    module = path.relative_to(SQL_DIR / "queries").with_suffix("")
    folder = ROOT / "pipeline" / module.parent
    code = "".join(each.read_text(encoding="utf-8") for each in folder.glob("*.py"))
    code += "".join(
        each.read_text(encoding="utf-8") for each in (ROOT / "pipeline/cli").glob("*.py")
    )
    declared = (ROOT / "pipeline/report/declared.toml").read_text(encoding="utf-8")
    queries = read_queries(module.as_posix())
    assert queries
    with duckdb.connect(str(whole), read_only=True) as db:
        for name, query in queries.items():
            db.execute(f"prepare {name}_query as {query}")
            is_table = f"[table.{name}]" in declared
            assert f'"{name}"' in code or is_table, f"{path.name}: nothing uses {name}"
            assert not re.search(PACKED, query), name
