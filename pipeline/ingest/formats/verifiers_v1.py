"""verifiers from 0.3 on: traces.jsonl, a line per episode with a trace of each of its agents."""

from __future__ import annotations

import re
from typing import Any

from ...artifact import Artifact, Kind
from . import (
    Claim,
    Claims,
    Files,
    Object,
    Readings,
    Reject,
    Row,
    definitions,
    document,
    expected,
    fields,
    get,
    gym_row,
    head,
    items,
    number,
    objects,
    parent,
    picked,
    readable,
    scores_of,
    settings,
    text,
    total,
    without_empty,
)
from .chat import chat

TITLE = "verifiers from 0.3"
FILES = "`traces.jsonl`, also under other names, with `configs/resolved/eval.json`"
GIVES = "checks transcript tokens durations"
SCORE = (
    "the sum of `rewards`, each score times its weight; none recorded is unscored. Rewards and "
    "metrics are checks"
)
NOTES = (
    "One run per folder. Of several agents of an episode the trainable one, else the first, is the "
    "attempt. Of a tree of messages the transcript is the way to the last one; how many ends it "
    "has is a field of the row. No figures are published."
)
NAMES = re.compile(r"(\.jsonl(\.gz|\.zst)?|(^|/)configs/resolved/eval\.json)$")
USUAL_NAME = re.compile(r"traces\.jsonl(\.gz|\.zst)?")
FIRST_OF_EPISODE = (re.compile(rb'"task"\s*:\s*\{\s*"type"\s*:'), re.compile(rb'"traces"\s*:\s*\['))
# Fields of a task about its machine, not about its question.
OF_THE_MACHINE = frozenset(
    "idx prompt answer skills network_allow network_block artifacts artifact_max_bytes timeout "
    "resources system_prompt name".split()
)


def claims(files: Files) -> Claims:
    about = {file.name: file for file in files if file.base == "eval.json"}
    for file in files:
        begun = b"" if file.base == "eval.json" else head(file.path)
        is_usual = USUAL_NAME.fullmatch(file.base) is not None
        # Of an episode with a long task the first bytes may end before its traces.
        has_traces = b'"traces"' in begun or len(begun) >= 4096
        is_episode = all(mark.search(begun) for mark in FIRST_OF_EPISODE)
        if not is_episode and not (is_usual and b'"task"' in begun and has_traces):
            continue
        config = about.get(f"{file.folder}/configs/resolved/eval.json".lstrip("/"))
        folder, stem = file.folder, file.base.partition(".")[0]
        if is_usual:
            folder, stem = parent(file.folder), file.path.parent.name
        paths = (config.path,) if config else ()
        yield Claim(file, Kind.ROLLOUTS, folder, stem, beside=paths)
        if config:
            yield Claim(config, Kind.AGGREGATE_METRICS, folder, stem)


def read(artifact: Artifact) -> Readings:
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _settings(fields(document(artifact.path)))
        return
    seen: dict[str, None] = {}
    for episode in objects(artifact.path):
        if not isinstance(episode, dict):
            yield episode
            continue
        task = fields(episode, "task")
        data = fields(task, "data")
        name = text(data, "idx") or text(data, "name") or text(task, "key")
        if name is None or not isinstance(episode.get("traces"), list):
            yield Reject("no task or no traces: not an episode of verifiers")
            continue
        seen[name] = None
        yield _row(episode, data, name)
    n_repeats = get(readable(*artifact.beside), "num_rollouts")
    yield from expected(sorted(seen), n_repeats) if isinstance(n_repeats, int) else ()


def _settings(config: Object) -> Readings:
    sampling = {
        **without_empty(fields(config, "sampling")),
        **without_empty(fields(config, "env", "agent", "sampling")),
    }
    yield from settings(
        model=config.get("model"),
        num_repeats=config.get("num_rollouts"),
        max_turns=get(config, "env", "agent", "max_turns"),
        **picked(sampling, "temperature", "top_p", "max_tokens"),
    )


