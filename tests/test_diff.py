"""blade diff: two reports by their claims."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline.package.diff import difference
from tests.results import call

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
    """By what is asked, wherever it stands and in whatever words."""
    new = OLD.replace("44.0%", "48.0%").replace("| email | 5 |", "| phone | 5 |")
    new = new.replace("See `a/1:0`.", "See `a/2:0`.").replace("passes", "gets through")
    found = difference(OLD, new)
    assert [(one.text, two.text, two.line) for one, two in found.moved] == [("44.0%", "48.0%", 3)]
    assert [each.asked for each in found.gone] == [
        "tasks of email from slice_metrics", "cites a/1:0",
    ]  # fmt: skip
    assert [each.text for each in found.new] == ["5", "a/2:0"]
    moved = OLD.replace("| crm | 8 |\n| email | 5 |", "| email | 5 |\n| crm | 8 |")
    assert moved != OLD
    nothing = difference(OLD, moved)
    assert not (nothing.moved or nothing.gone or nothing.new)


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
