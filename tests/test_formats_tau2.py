"""tau2-bench and tau-bench: simulations with their checks, trials, costs and published figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import pipeline
from tests.conftest import ROOT
from tests.lean import CHECKED, only
from tests.results import Results, Row, analyzed

CORPUS = ROOT.parent / "shared" / "formats_corpus" / "tau2"
NEEDS = (*CHECKED, "checks", "record_fields")


def task(number: int) -> Row:
    """A task with one action of its own."""
    action = {"action_id": f"{number}_0", "name": "book", "arguments": {"flight": number}}
    return {
        "id": str(number),
        "user_scenario": {"instructions": {"reason_for_call": f"Book flight {number}."}},
        "evaluation_criteria": {"actions": [action], "communicate_info": [], "nl_assertions": []},
    }


def simulation(number: int, trial: int | None, reward: float | None, **more: Any) -> Row:
    """An attempt at a task, checked by the criteria of that task unless `criteria` says so."""
    action = task(more.pop("criteria", number))["evaluation_criteria"]["actions"][0]
    checked = {
        "reward": reward,
        "db_check": {"db_match": reward == 1, "db_reward": reward},
        "action_checks": [{"action": action, "action_match": reward == 1, "action_reward": reward}],
        "env_assertions": [{"env_assertion": {"func_name": "is_booked"}, "met": reward == 1}],
        "reward_breakdown": {"DB": reward},
    }
    usage = {"prompt_tokens": 10, "completion_tokens": 3}
    arguments = {"flight": number}
    messages = [
        {"role": "assistant", "content": "Hello", "usage": usage},
        {"role": "user", "tool_calls": [{"id": "u", "name": "look", "arguments": {}}]},
        {"role": "tool", "id": "u", "content": "a screen", "requestor": "user"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "name": "book", "arguments": arguments}],
            "usage": usage,
        },
        {"role": "tool", "id": "c", "content": "no seat", "error": True},
    ]
    said = {
        "id": f"s{number}-{trial}",
        "task_id": str(number),
        "trial": trial,
        "reward_info": checked if reward is not None else None,
        "messages": messages,
        "duration": 6.5,
        "agent_cost": 0.25,
        "user_cost": 0.5,
        "termination_reason": "user_stop",
    }
    return {**said, **more}


INFO = {
    "num_trials": 2,
    "max_steps": 30,
    "agent_info": {"llm": "org/agent", "llm_args": {"temperature": 0.5}},
    "user_info": {"llm": "org/user"},
    "environment_info": {"domain_name": "airline", "policy": "Be kind."},
}
SIMULATIONS = [
    simulation(1, 0, 1.0),
    simulation(1, 1, 1.0),
    simulation(2, 0, 0.0, termination_reason="max_steps"),
    simulation(2, 1, 1.0),
    simulation(3, 0, 0.0, termination_reason="infrastructure_error"),
    simulation(3, 1, None, messages=None),
]
NAMED = "tool-calling-org-x-0.5_range_0--1_user-gpt-4o-llm_0921131646"
TASKS = [task(number) for number in (1, 2, 3, 4)]
DOCUMENT = {"timestamp": "t", "info": INFO, "tasks": TASKS, "simulations": SIMULATIONS}


def attempt(number: int, trial: int, reward: float, **more: Any) -> Row:
    """An element of a list of tau-bench."""
    scored = {"reward": reward, "info": {"r_actions": reward == 1, "gt_data_hash": "x"}}
    tool = {"id": "c", "function": {"name": "book", "arguments": '{"flight": 1}'}}
    info = {"task": {"instruction": f"You are {number}."}, "reward_info": scored, "user_cost": 0.1}
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [tool]},
        {"role": "tool", "tool_call_id": "c", "content": "Error: no seat"},
        {"role": "assistant", "content": "Sorry"},
    ]
    said = {"task_id": number, "reward": reward, "info": info, "traj": messages, "trial": trial}
    return {**said, **more}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A submission of four tasks of two trials, one never tried; and what may go wrong."""
    published = {"pass_1": 75.04, "pass_2": 50.0, "pass_3": None, "cost": 0.1}
    index = {"info": INFO, "tasks": TASKS, "simulation_index": [{"id": "s1-0"}, {"id": "s1-1"}]}
    renumbered = [simulation(1, 0, 1.0, criteria=2), simulation(2, 0, 0.0)]
    # Where an assertion was not asked for, the actions alone are those of task 6; it is task 5.
    alike = [{**task(5), "id": "6"}, task(5)]
    alike[1]["evaluation_criteria"] = {**alike[0]["evaluation_criteria"], "nl_assertions": ["kind"]}
    broken = attempt(1, 0, 0.0, info={"error": "RateLimitError: wait"}, traj=[])
    told = attempt(0, 0, 1.0)
    told["traj"][0]["content"] = "# Retail agent policy\n\nBe kind."
    alone = [
        simulation(1, None, 0.0, start_time="2026-01-01T00:00:02"),
        simulation(1, None, 1.0, start_time="2026-01-01T00:00:01"),
    ]
    files = {
        "sub/trajectories/flights.json": json.dumps(DOCUMENT, indent=1),
        "sub/submission.json": json.dumps({"results": {"airline": published}}),
        "renumbered.json": json.dumps({**DOCUMENT, "simulations": renumbered}),
        "alike.json": json.dumps(
            {**DOCUMENT, "tasks": alike, "simulations": [simulation(5, 0, 1.0)]}
        ),
        "voice/results.json": json.dumps(index),
        "voice/simulations/s1-0.json": json.dumps(simulation(1, 0, 1.0)),
        "voice/simulations/s1-1.json": json.dumps(simulation(1, 1, 0.0))[:-9],
        "cut.json": json.dumps(DOCUMENT)[:-900],
        "late.json": json.dumps(dict(reversed(DOCUMENT.items()))),
        "list.json": json.dumps([attempt(0, 0, 1.0), attempt(0, 1, 0.0), broken, "what"]),
        f"{NAMED}.json": json.dumps([told]),
        "alone.json": json.dumps({"domain": "retail", "model": "org/other", "simulations": alone}),
    }
    return analyzed(tmp_path_factory.mktemp("tau2"), files, needs=NEEDS)


