"""SWE-bench: predictions, reports of runs and instances, and trajectories, joined by instance."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline.artifact import Kind
from pipeline.ingest import discover, formats
from pipeline.ingest.formats import swe_bench, swe_transcripts
from tests.fact_files import facts_of
from tests.results import Results, Row, analyzed, lines, write


def prediction(instance: str, patch: str | None = "diff --git a/x b/x", **more: Any) -> Row:
    """A line of all_preds.jsonl."""
    return {"instance_id": instance, "model_name_or_path": "org/m", "model_patch": patch, **more}


def graded(instance: str, *, is_resolved: bool) -> Row:
    """The report of one instance."""
    tests = {
        "FAIL_TO_PASS": {
            "success": ["t_fix"] * is_resolved,
            "failure": ["t_fix"] * (not is_resolved),
        },
        "PASS_TO_PASS": {"success": ["t_old"], "failure": []},
    }
    return {
        instance: {
            "patch_is_None": False,
            "patch_exists": True,
            "patch_successfully_applied": True,
            "resolved": is_resolved,
            "tests_status": tests,
        }
    }


def report(**lists: list[str]) -> Row:
    """The report of a run, with lists by their names."""
    names = "completed incomplete empty_patch submitted resolved unresolved error".split()
    ids = {name: lists.get(name, []) for name in names}
    counts = {f"{name}_instances": len(ids[name]) for name in names if name != "incomplete"}
    return {
        "total_instances": 500,
        **counts,
        **{f"{name}_ids": listed for name, listed in ids.items()},
        "schema_version": 2,
    }


def steps(instance: str, *actions: str) -> Row:
    """What SWE-agent did; a demonstration before the question is none of it."""
    return {
        "environment": "swe_main",
        "trajectory": [
            {"thought": f"I will {one}", "action": f"{one} a.py", "observation": f"did {one}"}
            for one in actions
        ],
        "history": [
            {"role": "system", "content": "You program."},
            {"role": "user", "content": "a demonstration", "is_demo": True},
            {"role": "user", "content": f"Solve {instance}."},
            {"role": "assistant", "content": "I will"},
        ],
        "info": {
            "exit_status": "submitted (exit_cost)",
            "model_stats": {
                "instance_cost": 0.5,
                "tokens_sent": 700,
                "tokens_received": 30,
                "api_calls": len(actions),
            },
        },
    }


CHAT = {
    "info": {
        "exit_status": "Submitted",
        "submission": "diff",
        "config": {"model": {"model_name": "org/mini"}},
        "model_stats": {"instance_cost": 0.1, "api_calls": 2},
    },
    "messages": [
        {"role": "system", "content": "You program."},
        {"role": "user", "content": "Solve m-1."},
        {
            "role": "assistant",
            "content": "THOUGHT: look\n```bash\nls -a\n```",
            "extra": {
                "timestamp": 100.0,
                "response": {"usage": {"prompt_tokens": 10, "completion_tokens": 2}},
            },
        },
        {"role": "user", "content": "<returncode>0</returncode>"},
        {
            "role": "assistant",
            "content": "done",
            "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": "{}"}}],
            "extra": {
                "timestamp": 130.0,
                "response": {"usage": {"prompt_tokens": 20, "completion_tokens": 3}},
            },
        },
        {"role": "tool", "tool_call_id": "c1", "content": "submitted"},
        {"role": "exit", "content": "diff"},
    ],
    "trajectory_format": "mini-swe-agent-1.1",
}


def events(instance: str, *, is_new: bool) -> list[Row]:
    """One call and its result, as OpenHands wrote them before and after its version 1."""
    if is_new:
        content = [{"type": "text", "text": f"ok {instance}"}]
        return [
            {
                "kind": "SystemPromptEvent",
                "system_prompt": {"type": "text", "text": "You program."},
            },
            {"kind": "MessageEvent", "source": "user", "llm_message": {"content": content}},
            {
                "kind": "ActionEvent",
                "thought": content,
                "tool_name": "terminal",
                "tool_call_id": "t1",
                "tool_call": {"arguments": '{"command": "ls"}'},
            },
            {"kind": "ObservationEvent", "tool_call_id": "t1", "observation": {"content": content}},
            {"kind": "AgentErrorEvent", "tool_call_id": "t2", "error": "no such tool"},
        ]
    times = ("2025-01-01T00:00:00", "2025-01-01T00:00:09")
    return [
        {"source": "agent", "action": "system", "args": {"content": "You"}, "timestamp": times[0]},
        {"source": "user", "action": "message", "args": {"content": f"Solve {instance}."}},
        {"source": "user", "action": "recall", "args": {"query": "Solve"}},
        {"source": "environment", "observation": "recall", "content": "nothing", "cause": 2},
        {
            "id": 4,
            "source": "agent",
            "action": "run",
            "args": {"command": "ls", "thought": "look"},
            "tool_call_metadata": {"function_name": "execute_bash", "tool_call_id": "t1"},
        },
        {"source": "agent", "observation": "run", "content": "a.py", "cause": 4},
        {"source": "agent", "action": "finish", "args": {"thought": "done"}, "timestamp": times[1]},
    ]


def output(instance: str, *, is_new: bool, **more: Any) -> Row:
    """A row of output.jsonl."""
    return {
        "instance_id": instance,
        "test_result": {"git_patch": "diff"},
        "metadata": {
            "agent_class": "CodeActAgent",
            "llm_config": {"model": "org/hands"},
            "dataset": "princeton-nlp/SWE-bench_Lite",
        },
        "history": events(instance, is_new=is_new),
        "metrics": {
            "accumulated_cost": 0.2,
            "accumulated_token_usage": {"prompt_tokens": 50, "completion_tokens": 5},
        },
        "error": None,
        **more,
    }


def test_lists_that_begin_with_many_others(tmp_path: Path) -> None:
    """A report of lists is one though what was resolved comes after all that was generated."""
    many = [f"x-{place}" for place in range(20_000)]
    lists = {"no_generation": [], "generated": many, "no_apply": ["x-1"], "resolved": ["x-0"]}
    (tmp_path / "run").mkdir()
    (tmp_path / "run/report.json").write_text(json.dumps(lists))
    predictions = [prediction(name) for name in many[:3]]
    (tmp_path / "run/predictions.jsonl").write_text("\n".join(map(json.dumps, predictions)))
    (artifact,) = (one for one in discover.artifacts((tmp_path,)) if one.kind is Kind.ROLLOUTS)
    rows = [one.value for one in swe_bench.read(artifact) if isinstance(one, formats.Row)]
    verdicts = [(row["reward"], row["evaluation"]) for row in rows]
    assert verdicts == [(1.0, "resolved"), (0.0, "no_apply"), (0.0, "unresolved")]


def files() -> dict[str, Any]:
    """A run of each layout."""
    evaluated = "agent/logs/run_evaluation/r1/org__m"
    alone = {"no_generation": [], "no_logs": [], "resolved": ["x-1"]}
    return {
        # What the harness leaves: a run report, reports of instances, and predictions.
        "agent/preds.json": [
            {name: prediction(name) for name in ("a-1", "a-2", "a-4", "a-5")}
            | {"a-3": prediction("a-3", "")}
        ],
        "agent/a-1/a-1.traj": [steps("a-1", "open", "edit")],
        "agent/a-2/a-2.traj": '{"trajectory": [{"act',
        "agent/a-9/a-9.traj": [steps("a-9", "open")],
        "agent/org__m.r1.json": [
            report(
                submitted=["a-1", "a-2", "a-3", "a-4"],
                completed=["a-1", "a-2"],
                resolved=["a-1"],
                unresolved=["a-2"],
                empty_patch=["a-3"],
                error=["a-4"],
                incomplete=["a-7", "a-8"],
            )
        ],
        f"{evaluated}/a-1/report.json": [graded("a-1", is_resolved=True)],
        f"{evaluated}/a-2/report.json": [graded("a-2", is_resolved=False)],
        f"{evaluated}/a-2/run_instance.log": "log\n",
        # A submission of the experiments; x-4 has no log, x-3 no patch.
        "evaluation/lite/2024_agent/all_preds.jsonl": [
            prediction("x-1"),
            prediction("x-2"),
            prediction("x-3", None),
            prediction("x-4"),
            {"model_patch": "of nothing", "instance_id": None},
        ],
        "evaluation/lite/2024_agent/results/results.json": [
            {"no_generation": ["x-3"], "no_logs": ["x-4"], "resolved": ["x-1"]}
        ],
        "evaluation/lite/2024_agent/trajs/x-1.traj": [steps("x-1", "open")],
        "evaluation/lite/2024_agent/logs/x-2/report.json": [graded("x-2", is_resolved=False)],
        # The same without predictions would be a run without a failure.
        "evaluation/lite/2025_other/results/results.json": [alone],
        "evaluation/lite/2023_old/results/results.json": [
            {
                "no_generation": ["o-4"],
                "generated": ["o-1", "o-2", "o-3", "o-5"],
                "with_logs": ["o-1", "o-2", "o-3"],
                "no_apply": [],
                "applied": ["o-1", "o-2"],
                "test_timeout": ["o-3"],
                "resolved": ["o-1"],
            }
        ],
        # Of damaged predictions it is not known which ones they lack.
        "cut/preds.json": '{"c-1": {"instance_id": "c-1", "model_patch": "diff"}, "c-2": {"ins',
        "cut/c-1/c-1.traj": [steps("c-1", "open")],
        "cut/c-2/c-2.traj": [steps("c-2", "open")],
        "mini/run/m-1/m-1.traj.json": [CHAT],
        "hands/CodeActAgent/output.jsonl": [
            output("h-1", is_new=False),
            output("h-2", is_new=True, error="RuntimeError: Agent reached maximum iteration"),
        ],
        "hands/CodeActAgent/output.swebench.jsonl": [prediction("h-1"), prediction("h-2")],
        "hands/CodeActAgent/report.json": [
            report(submitted=["h-1", "h-2"], resolved=["h-2"], unresolved=["h-1"])
        ],
        "hands2/CodeActAgent/output.jsonl": [
            output("h-1", is_new=True, report={"resolved": True}),
            output("h-2", is_new=True, report={"resolved": False, "error_eval": True}),
        ],
    }


test_runs = facts_of(files(), "swe_bench")


IDS = ["a__b-1", "a__b-2", "a__b-3"]
PREDICTED = json.dumps({one: prediction(one) for one in IDS})
REPORT = json.dumps(report(submitted=IDS, completed=IDS, resolved=IDS[:1], unresolved=IDS[1:]))
STRAY = json.dumps(report(submitted=["z-1"], completed=["z-1"], resolved=["z-1"]))
CHATS = {f"{one}/{one}.traj.json": json.dumps(CHAT) for one in IDS}
STEPS = {f"trajectories/{one}.traj": json.dumps(steps(one, "open")) for one in IDS}
OWN = {"preds.json": PREDICTED, "org__m.r1.json": REPORT, **CHATS}
GRADED = {one: json.dumps(graded(one, is_resolved=one == IDS[0])) for one in IDS}
SIX = [f"c__d-{number}" for number in range(6)]
GRADED_ALONE = {
    f"logs/run_evaluation/best/org__m/{one}/report.json": json.dumps(
        graded(one, is_resolved=one in SIX[:2])
    )
    for one in SIX
}


def summed_up(resolved: list[str]) -> str:
    """A report of the run of six instances."""
    unresolved = [one for one in SIX if one not in resolved]
    return json.dumps(
        report(submitted=SIX, completed=SIX, resolved=resolved, unresolved=unresolved)
    )


LAYOUTS: dict[str, tuple[Mapping[str, Any], list[str]]] = {
    "all in one folder": (OWN, []),
    "lines and a document": ({**OWN, "all_preds.jsonl": [prediction(one) for one in IDS]}, []),
    "folders by what they hold": (
        {"predictions/preds.json": PREDICTED, **STEPS, "evaluation/report.json": REPORT},
        [],
    ),
    "a report of other instances": ({**OWN, "other.r2.json": STRAY}, ["other.r2.json"]),
    "one that names no run": ({**OWN, "report.json": STRAY}, ["report.json"]),
    "reports of instances in a folder below a report": (
        {
            "org__m.r1.json": REPORT,
            **{f"run evaluation/{one}/report.json": GRADED[one] for one in IDS[:2]},
        },
        [],
    ),
    "reports of instances in a folder below predictions": (
        {
            "preds.json": PREDICTED,
            **CHATS,
            **{f"eval_results/org__m/{one}/report.json": GRADED[one] for one in IDS},
        },
        [],
    ),
    "trajectories and reports in two folders": (
        {
            "trajs/preds.json": PREDICTED,
            **{f"trajs/{name}": chat for name, chat in CHATS.items()},
            "trajs/reports/verified__test__m.json": REPORT,
            **{f"logs/{one}/report.json": GRADED[one] for one in IDS},
        },
        [],
    ),
    "a report elsewhere that lists nothing": (
        {
            "trajs/preds.json": PREDICTED,
            **{f"trajs/{name}": chat for name, chat in CHATS.items()},
            "trajs/reports/verified__test__m.json": json.dumps(report()),
        },
        ["trajs/reports/verified__test__m.json"],
    ),
    "a report by another name with the verdicts of the run": (
        {**GRADED_ALONE, "org__m.other.json": summed_up(SIX[:2])},
        [],
    ),
    "a report by another name with other verdicts": (
        {**GRADED_ALONE, "org__m.other.json": summed_up(SIX[1:3])},
        ["org__m.other.json"],
    ),
    "a report of one of two predictions, by which patches are empty": (
        {
            "preds_1.json": json.dumps({one: prediction(one) for one in (*SIX, "z-1")}),
            "preds_2.json": json.dumps(
                {one: prediction(one, None if one == "z-1" else "diff") for one in (*SIX, "z-1")}
            ),
            "other.r1.json": json.dumps(
                report(submitted=[*SIX, "z-1"], completed=SIX, resolved=SIX, empty_patch=["z-1"])
            ),
        },
        ["preds_1.json"],
    ),
    "repeats": (
        {f"preds_{n}.jsonl": [prediction(one) for one in IDS] for n in (1, 2)},
        ["preds_2.jsonl"],
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_files_of_one_run(name: str, tmp_path: Path) -> None:
    """Predictions, trajectories and the evaluation of the same instances are one run."""
    files, others = LAYOUTS[name]
    write(tmp_path / "run", files)
    listed = [
        formats.ListedFile(path, path.relative_to(tmp_path).as_posix())
        for path in sorted(tmp_path.rglob("*"))
        if path.is_file()
    ]
    runs = defaultdict(set)
    for file, claim in formats.claims(listed).items():
        runs[claim.stem, claim.mark].add(file.removeprefix("run/"))
    assert sorted(map(sorted, runs.values())) == sorted(
        [sorted(files.keys() - {*others}), *([one] for one in others)]
    )


def graded_apart() -> dict[str, Any]:
    """Evaluations that are apart from what they grade, each in a folder of its own."""
    # A run beside a report of other instances.
    files = {f"run/{name}": content for name, content in (OWN | {"report.json": STRAY}).items()}
    # Two runs of one model with their evaluations.
    for run in ("first", "results"):
        patches = {one: {**prediction(one), "model_patch": f"{run} {one}"} for one in IDS}
        files[f"two/{run}/preds.json"] = json.dumps(patches)
        for one in IDS:
            files[f"two/{run}/{one}/{one}.traj.json"] = json.dumps(CHAT)
            folder = f"two/logs/run_evaluation/eval_of_{run}/org__m/{one}"
            is_resolved = (run == "first") == (one == IDS[0])
            files[f"{folder}/report.json"] = json.dumps(graded(one, is_resolved=is_resolved))
            files[f"{folder}/patch.diff"] = f"{run} {one}\n"
    # Reports that do not name their instance: their folder does; equal ones are no copies.
    files["unnamed/results_summary.csv"] = "instance_id,resolved\nx,True\ny,False\n"
    for one, is_resolved in (("x", True), ("y", False), ("z", False)):
        (flat,) = graded(one, is_resolved=is_resolved).values()
        files[f"unnamed/logs/{one}/report.json"] = json.dumps(flat)
    # One document by instance, and a report of a run that lists what was not run.
    predictions = lines(prediction(name, "diff") for name in ("x", "y", "z"))
    verdicts = {**graded("x", is_resolved=True), **graded("y", is_resolved=False)}
    listed = report(submitted=["x"], resolved=["x"], incomplete=["y"])
    files |= {
        "many/predictions.jsonl": predictions,
        "many/evaluation_report.json": json.dumps(verdicts),
        "other/all_preds.jsonl": predictions,
        "other/results.json": json.dumps(listed),
        # Nobody evaluated these.
        "open/preds.json": json.dumps({"x": prediction("x", ""), "y": prediction("y")}),
    }
    # A document per prediction, some graded by their patch or a part of its files.
    fixes = "diff --git a/x b/x\n+1\n"
    patches = {
        "fixed": f"{fixes}diff --git a/test_x b/test_x\n+2\n",
        "broken": fixes,
        "empty": "",
        "refused": "diff --git a/y b/y\n+3\n",
        "unknown": "diff --git a/z b/z\n+4\n",
    }
    evaluated = "each/logs/run_evaluation/r1/other_name"
    for one, patch in patches.items():
        files[f"each/predictions/m/{one}.json"] = json.dumps(prediction(one, patch))
    for one in ("fixed", "broken"):
        verdict = graded(one, is_resolved=one == "fixed")
        files[f"{evaluated}/{one}/report.json"] = json.dumps(verdict)
        files[f"{evaluated}/{one}/patch.diff"] = fixes
    log = "INFO - >>>>> Patch Apply Failed:\nHunk #2 FAILED at 239.\n"
    # What the report of a run lists as errors may be such, too.
    listed = report(submitted=["a", "b", "c"], completed=["a"], resolved=["a"])
    files["erred/m.r.json"] = json.dumps({**listed, "error_ids": ["b", "c"]})
    files["erred/run_evaluation/a/report.json"] = json.dumps(graded("a", is_resolved=True))
    files["erred/run_evaluation/b/run_instance.log"] = log
    files["erred/run_evaluation/c/run_instance.log"] = "INFO - no space left on device"
    return files | {f"{evaluated}/refused/run_instance.log": log}


test_evaluations = facts_of(graded_apart(), "swe_bench_graded")


def named_alike() -> dict[str, Any]:
    """Evaluations below folders of their run and model, and what says so by its name."""
    files: dict[str, Any] = {}
    for run, resolved in (("r1", ["a", "b"]), ("r2", ["a"])):
        listed = report(submitted=["a", "b"], resolved=resolved, completed=["a", "b"])
        files[f"twice/org__m.{run}.json"] = json.dumps(listed)
        for one in ("a", "b"):
            verdict = graded(one, is_resolved=one in resolved)
            files[f"twice/eval-logs/{run}/org__m/{one}/report.json"] = json.dumps(verdict)
    # The patches that were applied are not those of the file; one was never evaluated.
    files["apart/results/list/predictions.jsonl"] = lines(
        {**prediction(name), "model_name_or_path": "org/one"} for name in ("c", "d", "e")
    )
    for one in ("c", "d"):
        folder = f"apart/logs/run_evaluation/r/org__one/{one}"
        files[f"{folder}/report.json"] = json.dumps(graded(one, is_resolved=one == "c"))
        files[f"{folder}/patch.diff"] = "diff --git a/other b/other\n+1\n"
    return files


test_evaluations_by_name = pytest.mark.slow(facts_of(named_alike(), "swe_bench_named"))


@pytest.mark.slow
def test_equal_summaries_of_other_attempts_are_no_copies(tmp_path: Path) -> None:
    """Two of three runs are copies: reports of instances are of the attempts, too."""
    ids = [f"a__b-{number}" for number in range(6)]
    summary = json.dumps(report(submitted=ids, completed=ids, resolved=ids[:2], unresolved=ids[2:]))
    files: dict[str, Any] = {}
    for run in ("one", "same", "other"):
        files[f"{run}/org__m.r1.json"] = summary
        for one in ids:
            verdict = graded(one, is_resolved=one in ids[:2])
            if run == "other":
                verdict[one]["tests_status"]["PASS_TO_PASS"] = {"success": [run], "failure": []}
            files[f"{run}/eval_results/{one}/report.json"] = json.dumps(verdict)
    results = analyzed(tmp_path, files, needs=["findings"])
    copies = results.rows("select run_id, other_runs from findings where kind = 'copies'")
    assert copies == [("one", ["same"])]


def measured() -> dict[str, Any]:
    """What instances took, beside their predictions, and once more where two runs have them."""
    model = {"model_name_or_path": "m", "model_patch": "diff"}
    predictions = [{"instance_id": f"o__r-{n}", **model} for n in (1, 2, 3, 3)]
    took = {"cost_usd": 0.5, "input_tokens": 0, "output_tokens": 70, "duration_sec": 12.5}
    rows = [{"instance_id": f"o__r-{n}", "metrics": took} for n in (1, 2, 2, 3)]
    plain = [{"instance_id": "o__r-1", "cost": 0.25}]
    above = [{"instanceId": "o__r-4", "inputTokens": 2, "cacheReadTokens": 98, "durationMs": 1500}]
    return {
        "c/above.jsonl": above,
        "c/eval/all_preds.jsonl": [{"instance_id": "o__r-4", **model}],
        "a/all_preds.jsonl": predictions,
        "a/metrics.jsonl": rows,
        "b/x_preds.jsonl": predictions[:2],
        "b/y_preds.jsonl": [{**one, "model_patch": "other"} for one in predictions[:2]],
        "b/spent.jsonl": plain,
    }


def listed_incomplete() -> dict[str, Any]:
    """Reports that list instances without a prediction, and patches that were never tested."""
    ids = [f"e__f-{number}" for number in range(6)]
    chat = {
        "info": {"submission": "diff"},
        "messages": [
            {"role": "user", "content": "Solve.", "timestamp": 1000},
            {"role": "assistant", "content": "done", "timestamp": 1045},
        ],
    }
    listed = report(
        submitted=ids[:5],
        completed=ids[:3],
        resolved=ids[:2],
        unresolved=ids[2:3],
        empty_patch=ids[3:4],
        error=ids[4:5],
        incomplete=ids[5:],
    )
    evaluated = "few/logs/run_evaluation/r/org__m"
    predictions = {one: prediction(one, "diff" * (one != ids[3])) for one in ids[:5]}
    return {
        "few/preds.json": json.dumps(predictions),
        "few/org__m.r.json": json.dumps(listed),
        f"few/{ids[0]}/{ids[0]}.traj.json": json.dumps(chat),
        **{
            f"{evaluated}/{one}/report.json": json.dumps(graded(one, is_resolved=one in ids[:2]))
            for one in ids[:3]
        },
        f"{evaluated}/{ids[4]}/run_instance.log": "INFO - >>>>> Patch Apply Failed:\n",
        # The others show that these two could have been tested.
        "other/org__m.q.json": json.dumps(
            report(submitted=ids[:5], completed=ids[:5], resolved=ids[:5], incomplete=SIX)
        ),
        **{
            f"other/logs/run_evaluation/q/org__m/{one}/report.json": json.dumps(
                graded(one, is_resolved=True)
            )
            for one in ids[:5]
        },
    }


test_incomplete_and_untested = facts_of(
    listed_incomplete(),
    "swe_bench_incomplete",
)
test_measures_beside_predictions = pytest.mark.slow(facts_of(measured(), "swe_bench_measures"))


def ended() -> dict[str, Any]:
    """Predictions of mini-swe-agent with what it writes of each start, and one report alone."""
    statuses = {"a-0": "Submitted", "a-1": "TimeoutExpired", "a-2": "LimitsExceeded"}
    first = {"instances_by_exit_status": {"RateLimitError": ["a-0", "a-1"], "Submitted": ["a-3"]}}
    later = {"instances_by_exit_status": {status: [one] for one, status in statuses.items()}}
    patches = {"a-0": "", "a-1": "", "a-2": "", "a-3": "diff --git a/x b/x"}
    resolved = report(
        submitted=["b-0", "b-1"], completed=["b-0", "b-1"], resolved=["b-0"], unresolved=["b-1"]
    )
    return {
        "mini/preds.json": json.dumps(
            {one: prediction(one, patch) for one, patch in patches.items()}
        ),
        "mini/exit_statuses_20.5.yaml": json.dumps(later),
        "mini/exit_statuses_9.25.yaml": json.dumps(first),
        "mini/exit_statuses_21.yaml": "instances_by_exit_status: [",
        "mini/a-3/a-3.traj.json": json.dumps(
            {"info": {"exit_status": "Submitted"}, "messages": [{"role": "user", "content": "Q"}]}
        ),
        "mini/org__m.r.json": [
            report(submitted=list(patches), empty_patch=["a-0", "a-1", "a-2"], unresolved=["a-3"])
        ],
        "elsewhere/exit_statuses_1.yaml": json.dumps(
            {"instances_by_exit_status": {"Submitted": ["x-0"]}}
        ),
        "one/maker__model-3.1-pro.try_4.5_b.json": [resolved],
        "two/final.json": [resolved],
        "three/logs/run_evaluation/r.1/maker__other/b-0/report.json": [
            graded("b-0", is_resolved=True)
        ],
    }


test_how_attempts_ended_and_who_was_run = facts_of(ended(), "swe_bench_ended")


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gemini__gemini-3.1-pro.try.json", "gemini/gemini-3.1-pro"),
        ("a__b-4-5.b_4.5_subset.json", "a/b-4-5"),
        ("folder/a__b.folder.json", "a/b"),
        ("folder.v2/mine.folder.v2.json", "mine"),
        # Both may have a dot, or the name may be anybody's.
        ("a__b.c.d.json", None),
        ("mine.try.json", None),
        ("a__b.json", None),
    ],
)
def test_the_name_of_a_report_has_the_model(name: str, model: str | None) -> None:
    """Before the run; a dot within a version parts nothing."""
    assert swe_bench._model_of(Path("/r") / name, "report") == model


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Evaluations that broke down, that report one instance at a time, and that left only logs.

    And submissions whose list of results is cut off, is written to its end, or has counts.
    """
    ids, model = ["o__r-1", "o__r-2"], {"model_name_or_path": "m", "model_patch": "diff"}
    spoiled = report(submitted=ids, completed=ids[:1], resolved=ids[:1]) | {"error_ids": ids[1:]}
    silent = {"info": {"exit_status": "Submitted"}, "messages": [], "trajectory_format": "mini"}

    def one(instance: str) -> Row:
        return report(submitted=[instance], completed=[instance], resolved=[instance])

    evaluated = "bare/logs/run_evaluation/r1/org__m"
    documents: dict[str, Any] = {
        "q/preds.json": {name: {"instance_id": name, **model} for name in ids},
        "q/m.run.json": spoiled,
        "q/o__r-1/o__r-1.traj.json": silent,
        "r/a-1/t1/eval/report.json": graded("a-1", is_resolved=False),
        "r/a-1/t2/eval/report.json": graded("a-1", is_resolved=True),
        "r/a-2/t1/eval/report.json": one("a-2"),
        "r/a-3/t1/eval/report.json": graded("a-3", is_resolved=False),
        "s/a-4/report.json": one("a-4"),
        f"{evaluated}/b-1/report.json": graded("b-1", is_resolved=True),
    }
    files = {name: json.dumps(value) for name, value in documents.items()} | {
        f"{evaluated}/b-1/run_instance.log": "done\n",
        f"{evaluated}/b-2/run_instance.log": ">>>>> Patch Apply Failed:\n",
        f"{evaluated}/b-3/run_instance.log": "building\n",
        # Of no run.
        "other/b-4/run_instance.log": "building\n",
    }
    for run, end in (("cut", ""), ("whole", '"no_generation": ["whole-2"],}')):
        first, second = f"{run}-1", f"{run}-2"
        patches = [(first, "diff"), (second, ""), (second, "diff")]
        predictions = [prediction(*each, model_name_or_path=run) for each in patches]
        files[f"{run}/all_preds.jsonl"] = lines(predictions)
        listed = f'{{"resolved": ["{first}"], "with_logs": ["{first}", "{second}",],'
        files[f"{run}/results/results.json"] = listed + end
    counts = {"stats": {"generated": 2, "with_logs": 2, "resolved": 1}, "resolved": ["sum-1"]}
    files["sum/final_report.json"] = json.dumps(counts)
    files["sum/all_preds.jsonl"] = lines(prediction(f"sum-{n}") for n in (1, 2))
    needs = "rollouts rejects runs reported_metrics root_causes assertions.fail".split()
    return analyzed(tmp_path_factory.mktemp("folders"), files, needs=needs)


