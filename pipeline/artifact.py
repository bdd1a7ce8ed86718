"""One file of a results folder: what it is, which run it belongs to, how to open it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Kind(StrEnum):
    """What a file contains: rollouts, inputs, failures and labels are read row by row."""

    ROLLOUTS = "rollouts"
    INPUTS = "inputs"
    FAILURES = "failures"
    REWARD_PROFILE = "reward_profile"
    AGGREGATE_METRICS = "aggregate_metrics"
    AGENT_METRICS = "agent_metrics"
    STAGE_JOURNAL = "stage_journal"
    HEALTH = "health"
    DATASET = "dataset"
    CONFIG = "config"
    RESOLVED_CONFIG = "resolved_config"
    LIMITS = "limits"
    CHECKPOINT = "checkpoint"
    PROFILE = "profile"
    LABELS = "labels"
    NOTES = "notes"
    REPORT = "report"
    LOG = "log"
    SKIPPED = "skipped"
    OTHER = "other"


ROW_KINDS = frozenset({Kind.ROLLOUTS, Kind.INPUTS, Kind.FAILURES})
METRIC_KINDS = frozenset({Kind.REWARD_PROFILE, Kind.AGGREGATE_METRICS, Kind.AGENT_METRICS})
SETTING_KINDS = frozenset({Kind.CONFIG, Kind.RESOLVED_CONFIG, Kind.LIMITS, Kind.CHECKPOINT})

# Suffixes of the files that accompany a rollout file S.jsonl: S_failures.jsonl and so on.
SIDECAR_SUFFIXES = {
    "_materialized_inputs": Kind.INPUTS,
    "_failures": Kind.FAILURES,
    "_reward_profiling": Kind.REWARD_PROFILE,
    "_aggregate_metrics": Kind.AGGREGATE_METRICS,
    "_agent_metrics": Kind.AGENT_METRICS,
    "_multistage_state": Kind.STAGE_JOURNAL,
}

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


def printable(name: str) -> str:
    """Escape bytes of a file name that are not UTF-8: tables and reports cannot contain them."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


@dataclass(frozen=True)
class ListedFile:
    """A file: its path, its name below the common parent of the inputs, and why it is skipped."""

    path: Path
    name: str
    skipped: str | None = None

    @property
    def folder(self) -> str:
        """The folder part of the name; empty at the top."""
        return self.name.rpartition("/")[0]

    @property
    def base(self) -> str:
        return self.name.rpartition("/")[2]


@dataclass(frozen=True)
class Artifact:
    """A discovered file. `name` is its path below the inputs' common parent, with `/`.

    `places` are the informative names of its parent folders, `home` of a table of one's own is that
    of the inputs' common parent or of the folder above it, `package` is its BLADE package,
    `skipped` is why it is not opened, `format` is the module of ingest/formats that reads it (None
    for NeMo Gym), `beside` are the files that it is read together with, `fields` are the columns of
    a table that the user chose, by role. Files of several evaluations that the user put into one
    run are pooled, and numbered by `seed`.
    """

    path: Path
    name: str
    kind: Kind
    run_name: str | None = None
    seed: int | None = None
    chunk: int | None = None
    places: tuple[str, ...] = ()
    home: str | None = None
    package: str | None = None
    skipped: str | None = None
    format: str | None = None
    beside: tuple[Path, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    is_pooled: bool = False

    @property
    def folder(self) -> str:
        """The folder part of the name; empty at the top."""
        return self.name.rpartition("/")[0]

    @property
    def n_bytes(self) -> int:
        """Its size; 0 if it has been deleted."""
        try:
            return self.path.lstat().st_size
        except OSError:
            return 0

    @property
    def compression(self) -> str | None:
        """The compression of the file, by its extension."""
        return COMPRESSIONS.get("." + self.name.rpartition(".")[2].lower())
