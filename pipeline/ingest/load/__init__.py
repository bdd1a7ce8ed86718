"""Load artifacts into raw.* tables: every line becomes a row, a reject, other, or blank."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa

from ...artifact import ROW_KINDS, Artifact, Kind
from ...relation import append, create_table
from ...settings import Settings
from ..formats import gym
from . import record_sql, records, shards, sidecars
from .lines import FileTally
from .records import Engine, Parts, Read

FILES = (
    "file_no int, path varchar, folder varchar, kind varchar, run_name varchar, seed int, "
    "chunk int, is_pooled boolean, package varchar, format varchar, n_bytes bigint, "
    "n_lines bigint, n_blank bigint, sha256 varchar"
)
OF_HOME = -1
MATCHES = "record_id bigint, task_index varchar, prompt_sha varchar"


def artifacts(
    db: duckdb.DuckDBPyConnection,
    discovered: list[Artifact],
    settings: Settings,
    *,
    spool: Path,
    read: Read = lambda _read, _all: None,
    engine: Engine | None = None,
    parts: Parts | None = None,
    events_folder: Path | None = None,
) -> None:
    """Read all artifacts into the schema `raw` of the open warehouse.

    Files of other formats are converted into the folder `spool`, which the caller removes. If an
    engine is given, it reads the files of Gym, but for the parts that were read before. Many events
    that an engine has read are stored as Parquet in the folder for events, if there is one.
    """
    create_table(db, "raw.rejects", record_sql.REJECTS)
    numbered = list(enumerate(discovered))
    tallies: dict[int, FileTally] = {}
    by_row = [
        (no, artifact)
        for no, artifact in numbered
        if artifact.kind in ROW_KINDS or artifact.format is not None
    ]
    reading = records.Reading(
        settings.max_line_bytes,
        read,
        spool,
        settings.is_growing,
        engine=engine,
        parts=parts,
        events_folder=events_folder,
    )
    by_stream, by_shard = shards.split_by_engine(by_row, reading)
    converted = records.load(db, by_stream, tallies, reading)
    shards.load(db, by_shard, tallies, reading)
    db.execute(record_sql.create_records())
    curated = [(no, artifact) for no, artifact in numbered if artifact.kind is Kind.LABELS]
    sidecars.load_labels(db, curated, tallies, max_line_bytes=settings.max_line_bytes)
    rest = [(no, artifact) for no, artifact in numbered if no not in tallies]
    sidecars.load_documents(db, rest, tallies, max_line_bytes=settings.max_line_bytes)
    for table, rows in (each for other in converted for each in other.tables.items()):
        append(db, table, rows)
    _write_files(db, numbered, tallies)
    create_table(db, "raw.question_matches", MATCHES)
    if len({artifact.format is None for _, artifact in by_row}) == 2:
        db.execute(record_sql.MATCH_QUESTIONS)
    create_table(db, "raw.id_fields", "rank int, name varchar", list(enumerate(gym.id_names())))


def labels_alone(artifact: Artifact, file_no: int, *, max_line_bytes: int) -> dict[str, pa.Table]:
    """The tables of `raw` for one file of labels, as an analysis would fill them."""
    with duckdb.connect(":memory:") as db:
        db.execute(f"create schema raw; create table raw.rejects ({record_sql.REJECTS})")
        tallies: dict[int, FileTally] = {}
        sidecars.load_labels(db, [(file_no, artifact)], tallies, max_line_bytes=max_line_bytes)
        _write_files(db, [(file_no, artifact)], tallies)
        names = ("raw.labels", "raw.label_mentions", "raw.rejects", "raw.files")
        return {name: db.table(name).to_arrow_table() for name in names}


def _write_files(
    db: duckdb.DuckDBPyConnection,
    numbered: list[tuple[int, Artifact]],
    tallies: dict[int, FileTally],
) -> None:
    rows = []
    for file_no, artifact in numbered:
        tally = tallies[file_no]
        rows.append(
            (
                file_no,
                artifact.name,
                artifact.folder,
                str(artifact.kind),
                artifact.run_name,
                artifact.seed,
                artifact.chunk,
                artifact.is_pooled,
                artifact.package,
                artifact.format,
                tally.n_bytes,
                tally.n_lines if tally.is_counted else None,
                tally.n_blank if tally.is_counted else None,
                tally.sha256,
            )
        )
    create_table(db, "raw.files", FILES, rows)
    places = [(no, *place) for no, artifact in numbered for place in enumerate(artifact.places)]
    # Outside of all others, and used only where the names of several runs share nothing.
    places += [(no, OF_HOME, artifact.home) for no, artifact in numbered if artifact.home]
    create_table(db, "raw.places", "file_no int, depth int, name varchar", places)
