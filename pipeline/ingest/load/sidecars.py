"""Load files other than rollouts: raw.labels, figures, notes, config_values; count the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from ...artifact import METRIC_KINDS, SETTING_KINDS, Artifact, Kind
from ...citation import Citation
from ...files import MOST_BYTES, TOO_LARGE
from ...relation import append, create_table
from ..formats import config, labels, metrics
from .lines import (
    NEWLINE,
    SNIPPET_BYTES,
    FileTally,
    batches,
    read_blocks,
    record_id,
)

Rows = defaultdict[str, list[tuple[Any, ...]]]  # rows read so far, by table

# Documents that are read; of others only the lines are counted.
READ_KINDS = SETTING_KINDS | {Kind.NOTES, Kind.AGGREGATE_METRICS, Kind.AGENT_METRICS}
LARGEST_NOTE = 1 << 20
SETTINGS_OF = {Kind.CHECKPOINT: config.checkpoint, Kind.RESOLVED_CONFIG: config.resolved}

DOCUMENT_TABLES = {
    "figures": "file_no int, agent varchar, task varchar, position int, metric varchar, "
    "value double, variant varchar, means varchar, scale double, reason varchar, "
    "rounding double, is_main boolean",
    "expected_attempts": "file_no int, task varchar, rollout_index bigint, variant varchar",
    "notes": "file_no int, content varchar",
    "config_values": "file_no int, name varchar, value varchar",
    "metric_rows": "file_no int, n_rows bigint",
}
LARGEST_NUMBER = 2**63 - 1
LABEL_TABLES = {
    "labels": "record_id bigint, run_id varchar, task_id varchar, cause varchar, "
    "intervention varchar, note varchar, said_by varchar, rollout_index bigint, mode varchar, "
    "seed bigint, renamed varchar, evidence varchar[], snippet varchar",
    # What a label refers to: place 0 is its task or rollout, then its evidence. All must exist.
    "label_mentions": "record_id bigint, place int, citation varchar, run_id varchar, "
    "task_id varchar, rollout_index bigint, seq bigint",
}


def load_documents(
    db: duckdb.DuckDBPyConnection,
    files: list[tuple[int, Artifact]],
    tallies: dict[int, FileTally],
    *,
    max_line_bytes: int,
) -> None:
    """Read every other artifact; unreadable ones become rejects, never errors."""
    for table, columns in DOCUMENT_TABLES.items():
        create_table(db, f"raw.{table}", columns)
    for file_no, artifact in files:
        tally = tallies[file_no] = FileTally(n_bytes=artifact.n_bytes, damage=artifact.skipped)
        if artifact.kind is Kind.REWARD_PROFILE:
            _load_profile(db, artifact, file_no, tally, max_line_bytes=max_line_bytes)
            continue
        rows: Rows = defaultdict(list)
        content = bytearray() if artifact.skipped else _content(artifact, tally)
        if tally.damage is not None:
            tally.n_lines += 1
            rows["rejects"].append((record_id(file_no, tally.n_lines), tally.damage, ""))
        else:
            _read(rows, file_no, artifact.kind, content)
        for table in rows:
            append(db, f"raw.{table}", rows[table])


def _content(artifact: Artifact, tally: FileTally) -> bytearray:
    """The bytes of a file, with counts and hash in its tally.

    Large files that are not read anyway, such as weights, are listed with their size only.
    """
    content = bytearray()
    if artifact.compression is not None or tally.n_bytes <= MOST_BYTES:
        for block, start, end in read_blocks(artifact, tally, n_carried=lambda: 0):
            content += memoryview(block)[start:end]
            if len(content) > MOST_BYTES:
                break
    if max(len(content), 0 if artifact.compression else tally.n_bytes) > MOST_BYTES:
        tally.is_counted = artifact.kind in READ_KINDS
        tally.damage = TOO_LARGE if tally.is_counted else None
        return bytearray()
    tally.n_lines, tally.n_blank = _count_lines(content)
    return content


def _count_lines(content: bytearray) -> tuple[int, int]:
    """Count lines and blank lines, without a list, which takes fifty times the memory."""
    is_open = bool(content) and not content.endswith(b"\n")
    marked = b"\n" + content.translate(None, b" \t\r\x0b\x0c") + b"\n" * is_open
    ends = np.frombuffer(marked, np.uint8) == NEWLINE
    return content.count(b"\n") + is_open, int(np.count_nonzero(ends[1:] & ends[:-1]))


def _read(rows: Rows, file_no: int, kind: Kind, content: bytearray) -> None:
    text = content.decode("utf-8", "replace")
    if kind is Kind.NOTES:
        rows["notes"].append((file_no, text[:LARGEST_NOTE]))
    elif kind in SETTING_KINDS:
        try:
            settings = SETTINGS_OF.get(kind, config.settings)(text)
        except ValueError as error:
            rows["rejects"].append((record_id(file_no, 1), str(error), ""))
            return
        rows["config_values"] += [(file_no, name, value) for name, value in settings.items()]
    elif kind in METRIC_KINDS and text.strip():
        try:
            figures = list(metrics.aggregate_figures(metrics.parse(text)))
        except (ValueError, RecursionError) as error:
            place = record_id(file_no, getattr(error, "lineno", 1))
            rows["rejects"].append((place, metrics.reason(error), text[:SNIPPET_BYTES]))
            return
        rows["figures"] += [(file_no, *vars(figure).values()) for figure in figures]


def _load_profile(
    db: duckdb.DuckDBPyConnection,
    artifact: Artifact,
    file_no: int,
    tally: FileTally,
    *,
    max_line_bytes: int,
) -> None:
    position = 0
    for batch in batches(artifact, file_no, tally, max_line_bytes=max_line_bytes):
        rows: Rows = defaultdict(list)
        for line_id, line in _usable(batch, rows, tally):
            try:
                figures = list(metrics.profile_figures(metrics.parse(line), position))
            except (ValueError, RecursionError) as error:
                snippet = line.strip()[:SNIPPET_BYTES]
                rows["rejects"].append((line_id, metrics.reason(error), snippet))
                continue
            rows["figures"] += [(file_no, *vars(figure).values()) for figure in figures]
            position += 1
        for table in rows:
            append(db, f"raw.{table}", rows[table])
    append(db, "raw.metric_rows", [(file_no, position)])


def _usable(batch: pa.RecordBatch, rows: Rows, tally: FileTally) -> Iterator[tuple[int, str]]:
    for line_id, line, fault in zip(*batch.to_pydict().values(), strict=True):
        if fault is not None:
            rows["rejects"].append((line_id, fault, line.strip()[:SNIPPET_BYTES]))
        elif not line.strip():
            tally.n_blank += 1
        else:
            yield line_id, line


def load_labels(
    db: duckdb.DuckDBPyConnection,
    files: list[tuple[int, Artifact]],
    tallies: dict[int, FileTally],
    *,
    max_line_bytes: int,
) -> None:
    for table, columns in LABEL_TABLES.items():
        create_table(db, f"raw.{table}", columns)
    for file_no, artifact in files:
        tally = tallies[file_no] = FileTally()
        for batch in batches(artifact, file_no, tally, max_line_bytes=max_line_bytes):
            _load_batch(db, batch, tally)


def _load_batch(db: duckdb.DuckDBPyConnection, batch: pa.RecordBatch, tally: FileTally) -> None:
    rows: Rows = defaultdict(list)
    for label_id, line in _usable(batch, rows, tally):
        snippet = line.strip()[:SNIPPET_BYTES]
        try:
            label = labels.read(line)
        except (ValueError, RecursionError) as error:
            rows["rejects"].append((label_id, str(error), snippet))
            continue
        *values, evidence = vars(label).values()
        rows["labels"].append((label_id, *values, [str(cited) for cited in evidence], snippet))
        if label.renamed is not None:
            continue
        own = (label_id, 0, None, label.run_id, label.task_id, label.rollout_index, None)
        rows["label_mentions"].append(own)
        for place, cited in enumerate(evidence, start=1):
            rows["label_mentions"].append((label_id, place, str(cited), *_parts(cited)))
    for table in rows:
        append(db, f"raw.{table}", rows[table])


def _parts(citation: Citation) -> tuple[Any, ...]:
    """The columns of a citation; numbers too large for the table become its largest."""
    seq = None if citation.seq is None else min(citation.seq, LARGEST_NUMBER)
    return citation.run_id, citation.task_id, min(citation.rollout_index, LARGEST_NUMBER), seq
