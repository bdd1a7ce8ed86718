"""tau2-bench and tau-bench: simulations with their checks, trials, costs and published figures."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pipeline.ingest.formats import tau_bench
from tests.case_files import cases, filled
from tests.fact_files import facts_of
from tests.results import Row, analyzed


def task(number: int) -> Row:
    """A task with one action of its own."""
    return {**filled("formats", "tau2_task", number=number), "id": str(number)}


def simulation(number: int, trial: int | None, reward: float | None, **more: Any) -> Row:
    """An attempt at a task, checked by the criteria of that task unless `criteria` says so."""
    action = task(more.pop("criteria", number))["evaluation_criteria"]["actions"][0]
    inputs = {"number": number, "id": str(number), "trial": trial, "reward": reward}
    created = filled("formats", "tau2_simulation", **inputs, action=action, is_pass=reward == 1)
    return {**created, **({"reward_info": None} if reward is None else {}), **more}


INFO = cases("formats", "tau2_info")
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
    inputs = {"number": number, "trial": trial, "reward": reward, "is_pass": reward == 1}
    return {**filled("formats", "tau_attempt", **inputs), **more}


def files() -> dict[str, Any]:
    """A submission of four tasks of two trials, one never tried; and what may go wrong."""
    published = {"pass_1": 75.04, "pass_2": 50.0, "pass_3": None, "cost": 0.1}
    index = {"info": INFO, "tasks": TASKS, "simulation_index": [{"id": "s1-0"}, {"id": "s1-1"}]}
    renumbered = [simulation(1, 0, 1.0, criteria=2), simulation(2, 0, 0.0)]
    # Where an assertion was not asked for, the actions alone are those of task 6; it is task 5.
    alike = [{**task(5), "id": "6"}, task(5)]
    alike[1]["evaluation_criteria"] = {**alike[0]["evaluation_criteria"], "nl_assertions": ["kind"]}
    broken = attempt(1, 0, 0.0, info={"error": "RateLimitError: wait"}, traj=[])
    reported = attempt(0, 0, 1.0)
    reported["traj"][0]["content"] = "# Retail agent policy\n\nBe kind."
    alone = [
        simulation(1, None, 0.0, start_time="2026-01-01T00:00:02"),
        simulation(1, None, 1.0, start_time="2026-01-01T00:00:01"),
    ]
    request = [simulation(number, 0, None) for number in (1, 2, 3, 4)]
    listed = [task(number) for number in (1, 2, 3, 4)]
    actions = {
        1: [],
        2: [
            {"name": "tap", "requestor": "user", "arguments": {}},
            {"name": "book", "arguments": {"flight": 2, "seat": 1}, "compare_args": ["flight"]},
        ],
        3: [{"name": "book", "arguments": {"flight": 3}, "compare_args": []}],
        4: None,
    }
    for number, of_task in actions.items():
        listed[number - 1]["evaluation_criteria"] = {"actions": of_task}
    known = attempt(0, 0, 1.0)
    known["info"]["task"]["actions"] = [{"name": "book", "kwargs": {"flight": 1}}]
    return {
        "calls.json": json.dumps({**DOCUMENT, "tasks": listed, "simulations": request}),
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
        "list.json": json.dumps([known, attempt(0, 1, 0.0), broken, "what"]),
        f"{NAMED}.json": json.dumps([reported]),
        "alone.json": json.dumps({"domain": "retail", "model": "org/other", "simulations": alone}),
    }


test_simulations = facts_of(files(), "tau2")


@pytest.mark.slow
def test_why_the_model_stopped(tmp_path: Path) -> None:
    """As its provider says; how the simulation ended does not say it."""
    ends = {
        "a": {"choices": [{"finish_reason": "length"}]},
        "b": {"finish_reason": "stop"},
        "c": {"stop_reason": "max_tokens"},
        "d": None,
    }
    first = {"role": "assistant", "content": "first", "raw_data": {"finish_reason": "tool_calls"}}
    stopped = {"role": "user", "content": "###STOP###"}
    files = {}
    for name, raw in ends.items():
        last = {"role": "assistant", "content": f"last of {name}", "raw_data": raw}
        own = [simulation(1, 0, 0.0, messages=[first, last, stopped])]
        files[f"{name}.json"] = json.dumps({**DOCUMENT, "simulations": own})
    actual = analyzed(tmp_path, files, needs=["rollouts", "report.looked", "report.gaps"])
    query = "select run_id, finish_reason, limit_reached from rollouts order by all"
    assert actual.rows(query) == [
        ("a", "length", "length"),
        ("b", "stop", None),
        ("c", "max_tokens", "max_tokens"),
        ("d", None, None),
    ]
    assert actual.one("select n_limit_known from report.looked") == 3
    unknown = actual.rows("select run_id, claims from report.gaps where gap = 'endings'")
    assert unknown == [("d", "whether answers were cut at a token limit")]


def more_files() -> dict[str, Any]:
    """Copies, attempts of tau-bench below their figures, and names that tell a strategy."""
    document = {"info": {}, "tasks": [task(1)], "simulations": [simulation(1, 0, 1.0)]}
    timed = json.dumps({**document, "timestamp": "2026-01-02T03:04:05"})
    # Without a clock two runs may well have given the same.
    plain = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+", "noon", json.dumps(document))
    metrics = {"avg_reward": 0.5, "pass_hat_ks": {"1": 0.5}}
    listed = {"metrics": metrics, "results": [attempt(0, 0, 1.0), attempt(1, 0, 0.0)]}
    broken = [{**attempt(task, 0, 0.0), "info": {"error": "No connection."}} for task in range(3)]
    begun = attempt(0, 0, 1.0)
    begun["traj"][0]["content"] = "# Retail agent policy\n\nBe kind."
    names = (
        "act-org-x-0.0_range_0--1_user-gpt-4o-llm_0921131646",
        "own-agent-none-0.1_range_0-100_6_18_2025",
    )
    return {
        **{f"copies/{name}/results.json": timed for name in ("output", "artifacts")},
        **{f"alike/{name}/results.json": plain for name in ("first", "second")},
        **{f"{name}.json": json.dumps([attempt(0, 0, 1.0)]) for name in names},
        "figures.json": json.dumps(listed, indent=2),
        "broken.json": json.dumps([attempt(3, 0, 1.0), *broken]),
        "shop/begun.json": json.dumps([begun]),
        "shop/never.json": json.dumps([{**broken[0], "traj": []}]),
        "shop/elsewhere.json": json.dumps([{**broken[1], "traj": []}]),
    }


test_more_files = pytest.mark.slow(facts_of(more_files(), "tau2_more"))


TRACEBACK = """Traceback (most recent call last):
  File "run.py", line 1, in <module>
    solve()
{raised}
"""


def test_an_error_of_several_lines() -> None:
    """What was raised begins after the last line of code, also where its words are indented."""
    raised = 'litellm.RateLimitError: {\n  "code": 429\n}'
    info = {"error": "{", "traceback": TRACEBACK.format(raised=raised)}
    assert tau_bench._raised(info) == raised
    assert tau_bench._raised({"error": "no quota"}) == "no quota"


@pytest.mark.slow
def test_attempts_that_broke_down(tmp_path: Path) -> None:
    """The last line of a traceback is the error, and the harness is the cause, not the task."""
    raised = ("KeyError: 'seat'", "KeyError: 'seat'", "litellm.RateLimitError: no quota left")
    broken = [
        {
            **attempt(number, 0, 0.0),
            "info": {
                # Without words of its own, as an assertion has none.
                "error": "" if number == 4 else words.partition(": ")[2],
                "traceback": TRACEBACK.format(raised=words),
            },
        }
        for number, words in enumerate(raised, start=2)
    ]
    graded = [attempt(0, 0, 1.0), attempt(1, 0, 0.0)]
    files = {"list.json": json.dumps([*graded, *broken])}
    actual = analyzed(tmp_path, files, needs=("rollouts", "root_causes", "signs"))
    assert actual.rows("select task_id, reward from rollouts order by all") == [
        ("0", 1.0),
        ("1", 0.0),
        *((task, None) for task in "234"),
    ]
    signs = actual.rows("select task_id, value from signs where name = 'error_message'")
    assert {(str(number), error) for number, error in enumerate(raised, start=2)} <= {*signs}
    causes = "select task_id, cause, source, note from root_causes where cause is not null"
    notes = ("KeyError: <text>", "KeyError: <text>", raised[2])
    assert actual.rows(f"{causes} order by all") == [
        (str(number), "IR", "record", note) for number, note in enumerate(notes, start=2)
    ]
