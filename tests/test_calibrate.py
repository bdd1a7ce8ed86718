"""Calibration and its negative control: the facts tell a golden report from a shallow one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.package.calibration import calibrate
from pipeline.package.facts import Fact
from pipeline.package.score import score, standard
from pipeline.package.shallow import shallow
from tests.conftest import REPORTS
from tests.package_reports import GOLDEN, TEXTS, facts_json, written
from tests.results import Outcome, call

SHALLOW = (
    "# mason-3b on parcel_desk\n\n## Aggregate Results\n\n"
    + GOLDEN[GOLDEN.index("| run |") : GOLDEN.index("## Workflow")]
)


def run(folder: Path, *flags: str | Path, **texts: str) -> Outcome:
    found = written(folder, **{"shallow": SHALLOW, **texts})
    return call(
        "calibrate",
        *("--golden-report", found["golden"]),
        *("--anchor-facts", found["facts"]),
        *("--shallow-report", found["shallow"]),
        *flags,
    )


def test_a_golden_report_is_distinguished_from_a_shallow_one(tmp_path: Path) -> None:
    """Every demand is met and every score written where the helper writes it."""
    out = tmp_path / "calibration"
    outcome = run(tmp_path, "--output-dir", out)
    assert (outcome.code, outcome.stderr) == (0, "")
    assert outcome.stdout.count("PASS") == 3
    summary = json.loads((out / "calibration_summary.json").read_text(encoding="utf-8"))
    assert summary["passed"] is True
    assert summary["golden_score"] >= 0.85
    assert summary["shallow_score"] <= 0.40
    for name, key in (("golden-vs-self", "golden_score"), ("shallow-vs-golden", "shallow_score")):
        reward = json.loads((out / name / "reward.json").read_text(encoding="utf-8"))
        assert reward["final_score"] == summary[key]


def test_a_golden_report_as_its_own_control_fails(tmp_path: Path) -> None:
    """The shallow report too close to the golden one is named, with the facts it meets."""
    outcome = run(tmp_path, shallow=GOLDEN)
    assert outcome.code == 1
    assert "FAIL   shallow-vs-golden" in outcome.stdout
    assert "Review: Shallow too close" in outcome.stdout
    assert "f1 (met by shallow-vs-golden)" in outcome.stdout


def test_a_spread_can_be_asked_for(tmp_path: Path) -> None:
    """A control that states a fact is too close for a spread of 1."""
    outcome = run(tmp_path, "--min-spread", "1", "--json", shallow=SHALLOW + TEXTS[7])
    summary = json.loads(outcome.stdout)
    assert (outcome.code, summary["targets"]["spread_at_least"]) == (1, 1)
    assert [each["name"] for each in summary["checks"] if not each["passed"]] == ["spread"]


def test_facts_that_the_golden_report_does_not_state_are_named(tmp_path: Path) -> None:
    """Facts of another report make the golden one fail, and are the thing to review."""
    found = written(tmp_path, shallow=SHALLOW)
    odd = [f"Task {n}0 of another desk was lost by `tool_{n}` in {n} of 9 calls." for n in "234"]
    found["facts"].write_text(facts_json((*TEXTS[:2], *odd)), encoding="utf-8")
    outcome = call(
        "calibrate",
        *("--golden-report", found["golden"]),
        *("--anchor-facts", found["facts"]),
        *("--shallow-report", found["shallow"]),
    )
    assert outcome.code == 1
    assert "f3 (not in the golden report: " in outcome.stdout


def test_a_low_golden_report_is_not_blamed_on_the_shallow_one() -> None:
    """Where the golden report states none of the facts, nobody is asked to thin the shallow one."""
    report = "## Executive Summary\n\nTask `3` fails since the agent writes to a wrong customer.\n"
    fact = Fact("f", "Task `9` passes because the clerk asks for the order's number twice.", "high")
    found, _ = calibrate(report, "## Executive Summary\n", [fact])
    assert not found["passed"]
    assert not any("Shallow too close" in line for line in found["review"])


@pytest.mark.slow
def test_outputs_are_the_same_for_any_hash_seed(tmp_path: Path) -> None:
    """Scores depend on nothing but the files."""
    found = written(tmp_path, shallow=SHALLOW)
    flags = ["--golden-report", found["golden"], "--anchor-facts", found["facts"]]
    flags += ["--shallow-report", found["shallow"], "--output-dir"]
    code = "from pipeline.cli import main; main()"
    for seed in ("0", "7"):
        arguments = ["calibrate", *map(str, flags), str(tmp_path / seed)]
        subprocess.run(
            [sys.executable, "-c", code, *arguments],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
    names = sorted(path.relative_to(tmp_path / "0") for path in (tmp_path / "0").rglob("*.json"))
    assert len(names) == 3
    for name in names:
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "7" / name).read_bytes()


@pytest.mark.slow
def test_long_reports_take_time_in_proportion() -> None:
    """Ten times the text takes about ten times as long, in one paragraph too."""

    def seconds(n_copies: int) -> float:
        prose = re.sub(r"\n+", " ", GOLDEN.replace("#", "").replace("|", " ")) * n_copies
        outcome = "\n".join(GOLDEN.replace("/3:", f"/{n}3:") for n in range(n_copies)) + prose
        start = time.process_time()
        score(outcome, standard(outcome, [Fact(f"f{n}", t, "high") for n, t in enumerate(TEXTS)]))
        return time.process_time() - start

    seconds(1)
    # A machine is busy at times; in proportion to the square it would be a hundred.
    assert seconds(80) < 20 * seconds(8)


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
