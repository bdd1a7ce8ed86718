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

# Of several candidates these are printed whole; the others have their line in the table.
MOST_WHOLE = 3
MOST_FLIPS = 3
# What a short page leaves to --full: the tables say it, or few ask.
LEFT_OUT = ("verdict", "same tasks", "why")
BLOCKS = "▁▂▃▄▅▆▇█"
# The colour of a verdict, and what it means.
VERDICTS = {
    Verdict.PASS: ("green", "all that the policy asks holds"),
    Verdict.WARN: ("yellow", "nothing blocks, but look at this first"),
    Verdict.INCONCLUSIVE: ("yellow", "the data does not decide what the policy asks"),
    Verdict.FAIL: ("red", "what the policy asks does not hold"),
}
HEADS = ("metric", "level", "change", "CI", "must be", "tasks", "verdict")
LEGEND = (
    "CI for new tasks, missing attempts and tasks that only one run has counted as failed. "
    "INCONCLUSIVE: the interval includes the limit, missing attempts could move the change across "
    "it, tasks like these that so few do not show could, or a test does not agree."
)


def print_comparisons(found: Sequence[Comparison], *, is_full: bool) -> None:
    """Of one candidate the whole story; of several, and of all runs, a table."""
    named = [each for each in found if each.is_named]

    def ledgers(change: Change) -> list[Ledger]:
        if is_full:
            return [each for each in change.ledgers if each.lines]
        return [each for each in _leading(change) if each.page]

    print_page(
        "compare",
        named=named,
        others=[each for each in found if not each.is_named],
        whole=leading(named)[:MOST_WHOLE],
        is_full=is_full,
        left_out=LEFT_OUT[: 1 if is_full else None],
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


def next_commands(found: Sequence[Comparison], warehouse: Path, *, is_full: bool) -> list[str]:
    """The task that lost most, else gained most; all of the comparison; a base to name."""
    named = leading([each for each in found if each.is_named])[:1]
    commands = []
    for each in named:
        tasks = [task.task_id for task in [*each.lead.losses, *each.lead.gains]]
        commands += [command("why", f"{each.candidate}/{name}", warehouse) for name in tasks[:1]]
        if not is_full and each.lead.ledgers:
            pair = shlex.join(["blade", "compare", each.base, each.candidate, "--full"])
            commands.append(f"{pair}{where(warehouse)}")
    return commands or [command("compare", each.base, warehouse) for each in found[:1] if not named]


def _interval(change: Change, found: FigureRow, name: str) -> str:
    low, high = (found[f"{name}_{end}"] for end in ("low", "high"))
    if low.value is None or high.value is None:
        return "n/a"
    return f"{PLAIN.bare(change, low)} to {PLAIN.bare(change, high)}"


def _level(change: Change, figure: Figure) -> str | float | None:
    """A run's figure; a reward as a number, which a table sets to the right."""
    if change.metric == "pass_at_1":
        return PLAIN.pct(figure)
    return None if figure.value is None else round(float(figure.value), 4)


def _leading(change: Change) -> list[Ledger]:
    """The ledgers that say most: tasks of one run only, modes, and the widest slice."""
    chosen = [
        ledger
        for name in ("task mix", "failure modes")
        for ledger in change.ledger(name)
        if len(ledger.lines) > 1
    ]
    return [*chosen, *sentences.widest(change.ledger("slices"))]


def _transitions(comparison: Comparison, before: str, buckets: Sequence[str]) -> list[str]:
    """Tasks that were in a bucket by the one they are in, noise alone in brackets."""
    cells = {
        (each.bucket_before, each.bucket_after): (
            f"{each.n_tasks.value:,} ({each.n_tasks_by_noise.value:.1f})"
        )
        for each in comparison.transitions
    }
    return [cells[before, after] for after in buckets]


def print_gate(gates: Sequence[Row]) -> None:
    """The verdict first, then a section per candidate: its metrics, the reasons, the waivers."""
    print_page("gate", notes_of=_notes, **_gate(gates))


def gate_page(gates: Sequence[Row]) -> str:
    """The same as Markdown: verdict, reasons and a table per candidate."""
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
    said = (gate.criterion_name(metric), metric["level"], moved, within, gate.required(metric))
    return (*said, metric["n_tasks"], str(metric["verdict"]))


def _notes(judged: Row, whole: Row) -> list[str]:
    """Why a metric does not hold, without what is said of the whole already."""
    reasons = [] if judged["verdict"] is Verdict.PASS else judged["reasons"]
    return [reason for reason in reasons if reason not in whole["reasons"]]


def print_series(series: list[Row], warehouse: Path, *, as_json: bool = False) -> None:
    """A section per series: its runs along it, how many tasks turned, and which most clearly."""
    told = {"series": series} if as_json else None
    print_page("series", json=told, series=series, moved=_points, sparkline=sparkline)
    # The first task that turned, in the run where it fails.
    turned = [
        one[turn][0][end]
        for one in series
        for turn, end in (("forgotten", "last_citation"), ("learned", "first_citation"))
        if one[turn]
    ]
    print_next(command("why", citation, warehouse) for citation in turned[:1] if not as_json)


def sparkline(rates: Sequence[float]) -> str:
    """Rates as blocks: the lowest is 0, the highest 1, and only those two are."""
    last = len(BLOCKS) - 1
    levels = (min(max(round(rate * last), rate > 0), last - (rate < 1)) for rate in rates)
    return "".join(BLOCKS[level] for level in levels)


def _points(change: float | None) -> str | None:
    """A change in percentage points; what rounds to nothing has no sign."""
    if change is None:
        return None
    # Rounded as on every other page.
    return wording.points(change) if change else "0.0"
