"""The commands that make a report again; RESULTS and DIR are the reader's."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.report.content import Content
from pipeline.report.sections import SECTIONS, Section

WAREHOUSE = ["--warehouse", "DIR/warehouse.duckdb"]
TEMPLATES = ["--templates", "TEMPLATES"]


@dataclass(frozen=True)
class Commands:
    """Each as it is typed."""

    whole: str
    report: str


def commands(content: Content, sections: Sequence[Section], folder: Path | None) -> Commands:
    """For what was chosen of runs and sections; an output folder holds no path of a machine."""
    own = [] if folder is None else TEMPLATES
    chosen = [word for name in content.chosen for word in ("--run", name)]
    if tuple(sections) != SECTIONS:
        chosen += ["--sections", ",".join(section.name for section in sections)]
    return Commands(
        whole=" ".join([content.settings["command"], *own]),
        report=shlex.join(["blade", "report", *WAREHOUSE, *chosen, *own]),
    )
