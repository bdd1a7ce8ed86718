"""What SQL alone cannot say: functions that compute relations from the rows of queries.

The header of a file of sql/ names the function that it needs.
"""

from ..relation import Compute
from . import (
    concentration,
    contrasts,
    intervals,
    ledgers,
    modes,
    permutation,
    reading,
    reported,
    run_names,
    sign_contrasts,
    standings,
    suites,
    trajectories,
    trends,
    votes,
)

FUNCTIONS: tuple[Compute, ...] = (
    concentration.concentrations,
    concentration.size_contrasts,
    contrasts.contrasts,
    intervals.comparison_tests,
    intervals.estimates,
    intervals.ledger_lines,
    intervals.measure_changes,
    ledgers.funnel_effects,
    ledgers.transition_noise,
    modes.computed_modes,
    permutation.change_tests,
    reading.shares,
    reported.checked,
    run_names.aliases,
    sign_contrasts.reward_contrasts,
    sign_contrasts.run_contrasts,
    standings.standings,
    suites.cells,
    suites.comparisons,
    suites.standings,
    trajectories.trajectories,
    trends.discriminations,
    trends.trends,
    votes.majorities,
)

__all__ = ["FUNCTIONS"]
