"""Check that each `when` is one harmless SQL predicate over a rollout, before data is read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import duckdb

from ..errors import UsageError, did_you_mean
from ..toml import shown
from .allowed import FUNCTIONS, SLOW_FUNCTIONS, ZONED_TYPES
from .contents import FailureMode, Stage

# The parse tree is walked in Python, which has a recursion limit.
DEEPEST = 100
# In this order: the last one locks all settings.
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

# Operators that an expression may use, as DuckDB's parser names them.
OPERATORS = frozenset(
    "ARRAY_CONSTRUCTOR ARRAY_EXTRACT ARRAY_SLICE COMPARE_IN COMPARE_NOT_IN OPERATOR_COALESCE "
    "OPERATOR_IS_NOT_NULL OPERATOR_IS_NULL OPERATOR_NOT OPERATOR_TRY STRUCT_EXTRACT".split()
)
# Their result may be as long as one text times another.
REPLACING = frozenset(
    ("replace", "regexp_replace", "translate", "overlay", "array_to_string", "list_string_agg")
)
REFUSED = {
    "SUBQUERY": "a query (select, exists, any)",
    "WINDOW": "a window function",
    "STAR": "* or columns()",
    "PARAMETER": "a parameter",
    "COLLATE": "a collation",
}


def check_predicates(
    rules: Iterable[Stage | FailureMode], columns: Mapping[str, str], *, name: str
) -> None:
    """Raise an error unless each predicate is one boolean expression over the columns.

    `columns` maps names to types of DuckDB. A valid predicate can be put in parentheses in a query.
    """
    with duckdb.connect(":memory:") as db:
        for setting, value in LOCKED_DOWN.items():
            db.execute(f"set {setting} = {value}")
        listed = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
        db.execute(f"create table rollouts ({listed})")
        # One row of nulls: an invalid constant fails only when the query is run.
        db.execute("insert into rollouts default values")
        for index, rule in enumerate(rules):
            try:
                if rule.when is not None:
                    _check(db, rule.when, columns)
            except UsageError as error:
                if isinstance(rule, Stage):
                    place = f"funnel[{index}].when: funnel stage {shown(rule.stage)}"
                else:
                    place = f"failure_mode[{index}].when: failure mode {shown(rule.mode)}"
                raise UsageError(f"{name}: {place}: {error}", hint=error.hint) from error


def _check(db: duckdb.DuckDBPyConnection, when: str, columns: Mapping[str, str]) -> None:
    node = _parsed(db, f"select ({when})")
    for item in node["select_list"]:
        _refuse_parts(db, item, columns)
    # A text such as `a) or (b` is valid only inside parentheses.
    bare, frame = _parsed(db, f"select {when}"), _parsed(db, "select true")
    if not _frame(node) == _frame(bare) == _frame(frame):
        raise _refused("it must be one expression.")
    # Its columns and types fit, and it is a boolean.
    try:
        ((_, kind, *_),) = db.execute(f"describe select ({when}) from rollouts").fetchall()
        if kind == "BOOLEAN":
            db.execute(f"select 1 from rollouts where ({when})").fetchall()
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0].partition(": ")[2]
        raise _refused(_sentence(reason)) from error
    if kind != "BOOLEAN":
        article = "an" if kind[0] in "AEIOU" else "a"
        actual = "it is null" if kind == '"NULL"' else f"it is {article} {kind}"
        raise _refused(
            f"{actual}, expected true or false.", f"Compare it with something. {EXAMPLE}"
        )


def _parsed(db: duckdb.DuckDBPyConnection, query: str) -> dict[str, Any]:
    """The parse tree of a query; nothing is run."""
    ((text,),) = db.execute("select json_serialize_sql(?::varchar)", [query]).fetchall()
    tree = json.loads(text)
    if tree["error"]:
        reason = tree["error_message"]
        if reason.startswith("Max expression depth"):
            reason = f"nested more than {DEEPEST} levels deep"
        raise _refused(f"not a SQL predicate: {_sentence(reason)}")
    nodes: list[dict[str, Any]] = [statement["node"] for statement in tree["statements"]]
    if [node["type"] for node in nodes] != ["SELECT_NODE"]:
        raise _refused("it must be one expression.")
    return nodes[0]


def _frame(node: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The parse tree without the selected items, and their number."""
    around = {key: value for key, value in node.items() if key != "select_list"}
    return len(node["select_list"]), around


