"""What holds for every file of sql/: headers, grains, order, and a life on another engine."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import expressions

from pipeline.profile import Profile
from pipeline.relation import Relation
from pipeline.run import made_relations
from pipeline.settings import SQL_DIR
from pipeline.warehouse.relations import parse, relations
from tests.conftest import needs_corpus

MADE = made_relations(Profile())
EVERY = relations(SQL_DIR, MADE)
# The files of sql/; what Python makes has a shape of its own.
ALL = [relation for relation in EVERY if relation not in MADE]
PORTABLE = [relation for relation in ALL if relation.name.startswith(("staging.", "main."))]

# Functions that Spark SQL has, with the meaning the translation relies on.
SPARK_FUNCTIONS = frozenset(
    "abs array array_append array_max array_min bool_or cast chr coalesce collect_list concat_ws "
    "count dense_rank "
    "explode first_value floor greatest if lag lead least left length listagg locate lower "
    "map_entries map_from_arrays map_keys map_from_entries max max_by md5 min nullif rank "
    "regexp_extract regexp_replace reverse right row_number sequence split sqrt startswith struct "
    "substring sum transform trim try_cast".split()
)
# Words that may stand before a bracket without being a function.
KEYWORDS = frozenset(
    "and as by else except filter from group in join not on or over then using values when "
    "where".split()
)
# What Spark SQL has no word for.
FOREIGN = re.compile(r"\b(BY NAME|EXCLUDE|QUALIFY|ANTI JOIN USING|SEMI JOIN USING|PIVOT)\b|\[-1\]")


def macros() -> set[str]:
    """The functions that each engine brings in its own version."""
    text = (SQL_DIR / "macros.sql").read_text(encoding="utf-8")
    return set(re.findall(r"create or replace macro (\w+)\(", text))


@cache
def tree(query: str) -> expressions.Expression:
    """A query as the translator reads it: several tests look, none changes it."""
    return sqlglot.parse_one(query, dialect="duckdb")


def names(given: list[Relation]) -> list[str]:
    return [relation.name for relation in given]


@pytest.mark.parametrize("relation", ALL, ids=names(ALL))
def test_header(relation: Relation) -> None:
    """Line 1 says what the relation is for, line 2 its grain, and the last select is final."""
    assert relation.purpose.endswith((".", "!")) and relation.grain
    assert relation.query.rstrip().endswith("select * from final")
    assert "\t" not in relation.query


@pytest.mark.parametrize("relation", ALL, ids=names(ALL))
def test_sources_are_qualified(relation: Relation) -> None:
    """A relation reads named CTEs or schema-qualified relations, so that order can be derived."""
    ctes = {cte.alias for cte in tree(relation.query).find_all(expressions.CTE)}
    tables = list(tree(relation.query).find_all(expressions.Table))
    for table in tables:
        assert table.db in {"raw", "staging", "main", "report", "checks"} or table.name in ctes
    read = {f"{t.db}.{t.name}" for t in tables if t.db and t.db != "raw"}
    assert read == set(relation.reads)


def functions(query: str) -> set[str]:
    """The functions a query calls, by the names it calls them."""
    bare = re.sub(r"'(?:[^']|'')*'|/\*.*?\*/", "", query, flags=re.DOTALL)
    return {name.lower() for name in re.findall(r"\b([A-Za-z_]\w*)\s?\(", bare)} - KEYWORDS


@pytest.mark.parametrize("relation", PORTABLE, ids=names(PORTABLE))
def test_translates_to_spark(relation: Relation) -> None:
    """Staging and main translate to Spark SQL that calls only its functions, or our macros."""
    translated = tree(relation.query).sql(dialect="spark")
    ctes = {
        cte.alias
        for cte in sqlglot.parse_one(translated, dialect="spark").find_all(expressions.CTE)
    }
    assert functions(translated) - macros() - ctes <= SPARK_FUNCTIONS
    assert not FOREIGN.search(translated)


def test_foreign_functions_are_noticed() -> None:
    """A function that the translator passes through unknown is not on the list."""
    translated = sqlglot.transpile("select list_zip(a, b) from t", read="duckdb", write="spark")[0]
    assert not functions(translated) <= SPARK_FUNCTIONS


@pytest.mark.parametrize("relation", PORTABLE, ids=names(PORTABLE))
def test_rows_are_ordered_in_report_only(relation: Relation) -> None:
    """`order by` stands in windows and aggregates only."""
    for order in tree(relation.query).find_all(expressions.Order):
        assert not isinstance(order.parent, expressions.Select), relation.name


def broken_grains(path: Path) -> list[str]:
    """Relations with two rows of one key."""
    broken = []
    with duckdb.connect(str(path), read_only=True) as db:
        for relation in EVERY:
            key = ", ".join(relation.grain)
            query = f"select {key} from {relation.name} group by {key} having count(*) > 1 limit 1"
            if db.execute(query).fetchall():
                broken.append(relation.name)
    return broken


def test_grains_hold_on_the_demo(demo: Path) -> None:
    """Every relation has one row for each value of its grain."""
    assert broken_grains(demo) == []


@needs_corpus
def test_grains_hold_on_the_corpus(corpus: Path) -> None:
    """Every relation has one row for each value of its grain, on real results too."""
    assert broken_grains(corpus) == []


def test_order_follows_reading() -> None:
    """A relation comes after the ones it reads."""
    seen: set[str] = set()
    for relation in EVERY:
        assert set(relation.reads) <= seen
        seen.add(relation.name)


def test_parse_header() -> None:
    """Purpose, grain and kind come from the first comment lines, in any number."""
    relation = parse("main.x", "-- What.\n-- grain: a, b\n-- kind: table\nselect * from staging.y")
    assert (relation.purpose, relation.grain, relation.is_table) == ("What.", ("a", "b"), True)
    assert relation.reads == ["staging.y"]
