"""The README's two commands on a fresh clone, with nothing set up."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.mark.slow
def test_two_commands(tmp_path: Path) -> None:
    """`make analyze` and `make test` set themselves up, and a second call installs nothing."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    unset = {name: value for name, value in os.environ.items() if not name.startswith("BLADE_")}
    # One file is enough here, which .ci/run has just run in its own clean checkout.
    unset["PYTEST_ADDOPTS"] = "tests/test_student.py"

    def make(target: str) -> str:
        done = subprocess.run(
            ["make", target], cwd=clone, env=unset, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    assert "wrote blade_out: report.html" in make("analyze")
    assert (clone / "blade_out" / "warehouse.duckdb").is_file()
    assert "pip install" not in make("analyze")
    assert " passed" in make("test")
    tracked = ["git", "status", "--porcelain"]
    assert subprocess.run(tracked, cwd=clone, capture_output=True, text=True).stdout == ""
