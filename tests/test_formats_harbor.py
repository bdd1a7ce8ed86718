"""Harbor: jobs of several agents, trials that failed, trajectories in parts, published figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.ingest.formats import harbor
from tests.case_files import cases, filled
from tests.fact_files import facts_of
from tests.results import Row, analyzed


def trial(task: str, name: str, reward: Any, *, agent: str = "solver", **more: Any) -> Row:
    """The result of a trial; `reward` is one number, all rewards, or none."""
    rewards = reward if isinstance(reward, dict) else {"reward": reward}
    result = None if reward is None else {"rewards": rewards}
    inputs = {"task": task, "name": name, "agent": agent, "result": result}
    return {**filled("formats", "harbor_trial", **inputs), **more}


def step(source: str, message: Any, **more: Any) -> Row:
    """A step of a trajectory."""
    return {"source": source, "message": message, **more}


def trajectory(*steps: Row, **more: Any) -> str:
    """A trajectory of these steps."""
    agent = {"name": "solver", "model_name": "org/m"}
    return json.dumps({"schema_version": "ATIF-v1.7", "agent": agent, "steps": steps, **more})


ACTED = trajectory(
    *cases("formats", "harbor_acted"),
    subagent_trajectories=[
        {"session_id": "s2", "agent": {"name": "helper"}, "steps": [step("agent", "Summary.")]}
    ],
)
FURTHER = trajectory(
    step("user", "Prompt with the time 12:01", is_copied_context=True), step("agent", "Done.")
)


def files() -> dict[str, Any]:
    """A job of two agents: rewards of all kinds, an exception, steps, a killed trial, damage."""
    error = {"exception_type": "AgentTimeoutError", "exception_message": "after 900 s"}
    step_results = [
        {"step_name": "one", "verifier_result": {"rewards": {"reward": 1}}},
        {"step_name": "two", "verifier_result": {"rewards": {"reward": 0}}},
    ]
    first = {"started_at": "2026-01-01T00:00:00Z"}
    results = {
        "t1__aaaaaaa": trial("t1", "t1__aaaaaaa", 0, exception_info=error),
        "t1__bbbbbbb": trial("t1", "t1__bbbbbbb", None, exception_info=error, **first),
        "t2__ccccccc": trial("t2", "t2__ccccccc", {"reward": 1, "style": 0.5}),
        "t2__ddddddd": trial(
            "t2", "t2__ddddddd", 1, step_results=step_results, started_at="2026-01-01T00:00:02Z"
        ),
        "t2__eeeeeee": trial("t2", "t2__eeeeeee", {"a": 1, "b": 0}, agent="other"),
    }
    stats = {
        "n_running_trials": 1,
        "evals": {
            "solver__m__deeds": {"metrics": [{"mean": 0.5}], "pass_at_k": {"2": 0.5}},
            "other__m__deeds": {"metrics": [{"best": 1}]},
        },
    }
    config = {"task": {"path": "x/t3", "source": "deeds"}, "trial_name": "t3__fffffff"}
    config["agent"] = {"name": "solver", "model_name": "org/m"}
    inputs: dict[str, Any] = {f"jobs/j/{name}/result.json": [row] for name, row in results.items()}
    tests = [{"name": "test_a", "status": "passed"}, {"name": "test_b", "status": "failed"}]
    return inputs | {
        "jobs/j/result.json": [
            {"n_total_trials": 7, "stats": stats, "trial_results": [{"trial_name": "t1__aaaaaaa"}]}
        ],
        "jobs/j/config.json": [{"job_name": "j", "n_attempts": 2}],
        "jobs/j/t1__aaaaaaa/agent/trajectory.json": ACTED,
        "jobs/j/t1__aaaaaaa/agent/trajectory.cont-1.json": FURTHER,
        "jobs/j/t1__aaaaaaa/agent/sessions/rollout-1.jsonl": '{"reward": 1, "response": "x"}\n',
        "jobs/j/t1__aaaaaaa/verifier/ctrf.json": [{"results": {"tests": tests}}],
        "jobs/j/t2__ccccccc/agent/trajectory.json": ACTED.replace("12:01", "12:02"),
        "jobs/j/t2__ccccccc/verifier/test-stdout.txt": "FAILED tests/t.py::test_c - no\n",
        "jobs/j/t2__ddddddd/steps/two/agent/trajectory.json": trajectory(
            step("user", "Second."), step("agent", "B.")
        ),
        "jobs/j/t2__ddddddd/steps/one/agent/trajectory.json": trajectory(
            step("user", "First."), step("agent", "A.")
        ),
        "jobs/j/t2__eeeeeee/agent/trajectory.json": '{"schema_version": "ATIF-v1.7", "steps": [',
        "jobs/j/t3__fffffff/config.json": [config],
        "jobs/j/t4__ggggggg/config.json": [{**config, "trial_name": "t4__ggggggg"}],
        "jobs/j/t4__ggggggg/result.json": '{"trial_name": "t4__g',
    }


test_job = facts_of(files(), "harbor")


def test_a_folder_called_tasks_names_no_benchmark() -> None:
    """Of tasks of a folder of one's own Harbor takes its name; the one above it may say more."""
    for path, name in (
        ("tasks/a", None),
        ("/home/me/deeds/tasks/a", "deeds"),
        ("../tasks/a", None),
    ):
        by_name = {"config": {"task": {"path": path, "source": "tasks"}}}
        assert harbor._benchmark(by_name, "tasks") == name
    assert harbor._benchmark({}, "terminal-bench") == "terminal-bench"


