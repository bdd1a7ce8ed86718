"""A results folder becomes artifacts by kind, grouped into named runs and benchmarks."""

from __future__ import annotations

import gzip
import json
import os
from functools import partial
from pathlib import Path

import pyarrow
import pytest

import pipeline
from pipeline.ingest import discover
from tests import results
from tests.lean import CHECKED, LOADED, only
from tests.results import Content, Results, asked, failure, lines, rollout, write

analyzed = partial(results.analyzed, needs=LOADED)
measured = partial(results.analyzed, needs=(*LOADED, "run_metrics"))

ROWS = [rollout(0, 0), rollout(1, 0)]
UNRELATED: dict[str, Content] = {
    "slurm-12.out": "started",
    "train.log": "loss 1",
    "plot.png": b"\x89PNG\r\n",
    "LICENSE": "free",
    "report.html": "<p>old</p>",
    "numbers.jsonl": '{"loss": 1}\n',
}


def _kinds(folder: Path) -> dict[str, str]:
    return {artifact.name: str(artifact.kind) for artifact in discover.artifacts((folder,))}


def _run_names(folder: Path) -> dict[str, str | None]:
    found = discover.artifacts((folder,))
    return {artifact.name: artifact.run_name for artifact in found if artifact.kind == "rollouts"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("S_materialized_inputs.jsonl", "inputs"),
        ("S_failures.jsonl", "failures"),
        ("S_aggregate_metrics.json", "aggregate_metrics"),
        ("S_agent_metrics.json", "agent_metrics"),
        ("S_reward_profiling.jsonl", "reward_profile"),
        ("S_multistage_state.jsonl", "stage_journal"),
        ("rollouts-rs0-chunk1_failures.jsonl", "failures"),
        ("S_rollouts.jsonl.gz", "rollouts"),
        ("S_failures.jsonl.zst", "failures"),
        ("train_metrics.json", "dataset"),
        ("preprocessed_datasets/train.jsonl", "dataset"),
        ("quality_summary.json", "health"),
        ("a_resolved_config.yaml", "resolved_config"),
        ("a_run_summary.json", "report"),
        ("a_batch_status.json", "report"),
        ("failed_task_register.json", "report"),
        ("rollout_verdicts.jsonl", "health"),
        ("compare_report.json", "health"),
        ("config.yaml", "config"),
        ("model.yml", "config"),
        ("task_limits.json", "limits"),
        ("checkpoint.txt", "checkpoint"),
        ("notes.md", "notes"),
        ("README.txt", "notes"),
        ("golden_reports/a.md", "report"),
        ("job.log", "log"),
        ("plot.png", "other"),
    ],
)
def test_a_name_says_the_kind(tmp_path: Path, name: str, kind: str) -> None:
    """Every file of the formats' table is recognised by its name, whatever it holds."""
    write(tmp_path, {"known_rollouts.jsonl": ROWS, name: b""})
    assert _kinds(tmp_path)[name] == kind


def test_rows_say_the_kind_where_the_name_does_not(tmp_path: Path) -> None:
    """Rewards or responses make rollouts, failure classes failures, bare requests a dataset."""
    write(
        tmp_path,
        {
            "a.jsonl": [rollout(0, 0)],
            "b.jsonl": [failure(0, 0, "transient")],
            "c.jsonl": [asked(0, 0)],
            "d.jsonl": '{"loss": 1}\n',
            # One row longer than what is looked at: its keys still show.
            "e.jsonl": [rollout(0, 0, padding="x" * (2 << 20))],
        },
    )
    assert _kinds(tmp_path) == {
        "a.jsonl": "rollouts",
        "b.jsonl": "failures",
        "c.jsonl": "dataset",
        "d.jsonl": "other",
        "e.jsonl": "rollouts",
    }


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["x_rollouts.jsonl", "deep/er/y_rollouts.jsonl"], ["y", "x"]),
        (["alpha/rollouts.jsonl", "beta/results/example_rollouts.jsonl"], ["alpha", "beta"]),
        (["gamma/output.jsonl", "delta/results.jsonl"], ["delta", "gamma"]),
        # Alike but for case.
        (["a/Same_rollouts.jsonl", "b/same_rollouts.jsonl"], ["a-Same", "b-same"]),
        # Characters that no folder's name should have.
        (["$(rm x) [red];é|_rollouts.jsonl"], ["rm-x-red"]),
    ],
)
def test_runs_are_named_from_files_then_folders(
    tmp_path: Path, files: list[str], names: list[str]
) -> None:
    """The stem without `_rollouts`, else the nearest telling folder; safe characters only."""
    write(tmp_path, dict.fromkeys(files, ROWS))
    assert list(_run_names(tmp_path).values()) == names


