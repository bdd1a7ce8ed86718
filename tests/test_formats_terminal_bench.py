"""Terminal-Bench 1: a run's own file and its trials', null verdicts, published figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pipeline
from tests.case_files import filled
from tests.fact_files import facts_of
from tests.lean import CHECKED, only
from tests.results import Results, Row, analyzed, write

# What a terminal shows in the end; the last line but for the prompt, in color, and a title.
PANE = f"""{"x" * 9000}
root@0a1b:/app# mini -t 'Do a'\r
\x1b]0;app\x07\x1b[31mbash: mini: command not found\x1b[0m
root@0a1b:/app#


"""


def trial(task: str, nth: int, verdict: Any, **more: Any) -> Row:
    """What a trial says of itself."""
    return {
        **filled("formats", "terminal_bench_trial", task=task, nth=nth, verdict=verdict),
        **more,
    }


def files() -> dict[str, Any]:
    """Two tasks twice; the last trial is in its own file alone, another one in both."""
    tests = {"test_a": "passed", "test_b": "failed"}
    listed = [
        trial("b", 2, False, parser_results=tests, failure_mode="agent_timeout"),
        trial("a", 1, True),
        trial("a", 2, None, total_input_tokens=None, total_output_tokens=None),
        {"id": "?"},
    ]
    figures = {"accuracy": 1 / 3, "pass_at_k": {"2": 0.5}}
    about = {
        "model_name": "org/m",
        "agent_name": "terminus",
        "dataset_name": "core",
        "dataset_version": "0.1",
        "n_attempts": 2,
        "task_ids": ["a", "b", "c"],
        **figures,
    }
    whole = [trial("a", 1, True), trial("a", 2, None), trial("b", 1, False), trial("b", 2, True)]
    return {
        # A run's file by itself.
        "my-run/results.json": [{"results": whole, "accuracy": 0.5, "pass_at_k": {"2": 1.0}}],
        "runs/r1/results.json": [{"results": listed, **figures}],
        "runs/r1/run_metadata.json": [about],
        "runs/r1/a/a.1-of-2.r1/results.json": [trial("a", 1, True)],
        "runs/r1/a/a.1-of-2.r1/agent-logs/rollouts.jsonl": '{"reward": 1}\n',
        "runs/r1/a/a.1-of-2.r1/panes/post-agent.txt": PANE,
        "runs/r1/a/a.2-of-2.r1/panes/post-agent.txt": b"\xff\xfe\x00 \n$ \n",
        "runs/r1/b/b.1-of-2.r1/panes/post-agent.txt": "Saved <b>a.txt</b>\n  (env) bash-5.1$ ",
        "runs/r1/b/b.1-of-2.r1/panes/post-test.txt": "1 passed",
        # Not of the trial whose name it has.
        "runs/r1/other/r1/b/b.2-of-2.r1/panes/post-agent.txt": "copied",
        "runs/r1/b/b.1-of-2.r1/results.json": [trial("b", 1, True)],
        "runs/r2/a/a.1-of-2.r2/results.json": '{"trial_name": "a.1-of-2.r2", "is_resol',
        "runs/r3/results.json": '{"results": [{"trial_name": "x", "is_resolved": tr',
    }


test_run = facts_of(files(), "terminal_bench")


def part(task: str, folder: str = "", *, is_passed: bool = True, **more: Any) -> dict[str, Any]:
    """The files of a run of one task, started by itself."""
    about = {
        "run_id": f"of-{task}",
        "agent_name": "terminus",
        "model_name": "org/m",
        "dataset_name": None,
        "dataset_path": "/home/u/my-bench/tasks",
        "task_ids": [task],
        "accuracy": float(is_passed),
        **more,
    }
    results = {"results": [trial(task, 1, is_passed)], "accuracy": float(is_passed)}
    run = f"{task}/{folder}m"
    return {f"{run}/run_metadata.json": [about], f"{run}/results.json": [results]}


def started_once_per_task() -> dict[str, Any]:
    """Two tasks of one run, another commit, and two starts of one task, which are repeats."""
    again = part("e", "x/", agent_name="other") | part(
        "e", "y/", agent_name="other", is_passed=False
    )
    other = part("f", agent_name="other")
    return part("a") | part("b") | part("c", commit_hash="1") | again | other


test_a_run_per_task = facts_of(started_once_per_task(), "terminal_bench_parts")


@pytest.mark.slow
def test_what_terminals_show_last_is_a_mode(tmp_path: Path) -> None:
    """A shared last line is counted in failures and in passes, and the event shows it."""
    missing, saved = "bash: mini: command not found", "Saved the trajectory"
    listed = [trial(f"t{n}", 1, n % 4 == 0) for n in range(20)]
    run: dict[str, Any] = {"r1/results.json": [{"results": listed}]}
    for n, one in enumerate(listed):
        last = missing if n % 4 > 1 else saved
        pane = f"r1/{one['task_id']}/{one['trial_name']}/panes/post-agent.txt"
        run[pane] = f"$ mini\n{last}\nroot@{n}:/app# \n"
    results = analyzed(tmp_path, run, needs=("failure_modes", "events"))
    modes = results.rows("""
        select mode, n_failures, n_failures_observed, n_passes, n_passes_observed
        from failure_modes where run_id is null and parent is null and mode like 'terminal%'
    """)
    assert modes == [(f"terminal_last_line = {missing}", 10, 15, 0, 5)]
    shown = results.rows("select text from events where kind = 'tool_result'")
    assert shown.count((f"$ mini\n{missing}",)) == 10


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[pipeline.Analysis, Results]:
    """A run with a copy in the folder of another, and runs whose files have names of their own."""
    whole = [{"results": [trial("d", 1, True)]}]
    other = [{"results": [trial("d", 1, False)]}]
    about = {"run_id": "x", "dataset_name": "core", "agent_name": "terminus", "n_attempts": 1}
    listed = [trial("a", 1, True), trial("b", 1, False)]
    files = {
        "r1/results.json": whole,
        "r2/results.json": other,
        "r2/r1/results.json": whole,
        "own/one.json": [{"id": "0f", "results": listed}],
        "own/one_meta.json": [{**about, "task_ids": ["a", "b", "c"], "accuracy": 1 / 3}],
        # The names of the two were exchanged.
        "own/two.json": [{**about, "task_ids": ["a", "b"]}],
        "own/two_run-metadata.json": [{"id": "1f", "results": listed}],
    }
    out = tmp_path_factory.mktemp("folders")
    with only(*CHECKED, "expected"):
        analysis = pipeline.analyze(write(out / "results", files), out=out / "out")
    return analysis, Results(out / "out")


def test_a_copy_of_a_run_is_not_read(folders: tuple[pipeline.Analysis, Results]) -> None:
    """A run in the folder of another is named as a copy, not as lines that are damaged."""
    analysis, actual = folders
    by_name = {notice.subject: notice.message for notice in analysis.warnings}
    assert by_name["r2/r1/results.json"] == "not read: it is an identical copy of r1/results.json"
    assert actual.one("select count(*) from rollouts where task_id = 'd'") == 2


def test_runs_by_names_of_their_own(folders: tuple[pipeline.Analysis, Results]) -> None:
    """Results and metadata are recognised by what they begin with, and joined by their names."""
    _, actual = folders
    query = "select run_id, agent, n_rollouts, n_expected from runs where agent is not null"
    assert actual.rows(f"{query} order by run_id") == [
        ("one", "terminus", 2, 3),
        ("two", "terminus", 2, 2),
    ]
