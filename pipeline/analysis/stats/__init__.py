"""Numbers in, numbers out: intervals, tests, trends, and the vote of a majority. No SQL, no files.

Arrays in, arrays of the same length out; what is undefined is NaN, never 0.
"""

from __future__ import annotations

from importlib import import_module
from threading import Thread

from pipeline.analysis.stats.changes import (
    change_interval,
    detectable,
    holm,
    same_tasks_change_interval,
    verdict,
)
from pipeline.analysis.stats.decomposition import shapley_steps
from pipeline.analysis.stats.differences import paired_test, q_values
from pipeline.analysis.stats.false_alarms import (
    FalseAlarms,
    Fires,
    Mask,
    excludes_zero,
    false_alarm_rate,
    rerun_false_alarm_rate,
    shrunken_rates,
)
from pipeline.analysis.stats.hypergeometric import Counts
from pipeline.analysis.stats.intervals import (
    LEVEL,
    Numbers,
    new_tasks_interval,
    same_tasks_interval,
)
from pipeline.analysis.stats.permutation import ChangeTest, change_p_value
from pipeline.analysis.stats.strata import (
    Stratum,
    association_p_value,
    common_odds_ratio,
    edge_ratio_bound,
    lean,
)
from pipeline.analysis.stats.transitions import expected_transitions
from pipeline.analysis.stats.trends import chance_of_turn, trend
from pipeline.analysis.stats.votes import Vote, majority_curve, plurality

__all__ = [
    "LEVEL",
    "ChangeTest",
    "Counts",
    "FalseAlarms",
    "Fires",
    "Mask",
    "Numbers",
    "Stratum",
    "Vote",
    "association_p_value",
    "chance_of_turn",
    "change_interval",
    "change_p_value",
    "common_odds_ratio",
    "detectable",
    "edge_ratio_bound",
    "excludes_zero",
    "expected_transitions",
    "false_alarm_rate",
    "holm",
    "lean",
    "majority_curve",
    "new_tasks_interval",
    "paired_test",
    "plurality",
    "q_values",
    "rerun_false_alarm_rate",
    "same_tasks_change_interval",
    "same_tasks_interval",
    "shapley_steps",
    "shrunken_rates",
    "trend",
    "verdict",
    "warm_up",
]


def warm_up() -> None:
    """Import what takes a fifth of a second, in a thread, while there is other work to wait for."""
    Thread(target=import_module, args=("scipy.special",), daemon=True).start()
