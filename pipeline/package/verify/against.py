"""Which data a report is compared with: what was named, or what stands beside it."""

from __future__ import annotations

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
        if self.is_metrics_alone:
            return f"the figures of {self.metrics} alone"
        if self.results is not None:
            return f"{self.results}"
        if self.warehouse is not None:
            return str(self.warehouse)
        if self.metrics is not None:
            return f"the figures of {self.metrics} alone: no warehouse or rollouts found"
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
    for path, lacking, hint in (
        (report, "no report here", "Name a Markdown file, such as blade_out/report.md."),
        (metrics, "no metrics here", "Name the sidecar of the report."),
    ):
        if path is not None and not path.is_file():
            raise InputError(f"{path}: {lacking}.", hint=hint)
    if results is not None and not results.exists():
        raise InputError(f"{results}: not found.", hint="Name the folder of the rollouts.")
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
    for place in (folder, *folder.parents[1:2]):
        path = place / warehouse_name
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
