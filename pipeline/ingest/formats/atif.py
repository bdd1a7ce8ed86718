"""ATIF trajectories (v1.0 to v1.8): what was asked of an agent, and what followed.

A trajectory may go on in further files, each of which repeats some of what came before: steps that
are marked as copied are left out. What a subagent did is told by its last words, where it answers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pipeline.artifact import Artifact, Kind, ListedFile
from pipeline.ingest.formats import (
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
    told,
    total,
)

TITLE = "ATIF"
FILES = "any `*.json` that is a trajectory of ATIF v1.0 to v1.8, with its `*.cont-<n>.json`"
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
    """What a trajectory says: who acted, on what, how, and at what cost."""

    agent: str | None
    model: str | None
    asked: list[dict[str, Any]]
    output: list[dict[str, Any]]
    usage: dict[str, Any]
    begun: str | None
    seconds: float | None
    tools: list[Any]


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """Trajectories by their mark; what continues one is read with it."""
    found: dict[tuple[str, str], list[ListedFile]] = defaultdict(list)
    for file in files:
        if MARK in head(file.path, FEW_BYTES) and (match := PARTS.match(file.base)):
            found[file.folder, match["stem"]].append(file)
    for (folder, _), parts in found.items():
        first, *further = sorted(parts, key=part)
        stem = first.path.parent.name or "trajectories"
        beside = tuple(file.path for file in further)
        place = folder.rpartition("/")[0]
        yield Claim(first, Kind.ROLLOUTS, place, stem, beside=beside)
        for file in further:
            yield Claim(file, Kind.OTHER, place, stem)


def part(file: ListedFile) -> tuple[str, int]:
    """Where a file stands among those of its trajectory."""
    match = PARTS.match(file.base)
    return (file.folder, int(match["part"] or 0) if match else 0)


def read(artifact: Artifact) -> Iterator[Reading]:
    """One attempt: Gym says in it which one it is, others by the file's name."""
    documents = [trajectory(artifact.path)]
    for path in artifact.beside:
        try:
            documents.append(trajectory(path))
        except ValueError as error:
            yield Reject(f"{path.name}: {error}")
    found = transcript(documents)
    origin = fields(get(documents, 0, "extra", "nemo_gym", "source"))
    name = re.sub(r"[._-]?trajectory", "", artifact.path.name.removesuffix(".json")).strip("._-")
    folders = [name for name in artifact.path.parts[:-1] if name not in ("agent", "trajectories")]
    place = SUFFIX.sub("", name or (folders[-1] if folders else "trajectory"))
    index = origin.get("rollout_index")
    row = {
        "_ng_task_index": text(origin.get("task_index")) or text(origin.get("task_id")) or place,
        "_ng_rollout_index": index if isinstance(index, int) else None,
        "agent_ref": told({"name": found.agent}),
        "responses_create_params": told(
            {"input": found.asked, "model": found.model, "tools": found.tools}
        ),
        "response": response([found], found.usage, found.model),
        "total_run_time": found.seconds,
        "session_id": text(get(documents, 0, "session_id")),
    }
    variant = "-".join(name for name in (found.agent, found.model) if name) or None
    yield Row(
        {"reward": None, **told(row)},
        variant=variant,
        benchmark=folders[-1] if folders else None,
        order=found.begun or "~",
    )


def trajectory(path: Path) -> Any:
    """A file that holds the steps of one."""
    found = document(path)
    if not isinstance(get(found, "steps"), list):
        raise ValueError("no ATIF trajectory: it has no steps")
    return found


def response(
    told_in: Sequence[Transcript], usage: dict[str, Any], model: str | None
) -> dict[str, Any]:
    """What was done, one trajectory after the other; where there is none nobody knows."""
    if not told_in and not usage:
        return {}
    output = [
        item
        for place, one in enumerate(told_in)
        for item in (*(one.asked if place else ()), *one.output)
    ]
    said = told({"model": model or (told_in[0].model if told_in else None), "usage": usage})
    return {"object": "response", **said, **({"output": output} if told_in else {})}


