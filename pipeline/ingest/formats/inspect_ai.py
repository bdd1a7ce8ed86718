"""Inspect AI: `.eval` archives and `.json` logs, one evaluation of one task by one model each."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.artifact import Artifact, Found, Kind
from pipeline.ingest.formats import (
    Claim,
    Reading,
    Reject,
    fields,
    get,
    head,
    packed,
    parsed,
    text,
)
from pipeline.ingest.formats.inspect_header import expected, log_of, short
from pipeline.ingest.formats.inspect_sample import Log, row, sample

TITLE = "Inspect AI"
FILES = "`*.eval` (zip of deflate or zstd members, finished or not), `*.json` and `*.txt` logs"
SCORE = (
    "the headline score, else the first one published: C 1, P 0.5, I and N 0, yes/true 1, no/false "
    "0, numbers and numbers in words as they are; NaN and all else unscored"
)
NOTES = (
    "One run per log, one benchmark per task, epochs are repeats. A sample without scores (an "
    "error, a cancelled run) is unscored. Of a task that was retried only the latest log counts. "
    "Tokens are those of the evaluated model, judges left out."
)
NAMES = re.compile(r"\.(eval|json|txt)$", re.IGNORECASE)
# A version, which some leave out, how it ended, and what was evaluated; nothing else before that.
FIRST_OF_LOG = re.compile(
    rb'[\s\xef\xbb\xbf]*\{\s*("version"\s*:\s*\d+\s*,\s*)?("status"\s*:\s*"\w+"\s*,\s*)?"eval"\s*:\s*\{'
)
SAMPLE = re.compile(r"samples/.*\.json", re.DOTALL)
HEADER_BYTES = 8 << 20


def claims(files: Sequence[Found]) -> Iterable[Claim]:
    """Logs by their own word; of several of one task id, retries of one another, the latest."""
    made, latest = [], dict[str, Claim]()
    for file in files:
        said = _said(file)
        if said is None:
            continue
        named = [short(text(said.get(name)) or "") for name in ("task", "model")]
        stem = "-".join(part for part in named if part) or file.base.rpartition(".")[0]
        created = re.sub(r"[:+]", "-", text(said.get("created")) or "")
        claim = Claim(file, Kind.ROLLOUTS, file.folder, stem, mark=created)
        made.append((text(said.get("task_id")) or file.name, claim))
        if claim.mark > latest.setdefault(made[-1][0], claim).mark:
            latest[made[-1][0]] = claim
    shared = Counter((claim.folder, claim.stem, claim.mark) for _, claim in made)
    for task, claim in made:
        other = latest[task]
        if claim.mark < other.mark:
            told = f"superseded by {other.file.name}, a later log of the same task"
            yield replace(claim, skipped=told)
        elif shared[claim.folder, claim.stem, claim.mark] > 1:
            # Begun in one second: two runs all the same.
            yield replace(claim, mark=f"{claim.mark}-{claim.file.base}")
        else:
            yield claim


def _said(file: Found) -> dict[str, Any] | None:
    """What a log says of its evaluation; None where it is no log."""
    begun = head(file.path, 4096)
    if file.base.lower().endswith(".eval"):
        if not begun.startswith(b"PK"):
            return None
        try:
            with file.path.open("rb") as archive:
                return fields(get(_header(archive, _directory(archive)[0])[0], "eval"))
        except (OSError, ValueError):
            return {}
    if not FIRST_OF_LOG.match(begun):
        return None
    start = head(file.path, HEADER_BYTES).decode("utf-8", "replace")
    place = re.search(r'"eval"\s*:\s*(?=\{)', start)
    try:
        said = fields(json.JSONDecoder().raw_decode(start, place.end())[0]) if place else {}
    except (ValueError, RecursionError):
        return {}  # cut off, which reading it will say
    return said if {"task", "model"} <= said.keys() else None


def read(artifact: Artifact) -> Iterator[Reading]:
    """The samples of a log, and what its header says."""
    if artifact.path.suffix.lower() == ".eval":
        yield from _archive(artifact.path)
    else:
        yield from _document(artifact.path)


def _directory(archive: Any) -> tuple[list[packed.Member], str | None]:
    try:
        return packed.members(archive), None
    except ValueError as error:
        return packed.salvaged(archive), str(error)


def _header(archive: Any, members: list[packed.Member]) -> tuple[Any, list[str]]:
    """The header, of an unfinished log its beginning; and why one of them could not be read."""
    by_name = {member.name: member for member in members}
    faults: list[str] = []
    for name in ("header.json", "_journal/start.json"):
        if name in by_name:
            try:
                return parsed(packed.content(archive, by_name[name])), faults
            except ValueError as error:
                faults.append(f"{name}: {error}".replace(f"{name}: {name}:", f"{name}:"))
    return {}, faults


def _archive(path: Path) -> Iterator[Reading]:
    with path.open("rb") as archive:
        members, damage = _directory(archive)
        header, faults = _header(archive, members)
        log = yield from log_of(header)
        samples = [one for one in members if SAMPLE.fullmatch(one.name)]
        yield from expected(header, len(samples))
        for member in samples:
            try:
                yield row(sample(packed.content(archive, member)), log)
            except ValueError as error:
                reason = str(error)
                is_named = reason.startswith(member.name)
                yield Reject(reason if is_named else f"{member.name}: {reason}", member.name)
        for fault in [*faults, *([damage] if damage else [])]:
            yield Reject(fault)


def _document(path: Path) -> Iterator[Reading]:
    """A log of one JSON document; what it says of itself stands before its samples."""
    header: dict[str, Any] = {}
    log: Log | None = None
    damage: ValueError | None = None
    n_samples = 0
    try:
        for name, value in packed.fields(path, "samples"):
            if name != "samples":
                header[name] = value
                continue
            if log is None:
                log = yield from log_of(header)
            if value is None:
                continue
            n_samples += 1
            try:
                yield row(value, log)
            except ValueError as error:
                yield Reject(str(error))
    except ValueError as error:
        damage = error
    if log is None:
        yield from log_of(header)
    yield from expected(header, None if damage else n_samples)
    if damage:
        raise damage
