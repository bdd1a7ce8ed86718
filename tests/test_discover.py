"""A results folder becomes artifacts by kind, grouped into named runs and benchmarks."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import pipeline
from pipeline.ingest import discover
from tests import results
from tests.case_files import cases
from tests.fact_files import Fact, facts
from tests.lean import CHECKED, LOADED, only
from tests.results import Content, Results, Row, asked, failure, lines, rollout, write

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
    actual = discover.artifacts((folder,))
    return {artifact.name: artifact.run_name for artifact in actual if artifact.kind == "rollouts"}


@pytest.mark.parametrize(("name", "kind"), cases("discover", "a_name_says_the_kind"))
def test_a_name_says_the_kind(tmp_path: Path, name: str, kind: str) -> None:
    """Every file of the formats' table is recognised by its name, with any content."""
    write(tmp_path, {"known_rollouts.jsonl": ROWS, name: b""})
    assert _kinds(tmp_path)[name] == kind


def test_a_name_does_not_hide_a_table_of_rows(tmp_path: Path) -> None:
    """A table is read whatever its name says; a checkpoint and limits are plain settings."""
    rows = json.dumps([{"task_id": n, "question": f"{n}?", "score": n % 2} for n in range(10)])
    files = {
        "checkpoint-800_results.json": rows,
        "ckpt_2.json": rows,
        "no-limits_results.json": rows,
        "checkpoint.json": '{"checkpoint": "step_5"}',
        "limits.json": '{"max_turns": 3}',
    }
    write(tmp_path, files)
    assert _kinds(tmp_path) == {
        "checkpoint-800_results.json": "rollouts",
        "checkpoint.json": "checkpoint",
        "ckpt_2.json": "rollouts",
        "limits.json": "limits",
        "no-limits_results.json": "rollouts",
    }
    # Beside results they are listed with what they have.
    write(tmp_path, {"a_rollouts.jsonl": ROWS})
    kinds = _kinds(tmp_path)
    assert kinds["checkpoint-800_results.json"] == kinds["no-limits_results.json"] == "skipped"
    assert (kinds["checkpoint.json"], kinds["limits.json"]) == ("checkpoint", "limits")


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
    ("files", "names"), cases("discover", "runs_are_named_from_files_then_folders")
)
def test_runs_are_named_from_files_then_folders(
    tmp_path: Path, files: list[str], names: list[str]
) -> None:
    """The stem without `_rollouts`, else the nearest telling folder; safe characters only."""
    write(tmp_path, dict.fromkeys(files, ROWS))
    assert list(_run_names(tmp_path).values()) == names


def test_a_package_keeps_sidecars_below_its_rollouts_and_labels_beside_them(tmp_path: Path) -> None:
    """Both belong to the run; a folder of another name does not look above itself."""
    files = {
        "p/rollouts/a_rollouts.jsonl": ROWS,
        "p/rollouts/sidecars/a_rollouts_failures.jsonl": "",
        "p/rollouts/sidecars/b_failures.jsonl": "",
        "p/labels.jsonl": "",
        "q/a_rollouts.jsonl": ROWS,
    }
    write(tmp_path, files)
    actual = discover.artifacts((tmp_path / "p" / "rollouts",))
    assert {each.name: each.run_name for each in actual} == {
        "../labels.jsonl": None,
        "a_rollouts.jsonl": "a",
        "sidecars/a_rollouts_failures.jsonl": "a",
        "sidecars/b_failures.jsonl": "b",
    }
    (tmp_path / "p" / "rollouts").rename(tmp_path / "p" / "runs")
    assert "../labels.jsonl" not in _kinds(tmp_path / "p" / "runs")


def test_names_do_not_depend_on_how_the_inputs_are_given(tmp_path: Path) -> None:
    """Several files, in any order and one of them twice, are the same artifacts."""
    write(tmp_path, {"a/x_rollouts.jsonl": ROWS, "b/y_rollouts.jsonl": ROWS, **UNRELATED})
    one, other = tmp_path / "a/x_rollouts.jsonl", tmp_path / "b/y_rollouts.jsonl"
    expected = {"a/x_rollouts.jsonl": "x", "b/y_rollouts.jsonl": "y"}
    for inputs in [(one, other), (other, one, other), (other.parent, one)]:
        actual = discover.artifacts(inputs)
        assert {artifact.name: artifact.run_name for artifact in actual} == expected


