"""Health of the evaluation itself: each check on rows made for it, and what was planted."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import results as written
from tests.case_files import cases
from tests.fact_files import Fact, facts
from tests.health_rows import FINDINGS, UNOBSERVED
from tests.results import Results, asked, call, failure, rollout, wrote
from tests.test_simulate import simulate
from tests.together import Batch, together

HEALTH = ("health_findings", "rollout_health", "run_health", "run_metrics", "report.health_checks")
analyzed = partial(written.analyzed, needs=HEALTH)
# A reward is what replaces an answer, or what nothing supports.
OF_REWARDS = ({"response_placeholder"}, {"verdict_unsupported"})
OBSERVED_RUN = "office_desk_birch-70b"


def numbered(rows: list[dict[str, Any]], index: int = 0) -> list[dict[str, Any]]:
    """A task for each row, in order."""
    return [
        {**row, "_ng_task_index": task, "_ng_rollout_index": index} for task, row in enumerate(rows)
    ]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """All rows made for the checks, analyzed once: a run for what is found, one for what is not."""
    files = {
        "found_rollouts.jsonl": numbered([row for row, _ in FINDINGS.values()]),
        "unobserved_rollouts.jsonl": numbered([row for row, _ in UNOBSERVED.values()]),
    }
    return analyzed(tmp_path_factory.mktemp("judged"), files)


@pytest.fixture(scope="module")
def healths(judged: Results) -> dict[tuple[str, int], tuple[str, list[str], list[str]]]:
    rows = judged.rows(
        "select run_id, task_id::int, health, findings, unobserved_checks from rollout_health"
    )
    return {(run, task): (health, actual, lacking) for run, task, health, actual, lacking in rows}


@pytest.mark.parametrize("name", FINDINGS)
def test_each_check_finds_what_is_wrong_and_nothing_else(
    healths: dict[tuple[str, int], tuple[str, list[str], list[str]]], name: str
) -> None:
    """A finding makes a rollout unhealthy; without one it is so whether checks could run."""
    health, actual, lacking = healths["found", list(FINDINGS).index(name)]
    assert actual == sorted(FINDINGS[name][1])
    assert health == ("unhealthy" if actual else "unobserved" if lacking else "healthy")


@pytest.mark.parametrize("name", UNOBSERVED)
def test_checks_without_evidence_are_unobserved(
    healths: dict[tuple[str, int], tuple[str, list[str], list[str]]], name: str
) -> None:
    """A gap, or a field that was not recorded, takes just the checks that read it."""
    _, _, lacking = healths["unobserved", list(UNOBSERVED).index(name)]
    assert lacking == sorted(UNOBSERVED[name][1])


@pytest.mark.slow
def test_reward_plays_no_part(tmp_path: Path) -> None:
    """The same rows, failed instead of passed, are as healthy as before."""
    rows = [row for row, actual in FINDINGS.values() if actual not in OF_REWARDS]
    files = {
        f"reward{reward}_rollouts.jsonl": numbered([{**row, "reward": reward} for row in rows])
        for reward in (0, 1)
    }
    results = analyzed(tmp_path, files)
    passed, failed = (
        results.rows(f"""
            select task_id, health, findings, unobserved_checks from rollout_health
            where run_id = 'reward{reward}' order by task_id
        """)
        for reward in (0, 1)
    )
    assert passed == failed and len(passed) == len(rows)


def spoilt(rng: random.Random, value: Any) -> Any:
    """The value with something else here and there below it."""
    if rng.random() < 0.08:
        return rng.choice([None, "", "x", 0, -1, 1.5, True, [], {}, [[]], {"text": " "}, ["a"]])
    if isinstance(value, dict):
        return {key: spoilt(rng, inner) for key, inner in value.items()}
    return [spoilt(rng, inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.slow
def test_any_trajectory_can_be_judged(tmp_path: Path) -> None:
    """With anything where something else should be, every rollout is judged, and findings fit."""
    rng = random.Random(1)
    sound = [row for row, _ in FINDINGS.values() if isinstance(row.get("ng_trajectory"), dict)]
    rows = [
        {**row, "ng_trajectory": spoilt(rng, row["ng_trajectory"])}
        for row in sound
        for _ in range(9)
    ]
    results = analyzed(tmp_path, {"run_rollouts.jsonl": numbered(rows)})
    assert results.one("select count(*) from rollout_health") == len(rows)
    assert results.one("select count(distinct health) from rollout_health") == 3
    assert (
        results.one("""
        select count(*) from rollout_health where (health = 'unhealthy') <> (n_findings > 0)
            or (health = 'healthy' and len(unobserved_checks) > 0)
            or len(list_intersect(findings, unobserved_checks)) > 0
    """)
        == 0
    )


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A run in which everything that only a whole run shows has gone wrong once."""
    twice, broken = rollout(0, 0, model="m1"), '{"reward": 1.0, "resp'
    hot = rollout(1, 0, model="m2")
    hot["responses_create_params"] |= {"temperature": 0.7}
    cold = rollout(1, 1, model="m2")
    cold["responses_create_params"] |= {"temperature": 0.2}
    rows = [twice, twice, hot, cold, rollout(2, 0, reward=None)]
    lost = "".join(json.dumps(row) + "\n" for row in rows) + broken + "\n[1, 2]\n"
    failures = [
        failure(1, 0, "transient"),  # scored later
        failure(1, 0, "transient", _ng_attempt_index=1),
        failure(2, 0, "remote_agent_error"),  # recorded, never scored
        failure(2, 1, "judge_failed"),  # never recorded
        failure(3, 0, "timeout_exceeded"),  # the model's own
        failure(9, 0, "transient"),  # of another run
    ]
    asked_for = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0)]
    reported = [{"agent_ref": {"name": "a"}, "agent_metrics": {"mean/reward": 0.25}}]
    files = {
        "run_rollouts.jsonl": lost,
        "run_rollouts_failures.jsonl": failures,
        "run_rollouts_materialized_inputs.jsonl": [asked(*key) for key in asked_for],
        "wrong_rollouts.jsonl": [rollout(0, 0)],
        "wrong_rollouts_aggregate_metrics.json": json.dumps(reported),
        "unsafe_run_rollouts.jsonl": [rollout(0, index) for index in range(2)],
        "empty_rollouts.jsonl": "",
    }
    return analyzed(tmp_path_factory.mktemp("troubled"), files)


