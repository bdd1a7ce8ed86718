"""What `blade compare` says of planted pairs, to be held against what was planted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tests.planted_pairs import BASE, Planted, every_run, files
from tests.results import Row, analyzed, call

# What `blade compare` goes by, of all that an analysis makes.
NEEDED = (
    "comparisons comparison_tasks comparison_metrics comparison_settings ledger flips run_health "
    "run_metrics runs tasks".split()
)


def compared(folder: Path, *, seed: int, n_same: int) -> dict[str, Row]:
    """What `blade compare` tells of every run against the base, by pass@1."""
    rows = files(every_run(n_same=n_same), seed=seed)
    # With a baseline there are fewer pairs, which are then made once more.
    results = analyzed(folder, rows, needs=NEEDED, baselines=[BASE])
    told = call("compare", BASE, "--json", "--warehouse", results.path)
    assert told.code == 0, told.stderr
    return {
        row["candidate"].removeprefix("desk_"): row
        for row in json.loads(told.stdout)["comparisons"]
        if row["metric"] == "pass_at_1"
    }


@dataclass(frozen=True)
class Found:
    """What a comparison says of a planted difference."""

    verdict: str
    change: float
    # The lines of its ledger, the largest first.
    lines: list[Row]

    @property
    def top(self) -> Row:
        """The line that says most."""
        return self.lines[0]


def found(planted: Planted, told: Row) -> Found:
    """The ledger that should name it, and the change that this ledger explains."""
    ledger = told["ledgers"][planted.ledger.replace(" ", "_")]
    if planted.ledger == "slices":
        ledger = ledger["category"]
    lines = sorted(ledger["lines"], key=lambda line: -abs(line["amount"]))
    change = told["total_change" if planted.ledger == "task mix" else "delta"]
    return Found(told["verdict"], change, lines)
