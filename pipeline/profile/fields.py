"""Field paths of a profile, such as `a."b.c".d`, and checks that rows have these fields."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import duckdb

from ..errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from .contents import Profile

EXAMPLE = "verifier_metadata.level"
# A quoted name may contain anything, with \" and \\ for the two special characters.
PART = re.compile(r'"(?P<quoted>(?:[^"\\]|\\["\\])*+)"|(?P<bare>[^."]+)')
ESCAPED = re.compile(r'\\(["\\])')
# Syntax of other path notations, which would be taken for names.
FOREIGN = re.compile(r"[\[\]]|^[$*]$")
FIELDS = ("task_id", "reward", "answer", "group")
# What a user calls the first two, as the columns of a table are called.
SYNONYMS = {"task": "task_id", "score": "reward"}
# Columns of a table of one's own; other formats record these in one place.
COLUMNS = ("prompt", "output", "messages", "pass", "model", "agent", "repeat", "key")
SAMPLED_ROWS = 2000
MOST_LISTED = 40


def names(path: str) -> tuple[str, ...]:
    """The names of a path, outermost first."""
    parts = []
    position = 0
    while True:
        match = PART.match(path, position)
        if match is None:
            is_missing = position == len(path) or path[position] == "."
            raise _refused("a name is missing" if is_missing else "a quote is stray")
        parts.append(_name(match))
        position = match.end()
        if position == len(path):
            return tuple(parts)
        if path[position] != ".":
            raise _refused("a quote is stray")
        position += 1


def json_path(path: str) -> str:
    r"""The path as DuckDB reads it: `a.b` is `$."a"."b"`.

    Inside quotes a backslash escapes the next character, and nothing else is special except a
    single `*`, which means every field even there.
    """
    quoted = [re.sub(r'(["\\])', r"\\\1", name) for name in names(path)]
    return "$" + "".join(f'."{name}"' for name in quoted)


def _name(match: re.Match[str]) -> str:
    bare = match["bare"] or ""
    if FOREIGN.search(bare):
        raise _refused("only names are allowed, no brackets, no $ and no *")
    if bare != bare.strip():
        raise _refused("a name begins or ends with a blank")
    name = bare or ESCAPED.sub(r"\1", match["quoted"])
    if not name:
        raise _refused("a name is empty")
    if name == "*" or "\0" in name:
        raise _refused("a name is * or contains a NUL character, which DuckDB cannot look up")
    return name


def _refused(reason: str) -> UsageError:
    return UsageError(reason, hint=f"""Write names with dots between: {EXAMPLE} or a."b.c".d""")


def check_fields(db: duckdb.DuckDBPyConnection, profile: Profile) -> None:
    """Raise an error for a path that no row has; the hint lists the fields of rows."""
    paths = {f"fields.{name}": getattr(profile, name) for name in FIELDS}
    paths |= {f"slices[{index}]": path for index, path in enumerate(profile.slices or ())}
    for key, path in paths.items():
        if path is None:
            continue
        matches = db.execute(
            "select 1 from raw.records where row_field(verifier, reward_components, ?) is not null "
            "limit 1",
            [json_path(path)],
        ).fetchall()
        if not matches:
            message = f"{key}: no row has the field {path}."
            if profile.name:
                message = f"{profile.name}: {message}"
            raise UsageError(message, hint=_suggestion(db, path))


def _suggestion(db: duckdb.DuckDBPyConnection, path: str) -> str:
    """The fields that rows have: below the parent of the path, else at the top."""
    *parents, name = names(path)
    prefix = "".join(f"{parent}." for parent in parents)
    known = _keys(db, json_path(prefix[:-1])) if parents else []
    if not known:
        prefix, known = "", _keys(db, "$")
    meant = did_you_mean(name, known, cutoff=0.5, prefix=prefix)
    listed = ", ".join(f"{prefix}{key}" for key in known[:MOST_LISTED])
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    return (
        f"{meant}Rows have: {listed or 'no other fields'}{more}. "
        "Fields of the format itself (reward, response, agent_ref, _ng_...) cannot be named."
    )


def _keys(db: duckdb.DuckDBPyConnection, path: str) -> list[str]:
    rows = db.execute(
        f"""
        select distinct unnest(json_keys(json_extract(verifier, ?))) as key
        from (select verifier from raw.records order by record_id limit {SAMPLED_ROWS})
        order by key
        """,
        [path],
    ).fetchall()
    return [key for (key,) in rows]
