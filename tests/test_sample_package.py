"""Whole packages: the sample and those of real results pass every command, one after another."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from tests import results
from tests.conftest import ROOT
from tests.results import call

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


SHARED = ROOT.parent / "shared"
# Folders with two scored runs of one benchmark: of Gym, and ungraded attempts of another harness.
FOLDERS = ["corpus/gym/structeval", "findings_corpus/terminal_agents"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FOLDERS)
def test_the_way_of_a_package(name: str, tmp_path: Path) -> None:
    """init, analyze, verify, validate, facts, control, score, calibrate, sanitize and export."""
    results = SHARED / name
    if not results.is_dir():
        pytest.skip("the corpus is not here")
    folder = tmp_path / "bench"
    made = call("init", "--benchmark-dir", folder, "--benchmark", "bench", "--results", results)
    assert made.code == 0, made.stderr
    out = tmp_path / "out"
    assert call("analyze", folder, "--out", out).code == 0
    reports = folder / "golden_reports"
    draft = sorted((reports / "drafts").glob("*_draft_report.md"))[0]
    model = draft.name.removesuffix("_draft_report.md")
    golden = reports / f"{model}_golden_report.md"
    shutil.copy(draft, golden)
    figures = reports / "drafts" / f"{model}_draft_report_metrics.json"
    shutil.copy(figures, reports / f"{model}_golden_report_metrics.json")
    checked = call("verify", golden, "--json")
    assert checked.code == 0, json.loads(checked.stdout)["summary"]
    facts, control = reports / f"{model}_anchor_facts.json", reports / f"{model}_shallow.md"
    about = ("--benchmark", "bench", "--model-name", model, "--min-facts", "1")
    drafted = call("extract-anchor-facts", "--golden", golden, "--output", facts, *about)
    assert drafted.code == 0, drafted.stderr
    assert call("make-shallow", "--input", golden, "--output", control).code == 0
    by = ("--golden", golden, "--anchor-facts", facts)
    scored = json.loads(call("score", "--report", golden, *by, "--json").stdout)
    assert scored["final_score"] == 1.0, scored
    again = call("verify", golden, "--json")
    assert again.code == 0, [
        each for each in json.loads(again.stdout)["findings"] if each["status"] == "contradicted"
    ]
    answer = json.loads(call("validate", "--benchmark-dir", folder, "--json").stdout)
    wrong = [each for each in answer["checks"] if each["status"] == "FAIL"]
    # One run alone, rows without ids and the like are the results' own; drafts are not curated.
    ours = ("golden.verified", "metrics.", "facts.exist", "facts.shape", "skill.sections")
    assert [each for each in wrong if each["id"].startswith(ours)] == []
    calibrated = call(
        "calibrate", "--golden-report", golden, "--anchor-facts", facts,
        "--shallow-report", control, "--json",
    )  # fmt: skip
    assert json.loads(calibrated.stdout)["golden_score"] == 1.0
    clean = tmp_path / "clean"
    assert call("sanitize", folder, "--out", clean).code in (0, 1)
    exported = tmp_path / "exported"
    assert call("export", "--warehouse", out, "--format", "csv", "--out", exported).code == 0
