"""Harbor: jobs of several agents, trials that failed, trajectories in parts, published figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import pipeline
from pipeline.ingest.formats import harbor_trial
from tests.conftest import ROOT
from tests.lean import CHECKED, only
from tests.results import Results, Row, analyzed

CORPUS = ROOT.parent / "shared" / "formats_corpus" / "harbor"
NEEDS = (*CHECKED, "checks", "record_fields", "events", "expected", "task_prompts")


def trial(task: str, name: str, reward: Any, *, agent: str = "solver", **more: Any) -> Row:
    """The result of a trial; `reward` is one number, all rewards, or none."""
    rewards = reward if isinstance(reward, dict) else {"reward": reward}
    return {
        "task_name": task,
        "trial_name": name,
        "task_checksum": f"sum of {task}",
        "source": "deeds",
        "config": {"agent": {"name": agent, "model_name": "org/m"}, "task": {"source": "deeds"}},
        "agent_info": {"name": agent, "model_info": {"name": "m", "provider": "org"}},
        "agent_result": {"n_input_tokens": 10, "n_output_tokens": 2, "cost_usd": 0.5},
        "verifier_result": None if reward is None else {"rewards": rewards},
        "started_at": "2026-01-01T00:00:01Z",
        "agent_execution": {
            "started_at": "2026-01-01T00:00:00Z",
            "finished_at": "2026-01-01T00:00:07Z",
        },
        **more,
    }


def step(source: str, message: Any, **more: Any) -> Row:
    """A step of a trajectory."""
    return {"source": source, "message": message, **more}


def trajectory(*steps: Row, **more: Any) -> str:
    """A trajectory of these steps."""
    agent = {"name": "solver", "model_name": "org/m"}
    return json.dumps({"schema_version": "ATIF-v1.7", "agent": agent, "steps": steps, **more})


CALL = {"tool_call_id": "c1", "function_name": "bash", "arguments": {"cmd": "ls"}}
ACTED = trajectory(
    step("user", "Prompt with the time 12:01"),
    step(
        "agent",
        [{"type": "text", "text": "Look."}, {"type": "image", "source": {"path": "a.png"}}],
        reasoning_content="hm",
        tool_calls=[CALL],
        observation={"results": [{"content": "file"}]},
    ),
    step(
        "system",
        "Handed over.",
        observation={"results": [{"subagent_trajectory_ref": [{"session_id": "s2"}]}]},
    ),
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
            "solver__m__deeds": {
                "metrics": [{"mean": 0.5}],
                "pass_at_k": {"2": 0.5},
            },
            "other__m__deeds": {"metrics": [{"best": 1}]},
        },
    }
    config = {"task": {"path": "x/t3", "source": "deeds"}, "trial_name": "t3__fffffff"}
    config["agent"] = {"name": "solver", "model_name": "org/m"}
    given: dict[str, Any] = {f"jobs/j/{name}/result.json": [row] for name, row in results.items()}
    tests = [{"name": "test_a", "status": "passed"}, {"name": "test_b", "status": "failed"}]
    return given | {
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


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The job, analysed."""
    return analyzed(tmp_path_factory.mktemp("harbor"), files(), needs=NEEDS)


def test_runs(job: Results) -> None:
    """Agents of a job are runs; a trial without a result is an attempt of the agent asked for."""
    assert job.rows(
        "select run_id, benchmark, model, agent, n_repeats, n_scored from runs order by 1"
    ) == [
        ("j--other-org-m-deeds", "deeds", "org/m", "other", 2, 0),
        ("j--solver-org-m-deeds", "deeds", "org/m", "solver", 2, 3),
    ]
    assert job.rows(
        "select task_id, rollout_index, reward, input_tokens, cost, duration_s, "
        "string_split(source_file, '/')[3] from rollouts where run_id like '%solver%' order by all"
    ) == [
        ("t1", 0, None, 10, 0.5, 7.0, "t1__bbbbbbb"),
        ("t1", 1, 0.0, 10, 0.5, 7.0, "t1__aaaaaaa"),
        ("t2", 0, 1.0, 10, 0.5, 7.0, "t2__ccccccc"),
        ("t2", 1, 1.0, 10, 0.5, 7.0, "t2__ddddddd"),
        ("t3", 0, None, None, None, None, "t3__fffffff"),
    ]


def test_rewards_and_tests_are_checks(job: Results) -> None:
    """All rewards, those of steps too, and tests listed or printed; two without a name are none."""
    assert job.rows(
        "select task_id, rollout_index, source, check_name, is_passed, score from checks "
        "where run_id like 'j--solver%' and (source, check_name) <> ('score', 'reward') "
        "order by all"
    ) == [
        ("t1", 1, "tests", "test_a", True, None),
        ("t1", 1, "tests", "test_b", False, None),
        ("t2", 0, "log", "tests/t.py::test_c", False, None),
        ("t2", 0, "scores", "style", False, 0.5),
        ("t2", 1, "scores", "one.reward", True, 1.0),
        ("t2", 1, "scores", "two.reward", False, 0.0),
    ]
    assert job.rows("select reward from rollouts where run_id like 'j--other%'") == [(None,)]


def test_transcripts(job: Results) -> None:
    """Parts are one transcript without what was copied; steps follow one another; log is no run."""
    events = "select kind, role, tool, call_id, text from events where run_id like '%solver%' and "
    assert job.rows(events + "task_id = 't1' order by seq") == [
        ("reasoning", None, None, None, "hm"),
        ("message", "assistant", None, None, "Look.\n[image a.png]"),
        ("tool_call", None, "bash", "c1", None),
        ("tool_result", None, None, "c1", "file"),
        ("message", "system", None, None, "Handed over."),
        ("tool_result", None, None, "", "[subagent helper] Summary."),
        ("message", "assistant", None, None, "Done."),
    ]
    assert job.column(
        "select text from events where task_id = 't2' and rollout_index = 1 order by seq"
    ) == ["A.", "Second.", "B."]
    assert job.rows("select task_id, n_turns from rollouts where n_turns is null order by all") == [
        ("t1", None),
        ("t2", None),
        ("t3", None),
    ]