def _row(episode: Object, data: Object, task: str) -> Row:
    # An episode that failed before an agent started is an attempt too.
    traces = [trace for trace in items(episode["traces"]) if isinstance(trace, dict)] or [{}]
    trainable = (one for one in traces if get(one, "agent", "trainable") is True)
    trace = next(trainable, traces[0])
    config = fields(trace, "agent", "config")
    model = text(config, "model")
    question, output, n_ends = _transcript(trace, data.get("prompt"))
    calls = [one for one in items(trace, "calls") if isinstance(one, dict)]
    # If output tokens were counted, missing messages mean that there is no transcript.
    is_recorded = output or ("nodes" in trace and not trace.get("num_output_tokens"))
    ended = _ended(episode, trace)
    is_failed = ended["error_type"] == "ProviderError"
    response = {
        "model": model,
        "usage": without_empty(
            input_tokens=trace.get("num_input_tokens"),
            output_tokens=trace.get("num_output_tokens"),
            cost=total(number(one, "usage", "cost") for one in calls),
        ),
        "output": output if is_recorded else None,
        "error": {"message": ended["error_message"]} if is_failed else None,
    }
    reward, scores = _scores(trace)
    start, end = (number(trace, "timing", "agent", key) for key in ("start", "end"))
    began = number(trace, "timing", "start")
    names = (text(one, "agent", "name") or "agent" for one in traces if one is not trace)
    row = gym_row(
        task,
        reward,
        agent=text(trace, "agent", "name"),
        request={
            "input": question,
            "model": model,
            "temperature": number(config, "sampling", "temperature"),
            "top_p": number(config, "sampling", "top_p"),
            "max_output_tokens": get(config, "sampling", "max_tokens"),
            "tools": definitions(trace.get("tools")),
        },
        response=response if any(one not in (None, {}) for one in response.values()) else None,
        **scores,
        # What a dataset calls the answer is the key.
        expected_answer=data.get("answer"),
        metadata={name: one for name, one in data.items() if name not in OF_THE_MACHINE},
        **ended,
        finish_reason=text(calls, -1, "finish_reason"),
        total_run_time=max(0.0, end - start) if start and end else None,
        n_ends=n_ends if n_ends > 1 else None,
        other_agents=", ".join(names),
    )
    return Row(
        row,
        benchmark=text(episode, "env", "id"),
        order=None if began is None else f"{began:020.6f}",
        limit_reached="is_timeout" if ended["is_timeout"] else None,
    )


def _scores(trace: Object) -> tuple[float | None, Object]:
    """The reward, and all scores; a single reward with weight 1 is the reward itself."""
    parts = {
        name: (number(one, "score"), number(one, "weight"))
        for name, one in fields(trace, "rewards").items()
    }
    reward = total(
        score * (1.0 if weight is None else weight)
        for score, weight in parts.values()
        if score is not None
    )
    scores = {name: score for name, (score, _) in parts.items()}
    own = next(iter(scores)) if len(scores) == 1 and reward in scores.values() else "reward"
    scores |= {name: number(one) for name, one in fields(trace, "metrics").items()}
    scores.setdefault(own, reward)
    return reward, scores_of(scores, own)


def _ended(episode: Object, trace: Object) -> Object:
    errors = [*items(trace, "errors"), *items(episode, "errors")]
    kind, reason = text(errors, 0, "type"), text(errors, 0, "message")
    return {
        "stop_condition": text(trace, "stop_condition"),
        "error_type": kind,
        "error_message": ": ".join(part for part in (kind, reason) if part),
        "is_timeout": True
        if True in (trace.get("is_timeout"), episode.get("is_timeout"))
        else None,
    }


def _transcript(trace: Object, prompt: Any) -> tuple[list[Any], list[Any], int]:
    """The question, the output on the path to the last message, and the number of leaves."""
    nodes = items(trace, "nodes")
    parents = [get(node, "parent") for node in nodes]
    way: list[int] = []
    at: Any = len(nodes) - 1
    # A parent comes before its child, else it is no tree.
    while isinstance(at, int) and 0 <= at < (way[-1] if way else len(nodes)):
        way.append(at)
        at = parents[at]
    path = [nodes[place] for place in reversed(way)]
    begun = next((n for n, node in enumerate(path) if get(node, "sampled") is True), len(path))
    question = list(chat([get(node, "message") for node in path[:begun]]))
    output = list(chat([get(node, "message") for node in path[begun:]]))
    n_ends = len(nodes) - len({at for at in parents if isinstance(at, int)})
    return question or list(chat(prompt, "user")), output, n_ends
