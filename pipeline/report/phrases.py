"""Rows -> phrases of a page: what an interval, a gain or a comparison says, with its sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pipeline.report import findings, sentences, wording
from pipeline.report.comparisons import Change, Comparison, Ledger
from pipeline.report.figures import Figure, Row
from pipeline.report.filters import (
    cell,
    chance,
    count,
    excerpt,
    many,
    marked,
    num,
    pct,
    points,
    ref,
    signed,
    span,
)

# Rates that print alike.
SAME = 0.0005
MOST_CITED = 3
UNEXPLAINED = "UNEXPLAINED"
# Of how a call differs from the expected one: both sides are to be seen.
MOST_DETAIL = 300
# Where no consequential step differs.
SAME_STEPS = ("answer", "nothing")

VOICE = sentences.Voice(
    percent=pct,
    points=lambda figure: marked(figure, wording.points),
    number=num,
    signed=signed,
    count=count,
    chance=chance,
    name=ref,
    text=cell,
)


def statements(told: Change) -> list[sentences.Statement]:
    """What one metric of a comparison says, each sentence with its sources."""
    return sentences.statements(told, VOICE)


def line_name(line: Row) -> str:
    """What a line of a ledger is about."""
    return sentences.line_name(line, VOICE)


def headline(comparison: Comparison) -> str:
    """What changed, in one sentence."""
    return sentences.headline(comparison, VOICE)


def finding(row: Row) -> str:
    """What matters, in one sentence."""
    return findings.sentence(row, VOICE)


def extremes(ledger: Ledger) -> str:
    """The lines of a ledger that gave and took most."""
    return sentences.extremes(ledger, VOICE)


def interval(head: Row, metric: str, format_: str) -> str:
    """The interval of a headline figure for new tasks, in brackets, where there is one."""
    low, high = (getattr(head, f"{metric}_ci_new_tasks_{end}") for end in ("low", "high"))
    if low.value is None:
        return ""
    return f" (95% interval for new tasks {span(low, high, format_)})"


def points_apart(figure: Figure) -> str:
    """A difference of rates in points, without a sign."""
    return points(figure).removeprefix("+")


def odds(row: Row) -> str:
    """The odds ratio of a behaviour with its interval; a side without bound says so."""
    if row.kind != "binary":
        return ""
    if row.is_unbounded:
        return f"from {num(row.odds_ratio_low)} up"
    return f"{num(row.odds_ratio)} ({span(row.odds_ratio_low, row.odds_ratio_high, 'num')})"


def behaviour(feature: str) -> str:
    """What a feature of rollouts asks, in words."""
    if feature.startswith(wording.CALLS):
        return wording.CALLS + ref(feature.removeprefix(wording.CALLS))
    return wording.BEHAVIOURS.get(feature) or cell(feature)


def differences(told: str) -> str:
    """What else differs between two rollouts, its names in words."""
    parts = [part.partition(" ") for part in told.split("; ")]
    return "; ".join(f"{behaviour(name)} {cell(values)}" for name, _, values in parts)


def parted(row: Row) -> str:
    """The first consequential difference between a pass and a failure of one task."""
    words = wording.PARTINGS[row.difference]
    if row.difference in SAME_STEPS:
        return f"{words[0].upper()}{words[1:]}."
    if row.n_common_first.value:
        return f"The two take {many(row.n_common_first, 'consequential step')} alike, then {words}."
    return f"At their first consequential step, {words}."


def wrong_step(row: Row) -> str:
    """The first wrong step of an attempt, and what shows it; nothing where none is known."""
    if not isinstance(row.wrong_kind, str):
        return ""
    words = wording.WRONG_STEPS[row.wrong_kind]
    if row.wrong_kind == "error":
        return f"{words}: {excerpt(row.wrong_name)}"
    return f"{words}: {ref(row.wrong_name)}, {excerpt(row.wrong_detail, MOST_DETAIL)}"


def because(row: Row) -> str:
    """The cause of a task's failures, how sure it is, the evidence, and what it would take."""
    if not isinstance(row.cause, str) or row.cause == UNEXPLAINED:
        return "No rule suggests a cause."
    told = f"Curated cause **{cell(row.cause)}**"
    if row.is_suggested:
        told = f"Suggested cause **{cell(row.cause)}** ({row.confidence}, rule {ref(row.rule)})"
    told += f": {cell(row.note)}" if isinstance(row.note, str) and row.note else ""
    cited = ", ".join(ref(citation) for citation in (row.evidence or [])[:MOST_CITED])
    told += f"; see {cited}." if cited else "."
    if isinstance(row.intervention, str):
        told += f" What it would take: {wording.INTERVENTIONS[row.intervention]}."
    return told


FILTERS: Mapping[str, Callable[..., Any]] = {
    "advice": wording.ADVICE.__getitem__,
    "points_apart": points_apart,
    "behaviour": behaviour,
    "differences": differences,
    "extremes": extremes,
    "finding": finding,
    "line_name": line_name,
    "measure": wording.MEASURES.__getitem__,
    "statements": statements,
}
GLOBALS: Mapping[str, Callable[..., str]] = {
    "because": because,
    "headline": headline,
    "interval": interval,
    "odds": odds,
    "parted": parted,
    "wrong_step": wrong_step,
}