def test_attempts(found: Results) -> None:
    """Trials are repeats, tokens and cost the agent's; broken infrastructure is no score of 0."""
    assert found.rows(
        "select benchmark, model, n_tasks, n_rollouts, n_scored, n_expected from runs "
        "where run_id = 'flights'"
    ) == [("airline", "org/agent", 4, 6, 4, 8)]
    assert found.rows(
        "select task_id, rollout_index, reward, finish_reason, input_tokens, output_tokens, "
        "duration_s, cost, n_tool_calls, n_tool_errors from rollouts where run_id = 'flights' "
        "order by 1, 2"
    ) == [
        ("1", 0, 1.0, "user_stop", 20, 6, 6.5, 0.25, 2, 1),
        ("1", 1, 1.0, "user_stop", 20, 6, 6.5, 0.25, 2, 1),
        ("2", 0, 0.0, "max_steps", 20, 6, 6.5, 0.25, 2, 1),
        ("2", 1, 1.0, "user_stop", 20, 6, 6.5, 0.25, 2, 1),
        ("3", 0, None, "infrastructure_error", 20, 6, 6.5, 0.25, 2, 1),
        ("3", 1, None, "user_stop", None, None, 6.5, 0.25, None, None),
    ]
    assert found.column(
        "select distinct tool from events where tool <> '' and run_id = 'flights' order by 1"
    ) == ["book", "user:look"]


def test_checks(found: Results) -> None:
    """Actions, assertions, the database and the parts of the reward are checks, and say why not."""
    assert found.rows(
        "select source, check_name, is_passed, message from checks "
        "where run_id = 'flights' and task_id = '2' and rollout_index = 0 order by all"
    ) == [
        ("action_checks", "book", False, '{"flight": 2}'),
        ("db_check", "db_match", False, None),
        ("env_assertions", "is_booked", False, None),
        ("reward_breakdown", "DB", False, None),
    ]
    assert found.column(
        "select distinct value from record_fields where field = 'termination_reason' order by 1"
    ) == ["infrastructure_error", "max_steps", "user_stop"]


