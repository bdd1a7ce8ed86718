"""Figures a run reported of itself: aggregate metrics, agent metrics, reward profiles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.ingest.formats import gym

# Fields of an entry that hold no figures; `sample` is a whole input row.
NOT_FIGURES = frozenset({"agent_ref", "sample", "rollout_infos", "group_level_metrics"})
SAMPLE_FIELDS = ("_ng_task_index", "agent_ref")
LARGEST_FIGURE = 1e50
# Why a count that a harness published is another than ours.
OTHER_ROWS = "the rows here are not those that it counts"


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


def parse(text: str) -> Any:
    """A metrics document without the input rows it repeats: they would be most of its memory."""
    return json.loads(text, object_hook=_slim)


def reason(error: Exception) -> str:
    """Why there are no figures in what was given."""
    told = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return f"not JSON: {told}"


def _slim(entry: dict[str, Any]) -> dict[str, Any]:
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
        repeats = entry.get("repeat_level_metrics")
        for repeat in repeats if isinstance(repeats, list) else []:
            index = repeat.get("_ng_rollout_index") if isinstance(repeat, dict) else None
            for metric, value in _flat(repeat) if type(index) is int else ():
                if not metric.startswith("_ng_"):
                    yield Figure(agent, None, None, f"repeat[{index}]/{metric}", value)
        groups = entry.get("group_level_metrics")
        for position, group in enumerate(groups if isinstance(groups, list) else []):
            if isinstance(group, dict):
                yield from profile_figures(group, position, agent=agent)


def profile_figures(row: Any, position: int, *, agent: str | None = None) -> Iterator[Figure]:
    """One task's figures; the older form has no index, its rows ascend by it."""
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    sample = row.get("sample")
    sample = sample if isinstance(sample, dict) else {}
    index = row.get("_ng_task_index", sample.get("_ng_task_index"))
    task = None if index is None else gym.whole(str(index))
    # The entry's own agent before the sample's, which aggregate files fill with a placeholder.
    agent = _agent(row) or agent or _agent(sample)
    for metric, value in _flat(row):
        if not metric.startswith("_ng_"):
            yield Figure(agent, task, position, metric, value)


def _flat(figures: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, float | None]]:
    """Numbers by name, nested ones joined with `/`; null where one was given but is none."""
    for name, value in figures.items():
        if name in NOT_FIGURES or isinstance(value, (bool, str, list)):
            continue
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}/")
        else:
            # As rows are read: beyond that no number was measured, and sums would overflow.
            is_figure = value is not None and abs(value) <= LARGEST_FIGURE
            yield gym.whole(prefix + name), float(value) if is_figure else None


def _agent(entry: dict[str, Any]) -> str | None:
    reference = entry.get("agent_ref")
    name = reference.get("name") if isinstance(reference, dict) else None
    return gym.whole(name) if isinstance(name, str) else None