def test_names_alike_but_for_case_are_told_apart(tmp_path: Path) -> None:
    """Two files of one folder whose names differ only in case are two runs on any file system."""
    write(tmp_path, {"Model_rollouts.jsonl": ROWS, "model_rollouts.jsonl": ROWS})
    names = _run_names(tmp_path).values()
    assert len({str(name).casefold() for name in names}) == 2


def test_names_do_not_depend_on_how_the_inputs_are_given(tmp_path: Path) -> None:
    """Several files, in any order and one of them twice, are the same artifacts."""
    write(tmp_path, {"a/x_rollouts.jsonl": ROWS, "b/y_rollouts.jsonl": ROWS, **UNRELATED})
    one, other = tmp_path / "a/x_rollouts.jsonl", tmp_path / "b/y_rollouts.jsonl"
    expected = {"a/x_rollouts.jsonl": "x", "b/y_rollouts.jsonl": "y"}
    for inputs in [(one, other), (other, one, other), (other.parent, one)]:
        found = discover.artifacts(inputs)
        assert {artifact.name: artifact.run_name for artifact in found} == expected


def test_a_mixed_folder_is_inventoried_whole(tmp_path: Path) -> None:
    """Nested results among unrelated files: each file is an artifact, each line accounted for."""
    files = {"2024/a_rollouts.jsonl": lines(ROWS) + "\n{broken\n", **UNRELATED}
    results = analyzed(tmp_path, files)
    assert results.column("select path from artifacts") == sorted(files)
    assert results.rows("""
        select n_lines, n_rows, n_rejects, n_other, n_blank, run_id from artifacts
        where kind = 'rollouts'
    """) == [(4, 2, 1, 0, 1, "a")]
    assert results.column("select run_id from artifacts where kind = 'log'") == [None, None]
    assert (
        results.one("""
        select count(*) from artifacts
        where n_lines <> n_rows + n_rejects + n_other + n_blank or length(sha256) <> 64
    """)
        == 0
    )


def test_hidden_files_and_our_own_output_are_not_results(tmp_path: Path) -> None:
    """An analysis of the folder that holds the last one's output finds the same files."""
    output = {"out/warehouse.duckdb": b"", "out/runs/a/metrics.json": "{}"}
    write(tmp_path, {"a_rollouts.jsonl": ROWS, ".cache/b_rollouts.jsonl": ROWS, **output})
    found = discover.artifacts((tmp_path,), out=tmp_path / "out")
    assert [artifact.name for artifact in found] == ["a_rollouts.jsonl"]


def test_results_beside_an_older_warehouse_are_read(tmp_path: Path) -> None:
    """Rollouts in a subfolder that also holds some warehouse are still results."""
    write(tmp_path, {"a_rollouts.jsonl": ROWS, "run1/b_rollouts.jsonl": ROWS})
    write(tmp_path, {"run1/warehouse.duckdb": b""})
    assert set(_run_names(tmp_path).values()) == {"a", "b"}


