"""Tasks that never pass: where they stop, what their attempts share, how near the best one came."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cause_cases import MISSING, NAMED, Attempt, Case, fails, files, passes, truncated
from tests.fact_files import Fact, check, facts
from tests.results import Results, analyzed, called, rollout
from tests.results import call as run

WROTE, LOOKED = ["write", {"path": "main.py"}, "ok"], ["look", {}, "ok"]
SENT = NAMED["sent"]


def breaks(line: int, told: str, reward: float) -> Attempt:
    """An attempt whose own test breaks off, and the verifier's words on it."""
    error = f"Traceback (most recent call last)\nIndexError: line {line} of /srv/{line}/x/main.py"
    test = ["test", {}, error]
    return fails(WROTE, test, "It should work.", reward=reward, test_output=told)


# Three attempts with parts of a reward; the second gets furthest. All write and test, and two meet
# one error, with other numbers.
GRADED = [
    breaks(12, "2 passed, 8 failed in 3s", 0.2),
    breaks(977, "ran 10: PASS=4 FAIL=6", 0.4),
    fails(WROTE, LOOKED, ["test", {}, "ok"], "Fine.", reward=0.1, test_output="PASS=1 FAIL=9"),
]
# Rewards that say nothing: the checks tell which is best.
EVEN = [
    fails(SENT, "4", extracted_answer="4", tests_passed=1, tests_total=5),
    fails(SENT, "4", extracted_answer="4", tests_passed=3, tests_total=5),
    MISSING,
]
# Most are cut off before the verifier sees them; nothing is alike.
MIXED = [
    truncated(SENT, "one", extracted_answer="1"),
    truncated(LOOKED, "two", extracted_answer="2"),
    fails(SENT, "three"),
]
TASKS = [(GRADED, [passes(SENT), passes(SENT)]), (EVEN, [fails(SENT)]), (MIXED, [])]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The three tasks, analysed."""
    cases = [Case("", "", "code", a, None, b) for a, b in TASKS]
    return analyzed(tmp_path_factory.mktemp("never"), files(cases), needs=["never_dives"])


@facts("never_dives")
def test_dives(found: Results, fact: Fact) -> None:
    """As tests/facts/never_dives.test says."""
    fact.check(found)


@pytest.mark.slow
def test_the_first_wrong_step(tmp_path: Path) -> None:
    """A change that is not as expected, else a failed check by name, else the last error."""
    booked = [{"name": "book", "kwargs": {"to": "SEA", "seat": 4}}]
    wrong, first, second = (called("book", {"to": to, "seat": 4}) for to in ("OAK", "LAX", "SFO"))
    lost = called("find", {}, "Error: no such record")
    verdicts = {"test_one": "passed", "test_two": "failed", "test_three": "failed"}
    rows = [
        *(
            rollout(0, n, reward=0.0, output=o, expected_actions=booked)
            for n, o in ((0, wrong), (1, []))
        ),
        rollout(1, 0, reward=0.0, output=lost, test_results=verdicts),
        rollout(1, 1, reward=0.0, output=lost, test_results=verdicts | {"test_two": "passed"}),
        # A check that fails with every failure only restates the verdict.
        rollout(
            4,
            0,
            reward=0.0,
            test_results=dict.fromkeys(verdicts, "passed") | {"test_one": "failed"},
        ),
        *(rollout(9, n, test_results=dict.fromkeys(verdicts, "passed")) for n in range(3)),
        rollout(2, 0, reward=0.0, output=first + lost + second),
        rollout(3, 0, reward=0.0, output=second),
    ]
    found = analyzed(tmp_path, {"a_rollouts.jsonl": rows}, needs=["never_dives"])
    check(found, "wrong_steps")


@pytest.mark.slow
def test_another_question_is_another_task(tmp_path: Path) -> None:
    """What another run passes under the same id, but asks differently, is no pass of this task."""
    runs = {"a": ("say", 0.0), "b": ("tell", 1.0)}
    found = analyzed(
        tmp_path,
        {
            f"{name}_rollouts.jsonl": [
                rollout(
                    task, ask=f"{verb if task < 1 else 'do'} {task}", reward=reward * (task < 2)
                )
                for task in range(6)
            ]
            for name, (verb, reward) in runs.items()
        },
        needs=("report.dives", "task_outcomes", "task_prompts"),
    )
    check(found, "other_questions")


@pytest.mark.slow
def test_what_is_equally_common_is_named_together(tmp_path: Path) -> None:
    """Two modes of two tasks each; what another run passes tells that its answers are due."""
    said = {"type": "message", "role": "assistant"}
    limit = {"incomplete_details": {"reason": "max_output_tokens"}}
    cut = {"response": {"output": [{**said, "content": "so"}], **limit}}
    found = analyzed(
        tmp_path,
        {
            "a_rollouts.jsonl": [
                *(rollout(t, i, reward=0.0, output=[]) for t in (0, 1) for i in (0, 1)),
                *(rollout(t, i, reward=0.0, **cut) for t in (2, 3) for i in (0, 1)),
                *(rollout(t, i, reward=0.0) for t in (4, 5, 6) for i in (0, 1)),
            ],
            "b_rollouts.jsonl": [
                *(rollout(t, i, reward=0.0, output=[]) for t in (0,) for i in (0, 1)),
                *(
                    rollout(t, i, output=[{**said, "content": "yes"}])
                    for t in range(1, 7)
                    for i in (0, 1)
                ),
            ],
        },
        needs=("report.dives",),
    )
    (row,) = found.rows(
        "select common_modes, n_common_mode, n_never_tasks from report.dives "
        "where run_id = 'a' and rank = 1"
    )
    assert row == (["CUT_OFF", "EMPTY_OUTPUT"], 2, 7)


@pytest.mark.slow
def test_one_attempt_is_told_as_one(tmp_path: Path) -> None:
    """It alone answers; and a lone check that agrees with every verdict is not listed as failed."""
    rows = [
        rollout(task, 0, reward=float(task > 0), answer=f"answer {task}")
        | {
            "extracted_answer": f"answer {task}",
            "reward_components": {"all_right": float(task > 0)},
        }
        | {"tests": {"first": True, "second": task > 0}}
        for task in range(3)
    ]
    results = analyzed(tmp_path, {"run_rollouts.jsonl": rows})
    assert results.column("select checks from report.strips where task_id = '0'") == [["second"]]
    report = (results.path.parent / "report.md").read_text("utf-8")
    assert "it answers `answer 0`" in report and "all answer" not in report
    told = run("why", "run/0", "--warehouse", results.path).stdout
    assert "answers  " in told and "all answer" not in told
