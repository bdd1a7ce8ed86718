"""What changed between runs, as a page for people: sentences, tables, and tasks that flip."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from pipeline.answers.names import Row, bounded
from pipeline.answers.tasks import SIDES
from pipeline.cli.options import command, where
from pipeline.cli.page import (
    counted,
    facts,
    flat,
    heading,
    labelled,
    percent,
    print_table,
    row,
    sentence,
)
from pipeline.report import Comparison, sentences, wording
from pipeline.report.comparisons import Change, Ledger, leading
from pipeline.report.figures import Figure
from pipeline.report.figures import Row as FigureRow
from pipeline.text import one_line

# Of several candidates these are printed whole; the others have their line in the table.
MOST_WHOLE = 3
MOST_FLIPS = 3
# What a short page leaves to --full: the tables say it, or few ask.
LEFT_OUT = ("verdict", "same tasks", "why")
LONGEST_SETTING = 120
EVENT_CHARACTERS = 300
UNITS = {"pass_at_1": "pass@1, points", "mean_reward": "mean reward"}
NOTHING = "No two runs were tried at one benchmark: there is nothing to compare."
COLOURS = {"improved": "green", "regressed": "red"}
BUCKETS = ("always", "sometimes", "never")
LINES = {"failure modes": "mode", "funnel": "stage", "task mix": "tasks of"}
FLIPS = {
    "lost": "that the base passes at least half the time, the candidate less often",
    "gained": "that the candidate passes at least half the time, the base less often",
}


def _defined(said: Callable[[Any], str]) -> Callable[[Figure], str]:
    """The same of a figure, which may be undefined."""
    return lambda figure: "n/a" if figure.value is None else said(figure.value)


# Figures as a terminal prints them: bare, since a page carries the sources.
PLAIN = sentences.Voice(
    percent=_defined(percent),
    points=_defined(wording.points),
    number=_defined(lambda value: wording.short(f"{value:.4f}")),
    signed=_defined(wording.signed),
    count=_defined(lambda value: f"{value:,}"),
    chance=_defined(wording.chance),
    name=one_line,
    text=one_line,
)


def _difference(change: Change, value: float | None) -> str:
    """Without its unit, which a table names once."""
    if value is None:
        return "n/a"
    return wording.points(value) if change.metric == "pass_at_1" else wording.signed(value)


def _interval(change: Change, found: FigureRow, name: str) -> str:
    low, high = (found.values[f"{name}_{end}"] for end in ("low", "high"))
    if low is None or high is None:
        return "n/a"
    return f"{_difference(change, low)} to {_difference(change, high)}"


def _level(change: Change, value: float | None) -> str | float | None:
    """A run's figure; a reward as a number, which a table sets to the right."""
    if change.metric == "pass_at_1":
        return percent(value)
    return None if value is None else round(float(value), 4)


def print_comparisons(found: Sequence[Comparison], *, is_full: bool) -> None:
    """Of one candidate the whole story; of several, and of all runs, a table."""
    if not found:
        click.echo(NOTHING)
    named = [each for each in found if each.is_named]
    others = [each for each in found if not each.is_named]
    if len(named) > 1:
        _print_table(named)
    for comparison in leading(named)[:MOST_WHOLE]:
        _print_whole(comparison, is_full=is_full)
    if len(named) > MOST_WHOLE:
        shown = f"{MOST_WHOLE} of {len(named)}, what is decided first"
        click.echo(f"\n{shown}; name fewer candidates to see theirs")
    if others:
        click.echo("\n" if named else "", nl=False)
        _print_table(others)
        click.echo("\nNo base is named, so there is no verdict.")


def next_commands(found: Sequence[Comparison], warehouse: Path, *, is_full: bool) -> list[str]:
    """The task that lost most, else gained most; all of the comparison; a base to name."""
    named = leading([each for each in found if each.is_named])[:1]
    told = []
    for each in named:
        tasks = [task.task_id for task in [*each.lead.losses, *each.lead.gains]]
        told += [command("why", f"{each.candidate}/{name}", warehouse) for name in tasks[:1]]
        if not is_full and each.lead.ledgers:
            pair = shlex.join(["blade", "compare", each.base, each.candidate, "--full"])
            told.append(f"{pair}{where(warehouse)}")
    return told or [command("compare", each.base, warehouse) for each in found[:1] if not named]


