"""Rollouts that Gym exported to a tracker: the same attempts as in its own file."""

from __future__ import annotations

import json
from pathlib import Path

from tests.results import Content, analyzed, lines, rollout

ROWS = [rollout(1, 0, reward=1.0, model="m", agent="a"), rollout(2, 0, reward=0.0, level="hard")]


def table(*cells: object, **more: object) -> str:
    """A table of one column, as MLflow and Weights & Biases write it."""
    return json.dumps({**more, "columns": ["Rollout"], "data": [[one] for one in cells]})


TEXTS = [json.dumps(row) for row in ROWS]
FILES: dict[str, Content] = {
    "mlruns/0/4f/artifacts/rollouts.json": table(*TEXTS, "{cut off"),
    "wandb/run-7/files/media/table/Rollouts_0_ab.table.json": table(*TEXTS, _type="table", nrows=2),
    "other/table.json": json.dumps({"columns": ["Rollouts"], "data": [["x"]]}),
}


def test_the_same_as_its_own_file(tmp_path: Path) -> None:
    """Attempts, verdicts and fields are those of the JSONL; what cannot be read is a reject."""
    needs = ("rollouts", "runs", "rejects")
    results = analyzed(tmp_path, {**FILES, "own/plain_rollouts.jsonl": lines(ROWS)}, needs=needs)
    by_run = {
        run: results.rows(
            "select task_id, rollout_index, reward, model, final_text, verifier ->> '$.level' "
            f"from rollouts where run_id = '{run}' order by all"
        )
        for run in results.column("select run_id from runs")
    }
    assert sorted(by_run) == ["4f", "plain", "run-7"]
    assert len(by_run["plain"]) == len(ROWS)
    assert by_run["4f"] == by_run["run-7"] == by_run["plain"]
    assert results.rows("select source_file, source_line, reason from rejects") == [
        ("mlruns/0/4f/artifacts/rollouts.json", 3, "no reward and no response")
    ]
