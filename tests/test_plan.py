"""How many tasks and repeats a change needs: by hand, at their limits, and by simulation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pipeline.analysis.planning import Varying, of_pair
from pipeline.analysis.power import task_rates
from tests.bench.decisions import Rates, power, u_shaped, uniform
from tests.case_files import cases
from tests.results import analyzed, call, rollout

pytestmark = pytest.mark.slow

NEEDS = ("run_metrics", "pass_curve", "task_outcomes", "runs")


def varying(*rates: float, spread: float = 0.0) -> Varying:
    """Tasks of these rates."""
    return Varying(np.array(rates), spread, True)


def test_detectable_by_hand() -> None:
    """Of many tasks of 0.5, each tried twice: 1.96 and 0.84 errors of sqrt(0.5 / 2 / n), nearly."""
    actual = varying(0.5).detectable(10_000, 2)
    assert actual == pytest.approx(2.8016 * (0.25 / 10_000) ** 0.5, rel=0.01)
    # True changes that differ add to every task, however often it is tried.
    actual = varying(0.5, spread=0.3).detectable(10_000, 1000)
    assert actual == pytest.approx(2.8016 * ((0.09 + 0.0005) / 10_000) ** 0.5, rel=0.01)
    # Signs of five tasks agree in 2 of 32 by chance: nothing they do is significant.
    assert varying(0.5).detectable(5, 100) is None


@pytest.mark.parametrize("change", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("tasks", [varying(0.2, 0.7), varying(0.0, 0.5, 1.0, spread=0.1)])
def test_no_fewer_would_do(tasks: Varying, change: float) -> None:
    """The numbers needed show the change, and one fewer does not."""

    def shows(n_tasks: int, n_repeats: int) -> bool:
        seen = tasks.detectable(n_tasks, n_repeats)
        return seen is not None and seen <= change

    n_tasks = tasks.tasks_needed(change, 3)
    assert n_tasks is not None and shows(n_tasks, 3) and not shows(n_tasks - 1, 3)
    n_repeats = tasks.repeats_needed(change, 200)
    if n_repeats is None:
        assert not shows(200, 10_000)
    else:
        assert shows(200, n_repeats)
        assert n_repeats == 1 or not shows(200, n_repeats - 1)


def test_rates_vary_as_the_true_ones() -> None:
    """Rates 0, 1/2, 1 of four vary by 1/4, by 1/36 too much: 8/9 of the variance is kept."""
    actual = task_rates(np.array([0, 2, 4]), np.array([4, 4, 4]))
    assert actual.tolist() == pytest.approx(
        [0.5 - 0.5 * (8 / 9) ** 0.5, 0.5, 0.5 + 0.5 * (8 / 9) ** 0.5]
    )
    assert task_rates(np.array([0, 1, 1]), np.array([1, 1, 1])).tolist() == pytest.approx(
        [2 / 3] * 3
    )


def test_spread_of_a_pair_by_hand() -> None:
    """Differences 1, 0, 0.5 vary by 0.25; sampling explains part of it where tasks are repeated."""
    base = np.array([[2, 0], [2, 2], [2, 1]])
    candidate = np.array([[2, 2], [2, 2], [2, 2]])
    # Within: only the last task of the base, 0.5 * 0.5 * 2 / 1 = 0.5, over three tasks; half of it
    # is what a mean of two attempts varies by.
    actual = of_pair(base, candidate, None)
    assert (actual.spread**2, actual.is_measured) == (pytest.approx(0.25 - 0.5 / 3 / 2), True)
    assert of_pair(base, candidate, 0.4).spread == 0.4
    once = of_pair(np.array([[1, 0], [1, 1], [1, 0]]), np.array([[1, 1], [1, 1], [1, 0]]), None)
    assert (once.spread, once.is_measured) == (0.0, False)


@pytest.mark.parametrize(
    ("rates", "n"),
    [
        pytest.param(u_shaped, 20, marks=pytest.mark.slow),
        pytest.param(uniform, 50, marks=pytest.mark.slow),
        pytest.param(u_shaped, 80, marks=pytest.mark.slow),
    ],
)
def test_a_change_of_the_printed_size_is_seen(rates: Rates, n: int) -> None:
    """By all three parts of the rule, about four times in five, tasks near 0 and 1 or not."""
    assert 0.7 <= power(n, 4, rates, 120) <= 0.9


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of four tasks tried twice, of one tried once, and of one that never varies."""

    def rows(counts: list[int], n: int = 2) -> list[dict[str, object]]:
        created = [
            rollout(task, index, reward=float(index < count))
            for task, count in enumerate(counts)
            for index in range(n)
        ]
        for row in created:
            row["response"]["usage"] = {"input_tokens": 70, "output_tokens": 30}
        return created

    files = {
        "x_a_rollouts.jsonl": rows([2, 1, 0, 1]),
        "x_b_rollouts.jsonl": rows([2, 2, 1, 1]),
        "x_once_rollouts.jsonl": rows([1, 0, 0, 1], 1),
        "x_still_rollouts.jsonl": rows([2, 2, 2, 2]),
        "y_graded_rollouts.jsonl": [rollout(9, 0, ask="g", reward=7.5)],
    }
    return analyzed(tmp_path_factory.mktemp("planned"), files, needs=NEEDS).path