def test_what_broke_down_and_what_was_not_recorded(folders: Results) -> None:
    """An error of the evaluation is one; an empty list of messages is no fault."""
    assert folders.rows("select reason from rejects where source_file like 'q/%'") == []
    query = "select task_id, n_turns, reward from rollouts where task_id like 'o_%' order by all"
    assert folders.rows(query) == [("o__r-1", None, 1.0), ("o__r-2", None, None)]
    causes = "select task_id, cause, note from root_causes where task_id like 'o_%'"
    assert folders.rows(causes) == [("o__r-2", "IR", "the evaluation ended with an error")]


def test_reports_of_one_instance_are_of_the_run_beside_them(folders: Results) -> None:
    """One is as of a run, below the time of its attempt; another is elsewhere."""
    query = "select run_id, n_tasks, n_rollouts from runs where run_id in ('r', 'a-4') order by all"
    assert folders.rows(query) == [("a-4", 1, 1), ("r", 3, 4)]
    assert folders.rows("""
        select task_id, list(reward order by reward) from rollouts
        where task_id like 'a-%' group by all order by all
    """) == [("a-1", [0.0, 1.0]), ("a-2", [1.0]), ("a-3", [0.0]), ("a-4", [1.0])]
    # What one report counts is no figure of the run.
    assert folders.one("select count(*) from reported_metrics where run_id = 'r'") == 0


