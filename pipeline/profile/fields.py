"""Do the rows have the fields a profile names? Asked once they are read, before they are used."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

import duckdb

from pipeline.errors import UsageError
from pipeline.profile.paths import json_path, names
from pipeline.profile.values import Profile

PROFILE_NAME = "blade.toml"
# Where a package keeps its rollouts.
PACKAGED = ("rollouts", "data")
SAMPLED_ROWS = 2000
MOST_LISTED = 40


def beside(inputs: list[Path]) -> Path | None:
    """The blade.toml in the folders that were given, or beside the files.

    That of a package stands beside its folder of rollouts.
    """
    folders = dict.fromkeys(path if path.is_dir() else path.parent for path in inputs)
    found = list(dict.fromkeys(path for folder in folders for path in _in_folder(folder)))
    if len(found) > 1:
        listing = ", ".join(str(path) for path in found)
        raise UsageError(
            f"several profiles: {listing}.", hint="Name the one that counts with --profile."
        )
    return found[0] if found else None


def _in_folder(folder: Path) -> list[Path]:
    named = folder if folder.name else folder.absolute()
    places = [folder, named.parent] if named.name in PACKAGED else [folder]
    found = [place / PROFILE_NAME for place in places if (place / PROFILE_NAME).is_file()]
    return found[:1]


def check_fields(db: duckdb.DuckDBPyConnection, profile: Profile) -> None:
    """Refuse a path that no row has, with the names that rows have there."""
    for key, path in _paths(profile):
        found = db.execute(
            "select 1 from raw.records where row_field(verifier, reward_components, ?) is not null "
            "limit 1",
            [json_path(path)],
        ).fetchall()
        if not found:
            line = profile.lines.get(key, 1)
            raise UsageError(
                f"{profile.name}:{line}: {key}: no row has the field {path}.",
                hint=_suggestion(db, path),
            )


def _paths(profile: Profile) -> Iterator[tuple[str, str]]:
    for name in ("task_id", "reward", "answer", "group"):
        path = getattr(profile, name)
        if path is not None:
            yield f"fields.{name}", path
    for path in profile.slices or ():
        yield "slices", path


def _suggestion(db: duckdb.DuckDBPyConnection, path: str) -> str:
    """The fields that rows do have: of the parent, where rows have that; else at the top."""
    *parents, name = names(path)
    known: list[str] = []
    prefix = ""
    if parents:
        prefix = ".".join(parents) + "."
        known = _keys(db, json_path(prefix[:-1]))
    if not known:
        prefix, known = "", _keys(db, "$")
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    meant = f"Did you mean {prefix}{close[0]}? " if close else ""
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
