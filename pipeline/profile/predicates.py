"""Is each `when` one harmless question about a rollout? Asked of the engine, before any data."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Protocol

import duckdb

from pipeline.errors import UsageError
from pipeline.profile.askable import FUNCTIONS, NAMED, ZONED_TYPES

# The tree of a predicate is walked in Python: deeper ones would meet its own limit.
DEEPEST = 100
# In this order: nothing can be set after the last.
LOCKED_DOWN = {
    # Fails over a column of nothing but nulls: case when x is not null then 'a' end = 'a'
    "disabled_optimizers": "'statistics_propagation'",
    "max_expression_depth": f"{DEEPEST}",
    "memory_limit": "'256MB'",
    "threads": "1",
    "temp_directory": "''",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
EXAMPLE = 'For example: when = "n_tool_calls > 0"'
CALLABLE = (
    "It may call functions of text, numbers, lists, JSON and dates, such as contains, "
    "regexp_matches, length, json_extract_string."
)

# What an expression may be made of, by the names of the engine's parser.
PLAIN = frozenset("BETWEEN CASE CAST COMPARISON CONJUNCTION CONSTANT".split())
OPERATORS = frozenset(
    "ARRAY_CONSTRUCTOR ARRAY_EXTRACT ARRAY_SLICE COMPARE_IN COMPARE_NOT_IN OPERATOR_COALESCE "
    "OPERATOR_IS_NOT_NULL OPERATOR_IS_NULL OPERATOR_NOT OPERATOR_TRY STRUCT_EXTRACT".split()
)
REFUSED = {
    "SUBQUERY": "a query (select, exists, any)",
    "WINDOW": "a window function",
    "STAR": "* or columns()",
    "PARAMETER": "a parameter",
    "COLLATE": "a collation",
}


class Question(Protocol):
    """Something with a predicate, one of a list of tables in a file."""

    table: ClassVar[str]

    @property
    def label(self) -> str:
        """What messages call it."""

    @property
    def when(self) -> str | None:
        """The predicate; none where it is built in."""


class _RefusedError(Exception):
    """Why a predicate cannot be used, and what could be."""

    def __init__(self, reason: str, hint: str = EXAMPLE) -> None:
        super().__init__(reason)
        self.hint = hint


def check_predicates(
    questions: Iterable[Question], columns: Mapping[str, str], *, name: str
) -> None:
    """Refuse what is not one boolean expression over the columns (name to type of the engine).

    What passes can be put in parentheses in a query on one line and stays inside them.
    """
    with duckdb.connect(":memory:") as db:
        for setting, value in LOCKED_DOWN.items():
            db.execute(f"set {setting} = {value}")
        listed = ", ".join(f"{_quoted(column)} {kind}" for column, kind in columns.items())
        db.execute(f"create table rollouts ({listed})")
        # One row of nulls: a constant that cannot be converted shows only when something is run.
        db.execute("insert into rollouts default values")
        for index, question in enumerate(questions):
            try:
                if question.when is not None:
                    _check(db, question.when, columns)
            except _RefusedError as error:
                place = f"{name}: {question.table}[{index}].when"
                message = f"{place}: {question.label}: {error}"
                raise UsageError(message, hint=error.hint) from error


def _check(db: duckdb.DuckDBPyConnection, when: str, columns: Mapping[str, str]) -> None:
    node = _parsed(db, f"select ({when})")
    for item in node["select_list"]:
        _refuse_parts(db, item, columns)
    # Text that closes a parenthesis it did not open makes sense only inside of ours.
    bare = _parsed(db, f"select {when}")
    frame = _frame(_parsed(db, "select true"))
    if not _frame(node) == _frame(bare) == frame:
        raise _RefusedError("it must be one expression.")
    _bind(db, when)


def _parsed(db: duckdb.DuckDBPyConnection, query: str) -> dict[str, Any]:
    """The one select of a query as the engine's parser sees it; nothing is run."""
    ((text,),) = db.execute("select json_serialize_sql(?::varchar)", [query]).fetchall()
    tree = json.loads(text)
    if tree["error"]:
        reason = tree["error_message"]
        if reason.startswith("Max expression depth"):
            reason = f"nested more than {DEEPEST} levels deep"
        raise _RefusedError(f"not a SQL predicate: {_sentence(reason)}")
    if len(tree["statements"]) != 1:
        raise _RefusedError("it must be one expression.")
    node: dict[str, Any] = tree["statements"][0]["node"]
    if node["type"] != "SELECT_NODE":
        raise _RefusedError("it must be one expression.")
    return node