@facts("troubled")
def test_troubled_runs(troubled: Results, fact: Fact) -> None:
    """As tests/facts/troubled.test says."""
    fact.check(troubled)


@pytest.mark.slow
def test_failures_without_inputs_are_not_called_stale(tmp_path: Path) -> None:
    """Nothing says what was expected: a failure without a rollout may well be of this run."""
    files = {
        "run_rollouts.jsonl": [rollout(0, 0)],
        "run_rollouts_failures.jsonl": [failure(0, 0, "transient"), failure(5, 0, "transient")],
    }
    assert analyzed(tmp_path, files).one("select n_stale_failures from run_health") == 1


@pytest.mark.slow
def test_a_field_that_one_run_alone_holds_constant(tmp_path: Path) -> None:
    """The state that an answer is compared with, which should differ from task to task."""
    runs = {
        "a": lambda task: f"state {task}",
        "b": lambda _task: "state 0",
        "c": lambda task: f"state {task % 5}",
    }
    files = {
        f"{name}_rollouts.jsonl": [rollout(task, 0, goal={"state": of(task)}) for task in range(20)]
        for name, of in runs.items()
    }
    needs = ["health_findings", "findings", "comparison_settings"]
    results = analyzed(tmp_path, files, needs=needs)
    evidence = "state 0 in 20 rows; 20 values in 20 rows of a"
    assert results.rows("""
        select run_id, subject, evidence from health_findings where check_id = 'run_constant_field'
    """) == [("b", "goal.state", evidence)]
    assert results.rows("""
        select run_id, mode, is_of_scores from findings where kind = 'constant'
    """) == [("b", f"goal.state = {evidence}", True)]
    assert results.rows("""
        select base, candidate, base_value, candidate_value
        from comparison_settings
        where gives_rewards and setting = 'values of goal.state'
        order by all
    """) == [("a", "b", "many", "one"), ("b", "c", "one", "many")]


