"""Results of other harnesses: one module here per format, which turns its rows into Gym's.

A format is one file of this folder. It declares what the table of docs/formats.md says of it
(`TITLE`, `FILES`, `SCORE`, `NOTES`), the names of files worth a look (`NAMES`), and two functions:

- `claims(files)` gets all files whose names match, in path order, and says which are its own: by
  the name where that is enough, else by the first bytes (`head`). A claim names the run: files of
  one `(folder, stem, mark)` are one run. Reading rows is not its business.
- `read(artifact)` yields what one claimed file holds, in the file's own order and without holding
  more of it in memory than one row: a `Row` for every attempt, a `Reject` for what cannot be used,
  a `Line` for a blank line or a heading: one of these for each line, or place, by which it gets its
  number. Once known, `Expected` attempts, `Figure`s that the harness published, and `Setting`s
  (`expected`, `figure`, `counted`, `settings`). Nothing in a file may make it raise but `OSError`
  and `ValueError`, which end the file as a reject: read untrusted shapes with `get`, `text`,
  `number`.

A row is a Gym row (formats/gym.py, docs/formats.md), whose fields mean what they mean there:

- `_ng_task_index`: the task's own id, text or number; `_ng_rollout_index`: the repeat, from 0;
- `reward`: a number, or null where the attempt was not scored, never a 0 in its stead;
- `responses_create_params.input`: what was asked, as messages with `role` and `content`;
- `response.output`: what followed, as items (`message`, `reasoning`, `function_call`,
  `function_call_output`); leave `output` out where no transcript was recorded: an empty one says
  that nothing was done;
- `response.usage`, `response.model`; seconds in `total_run_time`; how it ended in `finish_reason`;
- `score` and `scores`: lists of `{name, score, explanation}`, the one that the reward is and the
  others (`scores_of`); they become `checks`, and figures are of them (`mean/scores.<name>`);
- `expected_calls`: the calls that the task expects, in order, as `{name, arguments}`, an empty list
  where it expects none; leave it out where nothing says so (`expected_call`);
- whatever else the row says, under names of the harness: short scalars become `record_fields`, and
  `metadata` of the task its slices.

Where one file holds several runs, `Row.variant` tells them apart (as do agents in Gym's rows);
`Row.benchmark` names the benchmark where the harness does. Where it does not number the repeats of
a task, leave `_ng_rollout_index` out: they are ranked by `Row.order`. `Row.question` says what was
asked where the words of it differ from one attempt to the next. `Row.limit_reached` is the cap that
ended the attempt, in the harness's own word; set it only where the format calls it a cap.
"""

from __future__ import annotations

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
from typing import Any, Protocol

import pyarrow as pa

from pipeline import files
from pipeline.artifact import COMPRESSIONS, Artifact, Kind, ListedFile

# Files of any other name are asked of no format, and a folder without one imports none.
ENDINGS = re.compile(r"\.(eval|json|jsonl|txt|parquet|toml)(\.gz|\.zst|-async)?$", re.IGNORECASE)
HEAD_BYTES = 64 << 10
as_json = json.JSONEncoder(ensure_ascii=False).encode
LONGEST_LINE = 128 << 20
# More attempts than anyone makes are not listed.
MOST_EXPECTED = 1_000_000
LARGEST_FIGURE = 1e50
# Why a count that a harness published is another than ours.
OTHER_ROWS = "the rows here are not those that it counts"


