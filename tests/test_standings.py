"""Where runs stand: ranks against every resample listed, and what reruns say, by hand."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pipeline.analysis.standings import ranks, rerun_spread, standings
from pipeline.analysis.stats import Numbers
from tests.results import Row, analyzed, rollout

# Four standard errors of a share of 2,000 draws.
NEAR = 4 * 0.5 / np.sqrt(2000)


def alone(values: Numbers) -> tuple[list[int], list[int], list[float]]:
    """Ranks where every task is a group of its own."""
    low, high, best = ranks(values, np.arange(values.shape[1]), seed=1)
    return low.tolist(), high.tolist(), best.tolist()


def every_resample(values: Numbers, groups: list[list[int]]) -> tuple[Numbers, Numbers, Numbers]:
    """First and last rank of each run, and its share of the best, in each equally likely draw."""
    first, last, best = [], [], []
    for drawn in product(groups, repeat=len(groups)):
        tasks = [task for group in drawn for task in group]
        totals = np.round(values[:, tasks].sum(axis=1), 9)
        first.append([1 + int((totals > own).sum()) for own in totals])
        last.append([int((totals >= own).sum()) for own in totals])
        is_best = totals == totals.max()
        best.append(is_best / is_best.sum())
    return np.array(first), np.array(last), np.mean(best, axis=0)


def test_better_on_every_task() -> None:
    """A run that does better on every task is first, whichever tasks are drawn."""
    assert alone(np.array([[0.5, 0.25, 1.0], [0.25, 0.0, 0.5]])) == ([1, 2], [1, 2], [1.0, 0.0])


def test_equal_runs_share() -> None:
    """Runs that are equal have all ranks between them, and share the best; thirds sum exactly."""
    third = 1 / 3
    values = np.array([[third, 2 * third, 0.1], [2 * third, third, 0.1], [third, 2 * third, 0.1]])
    values[1] = values[0]
    low, high, best = alone(values)
    assert (low, high) == ([1, 1, 1], [3, 3, 3])
    assert best == pytest.approx([third] * 3)


@pytest.mark.parametrize("seed", range(4))
def test_ranks_against_every_resample(seed: int) -> None:
    """The share of best runs, and the ends of ranks, are those of all resamples listed."""
    random = np.random.default_rng(seed)
    n_tasks, n_runs = int(random.integers(2, 6)), int(random.integers(2, 5))
    values = random.integers(0, 4, (n_runs, n_tasks)) / 3
    # Half of the time the last two tasks are drawn together.
    codes = np.arange(n_tasks)
    if seed % 2 and n_tasks > 2:
        codes[-1] = codes[-2]
    groups = [np.flatnonzero(codes == code).tolist() for code in np.unique(codes)]
    first, last, best = every_resample(values, groups)
    low, high, p_best = ranks(values, codes, seed=seed)
    assert p_best == pytest.approx(best, abs=NEAR)
    assert p_best.sum() == pytest.approx(1)
    for run in range(n_runs):
        # A rank is an end where the shares below it and up to it lie around 2.5%.
        assert np.mean(first[:, run] < low[run]) <= 0.025 + NEAR / 2
        assert np.mean(first[:, run] <= low[run]) >= 0.025 - NEAR / 2
        assert np.mean(last[:, run] > high[run]) <= 0.025 + NEAR / 2
        assert np.mean(last[:, run] >= high[run]) >= 0.025 - NEAR / 2


@pytest.mark.parametrize("value", [0.0, 1e308, -1e308, 5e-324])
def test_ranks_of_any_reward(value: float) -> None:
    """Rewards at the ends of floats are ranked as others are."""
    assert alone(np.array([[value, value], [value, value]])) == ([1, 1], [2, 2], [0.5, 0.5])


def test_rerun_spread() -> None:
    """The spread of means less what sampling explains of it; without repeats only the spread."""
    values = np.array([[1.0, 1.0, 0.5, 0.5], [0.5, 0.5, 0.0, 0.0]])
    # Means 0.75 and 0.25, variance 0.125. Of two repeats 0.5 has 0.25 / 1: 0.5 / 4^2 in each run.
    variances = np.array([[0.0, 0.0, 0.25, 0.25], [0.25, 0.25, 0.0, 0.0]])
    sd, se = rerun_spread(values, variances, np.full((2, 4), 2.0))
    assert (sd, se) == (pytest.approx(0.125**0.5), pytest.approx((0.125 - 0.03125) ** 0.5))
    # A task tried once is given the mean variance of an attempt: (0 + 0 + 0.5) / 3 of the others.
    once = np.array([[0.0, 0.0, 0.25, np.nan], [0.25, 0.0, 0.0, np.nan]])
    n_scored = np.array([[2.0, 2.0, 2.0, 1.0]] * 2)
    _, se = rerun_spread(values, once, n_scored)
    assert se == pytest.approx((0.125 - (0.25 + 0.5 / 3) / 16) ** 0.5)
    sd, se = rerun_spread(values, np.full((2, 4), np.nan), np.ones((2, 4)))
    assert (sd, se) == (pytest.approx(0.125**0.5), None)
    same = np.ones((2, 1))
    assert rerun_spread(same, same / 2, 2 * same) == (0, 0)


def passes(counts: list[int], model: str, **fields: object) -> list[Row]:
    """Tasks tried twice, of which so many passed."""
    return [
        rollout(task, index, reward=float(index < count), model=model, **fields)
        for task, count in enumerate(counts)
        for index in range(2)
    ]


QUERY = "select run_id, n_ranked_tasks, rank_low, rank_high, p_best, n_reruns from run_metrics"


def test_runs_of_a_benchmark(tmp_path: Path) -> None:
    """Ranks are over the tasks that all have; reruns share settings; one run has neither."""
    files = {
        "x_a_rollouts.jsonl": passes([2, 2, 2, 2, 0], "m"),
        "x_b_rollouts.jsonl": passes([1, 1, 1, 1], "m"),
        "x_c_rollouts.jsonl": passes([0, 0, 0, 0, 2, 2], "n"),
        "y_rollouts.jsonl": [rollout(9, 0, ask="alone", model="m")],
    }
    found = analyzed(tmp_path, files, needs=("run_metrics",)).rows(QUERY)
    assert found == [
        ("x_a", 4, 1, 1, 1.0, 2),
        ("x_b", 4, 2, 2, 0.0, 2),
        ("x_c", 4, 3, 3, 0.0, None),
        ("y", None, None, None, None, None),
    ]


@pytest.mark.slow
def test_names_and_order_change_nothing(tmp_path: Path) -> None:
    """What is drawn depends on tasks and scores, not on names of runs or the order of rows."""
    counts = ([2, 0, 1, 2, 0, 1], [1, 1, 0, 2, 2, 1], [0, 2, 2, 1, 0, 0])
    rows = [passes(each, f"m{place}") for place, each in enumerate(counts)]
    one = analyzed(
        tmp_path / "one",
        {f"x_{name}_rollouts.jsonl": own for name, own in zip("abc", rows, strict=True)},
        needs=("run_metrics",),
    )
    other = analyzed(
        tmp_path / "other",
        {f"x_{name}_rollouts.jsonl": own[::-1] for name, own in zip("rqp", rows, strict=True)},
        needs=("run_metrics",),
    )
    first = one.rows("select model, rank_low, rank_high, p_best from run_metrics order by model")
    assert first == other.rows(
        "select model, rank_low, rank_high, p_best from run_metrics order by model"
    )
    assert 0 < first[0][3] < 1


@pytest.mark.slow
def test_settings_tell_reruns(tmp_path: Path) -> None:
    """Runs with other sampling or system prompts are no reruns, nor are runs without a model."""
    told = {"role": "system", "content": "be brief"}
    asked = {"role": "user", "content": "question 0"}
    files = {
        "x_a_rollouts.jsonl": [rollout(0, 0, model="m")],
        "x_b_rollouts.jsonl": [
            rollout(0, 0, model="m", responses_create_params={"input": [asked], "temperature": 1})
        ],
        "x_c_rollouts.jsonl": [
            rollout(0, 0, model="m", responses_create_params={"input": [told, asked]})
        ],
        "x_d_rollouts.jsonl": [rollout(0, 0)],
        "x_e_rollouts.jsonl": [rollout(0, 0)],
    }
    found = analyzed(tmp_path, files, needs=("run_metrics",))
    assert found.rows("select count(n_reruns) from run_metrics") == [(0,)]


COSTS: list[tuple[Row, Row, float | None]] = [
    ({"cost": 0.5}, {"total_cost_usd": 9}, 0.5),
    ({"total_cost": 2}, {}, 2.0),
    ({}, {"total_cost": 9, "total_cost_usd": 0.25}, 0.25),
    ({}, {"response_cost": 1e-5}, 1e-5),
    # What a task minimizes is no money; nor is a text, or less than nothing.
    ({}, {"cost": 0.5}, None),
    ({"cost": "0.5"}, {}, None),
    ({"cost": -1}, {}, None),
]


@pytest.mark.slow
def test_cost_of_a_row(tmp_path: Path) -> None:
    """The cost of an attempt is what its usage says, else what a field of its row does."""
    files = {}
    for number, (usage, fields, _) in enumerate(COSTS):
        row = rollout(0, 0, ask=str(number), **fields)
        row["response"]["usage"] = usage
        files[f"r{number}_rollouts.jsonl"] = [row]
    found = analyzed(tmp_path, files, needs=("rollouts", "run_metrics"))
    costs = [cost for *_, cost in COSTS]
    assert found.column("select cost from rollouts order by run_id") == costs
    assert found.column("select cost_per_pass from run_metrics order by run_id") == costs


def test_no_runs() -> None:
    """Nothing to rank is no row."""
    names = ("benchmark", "run_id", "settings", "task_id", "task_group")
    columns = dict.fromkeys(names, pa.string())
    numbers = {"n_scored": pa.int64(), "value": pa.float64(), "sampling_variance": pa.float64()}
    assert len(standings(pa.schema({**columns, **numbers}).empty_table())) == 0
