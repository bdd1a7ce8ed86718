"""Rows -> phrases of a page: what an interval, a gain or a comparison says, with its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pipeline.report import filters, findings, sentences, wording
from pipeline.report.comparisons import Comparison, leading
from pipeline.report.content import Gap, RunContent
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

MOST_CITED = 2
# Gaps whose claim is about the rows that lack something, and about no other.
OF_SOME = ("failures", "scores", "redacted", "rejects")
MOST_UNKNOWN = 4
UNEXPLAINED = "UNEXPLAINED"
# Of how a call differs from the expected one: both sides are to be seen.
MOST_DETAIL = 300
LONGEST_NOTE = 300
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
    text=filters.label,
)


# Each sentence with its sources.
finding = partial(findings.sentence, voice=VOICE)
headline = partial(sentences.headline, voice=VOICE)
line_name = partial(sentences.line_name, voice=VOICE)
statements = partial(sentences.statements, voice=VOICE)


def interval(head: Row, metric: str, format_: str) -> str:
    """The interval of a headline figure for new tasks, in brackets, where there is one."""
    low, high = (getattr(head, f"{metric}_ci_new_tasks_{end}") for end in ("low", "high"))
    if low.value is None:
        return ""
    return f" (95% CI {span(low, high, format_)})"


def points_apart(figure: Figure) -> str:
    """A difference of rates in points, without a sign."""
    return points(figure).removeprefix("+")


def parted(row: Row) -> str:
    """The first consequential difference between a pass and a failure of one task."""
    words = wording.PARTINGS[row.difference]
    if row.difference not in SAME_STEPS and row.n_common_first.value:
        return f"After {many(row.n_common_first, 'identical step')}, {words}."
    return f"{words[0].upper()}{words[1:]}."


def wrong_step(row: Row) -> str:
    """The first wrong step of an attempt beside what was expected; nothing where none is known."""
    if not isinstance(row.wrong_kind, str):
        return ""
    before, after = wording.WRONG_STEPS[row.wrong_kind]
    if row.wrong_kind == "error":
        return f"{before}: {excerpt(row.wrong_name)}"
    if row.wrong_kind == "check":
        return f"{before}: {excerpt(row.wrong_detail)}"
    return f"{before}: {ref(row.wrong_name)} {excerpt(row.wrong_detail, MOST_DETAIL)}{after}"


def cause(name: str | Figure) -> str:
    """A root cause spelled out; nothing where none is suggested."""
    if not isinstance(name, str) or name == UNEXPLAINED:
        return ""
    is_known = set(name.split("+")) <= set(wording.CAUSES)
    return wording.cause(name) if is_known else ref(name)


def because(row: Row) -> str:
    """The cause of a task's failures, and how sure it is."""
    if not row.is_suggested:
        said = f"cause: {cause(row.cause) or 'unexplained'}, given by a person"
        note = excerpt(row.note, LONGEST_NOTE)
        cited = filters.listed(row.evidence)
        return said + (f": {note}" if note else "") + (f"; see {cited}" if cited else "")
    if not cause(row.cause):
        return "cause: no rule suggests one"
    return f"suggested cause: {cause(row.cause)}, {row.confidence}, by rule {ref(row.rule)}"


def verdicts(found: Sequence[Comparison]) -> str:
    """How each of these pairs is decided, in one sentence."""
    told = []
    for each in found:
        pair = f"{ref(each.candidate)} vs {ref(each.base)}"
        decided = sentences.decided(each.lead, VOICE) or "undecided"
        told.append(f"{pair} is {decided}")
    return f"By {sentences.METRICS[found[0].lead.metric]}, {'; '.join(told)}."


def explained(row: Row) -> str:
    """How many failures of a run each kind of evidence explains; what is none is left out."""
    kinds = {**wording.EXPLAINERS, "n_unexplained": "unexplained"}
    parts = [f"{count(row[name])} {words}" for name, words in kinds.items() if row[name].value]
    seen = "; no transcript is recorded" if row.is_unobserved else ""
    return f"{ref(row.run_id)}: {many(row.n_failures, 'failure')}, {', '.join(parts)}{seen}."


def trust(runs: Sequence[RunContent]) -> str:
    """Whether scores can be trusted: what is not scored, and what the health checks flag."""
    heads = [run.headline for run in runs]
    incomplete = [head for head in heads if head.is_incomplete and not head.is_expected_unknown]
    told = []
    if incomplete:
        parts = [
            f"{count(head.n_expected_scored)} of {count(head.n_expected)} expected attempts of "
            f"{ref(head.run_id)}"
            for head in incomplete[:MOST_CITED]
        ]
        more = " (other runs are incomplete too)" if len(incomplete) > MOST_CITED else ""
        told.append(f"Scored are {' and '.join(parts)}{more}")
    elif all(head.is_expected_unknown for head in heads):
        told.append("What was expected is not recorded, so missing attempts are unknown")
    else:
        told.append("Every expected attempt is scored")
    flagged = [row for run in runs for row in run.health if row.n_unhealthy.value]
    flagged.sort(key=lambda row: -row.values["n_unhealthy"])
    told += [
        f"health checks flag {count(row.n_unhealthy)} of {count(row.n_rollouts)} attempts of "
        f"{ref(row.run_id)}"
        for row in flagged[:1]
    ]
    return "; ".join(told) + "."


