"""How often signs that mean nothing are said to go with failing, and how well effects are measured.

    python -m tests.bench.signs

Runs are simulated with known effects (`simulator.cases`), a hundred in one folder; each is a
benchmark of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pipeline
from pipeline import run
from pipeline.settings import Settings
from tests.simulated import simulator

N_NULL, N_PLANTED = 100, 200
EFFECTS = (0.1, 0.2, 0.3, 0.4)
SEED = 70_000


@dataclass(frozen=True)
class Found:
    """What runs with null signs claim, and how many intervals of planted effects hold them."""

    n_claiming: int
    n_recommending: int
    n_intervals: int
    n_holding: int


def simulate(
    folder: Path, *, n_null: int = N_NULL, n_planted: int = N_PLANTED, seed: int = SEED
) -> Found:
    """Null runs and planted ones, analyzed and compared with what was planted."""
    cases = simulator().cases
    nulls = [cases.null_signs(seed + number) for number in range(n_null)]
    sign = cases.SIGNS[0]
    planted = [
        cases.effect_signs(seed + 10_000 + number, effects={sign: EFFECTS[number % len(EFFECTS)]})
        for number in range(n_planted)
    ]
    claims, recommended = (
        _rows(folder / "null", nulls, query)
        for query in (
            "select distinct run_id from associations where ci_low > 0",
            "select distinct run_id from recommendations where kind = 3",
        )
    )
    measured = {
        (run_id, sign): (low, high)
        for run_id, sign, low, high in _rows(
            folder / "planted",
            planted,
            "select run_id, sign, risk_low, risk_high from associations",
        )
    }
    held = [
        low <= effect <= high
        for case in planted
        for sign, effect in case.facts["effects"].items()
        for low, high in [measured.get((case.run, sign), (None, None))]
        if low is not None
    ]
    return Found(len(claims), len(recommended), len(held), sum(held))


def _rows(folder: Path, cases: Iterable[Any], query: str) -> list[tuple[Any, ...]]:
    results, out = folder / "results", folder / "out"
    if not out.exists():
        for case in cases:
            simulator().cases.write_case(results, case)
        wanted = ["main.associations", "main.recommendations"]
        run.part(Settings(results=(results,), out=out), wanted)
    with pipeline.open_warehouse(out / "warehouse.duckdb") as warehouse:
        return warehouse.execute(query).fetchall()


def main() -> None:
    """The table of `make bench`."""
    with tempfile.TemporaryDirectory() as name:
        found = simulate(Path(name))
    print("signs, simulated")
    print(f"  {'':46}{'trials':>7}{'observed':>10}{'at most':>9}")
    print(f"  {'null runs that claim an association':46}{N_NULL:7}{found.n_claiming:10}{5:9}")
    print(f"  {'null runs with a recommendation of kind 3':46}{N_NULL:7}{found.n_recommending:10}")
    share = found.n_holding / found.n_intervals
    print(
        f"  {'intervals that hold the planted effect':46}{found.n_intervals:7}{share:10.1%}  (93%)"
    )
    print(
        f"  {'effects too small to count':46}{N_PLANTED:7}{N_PLANTED - found.n_intervals:10}",
        flush=True,
    )


if __name__ == "__main__":
    main()
