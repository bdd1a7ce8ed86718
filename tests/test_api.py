"""The small API for notebooks and scripts."""

from __future__ import annotations

from pathlib import Path

import polars
import pyarrow
import pytest

import pipeline
from tests.lean import only
from tests.results import rollout, write


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory):
    """Two tasks, one passing, one not."""
    folder = tmp_path_factory.mktemp("api")
    rows = [rollout(0, 0, reward=1.0), rollout(1, 0, reward=0.0)]
    with only("rollouts"):
        return pipeline.analyze(
            write(folder / "in", {"m_rollouts.jsonl": rows}), out=folder / "out"
        )


def test_analyze_then_query(analysis) -> None:
    """Analyze writes a warehouse; queries give Polars frames, or Arrow on request."""
    with pipeline.open_warehouse(analysis.warehouse) as warehouse:
        frame = warehouse.sql("select task_id, is_pass from rollouts order by task_id")
        assert isinstance(frame, polars.DataFrame)
        assert frame.rows() == [("0", True), ("1", False)]
        assert isinstance(warehouse.arrow("from rollouts"), pyarrow.Table)


def test_parameters_are_bound(analysis) -> None:
    """Values go beside the query, never into it."""
    with pipeline.open_warehouse(str(analysis.warehouse)) as warehouse:
        found = warehouse.sql("select reward from rollouts where task_id = ?", ["1"])
    assert found.rows() == [(0.0,)]


def test_options(tmp_path: Path) -> None:
    """Runs can be named, the benchmark and the threshold set."""
    path = write(tmp_path / "in", {"x.jsonl": [rollout(0, 0, reward=0.6)]}) / "x.jsonl"
    with only("rollouts", "runs"):
        analysis = pipeline.analyze(
            [], out=tmp_path / "out", run_names={"base": path}, benchmark="b", pass_threshold=0.5
        )
    with pipeline.open_warehouse(analysis.warehouse) as warehouse:
        rows = warehouse.sql("select run_id, benchmark, pass_threshold from runs").rows()
        assert rows == [("base", "b", 0.5)]
        assert warehouse.sql("select is_pass from rollouts").rows() == [(True,)]


def test_mistakes_are_our_errors(analysis, tmp_path: Path) -> None:
    """A wrong query or path raises an error of ours with a hint."""
    with pipeline.open_warehouse(analysis.warehouse) as warehouse:
        with pytest.raises(pipeline.UsageError) as raised:
            warehouse.sql("from rolouts")
        assert "Did you mean rollouts?" in raised.value.hint
    with pytest.raises(pipeline.InputError):
        pipeline.open_warehouse(tmp_path / "none.duckdb")
    with pytest.raises(pipeline.InputError):
        pipeline.analyze(tmp_path / "nowhere", out=tmp_path / "out")