@together.each(
    (["A"] * 20, ["A", "B"] * 10, True),
    # One of them is another; few tasks; one answer alone; nobody gives it.
    (["A"] * 19 + ["B"], ["A", "B"] * 10, False),
    (["A"] * 19, ["A", "B"] * 9 + ["A"], False),
    (["A"] * 20, ["A"] * 20, False),
    (["Be polite"] * 20, ["Hello", "Hi"] * 10, False),
)
def test_one_key_at_all_tasks(keys: list[str], answers: list[str], is_found: bool) -> Batch:
    """Who always gives it passes all: the score says nothing of the questions."""
    results = yield [
        rollout(task, 0, output=wrote(answer), reward=float(key == answer), expected_answer=key)
        for task, (key, answer) in enumerate(zip(keys, answers, strict=True))
    ]
    assert results.rows("select check_id, subject, evidence from health_findings") == (
        [("run_constant_key", "expected_answer", "A in 20 of 20 rows, 20 tasks")] * is_found
    )
    assert results.rows("""
        select finding_no, mode, n_attempts, n_tasks from findings where kind = 'key'
    """) == ([(1, "expected_answer = A", 20, 20)] * is_found)


@pytest.mark.parametrize(("arguments", "code"), cases("health", "a_minimum_is_held"))
def test_a_minimum_is_held(troubled: Results, arguments: list[str], code: int) -> None:
    """A run below the minimum, or without a rate, ends the command with 1."""
    assert call("health", *arguments, "--warehouse", troubled.path).code == code


def test_health_for_people(troubled: Results) -> None:
    """A row a run, then a row a check with its count and a place to look at."""
    lines = call("health", "run", "--warehouse", troubled.path).stdout.splitlines()
    reported = [line.split() for line in lines]
    assert ["run", "4", "2", "2", "50.0%", "50.0%", "3"] in reported
    assert ["rollout_duplicate_identity", "rollout", "2", "1", "run/0:0"] in reported
    assert ["run_mixed_models", "run", "1", "1", "run", "model"] in reported


def test_health_for_programs(troubled: Results) -> None:
    """The runs with their counts, the checks with examples, and who is below the minimum."""
    ended = call("health", "--json", "--min-clean-rate", "0.6", "--warehouse", troubled.path)
    content = json.loads(ended.stdout)
    assert ended.code == 1 and content["below"] == ["empty", "run", "unsafe_run"]
    (run,) = [row for row in content["runs"] if row["run_id"] == "run"]
    assert (run["clean_rate"], run["n_stale_failures"]) == (0.5, 3)
    assert {
        "run_id": "run",
        "scope": "rollout",
        "check_id": "rollout_infrastructure_failure",
        "n_findings": 2,
        "n_places": 2,
        "examples": ["run/2:0", "run/2:1"],
    } in [{name: row[name] for name in row if name != "example"} for row in content["checks"]]


def test_what_was_planted_in_the_demo_is_found(demo: Path) -> None:
    """The committed demo, too."""
    assert_planted(Path(simulate.__file__).parent / "demo", demo)


def assert_planted(folder: Path, warehouse: Path) -> None:
    text = (folder / ".planted" / "planted_health.jsonl").read_text(encoding="utf-8")
    planted = {
        (str(row["_ng_task_index"]), row["_ng_rollout_index"]): ("unhealthy", row["checks"])
        for row in map(json.loads, text.splitlines())
    }
    rows = Results(warehouse.parent).rows(f"""
        select task_id, rollout_index, health, findings from rollout_health
        where run_id = '{OBSERVED_RUN}'
    """)
    assert planted.keys() <= {row[:2] for row in rows}
    for task, index, health, findings in rows:
        assert (health, findings) == planted.get((task, index), ("healthy", [])), (task, index)


@together.each(([60.0] * 10, True), ([60.0] * 9, False), ([60.0] * 9 + [61.0], False))
def test_one_duration_of_all_rows(seconds: list[float], is_constant: bool) -> Batch:
    """It is no measurement: it is reported, and nothing is computed from it."""
    results = yield [rollout(task, 0, total_run_time=each) for task, each in enumerate(seconds)]
    assert results.rows("""
        select check_id, evidence from health_findings where check_id like '%duration%'
    """) == ([("run_constant_duration", "60 s in 10 rows")] * is_constant)
    durations = results.column("select duration_s from rollouts order by task_id::int")
    assert durations == ([None] * len(seconds) if is_constant else seconds)
    assert not results.rows("from report.gaps where gap = 'durations'")
