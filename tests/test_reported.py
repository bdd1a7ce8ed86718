"""Figures a run reported of itself, against our own: equal, different, or a named reason."""

from __future__ import annotations

import json
import random
import statistics
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import results
from tests.case_files import cases
from tests.fact_files import Fact, facts
from tests.results import Results, asked, rollout

analyzed = partial(results.analyzed, needs=("reported_checks",))


def aggregate(figures: dict[str, Any], tasks: tuple[dict[str, Any], ...] = ()) -> str:
    """An aggregate metrics file of one agent, as Gym lays it out."""
    entry = {"agent_ref": {"name": "solver"}, "agent_metrics": figures}
    return json.dumps([{**entry, "group_level_metrics": tasks}])


WHOLE: dict[str, Any] = cases("reported", "whole")
# A task's own figures, a repeat's, and rows of the older form that have no task.
REPEATS = {
    "agent_metrics": {
        "mean_across_repeats/mean/reward": 0.5,
        "median_across_repeats/mean/reward": 0.5,
        "se_across_repeats/mean/reward": 0.5 / 3**0.5,
        "se_across_repeats/mean/unknown": 1.0,
    },
    "repeat_level_metrics": [{"_ng_rollout_index": 1, "mean/reward": 1.0, "sample_count": 2}],
}
MORE: dict[str, Any] = {
    "repeats_rollouts.jsonl": [
        rollout(task, index, ask=f"repeats {task}", reward=reward)
        for index, rewards in enumerate(((1.0, 0.0), (1.0, 1.0), (0.0, 0.0)))
        for task, reward in enumerate(rewards)
    ],
    "repeats_rollouts_aggregate_metrics.json": json.dumps([REPEATS]),
    "counted_rollouts.jsonl": [rollout(0, 0, ask="counted")],
    "counted_rollouts_aggregate_metrics.json": aggregate(
        {"mean/reward": 0.5}, ({"_ng_task_index": 0, "num_rollouts": 2, "mean/reward": 0.5},)
    ),
    "tasks_rollouts.jsonl": [rollout(0, 0, ask="tasks")],
    "tasks_rollouts_aggregate_metrics.json": aggregate(
        {"mean/reward": 0.5}, ({"_ng_task_index": 7, "mean/reward": 0.5},)
    ),
    "older_rollouts.jsonl": [
        rollout(2, 0, ask="older 2", reward=0.0),
        rollout(10, 0, ask="older 10"),
    ],
    "older_rollouts_materialized_inputs.jsonl": [
        asked(task, 0, ask=f"older {task}") for task in (1, 2, 10)
    ],
    "older_rollouts_reward_profiling.jsonl": [{"mean/reward": mean} for mean in (0.0, 1.0, 0.25)],
}


def agents() -> dict[str, Any]:
    """Two agents in a file, with their figures in both forms; samples name neither."""
    rows = [
        rollout(task, 0, ask=f"agents {task}", agent=agent, reward=reward)
        for agent, rewards in (("a", (0.0, 1.0)), ("b", (1.0, 1.0)))
        for task, reward in enumerate(rewards)
    ]
    placeholder = {"sample": {"agent_ref": {"name": "agent"}}}
    entries = [
        {
            "agent_ref": {"name": agent},
            "agent_metrics": {"mean/reward": mean},
            "group_level_metrics": [{"_ng_task_index": 0, "mean/reward": first, **placeholder}],
        }
        for agent, mean, first in (("a", 0.5, 0.0), ("b", 1.0, 1.0))
    ]
    # The older form: rows by task, without an index.
    profile = [
        {"mean/reward": reward, "sample": {"agent_ref": {"name": agent}}}
        for agent, reward in (("a", 0.0), ("b", 1.0), ("a", 1.0), ("b", 1.0))
    ]
    return {
        "agents_rollouts.jsonl": rows,
        "agents_rollouts_aggregate_metrics.json": json.dumps(entries),
        "agents_rollouts_reward_profiling.jsonl": profile,
    }


def shards() -> dict[str, Any]:
    """Two shards of a run, each with its own figures, its tasks numbered from 0."""
    files: dict[str, Any] = {}
    for chunk, rewards in enumerate(((0.0, 1.0), (1.0, 1.0))):
        stem = f"shards/rollouts-rs0-chunk{chunk}"
        files[f"{stem}.jsonl"] = [
            rollout(task, 0, ask=f"{chunk} {task}", reward=reward)
            for task, reward in enumerate(rewards)
        ]
        inputs = [asked(task, 0, ask=f"{chunk} {task}") for task in range(2)]
        files[f"{stem}_materialized_inputs.jsonl"] = inputs
        group = {"_ng_task_index": 0, "mean/reward": rewards[0], "expected_num_rollouts": 1}
        figures = {"mean/reward": sum(rewards) / 2, "pass@1/accuracy": 50 * sum(rewards)}
        files[f"{stem}_aggregate_metrics.json"] = aggregate(figures, (group,))
        files[f"{stem}_reward_profiling.jsonl"] = [{"mean/reward": reward} for reward in rewards]
    return files


