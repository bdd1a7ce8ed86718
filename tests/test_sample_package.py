"""The sample package: its rollouts, its labels, and what its golden report counted by reading."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from tests import results
from tests.conftest import ROOT

PACKAGE = ROOT / "data_samples" / "benchmarks" / "office_desk"
GOLDEN = PACKAGE / "golden_reports" / "aster-8b_golden_report.md"
SIDECAR = PACKAGE / "golden_reports" / "aster-8b_golden_report_metrics.json"
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
    before = {path: path.read_bytes() for path in there if ".blade_cache" not in path.parts}
    given = ("--benchmark-dir", "office_desk", "--benchmark", "office_desk", "--refresh")
    assert results.call("init", *given).code == 0
    assert {path: path.read_bytes() for path in before} == before
