"""The small API for notebooks and scripts: `import blade`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import polars
import pyarrow
import pytest

import blade
from pipeline.text import ACTIVE
from tests.conftest import ROOT
from tests.lean import only
from tests.results import call, rollout, write

TAGS = re.compile(r"</?([a-z]+)[^<]*?>", re.IGNORECASE)


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory):
    """Two tasks, one passing, one not."""
    folder = tmp_path_factory.mktemp("api")
    rows = [rollout(0, 0, reward=1.0), rollout(1, 0, reward=0.0)]
    with only("rollouts"):
        return blade.analyze(write(folder / "in", {"m_rollouts.jsonl": rows}), out=folder / "out")


def test_analyze_then_query(analysis) -> None:
    """Analyze writes a warehouse; queries give Polars frames, or Arrow on request."""
    with blade.open_warehouse(analysis.warehouse) as warehouse:
        frame = warehouse.sql("select task_id, is_pass from rollouts order by task_id")
        assert isinstance(frame, polars.DataFrame)
        assert frame.rows() == [("0", True), ("1", False)]
        assert isinstance(warehouse.arrow("from rollouts"), pyarrow.Table)


def test_every_function_is_documented() -> None:
    """docs/python.md has each with what it gives, and names no other."""
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(\w+)\(", text, re.MULTILINE))
    assert documented == {name for name in blade.__all__ if name[0].islower()}


def test_parameters_are_bound(analysis) -> None:
    """Values go beside the query, never into it."""
    with blade.open_warehouse(str(analysis.warehouse)) as warehouse:
        actual = warehouse.sql("select reward from rollouts where task_id = ?", ["1"])
    assert actual.rows() == [(0.0,)]


def test_mistakes_are_our_errors(analysis, tmp_path: Path) -> None:
    """A wrong query or path raises an error of ours with a hint."""
    with blade.open_warehouse(analysis.warehouse) as warehouse:
        with pytest.raises(blade.UsageError) as raised:
            warehouse.sql("from rolouts")
        assert "Did you mean rollouts?" in raised.value.hint
    with pytest.raises(blade.InputError):
        blade.open_warehouse(tmp_path / "none.duckdb")
    with pytest.raises(blade.InputError):
        blade.analyze(tmp_path / "missing", out=tmp_path / "out")


def test_answers_are_those_of_the_commands(demo: Path) -> None:
    """A comparison and a rollout are what --json prints, and show themselves in a notebook."""
    compared = blade.compare(demo)
    outcome = call("compare", "--json", "--warehouse", demo)
    assert compared == json.loads(outcome.stdout)["comparisons"]
    assert "<td>office_desk_birch-70b</td>" in compared._repr_html_()
    attempt = blade.rollout(demo, "office_desk_aster-8b/10:3")
    shown = call("show", "office_desk_aster-8b/10:3", "--json", "--warehouse", demo)
    assert attempt == json.loads(shown.stdout)
    assert "office_desk_aster-8b/10:3" in attempt._repr_html_()
    with pytest.raises(blade.UsageError):
        blade.rollout(demo, "nobody/1:0")


def test_a_notebook_shows_text_inert(hostile_out: Path) -> None:
    """What results hold is text in the HTML of a notebook: no tag, no control character."""
    with blade.open_warehouse(hostile_out) as warehouse:
        pages = [warehouse._repr_html_()]
        ((cited,),) = warehouse.sql("select min(run_id || '/' || rollout_id) from rollouts").rows()
    attempt = blade.rollout(hostile_out, cited)
    assert not ACTIVE.search(repr(attempt).replace("\n", ""))
    pages.append(attempt._repr_html_())
    for page in pages:
        assert set(TAGS.findall(page)) <= {"table", "thead", "tbody", "tr", "th", "td", "b", "p"}
        assert not ACTIVE.search(page) and "&lt;" in page


def test_polars_waits_until_a_frame_is_asked_for(demo: Path) -> None:
    """Neither the import nor a page of a notebook takes the time that it does."""
    script = f"""
