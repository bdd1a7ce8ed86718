"""Failure modes: what shows each, what only looks like it, and what holds for all of them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline.profile.contents import built_in
from tests import mode_cases
from tests.conftest import needs_corpus
from tests.fact_files import Fact, facts
from tests.mode_cases import CLEAN, LOOKED, SPENT, answers, no, ok, padded
from tests.results import Results, Row, analyzed, asked, failure, rollout

MODES = (
    "rollouts rollout_modes failure_modes error_signatures rollout_features events mode_tests "
    "record_fields".split()
)
diagnosed = partial(analyzed, needs=MODES)

RULES = {mode.mode: mode for mode in built_in()}
KEY = "run_id, task_id, rollout_index"
# Read from the row's own fields, so known where no transcript is.
OF_FIELDS = frozenset(
    "CHECKS_FAILED NEAR_MISS UNSTABLE_ANSWER WRONG_ANSWER VERIFIER_REASON UNEXPLAINED".split()
)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Every case in one analysis, a benchmark per file."""
    files = {}
    for name in mode_cases.BENCHMARKS:
        files[f"{name}_rollouts.jsonl"] = mode_cases.rows(name, "shows", "near")[0]
        files[f"{name}_even_rollouts.jsonl"] = mode_cases.rows(name, "shows", "passes")[0]
        files[f"{name}_blank_rollouts.jsonl"] = blank(name)
    return diagnosed(tmp_path_factory.mktemp("modes"), files)


def blank(name: str) -> list[Row]:
    """The cases without their transcripts: of some the usage tells that there was one."""
    found = []
    for number, row in enumerate(mode_cases.rows(name, "shows")[0]):
        response = {**row["response"], "output": [], **(SPENT if number % 2 else {})}
        question = row["responses_create_params"]["input"][0]["content"]
        asks = {"input": [{"role": "user", "content": f"{question} blank"}]}
        found.append({**row, "response": response, "responses_create_params": asks})
    return found


def modes_of(found: Results, run: str) -> dict[tuple[str, int], dict[str, bool]]:
    """The modes of every attempt of a run that has any, and whether each is the primary one."""
    held: dict[tuple[str, int], dict[str, bool]] = defaultdict(dict)
    query = (
        f"select task_id, rollout_index, mode, is_primary from rollout_modes where run_id = '{run}'"
    )
    for task, index, mode, is_primary in found.rows(query):
        held[task, index][mode] = is_primary
    return held