def test_a_test_says_what_it_found() -> None:
    """From the trace of pytest; the message of a report says only that it failed."""
    trace = ">   assert x == 2\nE       AssertionError: no\nE       assert 1 == 2\nE         \n"
    assert harbor._assertion({"trace": trace}) == "AssertionError: no; assert 1 == 2"
    assert harbor._assertion({"message": "failed"}) is None


TRACED = """Traceback (most recent call last):
  File "openai.py", line 437, in make
    await create(
          ^^^^^^
openai.BadRequestError: Error code: 400

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "mapping.py", line 534, in exception_type
    raise BadRequestError(
litellm.exceptions.BadRequestError: request (33107 tokens) exceeds
the context (32768 tokens)
"""


def test_an_exception_without_a_result_is_the_error(tmp_path: Path) -> None:
    """Of a trial that was killed after it failed; beside a result the traceback is a log."""
    config = trial("t1", "t1__a", None)["config"]
    inputs: dict[str, Any] = {
        f"j/{task}__a/config.json": [{**config, "task": {"path": task}, "trial_name": f"{task}__a"}]
        for task in ("t1", "t2", "t3", "t4")
    }
    texts = {"t1": TRACED, "t2": "", "t3": TRACED.partition("litellm")[0] + "TimeoutError"}
    inputs |= {f"j/{task}__a/exception.txt": content for task, content in texts.items()}
    inputs["j/t5__a/result.json"] = [trial("t5", "t5__a", 1)]
    inputs["j/t5__a/exception.txt"] = TRACED
    results = analyzed(tmp_path, inputs, needs=("rollouts",))
    unfinished = "no result: killed, or still running"
    assert results.rows(
        """
        select task_id, reward, verifier ->> 'exception_type', verifier ->> 'error_message',
            verifier ->> 'trial_state'
        from rollouts order by task_id
        """
    ) == [
        (
            "t1",
            None,
            "BadRequestError",
            "BadRequestError: request (33107 tokens) exceeds\nthe context (32768 tokens)",
            None,
        ),
        ("t2", None, None, None, unfinished),
        ("t3", None, "TimeoutError", "TimeoutError", None),
        ("t4", None, None, None, unfinished),
        ("t5", 1.0, None, None, None),
    ]


@pytest.mark.slow
def test_of_very_many_tests_those_that_fail_are_kept(tmp_path: Path) -> None:
    """By name, though they come last, with how many there are; and the end of a long message."""
    tests: list[Row] = [{"name": f"test_{n}", "status": "passed"} for n in range(700)]
    tests += [{"name": "test_last", "status": "failed", "message": "x" * 30_000 + " 1 is not 2"}]
    inputs = {
        "jobs/j/t1__aaaaaaa/result.json": [trial("t1", "t1__aaaaaaa", 0)],
        "jobs/j/t1__aaaaaaa/verifier/ctrf.json": [{"results": {"tests": tests}}],
        "jobs/j/t2__bbbbbbb/result.json": [trial("t2", "t2__bbbbbbb", 1)],
    }
    results = analyzed(tmp_path, inputs, needs=("checks", "failure_notes"))
    assert results.rows(
        "select check_name, right(message, 10) from checks where source = 'tests' and not is_passed"
    ) == [("test_last", "1 is not 2")]
    (note, grader) = results.column("select note from failure_notes order by note_no")
    assert note == "700 of 701 checks met, fails test_last"
    assert grader.endswith("1 is not 2")


