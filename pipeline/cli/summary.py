"""What an analysis found, in a screenful."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from pipeline import report
from pipeline.cli.compare_page import PLAIN
from pipeline.cli.lookup import Row, rows, where
from pipeline.cli.page import heading, labelled, percent, print_table
from pipeline.report import findings, sidecar, wording
from pipeline.report.figures import Row as Finding
from pipeline.run import Analysis
from pipeline.text import json_text, neutral, one_line
from pipeline.warehouse import open_warehouse

HEADINGS = (
    *("run", "tasks", "rollouts", "coverage", "pass@1", "95%, new tasks"),
    *("k", "pass@k", "pass^k", "reward", "tasks"),
)
# From always to missing: the fuller the mark, the better.
BAR = {
    "n_always_tasks": "█",
    "n_sometimes_tasks": "▓",
    "n_never_tasks": "░",
    "n_missing_tasks": "·",
}
BAR_WIDTH = 16
LEGEND = "█ always  ▓ sometimes  ░ never  · missing"
RAGGED = "*"
RAGGED_LEGEND = f"{RAGGED} repeats differ: pass@k and pass^k are over the tasks with k scored"
WRITTEN = ("report.md", "report.html", "metrics.json", "runs/", "warehouse.duckdb", "manifest.json")
MOST_WARNINGS = 12
MOST_COMPARED = 4
LONGEST_NAME = 100
COMPARED = """
    from comparisons
    where is_lead and delta is not null
    qualify
        row_number() over (
            order by not is_named, not is_changed, n_common_tasks desc, benchmark, pair_no
        ) <= ?
        or verdict_holm = 'regressed'
    order by not is_named, not is_changed, n_common_tasks desc, benchmark, pair_no
"""
INVENTORY = """
    select kind, n_files, n_bytes, n_lines, n_rows, n_rejects, n_other, n_blank
    from report.inventory
