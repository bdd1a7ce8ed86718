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
from tests.mode_cases import answers, no, ok
from tests.results import Results, Row, analyzed, asked, failure, rollout

MODES = "rollouts rollout_modes failure_modes error_signatures rollout_features events".split()
diagnosed = partial(analyzed, needs=MODES)
KEYS = ("run_id", "task_id", "rollout_index")

# By these a mode is the primary one of several: the worst, then the first.
RANKS = {mode.mode: (-mode.severity, number) for number, mode in enumerate(built_in())}
RANKS["UNEXPLAINED"] = (0, len(RANKS))
KEY = "run_id, task_id, rollout_index"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Every case in one analysis, a benchmark a file."""
    files = {f"{name}_rollouts.jsonl": mode_cases.rows(name)[0] for name in mode_cases.BENCHMARKS}
    return diagnosed(tmp_path_factory.mktemp("modes"), files)


def modes_of(found: Results) -> dict[tuple[str, str, int], list[tuple[str, bool]]]:
    """The modes of every attempt that has any, and whether each is the primary one."""
    held = defaultdict(list)
    for run, task, index, mode, is_primary in found.rows(
        f"select {KEY}, mode, is_primary from rollout_modes"
    ):
        held[run, task, index].append((mode, is_primary))
    return held


@pytest.mark.parametrize("name", mode_cases.BENCHMARKS)
def test_cases(name: str, cases: Results) -> None:
    """A mode is primary where it shows, absent where it nearly does, and no pass has one."""
    held = modes_of(cases)
    _, tasks = mode_cases.rows(name)
    query = f"select task_id, rollout_index, is_pass from rollouts where run_id = '{name}'"
    wrong = []
    for task, index, is_pass in cases.rows(query):
        mode, role = tasks[task]
        found = held.get((name, task, index), [])
        is_right = {
            "shows": is_pass or (mode, True) in found,
            "near": mode not in dict(found),
            "passes": is_pass,
        }
        if not is_right[role] or (is_pass and found):
            wrong.append((mode, role, index, found))
    assert wrong == []


def test_every_mode_has_a_case() -> None:
    """Each built-in mode is shown, by a case or by an attempt that has no row to judge."""
    shown = {case.mode for given in mode_cases.BENCHMARKS.values() for case in given}
    shown |= {mode for mode in GRID.values() if mode} | {"DUPLICATE_PROMPT"}
    assert {mode.mode for mode in built_in()} | {"UNEXPLAINED"} == shown


# Attempts without a row to judge: the mode that each has, by task.
GRID = {
    "0": "UNREADABLE_ROW",
    "1": "MISSING_ROW",
    "2": "JUDGE_FAILED",
    "3": "TIMEOUT",
    "4": "INFRA_FAILURE",
    "5": "FAILED_ATTEMPT",
    "6": "UNSCORED_REWARD",
    "7": "WRONG_ANSWER",
    "8": "",
    "9": "",
    "10": "MISSING_ROW",
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
        "grid_rollouts_materialized_inputs.jsonl": [asked(task, 0) for task in range(11)],
    }


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Runs of which not only the rows decide, each its own benchmark."""
    files = {**grid_files(), "twins_rollouts.jsonl": twins(), **signal_files()}
    return diagnosed(tmp_path_factory.mktemp("others"), files)


def primaries(found: Results, run: str) -> dict[tuple[str, int], str]:
    """The primary mode of each attempt of a run."""
    held = modes_of(found)
    return {
        (task, index): mode
        for (run_id, task, index), given in held.items()
        for mode, is_primary in given
        if is_primary and run_id == run
    }


def test_attempts_without_a_verdict(others: Results) -> None:
    """Missing, unreadable, failed and unscored attempts have modes; a later score goes before."""
    found = {task: mode for (task, _), mode in primaries(others, "grid").items()}
    assert found == {task: mode for task, mode in GRID.items() if mode}
    query = "select task_id, snippet from rollout_modes where is_primary and run_id = 'grid'"
    told = dict(others.rows(query))
    assert told["2"] == "judge: HTTP 429" and told["3"] == "Timed out: 600 s"
    stale = others.rows("""
        select failure_class, failure_message, is_timed_out from rollout_features
        where run_id = 'grid' and task_id in ('7', '8')
    """)
    assert stale == [(None, None, False)] * 2
    assert others.column("select task_id from rollout_features where is_unreadable") == ["0"]


