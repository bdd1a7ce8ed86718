"""How many tasks and repeats a change needs: by hand, at their limits, and by simulation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pipeline.analysis.planning import Spread, spread_of_pair
from tests.case_files import cases
from tests.results import analyzed, call, rollout

NEEDS = ("run_metrics", "pass_curve", "task_outcomes", "runs")


def test_detectable_by_hand() -> None:
    """(t of 97.5% + t of 80%) standard errors, 4 degrees of freedom: 2.776445 + 0.940965."""
    assert Spread(0.0, 0.2, True).detectable(5, 2) == pytest.approx(3.717410 * 0.02**0.5, abs=1e-6)
    assert Spread(0.05, 0.2, True).detectable(5, 4) == pytest.approx(3.717410 * 0.02**0.5, abs=1e-6)
    assert Spread(0.0, 0.0, True).detectable(5, 2) is None
    assert Spread(0.0, 0.2, True).detectable(1, 2) is None


@pytest.mark.parametrize("change", [0.005, 0.02, 0.1, 0.5])
@pytest.mark.parametrize("spread", [Spread(0.0, 0.3, True), Spread(0.04, 0.2, True)])
def test_no_fewer_would_do(spread: Spread, change: float) -> None:
    """The numbers needed show the change, and one fewer does not."""
    n_tasks = spread.tasks_needed(change, 3)
    assert n_tasks is not None
    assert spread.detectable(n_tasks, 3) <= change
    fewer = spread.detectable(n_tasks - 1, 3)
    assert fewer is None or fewer > change
    n_repeats = spread.repeats_needed(change, 200)
    if n_repeats is None:
        assert spread.detectable(200, 10**9) > change
    else:
        assert spread.detectable(200, n_repeats) <= change + 1e-9
        assert n_repeats == 1 or spread.detectable(200, n_repeats - 1) > change


def test_spread_of_a_pair_by_hand() -> None:
    """Differences 1, 0, 0.5 vary by 0.25; sampling explains part of it where tasks are repeated."""
    base = np.array([[2, 0], [2, 2], [2, 1]])
    candidate = np.array([[2, 2], [2, 2], [2, 2]])
    # Within: only the last task of the base, 0.5 * 0.5 * 2 / 1 = 0.5, over three tasks; half of it
    # is what a mean of two attempts varies by.
    found = spread_of_pair(base, candidate)
    assert found == Spread(pytest.approx(0.25 - 0.5 / 3 / 2), pytest.approx(0.5 / 3), True)
    once = spread_of_pair(np.array([[1, 0], [1, 1], [1, 0]]), np.array([[1, 1], [1, 1], [1, 0]]))
    assert once == Spread(0.0, pytest.approx(1 / 3), False)
    assert spread_of_pair(base[:1], candidate[:1]) is None


def test_planned_tasks_have_the_power_promised() -> None:
    """With as many tasks as planned, a change of this size is seen in 80% of simulated runs."""
    random = np.random.default_rng(20)
    n_repeats, change, n_trials = 2, 0.1, 2000
    # Tasks of a pass rate of 0.3 or 0.6; the candidate's is higher by the change.
    within = 0.5 * (0.3 * 0.7 + 0.6 * 0.4) + 0.5 * (0.4 * 0.6 + 0.7 * 0.3)
    n_tasks = Spread(0.0, within, True).tasks_needed(change, n_repeats)
    assert n_tasks is not None
    rates = random.choice([0.3, 0.6], (n_trials, n_tasks))
    base = random.binomial(n_repeats, rates) / n_repeats
    candidate = random.binomial(n_repeats, rates + change) / n_repeats
    differences = candidate - base
    error = differences.std(axis=1, ddof=1) / np.sqrt(n_tasks)
    seen = np.abs(differences.mean(axis=1)) > 1.97 * error
    assert 0.77 < seen.mean() < 0.83


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of four tasks tried twice, of one tried once, and of one that never varies."""

    def rows(counts: list[int], n: int = 2) -> list[dict[str, object]]:
        made = [
            rollout(task, index, reward=float(index < count))
            for task, count in enumerate(counts)
            for index in range(n)
        ]
        for row in made:
            row["response"]["usage"] = {"input_tokens": 70, "output_tokens": 30}
        return made

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
    """Two of four tasks vary, by 0.5 an attempt: 0.25 on average, twice that for a pair."""
    (found,) = plans(planned, "x_a", "--change", "10")
    assert (found["runs"], found["between_variance"], found["within_variance"]) == (["x_a"], 0, 0.5)
    now, tasks, repeats, *_ = found["rows"]
    sizes = [(row["n_tasks"], row["n_repeats"], row["n_attempts"]) for row in (now, tasks, repeats)]
    assert sizes == [(4, 2, 8), (8, 2, 16), (4, 4, 16)]
    assert [row["tokens"] for row in (now, tasks, repeats)] == [800, 1600, 1600]
    # 3 degrees of freedom: 3.182446 + 0.978472.
    assert now["detectable"] == pytest.approx(4.160918 * (0.5 / 2 / 4) ** 0.5, abs=1e-6)
    assert found["rows"][3]["detectable"] <= 0.1


def test_two_runs(planned: Path) -> None:
    """Differences 0, 0.5, 0.5, 0 vary by 1/12; sampling by (0.25 + 0.25) / 2 explains all of it."""
    (found,) = plans(planned, "x_a", "x_b")
    assert (found["between_variance"], found["within_variance"]) == (0, 0.5)
    assert "these two runs" in str(found["assumption"])


def test_every_run(planned: Path) -> None:
    """Without a name every run is planned; one without spread or passes says why not."""
    found = {tuple(each["runs"]): each for each in plans(planned)}
    assert set(found) == {("x_a",), ("x_b",), ("x_once",), ("x_still",), ("y_graded",)}
    assert found["x_once",]["within_variance"] == 0.5
    assert found["x_still",]["rows"] == found["y_graded",]["rows"] == []
    printed = call("plan", "--warehouse", planned).stdout
    assert printed.count("nothing to plan from") == 2
    assert "one repeat: " in printed


@pytest.mark.parametrize(
    ("budget", "said"),
    cases("plan", "budget"),
)
def test_budget(planned: Path, budget: str, said: str) -> None:
    """The most attempts that fit a budget per task, and what they reach."""
    done = call("plan", "x_a", "--budget-tokens", budget, "--warehouse", planned)
    assert done.stdout.splitlines()[-1] == said


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