def test_compressed_files_are_read(tmp_path: Path) -> None:
    """Files of gzip and zstd hold the same rows, rollouts and sidecars alike."""
    packed = {
        "gz_rollouts.jsonl.gz": gzip.compress(lines(ROWS).encode()),
        "gz_rollouts_materialized_inputs.jsonl.gz": gzip.compress(lines([asked(2, 0)]).encode()),
        "zst_rollouts.jsonl.zst": pyarrow.compress(lines(ROWS).encode(), "zstd", asbytes=True),
    }
    results = analyzed(tmp_path, packed)
    assert results.rows("select run_id, n_rollouts, n_expected from runs order by all") == [
        ("gz", 2, 1),
        ("zst", 2, None),
    ]
    assert results.column("select source_line from rollouts order by all") == [1, 1, 2, 2]


def _shards(questions: str) -> dict[str, Content]:
    """Two seeds of two chunks with their sidecars; each shard has two tasks, one repeat."""
    files: dict[str, Content] = {}
    for seed in (0, 1):
        for chunk in (0, 1):
            stem = f"exp/rollouts-rs{seed}-chunk{chunk}"
            first = 0 if questions == "numbered from 0" else 2 * chunk
            tasks = [(first + i, f"chunk {chunk} question {i}") for i in (0, 1)]
            files[f"{stem}.jsonl"] = [rollout(task, 0, ask=ask) for task, ask in tasks]
            files[f"{stem}_materialized_inputs.jsonl"] = [
                asked(task, 0, ask=ask) for task, ask in tasks
            ]
            files[f"{stem}_failures.jsonl"] = [failure(first, 0, "transient")] if seed else ""
            figures = {"_ng_task_index": first, "mean/reward": float(chunk)}
            files[f"{stem}_reward_profiling.jsonl"] = json.dumps(figures) + "\n"
    return files


@pytest.fixture(
    scope="module", params=["numbered from 0", pytest.param("stamped", marks=pytest.mark.slow)]
)
def sharded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """One run in four shards."""
    return analyzed(tmp_path_factory.mktemp("shards"), _shards(request.param))


def test_shards_of_one_run_do_not_collide(sharded: Results) -> None:
    """Seeds repeat the tasks, chunks split them: 4 tasks x 2 repeats, in whichever numbering."""
    results = sharded
    assert results.rows("""
        select run_id, n_tasks, n_rollouts, n_expected, n_repeats, expected_source from runs
    """) == [("exp", 4, 8, 8, 2, "inputs")]
    assert results.one("select count(*) from rejects") == 0
    # One question a task, two rollouts a question, and nothing expected that is not there.
    assert results.one("select count(distinct prompt_sha) from task_prompts") == 4
    assert results.column("""
        select count(*) from rollouts group by task_id, prompt_sha
    """) == [2, 2, 2, 2]
    assert (
        results.one("""
        select count(*) from expected anti join rollouts using (run_id, task_id, rollout_index)
    """)
        == 0
    )
    # The failures of seed 1 belong to the second repeat of each chunk's first task.
    assert (
        results.one("""
        select count(*) from failures join rollouts using (run_id, task_id, rollout_index)
        where rollouts.source_file like '%-rs1-%'
    """)
        == 2
    )


def test_seeds_number_their_repeats_anew(tmp_path: Path) -> None:
    """Two seeds with repeats 0 and 1 each are repeats 0 to 3 of the same tasks."""
    shard = [rollout(task, index) for task in (0, 1) for index in (0, 1)]
    results = analyzed(tmp_path, {"rollouts-rs0.jsonl": shard, "rollouts-rs1.jsonl": shard})
    assert results.rows("select task_id, rollout_index from rollouts order by all") == [
        (task, index) for task in ("0", "1") for index in range(4)
    ]


def test_figures_of_a_shard_are_of_its_own_tasks(sharded: Results) -> None:
    """The profiles' figures name the tasks as rollouts do: one of each chunk, of each seed."""
    tasks = sharded.rows("""
        select distinct task_id, value from reported_metrics
        join (select distinct run_id, task_id from rollouts) using (run_id, task_id)
    """)
    assert sorted(value for _, value in tasks) == [0.0, 1.0]
    assert len({task for task, _ in tasks}) == 2


