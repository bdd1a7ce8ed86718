"""The negative control has a report's headings and metric tables, and nothing found out."""

from __future__ import annotations

import re
from pathlib import Path

from pipeline.package.shallow import shallow
from tests.conftest import REPORTS
from tests.package_reports import GOLDEN, written
from tests.results import call

ODD = (REPORTS / "odd_tables.md").read_text(encoding="utf-8")


def test_only_aggregate_tables_are_left() -> None:
    """Aggregate and funnel tables as they were, below their headings, and nothing found out."""
    made = shallow(GOLDEN)
    assert re.findall(r"^#+ .*", made.text, re.MULTILINE) == [
        *("# mason-3b on parcel_desk", "## Aggregate Results", "## Workflow Funnel")
    ]
    assert "| `desk_mason-3b` | 10 | 40 | 45.0% | 80.0% |" in made.text
    assert "| booked | 24 | 60.0% | 12 |" in made.text
    assert (made.n_headings, made.n_tables) == (3, 2)
    for phrase in ("FALSE_CLAIM", "depot", "desk_mason-3b/", "The largest", "sometimes", "Task `"):
        assert phrase not in made.text


def test_tables_are_recognised_by_their_content() -> None:
    """Under any headings; a column of citations goes, a table of tasks or modes is none."""
    assert shallow(ODD).text == (
        "# Findings\n\n## What we measured\n\n| metric | value |\n| --- | ---: |\n"
        "| pass@1 | 45.0% |\n| mean reward | 0.45 |\n\n## How far it gets\n\n"
        "| stage | reached |\n| --- | ---: |\n| started \\| queued | 40 |\n| passed | 18 |\n"
    )
    bare = re.sub(r"^#+ .*\n", "", ODD, flags=re.MULTILINE)
    assert (shallow(bare).n_headings, shallow(bare).n_tables) == (0, 2)


def test_a_fence_or_comment_is_neither_heading_nor_table() -> None:
    """Code is not read as Markdown, and what no reader sees is left out."""
    answer = "## Results\n\n```\n## No\n| pass@1 |\n| --- |\n| 1 |\n```\n\n<!-- ## Hidden -->\n"
    assert shallow(answer).text == "## Results\n"


def test_the_command_writes_the_control(tmp_path: Path) -> None:
    """It says what it kept, and warns where no table was found."""
    found = written(tmp_path, bare="## Results\n\nAll pass.\n", prose="All pass.\n")
    out = tmp_path / "made" / "shallow.md"
    answer = call("make-shallow", "--input", found["golden"], "--output", out)
    assert (answer.code, answer.stderr) == (0, "")
    assert out.read_text(encoding="utf-8") == shallow(GOLDEN).text
    answer = call("make-shallow", "--input", found["bare"], "--output", out)
    assert (answer.code, "weak control" in answer.stderr) == (0, True)
    assert call("make-shallow", "--input", found["prose"], "--output", out).code == 3
    assert call("make-shallow", "--input", found["golden"], "--output", found["golden"]).code == 2
    assert call("make-shallow", "--input", tmp_path, "--output", out).code == 3
    assert found["golden"].read_text(encoding="utf-8") == GOLDEN
