"""What is said of one failure, and what was looked for and is not there."""

from __future__ import annotations

from pathlib import Path

from tests.results import Row, analyzed, rollout, said

NEEDS = ("failure_notes", "root_causes", "report.looked", "slice_metrics")


def answered(task: int, answer: str, key: str, reward: float, **more: object) -> Row:
    return rollout(task, 0, output=said(answer), reward=reward, expected_answer=key, **more)


def notes(folder: Path, rows: list[Row]) -> dict[str, list[str]]:
    """The notes of each task."""
    found = analyzed(folder, {"r.jsonl": rows}, needs=NEEDS)
    return dict(
        found.rows("select task_id, list(note order by note_no) from failure_notes group by all")
    )


def test_white_space_can_be_seen(tmp_path: Path) -> None:
    """Where it is all that differs, blanks and line breaks are marked, and it is said."""
    rows = [answered(task, f"a{task} b", f"a{task} b", 1.0) for task in range(4)]
    rows += [answered(4, "x  y", "x y", 0.0), answered(5, "no\nyes", "yes", 0.0)]
    found = notes(tmp_path, rows)
    assert found["4"][0] == 'answer "x␣␣y", key "x␣y", which differ in white space alone'
    assert found["5"][0] == 'answer "no⏎yes", key "yes"'


def test_the_name_of_a_task_is_no_key(tmp_path: Path) -> None:
    """A field that every row has and that says which task it is of."""
    rows = [
        rollout(task, 0, output=said(f"text {task}"), reward=float(task % 2), target=str(task))
        for task in range(8)
    ]
    assert not [
        note for listed in notes(tmp_path, rows).values() for note in listed if "key" in note
    ]


def test_a_list_of_nothing_says_nothing(tmp_path: Path) -> None:
    words = "after the run these unexpected files were found: "
    rows = [rollout(task, 0, reward=1.0) for task in range(4)]
    rows += [rollout(4, 0, reward=0.0, says=f"{words}[]")]
    rows += [rollout(5, 0, reward=0.0, says=f"{words}['a.txt']")]
    assert notes(tmp_path, rows) == {"5": [f"says: {words}['a.txt']"]}


def test_calls_that_nobody_makes(tmp_path: Path) -> None:
    """Rows that list calls, and no transcript that has one."""
    calls = [{"name": "book", "kwargs": {"id": 1}}]
    rows = [rollout(task, 0, reward=task % 2, actions=calls) for task in range(4)]
    found = analyzed(tmp_path, {"r.jsonl": rows}, needs=NEEDS)
    query = "select n_calling, n_observed, has_listed_calls from report.looked"
    assert found.rows(query) == [(0, 4, True)]


def test_nothing_failed_where_nothing_is_scored(tmp_path: Path) -> None:
    rows = [rollout(task, 0, reward=None) for task in range(4)]
    found = analyzed(tmp_path, {"r.jsonl": rows}, needs=NEEDS)
    assert found.rows("select n_scored, n_failures from report.looked") == [(0, 0)]


def test_a_slice_below_the_rest(tmp_path: Path) -> None:
    """Of three groups of ten tasks with four attempts each, one passes next to nothing."""
    rows = []
    for task in range(30):
        group = "abc"[task // 10]
        for repeat in range(4):
            passes = (group != "c" and (task + repeat) % 4) or (task, repeat) == (29, 0)
            rows.append(rollout(task, repeat, reward=float(bool(passes)), category=group))
    found = analyzed(tmp_path, {"r.jsonl": rows}, needs=NEEDS)
    query = "select slice_value from slice_metrics where is_below_rest and slice_key = 'category'"
    assert found.column(query) == ["c"]
