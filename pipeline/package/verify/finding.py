"""What was found of one claim of a report."""

from __future__ import annotations

from dataclasses import dataclass

VERIFIED = "verified"
CONTRADICTED = "contradicted"
UNVERIFIABLE = "unverifiable"

# What to do about a contradiction, by the check that spoke.
HINTS = {
    "marked": "Write the figure that the data give, or correct the mark behind it.",
    "number": "Write the figure that the data give, or say more exactly what it counts.",
    "ratio": "Correct the part, the whole or the percentage: they do not belong together.",
    "total": "Correct the total, the rows or the whole that the head names.",
    "repeated": "Make both places say the same.",
    "citation": "Cite a rollout that exists; blade show opens it.",
    "task": "Name a task that exists.",
    "outcome": "Cite a rollout of that outcome, or correct what is said of it.",
    "mode": "Cite a rollout that has the mode, or name its own.",
    "tool": "Cite a rollout that shows it, or correct what is said of it.",
    "quote": "Quote what is there, or cite where it was said.",
    "sidecar": "Make report, sidecar and data agree; blade metrics RUN prints the figures.",
}


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

    @property
    def fix(self) -> str:
        """What to do where it is contradicted."""
        return HINTS.get(self.check, "Correct it.")
