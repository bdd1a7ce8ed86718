"""The command lines that BLADE's tutorial gives for its helper run as written, as ours."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.results import run_script

SEEDS = ROOT.parent / "shared" / "seeds"
PACKAGE = ROOT / "data_samples" / "benchmarks" / "office_desk"
MODEL = "aster-8b"
CALL = re.compile(r"^\$uv run python \S+ (?P<call>(?:.+\\\n> )*.+)$", re.MULTILINE)


def commands() -> list[str]:
    """The helper's calls in the order of the tutorial, `blade` in place of the script."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(SEEDS.glob("*.txt")))
    found = []
    for match in CALL.finditer(text):
        call = match["call"].replace("\\\n>", "")
        found.append(
            "blade " + call.replace("model_a", MODEL).replace("<benchmark_name>", PACKAGE.name)
        )
    return found


@pytest.mark.slow
@pytest.mark.skipif(not SEEDS.is_dir(), reason="the source documents are not beside the project")
def test_tutorial_runs_on_the_sample_package(tmp_path: Path) -> None:
    """Facts, shallow baseline, validation and calibration, one after the other on a copy."""
    shutil.copytree(PACKAGE, tmp_path / "benchmarks" / PACKAGE.name)
    calls = commands()
    names = [call.split()[1] for call in calls]
    assert names == ["extract-anchor-facts", "make-shallow", "validate", "calibrate", "validate"]
    settings = [f"benchmark_name={PACKAGE.name}", 'benchmark_dir="benchmarks/${benchmark_name}"']
    run_script([*settings, *calls], tmp_path)
