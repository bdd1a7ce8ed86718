"""What changed between runs, as a page for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from pipeline.cli import compare_tables
from pipeline.cli import compare_voice as voice
from pipeline.cli.flips_page import print_flips
from pipeline.cli.lookup import command
from pipeline.cli.paragraphs import heading, labelled, row
from pipeline.cli.tables import print_table
from pipeline.report import Comparison, sentences
from pipeline.report.comparisons import Change, Ledger
from pipeline.text import one_line

LONGEST_NAME = 200
LONGEST_TEXT = 120
# Of several candidates these are told whole; the others have their line in the table.
MOST_WHOLE = 3
MOST_MATRIX = 12
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
    return voice.plain(found.lead, value)


def _print_table(found: Sequence[Comparison]) -> None:
    print_table(
        ("base", "candidate", "by", "tasks", "change", "95%, new tasks", "p", "Holm", "verdict"),
        [
            (
                each.base,
                each.candidate,
                UNITS[change.metric],
                change.row.n_common_tasks.value,
                voice.bare(change, change.row.delta),
                voice.span(change, change.row.ci_new_tasks_low, change.row.ci_new_tasks_high),
                voice.PLAIN.chance(change.row.p_value),
                voice.PLAIN.chance(change.row.p_holm),
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
        for label, sentence in sentences.statements(change, voice.PLAIN):
            if label != "verdict":
                click.echo(row(label, sentence))
        compare_tables.print_tasks(change)
        if change is comparison.lead:
            compare_tables.print_transitions(comparison)
        for ledger in change.ledgers if is_full else _leading(change):
            if lines := ledger.lines if is_full else ledger.page:
                compare_tables.print_ledger(change, ledger, lines)
    compare_tables.print_metrics(comparison)
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
    verdict = sentences.verdict(change, voice.PLAIN)
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