def test_each_agent_of_a_file_is_a_run(tmp_path: Path) -> None:
    """Rows, expected rows, failures and figures all follow their agent_ref."""
    figures = [
        {"agent_ref": {"name": "a/gent"}, "agent_metrics": {"mean/reward": 0.5}},
        {"agent_ref": {"name": "slow"}, "agent_metrics": {"mean/reward": 1.0}},
    ]
    results = measured(
        tmp_path,
        {
            "two_rollouts.jsonl": [
                rollout(0, 0, agent="a/gent"),
                rollout(0, 0, agent="slow"),
                rollout(1, 0, agent="slow"),
            ],
            "two_rollouts_materialized_inputs.jsonl": [
                asked(task, 0, agent=agent) for agent in ("a/gent", "slow") for task in (0, 1)
            ],
            "two_rollouts_failures.jsonl": [
                failure(1, 0, "timeout_exceeded", agent_ref={"name": "a/gent"})
            ],
            "two_rollouts_aggregate_metrics.json": json.dumps(figures),
        },
    )
    assert results.rows("""
        select run_id, agent, n_rollouts, n_expected, n_missing + n_failed_attempts
        from runs join run_metrics using (run_id, n_rollouts, n_expected) order by all
    """) == [("two--a-gent", "a/gent", 1, 2, 1), ("two--slow", "slow", 2, 2, 0)]
    assert results.rows("select run_id, task_id from failures") == [("two--a-gent", "1")]
    assert results.rows("select run_id, value from reported_metrics order by all") == [
        ("two--a-gent", 0.5),
        ("two--slow", 1.0),
    ]
    assert results.rows("select run_id, run_ids from artifacts where kind = 'inputs'") == [
        (None, ["two--a-gent", "two--slow"])
    ]


@pytest.mark.slow
def test_agents_alike_but_for_case_are_two_runs(tmp_path: Path) -> None:
    """Run ids become folders: they differ by more than case."""
    rows = [rollout(0, 0, agent="Solver"), rollout(0, 0, agent="solver")]
    results = analyzed(tmp_path, {"x_rollouts.jsonl": rows})
    assert results.one("select count(distinct lower(run_id)) from runs") == 2
    assert results.column("select n_rollouts from runs") == [1, 1]


def test_package_folders_name_the_benchmark(tmp_path: Path) -> None:
    """`<benchmark>/rollouts/` and `<benchmark>/data/*rollout*.jsonl`, whatever was asked."""
    results = analyzed(
        tmp_path,
        {
            "sums/rollouts/aster.jsonl": [rollout(0, 0, ask="one")],
            "sums/rollouts/birch.jsonl": [rollout(0, 0, ask="another")],
            "code/data/aster_rollouts.jsonl": [rollout(0, 0, ask="third")],
            "code/data/train.jsonl": [asked(0, 0)],
            "code/skill/SKILL.md": "how to",
        },
    )
    assert results.rows("select benchmark, run_id from runs order by all") == [
        ("code", "code-aster"),
        ("sums", "birch"),
        ("sums", "sums-aster"),
    ]


def test_runs_that_ask_the_same_questions_are_one_benchmark(tmp_path: Path) -> None:
    """Half of the smaller run's prompts is enough, less is not; shared words are the name."""
    results = analyzed(
        tmp_path,
        {
            # 2 of the smaller one's 4 questions in common; the third run shares 1 of 4.
            "desk_office_a_rollouts.jsonl": [rollout(task, 0) for task in (0, 1, 2, 3)],
            "desk_office_b_rollouts.jsonl": [rollout(task, 0) for task in (2, 3, 4, 5)],
            "sums_c_rollouts.jsonl": [
                rollout(task, 0, ask=f"question {ask}") for task, ask in enumerate([0, 97, 98, 99])
            ],
        },
    )
    benchmarks = dict(results.rows("select run_id, benchmark from runs"))
    assert benchmarks["desk_office_a"] == benchmarks["desk_office_b"] == "desk_office"
    assert benchmarks["sums_c"] != "desk_office"


