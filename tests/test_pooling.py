"""Files that the user puts into one run: shards, repeats by seed, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.warehouse import open_warehouse
from tests.conftest import ROOT
from tests.results import call

LOGS = ROOT.parent / "shared" / "formats_corpus" / "inspect" / "generated" / "json"
FIGURES = """
    select n_tasks, n_scored, n_passed, pass_at_1, pass_at_1_ci_new_tasks_low, mean_reward
    from run_metrics
"""


def row(task: int, **others: Any) -> dict[str, Any]:
    return {"id": f"q{task}", "prompt": f"p{task}", "correct": task % 3 > 0, **others}


def write(folder: Path, files: dict[str, list[dict[str, Any]]]) -> Path:
    folder.mkdir()
    for name, rows in files.items():
        text = "".join(json.dumps(one) + "\n" for one in rows)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def figures(folder: Path, out: Path) -> list[tuple[Any, ...]]:
    """The figures of all runs, of which there must be one, called `all`."""
    outcome = call("analyze", "--run", f"all={folder}", "--out", out)
    assert outcome.code == 0, outcome.stderr
    with open_warehouse(out / "warehouse.duckdb") as warehouse:
        assert warehouse.execute("select run_id from runs").fetchall() == [("all",)]
        return warehouse.execute(FIGURES).fetchall()


@pytest.mark.slow
def test_shards(tmp_path: Path) -> None:
    """Files of other tasks are one run with the figures of the whole file."""
    rows = [row(task) for task in range(20)]
    whole = write(tmp_path / "whole", {"a.jsonl": rows})
    shards = write(tmp_path / "shards", {"a.jsonl": rows[:7], "b.jsonl": rows[7:]})
    assert figures(shards, tmp_path / "1") == figures(whole, tmp_path / "2")


@pytest.mark.slow
@pytest.mark.skipif(not LOGS.is_dir(), reason="needs the corpus of formats")
def test_shards_of_a_log(tmp_path: Path) -> None:
    """A log of Inspect that is split by samples and pooled has the figures of the whole log."""
    path = min(LOGS.glob("*.json"))
    log = json.loads(path.read_text(encoding="utf-8"))
    ids = log["eval"]["dataset"]["sample_ids"]
    shards = tmp_path / "shards"
    shards.mkdir()
    for number in (0, 1):
        part = set(ids[number::2])
        dataset = {**log["eval"]["dataset"], "sample_ids": [*part], "samples": len(part)}
        shard = {
            "version": 2,
            "status": "success",
            "eval": {**log["eval"], "dataset": dataset, "task_id": f"t{number}"},
            "plan": log["plan"],
            "samples": [sample for sample in log["samples"] if sample["id"] in part],
        }
        (shards / f"2026-01-0{number + 1}_sums_{number}.json").write_text(json.dumps(shard))
    assert figures(shards, tmp_path / "1") == figures(path, tmp_path / "2")


@pytest.mark.slow
def test_seeds(tmp_path: Path) -> None:
    """Files that all have the same tasks are repeats of each."""
    files = {
        name: [row(task, output=f"{name}{task}") for task in range(6)]
        for name in ("a.jsonl", "b.jsonl")
    }
    ((n_tasks, n_scored, *_),) = figures(write(tmp_path / "seeds", files), tmp_path / "out")
    assert (n_tasks, n_scored) == (6, 12)


@pytest.mark.slow
def test_overlap_is_refused(tmp_path: Path) -> None:
    """Files that share some tasks only may be a rerun: the message names the overlap."""
    rows = [row(task) for task in range(10)]
    folder = write(tmp_path / "part", {"a.jsonl": rows[:6], "b.jsonl": rows[4:]})
    outcome = call("analyze", "--run", f"all={folder}", "--out", tmp_path / "out")
    assert outcome.code == 3
    assert "all: 2 of 10 tasks are in several of its 2 files" in outcome.stderr
    assert "q4 in a.jsonl and b.jsonl" in outcome.stderr
    assert not (tmp_path / "out" / "warehouse.duckdb").exists()


@pytest.mark.slow
def test_numbered_repeats(tmp_path: Path) -> None:
    """Files of some common tasks may be pooled if they number other repeats."""
    first = [row(task, trial=0) for task in range(6)]
    second = [row(task, trial=trial) for task in range(3) for trial in (1, 2)]
    first += [row(0, trial=3)]
    folder = write(tmp_path / "more", {"a.jsonl": first, "b.jsonl": second})
    ((n_tasks, n_scored, *_),) = figures(folder, tmp_path / "out")
    assert (n_tasks, n_scored) == (6, 13)


@pytest.mark.slow
def test_one_name_for_two_files(tmp_path: Path) -> None:
    """A name that is given twice pools both paths."""
    rows = [row(task) for task in range(4)]
    folder = write(tmp_path / "two", {"a.jsonl": rows[:2], "b.jsonl": rows[2:], "c.jsonl": rows})
    named = [f"x={folder / name}.jsonl" for name in "ab"]
    outcome = call(
        "analyze", "--run", named[0], "--run", named[1], "--out", tmp_path / "out", "--json"
    )
    assert [run["run_id"] for run in json.loads(outcome.stdout)["runs"]] == ["x"]
