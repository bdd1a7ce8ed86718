"""Metrics of real results, with the figures that are published of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline import open_warehouse
from pipeline.warehouse import Warehouse
from tests.conftest import needs_corpus

pytestmark = needs_corpus


@pytest.fixture(scope="module")
def real(corpus: Path) -> Iterator[Warehouse]:
    """The corpus, opened."""
    with open_warehouse(corpus) as warehouse:
        yield warehouse


def figures(real: Warehouse, run_id: str) -> dict[str, Any]:
    """The row of run_metrics."""
    (row,) = real.sql(f"from run_metrics where run_id = '{run_id}'").to_dicts()
    return row


def curve(real: Warehouse, run_id: str, column: str) -> list[float]:
    query = f"select {column} from pass_curve where run_id = ? order by k"
    return [value for (value,) in real.execute(query, [run_id]).fetchall()]


def test_tau_airline(real: Warehouse) -> None:
    """The airline tasks give the published table, by k from 1 to 4."""
    at = [round(value, 6) for value in curve(real, "gpt-4o", "pass_at")]
    hat = [round(value, 6) for value in curve(real, "gpt-4o", "pass_hat")]
    assert at == [0.42, 0.566667, 0.66, 0.72] and hat == [0.42, 0.273333, 0.22, 0.20]
    row = figures(real, "gpt-4o")
    buckets = [row[f"n_{name}_tasks"] for name in ("always", "sometimes", "never", "missing")]
    assert buckets == [10, 26, 14, 0]
    assert (row["k"], row["k_min"], row["k_max"]) == (4, 4, 4)
    assert row["pass_at_k"] == 0.72 and row["retry_value"] == pytest.approx(0.30)
    # 10 of 50 tasks passed every time, and all 200 rollouts that were asked for are there.
    assert row["consistency"] == 0.2 and row["coverage"] == 1


def test_aalcr_is_ragged(real: Warehouse) -> None:
    """3 of 3 and 0 of 2: tasks count alike, pass@3 is of one task, and no repeat is missing."""
    row = figures(real, "aalcr")
    assert (row["pass_at_1"], row["rollout_pass_rate"]) == (0.5, 0.6)
    assert (row["k_min"], row["k_max"], row["n_missing"], row["n_expected"]) == (2, 3, None, None)
    assert row["k"] == 3  # each number of repeats has one task: the larger
    points = real.execute(
        "select k, n_tasks, pass_at, pass_hat from pass_curve where run_id = 'aalcr' order by k"
    ).fetchall()
    assert points == [(1, 2, 0.5, 0.5), (2, 2, 0.5, 0.5), (3, 1, 1.0, 1.0)]
    assert (
        real.execute("select n_left_out from denominators where run_id = 'aalcr'").fetchall()
        == [(0,)] * 3
    )


@pytest.mark.parametrize(
    ("run_id", "pass_at"),
    [
        ("example_hermes", [0.4, 0.7, 0.9, 1, 1]),
        ("example_opencode", [0.8, 1, 1, 1, 1]),
        ("example_pi", [0.8, 1, 1, 1, 1]),
    ],
)
def test_one_task_five_times(real: Warehouse, run_id: str, pass_at: list[float]) -> None:
    """Three harnesses on one task: a curve each, and nothing to say of other tasks."""
    assert curve(real, run_id, "pass_at") == pytest.approx(pass_at)
    row = figures(real, run_id)
    undefined = "pass_at_1_se_new_tasks pass_at_1_ci_new_tasks_low pass_at_1_ci_same_tasks_low"
    assert {row[name] for name in undefined.split()} == {None}
    p = pass_at[0]
    assert row["pass_at_1_se_same_tasks"] == pytest.approx((p * (1 - p) / 4) ** 0.5)
    assert (row["n_tasks"], row["n_sometimes_tasks"]) == (1, 1)


def test_blackjack_has_rewards_alone(real: Warehouse) -> None:
    """Rewards of -1 and 1, one task five times: a mean of 0.2 with its error, no pass figure."""
    row = figures(real, "blackjack")
    undefined = "pass_threshold pass_at_1 pass_at_k rollout_pass_rate n_passed n_always_tasks"
    assert {row[name] for name in undefined.split()} == {None}
    assert row["mean_reward"] == pytest.approx(0.2)
    assert (row["min_reward"], row["max_reward"]) == (-1, 1)
    # One task: its repeats tell of themselves and of no other task.
    assert row["mean_reward_se_new_tasks"] is None
    estimate = "select se_same_tasks from estimates where run_id = 'blackjack'"
    se = 1.0954451150103324 / 5**0.5
    assert real.execute(estimate).fetchall() == [(pytest.approx(se),)]
    assert curve(real, "blackjack", "pass_at") == [None] * 5
    # Of the pairs of five, one of ten is -1 twice.
    assert curve(real, "blackjack", "max_at") == pytest.approx([0.2, 0.8, 1, 1, 1])


def test_structeval(real: Warehouse) -> None:
    """pass@1 rises from 0.6 to 0.8 between the two files while the mean reward falls."""
    rows = real.execute("""
        select run_id, pass_at_1, round(mean_reward, 9), is_graded from run_metrics
        where benchmark = 'structeval' order by run_id
    """).fetchall()
    assert rows == [
        ("structeval", 0.6, 0.916, True),
        ("structeval_nonrenderable_example", 0.8, 0.8, False),
    ]


def test_structeval_slices(real: Warehouse) -> None:
    """By output type: JSON, CSV and YAML 1, TOML 0.95, XML 0.63, a task each."""
    rows = real.execute("""
        select slice_value, n_tasks, pass_at_1, mean_reward from slice_metrics
        where run_id = 'structeval' and slice_key = 'output_type' order by slice_value
    """).fetchall()
    assert rows == [
        ("CSV", 1, 1.0, 1.0),
        ("JSON", 1, 1.0, 1.0),
        ("TOML", 1, 0.0, 0.95),
        ("XML", 1, 0.0, 0.63),
        ("YAML", 1, 1.0, 1.0),
    ]


def test_graphwalks_counts_a_key_once(real: Warehouse) -> None:
    """Of five lines with one key twice, four rollouts count."""
    row = figures(real, "graphwalks")
    assert (row["n_rollouts"], row["n_scored"]) == (4, 4)


@pytest.mark.parametrize("run_id", ["browsecomp_advanced_harness", "genrm_compare"])
def test_nothing_scored_is_undefined(real: Warehouse, run_id: str) -> None:
    """A run of placeholders or of input rows has no figure, and never a 0."""
    row = figures(real, run_id)
    levels = "pass_at_1 rollout_pass_rate pass_at_k mean_reward retry_value k"
    assert {row[name] for name in levels.split()} == {None} and row["n_scored"] == 0


def test_genrm_compare_is_missing(real: Warehouse) -> None:
    """Five tasks were asked and none came back: coverage is 0 of 5, all are missing."""
    row = figures(real, "genrm_compare")
    assert (row["n_expected"], row["n_missing"], row["n_missing_tasks"]) == (5, 5, 5)
    assert row["coverage"] == 0 and row["consistency"] is None


def test_no_figure_leaves_its_range(real: Warehouse) -> None:
    """On all real runs rates lie in 0..1, and a second attempt never costs."""
    rows = real.sql("from run_metrics").to_dicts()
    assert len(rows) > 50
    for row in rows:
        for name in ("pass_at_1", "pass_at_k", "rollout_pass_rate", "consistency", "coverage"):
            assert row[name] is None or 0 <= row[name] <= 1, row["run_id"]
        assert row["retry_value"] is None or row["retry_value"] >= -1e-12