@dataclass(frozen=True)
class Claim:
    """A file that a format reads: what it holds, the run it is of, and what is read with it.

    `kind` is ROLLOUTS where rows are in it, else AGGREGATE_METRICS, CONFIG, LOG or OTHER: the first
    two are read by the format. `mark` tells runs apart that share folder and stem; it is in the
    run's name only then. `skipped` says why the file is not read at all, and is its reject. `owns`
    is the folder of one attempt: whatever else lies in it is its log, and no other format's.
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


@dataclass(frozen=True)
class Row:
    """One attempt in the canonical shape, from the next line or place of its file."""

    value: dict[str, Any]
    variant: str | None = None
    benchmark: str | None = None
    order: str | None = None
    question: str | None = None
    limit_reached: str | None = None

    @property
    def transcript(self) -> str:
        """Whether what was done is on record; an empty output says that nothing was."""
        return "recorded" if "output" in fields(self.value.get("response")) else "none"


@dataclass(frozen=True)
class Reject:
    """What cannot be used, and why; of an archive the reason names the member."""

    reason: str
    snippet: str = ""


@dataclass(frozen=True)
class Line:
    """A line that is neither; it counts as blank."""


@dataclass(frozen=True)
class Expected:
    """An attempt that was asked for, whether there is a row of it or not."""

    task: str
    repeat: int
    variant: str | None = None


@dataclass(frozen=True)
class Figure:
    """One reported figure. `task` is a task index, `position` the row where none is given.

    Of other harnesses `variant` is the run, `means` the figure in Gym's words (`mean/reward`,
    `task_mean/reward`, `pass@2/reward`, `pass^2/reward`, `num_tasks`), where there is one, of which
    it is `scale` times as much, `rounding` how far rounding may have taken it, and `reason` why
    ours may differ by definition, or why we have none.
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


@dataclass(frozen=True)
class Setting:
    """A setting of the run, by a name of formats/config.py (SETTING_NAMES), or one of ours.

    Ours are `pass_threshold`, `task_args.<name>`, and `write_tools` (`names_of`): the tools that
    change state, where the format says so.
    """

    name: str
    value: str


Reading = Row | Reject | Line | Expected | Figure | Setting


class Format(Protocol):
    """What a module of this folder has; the module's docstring says how each is meant."""

    TITLE: str
    FILES: str
    SCORE: str
    NOTES: str
    NAMES: re.Pattern[str]

    def claims(self, files: Sequence[ListedFile]) -> Iterable[Claim]:
        """The files that are this format's, each with its run."""

    def read(self, artifact: Artifact) -> Iterator[Reading]:
        """What a claimed file holds."""


@cache
def modules() -> dict[str, Format]:
    """All formats by the names of their modules: whatever file of this folder claims files."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    found = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: module for name, module in found.items() if hasattr(module, "claims")}


def claims(found: Sequence[ListedFile]) -> dict[str, Claim]:
    """The claimed files by name; of two formats that claim one file the first by name has it."""
    candidates = [file for file in found if ENDINGS.search(file.base)]
    claimed: dict[str, Claim] = {}
    if not candidates:
        return claimed
    for name, module in modules().items():
        named = [file for file in candidates if module.NAMES.search(file.name)]
        own = [_signed(claim, name) for claim in module.claims(named)] if named else []
        for claim in own:
            claimed.setdefault(claim.file.name, claim)
        if folders := folders_owned(own):
            # What lies in an attempt's own folder is that attempt's: no other need look at it.
            candidates = [file for file in candidates if home(file.name, folders) is None]
    owned = folders_owned(claimed.values())
    return {
        name: claim
        for name, claim in claimed.items()
        if claim.owns is not None or home(name, owned) is None
    }


def folders_owned(claimed: Iterable[Claim]) -> set[str]:
    """The folders of which each is one attempt's own."""
    return {claim.owns for claim in claimed if claim.owns is not None}


def home(name: str, folders: Collection[str]) -> str | None:
    """The nearest of the folders that a file lies in, at any depth."""
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
    """The first bytes of a file, unpacked; none where it cannot be read."""
    try:
        with _unpacked(path) as stream:
            return bytes(stream.read(n_bytes))
    except OSError:
        return b""


def document(path: Path) -> Any:
    """A small JSON document, NaN as null; ValueError says why there is none."""
    try:
        return parsed(files.content(path))
    except files.UnreadableError as error:
        raise ValueError(str(error)) from error


def documents(paths: Iterable[Path]) -> Iterator[Any]:
    """Documents that are read beside a file; one that is none has a reject of its own."""
    for path in paths:
        with suppress(ValueError):
            yield document(path)


def parsed(content: bytes | str) -> Any:
    """JSON text, NaN and infinities as null; ValueError says why it is none."""
    try:
        return json.loads(content, parse_constant=lambda _: None)
    except RecursionError as error:
        raise ValueError("not JSON: nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at line {error.lineno}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1}") from error


