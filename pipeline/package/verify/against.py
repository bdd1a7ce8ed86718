"""Which data a report is compared with: what was named, or what stands beside it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import InputError, UsageError
from pipeline.package import layout


@dataclass(frozen=True)
class Against:
    """Data of a report: a warehouse, or rollouts to analyze; and the metrics beside it.

    `is_metrics_alone` where nothing else may speak.
    """

    warehouse: Path | None
    results: Path | None
    metrics: Path | None
    is_metrics_alone: bool

    @property
    def words(self) -> str:
        """What the report is compared with."""
        if data := self.results or self.warehouse:
            return str(data)
        if self.metrics is not None:
            why = "" if self.is_metrics_alone else ": no warehouse or rollouts found"
            return f"the figures of {self.metrics} alone{why}"
        return "nothing but the report itself: no warehouse, rollouts or metrics"


def against(
    report: Path,
    warehouse: Path | None,
    results: Path | None,
    metrics: Path | None,
    *,
    warehouse_name: str,
) -> Against:
    """The data that one option at most named, or that are found; `warehouse_name` is the file's."""
    if sum(each is not None for each in (warehouse, results, metrics)) > 1:
        raise UsageError(
            "--warehouse, --results and --metrics exclude one another.",
            hint="Name one of them, or none to use what stands beside the report.",
        )
    for path, is_there, what in (
        (report, Path.is_file, "a report in Markdown, such as blade_out/report.md"),
        (metrics, Path.is_file, "the metrics sidecar of the report"),
        (results, Path.exists, "the folder of the rollouts"),
    ):
        if path is not None and not is_there(path):
            raise InputError(f"{path}: no such file.", hint=f"Name {what}.")
    if (warehouse or results or metrics) is None:
        warehouse, results = _found(report, warehouse_name)
    return Against(warehouse, results, metrics or _sidecar(report), metrics is not None)


def _sidecar(report: Path) -> Path | None:
    """The metrics beside a report, by its name, or those that blade writes beside report.md."""
    candidates = [layout.golden(report).metrics]
    if report.name == "report.md":
        candidates.append(report.with_name("metrics.json"))
    return next((path for path in candidates if path.is_file()), None)


def _found(report: Path, warehouse_name: str) -> tuple[Path | None, Path | None]:
    """A warehouse beside the report or two folders up, else the rollouts of its package."""
    folder = report.absolute().parent

    def as_given(path: Path) -> Path:
        return path if report.is_absolute() else Path(os.path.relpath(path))

    for place in (folder, *folder.parents[1:2]):
        path = place / warehouse_name
        if path.is_file():
            return as_given(path), None
    for golden in (folder, *folder.parents[:1]):
        if golden.name == layout.GOLDEN_REPORTS:
            package = layout.package(golden.parent)
            if package.rollouts:
                return None, as_given(package.results)
    return None, None
