"""A rollout of verifiers up to 0.3 as a row: its reward, its metrics, its transcript, its end."""

from __future__ import annotations

import re
from typing import Any

from pipeline.ingest.formats import fields, get, items, number, parsed, scores_of, text, told
from pipeline.ingest.formats.chat import chat

# Metrics that count what happened: they say nothing of how right it was.
COUNTERS = re.compile(r"^num_|^total_|(^|_)(calls|count|turns|tokens|size|ms|seconds)$")
# What older rows have at their top besides metrics.
NOT_METRICS = frozenset(
    "id example_id prompt completion task answer info reward state generation_ms scoring_ms "
    "total_ms is_truncated is_completed error".split()
)


def row_of(row: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """A line of results as a row of ours, without the task's id."""
    metrics = fields(row.get("metrics"))
    if "metrics" not in row:
        names = row.keys() - NOT_METRICS
        metrics = {name: row[name] for name in sorted(names) if number(row[name]) is not None}
    reward = number(row.get("reward"))
    own = _own(metadata)
    scores = [
        {"name": name, "score": number(value)}
        for name, value in {**({} if own in metrics else {"reward": reward}), **metrics}.items()
        if not COUNTERS.search(name)
    ]
    model = text(metadata.get("model"))
    sampling = fields(metadata.get("sampling_args"))
    completion = _spoken(row)
    usage = {
        name: int(count)
        for name, value in fields(row.get("token_usage")).items()
        if (count := number(value)) is not None
    }
    response = told({"model": model, "usage": usage})
    if isinstance(completion, (str, list)):
        response["output"] = list(chat(completion))
    ended = _ended(row)
    if (ended["error_type"] or "").startswith("Model"):
        response["error"] = {"message": ended["error_message"]}
    request = {
        "input": list(chat(row.get("prompt"), "user")),
        "model": model,
        "temperature": number(sampling.get("temperature")),
        "max_output_tokens": sampling.get("max_tokens"),
    }
    said = {
        "responses_create_params": told(request),
        "response": {"object": "response", **response} if response else None,
        **scores_of(scores, own if own in metrics else "reward"),
        **{name: number(metrics[name]) for name in metrics if COUNTERS.search(name)},
        "answer": row.get("answer"),
        "metadata": _info(row.get("info")),
        **ended,
    }
    return {"reward": reward, **told(said)}


def _spoken(row: dict[str, Any]) -> Any:
    """The completion, without the prompt where it begins with that."""
    said, asked = row.get("completion"), items(row.get("prompt"))
    begun = [[get(one, key) for key in ("role", "content")] for one in items(said)[: len(asked)]]
    is_repeated = begun and begun == [[get(one, "role"), get(one, "content")] for one in asked]
    return said[len(asked) :] if is_repeated and isinstance(said, list) else said


def _own(metadata: dict[str, Any]) -> str | None:
    """The metric that the reward is: by its average, since no weights are recorded."""
    means, reward = averages(metadata), number(metadata.get("avg_reward"))
    same = (name for name, value in means.items() if number(value) == reward is not None)
    return next(same, None)


def averages(metadata: dict[str, Any]) -> dict[str, Any]:
    """Averages of metrics by name; older metadata has them at its top."""
    if isinstance(given := metadata.get("avg_metrics"), dict):
        return given
    names = [name for name in metadata if name.startswith("avg_") and name != "avg_error"]
    return {name.removeprefix("avg_"): metadata[name] for name in names if name != "avg_reward"}


def _info(info: Any) -> Any:
    try:
        return parsed(info) if isinstance(info, str) and info.startswith("{") else info
    except ValueError:
        return None


def _ended(row: dict[str, Any]) -> dict[str, Any]:
    """How it ended, and how long it took."""
    error, timing = row.get("error"), fields(row.get("timing"))
    seconds = number(timing.get("total"))
    if seconds is None and (milliseconds := number({**row, **timing}.get("total_ms"))) is not None:
        seconds = milliseconds / 1000
    kind = text(get(error, "error")) or text(error)
    return {
        "finish_reason": "length" if row.get("is_truncated") is True else None,
        "stop_condition": text(row.get("stop_condition")),
        "has_error": bool(error),
        "error_type": kind.partition("(")[0] if kind else None,
        "error_message": text(get(error, "error_chain_repr")) or kind,
        "total_run_time": seconds,
    }