def objects(path: Path) -> Iterator[dict[str, Any] | Reject | Line]:
    """The lines of a JSONL file: objects, and the others as what they are."""
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
    """Lines without their ends; of one that is too long only as much as shows it."""
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
    """What lies at a path of keys and places; None where anything on the way is something else."""
    for key in path:
        if isinstance(key, str):
            value = value.get(key) if isinstance(value, dict) else None
        else:
            value = (
                value[key] if isinstance(value, list) and -len(value) <= key < len(value) else None
            )
    return value


def text(value: Any) -> str | None:
    """A text that says something, or a number as one."""
    if isinstance(value, str):
        return value or None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number else None


def number(value: Any) -> float | None:
    """A finite number, or one in words; true is 1."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    is_number = isinstance(value, (bool, int, float)) and abs(value) <= LARGEST_FIGURE
    return float(value) if is_number else None


def items(value: Any) -> list[Any]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else []


def fields(value: Any) -> dict[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def told(row: dict[str, Any]) -> dict[str, Any]:
    """The row without what it does not say."""
    return {name: value for name, value in row.items() if value not in (None, {}, [])}


def total(values: Iterable[float | None]) -> float | None:
    """The sum of those that are known; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def scores_of(scores: Sequence[dict[str, Any]], reward: str | None) -> dict[str, Any]:
    """The fields `score` and `scores` of a row: the reward's own would else explain itself."""
    own = [score for score in scores if score["name"] == reward]
    return {"score": own, "scores": [score for score in scores if score not in own]}


def message(content: Any, role: str = "assistant") -> dict[str, Any]:
    """An item of the output that someone said."""
    return {"type": "message", "role": role, "content": content}


def call(name: Any, arguments: Any, call_id: Any) -> dict[str, Any]:
    """A tool call; arguments that are no text yet become JSON."""
    given = arguments if isinstance(arguments, str) else as_json(arguments)
    return {
        "type": "function_call",
        "name": text(name) or "",
        "arguments": given,
        "call_id": text(call_id) or "",
    }


def expected_call(name: Any, arguments: Any) -> dict[str, Any]:
    """A call that a task expects."""
    return {"name": text(name) or "", "arguments": fields(arguments)}


def result(output: str, call_id: Any) -> dict[str, Any]:
    """What a tool answered."""
    return {"type": "function_call_output", "call_id": text(call_id) or "", "output": output}


def expected(
    tasks: Collection[str], n_repeats: int, variant: str | None = None
) -> Iterator[Expected]:
    """So many attempts at each of the tasks."""
    if len(tasks) * n_repeats <= MOST_EXPECTED:
        for task in tasks:
            yield from (Expected(task, repeat, variant) for repeat in range(n_repeats))


def settings(values: Mapping[str, Any]) -> Iterator[Setting]:
    """Those of the settings that have a value."""
    for name, value in values.items():
        if said := text(value):
            yield Setting(name, said)


def definitions(tools: Any) -> list[Any]:
    """What is read of a request's tools: names, and hints on what they do."""
    told = [get(one, "function") or one for one in items(tools)]
    return [
        {key: value for key in ("name", "annotations") if (value := get(one, key))} for one in told
    ]


def names_of(tools: Iterable[str]) -> str:
    """Names of tools as the value of a setting."""
    return ", ".join(sorted(set(tools)))


def figure(
    metric: str,
    value: Any,
    means: str | None = None,
    *,
    variant: str | None = None,
    scale: float = 1.0,
    reason: str | None = None,
    rounding: float = 0.0,
) -> Figure:
    """A figure that a harness published of a run, in the words of `Figure`."""
    of = (variant, means, scale, reason, rounding)
    return Figure(None, None, None, metric, number(value), *of)


def counted(metric: str, value: Any, means: str, variant: str | None = None) -> Figure:
    """How many tasks or attempts a harness says there are."""
    return figure(metric, value, means, variant=variant, reason=OTHER_ROWS)


def table() -> str:
    """The formats as docs/formats.md lists them."""
    heads = ("format", "files", "the reward", "to know")
    rows = [
        (f"{module.TITLE} (`{name}`)", module.FILES, module.SCORE, module.NOTES)
        for name, module in modules().items()
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ("---",) * len(heads), *rows))