def test_an_index_and_a_word_of_the_name_make_no_benchmark(tmp_path: Path) -> None:
    """Where no question is recorded only an explicit id, wherever it stands, tells tasks."""
    bare = [rollout(task, 0, responses_create_params={"input": []}) for task in (0, 1)]
    named = [
        rollout(task, 0, responses_create_params={"input": [], "metadata": {"instance_id": name}})
        for task, name in enumerate(("repo__1", "repo__2"))
    ]
    results = analyzed(
        tmp_path,
        {
            "fast_shell_rollouts.jsonl": bare,
            "fast_sums_rollouts.jsonl": bare,
            "swe_hermes_rollouts.jsonl": named,
            "swe_pi_rollouts.jsonl": [
                {**row, "responses_create_params": {"input": []}, "instance_id": "repo__2"}
                for row in bare[:1]
            ],
        },
    )
    found = dict(results.rows("select run_id, benchmark from runs"))
    assert found["swe_hermes"] == found["swe_pi"] == "swe"
    assert len({*found.values()}) == 3


def test_folders_of_runs_do_not_name_the_benchmark(tmp_path: Path) -> None:
    """Where the runs' names share nothing, the folder they share names the benchmark."""
    results = analyzed(
        tmp_path, {"evalplus/alpha/rollouts.jsonl": ROWS, "evalplus/beta/rollouts.jsonl": ROWS}
    )
    assert results.rows("select run_id, benchmark from runs order by all") == [
        ("alpha", "evalplus"),
        ("beta", "evalplus"),
    ]


def test_names_can_be_set(tmp_path: Path) -> None:
    """--run names one run and its sidecars, --benchmark all of them."""
    folder = write(
        tmp_path / "results",
        {
            "1/rollouts.jsonl": [rollout(0, 0, ask="one")],
            "1/rollouts_materialized_inputs.jsonl": [asked(0, 0, ask="one")],
            "2/rollouts.jsonl": [rollout(0, 0, ask="two")],
            "base/rollouts.jsonl": [rollout(0, 0, ask="three")],
        },
    )
    names = {"base": folder / "1", "Candidate.v2": folder / "2/rollouts.jsonl"}
    with only("rollouts", "runs", "expected"):
        pipeline.analyze(folder, out=tmp_path / "out", run_names=names, benchmark="evalplus")
    named = dict(
        Results(tmp_path / "out").rows("""
            select source_file, run_id from rollouts join runs using (run_id)
            where benchmark = 'evalplus'
        """)
    )
    assert named["1/rollouts.jsonl"] == "base"
    assert named["2/rollouts.jsonl"] == "Candidate.v2"
    # The folder that would have had the name taken gets another.
    assert named["base/rollouts.jsonl"] not in ("base", "Candidate.v2")
    assert Results(tmp_path / "out").column("select run_id from expected") == ["base"]


@pytest.mark.parametrize("name", ["a/b", "", ".", "..", "a b", "é"])
def test_unsafe_run_names_are_refused(tmp_path: Path, name: str) -> None:
    """A name that is set keeps to the letters a folder may have."""
    write(tmp_path, {"a_rollouts.jsonl": ROWS})
    with pytest.raises(pipeline.UsageError, match="name may hold"):
        discover.artifacts((tmp_path,), run_names=((name, tmp_path),))


def test_one_run_has_one_name(tmp_path: Path) -> None:
    """Two names for one file contradict each other: the call is wrong."""
    write(tmp_path, {"a_rollouts.jsonl": ROWS})
    with pytest.raises(pipeline.UsageError):
        discover.artifacts((tmp_path,), run_names=(("x", tmp_path), ("y", tmp_path)))


