"""A test a comparison from the repeats of its tasks: graded, grouped, or not settled."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from pipeline.analysis.permutation import change_tests

TASK = ("base", "candidate", "task_group")


def by_metric(*tasks: dict[str, Any]) -> dict[tuple[str, str, str], tuple[float | None, float]]:
    """By comparison and metric: p by the signs of tasks, and by rollouts within them."""
    counted = {f"n_{side}{what}": pa.int64() for side in TASK[:2] for what in ("", "_passed")}
    rewards = {f"{side}_rewards": pa.list_(pa.float64()) for side in TASK[:2]}
    schema = pa.schema({**dict.fromkeys(TASK, pa.string()), **counted, **rewards})
    found = change_tests(pa.Table.from_pylist(list(tasks), schema=schema)).to_pylist()
    return {
        (row["base"], row["candidate"], row["metric"]): (
            row["p_signs"],
            row["p_any"],
        )
        for row in found
    }


def task(
    base: list[float],
    candidate: list[float],
    *,
    runs: str = "ab",
    group: str | None = None,
    is_settled: bool = True,
) -> dict[str, Any]:
    """A task that passes with a reward of 1, of its own group unless one is named."""
    sides = {"base": sorted(base), "candidate": sorted(candidate)}
    row: dict[str, Any] = {"base": runs[0], "candidate": runs[1]}
    for side, rewards in sides.items():
        row[f"n_{side}"] = len(rewards)
        row[f"n_{side}_passed"] = sum(r >= 1 for r in rewards) if is_settled else None
        row[f"{side}_rewards"] = rewards
    return {**row, "task_group": group or f"{base}{candidate}{len(row)}"}


def test_comparisons_are_kept_apart() -> None:
    """Two comparisons after each other: 2 of 2 against none is 2 of 6 ways, once each."""
    found = by_metric(
        task([1, 1], [0, 0], runs="ab", group="x"),
        task([0, 0, 1], [1], runs="ac", group="y"),
    )
    assert [key[:2] for key in found] == [("a", "b")] * 2 + [("a", "c")] * 2
    assert found["a", "b", "pass_at_1"] == (1, pytest.approx(2 / 6))
    # Two of four rollouts pass: the candidate's only one or another, which is as far off.
    assert found["a", "c", "pass_at_1"] == (None, pytest.approx(1))


def test_metrics_differ_where_rewards_are_graded() -> None:
    """One pass of four rollouts may be anyone's; the two best rewards are a side's 2 times in 6."""
    found = by_metric(task([0.5, 1], [0, 0.25], group="x"))
    assert found["a", "b", "pass_at_1"][1] == pytest.approx(1)
    assert found["a", "b", "mean_reward"][1] == pytest.approx(2 / 6)


def test_unsettled_passes_are_not_by_metric() -> None:
    """Where nothing says what passes, rewards alone are."""
    found = by_metric(task([-3, 7], [2, 2], group="x", is_settled=False))
    assert list(found) == [("a", "b", "mean_reward")]


def test_groups_flip_together() -> None:
    """Twelve tasks that fell, two a group, have six signs; eight of their own have eight."""
    apart = by_metric(*(task([1], [0], group=str(number)) for number in range(8)))
    assert apart["a", "b", "pass_at_1"][0] == pytest.approx(2 / 2**8)
    twelve = by_metric(*(task([1], [0], group=str(number % 6)) for number in range(12)))
    assert twelve["a", "b", "pass_at_1"] == (pytest.approx(2 / 2**6), pytest.approx(2 / 2**12))


def test_nothing_shared_is_nothing() -> None:
    """No tasks, no tests."""
    assert by_metric() == {}
