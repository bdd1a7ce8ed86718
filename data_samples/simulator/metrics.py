"""Computes the aggregate metrics a Gym run reports about its own rows."""

from __future__ import annotations

import math
import statistics
from collections import Counter

from simulator.episode import Item

STATS = ("mean", "max", "min", "median", "std")


def aggregate_metrics(rows: list[Item], n_expected: dict[int, int]) -> list[Item]:
    """The content of S_aggregate_metrics.json: one entry, as all rows have one agent."""
    agent = {"name": rows[0]["agent_ref"]["name"]}
    described = describe(rows)
    described |= pass_metrics(by_task(rows))
    groups = [
        describe(group)
        | {"sample": {"agent_ref": {"name": "agent"}}, "_ng_task_index": task}
        | _coverage(len(group), n_expected[task])
        for task, group in by_task(rows).items()
    ]
    largest_k = max(map(len, by_task(rows).values()))
    headline = [f"pass@1[avg-of-{largest_k}]/accuracy", f"pass@{largest_k}/accuracy"]
    key_metrics = {key: value for key, value in described.items() if key.startswith("mean/")}
    key_metrics |= {key: described[key] for key in headline}
    return [
        {
            "agent_ref": agent,
            "agent_metrics": described,
            "key_metrics": key_metrics,
            "group_level_metrics": groups,
        }
    ]


def by_task(rows: list[Item]) -> dict[int, list[Item]]:
    """The rows of each task by repeat; tasks ascend."""
    groups: dict[int, list[Item]] = {}
    for row in sorted(rows, key=lambda row: (row["_ng_task_index"], row["_ng_rollout_index"])):
        groups.setdefault(row["_ng_task_index"], []).append(row)
    return groups


def describe(rows: list[Item]) -> Item:
    """Mean, max, min, median and sample std of every numeric field and of the usage."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        for key, value in (row | row["response"]["usage"]).items():
            if isinstance(value, bool | int | float) and not key.startswith("_ng_"):
                columns.setdefault(key, []).extend([] if math.isnan(value) else [float(value)])
    columns = {key: values for key, values in columns.items() if values}
    return {
        f"{stat}/{key}": _stat(stat, values) for stat in STATS for key, values in columns.items()
    }


def _stat(stat: str, values: list[float]) -> float:
    if stat == "mean":
        return math.fsum(values) / len(values)
    if stat == "std":
        return statistics.stdev(values) if len(values) > 1 else 0.0
    if stat == "median":
        return statistics.median(values)
    return max(values) if stat == "max" else min(values)


def pass_metrics(groups: dict[int, list[Item]]) -> dict[str, float]:
    """pass@k, pass@1[avg-of-k] and, where answers are extracted, majority@k: in percent."""
    scored = [[r for r in group if not math.isnan(r["reward"])] for group in groups.values()]
    scored = [group for group in scored if group]
    metrics: dict[str, float] = {}
    for k in range(1, max(map(len, scored)) + 1):
        metrics[f"pass@{k}/accuracy"] = _percent([_pass_at(g, k) for g in scored if len(g) >= k])
        metrics[f"pass@1[avg-of-{k}]/accuracy"] = _percent(
            [math.fsum(r["reward"] for r in g[:k]) / len(g[:k]) for g in scored]
        )
        if "extracted_answer" in scored[0][0]:
            metrics[f"majority@{k}/accuracy"] = _percent([_majority(g[:k]) for g in scored])
    return metrics


def _percent(shares: list[float]) -> float:
    return 100.0 * math.fsum(shares) / len(shares)


def _pass_at(group: list[Item], k: int) -> float:
    """The chance that k attempts drawn from these hold a pass."""
    n_failed = sum(row["reward"] < 1.0 for row in group)
    return 1.0 - math.comb(n_failed, k) / math.comb(len(group), k)


def _majority(group: list[Item]) -> float:
    votes = [
        (r["extracted_answer"], r["reward"]) for r in group if r["extracted_answer"] is not None
    ]
    if not votes:
        return 0.0
    counted = Counter(votes)
    most = max(counted.values())
    tied = [reward for (_, reward), count in counted.items() if count == most]
    return math.fsum(tied) / len(tied)


def _coverage(n_rollouts: int, n_expected: int) -> Item:
    return {
        "num_rollouts": n_rollouts,
        "expected_num_rollouts": n_expected,
        "missing_num_rollouts": n_expected - n_rollouts,
        "reward_profile_completion_pct": 100.0 * n_rollouts / n_expected,
    }


def reward_profile(rows: list[Item], inputs: list[Item]) -> list[Item]:
    """The rows of S_reward_profiling.jsonl, in the older form: by task, but without its index."""
    samples: dict[int, Item] = {}
    for row in inputs:
        sample = {key: value for key, value in row.items() if not key.startswith("_ng_")}
        samples.setdefault(row["_ng_task_index"], sample)
    return [describe(group) | {"sample": samples[task]} for task, group in by_task(rows).items()]


def agent_profile(rows: list[Item]) -> list[Item]:
    """The content of S_agent_metrics.json."""
    return [describe(rows) | {"agent_ref": {"name": rows[0]["agent_ref"]["name"]}}]
