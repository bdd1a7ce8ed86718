"""What matters most in an analysis, a sentence a finding: the same for a page and a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.report.figures import Row
from pipeline.report.sentences import Voice, spoken

# Kinds whose sentence counts the other runs that it holds for.
OF_OTHERS = ("unscored", "unsettled", "unknown", "reported")


def sentence(row: Row, voice: Voice) -> str:
    """The finding in one sentence, with the denominator of every share."""
    return str(getattr(spoken("findings", voice), row.kind)(row))


def foremost(ranked: Iterable[Row], most: int) -> list[Row]:
    """The first of them; what one says of other runs too is not said again of each."""
    told: list[Row] = []
    for row in ranked:
        if row.kind not in OF_OTHERS or all(row.kind != each.kind for each in told):
            told.append(row)
    return told[:most]
