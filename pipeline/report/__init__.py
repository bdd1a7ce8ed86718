"""Relations -> content -> what people and programs read: Markdown pages and metrics JSON."""

from __future__ import annotations

from pipeline.report import comparison_json, markdown, sentences, sidecar, wording
from pipeline.report.comparisons import TABLES as COMPARISON_TABLES
from pipeline.report.comparisons import Comparison, comparisons
from pipeline.report.content import Content, RunContent, collect, headlines, runs
from pipeline.report.tables import Source

MOST_NAMED = 4

__all__ = [
    "COMPARISON_TABLES",
    "Comparison",
    "Content",
    "RunContent",
    "Source",
    "collect",
    "comparison_json",
    "comparisons",
    "headlines",
    "markdown",
    "runs",
    "sentences",
    "sidecar",
    "texts",
    "wording",
]


def texts(content: Content) -> dict[str, str]:
    """Every text output by its path below the output folder."""
    sidecars = {run.run_id: sidecar.text(sidecar.run_object(run)) for run in content.runs}
    written = {
        "report.md": markdown.render(content, title=_title(content)),
        "metrics.json": sidecar.document(
            sidecars.values(),
            [sidecar.line(found) for found in comparison_json.objects(content.comparisons)],
        ),
    }
    for part in content.each():
        (run,) = part.runs
        title = f"{markdown.ref(run.run_id)} on {markdown.ref(run.benchmark)}"
        # What was not decided, or is another candidate's, is told in the report on all runs.
        n_told = sum(found.is_named and found.candidate == run.run_id for found in part.comparisons)
        page = markdown.render(part, title=title, detailed_comparisons=n_told)
        written[f"runs/{run.run_id}/report.md"] = page
        written[f"runs/{run.run_id}/metrics.json"] = sidecars[run.run_id]
    return written


def _title(content: Content) -> str:
    names = content.benchmarks
    if len(names) > MOST_NAMED:
        return f"Evaluation report: {len(content.runs)} runs of {len(names)} benchmarks"
    return "Evaluation report: " + ", ".join(markdown.ref(name) for name in names)
