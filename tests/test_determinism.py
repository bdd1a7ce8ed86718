"""Same inputs, same output: whatever the threads, and wherever the folder lies."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline import open_warehouse
from pipeline.run import run
from pipeline.settings import Settings
from tests.conftest import DEMO

KEYS = {"events": "order by run_id, task_id, rollout_index, seq"}


def contents(path: Path) -> dict[str, list[Any]]:
    """Every public relation as a plain select prints it; the one view in the order of its key."""
    with open_warehouse(path) as warehouse:
        tables = warehouse.execute(
            "select table_name from information_schema.tables where table_schema = 'main' "
            "and table_catalog = current_database() order by all"
        ).fetchall()
        return {
            name: warehouse.execute(f"from {name} {KEYS.get(name, '')}").fetchall()
            for (name,) in tables
        }


@pytest.fixture(scope="module")
def one_thread(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, analyzed on one thread: its output folder."""
    return run(Settings((DEMO,), tmp_path_factory.mktemp("one"), threads=1)).out


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_nothing(one_thread: Path, tmp_path: Path, threads: int) -> None:
    """Every relation is equal row by row, whatever the number of threads."""
    other = run(Settings((DEMO,), tmp_path / "out", threads=threads)).out
    assert contents(other / "warehouse.duckdb") == contents(one_thread / "warehouse.duckdb")
    assert (other / "manifest.json").read_bytes() == (one_thread / "manifest.json").read_bytes()


def test_place_changes_nothing(one_thread: Path, tmp_path: Path) -> None:
    """A copy of the folder elsewhere, under another name, gives the same output."""
    copied = shutil.copytree(DEMO, tmp_path / "deep" / "elsewhere")
    other = run(Settings((copied,), tmp_path / "out")).out
    assert contents(other / "warehouse.duckdb") == contents(one_thread / "warehouse.duckdb")
    assert (other / "manifest.json").read_bytes() == (one_thread / "manifest.json").read_bytes()
