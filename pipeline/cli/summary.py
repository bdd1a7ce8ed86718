"""What an analysis found, in a screenful."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import Any

import click

from pipeline import report
from pipeline.cli.findings_page import MOST, finding_objects, print_findings
from pipeline.cli.lookup import Row, rows
from pipeline.cli.options import DEFAULT_OUT
from pipeline.cli.tables import print_table
from pipeline.report import sidecar, wording
from pipeline.run import Analysis
from pipeline.text import json_text, neutral, one_line
from pipeline.warehouse import Warehouse, open_warehouse

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
    order by not is_named, n_common_tasks desc, benchmark, pair_no
    limit ?
"""
INVENTORY = "kind, n_files, n_bytes, n_lines, n_rows, n_rejects, n_other, n_blank"
WIDEST = 400


def print_summary(analysis: Analysis) -> None:
    """Inventory, a row a run, what matters most, what to know, and what to run next."""
    with open_warehouse(analysis.warehouse) as warehouse:
        click.echo(_inventory(warehouse))
        runs = [row.values for row in report.headlines(warehouse)]
        compared = rows(warehouse, COMPARED, MOST_COMPARED)
        told = report.ranked_findings(warehouse)
    several = len({run["benchmark"] for run in runs}) > 1
    headings = ["benchmark", *HEADINGS] if several else list(HEADINGS)
    print_table(headings, [_row(run, several=several) for run in runs])
    click.echo(LEGEND)
    if any(run["is_ragged"] for run in runs):
        click.echo(RAGGED_LEGEND)
    said = {(row.base, row.run_id) for row in told[:MOST] if row.kind == "change"}
    for comparison in compared:
        if (comparison["base"], comparison["candidate"]) not in said:
            click.echo(_changed(comparison))
    path = shlex.quote(str(analysis.warehouse))
    where = "" if analysis.out == DEFAULT_OUT else f" --warehouse {neutral(path)}"
    print_findings(told, where)
    _print_warnings(analysis, where)
    click.echo(f"wrote {neutral(str(analysis.out))}/{'  '.join(WRITTEN)}")
    asked = [*(["compare"] if compared else []), "failures", "health", "sql --schema"]
    click.echo("next  " + "  ·  ".join(f"blade {name}{where}" for name in asked))


def _changed(row: Row) -> str:
    """What changed from a base to a candidate, on one line."""
    is_rate = row["metric"] == "pass_at_1"
    told = wording.points if is_rate else wording.signed
    names = " against ".join(one_line(row[side], LONGEST_NAME) for side in ("candidate", "base"))
    low, high = row["ci_new_tasks_low"], row["ci_new_tasks_high"]
    span = "" if low is None else f" ({told(low)} to {told(high)})"
    verdict = f", {row['verdict']}" if row["verdict"] else ""
    unit = "pass@1, points" if is_rate else "mean reward"
    return f"{names}: {told(row['delta'])}{span} {unit}{verdict}"


def print_json(analysis: Analysis) -> None:
    """The same, for a program: the runs as metrics.json has them."""
    with open_warehouse(analysis.warehouse) as warehouse:
        inventory = rows(warehouse, f"select {INVENTORY} from report.inventory")
        content = {
            "warehouse": str(analysis.warehouse),
            "runs": [sidecar.run_object(run) for run in report.runs(warehouse)],
            "findings": finding_objects(report.ranked_findings(warehouse)),
            "inventory": inventory,
            "warnings": [vars(warning) for warning in analysis.warnings],
        }
    click.echo(json_text(content, indent=2))


def _inventory(warehouse: Warehouse) -> str:
    kinds = warehouse.execute("select kind, n_files from report.inventory").fetchall()
    total = sum(n_files for _, n_files in kinds)
    listing = ", ".join(f"{n_files} {kind.replace('_', ' ')}" for kind, n_files in kinds)
    return f"{total} file{'' if total == 1 else 's'}: {listing}"


def _row(run: Mapping[str, Any], *, several: bool) -> list[Any]:
    low, high = run["pass_at_1_ci_new_tasks_low"], run["pass_at_1_ci_new_tasks_high"]
    benchmark = [run["benchmark"]] if several else []
    return [
        *benchmark,
        run["run_id"],
        run["n_tasks"],
        run["n_rollouts"],
        _percent(run["coverage"]),
        _percent(run["pass_at_1"]),
        "n/a" if low is None else f"{_percent(low)} to {_percent(high)}",
        f"{run['k']}{RAGGED}" if run["is_ragged"] else run["k"],
        _percent(run["pass_at_k_unbiased"]),
        _percent(run["pass_hat_k"]),
        "n/a" if run["mean_reward"] is None else round(run["mean_reward"], 4),
        _bar([(mark, run[name]) for name, mark in BAR.items()]),
    ]


def _percent(rate: float | None) -> str:
    return "n/a" if rate is None else f"{100 * rate:.1f}%"


def _bar(parts: list[tuple[str, int | None]]) -> str:
    """Marks in proportion; by largest remainder, so that they always fill the bar."""
    counts = [count or 0 for _, count in parts]
    total = sum(counts)
    if not total or any(count is None for _, count in parts):
        return "n/a"
    widths = [BAR_WIDTH * count // total for count in counts]
    by_remainder = sorted(
        range(len(counts)), key=lambda place: (-(BAR_WIDTH * counts[place] % total), place)
    )
    for place in by_remainder[: BAR_WIDTH - sum(widths)]:
        widths[place] += 1
    return "".join(mark * width for (mark, _), width in zip(parts, widths, strict=True))


def _print_warnings(analysis: Analysis, where: str) -> None:
    """On stderr: a program that reads stdout need not skip them. `where` completes a command."""
    sys.stdout.flush()
    for warning in analysis.warnings[:MOST_WARNINGS]:
        click.echo(f"! {one_line(f'{warning.subject}: {warning.message}', WIDEST)}", err=True)
        if warning.hint:
            rest = where if warning.hint.startswith("blade ") else ""
            click.echo(f"    {one_line(warning.hint, WIDEST)}{rest}", err=True)
    left_out = len(analysis.warnings) - MOST_WARNINGS
    if left_out > 0:
        click.echo(f"! and {left_out} more, all of them in the report", err=True)
