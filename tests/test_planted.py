"""What the simulator planted is found again, on seeds that no rule was written with."""

from __future__ import annotations

from pathlib import Path

import pytest

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
