"""The data that a report is held against: those asked for, else those that stand beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pipeline.cli.package_source import related
from pipeline.errors import InputError
from pipeline.package import layout
from pipeline.settings import WAREHOUSE_NAME
from pipeline.warehouse import Warehouse, open_warehouse

METRICS_NAME = "metrics.json"


@dataclass(frozen=True)
class Evidence:
    """An open warehouse or none, a sidecar or none, and in words what they are."""

    warehouse: Warehouse | None
    metrics: Path | None
    told: str


@contextmanager
def evidence(
    report: Path, *, warehouse: Path | None, results: Path | None, metrics: Path | None
) -> Iterator[Evidence]:
    """What a report is held against, open as long as it is needed."""
    if metrics is not None:
        if not metrics.is_file():
            raise InputError(f"{metrics}: no metrics here.", hint="Name the sidecar of the report.")
        yield Evidence(None, metrics, f"the figures of {metrics} alone")
        return
    beside = _sidecar(report)
    if warehouse is None and results is None:
        warehouse, results = _found(report)
    if results is not None:
        if not results.exists():
            raise InputError(f"{results}: not found.", hint="Name the folder of the rollouts.")
        with related(results) as opened:
            yield Evidence(opened, beside, f"{results}, analyzed for this")
    elif warehouse is not None:
        with open_warehouse(warehouse) as opened:
            yield Evidence(opened, beside, str(warehouse))
    elif beside is not None:
        yield Evidence(
            None, beside, f"the figures of {beside} alone: no warehouse or rollouts found"
        )
    else:
        yield Evidence(
            None, None, "nothing but the report itself: no warehouse, rollouts or metrics"
        )


def _sidecar(report: Path) -> Path | None:
    """The metrics beside a report, by its name, or those that blade writes beside report.md."""
    candidates = [layout.golden(report).metrics]
    if report.name == "report.md":
        candidates.append(report.with_name(METRICS_NAME))
    return next((path for path in candidates if path.is_file()), None)


def _found(report: Path) -> tuple[Path | None, Path | None]:
    """A warehouse beside the report or two folders up, else the rollouts of its package."""
    folder = report.absolute().parent
    for place in (folder, *folder.parents[1:2]):
        path = place / WAREHOUSE_NAME
        if path.is_file():
            return _as_given(path, report), None
    for golden in (folder, *folder.parents[:1]):
        if golden.name == layout.GOLDEN_REPORTS:
            package = layout.package(golden.parent)
            if package.rollouts:
                return None, _as_given(package.results, report)
    return None, None


def _as_given(path: Path, report: Path) -> Path:
    """A path as the caller would write it."""
    try:
        return path if report.is_absolute() else path.relative_to(Path.cwd())
    except ValueError:
        return path
