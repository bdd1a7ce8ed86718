"""Series of checkpoints: which runs are one, in which order, and what was learned along it."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import pytest

import pipeline
from pipeline.answers.comparisons import every_series
from pipeline.cli.compare import print_series
from tests.fact_files import Fact, facts
from tests.results import Results, Row, analyzed, rollout

pytestmark = pytest.mark.slow

NEEDS = ("series", "series_tasks", "series_counts")
N_TASKS, N_REPEATS = 40, 4
LEARNED, FORGOTTEN, RISING = range(4), range(4, 6), range(6, 8)


def passes(task: int, place: int) -> int:
    """How many of four repeats pass in the first, second and third run."""
    if task in LEARNED:
        return (0, 2, 4)[place]
    if task in FORGOTTEN:
        return (4, 1, 0)[place]
    if task in RISING:
        return (1, 3, 4)[place]
    # Always, never, and noise without a trend.
    return ((4, 4, 4), (0, 0, 0), (2, 1, 2), (1, 2, 1))[task % 4][place]


def noise(task: int) -> float:
    """The chance that 4 of 12 repeats get no pass and other 4 get two or more, of so many."""
    total = sum(passes(task, place) for place in range(3))
    ways = sum(comb(4, k) * comb(4, total - k) for k in range(2, 5) if total >= k)
    return ways / comb(12, total)


def run(place: int, **fields: Any) -> list[Row]:
    return [
        rollout(task, index, reward=float(index < passes(task, place)), **fields)
        for task in range(N_TASKS)
        for index in range(N_REPEATS)
    ]


def steps(*numbers: int) -> dict[str, list[Row]]:
    return {f"base_step_{number}_rollouts.jsonl": run(n) for n, number in enumerate(numbers)}


@pytest.fixture(scope="module")
def along(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Three checkpoints, with tasks that are learned, forgotten and neither."""
    return analyzed(tmp_path_factory.mktemp("series"), steps(500, 1000, 1500), needs=NEEDS)


@facts("series_along")
def test_along(along: Results, fact: Fact) -> None:
    """As tests/facts/series_along.test says."""
    fact.check(along)


def test_planted_tasks_are_learned_and_forgotten(along: Results) -> None:
    """Noise alone would give far fewer."""
    ((learned, expected, forgotten, tested),) = along.rows(
        "select n_learned, expected_learned, n_forgotten, n_tested from series_counts"
    )
    # Of 32 others 16 always or never pass: they cannot tell.
    assert (learned, forgotten, tested) == (4, 2, 24)
    assert expected == pytest.approx(sum(noise(task) for task in range(N_TASKS)))
    assert expected < 2


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Series by configs, of rewards above 1, of tasks with hostile names, and runs that are none.

    Those differ by a size, or are two checkpoints alone.
    """
    names = ("aster-8b", "birch-70b", "birch-8b", "birch-400b", "cedar_step_1", "cedar_step_2")
    files: dict[str, Any] = {f"{name}_rollouts.jsonl": [rollout(0, 0, ask="one")] for name in names}
    files["beta/rollouts.jsonl"] = run(0, model="aster")
    for place, (name, step) in enumerate([("zeta", 20), ("eta", 100), ("alpha", 1000)]):
        files[f"{name}/rollouts.jsonl"] = run(place, model="aster")
        files[f"{name}/config.yaml"] = f"step: {step}\n"
    for step in (9, 10, 11):
        files[f"wide_step_{step}_rollouts.jsonl"] = [
            rollout(task, 0, ask=f"wide {task}", reward=step) for task in range(3)
        ]
        files[f"hostile_epoch{step}_rollouts.jsonl"] = [
            rollout(ask=f"q {name}", reward=float(step > 9), task_id=f"{name}\x1b[31m\n")
            for name in "ab"
        ]
    return analyzed(tmp_path_factory.mktemp("odd"), files, needs=NEEDS)


def test_two_models_are_no_series(odd: Results) -> None:
    """Models of different sizes, and two checkpoints, make no series; tasks are not reported."""
    for relation in NEEDS:
        rows = odd.column(f"select distinct series from {relation} order by 1")
        assert rows == [name for name in ("aster", "hostile_epoch", "wide_step") if name in rows]
    assert odd.one("select count(*) from series") == 9


@facts("series")
def test_odd(odd: Results, fact: Fact) -> None:
    """As tests/facts/series.test says."""
    fact.check(odd)


@pytest.mark.slow
def test_tasks_that_are_not_common_are_left_out(tmp_path: Path) -> None:
    """A task that one run did not score, or asks otherwise, is in no trend and no change."""
    files = steps(500, 1000, 1500)
    middle = files["base_step_1000_rollouts.jsonl"]
    for row in middle:
        if row["_ng_task_index"] == 0:
            row["reward"] = None
        elif row["_ng_task_index"] == 1:
            row["responses_create_params"] = {"input": [{"role": "user", "content": "other"}]}
    results = analyzed(tmp_path, files, needs=NEEDS)
    assert results.one("select count(*) from series_tasks") == N_TASKS - 2
    assert results.column("select n_common_tasks from series") == [N_TASKS - 2] * 3
    assert results.column("select n_tasks from series") == [N_TASKS, N_TASKS - 1, N_TASKS]
    assert results.column("select n_learned from series_counts") == [2]


def printed(results: Results, capsys: pytest.CaptureFixture[str]) -> str:
    with pipeline.open_warehouse(results.path) as warehouse:
        print_series(every_series(warehouse), results.path)
    return capsys.readouterr().out


def test_page(along: Results, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs in order, then tasks beside what noise would give, each with its rates."""
    page = printed(along, capsys)
    assert page.index("base_step_500") < page.index("base_step_1000")
    alone = f"{sum(noise(task) for task in range(N_TASKS)):.1f}"
    assert f"learned 4 tasks (noise alone: {alone}) of 40 tasks that every run scored" in page
    assert f"forgotten 2 tasks (noise alone: {alone})" in page
    assert "0      ▁▅█       0/4    4/4" in page
    assert "next  blade why base_step_1500/4" in page


def test_names_are_inert(odd: Results, capsys: pytest.CaptureFixture[str]) -> None:
    """A task's name that is a terminal's command is shown, not sent."""
    page = printed(odd, capsys)
    assert "\x1b" not in page
    assert "a\\x1b[31m\\n" in page
    assert "nothing says which reward is a pass" in page
