"""What changed between runs, as a page for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from pipeline.cli.flips_page import print_flips
from pipeline.cli.lookup import command
from pipeline.cli.paragraphs import heading, labelled, row
from pipeline.cli.tables import print_table
from pipeline.report import Comparison, sentences, wording
from pipeline.report.comparisons import Change, Ledger
from pipeline.report.figures import Figure, Row
from pipeline.text import one_line

LONGEST_NAME = 200
LONGEST_TEXT = 120
# Of several candidates these are told whole; the others have their line in the table.
MOST_WHOLE = 3
MOST_MATRIX = 12
BUCKETS = ("always", "sometimes", "never")
UNITS = {"pass_at_1": "pass@1, points", "mean_reward": "mean reward"}
NOTHING = "No two runs were tried at one benchmark: there is nothing to compare."
COLOURS = {"improved": "green", "regressed": "red"}


def print_comparisons(found: Sequence[Comparison], warehouse: Path, *, is_full: bool) -> None:
    """Of one candidate the whole story; of several a table first; of all runs a matrix."""
    if not found:
        click.echo(NOTHING)
    named = [each for each in found if each.is_named]
    others = [each for each in found if not each.is_named]
    if len(named) > 1:
        _print_table(named)
    for comparison in named[:MOST_WHOLE]:
        _print_whole(comparison, is_full=is_full)
    if len(named) > MOST_WHOLE:
        click.echo(f"\nthe first {MOST_WHOLE} of {len(named)}; name fewer candidates to see theirs")
    for benchmark in dict.fromkeys(each.benchmark for each in others):
        _print_matrix(benchmark, [each for each in others if each.benchmark == benchmark])
    if others:
        click.echo("\nNo base is named, so there is no verdict.")
        told = command("compare", others[0].base, warehouse)
        click.echo(labelled("next", one_line(told, LONGEST_NAME)))


def _print_matrix(benchmark: str, found: Sequence[Comparison]) -> None:
    """The change from each run (a row) to each other (a column), by the metric that leads."""
    names = list(dict.fromkeys(name for each in found for name in (each.base, each.candidate)))
    title = heading(one_line(benchmark, LONGEST_NAME))
    if len(names) > MOST_MATRIX or any(len(each.told) > 1 for each in found):
        click.echo(title)
        _print_table(found)
        return
    click.echo(f"{title}, {_unit(found[0])} from the row to the column")
    cells = {(each.base, each.candidate): each for each in found}
    print_table(
        ("from", *names),
        [[name, *(_cell(cells, name, other) for other in names)] for name in names],
    )


def _unit(comparison: Comparison) -> str:
    is_rate = comparison.lead.metric == "pass_at_1"
    return "points of pass@1" if is_rate else "change of mean reward"


def _cell(cells: dict[tuple[str, str], Comparison], name: str, other: str) -> str:
    if name == other:
        return "·"
    forth, back = cells.get((name, other)), cells.get((other, name))
    found = forth or back
    if found is None or found.lead.row.delta.value is None:
        return "n/a"
    value = found.lead.row.delta.value * (1 if forth else -1)
    return _plain(found.lead, value)


def _print_table(found: Sequence[Comparison]) -> None:
    print_table(
        ("base", "candidate", "by", "tasks", "change", "95%, new tasks", "p", "Holm", "verdict"),
        [
            (
                each.base,
                each.candidate,
                UNITS[change.metric],
                change.row.n_common_tasks.value,
                _bare(change, change.row.delta),
                _span(change, change.row.ci_new_tasks_low, change.row.ci_new_tasks_high),
                PLAIN.chance(change.row.p_value),
                PLAIN.chance(change.row.p_holm),
                change.row.values["verdict"],
            )
            for each in found
            for change in each.told
        ],
    )


def _print_whole(comparison: Comparison, *, is_full: bool) -> None:
    names = [one_line(name, LONGEST_NAME) for name in (comparison.candidate, comparison.base)]
    click.echo(heading(" against ".join(names)))
    click.echo(labelled("", _differs(comparison)))
    if comparison.refused:
        ids = ", ".join(one_line(row.task_id, LONGEST_NAME) for row in comparison.refused)
        rest = comparison.refused[0].n_refused.value - len(comparison.refused)
        more = f" and {rest} more" if rest else ""
        click.echo(labelled("refused", f"one id, different questions: tasks {ids}{more}"))
    for change in comparison.told:
        click.echo(f"\n{_verdict(change)}{sentences.METRICS[change.metric]}")
        for label, sentence in sentences.statements(change, PLAIN):
            if label != "verdict":
                click.echo(row(label, sentence))
        _print_tasks(change)
        if change is comparison.lead:
            _print_transitions(comparison)
        for ledger in change.ledgers if is_full else _leading(change):
            if lines := ledger.lines if is_full else ledger.page:
                _print_ledger(change, ledger, lines)
    _print_metrics(comparison)
    print_flips([dict(flip.values) for flip in comparison.flips])
    if not is_full and comparison.lead.ledgers:
        click.echo("\n--full prints every ledger and line, --json all of it")


def _leading(change: Change) -> list[Ledger]:
    """The ledgers that say most: tasks of one run only, modes, steps, and the widest slice."""
    chosen = [
        ledger
        for name in ("task mix", "failure modes", "funnel")
        for ledger in change.ledger(name)
        if len(ledger.lines) > 1
    ]
    return [*chosen, *sentences.widest(change.ledger("slices"))]


def _verdict(change: Change) -> str:
    verdict = sentences.verdict(change, PLAIN)
    if not verdict:
        return ""
    return click.style(verdict.upper(), bold=True, fg=COLOURS.get(verdict)) + "  "


def _differs(comparison: Comparison) -> str:
    if not comparison.settings:
        return "these runs differ in nothing that is recorded of them"
    parts = []
    for setting in comparison.settings:
        values = setting.values
        told = (
            f"in {values['n_tasks']} tasks"
            if values["n_tasks"] is not None
            else " against ".join(
                one_line(values[side] or "none", LONGEST_TEXT)
                for side in ("base_value", "candidate_value")
            )
        )
        parts.append(f"{values['setting']} ({told})")
    return f"these runs differ in {', '.join(parts)}"


def _print_tasks(change: Change) -> None:
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
                _level(change, task.base_value),
                _level(change, task.candidate_value),
                _bare(change, task.change),
                _bare(change, task.amount),
                task.values["base_bucket"],
                task.values["candidate_bucket"],
            )
            for task in [*change.losses, *change.gains]
        ],
    )


def _print_transitions(comparison: Comparison) -> None:
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


def _print_ledger(change: Change, ledger: Ledger, lines: Sequence[Row]) -> None:
    """Lines that add up to the change they explain."""
    name = ledger.name + (
        f" by {one_line(ledger.slice_key, LONGEST_NAME)}" if ledger.slice_key else ""
    )
    missing = ", missing rows as failures" if ledger.policy != "dropped" else ""
    total = PLAIN.change(change, ledger.total.total_shown)
    click.echo(heading(name) + f"{missing}: {total} in all, {ledger.total.values['explains']}")
    if ledger.total.is_reversal:
        click.echo("  Simpson's reversal: every slice that changed went the other way")
    print_table(
        ("line", "change", "95% interval", "tasks", "look at"),
        [_line(change, line) for line in lines],
    )


def _line(change: Change, line: Row) -> tuple[str, ...]:
    values = line.values
    interval = "" if values["ci_low"] is None else _span(change, line.ci_low, line.ci_high)
    return (
        sentences.line_name(line, PLAIN),
        _bare(change, line.shown),
        interval,
        values["n_tasks"],
        values["example"] or "",
    )


def _print_metrics(comparison: Comparison) -> None:
    if not comparison.metrics:
        return
    click.echo(heading("what else changed"))
    print_table(
        ("figure", "tasks", "base", "candidate", "change", "95%, new tasks"),
        [_metric(each) for each in comparison.metrics],
    )


def _metric(each: Row) -> tuple[str | int | None, ...]:
    shown = PLAIN.percent if each.is_rate else _amount
    moved = _points if each.is_rate else _signed_amount
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


def _bare(change: Change, figure: Figure) -> str:
    """A difference without its unit: a table names that once."""
    return "n/a" if figure.value is None else _plain(change, figure.value)


def _span(change: Change, low: Figure, high: Figure) -> str:
    if low.value is None or high.value is None:
        return "n/a"
    return f"{_bare(change, low)} to {_bare(change, high)}"


def _level(change: Change, figure: Figure) -> str | float | None:
    """A run's figure; a reward as a number, which a table sets to the right."""
    if change.metric == "pass_at_1":
        return PLAIN.percent(figure)
    return None if figure.value is None else round(float(figure.value), 4)


def _plain(change: Change, value: float) -> str:
    return wording.points(value) if change.metric == "pass_at_1" else wording.signed(value)


def _points(figure: Figure) -> str:
    return "n/a" if figure.value is None else wording.points(figure.value)


def _amount(figure: Figure) -> str:
    return "n/a" if figure.value is None else wording.short(f"{figure.value:,.1f}")


def _signed_amount(figure: Figure) -> str:
    return "n/a" if figure.value is None else wording.signed_amount(figure.value)


PLAIN = sentences.Voice(
    percent=lambda figure: "n/a" if figure.value is None else f"{100 * figure.value:.1f}%",
    points=_points,
    number=lambda figure: "n/a" if figure.value is None else wording.short(f"{figure.value:.4f}"),
    signed=lambda figure: "n/a" if figure.value is None else wording.signed(figure.value),
    count=lambda figure: "n/a" if figure.value is None else f"{figure.value:,}",
    chance=lambda figure: "n/a" if figure.value is None else wording.chance(figure.value),
    name=lambda text: one_line(text, LONGEST_NAME),
)
