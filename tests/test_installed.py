"""What a user installs: the wheel, in an environment and a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import DEMO, ROOT

WRITTEN = ("report.md", "report.html", "metrics.json", "manifest.json")
NOT_BUILT = (".*", "build", "*.egg-info", "__pycache__", "blade_out", "data_samples", "tests")


def run(*command: str | Path, cwd: Path) -> None:
    """The command ends well; what it said is shown where it does not."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.slow
def test_the_wheel_analyzes_as_the_repository_does(tmp_path: Path, demo: Path) -> None:
    """Installed from its wheel, from another folder and read-only, it writes the same bytes."""
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*NOT_BUILT))
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    build = (*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, source)
    run(sys.executable, *build, cwd=tmp_path)
    shutil.rmtree(source)
    run(sys.executable, "-m", "venv", "clean", cwd=tmp_path)
    python = tmp_path / "clean" / "bin" / "python"
    (wheel,) = tmp_path.glob("*.whl")
    locked = ("--constraint", ROOT / "requirements.lock")
    run(python, *pip, "install", "--no-compile", *locked, wheel, cwd=tmp_path)
    (package,) = (tmp_path / "clean").glob("lib/*/site-packages/pipeline")
    for folder in ("sql", "report_templates"):
        # A link to nowhere: what would be kept here cannot be, not even by root.
        (package / folder / "__pycache__").symlink_to(tmp_path / "nowhere" / "at_all")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run(python.with_name("blade"), "analyze", DEMO, cwd=elsewhere)
    for name in WRITTEN:
        got = (elsewhere / "blade_out" / name).read_bytes()
        assert got == demo.with_name(name).read_bytes(), name
