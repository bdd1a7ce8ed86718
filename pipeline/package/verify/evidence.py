"""What the data have of the runs, tasks and rollouts that a report names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.citation import Citation
from pipeline.package.sources import Opened
from pipeline.package.verify.units import FORMS

LARGEST = 2**31 - 1
MOST_NAMES, MOST_KNOWN = 3, 10_000
QUERIES: dict[str, str] = FORMS["queries"]

Key = tuple[str, str, int]


@dataclass(frozen=True)
class Rollout:
    """A rollout that is cited: how it went, none where it is not scored, and its modes."""

    is_pass: bool | None
    n_events: int
    modes: frozenset[str]


@dataclass(frozen=True)
class Evidence:
    """Everything that is cited and there, and the names of all that could be."""

    source: Opened
    rollouts: Mapping[Key, Rollout]
    # By run: its model, and its tasks with their buckets.
    models: Mapping[str, str | None]
    buckets: Mapping[str, Mapping[str, str]]
    # Curated causes by run and task.
    labels: Mapping[tuple[str, str], str]
    modes: frozenset[str]
    task_ids: frozenset[str]

    def exists(self, each: Citation) -> bool:
        """Whether a rollout, and the event of it that is meant, is there."""
        found = self.rollouts.get(each.rollout)
        return found is not None and (each.seq is None or 1 <= each.seq <= found.n_events)

    def nearest(self, each: Citation) -> str:
        """What there is instead of a citation that cites nothing."""
        if each.run_id not in self.models:
            return f"runs: {close(each.run_id, self.models)}"
        if each.task_id not in self.buckets.get(each.run_id, {}):
            return f"tasks of this run: {close(each.task_id, self.buckets.get(each.run_id, {}))}"
        if each.rollout in self.rollouts:
            n_events = self.rollouts[each.rollout].n_events
            return f"events of this rollout: 1 to {n_events}" if n_events else "it has no events"
        rows = self.source.execute(QUERIES["indexes"], [each.run_id, each.task_id])
        there = ", ".join(str(index) for (index,) in rows.fetchall())
        return f"rollouts of this task: {there or 'none'}"

    def runs_named(self, texts: Iterable[str]) -> list[str]:
        """The runs that the first of these texts to name any names, by id or model; else all."""
        for text in texts:
            named = [run for run in self.models if run in text]
            named = named or [run for run, model in self.models.items() if model and model in text]
            if named:
                return named
        return [*self.models]


def evidence(source: Opened, cited: Iterable[Citation]) -> Evidence:
    """All that the checks of citations ask for, read once."""
    keys = list(dict.fromkeys(each.rollout for each in cited if each.rollout_index <= LARGEST))
    rollouts = {
        (run, task, index): Rollout(is_pass, n_events, frozenset(modes))
        for run, task, index, is_pass, n_events, modes in asked(source, "rollouts", keys)
    }
    models, outcomes, labels, modes = (
        source.execute(QUERIES[name]).fetchall()
        for name in ("models", "buckets", "labels", "modes")
    )
    buckets: dict[str, dict[str, str]] = {}
    for run, task, bucket in outcomes:
        buckets.setdefault(run, {})[task] = bucket
    return Evidence(
        source,
        rollouts,
        dict(models),
        buckets,
        {(run, task): cause for run, task, cause in labels},
        frozenset(mode for (mode,) in modes),
        frozenset(task for tasks in buckets.values() for task in tasks),
    )


def asked(source: Opened, name: str, keys: Sequence[Key]) -> list[Any]:
    """What a query by its name says of these rollouts."""
    if not keys:
        return []
    bound = [list(column) for column in zip(*keys, strict=True)]
    query = f"with asked as ({QUERIES['asked']}) {QUERIES[name]}"
    rows: list[Any] = source.execute(query, bound).fetchall()
    return rows


def close(name: str, known: Iterable[str]) -> str:
    """The most alike of the names there are: by number where both are numbers."""
    every = list(known)[:MOST_KNOWN]
    if name.isdecimal() and len(name) < 10 and all(each.isdecimal() for each in every):
        order = sorted(every, key=lambda each: (abs(int(each) - int(name)), int(each)))
        return ", ".join(order[:MOST_NAMES])
    return ", ".join(difflib.get_close_matches(name, every, MOST_NAMES, 0.0)) or "none"
