"""Which fields and which pieces of ids sort tasks into slices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.results import Row, analyzed, rollout, tried
from tests.together import Batch, together

NEEDED = ("tasks", "slice_metrics", "runs")
SHARED = Path(__file__).parents[2] / "shared"
TELECOM = SHARED / "findings_corpus/tau2_telecom"
SLICES = "select distinct unnest(map_keys(slices)) as name from tasks order by name"


def named(task_id: str, *, reward: float = 1.0, **fields: Any) -> Row:
    """A row whose task has an explicit id."""
    return rollout(ask=f"question {task_id}", reward=reward, task_id=task_id, **fields)


ISSUES = {"mms_issue": 6, "service_issue": 6, "mobile_data_issue": 8}
HARD = {"mms_issue": 0, "service_issue": 2, "mobile_data_issue": 4}


@together
def test_pieces_between_brackets() -> Batch:
    """Brackets are coarser than underscores; a piece that is no group is no slice."""
    rows = [
        named(f"[{issue}]case_{number}[{'AB'[number % 2]}]", reward=float(number >= HARD[issue]))
        for issue, n_tasks in ISSUES.items()
        for number in range(n_tasks)
    ]
    results = yield rows
    assert results.column(SLICES) == ["task id part 1", "task id part 3"]
    query = """
        select slice_value, n_tasks, n_passed from slice_metrics
        where slice_key = 'task id part 1' order by all
    """
    assert results.rows(query) == [
        (issue, ISSUES[issue], ISSUES[issue] - HARD[issue]) for issue in sorted(ISSUES)
    ]


@together.each(
    # Two values with five tasks each; the third has too few and is in no slice.
    ([f"{org}__repo-{n}" for org in ("a", "b") for n in range(5)] + ["c__repo-1"], ["a", "b"]),
    ([f"{org}__repo-{n}" for org in ("a", "b") for n in range(4)], []),
    ([f"task_{n}" for n in range(20)], []),
    # A number may be that of the item.
    ([f"item.{n:03}.{kind}" for n in (1, 2) for kind in "abcde"], []),
    ([f"{kind}-{n}-of-20" for kind in ("math", "code") for n in range(10)], ["code", "math"]),
)
def test_two_values_with_five_tasks(ids: list[str], values: list[str]) -> Batch:
    """Pieces sort tasks only where two of them have five tasks each."""
    results = yield [named(task_id) for task_id in ids]
    query = "select slice_value from slice_metrics where slice_key like 'task id%' order by all"
    assert results.column(query) == values


@together.each((30, 5, ["metadata.subject"]), (30, 4, []))
def test_many_values_of_several_tasks_each(n_values: int, n_each: int, names: list[str]) -> Batch:
    """More than twenty values sort tasks where each has five; the lowest are listed."""
    results = yield [
        rollout(
            task, reward=float(task % n_values > 0), metadata={"subject": f"s{task % n_values}"}
        )
        for task in range(n_values * n_each)
    ]
    assert results.column(SLICES) == names


@together
def test_fields_are_measured() -> Batch:
    """Attempts of a task that end differently show what is of the task, under any name."""
    rows = [
        rollout(
            task,
            index,
            reward=float((task + index) % 2),
            # Two of the task, though one is about answers; and one of the outcome.
            answer_shape="list" if task % 2 else "number",
            needs_tool=task % 3 == 0,
            mood="glad" if (task + index) % 2 else "sad",
        )
        for task in range(8)
        for index in range(2)
    ]
    assert (yield rows).column(SLICES) == ["answer_shape", "needs_tool"]


@together
def test_what_one_run_alone_records_is_not_measured() -> Batch:
    """Its one attempt at a task cannot differ: its name decides, though others end otherwise."""
    results = yield [
        rollout(
            task,
            0,
            agent=agent,
            reward=float(agent == "a" and task % 3 > 0),
            **(
                {"exit_status": f"ended {task % 2}", "topic": f"of {task % 2}"}
                if agent == "a"
                else {}
            ),
        )
        for task in range(12)
        for agent in ("a", "b")
    ]
    assert results.column("select distinct slice_key from slice_metrics") == ["topic"]


@together
def test_without_repeats_names_decide() -> Batch:
    """One attempt per task shows nothing: fields named after verdicts are left out."""
    rows = tried(
        8,
        lambda task: task % 2,
        topic=lambda task: "sums" if task < 4 else "texts",
        verdict=lambda task: "right" if task % 2 else "wrong",
        stop_reason=lambda task: "length" if task % 2 else "stop",
        target=lambda task: "A" if task < 4 else "B",
    )
    assert (yield rows).column(SLICES) == ["topic"]


@together
def test_words_in_lists() -> Batch:
    """A word of a list that a task always has sorts tasks, if five have it and five have not.

    No sentence does, and in a row itself no list whose name is not one of the task's metadata. A
    dataset may be edited between runs.
    """
    rows = [
        rollout(
            task,
            0,
            reward=float(task >= 5),
            metadata={
                "risks": ["loaded", *(["sponsor"] if task < 6 else []), f"own {task}"],
                "must_do": ["Say who wrote it."] * (task < 6),
            },
            opened=["file"] * (task < 6),
        )
        for task in range(12)
    ]
    again = [{**row, "_ng_rollout_index": 1} for row in rows]
    again[11] = {**again[11], "metadata": {"risks": ["odd"], "must_do": []}}
    results = yield rows + again
    query = """
        select slice_key, slice_value, n_tasks, n_passed from slice_metrics order by all
    """
    assert results.rows(query) == [
        ("metadata.risks has sponsor", "no", 6, 12),
        ("metadata.risks has sponsor", "yes", 6, 2),
    ]


@together
def test_words_of_attempts_sort_no_tasks() -> Batch:
    """A list that differs between attempts at one task is theirs."""
    results = yield [
        rollout(task, index, metadata={"risks": ["loaded"] if index and task < 6 else ["other"]})
        for task in range(12)
        for index in range(2)
    ]
    assert results.column("select slice_key from slice_metrics") == []


@together
def test_one_name_for_one_grouping() -> Batch:
    """Of fields that sort tasks alike the one in words; one task each is none."""
    rows = tried(
        8,
        lambda task: task % 2,
        canary=lambda task: ["key_B3M8R5T1", "key_9Q1Z7W22"][task % 2],
        scenario=lambda task: ["refund", "outage"][task % 2],
        area=lambda task: ["north", "south"][task // 4],
        serial=lambda task: f"number {task}",
    )
    assert (yield rows).column(SLICES) == ["area", "scenario"]


@pytest.mark.slow
@pytest.mark.skipif(not TELECOM.exists(), reason="needs the corpora")
def test_telecom_issues(tmp_path: Path) -> None:
    """Counted from the file: mms_issue 6 of 6, service_issue 4 of 6, mobile_data_issue 4 of 8."""
    files = {path.name: path.read_bytes() for path in TELECOM.iterdir()}
    results = analyzed(tmp_path, files, needs=(*NEEDED, "report.gaps"))
    query = """
        select slice_value, n_passed, n_tasks from slice_metrics
        where slice_key = 'task id part 1' order by all
    """
    assert results.rows(query) == [
        ("mms_issue", 6, 6),
        ("mobile_data_issue", 4, 8),
        ("service_issue", 4, 6),
    ]
    assert "which kind of task is weak" not in results.column("select claims from report.gaps")
