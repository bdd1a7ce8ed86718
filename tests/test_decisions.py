"""Rules about changes hold what they promise: simulated pairs of runs, more of them when slow."""

from __future__ import annotations

import pytest

from tests.bench import decisions
from tests.bench.decisions import N_PAIRS, N_TESTS_WITHIN, SETTINGS, UNEQUAL, Setting


@pytest.mark.parametrize("setting", [SETTINGS[0], UNEQUAL[0], UNEQUAL[1]], ids=str)
def test_decisions_in_short(setting: Setting) -> None:
    """The 5% rule and the p-value are far from firing often, and intervals from missing often."""
    found = decisions.row(setting, 400, 60)
    assert 0.02 <= found.fires <= 0.09
    assert 0.02 <= found.fires_uneven <= 0.09
    assert 0.91 <= found.covers <= 0.99
    assert 0.91 <= found.covers_uneven <= 0.99
    assert found.rejects <= 0.15


def test_losing_failures_is_no_improvement() -> None:
    """A candidate that loses failures looks improved when they are dropped, and only then."""
    dropped, ours = decisions.lossy(SETTINGS[0], 400)
    assert dropped > 0.6
    assert ours <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS + UNEQUAL, ids=str)
def test_decisions(setting: Setting) -> None:
    """The 5% rule fires in 3.5% to 6.5% without a change, and intervals cover 93% to 97%."""
    found = decisions.row(setting, N_PAIRS, N_TESTS_WITHIN if setting in UNEQUAL else N_PAIRS)
    assert 0.035 <= found.fires <= 0.065
    assert 0.035 <= found.fires_uneven <= 0.065
    assert 0.93 <= found.covers <= 0.97
    assert 0.93 <= found.covers_uneven <= 0.97
    assert found.rejects <= 0.065


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_losing_failures(setting: Setting) -> None:
    """Counted as failures they leave the one call in forty that noise makes."""
    dropped, ours = decisions.lossy(setting, N_PAIRS)
    assert dropped > 0.6
    assert ours <= 0.04
