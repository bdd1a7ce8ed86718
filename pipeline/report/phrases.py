"""What a template of a page says by rows: sentences in its voice, and choices among rows.

The phrases themselves stand in words.md.j2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pipeline.report import filters, findings, sentences, wording
from pipeline.report.comparisons import leading
from pipeline.report.content import Gap
from pipeline.report.figures import Figure, Row
from pipeline.report.filters import cell, chance, count, marked, num, pct, points, ref, signed

# Gaps whose claim is about the rows that lack something, and about no other.
OF_SOME = ("failures", "scores", "redacted", "rejects")
MOST_UNKNOWN = 4
UNEXPLAINED = "UNEXPLAINED"

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


def points_apart(figure: Figure) -> str:
    """A difference of rates in points, without a sign."""
    return points(figure).removeprefix("+")


def cause(name: str | Figure) -> str:
    """A root cause spelled out; nothing where none is suggested."""
    if not isinstance(name, str) or name == UNEXPLAINED:
        return ""
    is_known = set(name.split("+")) <= set(wording.CAUSES)
    return wording.cause(name) if is_known else ref(name)


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


def said(row: Row, column: str) -> str:
    """A text of a row with its source: it may hold figures."""
    return cell(getattr(row, column)) + Figure(None, f"{row.place}#{column}").marker


def largest(rows: Iterable[Row], column: str) -> list[Row]:
    """Rows that have the figure, the largest first; equal ones as they stood."""
    known = [row for row in rows if getattr(row, column).value is not None]
    return sorted(known, key=lambda row: -getattr(row, column).value)


def equal(rows: Sequence[Row], column: str) -> list[Row]:
    """Those whose figure is that of the first."""
    return [row for row in rows if getattr(row, column).value == getattr(rows[0], column).value]


def capital(sentence: str) -> str:
    """A sentence that begins with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


FILTERS: Mapping[str, Callable[..., Any]] = {
    "agree": sentences.agree,
    "decided": lambda change: sentences.spoken("comparisons", VOICE).decided(change),
    "finding": partial(findings.sentence, voice=VOICE),
    "line_name": partial(sentences.line_name, voice=VOICE),
    "statements": partial(sentences.statements, voice=VOICE),
    **{
        each.__name__: each
        for each in (
            *(capital, cause, equal, findings.foremost, largest, leading, points_apart, said),
            unknown,
        )
    },
}
GLOBALS: Mapping[str, Any] = {
    "change": VOICE.bare,
    "level": VOICE.level,
    "headline": partial(sentences.headline, voice=VOICE),
    **{
        name: wording.WORDS[name]
        for name in ("advice", "explainers", "metrics", "partings", "wrong_steps")
    },
}
