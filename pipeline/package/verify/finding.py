"""What was found of one claim of a report."""

from __future__ import annotations

from dataclasses import dataclass

VERIFIED = "verified"
CONTRADICTED = "contradicted"
UNVERIFIABLE = "unverifiable"


@dataclass(frozen=True)
class Finding:
    """A figure, citation or quote of a report: what it says, and what the data say."""

    line: int
    status: str
    claim: str
    # In words or digits; none where nothing is known.
    expected: str | None
    # Where the expected value comes from: a relation with its key, a file, or a line of the report.
    source: str
    # Which check spoke, such as marked, ratio, total, citation, quote or sidecar.
    check: str
    # The file that `line` counts in, by its name.
    file: str
