"""The simulator's results are deterministic, consistent, and show what is planted in them."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
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
    if mode == "CUT_OFF":
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
        if planted["mode"] == "UNGRADED":
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


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize(
    ("name", "options", "modes"),
    [
        ("terminal", {}, "failure_mode=agent_timeout CHECKS_FAILED INFRA_FAILURE"),
        ("terminal", {"checks": "list"}, "failure_mode=agent_timeout CHECKS_FAILED INFRA_FAILURE"),
        ("capped", {}, "UNGRADED CUT_OFF UNEXPLAINED"),
        ("capped", {"is_said": False}, "UNGRADED CUT_OFF UNEXPLAINED"),
        ("submitting", {}, "UNEXPLAINED"),
        ("wrapped_errors", {}, "ERROR_IGNORED"),
        ("wrapped_errors", {"wrapping": "returncode"}, "ERROR_IGNORED"),
        ("acting", {}, "WRONG_ARGUMENTS MISSING_ACTION EXTRA_WRITE"),
        ("null_signs", {}, "UNEXPLAINED"),
        ("effect_signs", {}, "UNEXPLAINED"),
    ],
)
def test_the_planted_truth_of_a_case_is_what_its_rows_say(
    name: str, options: Row, modes: str, seed: int
) -> None:
    """One truth per row, a mode for each failure and none for a pass, shown by the row itself."""
    case = getattr(simulate.cases, name)(seed, **options)
    for row, truth in zip(case.rows, case.truth, strict=True):
        assert (row["_ng_task_index"], row["_ng_rollout_index"]) == (truth.task, truth.repeat)
        assert (truth.mode is None) == (row["reward"] == 1.0)
        told = CASE_TRUTHS[name](case, row, row["response"]["output"])
        planted = {"mode": truth.mode, "event_seq": truth.event_seq} | truth.facts
        assert told == {key: planted[key] for key in told}, (case.run, truth)
    found = Counter(truth.mode for truth in case.truth)
    assert found.keys() == {None, *modes.split()}
    assert 0.15 < found[None] / len(case.rows) < 0.85
    assert getattr(simulate.cases, name)(seed, **options) == case


def _terminal_truth(case: Any, row: Row, items: list[Row]) -> Row:
    """No item; the tests that failed explain what did not time out."""
    results = row["test_results"] or {}
    if isinstance(results, list):
        results = {check["name"]: check["passed"] for check in results}
    failed = sorted(name for name, verdict in results.items() if verdict in (False, "failed"))
    suspect = [row["_ng_task_index"], "test_timezone"] == case.facts["suspect_check"]
    assert items == [] and suspect == ("test_timezone" in failed)
    is_timeout = row["failure_mode"] == "agent_timeout"
    mode = "failure_mode=agent_timeout" if is_timeout else "CHECKS_FAILED" if failed else None
    if not row["response"]["usage"]["total_tokens"]:
        mode = "INFRA_FAILURE"
    mode = None if row["is_resolved"] else mode
    return {"mode": mode, "failed_checks": failed, "is_timeout": is_timeout}


def _capped_truth(case: Any, row: Row, items: list[Row]) -> Row:
    """At the cap nothing passes and no word is last; below it every attempt ends with words."""
    n_turns = sum(item["type"] != "function_call_output" for item in items)
    is_cut = n_turns == case.facts["turn_cap"]
    reason = "max_steps" if is_cut else "agent_stop"
    assert is_cut == (items[-1]["type"] != "message")
    assert row.get("termination_reason", reason) == reason
    is_ungraded = row["reward_info"] is None or "error" in row["reward_info"]
    mode = "UNGRADED" if is_ungraded else "CUT_OFF" if is_cut else "UNEXPLAINED"
    mode = None if row["reward"] else mode  # type: ignore[assignment]
    return {"mode": mode, "is_cut": is_cut, "n_turns": n_turns}


def _submitting_truth(_: Any, row: Row, items: list[Row]) -> Row:
    """Passes and failures alike end on the call or its result; the call decided a failure."""
    (seq,) = [seq for seq, item in enumerate(items, 1) if item.get("name") == "submit"]
    assert seq >= len(items) - 1
    right = json.dumps({"answer": str(row["_ng_task_index"] * 100)}, separators=(",", ":"))
    return {"event_seq": None if items[seq - 1]["arguments"] == right else seq}


def _wrapped_truth(_: Any, row: Row, items: list[Row]) -> Row:
    """Every result is wrapped, errors in their own tag; a failure's last result is one."""
    results = {seq: item["output"] for seq, item in enumerate(items, 1) if "output" in item}
    assert all(re.match("<(tool_error|tool_result|returncode)>", text) for text in results.values())
    errors = [seq for seq, text in results.items() if re.match("<tool_error|<returncode>1", text)]
    last = None if row["reward"] else max(results)
    assert last is None or last in errors
    return {"error_seqs": errors, "event_seq": last, "mode": "ERROR_IGNORED" if last else None}


