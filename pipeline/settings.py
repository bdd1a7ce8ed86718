"""What one analysis is asked to do, as one plain value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


def data_folder(name: str) -> Path:
    """A folder of data files: in an installed package inside it, in the repository beside it."""
    package = Path(__file__).resolve().parent
    inside = package / name
    return inside if inside.is_dir() else package.parent / name


DEFAULT_MAX_LINE_BYTES = 16 * 1024 * 1024
SQL_DIR = data_folder("sql")
WAREHOUSE_NAME = "warehouse.duckdb"
MANIFEST_NAME = "manifest.json"


def warehouse_file(path: str | Path) -> Path:
    """The file itself, or that of an output folder."""
    path = Path(path)
    return path / WAREHOUSE_NAME if path.is_dir() else path


@dataclass(frozen=True)
class Settings:
    """Inputs, output folder and the few choices a caller may make."""

    results: tuple[Path, ...]
    out: Path
    run_names: tuple[tuple[str, Path], ...] = ()
    benchmark: str | None = None
    baselines: tuple[str, ...] = ()
    pass_threshold: float | None = None
    profile: Path | None = None
    templates: Path | None = None
    follow_links: bool = False
    max_line_bytes: int = DEFAULT_MAX_LINE_BYTES
    threads: int | None = None
    memory_limit: str | None = None  # half of the machine's
    engine: str = "local"
    address: str = "auto"  # of a cluster
    use_cache: bool = True  # an output that still describes its inputs is not made again
    by_content: bool = False  # inputs are compared by their bytes, not by place and time
    is_growing: bool = False  # half-written last lines wait for their ends
