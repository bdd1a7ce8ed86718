"""What a command that needs another library says to install."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

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


def environment(monkeypatch: pytest.MonkeyPatch, prefix: Path, *, is_of_uv: bool) -> None:
    """Python as of an environment in this folder, made by uv or by venv."""
    prefix.mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\n" + "uv = 0.9\n" * is_of_uv)
    monkeypatch.setattr(sys, "prefix", str(prefix))


def test_a_checkout_names_a_target_of_its_makefile() -> None:
    hint = extras.install_hint("view")
    assert hint == "Install it with: make view-libraries"
    target = hint.split()[-1]
    dry_run = subprocess.run(
        ["make", "--dry-run", "--always-make", target], cwd=ROOT, capture_output=True, text=True
    )
    assert dry_run.returncode == 0 and "'.[view]'" in dry_run.stdout


@pytest.mark.parametrize(
    ("prefix", "is_of_uv", "beginning"),
    [
        ("env", False, f"{shlex.quote(sys.executable)} -m pip install"),
        ("env", True, f"uv pip install --python {shlex.quote(sys.executable)}"),
        ("uv/tools/blade-eval", True, f"uv pip install --python {shlex.quote(sys.executable)}"),
        ("pipx/venvs/blade-eval", False, "pipx inject blade-eval"),
        ("pipx/venvs/blade-eval", True, "pipx inject blade-eval"),
    ],
)
@pytest.mark.usefixtures("installed")
def test_an_installed_copy_names_the_libraries(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, prefix: str, is_of_uv: bool, beginning: str
) -> None:
    """The libraries themselves: a wheel from a file cannot be found by its name."""
    environment(monkeypatch, tmp_path / prefix, is_of_uv=is_of_uv)
    expected = f"Install it with: {beginning} 'starlette>=1' 'uvicorn>=0.31.1'"
    assert extras.install_hint("view") == expected


@pytest.mark.parametrize(
    ("prefix", "is_of_uv", "beginning"),
    [
        ("uvcache/archive-v0/OKJmg", True, "uvx --from"),
        ("pipx/.cache/0a1b2c", False, "pipx run --spec"),
        ("pipx/.cache/0a1b2c", True, "pipx run --spec"),
    ],
)
@pytest.mark.usefixtures("installed")
def test_what_is_run_from_a_cache_is_run_with_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, prefix: str, is_of_uv: bool, beginning: str
) -> None:
    """From the same wheel; what is installed there would be gone the next time."""
    environment(monkeypatch, tmp_path / prefix, is_of_uv=is_of_uv)
    origin = SimpleNamespace(read_text=lambda _name: '{"url": "file:///a/b.whl"}')
    monkeypatch.setattr(extras, "distribution", lambda _name: origin)
    expected = f"Run it with: {beginning} 'blade-eval[view] @ file:///a/b.whl' blade"
    assert extras.install_hint("view") == expected
    origin.read_text = lambda _name: None
    assert extras.install_hint("view") == f"Run it with: {beginning} 'blade-eval[view]' blade"


@pytest.mark.usefixtures("installed")
def test_without_a_list_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "requires", lambda _name: None)
    assert extras.install_hint("ray").endswith("pip install 'blade-eval[ray]'")
