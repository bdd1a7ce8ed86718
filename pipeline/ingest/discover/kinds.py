"""What a file is, by its name; by its first rows where the name does not say."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pyarrow as pa

from pipeline.artifact import COMPRESSIONS, SIDECAR_SUFFIXES, Kind
from pipeline.ingest.discover.walk import Found, split_name

# First match wins. Matched against "<folder>/<file name>", lower case.
NAME_RULES: tuple[tuple[str, Kind], ...] = (
    (r"(^|/)labels\.jsonl$", Kind.LABELS),
    (r"(^|/)blade\.toml$", Kind.PROFILE),
    (r"(^|/)(quality_summary|compare_report)\.json$|(^|/)rollout_verdicts\.jsonl$", Kind.HEALTH),
    (r"(^|/)preprocessed_datasets/", Kind.DATASET),
    (r"(^|/)(train|validation|test|example|dev)[a-z_-]*_metrics\.json$", Kind.DATASET),
    (r"(^|/)golden_reports/|(^|/)skill/|(^|/)skill\.md$", Kind.REPORT),
    (
        r"(^|/)([^/]*[-_.])?(notes|readme)([-_.][^/]*)?\.(md|txt|rst)$|(^|/)(notes|readme)$",
        Kind.NOTES,
    ),
    (r"(^|/)[^/]*(check_?point|ckpt)[^/]*\.(txt|json|ya?ml|toml)$", Kind.CHECKPOINT),
    (r"(^|/)[^/]*limits?[^/]*\.(txt|json|ya?ml|toml)$", Kind.LIMITS),
    (r"\.(md|html?|pdf)$|(^|/)(metrics|manifest)\.json$", Kind.REPORT),
    (r"\.(log|out|err|stdout|stderr)(\.\d+)?$", Kind.LOG),
    (r"\.(json|ya?ml|toml)$", Kind.CONFIG),
)

SNIFF_BYTES = 1 << 20
SNIFF_ROWS = 50


def kind_of(file: Found, *, is_named: bool = False) -> Kind:
    """The kind of a file; one that the caller named outright is rollouts unless a sidecar."""
    stem, ending = split_name(file.name)
    if ending in (".jsonl", ".json"):
        for suffix, kind in SIDECAR_SUFFIXES.items():
            if stem.endswith(suffix):
                return kind
    lowered = file.name.lower()
    for pattern, kind in NAME_RULES:
        if re.search(pattern, lowered):
            return Kind.ROLLOUTS if is_named and ending == ".jsonl" else kind
    if ending == ".jsonl" or is_named:
        return Kind.ROLLOUTS if is_named or _says_rollouts(file.name) else _sniff(file)
    return Kind.OTHER


def _says_rollouts(name: str) -> bool:
    folders = name.lower().split("/")[:-1]
    return "rollout" in name.rpartition("/")[2].lower() or folders[-1:] == ["rollouts"]


def _sniff(file: Found) -> Kind:
    """Rows with a reward or a response are rollouts; request rows alone are a dataset."""
    seen = Kind.OTHER
    for line in _first_bytes(file).split(b"\n")[:SNIFF_ROWS]:
        row = _object(line)
        if "_ng_failure_class" in row:
            return Kind.FAILURES
        if "response" in row or "reward" in row:
            return Kind.ROLLOUTS
        if "responses_create_params" in row:
            seen = Kind.DATASET
    return seen


def _first_bytes(file: Found) -> bytes:
    suffix = file.path.suffix.lower()
    try:
        with pa.OSFile(os.fsencode(file.path)) as raw:
            packed = COMPRESSIONS.get(suffix)
            stream = pa.CompressedInputStream(raw, packed) if packed else raw
            return bytes(stream.read(SNIFF_BYTES))
    except OSError:
        return b""


def _object(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        # The only row may be longer than what was read: its keys still show.
        keys = re.findall(
            rb'"(reward|response|responses_create_params|_ng_failure_class)"\s*:', line
        )
        return {key.decode(): None for key in keys}
    return row if isinstance(row, dict) else {}
