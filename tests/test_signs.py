"""What signs are said to go with: little where they mean nothing, the truth where they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.signs import simulate


@pytest.mark.slow
def test_signs_of_simulated_runs(tmp_path: Path) -> None:
    """Of 20 runs whose signs mean nothing none is advised to act on one; effects are measured."""
    found = simulate(tmp_path, n_null=20, n_planted=24, seed=81_000)
    assert found.n_recommending == 0 and found.n_claiming <= 2
    assert found.n_intervals >= 16 and found.n_holding >= found.n_intervals - 2
