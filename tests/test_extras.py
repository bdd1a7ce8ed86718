"""What a command that needs another library says to install."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import extras
from tests.conftest import ROOT

LISTED = [
    "click>=8.4",
    'starlette>=1; extra == "view"',
    'uvicorn>=0.31.1; extra == "view"',
    'mcp>=2; extra == "mcp"',
]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Blade as an installed copy, which has no Makefile beside it."""
    monkeypatch.setattr(extras, "MAKEFILE", tmp_path / "Makefile")
    monkeypatch.setattr(extras, "requires", lambda _name: LISTED)


def test_a_checkout_names_a_target_of_its_makefile() -> None:
    hint = extras.install_hint("view")
    assert hint == "Install it with: make view-libraries"
    target = hint.split()[-1]
    dry_run = subprocess.run(
        ["make", "--dry-run", "--always-make", target], cwd=ROOT, capture_output=True, text=True
    )
    assert dry_run.returncode == 0 and "'.[view]'" in dry_run.stdout


@pytest.mark.parametrize(
    ("prefix", "beginning"),
    [
        ("/home/user/env", f"{shlex.quote(sys.executable)} -m pip install"),
        ("/home/user/.local/share/pipx/venvs/blade-eval", "pipx inject blade-eval"),
        (
            "/home/user/.local/share/uv/tools/blade-eval",
            f"uv pip install --python {shlex.quote(sys.executable)}",
        ),
    ],
)
@pytest.mark.usefixtures("installed")
def test_an_installed_copy_names_the_libraries(
    monkeypatch: pytest.MonkeyPatch, prefix: str, beginning: str
) -> None:
    """The libraries themselves: a wheel from a file cannot be found by its name."""
    monkeypatch.setattr(sys, "prefix", prefix)
    expected = f"Install it with: {beginning} 'starlette>=1' 'uvicorn>=0.31.1'"
    assert extras.install_hint("view") == expected


@pytest.mark.usefixtures("installed")
def test_without_a_list_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "requires", lambda _name: None)
    assert extras.install_hint("ray").endswith("pip install 'blade-eval[ray]'")
