"""Draft reports of a package: one for each run, named after its model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pipeline.package.layout import DRAFTS, GOLDEN_REPORTS, UNSAFE
from pipeline.package.scaffold.asking import asked
from pipeline.package.scaffold.writing import File
from pipeline.report import Source

LONGEST = 100


def draft_files(source: Source, out: Path) -> list[File]:
    """The report and the metrics that an analysis wrote for each run, as drafts."""
    runs = asked(source, "select run_id, model from main.runs order by run_id")
    names = draft_names([(row["run_id"], row["model"]) for row in runs])
    files = []
    for run_id, name in names.items():
        folder, stem = out / "runs" / run_id, f"{GOLDEN_REPORTS}/{DRAFTS}/{name}_draft_report"
        files += [
            File(f"{stem}.md", (folder / "report.md").read_text(encoding="utf-8")),
            File(f"{stem}_metrics.json", (folder / "metrics.json").read_text(encoding="utf-8")),
        ]
    return files


def draft_names(runs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The name of each run's draft: its model's, its own where two would be alike."""
    wanted = {run_id: _safe(model) for run_id, model in runs}
    uses = Counter(name.casefold() for name in wanted.values())
    return {
        run_id: name if name and uses[name.casefold()] == 1 else run_id
        for run_id, name in wanted.items()
    }


def _safe(model: str) -> str:
    """A model's name as part of a file's: `_vs_` would make it a comparison."""
    return UNSAFE.sub("-", model).strip("-.")[:LONGEST].replace("_vs_", "-vs-")
