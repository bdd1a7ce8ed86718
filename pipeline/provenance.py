"""How an output was made: settings, command, versions and notices."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import duckdb

from . import __version__, files
from .profile import Profile
from .relation import create_table
from .settings import DEFAULT_MAX_LINE_BYTES, MANIFEST_NAME, Settings
from .warehouse import Notice, open_warehouse

# The libraries that figures and pages depend on.
LIBRARIES = ("duckdb", "pyarrow", "numpy", "jinja2", "markdown-it-py")


def write(db: duckdb.DuckDBPyConnection, chosen: Profile, settings: Settings) -> None:
    """Store what a report prints beyond the relations, so that it can be rendered again."""
    settings_shown = {"command": command(chosen, settings), **choices(chosen, settings)}
    if chosen.pass_threshold is None and (thresholds := _stated_thresholds(db)):
        settings_shown["pass threshold"] = f"{thresholds} where the results say so, else 1.0"
    settings_shown |= {f"columns of {name}": value for name, value in _columns_of_tables(db)}
    _create(db, "report_settings", "name varchar, value varchar", list(settings_shown.items()))
    _create(db, "versions", "name varchar, version varchar", list(versions().items()))


def _stated_thresholds(db: duckdb.DuckDBPyConnection) -> str | None:
    query = """
        select string_agg(distinct threshold, ', ' order by threshold)
        from (select try_cast(value as double) as threshold, name from raw.config_values)
        where name = 'pass_threshold'
    """
    (thresholds,) = db.execute(query).fetchall()[0]
    return None if thresholds is None else str(thresholds)


def _columns_of_tables(db: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    query = """
        select
            min(files.path) || if(count(*) > 1, ' and ' || (count(*) - 1) || ' more', '') as name,
            config_values.value
        from raw.config_values
        join raw.files using (file_no)
        where config_values.name = 'read_as'
        group by config_values.value
        order by all
    """
    return db.execute(query).fetchall()


def write_notices(db: duckdb.DuckDBPyConnection, notices: Sequence[Notice]) -> None:
    columns = "check_name varchar, subject varchar, message varchar, hint varchar"
    _create(db, "notices", columns, [tuple(vars(notice).values()) for notice in notices])


def notices(path: Path) -> tuple[Notice, ...]:
    query = "select check_name, subject, message, hint from raw.notices order by no"
    with open_warehouse(path) as opened:
        return tuple(Notice(*row) for row in opened.execute(query).fetchall())


def _create(
    db: duckdb.DuckDBPyConnection, table: str, columns: str, rows: Sequence[tuple[str, ...]]
) -> None:
    numbered = [(number, *row) for number, row in enumerate(rows, start=1)]
    create_table(db, f"raw.{table}", f"no int, {columns}", numbered)


def versions() -> dict[str, str]:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"blade": __version__, **{name: version(name) for name in LIBRARIES}, "python": python}


def choices(chosen: Profile, settings: Settings) -> dict[str, str]:
    """The settings in words, without times, hosts, users or absolute paths."""
    return {
        "profile": Path(chosen.name).name if chosen.name else "none",
        "benchmark": chosen.benchmark or "from the files",
        "baseline": ", ".join(chosen.baselines) or "none",
        "pass threshold": (
            "1.0, unless rewards leave 0..1"
            if chosen.pass_threshold is None
            else str(chosen.pass_threshold)
        ),
        "longest line": f"{settings.max_line_bytes:,} bytes",
    }


def command(chosen: Profile, settings: Settings) -> str:
    """The command that reproduces this output, with placeholders for the folders.

    Templates are not part of it: a report names its own templates.
    """
    longest = settings.max_line_bytes
    options = [
        ("--profile", None if settings.profile is None else Path(chosen.name).name),
        ("--suite", None if settings.suite is None else settings.suite.name),
        ("--benchmark", settings.benchmark),
        *(("--baseline", name) for name in settings.baselines),
        ("--pass-threshold", settings.pass_threshold),
        ("--max-line-bytes", None if longest == DEFAULT_MAX_LINE_BYTES else longest),
        *(("--run", f"{name}=PATH") for name, _ in settings.run_names),
        *(("--field", f"{name}={path}") for name, path in settings.fields),
    ]
    words = [word for name, value in options if value is not None for word in (name, str(value))]
    followed = ["--follow-links"] if settings.follow_links else []
    return shlex.join(["blade", "analyze", "RESULTS", "--out", "DIR", *words, *followed])


def manifest(
    db: duckdb.DuckDBPyConnection,
    chosen: Profile,
    settings: Settings,
    hashes: Mapping[str, str],
    *,
    templates: Sequence[Mapping[str, str]],
) -> str:
    """The manifest: version, settings, outputs and inputs with their hashes."""
    query = "select path, kind, n_bytes, sha256 from main.artifacts order by path"
    own = Path(chosen.name)
    content = {
        "tool": "blade",
        "version": __version__,
        "settings": {
            "profile": {"path": own.name, "sha256": sha256(files.content(own)).hexdigest()}
            if chosen.name
            else None,
            "benchmark": chosen.benchmark,
            "baselines": list(chosen.baselines),
            "pass_threshold": chosen.pass_threshold,
            "max_line_bytes": settings.max_line_bytes,
            "run_names": [name for name, _ in settings.run_names],
            "templates": list(templates),
        },
        "outputs": sorted([*hashes, MANIFEST_NAME]),
        "outputs_sha256": dict(sorted(hashes.items())),
        "inputs": db.sql(query).to_arrow_table().to_pylist(),
    }
    return json.dumps(content, indent=2) + "\n"
