"""Metrics at the edges of their definitions: one of a thing, none of it, or very many."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import reference_run, results, uncertainty_reference
from tests.fact_files import Fact, facts
from tests.generated_runs import scored
from tests.reference_run import Rollout, Run
from tests.results import Results, Row, asked, rollout

pytestmark = pytest.mark.slow

EDGES = "denominators estimates pass_curve run_metrics task_outcomes".split()
analyzed = partial(results.analyzed, needs=EDGES)

MANY = 1024
PASSED_OF_MANY = {"rare": 1, "even": 512, "sure": 1023, "none": 0, "all": 1024}
# How many of 302 tasks passed so many of 5 times.
PASSES_OF_FIVE = {0: 160, 1: 34, 2: 25, 3: 26, 4: 27, 5: 30}


def binary(passed: int, n: int) -> list[float]:
    return [1.0] * passed + [0.0] * (n - passed)


def graded() -> list[float]:
    return [(7 * index % 31) / 31 for index in range(MANY)]


def tasks(suite: str, *rewards: list[Any], **fields: Any) -> list[Row]:
    """A task for each list of rewards."""
    return [row for n, own in enumerate(rewards) for row in scored(n, own, suite=suite, **fields)]


def files() -> dict[str, list[Row]]:
    """Each run is one edge, named after it."""
    runs = {
        **{name: tasks(name, binary(c, MANY)) for name, c in PASSED_OF_MANY.items()},
        "graded": tasks("graded", graded()),
        "nothing": [],
        "unusable": tasks("unusable", [None, "N/A"], [float("nan")]),
        "nearly": tasks("nearly", [0.9999999999999998, 0.999999998], [1.0, 1.0 - 5e-10]),
        "of_five": tasks(
            "of_five", *(binary(c, 5) for c, n in PASSES_OF_FIVE.items() for _ in range(n))
        ),
    }
    by_name = {f"{name}_rollouts.jsonl": rows for name, rows in runs.items()}
    return {**by_name, **unasked()}


def unasked() -> dict[str, list[Row]]:
    """Three tasks asked twice each, of which none came back; and attempts that failed."""
    inputs = [asked(n, index, ask=f"unasked {n}") for n in range(3) for index in range(2)]
    unclassed = [asked(0, index, ask="unclassed") for index in range(3)]
    return {
        "lost_rollouts.jsonl": [],
        "lost_rollouts_materialized_inputs.jsonl": inputs,
        # Failed attempts that name no class, or one of their own.
        "unclassed_rollouts.jsonl": [rollout(0, 0, ask="unclassed")],
        "unclassed_rollouts_materialized_inputs.jsonl": unclassed,
        "unclassed_rollouts_failures.jsonl": [
            {**unclassed[1], "reward": 0.0, "error": "boom"},
            {**unclassed[2], "reward": 0.0, "_ng_failure_class": "of its own kind"},
        ],
    }


@pytest.fixture(scope="module")
def edges(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """All edges, analysed once."""
    return analyzed(tmp_path_factory.mktemp("edges"), files())


@pytest.mark.parametrize(("run_id", "passed"), PASSED_OF_MANY.items())
def test_a_thousand_repeats(edges: Results, run_id: str, passed: int) -> None:
    """pass@k and pass^k of 1,024 repeats are exact to twelve digits for every k."""
    rows = edges.rows(
        f"select k, pass_at, pass_hat from pass_curve where run_id = '{run_id}' order by k"
    )
    assert [k for k, _, _ in rows] == list(range(1, MANY + 1))
    for k, at, hat in rows:
        assert at == pytest.approx(
            float(reference_run.pass_at_by_formula(MANY, passed, k)), abs=1e-12
        )
        exact = float(reference_run.pass_hat_by_formula(MANY, passed, k))
        assert hat == pytest.approx(exact, abs=1e-12)


def test_best_of_a_thousand(edges: Results) -> None:
    """max@k of 1,024 graded repeats is the mean over k-subsets of their best."""
    rows = edges.rows("select k, max_at from pass_curve where run_id = 'graded' order by k")
    rewards = sorted(map(Fraction, graded()))
    assert len(rows) == MANY
    for k in (1, 2, 3, 10, 100, 500, 1000, 1023, 1024):
        exact = float(reference_run.max_at_by_formula(rewards, k))
        assert rows[k - 1] == (k, pytest.approx(exact, abs=1e-12))


@facts("edges")
def test_edges(edges: Results, fact: Fact) -> None:
    """As tests/facts/edges.test says."""
    fact.check(edges)


@pytest.mark.slow
def test_related_tasks(tmp_path: Path) -> None:
    """Tasks of one group vary together: the error for new tasks is of groups, with their t."""
    passes = {"0": 3, "1": 3, "2": 2, "3": 0, "4": 1, "5": 0, "6": 3}
    groups = {"0": "x", "1": "x", "2": "x", "3": "y", "4": "y", "5": "z"}
    rows = [
        row
        for task, passed in passes.items()
        for row in scored(int(task), binary(passed, 3), **named(groups.get(task)))
    ]
    profile = tmp_path / "blade.toml"
    profile.write_text('fields.group = "repo"\n')
    actual = analyzed(tmp_path, {"a_rollouts.jsonl": rows}, profile=profile)
    run = Run(
        {
            (task, index): Rollout(reward)
            for task, passed in passes.items()
            for index, reward in enumerate(binary(passed, 3))
        },
        groups=groups,
    )
    for metric, k in (("pass_at", 1), ("pass_at", 2), ("pass_hat", 3), ("mean_reward", 1)):
        exact = uncertainty_reference.estimates(run)[metric, k]
        row = actual.rows(f"""
            select n_tasks, n_groups, value, se_new_tasks, ci_new_tasks_low, ci_new_tasks_high
            from estimates where metric = '{metric}' and k = {k}
        """)[0]
        assert row == pytest.approx(
            (7, 4, float(exact.value), exact.se_new_tasks, *exact.ci_new_tasks), abs=1e-9
        )


def named(group: str | None) -> dict[str, str]:
    return {} if group is None else {"repo": group}


# As they stand in a row, and the score that each is.
SCORES: dict[str, float | None] = {
    **{"1": 1.0, "0": 0.0, "-0.0": 0.0, "0.5": 0.5, "-3e7": -3e7, "1e49": 1e49, "1e50": 1e50},
    **{"12345678901234567890": 12345678901234567890.0, "5e-324": 0.0, "-1e-310": 0.0},
    **dict.fromkeys(("1e51", "1e305", "-1e308", "1e308", "1e400", "-1e400"), None),
    **dict.fromkeys(("NaN", "Infinity", "-Infinity", "1" + 400 * "0", "-" + 400 * "9"), None),
    **dict.fromkeys(('"1.0"', '"N/A"', '"inf"', '""', "true", "false", "null", "[1]", "{}"), None),
}
# What a base and a candidate wrote: too large to add up, as large as can be, all but nothing, all.
PAIRS = (
    (["1e308", "-1e308", "1e305", "1e308"], ["1e305", "1e308", "1e308", "0"]),
    (["1e50", "0", "1e50", "1"], ["0", "1e50", "-3e7", "1e49"]),
    (["5e-324", "0", "0", "-1e-310"], ["0", "5e-324", "5e-324", "0"]),
    ([*SCORES], [*SCORES][1:] + [*SCORES][:1]),
)


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [None, 1.0])
def test_any_reward_is_a_row(tmp_path: Path, threshold: float | None) -> None:
    """Anything written as a reward is a score or its row unscored; every page is made."""
    runs = {
        f"{name}{n}": rewards
        for n, pair in enumerate(PAIRS)
        for name, rewards in zip("ab", pair, strict=True)
    }
    files = {}
    for run, rewards in runs.items():
        files[f"{run}_rollouts.jsonl"] = _written(rewards, suite=run[1:])
        files[f"{run}_rollouts_aggregate_metrics.json"] = f'{{"mean/reward": {rewards[0]}}}'
    bases = [run for run in runs if run.startswith("a")]
    actual = results.analyzed(tmp_path, files, baselines=bases, pass_threshold=threshold)
    recorded = actual.rows("select run_id, reward, is_scored from rollouts")
    expected = [(run, SCORES[reported]) for run, rewards in runs.items() for reported in rewards]
    assert sorted(recorded, key=str) == sorted(
        ((run, score, score is not None) for run, score in expected), key=str
    )
    # Of the first nothing is a score.
    compared = "select distinct base from comparisons where n_common_tasks > 1 order by all"
    assert actual.column(compared) == bases[1:]
    sidecar = (actual.path.parent / "metrics.json").read_text(encoding="utf-8")
    assert "NaN" not in sidecar and "Infinity" not in sidecar


def _written(rewards: list[str], *, suite: str) -> str:
    """Tasks of two repeats: the rewards as they were written, also as parts and seconds."""
    by_name = {"reward": "@", "reward_components": {"x": "@"}, "total_run_time": "@"}
    rows = [
        rollout(place // 2, place % 2, ask=f"{suite} {place // 2}", **by_name)
        for place in range(len(rewards))
    ]
    return "".join(
        results.lines([row]).replace('"@"', by_name)
        for row, by_name in zip(rows, rewards, strict=True)
    )