def job_without_trials() -> dict[str, Any]:
    """A job that names trials without a folder: its mean is not compared with what is here.

    And its only score, which is the reward, is no check that fails.
    """
    lost = {"reward": {"1.0": ["a__aaaaaaa", "b__bbbbbbb"], "0.0": ["c__ccccccc"]}}
    group = {"metrics": [{"mean": 0.667, "reward": 0.75}], "reward_stats": lost}
    inputs: dict[str, Any] = {
        f"j/{name}/result.json": [trial(name[0], name, reward, source="tasks")]
        for name, reward in (("a__aaaaaaa", 1), ("c__ccccccc", 0.5))
    }
    inputs["j/result.json"] = [
        {"n_total_trials": 3, "stats": {"evals": {"solver__m__tasks": group}}}
    ]
    inputs["j/config.json"] = [{"job_name": "j"}]
    return inputs


test_figures_of_trials_that_are_not_here = pytest.mark.slow(
    facts_of(job_without_trials(), "harbor_lost")
)


KWARGS = {"plan": False, "tools": ["web"], "api_key": "s", "memory": None}


def stopped_jobs() -> dict[str, Any]:
    """Jobs that were stopped: of one the config names all tasks, of others more than were planned.

    Of these one counts no whole number of attempts per task, two do; of the last all of its dataset
    were planned.
    """
    inputs: dict[str, Any] = {}
    for job, n_planned in (("all", 8), ("few", 3), ("glob", 6), ("seen", 6), ("whole", 22)):
        tasks = [f"{'all' if job in ('seen', 'whole') else job}{place}" for place in range(4)]
        names = {"glob": ["glob?", "other*"], "seen": [*tasks[:2], "glob0", "x1"], "whole": None}
        group = {"metrics": [{"mean": 1.0}], "reward_stats": {"reward": {"1.0": [f"{job}0__a"]}}}
        inputs |= {
            f"{job}/{tasks[0]}__a/result.json": [trial(tasks[0], f"{job}0__a", 1)],
            f"{job}/{tasks[1]}__b/result.json": [trial(tasks[1], f"{job}1__b", None)],
            f"{job}/config.json": [
                {
                    "job_name": job,
                    "n_attempts": 2,
                    "n_concurrent_trials": 3,
                    "agents": [{"name": "solver", "kwargs": KWARGS if job == "all" else {}}],
                    "datasets": [{"name": "deeds", "task_names": names.get(job, tasks)}],
                }
            ],
            f"{job}/result.json": [
                {
                    "n_total_trials": n_planned,
                    "finished_at": None,
                    "stats": {"evals": {"solver__m__deeds": group}},
                }
            ],
            # What a service reports of its own limits is no setting.
            f"{job}/service-usage.json": [{"key_info": {"limit": 200}}],
        }
    return inputs


def sorted_trials() -> dict[str, Any]:
    """The trials of one job in folders by how they ended, below its result under another name."""
    inputs: dict[str, Any] = {
        "sorted/source.json": [{"id": "j1", "n_total_trials": 9, "finished_at": None, "stats": {}}],
        "sorted/damaged.json": '{"id": "j1", "n_total_trials": 9, "stats": {',
    }
    for folder, reward in (("passed", 1), ("failed", 0)):
        for place in range(2):
            name = f"{folder}{place}__a"
            row = trial(f"s{folder}{place}", name, reward)
            row["config"] = {**row.get("config", {}), "job_id": "j1"}
            inputs[f"sorted/{folder}/{name}/result.json"] = [row]
    return inputs


test_a_job_that_was_stopped = pytest.mark.slow(
    facts_of(
        stopped_jobs() | sorted_trials(),
        "harbor_stopped",
    )
)