@pytest.mark.parametrize("name", mode_cases.BENCHMARKS)
def test_cases(name: str, cases: Results) -> None:
    """A mode is primary where it shows and absent where it nearly does."""
    tasks = mode_cases.rows(name, "shows", "near")[1]
    held = modes_of(cases, name)
    wrong = [
        (*tasks[task], index, found)
        for (task, index), found in held.items()
        for mode, role in [tasks[task]]
        if (not found.get(mode) if role == "shows" else mode in found)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", mode_cases.BENCHMARKS)
def test_signs_that_passes_bear(name: str, cases: Results) -> None:
    """What a pass bears, too, does not count where no task can tell; what the record says does."""
    tasks = mode_cases.rows(name, "shows", "passes")[1]
    held = modes_of(cases, f"{name}_even")
    assert {tasks[task][1] for task, _ in held} == {"shows"}
    wrong = []
    for (task, index), found in held.items():
        mode = tasks[task][0]
        rule = RULES.get(mode)
        if rule is None or rule.is_description:
            continue
        if (mode in found) != rule.is_always:
            wrong.append((mode, index, found))
    assert wrong == []
    counted = cases.rows(f"""
        select sign, n_signed, n_signed_failed, is_counted from mode_tests
        where benchmark = '{name}_even' and not is_always and not is_description
    """)
    assert counted and not [row for row in counted if row[3] or row[1] == row[2]]


@pytest.mark.parametrize("name", mode_cases.BENCHMARKS)
def test_without_a_transcript_nothing_is_said_of_it(name: str, cases: Results) -> None:
    """No sign of a trajectory, and no feature of one, where nobody recorded it."""
    run = f"{name}_blank"
    found = {mode for given in modes_of(cases, run).values() for mode in given}
    told = {m for m in found if "=" not in m and RULES.get(m) and RULES[m].source == "trajectory"}
    assert told <= OF_FIELDS and "UNEXPLAINED" in found
    assert not found & {"EMPTY_OUTPUT", "NO_ACTION"}
    features = cases.rows(f"""
        select distinct has_output, has_action, n_turns, n_tool_calls, n_tool_errors, ends_in_error,
            is_refusal, n_matched_actions, n_repeated_calls
        from rollout_features where run_id = '{run}'
    """)
    assert features == [(None,) * 9]


def test_every_mode_has_a_case() -> None:
    """Each built-in mode is shown, by a case or by an attempt that has no row to judge."""
    shown = {case["mode"] for given in mode_cases.BENCHMARKS.values() for case in given}
    shown |= {mode for mode in GRID.values() if mode} | {"DUPLICATE_PROMPT"}
    assert set(RULES) | {"UNEXPLAINED"} == shown


# Attempts without a row to judge: the mode that each has, by task.
GRID = {
    "0": "UNREADABLE_ROW",
    "1": "MISSING_ROW",
    "2": "JUDGE_FAILED",
    "3": "CUT_OFF",
    "4": "INFRA_FAILURE",
    "5": "FAILED_ATTEMPT",
    "6": "UNSCORED_REWARD",
    "7": "WRONG_ANSWER",
    "8": "",
    "9": "",
    "10": "MISSING_ROW",
    "11": "ATTEMPT_ERROR",
}


def grid_files() -> dict[str, Any]:
    """Rows that are broken, lost, failed or unscored, and rows that were got in the end."""
    broken = ['{"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": ', '{"_ng_task_index": 10']
    # Their key has a row after all.
    broken.append('{"_ng_task_index": 9, "_ng_rollout_index": 0, "reward"')
    rows = [
        rollout(6, 0, reward=None),
        rollout(7, 0, reward=0.0, extracted_answer="2"),
        rollout(8, 0, reward=1.0),
        rollout(9, 0, reward=1.0),
        rollout(11, 0, reward=None, error_message="RuntimeError('sandbox died')"),
    ]
    failures = [
        failure(2, 0, "judge_failed", _ng_failure_judge_error="judge: HTTP 429"),
        failure(3, 0, "timeout_exceeded", error_message="Timed out: 600 s"),
        failure(4, 0, "transient", error_message="connection reset"),
        failure(5, 0, "legitimate", error_message="no patch"),
        # What failed at first and was scored in the end is judged by its score.
        failure(7, 0, "timeout_exceeded", error_message="Timed out: 600 s"),
        failure(8, 0, "judge_failed"),
    ]
    return {
        "grid_rollouts.jsonl": "\n".join([*broken, *map(json.dumps, rows)]) + "\n",
        "grid_rollouts_failures.jsonl": failures,
        "grid_rollouts_materialized_inputs.jsonl": [asked(task, 0) for task in range(12)],
    }


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Runs of which not only the rows decide, each its own benchmark."""
    files = {**grid_files(), "twins_rollouts.jsonl": twins()}
    files["fields_rollouts.jsonl"] = fields()
    return diagnosed(tmp_path_factory.mktemp("others"), files)


def test_attempts_without_a_verdict(others: Results) -> None:
    """Missing, unreadable, failed and unscored attempts have modes; a later score goes before."""
    query = "select task_id, mode, snippet from rollout_modes where is_primary and run_id = 'grid'"
    found = {task: (mode, told) for task, mode, told in others.rows(query)}
    assert {task: mode for task, (mode, _) in found.items()} == {
        task: mode for task, mode in GRID.items() if mode
    }
    assert (found["2"][1], found["3"][1]) == ("judge: HTTP 429", "ran out of time")
    stale = others.rows("""
        select failure_class, failure_message, is_timed_out from rollout_features
        where run_id = 'grid' and task_id in ('7', '8')
    """)
    assert stale == [(None, None, False)] * 2
    assert others.column("select task_id from rollout_features where is_unreadable") == ["0"]


def twins() -> list[Row]:
    """Two tasks that ask the same and expect another answer; two that expect the same.

    Here a tone is the task's, whatever it is in another benchmark.
    """
    rows = [
        rollout(0, 0, **no("7", **answers("7", "8")), ask="How many?"),
        rollout(0, 1, **no("9", **answers("9", "8")), ask="How many?"),
        rollout(0, 2, **ok("8", **answers("8", "8")), ask="How many?"),
        rollout(1, 0, **ok("7", **answers("7", "7")), ask="How many?"),
        rollout(1, 1, **no("8", **answers("8", "7")), ask="How many?"),
        rollout(2, 0, **no("7", **answers("7", "8")), ask="And now?"),
        rollout(3, 0, **ok("8", **answers("8", "8")), ask="And now?"),
    ]
    return [{**row, "tone": "wet" if row["_ng_task_index"] > 1 else "dry"} for row in rows]


@facts("modes")
def test_others(others: Results, fact: Fact) -> None:
    """As tests/facts/modes.test says."""
    fact.check(others)


def fields() -> list[Row]:
    """What rows say of how they ended; each field varies between repeats of some task."""
    said: list[list[Row]] = [
        # A terminal reason needs three failures where a pass has it, too.
        [{"end_status": "agent_timeout"}] * 3,
        [{"end_status": end, "reward": 1.0} for end in ("agent_timeout", "oom_killed")],
        [{"end_status": "oom_killed"}] * 2,
        # Five failures to no pass of the same task; one passes at another.
        [*[{"gate": "strict"}] * 5, *[{"gate": "loose", "reward": 1.0}] * 5],
        [{"gate": "strict", "reward": 1.0}],
        [{"tone": "dry"}, *[{"tone": "dry", "reward": 1.0}] * 2, {"tone": "wet"}],
        # Nobody passes with it: the verifier's own words.
        [{"gate": "closed"}],
        # One check fails in three tasks, another in two.
        *[[{"tests": {"lint": False, "own": task > 0, "runs": True}}] for task in range(3)],
        [{"tests": {"lint": True, "own": False, "runs": True}}],
    ]
    rows = [
        rollout(task, index, **{**no(LOOKED, f"{task} {index}"), **given, "ask": f"fields {task}"})
        for task, attempts in enumerate(said)
        for index, given in enumerate(attempts)
    ]
    return padded("fields", rows, ok(*CLEAN, tests={"lint": True, "own": True, "runs": True}))


def every_row(path: Path, query: str) -> list[dict[str, Any]]:
    """Rows of any schema."""
    with duckdb.connect(str(path), read_only=True) as db:
        return db.sql(query).to_arrow_table().to_pylist()


def check_modes(path: Path) -> Counter[str]:
    """Hold the modes of a warehouse to what is true of all of them; returns the primary ones."""
    features = {
        (row["run_id"], row["task_id"], row["rollout_index"]): row
        for row in every_row(path, f"select {KEY}, is_pass, is_scored from main.rollout_features")
    }
    failing = {
        key for key, row in features.items() if row["is_pass"] is False or not row["is_scored"]
    }
    held = defaultdict(list)
    for row in every_row(path, "from main.rollout_modes"):
        held[row["run_id"], row["task_id"], row["rollout_index"]].append(row)
    assert set(held) == failing
    counts: Counter[str] = Counter()
    for key, rows in held.items():
        (first,) = [row for row in rows if row["is_primary"]]
        assert place(first) == min(map(place, rows)), key
        assert first["mode"] != "UNEXPLAINED" or len(rows) == 1, key
        counts[first["mode"]] += 1
    check_evidence(path)
    check_totals(path, held)
    return counts


def place(row: dict[str, Any]) -> tuple[int, int]:
    """The record first, a profile, fields, checks, the trajectory, what describes; the worst."""
    is_ruled = row["rule"] is not None
    if row["mode"] == "UNEXPLAINED":
        return 9, 0
    is_known = is_ruled and row["mode"] in RULES
    if row["source"] == "record" and not (is_known and not RULES[row["mode"]].is_always):
        order = 1 if is_ruled else 3
    else:
        order = {"profile": 2, "check": 4}.get(row["source"], 6 if row["is_description"] else 5)
    return order, -row["severity"] if is_ruled else -101


def check_evidence(path: Path) -> None:
    """What a mode cites exists, and its snippet is the beginning of that event's text."""
    shown = every_row(
        path,
        """
        select modes.*, events.seq,
            case when events.kind = 'tool_call' then events.arguments else events.text end as text
        from main.rollout_modes as modes
        left join main.events as events
            on (events.run_id, events.task_id, events.rollout_index, events.seq)
            = (modes.run_id, modes.task_id, modes.rollout_index, modes.evidence_seq)
    """,
    )
    for row in shown:
        snippet, text = row["snippet"], row["text"]
        assert snippet is None or len(snippet) <= 240
        assert row["evidence_seq"] == row["seq"], row
        if row["seq"] is not None:
            assert snippet == (text if text is None else text[:240]), row
            assert row["n_characters"] == (text if text is None else len(text)), row


def check_totals(path: Path, held: dict[Any, list[dict[str, Any]]]) -> None:
    """The table of modes counts what the rollouts have."""
    first = [row for rows in held.values() for row in rows if row["is_primary"]]
    n_failures = Counter(row["run_id"] for row in first)
    tasks = defaultdict(set)
    for row in first:
        tasks[row["run_id"], row["mode"]].add(row["task_id"])
    n_first = Counter((row["run_id"], row["mode"]) for row in first)
    n_matched = Counter((row["run_id"], row["mode"]) for rows in held.values() for row in rows)
    found = every_row(path, "from main.failure_modes")
    assert {(row["run_id"], row["mode"]) for row in found} == set(n_matched)
    for row in found:
        key = (row["run_id"], row["mode"])
        assert row["n_rollouts"] == n_first[key] and row["n_matched"] == n_matched[key]
        assert row["n_tasks"] == len(tasks[key]) and row["n_failures"] == n_failures[key[0]]
        assert row["share_of_failures"] == n_first[key] / n_failures[key[0]]


def test_modes_of_the_cases(cases: Results, others: Results) -> None:
    """Whatever did not pass has one primary mode: the first in order, then the worst."""
    found = check_modes(cases.path) + check_modes(others.path)
    assert set(RULES) | {"UNEXPLAINED"} <= set(found)


def test_modes_of_the_demo(demo: Path) -> None:
    """The same holds in the demo."""
    assert len(check_modes(demo)) > 25


@needs_corpus
def test_modes_of_the_corpus(corpus: Path) -> None:
    """The same holds on real results; unwanted changes explain failures of the airline."""
    assert check_modes(corpus)["EXTRA_WRITE"] == 30


@pytest.mark.slow
def test_long_texts(tmp_path: Path) -> None:
    """Of megabytes 240 characters are shown, with how many there are."""
    wide = "a" * 1_500_000
    call = ("write", {"text": wide}, f"Error: {wide}")
    rows = [
        rollout(0, 0, **no(call, call, call)),
        rollout(1, 0, **no(f"I can't help with that. {wide} <tool_call>", notes=wide[:100_000])),
    ]
    found = diagnosed(tmp_path, {"a_rollouts.jsonl": padded("long", rows, ok(*CLEAN))})
    shown = found.rows("""
        select mode, evidence_seq, length(snippet), n_characters from rollout_modes
        where is_primary order by task_id
    """)
    assert shown == [("THRASH", 3, 240, 1_500_012), ("RAW_TOOL_CALL", 1, 240, 1_500_036)]
    query = "select length(message), n_events from error_signatures where source = 'tool'"
    assert found.rows(query) == [(300, 3)]