def test_a_folder_called_tasks_names_no_benchmark() -> None:
    """Of tasks of a folder of one's own Harbor takes its name; the one above it may say more."""
    for path, name in (
        ("tasks/a", None),
        ("/home/me/deeds/tasks/a", "deeds"),
        ("../tasks/a", None),
    ):
        found = {"config": {"task": {"path": path, "source": "tasks"}}}
        assert harbor_trial._benchmark(found, "tasks") == name
    assert harbor_trial._benchmark({}, "terminal-bench") == "terminal-bench"


@pytest.mark.slow
def test_figures_of_trials_that_are_not_here(tmp_path: Path) -> None:
    """A job that names trials without a folder: its mean is not compared with what is here.

    And its only score, which is the reward, is no check that fails.
    """
    lost = {"reward": {"1.0": ["a__aaaaaaa", "b__bbbbbbb"], "0.0": ["c__ccccccc"]}}
    group = {"metrics": [{"mean": 0.667, "reward": 0.75}], "reward_stats": lost}
    given: dict[str, Any] = {
        f"j/{name}/result.json": [trial(name[0], name, reward, source="tasks")]
        for name, reward in (("a__aaaaaaa", 1), ("c__ccccccc", 0.5))
    }
    given["j/result.json"] = [
        {"n_total_trials": 3, "stats": {"evals": {"solver__m__tasks": group}}}
    ]
    given["j/config.json"] = [{"job_name": "j"}]
    found = analyzed(tmp_path, given, needs=(*NEEDS, "report.strips"))
    assert found.rows("select metric, status, reason from reported_checks order by 1") == [
        ("mean", "not comparable", "the rows here are not those that it counts"),
        ("reward", "equal", None),
    ]
    assert found.column("select distinct check_name from checks") == ["reward"]
    assert found.column("select checks from report.strips") == [None, None]


def test_a_task_is_its_checksum(job: Results) -> None:
    """Prompts that differ between attempts ask the same; what has no transcript asks it too."""
    assert job.rows("select task_id, n_prompts, prompt from tasks where task_id = 't1'") == [
        ("t1", 1, "Prompt with the time 12:01")
    ]


def test_exceptions_are_outcomes(job: Results) -> None:
    """What ended a trial is a field of its record, scored or not."""
    assert job.rows(
        "select task_id, rollout_index, value from record_fields where field = 'exception_type' "
        "order by all"
    ) == [("t1", 0, "AgentTimeoutError"), ("t1", 1, "AgentTimeoutError")]


def test_published_figures(job: Results) -> None:
    """Harbor's mean and pass@k count what was not scored as 0; a running trial is in neither."""
    running = "defined otherwise: of the trials that had ended"
    assert job.rows("select metric, ours, status, reason from reported_checks order by all") == [
        ("other__m__deeds/best", None, "not comparable", running),
        ("solver__m__deeds/mean", 0.4, "not comparable", running),
        ("solver__m__deeds/pass_at_k/2", 0.5, "equal", None),
    ]


def test_damage(job: Results) -> None:
    """What cannot be read is a reject that names the file; the trial keeps its row."""
    assert sorted(job.rows("select source_file, reason from rejects")) == [
        (
            "jobs/j/t2__eeeeeee/result.json",
            "agent/trajectory.json: not JSON: Expecting value at line 1",
        ),
        ("jobs/j/t4__ggggggg/result.json", "not JSON: Unterminated string starting at at line 1"),
    ]


@pytest.mark.slow
def test_trajectories_alone(tmp_path: Path) -> None:
    """An ATIF file by itself is an unscored attempt; Gym's export says which one."""
    source = {"task_index": 7, "rollout_index": 3}
    given = {
        "t/5-0.json": trajectory(step("user", "Q"), extra={"nemo_gym": {"source": source}}),
        "t/a.trajectory.json": trajectory(step("user", "Q"), step("agent", "A")),
        "t/a.trajectory.cont-1.json": FURTHER,
        "t/b.trajectory.json": '{"schema_version": "ATIF-v1.2"}',
    }
    found = analyzed(tmp_path, given, needs=NEEDS)
    assert found.rows(
        "select run_id, task_id, rollout_index, reward, final_text from rollouts order by all"
    ) == [("t", "7", 3, None, None), ("t", "a", 0, None, "Done.")]
    assert found.column("select source_file from rejects") == ["t/b.trajectory.json"]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_corpus(tmp_path: Path) -> None:
    """The figures that the corpus is known by."""
    with only(*NEEDS):
        pipeline.analyze([CORPUS / "jobs", CORPUS / "public" / "atif"], out=tmp_path)
    found = Results(tmp_path)
    assert found.rows(
        "select run_id, benchmark, n_tasks, n_rollouts, n_expected, n_scored from runs order by 1"
    )[-1] == ("coin-a", "coin-a", 4, 12, 12, 11)
    assert found.rows("select metric, round(ours, 5), status from reported_checks order by 1") == [
        ("mean", 0.58333, "equal"),
        ("pass_at_k/2", 0.83333, "equal"),
    ]
    assert found.rows(
        "select count(*), sum(n_events), sum(input_tokens) from rollouts where run_id <> 'coin-a'"
    ) == [(3, 24, 8242)]
