"""What the simulator planted is found again, on seeds that no rule was written with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diagnosis_score import Score, score

# `make bench` prints the same for more of them, mode by mode.
HELD_OUT = range(1000, 1003)


def check(found: Score) -> None:
    told = "\n".join(found.lines())
    assert found.accuracy >= 0.95, told
    assert found.macro_f1 >= 0.9, told
    assert found.divergence_rate >= 0.9, told


def test_planted_causes_are_found(tmp_path: Path) -> None:
    """Primary modes are the planted ones, and divergences point at the planted events."""
    check(score(tmp_path, HELD_OUT[:1]))


@pytest.mark.slow
def test_planted_causes_are_found_on_more_seeds(tmp_path: Path) -> None:
    """The same on three seeds together."""
    check(score(tmp_path, HELD_OUT))


def test_a_wrong_mode_costs_points() -> None:
    """The score tells right from wrong: counts worked by hand."""
    found = Score()
    found.modes.update({("A", "A"): 3, ("A", "B"): 1, ("B", "B"): 2})
    found.divergences.update({("A", True): 1, ("A", False): 3})
    assert found.accuracy == 5 / 6
    assert found.f1("A") == 6 / 7
    assert found.macro_f1 == (6 / 7 + 4 / 5) / 2
    assert found.divergence_rate == 1 / 4
