"""Inspect AI: `.eval` archives and `.json` logs, one evaluation of one task by one model each."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.artifact import Artifact, Kind, ListedFile
from pipeline.ingest.formats import (
    MOST_EXPECTED,
    Claim,
    Expected,
    Figure,
    Reading,
    Reject,
    as_json,
    counted,
    expected,
    fields,
    figure,
    get,
    head,
    items,
    number,
    packed,
    parsed,
    settings,
    text,
    told,
)
from pipeline.ingest.formats.config import LONGEST_VALUE
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
LIMITS = "message_limit token_limit time_limit working_limit cost_limit turn_limit".split()
SAMPLING = "temperature top_p top_k max_tokens".split()
SECRET = re.compile(r"key|token|secret|passw|credential", re.IGNORECASE)


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """Logs by their own word; of several of one task id, retries of one another, the latest."""
    made, latest = [], dict[tuple[str | None, ...], Claim]()
    for file in files:
        said = _said(file)
        if said is None:
            continue
        named = [_short(text(said.get(name)) or "") for name in ("task", "model")]
        stem = "-".join(part for part in named if part) or file.base.rpartition(".")[0]
        created = re.sub(r"[:+]", "-", text(said.get("created")) or "")
        claim = Claim(file, Kind.ROLLOUTS, file.folder, stem, mark=created)
        # Some writers give one id to all they evaluate: a retry has the task and the model, too.
        given = text(said.get("task_id"))
        task = (given, text(said.get("task")), text(said.get("model"))) if given else (file.name,)
        made.append((task, claim))
        if claim.mark > latest.setdefault(task, claim).mark:
            latest[task] = claim
    shared = Counter((claim.folder, claim.stem, claim.mark) for _, claim in made)
    first: dict[Any, Claim] = {}
    for task, claim in made:
        other = latest[task]
        original = first.setdefault((task, claim.mark, _contents(claim.file)), claim)
        if claim.mark < other.mark:
            reason = f"superseded by {other.file.name}, a later log of the same task"
            yield replace(claim, skipped=reason)
        elif original is not claim:
            yield replace(claim, skipped=f"holds the same as {original.file.name}")
        elif shared[claim.folder, claim.stem, claim.mark] > 1:
            # Begun in one second: two runs all the same.
            yield replace(claim, mark=f"{claim.mark}-{claim.file.base}")
        else:
            yield claim


def _contents(file: ListedFile) -> object:
    """What the members of an archive hold; a copy of it may be packed otherwise."""
    try:
        with file.path.open("rb") as archive:
            members = _directory(archive)[0] if file.base.lower().endswith(".eval") else []
            return tuple(sorted((one.name, one.checksum) for one in members)) or file.name
    except (OSError, ValueError):
        return file.name


def _said(file: ListedFile) -> dict[str, Any] | None:
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
                faults.append(f"{name}: {error}")
    return {}, faults


def _archive(path: Path) -> Iterator[Reading]:
    with path.open("rb") as archive:
        members, damage = _directory(archive)
        header, faults = _header(archive, members)
        log = yield from _log(header)
        samples = [one for one in members if SAMPLE.fullmatch(one.name)]
        seen: set[str] = set()
        for member in samples:
            try:
                yield (made := row(sample(packed.content(archive, member)), log))
                seen.add(made.value["_ng_task_index"])
            except ValueError as error:
                yield Reject(f"{member.name}: {error}", member.name)
        yield from _expected(header, len(samples), seen)
        for fault in [*faults, *([damage] if damage else [])]:
            yield Reject(fault)


def _document(path: Path) -> Iterator[Reading]:
    """A log of one JSON document; what it says of itself stands before its samples."""
    header: dict[str, Any] = {}
    log: Log | None = None
    damage: ValueError | None = None
    n_samples = 0
    seen: set[str] = set()
    try:
        for name, value in packed.fields(path, "samples"):
            if name != "samples":
                header[name] = value
                continue
            if log is None:
                log = yield from _log(header)
            if value is None:
                continue
            n_samples += 1
            try:
                yield (made := row(value, log))
                seen.add(made.value["_ng_task_index"])
            except ValueError as error:
                yield Reject(str(error))
    except ValueError as error:
        damage = error
    if log is None:
        yield from _log(header)
    yield from _expected(header, None if damage else n_samples, seen)
    if damage:
        raise damage


def _short(name: str) -> str:
    """The last part of a name that has its organization or package before it."""
    return name.rstrip("/").rpartition("/")[2]


def _log(header: Any) -> Generator[Reading, None, Log]:
    """Settings, expected attempts and published figures; returns what samples need to know."""
    said = fields(get(header, "eval"))
    config = {**fields(said.get("model_generate_config")), **fields(get(header, "plan", "config"))}
    model = text(said.get("model"))
    limits = {name: get(said, "config", name) for name in LIMITS}
    sampling = {name: config.get(name) for name in SAMPLING}
    repeats = {"num_repeats": _epochs(header)}
    yield from settings({"model": model, **sampling, **limits, **repeats})
    yield from settings(_task_args(said))
    status = text(get(header, "status"))
    yield from settings({"log_status": status if status != "success" else None})
    yield from _figures(header)
    if (total := _total(header)) is not None:
        yield counted("total_samples", total, "num_rollouts")
    request = told(
        {
            "model": model,
            "temperature": number(config.get("temperature")),
            "top_p": number(config.get("top_p")),
            "max_output_tokens": config.get("max_tokens"),
        }
    )
    return Log(_short(text(said.get("task")) or "inspect"), model, request, _headline(header))


def _task_args(said: dict[str, Any]) -> dict[str, str]:
    """The arguments of the task, each a setting by its name; what may be a secret is left out."""
    return {
        f"task_args.{name}": (value if isinstance(value, str) else as_json(value))[:LONGEST_VALUE]
        for name, value in sorted(fields(said.get("task_args")).items())
        if value is not None and not SECRET.search(name)
    }


def _epochs(header: Any) -> int:
    epochs = get(header, "eval", "config", "epochs")
    return epochs if isinstance(epochs, int) and 0 < epochs <= MOST_EXPECTED else 1


def _total(header: Any) -> float | None:
    """How many samples a log holds that says it is whole."""
    is_whole = get(header, "status") == "success"
    return number(get(header, "results", "total_samples")) if is_whole else None


def _expected(header: Any, n_samples: int | None, seen: set[str]) -> Iterator[Expected]:
    """All samples at all epochs; those that were taken out of a whole log were not missed.

    A whole log that ran fewer samples than its dataset has was asked for no more. Some writers
    list the numbers of rows where the samples have names: those name nobody.
    """
    total = _total(header)
    if n_samples is not None and n_samples < (total or 0):
        return
    ids = [text(one) for one in items(get(header, "eval", "dataset", "sample_ids"))]
    if total is not None and total < len(ids) * _epochs(header):
        return
    if not seen or not seen.isdisjoint(ids):
        yield from expected([task for task in ids if task], _epochs(header))


def _published(header: Any) -> list[Any]:
    """Scores with their metrics; the oldest logs have one, without a list."""
    results = fields(get(header, "results"))
    if "scores" in results or "metrics" not in results:
        return items(results.get("scores"))
    return [{**results, "name": get(results, "scorer", "name"), "scorer": None}]


def _headline(header: Any) -> tuple[str, ...]:
    """Names of the score that the reward is of: the first that a sample has counts.

    A scorer that gives several values publishes some of them under their own names.
    """
    published = _published(header)
    chosen = get(header, "results", "headline")
    first = text(get(published, 0, "name"))
    names = []
    for score in [chosen, *published] if chosen else published:
        scorer = text(get(score, "scorer")) or first
        value = text(get(score, "score")) or text(get(score, "name"))
        names.append(scorer if value in (scorer, None) else f"{scorer}.{value}")
        if chosen:
            break
    if not published and not chosen:
        names.append(text(get(header, "eval", "scorers", 0, "name")))
    return tuple(name for name in names if name)


def _figures(header: Any) -> Iterator[Figure]:
    """Metrics of every score: of the mean over epochs, unless epochs are reduced otherwise."""
    for score in _published(header):
        name, scorer = text(get(score, "name")) or "", text(get(score, "scorer"))
        field = f"scores.{name}" if scorer in (None, name) else f"scores.{scorer}.{name}"
        reducer = text(get(score, "reducer")) or "mean"
        several = text(get(score, "reducer"))
        for key, metric in fields(get(score, "metrics")).items():
            kind = (text(get(metric, "name")) or key).rpartition("/")[2]
            means = reason = None
            if reducer != "mean":
                reason = f"defined otherwise: epochs are reduced by {reducer}"
            elif kind in ("accuracy", "mean"):
                means = f"task_mean/{field}"
            elif kind == "stderr" and not get(metric, "params", "cluster"):
                means = f"task_stderr/{field}"
            shown = "/".join(part for part in (name, several, key) if part)
            yield figure(shown, get(metric, "value"), means, reason=reason)
