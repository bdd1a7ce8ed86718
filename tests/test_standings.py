"""Where runs stand: ranks by simulation, the best of every resample listed, reruns by hand."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pipeline.analysis.standings import ranks, rerun_spread, shares_of_best, standings
from pipeline.analysis.stats import Numbers
from tests.bench.decisions import near_ties
from tests.results import Row, analyzed, rollout
from tests.together import Batch, together

# Four standard errors of a share of 2,000 draws.
NEAR = 4 * 0.5 / np.sqrt(2000)


def alone(values: Numbers, n_scored: int = 4) -> tuple[list[int], list[int]]:
    """Ranks by pass rates of so many repeats, every task a group of its own."""
    variances = values * (1 - values) / (n_scored - 1) if n_scored > 1 else values * np.nan
    repeats = np.full(values.shape, float(n_scored))
    low, high = ranks(values, repeats, variances, np.arange(values.shape[1]))
    return low.tolist(), high.tolist()


def every_resample(values: Numbers, groups: list[list[int]]) -> Numbers:
    """A run's share of the best over all draws of as many groups, each equally likely."""
    best = []
    for drawn in product(groups, repeat=len(groups)):
        tasks = [task for group in drawn for task in group]
        totals = np.round(values[:, tasks].sum(axis=1), 9)
        is_best = totals == totals.max()
        best.append(is_best / is_best.sum())
    return np.mean(best, axis=0)


def test_better_on_every_task() -> None:
    """Passing twenty tasks that another run fails is first; three tasks tried once say nothing."""
    values = np.array([[1.0] * 20, [0.0] * 20])
    assert alone(values) == ([1, 2], [1, 2])
    assert alone(values[:, :3], n_scored=1) == ([1, 1], [2, 2])


def test_middle_runs_share() -> None:
    """The first is shown to be better than all, and two that hardly differ share the next ranks."""
    values = np.array([[1.0] * 30, [0.5] * 30, [0.5] * 29 + [0.75], [0.0] * 30])
    assert alone(values) == ([1, 2, 2, 4], [1, 3, 3, 4])


@pytest.mark.parametrize("repeats", [(4,), (1,), (1, 8)])
def test_ranks_of_near_ties(repeats: tuple[int, ...]) -> None:
    """Of ten runs two points apart the ranks hold of all together, in more than 95 of 100."""
    best, whole = near_ties(60, n_tasks=60, n_runs=10, repeats=repeats)
    assert best >= whole >= 0.93


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_every_resample(seed: int) -> None:
    """The share of resamples in which a run is best is that of all resamples listed."""
    random = np.random.default_rng(seed)
    n_tasks, n_runs = int(random.integers(2, 6)), int(random.integers(2, 5))
    values = random.integers(0, 4, (n_runs, n_tasks)) / 3
    # Half of the time the last two tasks are drawn together.
    codes = np.arange(n_tasks)
    if seed % 2 and n_tasks > 2:
        codes[-1] = codes[-2]
    groups = [np.flatnonzero(codes == code).tolist() for code in np.unique(codes)]
    p_best = shares_of_best(values, codes, seed=seed)
    assert p_best == pytest.approx(every_resample(values, groups), abs=NEAR)
    assert p_best.sum() == pytest.approx(1)


def test_many_groups_that_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are drawn as one, which is as likely; the order of the runs changes nothing."""
    values = np.array([[1, 1, 0, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1, 1], [0, 0, 0, 0, 1, 0, 1.0]])
    one_by_one = shares_of_best(values, np.arange(7), seed=1)
    monkeypatch.setattr("pipeline.analysis.standings.MANY_GROUPS", 0)
    alike = shares_of_best(values, np.arange(7), seed=1)
    assert alike == pytest.approx(one_by_one, abs=2 * NEAR)
    assert shares_of_best(values[::-1], np.arange(7), seed=1).tolist() == alike[::-1].tolist()


def test_equal_runs_share_the_best() -> None:
    """Thirds sum exactly: equal runs tie in every resample."""
    third = 1 / 3
    values = np.array([[third, 2 * third, 0.1]] * 3)
    assert shares_of_best(values, np.arange(3), seed=1).tolist() == pytest.approx([third] * 3)


@pytest.mark.parametrize("value", [0.0, 1e100, -1e100, 5e-324])
def test_ranks_of_any_reward(value: float) -> None:
    """Rewards at the ends of what is kept are ranked as others are."""
    values = np.array([[value, value], [value, value]])
    assert alone(values, n_scored=1) == ([1, 1], [2, 2])
    assert shares_of_best(values, np.arange(2), seed=1).tolist() == [0.5, 0.5]


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


@together
def test_runs_of_a_benchmark() -> Batch:
    """Ranks are over the tasks that all have; reruns share settings; one run has neither."""
    results = yield {
        "a": passes([2] * 12 + [0], "m"),
        "b": passes([1] * 12, "m"),
        "c": passes([0] * 12 + [2, 2], "n"),
    }
    assert [row[1:] for row in results.rows(f"{QUERY} order by run_id")] == [
        (12, 1, 1, 1.0, 2),
        (12, 2, 2, 0.0, 2),
        (12, 3, 3, 0.0, None),
    ]


@together
def test_a_run_alone_has_no_rank() -> Batch:
    results = yield [rollout(9, 0, model="m")]
    assert [row[1:] for row in results.rows(QUERY)] == [(None, None, None, None, None)]


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
    by_name = {"role": "system", "content": "be brief"}
    request = {"role": "user", "content": "question 0"}
    files = {
        "x_a_rollouts.jsonl": [rollout(0, 0, model="m")],
        "x_b_rollouts.jsonl": [
            rollout(0, 0, model="m", responses_create_params={"input": [request], "temperature": 1})
        ],
        "x_c_rollouts.jsonl": [
            rollout(0, 0, model="m", responses_create_params={"input": [by_name, request]})
        ],
        "x_d_rollouts.jsonl": [rollout(0, 0)],
        "x_e_rollouts.jsonl": [rollout(0, 0)],
    }
    results = analyzed(tmp_path, files, needs=("run_metrics",))
    assert results.rows("select count(n_reruns) from run_metrics") == [(0,)]


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


@pytest.mark.exhaustive
@pytest.mark.slow
def test_cost_of_a_row(tmp_path: Path) -> None:
    """The cost of an attempt is what its usage says, else what a field of its row does."""
    files = {}
    for number, (usage, fields, _) in enumerate(COSTS):
        row = rollout(0, 0, ask=str(number), **fields)
        row["response"]["usage"] = usage
        files[f"r{number}_rollouts.jsonl"] = [row]
    results = analyzed(tmp_path, files, needs=("rollouts", "run_metrics"))
    costs = [cost for *_, cost in COSTS]
    assert results.column("select cost from rollouts order by run_id") == costs
    assert results.column("select cost_per_pass from run_metrics order by run_id") == costs


def test_no_runs() -> None:
    """Nothing to rank is no row."""
    names = ("benchmark", "run_id", "settings", "task_id", "task_group")
    columns = dict.fromkeys(names, pa.string())
    numbers = {"n_scored": pa.int64(), "value": pa.float64(), "sampling_variance": pa.float64()}
    assert len(standings(pa.schema({**columns, **numbers}).empty_table())) == 0