def twins() -> list[Row]:
    """Two tasks that ask the same and expect another answer; two that expect the same."""
    return [
        rollout(0, 0, **no("7", **answers("7", "8")), ask="How many?"),
        rollout(0, 1, **no("9", **answers("9", "8")), ask="How many?"),
        rollout(0, 2, **ok("8", **answers("8", "8")), ask="How many?"),
        rollout(1, 0, **ok("7", **answers("7", "7")), ask="How many?"),
        rollout(1, 1, **no("8", **answers("8", "7")), ask="How many?"),
        rollout(2, 0, **no("7", **answers("7", "8")), ask="And now?"),
        rollout(3, 0, **ok("8", **answers("8", "8")), ask="And now?"),
    ]


def test_twin_prompts(others: Results) -> None:
    """An answer that is right by the twin's reference is the data's fault; another one is not."""
    assert primaries(others, "twins") == {
        ("0", 0): "DUPLICATE_PROMPT",
        ("0", 1): "UNSTABLE_ANSWER",
        ("1", 1): "DUPLICATE_PROMPT",
        ("2", 0): "WRONG_ANSWER",
    }
    query = "select distinct task_id, twin_task_id from rollout_features where run_id = 'twins'"
    assert sorted(others.rows(query)) == [("0", "1"), ("1", "0"), ("2", None), ("3", None)]


# Attempts at one task: r refuses and a answers, a capital passes. Does a refusal count as a sign?
SIGNALS = {"rrA": True, "rraRAA": True, "raRA": False, "raaRA": False, "rRR": False, "rr": True}
SIGNALS |= {"rR": False}


def signal_files() -> dict[str, list[Row]]:
    """A run for each: attempts that say the same in other words."""
    said = {"r": "I can't help with that.", "a": "Here it is."}
    files = {}
    for number, verdicts in enumerate(SIGNALS):
        files[f"signal{number}_rollouts.jsonl"] = [
            rollout(
                0, index, **(ok if v.isupper() else no)(f"{said[v.lower()]} {index}"), ask=verdicts
            )
            for index, v in enumerate(verdicts)
        ]
    # A pass with the sign at a task that nobody fails says nothing of those that fail; but where
    # all passes of a benchmark have it, it is how things are done there.
    files["signal0_rollouts.jsonl"] += [rollout(1, 0, **ok(said["r"]), ask="other")]
    files["usual_rollouts.jsonl"] = [
        rollout(task, 0, **(no if task else ok)(f"<tool_call>{task}</tool_call>"), ask=f"u {task}")
        for task in range(2)
    ] + [rollout(2, 0, **ok("<tool_call>2</tool_call>"), ask="u 2")]
    return files


def test_what_all_passes_show_is_no_sign(others: Results) -> None:
    """A sign that every pass of a benchmark bears explains no failure of its other tasks."""
    assert primaries(others, "usual") == {("1", 0): "UNEXPLAINED"}


@pytest.mark.parametrize(("number", "verdicts"), list(enumerate(SIGNALS)))
def test_signal_must_be_commoner_in_failures(number: int, verdicts: str, others: Results) -> None:
    """A sign as common in a task's passes as in its failures counts for nothing."""
    n_refusals = verdicts.count("r") if SIGNALS[verdicts] else 0
    n_others = sum(verdict.islower() for verdict in verdicts) - n_refusals
    found = Counter(primaries(others, f"signal{number}").values())
    assert found == +Counter(REFUSAL=n_refusals, UNEXPLAINED=n_others)


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
        ranked = sorted(rows, key=lambda row: RANKS[row["mode"]])
        assert [row["is_primary"] for row in ranked] == [True] + [False] * (len(rows) - 1), key
        assert ("UNEXPLAINED" in {row["mode"] for row in rows}) == (ranked[0]["rule"] is None)
        assert ranked[0]["mode"] != "UNEXPLAINED" or len(rows) == 1, key
        counts[ranked[0]["mode"]] += 1
    check_evidence(path)
    check_totals(path, held)
    return counts


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
    """Whatever did not pass has one primary mode: the worst, of those the first in the file."""
    assert check_modes(cases.path) + check_modes(others.path) >= Counter(RANKS.keys())


