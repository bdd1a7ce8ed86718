"""What a user installs: the wheel, in an environment and a folder of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import DEMO, ROOT
from tests.test_mcp import messages

WRITTEN = ("report.md", "report.html", "metrics.json", "manifest.json")
NOT_BUILT = (".*", "build", "*.egg-info", "__pycache__", "blade_out", "data_samples", "tests")
BUILD = "from setuptools import build_meta; build_meta.build_sdist('..')"


def run(*command: str | Path, cwd: Path, **options: Any) -> str:
    """The command ends well; what it printed is shown where it does not."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, **options)
    # What DuckDB says of leaks on the way out hides the error.
    lines = [line for line in done.stderr.splitlines() if "leaked" not in line]
    assert done.returncode == 0, "\n".join([done.stdout[-2000:], *lines[-20:]])
    return done.stdout


def floors() -> str:
    """The lowest version of each library that pyproject.toml allows, as constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *extras["view"], *extras["remote"]]
    pairs = [re.fullmatch(r"([\w-]+)>=([\d.]+)", each) for each in named]
    return "".join(f"{pair[1]}=={pair[2]}\n" for pair in pairs if pair)


@pytest.mark.slow
def test_the_wheel_analyzes_as_the_repository_does(tmp_path: Path, demo: Path) -> None:
    """Made from the sdist, with the lowest versions allowed and read-only: the same bytes."""
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*NOT_BUILT))
    run(sys.executable, "-c", BUILD, cwd=source)
    shutil.rmtree(source)
    (sdist,) = tmp_path.glob("blade_eval-*.tar.gz")
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {"LICENSE", "README.md", "sql/macros.sql", "blade/py.typed"} <= names
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    build = (*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, sdist)
    # The environment of `make` has no pip of its own: that of its Python works for it.
    base = Path(sys.base_prefix) / "bin" / "python3"
    run(base, "-m", "pip", "--python", sys.executable, *build[2:], cwd=tmp_path)
    run(sys.executable, "-m", "venv", "clean", cwd=tmp_path)
    python = tmp_path / "clean" / "bin" / "python"
    (wheel,) = tmp_path.glob("*.whl")
    (tmp_path / "floors.txt").write_text(floors(), encoding="utf-8")
    lowest = ("--constraint", tmp_path / "floors.txt", wheel)
    run(python, *pip, "install", "--no-compile", *lowest, cwd=tmp_path)
    (package,) = (tmp_path / "clean").glob("lib/*/site-packages/blade")
    (files,) = package.parent.glob("blade_eval-*.dist-info/RECORD")
    own = {line.partition("/")[0] for line in files.read_text(encoding="utf-8").splitlines()}
    assert own == {"blade", files.parent.name, ".."}  # the last one is bin/blade
    for folder in ("sql", "report_templates"):
        stored = {each.relative_to(ROOT) for each in (ROOT / folder).glob("*/*.*")}
        installed = {each.relative_to(package) for each in (package / folder).glob("*/*.*")}
        assert {each for each in stored if "__pycache__" not in each.parts} == installed
        # A broken link: what would be kept here cannot be, not even by root.
        (package / folder / "__pycache__").symlink_to(tmp_path / "missing" / "at_all")
    assert (package / "py.typed").is_file()
    elsewhere = tmp_path / "a folder with spaces"
    elsewhere.mkdir()
    run(python.with_name("blade"), "analyze", DEMO, cwd=elsewhere)
    for name in WRITTEN:
        paths = (elsewhere / "blade_out" / name, demo.with_name(name))
        if name == "manifest.json":
            own, other = (json.loads(path.read_bytes()) for path in paths)
            # Reports list the versions of libraries, of which the oldest are installed here.
            assert own.pop("outputs_sha256").keys() == other.pop("outputs_sha256").keys()
            assert own == other
        else:
            assert paths[0].read_bytes() == paths[1].read_bytes(), name
    assert (
        run(python, "-m", "blade", "sql", "select 1 as one", "--format", "csv", cwd=elsewhere)
        == "one\n1\n"
    )
    request = "import blade; print(len(blade.compare('blade_out', 'office_desk_aster', 'birch')))"
    assert run(python, "-c", request, cwd=elsewhere) == "2\n"
    outside = "from importlib.util import find_spec; print(find_spec('pipeline'))"
    assert run(python, "-c", outside, cwd=elsewhere) == "None\n"
    # In so many processes that each imports the package by its name.
    run(python.with_name("blade"), "analyze", DEMO, "--no-cache", "--jobs", "9", cwd=elsewhere)
    got = (elsewhere / "blade_out" / "report.md").read_bytes()
    assert got == demo.with_name("report.md").read_bytes()
    outcome = run(python.with_name("blade"), "mcp", cwd=elsewhere, input=messages(("runs", {})))
    content = json.loads(outcome.splitlines()[-1])["result"]["content"]
    assert json.loads(content[0]["text"])["n_runs"] == 4
