"""Tables for MLflow, Weights & Biases and Hugging Face have the rows of the warehouse."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest
import yaml

import blade
from tests.lean import LOADED, METRICS
from tests.results import Row, analyzed, call, contents, rollout

pytestmark = pytest.mark.slow

ORDER = "order by try_cast(task_id as bigint), task_id, rollout_index"


@pytest.fixture(scope="module")
def exported(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo in all three formats."""
    folder = tmp_path_factory.mktemp("tracked")
    for format_ in ("mlflow", "wandb", "hugging_face"):
        ended = call("export", "--format", format_, "--out", folder / format_, "--warehouse", demo)
        assert (ended.code, ended.stderr) == (0, "")
    return folder


def frame(demo: Path, query: str) -> polars.DataFrame:
    """The rows of a query."""
    with blade.open_warehouse(demo) as warehouse:
        return warehouse.sql(query)


def table(path: Path) -> list[Row]:
    """The rows of a table of columns and data."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return [dict(zip(content["columns"], row, strict=True)) for row in content["data"]]


@pytest.mark.parametrize(("tracker", "suffix"), [("mlflow", "json"), ("wandb", "table.json")])
def test_tables_have_the_attempts_and_tasks_of_a_run(
    tracker: str, suffix: str, demo: Path, exported: Path
) -> None:
    """In the order of tasks; what is undefined is null; failures have their primary mode."""
    for run_id in frame(demo, "select run_id from runs")["run_id"]:
        attempts = table(exported / tracker / run_id / f"attempts.{suffix}")
        names = "task_id, rollout_index, reward, is_pass, final_text as output, output_tokens"
        expected = frame(demo, f"select {names} from rollouts where run_id = '{run_id}' {ORDER}")
        assert expected.to_dicts() == [
            {name: row[name] for name in expected.columns} for row in attempts
        ]
        modes = frame(
            demo,
            "select run_id || '/' || task_id || ':' || rollout_index, mode from rollout_modes "
            f"where is_primary and run_id = '{run_id}'",
        ).rows()
        recorded = {row["citation"]: row["failure_mode"] for row in attempts}
        assert {name: recorded[name] for name, _ in modes if name in recorded} == {
            name: mode for name, mode in modes if name in recorded
        }
        assert any(recorded.values()) and all(row["prompt"] for row in attempts)
        tasks = table(exported / tracker / run_id / f"tasks.{suffix}")
        outcomes = f"select task_id, n_passed from task_outcomes where run_id = '{run_id}'"
        assert {row["task_id"]: row["n_passed"] for row in tasks} == dict(
            frame(demo, outcomes).rows()
        )


@pytest.mark.parametrize(
    ("tracker", "figures", "settings"),
    [("mlflow", "metrics", "params"), ("wandb", "summary", "config")],
)
def test_figures_and_settings_of_a_run(
    tracker: str, figures: str, settings: str, demo: Path, exported: Path
) -> None:
    """Figures are numbers, without those that are undefined; settings are named one by one."""
    folder = exported / tracker / "office_desk_aster-8b"
    written = json.loads((folder / f"{figures}.json").read_text())
    (row,) = frame(demo, "from run_metrics where run_id = 'office_desk_aster-8b'").to_dicts()
    assert {type(value) for value in written.values()} <= {int, float}
    assert written.items() <= row.items()
    assert {"pass_at_1", "n_missing"} < written.keys() and "cost_per_pass" not in written
    chosen = json.loads((folder / f"{settings}.json").read_text())
    assert (chosen["model"], chosen["sampling.temperature"]) == ("aster-8b", 1.0)


def test_a_dataset_is_described_by_its_card(demo: Path, exported: Path) -> None:
    """The header names files that exist; together they have all rows, with transcripts."""
    folder = exported / "hugging_face"
    _, header, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    configs = yaml.safe_load(header)["configs"]
    frames = {}
    for config in configs:
        (files,) = config["data_files"]
        assert files["split"] == "test"
        frames[config["config_name"]] = polars.read_parquet(folder / files["path"])
    assert {name: each.height for name, each in frames.items()} == {
        "attempts": frame(demo, "from rollouts").height,
        "tasks": frame(demo, "from task_outcomes").height,
        "runs": 4,
    }
    assert [config.get("default") for config in configs] == [True, None, None]
    attempts = frames["attempts"]
    counts = {row["citation"]: len(row["events"] or []) for row in attempts.to_dicts()}
    expected = frame(demo, "select run_id || '/' || rollout_id, n_events::bigint from rollouts")
    assert counts == dict(expected.rows())
    keys = "run_id, task_id, rollout_index"
    order = ORDER.replace("by", "by run_id,")
    expected = frame(demo, f"select {keys} from rollouts {order}")
    assert attempts.select(expected.columns).equals(expected)
    assert "| quick_math_birch-70b | quick_math | birch-70b | 25 | 125 of 125 | 64.8% " in text


def test_the_same_bytes_over_an_earlier_export(exported: Path, demo: Path, tmp_path: Path) -> None:
    """An export replaces another of the folder, and leaves nothing of it behind."""
    for format_ in ("wandb", "mlflow", "hugging_face"):
        call("export", "--format", format_, "--out", tmp_path, "--warehouse", demo)
    assert contents(tmp_path) == contents(exported / "hugging_face")


@pytest.mark.slow
def test_names_that_no_folder_can_have(tmp_path: Path) -> None:
    """Each run has a folder of its own, and the card shows the name of a model as text."""
    runs: dict[str, list[Row] | str] = {
        f"{'long' * 40}{number}_rollouts.jsonl": [rollout(0, 0, reward=1.0, model="<b>|y")]
        for number in range(2)
    }
    results = analyzed(tmp_path, runs, needs=(*LOADED, *METRICS, "rollout_modes"))
    for format_ in ("mlflow", "junit", "hugging_face"):
        out = tmp_path / format_
        ended = call("export", "--format", format_, "--out", out, "--warehouse", results.path)
        assert ended.code == 0, ended.stderr
    for format_ in ("mlflow", "junit"):
        assert len([path for path in (tmp_path / format_).iterdir() if path.is_dir()]) == 2
    card = (tmp_path / "hugging_face" / "README.md").read_text(encoding="utf-8")
    assert r"| \<b\>\|y |" in card


def test_a_client_reads_them_back(
    exported: Path, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library of Hugging Face, where it is installed."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    folder = str(exported / "hugging_face")
    loaded = datasets.load_dataset(folder, split="test", cache_dir=str(tmp_path))
    assert loaded.num_rows == frame(demo, "from rollouts").height