SOURCE = {"nemo_gym": {"source": {"task_index": 7, "rollout_index": 3}}}
# An ATIF file by itself is an unscored attempt; Gym's export says which one.
ALONE = {
    "t/5-0.json": trajectory(step("user", "Q"), extra=SOURCE),
    "t/a.trajectory.json": trajectory(step("user", "Q"), step("agent", "A")),
    "t/a.trajectory.cont-1.json": FURTHER,
    "t/b.trajectory.json": '{"schema_version": "ATIF-v1.2"}',
}
test_trajectories_alone = pytest.mark.slow(facts_of(ALONE, "atif_alone"))


@pytest.mark.slow
def test_jobs_of_one_task_are_one_run(tmp_path: Path) -> None:
    """Jobs whose names differ in the task or the time alone; others, and several trials, do not."""
    jobs = {
        "gpt-plain-fix_queue-rep1": "org/fix-queue",
        "gpt-plain-add-cookies-rep1": "org/add-cookies",
        "gpt-tool-fix-queue-rep1": "org/fix-queue",
        "gpt-tool-add-cookies-rep1": "org/add-cookies",
        "gpt-tool-add-cookies-rep2": "org/add-cookies",
        "2026-01-01__10-00-00": "org/fix-queue",
        "2026-01-01__11-00-00": "org/add-cookies",
        "prefixes-queue": "org/fixes",
    }
    inputs: dict[str, Any] = {
        f"jobs/{job}/t__{place}/result.json": [trial(task, f"t__{place}", place % 2)]
        for place, (job, task) in enumerate(jobs.items())
    }
    inputs["jobs/gpt-plain-fix_queue-rep1/result.json"] = [
        {"n_total_trials": 1, "stats": {"evals": {"solver__m__deeds": {"metrics": [{"mean": 0}]}}}}
    ]
    results = analyzed(tmp_path, inputs, needs=["rollouts"])
    counted = results.rows("select run_id, count(*) from rollouts group by all order by all")
    assert counted == [
        ("gpt-plain-rep1", 2),
        ("gpt-tool-add-cookies-rep2", 1),
        ("gpt-tool-rep1", 2),
        ("jobs", 2),
        ("prefixes-queue", 1),
    ]


@pytest.mark.slow
def test_jobs_that_planned_more_are_not_pooled(tmp_path: Path) -> None:
    """A job whose result or config plans several tasks is its own run, however little of it ran.

    Nor are the few jobs of one task among others pooled that differ from them in the time alone.
    """
    inputs: dict[str, Any] = {}
    for place, planned in enumerate(({"n_total_trials": 1}, {"n_total_trials": 15}, {})):
        job = f"jobs/2026-01-01__1{place}-00-00"
        inputs[f"{job}/t{place}__a/result.json"] = [trial(f"t{place}", f"t{place}__a", 1)]
        # What a job that was killed at once meant to do is in its config alone.
        datasets = [{"name": "deeds", "task_names": [f"t{each}" for each in range(15)]}]
        inputs[f"{job}/config.json"] = [{"n_attempts": 1, "datasets": datasets}]
        if planned:
            inputs[f"{job}/result.json"] = [{**planned, "stats": {}}]
    results = analyzed(tmp_path, inputs, needs=("run_metrics",))
    assert results.rows("select run_id, n_rollouts, n_expected from run_metrics order by all") == [
        ("2026-01-01__10-00-00", 1, 1),
        ("2026-01-01__11-00-00", 1, 15),
        ("2026-01-01__12-00-00", 1, 15),
    ]


@pytest.mark.slow
def test_trials_in_folders_of_their_tasks(tmp_path: Path) -> None:
    """Results of another name, what is beside them, and one job in the folders of several tasks."""
    inputs: dict[str, Any] = {}
    for task in ("fix-queue", "add-cookies"):
        for place in (0, 1):
            folder = f"{task}/runs/gpt-5/trial-{place}"
            inputs[f"{folder}/trial-result.json"] = [
                trial(f"org/{task}", f"{task}__{place}", place)
            ]
            inputs[f"{folder}/grader.json"] = [{"gate": "closed"}]
    results = analyzed(tmp_path, inputs, needs=["rollouts"])
    counted = results.rows("select run_id, count(*), sum(reward) from rollouts group by all")
    assert counted == [("gpt-5", 4, 2.0)]
    assert results.rows("select distinct verifier ->> '$.grader.gate' from rollouts") == [
        ("closed",)
    ]