def rejected() -> dict[str, Any]:
    """Four rows of five, one line broken, and figures of all of them or of none."""
    rows = [
        rollout(task, 0, ask=f"rejected {task}", reward=0.0, size=task + 1) for task in range(4)
    ]
    figures = {
        "mean/reward": 0.2,
        "max/reward": 1.0,
        "min/reward": 0.0,
        "std/reward": 0.9,
        "median/size": 4.0,
        "mean/size": 4.5,
        "max/size": 9.0,
        "pass@1/accuracy": 50.0,
        "num_rollouts": 5,
        "missing_num_rollouts": 0,
        "expected_num_rollouts": 6,
    }
    inputs = [asked(task, 0, ask=f"rejected {task}") for task in range(5)]
    return {
        "rejected_rollouts.jsonl": results.lines(rows) + '{"_ng_task_index": 1, "rew\n',
        "rejected_rollouts_materialized_inputs.jsonl": inputs,
        "rejected_rollouts_aggregate_metrics.json": aggregate(figures),
    }


def broken() -> dict[str, Any]:
    """Runs whose figures are of all lines, some of which were broken afterwards."""
    rng = random.Random(7)
    files: dict[str, Any] = {}
    for number in range(12):
        drawn = [
            (task, index, rng.choice((0.0, 0.5, 1.0)), rng.randint(5, 9))
            for task in range(rng.randint(2, 5))
            for index in range(rng.randint(1, 3))
        ]
        written = [
            json.dumps(rollout(task, index, ask=f"broken {task}", reward=reward, size=size))
            for task, index, reward, size in drawn
        ]
        for place in rng.sample(range(len(written)), rng.randint(1, len(written) - 1)):
            written[place] = written[place][:-2]
        figures: dict[str, float] = {"num_rollouts": len(written)}
        for name, values in (("reward", [d[2] for d in drawn]), ("size", [d[3] for d in drawn])):
            for statistic in ("mean", "median", "max", "min", "stdev"):
                function = (
                    getattr(statistics, statistic, None) or {"max": max, "min": min}[statistic]
                )
                figures[f"{statistic.removesuffix('ev')}/{name}"] = function(values)
        files[f"broken{number}_rollouts.jsonl"] = "\n".join(written)
        files[f"broken{number}_rollouts_aggregate_metrics.json"] = aggregate(figures)
    return files


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """All of these runs, analyzed once."""
    files = {**MORE, **agents(), **shards(), **rejected(), **broken()}
    for name, case in WHOLE.items():
        stem = f"{name.replace(' ', '-')}_rollouts"
        files[f"{stem}.jsonl"] = [
            rollout(task, index, reward=reward, ask=name, **(fields[0] if fields else {}))
            for task, index, reward, *fields in case["rows"]
        ]
        reported = {metric: value for metric, (value, *_) in case["figures"].items()}
        files[f"{stem}_aggregate_metrics.json"] = aggregate(reported)
    return analyzed(tmp_path_factory.mktemp("together"), files)


@pytest.mark.parametrize("name", WHOLE)
def test_figures_of_a_run(together: Results, name: str) -> None:
    """Each is equal, differs, or has a named reason why it cannot be compared."""
    rows = together.rows(f"""
        select metric, reported, ours, status, reason from reported_checks
        where run_id = '{name.replace(" ", "-")}'
    """)
    found = {metric: rest for metric, *rest in rows}
    assert found.keys() == WHOLE[name]["figures"].keys()
    for metric, expected in WHOLE[name]["figures"].items():
        assert found[metric][2:] == expected[2:], metric
        assert found[metric][:2] == pytest.approx(expected[:2]), metric


@facts("reported")
def test_other_figures(together: Results, fact: Fact) -> None:
    """As tests/facts/reported.test says."""
    fact.check(together)


@facts("reported_demo")
def test_demo(demo: Path, fact: Fact) -> None:
    """As tests/facts/reported_demo.test says."""
    fact.check(Results(demo.parent))


def test_figures_of_all_lines_never_differ(together: Results) -> None:
    """Whichever lines are broken afterwards, figures made of all of them stay explained."""
    where = "from reported_checks where run_id like 'broken%' and"
    assert together.rows(f"{where} status = 'differs'") == []
    assert together.one(f"select count(*) {where} reason like '%rejected'") > 30
