"""Inspect AI: `.eval` archives and `.json` logs, one evaluation of one task by one model each."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    MOST_EXPECTED,
    Claim,
    Claims,
    Expected,
    Figure,
    Files,
    Object,
    Reading,
    Readings,
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
    picked,
    recorded,
    settings,
    text,
    without_empty,
)
from .config import LONGEST_VALUE, task_args
from .inspect_sample import Log, row, sample, short

TITLE = "Inspect AI"
FILES = "`*.eval` (zip of deflate or zstd members, finished or not), `*.json` and `*.txt` logs"
GIVES = "checks transcript tokens durations"
SCORE = (
    "the headline score, else the first one published: C 1, P 0.5, I and N 0, yes/true 1, no/false "
    "0, numbers and numbers in words as they are; NaN, an I where the judge gave no grade and all "
    "else unscored"
)
NOTES = (
    "One run per log, one benchmark per task, epochs are repeats. A sample without scores (an "
    "error, a cancelled run) is unscored. Of a task that was retried only the latest log counts; "
    "of copies, parts and headers of a log the one with most samples. Answers and tokens are those "
    "of the evaluated model, without judges, monitors and other roles; cached input is included. "
    "`grader`: the model of a scorer, of the role, else the evaluated one. The task, its tags, "
    "plain fields of its metadata and the steps of the plan are settings."
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
# Solvers of Inspect that add no system message.
WITHOUT_SYSTEM_PROMPT = frozenset(
    "assistant_message chain_of_thought generate multiple_choice prompt_template self_critique "
    "use_tools user_message".split()
)
# Metadata of an evaluation that says which one it is, when, where or by whom it was made.
OF_ONE_LOG = re.compile(
    r"(^|[^a-z])(id|uuid|name|date|time|timestamp|created|started|at|by|user|email|host|hostname"
    r"|path|dir|file|url)$",
    re.IGNORECASE,
)
GRADED_BY_MODEL = ("model_graded_qa", "model_graded_fact")


def claims(files: Files) -> Claims:
    """Logs, recognised by their header; of several retries of one task only the latest is read."""
    claimed, latest = [], dict[tuple[str | None, ...], Claim]()
    logs: dict[Any, list[ListedFile]] = defaultdict(list)
    for file in files:
        evaluation = _evaluation(file)
        if evaluation is None:
            continue
        named = [short(text(evaluation, name) or "") for name in ("task", "model")]
        stem = "-".join(part for part in named if part) or file.base.rpartition(".")[0]
        created = re.sub(r"[:+]", "-", text(evaluation, "created") or "")
        claim = Claim(file, Kind.ROLLOUTS, file.folder, stem, mark=created)
        # Some writers give one id to all they evaluate: a retry has the task and the model, too.
        task_id = text(evaluation, "task_id")
        task = (
            (task_id, text(evaluation, "task"), text(evaluation, "model"))
            if task_id
            else (file.name,)
        )
        claimed.append((task, claim))
        logs[task, claim.mark, text(evaluation, "run_id")].append(file)
        if claim.mark > latest.setdefault(task, claim).mark:
            latest[task] = claim
    skipped: dict[str, str] = {}
    for same in logs.values():
        skipped |= _copies(same) if len(same) > 1 else {}
    for task, claim in claimed:
        other = latest[task]
        if claim.mark < other.mark:
            skipped[claim.file.name] = (
                f"is superseded by {other.file.name}, a later log of the same task"
            )
    shared = Counter(
        (claim.folder, claim.stem, claim.mark)
        for _, claim in claimed
        if claim.file.name not in skipped
    )
    for _, claim in claimed:
        if reason := skipped.get(claim.file.name):
            yield replace(claim, skipped=reason)
        elif shared[claim.folder, claim.stem, claim.mark] > 1:
            # Two runs that started in the same second.
            yield replace(claim, mark=f"{claim.mark}-{claim.file.base}")
        else:
            yield claim


def _copies(logs: Files) -> dict[str, str]:
    """Of logs of one run and task, by name, those whose samples another one has, and which one."""
    samples = {file.name: _scored_samples(file) for file in logs if not _is_archive(file)}
    # Checksums of members are compared with each other only.
    of_archive = _scored_samples if any(samples.values()) else _checksums
    samples |= {file.name: of_archive(file) for file in logs if _is_archive(file)}
    reasons: dict[str, str] = {}
    wholes: list[str] = []
    for name in sorted(samples, key=lambda name: (-len(samples[name]), name)):
        whole = next((whole for whole in wholes if samples[name] <= samples[whole]), None)
        if whole is None:
            wholes.append(name)
        elif samples[name] == samples[whole]:
            reasons[name] = f"holds the same as {whole}"
        elif samples[name]:
            reasons[name] = f"holds a part of {whole}"
        else:
            reasons[name] = f"is the header of {whole}, without its samples"
    return reasons


def _is_archive(file: ListedFile) -> bool:
    return file.base.lower().endswith(".eval")


def _checksums(file: ListedFile) -> frozenset[Any]:
    """The samples of an archive in any order; a copy may be compressed differently."""
    try:
        with file.path.open("rb") as archive:
            members = _directory(archive)[0]
    except (OSError, ValueError):
        return frozenset([file.name])
    return frozenset((one.name, one.checksum) for one in members if SAMPLE.fullmatch(one.name))


def _scored_samples(file: ListedFile) -> frozenset[Any]:
    """The samples of a log with their scores; what is damaged is like nothing else."""
    try:
        return frozenset(
            as_json([get(one, name) for name in ("id", "epoch", "uuid", "scores")])
            for one in _samples(file)
        )
    except (OSError, ValueError):
        return frozenset([file.name])


def _samples(file: ListedFile) -> Iterator[Any]:
    if _is_archive(file):
        with file.path.open("rb") as archive:
            for member in _directory(archive)[0]:
                if SAMPLE.fullmatch(member.name):
                    yield parsed(packed.content(archive, member))
        return
    for name, value in packed.fields(file.path, "samples"):
        if name == "samples" and value is not None:
            yield value


def _evaluation(file: ListedFile) -> Object | None:
    first_bytes = head(file.path, 4096)
    if _is_archive(file):
        if not first_bytes.startswith(b"PK"):
            return None
        try:
            with file.path.open("rb") as archive:
                return fields(_header(archive, _directory(archive)[0])[0], "eval")
        except (OSError, ValueError):
            return {}
    if not FIRST_OF_LOG.match(first_bytes):
        return None
    start = head(file.path, HEADER_BYTES).decode("utf-8", "replace")
    place = re.search(r'"eval"\s*:\s*(?=\{)', start)
    try:
        evaluation = fields(json.JSONDecoder().raw_decode(start, place.end())[0]) if place else {}
    except (ValueError, RecursionError):
        return {}  # cut off; reading it reports the error
    return evaluation if {"task", "model"} <= evaluation.keys() else None


def read(artifact: Artifact) -> Readings:
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
    by_name = {member.name: member for member in members}
    faults: list[str] = []
    for name in ("header.json", "_journal/start.json"):
        if name in by_name:
            try:
                return parsed(packed.content(archive, by_name[name])), faults
            except ValueError as error:
                faults.append(f"{name}: {error}")
    return {}, faults


def _archive(path: Path) -> Readings:
    with path.open("rb") as archive:
        members, damage = _directory(archive)
        header, faults = _header(archive, members)
        samples = [one for one in members if SAMPLE.fullmatch(one.name)]
        log = yield from _log(header, is_empty=not samples)
        seen: set[str] = set()
        for member in samples:
            try:
                yield (attempt := row(sample(packed.content(archive, member), log), log))
                seen.add(attempt.value["_ng_task_index"])
            except ValueError as error:
                yield Reject(f"{member.name}: {error}", member.name)
        yield from _expected(header, len(samples), seen)
        for fault in [*faults, *([damage] if damage else [])]:
            yield Reject(fault)


def _document(path: Path) -> Readings:
    """A log that is one JSON document; its header comes before its samples."""
    header: Object = {}
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
                yield (attempt := row(value, log))
                seen.add(attempt.value["_ng_task_index"])
            except ValueError as error:
                yield Reject(str(error))
    except ValueError as error:
        damage = error
    if log is None:
        yield from _log(header, is_empty=True)
    yield from _expected(header, None if damage else n_samples, seen)
    if damage:
        raise damage


def _log(header: Any, *, is_empty: bool = False) -> Generator[Reading, None, Log]:
    """Settings, expected attempts and published figures; returns what samples need to know."""
    evaluation = fields(header, "eval")
    task = short(text(evaluation, "task") or "inspect")
    config = {
        **fields(evaluation, "model_generate_config"),
        **fields(header, "plan", "config"),
    }
    model = text(evaluation, "model")
    limits = picked(get(evaluation, "config"), *LIMITS)
    sampling = picked(config, *SAMPLING)
    repeats = {"num_repeats": _epochs(header)}
    yield from settings(model=model, **sampling, **limits, **repeats)
    yield from settings(grader=_grader(evaluation))
    yield from settings(task_args(evaluation.get("task_args")))
    yield from settings(_code(evaluation))
    yield from settings(_described(evaluation), task=task)
    yield from settings(_solver(header))
    if is_empty:
        # No row names the benchmark.
        yield from settings(log_benchmark=task)
    status = text(header, "status")
    if status != "success":
        ended = " ".join((text(header, "error", "message") or "").split())[:LONGEST_VALUE]
        yield from settings(log_status=status, log_error=ended)
    yield from _figures(header, task if is_empty else None)
    if (total := _total(header)) is not None:
        yield counted("total_samples", total, "num_rollouts")
    request = without_empty(
        model=model,
        temperature=number(config, "temperature"),
        top_p=number(config, "top_p"),
        max_output_tokens=config.get("max_tokens"),
    )
    return Log(task, model, request, _headline(header), _others(evaluation))


def _code(evaluation: Object) -> dict[str, str | None]:
    commit = text(evaluation, "revision", "commit")
    if commit and get(evaluation, "revision", "dirty") is True:
        commit += " with uncommitted changes"
    return {"commit": commit, "inspect_ai": text(evaluation, "packages", "inspect_ai")}


def _described(evaluation: Object) -> dict[str, str]:
    """What the author of a task wrote about it: its tags and the plain fields of its metadata."""
    plain = {
        name: value
        for name, value in fields(evaluation, "metadata").items()
        if not isinstance(value, dict | list) and not OF_ONE_LOG.search(name)
    }
    tags = sorted({tag for tag in items(evaluation, "tags") if isinstance(tag, str)})
    return {**dict(recorded(plain, "metadata.")), "tags": ", ".join(tags)}


def _solver(header: Any) -> dict[str, str]:
    """The steps of the solver, by name; that none of them gives a system prompt, if it is so."""
    names = [text(step, "solver") for step in items(header, "plan", "steps")]
    steps = [short(name) for name in names if name]
    known = {"solver": ", ".join(steps)}
    is_without = steps and len(steps) == len(names) and WITHOUT_SYSTEM_PROMPT.issuperset(steps)
    return {**known, "system_prompt": "none"} if is_without else known


def _others(evaluation: Object) -> frozenset[str]:
    """The models of other roles and of scorers, whole and as providers name them.

    A provider may call the evaluated model by its date.
    """
    roles = [
        one
        for role in fields(evaluation, "model_roles").values()
        for one in (role if isinstance(role, list) else [role])
    ]
    names = {text(get(one, "model") or one) for one in roles}
    names |= {*(_grader(evaluation) or "").split(", ")}
    model = short(text(evaluation, "model") or "")
    dated = re.compile(re.escape(model) + r"([-@.:]?\d[\d.-]*)?")
    others = {name for name in names if name and not dated.fullmatch(short(name))}
    return frozenset({*others, *map(short, others)})


def _grader(evaluation: Object) -> str | None:
    """The models that grade: of the scorers, else of the role; else the evaluated model itself."""
    default = get(evaluation, "model_roles", "grader", "model") or evaluation.get("model")
    graders: list[Any] = []
    for scorer in items(evaluation, "scorers"):
        named = get(scorer, "options", "model")
        if named or short(text(scorer, "name") or "") in GRADED_BY_MODEL:
            graders += named if isinstance(named, list) else [named or default]
    names = {name for one in graders if (name := text(get(one, "model") or one))}
    return ", ".join(sorted(names)) or text(evaluation, "model_roles", "grader", "model")


def _epochs(header: Any) -> int:
    epochs = get(header, "eval", "config", "epochs")
    return epochs if isinstance(epochs, int) and 0 < epochs <= MOST_EXPECTED else 1


def _total(header: Any) -> float | None:
    is_whole = get(header, "status") == "success"
    return number(header, "results", "total_samples") if is_whole else None


def _expected(header: Any, n_samples: int | None, seen: set[str]) -> Iterator[Expected]:
    """All samples at all epochs; samples removed from a complete log are not missing.

    A complete log that ran fewer samples than its dataset has was asked for no more. Some writers
    list row numbers although samples have ids of their own: if none is the same, they are ignored,
    and if a complete log has as many samples as it lists, its samples are those that it asked for.
    """
    total = _total(header)
    if n_samples is not None and n_samples < (total or 0):
        return
    ids = [text(one) for one in items(header, "eval", "dataset", "sample_ids")]
    if total is not None and total < len(ids) * _epochs(header):
        if total == n_samples == len(seen) * _epochs(header):
            yield from expected(sorted(seen), _epochs(header))
        return
    is_whole = total == n_samples == len(ids) * _epochs(header) and len(seen) == len(set(ids))
    if is_whole and seen != set(ids):
        yield from expected(sorted(seen), _epochs(header))
    elif not seen or not seen.isdisjoint(ids):
        yield from expected([task for task in ids if task], _epochs(header))


def _published(header: Any) -> list[Any]:
    """Scores with their metrics; the oldest logs have one, without a list."""
    results = fields(header, "results")
    if "scores" in results or "metrics" not in results:
        return items(results, "scores")
    return [{**results, "name": get(results, "scorer", "name"), "scorer": None}]


def _headline(header: Any) -> tuple[str, ...]:
    """Names of the score that the reward is of: the first that a sample has counts.

    A scorer that gives several values publishes some of them under their own names.
    """
    published = _published(header)
    chosen = get(header, "results", "headline")
    first = text(published, 0, "name")
    names: list[str | None] = []
    for score in [chosen, *published] if chosen else published:
        scorer = text(score, "scorer") or first
        value = text(score, "score") or text(score, "name")
        names.append(scorer if value in (scorer, None) else f"{scorer}.{value}")
        if chosen:
            break
    if not published and not chosen:
        scorer = text(header, "eval", "scorers", 0, "name")
        # A scorer of several values has metrics by their names.
        values = list(fields(header, "eval", "scorers", 0, "metrics"))[:1]
        names += [f"{scorer}.{value}" for value in values if scorer]
        names.append(scorer)
    return tuple(name for name in names if name)


def _figures(header: Any, variant: str | None) -> Iterator[Figure]:
    """Metrics of every score: of the mean over epochs, unless epochs are reduced otherwise."""
    headline = _headline(header)[:1]
    is_first = True
    for score in _published(header):
        name, scorer = text(score, "name") or "", text(score, "scorer")
        field = f"scores.{name}" if scorer in (None, name) else f"scores.{scorer}.{name}"
        reducer = text(score, "reducer") or "mean"
        several = text(score, "reducer")
        for key, metric in fields(score, "metrics").items():
            kind = (text(metric, "name") or key).rpartition("/")[2]
            means = reason = None
            if reducer != "mean":
                reason = f"defined otherwise: epochs are reduced by {reducer}"
            elif kind in ("accuracy", "mean"):
                means = f"task_mean/{field}"
            elif kind == "stderr" and not get(metric, "params", "cluster"):
                means = f"task_stderr/{field}"
            shown = "/".join(part for part in (name, several, key) if part)
            is_main = is_first and headline == (field.removeprefix("scores."),) and kind != "stderr"
            is_first = is_first and not is_main
            value = get(metric, "value")
            yield figure(shown, value, means, variant=variant, reason=reason, is_main=is_main)