def _print_table(found: Sequence[Comparison]) -> None:
    cells = []
    for pair, change in ((each, change) for each in found for change in each.told):
        row = change.row
        chances = (PLAIN.chance(figure) for figure in (row.p_mean, row.p_any))
        # Without a base there is neither a verdict nor a correction for candidates.
        holm = PLAIN.chance(row.p_holm) if pair.is_named else ""
        cells.append(
            (
                *(pair.base, pair.candidate, UNITS[change.metric], row.n_common_tasks.value),
                _difference(change, row.delta.value),
                *(_interval(change, row, "ci_new_tasks"), *chances, holm),
                sentences.verdict(change, PLAIN),
            )
        )
    headings = ("base", "candidate", "by", "tasks", "change", "95% CI (new tasks)")
    print_table((*headings, "p mean", "p any", "Holm", "verdict"), cells, is_dense=True)


def _print_whole(comparison: Comparison, *, is_full: bool) -> None:
    click.echo(heading(f"{one_line(comparison.candidate)} vs {one_line(comparison.base)}"))
    click.echo(labelled("", _differs(comparison)))
    if comparison.refused:
        ids = ", ".join(one_line(task.task_id) for task in comparison.refused)
        rest = comparison.refused[0].n_refused.value - len(comparison.refused)
        more = f" and {rest} more" if rest else ""
        click.echo(labelled("refused", f"one id, different questions: tasks {ids}{more}"))
    for change in comparison.told:
        verdict = sentences.verdict(change, PLAIN)
        styled = click.style(verdict.upper(), bold=True, fg=COLOURS.get(verdict))
        title = sentences.METRICS[change.metric]
        click.echo(f"\n{styled}  {title}" if verdict else f"\n{title}")
        for label, said in sentences.statements(change, PLAIN):
            if label not in LEFT_OUT[: 1 if is_full else None]:
                click.echo(row(label, said))
        _print_tasks(change)
        if is_full and change is comparison.lead:
            _print_transitions(comparison)
        for ledger in change.ledgers if is_full else _leading(change):
            if lines := ledger.lines if is_full else ledger.page:
                _print_ledger(change, ledger, lines)
    if is_full and comparison.metrics:
        click.echo(heading("other metrics"))
        headings = ("metric", "tasks", "base", "candidate", "change", "95% CI (new tasks)")
        print_table(headings, [_metric(each) for each in comparison.metrics])
    flips = [dict(flip.values) for flip in comparison.flips]
    print_flips(flips, limit=MOST_FLIPS if is_full else 1)


def _leading(change: Change) -> list[Ledger]:
    """The ledgers that say most: tasks of one run only, modes, and the widest slice."""
    chosen = [
        ledger
        for name in ("task mix", "failure modes")
        for ledger in change.ledger(name)
        if len(ledger.lines) > 1
    ]
    return [*chosen, *sentences.widest(change.ledger("slices"))]


def _differs(comparison: Comparison) -> str:
    parts = []
    for setting in comparison.differing:
        values = setting.values
        sides = [values[side] or "not recorded" for side in ("base_value", "candidate_value")]
        how = " -> ".join(one_line(side, LONGEST_SETTING) for side in sides)
        if values["n_tasks"] is not None:
            how = f"in {counted(values['n_tasks'], 'task')}"
        parts.append(f"{values['setting']} {how}")
    model = "; neither run records its model" if comparison.has_no_model else ""
    known = f"settings that differ: {', '.join(parts)}" if parts else ""
    return (known or "no recorded configuration difference") + model


def _print_tasks(change: Change) -> None:
    if not change.changed:
        return
    n_changed = f"{change.row.n_losses.value:,} worse, {change.row.n_gains.value:,} better"
    unit = ", in points" if change.metric == "pass_at_1" else ""
    click.echo(heading("tasks") + f", {n_changed}; those that changed most{unit}")
    cells = []
    for task in [*change.losses, *change.gains]:
        levels = (_level(change, task.values[f"{side}_value"]) for side in ("base", "candidate"))
        moved = (_difference(change, task.values[name]) for name in ("change", "amount"))
        buckets = (task.values[f"{side}_bucket"] for side in ("base", "candidate"))
        cells.append((task.task_id, *levels, *moved, *buckets))
    print_table(("task", "base", "candidate", "change", "share", "from", "to"), cells)


