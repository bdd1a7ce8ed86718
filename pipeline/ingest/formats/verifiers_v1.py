"""verifiers from 0.3 on: traces.jsonl, a line per episode with a trace of each of its agents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claim,
    Reading,
    Reject,
    Row,
    definitions,
    document,
    documents,
    expected,
    fields,
    get,
    head,
    items,
    number,
    objects,
    scores_of,
    settings,
    text,
    total,
    without_empty,
)
from .chat import chat

TITLE = "verifiers from 0.3"
FILES = "`traces.jsonl` with `configs/resolved/eval.json`"
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
NAMES = re.compile(r"(^|/)(traces\.jsonl(\.gz|\.zst)?|configs/resolved/eval\.json)$")
# Fields of a task about its machine, not about its question.
OF_THE_MACHINE = frozenset(
    "idx prompt answer skills network_allow network_block artifacts artifact_max_bytes timeout "
    "resources system_prompt name".split()
)


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """Traces by their first line, with the configuration below their folder."""
    about = {file.name: file for file in files if file.base == "eval.json"}
    for file in files:
        begun = b"" if file.base == "eval.json" else head(file.path)
        if b'"task"' not in begun or (b'"traces"' not in begun and len(begun) < 4096):
            continue
        config = about.get(f"{file.folder}/configs/resolved/eval.json".lstrip("/"))
        folder, stem = file.folder.rpartition("/")[0], file.path.parent.name
        paths = (config.path,) if config else ()
        yield Claim(file, Kind.ROLLOUTS, folder, stem, beside=paths)
        if config:
            yield Claim(config, Kind.AGGREGATE_METRICS, folder, stem)


def read(artifact: Artifact) -> Iterator[Reading]:
    """Rows of traces, and what was expected; settings of the configuration."""
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _settings(fields(document(artifact.path)))
        return
    seen: dict[str, None] = {}
    for episode in objects(artifact.path):
        if not isinstance(episode, dict):
            yield episode
            continue
        task = fields(episode.get("task"))
        data = fields(task.get("data"))
        name = text(data.get("idx")) or text(data.get("name")) or text(task.get("key"))
        if name is None or not isinstance(episode.get("traces"), list):
            yield Reject("no task or no traces: not an episode of verifiers")
            continue
        seen[name] = None
        yield _row(episode, data, name)
    n_repeats = get(next(documents(artifact.beside), None), "num_rollouts")
    yield from expected(sorted(seen), n_repeats) if isinstance(n_repeats, int) else ()


def _settings(config: dict[str, Any]) -> Iterator[Reading]:
    sampling = {
        **without_empty(fields(config.get("sampling"))),
        **without_empty(fields(get(config, "env", "agent", "sampling"))),
    }
    yield from settings(
        {
            "model": config.get("model"),
            "num_repeats": config.get("num_rollouts"),
            "max_turns": get(config, "env", "agent", "max_turns"),
            **{name: sampling.get(name) for name in ("temperature", "top_p", "max_tokens")},
        }
    )


def _row(episode: dict[str, Any], data: dict[str, Any], task: str) -> Row:
    # An episode that failed before an agent started is an attempt too.
    traces = [trace for trace in items(episode["traces"]) if isinstance(trace, dict)] or [{}]
    trainable = (one for one in traces if get(one, "agent", "trainable") is True)
    trace = next(trainable, traces[0])
    config = fields(get(trace, "agent", "config"))
    model = text(config.get("model"))
    question, output, n_ends = _transcript(trace, data.get("prompt"))
    calls = [one for one in items(trace.get("calls")) if isinstance(one, dict)]
    usage = {
        "input_tokens": trace.get("num_input_tokens"),
        "output_tokens": trace.get("num_output_tokens"),
        "cost": total(number(get(one, "usage", "cost")) for one in calls),
    }
    request = {
        "input": question,
        "model": model,
        "temperature": number(get(config, "sampling", "temperature")),
        "top_p": number(get(config, "sampling", "top_p")),
        "max_output_tokens": get(config, "sampling", "max_tokens"),
        "tools": definitions(trace.get("tools")),
    }
    response = without_empty({"model": model, "usage": without_empty(usage)})
    # If output tokens were counted, missing messages mean that there is no transcript.
    if output or ("nodes" in trace and not trace.get("num_output_tokens")):
        response["output"] = output
    ended = _ended(episode, trace)
    if ended["error_type"] == "ProviderError":
        response["error"] = {"message": ended["error_message"]}
    reward, scores = _scores(trace)
    start, end = (number(get(trace, "timing", "agent", key)) for key in ("start", "end"))
    began = number(get(trace, "timing", "start"))
    value = {
        "_ng_task_index": task,
        "agent_ref": without_empty({"name": text(get(trace, "agent", "name"))}),
        "responses_create_params": without_empty(request),
        "response": {"object": "response", **response} if response else None,
        **scores,
        # What a dataset calls the answer is the key.
        "expected_answer": data.get("answer"),
        "metadata": {name: one for name, one in data.items() if name not in OF_THE_MACHINE},
        **ended,
        "finish_reason": text(get(calls, -1, "finish_reason")),
        "total_run_time": max(0.0, end - start) if start and end else None,
        "n_ends": n_ends if n_ends > 1 else None,
        "other_agents": ", ".join(
            text(get(one, "agent", "name")) or "agent" for one in traces if one is not trace
        ),
    }
    order = None if began is None else f"{began:020.6f}"
    env = text(get(episode, "env", "id"))
    cap = "is_timeout" if ended["is_timeout"] else None
    row = {"reward": reward, **without_empty(value)}
    return Row(row, benchmark=env, order=order, limit_reached=cap)


def _scores(trace: dict[str, Any]) -> tuple[float | None, dict[str, Any]]:
    """The reward, and all scores; a single reward with weight 1 is the reward itself."""
    rewards = fields(trace.get("rewards"))
    parts = {
        name: (number(get(one, "score")), number(get(one, "weight")))
        for name, one in rewards.items()
    }
    reward = total(
        score * (1.0 if weight is None else weight)
        for score, weight in parts.values()
        if score is not None
    )
    scores = {name: score for name, (score, _) in parts.items()}
    own = next(iter(scores)) if len(scores) == 1 and reward in scores.values() else "reward"
    scores |= {name: number(one) for name, one in fields(trace.get("metrics")).items()}
    scores.setdefault(own, reward)
    listed = [{"name": name, "score": score} for name, score in scores.items()]
    return reward, scores_of(listed, own)


def _ended(episode: dict[str, Any], trace: dict[str, Any]) -> dict[str, Any]:
    """How it ended: its stop condition, and the first error of the agent or the episode."""
    errors = [*items(trace.get("errors")), *items(episode.get("errors"))]
    kind, reason = text(get(errors, 0, "type")), text(get(errors, 0, "message"))
    return {
        "stop_condition": text(trace.get("stop_condition")),
        "error_type": kind,
        "error_message": ": ".join(part for part in (kind, reason) if part),
        "is_timeout": True
        if True in (trace.get("is_timeout"), episode.get("is_timeout"))
        else None,
    }


def _transcript(trace: dict[str, Any], prompt: Any) -> tuple[list[Any], list[Any], int]:
    """The question, the output on the path to the last message, and the number of leaves."""
    nodes = items(trace.get("nodes"))
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
