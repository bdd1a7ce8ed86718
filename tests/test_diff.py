"""blade diff: two reports by their claims."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.package.diff import difference
from tests.results import call, rollout, write, wrote

OLD = """# r

`a` passes 44.0% of 21 tasks.
<!-- from run_metrics where run_id = 'a': run_id, pass_at_1 = 44.0%, n_tasks = 21 -->

| category | tasks |
| --- | ---: |
| crm | 8 |
| email | 5 |
<!-- from slice_metrics by slice_value as category: n_tasks -->

See `a/1:0`.
"""


def test_what_moved_is_gone_and_is_new() -> None:
    """By what is asked, wherever it is and in any words."""
    new = OLD.replace("44.0%", "48.0%").replace("| email | 5 |", "| phone | 5 |")
    new = new.replace("See `a/1:0`.", "See `a/2:0`.").replace("passes", "gets through")
    found = difference(OLD, new)
    assert [(one.text, two.text, two.line) for one, two in found.moved] == [("44.0%", "48.0%", 3)]
    assert [each.question for each in found.gone] == [
        "tasks of email from slice_metrics", "cites a/1:0",
    ]  # fmt: skip
    assert [each.text for each in found.new] == ["5", "a/2:0"]
    moved = OLD.replace("| crm | 8 |\n| email | 5 |", "| email | 5 |\n| crm | 8 |")
    assert moved != OLD
    nothing = difference(OLD, moved)
    assert not (nothing.moved or nothing.gone or nothing.new)


def test_answers_outcomes_and_causes_move() -> None:
    """A name that a query gives, how a rollout ends, and the cause and counts of a task."""
    old = (
        "`a` has the highest pass@1.\n"
        "<!-- sql: select run_id, 'highest' from run_metrics limit 1 = a, highest -->\n\n"
        "### Task 9: 1 of 4 attempts pass\n\n- fail: `a/9:0`\n- cause: KG\n"
    )
    new = old.replace("`a` has", "`b` has").replace("= a, highest", "= b, highest")
    new = new.replace("1 of 4", "2 of 4").replace("fail:", "pass:").replace("KG", "BI")
    found = difference(old, new)
    assert [(one.text, two.text, two.question) for one, two in found.moved] == [
        ("a", "b", "answer 1 to select run_id, 'highest' from run_metrics limit 1"),
        ("1 of 4", "2 of 4", "attempts that pass of task 9"),
        ("fail", "pass", "outcome of a/9:0"),
        ("KG", "BI", "cause of task 9"),
    ]
    assert not (found.gone or found.new)


def test_a_condition_may_stand_anywhere() -> None:
    """What tells a claim from others is printed first; the form of its source does not matter."""
    old = "7\n<!-- from t where run_id = 'a' and mode = 'x and y': n = 7 -->\n"
    new = "`x and y`: 8\n<!-- from t where run_id = 'a' by mode: 'x and y' (n = 8) -->\n"
    found = difference(old, new)
    assert [(one.text, two.text) for one, two in found.moved] == [("7", "8")]
    assert found.moved[0][0].question == "n from t, mode = 'x and y', run_id = 'a'"


def test_a_list_of_what_a_table_has_is_no_question() -> None:
    """A row that both have is no other row because its table has fewer."""
    old = (
        "| error | n |\n| --- | --- |\n| x | 1 |\n| y | 2 |\n"
        "<!-- from t where run_id = 'a' and source in ('b', 'c') by error: n -->\n"
    )
    new = old.replace("in ('b', 'c')", "in ('b')").replace("| y | 2 |\n", "")
    found = difference(old, new)
    assert not (found.moved or found.new)
    assert [each.question for each in found.gone] == ["n of y from t, run_id = 'a'"]


@pytest.mark.slow
def test_two_analyses(tmp_path: Path) -> None:
    """What moved, is gone and is new follows from the rows that changed."""
    first = [
        rollout(task, index, output=wrote(f"answer {index}"), reward=float(index < task))
        for task in range(4)
        for index in range(3)
    ]
    second = [row for row in first if row["_ng_task_index"] != 3]
    second[0] = {**second[0], "reward": 1.0}
    reports = []
    for name, rows in (("old", first), ("new", second)):
        results = write(tmp_path / name, {"a_rollouts.jsonl": rows})
        assert call("analyze", results, "--out", tmp_path / f"{name}_out").code == 0
        reports.append(tmp_path / f"{name}_out" / "report.md")
    content = json.loads(call("diff", *reports, "--json").stdout)
    moved = {each["asked"]: (each["old"], each["new"]) for each in content["moved"]}
    # 0, 1, 2 and 3 of three pass; then 1, 1 and 2 of three.
    assert moved["pass_at_1 from run_metrics, run_id = 'a'"] == ("50.0%", "44.4%")
    assert moved["n_tasks from run_metrics, run_id = 'a'"] == ("4", "3")
    assert moved["n_never_tasks from run_metrics, run_id = 'a'"] == ("1", "0")
    card = "n_scored from report.dives, task_id = '0', run_id = 'a'"
    assert any(each["asked"] == card for each in content["gone"])
    assert any("report.contrasts, task_id = '0'" in each["asked"] for each in content["new"])
    same = json.loads(call("diff", reports[0], reports[0], "--json").stdout)
    assert same == {"moved": [], "gone": [], "new": []}


def test_the_command_prints_both(tmp_path: Path) -> None:
    """As tables, and as JSON for a program."""
    old, new = tmp_path / "old.md", tmp_path / "new.md"
    old.write_text(OLD)
    new.write_text(OLD.replace("44.0%", "48.0%"))
    shown = call("diff", old, new)
    assert shown.code == 0 and shown.stdout.startswith("1 moved, 0 gone, 0 new")
    content = json.loads(call("diff", old, new, "--json").stdout)
    assert content["moved"][0]["new"] == "48.0%"
    assert call("diff", old, tmp_path / "absent.md").code == 3
