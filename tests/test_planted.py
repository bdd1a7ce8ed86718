"""What was planted is found again, on seeds that no rule was written with; nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.signs import simulate
from tests.diagnosis_score import score


@pytest.mark.slow
def test_planted_causes_are_found(tmp_path: Path) -> None:
    """Primary modes are the planted ones, and divergences point at the planted events."""
    # `make bench` prints the same for more of them, mode by mode.
    found = score(tmp_path, range(1000, 1003))
    told = "\n".join(found.lines())
    assert found.accuracy >= 0.95, told
    assert found.macro_f1 >= 0.9, told
    assert found.divergence_rate >= 0.9, told


@pytest.mark.slow
def test_signs_of_simulated_runs(tmp_path: Path) -> None:
    """Of 20 runs whose signs mean nothing none is advised to act on one; effects are measured."""
    found = simulate(tmp_path, n_null=20, n_planted=24, seed=81_000)
    assert found.n_recommending == 0 and found.n_claiming <= 2
    assert found.n_intervals >= 16 and found.n_holding >= found.n_intervals - 2
