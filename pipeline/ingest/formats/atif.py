"""ATIF trajectories (v1.0 to v1.8).

A trajectory may continue in further files, which repeat some steps: steps marked as copied are left
out. A subagent is represented by its last message, in the result of its call.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claim,
    Reading,
    Reject,
    Row,
    call,
    definitions,
    document,
    fields,
    get,
    head,
    items,
    message,
    number,
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
    """The contents of a trajectory: agent, model, question, output and usage."""

    agent: str | None
    model: str | None
    question: list[dict[str, Any]]
    output: list[dict[str, Any]]
    usage: dict[str, Any]
    begun: str | None
    seconds: float | None
    tools: list[Any]


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """Trajectories, recognised by their schema version; continuations belong to the first file."""
    by_stem: dict[tuple[str, str], list[ListedFile]] = defaultdict(list)
    for file in files:
        if MARK in head(file.path, FEW_BYTES) and (match := PARTS.match(file.base)):
            by_stem[file.folder, match["stem"]].append(file)
    for (folder, _), parts in by_stem.items():
        first, *further = sorted(parts, key=part)
        stem = first.path.parent.name or "trajectories"
        beside = tuple(file.path for file in further)
        place = folder.rpartition("/")[0]
        yield Claim(first, Kind.ROLLOUTS, place, stem, beside=beside)
        for file in further:
            yield Claim(file, Kind.OTHER, place, stem)


def part(file: ListedFile) -> tuple[str, int]:
    """The sort key of a file among those of its trajectory."""
    match = PARTS.match(file.base)
    return (file.folder, int(match["part"] or 0) if match else 0)


def read(artifact: Artifact) -> Iterator[Reading]:
    """One attempt; exports of Gym contain its task, others have it in the file name."""
    documents = [trajectory(artifact.path)]
    for path in artifact.beside:
        try:
            documents.append(trajectory(path))
        except ValueError as error:
            yield Reject(f"{path.name}: {error}")
    attempt = transcript(documents)
    origin = fields(get(documents, 0, "extra", "nemo_gym", "source"))
    name = re.sub(r"[._-]?trajectory", "", artifact.path.name.removesuffix(".json")).strip("._-")
    folders = [name for name in artifact.path.parts[:-1] if name not in ("agent", "trajectories")]
    place = SUFFIX.sub("", name or (folders[-1] if folders else "trajectory"))
    index = origin.get("rollout_index")
    row = {
        "_ng_task_index": text(origin.get("task_index")) or text(origin.get("task_id")) or place,
        "_ng_rollout_index": index if isinstance(index, int) else None,
        "agent_ref": without_empty({"name": attempt.agent}),
        "responses_create_params": without_empty(
            {"input": attempt.question, "model": attempt.model, "tools": attempt.tools}
        ),
        "response": response([attempt], attempt.usage, attempt.model),
        "total_run_time": attempt.seconds,
        "session_id": text(get(documents, 0, "session_id")),
    }
    variant = "-".join(name for name in (attempt.agent, attempt.model) if name) or None
    yield Row(
        {"reward": None, **without_empty(row)},
        variant=variant,
        benchmark=folders[-1] if folders else None,
        order=attempt.begun or "~",
    )


def trajectory(path: Path) -> Any:
    """The document of a trajectory."""
    content = document(path)
    if not isinstance(get(content, "steps"), list):
        raise ValueError("no ATIF trajectory: it has no steps")
    return content


def response(
    transcripts: Sequence[Transcript], usage: dict[str, Any], model: str | None
) -> dict[str, Any]:
    """The response of several trajectories in a row; without output if there are none."""
    if not transcripts and not usage:
        return {}
    output = [
        item
        for place, one in enumerate(transcripts)
        for item in (*(one.question if place else ()), *one.output)
    ]
    known = without_empty(
        {"model": model or (transcripts[0].model if transcripts else None), "usage": usage}
    )
    return {"object": "response", **known, **({"output": output} if transcripts else {})}


def seconds(begun: Any, ended: Any) -> float | None:
    """The seconds between two timestamps; None if one is invalid."""
    try:
        span = datetime.fromisoformat(str(ended)) - datetime.fromisoformat(str(begun))
    except (TypeError, ValueError):
        return None
    return max(0.0, span.total_seconds())


def transcript(documents: Sequence[Any]) -> Transcript:
    """The transcript of a file and its continuations."""
    steps = [
        step
        for one in documents
        for step in items(get(one, "steps"))
        if isinstance(step, dict) and step.get("is_copied_context") is not True
    ]
    begun = next((n for n, step in enumerate(steps) if step.get("source") == "agent"), len(steps))
    subagents = {
        text(get(other, key)): other
        for one in documents
        for other in items(get(one, "subagent_trajectories"))
        for key in ("session_id", "trajectory_id")
    }
    models = [text(step.get("model_name")) for step in steps]
    model = text(get(documents, 0, "agent", "model_name"))
    times = [time for step in steps if (time := text(step.get("timestamp")))]
    return Transcript(
        agent=text(get(documents, 0, "agent", "name")),
        model=model or next((name for name in models if name), None),
        question=[message(_words(step.get("message")), _role(step)) for step in steps[:begun]],
        output=[item for step in steps[begun:] for item in _items(step, subagents)],
        usage=_usage(documents, steps),
        begun=times[0] if times else None,
        seconds=seconds(times[0], times[-1]) if times else None,
        tools=definitions(get(documents, 0, "agent", "tool_definitions")),
    )


def _role(step: dict[str, Any]) -> str:
    return {"agent": "assistant", "user": "user"}.get(text(step.get("source")) or "", "system")


def _words(content: Any) -> str:
    """A text, or the texts of parts; other parts as their type and path."""
    if isinstance(content, str):
        return content
    return "\n".join(
        text(get(part, "text"))
        or f"[{text(get(part, 'type')) or 'part'} {text(get(part, 'source', 'path')) or ''}]"
        for part in items(content)
    )


def _items(step: dict[str, Any], subagents: dict[str | None, Any]) -> Iterator[dict[str, Any]]:
    """The items of a step: reasoning, message, calls, results.

    `extra` has what `blade export` could not write elsewhere.
    """
    yield from (one for one in items(get(step, "extra", "blade", "items")) if isinstance(one, dict))
    if thought := _words(step.get("reasoning_content")):
        yield {"type": "reasoning", "content": thought}
    calls = [one for one in items(step.get("tool_calls")) if isinstance(one, dict)]
    results = items(get(step, "observation", "results"))
    words = _words(step.get("message"))
    # A message of the agent without words and calls is an empty answer.
    is_empty = step.get("message") == "" and not calls and not results and not thought
    if words or (is_empty and _role(step) == "assistant"):
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
            for reference in items(get(one, "subagent_trajectory_ref"))
        ]
        words = "\n".join(part for part in (_words(get(one, "content")), *answered) if part)
        ours = fields(get(one, "extra", "blade"))
        call_id = get(one, "source_call_id") or ours.get("source_call_id") or own
        yield result(words, call_id) | without_empty({"name": text(ours.get("name"))})


def _last_message(reference: Any, subagents: dict[str | None, Any]) -> str:
    ids = [text(get(reference, key)) for key in ("trajectory_id", "session_id")]
    subagent = next((subagents[name] for name in ids if name and name in subagents), None)
    messages = [
        _words(get(step, "message"))
        for step in items(get(subagent, "steps"))
        if get(step, "source") == "agent"
    ]
    name = text(get(subagent, "agent", "name")) or next((name for name in ids if name), "subagent")
    return f"[subagent {name}] {messages[-1] if messages else ''}".rstrip()


def _usage(documents: Sequence[Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    """The totals of the last file, which include earlier ones, else the sums of steps."""
    totals = fields(get(documents, -1, "final_metrics"))
    counts: dict[str, float | None] = {}
    for name, (of_all, single) in TOTALS.items():
        counts[name] = number(totals.get(of_all))
        if counts[name] is None:
            counts[name] = total(number(get(step, "metrics", single)) for step in steps)
    return usage(counts)


def usage(counts: dict[str, float | None]) -> dict[str, Any]:
    """The known token counts, as integers, and the cost."""
    return without_empty(
        {
            name: value if value is None or name == "cost" else int(value)
            for name, value in counts.items()
        }
    )
