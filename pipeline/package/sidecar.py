"""The metrics sidecar: read, compared with the data key by key, or with the report alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..report.sidecar import HEADLINES, KEYS
from .blocks import Report, Token, plain
from .facts import is_same
from .findings import CONTRADICTED, JUDGED, UNCHECKED, Finding
from .json_places import Path, lines
from .queries import Answer, Answering
from .sources import Source

CHECK = "sidecar"
# Other names for ours, as the public toolkit writes them.
SYNONYMS = {
    **{name: KEYS[column] for column, name in HEADLINES.also_called.items()},
    "pass@1": "pass_at_1",
    "pass@k": "pass_at_k",
}
MOST_DIGITS = 300
OF_RUN = re.compile(r"from run_metrics(?: where run_id = '(?P<run>[^']+)')?")
# How a report calls what a sidecar holds, as the head of a column or the first cell of a row.
NAMES = {
    "pass@1": "pass_at_1",
    "pass_at_1": "pass_at_1",
    "total tasks": "total_tasks",
    "total rollouts": "total_rollouts",
    "mean reward": "mean_reward",
}
METRIC_BEFORE = re.compile(
    r"(?P<name>pass@1|mean reward|total tasks|total rollouts)\**\s*(?:\(.{0,40}?\))?\s*"
    r"(?:of|is|was|:|=|\||at)\s*\**\s*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sidecar:
    """A sidecar as read: its runs with the way to each, and the lines of its values."""

    file: str
    runs: tuple[tuple[Path, Mapping[str, Any]], ...]
    lines: Mapping[Path, int]
    # What is wrong with it where it cannot be used.
    fault: str | None = None

    def line(self, path: Path) -> int:
        """The line of a value, or of what holds it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read(text: str, file: str) -> Sidecar:
    """Any text; what is wrong with it is part of what is read."""
    try:
        # An integer beyond all floats is no figure: it becomes infinite.
        content = json.loads(text, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        return Sidecar(file, (), {}, f"it is not JSON: {str(error)[:80]}")
    if not isinstance(content, dict):
        return Sidecar(file, (), {}, "it is no JSON object")
    runs: list[tuple[Path, Any]] = [((), content)]
    if isinstance(listed := content.get("runs"), list):
        runs = [(("runs", str(no)), each) for no, each in enumerate(listed)]
    known = tuple(run for run in runs if isinstance(run[1], dict))
    return Sidecar(file, known, lines(text))


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def run_of(content: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The run that a sidecar's object is about: by its id, else by its model and benchmark."""
    figures = canonical(content)
    if str(figures.get("run_id")) in known:
        return str(figures["run_id"])
    runs = [
        run
        for run, each in known.items()
        if figures.get("model_name") is not None
        and each["model_name"] == figures["model_name"]
        and figures.get("benchmark") in (None, each["benchmark"])
    ]
    return runs[0] if len(runs) == 1 else None


def canonical(content: Mapping[str, Any]) -> dict[str, Any]:
    """The same figures by our names for them."""
    return {SYNONYMS.get(name, name): value for name, value in content.items()}


def check(sidecar: Sidecar, known: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """Every key of every run against what the data give."""
    if sidecar.fault is not None:
        name, fault = sidecar.file, sidecar.fault
        yield Finding(1, CONTRADICTED, name, fault, name, CHECK, name)
    for path, content in sidecar.runs:
        run = run_of(content, known)
        if run is None:
            claim = str(content.get("run_id") or content.get("model_name") or content.get("model"))
            existing = f"existing runs: {', '.join(sorted(known)[:5])}"
            line = sidecar.line(path)
            yield Finding(line, CONTRADICTED, claim, existing, "runs", CHECK, sidecar.file)
            continue
        ours = {name: known[run].get(SYNONYMS.get(name, name), UNKNOWN) for name in content}
        if known[run].get("model_name") is None:
            # The data do not name it: the author of the sidecar may.
            ours |= {name: UNKNOWN for name in content if SYNONYMS.get(name, name) == "model_name"}
        for place, status, value, expected in _compared(path, content, ours):
            claim = ".".join(place) + (f": {value}" if value else "")
            line, source = sidecar.line(place), f"the figures of {run}"
            yield Finding(line, status, claim, expected, source, CHECK, sidecar.file)


UNKNOWN = object()


def _compared(
    path: Path, actual: Any, expected: Any
) -> Iterator[tuple[Path, str, str, str | None]]:
    """The path to each value, its status, the value, and what it should be."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        for name, value in actual.items():
            yield from _compared((*path, name), value, expected.get(name, UNKNOWN))
        if missing := [name for name in expected if name not in actual]:
            yield path, CONTRADICTED, "", f"{', '.join(missing[:3])} too"
    elif isinstance(actual, list) and isinstance(expected, list):
        if len(actual) != len(expected):
            yield path, CONTRADICTED, str(len(actual)), f"{len(expected)} of them"
        for place, (one, other) in enumerate(zip(actual, expected, strict=False)):
            yield from _compared((*path, str(place)), one, other)
    elif expected is UNKNOWN:
        if not isinstance(actual, str):
            yield path, UNCHECKED, _json(actual), None
    else:
        yield path, JUDGED[is_same(actual, expected)], _json(actual), _json(expected)


def _json(value: Any) -> str:
    return json.dumps(value)[:200] if not isinstance(value, str) else value


def answering(sidecar: Sidecar) -> Answering:
    """What a sidecar alone knows: what `run_metrics` has of its runs, and nothing else."""
    runs = [canonical(content) for _, content in sidecar.runs]
    named = {str(run.get("run_id") or run.get("model_name")): run for run in runs}

    def answer(source: Source) -> Answer:
        match = OF_RUN.fullmatch(source.words)
        columns = [*(one for one, _ in source.keys), *(one for one, _ in source.columns)]
        columns = columns or [pair.expression for pair in source.pairs]
        own = {match["run"]: named.get(match["run"])} if match and match["run"] else named
        rows = [
            tuple(name if column == "run_id" else run[KEYS[column]] for column in columns)
            for name, run in own.items()
            if run and all(one == "run_id" or KEYS.get(one) in run for one in columns)
        ]
        if match is None or not rows:
            return Answer(fault="not among the figures of the sidecar")
        return Answer(tuple(rows))

    return answer


def beside(sidecar: Sidecar, report: Report) -> Iterator[Finding]:
    """What a report itself calls pass@1, total tasks and the like, beside the sidecar.

    A report on several runs gives several: the sidecar's must be one of them.
    """
    if len(sidecar.runs) != 1:
        return
    path, content = sidecar.runs[0]
    printed: dict[str, list[tuple[int, Token]]] = {}
    for block in report.blocks:
        for row in block.rows:
            label = plain(row[0].text).casefold() if row else ""
            for token in block.tokens_within(row[0].start, row[-1].end) if row else ():
                span = next(each for each in row if each.start <= token.start < each.end)
                head = plain(span.head).casefold()
                before = plain(report.text[max(span.start, token.start - 60) : token.start])
                match = METRIC_BEFORE.search(f"{before} " if before else "")
                name = NAMES.get(head) or (NAMES.get(label) if len(row) == 2 else None)
                if block.kind != "table" and match:
                    name = NAMES[match["name"].casefold()]
                if name and token.value is not None:
                    printed.setdefault(name, []).append((token.line, token))
    for name, value in content.items():
        own = printed.get(SYNONYMS.get(name, name), [])
        if own and isinstance(value, (int, float)) and not any(t.agrees(value) for _, t in own):
            line, token = own[0]
            claim = f"{name}: {_json(value)}"
            source = f"line {line} of the report"
            at = sidecar.line((*path, name))
            yield Finding(at, CONTRADICTED, claim, token.text, source, CHECK, sidecar.file)