def test_hidden_files_and_our_own_output_are_not_results(tmp_path: Path) -> None:
    """An analysis of the folder that holds the last one's output finds the same files."""
    output = {"out/warehouse.duckdb": b"", "out/runs/a/metrics.json": "{}"}
    write(tmp_path, {"a_rollouts.jsonl": ROWS, ".cache/b_rollouts.jsonl": ROWS, **output})
    actual = discover.artifacts((tmp_path,), out=tmp_path / "out")
    assert [artifact.name for artifact in actual] == ["a_rollouts.jsonl"]


def test_results_beside_an_older_warehouse_are_read(tmp_path: Path) -> None:
    """Rollouts in a subfolder that also holds some warehouse are still results."""
    write(tmp_path, {"a_rollouts.jsonl": ROWS, "run1/b_rollouts.jsonl": ROWS})
    write(tmp_path, {"run1/warehouse.duckdb": b""})
    assert set(_run_names(tmp_path).values()) == {"a", "b"}


def asks(about: str, *tasks: int, **more: Any) -> list[Row]:
    """A rollout per task of questions that no other test asks."""
    return [rollout(task, 0, ask=f"{about} {task}", **more) for task in tasks]


def inputs(about: str, *tasks: int, n: int = 1) -> list[Row]:
    """What was asked, with so many repeats."""
    return [asked(task, index, ask=f"{about} {task}") for task in tasks for index in range(n)]


def _shards(questions: str) -> dict[str, Content]:
    """Two seeds of two chunks with their sidecars; each shard has two tasks, one repeat."""
    files: dict[str, Content] = {}
    name = questions.split()[0]
    for seed in (0, 1):
        for chunk in (0, 1):
            stem = f"{name}/rollouts-rs{seed}-chunk{chunk}"
            first = 0 if questions == "numbered from 0" else 2 * chunk
            tasks = [(first + i, f"{name} {chunk} {i}") for i in (0, 1)]
            files[f"{stem}.jsonl"] = [rollout(task, 0, ask=ask) for task, ask in tasks]
            files[f"{stem}_materialized_inputs.jsonl"] = [
                asked(task, 0, ask=ask) for task, ask in tasks
            ]
            files[f"{stem}_failures.jsonl"] = [failure(first, 0, "transient")] if seed else ""
            figures = {"_ng_task_index": first, "mean/reward": float(chunk)}
            files[f"{stem}_reward_profiling.jsonl"] = json.dumps(figures) + "\n"
    return files


def _rows(arguments: list[Row]) -> list[Row]:
    """The rows of a file as tests/cases/discovered.yaml has them."""
    makers = {"asks": asks, "inputs": inputs}
    actual = []
    for case in arguments:
        fields = dict(case)
        if "failed" in fields:
            kind = fields.pop("failed")
            actual.append(failure(fields.pop("task"), 0, kind, **fields))
            continue
        (name,) = makers.keys() & fields.keys()
        actual += makers[name](fields.pop(name), *fields.pop("tasks"), **fields)
    return actual