def test_files_beside_a_run_tell_of_it(tmp_path: Path) -> None:
    """Model, sampling, repeats, limits, checkpoint and notes; a run's own file before a shared."""
    results = analyzed(
        tmp_path,
        {
            "x_a_rollouts.jsonl": ROWS,
            "x_b_rollouts.jsonl": ROWS,
            "x_a_config.yaml": (
                "policy_model_name: acme/aster-8b\nnum_repeats: 5\nmodel:\n  api_key: sk-secret\n"
                "request:\n  temperature: 0.7\n  top_p: 0.95\n  max_output_tokens: 4096\n"
            ),
            "config.json": json.dumps({"model": "shared", "sampling": {"temperature": 0.1}}),
            "x_a_checkpoint.txt": "/models/step_400\n",
            "task_limits.yaml": "max_turns: 12\ntimeout_s: 300\n",
            "notes.md": "# Tuesday\nthe judge was down\n",
        },
    )
    own, other = results.rows("""
        select model, checkpoint, n_repeats, sampling, limits, notes from runs order by run_id
    """)
    assert own[:3] == ("acme/aster-8b", "/models/step_400", 5)
    assert json.loads(own[3]) == {"temperature": 0.7, "top_p": 0.95, "max_output_tokens": 4096}
    assert other[:3] == ("shared", None, 1)
    assert json.loads(other[3]) == {"temperature": 0.1}
    assert [json.loads(row[4]) for row in (own, other)] == [{"max_turns": 12, "timeout_s": 300}] * 2
    assert own[5] == other[5] == "# Tuesday\nthe judge was down\n"
    assert results.one("select count(*) from raw.config_values where value like '%secret%'") == 0


@pytest.mark.slow
def test_all_notes_of_a_folder_are_kept(tmp_path: Path) -> None:
    """notes.md and README* are both run notes: neither hides the other."""
    files = {"a_rollouts.jsonl": ROWS, "README.md": "what it is", "notes.md": "judge was down"}
    notes = analyzed(tmp_path, files).one("select notes from runs")
    assert "what it is" in notes and "judge was down" in notes


def test_forced_verification_is_pointed_out(tmp_path: Path) -> None:
    """Rewards of `unsafe_*` files are not to be trusted."""
    folder = write(
        tmp_path / "results", {"unsafe_x_rollouts.jsonl": ROWS, "x_rollouts.jsonl": ROWS}
    )
    with only(*CHECKED):
        (warning,) = pipeline.analyze(folder, out=tmp_path / "out").warnings
    assert (warning.check, warning.subject) == ("warn_unsafe", "unsafe_x")