def opening(heads: Sequence[Row]) -> str:
    """The run that leads; of one run what its attempts are worth, alone and together."""
    is_reward = any(head.is_unsettled or head.is_graded for head in heads)
    column = "mean_reward" if is_reward else "pass_at_1"
    ranked = largest(heads, column)
    if not ranked:
        return "No attempt is scored: there is nothing to aggregate."
    if len(heads) == 1:
        return _worth(ranked[0])
    words = "mean reward" if is_reward else "pass@1"
    first = [head for head in ranked if head.values[column] == ranked[0].values[column]]
    if len(first) == len(ranked) > 1:
        return f"All runs have the same {words}."
    if len(first) == 1:
        return f"{ref(first[0].run_id)} has the highest {words}."
    others = " and others" if len(first) > 2 else ""
    joint = ", " if others else " and "
    return f"{ref(first[0].run_id)}{joint}{ref(first[1].run_id)}{others} share the highest {words}."


def _worth(head: Row) -> str:
    told = []
    if head.is_unsettled or head.is_graded:
        told.append(f"The mean reward is {num(head.mean_reward)}")
    if head.pass_at_1.value is not None:
        passes = f"one attempt passes {pct(head.pass_at_1)} of the time"
        if (head.k.value or 0) > 1 and head.pass_at_k_unbiased.value is not None:
            passes += f", at least one of {count(head.k)} attempts {pct(head.pass_at_k_unbiased)}"
        told.append(passes)
    text = "; ".join(told)
    return f"{text[0].upper()}{text[1:]}."


def slice_opening(rows: Sequence[Row]) -> str:
    """The slice of several tasks that does worst."""
    known = [row for row in rows if row.pass_at_1.value is not None and row.n_tasks.value > 1]
    if not known:
        return "By slice:"
    worst = min(known, key=lambda row: row.pass_at_1.value)
    several = len({row.run_id for row in rows}) > 1
    run = f" of {ref(worst.run_id)}" if several else ""
    is_one = sum(row.pass_at_1.value == worst.pass_at_1.value for row in known) == 1
    lowest = "The lowest slice" if is_one else "One of the lowest slices"
    return f"{lowest} is {ref(worst.slice_key)} = {ref(worst.slice_value)}{run}."


def lacking(gap: Gap, most: int) -> str:
    """The runs that lack something, each with how much of it."""
    parts = [
        f"{ref(row.run_id)} {count(row.n_rows)} of {many(row.n_of, row.unit)}"
        for row in gap.rows[:most]
    ]
    return ", ".join(parts) + (" and other runs" if len(gap.rows) > most else "")


def unknown(gaps: Iterable[Gap], n_runs: int) -> str:
    """What cannot be said, the most important first; of what only a few lack all else can be."""
    told = []
    for gap in gaps:
        claim, kind = gap.first.claims, gap.first.values["gap"]
        n_rows = sum(row.values["n_rows"] for row in gap.rows)
        n_of = sum(row.values["n_of"] for row in gap.rows)
        if kind in OF_SOME or (n_rows == n_of and len(gap.rows) == n_runs):
            told.append(claim)
        elif 2 * n_rows > n_of and 2 * len(gap.rows) > n_runs:
            noun = "tasks" if gap.first.unit == "task" else "attempts"
            told.append(f"{claim}, of most {noun}")
    return "; ".join(told[:MOST_UNKNOWN])


def settings_of(comparison: Comparison) -> str:
    """In what two runs are known to differ."""
    if not comparison.differing:
        told = "No recorded configuration difference"
    else:
        parts = []
        for row in comparison.differing:
            if row.n_tasks.value is not None:
                parts.append(f"{row.setting} (of {many(row.n_tasks, 'task')})")
                continue
            sides = [
                ref(side) if isinstance(side, str) else "not recorded"
                for side in (row.base_value, row.candidate_value)
            ]
            parts.append(f"{row.setting} ({sides[0]} to {sides[1]})")
        told = f"The runs differ in {', '.join(parts)}"
    return told + ("; neither records its model." if comparison.has_no_model else ".")


def said(row: Row, column: str) -> str:
    """A text of a row with its source: it may hold figures."""
    return cell(getattr(row, column)) + Figure(None, f"{row.place}#{column}").marker


def largest(rows: Iterable[Row], column: str) -> list[Row]:
    """Rows that have the figure, the largest first; equal ones as they stood."""
    known = [row for row in rows if getattr(row, column).value is not None]
    return sorted(known, key=lambda row: -getattr(row, column).value)


FILTERS: Mapping[str, Callable[..., Any]] = {
    "advice": wording.ADVICE.__getitem__,
    "finding": finding,
    "line_name": line_name,
    "statements": statements,
    **{
        each.__name__: each
        for each in (cause, findings.foremost, largest, leading, points_apart, said, unknown)
    },
}
GLOBALS: Mapping[str, Callable[..., str]] = {
    "headline": headline,
    **{
        each.__name__: each
        for each in (
            *(because, explained, interval, lacking, opening, parted, settings_of, slice_opening),
            *(trust, verdicts, wrong_step),
        )
    },
}