"""
WIDEST = 400
MOST_FINDINGS = 3
DIFFERING = "from reported_checks where status = 'differs'"
# The event of a citation: why is about attempts.
EVENT = re.compile(r"#[0-9]+$")


def print_summary(analysis: Analysis) -> None:
    """Inventory, one row per run, what matters most, what to know, and what to run next."""
    with open_warehouse(analysis.warehouse) as warehouse:
        kinds = rows(warehouse, INVENTORY)
        runs = [row.values for row in report.headlines(warehouse)]
        compared = rows(warehouse, COMPARED, MOST_COMPARED)
        ranked = report.ranked_findings(warehouse)
    listing = ", ".join(f"{kind['n_files']} {kind['kind'].replace('_', ' ')}" for kind in kinds)
    n_files = sum(kind["n_files"] for kind in kinds)
    click.echo(f"{n_files} file{'' if n_files == 1 else 's'}: {listing}")
    several = len({run["benchmark"] for run in runs}) > 1
    print_table(
        ("benchmark", *HEADINGS)[not several :],
        [(run["benchmark"], *_row(run))[not several :] for run in runs],
    )
    click.echo(LEGEND)
    if any(run["is_ragged"] for run in runs):
        click.echo(RAGGED_LEGEND)
    said = {(row.base, row.run_id) for row in ranked[:MOST_FINDINGS] if row.kind == "change"}
    for comparison in compared:
        if (comparison["base"], comparison["candidate"]) not in said:
            click.echo(_changed(comparison))
    rest = neutral(where(analysis.warehouse))
    print_findings(ranked, rest)
    _print_warnings(analysis, rest)
    click.echo(f"wrote {neutral(str(analysis.out))}/{'  '.join(WRITTEN)}")
    asked = [*(["compare"] if compared else []), "failures", "health", "sql --schema"]
    click.echo("next  " + "  ·  ".join(f"blade {name}{rest}" for name in asked))


def _changed(row: Row) -> str:
    is_rate = row["metric"] == "pass_at_1"
    said = wording.points if is_rate else wording.signed
    names = " against ".join(one_line(row[side], LONGEST_NAME) for side in ("candidate", "base"))
    low, high = row["ci_new_tasks_low"], row["ci_new_tasks_high"]
    span = "" if low is None else f" ({said(low)} to {said(high)})"
    verdict = f", {row['verdict_holm']}" if row["verdict_holm"] else ""
    unit = "pass@1, points" if is_rate else "mean reward"
    return f"{names}: {said(row['delta'])}{span} {unit}{verdict}"


def print_json(analysis: Analysis) -> None:
    """The same, for a program: the runs as metrics.json has them."""
    with open_warehouse(analysis.warehouse) as warehouse:
        content = {
            "warehouse": str(analysis.warehouse),
            "runs": [sidecar.run_object(run) for run in report.runs(warehouse)],
            "findings": finding_objects(report.ranked_findings(warehouse)),
            "inventory": rows(warehouse, INVENTORY),
            "warnings": [vars(warning) for warning in analysis.warnings],
        }
    click.echo(json_text(content, indent=2))


def _row(run: Mapping[str, Any]) -> list[Any]:
    low, high = run["pass_at_1_ci_new_tasks_low"], run["pass_at_1_ci_new_tasks_high"]
    interval = "n/a" if low is None else f"{percent(low)} to {percent(high)}"
    reward = "n/a" if run["mean_reward"] is None else round(run["mean_reward"], 4)
    return [
        *(run[name] for name in ("run_id", "n_tasks", "n_rollouts")),
        *(percent(run["coverage"]), percent(run["pass_at_1"]), interval),
        f"{run['k']}{RAGGED}" if run["is_ragged"] else run["k"],
        *(percent(run["pass_at_k_unbiased"]), percent(run["pass_hat_k"]), reward),
        _bar([run[name] for name in BAR]),
    ]


def _bar(counts: list[int]) -> str:
    """Marks in proportion; by largest remainder, so that they always fill the bar."""
    if None in counts or not sum(counts):
        return "n/a"
    total = sum(counts)
    widths = [BAR_WIDTH * count // total for count in counts]
    by_remainder = sorted(
        range(len(counts)), key=lambda place: (-(BAR_WIDTH * counts[place] % total), place)
    )
    for place in by_remainder[: BAR_WIDTH - sum(widths)]:
        widths[place] += 1
    return "".join(mark * width for mark, width in zip(BAR.values(), widths, strict=True))


def _print_warnings(analysis: Analysis, rest: str) -> None:
    """On stderr: a program that reads stdout need not skip them. `rest` completes a command."""
    sys.stdout.flush()
    for warning in analysis.warnings[:MOST_WARNINGS]:
        click.echo(f"! {one_line(f'{warning.subject}: {warning.message}', WIDEST)}", err=True)
        if warning.hint:
            end = rest if warning.hint.startswith("blade ") else ""
            click.echo(f"    {one_line(warning.hint, WIDEST)}{end}", err=True)
    if (left_out := len(analysis.warnings) - MOST_WARNINGS) > 0:
        click.echo(f"! and {left_out} more, all of them in the report", err=True)


def print_findings(ranked: Sequence[Finding], rest: str) -> None:
    """The first of them; `rest` completes a command."""
    if not ranked:
        return
    click.echo(heading("What matters most"))
    for number, row in enumerate(ranked[:MOST_FINDINGS], start=1):
        click.echo(labelled(f"{number}.", findings.sentence(row, PLAIN)))
        if words := finding_command(row):
            click.echo(f"    blade {neutral(shlex.join(words))}{rest}")
    click.echo()


def finding_command(row: Finding) -> list[str]:
    """What to run to see more of a finding; nothing where its sentence says what to do."""
    name, example = row.run_id, row.example
    match row.kind:
        case "change":
            return ["compare", row.base, name]
        case "reported":
            return ["sql", DIFFERING]
        case "unscored" | "missing" | "unhealthy" | "unknown":
            return ["health", name]
        case "unsettled":
            return []
    if row.kind == "recommendation" or not isinstance(example, str):
        return ["failures", name]
    return ["why", EVENT.sub("", example)]


def finding_objects(ranked: Sequence[Finding]) -> list[dict[str, Any]]:
    """All of them, for a program."""
    return [
        {
            **{name: row.values[name] for name in ("kind", "run_id", "stake")},
            "sentence": findings.sentence(row, PLAIN),
            "example": row.values["example"],
        }
        for row in ranked
    ]
