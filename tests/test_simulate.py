"""The simulator's results are deterministic, consistent, and show what is planted in them."""

from __future__ import annotations

import itertools
import json
import math
import os
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

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


@pytest.fixture(scope="module", params=[None, 1, 2, 3])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo: the default one, and some of other seeds."""
    options = {} if request.param is None else {"seed": request.param}
    return Path(simulate.write_demo(tmp_path_factory.mktemp("demo"), **options))


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


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
    assert _contents(tmp_path) == _contents(SAMPLES / "demo")


def test_the_committed_demo_is_small() -> None:
    """What is committed stays under 1.5 MB."""
    assert sum(map(len, _contents(SAMPLES / "demo").values())) < 1_500_000


def test_other_seeds_ask_other_questions(tmp_path: Path) -> None:
    """Two seeds have no office question in common."""
    asked = []
    for seed in (1, 2):
        out = simulate.write_demo(tmp_path / str(seed), seed=seed)
        inputs = _json_lines(out / f"{RUNS[0]}_rollouts_materialized_inputs.jsonl")
        asked.append({row["responses_create_params"]["input"][-1]["content"] for row in inputs})
    assert not asked[0] & asked[1]


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


def test_the_decisive_event_shows_the_planted_mode(folder: Path) -> None:
    """event_seq names an existing item, and that item is of the kind the mode is about."""
    rollouts = {key: row for run in RUNS for key, row in _rollouts(folder, run).items()}
    for planted in _planted(folder):
        if planted["event_seq"] is None:
            continue
        row = rollouts[_key(planted["run"], planted)]
        items = row["response"]["output"]
        for seq in [planted["event_seq"], *planted["also_seq"]]:
            assert 1 <= seq <= len(items)
        assert _shows(planted["mode"], row, items[planted["event_seq"] - 1]), planted


def _shows(mode: str, row: Row, item: Row) -> bool:
    """Whether an item is what the mode says it is; true where only a person could tell."""
    items = row["response"]["output"]
    if mode == "RAW_TOOL_CALL":
        return "<tool_call>" in str(item["content"][0]["text"])
    if mode == "UNDECLARED_TOOL":
        declared = [tool["name"] for tool in row["responses_create_params"]["tools"]]
        return item["name"] not in declared
    if mode == "MALFORMED_ARGUMENTS":
        return not _is_json(item["arguments"])
    if mode in ("TRUNCATED", "LIMIT_TOO_LOW"):
        cut = bool(row["response"]["incomplete_details"] == {"reason": "max_output_tokens"})
        return cut and item is items[-1]
    if mode == "THRASH":
        same = [i for i in items if i.get("arguments") == item["arguments"]]
        return len(same) >= 3
    if mode == "ERROR_IGNORED":
        return item["type"] == "function_call_output" and item is items[-2]
    if mode == "DROPPED_FILTER":
        return str(item["type"]) == "reasoning"
    if mode in ("WRONG_ARGUMENTS", "SAME_WRONG_ARGUMENTS", "EXTRA_WRITE"):
        action = {"name": item["name"], "kwargs": json.loads(item["arguments"])}
        return action not in row["expected_actions"]
    if mode == "SKIPPED_LOOKUP":
        seen = json.dumps([i["output"] for i in items[: items.index(item)] if "output" in i])
        emails = [v for v in json.loads(item["arguments"]).values() if "@" in str(v)]
        return any(email not in seen for email in emails)
    if mode == "NOT_EXTRACTED":
        return row["extracted_answer"] is None
    if mode in ("WRONG_ANSWER", "UNSTABLE_ANSWER"):
        return row["extracted_answer"] not in (None, row["expected_answer"])
    return True


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_the_verdicts_that_are_not_the_agents_show_in_the_row(folder: Path) -> None:
    """Verifier errors, contradicted references and twin questions can be seen without a model."""
    rollouts = {key: row for run in RUNS for key, row in _rollouts(folder, run).items()}
    references: dict[str, set[str]] = {}
    for row in rollouts.values():
        prompt = row["responses_create_params"]["input"][-1]["content"]
        references.setdefault(prompt, set()).add(json.dumps(row.get("expected_answer")))
    for planted in _planted(folder):
        key = _key(planted["run"], planted)
        if planted["mode"] == "VERIFIER_ERROR":
            assert rollouts[key]["verifier_error"]
        if planted["mode"] == "REFERENCE_CONTRADICTION":
            assert rollouts[key]["extracted_answer"] == rollouts[key]["expected_answer"]
        if planted["mode"] == "DUPLICATE_PROMPT":
            prompt = rollouts[key]["responses_create_params"]["input"][-1]["content"]
            assert len(references[prompt]) > 1


@pytest.mark.parametrize("run", RUNS)
def test_aggregate_metrics_follow_from_the_rows(folder: Path, run: str) -> None:
    """The sidecar's reward statistics and pass@k are those of the readable, scored rows."""
    path = folder / f"{run}_rollouts_aggregate_metrics.json"
    (reported,) = json.loads(path.read_text(encoding="utf-8"))
    rows = _rollouts(folder, run)
    scored = {key: row["reward"] for key, row in rows.items() if not math.isnan(row["reward"])}
    metrics = reported["agent_metrics"]
    assert metrics["mean/reward"] == pytest.approx(statistics.fmean(scored.values()))
    assert metrics["std/reward"] == pytest.approx(statistics.stdev(scored.values()))
    tokens = [row["response"]["usage"]["output_tokens"] for row in rows.values()]
    assert metrics["median/output_tokens"] == statistics.median(tokens)
    tasks: dict[int, list[float]] = {}
    for (_, task, _), reward in scored.items():
        tasks.setdefault(task, []).append(reward)
    for k in range(1, max(map(len, tasks.values())) + 1):
        shares = [_share_with_a_pass(rewards, k) for rewards in tasks.values() if len(rewards) >= k]
        assert metrics[f"pass@{k}/accuracy"] == pytest.approx(100 * statistics.fmean(shares))
    groups = {group["_ng_task_index"]: group for group in reported["group_level_metrics"]}
    for task, rewards in tasks.items():
        assert groups[task]["mean/reward"] == pytest.approx(statistics.fmean(rewards))


