"""ATIF trajectories (v1.0 to v1.8).

A trajectory may continue in further files, which repeat some steps: steps marked as copied are left
out. A subagent is represented by its last message, in the result of its call.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claim,
    Claims,
    Files,
    Object,
    Readings,
    Reject,
    Row,
    call,
    definitions,
    document,
    fields,
    get,
    gym_row,
    head,
    items,
    message,
    number,
    paths_of,
    result,
    text,
    total,
    without_empty,
)

TITLE = "ATIF"
FILES = "any `*.json` that is a trajectory of ATIF v1.0 to v1.8, with its `*.cont-<n>.json`"
GIVES = "transcript tokens durations"
SCORE = "none: a trajectory is an unscored attempt"
NOTES = (
    "One run per folder, agent and model; tasks by the file's name, or as Gym's export says. "
    "Trajectories inside of a Harbor job are read with their trials."
)
NAMES = re.compile(r"\.json$")
PARTS = re.compile(r"^(?P<stem>.*?)(?:\.cont-(?P<part>\d{1,9}))?\.json$")
MARK = b'"ATIF-v1.'
FEW_BYTES = 4096
SUFFIX = re.compile(r"__[A-Za-z0-9]{7}$")
TOTALS = {
    "input_tokens": ("total_prompt_tokens", "prompt_tokens"),
    "output_tokens": ("total_completion_tokens", "completion_tokens"),
    "cached_tokens": ("total_cached_tokens", "cached_tokens"),
    "cost": ("total_cost_usd", "cost_usd"),
}


@dataclass(frozen=True)
class Transcript:
    agent: str | None
    model: str | None
    question: list[Object]
    output: list[Object]
    usage: Object
    begun: str | None
    seconds: float | None
    tools: list[Any]


def claims(files: Files) -> Claims:
    """Trajectories, recognised by their schema version; continuations belong to the first file."""
    by_stem: dict[tuple[str, str], list[ListedFile]] = defaultdict(list)
    for file in files:
        if MARK in head(file.path, FEW_BYTES) and (match := PARTS.match(file.base)):
            by_stem[file.folder, match["stem"]].append(file)
    for (folder, _), parts in by_stem.items():
        first, *further = sorted(parts, key=part)
        stem = first.path.parent.name or "trajectories"
        beside = paths_of(further)
        place = folder.rpartition("/")[0]
        yield Claim(first, Kind.ROLLOUTS, place, stem, beside=beside)
        for file in further:
            yield Claim(file, Kind.OTHER, place, stem)


def part(file: ListedFile) -> tuple[str, int]:
    match = PARTS.match(file.base)
    return (file.folder, int(match["part"] or 0) if match else 0)


def read(artifact: Artifact) -> Readings:
    """One attempt; exports of Gym contain its task, others have it in the file name."""
    documents = [trajectory(artifact.path)]
    for path in artifact.beside:
        try:
            documents.append(trajectory(path))
        except ValueError as error:
            yield Reject(f"{path.name}: {error}")
    attempt = transcript(documents)
    origin = fields(documents[0], "extra", "nemo_gym", "source")
    name = re.sub(r"[._-]?trajectory", "", artifact.path.name.removesuffix(".json")).strip("._-")
    folders = [name for name in artifact.path.parts[:-1] if name not in ("agent", "trajectories")]
    place = SUFFIX.sub("", name or (folders[-1] if folders else "trajectory"))
    index = origin.get("rollout_index")
    row = gym_row(
        text(origin, "task_index") or text(origin, "task_id") or place,
        None,
        repeat=index if isinstance(index, int) else None,
        agent=attempt.agent,
        request={"input": attempt.question, "model": attempt.model, "tools": attempt.tools},
        response=response([attempt], attempt.usage, attempt.model),
        total_run_time=attempt.seconds,
        session_id=text(documents[0], "session_id"),
    )
    yield Row(
        row,
        variant="-".join(name for name in (attempt.agent, attempt.model) if name) or None,
        benchmark=folders[-1] if folders else None,
        order=attempt.begun or "~",
    )


def trajectory(path: Path) -> Any:
    content = document(path)
    if not isinstance(get(content, "steps"), list):
        raise ValueError("no ATIF trajectory: it has no steps")
    return content


def response(transcripts: Sequence[Transcript], usage: Object, model: str | None) -> Object | None:
    """The response of several trajectories in a row; without output if there are none."""
    if not transcripts and not usage:
        return None
    output = [
        item
        for place, one in enumerate(transcripts)
        for item in (*(one.question if place else ()), *one.output)
    ]
    return {
        "model": model or (transcripts[0].model if transcripts else None),
        "usage": usage,
        "output": output if transcripts else None,
    }


def seconds(begun: Any, ended: Any) -> float | None:
    """The seconds between two timestamps; None if one is invalid."""
    try:
        span = datetime.fromisoformat(str(ended)) - datetime.fromisoformat(str(begun))
    except (TypeError, ValueError):
        return None
    return max(0.0, span.total_seconds())


def transcript(documents: Sequence[Any]) -> Transcript:
    steps = [
        step
        for one in documents
        for step in items(one, "steps")
        if isinstance(step, dict) and step.get("is_copied_context") is not True
    ]
    begun = next((n for n, step in enumerate(steps) if step.get("source") == "agent"), len(steps))
    subagents = {
        text(other, key): other
        for one in documents
        for other in items(one, "subagent_trajectories")
        for key in ("session_id", "trajectory_id")
    }
    models = [text(step, "model_name") for step in steps]
    model = text(documents, 0, "agent", "model_name")
    times = [time for step in steps if (time := text(step, "timestamp"))]
    return Transcript(
        agent=text(documents, 0, "agent", "name"),
        model=model or next((name for name in models if name), None),
        question=[message(_words(step.get("message")), _role(step)) for step in steps[:begun]],
        output=[item for step in steps[begun:] for item in _items(step, subagents)],
        usage=_usage(documents, steps),
        begun=times[0] if times else None,
        seconds=seconds(times[0], times[-1]) if times else None,
        tools=definitions(get(documents, 0, "agent", "tool_definitions")),
    )


def _role(step: Object) -> str:
    return {"agent": "assistant", "user": "user"}.get(text(step, "source") or "", "system")


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        text(part, "text")
        or f"[{text(part, 'type') or 'part'} {text(part, 'source', 'path') or ''}]"
        for part in items(content)
    )


def _items(step: Object, subagents: dict[str | None, Any]) -> Iterator[Object]:
    """The items of a step: reasoning, message, calls, results.

    `extra` has what `blade export` could not write elsewhere.
    """
    ours = get(step, "extra", "blade", "items")
    yield from (one for one in items(ours) if isinstance(one, dict))
    if thought := _words(step.get("reasoning_content")):
        yield {"type": "reasoning", "content": thought}
    calls = [one for one in items(step, "tool_calls") if isinstance(one, dict)]
    results = items(step, "observation", "results")
    words = _words(step.get("message"))
    # A message of the agent without words and calls is an empty answer.
    is_empty = ours is None and not calls and not results and not thought
    if words or (is_empty and step.get("message") == "" and _role(step) == "assistant"):
        yield message(words, _role(step))
    for one in calls:
        written = get(one, "extra", "blade", "arguments")
        arguments = written if isinstance(written, str) else one.get("arguments")
        yield call(one.get("function_name"), arguments, one.get("tool_call_id"))
    for place, one in enumerate(results):
        # Results without a call id belong to the calls in order, if there are as many.
        own = get(calls, place, "tool_call_id") if len(calls) == len(results) else None
        answered = [
            _last_message(reference, subagents)
            for reference in items(one, "subagent_trajectory_ref")
        ]
        words = "\n".join(part for part in (_words(get(one, "content")), *answered) if part)
        more = fields(one, "extra", "blade")
        call_id = get(one, "source_call_id") or more.get("source_call_id") or own
        yield result(words, call_id) | without_empty(name=text(more, "name"))


def _last_message(reference: Any, subagents: dict[str | None, Any]) -> str:
    ids = [text(reference, key) for key in ("trajectory_id", "session_id")]
    subagent = next((subagents[name] for name in ids if name and name in subagents), None)
    messages = [
        _words(get(step, "message"))
        for step in items(subagent, "steps")
        if get(step, "source") == "agent"
    ]
    name = text(subagent, "agent", "name") or next((name for name in ids if name), "subagent")
    return f"[subagent {name}] {messages[-1] if messages else ''}".rstrip()


def _usage(documents: Sequence[Any], steps: list[Object]) -> Object:
    """The totals of the last file, which include earlier ones, else the sums of steps."""
    totals = fields(documents, -1, "final_metrics")
    counts: dict[str, float | None] = {}
    for name, (of_all, single) in TOTALS.items():
        counts[name] = number(totals, of_all)
        if counts[name] is None:
            counts[name] = total(number(step, "metrics", single) for step in steps)
    return usage(counts)


def usage(counts: dict[str, float | None]) -> Object:
    return without_empty(
        {
            name: value if value is None or name == "cost" else int(value)
            for name, value in counts.items()
        }
    )
