"""Real results, with the figures that are known of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import open_warehouse
from pipeline.warehouse import Warehouse
from tests.conftest import CORPUS, needs_corpus

pytestmark = needs_corpus


@pytest.fixture(scope="module")
def real(corpus: Path) -> Iterator[Warehouse]:
    """The corpus, opened."""
    with open_warehouse(corpus) as warehouse:
        yield warehouse


def test_every_line_is_accounted_for(real: Warehouse) -> None:
    """File by file: lines = rows + rejects + other + blank, and the lines are the file's."""
    rows = real.execute(
        "select path, n_bytes, n_lines, n_rows, n_rejects, n_other, n_blank from artifacts"
    ).fetchall()
    on_disk = {str(p.relative_to(CORPUS)): p for p in CORPUS.rglob("*") if p.is_file()}
    assert {row[0] for row in rows} == set(on_disk)
    for path, n_bytes, n_lines, n_rows, n_rejects, n_other, n_blank in rows:
        content = on_disk[path].read_bytes()
        assert n_bytes == len(content)
        assert n_lines == content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
        assert n_lines == n_rows + n_rejects + n_other + n_blank


@pytest.mark.parametrize(
    ("run_id", "passed", "scored"),
    [
        ("aalcr", 3, 5),
        ("example_hermes", 2, 5),
        ("example_opencode", 4, 5),
        ("example_pi", 4, 5),
        ("gpt-4o", 84, 200),
    ],
)
def test_passes(real: Warehouse, run_id: str, passed: int, scored: int) -> None:
    """Scored and passing rollouts are as published."""
    row = real.execute(
        "select count(*) filter (is_pass), count(reward) from rollouts where run_id = ?",
        [run_id],
    ).fetchall()
    assert row == [(passed, scored)]


def test_ragged_repeats_are_not_missing(real: Warehouse) -> None:
    """Repeat numbers with gaps say nothing of rows that should exist."""
    indices = real.execute(
        "select task_id, list(rollout_index order by rollout_index) from rollouts "
        "where run_id = 'aalcr' group by task_id"
    ).fetchall()
    assert sorted(found for _, found in indices) == [[3, 4], [8, 9, 13]]
    expected = real.execute("from expected where run_id = 'aalcr'").fetchall()
    source = real.execute("select expected_source, n_expected from runs where run_id = 'aalcr'")
    assert expected == [] and source.fetchall() == [("unknown", None)]


def test_placeholder_lines_are_rejects(real: Warehouse) -> None:
    """Five lines that are not JSON are five rejects, and the run has no rollout."""
    file = "gym/browsecomp_advanced_harness/example_rollouts.jsonl"
    rejects = real.execute(
        "select source_line from rejects where source_file = ?", [file]
    ).fetchall()
    assert sorted(rejects) == [(1,), (2,), (3,), (4,), (5,)]
    run = "select n_rollouts from runs where run_id = 'browsecomp_advanced_harness'"
    assert real.execute(run).fetchall() == [(0,)]


def test_agents_are_runs(real: Warehouse) -> None:
    """A file of two agents is two runs, and each says how many models it holds."""
    rows = real.execute("select run_id, n_models from runs where run_id like 'nvarc%' order by all")
    assert rows.fetchall() == [
        ("nvarc--nvarc_inductive_simple_agent", 2),
        ("nvarc--nvarc_transductive_simple_agent", 2),
    ]


def test_sample_is_whole(real: Warehouse) -> None:
    """Every figure of an aggregate file is a row of reported_metrics."""
    file = "gym/structeval/example_rollouts_aggregate_metrics.json"
    (entry,) = json.loads((CORPUS / file).read_text())
    rows = real.execute(
        "select metric, value from reported_metrics where source_file = ? and task_id is null",
        [file],
    ).fetchall()
    assert dict(rows) == entry["agent_metrics"]
    tasks = real.execute(
        "select distinct task_id from reported_metrics where source_file = ?", [file]
    ).fetchall()
    assert {task for (task,) in tasks} == {None, "0", "1", "2", "3", "4"}


def test_slices_sort_tasks_not_outcomes(real: Warehouse) -> None:
    """Fields that group the tasks are slices; verdicts are not, though each task was tried once."""
    rows = real.execute("select distinct unnest(map_keys(slices)) from tasks").fetchall()
    assert {"category", "difficulty", "problem_type", "level"} <= {name for (name,) in rows}
    assert not {"hit", "exact", "follow_all_instructions"} & {name for (name,) in rows}


def test_content_agrees_with_the_index(real: Warehouse) -> None:
    """Where rows carry an index, the question's hash tells tasks apart as the index does."""
    rows = real.execute("""
        select run_id, count(distinct task_id) as n_tasks, count(distinct prompt_sha) as n_prompts
        from rollouts join tasks using (task_id, prompt_sha) where prompt <> '' group by all
    """).fetchall()
    agreeing = [run_id for run_id, n_tasks, n_prompts in rows if n_tasks == n_prompts]
    assert len(agreeing) >= 0.95 * len(rows)
