"""What a check of a report finds, and the report with what is wrong replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .blocks import edited

VERIFIED, CONTRADICTED, UNCHECKED = "verified", "contradicted", "unchecked"
# The status of a claim that is right, and of one that is not.
JUDGED = {True: VERIFIED, False: CONTRADICTED}
# A stretch of the text, and what should be there.
Edit = tuple[int, int, str]


@dataclass(frozen=True)
class Finding:
    """A claim of a report: what it says, and what it should say."""

    line: int
    status: str
    claim: str
    # In words or digits; None if nothing is known.
    expected: str | None
    # Where the expected value comes from: a query, a relation, a file, or a line of the report.
    source: str
    # The name of the check, such as source, citation, quote, total or sidecar.
    check: str = "source"
    # The name of the file that has the line.
    file: str = ""
    # Edits that make the text true; none if that would be a guess.
    edits: tuple[Edit, ...] = ()
    # The place of the claim, if it is a stretch of the text.
    span: tuple[int, int] | None = None


def fixed(text: str, findings: Iterable[Finding]) -> str:
    """The text with the edits of all contradictions; nothing else is touched."""
    edits = {edit for each in findings if each.status == CONTRADICTED for edit in each.edits}
    places = Counter((start, end) for start, end, _ in edits)
    return edited(text, (edit for edit in sorted(edits) if places[edit[:2]] == 1))
