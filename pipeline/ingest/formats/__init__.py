"""Results of other harnesses: one module per format, which converts its rows to rows of Gym.

A format is one file of this folder. It declares its row in the table of docs/formats.md (`TITLE`,
`FILES`, `GIVES` of `EVIDENCE`, `SCORE`, `NOTES`), a pattern for the names of its files (`NAMES`),
and two functions:

- `claims(files)` gets all files whose names match, in path order, and returns those of the format,
  recognised by name if that is enough, else by their first bytes (`head`). A claim names the run:
  files of one `(folder, stem, mark)` are one run. It does not read rows.
- `read(artifact)` yields the contents of one claimed file, in order and with at most one row in
  memory: a `Row` for every attempt, a `Reject` for what cannot be used, a `Line` for a blank line
  or a heading. Exactly one of these per line, or per place, gives it its number. Once known,
  `Expected` attempts, `Figure`s that the harness published, and `Setting`s (`expected`, `figure`,
  `counted`, `settings`). Nothing in a file may make it raise but `OSError` and `ValueError`, which
  end the file as a reject: read untrusted shapes with `get`, `text`, `number`.

A row is a Gym row (formats/gym.py, docs/formats.md; `gym_row` and `attempt` build it), whose
fields mean what they mean there:

- `_ng_task_index`: the task's own id, text or number; `_ng_rollout_index`: the repeat, from 0;
- `reward`: a number, or null if the attempt was not scored, never 0 instead;
- `responses_create_params.input`: what was asked, as messages with `role` and `content`;
- `response.output`: what followed, as items (`message`, `reasoning`, `function_call`,
  `function_call_output`); leave `output` out if no transcript was recorded: an empty one means
  that nothing was done;
- `response.usage`, `response.model`; seconds in `total_run_time`; why the model
  stopped in `finish_reason`;
- `score` and `scores`: lists of `{name, score, explanation}`, the one that the reward is and the
  others (`scores_of`); they become `checks`, and figures are of them (`mean/scores.<name>`);
- `expected_calls`: the calls that the task expects, in order, as `{name, arguments}`, an empty list
  if it expects none; leave it out if that is unknown (`expected_call`);
- all other fields of the row, under names of the harness: short scalars become `record_fields`, and
  `metadata` of the task its slices.

A table of one's own (`own_table`) is recognised last, by columns that the user may choose.

If one file contains several runs, `Row.variant` distinguishes them (as agents do in rows of Gym);
`Row.benchmark` is the benchmark if the harness names it. If repeats of a task are not numbered,
leave `_ng_rollout_index` out: they are ranked by `Row.order` as text (a time, for example), and
without it by a hash of the row, so that the order of lines and files does not matter. Where the
place in the file is the repeat, count it yourself (`evalplus.py`). `Row.question` identifies the
question if its words differ between attempts. `Row.limit_reached` is the cap that ended the
attempt, in the word of the harness; set it only if the format calls it a cap. `Row.usual_end` is
why the model stopped where nothing is unusual in it (`stop`): a `finish_reason` that is no field.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pkgutil
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import pyarrow as pa

from ... import files
from ...artifact import COMPRESSIONS, Artifact, Kind, ListedFile

# What a format may record of an attempt besides its reward.
EVIDENCE = ("checks", "transcript", "tokens", "durations")
# The format of tables without a harness: what no other format reads.
OWN_TABLE = "own_table"
# Files with other names belong to no format; a folder without such files imports none.
ENDINGS = re.compile(
    r"\.(eval|json|jsonl|traj|txt|parquet|toml)(\.gz|\.zst|-async)?$|^run_instance\.log$"
    r"|^exit_statuses_[\d.]+\.yaml$",
    re.IGNORECASE,
)
HEAD_BYTES = 64 << 10
as_json = json.JSONEncoder(ensure_ascii=False).encode
# Made once: to make one takes longer than to read a short row.
DECODER = json.JSONDecoder(parse_constant=lambda _: None)
LONGEST_LINE = 128 << 20
# More expected attempts than this are not listed.
MOST_EXPECTED = 1_000_000
LARGEST_FIGURE = 1e50
# A comma before the end of a list or an object; strings are passed over, also one that never ends.
TRAILING_COMMA = re.compile(rb'("(?:\\.|[^"\\])*+"?)|,(?=\s*+[]}])', re.DOTALL)
Object = dict[str, Any]
Files = Sequence[ListedFile]
NOTHING: Mapping[str, Any] = MappingProxyType({})
# Names of settings whose values may be secrets; how much is kept of a value, and how deep.
SECRET = re.compile(r"key|token|secret|passw|credential", re.IGNORECASE)
LONGEST_SETTING = 80
DEEPEST_SETTING = 5
# Why a published count may differ from the count of rows.
OTHER_ROWS = "the rows here are not those that it counts"


def claims_of(
    rows: Collection[ListedFile],
    about: Collection[ListedFile],
    folder: str,
    stem: str,
    mark: str = "",
) -> Claims:
    """The files with the rows of a run and the documents about it, each beside the others."""
    for file in rows:
        yield Claim(file, Kind.ROLLOUTS, folder, stem, mark, paths_of(about))
    for file in about:
        yield Claim(file, Kind.AGGREGATE_METRICS, folder, stem, mark, paths_of(rows))


def parent(folder: str) -> str:
    return folder.rpartition("/")[0]


@dataclass(frozen=True)
class Claim:
    """A file of a format: its kind, its run, and the files that are read together with it.

    `kind` is ROLLOUTS if it has rows, else AGGREGATE_METRICS, CONFIG, LOG or OTHER: the format
    reads the first two. `mark` distinguishes runs with the same folder and stem, and is part of the
    name only then. `skipped` is why the file is not read, and becomes its reject. `owns` is the
    folder of one attempt: all other files in it are its logs, and belong to no other format.
    `fields` are the columns that the user chose, by role.
    """

    file: ListedFile
    kind: Kind
    folder: str
    stem: str
    mark: str = ""
    beside: tuple[Path, ...] = ()
    skipped: str | None = None
    owns: str | None = None
    format: str = ""
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Row:
    """One attempt in the canonical shape, from the next line or place of its file."""

    value: Object
    variant: str | None = None
    benchmark: str | None = None
    order: str | None = None
    question: str | None = None
    limit_reached: str | None = None
    usual_end: str | None = None

    @property
    def transcript(self) -> str:
        """Whether a transcript was recorded; an empty output means that nothing was done.

        Results alone, without a message or a call of the model, are a log of the harness.
        """
        response = fields(self.value, "response")
        output = items(response, "output")
        is_log = output and all(get(item, "type") == "function_call_output" for item in output)
        return "none" if "output" not in response or is_log else "recorded"


@dataclass(frozen=True)
class Reject:
    """A line or member that cannot be used, and why; the reason names the member of an archive."""

    reason: str
    snippet: str = ""


@dataclass(frozen=True)
class Line:
    """A line that is neither a row nor a reject; it counts as blank."""


@dataclass(frozen=True)
class Expected:
    """An attempt that was requested, whether it has a row or not."""

    task: str
    repeat: int
    variant: str | None = None


@dataclass(frozen=True)
class Figure:
    """One reported figure. `task` is a task index, `position` the row where none is given.

    For other harnesses `variant` is the run, `means` is the name of the same figure in Gym, if any
    (`mean/reward`, `task_mean/reward`, `pass@2/reward`, `pass^2/reward`, `num_tasks`), of which the
    value is `scale` times as much, `rounding` is the largest rounding error, and `reason` is why
    the figure of blade may differ by definition, or does not exist. `is_main`: it is the score of
    the run. A log without samples has figures alone: their variant names the benchmark.
    """

    agent: str | None
    task: str | None
    position: int | None
    metric: str
    value: float | None
    variant: str | None = None
    means: str | None = None
    scale: float = 1.0
    reason: str | None = None
    rounding: float = 0.0
    is_main: bool = False


@dataclass(frozen=True)
class Setting:
    """A setting of the run, with a name of formats/config.py (SETTING_NAMES) or of blade.

    Those of blade are `pass_threshold`, `task_args.<name>`, other records of the whole run
    (`recorded`), `write_tools` (`names_of`): the tools that change state, if the format
    records them, `log_status` and `log_error`: how a run ended that did not succeed,
    `log_planned_attempts`: how many attempts it planned where it does not list them, and
    `log_planned_tasks`: patterns (JSON) that all of their tasks match, and `log_benchmark`: the
    benchmark of a log without rows.
    """

    name: str
    value: str


Reading = Row | Reject | Line | Expected | Figure | Setting
Readings = Iterator[Reading]
Claims = Iterator[Claim]


class Format(Protocol):
    """The interface of a module of this folder, as described above."""

    TITLE: str
    FILES: str
    GIVES: str
    SCORE: str
    NOTES: str
    NAMES: re.Pattern[str]

    def claims(self, files: Files) -> Claims:
        """The files of this format with their runs."""

    def read(self, artifact: Artifact) -> Readings:
        """The contents of a claimed file."""


@cache
def modules() -> dict[str, Format]:
    """All formats by module name: the modules of this folder that have `claims`."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    imported = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: module for name, module in imported.items() if hasattr(module, "claims")}