def _print_transitions(comparison: Comparison) -> None:
    """Tasks by the bucket they were in (a row) and are in (a column), noise alone in brackets."""
    if not comparison.transitions:
        return
    cells = {
        (cell.bucket_before, cell.bucket_after): (
            f"{cell.n_tasks.value:,} ({cell.n_tasks_by_noise.value:.1f})"
        )
        for cell in comparison.transitions
    }
    click.echo(heading("buckets") + ", from the row to the column; in brackets by noise alone")
    print_table(
        ("from", *BUCKETS),
        [[before, *(cells[before, after] for after in BUCKETS)] for before in BUCKETS],
    )


def _print_ledger(change: Change, ledger: Ledger, lines: Sequence[FigureRow]) -> None:
    """Lines that add up to the change they explain."""
    name = ledger.name + (f" by {one_line(ledger.slice_key)}" if ledger.slice_key else "")
    missing = ", missing rows as failures" if ledger.policy != "dropped" else ""
    total = PLAIN.change(change, ledger.total.total_shown)
    click.echo(heading(name) + f"{missing}: {total} in all, {ledger.total.values['explains']}")
    if ledger.total.is_reversal:
        click.echo("  Simpson's reversal: every slice that changed went the other way")
    cells = []
    for line in lines:
        moved = _difference(change, line.values["shown"])
        interval = "" if line.values["ci_low"] is None else _interval(change, line, "ci")
        where = (line.values["n_tasks"], line.values["example"] or "")
        cells.append((sentences.line_name(line, PLAIN), moved, interval, *where))
    title = LINES.get(ledger.name, "value")
    print_table((title, "change", "95% CI", "tasks", "look at"), cells, is_dense=True)


def _metric(each: FigureRow) -> tuple[str | int | None, ...]:
    shown, moved = PLAIN.percent, PLAIN.points
    if not each.is_rate:
        shown = _defined(lambda value: wording.short(f"{value:,.1f}"))
        moved = _defined(wording.signed_amount)
    k = f", k = {each.k.value}" if each.k.value is not None else ""
    low, high = each.ci_new_tasks_low, each.ci_new_tasks_high
    return (
        *(wording.MEASURES[each.metric] + k, each.values["n_tasks"]),
        *(shown(each.base_value), shown(each.candidate_value), moved(each.delta)),
        "" if low.value is None else f"{moved(low)} to {moved(high)}",
    )


def print_flips(rows: Sequence[Row], *, limit: int = MOST_FLIPS) -> None:
    """The first flips of each side; rows of `flips` of one comparison, the most changed first."""
    for side, meaning in FLIPS.items():
        found = [flip for flip in rows if flip["side"] == side]
        if not found:
            continue
        n_flips, shown = found[0]["n_flips"], found[:limit]
        number = f"{limit} " if limit > 1 else ""
        cut = f"; the {number}most changed" if n_flips > limit else ""
        click.echo(heading(f"{side}: {counted(n_flips, 'task')}") + f" {meaning}{cut}")
        for line in (line for flip in shown for line in _flip(flip)):
            click.echo(line)


def contrasted(found: Row, common: str, limit: int = EVENT_CHARACTERS) -> Iterator[str]:
    """What two attempts share, how they diverge, and what stands there in each."""
    yield from facts(("in common", common), ("then", wording.PARTINGS[found["difference"]]))
    for side in SIDES:
        yield from facts((side, one_line(found[side])), ("", flat(found[f"{side}_event"], limit)))


def _flip(flip: Row) -> Iterator[str]:
    """The closest two attempts of a task, one of each run, and where they diverge."""
    rates = f"{percent(flip['base_pass_rate'])} to {percent(flip['candidate_pass_rate'])}"
    mode = f", fails with {one_line(flip['failing_mode'])}" if flip["failing_mode"] else ""
    yield labelled(f"task {one_line(flip['task_id'])}", f"pass rate {rates}{mode}")
    common = f"{counted(flip['n_common'], 'call')}; "
    common += f"{counted(flip['n_common_first'], 'consequential step')} alike"
    events = {
        f"{side}_event": bounded(
            flip[f"{side}_event"], EVENT_CHARACTERS, n_characters=flip[f"{side}_chars"]
        )
        for side in SIDES
    }
    yield from contrasted({**flip, **events}, flip["n_common"] and common)
    # What all attempts of a side call says more than what one of them does.
    said = {
        "all passes, no failure": flip["tools_of_passes"],
        "all failures, no pass": flip["tools_of_failures"],
    }
    if not any(said.values()):
        said = {f"only {side}": flip[f"tools_only_{side}"] for side in SIDES}
    for who, tools in said.items():
        if tools:
            yield row("tools", f"{who}: {sentence(', '.join(tools))}")