def test_logs_of_the_harness_without_a_report_are_attempts(folders: Results) -> None:
    """A patch that does not apply fails; nothing says how the other ended."""
    query = "select task_id, reward from rollouts where task_id like 'b-%' order by task_id"
    assert folders.rows(query) == [("b-1", 1.0), ("b-2", 0.0), ("b-3", None)]
    assert folders.one("select count(distinct run_id) from rollouts where task_id like 'b-%'") == 1
    of_no_submission = "run_id not in ('cut', 'whole', 'sum')"
    assert folders.one(f"select count(*) from runs where {of_no_submission}") == 4


def test_a_document_that_says_how_an_attempt_ended_alone() -> None:
    """Its status and error are known, and nothing of what was done; without a status it is none."""
    ended = {"instance_id": "a", "exit_status": "FileNotFoundError", "steps": 0, "error": "no x"}
    transcript = swe_transcripts.trajectory(ended)
    assert transcript.row == {"exit_status": "FileNotFoundError", "error": "no x"}
    with pytest.raises(ValueError, match="no messages and no steps"):
        swe_transcripts.trajectory({"instance_id": "a"})


def test_without_a_report_that_can_be_read_nothing_is_graded(folders: Results) -> None:
    """An empty patch fails where others were evaluated; a comma behind the last id does no harm."""
    grades = "select task_id, rollout_index, reward from rollouts where task_id {} order by all"
    cut = folders.rows(grades.format("like 'cut-%'"))
    assert {reward for _, _, reward in cut} == {None}
    whole = [("whole-1", 0, 1.0), ("whole-2", 0, 0.0), ("whole-2", 1, 0.0)]
    assert folders.rows(grades.format("like 'whole-%'")) == whole
    # The second prediction of an instance has the patch that the first one lacks.
    errors = """
        select verifier ->> '$.patch_error' from rollouts where task_id like 'whole-%'
        order by task_id, rollout_index
    """
    assert folders.column(errors) == [None, "no patch was generated", None]


def test_counts_beside_what_was_resolved(folders: Results) -> None:
    """A summary of AutoCodeRover grades the predictions beside it."""
    rewards = "select task_id, reward from rollouts where task_id like 'sum-%' order by all"
    assert folders.rows(rewards) == [("sum-1", 1.0), ("sum-2", 0.0)]