def claims(listed: Files) -> dict[str, Claim]:
    """The claimed files by name; if two formats claim a file, the first by name gets it."""
    candidates = [file for file in listed if ENDINGS.search(file.base)]
    claimed: dict[str, Claim] = {}
    if not candidates:
        return claimed
    for name, module in modules().items():
        if name == OWN_TABLE:
            continue
        named = [file for file in candidates if module.NAMES.search(file.name)]
        own = [_signed(claim, name) for claim in module.claims(named)] if named else []
        for claim in own:
            claimed.setdefault(claim.file.name, claim)
        if folders := folders_owned(own):
            # Files in the folder of an attempt belong to it; other formats need not look.
            candidates = [file for file in candidates if home(file.name, folders) is None]
    owned = folders_owned(claimed.values())
    return {
        name: claim
        for name, claim in claimed.items()
        if claim.owns is not None or home(name, owned) is None
    }


def folders_owned(claimed: Iterable[Claim]) -> set[str]:
    return {claim.owns for claim in claimed if claim.owns is not None}


def home(name: str, folders: Collection[str]) -> str | None:
    """The nearest of the folders that contain a file, at any depth."""
    while name and folders:
        name = name.rpartition("/")[0]
        if name in folders:
            return name
    return None


def _signed(claim: Claim, name: str) -> Claim:
    kind = Kind.SKIPPED if claim.skipped else claim.kind
    is_read = kind in (Kind.ROLLOUTS, Kind.AGGREGATE_METRICS)
    return replace(claim, kind=kind, format=name if is_read else "")


