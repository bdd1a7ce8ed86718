"""The tables of a comparison on a terminal: tasks, buckets, ledgers, and what else changed."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pipeline.cli import compare_voice as voice
from pipeline.cli.paragraphs import heading
from pipeline.cli.tables import print_table
from pipeline.report import Comparison, sentences, wording
from pipeline.report.comparisons import Change, Ledger
from pipeline.report.figures import Row
from pipeline.text import one_line

LONGEST_NAME = 200
BUCKETS = ("always", "sometimes", "never")


def print_tasks(change: Change) -> None:
    """The tasks that lost and gained most."""
    if not change.changed:
        return
    counted = f"{change.row.n_losses.value:,} lost, {change.row.n_gains.value:,} gained"
    unit = ", in points" if change.metric == "pass_at_1" else ""
    click.echo(heading("tasks") + f", {counted}; those that changed most{unit}")
    print_table(
        ("task", "base", "candidate", "change", "part", "from", "to"),
        [
            (
                task.task_id,
                voice.level(change, task.base_value),
                voice.level(change, task.candidate_value),
                voice.bare(change, task.change),
                voice.bare(change, task.amount),
                task.values["base_bucket"],
                task.values["candidate_bucket"],
            )
            for task in [*change.losses, *change.gains]
        ],
    )


def print_transitions(comparison: Comparison) -> None:
    """Tasks by the bucket they were in (a row) and are in (a column), noise alone in brackets."""
    if not comparison.transitions:
        return
    cells = {(cell.bucket_before, cell.bucket_after): cell for cell in comparison.transitions}
    click.echo(heading("buckets") + ", from the row to the column; in brackets by noise alone")
    print_table(
        ("from", *BUCKETS),
        [[before, *(_moved(cells[before, after]) for after in BUCKETS)] for before in BUCKETS],
    )


def _moved(cell: Row) -> str:
    return f"{cell.n_tasks.value:,} ({cell.n_tasks_by_noise.value:.1f})"


def print_ledger(change: Change, ledger: Ledger, lines: Sequence[Row]) -> None:
    """Lines that add up to the change they explain."""
    name = ledger.name + (
        f" by {one_line(ledger.slice_key, LONGEST_NAME)}" if ledger.slice_key else ""
    )
    missing = ", missing rows as failures" if ledger.policy != "dropped" else ""
    total = voice.PLAIN.change(change, ledger.total.total_shown)
    click.echo(heading(name) + f"{missing}: {total} in all, {ledger.total.values['explains']}")
    if ledger.total.is_reversal:
        click.echo("  Simpson's reversal: every slice that changed went the other way")
    print_table(
        ("line", "change", "95% interval", "tasks", "look at"),
        [_line(change, line) for line in lines],
    )


def _line(change: Change, line: Row) -> tuple[str, ...]:
    values = line.values
    interval = "" if values["ci_low"] is None else voice.span(change, line.ci_low, line.ci_high)
    return (
        sentences.line_name(line, voice.PLAIN),
        voice.bare(change, line.shown),
        interval,
        values["n_tasks"],
        values["example"] or "",
    )


def print_metrics(comparison: Comparison) -> None:
    """What else changed: pass@k, tokens, turns, coverage."""
    if not comparison.metrics:
        return
    click.echo(heading("what else changed"))
    print_table(
        ("figure", "tasks", "base", "candidate", "change", "95%, new tasks"),
        [_metric(each) for each in comparison.metrics],
    )


def _metric(each: Row) -> tuple[str | int | None, ...]:
    shown = voice.PLAIN.percent if each.is_rate else voice.amount
    moved = voice.points if each.is_rate else voice.signed_amount
    k = f", k = {each.k.value}" if each.k.value is not None else ""
    low, high = each.ci_new_tasks_low, each.ci_new_tasks_high
    interval = "" if low.value is None else f"{moved(low)} to {moved(high)}"
    return (
        wording.MEASURES[each.metric] + k,
        each.values["n_tasks"],
        shown(each.base_value),
        shown(each.candidate_value),
        moved(each.delta),
        interval,
    )
