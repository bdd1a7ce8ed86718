"""The folder of a package: where its skill, rollouts, golden reports and their data are."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError, UsageError
from ..files import reason_of

SKILLS = ("skill/SKILL.md", "SKILL.md")
ROLLOUTS = "rollouts"
GOLDEN_REPORTS = "golden_reports"
DRAFTS = "drafts"
# `<model>_golden_report.md` or `<model>-golden-report.md`.
GOLDEN_NAME = re.compile(r"(?P<model>.+)(?P<sep>[_-])golden[_-]report\.md")
# Characters that no name of a file or a run has.
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
ROWS = re.compile(r"\.jsonl(\.gz|\.zst)?$")
# Files beside rollouts that are not rollouts.
SIDECARS = re.compile(
    r"^labels\.jsonl$"
    r"|(_failures|_materialized_inputs|_reward_profiling|_aggregate_metrics|_agent_metrics)"
    r"\.jsonl?(\.gz|\.zst)?$"
)


@dataclass(frozen=True)
class Golden:
    """A golden report and the files that belong to it, whether they exist or not."""

    report: Path
    model: str
    metrics: Path
    anchor_facts: Path
    shallow: Path

    @property
    def is_comparison(self) -> bool:
        """A comparison of models needs neither metrics nor facts."""
        return "_vs_" in self.report.name.replace("-", "_")


@dataclass(frozen=True)
class Package:
    """The files of a package's folder; none of them has been read."""

    folder: Path
    skill: Path | None
    rollouts: tuple[Path, ...]
    goldens: tuple[Golden, ...]

    @property
    def results(self) -> Path:
        """The folder that an analysis reads."""
        own, data = self.folder / ROLLOUTS, self.folder / "data"
        if self.rollouts:
            return own if own in self.rollouts[0].parents else data
        return own if own.is_dir() else data


def package(folder: Path) -> Package:
    skill = next((folder / name for name in SKILLS if (folder / name).is_file()), None)
    reports = sorted((folder / GOLDEN_REPORTS).glob("*.md"))
    goldens = [golden(path) for path in reports if GOLDEN_NAME.fullmatch(path.name)]
    return Package(folder, skill, tuple(_rollouts(folder)), tuple(goldens))


def existing_package(folder: Path) -> Package:
    try:
        if not folder.is_dir():
            what = "is not a folder" if folder.exists() else "no such folder"
            raise InputError(
                f"{folder}: {what}.", hint="Make one with: blade init --benchmark-dir DIR"
            )
        return package(folder)
    except OSError as error:
        raise InputError(f"{folder}: {reason_of(error)}.", hint="Check its permissions.") from error


def golden(report: Path) -> Golden:
    """What belongs to a golden report, by its name; any other report's name is its model."""
    match = GOLDEN_NAME.fullmatch(report.name)
    model, sep = (match["model"], match["sep"]) if match else (report.stem, "_")
    beside = report.parent
    return Golden(
        report=report,
        model=model,
        metrics=_paired(beside / f"{report.stem}{sep}metrics.json"),
        anchor_facts=_paired(beside / f"{model}{sep}anchor{sep}facts.json"),
        shallow=_paired(beside / f"{model}{sep}shallow.md"),
    )


def _paired(path: Path) -> Path:
    """The file of this name, else one that differs only in hyphens and underscores."""
    if path.exists():
        return path
    plain = path.name.replace("-", "_")
    others = sorted(path.parent.glob(f"*{path.suffix}"))
    return next((each for each in others if each.name.replace("-", "_") == plain), path)


def _rollouts(folder: Path) -> list[Path]:
    """In rollouts/, at any depth as an analysis reads it; else the rollout files of data/."""
    paths = sorted((folder / ROLLOUTS).rglob("*.jsonl*"))
    paths = paths or sorted((folder / "data").glob("*rollout*.jsonl*"))
    return [path for path in paths if ROWS.search(path.name) and not SIDECARS.search(path.name)]


@dataclass(frozen=True)
class Against:
    """Data of a report: a warehouse, or rollouts to analyze; and the metrics beside it.

    `is_metrics_alone` where nothing else may be used.
    """

    warehouse: Path | None
    results: Path | None
    metrics: Path | None
    is_metrics_alone: bool

    @property
    def words(self) -> str:
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
    """The data named by one option at most, else those nearby; `warehouse_name` is the file's."""
    if sum(each is not None for each in (warehouse, results, metrics)) > 1:
        raise UsageError(
            "--warehouse, --results and --metrics exclude one another.",
            hint="Name one of them, or none to use the files beside the report.",
        )
    for path, is_there, what in (
        (report, Path.is_file, "a report in Markdown, such as blade_out/report.md"),
        (metrics, Path.is_file, "the metrics sidecar of the report"),
        (results, Path.exists, "the folder of the rollouts"),
    ):
        if path is not None and not is_there(path):
            raise InputError(f"{path}: no such file.", hint=f"Name {what}.")
    if (warehouse or results or metrics) is None:
        warehouse, results = _nearby_data(report, warehouse_name)
    return Against(warehouse, results, metrics or _sidecar(report), metrics is not None)


def _sidecar(report: Path) -> Path | None:
    """The metrics beside a report, by its name, or those that blade writes beside report.md."""
    candidates = [golden(report).metrics]
    if report.name == "report.md":
        candidates.append(report.with_name("metrics.json"))
    return next((path for path in candidates if path.is_file()), None)


def _nearby_data(report: Path, warehouse_name: str) -> tuple[Path | None, Path | None]:
    """A warehouse beside the report or two folders up, else the rollouts of its package."""
    folder = report.absolute().parent

    def as_given(path: Path) -> Path:
        return path if report.is_absolute() else Path(os.path.relpath(path))

    for place in (folder, *folder.parents[1:2]):
        path = place / warehouse_name
        if path.is_file():
            return as_given(path), None
    for place in (folder, *folder.parents[:1]):
        if place.name == GOLDEN_REPORTS and (own := package(place.parent)).rollouts:
            return None, as_given(own.results)
    return None, None
