"""What lies beside rollouts -> raw.labels, figures, notes, config_values; the rest is counted."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import duckdb
import pyarrow as pa

from pipeline.artifact import SETTING_KINDS, Artifact, Kind
from pipeline.citation import Citation
from pipeline.ingest.formats import config, labels, metrics
from pipeline.ingest.load.lines import (
    SNIPPET_BYTES,
    FileTally,
    batches,
    read_blocks,
    record_id,
)
from pipeline.relation import append, create_table

Rows = defaultdict[str, list[tuple[Any, ...]]]  # what has been read so far, by table

# A larger file is listed with its size and not opened: model weights may lie beside the results.
LARGEST_DOCUMENT = 128 << 20
LARGEST_NOTE = 1 << 20

DOCUMENT_TABLES = {
    "figures": "file_no int, agent varchar, task varchar, position int, metric varchar, "
    "value double",
    "notes": "file_no int, content varchar",
    "config_values": "file_no int, name varchar, value varchar",
    "metric_rows": "file_no int, n_rows bigint",
}
LARGEST_NUMBER = 2**63 - 1
LABEL_TABLES = {
    "labels": "record_id bigint, run_id varchar, task_id varchar, cause varchar, "
    "intervention varchar, note varchar, said_by varchar, evidence varchar[], snippet varchar",
    # What must exist for a label to count: place 0 is its own task, the evidence follows.
    "label_mentions": "record_id bigint, place int, citation varchar, run_id varchar, "
    "task_id varchar, rollout_index bigint, seq bigint",
}


def load_documents(
    db: duckdb.DuckDBPyConnection, files: list[tuple[int, Artifact]], tallies: dict[int, FileTally]
) -> None:
    """Read every other artifact; what cannot be read is a reject, never an error."""
    rows: Rows = defaultdict(list)
    for file_no, artifact in files:
        tally = tallies.setdefault(file_no, FileTally())
        content = _content(artifact, tally)
        if tally.damage is not None:
            tally.n_lines += 1
            rows["rejects"].append((record_id(file_no, tally.n_lines), tally.damage, ""))
        elif content is not None:
            _read(rows, file_no, artifact.kind, content)
    for table, columns in DOCUMENT_TABLES.items():
        create_table(db, f"raw.{table}", columns, rows[table])
    append(db, "raw.rejects", rows["rejects"])


def _content(artifact: Artifact, tally: FileTally) -> bytes | None:
    """The file's bytes, counted and hashed; none where it is too large to open."""
    tally.n_bytes = artifact.path.stat().st_size
    if tally.n_bytes > LARGEST_DOCUMENT:
        tally.is_counted = False
        return None
    blocks = read_blocks(artifact, tally, room=lambda: 0)
    content = b"".join(bytes(memoryview(block)[start:end]) for block, start, end in blocks)
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    tally.n_lines = len(lines)
    tally.n_blank = sum(not line.strip() for line in lines)
    return content


def _read(rows: Rows, file_no: int, kind: Kind, content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    if kind is Kind.NOTES:
        rows["notes"].append((file_no, text[:LARGEST_NOTE]))
    elif kind in SETTING_KINDS:
        found = config.checkpoint(text) if kind is Kind.CHECKPOINT else config.settings(text)
        rows["config_values"] += [(file_no, name, value) for name, value in found.items()]
    elif kind is Kind.REWARD_PROFILE:
        _read_profile(rows, file_no, text)
    elif kind in (Kind.AGGREGATE_METRICS, Kind.AGENT_METRICS):
        _read_aggregate(rows, file_no, text)


def _read_aggregate(rows: Rows, file_no: int, text: str) -> None:
    try:
        document = metrics.parse(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        rows["rejects"].append(
            (record_id(file_no, line), f"not JSON: {error}", text[:SNIPPET_BYTES])
        )
        return
    for figure in metrics.aggregate_figures(document):
        rows["figures"].append((file_no, *vars(figure).values()))


def _read_profile(rows: Rows, file_no: int, text: str) -> None:
    position = 0
    for line_no, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = metrics.parse(line)
            if not isinstance(row, dict):
                raise ValueError("not a JSON object")
        except (ValueError, RecursionError) as error:
            snippet = line.strip()[:SNIPPET_BYTES]
            rows["rejects"].append((record_id(file_no, line_no), f"not JSON: {error}", snippet))
            continue
        for figure in metrics.profile_figures(row, position):
            rows["figures"].append((file_no, *vars(figure).values()))
        position += 1
    rows["metric_rows"].append((file_no, position))


def load_labels(
    db: duckdb.DuckDBPyConnection,
    files: list[tuple[int, Artifact]],
    tallies: dict[int, FileTally],
    *,
    max_line_bytes: int,
) -> None:
    """Every line becomes a label, a reject or blank."""
    for table, columns in LABEL_TABLES.items():
        create_table(db, f"raw.{table}", columns)
    for file_no, artifact in files:
        tally = tallies[file_no] = FileTally()
        for batch in batches(artifact, file_no, tally, max_line_bytes=max_line_bytes):
            _load_batch(db, batch, tally)


def _load_batch(db: duckdb.DuckDBPyConnection, batch: pa.RecordBatch, tally: FileTally) -> None:
    rows: Rows = defaultdict(list)
    for label_id, line, fault in zip(*batch.to_pydict().values(), strict=True):
        snippet = line.strip()[:SNIPPET_BYTES]
        if fault is not None:
            rows["rejects"].append((label_id, fault, snippet))
        elif not snippet:
            tally.n_blank += 1
        else:
            try:
                label = labels.read(line)
            except (ValueError, RecursionError) as error:
                rows["rejects"].append((label_id, str(error), snippet))
                continue
            *said, evidence = vars(label).values()
            rows["labels"].append((label_id, *said, [str(cited) for cited in evidence], snippet))
            own = (label_id, 0, None, label.run_id, label.task_id, None, None)
            rows["label_mentions"].append(own)
            for place, cited in enumerate(evidence, start=1):
                rows["label_mentions"].append((label_id, place, str(cited), *_parts(cited)))
    for table in ("labels", "label_mentions", "rejects"):
        append(db, f"raw.{table}", rows[table])


def _parts(citation: Citation) -> tuple[Any, ...]:
    """Numbers that the table cannot hold become its largest, which does not exist either."""
    seq = None if citation.seq is None else min(citation.seq, LARGEST_NUMBER)
    return citation.run_id, citation.task_id, min(citation.rollout_index, LARGEST_NUMBER), seq
