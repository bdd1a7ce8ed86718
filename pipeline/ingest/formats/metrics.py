"""Reported figures: aggregate metrics, agent metrics, reward profiles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from . import (
    LARGEST_FIGURE,
    Figure,
    Object,
    fields,
    get,
    gym,
    items,
)

NOT_FIGURES = frozenset({"agent_ref", "sample", "rollout_infos", "group_level_metrics"})
SAMPLE_FIELDS = ("_ng_task_index", "agent_ref")


def parse(text: str) -> Any:
    """Parse a metrics document without its copies of input rows, which would take most memory."""
    return json.loads(text, object_hook=_slim)


def reason(error: Exception) -> str:
    """Why a document has no figures."""
    message = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return f"not JSON: {message}"


def _slim(entry: Object) -> Object:
    sample = entry.get("sample")
    if isinstance(sample, dict):
        entry["sample"] = {name: sample[name] for name in SAMPLE_FIELDS if name in sample}
    return entry


def aggregate_figures(document: Any) -> Iterator[Figure]:
    """`*_aggregate_metrics.json` and `*_agent_metrics.json`: a list of agents, or one."""
    for entry in document if isinstance(document, list) else [document]:
        if not isinstance(entry, dict):
            continue
        agent = _agent(entry)
        figures = dict(_flat(entry))
        for metric, value in figures.items():
            # The newer form groups its figures; key metrics repeat some of them.
            short = metric.removeprefix("agent_metrics/")
            if short.startswith("key_metrics/"):
                short = short.removeprefix("key_metrics/")
                if f"agent_metrics/{short}" in figures:
                    continue
            yield Figure(agent, None, None, short, value)
        for repeat in items(entry.get("repeat_level_metrics")):
            index = get(repeat, "_ng_rollout_index")
            for metric, value in _flat(repeat) if type(index) is int else ():
                if not metric.startswith("_ng_"):
                    yield Figure(agent, None, None, f"repeat[{index}]/{metric}", value)
        for position, group in enumerate(items(entry.get("group_level_metrics"))):
            if isinstance(group, dict):
                yield from profile_figures(group, position, agent=agent)


def profile_figures(row: Any, position: int, *, agent: str | None = None) -> Iterator[Figure]:
    """The figures of one task; the older form has no index, and its rows are in order."""
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    sample = fields(row.get("sample"))
    index = row.get("_ng_task_index", sample.get("_ng_task_index"))
    task = None if index is None else gym.encodable(str(index))
    # The agent of the sample is a placeholder in aggregate files, so it comes last.
    agent = _agent(row) or agent or _agent(sample)
    for metric, value in _flat(row):
        if not metric.startswith("_ng_"):
            yield Figure(agent, task, position, metric, value)


def _flat(figures: Object, prefix: str = "") -> Iterator[tuple[str, float | None]]:
    """Numbers by name, nested names joined with `/`; None for values that are no number."""
    for name, value in figures.items():
        if name in NOT_FIGURES or isinstance(value, (bool, str, list)):
            continue
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}/")
        else:
            # Larger numbers are not measurements, and sums would overflow.
            is_figure = value is not None and abs(value) <= LARGEST_FIGURE
            yield gym.encodable(prefix + name), float(value) if is_figure else None


def _agent(entry: Object) -> str | None:
    name = get(entry, "agent_ref", "name")
    return gym.encodable(name) if isinstance(name, str) else None