import sys, blade
warehouse = blade.open_warehouse({str(demo)!r})
warehouse._repr_html_()
assert "polars" not in sys.modules
warehouse.sql("from runs")
assert "polars" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.slow
def test_frames_have_the_figures_of_the_commands(demo: Path) -> None:
    """What the commands print as JSON, as rows of a frame."""
    runs = blade.runs(demo.parent)
    metrics = json.loads(call("metrics", "--warehouse", demo).stdout)
    printed = {run["run_id"]: run["pass_at_1"] for run in metrics["runs"]}
    assert dict(runs.select("run_id", "pass_at_1").rows()) == pytest.approx(printed)
    health = json.loads(call("health", "--json", "--warehouse", demo).stdout)
    assert blade.health(demo).select("run_id", "n_unhealthy").rows() == [
        (run["run_id"], run["n_unhealthy"]) for run in health["runs"]
    ]
    (listed,) = json.loads(
        call("failures", "office_desk_as", "--json", "--warehouse", demo).stdout
    )["benchmarks"]
    modes = blade.failures(demo, "office_desk_as").filter(polars.col("reason") != "none")
    assert modes.select("mode", "n_failures").rows() == [
        (mode["mode"], mode["n_failures"]) for mode in listed["modes"]
    ]
    with blade.open_warehouse(demo) as warehouse:
        every_finding = warehouse.sql("from findings")
    assert blade.findings(demo).height == every_finding.height > 0


@pytest.mark.slow
def test_why_reads_as_text_and_as_a_table(demo: Path) -> None:
    """The same values as the command; the text has a line for each run and each attempt."""
    story = blade.why(demo, "office_desk_as/6")
    printed = json.loads(call("why", "office_desk_as/6", "--json", "--warehouse", demo).stdout)
    assert {**story, "next": printed["next"]} == printed
    lines = repr(story).splitlines()
    assert lines[0] == "office_desk_aster-8b: 3 of 4 passed"
    assert len(lines) == len(story["runs"]) + len(story["attempts"])
    assert "<table>" in story._repr_html_()
    with pytest.raises(blade.UsageError):
        blade.why(demo, "no run")


def test_a_suite_reads_as_the_command_and_has_frames(demo: Path) -> None:
    """Its values are those of --json, its text is the page; frames have one row per value."""
    suite = blade.suite(demo.parent)
    assert suite == json.loads(call("suite", "--json", "--warehouse", demo).stdout)
    assert repr(suite) == call("suite", "--warehouse", demo).stdout.rstrip()
    assert suite._repr_html_().startswith("<pre>entrant ")
    assert suite.standings.select("entrant", "value").rows() == [
        (row["entrant"], row["value"]) for row in suite["entrants"]
    ]
    cells = {(row["entrant"], row["benchmark"]): row["value"] for row in suite.cells.to_dicts()}
    assert cells == {
        (row["entrant"], name): cell["value"]
        for row in suite["entrants"]
        for name, cell in row["cells"].items()
    }
    named = blade.suite(demo, "aster", "birch")
    assert {row["is_named"] for row in named["comparisons"]} == {True}
    assert named.comparisons.height == len(named["comparisons"]) == 3
    with pytest.raises(blade.UsageError):
        blade.suite(demo, "nobody")


def test_a_comparison_reads_as_a_line_and_as_a_row(demo: Path) -> None:
    """The figures are those of --json; undefined ones are null, with the type of a number."""
    compared = blade.compare(demo)
    first = compared[0]
    row = compared.frame().to_dicts()[0]
    assert [row["ci_low"], row["ci_high"]] == first["ci_new_tasks"]
    assert row.items() >= {name: first[name] for name in ("base", "delta", "p_holm")}.items()
    assert compared.frame().schema["p_holm"] == polars.Float64
    lines = repr(compared).splitlines()
    assert len(lines) == len(compared) == compared.frame().height
    assert lines[0] == (
        "office_desk_birch-70b vs office_desk_aster-8b: pass_at_1 +0.03968, "
        f"95% CI {first['ci_new_tasks'][0]:+.4g} to {first['ci_new_tasks'][1]:+.4g}, no verdict"
    )