def _frame(node: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """All that is around the selected items, and how many there are."""
    around = {key: value for key, value in node.items() if key != "select_list"}
    return len(node["select_list"]), around


def _refuse_parts(
    db: duckdb.DuckDBPyConnection, expression: dict[str, Any], columns: Mapping[str, str]
) -> None:
    """Walk the tree; a name must be a column or a lambda's parameter around it."""
    # Unknown names would not all fail to bind: current_date is a column to the parser.
    todo = [(expression, frozenset(column.lower() for column in columns))]
    while todo:
        node, known = todo.pop()
        children: list[dict[str, Any]] = list(_children(node))
        match node["class"]:
            case "COLUMN_REF":
                _refuse_column(node, known, columns)
            case "FUNCTION":
                _refuse_function(db, node)
            case "LAMBDA" if node["syntax_type"] == "LAMBDA_KEYWORD":
                known |= {name.lower() for name in _parameters(node["lhs"])}
            case "LAMBDA":
                pass  # the arrow of JSON: a -> 'b'
            case "TYPE":
                if node["type_name"].lower() in ZONED_TYPES:
                    raise _RefusedError(
                        "a type with a time zone may not be used: it reads the machine's clock."
                    )
            case "OPERATOR" if node["type"] in OPERATORS:
                pass
            case plain if plain in PLAIN:
                pass
            case other:
                what = REFUSED.get(other, node["type"].lower())
                raise _RefusedError(f"{what} may not be used in a predicate.")
        todo += [(child, known) for child in reversed(children)]


def _children(node: Any) -> Iterator[dict[str, Any]]:
    """The expressions right below one, wherever the parser puts them."""
    values = node.values() if isinstance(node, dict) else node
    for value in values:
        if isinstance(value, dict) and "class" in value:
            yield value
        elif isinstance(value, dict | list):
            yield from _children(value)


def _parameters(node: dict[str, Any]) -> list[str]:
    if node["class"] == "COLUMN_REF":
        return list(node["column_names"][:1])
    return [name for child in _children(node) for name in _parameters(child)]


def _refuse_column(node: dict[str, Any], known: frozenset[str], columns: Mapping[str, str]) -> None:
    name = node["column_names"][0]
    if name.lower() in known:
        return
    raise _RefusedError(
        f'column "{name}" does not exist.',
        f"A predicate may use: {', '.join(sorted(columns))}.{_meant(name, columns)}",
    )


def _refuse_function(db: duckdb.DuckDBPyConnection, node: dict[str, Any]) -> None:
    name = node["function_name"].lower()
    if len(node["qualified_name"]["path"]) > 1:
        raise _RefusedError(f"{name} may not be called with a dot: write {name}(...).")
    if name not in FUNCTIONS:
        query = "select count(*) from duckdb_functions() where lower(function_name) = ?"
        if db.execute(query, [name]).fetchall() == [(0,)]:
            hint = f"{CALLABLE}{_meant(name, NAMED)}"
            raise _RefusedError(f"function {name} does not exist.", hint)
        message = f"function {name} may not be used: only what follows from a row alone."
        raise _RefusedError(message, CALLABLE)
    if node["filter"] or node["distinct"] or node["order_bys"]["orders"] or node["export_state"]:
        raise _RefusedError(f"{name} is no aggregate: no distinct, order by or filter.")


def _bind(db: duckdb.DuckDBPyConnection, when: str) -> None:
    """Its columns and types fit, and it is a boolean."""
    try:
        ((_, kind, *_),) = db.execute(f"describe select ({when}) from rollouts").fetchall()
        if kind == "BOOLEAN":
            db.execute(f"select 1 from rollouts where ({when})").fetchall()
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0].partition(": ")[2]
        raise _RefusedError(_sentence(reason)) from error
    if kind != "BOOLEAN":
        article = "an" if kind[0] in "AEIOU" else "a"
        found = "it is null" if kind == '"NULL"' else f"it is {article} {kind}"
        raise _RefusedError(
            f"{found}, expected true or false.", f"Compare it with something. {EXAMPLE}"
        )


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.75)
    return f" Did you mean {close[0]}?" if close else ""


def _sentence(text: str) -> str:
    return f"{text.strip().rstrip('.!')}."


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
