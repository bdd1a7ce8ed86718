"""The folder of a package: where its skill, rollouts and golden reports stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import InputError

SKILLS = ("skill/SKILL.md", "SKILL.md")
ROLLOUTS = "rollouts"
GOLDEN_REPORTS = "golden_reports"
DRAFTS = "drafts"
# A warehouse of the rollouts, kept between calls; nothing of the package.
CACHE = ".blade_cache"
# `<model>_golden_report.md` or `<model>-golden-report.md`.
GOLDEN_NAME = re.compile(r"(?P<model>.+)(?P<sep>[_-])golden[_-]report\.md")
# What no name of a file or a run holds.
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
ROWS = re.compile(r"\.jsonl(\.gz|\.zst)?$")
# What stands beside rollouts and is none itself.
SIDECARS = re.compile(
    r"^labels\.jsonl$"
    r"|(_failures|_materialized_inputs|_reward_profiling|_aggregate_metrics|_agent_metrics)"
    r"\.jsonl?(\.gz|\.zst)?$"
)


@dataclass(frozen=True)
class Golden:
    """A golden report and what belongs to it, whether it is there or not."""

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
    """What stands in a package's folder; nothing of it has been read."""

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
    """The parts of a package, in the order of their names."""
    skill = next((folder / name for name in SKILLS if (folder / name).is_file()), None)
    reports = sorted((folder / GOLDEN_REPORTS).glob("*.md"))
    goldens = [golden(path) for path in reports if GOLDEN_NAME.fullmatch(path.name)]
    return Package(folder, skill, tuple(_rollouts(folder)), tuple(goldens))


def existing_package(folder: Path) -> Package:
    """The same of a folder that must be there."""
    try:
        if not folder.is_dir():
            what = "is not a folder" if folder.exists() else "no such folder"
            raise InputError(
                f"{folder}: {what}.", hint="Make one with: blade init --benchmark-dir DIR"
            )
        return package(folder)
    except OSError as error:
        reason = error.strerror or "the system refuses it"
        raise InputError(f"{folder}: {reason}.", hint="Check its permissions.") from error


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
    """The file of this name; else one whose hyphens and underscores alone are others."""
    if path.exists():
        return path
    plain = path.name.replace("-", "_")
    others = sorted(path.parent.glob(f"*{path.suffix}"))
    return next((each for each in others if each.name.replace("-", "_") == plain), path)


def _rollouts(folder: Path) -> list[Path]:
    """In rollouts/, at any depth as an analysis reads it; else the rollout files of data/."""
    found = sorted((folder / ROLLOUTS).rglob("*.jsonl*"))
    found = found or sorted((folder / "data").glob("*rollout*.jsonl*"))
    return [path for path in found if ROWS.search(path.name) and not SIDECARS.search(path.name)]