STAGES = [
    rollout(task, 0, ask=f"stage {task}", stage_index=stage, reward=float(stage))
    for task in (0, 1)
    for stage in (0, 1)
]
FIGURES = [
    {"agent_ref": {"name": name}, "agent_metrics": {"mean/reward": mean}}
    for name, mean in (("a/gent", 0.5), ("slow", 1.0))
]
# Many results in one folder, analyzed once: each test asks about its own.
TOGETHER: dict[str, Content] = {
    **UNRELATED,
    "unused/events.json": '[{"step": [1, 2]}]',
    "unused/model_config.json": "{}",
    "unused/sampling.yaml": "temperature: 0.5",
    "2024/broken_rollouts.jsonl": lines(asks("broken", 0, 1)) + "\n{broken\n",
    "m\udcff_rollouts.jsonl": asks("no text", 0),
    "gz_rollouts.jsonl.gz": gzip.compress(lines(asks("gz", 0, 1)).encode()),
    "gz_rollouts_materialized_inputs.jsonl.gz": gzip.compress(lines(inputs("gz", 2)).encode()),
    "zst_rollouts.jsonl.zst": pyarrow.compress(
        lines(asks("zst", 0, 1)).encode(), "zstd", asbytes=True
    ),
    **_shards("numbered from 0"),
    **_shards("stamped"),
    **{
        f"seeds/rollouts-rs{seed}.jsonl": [
            rollout(task, index, ask=f"seed {task}") for task in (0, 1) for index in (0, 1)
        ]
        for seed in (0, 1)
    },
    # Agents of one file.
    "two_rollouts_materialized_inputs.jsonl": [
        asked(task, 0, agent=agent) for agent in ("a/gent", "slow") for task in (0, 1)
    ],
    "two_rollouts_aggregate_metrics.json": json.dumps(FIGURES),
    "code/data/train.jsonl": [asked(0, 0)],
    # Stages: one run knows what was expected of it.
    "stage/s_rollouts.jsonl": STAGES,
    "stage/s_rollouts_multistage_state.jsonl": "{}\n",
    "stage/t_rollouts.jsonl": STAGES,
    "stage/t_rollouts_materialized_inputs.jsonl": inputs("stage", 0, 1),
    **{
        name: content if isinstance(content, str) else _rows(content)
        for name, content in cases("discovered", "files").items()
    },
}


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """All of these."""
    return measured(tmp_path_factory.mktemp("together"), TOGETHER)


def test_a_mixed_folder_is_inventoried_whole(together: Results) -> None:
    """Nested results among unrelated files: each file is an artifact."""
    paths = set(together.column("select path from artifacts"))
    assert paths == {name.replace("\udcff", "\\udcff") for name in TOGETHER}
    assert not together.rows("""
        from artifacts
        where n_lines <> n_rows + n_rejects + n_other + n_blank or length(sha256) <> 64
    """)


@facts("discovered")
def test_together(together: Results, fact: Fact) -> None:
    """As tests/facts/discovered.test says."""
    fact.check(together)


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
    with pytest.raises(pipeline.UsageError, match="name may contain"):
        discover.artifacts((tmp_path,), run_names=((name, tmp_path),))


def test_one_run_has_one_name(tmp_path: Path) -> None:
    """Two names for one file contradict each other: the call is wrong."""
    write(tmp_path, {"a_rollouts.jsonl": ROWS})
    with pytest.raises(pipeline.UsageError):
        discover.artifacts((tmp_path,), run_names=(("x", tmp_path), ("y", tmp_path)))


def test_files_beside_a_run_tell_of_it(together: Results) -> None:
    """Model, sampling, repeats, limits, checkpoint and notes; a run's own file before a shared."""
    own, other = together.rows("""
        select model, checkpoint, n_repeats, sampling, limits, notes from runs
        where run_id in ('x_a', 'x_b') order by run_id
    """)
    assert own[:3] == ("acme/aster-8b", "/models/step_400", 5)
    assert json.loads(own[3]) == {"temperature": 0.7, "top_p": 0.95, "max_output_tokens": 4096}
    assert other[:3] == ("shared", None, 1)
    assert json.loads(other[3]) == {"temperature": 0.1}
    assert [json.loads(row[4]) for row in (own, other)] == [{"max_turns": 12, "timeout_s": 300}] * 2
    assert own[5] == other[5]
    assert "# Tuesday\nthe judge was down\n" in own[5] and "what it is" in own[5]
    assert together.one("select count(*) from raw.config_values where value like '%secret%'") == 0


@pytest.mark.slow
def test_no_name_hides_forced_verification(tmp_path: Path) -> None:
    """A generic stem, a name that is set, a name made longer: each still has its warning."""
    files = ["a/unsafe_rollouts.jsonl", "b/unsafe_y.jsonl", "c/unsafe_z.jsonl", "d/unsafe_z.jsonl"]
    folder = write(tmp_path / "results", dict.fromkeys(files, ROWS))
    names = {"good": folder / "b"}
    with only(*CHECKED):
        analysis = pipeline.analyze(folder, out=tmp_path / "out", run_names=names)
    # The four files are one and the same, which is reported too.
    warned = [warning.check for warning in analysis.warnings if warning.check != "warn_copies"]
    assert warned == ["warn_unsafe"] * 4
