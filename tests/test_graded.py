"""Which attempts have no verdict, and the stage of the funnel that says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.results import Row, analyzed, rollout
from tests.together import Batch, together, with_pages

SHARED = Path(__file__).parents[2] / "shared"
TERMINAL = SHARED / "findings_corpus/terminal_agents"
UNGRADED = """
    select task_id, reason from staging.ungraded inner join rollouts using (record_id) order by all
"""
STAGES = (
    "select stage, n_reached, n_lost from funnel where stage in ('graded', 'passed') order by all"
)


def row(task: int, *, is_pass: bool, **fields: Any) -> Row:
    """One attempt of a task."""
    return rollout(task, 0, reward=float(is_pass), **fields)


def checks(task: int, *, is_pass: bool) -> dict[str, str]:
    """What a verifier says of its tests."""
    return {
        "test_a": "passed",
        "test_b": "passed" if is_pass else "failed",
        f"own_{task}": "passed",
    }


@together
def test_verifier_record_is_null_or_absent() -> Batch:
    """A map of verdicts that most attempts have, and that is null or absent, was never filled."""
    rows = [
        row(task, is_pass=task < 6, checks=checks(task, is_pass=task < 6)) for task in range(10)
    ]
    # Absent is what another attempt at the task has.
    rows += [row(10, is_pass=False, checks=None), rollout(9, 1, reward=0.0)]
    rows += [rollout(12, 0, reward=None, checks=None)]
    results = yield rows
    assert results.rows(UNGRADED) == [
        ("10", "checks is null"),
        ("12", "checks is null"),
        ("9", "checks is absent"),
    ]
    # The one without a score is lost before, at the verifier.
    assert results.rows(STAGES) == [("graded", 10, 2), ("passed", 6, 4)]


@together.each(
    *(
        # Some passes do without it: tasks differ in what is checked.
        [{"checks": checks(n, is_pass=True)} if n % 2 else {} for n in range(12)],
        # What an answer was read as is no verdict.
        [
            {"parsed": {"city": f"town {n}", "size": n}} if n < 8 else {"parsed": None}
            for n in range(12)
        ],
        # An error that few attempts have is no record of grading.
        [{"error": {"kind": "crash", "is_fatal": True}} if n == 11 else {} for n in range(12)],
        # Steps that were taken are none either.
        [
            {"steps": [{"role": "user"}, {"role": "tool"}]} if n < 9 else {"steps": None}
            for n in range(12)
        ],
    )
)
def test_other_fields_are_no_verdict(*fields: Row) -> Batch:
    """Only verdicts show by their absence that nothing was graded."""
    rows = [row(task, is_pass=task < 8, **fields[task]) for task in range(12)]
    assert (yield rows).rows(UNGRADED) == []


@together
def test_an_object_with_the_reward() -> Batch:
    """What holds the reward itself is the verifier's record."""
    rows = [
        row(task, is_pass=task < 6, result={"reward": float(task < 6), "hash": f"h{task}"})
        for task in range(12)
    ]
    rows += [row(12, is_pass=False, result=None)]
    assert (yield rows).rows(UNGRADED) == [("12", "result is null")]


@together
def test_a_verdict_beside_an_object_that_is_null() -> Batch:
    """True and false beside the grader's object is a verdict, whatever the object says."""
    rows = [
        row(
            task,
            is_pass=task < 6,
            correct=task < 6,
            grade=None if task > 8 else {"is_met": task < 6, "reason": f"as seen in {task}"},
        )
        for task in range(12)
    ]
    assert (yield rows).rows(UNGRADED) == []


def ungraded_rows() -> list[Row]:
    """Twenty graded attempts and eight that are not, which say why in one field or another.

    Every task has an instruction of its own, and an area, neither of which is a reason.
    """
    message: list[dict[str, Any]] = [
        *({"fault": f"upstream closed the connection after {n} s\nhost h{n}"} for n in (3, 17, 40)),
        {"fault": "no space left"},
        *[{"end": "killed"}] * 2,
        {},
        {"fault": ""},
    ]

    def fields(task: int) -> dict[str, str]:
        return {"instruction": f"Do the {task}th thing.", "area": "xyz"[task % 3], "end": "stop"}

    rows = [row(task, is_pass=task < 9, **fields(task)) for task in range(10)]
    rows += [rollout(task, 1, reward=0.0, **fields(task)) for task in range(10)]
    rows += [
        rollout(task, 2, reward=None, **{**fields(task), **message[task]})
        for task in range(len(message))
    ]
    return rows


@with_pages
def test_what_ungraded_attempts_say() -> Batch:
    """By the text of an error without what differs, else how they end, else that nothing is."""
    results = yield ungraded_rows()
    parts = "select mode, n_failures from failure_modes where run_id is null and parent = "
    assert results.rows(f"{parts} 'reward is not recorded' order by 2 desc, 1") == [
        ("fault = upstream closed the connection after <n> s host <n>", 3),
        ("end = killed", 2),
        ("no error recorded", 2),
        ("fault = no space left", 1),
    ]
    assert (
        "(3 `fault = upstream closed the connection after <n> s host <n>`, 2 `end = killed`, "
        "2 `no error recorded`, …)" in results.report
    )


@pytest.mark.slow
@pytest.mark.skipif(not TERMINAL.exists(), reason="needs the corpora")
def test_terminal_agents(tmp_path: Path) -> None:
    """Counted from the files: `parser_results` is null in 65 attempts of four agents."""
    files = {path.name: path.read_bytes() for path in TERMINAL.iterdir()}
    results = analyzed(tmp_path, files)
    query = "select reason, count(*) from staging.ungraded group by all"
    assert results.rows(query) == [("parser_results is null", 65)]
    lost = "select sum(n_lost) from funnel where stage = 'graded'"
    assert results.one(lost) == 65
    for name in ("report.md", "report.html"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "No recorded attempt is lost before the verdict" not in text


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [None, 0.5])
def test_a_pass_that_is_taken_to_be_1(threshold: float | None, tmp_path: Path) -> None:
    """The summary says so with how many rewards are neither 0 nor 1, unless a threshold is set."""
    rows = [rollout(n, 0, reward=(0.0, 0.25, 0.4, 1.0)[n % 4]) for n in range(8)]
    options = {} if threshold is None else {"pass_threshold": threshold}
    results = analyzed(tmp_path, {"a_rollouts.jsonl": rows}, **options)
    text = (results.path.parent / "report.md").read_text(encoding="utf-8")
    sentence = "Nothing says what passes, so a full reward does; 4 of 8 rewards are partial"
    assert (sentence in text) == (threshold is None)
    assert "has a mean reward of 0.4125" in text