@contextmanager
def _unpacked(path: Path) -> Iterator[Any]:
    with pa.OSFile(os.fsencode(path)) as raw:
        packed = COMPRESSIONS.get(path.suffix.lower())
        yield pa.CompressedInputStream(raw, packed) if packed else raw


def head(path: Path, n_bytes: int = HEAD_BYTES) -> bytes:
    """The first bytes of a file, decompressed; empty if it cannot be read."""
    try:
        with _unpacked(path) as stream:
            return bytes(stream.read(n_bytes))
    except OSError:
        return b""


def document(path: Path) -> Any:
    """A small JSON document, NaN as null; ValueError if it cannot be read.

    People edit documents by hand, so a comma behind the last member of a list is left out.
    """
    try:
        content = files.content(path)
    except files.UnreadableError as error:
        raise ValueError(str(error)) from error
    try:
        return parsed(content)
    except ValueError:
        without = TRAILING_COMMA.sub(lambda match: match[1] or b"", content)
        if without == content:
            raise
        return parsed(without)


def documents(paths: Iterable[Path]) -> Iterator[Any]:
    """The readable documents of several; the others have their own rejects."""
    for path in paths:
        with suppress(ValueError):
            yield document(path)


def readable(*paths: Path) -> Any:
    """The first document that can be read; None if there is none."""
    return next(documents(paths), None)


def picked(value: Any, *names: str) -> Object:
    """These fields of an object, null if it lacks them."""
    return {name: get(value, name) for name in names}


def paths_of(listed: Iterable[ListedFile]) -> tuple[Path, ...]:
    return tuple(file.path for file in listed)


def parsed(content: bytes | str) -> Any:
    """Parse JSON, NaN and infinities as null; ValueError if it is invalid."""
    try:
        if isinstance(content, bytes):
            content = content.decode(json.detect_encoding(content), "surrogatepass")
        return DECODER.decode(content)
    except RecursionError as error:
        raise ValueError("not JSON: nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at line {error.lineno}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1}") from error


def objects(path: Path) -> Iterator[Object | Reject | Line]:
    """The lines of a JSONL file: objects, rejects and blank lines."""
    with _unpacked(path) as stream:
        for line in _lines(stream):
            if not line.strip():
                yield Line()
                continue
            try:
                if len(line) > LONGEST_LINE:
                    raise ValueError(f"line is longer than {LONGEST_LINE} bytes")
                row = parsed(line)
                if not isinstance(row, dict):
                    raise ValueError("not a JSON object")
            except ValueError as error:
                yield Reject(str(error), line[:200].decode("utf-8", "replace"))
                continue
            yield row


