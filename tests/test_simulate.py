"""The simulator's results are deterministic, consistent, and show what is planted in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.results import contents
from tests.simulated import simulator

SAMPLES = Path(__file__).resolve().parent.parent / "data_samples"
RUNS = (
    "office_desk_aster-8b",
    "office_desk_birch-70b",
    "quick_math_aster-8b",
    "quick_math_birch-70b",
)
Key = tuple[str, int, int]
Row = dict[str, Any]


simulate = simulator()


@pytest.fixture(scope="module", params=[None, 1])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo: the default one, and some of other seeds."""
    options = {} if request.param is None else {"seed": request.param}
    return Path(simulate.write_demo(tmp_path_factory.mktemp("demo"), **options))


def _json_lines(path: Path) -> list[Row]:
    """Every line that is a JSON object in UTF-8."""
    rows = []
    for line in path.read_bytes().split(b"\n"):
        try:
            row = json.loads(line.decode())
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def _key(run: str, row: Row) -> Key:
    return run, row["_ng_task_index"], row["_ng_rollout_index"]


def _rollouts(folder: Path, run: str) -> dict[Key, Row]:
    rows = _json_lines(folder / f"{run}_rollouts.jsonl")
    return {_key(run, row): row for row in rows}


def _planted(folder: Path) -> list[Row]:
    return _json_lines(folder / ".planted" / "planted_causes.jsonl")


def test_the_committed_demo_is_what_the_default_seed_writes(tmp_path: Path) -> None:
    """Another process, hash seed, locale and time zone write the committed files byte for byte."""
    command = [sys.executable, str(SAMPLES / "simulate.py"), "demo", str(tmp_path)]
    changed = {"PYTHONHASHSEED": "4711", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    subprocess.run(command, check=True, env=os.environ | changed)
    assert contents(tmp_path) == contents(SAMPLES / "demo")


def test_the_committed_demo_is_small() -> None:
    """What is committed stays under 1.5 MB."""
    assert sum(map(len, contents(SAMPLES / "demo").values())) < 1_500_000


def test_every_attempt_that_did_not_pass_has_one_planted_cause(folder: Path) -> None:
    """Failed, failed to run, missing, unreadable or unscored: planted once; passed: never."""
    expected: list[Key] = []
    passed: set[Key] = set()
    for run in RUNS:
        inputs = _json_lines(folder / f"{run}_rollouts_materialized_inputs.jsonl")
        expected += [_key(run, row) for row in inputs]
        rollouts = _rollouts(folder, run).items()
        passed |= {key for key, row in rollouts if row["reward"] == 1.0}
    planted = Counter(_key(row["run"], row) for row in _planted(folder))
    assert planted == Counter(key for key in expected if key not in passed)


def test_every_bucket_and_cause_occurs(folder: Path) -> None:
    """Each run has tasks that always, sometimes and never pass; every cause is planted."""
    for run in RUNS:
        rewards: dict[int, list[bool]] = {}
        for (_, task, _), row in _rollouts(folder, run).items():
            rewards.setdefault(task, []).append(row["reward"] == 1.0)
        assert {(any(passes), all(passes)) for passes in rewards.values()} == {
            (True, True),
            (True, False),
            (False, False),
        }
    assert {row["cause"] for row in _planted(folder)} == {"KG", "UK", "BI", "TI", "IR", "DA"}