def test_modes_of_the_demo(demo: Path) -> None:
    """The same holds in the demo."""
    assert len(check_modes(demo)) > 25


@needs_corpus
def test_modes_of_the_corpus(corpus: Path) -> None:
    """The same holds on real results; unwanted changes explain failures of the airline."""
    assert check_modes(corpus)["EXTRA_WRITE"] == 30


@pytest.mark.parametrize("name", ["cases", "demo"])
def test_signals(name: str, request: pytest.FixtureRequest) -> None:
    """A sign explains failures unless passes of the same tasks, or all passes, bear it as well."""
    given = request.getfixturevalue(name)
    path = given if isinstance(given, Path) else given.path
    scored = every_row(path, "from main.rollout_features where is_scored and is_pass is not null")
    matches = defaultdict(set)
    for row in every_row(path, "from staging.rule_matches"):
        matches[row["rule_no"]].add((row["run_id"], row["task_id"], row["rollout_index"]))
    tasks = defaultdict(list)
    for row in scored:
        tasks[row["benchmark"], row["task_id"]].append(row)
    n_passes = Counter(row["benchmark"] for row in scored if row["is_pass"])
    expected = {}
    for rule_no, keys in matches.items():
        # Over mixed tasks: passes with the sign, passes, failures with it, failures; and all passes
        # with it.
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
        for (benchmark, _), rows in tasks.items():
            passed = [r for r in rows if r["is_pass"]]
            failed = [r for r in rows if not r["is_pass"]]
            bear = [
                sum((r["run_id"], r["task_id"], r["rollout_index"]) in keys for r in each)
                for each in (passed, failed)
            ]
            if any(bear):
                mixed = (bear[0], len(passed), bear[1], len(failed))
                added = (*(mixed if passed and failed else (0, 0, 0, 0)), bear[0])
                counts[benchmark] = [a + b for a, b in zip(counts[benchmark], added, strict=True)]
        expected |= {(benchmark, rule_no): each for benchmark, each in counts.items()}
    doubtful = {
        key
        for key, (passed_with, passed, failed_with, failed, passes_with) in expected.items()
        if (passed_with > 0 and failed_with / failed <= passed_with / passed)
        or (passes_with > 1 and passes_with == n_passes[key[0]])
    }
    unpassed = "coalesce(not is_pass, not is_scored)"
    failing = every_row(path, f"from main.rollout_features where {unpassed}")
    modes = {row["rule_no"]: row["mode"] for row in every_row(path, "from raw.failure_rules")}
    explained = {
        (*(row[name] for name in KEYS), modes[rule_no])
        for row in failing
        for rule_no, keys in matches.items()
        if tuple(row[name] for name in KEYS) in keys and (row["benchmark"], rule_no) not in doubtful
    }
    found = every_row(path, "from main.rollout_modes where mode <> 'UNEXPLAINED'")
    assert {(*(row[name] for name in KEYS), row["mode"]) for row in found} == explained


def test_long_texts(tmp_path: Path) -> None:
    """Of megabytes 240 characters are shown, with how many there are."""
    wide = "a" * 1_500_000
    call = ("write", {"text": wide}, f"Error: {wide}")
    rows = [
        rollout(0, 0, **no(call, call, call)),
        rollout(1, 0, **no(f"I can't help with that. {wide} <tool_call>", notes=wide[:100_000])),
    ]
    found = diagnosed(tmp_path, {"a_rollouts.jsonl": rows})
    shown = found.rows("""
        select mode, evidence_seq, length(snippet), n_characters from rollout_modes
        where is_primary order by task_id
    """)
    assert shown == [("THRASH", 3, 240, 1_500_012), ("RAW_TOOL_CALL", 1, 240, 1_500_036)]
    query = "select length(message), n_events from error_signatures where source = 'tool'"
    assert found.rows(query) == [(300, 3)]