def _refuse_parts(
    db: duckdb.DuckDBPyConnection, expression: dict[str, Any], columns: Mapping[str, str]
) -> None:
    """Check all parts of an expression; a name must be a column or a parameter of a lambda."""
    # Not all unknown names fail to bind: current_date is a column to the parser.
    every = frozenset(column.lower() for column in columns)
    texts = frozenset(
        column.lower() for column, kind in columns.items() if kind.startswith(("VARCHAR", "JSON"))
    )
    todo = [(expression, every)]
    while todo:
        node, known = todo.pop()
        match node["class"]:
            case "COLUMN_REF":
                name = node["column_names"][0]
                if name.lower() in texts - known:
                    raise _refused(f'a text ("{name}") may not be used inside a lambda.')
                if name.lower() not in known:
                    hint = f"A predicate may use: {', '.join(sorted(columns))}. "
                    hint += did_you_mean(name.lower(), columns, cutoff=0.75)
                    raise _refused(f'column "{name}" does not exist.', hint.strip())
            case "FUNCTION":
                _refuse_function(db, node)
            case "LAMBDA" if node["syntax_type"] == "LAMBDA_KEYWORD":
                # Building a text for each character of another would exhaust the memory.
                if texts - known:
                    raise _refused("a lambda inside a lambda may not be used.")
                known = known - texts | {name.lower() for name in _parameters(node["lhs"])}
            case "TYPE":
                if node["type_name"].lower() in ZONED_TYPES:
                    raise _refused(
                        "a type with a time zone may not be used: it depends on the machine."
                    )
            case "OPERATOR" if node["type"] in OPERATORS:
                pass
            # An arrow that is no lambda is that of JSON: a -> 'b'
            case "LAMBDA" | "BETWEEN" | "CASE" | "CAST" | "COMPARISON" | "CONJUNCTION" | "CONSTANT":
                pass
            case other:
                what = REFUSED.get(other, node["type"].lower())
                raise _refused(f"{what} may not be used in a predicate.")
        todo += [(child, known) for child in reversed(list(_children(node)))]


def _children(node: Any) -> Iterator[dict[str, Any]]:
    """The direct subexpressions of a node."""
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


def _refuse_function(db: duckdb.DuckDBPyConnection, node: dict[str, Any]) -> None:
    name = node["function_name"].lower()
    if len(node["qualified_name"]["path"]) > 1:
        raise _refused(f"{name} may not be called with a dot: write {name}(...).")
    if name not in FUNCTIONS:
        query = "select count(*) from duckdb_functions() where lower(function_name) = ?"
        if db.execute(query, [name]).fetchall() == [(0,)]:
            named = filter(str.isidentifier, FUNCTIONS)
            hint = f"{CALLABLE} {did_you_mean(name, named, cutoff=0.75)}"
            raise _refused(f"function {name} does not exist.", hint.strip())
        if name in SLOW_FUNCTIONS:
            raise _refused(
                f"function {name} may not be used: it takes hours on long texts.", CALLABLE
            )
        message = f"function {name} may not be used: its result must depend on the row alone."
        raise _refused(message, CALLABLE)
    others = [argument["expression"]["class"] for argument in node["arguments"][1:]]
    if name in REPLACING and set(others) - {"CONSTANT"}:
        raise _refused(f"all but the first argument of {name} must be constants.")
    if node["filter"] or node["distinct"] or node["order_bys"]["orders"] or node["export_state"]:
        raise _refused(f"{name} is no aggregate: no distinct, order by or filter.")


def _sentence(text: str) -> str:
    return f"{text.strip().rstrip('.!')}."


def _refused(reason: str, hint: str = EXAMPLE) -> UsageError:
    return UsageError(reason, hint=hint)
