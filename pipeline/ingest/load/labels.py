"""labels.jsonl -> raw.labels, and all that labels name -> raw.label_mentions."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa

from pipeline.artifact import Artifact
from pipeline.citation import Citation
from pipeline.ingest.formats import labels
from pipeline.ingest.formats.labels import Label
from pipeline.ingest.load.lines import SNIPPET_BYTES, FileTally, batches
from pipeline.ingest.load.tables import append

LARGEST_NUMBER = 2**63 - 1
TABLES = {
    "labels": "record_id bigint, run_id varchar, task_id varchar, cause varchar, "
    "intervention varchar, note varchar, said_by varchar, evidence varchar[], snippet varchar",
    # What must exist for a label to count: place 0 is its own task, the evidence follows.
    "label_mentions": "record_id bigint, place int, citation varchar, run_id varchar, "
    "task_id varchar, rollout_index bigint, seq bigint",
}


def load(
    db: duckdb.DuckDBPyConnection,
    files: list[tuple[int, Artifact]],
    tallies: dict[int, FileTally],
    *,
    max_line_bytes: int,
) -> None:
    """Every line becomes a label, a reject or blank."""
    for table, columns in TABLES.items():
        db.execute(f"create table raw.{table} ({columns})")
    for file_no, artifact in files:
        tally = tallies[file_no] = FileTally()
        for batch in batches(artifact, file_no, tally, max_line_bytes=max_line_bytes):
            _load_batch(db, batch, tally)


def _load_batch(db: duckdb.DuckDBPyConnection, batch: pa.RecordBatch, tally: FileTally) -> None:
    found: list[tuple[Any, ...]] = []
    mentions: list[tuple[Any, ...]] = []
    rejects: list[tuple[Any, ...]] = []
    for record_id, line, fault in zip(*batch.to_pydict().values(), strict=True):
        snippet = line.strip()[:SNIPPET_BYTES]
        if fault is not None:
            rejects.append((record_id, fault, snippet))
        elif not snippet:
            tally.n_blank += 1
        else:
            try:
                label = labels.read(line)
            except (ValueError, RecursionError) as error:
                rejects.append((record_id, str(error), snippet))
                continue
            found.append(_row(record_id, label, snippet))
            mentions += _mentions(record_id, label)
    append(db, "raw.labels", found)
    append(db, "raw.label_mentions", mentions)
    append(db, "raw.rejects", rejects)


def _row(record_id: int, label: Label, snippet: str) -> tuple[Any, ...]:
    said = (label.run_id, label.task_id, label.cause, label.intervention, label.note, label.said_by)
    return (record_id, *said, [str(cited) for cited in label.evidence], snippet)


def _mentions(record_id: int, label: Label) -> list[tuple[Any, ...]]:
    own = (record_id, 0, None, label.run_id, label.task_id, None, None)
    cited = [
        (record_id, place, str(citation), *_parts(citation))
        for place, citation in enumerate(label.evidence, start=1)
    ]
    return [own, *cited]


def _parts(citation: Citation) -> tuple[Any, ...]:
    """Numbers that the table cannot hold become its largest, which does not exist either."""
    seq = None if citation.seq is None else min(citation.seq, LARGEST_NUMBER)
    return citation.run_id, citation.task_id, min(citation.rollout_index, LARGEST_NUMBER), seq
