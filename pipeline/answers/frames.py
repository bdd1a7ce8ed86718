"""Answers as frames, for notebooks and scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..files import read_queries
from ..settings import warehouse_file
from ..warehouse import open_warehouse
from .names import find_run

if TYPE_CHECKING:
    import polars

QUERIES = read_queries("answers/frames")


def frame(path: str | Path, name: str) -> polars.DataFrame:
    with open_warehouse(warehouse_file(path)) as warehouse:
        return warehouse.sql(QUERIES[name])


def failures(path: str | Path, run: str | None) -> polars.DataFrame:
    with open_warehouse(warehouse_file(path)) as warehouse:
        run_id = None if run is None else find_run(warehouse, run)["run_id"]
        return warehouse.sql(QUERIES["failures"], [run_id])