def _acting_truth(_: Any, row: Row, items: list[Row]) -> Row:
    """A failure writes otherwise than expected, first at the planted call; a pass does not."""
    expected = {a["name"]: a["kwargs"] for a in row["expected_actions"]}
    calls = [(seq, item) for seq, item in enumerate(items, 1) if item["type"] == "function_call"]
    made = {item["name"]: (seq, json.loads(item["arguments"])) for seq, item in calls}
    for read in simulate.cases.READS:
        expected.pop(read, None), made.pop(read, None)
    wrong = {n: seq for n, (seq, given) in made.items() if expected.get(n, n) != given}
    missing = [name for name in expected if name not in made]
    keys = [
        key
        for name in wrong
        for key, value in expected.get(name, {}).items()
        if value != made[name][1][key]
    ]
    mode = "EXTRA_WRITE" if not expected else "WRONG_ARGUMENTS" if wrong else "MISSING_ACTION"
    return {
        "mode": mode if wrong or missing else None,
        "event_seq": min(wrong.values(), default=None),
        "kind": "act" if expected else "refuse",
        "differing_keys": keys,
        "missing_calls": missing,
    }


def _signs_truth(case: Any, row: Row, items: list[Row]) -> Row:
    """A row bears the signs that its fields and its tool results show."""
    borne = {f"{key}={value}" for key, value in row.items() if isinstance(value, str)}
    if any('"error"' in item.get("output", "") for item in items):
        borne.add("tool_error")
    return {"signs": [sign for sign in case.facts["effects"] if sign in borne]}


CASE_TRUTHS = {
    "terminal": _terminal_truth,
    "capped": _capped_truth,
    "submitting": _submitting_truth,
    "wrapped_errors": _wrapped_truth,
    "acting": _acting_truth,
    "null_signs": _signs_truth,
    "effect_signs": _signs_truth,
}


@pytest.mark.parametrize(("name", "effects"), [("null_signs", None), ("effect_signs", (0.3, 0.1))])
def test_signs_have_the_planted_effect(name: str, effects: tuple[float, float] | None) -> None:
    """Over 6,000 rows the difference within tasks is the planted one; pooled it is larger."""
    signs = simulate.cases.SIGNS[:2]
    options = {} if effects is None else {"effects": dict(zip(signs, effects, strict=True))}
    case = getattr(simulate.cases, name)(3, n_tasks=100, n_repeats=60, **options)
    rewards = [row["reward"] for row in case.rows]
    for sign in signs:
        signed = [sign in truth.facts["signs"] for truth in case.truth]
        assert statistics.fmean(signed) == pytest.approx(case.facts["shares"][sign])
        # A task's sixty attempts follow one another; each weighs as Mantel and Haenszel have it.
        tasks = [
            _difference(rewards[i : i + 60], signed[i : i + 60]) for i in range(0, len(signed), 60)
        ]
        total = sum(weight for _, weight in tasks)
        within = sum(difference * weight for difference, weight in tasks) / total
        # Four standard errors.
        assert within == pytest.approx(case.facts["effects"][sign], abs=0.045)
        assert _difference(rewards, signed)[0] > within + 0.05


def _difference(rewards: list[float], signed: list[bool]) -> tuple[float, float]:
    """Pass rate without the sign minus that with it, and its weight."""
    groups = [[r for r, s in zip(rewards, signed, strict=True) if s == given] for given in (0, 1)]
    without, with_it = groups
    weight = len(without) * len(with_it) / len(rewards)
    return statistics.fmean(without) - statistics.fmean(with_it), weight


def test_two_terminal_runs_differ_by_their_timeouts_alone() -> None:
    """Of one seed, with two timeout rates: what times out in neither ends alike."""
    often = simulate.cases.terminal(5)
    rarely = simulate.cases.terminal(5, model="dune-70b", timeout_rate=0.1)
    timed_out = [[t.facts["is_timeout"] for t in case.truth] for case in (often, rarely)]
    assert sum(timed_out[0]) > sum(timed_out[1]) > 0
    for row, other, *is_timeout in zip(often.rows, rarely.rows, *timed_out, strict=True):
        assert row["responses_create_params"] == other["responses_create_params"]
        assert any(is_timeout) or row["reward"] == other["reward"]


def test_a_case_is_written_with_its_truth_out_of_sight(tmp_path: Path) -> None:
    """Rows as lines; the truth in a folder that no analysis reads."""
    case = simulate.cases.acting(0)
    path = simulate.cases.write_case(tmp_path, case)
    assert _json_lines(path) == case.rows
    planted = _json_lines(tmp_path / ".planted" / f"{case.run}.jsonl")
    assert len(planted) == 1 + len(case.rows) and planted[0] == {"facts": case.facts}
