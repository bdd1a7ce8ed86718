"""The sample package: what it holds is what an analysis gives, and every command passes it."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from tests import results
from tests.conftest import ROOT

PACKAGE = ROOT / "data_samples" / "benchmarks" / "office_desk"
GOLDEN = PACKAGE / "golden_reports" / "aster-8b_golden_report.md"
SIDECAR = PACKAGE / "golden_reports" / "aster-8b_golden_report_metrics.json"
FACTS = GOLDEN.with_name("aster-8b_anchor_facts.json")
SHALLOW = GOLDEN.with_name("aster-8b_shallow.md")
RUN = "office_desk_aster-8b"


@pytest.mark.slow
def test_sidecar_and_skill_agree_with_the_analysis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The analysis writes the sidecar to the byte, and the skill's commands run on it as written.

    They run where a person would: in the folder that holds the package's.
    """
    shutil.copytree(PACKAGE, tmp_path / "office_desk")
    monkeypatch.chdir(tmp_path)
    skill = Path("office_desk", "skill", "SKILL.md").read_text(encoding="utf-8")
    commands = [line.strip() for line in skill.splitlines() if line.strip().startswith("blade ")]
    assert len(commands) > 8
    # All others ask what this one writes.
    for command in sorted(commands, key=lambda each: not each.startswith("blade analyze")):
        if not command.startswith("blade verify"):
            ended = results.call(*shlex.split(command)[1:])
            assert ended.code == 0, (command, ended.stderr)
    assert Path("blade_out", "runs", RUN, "metrics.json").read_bytes() == SIDECAR.read_bytes()
    there = (path for path in Path("office_desk").rglob("*") if path.is_file())
    before = {path: path.read_bytes() for path in there}
    given = ("--benchmark-dir", "office_desk", "--benchmark", "office_desk", "--refresh")
    assert results.call("init", *given).code == 0
    assert {path: path.read_bytes() for path in before} == before


def test_shallow_is_what_the_golden_report_gives(tmp_path) -> None:
    """The baseline in the package is the one that make-shallow writes."""
    out = tmp_path / "shallow.md"
    assert results.call("make-shallow", "--input", GOLDEN, "--output", out).code == 0
    assert out.read_bytes() == SHALLOW.read_bytes()


@pytest.mark.slow
def test_it_calibrates() -> None:
    """Golden, shallow, spread and every hard negative are where they must be."""
    files = ("--golden-report", GOLDEN, "--anchor-facts", FACTS, "--shallow-report", SHALLOW)
    ended = results.call("calibrate", *files, "--json")
    assert ended.code == 0, ended.stdout


def test_it_may_be_shared() -> None:
    """Nothing private is in it, by its own policy."""
    assert results.call("sanitize", PACKAGE, "--check").code == 0


@pytest.mark.slow
def test_every_figure_and_citation_holds() -> None:
    """No contradiction, and fewer than one number in ten that no source accounts for."""
    ended = results.call("verify", GOLDEN, "--json")
    summary = json.loads(ended.stdout)["summary"]
    assert (ended.code, summary["contradicted"]) == (0, 0)
    assert summary["numbers"]["verified"] > 380
    assert summary["numbers"]["unchecked"] < 45
    assert (summary["facts"]["verified"], summary["facts"]["unchecked"]) == (14, 0)


@pytest.mark.slow
def test_it_is_blade_ready() -> None:
    """All phases pass, the readiness checklist included."""
    ended = results.call("validate", "--benchmark-dir", PACKAGE, "--phase", "all")
    assert ended.code == 0, ended.stdout
    assert ended.stdout.rstrip().splitlines()[-1].startswith("BLADE-ready.")
