"""The whole way of a package, on real results: each step takes what the one before it wrote."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.results import call

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
