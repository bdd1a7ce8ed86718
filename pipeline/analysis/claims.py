"""What may be claimed of a change, and what each claim needs.

That a figure rose or fell needs the interval for new tasks and both tests. That it did not, or not
beyond a margin, needs more than an interval, which is narrow where few tasks differ: a share of
tasks that so few do not show may have changed as far as any can. A claim is made only if it holds
with all that is missing against it: rows, and tasks that only one run has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from . import stats
from .stats import LEVEL, ROUNDING, Mask, Numbers, Words, flags, numbers

IMPROVED, REGRESSED, NO_CHANGE = "improved", "regressed", "no change"
INCONCLUSIVE, NOT_COMPARABLE = "inconclusive", "not comparable"
# Over tasks that both runs have, and over those too that one run may have lost.
Names = tuple[str, ...]
SHARED: Names = (
    "delta_counted_as_fail",
    "se_counted_as_fail",
    "n_counted_groups",
    "counted_degrees",
)
POSSIBLE: Names = ("delta_possible", "se_possible", "n_possible_groups", "possible_degrees")
BOUNDS = {SHARED: ("bound_low", "bound_high"), POSSIBLE: ("possible_low", "possible_high")}


@dataclass(frozen=True)
class Evidence:
    """What is known of changes, one comparison per row.

    `low` and `high` are the ends of the interval, missing rows and tasks counted as failed;
    `bound_low` and `bound_high` the change with all of them against the candidate, and in its
    favour; `wide_low` and `wide_high` the interval with unseen tasks allowed for. `p_value` is the
    larger of both tests that nothing changed; 0 where there is no test but the interval.
    """

    low: Numbers
    high: Numbers
    bound_low: Numbers
    bound_high: Numbers
    wide_low: Numbers
    wide_high: Numbers
    p_value: Numbers
    level: float = field(default=LEVEL, kw_only=True)

    @property
    def lowest(self) -> Numbers:
        """As low as it may be, without unseen tasks."""
        return np.minimum(self.low, self.bound_low)

    @property
    def highest(self) -> Numbers:
        """As high as it may be, without unseen tasks."""
        return np.maximum(self.high, self.bound_high)

    @property
    def is_tested(self) -> Mask:
        """Whether both tests say that something changed."""
        return np.asarray(self.p_value <= 1 - self.level + ROUNDING)

    def is_above(self, limit: Numbers | float) -> Mask:
        """Whether the change is shown to be above a limit; on it, or by rounding, it is not."""
        beyond = np.maximum(limit, 0) + ROUNDING
        is_risen = (self.lowest > beyond) & self.is_tested
        widest = np.minimum(self.lowest, self.wide_low)
        return np.asarray(is_risen | ((widest > limit + ROUNDING) & (np.asarray(limit) < 0)))

    def is_below(self, limit: Numbers | float) -> Mask:
        """Whether it is shown to be below."""
        return self.turned.is_above(-np.asarray(limit))

    @property
    def turned(self) -> Evidence:
        """The same of the change from the candidate to the base."""
        return Evidence(
            low=-self.high,
            high=-self.low,
            bound_low=-self.bound_high,
            bound_high=-self.bound_low,
            wide_low=-self.wide_high,
            wide_high=-self.wide_low,
            p_value=self.p_value,
            level=self.level,
        )

    def verdict(self, margin: Numbers | float) -> Words:
        """Improved, regressed, no change beyond the margin, or none of them shown."""
        is_within = self.is_above(-np.asarray(margin)) & self.is_below(margin)
        shown = [self.is_above(0.0), self.is_below(0.0), is_within]
        return np.select(shown, [IMPROVED, REGRESSED, NO_CHANGE], INCONCLUSIVE)[()]


def evidence(
    rows: pa.Table,
    p_value: Numbers,
    *,
    level: float = LEVEL,
    unseen: float | None = None,
    over: tuple[Names, ...] = (SHARED, POSSIBLE),
) -> Evidence:
    """What the rows of `staging.comparison_levels` show; `unseen` is a share in place of ours."""
    is_bounded, value_range = flags(rows["is_bounded"]), numbers(rows["value_range"])
    ends: list[tuple[Numbers, ...]] = []
    for names in over:
        delta, se, n_units, degrees = (numbers(rows[name]) for name in names)
        low, high = stats.change_interval(
            delta, se, n_units, degrees, is_bounded=is_bounded, level=level, growing=growing(rows)
        )
        share = stats.unseen_share(n_units, level=level) if unseen is None else unseen
        # Where nothing bounds what a task may be worth, nothing says what an unseen one is.
        has_range, centre, reach = ~np.isnan(value_range), (1 - share) * delta, share * value_range
        wide_low = np.where(has_range, np.minimum(low, centre - reach), low)
        wide_high = np.where(has_range, np.maximum(high, centre + reach), high)
        if growing(rows) is not None:
            # That nothing changed is not claimed where results are missing.
            wide_low, wide_high = np.full_like(low, -np.inf), np.full_like(high, np.inf)
        bounds = (numbers(rows[name]) for name in BOUNDS[names])
        ends.append((low, high, *bounds, wide_low, wide_high))
    lows, highs = ([each[place::2] for each in ends] for place in (0, 1))
    low, bound_low, wide_low = np.minimum.reduce(lows)
    high, bound_high, wide_high = np.maximum.reduce(highs)
    return Evidence(low, high, bound_low, bound_high, wide_low, wide_high, p_value, level=level)


def growing(rows: pa.Table) -> Numbers | None:
    """The range of what tasks may be worth, where results are still being written; else None."""
    is_growing = "is_growing" in rows.column_names and bool(flags(rows["is_growing"]).any())
    return numbers(rows["value_range"]) if is_growing else None


def p_beyond(rows: pa.Table, limit: float, *, over: tuple[Names, ...]) -> Numbers:
    """How often a change that is on the limit comes out as far from it as this; the larger."""
    scale = np.ones(len(rows))
    tests = [
        stats.t_test(delta - limit, *spread, scale=scale)
        for delta, *spread in ([numbers(rows[name]) for name in names] for names in over)
    ]
    return np.asarray(np.maximum.reduce(tests))


def fewest_tasks(margin: float, *, level: float = LEVEL) -> int | None:
    """With fewer tasks than this nothing can be shown to be within the margin; None of none."""
    if not 0 < margin < 1:
        return None
    return math.floor(math.log((1 - level) / 2) / math.log1p(-margin)) + 1
