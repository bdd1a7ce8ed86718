"""Numbers in, numbers out: intervals, tests, trends, and the vote of a majority. No SQL, no files.

Arrays in, arrays of the same length out; what is undefined is NaN, never 0.
"""

from __future__ import annotations

from importlib import import_module
from threading import Thread

from pipeline.stats.differences import paired_test, q_values
from pipeline.stats.intervals import LEVEL, Numbers, new_tasks_interval, same_tasks_interval
from pipeline.stats.strata import (
    Stratum,
    association_p_value,
    common_odds_ratio,
    edge_ratio_bound,
    lean,
)
from pipeline.stats.trends import Counts, chance_of_turn, trend
from pipeline.stats.votes import Vote, majority_curve, plurality

__all__ = [
    "LEVEL",
    "Counts",
    "Numbers",
    "Stratum",
    "Vote",
    "association_p_value",
    "chance_of_turn",
    "common_odds_ratio",
    "edge_ratio_bound",
    "lean",
    "majority_curve",
    "new_tasks_interval",
    "paired_test",
    "plurality",
    "q_values",
    "same_tasks_interval",
    "trend",
    "warm_up",
]


def warm_up() -> None:
    """Import what takes a fifth of a second, in a thread, while there is other work to wait for."""
    Thread(target=import_module, args=("scipy.special",), daemon=True).start()