def test_published(found: Results) -> None:
    """pass^k of a submission are found again, rounded as they are."""
    assert found.rows("select metric, ours, status, reason from reported_checks order by 1") == [
        ("submission.json airline/cost", None, "not comparable", "a figure we do not compute"),
        ("submission.json airline/pass_1", 75.0, "equal", None),
        ("submission.json airline/pass_2", 50.0, "equal", None),
        ("tasks x num_trials", 6.0, "not comparable", "the rows here are not those that it counts"),
    ]


def test_a_renumbered_simulation(found: Results) -> None:
    """What was asked is the scenario of the task whose criteria it was checked by."""
    assert found.rows(
        "select task_id, prompt from task_prompts where run_id = 'renumbered' order by 1"
    ) == [("1", "Book flight 2."), ("2", "Book flight 2.")]
    assert '"criteria_of_task"' not in found.one(
        "select verifier from rollouts where run_id = 'alike'"
    )


def test_a_file_for_each_simulation(found: Results) -> None:
    """results.json with an index, and simulations beside it, one of them damaged."""
    assert found.rows(
        "select task_id, rollout_index, reward from rollouts where run_id = 'voice'"
    ) == [("1", 0, 1.0)]
    assert found.rows("select n_expected, model from runs where run_id = 'voice'") == [
        (8, "org/agent")
    ]


def test_damage(found: Results) -> None:
    """What was written before the end is read, the rest is a reject; a late header is found."""
    assert found.rows(
        "select run_id, n_rollouts, model from runs where run_id in ('cut', 'late') order by 1"
    ) == [("cut", 4, "org/agent"), ("late", 6, "org/agent")]
    assert found.rows("select source_file, source_line from rejects order by 1") == [
        ("cut.json", 5),
        ("list.json", 4),
        ("voice/simulations/s1-1.json", 1),
    ]


def test_tau_bench(found: Results) -> None:
    """A list of attempts; one that broke down has no score, though a 0 was written."""
    assert found.rows(
        "select task_id, rollout_index, reward, n_tool_errors, final_text from rollouts "
        "where run_id = 'list' order by 1, 2"
    ) == [("0", 0, 1.0, 1, "Sorry"), ("0", 1, 0.0, 1, "Sorry"), ("1", 0, None, None, None)]
    assert found.rows("select distinct source, check_name from checks where run_id = 'list'") == [
        ("reward_breakdown", "actions")
    ]


def test_what_the_file_of_tau_bench_is_called(found: Results) -> None:
    """Its name tells the model, its policy the domain."""
    assert found.rows("select benchmark, model from runs where run_id like 'tool-calling%'") == [
        ("retail", "org-x")
    ]


def test_simulations_alone(found: Results) -> None:
    """A document made by others: without trials, attempts are in the order they began."""
    assert found.rows(
        "select benchmark, runs.model, rollout_index, reward from rollouts "
        "join runs using (run_id) where run_id = 'alone' order by 3"
    ) == [("retail", "org/other", 0, 1.0), ("retail", "org/other", 1, 0.0)]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_corpus(tmp_path: Path) -> None:
    """The figures that the corpus is known by: 28 of 50 airline tasks, published as 56.0."""
    with only(*NEEDS):
        pipeline.analyze(CORPUS, out=tmp_path)
    found = Results(tmp_path)
    assert found.rows("select benchmark, n_tasks, n_rollouts, n_expected from runs") == [
        ("airline", 50, 50, 50)
    ]
    assert found.one("select count(*) from rollouts where is_pass") == 28
    assert found.rows("select reported, round(ours, 9), status from reported_checks") == [
        (56.0, 56.0, "equal"),
        (50.0, 50.0, "equal"),
    ]
    # Its simulations were renumbered: the first one's user is the one of task 27.
    assert "Ethan Martin" in found.one("select prompt from tasks where task_id = '0'")
