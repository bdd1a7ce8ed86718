"""The settings of an analysis."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


def data_folder(name: str) -> Path:
    """A folder of data files, beside this package: in the repository, or inside `blade`."""
    return Path(__file__).resolve().parent.with_name(name)


DEFAULT_MAX_LINE_BYTES = 16 * 1024 * 1024
SQL_DIR = data_folder("sql")
WAREHOUSE_NAME = "warehouse.duckdb"
MANIFEST_NAME = "manifest.json"
# Beside a warehouse that has no copy of the events: their Parquet, and the names of these files.
EVENTS_FOLDER = "events"
EVENTS_LIST = "files.json"
EVENTS_FILE = re.compile(r"[0-9a-f]{64}\.parquet")
# The variable of a connection that says where that folder is: an output may be moved.
OUTPUT_VARIABLE = "blade_output"


def warehouse_file(path: str | Path) -> Path:
    """The path of the warehouse: a file itself, or the warehouse in an output folder."""
    path = Path(path)
    return path / WAREHOUSE_NAME if path.is_dir() else path


@dataclass(frozen=True)
class Settings:
    """Inputs, output folder and options."""

    results: tuple[Path, ...]
    out: Path
    run_names: tuple[tuple[str, Path], ...] = ()
    fields: tuple[tuple[str, str], ...] = ()  # paths of fields of a row, as in [fields]
    benchmark: str | None = None
    baselines: tuple[str, ...] = ()
    pass_threshold: float | None = None
    profile: Path | None = None
    suite: Path | None = None
    templates: Path | None = None
    follow_links: bool = False
    max_line_bytes: int = DEFAULT_MAX_LINE_BYTES
    threads: int | None = None
    memory_limit: str | None = None  # None: half of the machine's memory
    relations_memory: str = "512MB"  # what relations and pages get at first, within that limit
    engine: str = "local"
    address: str = "auto"  # of the Ray cluster
    is_whole: bool = False  # all events in the warehouse, however large
    use_cache: bool = True  # keep an output that still matches its inputs
    by_content: bool = False  # detect changed inputs by content hash
    is_growing: bool = False  # ignore incomplete last lines