def _lines(stream: Any) -> Iterator[bytes]:
    waiting = b""
    is_cut = False
    while block := stream.read(1 << 20):
        *whole, rest = (waiting + block).split(b"\n")
        for line in whole:
            if not is_cut:
                yield line
            is_cut = False
        waiting = rest
        if len(waiting) > LONGEST_LINE:
            if not is_cut:
                yield waiting
            waiting, is_cut = b"", True
    if waiting and not is_cut:
        yield waiting


def get(value: Any, *path: str | int) -> Any:
    """The value at a path of keys and positions; None if it does not exist.

    An object below the first may be JSON text.
    """
    for place, key in enumerate(path):
        if isinstance(key, str):
            if place and isinstance(value, str):
                value = fields(value)
            value = value.get(key) if isinstance(value, dict) else None
        else:
            value = (
                value[key] if isinstance(value, list) and -len(value) <= key < len(value) else None
            )
    return value


def text(value: Any, *path: str | int) -> str | None:
    """A text that is not empty, or a number as text; of a value, or at a path in it."""
    value = get(value, *path)
    if isinstance(value, str):
        return value or None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number else None


def number(value: Any, *path: str | int) -> float | None:
    """A finite number, also from text; true is 1."""
    value = get(value, *path)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    is_number = isinstance(value, (bool, int, float)) and abs(value) <= LARGEST_FIGURE
    return float(value) if is_number else None


def items(value: Any, *path: str | int) -> list[Any]:
    """A list, or an empty one; a list of objects may be JSON text, as in columns of a table."""
    value = get(value, *path)
    if isinstance(value, str):
        listed = _json_of(value, "[")
        is_of_objects = isinstance(listed, list) and all(isinstance(one, dict) for one in listed)
        return listed if is_of_objects else []
    return value if isinstance(value, list) else []


def fields(value: Any, *path: str | int) -> Object:
    """An object, or an empty one; it may be JSON text, as in columns of a table."""
    value = get(value, *path)
    if isinstance(value, str):
        value = _json_of(value, "{")
    return value if isinstance(value, dict) else {}


def _json_of(written: str, opening: str) -> Any:
    if written.lstrip()[:1] != opening:
        return None
    try:
        return parsed(written)
    except ValueError:
        return None


def without_empty(row: Mapping[str, Any] = NOTHING, /, **more: Any) -> Object:
    """A row without null and empty values."""
    every = {**row, **more}
    return {name: value for name, value in every.items() if value not in (None, {}, [])}


