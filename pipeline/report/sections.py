"""The sections of a report, in BLADE's order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """A heading of the report; the template below it is named after it."""

    title: str

    @property
    def name(self) -> str:
        """`Workflow Funnel` is workflow_funnel, on the command line and as a file."""
        return self.title.lower().replace(" ", "_").replace("-", "_")


SECTIONS = (
    Section("Executive Summary"),
    Section("Artifact Inventory"),
    Section("Aggregate Results"),
    Section("Workflow Funnel"),
    Section("Task Outcome Buckets"),
    Section("Dominant Failure Modes"),
    Section("Sometimes-Pass Deep Dives"),
    Section("Never-Pass Deep Dives"),
    Section("Cross-Model Comparison"),
    Section("Recommendations"),
    Section("Reproducibility Notes"),
)
COMPARISON = SECTIONS[8]
# Of several benchmarks: each has a report of its own.
OVERVIEW = Section("Overview")