def plans(planned: Path, *arguments: str) -> list[dict[str, object]]:
    """What a program reads."""
    done = call("plan", *arguments, "--json", "--warehouse", planned)
    assert done.code == 0
    return list(json.loads(done.stdout)["plans"])


def test_one_run(planned: Path) -> None:
    """Rates 1, 0.5, 0, 0.5 vary by 1/6, of which sampling explains 1/8: half of each is kept.

    0.75, 0.5, 0.25 and 0.5 then vary by 0.21875 an attempt, twice that for a pair.
    """
    (actual,) = plans(planned, "x_a", "--change", "10")
    assert (actual["runs"], actual["between_variance"]) == (["x_a"], 0)
    assert actual["within_variance"] == pytest.approx(2 * 0.21875)
    now, tasks, repeats, *_ = actual["rows"]
    sizes = [(row["n_tasks"], row["n_repeats"], row["n_attempts"]) for row in (now, tasks, repeats)]
    assert sizes == [(4, 2, 8), (8, 2, 16), (4, 4, 16)]
    assert [row["tokens"] for row in (now, tasks, repeats)] == [800, 1600, 1600]
    assert (now["detectable"], repeats["detectable"]) == (None, None)
    assert actual["rows"][3]["detectable"] <= 0.1 < tasks["detectable"]
    assert actual["rows"][4]["n_repeats"] is None


def test_two_runs(planned: Path) -> None:
    """Differences 0, 0.5, 0.5, 0 vary by 1/12; sampling by (0.25 + 0.25) / 2 explains all of it."""
    (actual,) = plans(planned, "x_a", "x_b")
    assert actual["between_variance"] == 0
    assert "these two runs" in str(actual["assumption"])
    (wider,) = plans(planned, "x_a", "x_b", "--spread", "20")
    assert wider["between_variance"] == pytest.approx(0.04)
    assert "differ by 20.0 points" in str(wider["assumption"])
    needed = [each["rows"][3]["n_tasks"] for each in (actual, wider)]
    assert needed[0] < needed[1]


def test_every_run(planned: Path) -> None:
    """Without a name every run is planned; one without spread or passes says why not."""
    by_name = {tuple(each["runs"]): each for each in plans(planned)}
    assert set(by_name) == {("x_a",), ("x_b",), ("x_once",), ("x_still",), ("y_graded",)}
    assert by_name["x_once",]["within_variance"] == 0.5
    assert by_name["x_still",]["rows"] == by_name["y_graded",]["rows"] == []
    printed = call("plan", "--warehouse", planned).stdout
    assert printed.count("nothing to plan from") == 2
    assert "one repeat: " in printed


@pytest.mark.parametrize(("budget", "expected"), cases("plan", "budget"))
def test_budget(planned: Path, budget: str, expected: str) -> None:
    """The most attempts that fit a budget per task, and what they reach."""
    done = call("plan", "x_a", "--budget-tokens", budget, "--warehouse", planned)
    assert done.stdout.splitlines()[-1] == expected


@pytest.mark.parametrize(
    "arguments",
    [
        ("nobody",),
        ("x_a", "x_b", "x_a"),
        ("--change", "0"),
        ("--change", "nan"),
        ("--budget-tokens", "inf"),
    ],
)
def test_wrong_calls(planned: Path, arguments: tuple[str, ...]) -> None:
    """An unknown run, three runs, or no finite number end with exit code 2."""
    assert call("plan", *arguments, "--warehouse", planned).code == 2