def _share_with_a_pass(rewards: list[float], k: int) -> float:
    drawn = list(itertools.combinations(rewards, k))
    return sum(max(chosen) == 1.0 for chosen in drawn) / len(drawn)


@pytest.mark.parametrize("shape", ["schema", "trajectory", "mixed"])
def test_bench_rows_are_whole_and_unlike_one_another(tmp_path: Path, shape: str) -> None:
    """Eight repeats of each task, near the asked size, no two trajectories alike."""
    path = simulate.write_bench(tmp_path, shape=shape, n_bytes=2_000_000)
    assert path.stat().st_size == pytest.approx(2_000_000, rel=0.1)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert set(Counter(row["_ng_task_index"] for row in rows).values()) == {8}
    assert len({json.dumps(row["response"]["output"]) for row in rows}) == len(rows)


def test_a_dirty_bench_has_its_share_of_irregular_rows(tmp_path: Path) -> None:
    """Irregular rows replace regular ones, so the number of lines stays."""
    options = {"shape": "schema", "n_bytes": 1_000_000, "row_bytes": 3000}
    clean = simulate.write_bench(tmp_path / "clean", **options).read_bytes().splitlines()
    dirty = simulate.write_bench(tmp_path / "dirty", dirty=0.3, **options).read_bytes().splitlines()
    assert len(dirty) == len(clean)
    unusable = sum(not _is_rollout(line) for line in dirty)
    # Three kinds of six cannot be read as a rollout: 0.3 * 3 / 6.
    assert unusable / len(dirty) == pytest.approx(0.15, abs=0.06)


def _is_rollout(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.decode())["response"], dict)
    except ValueError:
        return False


def test_many_and_flat_have_the_asked_numbers(tmp_path: Path) -> None:
    """So many files, and so many attempts at so many tasks."""
    files = simulate.write_many(tmp_path / "many", n_files=10)
    assert len(files) == 10
    assert all(5 <= len(_json_lines(path)) <= 20 for path in files)
    flat = _json_lines(simulate.write_flat(tmp_path, n_tasks=20, n_repeats=3))
    assert {(row["_ng_task_index"], row["_ng_rollout_index"]) for row in flat} == set(
        itertools.product(range(20), range(3))
    )
