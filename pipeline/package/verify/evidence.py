"""What the data have of the rollouts, events and tasks that a report cites."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.citation import Citation
from pipeline.package.verify.data import Data

LARGEST = 2**63 - 1
MOST_NAMES = 3
MOST_KNOWN = 10_000

Key = tuple[str, str, int]


@dataclass(frozen=True)
class Cited:
    """A rollout that is cited: how it went, and by what names it is known."""

    # None where it is not scored.
    is_pass: bool | None
    is_recorded: bool
    n_events: int
    amounts: Mapping[str, float]
    modes: frozenset[str]
    tools: frozenset[str]
    checks: frozenset[str]


@dataclass(frozen=True)
class Event:
    """An event that is cited: what it is, and the tool that it calls or that answers in it."""

    kind: str
    tool: str | None
    # The id by which a result answers its call.
    call: str | None


@dataclass(frozen=True)
class Evidence:
    """All that is cited and there, and the names of everything that could be."""

    rollouts: Mapping[Key, Cited]
    events: Mapping[tuple[str, str, int, int], Event]
    runs: tuple[str, ...]
    # The rollouts there are of each task that is cited, by run and task.
    indexes: Mapping[tuple[str, str], tuple[int, ...]]
    tasks: Mapping[str, tuple[str, ...]]
    models: Mapping[str, str]
    benchmarks: Mapping[str, str]
    modes: frozenset[str]
    tools: frozenset[str]
    checks: frozenset[str]
    task_ids: frozenset[str] = field(default_factory=frozenset)

    def nearest(self, cited: Citation) -> str:
        """What there is instead of a citation that cites nothing."""
        if cited.run_id not in self.tasks:
            return f"runs: {_close(cited.run_id, self.runs)}"
        if cited.task_id not in self.tasks[cited.run_id]:
            return f"tasks of this run: {_close(cited.task_id, self.tasks[cited.run_id])}"
        there = self.indexes.get((cited.run_id, cited.task_id), ())
        if cited.rollout_index not in there:
            told = ", ".join(map(str, there)) or "none"
            return f"rollouts of this task: {told}"
        n_events = self.rollouts[key(cited)].n_events
        return f"events of this rollout: 1 to {n_events}" if n_events else "it has no events"

    def nearest_task(self, task: str) -> str:
        """Tasks that there are, those most like this name first."""
        return _close(task, sorted(self.task_ids))


def key(cited: Citation) -> Key:
    """The rollout of a citation."""
    return cited.run_id, cited.task_id, cited.rollout_index


def evidence(data: Data, citations: Iterable[Citation]) -> Evidence:
    """Everything that checks of citations ask for, read once."""
    cited = [each for each in dict.fromkeys(citations) if _fits(each)]
    keys = list(dict.fromkeys(map(key, cited)))
    tasks: dict[str, list[str]] = {}
    for run, task in _pairs(data, "select run_id, task_id from main.task_outcomes order by all"):
        tasks.setdefault(run, []).append(task)
    runs = data.table("runs")
    modes = _names(data, keys, "rollout_modes", "mode")
    return Evidence(
        rollouts=_rollouts(data, keys, modes),
        events=_events(data, cited),
        runs=tuple(sorted(row["run_id"] for row in runs)),
        indexes=_indexes(data, cited),
        tasks={run: tuple(found) for run, found in tasks.items()},
        models={row["run_id"]: row["model"] for row in runs if row["model"]},
        benchmarks={row["run_id"]: row["benchmark"] for row in runs if row["benchmark"]},
        modes=_all(data, "failure_modes", "mode"),
        tools=_all(data, "events", "tool"),
        checks=_all(data, "report.health_checks", "check_id"),
        task_ids=frozenset(task for found in tasks.values() for task in found),
    )


def joined(keys: list[Key], relation: str, columns: str) -> tuple[str, list[Any]]:
    """A query for the rows of these rollouts, and what is bound to it."""
    query = (
        "with asked as (select unnest(?::varchar[]) as run_id, unnest(?::varchar[]) as task_id, "
        "unnest(?::bigint[]) as rollout_index) "
        f"select asked.run_id, asked.task_id, asked.rollout_index, {columns} from asked "
        f"inner join main.{relation} as found using (run_id, task_id, rollout_index)"
    )
    return query, [list(column) for column in zip(*keys, strict=True)] if keys else [[], [], []]


AMOUNTS = ("n_events", "n_turns", "n_tool_calls", "n_tool_errors", "output_tokens", "input_tokens")
AMOUNTS_MORE = ("reward", "duration_s")


def _rollouts(
    data: Data, keys: list[Key], modes: Mapping[Key, list[tuple[str, bool]]]
) -> dict[Key, Cited]:
    tools = _names(data, keys, "events", "tool")
    checks = _names(data, keys, "health_findings", "check_id")
    wanted = [name for name in (*AMOUNTS, *AMOUNTS_MORE) if name in data.columns["rollouts"]]
    columns = ", ".join(f"found.{name}" for name in ("is_scored", "is_pass", *wanted))
    found: dict[Key, Cited] = {}
    # An attempt that left no row is cited too, by the place it would have had.
    for row in data.rows(*joined(keys, "rollout_features", "found.is_scored")):
        found[_key_of(row)] = _cited(_key_of(row), {}, modes, tools, checks)
    for row in data.rows(*joined(keys, "rollouts", columns)):
        found[_key_of(row)] = _cited(_key_of(row), row, modes, tools, checks)
    return found


Names = Mapping[Key, list[tuple[str, bool]]]


def _cited(where: Key, row: Mapping[str, Any], modes: Names, tools: Names, checks: Names) -> Cited:
    amounts = {
        name: float(row[name])
        for name in (*AMOUNTS, *AMOUNTS_MORE)
        if isinstance(row.get(name), (int, float))
    }
    return Cited(
        is_pass=bool(row["is_pass"]) if row.get("is_scored") else None,
        is_recorded=bool(row),
        n_events=int(amounts.get("n_events", 0)),
        amounts=amounts,
        modes=frozenset(name for name, _ in modes.get(where, [])),
        tools=frozenset(name for name, _ in tools.get(where, [])),
        checks=frozenset(name for name, _ in checks.get(where, [])),
    )


def _names(data: Data, keys: list[Key], relation: str, column: str) -> Names:
    if column not in data.columns.get(relation, {}):
        return {}
    first = "found.is_primary" if "is_primary" in data.columns[relation] else "false"
    query, bound = joined(keys, relation, f"found.{column} as name, {first} as is_first")
    found: dict[Key, list[tuple[str, bool]]] = {}
    for row in data.rows(query.replace("select asked.", "select distinct asked.", 1), bound):
        if row["name"] is not None:
            found.setdefault(_key_of(row), []).append((row["name"], bool(row["is_first"])))
    return found


def _events(data: Data, cited: list[Citation]) -> dict[tuple[str, str, int, int], Event]:
    keys = [(*key(each), each.seq) for each in cited if each.seq is not None]
    if not keys:
        return {}
    rows = data.source.execute(
        "with asked as (select unnest(?::varchar[]) as run_id, unnest(?::varchar[]) as task_id, "
        "unnest(?::bigint[]) as rollout_index, unnest(?::bigint[]) as seq) "
        "select asked.run_id, asked.task_id, asked.rollout_index, asked.seq, found.kind, "
        # An id that was given to calls of several tools says nothing.
        "coalesce(found.tool, case when count(distinct calls.tool) = 1 "
        "then any_value(calls.tool) end), found.call_id from asked "
        "inner join main.events as found using (run_id, task_id, rollout_index, seq) "
        "left join main.events as calls on calls.run_id = asked.run_id "
        "and calls.task_id = asked.task_id and calls.rollout_index = asked.rollout_index "
        "and calls.call_id = found.call_id and calls.tool is not null "
        "group by asked.run_id, asked.task_id, asked.rollout_index, asked.seq, found.kind, "
        "found.tool, found.call_id",
        [list(column) for column in zip(*keys, strict=True)],
    ).fetchall()
    return {(run, task, index, seq): Event(*told) for run, task, index, seq, *told in rows}


def _indexes(data: Data, cited: list[Citation]) -> dict[tuple[str, str], tuple[int, ...]]:
    keys = list(dict.fromkeys((each.run_id, each.task_id) for each in cited))
    if not keys:
        return {}
    rows = data.source.execute(
        "with asked as (select unnest(?::varchar[]) as run_id, unnest(?::varchar[]) as task_id) "
        "select run_id, task_id, list(rollout_index order by rollout_index) from asked "
        "inner join main.rollouts using (run_id, task_id) group by all",
        [list(column) for column in zip(*keys, strict=True)],
    ).fetchall()
    return {(run, task): tuple(found) for run, task, found in rows}


def _all(data: Data, relation: str, column: str) -> frozenset[str]:
    if column not in data.columns.get(relation, {}):
        return frozenset()
    name = relation if "." in relation else f"main.{relation}"
    rows = data.source.execute(f"select distinct {column} from {name}").fetchall()
    return frozenset(value for (value,) in rows if value)


def _pairs(data: Data, query: str) -> list[tuple[str, str]]:
    return [(first, second) for first, second in data.source.execute(query).fetchall()]


def _fits(cited: Citation) -> bool:
    return cited.rollout_index <= LARGEST and (cited.seq or 0) <= LARGEST


def _key_of(row: Mapping[str, Any]) -> Key:
    return row["run_id"], row["task_id"], row["rollout_index"]


def _close(name: str, known: Iterable[str]) -> str:
    """The most alike of the names there are: by number where both are numbers."""
    every = list(known)[:MOST_KNOWN]
    if name.isdecimal() and len(name) < 10 and all(each.isdecimal() for each in every):
        order = sorted(every, key=lambda each: (abs(int(each) - int(name)), int(each)))
        return ", ".join(order[:MOST_NAMES])
    return ", ".join(difflib.get_close_matches(name, every, MOST_NAMES, 0.0)) or "none"