def total(values: Iterable[float | None]) -> float | None:
    """The sum of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def scores_of(scores: Mapping[str, Any] | Sequence[Object], reward: str | None) -> Object:
    """The fields `score` and `scores` of a row: the reward, and all others.

    Scores are numbers by name, or objects that have more.
    """
    if isinstance(scores, Mapping):
        scores = [{"name": name, "score": number(one)} for name, one in scores.items()]
    own = [score for score in scores if score["name"] == reward]
    return {"score": own, "scores": [score for score in scores if score not in own]}


def gym_row(
    task: Any,
    reward: float | None,
    *,
    repeat: int | None = None,
    agent: str | None = None,
    request: Mapping[str, Any] = NOTHING,
    response: Mapping[str, Any] | None = NOTHING,
    **more: Any,
) -> Object:
    """A row without what is null or empty, but for the reward and the output of a response.

    An output of null was not recorded, one that is empty says that nothing was done. The order of
    fields stays the same: repeats without a number are ranked by a hash of the row.
    """
    recorded = {name: one for name, one in (response or {}).items() if one not in (None, {})}
    value = without_empty(
        _ng_task_index=task,
        _ng_rollout_index=repeat,
        agent_ref=without_empty(name=agent),
        responses_create_params=without_empty(request),
        response=None if response is None else {"object": "response", **recorded},
        **more,
    )
    return {"reward": reward, **value}


def attempt(
    task: Any,
    question: str | list[Object] | None,
    output: list[Object] | None,
    scores: Mapping[str, float | None],
    main: str | None,
    *,
    model: str | None = None,
    tokens: Sequence[Any] = (),
    explanation: str | None = None,
    **more: Any,
) -> Object:
    """A row of plain values; tokens of input and output that are 0 were not recorded."""
    usage = dict(zip(("input_tokens", "output_tokens"), tokens, strict=False))
    graded = scores_of(scores, main)
    graded["score"] = [one | without_empty(explanation=explanation) for one in graded["score"]]
    row = gym_row(
        task,
        None,
        request={"input": [message(question, "user")] if isinstance(question, str) else question},
        response={
            "model": model,
            "usage": {name: n for name, n in usage.items() if n},
            "output": output,
        },
        **graded,
        **more,
    )
    del row["reward"]
    return {**row, "reward": scores.get(main) if main else None}


def message(content: Any, role: str = "assistant") -> Object:
    return {"type": "message", "role": role, "content": content}


def call(name: Any, arguments: Any, call_id: Any) -> Object:
    """A tool call item; arguments become JSON text."""
    written = arguments if isinstance(arguments, str) else as_json(arguments)
    return {
        "type": "function_call",
        "name": text(name) or "",
        "arguments": written,
        "call_id": text(call_id) or "",
    }


def expected_call(name: Any, arguments: Any) -> Object:
    return {"name": text(name) or "", "arguments": fields(arguments)}


def result(output: str, call_id: Any) -> Object:
    return {"type": "function_call_output", "call_id": text(call_id) or "", "output": output}


def expected(
    tasks: Collection[str], n_repeats: int, variant: str | None = None
) -> Iterator[Expected]:
    if len(tasks) * n_repeats <= MOST_EXPECTED:
        for task in tasks:
            yield from (Expected(task, repeat, variant) for repeat in range(n_repeats))


def settings(values: Mapping[str, Any] = NOTHING, /, **more: Any) -> Iterator[Setting]:
    """The settings that have a value."""
    for name, value in {**values, **more}.items():
        if written := text(value):
            yield Setting(name, written)


def recorded(values: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """What is recorded of a run, by flattened names, without possible secrets.

    A number is no secret: `max_tokens`. Of a long value the beginning is kept, and its length and
    hash, by which two of them differ.
    """
    for key, value in sorted(fields(values).items()):
        name = f"{prefix}{key}"
        is_nested = isinstance(value, dict) and name.count(".") < DEEPEST_SETTING
        if is_nested:
            yield from recorded(value, f"{name}.")
        elif value not in (None, "", {}, []):
            is_plain = isinstance(value, (bool, int, float))
            written = value if isinstance(value, str) else as_json(value)
            if is_plain or not SECRET.search(name):
                yield name, written if len(written) <= LONGEST_SETTING else _shortened(written)


def _shortened(written: str) -> str:
    digest = hashlib.sha256(written.encode(errors="replace")).hexdigest()[:8]
    start = " ".join(written[:LONGEST_SETTING].split())
    return f"{start}... ({len(written)} characters, sha256 {digest})"


def definitions(tools: Any) -> list[Any]:
    """What is read of a request's tools: names, and hints on what they do."""
    defined = [get(one, "function") or one for one in items(tools)]
    return [
        {key: value for key in ("name", "annotations") if (value := get(one, key))}
        for one in defined
    ]


def names_of(tools: Iterable[str]) -> str:
    return ", ".join(sorted(set(tools)))


def figure(
    metric: str,
    value: Any,
    means: str | None = None,
    variant: str | None = None,
    *,
    scale: float = 1.0,
    reason: str | None = None,
    rounding: float = 0.0,
    is_main: bool = False,
) -> Figure:
    of = (variant, means, scale, reason, rounding, is_main)
    return Figure(None, None, None, metric, number(value), *of)


def counted(metric: str, value: Any, means: str, variant: str | None = None) -> Figure:
    """A published number of tasks or attempts."""
    return figure(metric, value, means, variant=variant, reason=OTHER_ROWS)


def listed() -> list[Object]:
    return [
        {
            "format": name,
            "title": module.TITLE,
            "files": module.FILES,
            "gives": [one for one in EVIDENCE if one in module.GIVES.split()],
            "reward": module.SCORE,
            "notes": module.NOTES,
        }
        for name, module in modules().items()
    ]


def table() -> str:
    """The formats as docs/formats.md lists them."""
    heads = ("format", "files", "gives", "the reward", "to know")
    rows = [
        (
            f"{one['title']} (`{one['format']}`)",
            one["files"],
            ", ".join(one["gives"]),
            one["reward"],
            one["notes"],
        )
        for one in listed()
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ("---",) * len(heads), *rows))
