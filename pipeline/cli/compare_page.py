"""Comparisons, the verdict of a policy and series of checkpoints, as pages for people."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.answers import gate
from pipeline.answers.gate import Verdict
from pipeline.answers.names import Row
from pipeline.cli.options import command, where
from pipeline.cli.page import cell_text, print_next
from pipeline.cli.terminal import PLAIN, page, print_page
from pipeline.report import Comparison, sentences, wording
from pipeline.report.comparisons import Change, Ledger, leading
from pipeline.report.figures import Figure
from pipeline.report.figures import Row as FigureRow
from pipeline.report.filters import cell, ref
from pipeline.text import markdown_cell

# How many candidates are printed in full; the others have a row of a table.
MOST_WHOLE = 3
MOST_FLIPS = 3
# Statements that only --full prints.
HIDDEN = ("verdict", "same tasks", "why")
BLOCKS = "▁▂▃▄▅▆▇█"
# The colour and the meaning of each verdict.
VERDICTS = {
    Verdict.PASS: ("green", "all requirements of the policy are met"),
    Verdict.WARN: ("yellow", "nothing blocks, but read the warnings first"),
    Verdict.INCONCLUSIVE: ("yellow", "the data cannot decide the requirements of the policy"),
    Verdict.FAIL: ("red", "a requirement of the policy is not met"),
}
HEADS = ("metric", "level", "change", "CI", "must be", "tasks", "verdict")
LEGEND = (
    "CI for new tasks, missing attempts and tasks that only one run has counted as failed. "
    "INCONCLUSIVE: the interval includes the limit, missing attempts could move the change across "
    "it, rare tasks that this sample may lack could, or a test does not agree."
)


def print_comparisons(comparisons: Sequence[Comparison], *, is_full: bool) -> None:
    """Print one candidate in full, and several as a table."""
    named = [each for each in comparisons if each.is_named]

    def ledgers(change: Change) -> list[Ledger]:
        if is_full:
            return [each for each in change.ledgers if each.lines]
        return [each for each in _leading(change) if each.page]

    print_page(
        "compare",
        named=named,
        others=[each for each in comparisons if not each.is_named],
        whole=leading(named)[:MOST_WHOLE],
        is_full=is_full,
        left_out=HIDDEN[: 1 if is_full else None],
        most_flips=MOST_FLIPS if is_full else 1,
        verdict=PLAIN.says("verdict"),
        statements=PLAIN.statements,
        line_name=PLAIN.says("line_name"),
        ledgers=ledgers,
        moved=PLAIN.change,
        difference=PLAIN.bare,
        interval=_interval,
        level=_level,
        transitions=_transitions,
    )


def next_commands(
    comparisons: Sequence[Comparison], warehouse: Path, *, is_full: bool
) -> list[str]:
    """Commands for the task that changed most, for the full comparison, or to name a base."""
    named = leading([each for each in comparisons if each.is_named])[:1]
    commands = []
    for each in named:
        tasks = [task.task_id for task in [*each.lead.losses, *each.lead.gains]]
        commands += [command("why", f"{each.candidate}/{name}", warehouse) for name in tasks[:1]]
        if not is_full and each.lead.ledgers:
            pair = shlex.join(["blade", "compare", each.base, each.candidate, "--full"])
            commands.append(f"{pair}{where(warehouse)}")
    return commands or [
        command("compare", each.base, warehouse) for each in comparisons[:1] if not named
    ]


def _interval(change: Change, row: FigureRow, name: str) -> str:
    low, high = (row[f"{name}_{end}"] for end in ("low", "high"))
    if low.value is None or high.value is None:
        return "n/a"
    return f"{PLAIN.bare(change, low)} to {PLAIN.bare(change, high)}"


def _level(change: Change, figure: Figure) -> str | float | None:
    """The figure of a run; rewards as numbers, which tables align right."""
    if change.metric == "pass_at_1":
        return PLAIN.pct(figure)
    return None if figure.value is None else round(float(figure.value), 4)


def _leading(change: Change) -> list[Ledger]:
    """The most informative ledgers: tasks of one run only, modes, and the widest slice."""
    chosen = [
        ledger
        for name in ("task mix", "failure modes")
        for ledger in change.ledger(name)
        if len(ledger.lines) > 1
    ]
    return [*chosen, *sentences.widest(change.ledger("slices"))]


def _transitions(comparison: Comparison, before: str, buckets: Sequence[str]) -> list[str]:
    """Counts of tasks of one bucket by their new bucket, with those by noise in brackets."""
    cells = {
        (each.bucket_before, each.bucket_after): (
            f"{each.n_tasks.value:,} ({each.n_tasks_by_noise.value:.1f})"
        )
        for each in comparison.transitions
    }
    return [cells[before, after] for after in buckets]


def print_gate(gates: Sequence[Row]) -> None:
    """Print the verdict, then metrics, reasons and waivers of each candidate."""
    print_page("gate", notes_of=_notes, **_gate(gates))


def gate_page(gates: Sequence[Row]) -> str:
    """The verdict as Markdown, with reasons and a table per candidate."""
    how = {"ref": ref, "cell": cell, "written": lambda value: markdown_cell(cell_text(value))}
    return page("gate_page.md", **how, **_gate(gates)) if gates else ""


def _gate(gates: Sequence[Row]) -> dict[str, Any]:
    words = {"verdicts": VERDICTS, "heads": HEADS, "legend": LEGEND}
    return {"gates": gates, "whole": _passing(gates), "cells_of": _cells, **words}


def _passing(gates: Sequence[Row]) -> tuple[Verdict, str]:
    """The verdict on all candidates, and how many pass."""
    n_through = sum(each["exit_code"] == 0 for each in gates)
    words = f"{n_through} of {len(gates)} candidates pass; all of them must"
    return gate.worst(each["verdict"] for each in gates), words


def _cells(metric: Row) -> tuple[object, ...]:
    delta, ends, threshold = metric["delta"], metric["ci_new_tasks"], metric["threshold"]
    moved = "n/a" if delta is None else gate.change(delta, threshold)
    within = "n/a" if ends is None else gate.interval(ends, threshold)
    first_cells = (
        gate.criterion_name(metric),
        metric["level"],
        moved,
        within,
        gate.required(metric),
    )
    return (*first_cells, metric["n_tasks"], str(metric["verdict"]))


def _notes(judged: Row, whole: Row) -> list[str]:
    """Why a metric does not pass, without the reasons of the whole verdict."""
    reasons = [] if judged["verdict"] is Verdict.PASS else judged["reasons"]
    return [reason for reason in reasons if reason not in whole["reasons"]]


def print_series(series: list[Row], warehouse: Path, *, as_json: bool = False) -> None:
    """Print each series: its runs, how many tasks changed, and the clearest of them."""
    content = {"series": series} if as_json else None
    print_page("series", json=content, series=series, moved=_points, sparkline=sparkline)
    # The first task that changed, in the run that fails it.
    turned = [
        one[turn][0][end]
        for one in series
        for turn, end in (("forgotten", "last_citation"), ("learned", "first_citation"))
        if one[turn]
    ]
    print_next(command("why", citation, warehouse) for citation in turned[:1] if not as_json)


def sparkline(rates: Sequence[float]) -> str:
    """Rates as blocks: only 0 has the lowest block, only 1 the highest."""
    last = len(BLOCKS) - 1
    levels = (min(max(round(rate * last), rate > 0), last - (rate < 1)) for rate in rates)
    return "".join(BLOCKS[level] for level in levels)


def _points(change: float | None) -> str | None:
    """A change in percentage points; zero has no sign."""
    if change is None:
        return None
    return wording.points(change) if change else "0.0"