def test_no_name_hides_forced_verification(tmp_path: Path) -> None:
    """A generic stem, a name that is set, a name made longer: each still has its warning."""
    files = ["a/unsafe_rollouts.jsonl", "b/unsafe_y.jsonl", "c/unsafe_z.jsonl", "d/unsafe_z.jsonl"]
    folder = write(tmp_path / "results", dict.fromkeys(files, ROWS))
    names = {"good": folder / "b"}
    with only(*CHECKED):
        analysis = pipeline.analyze(folder, out=tmp_path / "out", run_names=names)
    assert [warning.check for warning in analysis.warnings] == ["warn_unsafe"] * 4


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two multistage runs: one knows what was expected of it."""
    rows = [
        rollout(task, 0, stage_index=stage, reward=float(stage))
        for task in (0, 1)
        for stage in (0, 1)
    ]
    files: dict[str, Content] = {
        "s_rollouts.jsonl": rows,
        "s_rollouts_multistage_state.jsonl": "{}\n",
        "t_rollouts.jsonl": rows,
        "t_rollouts_materialized_inputs.jsonl": [asked(task, 0) for task in (0, 1)],
    }
    return measured(tmp_path_factory.mktemp("staged"), files)


def test_stages_are_part_of_the_key(staged: Results) -> None:
    """Rows of a multistage run repeat their keys a stage at a time: all of them are rollouts."""
    assert staged.column("select reward from rollouts where run_id = 's' order by all") == [
        0.0,
        0.0,
        1.0,
        1.0,
    ]
    assert staged.one("select count(*) from rejects") == 0
    assert staged.column("select run_id from artifacts where kind = 'stage_journal'") == ["s"]


def test_stages_of_an_expected_row_are_not_missing(staged: Results) -> None:
    """Inputs name no stage: a task whose stages are all there is not missing."""
    assert staged.one("select n_missing from run_metrics where run_id = 't'") == 0


@pytest.mark.slow
def test_a_line_end_in_a_file_name_is_no_matter(tmp_path: Path) -> None:
    """Names of files are untrusted too."""
    results = analyzed(tmp_path, {"a\nb_rollouts.jsonl": [rollout(0, 0)]})
    assert results.column("select run_id from runs") == ["a-b"]


def test_empty_rollout_files_and_inputs_alone_are_runs(tmp_path: Path) -> None:
    """A run whose rollouts were all killed is still a run, with what it was asked to do."""
    results = measured(
        tmp_path,
        {
            "done_rollouts.jsonl": [rollout(0, 0, ask="other")],
            "empty_rollouts.jsonl": "",
            "killed_rollouts_materialized_inputs.jsonl": [asked(0, 0), asked(1, 0)],
        },
    )
    assert results.rows("""
        select run_id, n_rollouts, n_expected, n_missing from run_metrics order by run_id
    """) == [("done", 1, None, None), ("empty", 0, None, None), ("killed", 0, 2, 2)]


def test_failures_keep_every_attempt(tmp_path: Path) -> None:
    """Retries, keys that succeeded later and stale rows are failures; none of them is expected."""
    results = measured(
        tmp_path,
        {
            "f_rollouts.jsonl": [rollout(0, 0), rollout(1, 0, _ng_attempt_index=2)],
            "f_rollouts_materialized_inputs.jsonl": [asked(task, 0) for task in (0, 1, 2, 3)],
            "f_rollouts_failures.jsonl": [
                failure(1, 0, "transient", _ng_attempt_index=0, _ng_failure_terminal=False),
                failure(1, 0, "judge_failed", _ng_attempt_index=1, _ng_failure_judge_error="503"),
                failure(2, 0, "timeout_exceeded", _ng_failure_terminal=True, error_message="slow"),
                failure(9, 0, "skipped"),
            ],
        },
    )
    assert results.rows("""
        select task_id, attempt, failure_class, is_terminal, message from failures order by all
    """) == [
        ("1", 0, "transient", False, None),
        ("1", 1, "judge_failed", None, "503"),
        ("2", 0, "timeout_exceeded", True, "slow"),
        ("9", 0, "skipped", None, None),
    ]
    # 4 expected, 2 scored; the placeholder rewards of failures are no rollouts.
    assert results.rows("""
        select n_tasks, n_rollouts, n_expected, n_failed_attempts, n_missing, mean_reward
        from run_metrics
    """) == [(4, 2, 4, 1, 1, 1.0)]


def test_rows_of_another_kind_in_a_rollout_file_are_recognised(tmp_path: Path) -> None:
    """Neither reward nor response: expected. A failure class: a failure. No reward: unscored."""
    rows = [
        rollout(0, 0),
        asked(1, 0),
        failure(2, 0, "transient"),
        rollout(3, 0, reward=None),
    ]
    results = analyzed(tmp_path, {"merged_rollouts.jsonl": rows})
    assert results.rows("select task_id, is_scored from rollouts order by all") == [
        ("0", True),
        ("3", False),
    ]
    assert results.column("select task_id from failures") == ["2"]
    assert "1" in results.column("select task_id from expected where source = 'inputs'")
    assert results.rows("select n_lines, n_rows, n_rejects, n_other from artifacts") == [
        (4, 2, 0, 2)
    ]


def test_what_is_missing_is_known_inferred_or_unknown(tmp_path: Path) -> None:
    """Inputs say it; other runs hint at it where half of their tasks are there; else nobody."""
    results = measured(
        tmp_path,
        {
            "m_told_rollouts.jsonl": [rollout(task, 0) for task in (0, 1, 2)],
            "m_told_rollouts_materialized_inputs.jsonl": [
                asked(task, index) for task in (0, 1, 2, 3) for index in (0, 1)
            ],
            "m_half_rollouts.jsonl": [rollout(0, 0), rollout(1, 0), rollout(1, 1)],
            "m_part_rollouts.jsonl": [rollout(0, 0)],
            "alone_rollouts.jsonl": [rollout(0, 0, ask="nobody else asks this")],
        },
    )
    # 8 expected, 3 there; the union holds 4 tasks: 2 of them are half, 1 is a subset run.
    assert results.rows("""
        select runs.run_id, expected_source, runs.n_expected, n_missing
        from runs join run_metrics using (run_id) order by all
    """) == [
        ("alone", "unknown", None, None),
        ("m_half", "inferred", None, None),
        ("m_part", "unknown", None, None),
        ("m_told", "inputs", 8, 5),
    ]
    assert results.rows("""
        select run_id, task_id, rollout_index from expected where source = 'inferred' order by all
    """) == [("m_half", "2", None), ("m_half", "3", None)]


@pytest.mark.slow
def test_failure_rows_are_no_evidence_of_what_others_lack(tmp_path: Path) -> None:
    """A stale failure makes no task for others; a task that only failed here is missing here."""
    results = analyzed(
        tmp_path,
        {
            "s_a_rollouts.jsonl": [rollout(task, 0) for task in (0, 1)],
            "s_a_rollouts_failures.jsonl": [failure(9, 0, "transient"), failure(2, 0, "skipped")],
            "s_b_rollouts.jsonl": [rollout(task, 0) for task in (0, 1, 2)],
        },
    )
    assert results.rows("select run_id, task_id from expected") == [("s_a", "2")]


def test_of_duplicates_one_counts(tmp_path: Path) -> None:
    """The highest attempt wins, else the first line; the others, with their events, are rejects."""
    two_events = [{"type": "message", "role": "assistant", "content": text} for text in "ab"]
    results = analyzed(
        tmp_path,
        {
            "d_rollouts.jsonl": [
                rollout(0, 0, reward=0.25),
                rollout(0, 0, reward=0.5, output=two_events),
                rollout(1, 0, reward=0.0, _ng_attempt_index=0),
                rollout(1, 0, reward=1.0, _ng_attempt_index=3),
                rollout(1, 0, reward=0.5, _ng_attempt_index=1),
                rollout(2, 0, reward=0.0),
                rollout(2, 0, reward=0.75, _ng_attempt_index=0),
            ]
        },
    )
    assert results.rows("""
        select task_id, reward, source_line from rollouts order by task_id
    """) == [("0", 0.25, 1), ("1", 1.0, 4), ("2", 0.75, 7)]
    assert results.column("select source_line from rejects order by all") == [2, 3, 5, 6]
    assert results.one("select count(*) from events") == 3
    assert results.rows("select n_lines, n_rows, n_rejects from artifacts") == [(7, 3, 4)]


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """A file whose name is not UTF-8 is read like any other, and told by a name that is text."""
    (tmp_path / "results").mkdir()
    name = os.fsencode(tmp_path / "results") + b"/m\xff_rollouts.jsonl"
    Path(os.fsdecode(name)).write_text(lines(ROWS), encoding="utf-8")
    found = analyzed(tmp_path, {})
    assert found.rows("select path, n_rows from artifacts") == [("m\\udcff_rollouts.jsonl", 2)]