def seconds(begun: Any, ended: Any) -> float | None:
    """The time between two timestamps, where both are some."""
    try:
        span = datetime.fromisoformat(str(ended)) - datetime.fromisoformat(str(begun))
    except (TypeError, ValueError):
        return None
    return max(0.0, span.total_seconds())


def transcript(documents: Sequence[Any]) -> Transcript:
    """One trajectory of one file and those that continue it."""
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
        asked=[message(_words(step.get("message")), _role(step)) for step in steps[:begun]],
        output=[item for step in steps[begun:] for item in _items(step, subagents)],
        usage=_usage(documents, steps),
        begun=times[0] if times else None,
        seconds=seconds(times[0], times[-1]) if times else None,
        tools=definitions(get(documents, 0, "agent", "tool_definitions")),
    )


def _role(step: dict[str, Any]) -> str:
    return {"agent": "assistant", "user": "user"}.get(text(step.get("source")) or "", "system")


def _words(content: Any) -> str:
    """A text, or the texts of parts; of what is no text its kind and place."""
    if isinstance(content, str):
        return content
    return "\n".join(
        text(get(part, "text"))
        or f"[{text(get(part, 'type')) or 'part'} {text(get(part, 'source', 'path')) or ''}]"
        for part in items(content)
    )


def _items(step: dict[str, Any], subagents: dict[str | None, Any]) -> Iterator[dict[str, Any]]:
    """Reasoning, message, calls, what they gave: the order of things within a step.

    What our own export had no place for stands in `extra`, as it was.
    """
    yield from (one for one in items(get(step, "extra", "blade", "items")) if isinstance(one, dict))
    if thought := _words(step.get("reasoning_content")):
        yield {"type": "reasoning", "content": thought}
    if said := _words(step.get("message")):
        yield message(said, _role(step))
    calls = [one for one in items(step.get("tool_calls")) if isinstance(one, dict)]
    for one in calls:
        written = get(one, "extra", "blade", "arguments")
        given = written if isinstance(written, str) else one.get("arguments")
        yield call(one.get("function_name"), given, one.get("tool_call_id"))
    results = items(get(step, "observation", "results"))
    for place, one in enumerate(results):
        # Results of as many calls that name none are theirs, in order.
        own = get(calls, place, "tool_call_id") if len(calls) == len(results) else None
        answered = [
            _last_words(reference, subagents)
            for reference in items(get(one, "subagent_trajectory_ref"))
        ]
        said = "\n".join(part for part in (_words(get(one, "content")), *answered) if part)
        ours = fields(get(one, "extra", "blade"))
        call_id = get(one, "source_call_id") or ours.get("source_call_id") or own
        yield result(said, call_id) | told({"name": text(ours.get("name"))})


def _last_words(reference: Any, subagents: dict[str | None, Any]) -> str:
    ids = [text(get(reference, key)) for key in ("trajectory_id", "session_id")]
    found = next((subagents[name] for name in ids if name and name in subagents), None)
    said = [
        _words(get(step, "message"))
        for step in items(get(found, "steps"))
        if get(step, "source") == "agent"
    ]
    name = text(get(found, "agent", "name")) or next((name for name in ids if name), "subagent")
    return f"[subagent {name}] {said[-1] if said else ''}".rstrip()


def _usage(documents: Sequence[Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Totals as the last file gives them, which count all before it; else the sums of steps."""
    totals = fields(get(documents, -1, "final_metrics"))
    found: dict[str, float | None] = {}
    for name, (of_all, single) in TOTALS.items():
        found[name] = number(totals.get(of_all))
        if found[name] is None:
            found[name] = total(number(get(step, "metrics", single)) for step in steps)
    return usage(found)


def usage(found: dict[str, float | None]) -> dict[str, Any]:
    """What is known of tokens, which are whole, and cost."""
    return told(
        {
            name: value if value is None or name == "cost" else int(value)
            for name, value in found.items()
        }
    )
