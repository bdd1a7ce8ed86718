"""The full account: what a page folds below each section, printed by the table of metrics."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pipeline.report import filters, phrases
from pipeline.report.content import Content
from pipeline.report.figures import Figure, Row

METRICS = Path(__file__).with_name("metrics.toml")
MOST_ROWS = 300


@dataclass(frozen=True)
class Metric:
    """A figure: what it is called, how it is printed, what it is, and which way is better."""

    words: str
    format: str
    definition: str
    better: str = ""


@cache
def metrics() -> Mapping[str, Metric]:
    """Every metric by its column."""
    with METRICS.open("rb") as file:
        return {name: Metric(**values) for name, values in tomllib.load(file).items()}


# By section: a title, a table, and its columns.
SECTIONS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "artifact_inventory": (
        (
            "Health of runs",
            "health",
            "run_id n_rollouts n_healthy n_unhealthy n_unobserved clean_rate",
        ),
        ("Health checks", "health_checks", "run_id scope check_id n_findings examples"),
    ),
    "aggregate_results": (
        (
            "Uncertainty",
            "estimates",
            "run_id metric k n_tasks value se_new_tasks ci_new_tasks_low ci_new_tasks_high "
            "se_same_tasks ci_same_tasks_low ci_same_tasks_high",
        ),
        (
            "By number of attempts",
            "curves",
            "run_id k n_tasks pass_at pass_hat max_at maj_at tokens_at",
        ),
        (
            "What is not scored",
            "policies",
            "run_id policy n_tasks n_rollouts n_left_out pass_at_1 pass_at_1_worst pass_at_1_best",
        ),
        (
            "Slices",
            "slices",
            "run_id slice_key slice_value n_tasks n_scored pass_at_1 ci_new_tasks_low "
            "ci_new_tasks_high mean_reward n_always n_sometimes n_never n_missing",
        ),
        (
            "Cost of an attempt",
            "resources",
            "run_id measure outcome n_rollouts median mean p90 max",
        ),
        (
            "Reward components",
            "components",
            "run_id component n_tasks n_rollouts mean_value min_value max_value mean_when_passed "
            "mean_when_failed",
        ),
        ("Figures that runs report of themselves", "reported", "run_id status reason n_figures"),
    ),
    "workflow_funnel": (
        (
            "All stages",
            "funnels",
            "run_id stage n_reached n_lost reach_rate step_rate n_observed n_implied "
            "n_out_of_order",
        ),
    ),
    "dominant_failure_modes": (
        (
            "All modes",
            "modes",
            "run_id mode title n_rollouts n_tasks n_matched share_of_failures example",
        ),
        ("Root causes", "causes", "run_id cause n_tasks n_curated n_strong n_moderate n_weak"),
        ("Errors", "signatures", "run_id source signature n_rollouts n_failed n_tasks example"),
    ),
    "sometimes_pass_deep_dives": (
        (
            "What passes do that failures of the same tasks do not",
            "separators",
            "run_id feature n_tasks rate_when_passed rate_when_failed odds_ratio mean_when_passed "
            "mean_when_failed mean_difference q_value",
        ),
    ),
    "recommendations": (
        (
            "All recommendations",
            "recommendations",
            "run_id kind topic subject n_rollouts n_total n_tasks share risk_difference risk_low "
            "risk_high",
        ),
        (
            "Selection among attempts",
            "selections",
            "run_id k n_tasks pass_at_1 pass_at retry_value maj_at majority_value",
        ),
    ),
}
COMPARED: Sequence[tuple[str, str, str]] = (
    (
        "All comparisons",
        "comparisons",
        "base candidate metric n_common_tasks base_common candidate_common delta ci_new_tasks_low "
        "ci_new_tasks_high ci_same_tasks_low ci_same_tasks_high p_mean p_any p_holm mde_new_tasks "
        "bound_low bound_high verdict_holm",
    ),
    (
        "What the changes are made of",
        "ledgers",
        "base candidate metric ledger slice_key line shown base_rate candidate_rate n_tasks "
        "example",
    ),
    (
        "Bucket transitions",
        "transitions",
        "base candidate bucket_before bucket_after n_tasks n_tasks_by_noise pass_change",
    ),
    (
        "What else changed",
        "comparison_metrics",
        "base candidate metric n_tasks base_value candidate_value delta",
    ),
)
INPUTS = ("Input files", "inputs", "path kind n_bytes n_lines n_rows n_rejects sha256")


def tables(section: str, content: Content) -> str:
    """The tables of a section as Markdown with the marks of their figures."""
    parts = [
        _table(title, getattr(content, name), columns.split())
        for title, name, columns in SECTIONS.get(section, ())
    ]
    if section == "cross_model_comparison":
        pairs = {(each.base, each.candidate) for each in content.comparisons}
        parts += [
            _table(
                title,
                [row for row in content.tables[name] if (row.base, row.candidate) in pairs],
                columns.split(),
            )
            for title, name, columns in COMPARED
        ]
    if section == "reproducibility_notes":
        parts.append(_table(INPUTS[0], content.inputs, INPUTS[2].split()))
    return "\n\n".join(part for part in parts if part)


def _table(title: str, rows: Sequence[Row], columns: Sequence[str]) -> str:
    """A table without columns that nothing is in; of very many rows the first."""
    shown = [
        name for name in columns if any(row.values[name] not in (None, "", []) for row in rows)
    ]
    if not shown:
        return ""
    rules = ["---:" if name in metrics() else "---" for name in shown]
    lines = [
        f"#### {title}",
        "",
        f"| {' | '.join(_words(name) for name in shown)} |",
        f"| {' | '.join(rules)} |",
        *(f"| {' | '.join(_cell(row, name) for name in shown)} |" for row in rows[:MOST_ROWS]),
    ]
    if len(rows) > MOST_ROWS:
        lines += ["", f'The first rows; all: `blade sql "from {rows[0].relation}"`.']
    return "\n".join(lines)


def _words(name: str) -> str:
    metric = metrics().get(name)
    return metric.words if metric else name.removesuffix("_id").replace("_", " ")


def _cell(row: Row, name: str) -> str:
    value = row.values[name]
    if value is None or value == "":
        return ""
    if isinstance(value, list):
        return filters.listed(value)
    figure = getattr(row, name)
    if isinstance(figure, Figure):
        return PRINTED[metrics()[name].format if name in metrics() else "num"](figure)
    return filters.ref(str(value)) if name not in PLAIN else filters.cell(str(value))


PLAIN = frozenset({"metric", "policy", "measure", "outcome", "status", "reason", "stage", "title"})
PRINTED: Mapping[str, Callable[[Any], str]] = {
    name: filters.FILTERS.get(name) or phrases.FILTERS[name]
    for name in ("amount", "chance", "count", "num", "pct", "points", "points_apart")
}
